/* The whole mesh, as good as it gets: cheap operators where it is not good until they no longer
 * gain, then insertion where it is worst (Klingner and Shewchuk's schedule), then the mean of all.
 * What raises the mean also makes room for the worst, so both take turns until neither gains. A tet
 * is looked at again only when something round it has changed since. */
#include "remesh/improve.h"
#include "remesh/mean.h"
#include "remesh/passes.h"

/* Edges shorter than this part of the others of their tet are contracted where that leaves nothing
 * worse than the second figure: two vertices that close leave no room for good tets, and what they
 * leave behind is soon better. Measured on random points, balls, bars and animals. */
static const double SHORT_EDGE = 0.67, THINNED_WORST = 0.46;
/* A round of insertions that lifts the worst tet by less has stalled; so many may do so in a row,
 * and fewer where the mesh is good already. */
static const double GAIN_OF_ROUND = 0.01, GOOD_ALREADY = 0.68;
enum { PATIENCE = 3, PATIENCE_IF_GOOD = 1 };
/* Insertions are tried in tets up to this much above the worst; less far after a stall once the
 * mean has had its turn, since what is well above the worst is the mean's. Where the worst is high
 * already they are many and gain little, so that fewer are looked at. */
static const double REACH = 0.1, REACH_AGAIN = 0.05, HIGH = 0.7, REACH_IF_HIGH = 0.017;
/* Stars are made better by their worst tet up to here; beyond it that would cost the mean more than
 * it is worth. In the first cycle what insertions leave is settled with its surroundings so far. */
static const double SETTLED = 0.5;
/* Worst and mean take turns. When both gain less than this the run begins afresh with what it has,
 * and ends when that is in vain, too: a second run would do no more. Where the mesh is good already
 * it ends at once. */
static const double GAIN_OF_CYCLE = 0.005, MEAN_OF_CYCLE = 0.02;
enum { CYCLES = 16 };
/* Turns of the mean's operators between two cycles and at the end, while they gain that much. Tets
 * below the second figure do not become worse for the mean's sake. */
enum { MEAN_TURNS = 2, LAST_MEAN_TURNS = 8 };
static const double GAIN_OF_MEAN = 5e-4, SPARED = 0.4;
/* Vertices that raise the mean are looked for in tets below this, once, in the end: all that is
 * found is found in the first turn. Cavities of two tets' depth raise it by twice what deeper ones
 * do, which are chosen by their worst tet. */
static const double POOR = 0.6;
static const kiln_insertion_effort insertion_for_mean = {
    .depth = 2, .repairs = 24, .spread = 500, .gate = 1.4, .margin = 0.03};
/* At the end of a cycle the worst tets alone, up to this much above the worst. */
static const double POLISHED = 0.02, GAIN_OF_POLISH = 1e-5;
enum { POLISHES = 32 };
/* Last of all, but for the mean: tets up to this much above the worst, while that one gains so
 * much, and where they are no more than this part: in a plate, whose thickness caps them all,
 * repairs would go on for ever. */
static const double REPAIRED = 0.02, GAIN_OF_REPAIR = 1e-3, FEW = 0.02;
enum { REPAIRS = 8 };
/* Where a mesh is at rest: its tets are well shaped in the mean, and a turn for the mean gains no
 * more than that. */
static const double WELL_SHAPED = 0.7, LEFT_OF_MEAN = 1e-3;
/* Smoothing and flips take turns at most so often, while they gain that much. */
enum { TURNS = 8 };
static const double GAIN_OF_TURN = 1e-4;

/* Means of min(q, c) for several c tell whether the worst tets improve, the lower c the worse. */
enum { MEANS = 7 };
typedef struct standing {
    double worst, mean[MEANS];
    double mean_of_all;
} standing;

static standing stand(const kiln_remesher *remesher)
{
    const kiln_mesh *mesh = remesher->mesh;
    standing s = {.worst = INFINITY};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double q = remesher->quality.data[t];
        if (!kiln_tet_live(mesh, t))
            continue;
        s.worst = q < s.worst ? q : s.worst;
        s.mean_of_all += q;
        for (int k = 0; k < MEANS; k++)
            s.mean[k] += fmin(q, 0.1 * (k + 1));
    }
    s.mean_of_all /= (double)mesh->table[KILN_ON_TET].live;
    for (int k = 0; k < MEANS; k++)
        s.mean[k] /= (double)mesh->table[KILN_ON_TET].live;
    return s;
}

static bool gained(const standing *before, const standing *after, double least)
{
    bool gain = after->worst > before->worst + least;
    for (int k = 0; k < MEANS; k++)
        gain |= after->mean[k] > before->mean[k] + least;
    return gain;
}

typedef struct schedule {
    kiln_remesher *remesher;
    const kiln_improve_options *options;
    kiln_improve_report *report;
    kiln_u32_array set;
    uint32_t round;
    bool again; /* not in the first cycle */
    /* Mesh clock when each was last done, by the worst and by the mean. */
    uint32_t flipped, smoothed, contracted;
    uint32_t mean_flipped, mean_smoothed, mean_contracted;
} schedule;

static kiln_u32_array *changed_since(schedule *s, uint32_t since, double target)
{
    kiln_set_below(s->remesher, &s->set, target, since);
    return &s->set;
}

static bool go_on(schedule *s, const char *stage)
{
    if (s->options->progress && !s->report->stopped) {
        standing now = stand(s->remesher);
        kiln_improve_progress progress = {.stage = stage,
                                          .round = s->round,
                                          .tets = s->remesher->mesh->table[KILN_ON_TET].live,
                                          .worst = now.worst,
                                          .mean = now.mean[MEANS - 1]};
        s->report->stopped = !s->options->progress(s->options->user, &progress);
    }
    return !s->report->stopped && !s->remesher->workspace.failed &&
           !kiln_remesher_is_spent(s->remesher);
}

static kiln_pass_limits below(double target)
{
    return (kiln_pass_limits){.target = target, .enough = INFINITY, .least = -INFINITY};
}

typedef uint32_t (*pass_function)(kiln_remesher *, kiln_u32_array *, const kiln_pass_limits *);

/* A pass over what has changed since it was done last. */
static uint32_t run(schedule *s, pass_function pass, uint32_t *done, const kiln_pass_limits *limits)
{
    uint32_t since = *done;
    *done = s->remesher->mesh->clock + 1;
    return pass(s->remesher, changed_since(s, since, limits->target), limits);
}

static uint32_t flip_all(schedule *s, double target)
{
    const kiln_pass_limits limits = below(target);
    return run(s, kiln_flip_pass, &s->flipped, &limits);
}

static uint32_t smooth_all(schedule *s, double target)
{
    const kiln_pass_limits limits = below(target);
    return run(s, kiln_smooth_pass, &s->smoothed, &limits);
}

static uint32_t contract_all(schedule *s, double target)
{
    const kiln_pass_limits limits = below(target);
    return run(s, kiln_contract_pass, &s->contracted, &limits);
}

static uint32_t insert_worst(schedule *s, double target, const kiln_insertion_effort *effort)
{
    const kiln_pass_limits limits = below(target);
    return kiln_insert_pass(s->remesher, changed_since(s, 0, target), &limits, effort);
}

/* Cheap operators until they gain little. */
static void settle(schedule *s, double target)
{
    standing before = stand(s->remesher), after;
    for (int i = 0; i < TURNS && go_on(s, "smooth, flip"); i++) {
        uint32_t changes = smooth_all(s, target) + flip_all(s, target);
        after = stand(s->remesher);
        if (changes == 0 || !gained(&before, &after, GAIN_OF_TURN))
            break;
        before = after;
    }
}

/* The only step before the mean's that may make a tet worse. It keeps above the worst tet that the
 * run began with, and is taken only where that one has become better: then the sorted qualities
 * have, too. */
static void thin(schedule *s, double input)
{
    if (!(stand(s->remesher).worst > input) || s->report->stopped)
        return;
    kiln_thin_pass(s->remesher, changed_since(s, 0, INFINITY), SHORT_EDGE,
                   fmax(input + KILN_LEAST_GAIN, THINNED_WORST));
    settle(s, SETTLED);
}

static uint32_t patience(const standing *now)
{
    return now->worst < GOOD_ALREADY ? PATIENCE : PATIENCE_IF_GOOD;
}

/* One turn of the mean's operators. */
static void raise_mean_once(schedule *s)
{
    const kiln_pass_limits all = below(INFINITY);
    run(s, kiln_smooth_pass, &s->mean_smoothed, &all);
    run(s, kiln_flip_pass, &s->mean_flipped, &all);
}

/* In the first turn vertices that are crowded go. */
static void thin_for_mean(schedule *s, double level)
{
    kiln_pass_limits crowded = below(level);
    crowded.short_edge = SHORT_EDGE;
    run(s, kiln_contract_pass, &s->mean_contracted, &crowded);
}

/* The mean, with nothing worse than the worst tet is. In the end vertices come: at a level that is
 * the mean, below which tets more would count as a gain that lower it. */
static void raise_mean(schedule *s, int turns, bool last)
{
    kiln_remesher *remesher = s->remesher;
    const kiln_judge office = remesher->judge;
    standing now = stand(remesher);
    double level = now.mean_of_all, before = -INFINITY;
    remesher->judge = kiln_judge_mean(&office, &level, now.worst, SPARED);
    for (int i = 0; i < turns && level > before + GAIN_OF_MEAN && go_on(s, "mean"); i++) {
        before = level;
        raise_mean_once(s);
        if (i == 0)
            thin_for_mean(s, level);
        level = stand(remesher).mean_of_all;
        if (i == 0 && last)
            insert_worst(s, POOR, &insertion_for_mean);
    }
    remesher->judge = office;
}

/* Rounds of insertions and what settles them until they stall. */
static void raise_worst(schedule *s)
{
    standing before = stand(s->remesher);
    uint32_t stalled = 0;
    while (stalled < patience(&before) && before.worst < s->options->goal && go_on(s, "insert")) {
        double target = fmin(before.worst + (stalled && s->again ? REACH_AGAIN : REACH),
                             fmax(HIGH, before.worst + REACH_IF_HIGH));
        s->round++;
        contract_all(s, target);
        insert_worst(s, target, stalled ? &kiln_insertion_hard : &kiln_insertion_usual);
        settle(s, s->again ? target : fmax(target, SETTLED));
        standing after = stand(s->remesher);
        stalled = after.worst > before.worst + GAIN_OF_ROUND ? 0 : stalled + 1;
        before = after;
    }
}

/* The last bits of the worst tets. */
static void polish(schedule *s)
{
    double worst = stand(s->remesher).worst, before = -INFINITY;
    for (int i = 0; i < POLISHES && worst > before + GAIN_OF_POLISH && go_on(s, "polish"); i++) {
        const kiln_pass_limits limits = below(worst + POLISHED);
        before = worst;
        kiln_smooth_pass(s->remesher, changed_since(s, 0, limits.target), &limits);
        kiln_flip_pass(s->remesher, changed_since(s, 0, limits.target), &limits);
        worst = stand(s->remesher).worst;
    }
}

/* Sweeps look at each operator by itself; in the end the very worst tets get all of them in turn,
 * each with its surroundings. */
static kiln_status repair_worst(schedule *s, kiln_error *error)
{
    kiln_improve_options options = kiln_improve_default_options();
    double worst = stand(s->remesher).worst, before = -INFINITY;
    for (int i = 0; i < REPAIRS && worst < SETTLED && worst > before + GAIN_OF_REPAIR; i++) {
        kiln_improve_report report;
        if (!go_on(s, "repair"))
            break;
        before = worst;
        options.goal = fmin(worst + REPAIRED, s->options->goal);
        options.effort = s->options->effort / REPAIRS;
        if ((double)changed_since(s, 0, options.goal)->count >
            FEW * s->remesher->mesh->table[KILN_ON_TET].live)
            break;
        KILN_TRY(kiln_dynamic_improve(s->remesher, &options, &report, error));
        worst = report.worst_after;
    }
    return KILN_OK;
}

static bool is_good(const schedule *s)
{
    return stand(s->remesher).worst >= GOOD_ALREADY;
}

/* What a run begins with. */
static void begin_afresh(schedule *s)
{
    const double input = stand(s->remesher).worst;
    s->again = false;
    settle(s, SETTLED);
    thin(s, input);
}

/* Worst, then mean; whether it gained. */
static bool cycle(schedule *s, bool fresh)
{
    const standing before = stand(s->remesher);
    if (fresh)
        begin_afresh(s);
    raise_worst(s);
    polish(s);
    raise_mean(s, MEAN_TURNS, false);
    s->again = true;
    const standing after = stand(s->remesher);
    return after.worst > before.worst + GAIN_OF_CYCLE ||
           after.mean_of_all > before.mean_of_all + MEAN_OF_CYCLE;
}

/* One turn of the mean's operators; whether the mean rises by less than a run may leave. */
static bool mean_rests(schedule *s)
{
    kiln_remesher *remesher = s->remesher;
    const kiln_judge office = remesher->judge;
    const kiln_pass_limits all = below(INFINITY);
    const standing now = stand(remesher);
    double level = now.mean_of_all;
    remesher->judge = kiln_judge_mean(&office, &level, now.worst, SPARED);
    run(s, kiln_flip_pass, &s->mean_flipped, &all); /* the quick ones first */
    bool rests = stand(remesher).mean_of_all < level + LEFT_OF_MEAN;
    if (rests) {
        run(s, kiln_smooth_pass, &s->mean_smoothed, &all);
        rests = stand(remesher).mean_of_all < level + LEFT_OF_MEAN;
    }
    remesher->judge = office;
    return rests;
}

/* One round of insertions and what settles them. */
static bool worst_rests(schedule *s)
{
    const double worst = stand(s->remesher).worst, target = fmin(worst + REACH_AGAIN, HIGH);
    contract_all(s, target);
    insert_worst(s, target, &kiln_insertion_hard);
    settle(s, target);
    return stand(s->remesher).worst < worst + GAIN_OF_CYCLE;
}

bool kiln_improve_rests(kiln_remesher *remesher, const kiln_improve_options *options)
{
    kiln_improve_report unused = {0};
    schedule s = {.remesher = remesher, .options = options, .report = &unused};
    bool rests = stand(remesher).mean_of_all >= WELL_SHAPED && mean_rests(&s) && worst_rests(&s);
    kiln_array_free(remesher->context, &s.set);
    return rests && go_on(&s, "rest");
}

kiln_status kiln_improve_mesh(kiln_remesher *remesher, const kiln_improve_options *options,
                              kiln_improve_report *report, kiln_error *error)
{
    schedule s = {.remesher = remesher, .options = options, .report = report};
    kiln_improve_report_begin(remesher, options, report);
    remesher->effort_end = options->effort ? kiln_remesher_effort(remesher) + options->effort : 0;
    bool fresh = true, over = false;
    for (int i = 0; i < CYCLES && !over && go_on(&s, "cycle"); i++) {
        bool gain = cycle(&s, fresh);
        over = !gain && (fresh || is_good(&s));
        fresh = !gain;
    }
    remesher->effort_end = 0;
    kiln_status status = repair_worst(&s, error);
    raise_mean(&s, LAST_MEAN_TURNS, true);
    kiln_array_free(remesher->context, &s.set);
    KILN_TRY(status);
    return kiln_improve_report_end(remesher, options, report, error);
}
