#include "remesh/envelope.h"

#include "mesh/build.h"
#include "mesh/reorder.h"
#include "remesh/envelope_impl.h"
#include "remesh/improve_sized.h"
#include "topology/import.h"
#include "topology/surface_mend.h"
#include "topology/surface_orient.h"

/* Tets below this are repaired. */
#define GOAL 0.2
/* Edges of the boundary that turn by more are held as features: next to none. The cut of a lattice
 * turns at all of its edges, and what is sharp in the surface is held by the distance. */
#define FEATURE_ANGLE (170.0 * KILN_PI / 180.0)

static kiln_status take_surface(kiln_envelope *e, const kiln_soup *s, kiln_error *error)
{
    size_t count = s->triangles.count;
    kiln_triangle *corners = kiln_resize(e->context, NULL, 0, (count + 1) * sizeof *corners);
    if (!corners)
        return kiln_fail_memory(error, count * sizeof *corners);
    for (size_t i = 0; i < 3 * count; i++)
        corners[i / 3].p[i % 3] = s->points.data[s->triangles.data[i / 3].v[i % 3]];
    kiln_status status = kiln_triangle_tree_build(&e->surface, e->context, corners, count, error);
    kiln_release(e->context, corners, (count + 1) * sizeof *corners);
    return status;
}

static bool anything_inside(const kiln_envelope *e)
{
    for (size_t i = 0; i < e->nodes.count; i++)
        if (e->nodes.data[i].inside > 0.0)
            return true;
    return false;
}

/* Ways to end, from the one wanted to the one that cannot fail: without nodes put on the surface
 * the cut of a lattice is manifold, and unimproved it is where the lattice found the surface. */
typedef struct ending {
    bool snap;
    int passes; /* of the improver at most: each begins with a band of its own */
    kiln_surface_mode surface;
} ending;
static const ending endings[] = {{true, 4, KILN_SURFACE_QUADRIC},
                                 {true, 1, KILN_SURFACE_QUADRIC},
                                 {true, 1, KILN_SURFACE_KEEP},
                                 {true, 0, KILN_SURFACE_KEEP},
                                 {false, 0, KILN_SURFACE_KEEP}};

static kiln_status improve(kiln_mesh *mesh, const ending *how, kiln_error *error)
{
    kiln_improve_request request = {.remesh = kiln_remesh_default_options(),
                                    .improve = kiln_improve_default_options()};
    kiln_improve_report done = {.bad_after = 1};
    kiln_adapt_report adapted;
    request.remesh.surface = how->surface;
    request.improve.goal = GOAL;
    for (int i = 0; i < how->passes && done.bad_after > 0; i++) {
        KILN_TRY(kiln_improve_sized(mesh, &request, NULL, &done, &adapted, error));
        KILN_TRY(kiln_mesh_compact(mesh, NULL, error));
    }
    return KILN_OK;
}

static kiln_status finish_mesh(kiln_envelope *e, kiln_soup *cut, const ending *how, kiln_soup *out,
                               kiln_envelope_report *report, kiln_error *error)
{
    kiln_mesh_options options = kiln_mesh_default_options();
    double mean;
    kiln_mesh *mesh;
    options.policy = KILN_MESH_REPAIR;
    options.feature_angle = FEATURE_ANGLE;
    options.opened_tag = 1;
    KILN_TRY(kiln_mesh_import(e->context, cut, e->place, &options, &mesh, NULL, error));
    kiln_mesh_quality(mesh, KILN_SPACE_WORLD, &report->worst_before, &mean);
    kiln_status status = improve(mesh, how, error);
    kiln_mesh_quality(mesh, KILN_SPACE_WORLD, &report->worst, &mean);
    if (status == KILN_OK)
        status = kiln_mesh_to_soup(mesh, out, error);
    kiln_mesh_destroy(mesh);
    return status;
}

/* Bisects the lattice until its cut keeps to the distance with nodes put on the surface. */
static kiln_status fit(kiln_envelope *e, kiln_envelope_report *report, kiln_error *error)
{
    for (bool again = true; again;) {
        size_t specks;
        kiln_soup cut;
        kiln_envelope_places strays = {0};
        kiln_soup_init(&cut, e->context);
        kiln_status status = kiln_envelope_clean(e, &specks, error);
        report->specks += specks;
        if (status == KILN_OK)
            status = kiln_envelope_cut(e, true, &cut, error);
        if (status == KILN_OK)
            status = kiln_envelope_strays(e, &cut, KILN_ENVELOPE_CUT_TARGET * e->distance, &strays,
                                          error);
        if (status == KILN_OK)
            status = kiln_envelope_refine_at(e, &strays, &again, error);
        kiln_soup_free(&cut);
        kiln_array_free(e->context, &strays.triangles);
        kiln_array_free(e->context, &strays.samples);
        KILN_TRY(status);
    }
    return KILN_OK;
}

static kiln_status finish_by(kiln_envelope *e, const ending *how, kiln_soup *out,
                             kiln_envelope_report *report, kiln_error *error)
{
    kiln_soup cut;
    kiln_soup_init(&cut, e->context);
    kiln_status status = kiln_envelope_cut(e, how->snap, &cut, error);
    if (status == KILN_OK)
        status = finish_mesh(e, &cut, how, out, report, error);
    kiln_soup_free(&cut);
    if (status == KILN_OK)
        status = kiln_envelope_measure(e, out, report, error);
    return status;
}

/* The first ending that keeps the distance. */
static kiln_status finish(kiln_envelope *e, kiln_soup *out, kiln_envelope_report *report,
                          kiln_error *error)
{
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        kiln_soup_free(out);
        report->kept = false;
        status = finish_by(e, &endings[i], out, report, error);
        bool hopeless = status == KILN_ERR_MEMORY || kiln_context_is_abandoned(e->context);
        if ((status == KILN_OK && report->kept) || hopeless)
            return status;
    }
    return status;
}

/* Each triangle has the tag of the surface under its middle. */
static kiln_status tag_triangles(const kiln_envelope *e, const kiln_soup *surface, kiln_soup *out,
                                 kiln_error *error)
{
    size_t count = out->triangles.count;
    KILN_TRY(kiln_array_reserve(e->context, &out->triangle_tags, count, error));
    out->triangle_tags.count = surface->triangle_tags.count ? count : 0;
    for (size_t i = 0; i < out->triangle_tags.count; i++) {
        const uint32_t *v = out->triangles.data[i].v;
        const kiln_vec3 *p = out->points.data;
        kiln_vec3 middle = kiln_v3_add(kiln_v3_add(p[v[0]], p[v[1]]), p[v[2]]);
        double off;
        uint32_t under = kiln_triangle_tree_closest(&e->surface, kiln_v3_scale(middle, 1.0 / 3.0),
                                                    INFINITY, &off);
        out->triangle_tags.data[i] = surface->triangle_tags.data[under];
    }
    return KILN_OK;
}

static kiln_status fill(kiln_envelope *e, kiln_soup *surface, kiln_soup *out,
                        kiln_envelope_report *report, kiln_error *error)
{
    kiln_orient_report oriented;
    KILN_TRY(kiln_surface_orient(surface, 0.5 * e->distance, &oriented, error));
    report->pieces = oriented.pieces;
    report->turned = oriented.turned;
    report->cavities = oriented.cavities;
    report->open_edges = oriented.open_edges;
    KILN_TRY(take_surface(e, surface, error));
    KILN_TRY(kiln_envelope_sample_surface(e, error));
    KILN_TRY(kiln_envelope_lay(e, error));
    KILN_TRY(fit(e, report, error));
    if (!anything_inside(e)) {
        kiln_vec3 at = kiln_v3_add(surface->points.data[0], e->origin);
        return kiln_fail(error, KILN_ERR_INPUT, e->place, 0, -1,
                         "nothing is inside, near (%g, %g, %g): a sheet, or thinner than half of "
                         "the envelope of %g",
                         at.x, at.y, at.z, report->distance);
    }
    KILN_TRY(finish(e, out, report, error));
    report->tets = out->tets.count;
    report->parts = kiln_envelope_count_parts(out);
    return tag_triangles(e, surface, out, error);
}

kiln_status kiln_envelope_fill(const kiln_soup *surface, const char *place,
                               const kiln_envelope_options *options, kiln_soup *out,
                               kiln_envelope_report *report, kiln_error *error)
{
    double diagonal = kiln_surface_diagonal(surface);
    kiln_soup turned;
    kiln_envelope e = {.context = surface->context, .place = place, .origin = options->origin};
    *report = (kiln_envelope_report){0};
    if (!(diagonal > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1, "the surface has no extent");
    report->distance =
        options->distance > 0.0 ? options->distance : KILN_ENVELOPE_OF_SIZE * diagonal;
    e.distance = KILN_ENVELOPE_MARGIN * report->distance;
    e.size = options->size > 0.0 ? options->size : KILN_ENVELOPE_EDGE_OF_SIZE * diagonal;
    e.size = fmax(e.size, e.distance);
    e.most_tets = options->most_tets ? options->most_tets : KILN_ENVELOPE_MOST_TETS;
    report->size = e.size;
    kiln_soup_init(&turned, surface->context);
    kiln_status status = kiln_soup_append(&turned, surface, 0, error);
    if (status == KILN_OK)
        status = fill(&e, &turned, out, report, error);
    kiln_soup_free(&turned);
    kiln_triangle_tree_destroy(&e.surface);
    kiln_envelope_forget_crossings(&e);
    kiln_array_free(e.context, &e.nodes);
    kiln_array_free(e.context, &e.tets);
    kiln_array_free(e.context, &e.samples);
    if (status != KILN_OK)
        kiln_soup_free(out);
    return status;
}
