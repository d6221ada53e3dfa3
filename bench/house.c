/* What the house costs: a step as one transaction, and a world that follows the changes of its mesh
 * instead of being built anew. A box of 105,000 tets with a hold, a load, an obstacle, contact and
 * a fine surface that hangs in it. */
#include "base/clock.h"
#include "bench/bench.h"
#include "io/scene.h"
#include "measure/change.h"
#include "mesh/rewind.h"
#include "remesh/transfer.h"
#include "sim/world_impl.h"

#include <stdio.h>
#include <string.h>

static const char text[] =
    "local clay = material { young = 1e5, poisson = 0.3, density = 1500,\n"
    "    plastic = plastic { yield = 2e3, rate = 10 } }\n"
    "return scene { duration = 1, gravity = { 0, 0, -9.81 },\n"
    "    bodies = { body { shape = shape.box { n = 26 }, material = clay, at = { 0, 0, 0.1 },\n"
    "        surface = shape.box { n = 30 } } },\n"
    "    holds = { hold { where = select.half_space { point = { 0, 0, 0.11 },\n"
    "        normal = { 0, 0, -1 } } } },\n"
    "    loads = { load.traction { where = select.half_space { point = { 0, 0, 1.09 },\n"
    "        normal = { 0, 0, 1 } }, amount = { 10, 0, 0 } } },\n"
    "    obstacles = { obstacle.plane { friction = 0.5 } },\n"
    "    contact = contact { bodies = true, self = true },\n"
    "    step = { dt = 0.001, solver = { backend = 'pcg-ic' } },\n"
    "    remesh = remesh { method = 'local', quality = 0.01 } }\n";

enum { ROUNDS = 9 };

typedef struct house {
    kiln_scene_file *file;
    kiln_world *world;
    kiln_bsr matrix;
    kiln_changes changes;
    kiln_random random;
    double update, rebuild; /* s, the least */
    double reach;           /* m, of the place where it changes; 0: everywhere */
    double changed;         /* part of the tets */
} house;

static kiln_status create(kiln_context *context, house *h, kiln_error *error)
{
    kiln_scene_options options = {.text = text, .text_size = sizeof text - 1};
    h->update = h->rebuild = INFINITY;
    h->random = kiln_random_start(7, 0);
    kiln_bsr_init(&h->matrix, context);
    KILN_TRY(kiln_scene_file_load(context, "house.lua", &options, &h->file, error));
    return kiln_world_create(kiln_scene_file_scene(h->file), &h->world, error);
}

static void destroy(kiln_context *context, house *h)
{
    kiln_changes_free(context, &h->changes);
    kiln_bsr_free(&h->matrix);
    kiln_world_destroy(h->world);
    kiln_scene_file_destroy(h->file);
}

/* What Newton does before its first assembly after a change. */
static kiln_status prepare(house *h, bool renew, kiln_error *error)
{
    kiln_elements *elements = kiln_solid_elements(h->world->solid);
    kiln_term *term = kiln_elements_term(elements);
    kiln_cliques cliques = renew ? kiln_elements_cliques_around(elements) : term->cliques(elements);
    size_t rows = h->world->mesh->table[KILN_ON_VERTEX].used;
    const kiln_u32_array *changed = &h->changes.retied_vertices;
    KILN_TRY(renew ? kiln_bsr_renew_pattern(&h->matrix, rows, &cliques, 1, changed->data,
                                            changed->count, error)
                   : kiln_bsr_set_pattern(&h->matrix, rows, &cliques, 1, error));
    return term->attach(term->self, &h->matrix, error);
}

/* Flips, splits and moves, here and there, until one tet in a hundred is another. */
static kiln_status change_mesh(house *h, kiln_error *error)
{
    kiln_mesh *mesh = h->world->mesh;
    const kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS};
    uint32_t tets = mesh->table[KILN_ON_TET].used, since = mesh->clock;
    h->changes.weight = KILN_FIELD_MASS;
    kiln_changes_start(&h->changes, mesh);
    KILN_TRY(kiln_archive_begin(mesh, error));
    const kiln_change_limits limits = {.move = 0.1 / 26,
                                       .flattest = 0.01 / (26.0 * 26.0 * 26.0),
                                       .centre = kiln_v3(0.5, 0.5, 0.6),
                                       .reach = h->reach};
    for (uint32_t made = 0; made < tets / 100;) {
        kiln_fixture_change(mesh, &h->random, 64, &limits);
        made = 0;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            made += kiln_tet_live(mesh, t) && mesh->info[t].changed > since;
    }
    KILN_TRY(kiln_transfer(mesh, &transfer, NULL, error));
    KILN_TRY(kiln_world_carry(h->world, NULL, error));
    KILN_TRY(kiln_changes_note_pass(&h->changes, mesh, error));
    kiln_archive_end(mesh);
    return KILN_OK;
}

static kiln_status update(house *h, kiln_error *error)
{
    kiln_mesh *mesh = h->world->mesh;
    KILN_TRY(kiln_changes_close(&h->changes, mesh, error));
    KILN_TRY(kiln_world_changed(h->world, &h->changes, error));
    return prepare(h, true, error);
}

/* Everything derived; rows stay in the order they have, which a pass does not pay for either. */
static kiln_status rebuild(house *h, kiln_error *error)
{
    KILN_TRY(kiln_world_renew(h->world, error));
    kiln_bsr_free(&h->matrix);
    return prepare(h, false, error);
}

static kiln_status run_round(house *h, kiln_error *error)
{
    KILN_TRY(kiln_rewind_begin(h->world->mesh, error));
    h->world->tries++;
    KILN_TRY(change_mesh(h, error));
    double started = kiln_processor_seconds();
    KILN_TRY(update(h, error));
    h->update = fmin(h->update, kiln_processor_seconds() - started);
    kiln_rewind_end(h->world->mesh);
    h->changed = (double)(h->changes.rows[KILN_ON_TET].count + h->changes.reweighed.count) /
                 h->world->mesh->table[KILN_ON_TET].used;
    started = kiln_processor_seconds();
    KILN_TRY(rebuild(h, error));
    h->rebuild = fmin(h->rebuild, kiln_processor_seconds() - started);
    return KILN_OK;
}

static void report_update(kiln_bench *bench, house *h, const char *place, double reach)
{
    kiln_error error = {0};
    char name[120], remark[160];
    kiln_status status = rebuild(h, &error);
    h->reach = reach;
    h->update = h->rebuild = INFINITY;
    for (int i = 0; i < ROUNDS && status == KILN_OK; i++)
        status = run_round(h, &error);
    snprintf(name, sizeof name, "world follows a pass over 1 %% of the tets, %s, part of a rebuild",
             place);
    if (status != KILN_OK) {
        kiln_bench_report_failure(bench, name, error.message);
        return;
    }
    snprintf(remark, sizeof remark, "%.2f of %.1f ms; rows that differ: %.1f %% of the tets",
             1e3 * h->update, 1e3 * h->rebuild, 100.0 * h->changed);
    kiln_bench_report(bench, name, h->update / h->rebuild, "", 0.05, 0, remark);
    snprintf(name, sizeof name, "world follows a pass over 1 %% of the tets, %s", place);
    kiln_bench_report(bench, name, 1e3 * h->update, "ms", 0, 0, "");
}

/* The columns that a step rewrites, as far as this world has them. */
static void transact(void *user)
{
    static const struct {
        kiln_where where;
        const char *name;
        kiln_save how;
    } columns[] = {{KILN_ON_VERTEX, ".x", KILN_SAVE_ALL},
                   {KILN_ON_VERTEX, "v", KILN_SAVE_ALL},
                   {KILN_ON_VERTEX, "contact_with", KILN_SAVE_COPY},
                   {KILN_ON_VERTEX, "contact_load", KILN_SAVE_COPY},
                   {KILN_ON_VERTEX, "reaction", KILN_SAVE_COPY},
                   {KILN_ON_VERTEX, "contact", KILN_SAVE_COPY},
                   {KILN_ON_TET, "offset", KILN_SAVE_COPY},
                   {KILN_ON_TET, "hardening", KILN_SAVE_COPY},
                   {KILN_ON_TET, "plastic_strain", KILN_SAVE_COPY},
                   {KILN_ON_VERTEX, ".u", KILN_SAVE_COPY}};
    kiln_mesh *mesh = ((house *)user)->world->mesh;
    if (kiln_rewind_begin(mesh, NULL) != KILN_OK)
        return;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (kiln_mesh_field(mesh, columns[i].where, columns[i].name) &&
            kiln_rewind_save(mesh, columns[i].where, columns[i].name, columns[i].how, NULL) !=
                KILN_OK)
            break;
    kiln_rewind_back(
        mesh); /* contents of those that went aside are undefined: dearer than an end */
}

static void report_transaction(kiln_bench *bench, house *h)
{
    kiln_error error = {0};
    kiln_stats stats;
    bool gave_up = false;
    kiln_diagnosis diagnosis;
    double least = INFINITY, started;
    for (int i = 0; i < 3; i++) {
        started = kiln_processor_seconds();
        if (kiln_world_step(h->world, 1.0, &stats, &gave_up, &diagnosis, &error) != KILN_OK ||
            gave_up) {
            kiln_bench_report_failure(bench, "transaction, part of a step", error.message);
            return;
        }
        least = fmin(least, kiln_processor_seconds() - started);
    }
    double seconds = kiln_bench_time(bench, transact, h);
    char remark[80];
    snprintf(remark, sizeof remark, "%.2f of %.0f ms", 1e3 * seconds, 1e3 * least);
    kiln_bench_report(bench, "transaction, part of a step", seconds / least, "", 0.01, 0, remark);
}

void kiln_bench_house(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    kiln_error error = {0};
    house h = {0};
    if (create(context, &h, &error) == KILN_OK) {
        report_transaction(bench, &h);
        report_update(bench, &h, "in one place", 0.22);
        report_update(bench, &h, "scattered", 0.0);
    } else {
        kiln_bench_report_failure(bench, "world", error.message);
    }
    destroy(context, &h);
}
