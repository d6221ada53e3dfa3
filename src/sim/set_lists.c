/* Lists of the rows of each set, from the bits and amounts in the mesh. */
#include "mesh/row_list.h"
#include "mesh/walk.h"
#include "sim/sets.h"

#include <string.h>

kiln_u32_array *kiln_set_list(kiln_boundary *b, size_t set)
{
    size_t holds = b->world->scene->holds.count;
    return set < holds ? &b->holds[set].vertices : &b->loads[set - holds].rows;
}

double *kiln_set_amounts(const kiln_boundary *b, size_t load)
{
    const char *name = b->loads[load].amount;
    return (double *)(void *)kiln_mesh_field(b->world->mesh, KILN_ON_TET, name)->data;
}

kiln_status kiln_set_cover(kiln_boundary *b, uint64_t **cover, size_t *bytes, kiln_error *error)
{
    const kiln_mesh *mesh = b->world->mesh;
    size_t words = kiln_set_words(b->world->scene);
    *bytes = mesh->table[KILN_ON_VERTEX].used * words * sizeof **cover;
    *cover = kiln_resize(b->world->context, NULL, 0, *bytes);
    if (!*cover)
        return kiln_fail_memory(error, *bytes);
    memset(*cover, 0, *bytes);
    b->volumes = false;
    static const kiln_where wheres[] = {KILN_ON_FACE, KILN_ON_TET};
    for (int i = 0; i < 2; i++) {
        const uint64_t *bits = kiln_boundary_bits(mesh, wheres[i]);
        for (uint32_t row = 0; row < mesh->table[wheres[i]].used; row++) {
            const uint64_t *mine = bits + row * words;
            uint32_t v[4];
            if (!kiln_set_any(mine, words) || !kiln_row_live(mesh, wheres[i], row))
                continue;
            b->volumes |= wheres[i] == KILN_ON_TET;
            int corners = kiln_boundary_corners(mesh, wheres[i], row, v);
            for (int k = 0; k < corners; k++)
                for (size_t w = 0; w < words; w++)
                    (*cover)[v[k] * words + w] |= mine[w];
        }
    }
    return KILN_OK;
}

static kiln_status list_rows(kiln_boundary *b, kiln_where where, const uint64_t *bits,
                             kiln_error *error)
{
    const kiln_mesh *mesh = b->world->mesh;
    size_t words = kiln_set_words(b->world->scene), sets = kiln_set_count(b->world->scene);
    for (uint32_t row = 0; row < mesh->table[where].used; row++) {
        const uint64_t *mine = bits + row * words;
        if (!kiln_set_any(mine, words) || !kiln_row_live(mesh, where, row))
            continue;
        for (size_t s = 0; s < sets; s++)
            if (kiln_set_has(mine, s) && kiln_set_where(b->world->scene, s) == where)
                KILN_TRY(kiln_array_push(b->world->context, kiln_set_list(b, s), row, error));
    }
    return KILN_OK;
}

static kiln_status list_amounts(kiln_boundary *b, size_t load, kiln_error *error)
{
    const kiln_mesh *mesh = b->world->mesh;
    const double *amount = kiln_set_amounts(b, load);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && amount[t] > 0.0)
            KILN_TRY(kiln_array_push(b->world->context, &b->loads[load].rows, t, error));
    return KILN_OK;
}

kiln_status kiln_set_list_all(kiln_boundary *b, kiln_error *error)
{
    const kiln_mesh *mesh = b->world->mesh;
    size_t words = kiln_set_words(b->world->scene), sets = kiln_set_count(b->world->scene), bytes;
    for (size_t s = 0; s < sets; s++)
        kiln_set_list(b, s)->count = 0;
    uint64_t *cover;
    const uint64_t *vertex = kiln_boundary_bits(mesh, KILN_ON_VERTEX);
    KILN_TRY(kiln_set_cover(b, &cover, &bytes, error));
    for (size_t i = 0; i < mesh->table[KILN_ON_VERTEX].used * words; i++)
        cover[i] |= vertex[i];
    kiln_status status = list_rows(b, KILN_ON_VERTEX, cover, error);
    kiln_release(b->world->context, cover, bytes);
    KILN_TRY(status);
    KILN_TRY(list_rows(b, KILN_ON_FACE, kiln_boundary_bits(mesh, KILN_ON_FACE), error));
    for (size_t i = 0; i < b->world->scene->loads.count; i++)
        if (kiln_load_where(b->world->scene->loads.data[i].kind) == KILN_ON_TET)
            KILN_TRY(list_amounts(b, i, error));
    return KILN_OK;
}

/* After a change of the mesh. */

typedef struct following {
    kiln_boundary *b;
    const kiln_changes *changes;
    const uint64_t *bits[KILN_WHERE_COUNT];
    size_t words;
    uint64_t *sets; /* [changed vertex][word] */
    kiln_u32_array members;
    kiln_walker walker;
} following;

/* The sets of a vertex: its own, and those of the tets and faces that have it. */
static kiln_status sets_of_vertex(following *f, uint32_t vertex, uint64_t *sets, kiln_error *error)
{
    const kiln_mesh *mesh = f->b->world->mesh;
    size_t words = f->words;
    memcpy(sets, f->bits[KILN_ON_VERTEX] + vertex * words, words * sizeof *sets);
    if (!f->b->volumes && !(mesh->vertex[vertex].flags & KILN_VERTEX_SURFACE))
        return KILN_OK;
    KILN_TRY(kiln_star(mesh, vertex, &f->walker, error));
    for (size_t i = 0; i < f->walker.tets.count; i++) {
        uint32_t t = f->walker.tets.data[i];
        for (size_t w = 0; w < words; w++)
            sets[w] |= f->bits[KILN_ON_TET][t * words + w];
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[t].n[k];
            if (mesh->tet[t].v[k] == vertex || !kiln_link_is_surface(link))
                continue;
            for (size_t w = 0; w < words; w++)
                sets[w] |= f->bits[KILN_ON_FACE][(link - KILN_LINK_SURFACE) * words + w];
        }
    }
    return KILN_OK;
}

static kiln_status find_sets(following *f, kiln_error *error)
{
    const kiln_u32_array *tets = &f->changes->rows[KILN_ON_TET];
    const kiln_u32_array *vertices = &f->changes->rows[KILN_ON_VERTEX];
    for (size_t i = 0; i < tets->count && !f->b->volumes; i++)
        f->b->volumes = kiln_set_any(f->bits[KILN_ON_TET] + tets->data[i] * f->words, f->words);
    for (size_t i = 0; i < vertices->count; i++)
        KILN_TRY(sets_of_vertex(f, vertices->data[i], f->sets + i * f->words, error));
    return KILN_OK;
}

static kiln_status follow_set(following *f, size_t set, kiln_error *error)
{
    const kiln_world *world = f->b->world;
    kiln_where where = kiln_set_where(world->scene, set);
    const kiln_u32_array *rows = &f->changes->rows[where];
    const double *amount =
        where == KILN_ON_TET ? kiln_set_amounts(f->b, set - world->scene->holds.count) : NULL;
    f->members.count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t row = rows->data[i];
        bool in = where == KILN_ON_VERTEX ? kiln_set_has(f->sets + i * f->words, set)
                  : where == KILN_ON_FACE ? kiln_set_has(f->bits[where] + row * f->words, set)
                                          : amount[row] > 0.0;
        if (in)
            KILN_TRY(kiln_array_push(world->context, &f->members, row, error));
    }
    return kiln_row_list_follow(world->context, kiln_set_list(f->b, set), rows, &f->members,
                                world->mesh->table[where].used, error);
}

static kiln_status follow(following *f, kiln_error *error)
{
    KILN_TRY(find_sets(f, error));
    for (size_t s = 0; s < kiln_set_count(f->b->world->scene); s++)
        KILN_TRY(follow_set(f, s, error));
    return KILN_OK;
}

kiln_status kiln_set_follow(kiln_boundary *b, const kiln_changes *changes, kiln_error *error)
{
    kiln_context *context = b->world->context;
    following f = {.b = b, .changes = changes, .words = kiln_set_words(b->world->scene)};
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        f.bits[where] = kiln_boundary_bits(b->world->mesh, (kiln_where)where);
    size_t bytes = (changes->rows[KILN_ON_VERTEX].count + 1) * f.words * sizeof *f.sets;
    f.sets = kiln_resize(context, NULL, 0, bytes);
    if (!f.sets)
        return kiln_fail_memory(error, bytes);
    kiln_walker_init(&f.walker, context);
    kiln_status status = follow(&f, error);
    kiln_walker_free(&f.walker);
    kiln_array_free(context, &f.members);
    kiln_release(context, f.sets, bytes);
    return status;
}
