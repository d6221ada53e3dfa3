#include "step/liquid.h"

#include "fem/offset.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

/* Weight of what keeps the pressure from alternating (liquids-algorithms 1). Tets that are divided
 * have hardly any: there may be pressures that do nothing even so. */
static const double STABILISATION[] = {
    [KILN_PRESSURE_STABILISED] = 0.1, [KILN_PRESSURE_SUBDIVIDE] = 1e-4, [KILN_PRESSURE_MINI] = 0.0};
/* Of the volume that is missing, in a step; and of the volume itself, at most. */
static const double RECOVERY = 0.25, MOST_RECOVERY = 0.01;
/* Of a unit normal, what may be free of it. */
static const double HELD_ACROSS = 1e-6;
/* Of a density: tets that differ by no more have the same. */
static const double ONE_DENSITY = 1e-6;
static const double SOLVE_TOLERANCE = 1e-3; /* Newton goes on from what is left */
enum { MOST_ITERATIONS = 400 };
/* Viscosity over inertia of a tet, from which the matrix is factored. */
static const double STIFF = 0.3;
/* Of the volume: what closed walls may leave of it in a step without being refused. A tenth of what
 * is missing is asked for in each, so they may take or give 1e-3 altogether. */
static const double MOST_UNKEPT = 1e-4;

static double pressure_value(void *self, const double *x)
{
    kiln_liquid *l = self;
    kiln_ring_volume_find(&l->rings, l->mesh, NULL, x, l->found.data);
    return kiln_vector_dot(l->context, l->p.data, l->found.data, l->rings.rows);
}

static double pressure_delta(void *self, const double *x0, const double *x1)
{
    kiln_liquid *l = self;
    kiln_ring_volume_find(&l->rings, l->mesh, x0, x1, l->found.data);
    return kiln_vector_dot(l->context, l->p.data, l->found.data, l->rings.rows);
}

static void pressure_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_liquid *l = self;
    kiln_ring_volume_add_gradient(&l->rings, l->mesh, x, l->p.data, scale, g);
    if (H && l->exact) /* it has no sign; waves of gravity live in it */
        kiln_ring_volume_add_hessian(&l->rings, l->mesh, x, l->p.data, scale, l->blocks.data, H);
}

static double bubbles_value(void *self, const double *x)
{
    const kiln_liquid *l = self;
    return kiln_bubbles_value(&l->bubbles, l->p.data, NULL, x);
}

static double bubbles_delta(void *self, const double *x0, const double *x1)
{
    const kiln_liquid *l = self;
    return kiln_bubbles_value(&l->bubbles, l->p.data, x0, x1);
}

static void bubbles_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_liquid *l = self;
    kiln_bubbles_add(&l->bubbles, l->p.data, x, scale, l->blocks.data, g, H);
}

static bool pressure_set_exact(void *self, bool exact)
{
    kiln_liquid *l = self;
    l->exact = l->weight.exact = exact;
    return true;
}

static double gravity_value(void *self, const double *x)
{
    kiln_liquid *l = self;
    return kiln_weight_value(&l->weight, NULL, x);
}

static double gravity_delta(void *self, const double *x0, const double *x1)
{
    kiln_liquid *l = self;
    return kiln_weight_value(&l->weight, x0, x1);
}

static void gravity_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_liquid *l = self;
    kiln_weight_add(&l->weight, x, scale, g, H);
}

static kiln_status pressure_attach(void *self, const kiln_bsr *H, kiln_error *error)
{
    kiln_liquid *l = self;
    KILN_TRY(kiln_array_reserve(l->context, &l->blocks, 4 * l->rings.first.data[l->rings.rows] + 1,
                                error));
    kiln_ring_volume_find_blocks(&l->rings, l->mesh, H, l->blocks.data);
    l->weight.blocks = l->blocks.data;
    return KILN_OK;
}

/* e = C (p - p_h) - (R - goal), p_h = -density acceleration . x where there are several densities
 * (fem/weight.h has the others). */
static kiln_equations *linearise(void *self, const double *x, double *e)
{
    kiln_liquid *l = self;
    size_t rows = l->rings.rows;
    kiln_ring_volume_linearise(&l->rings, l->mesh, x);
    kiln_ring_volume_find(&l->rings, l->mesh, NULL, x, l->found.data);
    /* Cannot fail: what it needs was made with the pattern. */
    kiln_bsr_multiply(&l->rings.equations.give, l->p.data, e, NULL);
    kiln_ring_volume_add_hydrostatic(&l->rings, l->mesh, l->give.data, l->density.data,
                                     l->acceleration, x, e);
    for (size_t i = 0; i < rows; i++)
        e[i] -= l->found.data[i] - l->goal.data[i];
    if (l->bubbles.used)
        kiln_bubbles_linearise(&l->bubbles, &l->rings.equations, x, e);
    return &l->rings.equations;
}

static void add_multipliers(void *self, const double *dp)
{
    kiln_liquid *l = self;
    kiln_vector_combine(l->context, 1.0, l->p.data, 1.0, dp, l->p.data, l->rings.rows);
}

static bool is_stiff(void *self)
{
    const kiln_liquid *l = self;
    return l->stiff;
}

static const double *find_amount(void *self)
{
    const kiln_liquid *l = self;
    return l->goal.data;
}

kiln_status kiln_liquid_init(kiln_liquid *liquid, kiln_context *context, kiln_error *error)
{
    *liquid = (kiln_liquid){.context = context,
                            .equality = {.self = liquid,
                                         .linearise = linearise,
                                         .add = add_multipliers,
                                         .stiff = is_stiff,
                                         .amount = find_amount,
                                         .tolerance = SOLVE_TOLERANCE,
                                         .max_iterations = MOST_ITERATIONS,
                                         .most_unkept = MOST_UNKEPT},
                            .pressure = {.name = "pressure",
                                         .self = liquid,
                                         .weight = 1.0,
                                         .value = pressure_value,
                                         .delta = pressure_delta,
                                         .add = pressure_add,
                                         .set_exact = pressure_set_exact,
                                         .attach = pressure_attach},
                            .inner = {.name = "bubbles",
                                      .self = liquid,
                                      .weight = 1.0,
                                      .value = bubbles_value,
                                      .delta = bubbles_delta,
                                      .add = bubbles_add},
                            .gravity = {.name = "weight",
                                        .self = liquid,
                                        .weight = 1.0,
                                        .value = gravity_value,
                                        .delta = gravity_delta,
                                        .add = gravity_add}};
    kiln_ring_volume_init(&liquid->rings, context);
    kiln_bubbles_init(&liquid->bubbles, context);
    return kiln_surface_energy_create(context, &liquid->surface, error);
}

void kiln_liquid_free(kiln_liquid *liquid)
{
    if (!liquid->context)
        return;
    kiln_ring_volume_free(&liquid->rings);
    kiln_bubbles_free(&liquid->bubbles);
    kiln_surface_energy_destroy(liquid->surface);
    kiln_array_free(liquid->context, &liquid->keeps);
    kiln_array_free(liquid->context, &liquid->rule);
    kiln_array_free(liquid->context, &liquid->bubbly);
    kiln_array_free(liquid->context, &liquid->within);
    kiln_array_free(liquid->context, &liquid->tension);
    kiln_array_free(liquid->context, &liquid->dry);
    kiln_array_free(liquid->context, &liquid->gamma);
    kiln_array_free(liquid->context, &liquid->area);
    kiln_array_free(liquid->context, &liquid->wet);
    kiln_array_free(liquid->context, &liquid->pull);
    kiln_array_free(liquid->context, &liquid->above);
    kiln_array_free(liquid->context, &liquid->contact);
    kiln_array_free(liquid->context, &liquid->towards);
    kiln_array_free(liquid->context, &liquid->viscosity);
    kiln_array_free(liquid->context, &liquid->made);
    kiln_array_free(liquid->context, &liquid->give);
    kiln_array_free(liquid->context, &liquid->density);
    kiln_array_free(liquid->context, &liquid->p);
    kiln_array_free(liquid->context, &liquid->goal);
    kiln_array_free(liquid->context, &liquid->found);
    kiln_array_free(liquid->context, &liquid->impulse);
    kiln_array_free(liquid->context, &liquid->change);
    kiln_array_free(liquid->context, &liquid->blocks);
    kiln_array_free(liquid->context, &liquid->parts);
    kiln_array_free(liquid->context, &liquid->uniform);
    kiln_array_free(liquid->context, &liquid->centre);
}

static bool is_liquid(const kiln_mesh *mesh, const kiln_material *materials,
                      const uint32_t *material_of, uint32_t t)
{
    return mesh->tet[t].v[0] != KILN_NONE && materials[material_of[t]].liquid;
}

static kiln_status build_rings(kiln_liquid *l, size_t rows, const kiln_material *materials,
                               const uint32_t *material_of, kiln_error *error)
{
    size_t tets = l->mesh->table[KILN_ON_TET].used;
    const kiln_field *density = kiln_mesh_field(l->mesh, KILN_ON_TET, "density");
    KILN_TRY(kiln_array_reserve(l->context, &l->keeps, tets + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->rule, tets + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->bubbly, tets + 1, error));
    for (uint32_t t = 0; t < tets; t++) {
        bool keeps = is_liquid(l->mesh, materials, material_of, t);
        l->keeps.data[t] = keeps;
        l->rule.data[t] = keeps ? (uint8_t)materials[material_of[t]].pressure : 0;
        l->bubbly.data[t] = l->rule.data[t] == KILN_PRESSURE_MINI;
        l->viscosity.data[t] = keeps ? materials[material_of[t]].viscosity : 0.0;
        l->made.data[t] = !keeps    ? 0.0
                          : density ? kiln_field_value(density, t, 0)
                                    : materials[material_of[t]].density;
    }
    KILN_TRY(kiln_ring_volume_build(&l->rings, l->mesh, rows, l->keeps.data, error));
    return kiln_bubbles_build(&l->bubbles, &l->rings, l->mesh, l->bubbly.data, error);
}

/* Where it wets a solid of its own body: the energy of liquid and solid less that of the solid
 * alone, by Young's law. */
static kiln_status find_within(kiln_liquid *l, const kiln_material *materials,
                               const uint32_t *material_of, kiln_error *error)
{
    const kiln_mesh *mesh = l->mesh;
    l->within.count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4 && is_liquid(mesh, materials, material_of, t); f++) {
            kiln_link link = mesh->tet[t].n[f];
            const kiln_material *other =
                kiln_link_is_surface(link) ? NULL : &materials[material_of[link / 4]];
            if (!other || !other->wettable)
                continue;
            kiln_tense_link face = {kiln_link_to(t, f),
                                    kiln_wet_tension(&materials[material_of[t]], other)};
            KILN_TRY(kiln_array_push(l->context, &l->within, face, error));
        }
    return KILN_OK;
}

static kiln_status build_surface(kiln_liquid *l, const kiln_material *materials,
                                 const uint32_t *material_of, kiln_error *error)
{
    const kiln_mesh *mesh = l->mesh;
    size_t faces = mesh->table[KILN_ON_FACE].used, vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(l->context, &l->tension, faces + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->dry, faces + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->gamma, faces + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->area, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->wet, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->pull, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->above, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->contact, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->towards, vertices + 1, error));
    for (uint32_t f = 0; f < faces; f++) {
        uint32_t at = mesh->face[f].at;
        l->tension.data[f] = at == KILN_NONE ? 0.0 : materials[material_of[at / 4]].surface_tension;
    }
    KILN_TRY(find_within(l, materials, material_of, error));
    return kiln_surface_energy_build(l->surface, mesh, l->tension.data, &l->within, error);
}

kiln_status kiln_liquid_build(kiln_liquid *liquid, const kiln_mesh *mesh, size_t rows,
                              const kiln_material *materials, const uint32_t *material_of,
                              kiln_error *error)
{
    size_t tets = mesh->table[KILN_ON_TET].used;
    liquid->mesh = mesh;
    liquid->used = liquid->mixed = false;
    for (uint32_t t = 0; t < tets; t++)
        if (mesh->tet[t].v[0] != KILN_NONE)
            *(is_liquid(mesh, materials, material_of, t) ? &liquid->used : &liquid->mixed) = true;
    if (!liquid->used)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->viscosity, tets, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->made, tets, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->give, tets, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->density, tets, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->p, rows, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->goal, rows, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->found, rows, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->parts, mesh->parts.count, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->centre, 3 * mesh->parts.count, error));
    KILN_TRY(kiln_array_reserve(liquid->context, &liquid->uniform, tets, error));
    KILN_TRY(build_rings(liquid, rows, materials, material_of, error));
    return build_surface(liquid, materials, material_of, error);
}

static double volume_of(const kiln_tet *tet, const double *x)
{
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = kiln_v3(x[3 * (size_t)tet->v[k]], x[3 * (size_t)tet->v[k] + 1],
                       x[3 * (size_t)tet->v[k] + 2]);
    return kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])),
                       kiln_v3_sub(p[3], p[0])) /
           6.0;
}

/* What each tet has in C: the stiffness of its mass and its viscosity against the pressure. */
static void find_give(kiln_liquid *l, const kiln_liquid_start *start)
{
    const kiln_mesh *mesh = l->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        l->give.data[t] = l->density.data[t] = 0.0;
        if (mesh->tet[t].v[0] == KILN_NONE)
            continue;
        double volume = volume_of(&mesh->tet[t], start->x);
        double length = cbrt(6.0 * sqrt(2.0) * volume);
        double density = start->mass[t] / volume;
        l->density.data[t] = density;
        l->give.data[t] =
            STABILISATION[l->rule.data[t]] * volume /
            (density * length * length / start->scale + l->viscosity.data[t] / start->tau);
    }
}

/* Whether viscosity outweighs inertia within a tet, or there is solid matter too. */
static void find_stiffness(kiln_liquid *l, const kiln_liquid_start *start)
{
    double ratio = 0.0;
    for (uint32_t t = 0; t < l->mesh->table[KILN_ON_TET].used; t++) {
        if (!(l->density.data[t] > 0.0))
            continue;
        double length = cbrt(6.0 * sqrt(2.0) * start->mass[t] / l->density.data[t]);
        ratio = fmax(ratio, l->viscosity.data[t] / start->tau * start->scale /
                                (l->density.data[t] * length * length));
    }
    l->stiff = l->mixed || ratio > STIFF;
}

static void sum_parts(kiln_liquid *l, const kiln_liquid_start *start)
{
    const kiln_mesh *mesh = l->mesh;
    const kiln_offsets offsets = kiln_offsets_of(mesh);
    memset(l->centre.data, 0, 3 * mesh->parts.count * sizeof(double));
    for (size_t p = 0; p < mesh->parts.count; p++)
        l->parts.data[p] = (kiln_liquid_part){.least = INFINITY};
    for (size_t i = 0; i < l->rings.kept.count; i++) {
        uint32_t t = l->rings.kept.data[i], p = mesh->info[t].part;
        kiln_liquid_part *part = &l->parts.data[p];
        double volume = volume_of(&mesh->tet[t], start->x);
        double rest = offsets.rest_volume ? offsets.rest_volume[t] : volume;
        part->volume += volume;
        part->rest += rest;
        part->mass += start->mass[t];
        part->least = fmin(part->least, l->made.data[t]);
        part->most = fmax(part->most, l->made.data[t]);
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++)
                l->centre.data[3 * p + c] +=
                    0.25 * volume * start->x[3 * (size_t)mesh->tet[t].v[k] + c];
    }
    for (size_t p = 0; p < mesh->parts.count; p++)
        for (int c = 0; c < 3 && l->parts.data[p].volume > 0.0; c++)
            l->centre.data[3 * p + c] /= l->parts.data[p].volume;
}

/* The density of a part, so that all of it weighs what its mass does; 0: it is made of several.
 * Mass over rest volume of a tet does not say: remeshing hands each on by a rule of its own. */
static double density_of(const kiln_liquid_part *part)
{
    return part->volume > 0.0 && part->most <= (1.0 + ONE_DENSITY) * part->least
               ? part->mass / part->volume
               : 0.0;
}

static void find_weight(kiln_liquid *l, const kiln_liquid_start *start)
{
    for (size_t i = 0; i < l->rings.kept.count; i++) {
        uint32_t t = l->rings.kept.data[i];
        l->uniform.data[t] = density_of(&l->parts.data[l->mesh->info[t].part]);
        if (l->uniform.data[t] > 0.0)
            l->density.data[t] = 0.0;
    }
    l->weight = (kiln_weight){.rings = &l->rings,
                              .mesh = l->mesh,
                              .mass = start->mass,
                              .density = l->uniform.data,
                              .centre = l->centre.data,
                              .blocks = l->blocks.data,
                              .acceleration = start->acceleration};
}

/* Weight acts on bubbles where it is that of masses: find_weight comes first. */
static void find_bubbles(kiln_liquid *l, const kiln_liquid_start *start)
{
    kiln_bubbles_begin(&l->bubbles, start->centre, start->scale, start->tau);
    for (size_t i = 0; i < l->rings.kept.count; i++) {
        uint32_t t = l->rings.kept.data[i];
        if (l->bubbly.data[t])
            kiln_bubbles_set(&l->bubbles, t, start->mass[t], l->viscosity.data[t], start->x,
                             l->uniform.data[t] > 0.0 ? kiln_v3(0, 0, 0) : start->acceleration);
    }
    kiln_bubbles_add_give(&l->bubbles, &l->rings.equations.give);
}

/* Whether a face cannot leave its plane: all of its corners are held across it. */
static bool is_wall(const kiln_liquid *l, const kiln_liquid_start *start, uint32_t face)
{
    uint32_t at = l->mesh->face[face].at, v[3];
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++) {
        v[k] = l->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        if (!start->given->held[v[k]])
            return false;
        const double *x = start->x + 3 * (size_t)v[k];
        p[k] = kiln_v3(x[0], x[1], x[2]);
    }
    kiln_vec3 n =
        kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    for (int k = 0; k < 3; k++) {
        const kiln_held held = kiln_constraints_held(start->given, v[k]);
        if (kiln_v3_norm(kiln_held_free_part(&held, n)) > HELD_ACROSS)
            return false;
    }
    return true;
}

static void find_tension(kiln_liquid *l, const kiln_liquid_start *start)
{
    const kiln_field *field = kiln_mesh_field(l->mesh, KILN_ON_FACE, KILN_FIELD_THROUGH);
    const uint32_t *through = field ? (const uint32_t *)(const void *)field->data : NULL;
    for (uint32_t f = 0; f < l->mesh->table[KILN_ON_FACE].used; f++) {
        bool taut = l->tension.data[f] != 0.0 && !(through && through[f]) && !is_wall(l, start, f);
        l->gamma.data[f] = l->dry.data[f] = taut ? l->tension.data[f] : 0.0;
    }
    kiln_surface_energy_set(l->surface, l->gamma.data);
}

/* What gravity makes of the pressure at a vertex, where its part has one density. */
static double hydrostatic(const kiln_liquid *l, uint32_t vertex, const double *x)
{
    if (l->rings.first.data[vertex] == l->rings.first.data[vertex + 1])
        return 0.0;
    uint32_t part = l->mesh->info[l->rings.tet.data[l->rings.first.data[vertex]] / 4].part;
    const double *c = l->centre.data + 3 * part, *at = x + 3 * (size_t)vertex;
    return density_of(&l->parts.data[part]) *
           kiln_v3_dot(l->acceleration, kiln_v3(at[0] - c[0], at[1] - c[1], at[2] - c[2]));
}

/* What a vertex has, and a share of what its part has lost: to give each vertex back what it has
 * lost itself would turn the noise of remeshing into motion (a drop crumpled in 60 ms). Steps that
 * are shorter than usual bring back less: as fast as before, not ever faster. */
static void find_goals(kiln_liquid *l, const double *x, double recover)
{
    kiln_ring_volume_find(&l->rings, l->mesh, NULL, x, l->goal.data);
    for (size_t i = 0; i < l->rings.rows; i++) {
        if (l->rings.first.data[i] == l->rings.first.data[i + 1])
            continue;
        uint32_t t = l->rings.tet.data[l->rings.first.data[i]] / 4;
        const kiln_liquid_part *part = &l->parts.data[l->mesh->info[t].part];
        double missing = recover * RECOVERY * (part->rest / part->volume - 1.0);
        l->goal.data[i] *= 1.0 + fmax(-MOST_RECOVERY, fmin(MOST_RECOVERY, missing));
    }
}

void kiln_liquid_begin(kiln_liquid *liquid, const kiln_liquid_start *start)
{
    const kiln_field *field =
        kiln_mesh_field(liquid->mesh, KILN_ON_VERTEX, KILN_FIELD_LIQUID_PRESSURE);
    const double *pressure = (const double *)(const void *)field->data;
    uint32_t vertices = liquid->mesh->table[KILN_ON_VERTEX].used;
    liquid->acceleration = start->acceleration;
    for (size_t i = 0; i < liquid->rings.kept.count && start->viscosity; i++) {
        uint32_t t = liquid->rings.kept.data[i];
        liquid->viscosity.data[t] = start->viscosity[t];
    }
    sum_parts(liquid, start);
    find_give(liquid, start);
    find_stiffness(liquid, start);
    find_weight(liquid, start);
    find_tension(liquid, start);
    kiln_liquid_begin_wet(liquid, start->x);
    for (uint32_t i = 0; i < liquid->rings.rows; i++)
        liquid->p.data[i] = i < vertices ? hydrostatic(liquid, i, start->x) - pressure[i] : 0.0;
    kiln_ring_volume_stabilise(&liquid->rings, liquid->give.data);
    if (liquid->bubbles.used)
        find_bubbles(liquid, start);
    find_goals(liquid, start->x, start->recover);
}

void kiln_liquid_keep(const kiln_liquid *liquid, const double *x, double *pressure)
{
    for (uint32_t i = 0; i < liquid->mesh->table[KILN_ON_VERTEX].used; i++)
        pressure[i] = hydrostatic(liquid, i, x) - liquid->p.data[i];
}

kiln_status kiln_liquid_give_back(kiln_liquid *l, const double *x, kiln_mass *mass,
                                  const kiln_constraints *given, double *v, kiln_error *error)
{
    size_t size = 3 * l->rings.rows;
    if (!l->bubbles.used)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(l->context, &l->impulse, size, error));
    KILN_TRY(kiln_array_reserve(l->context, &l->change, size, error));
    memset(l->impulse.data, 0, size * sizeof(double));
    memset(l->change.data, 0, size * sizeof(double));
    kiln_bubbles_add_momentum(&l->bubbles, l->p.data, x, l->impulse.data);
    KILN_TRY(kiln_mass_follow(mass, given, l->change.data, l->impulse.data, error));
    kiln_vector_combine(l->context, 1.0, v, 1.0, l->change.data, v, 3 * given->rows);
    return KILN_OK;
}
