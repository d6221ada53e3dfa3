#include "io/fill.h"

#include "geom/box.h"
#include "io/fill_impl.h"
#include "mesh/build.h"
#include "mesh/reorder.h"
#include "remesh/improve_sized.h"
#include "topology/import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

kiln_fill_options kiln_fill_default_options(void)
{
    return (kiln_fill_options){
        .radius_edge = 1.5, .min_dihedral = 10, .keep_surface = true, .weld = -1.0, .seconds = 600};
}

typedef struct filling {
    kiln_context *context;
    const char *place;
    const kiln_fill_options *options;
    kiln_soup surface; /* mended */
    kiln_u32_array from;
    kiln_fill_report *report;
} filling;

/* Volume inside the triangles, from their first point: exact wherever the surface is. */
static double enclosed_volume(const kiln_soup *s)
{
    double volume = 0.0;
    const kiln_vec3 *p = s->points.data;
    for (size_t i = 0; i < s->triangles.count; i++) {
        const uint32_t *v = s->triangles.data[i].v;
        volume += kiln_v3_triple(kiln_v3_sub(p[v[0]], p[0]), kiln_v3_sub(p[v[1]], p[0]),
                                 kiln_v3_sub(p[v[2]], p[0])) /
                  6;
    }
    return volume;
}

static double tet_volume(const kiln_soup *s)
{
    double volume = 0.0;
    for (size_t i = 0; i < s->tets.count; i++) {
        const uint32_t *v = s->tets.data[i].v;
        const kiln_vec3 *p = s->points.data;
        volume += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
    return volume;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Does the surface hang together? If not, a part may lie in another. */
static kiln_status is_one_shell(const kiln_soup *s, bool *one, kiln_error *error)
{
    uint32_t *parent = kiln_resize(s->context, NULL, 0, s->points.count * sizeof *parent);
    if (!parent)
        return kiln_fail_memory(error, s->points.count * sizeof *parent);
    size_t shells = s->points.count; /* every point is in a triangle */
    for (uint32_t i = 0; i < s->points.count; i++)
        parent[i] = i;
    for (size_t i = 0; i < 3 * s->triangles.count; i++) {
        const uint32_t *v = s->triangles.data[i / 3].v;
        uint32_t a = root_of(parent, v[i % 3]), b = root_of(parent, v[(i + 1) % 3]);
        parent[a < b ? b : a] = a < b ? a : b;
        shells -= a != b;
    }
    kiln_release(s->context, parent, s->points.count * sizeof *parent);
    *one = shells == 1;
    return KILN_OK;
}

/* Points in the cavities, so that they need not be filled first: from tets of the surface alone. */
static kiln_status find_cavities(const filling *f, kiln_vec3_array *holes, kiln_error *error)
{
    bool one = true;
    kiln_fill_cells cells;
    kiln_soup plain;
    KILN_TRY(is_one_shell(&f->surface, &one, error));
    if (one || f->options->regions)
        return KILN_OK;
    kiln_soup_init(&plain, f->context);
    const kiln_fill_job job = {.in = &f->surface, .surface = true, .plain = true};
    kiln_status status = kiln_fill_run(&job, f->options, &plain, error);
    if (status == KILN_OK)
        status = kiln_fill_sort_cells(&plain, false, f->place, holes, &cells, error);
    if (status == KILN_OK)
        f->report->cavities = cells.cavities;
    kiln_soup_free(&plain);
    return status;
}

/* From numbers of triangles back to their tags, and how many look the other way now. */
static void restore_tags(const filling *f, kiln_soup *out)
{
    bool tagged = f->surface.triangle_tags.count > 0;
    for (size_t i = 0; i < out->triangles.count; i++) {
        int32_t *tag = &out->triangle_tags.data[i];
        const uint32_t *v = f->surface.triangles.data[*tag].v, *w = out->triangles.data[i].v;
        const kiln_vec3 *p = f->surface.points.data, *q = out->points.data;
        kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]));
        kiln_vec3 m = kiln_v3_cross(kiln_v3_sub(q[w[1]], q[w[0]]), kiln_v3_sub(q[w[2]], q[w[0]]));
        f->report->turned += kiln_v3_dot(n, m) < 0.0;
        *tag = tagged ? f->surface.triangle_tags.data[*tag] : 0;
    }
    if (!tagged)
        out->triangle_tags.count = 0;
}

static kiln_status fill_inside(const filling *f, const kiln_vec3_array *holes, kiln_soup *out,
                               kiln_error *error)
{
    kiln_fill_cells cells;
    const kiln_fill_job job = {
        .in = &f->surface, .surface = true, .holes = holes->data, .hole_count = holes->count};
    KILN_TRY(kiln_fill_run(&job, f->options, out, error));
    KILN_TRY(kiln_fill_sort_cells(out, f->options->regions, f->place, NULL, &cells, error));
    f->report->cavities += cells.cavities;
    f->report->regions = cells.regions;
    if (out->tets.count == 0 || out->triangles.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1, "nothing is inside the surface");
    restore_tags(f, out);
    double inside = enclosed_volume(out), filled = tet_volume(out);
    if (!(fabs(inside - filled) <= 1e-6 * inside))
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1,
                         "the tets fill %g of the %g inside the surface: does it cross itself?",
                         filled, inside);
    return KILN_OK;
}

static kiln_status fill_exactly(const filling *f, kiln_soup *out, kiln_error *error)
{
    kiln_vec3_array holes = {0};
    kiln_status status = find_cavities(f, &holes, error);
    if (status == KILN_OK)
        status = fill_inside(f, &holes, out, error);
    kiln_array_free(f->context, &holes);
    return status;
}

/* The surface alone decides what is inside: it is laid near the origin for that. */
static kiln_status fill_envelope(filling *f, kiln_soup *out, kiln_error *error)
{
    const kiln_fill_options *o = f->options;
    kiln_box box = kiln_box_empty();
    if (o->regions)
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1,
                         "regions are told apart by an exact surface, not by an envelope");
    for (size_t i = 0; i < f->surface.points.count; i++)
        box = kiln_box_grow(box, f->surface.points.data[i]);
    kiln_vec3 middle = kiln_v3_madd(box.low, 0.5, kiln_v3_sub(box.high, box.low));
    const kiln_envelope_options options = {.distance = fmax(o->envelope, 0.0),
                                           .size = o->size > 0.0 ? o->size : o->max_edge,
                                           .most_tets = o->most_tets,
                                           .origin = middle};
    for (size_t i = 0; i < f->surface.points.count; i++)
        f->surface.points.data[i] = kiln_v3_sub(f->surface.points.data[i], middle);
    kiln_status status =
        kiln_envelope_fill(&f->surface, f->place, &options, out, &f->report->envelope, error);
    for (size_t i = 0; i < f->surface.points.count; i++)
        f->surface.points.data[i] = kiln_v3_add(f->surface.points.data[i], middle);
    for (size_t i = 0; i < out->points.count; i++)
        out->points.data[i] = kiln_v3_add(out->points.data[i], middle);
    KILN_TRY(status);
    const kiln_envelope_report *r = &f->report->envelope;
    f->report->enveloped = true;
    f->report->turned = r->turned;
    f->report->cavities = r->cavities;
    if (!r->kept)
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1,
                         "an envelope of %g could not be kept: the boundary is up to %g from the "
                         "surface; a wider one may be",
                         r->distance, fmax(r->outward, r->widest));
    return KILN_OK;
}

/* Edges of about one length, on the surface too. */
static kiln_status resize(const filling *f, kiln_soup *out, kiln_error *error)
{
    kiln_mesh *mesh;
    kiln_sizing *sizing = NULL;
    kiln_improve_report done;
    kiln_adapt_report adapted;
    const kiln_improve_request request = {.remesh = kiln_remesh_default_options(),
                                          .improve = kiln_improve_default_options()};
    KILN_TRY(kiln_mesh_import(f->context, out, f->place, NULL, &mesh, NULL, error));
    kiln_status status = kiln_sizing_create(mesh, request.remesh.space, &sizing, error);
    if (status == KILN_OK)
        status = kiln_sizing_add_size(sizing, f->options->size, error);
    if (status == KILN_OK)
        status = kiln_improve_finish_sizing(mesh, request.remesh.space, sizing, KILN_IMPROVE_RATIO,
                                            error);
    if (status == KILN_OK)
        status = kiln_improve_sized(mesh, &request, sizing, &done, &adapted, error);
    if (status == KILN_OK)
        status = kiln_mesh_compact(mesh, NULL, error);
    kiln_soup_free(out);
    if (status == KILN_OK)
        status = kiln_mesh_to_soup(mesh, out, error);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    return status;
}

/* Bodies that share a vertex or an edge and no face are apart: that is no solid, and nothing that
 * reads the file could take it for one. What no mesh can be made of stays for the judge. */
static kiln_status separate(const filling *f, kiln_soup *out, kiln_error *error)
{
    kiln_mesh_options options = kiln_mesh_default_options();
    kiln_mesh_report done;
    kiln_mesh *mesh;
    options.policy = KILN_MESH_REPAIR;
    kiln_status status = kiln_mesh_import(f->context, out, f->place, &options, &mesh, &done, error);
    if (status != KILN_OK)
        return status == KILN_ERR_INPUT ? KILN_OK : status;
    f->report->separated = done.vertices_split + done.tunnels;
    if (f->report->separated > 0) {
        kiln_soup_free(out);
        status = kiln_mesh_compact(mesh, NULL, error);
        if (status == KILN_OK)
            status = kiln_mesh_to_soup(mesh, out, error);
    }
    kiln_mesh_destroy(mesh);
    return status;
}

static kiln_status check_closed(const filling *f, kiln_error *error)
{
    kiln_status status = kiln_surface_is_closed(&f->surface, f->options->regions, f->place, error);
    if (status == KILN_ERR_INPUT && error) {
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used,
                 "; an envelope fills it all the same (--envelope; envelope of shape.file)");
    }
    return status;
}

/* Exactly, or, where the surface crosses itself and nobody minds, by an envelope. */
static kiln_status fill_either(filling *f, kiln_soup *out, kiln_error *error)
{
    if (f->options->envelope != 0.0)
        return fill_envelope(f, out, error);
    KILN_TRY(check_closed(f, error));
    kiln_status status = fill_exactly(f, out, error);
    if (status == KILN_OK) {
        KILN_TRY(separate(f, out, error));
        return f->options->size > 0.0 ? resize(f, out, error) : KILN_OK;
    }
    bool surface = status == KILN_ERR_IO || status == KILN_ERR_INPUT;
    if (!surface || kiln_context_is_stopping(f->context))
        return status;
    kiln_error crossing = {0};
    kiln_status crosses = kiln_fill_find_crossing(&f->surface, f->from.data, f->place, &crossing);
    if (crosses == KILN_OK)
        return status;
    if (error)
        *error = crossing;
    if (crosses != KILN_ERR_INPUT || f->options->exact || f->options->regions)
        return crosses;
    kiln_soup_free(out);
    snprintf(f->report->crossing, sizeof f->report->crossing, "%.255s", crossing.message);
    return fill_envelope(f, out, error);
}

static kiln_status check(const filling *f, const kiln_soup *surface, kiln_error *error)
{
    const kiln_fill_options *o = f->options;
    KILN_TRY(kiln_soup_check(surface, f->place, error));
    if (surface->triangles.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1, "there are no triangles");
    double size = kiln_surface_diagonal(surface);
    if (!(size >= 1e-60 && size <= 1e60)) /* volumes and their squares are numbers */
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1,
                         "the surface is %g across, must be between 1e-60 and 1e60", size);
    if (o->weld > 0.1 * size || o->envelope > 0.25 * size)
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1,
                         "a tolerance of %g is too much for a surface that is %g across",
                         o->weld > 0.1 * size ? o->weld : o->envelope, size);
    return KILN_OK;
}

static kiln_status fill(filling *f, const kiln_soup *surface, kiln_soup *out, kiln_error *error)
{
    const kiln_fill_options *o = f->options;
    const kiln_mend_options mend = {.weld = o->weld, .walls = o->regions};
    KILN_TRY(check(f, surface, error));
    KILN_TRY(kiln_surface_mend(surface, &mend, &f->surface, &f->from, &f->report->mend, error));
    if (f->surface.triangles.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, f->place, 0, -1,
                         "no triangle is left: all of them are flat or cancel each other");
    if (o->patch_angle > 0.0)
        KILN_TRY(kiln_surface_tag_patches(&f->surface, o->patch_angle * KILN_PI / 180.0,
                                          &f->report->patches, error));
    KILN_TRY(fill_either(f, out, error));
    return kiln_fill_judge(&f->surface, f->from.data, out, f->report, error);
}

kiln_status kiln_fill_surface(const kiln_soup *surface, const char *place,
                              const kiln_fill_options *options, kiln_soup *out,
                              kiln_fill_report *report, kiln_error *error)
{
    kiln_fill_report unread;
    filling f = {.context = surface->context,
                 .place = place,
                 .options = options,
                 .report = report ? report : &unread};
    *f.report = (kiln_fill_report){0};
    kiln_soup_init(&f.surface, surface->context);
    kiln_status status = fill(&f, surface, out, error);
    kiln_soup_free(&f.surface);
    kiln_array_free(f.context, &f.from);
    if (status != KILN_OK)
        kiln_soup_free(out);
    return status;
}

static void log_mending(kiln_context *context, const char *place, const kiln_mend_report *m)
{
    const struct {
        size_t count;
        const char *what;
    } rows[] = {{m->points_unused, "points in no triangle left out"},
                {m->flat_dropped, "triangles without area dropped"},
                {m->double_dropped, "triangles given twice dropped"},
                {m->walls_dropped, "triangles between bodies that touch dropped"},
                {m->edges_cut, "edges cut at corners that lie on them"}};
    if (m->points_welded)
        kiln_log(context, KILN_LOG_WARNING, "%s: %zu points welded, within %.3g (farthest %.3g)",
                 place, m->points_welded, m->weld, m->weld_farthest);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].count > 0)
            kiln_log(context, KILN_LOG_WARNING, "%s: %zu %s", place, rows[i].count, rows[i].what);
}

static void log_envelope(kiln_context *context, const char *place, const kiln_envelope_report *e)
{
    kiln_log(context, KILN_LOG_INFO,
             "%s: the boundary is within %.3g of the surface (of %.3g allowed), the surface within "
             "%.3g of it; %.2g of the surface is inside",
             place, e->outward, e->distance, e->backward, e->hidden);
    if (e->open_edges > 0)
        kiln_log(context, KILN_LOG_WARNING, "%s: %zu open edges", place, e->open_edges);
    if (e->spanned > 0.0)
        kiln_log(context, KILN_LOG_WARNING,
                 "%s: %.3g of the boundary spans holes, up to %.3g from the surface", place,
                 e->spanned, e->widest);
    if (e->backward > e->distance)
        kiln_log(context, KILN_LOG_WARNING,
                 "%s: a part of the surface, too thin to have an inside, is %.3g from the boundary",
                 place, e->backward);
    if (e->parts > e->pieces)
        kiln_log(context, KILN_LOG_WARNING,
                 "%s: what is filled is in %zu parts, the surface is in %zu: what is thinner than "
                 "half of %.3g may be torn; a smaller --envelope keeps it",
                 place, e->parts, e->pieces, e->distance);
    if (e->specks > 0)
        kiln_log(context, KILN_LOG_WARNING, "%s: %zu specks smaller than %.3g filled or left out",
                 place, e->specks, e->distance);
}

static void log_poor(kiln_context *context, const char *place, const kiln_fill_report *r)
{
    char cause[200];
    kiln_vec3 at = r->worst_at;
    if (r->thickness < 0.2 * r->edge_there)
        snprintf(cause, sizeof cause,
                 "the body is %.3g thick there and its triangles %.3g long: smaller ones (--size) "
                 "would do better",
                 r->thickness, r->edge_there);
    else if (r->angle_there < 10.0)
        snprintf(cause, sizeof cause,
                 "triangle %u of the surface has an angle of %.3g degrees there and stays: "
                 "'kiln mesh improve' may change it",
                 r->triangle_there + 1, r->angle_there);
    else
        snprintf(cause, sizeof cause, "'kiln mesh improve' may do better");
    kiln_log(context, KILN_LOG_WARNING,
             "%s: the worst tet has a quality of %.3g, near (%g, %g, %g): %s", place, r->worst,
             at.x, at.y, at.z, cause);
}

void kiln_fill_report_log(kiln_context *context, const char *place, const kiln_fill_report *r)
{
    log_mending(context, place, &r->mend);
    if (r->crossing[0])
        kiln_log(context, KILN_LOG_WARNING, "%s: %s: filled within an envelope of %.3g", place,
                 r->crossing, r->envelope.distance);
    if (r->turned > 0)
        kiln_log(context, KILN_LOG_WARNING, "%s: %zu triangles turned", place, r->turned);
    if (r->cavities > 0)
        kiln_log(context, KILN_LOG_WARNING, "%s: %zu shells inside others are cavities", place,
                 r->cavities);
    if (r->separated > 0)
        kiln_log(context, KILN_LOG_WARNING,
                 "%s: bodies that share only a vertex or an edge are separated: %zu cuts", place,
                 r->separated);
    if (r->regions > 1)
        kiln_log(context, KILN_LOG_INFO, "%s: %zu regions", place, r->regions);
    if (r->patches > 0)
        kiln_log(context, KILN_LOG_INFO, "%s: %zu patches", place, r->patches);
    if (r->enveloped)
        log_envelope(context, place, &r->envelope);
    if (r->worst < KILN_FILL_POOR)
        log_poor(context, place, r);
}
