/* Meshes that are hard on a remesher (shared data, hard/README.md): improved to a goal, improved as
 * far as it goes, made anew; bodies with an inside at other sizes; plate and needle with tets
 * stretched along them. All must end, in bounded time and tets, and be no worse, with every
 * region's volume kept. */
#include "app/survey.h"
#include "base/clock.h"
#include "io/format.h"
#include "mesh/build.h"
#include "remesh/domain.h"
#include "topology/import.h"
#include "validation/validation.h"

#include <stdio.h>

static const double MOST_SECONDS = 30.0, MOST_GROWTH = 4.0, MOST_OFF = 0.002;
/* In the metric of a thin body, at least. */
static const double LEAST_STRETCHED = 0.2;

typedef enum way { GOAL, AGGRESSIVE, REMESH, WAYS } way;
static const char *const way_names[WAYS] = {"improve", "improve --aggressive", "remesh"};

/* *out is NULL where the new mesh would have been worse, and the old one is kept. */
static kiln_status change(kiln_mesh *mesh, way how, double size, kiln_mesh **out, kiln_error *error)
{
    if (how == REMESH) {
        kiln_domain_options options = kiln_domain_default_options();
        options.size = size;
        return kiln_domain_remesh(mesh, &options, out, NULL, error);
    }
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    options.aggressive = how == AGGRESSIVE;
    *out = mesh;
    return kiln_mesh_improve(mesh, &options, NULL, error);
}

static kiln_status survey(const kiln_mesh *mesh, kiln_survey *out, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_mesh_to_soup(mesh, &soup, error));
    *out = (kiln_survey){.context = mesh->context};
    kiln_status status = kiln_survey_take(&soup, out, error);
    kiln_soup_free(&soup);
    return status;
}

/* Largest relative change of a region's volume. */
static double regions_off(const kiln_survey *before, const kiln_survey *after)
{
    double most = before->regions.count == after->regions.count ? 0.0 : INFINITY;
    for (size_t i = 0; i < before->regions.count && isfinite(most); i++)
        most = fmax(most,
                    fabs(after->regions.data[i].measure / before->regions.data[i].measure - 1.0));
    return most;
}

typedef struct outcome {
    kiln_survey before, after;
    double seconds; /* CPU */
    bool refused;
} outcome;

static kiln_status change_and_look(kiln_mesh *mesh, way how, double times, outcome *o,
                                   kiln_error *error)
{
    kiln_mesh *made = NULL;
    KILN_TRY(survey(mesh, &o->before, error));
    double start = kiln_processor_seconds();
    KILN_TRY(change(mesh, how, times * o->before.edge_mean, &made, error));
    o->seconds = kiln_processor_seconds() - start;
    o->refused = !made;
    kiln_status status = survey(made ? made : mesh, &o->after, error);
    if (made != mesh)
        kiln_mesh_destroy(made);
    return status;
}

/* `times`: of the mean edge, 0 for no size. */
static kiln_status run(const kiln_soup *soup, way how, double times, outcome *o, kiln_error *error)
{
    kiln_mesh *mesh;
    *o = (outcome){.before = {.context = soup->context}, .after = {.context = soup->context}};
    KILN_TRY(kiln_mesh_import(soup->context, soup, "input", NULL, &mesh, NULL, error));
    kiln_status status = change_and_look(mesh, how, times, o, error);
    kiln_mesh_destroy(mesh);
    return status;
}

static void free_outcome(outcome *o)
{
    kiln_survey_free(&o->before);
    kiln_survey_free(&o->after);
}

static kiln_status run_as_it_is(kiln_validation *validation, const char *name,
                                const kiln_soup *soup, way how, kiln_error *error)
{
    outcome o;
    kiln_status status = run(soup, how, 0.0, &o, error);
    if (status == KILN_OK) {
        const char *what = way_names[how];
        double growth = (double)o.after.tets / (double)o.before.tets;
        kiln_validation_report(validation, o.refused, kiln_exactly(0), "%s, %s: no mesh", name,
                               what);
        kiln_validation_report(validation, o.after.q_min, kiln_at_least(o.before.q_min),
                               "%s, %s: worst quality, no less than", name, what);
        kiln_validation_report(validation, o.seconds, kiln_at_most(MOST_SECONDS),
                               "%s, %s: CPU seconds", name, what);
        kiln_validation_report(validation, growth, kiln_at_most(MOST_GROWTH),
                               "%s, %s: times the tets", name, what);
        kiln_validation_report(validation, regions_off(&o.before, &o.after), kiln_at_most(MOST_OFF),
                               "%s, %s: volume of a region, off by", name, what);
    }
    free_outcome(&o);
    return status;
}

static kiln_status run_at_sizes(kiln_validation *validation, const char *name,
                                const kiln_soup *soup, double most_off, kiln_error *error)
{
    static const double times[] = {0.5, 1.0, 2.0, 4.0};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        outcome o;
        kiln_status status = run(soup, REMESH, times[i], &o, error);
        if (status == KILN_OK) {
            kiln_validation_report(validation, o.refused, kiln_exactly(0),
                                   "%s at %g times the size: no mesh", name, times[i]);
            kiln_validation_report(validation, o.after.q_min, kiln_at_least(o.before.q_min),
                                   "%s at %g times the size: worst quality, no less than", name,
                                   times[i]);
            kiln_validation_report(
                validation, regions_off(&o.before, &o.after), kiln_at_most(most_off),
                "%s at %g times the size: volume of a region, off by", name, times[i]);
        }
        free_outcome(&o);
        KILN_TRY(status);
    }
    return KILN_OK;
}

/* Where a thin body is, and how large. */
typedef struct position {
    const char *name;
    double scale, away; /* in sizes of the body, which are 1 */
    bool turned;
} position;

/* A rotation that leaves no axis as it is. */
static kiln_vec3 turned(kiln_vec3 p)
{
    return kiln_v3((2 * p.x - p.y + 2 * p.z) / 3, (2 * p.x + 2 * p.y - p.z) / 3,
                   (-p.x + 2 * p.y + 2 * p.z) / 3);
}

static kiln_status remesh_stretched(kiln_validation *validation, const char *name,
                                    const position *at, const kiln_mesh *mesh, kiln_error *error)
{
    kiln_domain_options options = kiln_domain_default_options();
    kiln_domain_report report;
    kiln_mesh *made;
    options.thin = KILN_THIN_ALWAYS;
    double start = kiln_processor_seconds();
    KILN_TRY(kiln_domain_remesh(mesh, &options, &made, &report, error));
    double seconds = kiln_processor_seconds() - start;
    double tets = made ? (double)made->table[KILN_ON_TET].live : INFINITY;
    kiln_validation_report(validation, report.worst_after, kiln_at_least(LEAST_STRETCHED),
                           "%s %s, stretched: worst quality in its metric", name, at->name);
    kiln_validation_report(validation, tets / (double)mesh->table[KILN_ON_TET].live,
                           kiln_at_most(MOST_GROWTH), "%s %s, stretched: times the tets", name,
                           at->name);
    kiln_validation_report(validation, seconds, kiln_at_most(MOST_SECONDS),
                           "%s %s, stretched: CPU seconds", name, at->name);
    kiln_validation_report(validation, fabs(report.volume_after / report.volume_before - 1.0),
                           kiln_at_most(MOST_OFF), "%s %s, stretched: volume off by", name,
                           at->name);
    kiln_mesh_destroy(made);
    return KILN_OK;
}

static kiln_status run_stretched(kiln_validation *validation, const char *name,
                                 const kiln_soup *soup, kiln_error *error)
{
    static const position positions[] = {{"as it is", 1, 0, false},
                                         {"turned, 1e6 sizes away", 1, 1e6, true},
                                         {"turned, in mm", 1e-3, 0, true},
                                         {"turned, in km", 1e3, 1, true}};
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        const position *at = &positions[i];
        kiln_mesh *mesh;
        KILN_TRY(kiln_mesh_import(soup->context, soup, "input", NULL, &mesh, NULL, error));
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 p = at->turned ? turned(mesh->x[v]) : mesh->x[v];
            p = kiln_v3_add(p, kiln_v3(0.6 * at->away, -0.7 * at->away, 0.4 * at->away));
            mesh->x[v] = mesh->u[v] = kiln_v3_scale(p, at->scale);
        }
        kiln_status status = remesh_stretched(validation, name, at, mesh, error);
        kiln_mesh_destroy(mesh);
        KILN_TRY(status);
    }
    return KILN_OK;
}

static kiln_status run_file(kiln_validation *validation, const char *name, double most_off,
                            bool thin, kiln_error *error)
{
    char path[512];
    kiln_soup soup;
    snprintf(path, sizeof path, "%s/hard/%s.meshb", KILN_SHARED_DATA, name);
    kiln_soup_init(&soup, kiln_validation_context(validation));
    kiln_status status = kiln_soup_read(soup.context, path, NULL, &soup, error);
    for (int how = 0; how < WAYS && status == KILN_OK; how++)
        status = run_as_it_is(validation, name, &soup, (way)how, error);
    if (most_off > 0.0 && status == KILN_OK)
        status = run_at_sizes(validation, name, &soup, most_off, error);
    if (thin && status == KILN_OK)
        status = run_stretched(validation, name, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

kiln_status kiln_validate_hard_meshes(kiln_validation *validation, kiln_error *error)
{
    /* The second: what volumes may be off by at other sizes, 0 for no other sizes. The slot of
     * lslot is a hundredth of the body or more: a per cent of it. */
    static const struct {
        const char *name;
        double most_off;
        bool thin;
    } files[] = {{"bx_100_1", 0, false}, {"far5", 0, false},      {"lslot", 1e-4, false},
                 {"needle", 0, true},    {"nestS", 0.002, false}, {"nested", 0.002, false},
                 {"plate", 0, true},     {"rot1", 0, false},      {"rot2", 0, false},
                 {"rot3", 0, false}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        KILN_TRY(run_file(validation, files[i].name, files[i].most_off, files[i].thin, error));
    return KILN_OK;
}
