#include "io/fill.h"

#include "base/hash.h"
#include "geom/bvh.h"
#include "geom/triangle_overlap.h"
#include "io/format.h"
#include "io/process.h"

#include <math.h>
#include <stdio.h>

kiln_fill_options kiln_fill_default_options(void)
{
    return (kiln_fill_options){
        .radius_edge = 1.5, .min_dihedral = 10, .keep_surface = true, .seconds = 600};
}

typedef struct edge_slot {
    uint32_t low, high, count;
} edge_slot;

static edge_slot *find_edge(edge_slot *slots, size_t mask, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t at = kiln_hash_mix((uint64_t)low << 32 | high) & mask;
    while (slots[at].count && (slots[at].low != low || slots[at].high != high))
        at = (at + 1) & mask;
    slots[at].low = low;
    slots[at].high = high;
    return &slots[at];
}

static kiln_status fail_edge(const kiln_soup *s, const edge_slot *edge, const char *place,
                             kiln_error *error)
{
    kiln_vec3 a = s->points.data[edge->low], b = s->points.data[edge->high];
    return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                     "the surface is not closed: the edge from (%g, %g, %g) to (%g, %g, %g) "
                     "belongs to %u triangle%s",
                     a.x, a.y, a.z, b.x, b.y, b.z, edge->count, edge->count == 1 ? "" : "s");
}

kiln_status kiln_surface_is_closed(const kiln_soup *surface, const char *place, kiln_error *error)
{
    kiln_context *context = surface->context;
    size_t triangles = surface->triangles.count, slots = 64;
    if (triangles == 0)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1, "there are no triangles");
    while (slots < 4 * triangles)
        slots *= 2;
    edge_slot *table = kiln_resize(context, NULL, 0, slots * sizeof *table);
    if (!table)
        return kiln_fail_memory(error, slots * sizeof *table);
    memset(table, 0, slots * sizeof *table);
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < triangles && status == KILN_OK; i++) {
        const uint32_t *v = surface->triangles.data[i].v;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            status = kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                               "triangle %zu has two equal corners", i + 1);
        for (int e = 0; e < 3 && status == KILN_OK; e++)
            find_edge(table, slots - 1, v[e], v[(e + 1) % 3])->count++;
    }
    for (size_t i = 0; i < 3 * triangles && status == KILN_OK; i++) {
        const uint32_t *v = surface->triangles.data[i / 3].v;
        const edge_slot *edge = find_edge(table, slots - 1, v[i % 3], v[(i + 1) % 3]);
        if (edge->count % 2)
            status = fail_edge(surface, edge, place, error);
    }
    kiln_release(context, table, slots * sizeof *table);
    return status;
}

static void put_point(kiln_sink *sink, size_t number, kiln_vec3 p)
{
    kiln_sink_integer(sink, (int64_t)number);
    const double x[3] = {p.x, p.y, p.z};
    for (int i = 0; i < 3; i++) {
        kiln_sink_char(sink, ' ');
        kiln_sink_double(sink, x[i]);
    }
    kiln_sink_char(sink, '\n');
}

/* Points, and with `facets` the triangles. */
static kiln_status write_input(const kiln_soup *s, const char *path, bool facets, kiln_error *error)
{
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, s->context, path, error));
    kiln_sink_format(&sink, "%zu 3 0 0\n", s->points.count);
    for (size_t i = 0; i < s->points.count; i++)
        put_point(&sink, i, s->points.data[i]);
    if (facets) {
        /* Marker i + 1 for triangle i: every tag comes back, whatever its value. */
        kiln_sink_format(&sink, "%zu 1\n", s->triangles.count);
        for (size_t i = 0; i < s->triangles.count; i++) {
            const uint32_t *v = s->triangles.data[i].v;
            kiln_sink_format(&sink, "1 0 %zu\n3 %u %u %u\n", i + 1, v[0], v[1], v[2]);
        }
        kiln_sink_text(&sink, "0\n0\n");
    }
    return kiln_sink_commit(&sink, error);
}

static void switches_for(const kiln_fill_options *o, bool surface, char *buffer, size_t size)
{
    int used = snprintf(buffer, size, "-%szQ", surface ? "p" : "");
    if (surface && o->keep_surface)
        used += snprintf(buffer + used, size - (size_t)used, "Y");
    if (surface && o->radius_edge > 0.0)
        used +=
            snprintf(buffer + used, size - (size_t)used, "q%g/%g", o->radius_edge, o->min_dihedral);
    if (surface && o->max_edge > 0.0) /* volume of the regular tet */
        snprintf(buffer + used, size - (size_t)used, "a%.9g",
                 pow(o->max_edge, 3) / (6 * sqrt(2.0)));
}

/* From markers back to tags; triangles without one are inside and left out. */
static kiln_status restore_tags(const kiln_soup *surface, kiln_soup *out, kiln_error *error)
{
    size_t kept = 0;
    bool tagged = surface->triangle_tags.count > 0;
    for (size_t i = 0; i < out->triangles.count; i++) {
        int32_t marker = out->triangle_tags.count ? out->triangle_tags.data[i] : 0;
        if (marker < 1 || (size_t)marker > surface->triangles.count)
            continue;
        out->triangles.data[kept] = out->triangles.data[i];
        out->triangle_tags.data[kept++] = tagged ? surface->triangle_tags.data[marker - 1] : 0;
    }
    out->triangles.count = kept;
    out->triangle_tags.count = tagged ? kept : 0;
    if (kept == 0)
        return kiln_fail(error, KILN_ERR_IO, "tetgen", 0, -1, "gave no surface triangles back");
    return KILN_OK;
}

/* Volume inside the triangles. */
static double enclosed_volume(const kiln_soup *s)
{
    double volume = 0.0;
    for (size_t i = 0; i < s->triangles.count; i++) {
        const uint32_t *v = s->triangles.data[i].v;
        const kiln_vec3 *p = s->points.data;
        volume += kiln_v3_triple(kiln_v3_sub(p[v[0]], p[0]), kiln_v3_sub(p[v[1]], p[0]),
                                 kiln_v3_sub(p[v[2]], p[0])) /
                  6;
    }
    return volume;
}

/* Positive tets with one tag, no fields or marks. */
static kiln_status tidy(kiln_soup *out, kiln_error *error)
{
    kiln_context *context = out->context;
    for (size_t i = 0; i < out->fields.count; i++)
        kiln_array_free(context, &out->fields.data[i].data);
    out->fields.count = 0;
    kiln_array_free(context, &out->point_tags);
    kiln_array_free(context, &out->edges);
    kiln_array_free(context, &out->edge_tags);
    KILN_TRY(kiln_array_reserve(context, &out->tet_tags, out->tets.count, error));
    out->tet_tags.count = out->tets.count;
    const kiln_vec3 *p = out->points.data;
    for (size_t i = 0; i < out->tets.count; i++) {
        uint32_t *v = out->tets.data[i].v, keep = v[2];
        out->tet_tags.data[i] = 1;
        if (kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) < 0.0) {
            v[2] = v[3];
            v[3] = keep;
        }
    }
    return KILN_OK;
}

static kiln_status run_in(const kiln_scratch *scratch, const kiln_soup *in, bool surface,
                          const kiln_fill_options *options, kiln_soup *out, kiln_error *error)
{
    char input[KILN_SCRATCH_PATH], log[KILN_SCRATCH_PATH], result[KILN_SCRATCH_PATH], switches[128];
    kiln_scratch_file(scratch, surface ? "in.poly" : "in.node", input);
    kiln_scratch_file(scratch, "log", log);
    kiln_scratch_file(scratch, "in.1.ele", result);
    KILN_TRY(write_input(in, input, surface, error));
    switches_for(options, surface, switches, sizeof switches);
    const char *program = options->program ? options->program : "tetgen";
    const char *const arguments[] = {program, switches, input, NULL};
    KILN_TRY(kiln_process_run(in->context, arguments, log, options->seconds, "tetgen", error));
    const kiln_format_options format = {.format = "tetgen"};
    KILN_TRY(kiln_soup_read(out->context, result, &format, out, error));
    if (out->tets.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, program, 0, -1, "made no tets");
    return KILN_OK;
}

static kiln_status run(const kiln_soup *in, bool surface, const kiln_fill_options *options,
                       kiln_soup *out, kiln_error *error)
{
    kiln_scratch scratch;
    KILN_TRY(kiln_scratch_make(&scratch, in->context, error));
    kiln_status status = run_in(&scratch, in, surface, options, out, error);
    kiln_scratch_remove(&scratch);
    if (status == KILN_OK)
        status = tidy(out, error);
    return status;
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

typedef struct face_slot {
    uint32_t v[3], triangle; /* v rising; triangle UINT32_MAX: free */
} face_slot;

static face_slot *find_face(face_slot *slots, size_t mask, const uint32_t v[3])
{
    uint32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    uint32_t s[3] = {low < v[2] ? low : v[2], 0, high > v[2] ? high : v[2]};
    s[1] = v[0] ^ v[1] ^ v[2] ^ s[0] ^ s[2];
    size_t at = kiln_hash_add((uint64_t)s[0] << 32 | s[1], s[2]) & mask;
    while (slots[at].triangle != UINT32_MAX && memcmp(slots[at].v, s, sizeof s) != 0)
        at = (at + 1) & mask;
    memcpy(slots[at].v, s, sizeof s);
    return &slots[at];
}

static kiln_status turn_in_table(kiln_soup *out, face_slot *table, size_t mask, const char *place,
                                 kiln_error *error)
{
    static const uint8_t face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const uint32_t seen = UINT32_C(1) << 31;
    for (size_t i = 0; i < out->triangles.count; i++)
        find_face(table, mask, out->triangles.data[i].v)->triangle = (uint32_t)i;
    for (size_t i = 0; i < 4 * out->tets.count; i++) {
        uint32_t v[3];
        for (int k = 0; k < 3; k++)
            v[k] = out->tets.data[i / 4].v[face[i % 4][k]];
        face_slot *slot = find_face(table, mask, v);
        if (slot->triangle == UINT32_MAX)
            continue;
        if (slot->triangle & seen)
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             "a part of the surface lies inside another, at (%g, %g, %g): cavities "
                             "and nested shells are not filled",
                             out->points.data[v[0]].x, out->points.data[v[0]].y,
                             out->points.data[v[0]].z);
        memcpy(out->triangles.data[slot->triangle].v, v, sizeof v);
        slot->triangle |= seen;
    }
    return KILN_OK;
}

/* TetGen's triangles look either way: turns them outward by the tets they belong to, and refuses a
 * triangle that has tets on both sides. */
static kiln_status turn_outward(kiln_soup *out, const char *place, kiln_error *error)
{
    size_t slots = 64;
    while (slots < 2 * out->triangles.count + 2)
        slots *= 2;
    size_t size = slots * sizeof(face_slot);
    face_slot *table = kiln_resize(out->context, NULL, 0, size);
    if (!table)
        return kiln_fail_memory(error, size);
    memset(table, 0xff, size);
    kiln_status status = turn_in_table(out, table, slots - 1, place, error);
    kiln_release(out->context, table, size);
    return status;
}

typedef struct crossing {
    const kiln_soup *surface;
    kiln_bvh_pair pair;
    bool found;
} crossing;

static bool crosses(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    crossing *c = user;
    for (size_t i = 0; i < count && !c->found; i++) {
        const uint32_t *v = c->surface->triangles.data[pairs[i].a].v;
        const uint32_t *w = c->surface->triangles.data[pairs[i].b].v;
        kiln_vec3 p[3], q[3];
        for (int k = 0; k < 3; k++) {
            p[k] = c->surface->points.data[v[k]];
            q[k] = c->surface->points.data[w[k]];
        }
        c->found = kiln_triangle_overlap_shared(p, v, q, w) != KILN_OVERLAP_DISJOINT;
        c->pair = pairs[i];
    }
    return !c->found;
}

/* TetGen answers a surface that meets itself by crashing. This finds the place, exactly, after the
 * fact: surfaces that are fine do not pay for it. KILN_OK when it is not the reason. */
static kiln_status find_crossing(const kiln_soup *surface, const char *place, kiln_error *error)
{
    size_t count = surface->triangles.count;
    kiln_box *boxes = kiln_resize(surface->context, NULL, 0, count * sizeof *boxes);
    if (!boxes)
        return kiln_fail_memory(error, count * sizeof *boxes);
    for (size_t i = 0; i < 3 * count; i++) {
        kiln_box box = i % 3 ? boxes[i / 3] : kiln_box_empty();
        uint32_t v = surface->triangles.data[i / 3].v[i % 3];
        boxes[i / 3] = kiln_box_grow(box, surface->points.data[v]);
    }
    kiln_bvh bvh = {0};
    kiln_status status = kiln_bvh_build(&bvh, surface->context, boxes, count, error);
    kiln_release(surface->context, boxes, count * sizeof *boxes);
    crossing c = {.surface = surface};
    if (status == KILN_OK)
        kiln_bvh_visit_self_overlap(&bvh, crosses, &c);
    kiln_bvh_destroy(&bvh);
    if (!c.found)
        return status;
    const uint32_t *v = surface->triangles.data[c.pair.a].v;
    const kiln_vec3 *p = surface->points.data;
    kiln_vec3 middle =
        kiln_v3_scale(kiln_v3_add(p[v[0]], kiln_v3_add(p[v[1]], p[v[2]])), 1.0 / 3.0);
    return kiln_fail(
        error, KILN_ERR_INPUT, place, 0, -1,
        "the surface crosses or touches itself: triangles %u and %u, near (%g, %g, %g)",
        c.pair.a + 1, c.pair.b + 1, middle.x, middle.y, middle.z);
}

static kiln_status fill_checked(const kiln_soup *surface, const char *place,
                                const kiln_fill_options *options, kiln_soup *out, kiln_error *error)
{
    KILN_TRY(kiln_soup_check(surface, place, error));
    KILN_TRY(kiln_surface_is_closed(surface, place, error));
    kiln_status status = run(surface, true, options, out, error);
    if (status == KILN_ERR_IO && !kiln_context_is_stopping(surface->context))
        KILN_TRY(find_crossing(surface, place, error));
    KILN_TRY(status);
    KILN_TRY(restore_tags(surface, out, error));
    KILN_TRY(turn_outward(out, place, error));
    double inside = enclosed_volume(out), filled = tet_volume(out);
    if (!(fabs(inside - filled) <= 1e-6 * inside))
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "the tets fill %g of the %g inside the surface: does it cross itself?",
                         filled, inside);
    return KILN_OK;
}

kiln_status kiln_fill_surface(const kiln_soup *surface, const char *place,
                              const kiln_fill_options *options, kiln_soup *out, kiln_error *error)
{
    kiln_status status = fill_checked(surface, place, options, out, error);
    if (status != KILN_OK)
        kiln_soup_free(out);
    return status;
}

kiln_status kiln_fill_points(const kiln_soup *cloud, const kiln_fill_options *options,
                             kiln_soup *out, kiln_error *error)
{
    kiln_status status = run(cloud, false, options, out, error);
    if (status == KILN_OK) {
        out->triangles.count = 0;
        out->triangle_tags.count = 0;
    } else {
        kiln_soup_free(out);
    }
    return status;
}
