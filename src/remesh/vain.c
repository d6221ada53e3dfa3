#include "remesh/vain.h"

/* Much worse: by this factor. */
static const double WORSE = 0.97;

kiln_status kiln_vain_add(kiln_mesh *mesh, const char *name, kiln_error *error)
{
    return kiln_mesh_add_field(mesh, name, KILN_ON_TET, KILN_F64, 2, KILN_RULE_NONE, error);
}

kiln_vain *kiln_vain_of(const kiln_mesh *mesh, const char *name)
{
    kiln_field *field = name ? kiln_mesh_field(mesh, KILN_ON_TET, name) : NULL;
    return field ? (kiln_vain *)(void *)field->data : NULL;
}

/* Neighbours through faces, and theirs: most of what one change can reach. A vertex that moves
 * stamps all tets it has, so that moves are seen by the tet itself. */
static bool has_changed(const kiln_mesh *mesh, uint32_t tet, double since, int rings)
{
    if (mesh->info[tet].changed > since)
        return true;
    for (int f = 0; f < 4 && rings > 0; f++)
        if (!kiln_link_is_surface(mesh->tet[tet].n[f]) &&
            has_changed(mesh, mesh->tet[tet].n[f] / 4, since, rings - 1))
            return true;
    return false;
}

bool kiln_vain_is_hopeless(const kiln_mesh *mesh, const kiln_vain *vain, uint32_t tet, double score)
{
    enum { RINGS = 2 };
    return vain && vain[tet].score > 0.0 && score > WORSE * vain[tet].score &&
           !has_changed(mesh, tet, vain[tet].clock, RINGS);
}
