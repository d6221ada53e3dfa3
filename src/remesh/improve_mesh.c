/* The whole mesh, as good as it gets (Klingner and Shewchuk's schedule): cheap operators everywhere
 * until they no longer gain, then insertion where the mesh is worst. A tet is looked at again only
 * when something round it has changed since. */
#include "remesh/improve.h"
#include "remesh/passes.h"

/* Edges shorter than this part of the others of their tet are contracted where that leaves nothing
 * worse than the second figure: two vertices that close leave no room for good tets, and what they
 * leave behind is soon better. Measured on random points, balls, bars and animals. */
static const double SHORT_EDGE = 0.67, THINNED_WORST = 0.46;
/* A round of insertions that lifts the worst tet by less has stalled; so many may do so in a row,
 * and fewer where the mesh is good already. */
static const double GAIN_OF_ROUND = 0.01, GOOD_ALREADY = 0.68;
enum { PATIENCE = 4, PATIENCE_IF_GOOD = 1 };
/* Insertions are tried in tets up to this much above the worst, farther after a stall. Where the
 * worst is high already they are many and gain little, so that fewer are looked at. */
static const double REACH = 0.1, REACH_IF_STALLED = 0.2, HIGH = 0.7, REACH_IF_HIGH = 0.017;
/* What insertions leave is settled with its surroundings up to here at least. */
static const double SETTLED = 0.5;
/* Smoothing and flips take turns at most so often, while they gain that much. */
enum { TURNS = 8 };
static const double GAIN_OF_TURN = 1e-4;

/* Means of min(q, c) for several c tell whether the worst tets improve, the lower c the worse. */
enum { MEANS = 7 };
typedef struct standing {
    double worst, mean[MEANS];
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
        for (int k = 0; k < MEANS; k++)
            s.mean[k] += fmin(q, 0.1 * (k + 1));
    }
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
    uint32_t flipped, smoothed, contracted, inserted; /* mesh clock when each was last done */
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
    return !s->report->stopped && !s->remesher->workspace.failed;
}

static kiln_pass_limits below(double target)
{
    return (kiln_pass_limits){.target = target, .enough = INFINITY, .least = -INFINITY};
}

static uint32_t flip_all(schedule *s, double target)
{
    uint32_t since = s->flipped;
    s->flipped = s->remesher->mesh->clock + 1;
    kiln_pass_limits limits = below(target);
    return kiln_flip_pass(s->remesher, changed_since(s, since, target), &limits);
}

static uint32_t smooth_all(schedule *s, double target)
{
    uint32_t since = s->smoothed;
    s->smoothed = s->remesher->mesh->clock + 1;
    kiln_pass_limits limits = below(target);
    return kiln_smooth_pass(s->remesher, changed_since(s, since, target), &limits);
}

static uint32_t contract_all(schedule *s, double target)
{
    uint32_t since = s->contracted;
    s->contracted = s->remesher->mesh->clock + 1;
    kiln_pass_limits limits = below(target);
    return kiln_contract_pass(s->remesher, changed_since(s, since, target), &limits);
}

static uint32_t insert_worst(schedule *s, double target, const kiln_insertion_effort *effort)
{
    kiln_pass_limits limits = below(target);
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

/* The only step that may make a tet worse. It keeps above the worst tet of the input, and is taken
 * only where that one has become better: then the sorted qualities have, too. */
static void thin(schedule *s)
{
    double input = s->report->worst_before;
    if (!(stand(s->remesher).worst > input) || s->report->stopped)
        return;
    kiln_thin_pass(s->remesher, changed_since(s, 0, INFINITY), SHORT_EDGE,
                   fmax(input + KILN_LEAST_GAIN, THINNED_WORST));
    settle(s, INFINITY);
}

static uint32_t patience(const standing *now)
{
    return now->worst < GOOD_ALREADY ? PATIENCE : PATIENCE_IF_GOOD;
}

kiln_status kiln_improve_mesh(kiln_remesher *remesher, const kiln_improve_options *options,
                              kiln_improve_report *report, kiln_error *error)
{
    schedule s = {.remesher = remesher, .options = options, .report = report};
    kiln_improve_report_begin(remesher, options, report);
    settle(&s, INFINITY);
    thin(&s);
    standing before = stand(remesher);
    uint32_t stalled = 0;
    while (stalled < patience(&before) && before.worst < options->goal && go_on(&s, "insert")) {
        double target = fmin(before.worst + (stalled ? REACH_IF_STALLED : REACH),
                             fmax(HIGH, before.worst + REACH_IF_HIGH));
        s.round++;
        contract_all(&s, target);
        insert_worst(&s, target, stalled ? &kiln_insertion_hard : &kiln_insertion_usual);
        settle(&s, fmax(target, SETTLED));
        standing after = stand(remesher);
        stalled = after.worst > before.worst + GAIN_OF_ROUND ? 0 : stalled + 1;
        before = after;
    }
    kiln_array_free(remesher->context, &s.set);
    return kiln_improve_report_end(remesher, options, report, error);
}
