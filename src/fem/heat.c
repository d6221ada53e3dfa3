#include "fem/heat.h"

#include "base/parallel.h"
#include "fem/vertex_stars.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 512, MOST = 60 };
/* Newton ends when no vertex is off by more than this part of the heat that passes through it. */
static const double SETTLED = 1e-13;
/* SDIRK of order 2: 1 - 1/sqrt(2). */
static const double GAMMA = 0.29289321881345247560;

/* Pairs of corners, as kiln_edge_ends has them. */
enum { EDGES = 6 };

typedef struct heat_link {
    uint32_t v[4];
    double weight[4], conductance;
} heat_link;

struct kiln_heat {
    kiln_context *context;
    const kiln_mesh *mesh;
    kiln_solver *solver;
    kiln_bsr matrix;
    kiln_vertex_stars stars;
    kiln_f64_array passes;       /* [tet][6] c of its edges, W/K */
    kiln_f64_array film, supply; /* [row] W/K, W */
    kiln_f64_array led;          /* [row][2] K, where held */
    KILN_ARRAY_OF(uint8_t)
    held;
    KILN_ARRAY_OF(heat_link)
    links;
    kiln_u32_array linked; /* [link][4] */
    kiln_f64_array begin;  /* [row] heat, J, at the begin of the step; */
    kiln_f64_array given;  /* [row] J, the right side of a stage; */
    kiln_f64_array now;    /* [row] K; */
    kiln_f64_array rest;   /* [row] J that is missing; then by how much T changes */
    kiln_f64_array chunk;  /* [chunk][2] */
};

double kiln_thermal_melted(const kiln_thermal *thermal, double temperature)
{
    return fmin(fmax(0.5 + 0.5 * (temperature - thermal->melts) / thermal->range, 0.0), 1.0);
}

/* Whether its heat is another function of temperature than a straight line. */
static bool bends(const kiln_thermal *thermal)
{
    return thermal->latent > 0.0 || thermal->more != 0.0;
}

double kiln_thermal_enthalpy(const kiln_thermal *thermal, double temperature)
{
    if (!bends(thermal))
        return thermal->capacity * temperature;
    double f = kiln_thermal_melted(thermal, temperature);
    double beyond = fmax(temperature - (thermal->melts + thermal->range), 0.0);
    return thermal->capacity * temperature + thermal->more * (thermal->range * f * f + beyond) +
           thermal->latent * f;
}

/* Within the range: more range f^2 + (2 range c + latent) f = e - e(low). */
double kiln_thermal_temperature(const kiln_thermal *thermal, double enthalpy)
{
    double low = thermal->melts - thermal->range, high = thermal->melts + thermal->range;
    double q = enthalpy - thermal->capacity * low;
    if (!bends(thermal) || q <= 0.0)
        return enthalpy / thermal->capacity;
    double beyond = enthalpy - kiln_thermal_enthalpy(thermal, high);
    if (beyond >= 0.0)
        return high + beyond / (thermal->capacity + thermal->more);
    double b = 2.0 * thermal->range * thermal->capacity + thermal->latent;
    double f = 2.0 * q / (b + sqrt(b * b + 4.0 * thermal->more * thermal->range * q));
    return low + 2.0 * thermal->range * f;
}

/* Its slope, from the side to which `up` looks where it has a bend. */
static double slope_of(const kiln_thermal *thermal, double temperature, bool up)
{
    if (!bends(thermal))
        return thermal->capacity;
    double low = thermal->melts - thermal->range, high = thermal->melts + thermal->range;
    bool melts =
        up ? temperature >= low && temperature < high : temperature > low && temperature <= high;
    return thermal->capacity + thermal->more * kiln_thermal_melted(thermal, temperature) +
           (melts ? thermal->latent / (high - low) : 0.0);
}

kiln_status kiln_heat_create(kiln_context *context, const kiln_solver_options *options,
                             kiln_heat **out, kiln_error *error)
{
    kiln_heat *heat = kiln_resize(context, NULL, 0, sizeof *heat);
    *out = heat;
    if (!heat)
        return kiln_fail_memory(error, sizeof *heat);
    *heat = (kiln_heat){.context = context};
    kiln_bsr_init_blocks(&heat->matrix, context, 1);
    kiln_status status = kiln_solver_create(context, options, &heat->solver, error);
    if (status != KILN_OK) {
        kiln_heat_destroy(heat);
        *out = NULL;
    }
    return status;
}

void kiln_heat_destroy(kiln_heat *heat)
{
    if (!heat)
        return;
    kiln_context *context = heat->context;
    kiln_solver_destroy(heat->solver);
    kiln_bsr_free(&heat->matrix);
    kiln_vertex_stars_free(&heat->stars, context);
    kiln_array_free(context, &heat->passes);
    kiln_array_free(context, &heat->film);
    kiln_array_free(context, &heat->supply);
    kiln_array_free(context, &heat->led);
    kiln_array_free(context, &heat->held);
    kiln_array_free(context, &heat->links);
    kiln_array_free(context, &heat->linked);
    kiln_array_free(context, &heat->begin);
    kiln_array_free(context, &heat->given);
    kiln_array_free(context, &heat->now);
    kiln_array_free(context, &heat->rest);
    kiln_array_free(context, &heat->chunk);
    kiln_release(context, heat, sizeof *heat);
}

static kiln_status make_room(kiln_heat *heat, kiln_error *error)
{
    kiln_context *context = heat->context;
    size_t rows = heat->stars.rows, tets = heat->stars.tets;
    KILN_TRY(kiln_array_reserve(context, &heat->passes, EDGES * tets, error));
    KILN_TRY(kiln_array_reserve(context, &heat->film, rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->supply, rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->led, 2 * rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->held, rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->begin, rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->given, rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->now, rows, error));
    KILN_TRY(kiln_array_reserve(context, &heat->rest, rows, error));
    return kiln_array_reserve(context, &heat->chunk, 2 * kiln_chunk_count(rows, GRAIN) + 2, error);
}

kiln_status kiln_heat_build(kiln_heat *heat, const kiln_mesh *mesh, kiln_error *error)
{
    heat->mesh = mesh;
    KILN_TRY(kiln_vertex_stars_build(&heat->stars, mesh, error));
    KILN_TRY(make_room(heat, error));
    kiln_heat_clear(heat);
    return KILN_OK;
}

void kiln_heat_clear(kiln_heat *heat)
{
    memset(heat->film.data, 0, heat->stars.rows * sizeof(double));
    memset(heat->supply.data, 0, heat->stars.rows * sizeof(double));
    memset(heat->held.data, 0, heat->stars.rows);
    heat->links.count = heat->linked.count = 0;
}

void kiln_heat_supply(kiln_heat *heat, uint32_t vertex, double watts)
{
    heat->supply.data[vertex] += watts;
}

void kiln_heat_film(kiln_heat *heat, uint32_t vertex, double conductance, double air)
{
    heat->film.data[vertex] += conductance;
    heat->supply.data[vertex] += conductance * air;
}

void kiln_heat_hold(kiln_heat *heat, uint32_t vertex, double from, double to)
{
    heat->held.data[vertex] = 1;
    heat->led.data[2 * (size_t)vertex] = from;
    heat->led.data[2 * (size_t)vertex + 1] = to;
}

kiln_status kiln_heat_link(kiln_heat *heat, const uint32_t vertex[4], const double weight[4],
                           double conductance, kiln_error *error)
{
    heat_link link = {.conductance = conductance};
    memcpy(link.v, vertex, sizeof link.v);
    memcpy(link.weight, weight, sizeof link.weight);
    KILN_TRY(kiln_array_push(heat->context, &heat->links, link, error));
    for (int k = 0; k < 4; k++)
        KILN_TRY(kiln_array_push(heat->context, &heat->linked, vertex[k], error));
    return KILN_OK;
}

/* --- loops --- */

typedef struct heat_loop {
    kiln_heat *heat;
    const kiln_heat_matter *matter;
    const double *temperature;
    double tau;
    double *out;
} heat_loop;

/* c of the edges of a tet in the world, from its inward face normals (2 area g V = -n / 3 ...):
 * V g_a . g_b = n_a . n_b / (36 V), n the vectors of twice the area. */
static void pass_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const heat_loop *l = user;
    const kiln_mesh *mesh = l->heat->mesh;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        double *c = &l->heat->passes.data[EDGES * (size_t)t];
        memset(c, 0, EDGES * sizeof *c);
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 p[4] = {mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]};
        double volume = fabs(kiln_tet_volume(p[0], p[1], p[2], p[3]));
        kiln_vec3 n[4];
        for (int k = 0; k < 4; k++) {
            const uint8_t *f = kiln_face_corner[k];
            n[k] = kiln_v3_cross(kiln_v3_sub(p[f[1]], p[f[0]]), kiln_v3_sub(p[f[2]], p[f[0]]));
        }
        double k = l->matter->conductivity
                       ? l->matter->conductivity[t]
                       : l->matter->thermal[l->matter->material[t]].conductivity;
        for (int e = 0; e < EDGES && volume > 0.0; e++)
            c[e] = -k * kiln_v3_dot(n[kiln_edge_ends[e][0]], n[kiln_edge_ends[e][1]]) /
                   (36.0 * volume);
    }
}

/* Of one vertex. */
static double heat_at(const heat_loop *l, size_t row, double temperature)
{
    const kiln_heat *heat = l->heat;
    double sum = 0.0;
    for (uint64_t s = heat->stars.first.data[row]; s < heat->stars.first.data[row + 1]; s++) {
        uint32_t t = heat->stars.tet.data[s] / 4;
        sum += 0.25 * l->matter->mass[t] *
               kiln_thermal_enthalpy(&l->matter->thermal[l->matter->material[t]], temperature);
    }
    return sum;
}

static double slope_at(const heat_loop *l, size_t row, double temperature, bool up)
{
    const kiln_heat *heat = l->heat;
    double sum = 0.0;
    for (uint64_t s = heat->stars.first.data[row]; s < heat->stars.first.data[row + 1]; s++) {
        uint32_t t = heat->stars.tet.data[s] / 4;
        sum += 0.25 * l->matter->mass[t] *
               slope_of(&l->matter->thermal[l->matter->material[t]], temperature, up);
    }
    return sum;
}

/* What flows to a vertex through its tets, W. */
static double flow_to(const heat_loop *l, size_t row)
{
    const kiln_heat *heat = l->heat;
    const double *T = l->temperature;
    double sum = 0.0;
    for (uint64_t s = heat->stars.first.data[row]; s < heat->stars.first.data[row + 1]; s++) {
        uint32_t t = heat->stars.tet.data[s] / 4, a = heat->stars.tet.data[s] % 4;
        for (uint32_t b = 0; b < 4; b++)
            if (b != a)
                sum += heat->passes.data[EDGES * (size_t)t + kiln_edge_of[a][b]] *
                       (T[heat->stars.corner.data[4 * (size_t)t + b]] - T[row]);
    }
    return sum;
}

static void stored_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const heat_loop *l = user;
    double sum = 0.0;
    for (size_t i = begin; i < end; i++) {
        double E = heat_at(l, i, l->temperature[i]);
        sum += E;
        if (l->out)
            l->out[i] = E;
    }
    l->heat->chunk.data[chunk] = sum;
}

/* All of it, and of each vertex unless `out` is NULL. */
static double find_stored(const kiln_heat *heat, const kiln_heat_matter *matter,
                          const double *temperature, double *out)
{
    heat_loop l = {
        .heat = (kiln_heat *)heat, .matter = matter, .temperature = temperature, .out = out};
    kiln_parallel_for(heat->context, heat->stars.rows, GRAIN, stored_chunk, &l);
    double sum = 0.0;
    for (size_t c = 0; c < kiln_chunk_count(heat->stars.rows, GRAIN); c++)
        sum += heat->chunk.data[c];
    return sum;
}

double kiln_heat_stored(const kiln_heat *heat, const kiln_heat_matter *matter,
                        const double *temperature)
{
    return find_stored(heat, matter, temperature, NULL);
}

/* --- a stage --- */

/* What is missing at each vertex, without links, and how large what passes through it is. */
static void rest_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const heat_loop *l = user;
    const kiln_heat *heat = l->heat;
    for (size_t i = begin; i < end; i++) {
        double T = l->temperature[i];
        l->out[i] = heat->given.data[i] - heat_at(l, i, T) +
                    l->tau * (flow_to(l, i) - heat->film.data[i] * T);
    }
}

static double link_flow(const heat_link *link, const double *temperature)
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += link->weight[k] * temperature[link->v[k]];
    return link->conductance * sum;
}

static void find_rest(const heat_loop *l)
{
    const kiln_heat *heat = l->heat;
    kiln_parallel_for(heat->context, heat->stars.rows, GRAIN, rest_chunk, (void *)l);
    for (size_t i = 0; i < heat->links.count; i++) {
        const heat_link *link = &heat->links.data[i];
        double flow = l->tau * link_flow(link, l->temperature);
        for (int k = 0; k < 4; k++)
            l->out[link->v[k]] -= link->weight[k] * flow;
    }
    for (size_t i = 0; i < heat->stars.rows; i++)
        if (heat->held.data[i])
            l->out[i] = 0.0;
}

/* Row by row, so that each is written by one chunk and in one order. Held rows are unit rows. */
static void matrix_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const heat_loop *l = user;
    kiln_heat *heat = l->heat;
    kiln_bsr *H = &heat->matrix;
    for (size_t i = begin; i < end; i++) {
        double *diagonal = &H->value[H->start[i]];
        if (heat->held.data[i] || heat->stars.first.data[i] == heat->stars.first.data[i + 1]) {
            *diagonal = 1.0;
            continue;
        }
        *diagonal =
            slope_at(l, i, l->temperature[i], l->out[i] > 0.0) + l->tau * heat->film.data[i];
        for (uint64_t s = heat->stars.first.data[i]; s < heat->stars.first.data[i + 1]; s++) {
            uint32_t t = heat->stars.tet.data[s] / 4, a = heat->stars.tet.data[s] % 4;
            for (uint32_t b = 0; b < 4; b++) {
                if (b == a)
                    continue;
                uint32_t j = heat->stars.corner.data[4 * (size_t)t + b];
                double c = l->tau * heat->passes.data[EDGES * (size_t)t + kiln_edge_of[a][b]];
                *diagonal += c;
                if (j > i && !heat->held.data[j])
                    H->value[kiln_bsr_find(H, (uint32_t)i, j)] -= c;
            }
        }
    }
}

static void add_links(const heat_loop *l)
{
    kiln_heat *heat = l->heat;
    for (size_t i = 0; i < heat->links.count; i++) {
        const heat_link *link = &heat->links.data[i];
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                uint32_t r = link->v[a], c = link->v[b];
                if (c < r || heat->held.data[r] || heat->held.data[c])
                    continue;
                heat->matrix.value[kiln_bsr_find(&heat->matrix, r, c)] +=
                    l->tau * link->conductance * link->weight[a] * link->weight[b];
            }
    }
}

/* The temperature at which a vertex has this heat; from one at which it has `have`. */
static double temperature_of(const heat_loop *l, size_t row, double wanted, double from,
                             double have)
{
    double low = -INFINITY, high = INFINITY, T = from;
    for (int i = 0; i < MOST && have != wanted; i++) {
        bool up = wanted > have;
        *(up ? &low : &high) = T;
        double next = T + (wanted - have) / slope_at(l, row, T, up);
        if (!(next > low && next < high)) {
            if (!isfinite(low) || !isfinite(high))
                break;
            next = 0.5 * (low + high);
            if (!(next > low && next < high))
                break;
        }
        T = next;
        have = heat_at(l, row, T);
    }
    return T;
}

/* T from dT, in steps of heat. */
static void advance_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const heat_loop *l = user;
    const kiln_heat *heat = l->heat;
    double most = 0.0, size = 0.0;
    for (size_t i = begin; i < end; i++) {
        double *T = &heat->now.data[i], dT = heat->rest.data[i];
        if (heat->held.data[i] || heat->stars.first.data[i] == heat->stars.first.data[i + 1])
            continue;
        double have = heat_at(l, i, *T), slope = slope_at(l, i, *T, dT > 0.0);
        *T = temperature_of(l, i, have + slope * dT, *T, have);
        most = fmax(most, fabs(dT));
        size = fmax(size, fabs(*T));
    }
    heat->chunk.data[2 * chunk] = most;
    heat->chunk.data[2 * chunk + 1] = size;
}

static kiln_status solve_stage(kiln_heat *heat, const kiln_heat_matter *matter, double tau,
                               kiln_heat_report *report, kiln_error *error)
{
    heat_loop l = {.heat = heat,
                   .matter = matter,
                   .temperature = heat->now.data,
                   .tau = tau,
                   .out = heat->rest.data};
    bool bent = false;
    for (size_t t = 0; t < heat->stars.tets && !bent; t++)
        bent = heat->stars.corner.data[4 * t] != KILN_BSR_NO_ROW &&
               bends(&matter->thermal[matter->material[t]]);
    report->settled = false;
    for (int i = 0; i < MOST && !report->settled; i++) {
        find_rest(&l);
        kiln_bsr_clear(&heat->matrix);
        kiln_parallel_for(heat->context, heat->stars.rows, GRAIN, matrix_chunk, &l);
        add_links(&l);
        KILN_TRY(kiln_solver_factor(heat->solver, &heat->matrix, &report->outcome, error));
        if (report->outcome == KILN_SOLVE_OK)
            KILN_TRY(kiln_solver_solve(heat->solver, heat->rest.data, heat->rest.data,
                                       &report->outcome, error));
        if (report->outcome != KILN_SOLVE_OK)
            return KILN_OK;
        kiln_parallel_for(heat->context, heat->stars.rows, GRAIN, advance_chunk, &l);
        double most = 0.0, size = 0.0;
        for (size_t c = 0; c < kiln_chunk_count(heat->stars.rows, GRAIN); c++) {
            most = fmax(most, heat->chunk.data[2 * c]);
            size = fmax(size, heat->chunk.data[2 * c + 1]);
        }
        report->iterations++;
        /* Without a bend the first solve is the solution, and a second one takes its rounding. */
        report->settled = bent ? most <= SETTLED * size : i == 1 || most <= SETTLED * size;
    }
    return KILN_OK;
}

static kiln_status set_pattern(kiln_heat *heat, kiln_error *error)
{
    const kiln_cliques cliques[2] = {{heat->stars.tets, 4, NULL, heat->stars.corner.data},
                                     {heat->links.count, 4, NULL, heat->linked.data}};
    return kiln_bsr_set_pattern(&heat->matrix, heat->stars.rows, cliques, 2, error);
}

/* Where what is held is at a part of the step. */
static void lead(kiln_heat *heat, double part)
{
    const double *led = heat->led.data;
    for (size_t i = 0; i < heat->stars.rows; i++)
        if (heat->held.data[i])
            heat->now.data[i] = led[2 * i] + part * (led[2 * i + 1] - led[2 * i]);
}

static kiln_status make_stages(kiln_heat *heat, const kiln_heat_matter *matter,
                               kiln_heat_scheme scheme, double h, const double *temperature,
                               kiln_heat_report *report, kiln_error *error)
{
    double *given = heat->given.data, *begin = heat->begin.data;
    double tau = scheme == KILN_HEAT_EULER ? h : GAMMA * h;
    memcpy(heat->now.data, temperature, heat->stars.rows * sizeof(double));
    for (size_t i = 0; i < heat->stars.rows; i++)
        given[i] = begin[i] + tau * heat->supply.data[i];
    lead(heat, tau / h);
    KILN_TRY(solve_stage(heat, matter, tau, report, error));
    if (scheme == KILN_HEAT_EULER || !report->settled)
        return KILN_OK;
    /* E + (1 - gamma) h (E_1 - E) / (gamma h) + gamma h sources, E_1 what the first stage has. */
    find_stored(heat, matter, heat->now.data, given);
    for (size_t i = 0; i < heat->stars.rows; i++)
        given[i] =
            begin[i] + (1.0 - GAMMA) / GAMMA * (given[i] - begin[i]) + tau * heat->supply.data[i];
    lead(heat, 1.0);
    return solve_stage(heat, matter, tau, report, error);
}

kiln_status kiln_heat_step(kiln_heat *heat, const kiln_heat_matter *matter, kiln_heat_scheme scheme,
                           double h, double *temperature, kiln_heat_report *report,
                           kiln_error *error)
{
    heat_loop l = {.heat = heat, .matter = matter};
    *report = (kiln_heat_report){0};
    KILN_TRY(set_pattern(heat, error));
    kiln_parallel_for(heat->context, heat->stars.tets, GRAIN, pass_chunk, &l);
    double before = find_stored(heat, matter, temperature, heat->begin.data);
    KILN_TRY(make_stages(heat, matter, scheme, h, temperature, report, error));
    if (report->outcome != KILN_SOLVE_OK || !report->settled)
        return KILN_OK;
    memcpy(temperature, heat->now.data, heat->stars.rows * sizeof(double));
    report->heat = find_stored(heat, matter, temperature, NULL);
    report->received = report->heat - before;
    return KILN_OK;
}
