#include "sim/pairs.h"

#include "base/nearest_name.h"
#include "sim/world_impl.h"

#include <stdio.h>
#include <string.h>

typedef enum thing_kind { NOTHING, BODY, OBSTACLE, MATERIAL } thing_kind;

typedef struct thing {
    thing_kind kind;
    uint32_t row;
} thing;

/* Bodies and obstacles that no pair tells apart. */
typedef struct sort {
    thing own;      /* NOTHING: not spoken of by its name */
    thing material; /* likewise */
} sort;

typedef struct draft {
    const kiln_scene *scene;
    KILN_ARRAY_OF(thing)
    sides; /* [pair][2] */
    KILN_ARRAY_OF(sort)
    sorts; /* [kind] */
    KILN_ARRAY_OF(uint8_t)
    weight; /* [kind][kind] how closely the rule there names both: 0 there is none */
} draft;

static bool same_thing(thing a, thing b)
{
    return a.kind == b.kind && a.row == b.row;
}

/* Names. */

static const char *name_of(const kiln_scene *scene, thing t)
{
    return t.kind == BODY       ? scene->bodies.data[t.row].name
           : t.kind == OBSTACLE ? scene->obstacles.data[t.row].name
                                : scene->materials.data[t.row].name;
}

static uint32_t count_of(const kiln_scene *scene, thing_kind kind)
{
    return (uint32_t)(kind == BODY       ? scene->bodies.count
                      : kind == OBSTACLE ? scene->obstacles.count
                                         : scene->materials.count);
}

/* The first that has the name; materials may share theirs. Else NOTHING, and the nearest name. */
static thing find_thing(const kiln_scene *scene, const char *name, const char **nearest)
{
    *nearest = NULL;
    for (thing t = {BODY, 0}; t.kind <= MATERIAL; t.kind++)
        for (t.row = 0; t.row < count_of(scene, t.kind); t.row++) {
            const char *other = name_of(scene, t);
            const char *both[2] = {*nearest ? *nearest : other, other};
            if (strcmp(name, other) == 0)
                return t;
            if (other[0])
                *nearest = kiln_nearest_name(name, both, 2, sizeof both[0]);
        }
    return (thing){NOTHING, 0};
}

const char *kiln_pair_obstacle(const kiln_scene *scene, const kiln_scene_pair *pair)
{
    const char *nearest;
    if (find_thing(scene, pair->a, &nearest).kind == OBSTACLE)
        return pair->a;
    return find_thing(scene, pair->b, &nearest).kind == OBSTACLE ? pair->b : NULL;
}

static kiln_status resolve(draft *d, const kiln_scene_pair *pair, const char *key, const char *name,
                           thing *out, kiln_error *error)
{
    const char *nearest;
    *out = find_thing(d->scene, name, &nearest);
    if (out->kind != NOTHING)
        return KILN_OK;
    kiln_said said = {.line = pair->said.line};
    snprintf(said.path, sizeof said.path, "%.90s.%s", pair->said.path, key);
    return kiln_said_fail(
        d->scene, &said, error, "there is no body, obstacle or material '%s'%s%s%s", name,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static kiln_status check_once(const draft *d, size_t pair, kiln_error *error)
{
    const kiln_scene_contact *contact = &d->scene->contact;
    const thing *now = &d->sides.data[2 * pair];
    for (size_t i = 0; i < pair; i++) {
        const thing *old = &d->sides.data[2 * i];
        if ((same_thing(old[0], now[0]) && same_thing(old[1], now[1])) ||
            (same_thing(old[0], now[1]) && same_thing(old[1], now[0])))
            return kiln_said_fail(d->scene, &contact->pairs.data[pair].said, error,
                                  "'%s' and '%s' must be a pair once, and are one in %s already",
                                  contact->pairs.data[pair].a, contact->pairs.data[pair].b,
                                  contact->pairs.data[i].said.path);
    }
    return KILN_OK;
}

static kiln_status find_sides(draft *d, kiln_error *error)
{
    const kiln_scene_contact *contact = &d->scene->contact;
    KILN_TRY(kiln_array_reserve(d->scene->context, &d->sides, 2 * contact->pairs.count, error));
    for (size_t i = 0; i < contact->pairs.count; i++) {
        const kiln_scene_pair *pair = &contact->pairs.data[i];
        thing *side = &d->sides.data[2 * i];
        KILN_TRY(resolve(d, pair, "a", pair->a, &side[0], error));
        KILN_TRY(resolve(d, pair, "b", pair->b, &side[1], error));
        d->sides.count += 2;
        if (side[0].kind == OBSTACLE && side[1].kind == OBSTACLE)
            return kiln_said_fail(d->scene, &pair->said, error,
                                  "one of the two must be a body or a material: obstacles do not "
                                  "meet each other, got '%s' and '%s'",
                                  pair->a, pair->b);
        KILN_TRY(check_once(d, i, error));
    }
    return KILN_OK;
}

/* Kinds. */

static thing if_spoken_of(const draft *d, thing t)
{
    for (size_t i = 0; i < d->sides.count; i++)
        if (same_thing(d->sides.data[i], t))
            return t;
    return (thing){NOTHING, 0};
}

static sort sort_of(const draft *d, thing t)
{
    sort s = {.own = if_spoken_of(d, t)};
    if (t.kind == BODY) {
        thing material = {MATERIAL, d->scene->bodies.data[t.row].material};
        const char *name = name_of(d->scene, material);
        for (uint32_t m = 0; m < material.row; m++)
            if (strcmp(d->scene->materials.data[m].name, name) == 0)
                material.row = m; /* the first of that name, as find_thing has it */
        s.material = if_spoken_of(d, material);
    }
    return s;
}

static kiln_status find_kind(draft *d, sort s, uint32_t *kind, kiln_error *error)
{
    for (*kind = 0; *kind < d->sorts.count; ++*kind)
        if (same_thing(d->sorts.data[*kind].own, s.own) &&
            same_thing(d->sorts.data[*kind].material, s.material))
            return KILN_OK;
    return kiln_array_push(d->scene->context, &d->sorts, s, error);
}

static kiln_status find_kinds(draft *d, kiln_pairs *out, kiln_error *error)
{
    uint32_t bodies = count_of(d->scene, BODY), all = bodies + count_of(d->scene, OBSTACLE);
    KILN_TRY(kiln_array_reserve(d->scene->context, &out->kinds, all + 1, error));
    for (uint32_t i = 0; i < all; i++) {
        thing t = i < bodies ? (thing){BODY, i} : (thing){OBSTACLE, i - bodies};
        KILN_TRY(find_kind(d, sort_of(d, t), &out->kinds.data[i], error));
    }
    out->kinds.count = all;
    return KILN_OK;
}

/* Rules. */

/* How closely the thing names those of the sort: 0 not at all. */
static uint8_t closeness(const sort *s, thing t)
{
    return same_thing(s->own, t) ? 2 : same_thing(s->material, t) ? 1 : 0;
}

static void put_rule(draft *d, kiln_pairs *out, size_t at, uint8_t weight, kiln_pair_rule rule)
{
    if (weight < d->weight.data[at])
        return;
    d->weight.data[at] = weight;
    out->rules.data[at] = rule;
}

static void apply(draft *d, kiln_pairs *out, size_t pair)
{
    const kiln_scene_pair *said = &d->scene->contact.pairs.data[pair];
    const thing *side = &d->sides.data[2 * pair];
    const kiln_pair_rule rule = {said->friction, said->off};
    size_t kinds = d->sorts.count;
    for (size_t k = 0; k < kinds; k++) {
        uint8_t a = closeness(&d->sorts.data[k], side[0]);
        for (size_t l = 0; a && l < kinds; l++) {
            uint8_t b = closeness(&d->sorts.data[l], side[1]);
            if (b) {
                put_rule(d, out, k * kinds + l, a + b, rule);
                put_rule(d, out, l * kinds + k, a + b, rule);
            }
        }
    }
}

static kiln_status fill(draft *d, kiln_pairs *out, kiln_error *error)
{
    kiln_context *context = d->scene->context;
    KILN_TRY(find_sides(d, error));
    KILN_TRY(find_kinds(d, out, error));
    size_t cells = d->sorts.count * d->sorts.count;
    KILN_TRY(kiln_array_reserve(context, &d->weight, cells, error));
    KILN_TRY(kiln_array_reserve(context, &out->rules, cells, error));
    for (size_t i = 0; i < cells; i++) {
        d->weight.data[i] = 0;
        out->rules.data[i] = (kiln_pair_rule){.friction = NAN};
    }
    for (size_t i = 0; i < d->scene->contact.pairs.count; i++)
        apply(d, out, i);
    out->table = (kiln_pair_table){.kinds = (uint32_t)d->sorts.count,
                                   .body = out->kinds.data,
                                   .obstacle = out->kinds.data + d->scene->bodies.count,
                                   .rules = out->rules.data};
    return KILN_OK;
}

kiln_status kiln_pairs_build(kiln_pairs *pairs, const kiln_scene *scene, kiln_error *error)
{
    draft d = {.scene = scene};
    *pairs = (kiln_pairs){0};
    if (scene->contact.pairs.count == 0)
        return KILN_OK;
    kiln_status status = fill(&d, pairs, error);
    kiln_array_free(scene->context, &d.sides);
    kiln_array_free(scene->context, &d.sorts);
    kiln_array_free(scene->context, &d.weight);
    if (status != KILN_OK)
        kiln_pairs_free(pairs, scene->context);
    return status;
}

void kiln_pairs_free(kiln_pairs *pairs, kiln_context *context)
{
    kiln_array_free(context, &pairs->kinds);
    kiln_array_free(context, &pairs->rules);
    pairs->table = (kiln_pair_table){0};
}
