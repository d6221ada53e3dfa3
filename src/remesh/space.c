#include "remesh/space.h"

static bool is_marked(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->info[tet].marks & KILN_MARK_WORLD;
}

/* W1 */
static bool meets_its_like(const kiln_mesh *mesh, uint32_t tet)
{
    for (int f = 0; f < 4; f++) {
        kiln_link link = mesh->tet[tet].n[f];
        if (!kiln_link_is_surface(link) && is_marked(mesh, tet) != is_marked(mesh, link / 4) &&
            mesh->info[tet].region == mesh->info[link / 4].region)
            return false;
    }
    return true;
}

/* Dead rows may be taken for it: then the live ones are counted. */
static bool may_be_marked(const kiln_mesh *mesh)
{
    uint32_t marks = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        marks |= mesh->info[t].marks;
    return marks & KILN_MARK_WORLD;
}

kiln_status kiln_space_find(kiln_remesher *remesher, kiln_error *error)
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t marked = 0, live = mesh->table[KILN_ON_TET].live;
    remesher->mixed = false;
    if (remesher->one_space || remesher->options.space == KILN_SPACE_WORLD || !may_be_marked(mesh))
        return KILN_OK;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        marked += kiln_tet_live(mesh, t) && is_marked(mesh, t);
    if (marked == 0)
        return KILN_OK;
    remesher->mixed = marked < live;
    if (!remesher->mixed)
        remesher->options.space = KILN_SPACE_WORLD;
    for (uint32_t t = 0; remesher->mixed && t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && !meets_its_like(mesh, t))
            return kiln_fail(error, KILN_ERR_INPUT, "the mesh", 0, t,
                             "has a tet whose quality counts in another space than that of a "
                             "neighbour of the same region: give them regions of their own");
    return KILN_OK;
}

void kiln_space_classify(kiln_remesher *remesher)
{
    const kiln_mesh *mesh = remesher->mesh;
    kiln_vertex_side *side = remesher->side.data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        side[v].world = 1;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t) && !is_marked(mesh, t); k++)
            side[mesh->tet[t].v[k]].world = 0;
}

static bool ring_is_marked(const kiln_mesh *mesh, uint32_t tet, const uint32_t *vertex)
{
    enum { ROOM = 256 };
    const kiln_tet *at = &mesh->tet[tet];
    uint32_t ring[ROOM];
    kiln_ring shape = kiln_edge_ring(mesh, tet, kiln_tet_corner(at, vertex[0]),
                                     kiln_tet_corner(at, vertex[1]), ring, ROOM);
    bool all = shape.count <= ROOM;
    for (uint32_t i = 0; i < shape.count && all; i++)
        all = is_marked(mesh, ring[i] / 4);
    return all;
}

bool kiln_site_in_world(const kiln_remesher *remesher, uint32_t tet, const uint32_t *vertex,
                        int count)
{
    const kiln_mesh *mesh = remesher->mesh;
    if (!remesher->mixed || !is_marked(mesh, tet))
        return false;
    for (int i = 0; i < count; i++)
        if (remesher->side.data[vertex[i]].world)
            return true;
    if (count == 2)
        return ring_is_marked(mesh, tet, vertex);
    for (uint32_t f = 0; f < 4 && count == 3; f++) {
        uint32_t v = mesh->tet[tet].v[f];
        kiln_link link = mesh->tet[tet].n[f];
        if (v != vertex[0] && v != vertex[1] && v != vertex[2])
            return kiln_link_is_surface(link) || is_marked(mesh, link / 4);
    }
    return true;
}
