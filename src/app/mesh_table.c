#include "app/mesh_table.h"

#include "base/hash.h"

#include <stdlib.h>

const char *kiln_grouped(size_t value, char buffer[32])
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%zu", value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = 0;
    return buffer;
}

static int by_value(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* The corners in any order: a sum of their hashes. */
static uint64_t tet_hash(const kiln_soup *soup, size_t tet)
{
    uint64_t sum = 0;
    for (int k = 0; k < 4; k++)
        sum += kiln_hash_bytes(0, &soup->points.data[soup->tets.data[tet].v[k]],
                               sizeof *soup->points.data);
    return kiln_hash_mix(sum);
}

kiln_status kiln_changed_tets(const kiln_soup *before, const kiln_soup *after, size_t *changed,
                              kiln_error *error)
{
    KILN_ARRAY_OF(uint64_t)
    now = {0};
    KILN_TRY(kiln_array_reserve(after->context, &now, after->tets.count + 1, error));
    for (size_t t = 0; t < after->tets.count; t++)
        now.data[t] = tet_hash(after, t);
    qsort(now.data, after->tets.count, sizeof *now.data, by_value);
    *changed = 0;
    for (size_t t = 0; t < before->tets.count; t++) {
        uint64_t key = tet_hash(before, t);
        *changed += !bsearch(&key, now.data, after->tets.count, sizeof key, by_value);
    }
    kiln_array_free(after->context, &now);
    return KILN_OK;
}

static void count_row(FILE *out, const char *name, size_t before, size_t after)
{
    char a[32], b[32];
    fprintf(out, "  %-24s %14s %14s\n", name, kiln_grouped(before, a), kiln_grouped(after, b));
}

static void number_row(FILE *out, const char *name, double before, double after)
{
    fprintf(out, "  %-24s %14.6g %14.6g\n", name, before, after);
}

static void bar(FILE *out, size_t value, size_t most)
{
    enum { WIDTH = 16 };
    size_t length = (value * WIDTH + most - 1) / most;
    for (size_t k = 0; k < WIDTH; k++)
        fputs(k < length ? "\u2588" : " ", out);
}

static size_t largest(const size_t *bins, int count)
{
    size_t most = 1;
    for (int i = 0; i < count; i++)
        most = bins[i] > most ? bins[i] : most;
    return most;
}

static void histograms(FILE *out, const char *title, const size_t *before, const size_t *after,
                       int count, double width, const char *format)
{
    size_t most_before = largest(before, count), most_after = largest(after, count);
    fprintf(out, "\n%-26s %14s %31s\n", title, "before", "after");
    for (int i = 0; i < count; i++) {
        char low[16], high[16], a[32], b[32];
        snprintf(low, sizeof low, format, i * width);
        snprintf(high, sizeof high, format, (i + 1) * width);
        fprintf(out, "  %9s - %-12s %14s ", low, high, kiln_grouped(before[i], a));
        bar(out, before[i], most_before);
        fprintf(out, "%14s ", kiln_grouped(after[i], b));
        bar(out, after[i], most_after);
        fputc('\n', out);
    }
}

void kiln_mesh_table_print(const kiln_mesh_comparison *c, FILE *out)
{
    const kiln_survey *a = c->before, *b = c->after;
    fprintf(out, "%-26s %14s %14s\n", "", "before", "after");
    count_row(out, "vertices", a->vertices, b->vertices);
    count_row(out, "tets", a->tets, b->tets);
    number_row(out, "worst quality", a->q_min, b->q_min);
    number_row(out, "mean quality", a->q_mean, b->q_mean);
    if (c->stretched) {
        number_row(out, "worst in the thin metric", c->metric_before.worst, c->metric_after.worst);
        number_row(out, "mean in the thin metric", c->metric_before.mean, c->metric_after.mean);
    }
    number_row(out, "smallest dihedral, deg", a->dihedral_min, b->dihedral_min);
    number_row(out, "largest dihedral, deg", a->dihedral_max, b->dihedral_max);
    number_row(out, "shortest edge", a->edge_min, b->edge_min);
    number_row(out, "longest edge", a->edge_max, b->edge_max);
    number_row(out, "volume", a->volume, b->volume);
    number_row(out, "surface area", a->area, b->area);
    histograms(out, "quality", a->q_bins, b->q_bins, KILN_QUALITY_BINS, 1.0 / KILN_QUALITY_BINS,
               "%.1f");
    histograms(out, "dihedral angles, degrees", a->dihedral_bins, b->dihedral_bins, KILN_ANGLE_BINS,
               180.0 / KILN_ANGLE_BINS, "%.0f");
    char text[32];
    double size = kiln_v3_norm(kiln_v3_sub(a->high, a->low));
    fprintf(out, "\n  changed tets             %14s  (%.2f %%)\n", kiln_grouped(c->changed, text),
            a->tets ? 100.0 * (double)c->changed / (double)a->tets : 0.0);
    if (!isnan(c->hausdorff))
        fprintf(out, "  surface moved by at most %14.4g  (%.3g of the model's size)\n",
                c->hausdorff, size > 0.0 ? c->hausdorff / size : 0.0);
    if (c->of_band > 0.0)
        fprintf(out, "    of what it may there   %14.2f\n", c->of_band);
    fprintf(out, "  volume changed by        %14.4g  (%.3g of it)\n", c->volume_change,
            a->volume != 0.0 ? c->volume_change / a->volume : 0.0);
    if (c->stretched)
        fprintf(out,
                "  tets are stretched along the body, which is %.3g thick at its thinnest: what\n"
                "    counts is their quality in the thin metric (--anisotropic never: without)\n",
                c->thickness);
    fprintf(out, "  time                     %14.3f s (%.3f s of processor time)\n", c->seconds,
            c->cpu);
    if (c->whole > 0.0)
        fprintf(out, "  with files and checks    %14.3f s (%.3f s of processor time)\n", c->whole,
                c->whole_cpu);
}

static void json_side(kiln_json *json, const char *key, const kiln_survey *s)
{
    kiln_json_object(json, key);
    kiln_json_count(json, "vertices", s->vertices);
    kiln_json_count(json, "tets", s->tets);
    kiln_json_number(json, "q_min", s->q_min);
    kiln_json_number(json, "q_mean", s->q_mean);
    kiln_json_number(json, "dihedral_min", s->dihedral_min);
    kiln_json_number(json, "dihedral_max", s->dihedral_max);
    kiln_json_number(json, "edge_min", s->edge_min);
    kiln_json_number(json, "edge_mean", s->edge_mean);
    kiln_json_number(json, "edge_max", s->edge_max);
    kiln_json_number(json, "volume", s->volume);
    kiln_json_number(json, "area", s->area);
    kiln_json_list(json, "q_bins");
    for (int i = 0; i < KILN_QUALITY_BINS; i++)
        kiln_json_count(json, NULL, s->q_bins[i]);
    kiln_json_end(json);
    kiln_json_list(json, "dihedral_bins");
    for (int i = 0; i < KILN_ANGLE_BINS; i++)
        kiln_json_count(json, NULL, s->dihedral_bins[i]);
    kiln_json_end(json);
    kiln_json_end(json);
}

void kiln_mesh_table_json(const kiln_mesh_comparison *c, kiln_json *json)
{
    json_side(json, "before", c->before);
    json_side(json, "after", c->after);
    kiln_json_count(json, "changed_tets", c->changed);
    kiln_json_number(json, "hausdorff", c->hausdorff);
    if (c->of_band > 0.0)
        kiln_json_number(json, "hausdorff_of_band", c->of_band);
    kiln_json_number(json, "volume_change", c->volume_change);
    if (c->stretched) {
        kiln_json_object(json, "stretched");
        kiln_json_number(json, "thickness", c->thickness);
        kiln_json_number(json, "q_min_before", c->metric_before.worst);
        kiln_json_number(json, "q_min", c->metric_after.worst);
        kiln_json_number(json, "q_mean_before", c->metric_before.mean);
        kiln_json_number(json, "q_mean", c->metric_after.mean);
        kiln_json_end(json);
    }
    kiln_json_number(json, "seconds", c->seconds);
    kiln_json_number(json, "cpu_seconds", c->cpu);
    if (c->whole > 0.0) {
        kiln_json_number(json, "whole_seconds", c->whole);
        kiln_json_number(json, "whole_cpu_seconds", c->whole_cpu);
    }
}
