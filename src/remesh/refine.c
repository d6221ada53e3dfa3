#include "remesh/refine.h"
#include "remesh/refine_impl.h"

#include <string.h>

static size_t find_column(const kiln_mesh *mesh)
{
    const kiln_table *table = &mesh->table[KILN_ON_TET];
    size_t column = 0;
    while (column < table->fields.count &&
           strcmp(table->fields.data[column].name, KILN_REFINE_FIELD) != 0)
        column++;
    return column;
}

static kiln_status add_column(kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_REFINE_FIELD, KILN_ON_TET, KILN_U64, 1, KILN_RULE_NONE,
                                 error));
    kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, KILN_REFINE_FIELD);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ((kiln_refine_word *)field->data)[t] = KILN_REFINE_BASE;
    mesh->revision++;
    return KILN_OK;
}

kiln_status kiln_refiner_create(kiln_mesh *mesh, kiln_refiner **out, kiln_error *error)
{
    size_t column = find_column(mesh);
    if (column == mesh->table[KILN_ON_TET].fields.count)
        KILN_TRY(add_column(mesh, error));
    const kiln_field *field = &mesh->table[KILN_ON_TET].fields.data[column];
    if (field->type != KILN_U64 || field->components != 1 || field->rule != KILN_RULE_NONE)
        return kiln_fail(error, KILN_ERR_INPUT, KILN_REFINE_FIELD, 0, -1,
                         "the mesh has a field of this name that does not hold refinement words");
    kiln_refiner *refiner = kiln_resize(mesh->context, NULL, 0, sizeof *refiner);
    if (!refiner)
        return kiln_fail_memory(error, sizeof *refiner);
    memset(refiner, 0, sizeof *refiner);
    refiner->mesh = mesh;
    refiner->column = column;
    kiln_walker_init(&refiner->walker, mesh->context);
    *out = refiner;
    return KILN_OK;
}

void kiln_refiner_destroy(kiln_refiner *refiner)
{
    if (!refiner)
        return;
    kiln_context *context = refiner->mesh->context;
    kiln_array_free(context, &refiner->plan.old);
    kiln_array_free(context, &refiner->plan.fresh);
    kiln_array_free(context, &refiner->plan.words);
    kiln_array_free(context, &refiner->plan.faces);
    kiln_array_free(context, &refiner->plan.made);
    kiln_array_free(context, &refiner->ring);
    kiln_walker_free(&refiner->walker);
    kiln_array_free(context, &refiner->wanted);
    kiln_array_free(context, &refiner->wanted_log);
    kiln_release(context, refiner, sizeof *refiner);
}

kiln_refine_word kiln_refine_word_of(const kiln_refiner *refiner, uint32_t tet)
{
    return kiln_word_of(refiner, tet);
}

uint32_t kiln_refine_generation(const kiln_refiner *refiner, uint32_t tet)
{
    kiln_refine_word word = kiln_word_of(refiner, tet);
    return kiln_word_known(word) ? kiln_word_generation(word) : KILN_NONE;
}

uint32_t kiln_refine_highest(const kiln_refiner *refiner)
{
    const kiln_mesh *mesh = refiner->mesh;
    uint32_t highest = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_refine_word word = kiln_word_of(refiner, t);
        if (kiln_tet_live(mesh, t) && kiln_word_known(word) && kiln_word_generation(word) > highest)
            highest = kiln_word_generation(word);
    }
    return highest;
}

static const kiln_field *words(const kiln_refiner *r)
{
    return &r->mesh->table[KILN_ON_TET].fields.data[r->column];
}

kiln_verdict kiln_refine_forget(kiln_refiner *refiner, kiln_txn *txn, const uint32_t *tets,
                                size_t count)
{
    const kiln_refine_word foreign = 0;
    for (size_t i = 0; i < count; i++)
        if (kiln_word_of(refiner, tets[i]) != foreign)
            KILN_REFUSE_UNLESS(kiln_txn_write(txn, KILN_ON_TET, words(refiner), tets[i], &foreign));
    return KILN_ACCEPTED;
}

kiln_verdict kiln_refine_rebase(kiln_refiner *refiner, kiln_txn *txn, uint32_t body)
{
    const kiln_refine_word base = KILN_REFINE_BASE;
    return kiln_txn_fill_body(txn, body, words(refiner), &base);
}

/* [vertex] 1 where a refined tet is. */
static void mark_refined(const kiln_refiner *r, uint8_t *refined)
{
    const kiln_mesh *mesh = r->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_refine_word word = kiln_word_of(r, t);
        if (kiln_tet_live(mesh, t) && kiln_word_known(word) && kiln_word_generation(word) > 0)
            for (int k = 0; k < 4; k++)
                refined[mesh->tet[t].v[k]] = 1;
    }
}

kiln_verdict kiln_refine_adopt(kiln_refiner *refiner, kiln_txn *txn)
{
    const kiln_mesh *mesh = refiner->mesh;
    uint32_t used = mesh->table[KILN_ON_TET].used, t = 0;
    while (t < used && (!kiln_tet_live(mesh, t) || kiln_word_known(kiln_word_of(refiner, t))))
        t++;
    if (t == used)
        return KILN_ACCEPTED;
    size_t size = mesh->table[KILN_ON_VERTEX].used;
    uint8_t *refined = kiln_resize(mesh->context, NULL, 0, size);
    if (!refined)
        return KILN_REFUSED_MEMORY;
    memset(refined, 0, size);
    mark_refined(refiner, refined);
    const kiln_refine_word base = KILN_REFINE_BASE;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (; t < used && verdict == KILN_ACCEPTED; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t) && !kiln_word_known(kiln_word_of(refiner, t)) &&
            !(refined[v[0]] | refined[v[1]] | refined[v[2]] | refined[v[3]]))
            verdict = kiln_txn_write(txn, KILN_ON_TET, words(refiner), t, &base);
    }
    kiln_release(mesh->context, refined, size);
    return verdict;
}

static kiln_status fail_transaction(kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_MEMORY, NULL, 0, -1, "out of memory while refining");
}

static kiln_status adopt(kiln_refiner *r, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(r->mesh);
    if (txn.depth == 0 || kiln_txn_settle(&txn, kiln_refine_adopt(r, &txn)) != KILN_ACCEPTED)
        return fail_transaction(error);
    return KILN_OK;
}

/* What was wanted before the steps that were rolled back. */
static void restore_wanted(kiln_refiner *r)
{
    while (r->wanted_log.count > 0) {
        const kiln_wanted_change *change = &r->wanted_log.data[--r->wanted_log.count];
        r->wanted.data[change->tet] = change->before;
    }
}

/* One step or undoing in a transaction of its own. */
static kiln_status attempt(kiln_refiner *r, uint32_t tet,
                           kiln_verdict (*change)(kiln_refiner *, kiln_txn *, uint32_t),
                           kiln_refine_report *report, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(r->mesh);
    if (txn.depth == 0)
        return fail_transaction(error);
    kiln_verdict verdict = kiln_txn_settle(&txn, change(r, &txn, tet));
    if (verdict == KILN_REFUSED_MEMORY)
        return fail_transaction(error);
    if (verdict == KILN_ACCEPTED) {
        r->wanted_log.count = 0;
        report->steps++;
        return KILN_OK;
    }
    restore_wanted(r);
    report->blocked++;
    if (report->first_refusal == KILN_ACCEPTED) {
        report->first_refusal = verdict;
        report->first_blocked = tet;
    }
    return KILN_OK;
}

/* Wanted tets below the goal, lowest generation first: a step leaves only higher ones. */
static kiln_status refine_wanted(kiln_refiner *r, uint32_t goal, kiln_refine_report *report,
                                 kiln_error *error)
{
    const kiln_mesh *mesh = r->mesh;
    for (uint32_t generation = 0; generation < goal; generation++)
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            if (t < r->wanted.count && r->wanted.data[t] && kiln_tet_live(mesh, t) &&
                kiln_is_at(r, t, generation))
                KILN_TRY(attempt(r, t, kiln_refine_step, report, error));
    return KILN_OK;
}

static kiln_status start_wanted(kiln_refiner *r, kiln_error *error)
{
    size_t used = r->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(r->mesh->context, &r->wanted, used, error));
    if (used > 0)
        memset(r->wanted.data, 0, used);
    r->wanted.count = used;
    r->wanted_log.count = 0;
    return KILN_OK;
}

static void end_wanted(kiln_refiner *r)
{
    r->wanted.count = r->wanted_log.count = 0;
}

static void start_report(kiln_refine_report *report)
{
    *report = (kiln_refine_report){.first_blocked = KILN_NONE};
}

static kiln_status check_goal(uint32_t goal, kiln_error *error)
{
    if (goal <= KILN_REFINE_LAST)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                     "a word holds %d cycles, which end at generation %d, not %u",
                     KILN_REFINE_CYCLES, KILN_REFINE_LAST, goal);
}

kiln_status kiln_refine_tets(kiln_refiner *refiner, const uint32_t *tets, size_t count,
                             uint32_t goal, kiln_refine_report *report, kiln_error *error)
{
    const kiln_mesh *mesh = refiner->mesh;
    start_report(report);
    KILN_TRY(check_goal(goal, error));
    for (size_t i = 0; i < count; i++)
        if (tets[i] >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, tets[i]))
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "tet %u is not there", tets[i]);
    KILN_TRY(adopt(refiner, error));
    KILN_TRY(start_wanted(refiner, error));
    for (size_t i = 0; i < count; i++)
        refiner->wanted.data[tets[i]] = 1;
    kiln_status status = refine_wanted(refiner, goal, report, error);
    end_wanted(refiner);
    return status;
}

/* One generation of a star. A step of one of its tets may take others with it, so each is looked at
 * again before its turn. */
static kiln_status refine_star(kiln_refiner *r, uint32_t vertex, uint32_t generation,
                               kiln_refine_report *report, kiln_error *error)
{
    const kiln_mesh *mesh = r->mesh;
    KILN_TRY(kiln_star(mesh, vertex, &r->walker, error));
    for (size_t i = 0; i < r->walker.tets.count; i++) {
        uint32_t t = r->walker.tets.data[i];
        if (kiln_tet_live(mesh, t) && kiln_is_at(r, t, generation) &&
            kiln_tet_corner(&mesh->tet[t], vertex) < 4)
            KILN_TRY(attempt(r, t, kiln_refine_step, report, error));
    }
    return KILN_OK;
}

kiln_status kiln_refine_stars(kiln_refiner *refiner, const uint32_t *vertices, size_t count,
                              uint32_t goal, kiln_refine_report *report, kiln_error *error)
{
    const kiln_mesh *mesh = refiner->mesh;
    start_report(report);
    KILN_TRY(check_goal(goal, error));
    for (size_t i = 0; i < count; i++)
        if (vertices[i] >= mesh->table[KILN_ON_VERTEX].used || !kiln_vertex_live(mesh, vertices[i]))
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "vertex %u is not there",
                             vertices[i]);
    KILN_TRY(adopt(refiner, error));
    for (uint32_t generation = 0; generation < goal; generation++)
        for (size_t i = 0; i < count; i++)
            KILN_TRY(refine_star(refiner, vertices[i], generation, report, error));
    return KILN_OK;
}

/* Of the tets that have not yet finished the cycle, those that are wanted. */
static size_t choose(kiln_refiner *r, kiln_refine_choice choice, uint32_t goal)
{
    const kiln_mesh *mesh = r->mesh;
    size_t chosen = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || kiln_refine_generation(r, t) >= goal)
            continue;
        r->wanted.data[t] = !choice.wants || choice.wants(choice.user, mesh, t);
        chosen += r->wanted.data[t];
    }
    return chosen;
}

kiln_status kiln_refine_where(kiln_refiner *refiner, kiln_refine_choice choice, uint32_t cycles,
                              kiln_refine_report *report, kiln_error *error)
{
    start_report(report);
    cycles = cycles < KILN_REFINE_CYCLES ? cycles : KILN_REFINE_CYCLES;
    KILN_TRY(adopt(refiner, error));
    kiln_status status = KILN_OK;
    for (uint32_t cycle = 0; cycle < cycles && status == KILN_OK; cycle++) {
        status = start_wanted(refiner, error);
        if (status == KILN_OK && choose(refiner, choice, 5 * cycle + 5) > 0)
            status = refine_wanted(refiner, 5 * cycle + 5, report, error);
    }
    end_wanted(refiner);
    return status;
}

/* Tets of the next cycle are reached from those of states 3 and 4 beside them, once these have come
 * back; only what E made is a beginning of its own. */
static bool starts_undoing(const kiln_refiner *r, uint32_t tet, uint32_t generation)
{
    kiln_refine_word word = kiln_word_of(r, tet);
    uint32_t cycle = generation / 5;
    return generation % 5 != 0 || !(kiln_word_tag(word, cycle - 1, KILN_TAG_C) ||
                                    kiln_word_tag(word, cycle - 1, KILN_TAG_D));
}

kiln_status kiln_coarsen_where(kiln_refiner *refiner, kiln_refine_choice choice, uint32_t least,
                               kiln_refine_report *report, kiln_error *error)
{
    const kiln_mesh *mesh = refiner->mesh;
    start_report(report);
    KILN_TRY(adopt(refiner, error));
    refiner->willing = choice;
    kiln_status status = KILN_OK;
    for (uint32_t generation = kiln_refine_highest(refiner); generation > least; generation--)
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && status == KILN_OK; t++)
            if (kiln_tet_live(mesh, t) && kiln_is_at(refiner, t, generation) &&
                starts_undoing(refiner, t, generation) &&
                (!choice.wants || choice.wants(choice.user, mesh, t)))
                status = attempt(refiner, t, kiln_refine_undo, report, error);
    refiner->willing = (kiln_refine_choice){0};
    return status;
}

double kiln_tet_longest_edge(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    double longest = 0.0;
    for (int e = 0; e < 6; e++) {
        kiln_vec3 d =
            kiln_v3_sub(mesh->u[v[kiln_edge_ends[e][0]]], mesh->u[v[kiln_edge_ends[e][1]]]);
        longest = fmax(longest, kiln_v3_norm2(d));
    }
    return sqrt(longest);
}
