#include "fem/loads.h"

#include "base/parallel.h"

#include <string.h>

typedef struct pressed_face {
    uint32_t v[3]; /* outward */
    double pressure;
} pressed_face;

struct kiln_loads {
    kiln_context *context;
    const kiln_mesh *mesh;
    size_t rows;
    kiln_f64_array dead;    /* [vertex slot][3] what does not follow the surface */
    kiln_f64_array force;   /* [vertex slot][3] all, pressure as last lagged */
    kiln_f64_array before;  /* [vertex slot][3] scratch of lag, only with pressure */
    kiln_f64_array partial; /* [chunk] of the sums */
    KILN_ARRAY_OF(pressed_face)
    pressed;
    kiln_term term;
};

enum { GRAIN = 4096 };

static double loads_value(void *self, const double *x);
static double loads_delta(void *self, const double *x0, const double *x1);
static void loads_add(void *self, const double *x, double scale, double *g, kiln_bsr *H);
static double loads_lag(void *self, const double *x);

kiln_status kiln_loads_create(kiln_context *context, kiln_loads **out, kiln_error *error)
{
    kiln_loads *loads = kiln_resize(context, NULL, 0, sizeof *loads);
    if (!loads)
        return kiln_fail_memory(error, sizeof *loads);
    *loads = (kiln_loads){
        .context = context,
        .term = {.name = "loads",
                 .self = loads,
                 .weight = 1.0,
                 .value = loads_value,
                 .delta = loads_delta,
                 .add = loads_add,
                 .lag = loads_lag},
    };
    *out = loads;
    return KILN_OK;
}

void kiln_loads_destroy(kiln_loads *loads)
{
    if (!loads)
        return;
    kiln_context *context = loads->context;
    kiln_array_free(context, &loads->dead);
    kiln_array_free(context, &loads->force);
    kiln_array_free(context, &loads->before);
    kiln_array_free(context, &loads->partial);
    kiln_array_free(context, &loads->pressed);
    kiln_release(context, loads, sizeof *loads);
}

kiln_status kiln_loads_reset(kiln_loads *loads, const kiln_mesh *mesh, kiln_error *error)
{
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    loads->rows = 0;
    KILN_TRY(kiln_array_reserve(loads->context, &loads->dead, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(loads->context, &loads->force, 3 * rows, error));
    KILN_TRY(
        kiln_array_reserve(loads->context, &loads->partial, kiln_chunk_count(rows, GRAIN), error));
    loads->mesh = mesh;
    loads->rows = rows;
    loads->pressed.count = 0;
    memset(loads->dead.data, 0, 3 * rows * sizeof(double));
    memset(loads->force.data, 0, 3 * rows * sizeof(double));
    return KILN_OK;
}

static void add_to(double *row, double scale, kiln_vec3 f)
{
    row[0] += scale * f.x;
    row[1] += scale * f.y;
    row[2] += scale * f.z;
}

void kiln_loads_add_force(kiln_loads *loads, uint32_t vertex, kiln_vec3 force)
{
    add_to(loads->dead.data + 3 * (size_t)vertex, 1.0, force);
    add_to(loads->force.data + 3 * (size_t)vertex, 1.0, force);
}

/* The rows of the consistent mass add up to the lumped one: M a is the same for both. */
void kiln_loads_add_acceleration(kiln_loads *loads, const kiln_mass *mass, kiln_vec3 a)
{
    const double *lumped = kiln_mass_lumped(mass);
    for (uint32_t v = 0; v < loads->rows; v++)
        kiln_loads_add_force(loads, v, kiln_v3_scale(a, lumped[v]));
}

static void face_vertices(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

/* Outward, as long as the area. */
static kiln_vec3 area_vector(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c)
{
    return kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(c, a)), 0.5);
}

void kiln_loads_add_traction(kiln_loads *loads, uint32_t face, kiln_vec3 traction, kiln_space space)
{
    const kiln_vec3 *p = kiln_mesh_positions(loads->mesh, space);
    uint32_t v[3];
    face_vertices(loads->mesh, face, v);
    double area = kiln_v3_norm(area_vector(p[v[0]], p[v[1]], p[v[2]]));
    for (int k = 0; k < 3; k++)
        kiln_loads_add_force(loads, v[k], kiln_v3_scale(traction, area / 3.0));
}

/* A third of -p n A to each vertex: the gradient of -p V, V the volume enclosed by a closed surface
 * of such faces, so the work of a small motion is -p dV exactly. */
static void press(double *force, const pressed_face *face, const double *x)
{
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        memcpy(&p[k], x + 3 * (size_t)face->v[k], sizeof p[k]);
    kiln_vec3 area = area_vector(p[0], p[1], p[2]);
    for (int k = 0; k < 3; k++)
        add_to(force + 3 * (size_t)face->v[k], -face->pressure / 3.0, area);
}

kiln_status kiln_loads_add_pressure(kiln_loads *loads, uint32_t face, double pressure,
                                    kiln_error *error)
{
    pressed_face pressed = {.pressure = pressure};
    face_vertices(loads->mesh, face, pressed.v);
    KILN_TRY(kiln_array_reserve(loads->context, &loads->before, 3 * loads->rows, error));
    KILN_TRY(kiln_array_push(loads->context, &loads->pressed, pressed, error));
    press(loads->force.data, &pressed, &loads->mesh->x[0].x);
    return KILN_OK;
}

typedef struct loads_job {
    kiln_loads *loads;
    const double *x, *from; /* from: NULL is zero */
    double *g;
    double scale;
} loads_job;

static void value_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const loads_job *job = user;
    const double *force = job->loads->force.data;
    double sum = 0.0;
    for (size_t i = 3 * begin; i < 3 * end; i++)
        sum -= force[i] * (job->from ? job->x[i] - job->from[i] : job->x[i]);
    job->loads->partial.data[chunk] = sum;
}

static double loads_delta(void *self, const double *x0, const double *x1)
{
    loads_job job = {.loads = self, .x = x1, .from = x0};
    kiln_parallel_for(job.loads->context, job.loads->rows, GRAIN, value_chunk, &job);
    double sum = 0.0;
    for (size_t i = 0; i < kiln_chunk_count(job.loads->rows, GRAIN); i++)
        sum += job.loads->partial.data[i];
    return sum;
}

static double loads_value(void *self, const double *x)
{
    return loads_delta(self, NULL, x);
}

static void add_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const loads_job *job = user;
    for (size_t i = 3 * begin; i < 3 * end; i++)
        job->g[i] -= job->scale * job->loads->force.data[i];
}

static void loads_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    (void)x, (void)H;
    loads_job job = {.loads = self, .g = g, .scale = scale};
    kiln_parallel_for(job.loads->context, job.loads->rows, GRAIN, add_chunk, &job);
}

/* One pass over the pressed faces in their order, on one thread: they are few beside the tets. */
static double loads_lag(void *self, const double *x)
{
    kiln_loads *loads = self;
    if (loads->pressed.count == 0)
        return 0.0;
    double *force = loads->force.data, *before = loads->before.data, change = 0.0, size = 0.0;
    memcpy(before, force, 3 * loads->rows * sizeof(double));
    memcpy(force, loads->dead.data, 3 * loads->rows * sizeof(double));
    for (size_t i = 0; i < loads->pressed.count; i++)
        press(force, &loads->pressed.data[i], x);
    for (size_t i = 0; i < 3 * loads->rows; i++) {
        change += (force[i] - before[i]) * (force[i] - before[i]);
        size += force[i] * force[i];
    }
    return change > 0.0 ? sqrt(change / size) : 0.0;
}

kiln_term *kiln_loads_term(kiln_loads *loads)
{
    return &loads->term;
}

const double *kiln_loads_force(const kiln_loads *loads)
{
    return loads->force.data;
}

size_t kiln_loads_bytes(const kiln_loads *loads)
{
    return sizeof *loads +
           (loads->dead.capacity + loads->force.capacity + loads->before.capacity +
            loads->partial.capacity) *
               sizeof(double) +
           loads->pressed.capacity * sizeof(pressed_face);
}
