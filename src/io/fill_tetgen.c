/* TetGen as a program: its input, its switches, its output. */
#include "geom/box.h"
#include "io/fill_impl.h"
#include "io/format.h"
#include "io/process.h"

#include <math.h>
#include <stdio.h>

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

/* Points are given about the middle of their box and in a unit of about its size, a power of two:
 * TetGen's tolerances are then those of the shape, wherever it is. */
typedef struct frame {
    kiln_vec3 middle;
    double unit;
} frame;

static frame frame_of(const kiln_soup *s)
{
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < s->points.count; i++)
        box = kiln_box_grow(box, s->points.data[i]);
    kiln_vec3 span = kiln_v3_sub(box.high, box.low);
    double size = fmax(span.x, fmax(span.y, span.z));
    int exponent = 0;
    if (size > 0.0 && isfinite(size))
        frexp(size, &exponent);
    return (frame){kiln_v3_madd(box.low, 0.5, span), ldexp(1.0, exponent)};
}

static kiln_vec3 into(frame f, kiln_vec3 p)
{
    return kiln_v3_scale(kiln_v3_sub(p, f.middle), 1.0 / f.unit);
}

/* Points, and of a surface the triangles. */
static kiln_status write_input(const kiln_fill_job *job, frame f, const char *path,
                               kiln_error *error)
{
    const kiln_soup *s = job->in;
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, s->context, path, error));
    kiln_sink_format(&sink, "%zu 3 0 0\n", s->points.count);
    for (size_t i = 0; i < s->points.count; i++)
        put_point(&sink, i, into(f, s->points.data[i]));
    if (job->surface) {
        /* Marker i + 1 for triangle i: every tag comes back, whatever its value. */
        kiln_sink_format(&sink, "%zu 1\n", s->triangles.count);
        for (size_t i = 0; i < s->triangles.count; i++) {
            const uint32_t *v = s->triangles.data[i].v;
            kiln_sink_format(&sink, "1 0 %zu\n3 %u %u %u\n", i + 1, v[0], v[1], v[2]);
        }
        kiln_sink_format(&sink, "%zu\n", job->hole_count);
        for (size_t i = 0; i < job->hole_count; i++)
            put_point(&sink, i, into(f, job->holes[i]));
        kiln_sink_text(&sink, "0\n");
    }
    return kiln_sink_commit(&sink, error);
}

static void switches_for(const kiln_fill_options *o, const kiln_fill_job *job, double unit,
                         char *buffer, size_t size)
{
    bool surface = job->surface && !job->plain;
    int used = snprintf(buffer, size, "-%szQ", job->surface ? "p" : "");
    if (job->surface && (o->keep_surface || job->plain))
        used += snprintf(buffer + used, size - (size_t)used, "Y");
    if (surface && o->radius_edge > 0.0)
        used +=
            snprintf(buffer + used, size - (size_t)used, "q%g/%g", o->radius_edge, o->min_dihedral);
    if (surface && o->max_edge > 0.0) /* volume of the regular tet */
        snprintf(buffer + used, size - (size_t)used, "a%.9g",
                 pow(o->max_edge / unit, 3) / (6 * sqrt(2.0)));
}

/* Markers become numbers of triangles; triangles without one are inside and left out. */
static kiln_status keep_facets(const kiln_soup *surface, kiln_soup *out, kiln_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->triangles.count; i++) {
        int32_t marker = out->triangle_tags.count ? out->triangle_tags.data[i] : 0;
        if (marker < 1 || (size_t)marker > surface->triangles.count)
            continue;
        out->triangles.data[kept] = out->triangles.data[i];
        out->triangle_tags.data[kept++] = marker - 1;
    }
    out->triangles.count = out->triangle_tags.count = kept;
    if (kept == 0)
        return kiln_fail(error, KILN_ERR_IO, "tetgen", 0, -1, "gave no surface triangles back");
    return KILN_OK;
}

/* The input's points as they were, new ones out of TetGen's frame. */
static void restore_points(const kiln_soup *in, frame f, kiln_soup *out)
{
    for (size_t i = 0; i < out->points.count; i++) {
        kiln_vec3 *p = &out->points.data[i];
        bool given = i < in->points.count;
        if (given) {
            kiln_vec3 off = kiln_v3_sub(*p, into(f, in->points.data[i]));
            given = kiln_v3_norm2(off) < 0x1p-60;
        }
        *p = given ? in->points.data[i] : kiln_v3_madd(f.middle, f.unit, *p);
    }
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

static kiln_status run_in(const kiln_scratch *scratch, const kiln_fill_job *job, frame f,
                          const kiln_fill_options *options, kiln_soup *out, kiln_error *error)
{
    char input[KILN_SCRATCH_PATH], log[KILN_SCRATCH_PATH], result[KILN_SCRATCH_PATH], switches[128];
    kiln_scratch_file(scratch, job->surface ? "in.poly" : "in.node", input);
    kiln_scratch_file(scratch, "log", log);
    kiln_scratch_file(scratch, "in.1.ele", result);
    KILN_TRY(write_input(job, f, input, error));
    switches_for(options, job, f.unit, switches, sizeof switches);
    const char *program = options->program ? options->program : "tetgen";
    const char *const arguments[] = {program, switches, input, NULL};
    kiln_context *context = job->in->context;
    KILN_TRY(kiln_process_run(context, arguments, log, options->seconds, "tetgen", error));
    const kiln_format_options format = {.format = "tetgen"};
    KILN_TRY(kiln_soup_read(out->context, result, &format, out, error));
    if (out->tets.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, program, 0, -1, "made no tets");
    return KILN_OK;
}

kiln_status kiln_fill_run(const kiln_fill_job *job, const kiln_fill_options *options,
                          kiln_soup *out, kiln_error *error)
{
    kiln_scratch scratch;
    frame f = frame_of(job->in);
    KILN_TRY(kiln_scratch_make(&scratch, job->in->context, error));
    kiln_status status = run_in(&scratch, job, f, options, out, error);
    kiln_scratch_remove(&scratch);
    KILN_TRY(status);
    restore_points(job->in, f, out);
    KILN_TRY(tidy(out, error));
    return job->surface ? keep_facets(job->in, out, error) : KILN_OK;
}

kiln_status kiln_fill_points(const kiln_soup *cloud, const kiln_fill_options *options,
                             kiln_soup *out, kiln_error *error)
{
    const kiln_fill_job job = {.in = cloud};
    kiln_status status = kiln_fill_run(&job, options, out, error);
    if (status == KILN_OK) {
        out->triangles.count = 0;
        out->triangle_tags.count = 0;
    } else {
        kiln_soup_free(out);
    }
    return status;
}
