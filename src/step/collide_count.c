/* What the pairs that act count: vertices before walls (contact/walls.h), and before bodies whose
 * places count once (collide_once.c). What a pair counts of edges and corners, before hollows, are
 * its parts: they follow the pairs wherever something is kept by pair. */
#include "base/parallel.h"
#include "step/collide_impl.h"

typedef struct counting {
    kiln_collide *collide;
    kiln_pair_rules rules;
    const kiln_vec3 *x;
} counting;

/* Forces that rub are those at the end of the step (collide_repulsion.c). */
static const kiln_vec3 *from_of(const kiln_collide *c, size_t i)
{
    return c->from && !(c->rub.data[i] > 0.0) ? kiln_collide_points(c->from) : NULL;
}

static void count_at_wall(const counting *j, size_t i, kiln_counts *out)
{
    const kiln_collide *c = j->collide;
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    const kiln_vec3 *from = from_of(c, i);
    uint32_t v = pair->v[0];
    const kiln_wall_sight sight = {.walls = &c->walls,
                                   .begin = kiln_collide_points(c->begin.data) + c->first_wall,
                                   .places = j->x + c->first_wall,
                                   .from = from ? from + c->first_wall : NULL,
                                   .p = j->x[v],
                                   .began = from ? from[v] : kiln_v3(0, 0, 0),
                                   .within = pair->reach + pair->clearance,
                                   .area = pair->area,
                                   .facing = c->facing.data[v]};
    kiln_walls_count(&sight, pair->face, out);
}

/* Others count as they are. */
static bool is_counted(const kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    return kiln_collide_is_flat(c, pair) || (c->options.once && kiln_collide_is_seen(c, pair));
}

static void count_pair(const counting *j, size_t i, kiln_counts *out)
{
    const kiln_collide *c = j->collide;
    if (kiln_collide_is_flat(c, kiln_collide_pair(c, i)))
        count_at_wall(j, i, out);
    else
        kiln_collide_count_seen(c, &j->rules, j->x, from_of(c, i), i, out);
}

static void set_count(kiln_collide *c, size_t i, double count)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    bool wall = kiln_collide_is_flat(c, pair);
    c->counted.data[i] = wall ? pair->area * count : count;
    c->scale.data[i] =
        wall ? kiln_collide_scale_of(c, i) : c->hardness * c->options.stiffness * count;
}

static void count_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const counting *j = user;
    kiln_collide *c = j->collide;
    for (size_t a = begin; a < end; a++) {
        size_t i = c->acting.data[a];
        kiln_counts counts = {0};
        if (is_counted(c, i)) {
            count_pair(j, i, &counts);
            set_count(c, i, counts.own);
        }
        c->parts.data[i] = (uint8_t)counts.parts;
    }
}

/* Behind the pairs, in their order. Few pairs have any. */
static void add_parts(const counting *j, size_t i)
{
    kiln_collide *c = j->collide;
    kiln_counts counts;
    count_pair(j, i, &counts);
    for (int k = 0; k < counts.parts; k++) {
        size_t at = c->found.pairs.count + c->part_of.count;
        const double *w = counts.part[k].weight, d = counts.part[k].distance;
        const kiln_surface_pair pair = *kiln_collide_pair(c, i);
        c->part_of.data[c->part_of.count++] = (uint32_t)i;
        c->found.pairs.data[at] = pair;
        c->distance.data[at] = (kiln_pair_distance){
            .d = d - pair.clearance,
            .normal = d > 0.0 ? kiln_v3_scale(counts.part[k].offset, 1.0 / d) : kiln_v3(0, 0, 0),
            .weight = {1.0, -w[0], -w[1], -w[2]}};
        c->before.data[at] = counts.part[k].before - pair.clearance;
        c->calm.data[at] = kiln_collide_is_flat(c, &pair) && c->from ? c->calm.data[i] : 0.0;
        c->rub.data[at] = c->rub.data[i];
        set_count(c, at, counts.part[k].count);
    }
}

static kiln_status list_parts(const counting *j, kiln_error *error)
{
    kiln_collide *c = j->collide;
    size_t count = 0, whole = c->acting.count;
    for (size_t a = 0; a < whole; a++)
        count += c->parts.data[c->acting.data[a]];
    if (count == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &c->part_of, count, error));
    KILN_TRY(kiln_collide_make_room(c, c->found.pairs.count + count, error));
    for (size_t a = 0; a < whole; a++)
        if (c->parts.data[c->acting.data[a]])
            add_parts(j, c->acting.data[a]);
    for (size_t k = 0; k < count; k++)
        c->acting.data[c->acting.count++] = (uint32_t)(c->found.pairs.count + k);
    return KILN_OK;
}

/* Of what acts, what counts. */
static void sift(kiln_collide *c)
{
    size_t count = 0;
    for (size_t a = 0; a < c->acting.count; a++) {
        uint32_t i = c->acting.data[a];
        if (kiln_collide_acts(c, i))
            c->acting.data[count++] = i;
    }
    c->acting.count = count;
}

void kiln_collide_count_all(kiln_collide *c, const double *x)
{
    counting j = {c, kiln_collide_rules(c), kiln_collide_points(x)};
    c->part_of.count = 0;
    if (!c->options.walls && !c->options.once)
        return;
    if (c->options.once)
        kiln_collide_find_felt(c);
    kiln_parallel_for(c->context, c->acting.count, KILN_COLLIDE_FEW, count_chunk, &j);
    if (c->failure == KILN_OK)
        c->failure = list_parts(&j, &c->trouble);
    if (c->options.once)
        kiln_collide_cross(c, x);
    sift(c);
}
