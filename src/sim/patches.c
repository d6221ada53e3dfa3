/* From vertices to patches: which surface faces, of those that have all their corners in a set, are
 * a patch of it, and which tets a volume.
 *
 * Not all are. Where two held sides of a box meet, faces of a third side, and tets, have all their
 * corners held only because they lie in the corner; points inside them are free. So a face is of
 * the patch only if some corner lies within a smooth side (on no feature), a tet only if some
 * corner lies inside the body; or if it hangs together with such ones; or if the whole smooth side,
 * or the whole body, is of the set. */
#include "mesh/walk.h"
#include "sim/boundary.h"

#include <string.h>

typedef struct growth {
    const kiln_mesh *mesh;
    kiln_where where;
    size_t words;
    uint64_t *fits;       /* [row][word] sets that have all corners */
    uint64_t *kept;       /* [row][word] */
    uint64_t *whole;      /* [row][word] in the first row of a group: sets that have all of it */
    kiln_u32_array group; /* [row] first row of its smooth side, or body */
    kiln_u32_array open;  /* rows whose neighbours are to be looked at */
} growth;

int kiln_boundary_corners(const kiln_mesh *mesh, kiln_where where, uint32_t row, uint32_t v[4])
{
    if (where == KILN_ON_TET) {
        memcpy(v, mesh->tet[row].v, sizeof mesh->tet[row].v);
        return 4;
    }
    uint32_t at = mesh->face[row].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return 3;
}

/* Through side k: the next row of the same group, or KILN_NONE. */
static uint32_t neighbour(const growth *g, uint32_t row, uint32_t k)
{
    const kiln_mesh *mesh = g->mesh;
    if (g->where == KILN_ON_TET) {
        kiln_link link = mesh->tet[row].n[k];
        return kiln_link_is_surface(link) ? KILN_NONE : link / 4;
    }
    uint32_t at = mesh->face[row].at;
    const uint8_t *corner = kiln_face_corner[at % 4];
    uint32_t a = corner[k], b = corner[(k + 1) % 3];
    if (mesh->info[at / 4].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[a][b]) & 1)
        return KILN_NONE;
    return kiln_surface_across(mesh, row, mesh->tet[at / 4].v[a], mesh->tet[at / 4].v[b]);
}

static uint32_t sides_of(const growth *g)
{
    return g->where == KILN_ON_TET ? 4 : 3;
}

static bool has_inner_corner(const growth *g, uint32_t row)
{
    uint32_t v[4], outer = g->where == KILN_ON_TET ? KILN_VERTEX_SURFACE : KILN_VERTEX_FEATURE;
    int corners = kiln_boundary_corners(g->mesh, g->where, row, v);
    bool inner = false;
    for (int k = 0; k < corners; k++)
        inner |= !(g->mesh->vertex[v[k]].flags & outer);
    return inner;
}

/* Bits that all corners have. */
static void gather_row(const growth *g, const uint64_t *vertex, uint32_t row)
{
    uint32_t v[4];
    int corners = kiln_boundary_corners(g->mesh, g->where, row, v);
    for (size_t w = 0; w < g->words; w++) {
        uint64_t common = vertex[v[0] * g->words + w];
        for (int k = 1; k < corners; k++)
            common &= vertex[v[k] * g->words + w];
        g->fits[row * g->words + w] = common;
    }
}

static kiln_status flood_group(growth *g, uint32_t first, kiln_error *error)
{
    uint64_t *whole = g->whole + first * g->words;
    memset(whole, 0xFF, g->words * sizeof *whole);
    g->group.data[first] = first;
    KILN_TRY(kiln_array_push(g->mesh->context, &g->open, first, error));
    while (g->open.count > 0) {
        uint32_t row = g->open.data[--g->open.count];
        for (size_t w = 0; w < g->words; w++)
            whole[w] &= g->fits[row * g->words + w];
        for (uint32_t k = 0; k < sides_of(g); k++) {
            uint32_t next = neighbour(g, row, k);
            if (next == KILN_NONE || g->group.data[next] != KILN_NONE)
                continue;
            g->group.data[next] = first;
            KILN_TRY(kiln_array_push(g->mesh->context, &g->open, next, error));
        }
    }
    return KILN_OK;
}

/* What is of a patch for sure, to grow from. */
static kiln_status sow(growth *g, uint32_t row, kiln_error *error)
{
    const uint64_t *whole = g->whole + g->group.data[row] * g->words;
    bool inner = has_inner_corner(g, row), any = false;
    for (size_t w = 0; w < g->words; w++) {
        uint64_t bits = g->fits[row * g->words + w] & (inner ? ~(uint64_t)0 : whole[w]);
        g->kept[row * g->words + w] = bits;
        any |= bits != 0;
    }
    return any ? kiln_array_push(g->mesh->context, &g->open, row, error) : KILN_OK;
}

static kiln_status grow(growth *g, kiln_error *error)
{
    while (g->open.count > 0) {
        uint32_t row = g->open.data[--g->open.count];
        for (uint32_t k = 0; k < sides_of(g); k++) {
            uint32_t next = neighbour(g, row, k);
            bool grows = false;
            for (size_t w = 0; w < g->words && next != KILN_NONE; w++) {
                uint64_t *kept = &g->kept[next * g->words + w];
                uint64_t more = g->kept[row * g->words + w] & g->fits[next * g->words + w] & ~*kept;
                *kept |= more;
                grows |= more != 0;
            }
            if (grows)
                KILN_TRY(kiln_array_push(g->mesh->context, &g->open, next, error));
        }
    }
    return KILN_OK;
}

static kiln_status find_patches(growth *g, kiln_error *error)
{
    uint32_t rows = g->mesh->table[g->where].used;
    const uint64_t *vertex = kiln_boundary_bits(g->mesh, KILN_ON_VERTEX);
    KILN_TRY(kiln_array_reserve(g->mesh->context, &g->group, rows, error));
    for (uint32_t row = 0; row < rows; row++) {
        gather_row(g, vertex, row);
        g->group.data[row] = KILN_NONE;
    }
    for (uint32_t row = 0; row < rows; row++)
        if (g->group.data[row] == KILN_NONE)
            KILN_TRY(flood_group(g, row, error));
    for (uint32_t row = 0; row < rows; row++)
        KILN_TRY(sow(g, row, error));
    return grow(g, error);
}

kiln_status kiln_boundary_gather(const kiln_mesh *mesh, kiln_where where, size_t words,
                                 kiln_error *error)
{
    size_t half = mesh->table[where].used * words, bytes = 2 * half * sizeof(uint64_t);
    uint64_t *scratch = kiln_resize(mesh->context, NULL, 0, bytes);
    if (!scratch)
        return kiln_fail_memory(error, bytes);
    growth g = {.mesh = mesh,
                .where = where,
                .words = words,
                .fits = kiln_boundary_bits(mesh, where),
                .kept = scratch,
                .whole = scratch + half};
    kiln_status status = find_patches(&g, error);
    if (status == KILN_OK)
        memcpy(g.fits, g.kept, half * sizeof(uint64_t));
    kiln_release(mesh->context, scratch, bytes);
    kiln_array_free(mesh->context, &g.group);
    kiln_array_free(mesh->context, &g.open);
    return status;
}
