#include "step/relax.h"

#include "fem/offset.h"
#include "geom/sym3.h"
#include "step/solid_impl.h"
#include "topology/crossing.h"

#include <math.h>
#include <string.h>

enum { MOST_HALVINGS = 8 };

/* The surface is searched for crossings when vertices have moved by this part of the model since
 * the last time. */
#define LOOK_AGAIN 0.05
#define HALF_WAY   0.5
#define FLATTEST   0.02

typedef struct part_frame {
    bool relaxes;
    uint32_t pin[3]; /* vertices far apart, on which rigid motions are held */
    double reach[3]; /* how far apart */
    double mass;
    kiln_vec3 before, after; /* centres of mass */
    kiln_mat3 moments;       /* sum of (u - before) (u - before)', by mass */
    kiln_mat3 mixed;         /* sum of (goal - after) (u - before)', likewise */
    kiln_mat3 turn;          /* rotation to the relaxed place */
} part_frame;

struct kiln_relax {
    kiln_solid *solid;
    kiln_constraints held;
    KILN_ARRAY_OF(part_frame)
    parts;
    KILN_ARRAY_OF(kiln_vec3)
    u, goal;        /* [vertex slot] */
    bool shortened; /* in this run */
};

kiln_relax_options kiln_relax_default_options(void)
{
    return (kiln_relax_options){.tolerance = 0.1, .max_iterations = 1};
}

kiln_status kiln_relax_create(kiln_solid *solid, kiln_relax **out, kiln_error *error)
{
    kiln_relax *relax = kiln_resize(solid->context, NULL, 0, sizeof *relax);
    if (!relax)
        return kiln_fail_memory(error, sizeof *relax);
    *relax = (kiln_relax){.solid = solid};
    kiln_constraints_init(&relax->held, solid->context);
    *out = relax;
    return KILN_OK;
}

void kiln_relax_destroy(kiln_relax *relax)
{
    if (!relax)
        return;
    kiln_context *context = relax->solid->context;
    kiln_constraints_free(&relax->held);
    kiln_array_free(context, &relax->parts);
    kiln_array_free(context, &relax->u);
    kiln_array_free(context, &relax->goal);
    kiln_release(context, relax, sizeof *relax);
}

static part_frame *part_of(const kiln_relax *relax, uint32_t vertex)
{
    const kiln_mesh *mesh = relax->solid->mesh;
    return &relax->parts.data[mesh->info[mesh->vertex[vertex].tet].part];
}

/* The part of a vertex that relaxes, NULL of all others. */
static part_frame *relaxing(const kiln_relax *relax, uint32_t vertex)
{
    if (!kiln_vertex_live(relax->solid->mesh, vertex))
        return NULL;
    part_frame *part = part_of(relax, vertex);
    return part->relaxes ? part : NULL;
}

static kiln_status list_parts(kiln_relax *relax, const uint8_t *flowed, size_t *count,
                              kiln_error *error)
{
    kiln_solid *s = relax->solid;
    const kiln_mesh *mesh = s->mesh;
    KILN_TRY(kiln_array_reserve(s->context, &relax->parts, mesh->parts.count, error));
    memset(relax->parts.data, 0, mesh->parts.count * sizeof *relax->parts.data);
    *count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && flowed[t]) {
            part_frame *part = &relax->parts.data[mesh->info[t].part];
            *count += !part->relaxes;
            part->relaxes = true;
        }
    return KILN_OK;
}

/* Sums of the lumped masses. */
static void find_centres(kiln_relax *relax)
{
    const kiln_mesh *mesh = relax->solid->mesh;
    const double *mass = kiln_mass_lumped(relax->solid->mass);
    for (uint32_t v = 0; v < relax->solid->rows; v++) {
        part_frame *part = relaxing(relax, v);
        if (!part)
            continue;
        part->mass += mass[v];
        part->before = kiln_v3_add(part->before, kiln_v3_scale(mesh->u[v], mass[v]));
    }
    for (size_t p = 0; p < mesh->parts.count; p++)
        if (relax->parts.data[p].relaxes)
            relax->parts.data[p].before =
                kiln_v3_scale(relax->parts.data[p].before, 1.0 / relax->parts.data[p].mass);
}

/* Distance of a vertex from what is pinned already: the centre, a point, a line. */
static double distance_to_pins(const kiln_mesh *mesh, const part_frame *part, int pins, uint32_t v)
{
    if (pins == 0)
        return kiln_v3_norm(kiln_v3_sub(mesh->u[v], part->before));
    kiln_vec3 away = kiln_v3_sub(mesh->u[v], mesh->u[part->pin[0]]);
    if (pins == 1)
        return kiln_v3_norm(away);
    kiln_vec3 line = kiln_v3_sub(mesh->u[part->pin[1]], mesh->u[part->pin[0]]);
    return kiln_v3_norm(kiln_v3_cross(away, line)) / part->reach[1];
}

static void choose_pins(kiln_relax *relax)
{
    for (int pins = 0; pins < 3; pins++)
        for (uint32_t v = 0; v < relax->solid->rows; v++) {
            part_frame *part = relaxing(relax, v);
            if (!part)
                continue;
            double distance = distance_to_pins(relax->solid->mesh, part, pins, v);
            if (distance > part->reach[pins]) {
                part->reach[pins] = distance;
                part->pin[pins] = v;
            }
        }
}

/* Right-handed, orthonormal, the first along `first`. */
static kiln_mat3 axes_along(kiln_vec3 first)
{
    kiln_vec3 a = kiln_v3_normalize(first);
    kiln_vec3 other = fabs(a.x) < 0.6   ? kiln_v3(1, 0, 0)
                      : fabs(a.y) < 0.6 ? kiln_v3(0, 1, 0)
                                        : kiln_v3(0, 0, 1);
    kiln_vec3 b = kiln_v3_normalize(kiln_v3_cross(a, other)), c = kiln_v3_cross(a, b);
    return (kiln_mat3){{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
}

/* Six components of three vertices: the first not at all, the second only towards and away from it,
 * the third only in the plane of the three. */
static kiln_status hold_pin(kiln_relax *relax, const part_frame *part, uint32_t v,
                            kiln_error *error)
{
    const kiln_vec3 *u = relax->solid->mesh->u;
    kiln_vec3 a = u[part->pin[0]], b = u[part->pin[1]], c = u[part->pin[2]];
    kiln_vec3 line = kiln_v3_sub(b, a);
    if (v == part->pin[0]) {
        relax->held.held[v] = 7;
        return KILN_OK;
    }
    bool second = v == part->pin[1];
    relax->held.held[v] = second ? 6 : 1;
    kiln_constraint_frame frame = {
        v, axes_along(second ? line : kiln_v3_cross(line, kiln_v3_sub(c, a)))};
    return kiln_array_push(relax->solid->context, &relax->held.frames, frame, error);
}

static kiln_status hold(kiln_relax *relax, kiln_error *error)
{
    kiln_solid *s = relax->solid;
    KILN_TRY(kiln_constraints_reset(&relax->held, s->rows, error));
    for (uint32_t v = 0; v < s->rows; v++) {
        const part_frame *part = relaxing(relax, v);
        relax->held.target[v] = s->mesh->u[v];
        if (!part)
            relax->held.held[v] = 7;
        else if (v == part->pin[0] || v == part->pin[1] || v == part->pin[2])
            KILN_TRY(hold_pin(relax, part, v, error));
    }
    return KILN_OK;
}

/* A term that only keeps every tet from being inverted: where one would become too flat, half of
 * the way to that, so that what is left has a shape to be repaired. Too flat is measured by the
 * rest volume: half of what there is would be nothing after fifty steps. */
static double nothing(void *self, const double *x)
{
    (void)self, (void)x;
    return 0.0;
}
static void add_nothing(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    (void)self, (void)x, (void)scale, (void)g, (void)H;
}
static double keep_positive(void *self, const double *x, const double *dx)
{
    kiln_relax *relax = self;
    double step = kiln_elements_positive_step(relax->solid->elements, FLATTEST, x, dx);
    if (step >= 1.0)
        return 1.0;
    relax->shortened = true;
    return step * (HALF_WAY / KILN_FLAT_MARGIN);
}

static kiln_status minimise(kiln_relax *relax, const kiln_relax_options *options,
                            kiln_relax_report *report, kiln_error *error)
{
    kiln_solid *s = relax->solid;
    kiln_term guard = {.name = "positive",
                       .self = relax,
                       .value = nothing,
                       .add = add_nothing,
                       .max_step = keep_positive};
    kiln_term *terms[3] = {kiln_elements_term(s->elements), &guard};
    size_t count = 2;
    if (kiln_nodal_pressure_is_used(s->pressure))
        terms[count++] = kiln_nodal_pressure_term(s->pressure);
    kiln_newton_options newton = {.tolerance = s->options.newton.tolerance > 0.0
                                                   ? s->options.newton.tolerance
                                                   : kiln_newton_default_options().tolerance,
                                  .length = s->length,
                                  .relative = options->tolerance,
                                  .max_iterations = options->max_iterations,
                                  .line_search = true};
    kiln_newton_report done;
    KILN_TRY(kiln_newton_minimise(s->newton, &newton, terms, count, &relax->held,
                                  &relax->goal.data[0].x, &done, error));
    /* Wherever it stopped the energy is lower, and that is all that is asked for. */
    report->iterations = done.iterations;
    return KILN_OK;
}

static void add_outer(kiln_mat3 *sum, kiln_vec3 a, kiln_vec3 b, double factor)
{
    const double l[3] = {a.x, a.y, a.z}, r[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum->m[i][k] += factor * l[i] * r[k];
}

/* Where a part went on average is the affine map A with the least squares by mass of
 * goal - after = A (u - before); its rotation is taken out again. (The rotation that fits best
 * would not do: a mere stretch of a long part looks to it like a turn.) */
static void find_turns(kiln_relax *relax)
{
    const kiln_mesh *mesh = relax->solid->mesh;
    const double *mass = kiln_mass_lumped(relax->solid->mass);
    for (uint32_t v = 0; v < relax->solid->rows; v++) {
        part_frame *part = relaxing(relax, v);
        if (part)
            part->after =
                kiln_v3_add(part->after, kiln_v3_scale(relax->goal.data[v], mass[v] / part->mass));
    }
    for (uint32_t v = 0; v < relax->solid->rows; v++) {
        part_frame *part = relaxing(relax, v);
        if (!part)
            continue;
        kiln_vec3 to = kiln_v3_sub(relax->goal.data[v], part->after);
        kiln_vec3 from = kiln_v3_sub(mesh->u[v], part->before);
        add_outer(&part->moments, from, from, mass[v] / part->mass);
        add_outer(&part->mixed, to, from, mass[v] / part->mass);
    }
    for (size_t p = 0; p < mesh->parts.count; p++) {
        part_frame *part = &relax->parts.data[p];
        if (part->relaxes) {
            kiln_mat3 A = kiln_m3_mul(part->mixed, kiln_m3_inverse(part->moments));
            part->turn = kiln_polar3_decompose(A).rotation;
        }
    }
}

static void turn_back(kiln_relax *relax)
{
    find_turns(relax);
    for (uint32_t v = 0; v < relax->solid->rows; v++) {
        const part_frame *part = relaxing(relax, v);
        if (!part)
            continue;
        kiln_vec3 away = kiln_v3_sub(relax->goal.data[v], part->after);
        relax->goal.data[v] =
            kiln_v3_add(part->before, kiln_m3_apply(kiln_m3_transpose(part->turn), away));
    }
}

static double farthest(const kiln_relax *relax)
{
    double most = 0.0;
    for (uint32_t v = 0; v < relax->solid->rows; v++)
        if (relaxing(relax, v))
            most =
                fmax(most, kiln_v3_norm2(kiln_v3_sub(relax->u.data[v], relax->solid->mesh->u[v])));
    return sqrt(most);
}

/* To the goal, or where rounding made a tet of it flat, to a part of the way. */
static kiln_status go(kiln_relax *relax, kiln_relax_report *report, kiln_error *error)
{
    kiln_solid *s = relax->solid;
    double part = 1.0;
    for (int i = 0; i < MOST_HALVINGS; i++, part *= 0.5) {
        for (uint32_t v = 0; v < s->rows; v++)
            relax->u.data[v] = part == 1.0 ? relax->goal.data[v]
                                           : kiln_v3_lerp(s->mesh->u[v], relax->goal.data[v], part);
        report->moved = farthest(relax);
        kiln_status status = kiln_offsets_follow(s->mesh, relax->u.data, error);
        if (status != KILN_ERR_NUMERIC)
            return status;
        relax->shortened = true;
    }
    report->moved = 0.0;
    return KILN_OK;
}

static kiln_status look_for_overlap(const kiln_relax *relax, double *moved,
                                    kiln_relax_report *report, kiln_error *error)
{
    if (!moved || (*moved += report->moved) < LOOK_AGAIN * relax->solid->length)
        return KILN_OK;
    *moved = 0.0;
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(relax->solid->mesh, KILN_SPACE_MATERIAL, &crossing, error));
    report->overlaps = crossing.pairs > 0;
    return KILN_OK;
}

static kiln_status make_room(kiln_relax *relax, kiln_error *error)
{
    kiln_solid *s = relax->solid;
    KILN_TRY(kiln_array_reserve(s->context, &relax->u, s->rows, error));
    KILN_TRY(kiln_array_reserve(s->context, &relax->goal, s->rows, error));
    memcpy(relax->goal.data, s->mesh->u, s->rows * sizeof *relax->goal.data);
    return KILN_OK;
}

kiln_status kiln_relax_run(kiln_relax *relax, const kiln_relax_options *options,
                           const uint8_t *flowed, kiln_relax_report *report, kiln_error *error)
{
    kiln_solid *s = relax->solid;
    *report = (kiln_relax_report){0};
    relax->shortened = false;
    KILN_TRY(list_parts(relax, flowed, &report->parts, error));
    if (report->parts == 0)
        return KILN_OK;
    KILN_TRY(make_room(relax, error));
    find_centres(relax);
    choose_pins(relax);
    KILN_TRY(hold(relax, error));
    report->energy_before = kiln_solid_elastic_energy(s, &s->mesh->u[0].x);
    KILN_TRY(minimise(relax, options, report, error));
    turn_back(relax);
    KILN_TRY(go(relax, report, error));
    KILN_TRY(kiln_solid_reform(s, error));
    report->energy_after = kiln_solid_elastic_energy(s, &s->mesh->u[0].x);
    report->shortened = relax->shortened;
    return look_for_overlap(relax, options->moved, report, error);
}
