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
    kiln_f64_array dead;      /* [vertex slot][3] what does not follow the surface */
    kiln_f64_array points;    /* [vertex slot][3] of that, what pulls at single vertices */
    kiln_f64_array pulls;     /* [face slot][3] N/m^2 of the material */
    kiln_f64_array bulk;      /* [tet slot][3] N/m^3 of the material */
    kiln_f64_array pressures; /* [face slot] Pa */
    kiln_vec3 acceleration;
    kiln_f64_array force;   /* [vertex slot][3] all, pressure as last lagged */
    kiln_f64_array model;   /* [vertex slot][3] scratch of lag, only with pressure */
    kiln_f64_array partial; /* [chunk] of the sums */
    KILN_ARRAY_OF(pressed_face)
    pressed;
    KILN_ARRAY_OF(kiln_vec3)
    at;                   /* [pressed face][3] corners where they were lagged */
    bool open;            /* the force has no potential */
    bool left_out, added; /* the Hessian of pressure is; in the last `add` it was added */
    kiln_term term;
};

enum { GRAIN = 4096 };

static double loads_value(void *self, const double *x);
static double loads_delta(void *self, const double *x0, const double *x1);
static void loads_add(void *self, const double *x, double scale, double *g, kiln_bsr *H);
static double loads_lag(void *self, const double *x);
static kiln_status loads_renew(void *self, const double *x, kiln_error *error);
static bool loads_set_exact(void *self, bool exact);
static void loads_add_rest(void *self, const double *x, double scale, const double *v, double *out);

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
    kiln_array_free(context, &loads->points);
    kiln_array_free(context, &loads->pulls);
    kiln_array_free(context, &loads->bulk);
    kiln_array_free(context, &loads->pressures);
    kiln_array_free(context, &loads->force);
    kiln_array_free(context, &loads->model);
    kiln_array_free(context, &loads->partial);
    kiln_array_free(context, &loads->pressed);
    kiln_array_free(context, &loads->at);
    kiln_release(context, loads, sizeof *loads);
}

/* Only where there is pressure Newton has to ask, and on a closed surface nothing more. */
static void set_pressed(kiln_loads *loads, bool pressed)
{
    loads->term.set_exact = NULL;
    loads->term.add_rest = NULL;
    loads->term.renew = pressed ? loads_renew : NULL;
}

kiln_status kiln_loads_reset(kiln_loads *loads, const kiln_mesh *mesh, kiln_error *error)
{
    size_t rows = mesh->table[KILN_ON_VERTEX].used, faces = mesh->table[KILN_ON_FACE].used;
    size_t tets = mesh->table[KILN_ON_TET].used;
    loads->rows = 0;
    KILN_TRY(kiln_array_reserve(loads->context, &loads->points, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(loads->context, &loads->pulls, 3 * faces, error));
    KILN_TRY(kiln_array_reserve(loads->context, &loads->bulk, 3 * tets, error));
    KILN_TRY(kiln_array_reserve(loads->context, &loads->pressures, faces, error));
    KILN_TRY(kiln_array_reserve(loads->context, &loads->dead, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(loads->context, &loads->force, 3 * rows, error));
    KILN_TRY(
        kiln_array_reserve(loads->context, &loads->partial, kiln_chunk_count(rows, GRAIN), error));
    loads->mesh = mesh;
    loads->rows = rows;
    loads->pressed.count = 0;
    set_pressed(loads, false);
    loads->open = loads->left_out = false;
    loads->acceleration = kiln_v3(0, 0, 0);
    memset(loads->dead.data, 0, 3 * rows * sizeof(double));
    memset(loads->points.data, 0, 3 * rows * sizeof(double));
    memset(loads->pulls.data, 0, 3 * faces * sizeof(double));
    memset(loads->bulk.data, 0, 3 * tets * sizeof(double));
    memset(loads->pressures.data, 0, faces * sizeof(double));
    memset(loads->force.data, 0, 3 * rows * sizeof(double));
    return KILN_OK;
}

static void add_to(double *row, double scale, kiln_vec3 f)
{
    row[0] += scale * f.x;
    row[1] += scale * f.y;
    row[2] += scale * f.z;
}

static void add_dead(kiln_loads *loads, uint32_t vertex, kiln_vec3 force)
{
    add_to(loads->dead.data + 3 * (size_t)vertex, 1.0, force);
    add_to(loads->force.data + 3 * (size_t)vertex, 1.0, force);
}

void kiln_loads_add_force(kiln_loads *loads, uint32_t vertex, kiln_vec3 force)
{
    add_dead(loads, vertex, force);
    add_to(loads->points.data + 3 * (size_t)vertex, 1.0, force);
}

void kiln_loads_add_body(kiln_loads *loads, uint32_t tet, kiln_vec3 force)
{
    const kiln_mesh *mesh = loads->mesh;
    for (int k = 0; k < 4; k++)
        add_dead(loads, mesh->tet[tet].v[k], kiln_v3_scale(force, 0.25));
    add_to(loads->bulk.data + 3 * (size_t)tet, 1.0 / kiln_mesh_tet_volume(mesh, tet), force);
}

/* The rows of the consistent mass add up to the lumped one: M a is the same for both. */
void kiln_loads_add_acceleration(kiln_loads *loads, const kiln_mass *mass, kiln_vec3 a)
{
    const double *lumped = kiln_mass_lumped(mass);
    loads->acceleration = kiln_v3_add(loads->acceleration, a);
    for (uint32_t v = 0; v < loads->rows; v++)
        add_dead(loads, v, kiln_v3_scale(a, lumped[v]));
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
    const kiln_vec3 *p = kiln_mesh_positions(loads->mesh, space), *u = loads->mesh->u;
    uint32_t v[3];
    face_vertices(loads->mesh, face, v);
    double area = kiln_v3_norm(area_vector(p[v[0]], p[v[1]], p[v[2]]));
    for (int k = 0; k < 3; k++)
        add_dead(loads, v[k], kiln_v3_scale(traction, area / 3.0));
    add_to(loads->pulls.data + 3 * (size_t)face,
           area / kiln_v3_norm(area_vector(u[v[0]], u[v[1]], u[v[2]])), traction);
}

kiln_vec3 kiln_loads_acceleration(const kiln_loads *loads)
{
    return loads->acceleration;
}
const kiln_vec3 *kiln_loads_pulls(const kiln_loads *loads)
{
    return (const kiln_vec3 *)(const void *)loads->pulls.data;
}
const kiln_vec3 *kiln_loads_bulk(const kiln_loads *loads)
{
    return (const kiln_vec3 *)(const void *)loads->bulk.data;
}
const kiln_vec3 *kiln_loads_points(const kiln_loads *loads)
{
    return (const kiln_vec3 *)(const void *)loads->points.data;
}
const double *kiln_loads_pressures(const kiln_loads *loads)
{
    return loads->pressures.data;
}

static void places(const pressed_face *face, const double *x, kiln_vec3 p[3])
{
    for (int k = 0; k < 3; k++)
        memcpy(&p[k], x + 3 * (size_t)face->v[k], sizeof p[k]);
}

/* A third of -p n A to each vertex, so the work of a small motion is -p dV exactly. */
static void press(double *force, const pressed_face *face, const double *x)
{
    kiln_vec3 p[3];
    places(face, x, p);
    kiln_vec3 area = area_vector(p[0], p[1], p[2]);
    for (int k = 0; k < 3; k++)
        add_to(force + 3 * (size_t)face->v[k], -face->pressure / 3.0, area);
}

kiln_status kiln_loads_add_pressure(kiln_loads *loads, uint32_t face, double pressure,
                                    kiln_error *error)
{
    pressed_face pressed = {.pressure = pressure};
    face_vertices(loads->mesh, face, pressed.v);
    kiln_context *context = loads->context;
    size_t corners = 3 * loads->pressed.count;
    KILN_TRY(kiln_array_reserve(context, &loads->model, 3 * loads->rows, error));
    KILN_TRY(kiln_array_reserve(context, &loads->at, corners + 3, error));
    KILN_TRY(kiln_array_push(context, &loads->pressed, pressed, error));
    set_pressed(loads, true);
    loads->pressures.data[face] += pressure;
    places(&pressed, &loads->mesh->x[0].x, loads->at.data + corners);
    press(loads->force.data, &pressed, &loads->mesh->x[0].x);
    return KILN_OK;
}

/* A face on its way: with d the motion of its corners since it was lagged, s = d0 + d1 + d2, e the
 * edges 01 and 02 there and f by how much they differ now, the edges at the part t of the way are e
 * + t f, and the mean of the area vector over the way is
 *     N = e1 x e2 / 2 + (e1 x f2 + f1 x e2) / 4 + f1 x f2 / 6.
 * The face has swept s.N / 3. */
typedef struct swept_face {
    kiln_vec3 s, f[2], N;
} swept_face;

/* at: [3] where its corners were lagged, here and below. */
static swept_face sweep(const pressed_face *face, const kiln_vec3 *at, const double *x)
{
    kiln_vec3 p[3], d[3];
    places(face, x, p);
    for (int k = 0; k < 3; k++)
        d[k] = kiln_v3_sub(p[k], at[k]);
    kiln_vec3 e1 = kiln_v3_sub(at[1], at[0]);
    kiln_vec3 e2 = kiln_v3_sub(at[2], at[0]);
    swept_face out = {.s = kiln_v3_add(d[0], kiln_v3_add(d[1], d[2])),
                      .f = {kiln_v3_sub(d[1], d[0]), kiln_v3_sub(d[2], d[0])}};
    kiln_vec3 first = kiln_v3_add(kiln_v3_cross(e1, out.f[1]), kiln_v3_cross(out.f[0], e2));
    out.N = kiln_v3_scale(kiln_v3_cross(e1, e2), 0.5);
    out.N = kiln_v3_add(out.N, kiln_v3_scale(first, 0.25));
    out.N = kiln_v3_add(out.N, kiln_v3_scale(kiln_v3_cross(out.f[0], out.f[1]), 1.0 / 6.0));
    return out;
}

/* e/4 + f/6 of both edges: N changes by u x df2 - w x df1. */
static void edge_arms(const kiln_vec3 *at, const swept_face *now, kiln_vec3 *u, kiln_vec3 *w)
{
    kiln_vec3 arm[2];
    for (int k = 0; k < 2; k++) {
        kiln_vec3 e = kiln_v3_sub(at[k + 1], at[0]);
        arm[k] = kiln_v3_add(kiln_v3_scale(e, 0.25), kiln_v3_scale(now->f[k], 1.0 / 6.0));
    }
    *u = arm[0], *w = arm[1];
}

static void add_face_gradient(const pressed_face *face, const kiln_vec3 *at, const swept_face *now,
                              double scale, double *g)
{
    kiln_vec3 u, w;
    edge_arms(at, now, &u, &w);
    kiln_vec3 g1 = kiln_v3_cross(w, now->s), g2 = kiln_v3_cross(now->s, u);
    kiln_vec3 g0 = kiln_v3_scale(kiln_v3_add(g1, g2), -1.0);
    const kiln_vec3 part[3] = {g0, g1, g2};
    for (int k = 0; k < 3; k++)
        add_to(g + 3 * (size_t)face->v[k], scale * face->pressure / 3.0,
               kiln_v3_add(now->N, part[k]));
}

/* Block of vertices i, j += factor * (z x). */
static void add_cross(kiln_bsr *H, uint32_t i, uint32_t j, double factor, kiln_vec3 z)
{
    if (i > j) { /* the transpose */
        uint32_t k = i;
        i = j, j = k;
        factor = -factor;
    }
    double a = factor * z.x, b = factor * z.y, c = factor * z.z;
    double block[3][3] = {{0, -c, b}, {c, 0, -a}, {-b, a, 0}};
    kiln_bsr_add(H, i, j, block);
}

/* Blocks 01, 02 and 12 are these vectors' cross products; the diagonal ones are zero. */
static void hessian_arms(const kiln_vec3 *at, const swept_face *now, kiln_vec3 z[3])
{
    kiln_vec3 u, w, s = kiln_v3_scale(now->s, 1.0 / 6.0);
    edge_arms(at, now, &u, &w);
    z[0] = kiln_v3_sub(kiln_v3_sub(u, kiln_v3_scale(w, 2.0)), s);
    z[1] = kiln_v3_add(kiln_v3_sub(kiln_v3_scale(u, 2.0), w), s);
    z[2] = kiln_v3_sub(kiln_v3_add(u, w), s);
}

static void add_face_hessian(const pressed_face *face, const kiln_vec3 *at, const swept_face *now,
                             double scale, kiln_bsr *H)
{
    kiln_vec3 z[3];
    hessian_arms(at, now, z);
    double factor = scale * face->pressure / 3.0;
    add_cross(H, face->v[0], face->v[1], factor, z[0]);
    add_cross(H, face->v[0], face->v[2], factor, z[1]);
    add_cross(H, face->v[1], face->v[2], factor, z[2]);
}

/* s1.N1 - s0.N0 from differences: with the mean of both and `by` from x0 to x1. */
static double swept_between(const pressed_face *face, const kiln_vec3 *at, const double *x0,
                            const double *x1)
{
    swept_face from = sweep(face, at, x0), to = sweep(face, at, x1);
    kiln_vec3 p[3], q[3], by[3];
    places(face, x0, p);
    places(face, x1, q);
    for (int k = 0; k < 3; k++)
        by[k] = kiln_v3_sub(q[k], p[k]);
    kiln_vec3 ds = kiln_v3_add(by[0], kiln_v3_add(by[1], by[2]));
    swept_face mean = {.f = {kiln_v3_scale(kiln_v3_add(from.f[0], to.f[0]), 0.5),
                             kiln_v3_scale(kiln_v3_add(from.f[1], to.f[1]), 0.5)}};
    kiln_vec3 u, w;
    edge_arms(at, &mean, &u, &w);
    kiln_vec3 dN = kiln_v3_sub(kiln_v3_cross(u, kiln_v3_sub(by[2], by[0])),
                               kiln_v3_cross(w, kiln_v3_sub(by[1], by[0])));
    return 0.5 * (kiln_v3_dot(ds, kiln_v3_add(from.N, to.N)) +
                  kiln_v3_dot(kiln_v3_add(from.s, to.s), dN));
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
    const double *dead = job->loads->dead.data;
    double sum = 0.0;
    for (size_t i = 3 * begin; i < 3 * end; i++)
        sum -= dead[i] * (job->from ? job->x[i] - job->from[i] : job->x[i]);
    job->loads->partial.data[chunk] = sum;
}

static double dead_work(kiln_loads *loads, const double *from, const double *x)
{
    loads_job job = {.loads = loads, .x = x, .from = from};
    kiln_parallel_for(loads->context, loads->rows, GRAIN, value_chunk, &job);
    double sum = 0.0;
    for (size_t i = 0; i < kiln_chunk_count(loads->rows, GRAIN); i++)
        sum += loads->partial.data[i];
    return sum;
}

/* Pressed faces are taken in their order on one thread, here and below: they are few beside the
 * tets. */
static double loads_delta(void *self, const double *x0, const double *x1)
{
    kiln_loads *loads = self;
    double sum = 0.0;
    for (size_t i = 0; i < loads->pressed.count; i++) {
        const pressed_face *face = &loads->pressed.data[i];
        sum += face->pressure / 3.0 * swept_between(face, loads->at.data + 3 * i, x0, x1);
    }
    return sum + dead_work(loads, x0, x1);
}

static double loads_value(void *self, const double *x)
{
    kiln_loads *loads = self;
    double sum = 0.0;
    for (size_t i = 0; i < loads->pressed.count; i++) {
        swept_face now = sweep(&loads->pressed.data[i], loads->at.data + 3 * i, x);
        sum += loads->pressed.data[i].pressure / 3.0 * kiln_v3_dot(now.s, now.N);
    }
    return sum + dead_work(loads, NULL, x);
}

double kiln_loads_potential(kiln_loads *loads, const double *x)
{
    double sum = 0.0;
    kiln_vec3 p[3], tip;
    for (size_t i = 0; i < loads->pressed.count; i++) {
        places(&loads->pressed.data[i], x, p);
        if (i == 0)
            tip = p[0];
        kiln_vec3 area = area_vector(p[0], p[1], p[2]);
        sum += loads->pressed.data[i].pressure / 3.0 * kiln_v3_dot(area, kiln_v3_sub(p[0], tip));
    }
    return sum + dead_work(loads, NULL, x);
}

static void add_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const loads_job *job = user;
    for (size_t i = 3 * begin; i < 3 * end; i++)
        job->g[i] -= job->scale * job->loads->dead.data[i];
}

static void loads_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_loads *loads = self;
    loads_job job = {.loads = loads, .g = g, .scale = scale};
    kiln_parallel_for(loads->context, loads->rows, GRAIN, add_chunk, &job);
    if (H)
        loads->added = !loads->left_out;
    for (size_t i = 0; i < loads->pressed.count; i++) {
        const pressed_face *face = &loads->pressed.data[i];
        const kiln_vec3 *at = loads->at.data + 3 * i;
        swept_face now = sweep(face, at, x);
        add_face_gradient(face, at, &now, scale, g);
        if (H && !loads->left_out)
            add_face_hessian(face, at, &now, scale, H);
    }
}

static void lag_at(kiln_loads *loads, const double *x)
{
    for (size_t i = 0; i < loads->pressed.count; i++)
        places(&loads->pressed.data[i], x, loads->at.data + 3 * i);
}

/* For motions d of its corners: p/3 times what the Hessian leaves of the force's derivative, which
 * is dA for each of them; `added`: it has been added, v_i += z_ij x v_j. */
static void rest_of_face(const kiln_loads *loads, size_t i, const double *x, const kiln_vec3 d[3],
                         bool added, kiln_vec3 out[3])
{
    const pressed_face *face = &loads->pressed.data[i];
    swept_face now = sweep(face, loads->at.data + 3 * i, x);
    kiln_vec3 p[3], z[3];
    places(face, x, p);
    hessian_arms(loads->at.data + 3 * i, &now, z);
    kiln_vec3 a = kiln_v3_cross(kiln_v3_sub(d[1], d[0]), kiln_v3_sub(p[2], p[0]));
    kiln_vec3 b = kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(d[2], d[0]));
    kiln_vec3 area = kiln_v3_scale(kiln_v3_add(a, b), 0.5);
    const kiln_vec3 symmetric[3] = {
        kiln_v3_add(kiln_v3_cross(z[0], d[1]), kiln_v3_cross(z[1], d[2])),
        kiln_v3_sub(kiln_v3_cross(z[2], d[2]), kiln_v3_cross(z[0], d[0])),
        kiln_v3_scale(kiln_v3_add(kiln_v3_cross(z[1], d[0]), kiln_v3_cross(z[2], d[1])), -1.0)};
    for (int k = 0; k < 3; k++)
        out[k] =
            kiln_v3_scale(added ? kiln_v3_sub(area, symmetric[k]) : area, face->pressure / 3.0);
}

/* Nothing is left where faces meet along all edges: tried with a motion that is none of a body. */
static bool is_open(kiln_loads *loads, const double *x)
{
    double *sum = loads->model.data, all = 0.0, left = 0.0;
    memset(sum, 0, 3 * loads->rows * sizeof *sum);
    for (size_t i = 0; i < loads->pressed.count; i++) {
        const uint32_t *v = loads->pressed.data[i].v;
        kiln_vec3 d[3], out[3];
        places(&loads->pressed.data[i], x, d);
        for (int k = 0; k < 3; k++)
            d[k] = kiln_v3(d[k].y, d[k].z, -d[k].x);
        rest_of_face(loads, i, x, d, true, out);
        for (int k = 0; k < 3; k++) {
            add_to(sum + 3 * (size_t)v[k], 1.0, out[k]);
            all += kiln_v3_norm2(out[k]);
        }
    }
    for (size_t i = 0; i < 3 * loads->rows; i++)
        left += sum[i] * sum[i];
    return left > 1e-16 * all;
}

static kiln_status loads_renew(void *self, const double *x, kiln_error *error)
{
    (void)error;
    kiln_loads *loads = self;
    lag_at(loads, x);
    loads->open = is_open(loads, x);
    loads->term.set_exact = loads->open ? loads_set_exact : NULL;
    loads->term.add_rest = loads->open ? loads_add_rest : NULL;
    return KILN_OK;
}

/* All of it or nothing: faces that were projected each would not cancel along shared edges. A
 * closed surface has a potential, and it is all of it. */
static bool loads_set_exact(void *self, bool exact)
{
    kiln_loads *loads = self;
    loads->left_out = loads->open && !exact;
    return loads->open;
}

static void loads_add_rest(void *self, const double *x, double scale, const double *v, double *out)
{
    const kiln_loads *loads = self;
    for (size_t i = 0; i < loads->pressed.count; i++) {
        kiln_vec3 d[3], rest[3];
        places(&loads->pressed.data[i], v, d);
        rest_of_face(loads, i, x, d, loads->added, rest);
        for (int k = 0; k < 3; k++)
            add_to(out + 3 * (size_t)loads->pressed.data[i].v[k], scale, rest[k]);
    }
}

/* The force that follows at x, against the one that the potential has had there. */
static double loads_lag(void *self, const double *x)
{
    kiln_loads *loads = self;
    if (loads->pressed.count == 0)
        return 0.0;
    double *force = loads->force.data, *model = loads->model.data, change = 0.0, size = 0.0;
    memset(model, 0, 3 * loads->rows * sizeof(double));
    loads_add(loads, x, -1.0, model, NULL);
    memcpy(force, loads->dead.data, 3 * loads->rows * sizeof(double));
    for (size_t i = 0; i < loads->pressed.count; i++)
        press(force, &loads->pressed.data[i], x);
    lag_at(loads, x);
    for (size_t i = 0; i < 3 * loads->rows; i++) {
        change += (force[i] - model[i]) * (force[i] - model[i]);
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
           (loads->dead.capacity + loads->force.capacity + loads->model.capacity +
            loads->partial.capacity) *
               sizeof(double) +
           loads->pressed.capacity * sizeof(pressed_face) + loads->at.capacity * sizeof(kiln_vec3);
}
