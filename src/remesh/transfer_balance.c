/* Masses that keep the centre and the inertia of what changed.
 *
 * Shares by overlap keep the mass, not its place: matter of one density in a new tet lies elsewhere
 * in the world than the old tets had it where the deformation is not linear, and a new outline cuts
 * corners off the old one. Then momentum and angular momentum cannot both be kept in every frame of
 * reference, and the least energy with the old angular momentum, L^2 / 2I, is more than there was
 * where I has become less. So masses are changed, least in the sense of sum dm^2 / m, until mass,
 * first and second moments (of matter spread evenly in each tet) are the old ones: m becomes
 * m (1 + a + b.y + y.C y), y averaged over the tet, with ten numbers that solve a small system.
 * Regions keep their mass each, with an a of their own: matter of one is not that of another. A
 * group of few tets takes the tets around it along; where no density may change as much as that
 * takes, the inertia comes as near as it can. With options.even what is changed are the masses
 * without any such change so far: else many small ones would add up. */
#include "mesh/journal.h"
#include "remesh/transfer_impl.h"

/* Masses of up to so many regions (those beyond count with the last), first and second moments. */
enum { REGIONS = 4, SHAPES = 9, MOMENTS = REGIONS + SHAPES };
enum { FIRST = 3 }; /* of the shapes, first moments; the others are second ones */
/* Few tets: those next to them may do, at least so many. */
enum { FEW = 64, LEAST_NEAR = 20 };
static const double NOTHING = 1e-13; /* of mass times size to the degree: rounding */
/* How much of its mass a tet may gain or lose: where that spares others a change, and at all. */
static const double LITTLE = 0.02, MUCH = 0.2;
static const double SINGULAR = 1e-9; /* pivot against its diagonal */

typedef struct balance {
    const kiln_transfer_field *even; /* masses that nothing was changed of; NULL: none are kept */
    kiln_transfer_job *job;
    kiln_transfer_set set;
    double (*missing)[MOMENTS]; /* [group], in sizes of the group */
    double *mass;               /* [group] */
    int32_t region[REGIONS];    /* those that were met */
    int regions;
} balance;

static int slot_of(balance *b, int32_t region)
{
    for (int i = 0; i < b->regions; i++)
        if (b->region[i] == region)
            return i;
    if (b->regions == REGIONS)
        return REGIONS - 1;
    b->region[b->regions] = region;
    return b->regions++;
}

/* 1 for its region, y and y y' averaged over a tet. */
static void average(const kiln_vec3 r[4], double size, int slot, double q[MOMENTS])
{
    double y[4][3], sum[3] = {0};
    memset(q, 0, REGIONS * sizeof *q);
    for (int k = 0; k < 4; k++) {
        y[k][0] = r[k].x / size, y[k][1] = r[k].y / size, y[k][2] = r[k].z / size;
        for (int c = 0; c < 3; c++)
            sum[c] += y[k][c];
    }
    q[slot] = 1.0;
    for (int c = 0; c < 3; c++)
        q[REGIONS + c] = 0.25 * sum[c];
    int at = REGIONS + FIRST;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            double square = sum[a] * sum[b];
            for (int k = 0; k < 4; k++)
                square += y[k][a] * y[k][b];
            q[at++] = 0.05 * square;
        }
}

static double *mass_of(const balance *b, uint32_t tet)
{
    return (double *)(void *)kiln_transfer_row(b->job->mass, tet);
}

static double even_mass(const balance *b, uint32_t tet)
{
    return b->even ? *(const double *)(void *)kiln_transfer_row(b->even, tet) : *mass_of(b, tet);
}

static void average_new(balance *b, const kiln_transfer_group *group, uint32_t tet,
                        double q[MOMENTS])
{
    kiln_vec3 r[4];
    kiln_transfer_new_corners(b->job, tet, group->at, r);
    average(r, group->size, slot_of(b, b->job->to->info[tet].region), q);
}

static void take_old(balance *b, const kiln_transfer_share *share)
{
    const kiln_transfer_group *of = &b->job->groups.data[share->group];
    double q[MOMENTS], mass;
    kiln_vec3 r[4];
    kiln_transfer_old_corners(b->job, share->source, of->at, r);
    average(r, of->size, slot_of(b, b->job->sources.data[share->source].region), q);
    mass = share->part * kiln_transfer_source_mass(b->job, &b->job->sources.data[share->source]);
    b->mass[share->group] += mass;
    for (int k = 0; k < MOMENTS; k++)
        b->missing[share->group][k] += mass * q[k];
}

/* Before any of it is changed: sets overlap. */
static void find_missing(balance *b)
{
    kiln_transfer_job *job = b->job;
    for (size_t i = 0; i < job->shares.count; i++)
        if (job->shares.data[i].group != KILN_NONE)
            take_old(b, &job->shares.data[i]);
    for (size_t i = 0; i < job->gains.count; i++) {
        const kiln_transfer_gain *gain = &job->gains.data[i];
        double q[MOMENTS];
        average_new(b, &job->groups.data[gain->group], gain->tet, q);
        for (int k = 0; k < MOMENTS; k++)
            b->missing[gain->group][k] -= gain->mass * q[k];
    }
}

/* G = L L' in place, lower triangle; false: singular. */
static bool factor(double G[MOMENTS][MOMENTS], int order)
{
    for (int i = 0; i < order; i++) {
        double diagonal = G[i][i];
        for (int j = 0; j <= i; j++) {
            double sum = G[i][j];
            for (int k = 0; k < j; k++)
                sum -= G[i][k] * G[j][k];
            if (i == j && !(sum > SINGULAR * diagonal))
                return false;
            G[i][j] = i == j ? sqrt(sum) : sum / G[j][j];
        }
    }
    return true;
}

static void solve(double G[MOMENTS][MOMENTS], int order, const double *right, double *out)
{
    for (int i = 0; i < order; i++) {
        out[i] = right[i];
        for (int k = 0; k < i; k++)
            out[i] -= G[i][k] * out[k];
        out[i] /= G[i][i];
    }
    for (int i = order - 1; i >= 0; i--) {
        for (int k = i + 1; k < order; k++)
            out[i] -= G[k][i] * out[k];
        out[i] /= G[i][i];
    }
}

typedef struct attempt {
    const uint32_t *tets;
    size_t count;
    bool second; /* moments too */
    bool all;    /* or none */
    double most; /* part of its mass that a tet may gain or lose */
    /* Masses of the regions it has, then the shapes; which, how many, and of them not second. */
    int moment[MOMENTS], order, firsts;
} attempt;

static double change_of(const attempt *a, const double *q, const double *multiplier)
{
    double sum = 0.0;
    for (int k = 0; k < a->order; k++)
        sum += multiplier[k] * q[a->moment[k]];
    return sum;
}

static void choose_moments(balance *b, attempt *a)
{
    bool has[REGIONS] = {false};
    for (size_t t = 0; t < a->count; t++)
        has[slot_of(b, b->job->to->info[a->tets[t]].region)] = true;
    a->order = 0;
    for (int r = 0; r < REGIONS; r++)
        if (has[r])
            a->moment[a->order++] = r;
    a->firsts = a->order + FIRST;
    for (int k = 0; k < (a->second ? SHAPES : FIRST); k++)
        a->moment[a->order++] = REGIONS + k;
}

/* What the group lacks; of regions that the attempt has not, it comes to the first that it has. */
static void take_missing(const balance *b, uint32_t g, const attempt *a, double missing[MOMENTS])
{
    int regions = a->firsts - FIRST, at = 0;
    memcpy(missing, b->missing[g], MOMENTS * sizeof *missing);
    for (int r = 0; r < REGIONS; r++) {
        if (at < regions && a->moment[at] == r)
            at++;
        else if (regions > 0)
            missing[a->moment[0]] += missing[r];
    }
}

/* The system, and what even masses would be short of. */
static void set_up(balance *b, const kiln_transfer_group *group, const attempt *a,
                   double G[MOMENTS][MOMENTS], double missing[MOMENTS])
{
    memset(G, 0, MOMENTS * sizeof *G);
    for (size_t t = 0; t < a->count; t++) {
        double q[MOMENTS], mass = even_mass(b, a->tets[t]);
        average_new(b, group, a->tets[t], q);
        for (int k = 0; k < MOMENTS; k++)
            missing[k] += (*mass_of(b, a->tets[t]) - mass) * q[k];
        for (int i = 0; i < a->order; i++)
            for (int j = 0; j <= i; j++)
                G[i][j] += mass * q[a->moment[i]] * q[a->moment[j]];
    }
}

static bool is_small(balance *b, const kiln_transfer_group *group, const attempt *a,
                     const double *multiplier)
{
    for (size_t t = 0; t < a->count; t++) {
        double q[MOMENTS];
        average_new(b, group, a->tets[t], q);
        if (!(fabs(change_of(a, q, multiplier)) <= a->most))
            return false;
    }
    return true;
}

/* `anew`: from even masses; else from what they are. */
static kiln_status change_masses(balance *b, uint32_t g, const attempt *a, bool anew,
                                 const double *multiplier, kiln_error *error)
{
    kiln_transfer_job *job = b->job;
    for (size_t t = 0; t < a->count; t++) {
        double q[MOMENTS];
        double *mass = mass_of(b, a->tets[t]), old = *mass, even = even_mass(b, a->tets[t]);
        average_new(b, &job->groups.data[g], a->tets[t], q);
        *mass = (anew ? even : old) + even * change_of(a, q, multiplier);
        kiln_transfer_gain gain = {a->tets[t], g, *mass - old};
        KILN_TRY(kiln_array_push(job->context, &job->gains, gain, error));
        for (int k = 0; k < MOMENTS; k++)
            b->missing[g][k] -= gain.mass * q[k];
    }
    return KILN_OK;
}

/* The right side with this part of the second moments. */
static void find_multiplier(const attempt *a, double G[MOMENTS][MOMENTS], const double *missing,
                            double part, double *multiplier)
{
    double right[MOMENTS];
    for (int k = 0; k < a->order; k++)
        right[k] = (k < a->firsts ? 1.0 : part) * missing[a->moment[k]];
    solve(G, a->order, right, multiplier);
}

/* As much of the second moments as `most` allows, to a sixteenth; false: not even the first. */
static bool find_change(balance *b, uint32_t g, const attempt *a, double G[MOMENTS][MOMENTS],
                        const double *missing, double *multiplier)
{
    const kiln_transfer_group *group = &b->job->groups.data[g];
    if (!factor(G, a->order))
        return false;
    for (int sixteenths = 16; sixteenths >= (a->all ? 16 : 0); sixteenths--) {
        find_multiplier(a, G, missing, sixteenths / 16.0, multiplier);
        if (is_small(b, group, a, multiplier))
            return true;
    }
    return false;
}

/* Twice, the second time for what rounding left of the first. */
static kiln_status try(balance *b, uint32_t g, attempt *a, bool *done, kiln_error *error)
{
    double G[MOMENTS][MOMENTS], missing[MOMENTS], multiplier[MOMENTS];
    choose_moments(b, a);
    take_missing(b, g, a, missing);
    set_up(b, &b->job->groups.data[g], a, G, missing);
    *done = find_change(b, g, a, G, missing, multiplier);
    if (!*done)
        return KILN_OK;
    KILN_TRY(kiln_journal_reserve(b->job->to, 0, a->count, 0, 0, error));
    for (size_t t = 0; t < a->count; t++)
        kiln_journal_row(b->job->to, KILN_ON_TET, a->tets[t]);
    kiln_transfer_refresh(b->job);
    KILN_TRY(change_masses(b, g, a, true, multiplier, error));
    take_missing(b, g, a, missing);
    find_multiplier(a, G, missing, 0.0, multiplier);
    return change_masses(b, g, a, false, multiplier, error);
}

static bool is_balanced(const balance *b, uint32_t g)
{
    for (int k = 0; k < MOMENTS; k++)
        if (fabs(b->missing[g][k]) > NOTHING * b->mass[g])
            return false;
    return true;
}

static kiln_status settle(balance *b, uint32_t g, kiln_error *error)
{
    const kiln_transfer_group *group = &b->job->groups.data[g];
    bool done = is_balanced(b, g);
    if (!done) {
        attempt own = {.tets = &b->job->member.data[group->first],
                       .count = group->count,
                       .second = true,
                       .all = true,
                       .most = LITTLE};
        KILN_TRY(try(b, g, &own, &done, error));
    }
    if (!done && b->job->pass && group->count <= FEW) {
        KILN_TRY(kiln_transfer_tets_near(b->job, g, LEAST_NEAR, &b->set.tets, error));
        attempt near = {.tets = b->set.tets.data,
                        .count = b->set.tets.count,
                        .second = true,
                        .all = true,
                        .most = LITTLE};
        KILN_TRY(try(b, g, &near, &done, error));
    }
    if (done)
        return KILN_OK;
    KILN_TRY(kiln_transfer_set_of_group(b->job, g, &b->set, error));
    attempt around = {.tets = b->set.tets.data, .count = b->set.tets.count, .most = MUCH};
    for (int i = 0; i < 2 && !done; i++) {
        around.second = i == 0;
        around.all = i == 1;
        KILN_TRY(try(b, g, &around, &done, error));
    }
    b->job->report->unbalanced += !done;
    return KILN_OK;
}

static const kiln_transfer_field *even_field(const kiln_transfer_job *job)
{
    for (size_t i = 0; job->options.even && i < job->fields[KILN_ON_TET].count; i++) {
        const kiln_transfer_field *field = &job->fields[KILN_ON_TET].data[i];
        if (field->to->type == KILN_F64 && strcmp(field->to->name, job->options.even) == 0)
            return field;
    }
    return NULL;
}

kiln_status kiln_transfer_balance(kiln_transfer_job *job, kiln_error *error)
{
    kiln_context *context = job->context;
    size_t groups = job->groups.count, bytes = groups * (MOMENTS + 1) * sizeof(double);
    if (!job->mass || job->mass->to->rule != KILN_RULE_CONSERVE || groups == 0)
        return KILN_OK;
    balance b = {
        .job = job, .even = even_field(job), .missing = kiln_resize(context, NULL, 0, bytes)};
    if (!b.missing)
        return kiln_fail_memory(error, bytes);
    memset(b.missing, 0, bytes);
    b.mass = (double *)(b.missing + groups);
    find_missing(&b);
    kiln_status status = KILN_OK;
    for (uint32_t g = 0; g < groups && status == KILN_OK; g++)
        status = settle(&b, g, error);
    kiln_transfer_set_free(context, &b.set);
    kiln_release(context, b.missing, bytes);
    return status;
}
