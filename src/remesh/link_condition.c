#include "remesh/link_condition.h"

enum { GHOST = 63 }; /* place of the ghost in the rows of bits below */

/* Common vertices of the two links are numbered in the walker's set; pairs of them that are edges
 * of a link are bits. */
typedef struct link_table {
    const kiln_mesh *mesh;
    kiln_idset *numbers;
    uint64_t row[GHOST + 1];
} link_table;

static void join(link_table *table, uint32_t i, uint32_t j)
{
    table->row[i] |= (uint64_t)1 << j;
    table->row[j] |= (uint64_t)1 << i;
}

/* Number of a vertex of the ring, or KILN_NONE. */
static uint32_t number_of(const link_table *table, uint32_t vertex)
{
    const kiln_idset_slot *slot = kiln_idset_at(table->numbers, vertex);
    return slot->epoch == table->numbers->epoch && slot->value <= GHOST ? slot->value : KILN_NONE;
}

/* The edges opposite `vertex` in the tet's faces, the ghost's among them. */
static void add_link(link_table *table, uint32_t tet, uint32_t vertex)
{
    const kiln_tet *record = &table->mesh->tet[tet];
    uint32_t number[4];
    for (int k = 0; k < 4; k++)
        number[k] = record->v[k] == vertex ? KILN_NONE : number_of(table, record->v[k]);
    for (uint32_t i = 0; i < 4; i++) {
        if (number[i] == KILN_NONE)
            continue;
        for (uint32_t j = 0; j < i; j++)
            if (number[j] != KILN_NONE)
                join(table, number[i], number[j]);
        /* Faces with the vertex and corner i are those opposite neither. */
        for (uint32_t f = 0; f < 4; f++)
            if (f != i && record->v[f] != vertex && kiln_link_is_surface(record->n[f]))
                join(table, number[i], GHOST);
    }
}

/* Numbers the corners of the edge's tets and joins what is joined in its link. */
static void number_ring(link_table *table, const kiln_edge_stars *stars)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stars->ring_count; i++) {
        const kiln_tet *tet = &table->mesh->tet[stars->ring[i]];
        uint32_t number[2], found = 0;
        for (int k = 0; k < 4; k++) {
            if (tet->v[k] == stars->a || tet->v[k] == stars->b)
                continue;
            kiln_idset_slot *slot = kiln_idset_at(table->numbers, tet->v[k]);
            if (slot->epoch != table->numbers->epoch)
                kiln_idset_add(table->numbers, slot, tet->v[k], count++);
            number[found++] = slot->value;
        }
        join(table, number[0], number[1]);
        /* The face opposite one corner holds the other, and the edge. */
        for (int k = 0; k < 4; k++)
            if (tet->v[k] != stars->a && tet->v[k] != stars->b && kiln_link_is_surface(tet->n[k]))
                for (int j = 0; j < 4; j++)
                    if (j != k && tet->v[j] != stars->a && tet->v[j] != stars->b)
                        join(table, number_of(table, tet->v[j]), GHOST);
    }
}

/* No vertex but those of the ring may be joined to both ends. */
static bool vertices_fit(kiln_idset *numbers, const kiln_mesh *mesh, const kiln_edge_stars *stars)
{
    enum { ONLY_A = GHOST + 1 };
    for (uint32_t i = 0; i < stars->count_a; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = mesh->tet[stars->star_a[i]].v[k];
            kiln_idset_slot *slot = kiln_idset_at(numbers, vertex);
            if (slot->epoch != numbers->epoch && vertex != stars->a && vertex != stars->b)
                kiln_idset_add(numbers, slot, vertex, ONLY_A);
        }
    for (uint32_t i = 0; i < stars->count_b; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = mesh->tet[stars->star_b[i]].v[k];
            const kiln_idset_slot *slot = kiln_idset_at(numbers, vertex);
            if (vertex != stars->b && slot->epoch == numbers->epoch && slot->value == ONLY_A)
                return false;
        }
    return true;
}

static bool is_wall(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    return kiln_link_is_wall(mesh, tet, mesh->tet[tet].n[face]);
}

/* No triangle may be in both links: neither a face with a tet of each end on its sides nor, in a
 * tet of the edge, two walls that would come to lie on each other. */
static bool triangles_fit(const kiln_mesh *mesh, const kiln_edge_stars *stars)
{
    for (uint32_t i = 0; i < stars->ring_count; i++) {
        uint32_t tet = stars->ring[i];
        if (is_wall(mesh, tet, kiln_tet_corner(&mesh->tet[tet], stars->a)) &&
            is_wall(mesh, tet, kiln_tet_corner(&mesh->tet[tet], stars->b)))
            return false;
    }
    for (uint32_t i = 0; i < stars->count_a; i++) {
        const kiln_tet *tet = &mesh->tet[stars->star_a[i]];
        kiln_link link = tet->n[kiln_tet_corner(tet, stars->a)];
        if (!kiln_link_is_surface(link) && mesh->tet[link / 4].v[link % 4] == stars->b)
            return false;
    }
    return true;
}

bool kiln_link_condition(const kiln_mesh *mesh, kiln_walker *walker, const kiln_edge_stars *stars,
                         bool *failed)
{
    bool both_outside =
        mesh->vertex[stars->a].flags & mesh->vertex[stars->b].flags & (uint32_t)KILN_VERTEX_SURFACE;
    if ((both_outside && stars->closed) || stars->ring_count > KILN_LONGEST_RING ||
        !triangles_fit(mesh, stars))
        return false;
    if (kiln_idset_clear(walker->context, &walker->link, 3 * (size_t)stars->count_a + 4, NULL) !=
        KILN_OK) {
        *failed = true;
        return false;
    }
    link_table edge = {.mesh = mesh, .numbers = &walker->link};
    number_ring(&edge, stars);
    if (!vertices_fit(&walker->link, mesh, stars))
        return false;
    link_table a = {.mesh = mesh, .numbers = &walker->link}, b = a;
    for (uint32_t i = 0; i < stars->count_a; i++)
        add_link(&a, stars->star_a[i], stars->a);
    for (uint32_t i = 0; i < stars->count_b; i++)
        add_link(&b, stars->star_b[i], stars->b);
    for (int i = 0; i <= GHOST; i++)
        if ((a.row[i] & b.row[i]) != edge.row[i])
            return false;
    return true;
}
