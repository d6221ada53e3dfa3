#include "remesh/thin.h"

#include "geom/tet_quality.h"
#include "remesh/improve_sized.h"

/* What improvement may make of a tet before it gives up on a goal (improve.c) is what a body bears:
 * with more it is not the same mesh any more. */
static const double BEARABLE = 3.5;
/* So few equal tets can be had anywhere, and are better: a gear of 209 long ones as filled from its
 * outline ends at 0.06 in its own metric, and at 0.58 with 993. */
static const double FEW = 1e4;

/* How far an edge along a shell may leave the middle of its wall, in thicknesses: at first, and
 * where that takes more tets than it bears. */
static const double SAG = 0.25, MOST_SAG = 4.0;

/* Sizes from edge to edge. The layers of a curved wall turn from vertex to vertex, which gradation
 * takes for a change of size: with 1.5 a tube of 24 sides would have twice the tets, and none
 * better. */
static const double RATIO = 3.0;

static bool is_wanted(const kiln_thin_request *request, const kiln_thin_report *report,
                      const kiln_sizing *field)
{
    if (report->vertices == 0 || request->mode == KILN_THIN_ALWAYS)
        return report->vertices > 0;
    return report->isotropic > fmax(FEW, BEARABLE * fmax(report->tets, kiln_sizing_tets(field)));
}

static kiln_status make_field(const kiln_mesh *mesh, kiln_space space,
                              const kiln_thin_sizing *sizes, kiln_sizing **out,
                              kiln_thin_report *report, kiln_error *error)
{
    kiln_sizing *field;
    KILN_TRY(kiln_sizing_create(mesh, space, &field, error));
    kiln_status status = kiln_sizing_add_thin(field, sizes, report, error);
    if (status == KILN_OK)
        status = kiln_improve_finish_sizing(mesh, space, field, RATIO, error);
    if (status == KILN_OK)
        *out = field;
    else
        kiln_sizing_destroy(field);
    return status;
}

kiln_status kiln_thin_field(const kiln_mesh *mesh, kiln_space space,
                            const kiln_thin_request *request, kiln_sizing **out,
                            kiln_thin_report *report, kiln_error *error)
{
    kiln_sizing *field = NULL;
    kiln_thin_sizing sizes = request->sizes;
    kiln_status status = KILN_OK;
    *out = NULL;
    if (request->mode == KILN_THIN_NEVER)
        return KILN_OK;
    for (sizes.sag = SAG; sizes.sag <= MOST_SAG && status == KILN_OK; sizes.sag *= 2.0) {
        kiln_sizing_destroy(field);
        field = NULL;
        status = make_field(mesh, space, &sizes, &field, report, error);
        if (status == KILN_OK && kiln_sizing_tets(field) <= BEARABLE * report->tets)
            break;
    }
    if (status == KILN_OK && is_wanted(request, report, field))
        *out = field;
    else
        kiln_sizing_destroy(field);
    return status;
}

kiln_status kiln_metric_quality_of(const kiln_mesh *mesh, kiln_space space,
                                   const kiln_sizing *field, kiln_metric_quality *out,
                                   kiln_error *error)
{
    kiln_sizing *carried;
    KILN_TRY(kiln_sizing_carry(field, mesh, NULL, &carried, error));
    const kiln_vec3 *p = kiln_mesh_positions(mesh, space);
    *out = (kiln_metric_quality){.worst = INFINITY};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        kiln_sym3 m = {0};
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++)
            m = kiln_sym3_madd(m, 0.25, kiln_sizing_at_vertex(carried, v[k]));
        double q = kiln_tet_quality_metric(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]], &m);
        out->worst = fmin(out->worst, q);
        out->mean += q / (double)mesh->table[KILN_ON_TET].live;
    }
    kiln_sizing_destroy(carried);
    return KILN_OK;
}
