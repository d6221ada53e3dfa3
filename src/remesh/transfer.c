#include "remesh/transfer.h"

#include "base/assert.h"
#include "mesh/journal.h"
#include "remesh/transfer_impl.h"

#include <stdlib.h>
#include <string.h>

void kiln_transfer_report_free(kiln_context *context, kiln_transfer_report *report)
{
    kiln_array_free(context, &report->regions);
}

kiln_vec3 kiln_transfer_gradient(const kiln_vec3 corner[4], const double value[4])
{
    kiln_mat3 edges;
    for (int i = 0; i < 3; i++) {
        kiln_vec3 e = kiln_v3_sub(corner[i + 1], corner[0]);
        edges.m[i][0] = e.x;
        edges.m[i][1] = e.y;
        edges.m[i][2] = e.z;
    }
    if (kiln_m3_det(edges) == 0.0)
        return kiln_v3(0, 0, 0);
    kiln_vec3 differences = kiln_v3(value[1] - value[0], value[2] - value[0], value[3] - value[0]);
    return kiln_m3_apply(kiln_m3_inverse(edges), differences);
}

void kiln_transfer_refresh(kiln_transfer_job *job)
{
    job->view = kiln_begin_view_of(job->from, job->space);
    job->world = kiln_begin_view_of(job->from, KILN_SPACE_WORLD);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < job->fields[where].count; i++) {
            kiln_transfer_field *field = &job->fields[where].data[i];
            field->from = kiln_begin_column_of(job->from, (kiln_where)where, field->from_index);
        }
}

/* Fields that the rules say something about. */
static bool is_carried(const kiln_field *field)
{
    return !field->core && field->rule != KILN_RULE_DIRECT && field->rule != KILN_RULE_RECOMPUTE &&
           field->rule != KILN_RULE_NONE;
}

static kiln_status check_shape(const kiln_field *from, const kiln_field *to, kiln_error *error)
{
    if (from->type != to->type || from->components != to->components)
        return kiln_fail(error, KILN_ERR_INPUT, to->name, 0, -1,
                         "the two meshes have fields '%s' of different shapes", to->name);
    return KILN_OK;
}

static kiln_status pair_fields(kiln_transfer_job *job, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &job->from->table[where];
        for (size_t i = 0; i < table->fields.count; i++) {
            const kiln_field *from = &table->fields.data[i];
            if (from->core)
                continue;
            kiln_field *to = kiln_mesh_field(job->to, (kiln_where)where, from->name);
            KILN_ASSERT(to);
            if (!is_carried(to))
                continue;
            KILN_TRY(check_shape(from, to, error));
            kiln_transfer_field field = {.to = to, .from_index = i};
            KILN_TRY(kiln_array_push(job->context, &job->fields[where], field, error));
        }
    }
    for (size_t i = 0; i < job->fields[KILN_ON_TET].count; i++) {
        const kiln_transfer_field *field = &job->fields[KILN_ON_TET].data[i];
        if (field->to->type != KILN_F64)
            continue;
        if (job->options.mass && strcmp(field->to->name, job->options.mass) == 0)
            job->mass = field;
        if (job->options.density && strcmp(field->to->name, job->options.density) == 0)
            job->density = field;
    }
    return KILN_OK;
}

static bool has_rule(const kiln_transfer_job *job, kiln_where where, kiln_rule rule)
{
    for (size_t i = 0; i < job->fields[where].count; i++)
        if (job->fields[where].data[i].to->rule == rule &&
            job->fields[where].data[i].to->type == KILN_F64)
            return true;
    return false;
}

static kiln_moment_degree needed_degree(const kiln_transfer_job *job)
{
    return has_rule(job, KILN_ON_VERTEX, KILN_RULE_PROJECT)    ? KILN_MOMENT_SECOND
           : has_rule(job, KILN_ON_VERTEX, KILN_RULE_MOMENTUM) ? KILN_MOMENT_FIRST
                                                               : KILN_MOMENT_VOLUME;
}

/* Interpolation at vertices needs places only. */
static bool needs_overlaps(const kiln_transfer_job *job)
{
    return job->fields[KILN_ON_TET].count > 0 ||
           has_rule(job, KILN_ON_VERTEX, KILN_RULE_MOMENTUM) ||
           has_rule(job, KILN_ON_VERTEX, KILN_RULE_PROJECT);
}

static int by_region(const void *a, const void *b)
{
    int32_t x = ((const kiln_region_change *)a)->region;
    int32_t y = ((const kiln_region_change *)b)->region;
    return (x > y) - (x < y);
}

static kiln_status book_volume(kiln_transfer_job *job, const kiln_transfer_tet *tet, bool after,
                               kiln_error *error)
{
    kiln_transfer_report *report = job->report;
    size_t i = 0;
    while (i < report->regions.count && report->regions.data[i].region != tet->region)
        i++;
    if (i == report->regions.count) {
        kiln_region_change change = {.region = tet->region};
        KILN_TRY(kiln_array_push(job->context, &report->regions, change, error));
    }
    *(after ? &report->regions.data[i].after : &report->regions.data[i].before) += tet->volume;
    return KILN_OK;
}

static kiln_status book_volumes(kiln_transfer_job *job, kiln_error *error)
{
    kiln_transfer_report *report = job->report;
    report->sources = job->sources.count;
    report->targets = job->targets.count;
    report->vertices = job->vertices.count;
    for (size_t i = 0; i < job->sources.count; i++)
        KILN_TRY(book_volume(job, &job->sources.data[i], false, error));
    for (size_t i = 0; i < job->targets.count; i++)
        KILN_TRY(book_volume(job, &job->targets.data[i], true, error));
    if (report->regions.count)
        qsort(report->regions.data, report->regions.count, sizeof *report->regions.data, by_region);
    return KILN_OK;
}

/* Every row that the rules write. Those of momentum and projection follow when they are known. */
static kiln_status log_rows(kiln_transfer_job *job, kiln_error *error)
{
    kiln_mesh *mesh = job->to;
    bool amounts = has_rule(job, KILN_ON_VERTEX, KILN_RULE_CONSERVE);
    size_t given = amounts ? 4 * job->gone.count : 0;
    KILN_TRY(kiln_journal_reserve(mesh, job->vertices.count + given,
                                  job->targets.count + job->heirs.count, 0, 0, error));
    for (size_t i = 0; i < job->targets.count; i++)
        kiln_journal_row(mesh, KILN_ON_TET, job->targets.data[i].tet);
    for (size_t i = 0; i < job->heirs.count; i++)
        kiln_journal_row(mesh, KILN_ON_TET, job->heirs.data[i].b);
    for (size_t i = 0; i < job->vertices.count; i++)
        kiln_journal_row(mesh, KILN_ON_VERTEX, job->vertices.data[i].vertex);
    for (size_t i = 0; i < given; i++)
        if (job->gone.data[i / 4].heir != KILN_NONE)
            kiln_journal_row(mesh, KILN_ON_VERTEX,
                             mesh->tet[job->targets.data[job->gone.data[i / 4].heir].tet].v[i % 4]);
    kiln_transfer_refresh(job);
    return KILN_OK;
}

static kiln_status carry(kiln_transfer_job *job, kiln_error *error)
{
    KILN_TRY(pair_fields(job, error));
    kiln_transfer_refresh(job);
    KILN_TRY(job->pass ? kiln_transfer_collect_pass(job, error)
                       : kiln_transfer_collect_all(job, error));
    KILN_TRY(book_volumes(job, error));
    job->degree = needed_degree(job);
    if (job->sources.count == 0)
        return KILN_OK;
    bool overlaps = needs_overlaps(job),
         amounts = has_rule(job, KILN_ON_VERTEX, KILN_RULE_CONSERVE);
    if (overlaps || amounts || !job->pass)
        KILN_TRY(kiln_transfer_plant_trees(job, error));
    if (overlaps)
        KILN_TRY(kiln_transfer_find_overlaps(job, error));
    KILN_TRY(job->pass ? kiln_transfer_place_pass(job, error)
                       : kiln_transfer_place_all(job, error));
    if (amounts)
        kiln_transfer_find_heirs(job);
    KILN_TRY(log_rows(job, error));
    if (overlaps) {
        KILN_TRY(kiln_transfer_tets(job, error));
        KILN_TRY(kiln_transfer_find_groups(job, error));
        KILN_TRY(kiln_transfer_balance(job, error));
    }
    kiln_transfer_vertices(job);
    if (!job->pass)
        KILN_TRY(kiln_transfer_faces(job, error));
    if (has_rule(job, KILN_ON_VERTEX, KILN_RULE_MOMENTUM))
        KILN_TRY(kiln_transfer_momentum(job, error));
    if (has_rule(job, KILN_ON_VERTEX, KILN_RULE_PROJECT))
        KILN_TRY(kiln_transfer_project(job, error));
    return KILN_OK;
}

static void free_job(kiln_transfer_job *job)
{
    kiln_context *context = job->context;
    kiln_array_free(context, &job->sources);
    kiln_array_free(context, &job->targets);
    kiln_bvh_destroy(&job->source_tree);
    kiln_bvh_destroy(&job->target_tree);
    kiln_array_free(context, &job->overlaps);
    kiln_array_free(context, &job->moments);
    kiln_array_free(context, &job->first);
    kiln_array_free(context, &job->covered);
    kiln_array_free(context, &job->strays);
    kiln_array_free(context, &job->heirs);
    kiln_array_free(context, &job->vertices);
    kiln_array_free(context, &job->gone);
    kiln_array_free(context, &job->groups);
    kiln_array_free(context, &job->group_of);
    kiln_array_free(context, &job->member);
    kiln_array_free(context, &job->shares);
    kiln_array_free(context, &job->gains);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_array_free(context, &job->fields[where]);
}

static kiln_status run(kiln_transfer_job *job, const kiln_transfer_options *options,
                       kiln_transfer_report *report, kiln_error *error)
{
    kiln_transfer_report unread = {0};
    if (report)
        *report = unread;
    job->report = report ? report : &unread;
    job->context = job->to->context;
    if (options)
        job->options = *options;
    kiln_txn txn = kiln_txn_begin(job->to);
    if (txn.depth == 0)
        return kiln_fail_memory(error, 0);
    kiln_status status = carry(job, error);
    if (status == KILN_OK && kiln_txn_commit(&txn) != KILN_ACCEPTED)
        status =
            kiln_fail(error, KILN_ERR_NUMERIC, NULL, 0, -1, "the transfer could not be committed");
    if (status != KILN_OK)
        kiln_txn_rollback(&txn);
    free_job(job);
    if (status != KILN_OK || !report)
        kiln_transfer_report_free(job->context, job->report);
    return status;
}

kiln_status kiln_transfer(kiln_mesh *mesh, const kiln_transfer_options *options,
                          kiln_transfer_report *report, kiln_error *error)
{
    if (!kiln_archive_active(mesh) || kiln_txn_depth(mesh) > 0)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "fields are transferred in a pass, outside transactions");
    kiln_transfer_job job = {.from = mesh, .to = mesh, .pass = true, .space = KILN_SPACE_MATERIAL};
    return run(&job, options, report, error);
}

/* Whatever `from` has and `to` has not. */
static kiln_status add_fields(const kiln_mesh *from, kiln_mesh *to, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < from->table[where].fields.count; i++) {
            const kiln_field *field = &from->table[where].fields.data[i];
            if (!field->core && !kiln_mesh_field(to, (kiln_where)where, field->name))
                KILN_TRY(kiln_mesh_add_field(to, field->name, (kiln_where)where, field->type,
                                             field->components, field->rule, error));
        }
    return KILN_OK;
}

kiln_status kiln_transfer_between(const kiln_mesh *from, kiln_mesh *to, kiln_space space,
                                  const kiln_transfer_options *options,
                                  kiln_transfer_report *report, kiln_error *error)
{
    if (from == to || kiln_archive_active(to) || kiln_txn_depth(to) > 0)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "fields go to another mesh, outside passes and transactions");
    KILN_TRY(add_fields(from, to, error));
    kiln_transfer_job job = {.from = from, .to = to, .space = space};
    return run(&job, options, report, error);
}
