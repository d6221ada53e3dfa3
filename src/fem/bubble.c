#include "fem/bubble.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 256 };

void kiln_bubbles_init(kiln_bubbles *bubbles, kiln_context *context)
{
    *bubbles = (kiln_bubbles){.context = context};
}

void kiln_bubbles_free(kiln_bubbles *bubbles)
{
    kiln_array_free(bubbles->context, &bubbles->tets);
    kiln_array_free(bubbles->context, &bubbles->way);
    bubbles->used = false;
}

kiln_status kiln_bubbles_build(kiln_bubbles *b, const kiln_ring_volume *rings,
                               const kiln_mesh *mesh, const uint8_t *has, kiln_error *error)
{
    size_t tets = mesh->table[KILN_ON_TET].used;
    b->rings = rings;
    b->mesh = mesh;
    b->used = false;
    for (size_t t = 0; t < tets; t++)
        b->used |= has[t] != 0;
    if (!b->used)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(b->context, &b->tets, tets, error));
    KILN_TRY(kiln_array_reserve(b->context, &b->way, 3 * tets, error));
    for (size_t t = 0; t < tets; t++)
        b->tets.data[t].used = has[t] != 0;
    return KILN_OK;
}

void kiln_bubbles_begin(kiln_bubbles *b, const double *centre, double scale, double tau)
{
    b->centre = centre;
    b->scale = scale;
    b->tau = tau;
}

/* Q = (inertia + drag sum |z|^2) I + drag sum z z', of the gradients z. */
static kiln_mat3 find_stiffness(double inertia, double drag, const double z[4][3])
{
    kiln_mat3 Q = {{{0}}};
    double trace = 0.0;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            trace += z[k][i] * z[k][i];
            for (int j = 0; j < 3; j++)
                Q.m[i][j] += drag * z[k][i] * z[k][j];
        }
    for (int i = 0; i < 3; i++)
        Q.m[i][i] += inertia + drag * trace;
    return Q;
}

void kiln_bubbles_set(kiln_bubbles *b, uint32_t tet, double mass, double viscosity, const double *x,
                      kiln_vec3 acceleration)
{
    kiln_bubble *one = &b->tets.data[tet];
    double g[4][3];
    double volume = kiln_ring_volume_gradients(&b->mesh->tet[tet], x, g);
    kiln_mat3 Q = find_stiffness(KILN_BUBBLE_SQUARE * mass / b->scale,
                                 viscosity / b->tau * KILN_BUBBLE_GRADIENT / volume, g);
    kiln_mat3 inverse = kiln_m3_inverse(Q);
    *one = (kiln_bubble){.mix = KILN_BUBBLE_CORNER * mass / b->scale, .used = true};
    memcpy(one->inverse, inverse.m, sizeof one->inverse);
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            one->z[k][c] = KILN_BUBBLE_MEAN * g[k][c];
    const double a[3] = {acceleration.x, acceleration.y, acceleration.z};
    for (int c = 0; c < 3; c++)
        one->weight[c] = KILN_BUBBLE_MEAN * mass * a[c];
}

static void multiply(const double m[3][3], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* r at x; p NULL: none. */
static void find_force(const kiln_bubbles *b, uint32_t t, const double *p, const double *x,
                       double r[3])
{
    const kiln_bubble *one = &b->tets.data[t];
    for (int c = 0; c < 3; c++)
        r[c] = -one->weight[c];
    for (int k = 0; k < 4; k++) {
        size_t v = b->mesh->tet[t].v[k];
        for (int c = 0; c < 3; c++)
            r[c] +=
                one->mix * (x[3 * v + c] - b->centre[3 * v + c]) - (p ? p[v] * one->z[k][c] : 0.0);
    }
}

double kiln_bubbles_value(const kiln_bubbles *b, const double *p, const double *from,
                          const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < b->rings->kept.count; i++) {
        uint32_t t = b->rings->kept.data[i];
        const kiln_bubble *one = &b->tets.data[t];
        double r[3], before[3] = {0, 0, 0}, change[3], q[3];
        if (!one->used)
            continue;
        find_force(b, t, p, x, r);
        memcpy(change, r, sizeof change);
        if (from) { /* what they have in common is nothing to the difference */
            find_force(b, t, p, from, before);
            memset(change, 0, sizeof change);
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++) {
                    size_t at = 3 * (size_t)b->mesh->tet[t].v[k] + c;
                    change[c] += one->mix * (x[at] - from[at]);
                }
        }
        for (int c = 0; c < 3; c++)
            r[c] += before[c];
        multiply(one->inverse, r, q);
        sum -= 0.5 * dot(change, q);
    }
    return sum;
}

typedef struct bubble_loop {
    kiln_bubbles *bubbles;
    const double *p, *x;
    double scale, *out;
    const uint64_t *blocks;
    kiln_equations *equations;
    kiln_bsr *H;
} bubble_loop;

static void find_ways(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const bubble_loop *m = user;
    kiln_bubbles *b = m->bubbles;
    for (size_t i = begin; i < end; i++) {
        uint32_t t = b->rings->kept.data[i];
        double r[3], *xi = b->way.data + 3 * (size_t)t;
        if (!b->tets.data[t].used)
            continue;
        find_force(b, t, m->p, m->x, r);
        multiply(b->tets.data[t].inverse, r, xi);
        for (int c = 0; c < 3; c++)
            xi[c] = -xi[c];
    }
}

static void for_rows(bubble_loop *m, kiln_chunk_body body)
{
    kiln_bubbles *b = m->bubbles;
    kiln_parallel_for(b->context, b->rings->kept.count, GRAIN, find_ways, m);
    kiln_parallel_for(b->context, b->rings->rows, GRAIN, body, m);
}

/* The bubble of an entry of a ring; NULL: it has none. */
static const kiln_bubble *bubble_of(const kiln_bubbles *b, uint64_t entry, uint32_t *own,
                                    const double **xi)
{
    uint32_t t = b->rings->tet.data[entry] / 4;
    *own = b->rings->tet.data[entry] % 4;
    *xi = b->way.data + 3 * (size_t)t;
    return b->tets.data[t].used ? &b->tets.data[t] : NULL;
}

/* -X^2 Q^-1 between all corners. */
static void add_blocks(const bubble_loop *m, const kiln_bubble *one, uint32_t own, uint32_t row,
                       uint64_t entry)
{
    double factor = -m->scale * one->mix * one->mix;
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t block = k == own ? m->H->start[row] : m->blocks[4 * entry + k];
        if (block == UINT64_MAX)
            continue;
        size_t stride;
        double *to = kiln_bsr_at(m->H, row, block, &stride);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                to[i * stride + j] += factor * one->inverse[i][j];
    }
}

static void add_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const bubble_loop *m = user;
    const kiln_ring_volume *rings = m->bubbles->rings;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = rings->first.data[i]; s < rings->first.data[i + 1]; s++) {
            uint32_t own;
            const double *xi;
            const kiln_bubble *one = bubble_of(m->bubbles, s, &own, &xi);
            for (int c = 0; c < 3 && one; c++)
                m->out[3 * i + c] += m->scale * one->mix * xi[c];
            if (one && m->H)
                add_blocks(m, one, own, (uint32_t)i, s);
        }
}

void kiln_bubbles_add(kiln_bubbles *b, const double *p, const double *x, double scale,
                      const uint64_t *blocks, double *g, kiln_bsr *H)
{
    bubble_loop m = {
        .bubbles = b, .p = p, .x = x, .scale = scale, .out = g, .blocks = blocks, .H = H};
    for_rows(&m, add_rows);
}

static void linearise_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const bubble_loop *m = user;
    const kiln_ring_volume *rings = m->bubbles->rings;
    for (size_t i = begin; i < end; i++) {
        double *row = m->equations->value.data + 3 * m->equations->start.data[i];
        for (uint64_t s = rings->first.data[i]; s < rings->first.data[i + 1]; s++) {
            uint32_t own;
            const double *xi;
            const kiln_bubble *one = bubble_of(m->bubbles, s, &own, &xi);
            if (!one)
                continue;
            double q[3];
            multiply(one->inverse, one->z[own], q);
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++)
                    row[3 * rings->place.data[4 * s + k] + c] += one->mix * q[c];
            m->out[i] += dot(one->z[own], xi);
        }
    }
}

void kiln_bubbles_linearise(kiln_bubbles *b, kiln_equations *equations, const double *x, double *e)
{
    bubble_loop m = {.bubbles = b, .x = x, .out = e, .equations = equations};
    for_rows(&m, linearise_rows);
}

static void add_give_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const bubble_loop *m = user;
    const kiln_ring_volume *rings = m->bubbles->rings;
    const uint64_t *start = rings->equations.start.data;
    for (size_t i = begin; i < end; i++) {
        size_t upper = (size_t)(m->H->start[i + 1] - m->H->start[i]);
        size_t before = (size_t)(start[i + 1] - start[i]) - upper;
        double *row = m->H->value + m->H->start[i];
        for (uint64_t s = rings->first.data[i]; s < rings->first.data[i + 1]; s++) {
            uint32_t own;
            const double *xi;
            const kiln_bubble *one = bubble_of(m->bubbles, s, &own, &xi);
            double q[3];
            if (!one)
                continue;
            multiply(one->inverse, one->z[own], q);
            for (int k = 0; k < 4; k++) {
                size_t place = rings->place.data[4 * s + k];
                if (place >= before)
                    row[place - before] += dot(q, one->z[k]);
            }
        }
    }
}

void kiln_bubbles_add_give(const kiln_bubbles *b, kiln_bsr *C)
{
    bubble_loop m = {.bubbles = (kiln_bubbles *)b, .H = C};
    kiln_parallel_for(b->context, b->rings->rows, GRAIN, add_give_rows, &m);
}

static void add_momentum_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const bubble_loop *m = user;
    const kiln_bubbles *b = m->bubbles;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = b->rings->first.data[i]; s < b->rings->first.data[i + 1]; s++) {
            uint32_t own;
            const double *xi;
            const kiln_bubble *one = bubble_of(b, s, &own, &xi);
            for (int c = 0; c < 3 && one; c++)
                m->out[3 * i + c] += one->mix * b->scale / b->tau * xi[c];
        }
}

void kiln_bubbles_add_momentum(kiln_bubbles *b, const double *p, const double *x, double *out)
{
    bubble_loop m = {.bubbles = b, .p = p, .x = x, .out = out};
    for_rows(&m, add_momentum_rows);
}
