#include "app/mesh_overlap.h"

/* Where the first pair is. */
static kiln_vec3 place_of(const kiln_mesh *mesh, kiln_space space, const kiln_crossing *crossing)
{
    uint32_t tet = mesh->face[crossing->face[0]].at / 4;
    return kiln_mesh_positions(mesh, space)[mesh->tet[tet].v[0]];
}

kiln_status kiln_refuse_overlap(const kiln_mesh *mesh, kiln_space space,
                                const kiln_crossing *crossing, const char *path, kiln_error *error)
{
    if (crossing->pairs == 0)
        return KILN_OK;
    uint32_t a = mesh->face[crossing->face[0]].at / 4, b = mesh->face[crossing->face[1]].at / 4;
    kiln_vec3 at = place_of(mesh, space, crossing);
    return kiln_fail(
        error, KILN_ERR_INPUT, path, 0, -1,
        "tet %u and tet %u, near (%g, %g, %g): their surface faces pass through each "
        "other (%zu such pairs), so the mesh overlaps itself; 'kiln mesh remesh' makes "
        "one body of it, --allow-overlap improves it as it is",
        a + 1, b + 1, at.x, at.y, at.z, crossing->pairs);
}

kiln_status kiln_refuse_new_overlap(const kiln_mesh *mesh, kiln_space space, size_t before,
                                    const char *path, kiln_error *error)
{
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(mesh, space, &crossing, error));
    if (crossing.pairs <= before)
        return KILN_OK;
    kiln_vec3 at = place_of(mesh, space, &crossing);
    return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                     "the surface of the new mesh would pass through itself near (%g, %g, %g), in "
                     "%zu pairs of faces (%zu before); nothing is written",
                     at.x, at.y, at.z, crossing.pairs, before);
}
