/* What a change of the mesh must leave: momentum, angular momentum in the world, and no more energy
 * than there was.
 *
 * Of every group of changed tets (transfer_groups.c) they are known before, from the tets that
 * went. M is the consistent mass matrix, the only one that treats the corners of a tet alike and
 * has its mass, centre and inertia: with it a linear field has the same sums on every mesh. As
 * sum_i x_i x (M v)_i = sum_i (M x)_i x v_i, a vertex counts with its mass and with M x.
 *
 * What is missing of the momentum becomes one velocity of all corners of the group, then what is
 * missing of the angular momentum one rotation of them about their centre, which has no momentum.
 * As the group's mass, centre and inertia are the old ones (transfer_balance.c), so is the energy
 * of its rigid motion; only the rest of the motion can have gained some. Where that is so in the
 * sum over a part, the rest of the motion of its groups is scaled down, which changes neither sum;
 * where that is not enough, that of the whole part.
 *
 * Where a part has lost energy of another kind by the changes (kiln_transfer_options) its motion is
 * to have that: the rest of the motion of the whole part is scaled up, evenly, as what is given to
 * a few tets is motion as short as they are, which the next steps damp. */
#include "mesh/journal.h"
#include "remesh/transfer_impl.h"

static const double SINGULAR = 1e-9; /* determinant of an inertia against its trace */
static const double ROUNDING = 1e-14;
/* Of the rest of the motion, at most: what hardly moves is not to be driven by what it loses. */
static const double QUICKENED = 0.01;

typedef struct sums {
    kiln_vec3 momentum, angular; /* angular: about the middle of the group */
    double energy;
} sums;

typedef struct motion {
    kiln_transfer_job *job;
    const kiln_transfer_field *field;
    const kiln_field *impulse; /* gets the corrections in place of the field; NULL: none does */
    uint32_t base, width;      /* the components that are looked at, at most three */
    const kiln_idset *number;
    const double *change;
    sums *missing;   /* [group] */
    double *surplus; /* [part] energy gained */
    double *energy;  /* [part] of what moves, for comparison */
    kiln_transfer_set set;
    KILN_ARRAY_OF(kiln_vec3)
    rest; /* [index] of the set: velocity without its rigid part */
} motion;

static sums sums_of(const kiln_vec3 r[4], const kiln_vec3 v[4], double mass)
{
    kiln_vec3 places = {0}, speeds = {0}, turning = {0};
    double square = 0.0;
    for (int k = 0; k < 4; k++) {
        places = kiln_v3_add(places, r[k]);
        speeds = kiln_v3_add(speeds, v[k]);
        turning = kiln_v3_add(turning, kiln_v3_cross(r[k], v[k]));
        square += kiln_v3_norm2(v[k]);
    }
    turning = kiln_v3_add(turning, kiln_v3_cross(places, speeds));
    return (sums){kiln_v3_scale(speeds, 0.25 * mass), kiln_v3_scale(turning, 0.05 * mass),
                  0.025 * mass * (square + kiln_v3_norm2(speeds))};
}

static void add_sums(sums *to, double factor, const sums *s)
{
    to->momentum = kiln_v3_madd(to->momentum, factor, s->momentum);
    to->angular = kiln_v3_madd(to->angular, factor, s->angular);
    to->energy += factor * s->energy;
}

/* Only three components that are all of a field are a velocity, which turns and has energy. */
static bool is_velocity(const motion *m)
{
    return m->field->to->components == 3;
}

static kiln_vec3 components_of(const motion *m, const void *row)
{
    double v[3] = {0};
    memcpy(v, (const double *)row + m->base, m->width * sizeof *v);
    return kiln_v3(v[0], v[1], v[2]);
}

static kiln_vec3 velocity_of(const motion *m, uint32_t vertex)
{
    return components_of(m, kiln_transfer_row(m->field, vertex));
}

/* To a vertex of the set, or as an impulse for the next step. */
static void add_velocity(const motion *m, size_t index, double factor, kiln_vec3 change)
{
    const kiln_field *to = m->impulse ? m->impulse : m->field->to;
    char *row = to->data + (size_t)m->set.vertices.data[index] * to->stride;
    double *v = (double *)(void *)row + m->base;
    const double step[3] = {change.x, change.y, change.z};
    factor *= m->impulse ? m->set.weights.data[index].mass : 1.0;
    for (uint32_t c = 0; c < m->width; c++)
        v[c] += factor * step[c];
}

static void new_velocities(const motion *m, uint32_t tet, kiln_vec3 v[4])
{
    for (int k = 0; k < 4; k++)
        v[k] = velocity_of(m, m->job->to->tet[tet].v[k]);
}

/* Before: what went. */
static void take_old(const motion *m, const kiln_transfer_share *share)
{
    const kiln_transfer_tet *tet = &m->job->sources.data[share->source];
    const kiln_transfer_group *group = &m->job->groups.data[share->group];
    const uint32_t *corner = kiln_begin_tet(&m->job->view, tet->tet)->v;
    kiln_vec3 r[4], v[4];
    kiln_transfer_old_corners(m->job, share->source, group->at, r);
    for (int k = 0; k < 4; k++)
        v[k] = components_of(m, kiln_begin_row(&m->field->from, corner[k]));
    sums s = sums_of(r, v, kiln_transfer_source_mass(m->job, tet));
    add_sums(&m->missing[share->group], share->part, &s);
    m->energy[group->part] += share->part * s.energy;
}

/* After, with interpolated velocities: what came, and what the balance moved. */
static void find_missing(motion *m)
{
    kiln_transfer_job *job = m->job;
    for (size_t i = 0; i < job->shares.count; i++)
        if (job->shares.data[i].group != KILN_NONE)
            take_old(m, &job->shares.data[i]);
    for (size_t i = 0; i < job->gains.count; i++) {
        const kiln_transfer_gain *gain = &job->gains.data[i];
        kiln_vec3 r[4], v[4];
        kiln_transfer_new_corners(job, gain->tet, job->groups.data[gain->group].at, r);
        new_velocities(m, gain->tet, v);
        sums s = sums_of(r, v, gain->mass);
        add_sums(&m->missing[gain->group], -1.0, &s);
    }
}

static double energy_of_set(const motion *m)
{
    const kiln_vec3 nowhere[4] = {{0}};
    double energy = 0.0;
    for (size_t i = 0; i < m->set.tets.count; i++) {
        uint32_t tet = m->set.tets.data[i];
        kiln_vec3 v[4];
        new_velocities(m, tet, v);
        energy += sums_of(nowhere, v, kiln_transfer_target_mass(m->job, tet)).energy;
    }
    return energy;
}

static kiln_status log_set(motion *m, kiln_error *error)
{
    kiln_mesh *mesh = m->job->to;
    KILN_TRY(kiln_journal_reserve(mesh, m->set.vertices.count, 0, 0, 0, error));
    for (size_t i = 0; i < m->set.vertices.count; i++)
        kiln_journal_row(mesh, KILN_ON_VERTEX, m->set.vertices.data[i]);
    kiln_transfer_refresh(m->job);
    return KILN_OK;
}

/* A rotation of the set's vertices about their centre, and the inertia that it meets. */
typedef struct lever {
    double mass;
    kiln_vec3 centre; /* relative to set.at */
    kiln_mat3 inverse;
    bool turns; /* there is an inverse */
} lever;

static kiln_vec3 arm(const motion *m, const lever *l, size_t i)
{
    kiln_vec3 r = kiln_v3_sub(m->job->to->x[m->set.vertices.data[i]], m->set.at);
    return kiln_v3_sub(r, l->centre);
}

static lever find_lever(const motion *m)
{
    const kiln_transfer_set *set = &m->set;
    lever l = {0};
    kiln_vec3 sum = {0};
    for (size_t i = 0; i < set->vertices.count; i++) {
        double mass = set->weights.data[i].mass;
        l.mass += mass;
        sum = kiln_v3_madd(sum, mass, arm(m, &l, i));
    }
    if (!(l.mass > 0.0))
        return l;
    l.centre = kiln_v3_scale(sum, 1.0 / l.mass);
    kiln_mat3 inertia = {{{0}}};
    for (size_t i = 0; i < set->vertices.count; i++) {
        kiln_vec3 a = arm(m, &l, i), b = set->weights.data[i].moment;
        double dot = kiln_v3_dot(a, b);
        kiln_mat3 product =
            kiln_m3_columns(kiln_v3_scale(a, -b.x), kiln_v3_scale(a, -b.y), kiln_v3_scale(a, -b.z));
        inertia = kiln_m3_add(inertia, kiln_m3_add(product, kiln_m3_diagonal(dot, dot, dot)));
    }
    double mean = (inertia.m[0][0] + inertia.m[1][1] + inertia.m[2][2]) / 3.0;
    l.turns = mean > 0.0 && kiln_m3_det(inertia) > SINGULAR * mean * mean * mean;
    if (l.turns)
        l.inverse = kiln_m3_inverse(inertia);
    return l;
}

/* The local correction, which takes its part off what is missing. */
static void add_change(const motion *m, sums *missing)
{
    for (size_t i = 0; i < m->set.vertices.count; i++) {
        const kiln_vertex_weight *weight = &m->set.weights.data[i];
        const kiln_idset_slot *slot = kiln_idset_at(m->number, m->set.vertices.data[i]);
        if (slot->epoch != m->number->epoch || !(weight->mass > 0.0))
            continue;
        const double *change = m->change + (size_t)slot->value * m->field->to->components;
        kiln_vec3 step = kiln_v3_scale(components_of(m, change), 1.0 / weight->mass);
        add_velocity(m, i, 1.0, step);
        missing->momentum = kiln_v3_madd(missing->momentum, -weight->mass, step);
        missing->angular = kiln_v3_sub(missing->angular, kiln_v3_cross(weight->moment, step));
    }
}

static void add_rigid(const motion *m, sums *missing)
{
    const kiln_transfer_set *set = &m->set;
    lever l = find_lever(m);
    if (!(l.mass > 0.0))
        return;
    kiln_vec3 step = kiln_v3_scale(missing->momentum, 1.0 / l.mass), turn = {0};
    for (size_t i = 0; i < set->vertices.count; i++)
        missing->angular =
            kiln_v3_sub(missing->angular, kiln_v3_cross(set->weights.data[i].moment, step));
    if (l.turns && is_velocity(m))
        turn = kiln_m3_apply(l.inverse, missing->angular);
    for (size_t i = 0; i < set->vertices.count; i++)
        add_velocity(m, i, 1.0, kiln_v3_add(step, kiln_v3_cross(turn, arm(m, &l, i))));
}

/* Sets of neighbouring groups share tets: one after the other. */
static kiln_status correct(motion *m, uint32_t g, kiln_error *error)
{
    sums *missing = &m->missing[g];
    KILN_TRY(kiln_transfer_set_of_group(m->job, g, &m->set, error));
    KILN_TRY(log_set(m, error));
    double before = energy_of_set(m);
    add_change(m, missing);
    add_rigid(m, missing);
    m->surplus[m->job->groups.data[g].part] += energy_of_set(m) - before - missing->energy;
    return KILN_OK;
}

/* Velocities less what a rigid motion of the set with the same sums has. */
static bool find_rest(motion *m)
{
    const kiln_transfer_set *set = &m->set;
    lever l = find_lever(m);
    if (!l.turns)
        return false;
    kiln_vec3 momentum = {0}, angular = {0};
    for (size_t i = 0; i < set->vertices.count; i++)
        momentum = kiln_v3_madd(momentum, set->weights.data[i].mass,
                                velocity_of(m, set->vertices.data[i]));
    kiln_vec3 mean = kiln_v3_scale(momentum, 1.0 / l.mass);
    for (size_t i = 0; i < set->vertices.count; i++) {
        m->rest.data[i] = kiln_v3_sub(velocity_of(m, set->vertices.data[i]), mean);
        angular = kiln_v3_add(angular, kiln_v3_cross(set->weights.data[i].moment, m->rest.data[i]));
    }
    kiln_vec3 turn = kiln_m3_apply(l.inverse, angular);
    for (size_t i = 0; i < set->vertices.count; i++)
        m->rest.data[i] = kiln_v3_sub(m->rest.data[i], kiln_v3_cross(turn, arm(m, &l, i)));
    return true;
}

/* E(v - s w) = E - s linear + s^2 square / 2. */
static void find_slope(const motion *m, double *linear, double *square)
{
    const kiln_mesh *mesh = m->job->to;
    *linear = *square = 0.0;
    for (size_t i = 0; i < m->set.tets.count; i++) {
        uint32_t tet = m->set.tets.data[i];
        double mass = 0.05 * kiln_transfer_target_mass(m->job, tet);
        kiln_vec3 v[4], w[4], v_sum = {0}, w_sum = {0};
        new_velocities(m, tet, v);
        for (int k = 0; k < 4; k++) {
            uint32_t at = kiln_transfer_set_index(&m->set, mesh->tet[tet].v[k]);
            w[k] = at == KILN_NONE ? kiln_v3(0, 0, 0) : m->rest.data[at];
            v_sum = kiln_v3_add(v_sum, v[k]);
            w_sum = kiln_v3_add(w_sum, w[k]);
            *linear += mass * kiln_v3_dot(v[k], w[k]);
            *square += mass * kiln_v3_norm2(w[k]);
        }
        *linear += mass * kiln_v3_dot(v_sum, w_sum);
        *square += mass * kiln_v3_norm2(w_sum);
    }
}

/* As much of the surplus as the set's own motion has; less than nothing is put to it. */
static kiln_status calm(motion *m, double *surplus, kiln_error *error)
{
    double linear, square;
    KILN_TRY(kiln_array_reserve(m->job->context, &m->rest, m->set.vertices.count, error));
    KILN_TRY(log_set(m, error));
    if (!find_rest(m))
        return KILN_OK;
    find_slope(m, &linear, &square);
    if (!(linear > 0.0) || !(square > 0.0))
        return KILN_OK;
    double root = linear * linear - 2.0 * square * *surplus;
    double part = root > 0.0 ? 2.0 * *surplus / (linear + sqrt(root)) : linear / square;
    part = fmax(-QUICKENED, fmin(part, 1.0));
    for (size_t i = 0; i < m->set.vertices.count; i++)
        add_velocity(m, i, -part, m->rest.data[i]);
    *surplus -= part * linear - 0.5 * part * part * square;
    return KILN_OK;
}

static kiln_status limit_energy(motion *m, kiln_error *error)
{
    kiln_transfer_job *job = m->job;
    for (uint32_t g = 0; g < 2 * job->groups.count; g++) {
        uint32_t group = g % (uint32_t)job->groups.count, part = job->groups.data[group].part;
        bool whole = g >= job->groups.count;
        if (!(m->surplus[part] > ROUNDING * m->energy[part]))
            continue;
        KILN_TRY(whole ? kiln_transfer_set_of_part(job, group, &m->set, error)
                       : kiln_transfer_set_of_group(job, group, &m->set, error));
        KILN_TRY(calm(m, &m->surplus[part], error));
        m->surplus[part] = whole ? 0.0 : m->surplus[part];
    }
    return KILN_OK;
}

static bool is_quickened(const motion *m)
{
    const kiln_transfer_options *options = &m->job->options;
    for (int i = 0; i < 2 && options->lost; i++)
        if (options->quickened[i] && strcmp(m->field->to->name, options->quickened[i]) == 0)
            return true;
    return false;
}

/* What was lost is no surplus; where more was the motion of the part has it. */
static kiln_status quicken(motion *m, kiln_error *error)
{
    const kiln_transfer_job *job = m->job;
    for (uint32_t part = 0; part < job->to->parts.count; part++)
        m->surplus[part] -= job->options.lost[part];
    for (uint32_t g = 0; g < job->groups.count; g++) {
        uint32_t part = job->groups.data[g].part;
        if (!(m->surplus[part] < -ROUNDING * m->energy[part]))
            continue;
        KILN_TRY(kiln_transfer_set_of_part(job, g, &m->set, error));
        KILN_TRY(calm(m, &m->surplus[part], error));
        m->surplus[part] = 0.0;
    }
    return KILN_OK;
}

static kiln_status correct_all(motion *m, kiln_error *error)
{
    find_missing(m);
    for (uint32_t g = 0; g < m->job->groups.count; g++)
        KILN_TRY(correct(m, g, error));
    if (!is_velocity(m) || m->impulse)
        return KILN_OK;
    if (is_quickened(m))
        KILN_TRY(quicken(m, error));
    return limit_energy(m, error);
}

kiln_status kiln_transfer_motion(kiln_transfer_job *job, const kiln_transfer_field *field,
                                 const kiln_field *impulse, const kiln_idset *number,
                                 const double *change, kiln_error *error)
{
    kiln_context *context = job->context;
    size_t groups = job->groups.count, parts = job->to->parts.count;
    size_t bytes = groups * sizeof(sums) + 2 * parts * sizeof(double);
    if (groups == 0)
        return KILN_OK;
    motion m = {job, field, impulse, .number = number, .change = change};
    m.missing = kiln_resize(context, NULL, 0, bytes);
    if (!m.missing)
        return kiln_fail_memory(error, bytes);
    m.surplus = (double *)(m.missing + groups);
    m.energy = m.surplus + parts;
    kiln_status status = KILN_OK;
    uint32_t components = field->to->components;
    for (; m.base < components && status == KILN_OK; m.base += 3) {
        m.width = components - m.base < 3 ? components - m.base : 3;
        memset(m.missing, 0, bytes);
        status = correct_all(&m, error);
    }
    kiln_transfer_set_free(context, &m.set);
    kiln_array_free(context, &m.rest);
    kiln_release(context, m.missing, bytes);
    return status;
}
