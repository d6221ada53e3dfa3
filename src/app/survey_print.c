#include "app/survey.h"

#include "app/mesh_table.h"
#include "io/json.h"

#include <string.h>

enum { BAR = 40, LIST_LIMIT = 12 };

static void count_line(FILE *out, const char *name, size_t value)
{
    char text[32];
    fprintf(out, "  %-22s %14s\n", name, kiln_grouped(value, text));
}

static void groups(FILE *out, const char *title, const char *item, const char *measure,
                   const kiln_survey_groups *list)
{
    if (list->count == 0)
        return;
    fprintf(out, "  %-22s %14s %14s\n", title, item, measure);
    for (size_t i = 0; i < list->count && i < LIST_LIMIT; i++) {
        char text[32];
        fprintf(out, "    %-20d %14s %14.6g\n", (int)list->data[i].tag,
                kiln_grouped(list->data[i].count, text), list->data[i].measure);
    }
    if (list->count > LIST_LIMIT)
        fprintf(out, "    ... and %zu more\n", list->count - LIST_LIMIT);
}

/* Bars of eighths of a character, so that one tet among millions still shows. */
static void histogram(FILE *out, const size_t *bins, int count, double width, const char *format)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    size_t most = 1, total = 0;
    for (int i = 0; i < count; i++) {
        most = bins[i] > most ? bins[i] : most;
        total += bins[i];
    }
    for (int i = 0; i < count; i++) {
        char low[16], high[16], number[32];
        snprintf(low, sizeof low, format, i * width);
        snprintf(high, sizeof high, format, (i + 1) * width);
        fprintf(out, "  %5s - %-5s %12s %6.2f %%  ", low, high, kiln_grouped(bins[i], number),
                total ? 100.0 * (double)bins[i] / (double)total : 0.0);
        int units = (int)(8.0 * BAR * (double)bins[i] / (double)most + 0.5);
        units = bins[i] && units == 0 ? 1 : units;
        for (int k = 0; k < units / 8; k++)
            fputs("\u2588", out);
        fprintf(out, "%s\n", eighths[units % 8]);
    }
}

static void print_shape(const kiln_survey *s, FILE *out)
{
    fprintf(out, "\nshape\n");
    fprintf(out, "  %-22s %14.6g %14.6g %14.6g\n", "lowest corner", s->low.x, s->low.y, s->low.z);
    fprintf(out, "  %-22s %14.6g %14.6g %14.6g\n", "highest corner", s->high.x, s->high.y,
            s->high.z);
    if (s->tets || !isnan(s->volume))
        fprintf(out, "  %-22s %14.8g\n", s->tets ? "volume" : "volume inside", s->volume);
    fprintf(out, "  %-22s %14.8g\n", "surface area", s->area);
    if (s->edges)
        fprintf(out, "  %-22s %14.6g %14.6g %14.6g\n", "edges (min, mean, max)", s->edge_min,
                s->edge_mean, s->edge_max);
}

static const char *const where_names[] = {
    [KILN_ON_VERTEX] = "vertices", [KILN_ON_TET] = "tets", [KILN_ON_FACE] = "triangles"};

static void print_fields(const kiln_survey *s, FILE *out)
{
    if (s->fields.count == 0)
        return;
    fprintf(out, "\n%-24s %-14s %9s %14s %14s\n", "fields", "on", "numbers", "lowest", "highest");
    for (size_t i = 0; i < s->fields.count; i++) {
        const kiln_survey_field *f = &s->fields.data[i];
        fprintf(out, "  %-22s %-14s %9u %14.6g %14.6g\n", f->name, where_names[f->where],
                (unsigned)f->components, f->low, f->high);
    }
}

static void print_defects(const kiln_survey *s, FILE *out)
{
    const struct {
        const char *name;
        size_t count;
    } rows[] = {{"inverted tets", s->inverted},
                {"flat tets", s->flat},
                {"elements with a vertex twice", s->repeated},
                {"duplicate tets", s->duplicate_tets},
                {"unused vertices", s->unused_vertices},
                {"duplicate vertices", s->duplicate_vertices},
                {"faces of 3 or more tets", s->crowded_faces},
                {"faces with both tets on one side", s->folded_faces},
                {"open edges", s->open_edges},
                {"non-manifold edges", s->bad_edges - s->open_edges},
                {"non-manifold vertices", s->bad_vertices}};
    bool any = false;
    fprintf(out, "\ndefects\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].count) {
            char text[32];
            fprintf(out, "  %-34s %10s\n", rows[i].name, kiln_grouped(rows[i].count, text));
            any = true;
        }
    if (s->crossing[0])
        fprintf(out, "  %s\n", s->crossing);
    if (!any && !s->crossing[0])
        fprintf(out, "  none found\n");
    if (s->inverted && s->inverted + s->flat + s->repeated == s->tets)
        fprintf(out,
                "  (every tet is inverted: the file only orders their vertices the other way)\n");
}

void kiln_survey_print(const kiln_survey *s, const char *name, FILE *out)
{
    fprintf(out, "%s\n\n", name);
    count_line(out, "vertices", s->vertices);
    count_line(out, "tets", s->tets);
    count_line(out, "edges", s->edges);
    if (s->tets)
        count_line(out, "parts", s->parts);
    count_line(out, "boundary triangles", s->boundary_triangles);
    groups(out, "regions", "tets", "volume", &s->regions);
    groups(out, "patches", "triangles", "area", &s->patches);
    print_shape(s, out);
    print_fields(s, out);
    if (s->tets > s->repeated) {
        fprintf(out, "\nquality         worst %.4g, mean %.4g\n", s->q_min, s->q_mean);
        histogram(out, s->q_bins, KILN_QUALITY_BINS, 1.0 / KILN_QUALITY_BINS, "%.1f");
        fprintf(out, "\ndihedral angles %.5g to %.5g degrees\n", s->dihedral_min, s->dihedral_max);
        histogram(out, s->dihedral_bins, KILN_ANGLE_BINS, 180.0 / KILN_ANGLE_BINS, "%.0f");
    }
    print_defects(s, out);
}

static void json_groups(kiln_json *json, const char *key, const char *item, const char *measure,
                        const kiln_survey_groups *list)
{
    kiln_json_list(json, key);
    for (size_t i = 0; i < list->count; i++) {
        kiln_json_object(json, NULL);
        kiln_json_integer(json, "tag", list->data[i].tag);
        kiln_json_count(json, item, list->data[i].count);
        kiln_json_number(json, measure, list->data[i].measure);
        kiln_json_end(json);
    }
    kiln_json_end(json);
}

static void json_fields(kiln_json *json, const kiln_survey *s)
{
    kiln_json_list(json, "field_list");
    for (size_t i = 0; i < s->fields.count; i++) {
        const kiln_survey_field *f = &s->fields.data[i];
        kiln_json_object(json, NULL);
        kiln_json_text(json, "name", f->name);
        kiln_json_text(json, "on", where_names[f->where]);
        kiln_json_count(json, "components", f->components);
        kiln_json_number(json, "low", f->low);
        kiln_json_number(json, "high", f->high);
        kiln_json_end(json);
    }
    kiln_json_end(json);
}

static void json_bins(kiln_json *json, const char *key, const size_t *bins, int count)
{
    kiln_json_list(json, key);
    for (int i = 0; i < count; i++)
        kiln_json_count(json, NULL, bins[i]);
    kiln_json_end(json);
}

static void json_point(kiln_json *json, const char *key, kiln_vec3 p)
{
    kiln_json_list(json, key);
    kiln_json_number(json, NULL, p.x);
    kiln_json_number(json, NULL, p.y);
    kiln_json_number(json, NULL, p.z);
    kiln_json_end(json);
}

void kiln_survey_print_json(const kiln_survey *s, const char *name, FILE *out)
{
    kiln_json json = kiln_json_to_stream(out);
    kiln_json_object(&json, NULL);
    kiln_json_text(&json, "file", name);
    kiln_json_count(&json, "vertices", s->vertices);
    kiln_json_count(&json, "tets", s->tets);
    kiln_json_count(&json, "edges", s->edges);
    kiln_json_count(&json, "boundary_triangles", s->boundary_triangles);
    kiln_json_count(&json, "parts", s->parts);
    kiln_json_count(&json, "regions", s->regions.count);
    kiln_json_count(&json, "patches", s->patches.count);
    json_point(&json, "low", s->low);
    json_point(&json, "high", s->high);
    kiln_json_number(&json, "volume", s->volume);
    kiln_json_number(&json, "area", s->area);
    kiln_json_number(&json, "q_min", s->q_min);
    kiln_json_number(&json, "q_mean", s->q_mean);
    json_bins(&json, "q_bins", s->q_bins, KILN_QUALITY_BINS);
    kiln_json_number(&json, "dihedral_min", s->dihedral_min);
    kiln_json_number(&json, "dihedral_max", s->dihedral_max);
    json_bins(&json, "dihedral_bins", s->dihedral_bins, KILN_ANGLE_BINS);
    kiln_json_number(&json, "edge_min", s->edge_min);
    kiln_json_number(&json, "edge_mean", s->edge_mean);
    kiln_json_number(&json, "edge_max", s->edge_max);
    kiln_json_count(&json, "inverted", s->inverted);
    kiln_json_count(&json, "flat", s->flat);
    kiln_json_count(&json, "repeated", s->repeated);
    kiln_json_count(&json, "duplicate_tets", s->duplicate_tets);
    kiln_json_count(&json, "unused_vertices", s->unused_vertices);
    kiln_json_count(&json, "duplicate_vertices", s->duplicate_vertices);
    kiln_json_count(&json, "crowded_faces", s->crowded_faces);
    kiln_json_count(&json, "folded_faces", s->folded_faces);
    kiln_json_count(&json, "bad_edges", s->bad_edges);
    kiln_json_count(&json, "open_edges", s->open_edges);
    kiln_json_text(&json, "crossing", s->crossing);
    kiln_json_count(&json, "bad_vertices", s->bad_vertices);
    kiln_json_bool(&json, "manifold", s->manifold);
    json_groups(&json, "region_list", "tets", "volume", &s->regions);
    json_groups(&json, "patch_list", "triangles", "area", &s->patches);
    json_fields(&json, s);
    kiln_json_end(&json);
}
