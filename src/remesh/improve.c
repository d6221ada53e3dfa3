#include "remesh/improve.h"

#include "geom/tet_quality.h"
#include "remesh/passes.h"
#include "remesh/tried.h"
#include "remesh/vain.h"

kiln_improve_options kiln_improve_default_options(void)
{
    return (kiln_improve_options){.goal = 0.15, .rounds = 10, .spread = 2000};
}

/* A goal that asks for more tets than this many times those there were is not for this mesh: a thin
 * body, say, whose tets would have to be as small as it is thick. */
static const double MOST_GROWTH = 3.5;
/* Part of the mesh that makes it worth sweeping. */
static const double MANY = 0.02, MANY_BAD = 0.5; /* the second: worst first */
/* Contraction is for tets with an edge that much shorter than the others. Where there is none it
 * often helps, too, but a mesh with many bad tets would be eaten up. */
static const double SHORT_EDGE = 0.5;

/* A tet as it was at the begin of the pass, corners in place. */
static bool as_it_was(const kiln_mesh *mesh, uint32_t tet)
{
    if (!kiln_tet_live(mesh, tet))
        return false;
    const kiln_tet *then = kiln_archive_tet(mesh, tet);
    for (int k = 0; k < 4; k++) {
        uint32_t v = then->v[k];
        if (kiln_tet_corner(&mesh->tet[tet], v) == 4)
            return false;
        kiln_vec3 u = kiln_archive_u(mesh, v), moved = kiln_v3_sub(mesh->u[v], u);
        if (kiln_v3_norm2(moved) != 0.0)
            return false;
    }
    return true;
}

static size_t count_changed(const kiln_mesh *mesh)
{
    size_t changed = 0;
    for (uint32_t t = 0; t < kiln_archive_rows(mesh, KILN_ON_TET); t++)
        changed += kiln_archive_tet(mesh, t)->v[0] != KILN_NONE && !as_it_was(mesh, t);
    return changed;
}

typedef struct summary {
    size_t tets, bad, below;
    double worst, mean;
} summary;

static summary summarise(const kiln_remesher *remesher, const kiln_improve_options *options)
{
    const kiln_mesh *mesh = remesher->mesh;
    summary s = {.tets = mesh->table[KILN_ON_TET].live, .worst = INFINITY};
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        double q = remesher->quality.data[t];
        s.worst = q < s.worst ? q : s.worst;
        s.bad += q < options->goal;
        s.below += q < options->asked;
        sum += q;
    }
    s.mean = s.tets ? sum / (double)s.tets : 0.0;
    return s;
}

void kiln_improve_report_begin(const kiln_remesher *remesher, const kiln_improve_options *options,
                               kiln_improve_report *report)
{
    summary s = summarise(remesher, options);
    *report = (kiln_improve_report){.tets_before = s.tets,
                                    .worst_before = s.worst,
                                    .mean_before = s.mean,
                                    .bad_before = s.bad,
                                    .short_before = s.below};
}

kiln_status kiln_improve_report_end(const kiln_remesher *remesher,
                                    const kiln_improve_options *options,
                                    kiln_improve_report *report, kiln_error *error)
{
    summary s = summarise(remesher, options);
    report->tets_after = s.tets;
    report->worst_after = s.worst;
    report->mean_after = s.mean;
    report->bad_after = s.bad;
    report->short_after = s.below;
    report->changed = count_changed(remesher->mesh);
    report->effort = kiln_remesher_effort(remesher);
    for (int k = 0; k < KILN_OP_COUNT; k++)
        report->count[k] = kiln_remesher_count(remesher, (kiln_operator)k);
    return remesher->workspace.failed ? kiln_fail_memory(error, 0) : KILN_OK;
}

static double worst_of(const kiln_remesher *remesher, const kiln_u32_array *set)
{
    return kiln_remesher_worst(remesher, set->data, set->count);
}

/* One topological pass, taken back when it brought in something worse (DLR 4.5). Returns how many
 * changes were kept. */
static uint32_t flip_or_undo(kiln_remesher *remesher, kiln_u32_array *set,
                             const kiln_pass_limits *limits)
{
    kiln_arena *arena = &remesher->workspace.arena;
    kiln_arena_mark scratch = kiln_arena_set_mark(arena);
    size_t count = set->count;
    uint32_t *kept = kiln_arena_array(arena, uint32_t, count), changes = 0;
    if (!kept) {
        remesher->workspace.failed = true;
        return 0;
    }
    kiln_pass_mark mark = kiln_remesher_mark(remesher);
    if (mark.txn.depth > 0) {
        double before = worst_of(remesher, set);
        for (size_t i = 0; i < count; i++)
            kept[i] = set->data[i];
        changes = kiln_flip_pass(remesher, set, limits);
        bool worse = worst_of(remesher, set) < before;
        if (worse)
            kiln_remesher_undo(remesher, &mark);
        if (worse || kiln_remesher_keep(remesher, &mark) != KILN_ACCEPTED) {
            for (size_t i = 0; i < count; i++)
                set->data[i] = kept[i];
            set->count = count;
            changes = 0;
        }
    }
    kiln_arena_release(arena, scratch);
    return changes;
}

typedef enum pass_kind { FLIPS, INSERTIONS, MOVES, CONTRACTIONS, PASS_KINDS } pass_kind;

/* One tet and what has to change with it. */
typedef struct repair {
    kiln_remesher *remesher;
    kiln_u32_array set;
    double goal;
    uint32_t changes; /* so far */
    /* What changes nothing once does so again as long as nothing else has changed: a pass with the
     * limits of its last vain run, at the same count of changes, is not worth repeating. */
    struct {
        bool tried;
        uint32_t changes;
        kiln_pass_limits limits;
    } vain[PASS_KINDS];
} repair;

static bool same_limits(const kiln_pass_limits *a, const kiln_pass_limits *b)
{
    return a->target == b->target && a->enough == b->enough && a->least == b->least &&
           a->short_edge == b->short_edge;
}

static uint32_t run_pass(repair *r, pass_kind kind, const kiln_pass_limits *limits)
{
    switch (kind) {
    case FLIPS:
        return flip_or_undo(r->remesher, &r->set, limits);
    case INSERTIONS:
        return kiln_insert_pass(r->remesher, &r->set, limits, &kiln_insertion_hard);
    case MOVES:
        return kiln_smooth_pass(r->remesher, &r->set, limits);
    default:
        return kiln_contract_pass(r->remesher, &r->set, limits);
    }
}

/* Flips are repeated while they help. */
static bool reaches(repair *r, pass_kind kind, const kiln_pass_limits *limits)
{
    uint32_t made;
    do {
        if (kiln_remesher_is_spent(r->remesher) ||
            (r->vain[kind].tried && r->vain[kind].changes == r->changes &&
             same_limits(&r->vain[kind].limits, limits)))
            return false;
        made = run_pass(r, kind, limits);
        r->changes += made;
        if (made == 0) {
            r->vain[kind].tried = true;
            r->vain[kind].changes = r->changes;
            r->vain[kind].limits = *limits;
        }
        if (worst_of(r->remesher, &r->set) >= r->goal)
            return true;
    } while (kind == FLIPS && made > 0);
    return false;
}

/* Flips look at the target alone. */
static kiln_pass_limits flips_below(double target)
{
    return (kiln_pass_limits){.target = target};
}

/* Before anything else: one change that settles the matter by itself. */
static bool single_change_reaches(repair *r)
{
    const kiln_pass_limits flips = flips_below(r->goal);
    const kiln_pass_limits settling = {
        .target = r->goal, .enough = r->goal, .least = r->goal, .short_edge = SHORT_EDGE};
    return reaches(r, FLIPS, &flips) || reaches(r, MOVES, &settling) ||
           reaches(r, CONTRACTIONS, &settling);
}

/* DLR Listing 1. Contraction keeps to the bad tets, or it would eat up their neighbourhood, and
 * comes last. */
static bool round_reaches(repair *r, uint32_t round)
{
    /* The neighbours' turn comes when the bad tets alone have resisted, and then that of vertices
     * that are not too close. */
    const double target = round < 2 ? r->goal : INFINITY;
    const kiln_pass_limits flips = flips_below(target);
    const kiln_pass_limits moves = {.target = target, .enough = r->goal, .least = -INFINITY};
    const kiln_pass_limits bad = {.target = r->goal};
    const kiln_pass_limits crowded = {
        .target = r->goal, .least = -INFINITY, .short_edge = round < 4 ? SHORT_EDGE : 0.0};
    return reaches(r, FLIPS, &flips) || reaches(r, INSERTIONS, &bad) || reaches(r, MOVES, &moves) ||
           reaches(r, CONTRACTIONS, &crowded);
}

/* All there is to do; whether the goal was reached. */
static bool work_on(repair *r, const kiln_improve_options *options)
{
    bool reached = single_change_reaches(r);
    for (uint32_t round = 0; round < options->rounds && !reached; round++) {
        reached = round_reaches(r, round);
        if (options->spread && r->set.count > options->spread)
            break;
    }
    return reached;
}

/* What leaves the surface as it is, or nothing. */
static bool mends_inside(kiln_remesher *remesher, uint32_t tet, const kiln_improve_options *options)
{
    const kiln_surface_mode mode = remesher->options.surface;
    repair r = {.remesher = remesher, .goal = options->goal};
    kiln_pass_mark mark = kiln_remesher_mark(remesher);
    if (mark.txn.depth == 0)
        return false;
    kiln_set_add(remesher, &r.set, &tet, 1);
    remesher->options.surface = KILN_SURFACE_KEEP;
    bool reached = work_on(&r, options);
    remesher->options.surface = mode;
    if (reached)
        kiln_remesher_keep(remesher, &mark);
    else
        kiln_remesher_undo(remesher, &mark);
    kiln_array_free(remesher->context, &r.set);
    return reached;
}

/* A repair that misses the goal and gains little is taken back: what it does to the tets around,
 * and with them to the forces, is more than it is worth. */
static void improve_tet(kiln_remesher *remesher, uint32_t tet, const kiln_improve_options *options)
{
    if (options->inside_first && mends_inside(remesher, tet, options))
        return;
    repair r = {.remesher = remesher, .goal = options->goal};
    const double before = remesher->quality.data[tet];
    const double least = before + options->worth * (options->goal - before);
    kiln_pass_mark mark = kiln_remesher_mark(remesher);
    if (mark.txn.depth == 0)
        return;
    kiln_set_add(remesher, &r.set, &tet, 1);
    if (work_on(&r, options) || options->worth == 0.0 || worst_of(remesher, &r.set) >= least)
        kiln_remesher_keep(remesher, &mark);
    else
        kiln_remesher_undo(remesher, &mark);
    kiln_array_free(remesher->context, &r.set);
}

/* The score is that of the space and the metric of the pass; by how much it falls on the way is
 * seen in the world. */
bool kiln_improve_may_wait(const kiln_mesh *mesh, const kiln_improve_options *options, uint32_t tet,
                           double score)
{
    kiln_vec3 now[4], then[4];
    if (!options->way || score < options->asked)
        return false;
    for (int k = 0; k < 4; k++) {
        uint32_t v = mesh->tet[tet].v[k];
        now[k] = mesh->x[v];
        then[k] = v < options->ways ? kiln_v3_add(now[k], options->way[v]) : now[k];
    }
    double before = kiln_tet_quality(&now[0], &now[1], &now[2], &now[3]);
    double after = kiln_tet_quality(&then[0], &then[1], &then[2], &then[3]);
    return before > 0.0 && score * after >= options->asked * before;
}

/* The tets below the goal that are not hopeless and were not repaired too often. */
static void find_bad(kiln_remesher *remesher, const kiln_improve_options *options,
                     kiln_u32_array *bad)
{
    const kiln_vain *vain = kiln_vain_of(remesher->mesh, options->vain);
    const kiln_tried *tried = kiln_tried_of(remesher->mesh, options->tried);
    size_t kept = 0;
    kiln_set_below(remesher, bad, options->goal, 0);
    for (size_t i = 0; i < bad->count; i++) {
        uint32_t t = bad->data[i];
        if (!kiln_improve_may_wait(remesher->mesh, options, t, remesher->quality.data[t]) &&
            !kiln_vain_is_hopeless(remesher->mesh, vain, t, remesher->quality.data[t]) &&
            !kiln_tried_enough(tried, KILN_TRIED_REPAIR, remesher->mesh->tet[t].v, 4))
            bad->data[kept++] = t;
    }
    bad->count = kept;
}

/* Where a good part of the mesh is bad, repairs one by one would meet each other all the time and
 * contract what its neighbours need. Sweeps of the operators that keep the vertices come first,
 * while they take a tenth off what is left. */
static void sweep(kiln_remesher *remesher, const kiln_improve_options *options, kiln_u32_array *bad)
{
    const double goal = options->goal;
    const kiln_pass_limits limits = {.target = goal, .enough = goal, .least = -INFINITY};
    size_t before;
    do {
        before = bad->count;
        if (before < (size_t)(MANY * remesher->mesh->table[KILN_ON_TET].live) ||
            kiln_remesher_is_spent(remesher))
            break;
        kiln_flip_pass(remesher, bad, &limits);
        find_bad(remesher, options, bad);
        kiln_smooth_pass(remesher, bad, &limits);
        find_bad(remesher, options, bad);
    } while (10 * bad->count < 9 * before);
}

/* Then repairs meet each other all the time. */
static bool is_mostly_bad(const kiln_improve_report *report)
{
    return (double)report->bad_before > MANY_BAD * (double)report->tets_before;
}

/* Repairs one by one, worst first where they may not come to an end. Returns how many it came to.
 */
static size_t repair_each(kiln_remesher *remesher, const kiln_improve_options *options,
                          kiln_u32_array *bad, kiln_improve_report *report)
{
    const uint32_t *live = &remesher->mesh->table[KILN_ON_TET].live;
    size_t i;
    /* What may not be finished begins where it matters most. */
    if (options->effort || is_mostly_bad(report))
        kiln_set_rank(remesher, bad);
    for (i = 0; i < bad->count && !report->stopped && !kiln_remesher_is_spent(remesher); i++) {
        report->outgrown = (double)*live > MOST_GROWTH * (double)report->tets_before;
        if (report->outgrown)
            break;
        double score = remesher->quality.data[bad->data[i]];
        if (score < options->goal &&
            !kiln_improve_may_wait(remesher->mesh, options, bad->data[i], score))
            improve_tet(remesher, bad->data[i], options);
        if (options->progress) {
            kiln_improve_progress progress = {.stage = "repair",
                                              .tets = remesher->mesh->table[KILN_ON_TET].live,
                                              .left = bad->count - i,
                                              .worst = report->worst_before};
            report->stopped = !options->progress(options->user, &progress);
        }
    }
    return i;
}

/* What repairs leave in a mesh that was bad nearly everywhere is not what they found: they go on
 * while they take a tenth off it. */
static void repair_again(kiln_remesher *remesher, const kiln_improve_options *options,
                         kiln_u32_array *bad, size_t *tried, kiln_improve_report *report)
{
    size_t before;
    do {
        before = bad->count;
        find_bad(remesher, options, bad);
        if (10 * bad->count >= 9 * before || report->outgrown || report->stopped ||
            kiln_remesher_is_spent(remesher))
            return;
        *tried = repair_each(remesher, options, bad, report);
    } while (bad->count > 0);
}

static void note_set(const kiln_remesher *remesher, double goal, const uint32_t *tets, size_t count,
                     kiln_vain *vain)
{
    for (size_t i = 0; i < count; i++)
        if (remesher->quality.data[tets[i]] < goal)
            vain[tets[i]] = (kiln_vain){remesher->quality.data[tets[i]], remesher->mesh->clock};
}

/* What is bad still has been tried: as of now, so that repairs do not call for each other by what
 * they change. Where the effort ended it, that is true of what it came to and what it made. */
static void note_vain(kiln_remesher *remesher, const kiln_improve_options *options,
                      kiln_u32_array *bad, size_t tried, uint32_t since)
{
    kiln_vain *vain = kiln_vain_of(remesher->mesh, options->vain);
    if (!vain)
        return;
    if (!kiln_remesher_is_spent(remesher)) {
        find_bad(remesher, options, bad);
        tried = bad->count;
    }
    note_set(remesher, options->goal, bad->data, tried, vain);
    kiln_set_below(remesher, bad, options->goal, since);
    note_set(remesher, options->goal, bad->data, bad->count, vain);
}

kiln_status kiln_dynamic_improve(kiln_remesher *remesher, const kiln_improve_options *options,
                                 kiln_improve_report *report, kiln_error *error)
{
    kiln_u32_array bad = {0};
    const uint32_t since = remesher->mesh->clock + 1;
    kiln_improve_report_begin(remesher, options, report);
    remesher->effort_end = options->effort ? kiln_remesher_effort(remesher) + options->effort : 0;
    find_bad(remesher, options, &bad);
    sweep(remesher, options, &bad);
    size_t tried = repair_each(remesher, options, &bad, report);
    if (is_mostly_bad(report))
        repair_again(remesher, options, &bad, &tried, report);
    note_vain(remesher, options, &bad, tried, since);
    remesher->effort_end = 0;
    kiln_array_free(remesher->context, &bad);
    return kiln_improve_report_end(remesher, options, report, error);
}
