/* The whole-domain remesh: a large body once, a body again and again, two bodies into one (M2). */
#include "app/hausdorff.h"
#include "geom/tet_quality.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "remesh/domain.h"
#include "remesh/transfer.h"
#include "validation/validation.h"

#include <stdlib.h>

enum { REMESHES = 75 };

typedef struct figures {
    double volume, worst;
    size_t odd_edges; /* of the surface, that do not have two faces in opposite directions */
    int64_t euler;    /* of the surface */
} figures;

static int compare_keys(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

/* From coordinates and indices alone: directed edges of the faces that occur once among the tets.
 */
static kiln_status surface_figures(const kiln_soup *soup, figures *out, kiln_error *error)
{
    size_t count = soup->triangles.count, odd = 0, edges = 0, vertices = 0;
    uint64_t *edge = malloc(6 * count * sizeof *edge), *vertex = edge + 3 * count;
    if (!edge)
        return kiln_fail_memory(error, 6 * count * sizeof *edge);
    for (size_t i = 0; i < 3 * count; i++) {
        const uint32_t *v = soup->triangles.data[i / 3].v;
        uint32_t a = v[i % 3], b = v[(i + 1) % 3];
        /* The direction is the last bit, so that a pair of opposite ones is next to each other. */
        edge[i] = a < b ? ((uint64_t)a << 32 | b) << 1 : ((uint64_t)b << 32 | a) << 1 | 1;
        vertex[i] = a;
    }
    qsort(edge, 3 * count, sizeof *edge, compare_keys);
    qsort(vertex, 3 * count, sizeof *vertex, compare_keys);
    for (size_t i = 0; i < 3 * count;) {
        size_t n = 1;
        while (i + n < 3 * count && edge[i + n] >> 1 == edge[i] >> 1)
            n++;
        odd += n != 2 || edge[i + 1] == edge[i];
        edges++;
        i += n;
    }
    for (size_t i = 0; i < 3 * count; i++)
        vertices += i == 0 || vertex[i] != vertex[i - 1];
    free(edge);
    out->odd_edges = odd;
    out->euler = (int64_t)vertices - (int64_t)edges + (int64_t)count;
    return KILN_OK;
}

static kiln_status measure(const kiln_soup *soup, figures *out, kiln_error *error)
{
    *out = (figures){.worst = INFINITY};
    for (size_t t = 0; t < soup->tets.count; t++) {
        const uint32_t *v = soup->tets.data[t].v;
        const kiln_vec3 *x = soup->points.data;
        out->volume += kiln_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
        double q = kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]);
        out->worst = q < out->worst ? q : out->worst;
    }
    return surface_figures(soup, out, error);
}

/* Both as soups, which the caller frees; `after` is initialised here and empty on failure. */
static kiln_status remesh_soup(const kiln_soup *before, const kiln_domain_options *options,
                               kiln_soup *after, kiln_error *error)
{
    kiln_build_options building = kiln_build_default_options();
    kiln_mesh *mesh, *made;
    kiln_soup_init(after, before->context);
    KILN_TRY(kiln_mesh_build(before->context, before, &building, &mesh, NULL, error));
    kiln_status status = kiln_domain_remesh(mesh, options, &made, NULL, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    if (!made)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "the new mesh would be worse");
    status = kiln_mesh_to_soup(made, after, error);
    kiln_mesh_destroy(made);
    return status;
}

static kiln_status report_once(kiln_validation *validation, const kiln_soup *before,
                               const char *name, double euler, kiln_error *error)
{
    kiln_domain_options options = kiln_domain_default_options();
    kiln_soup after;
    figures was, is;
    double apart = NAN;
    kiln_status status = remesh_soup(before, &options, &after, error);
    if (status == KILN_OK)
        status = measure(before, &was, error);
    if (status == KILN_OK)
        status = measure(&after, &is, error);
    if (status == KILN_OK)
        status = kiln_soup_hausdorff(before, &after, &apart, error);
    if (status == KILN_OK) {
        kiln_validation_report(validation, is.volume / was.volume, kiln_near(1.0, 1e-5),
                               "%s: volume, of the old", name);
        kiln_validation_report(validation, is.worst, kiln_at_least(0.15), "%s: worst quality",
                               name);
        kiln_validation_report(validation, (double)is.odd_edges, kiln_exactly(0),
                               "%s: surface edges that are not closed", name);
        kiln_validation_report(validation, (double)is.euler, kiln_exactly(euler),
                               "%s: Euler characteristic of the surface", name);
        kiln_validation_report(validation, apart, kiln_at_most(0.005), "%s: Hausdorff distance, m",
                               name);
    }
    kiln_soup_free(&after);
    return status;
}

kiln_status kiln_validate_domain(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        const char *shape, *settings;
        double euler;
    } rows[] = {{"ball", "h=0.076", 2.0}, {"torus", "h=0.075", 0.0}, {"box", "n=20", 2.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_soup soup;
        KILN_TRY(kiln_fixture_soup(kiln_validation_context(validation), rows[i].shape,
                                   rows[i].settings, &soup, error));
        kiln_status status = report_once(validation, &soup, rows[i].shape, rows[i].euler, error);
        kiln_soup_free(&soup);
        KILN_TRY(status);
    }
    return KILN_OK;
}

/* Linear, so that flat faces stay flat and the volume is kept exactly. */
static void shear(kiln_soup *soup, double slope)
{
    for (size_t i = 0; i < soup->points.count; i++)
        soup->points.data[i].x += slope * soup->points.data[i].z;
}

/* Sheared to and fro between remeshes, at two sizes in turn, so that each has something to do. */
kiln_status kiln_validate_domain_again(kiln_validation *validation, kiln_error *error)
{
    kiln_soup first, now;
    kiln_context *context = kiln_validation_context(validation);
    KILN_TRY(kiln_fixture_soup(context, "cylinder", "h=0.12", &first, error));
    KILN_TRY(kiln_fixture_soup(context, "cylinder", "h=0.12", &now, error));
    double slope = 0.0, worst = INFINITY, low = INFINITY, high = 0.0, apart = NAN;
    figures was, is;
    size_t odd = 0;
    kiln_status status = measure(&first, &was, error);
    for (int i = 0; i < REMESHES && status == KILN_OK; i++) {
        double step = i % 2 ? -0.5 : 0.5;
        kiln_domain_options options = kiln_domain_default_options();
        kiln_soup next;
        options.size = i % 3 == 1 ? 0.15 : 0.12;
        shear(&now, step);
        slope += step;
        status = remesh_soup(&now, &options, &next, error);
        kiln_soup_free(&now);
        now = next;
        if (status == KILN_OK)
            status = measure(&now, &is, error);
        worst = is.worst < worst ? is.worst : worst;
        low = is.volume < low ? is.volume : low;
        high = is.volume > high ? is.volume : high;
        odd += is.odd_edges;
    }
    shear(&now, -slope);
    if (status == KILN_OK)
        status = kiln_soup_hausdorff(&first, &now, &apart, error);
    if (status == KILN_OK) {
        kiln_validation_report(validation, low / was.volume, kiln_at_least(0.999),
                               "%d remeshes: smallest volume, of the first", REMESHES);
        kiln_validation_report(validation, high / was.volume, kiln_at_most(1.001),
                               "largest volume");
        kiln_validation_report(validation, worst, kiln_at_least(0.2), "worst quality of all");
        kiln_validation_report(validation, (double)odd, kiln_exactly(0),
                               "surface edges that are not closed");
        kiln_validation_report(validation, apart, kiln_at_most(0.03),
                               "Hausdorff distance from the first (diameter 1), m");
    }
    kiln_soup_free(&first);
    kiln_soup_free(&now);
    return status;
}

/* Two cubes of n^3 cells, 0.1 in each other; each tet has its volume as rest volume. */
static kiln_status merging_cubes(kiln_context *context, kiln_mesh **out, kiln_error *error)
{
    kiln_soup a, b;
    kiln_build_options building = kiln_build_default_options();
    KILN_TRY(kiln_fixture_soup(context, "box", "n=5", &a, error));
    kiln_status status = kiln_fixture_soup(context, "box", "n=4", &b, error);
    for (size_t i = 0; i < b.points.count; i++)
        b.points.data[i].x += 0.9;
    if (status == KILN_OK)
        status = kiln_soup_append(&a, &b, 0, error);
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &a, &building, out, NULL, error);
    kiln_soup_free(&a);
    kiln_soup_free(&b);
    KILN_TRY(status);
    kiln_mesh *mesh = *out;
    status = kiln_mesh_add_field(mesh, "rest_volume", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE,
                                 error);
    if (status != KILN_OK) {
        kiln_mesh_destroy(mesh);
        return status;
    }
    double *rest = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "rest_volume")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        rest[t] = kiln_mesh_tet_volume(mesh, t);
    return KILN_OK;
}

static void report_merged(kiln_validation *validation, const kiln_mesh *mesh)
{
    const kiln_field *rest = kiln_mesh_field(mesh, KILN_ON_TET, "rest_volume");
    double volume = 0.0, sum = 0.0, doubled = 0.0, single = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        kiln_vec3 x[4];
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 4; i++) {
            x[i] = mesh->x[v[i]];
            low = x[i].x < low ? x[i].x : low;
            high = x[i].x > high ? x[i].x : high;
        }
        double own = kiln_tet_volume(x[0], x[1], x[2], x[3]), value = kiln_field_value(rest, t, 0);
        volume += own;
        sum += value;
        if (low >= 0.9 - 1e-9 && high <= 1.0 + 1e-9)
            doubled = fmax(doubled, fabs(value / own - 2.0));
        if (high <= 0.9 + 1e-9 || low >= 1.0 - 1e-9)
            single = fmax(single, fabs(value / own - 1.0));
    }
    kiln_validation_report(validation, volume, kiln_near(1.9, 1e-9),
                           "merged cubes: world volume, m^3");
    kiln_validation_report(validation, sum, kiln_near(2.0, 1e-12), "rest volume, m^3");
    kiln_validation_report(validation, doubled, kiln_at_most(1e-9),
                           "tets in the overlap: rest volume not twice their own, relative");
    kiln_validation_report(validation, single, kiln_at_most(1e-9),
                           "tets outside it: rest volume not their own, relative");
}

kiln_status kiln_validate_merge(kiln_validation *validation, kiln_error *error)
{
    kiln_mesh *mesh, *merged;
    kiln_domain_options options = kiln_domain_default_options();
    /* As thin as the overlap, so that some tets lie in it. */
    options.size = 0.1;
    options.least = 0.0;
    KILN_TRY(merging_cubes(kiln_validation_context(validation), &mesh, error));
    kiln_status status = kiln_domain_remesh(mesh, &options, &merged, NULL, error);
    if (status == KILN_OK) {
        report_merged(validation, merged);
        kiln_mesh_destroy(merged);
    }
    kiln_mesh_destroy(mesh);
    return status;
}
