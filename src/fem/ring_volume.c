#include "fem/ring_volume.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 256, TETS = 512, PART = 12 };

void kiln_ring_volume_init(kiln_ring_volume *rings, kiln_context *context)
{
    *rings = (kiln_ring_volume){.context = context};
    kiln_equations_init(&rings->equations, context);
}

void kiln_ring_volume_free(kiln_ring_volume *rings)
{
    kiln_array_free(rings->context, &rings->first);
    kiln_array_free(rings->context, &rings->tet);
    kiln_array_free(rings->context, &rings->place);
    kiln_array_free(rings->context, &rings->corner);
    kiln_array_free(rings->context, &rings->kept);
    kiln_array_free(rings->context, &rings->part);
    kiln_equations_free(&rings->equations);
    rings->rows = 0;
}

static bool is_kept(const kiln_mesh *mesh, const uint8_t *keeps, uint32_t t)
{
    return mesh->tet[t].v[0] != KILN_NONE && keeps[t];
}

static kiln_status list_stars(kiln_ring_volume *rings, const kiln_mesh *mesh, const uint8_t *keeps,
                              kiln_error *error)
{
    size_t tets = mesh->table[KILN_ON_TET].used, kept = 0;
    uint64_t *first = rings->first.data;
    memset(first, 0, (rings->rows + 1) * sizeof *first);
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < 4 && is_kept(mesh, keeps, t); k++, kept += k == 4)
            first[mesh->tet[t].v[k] + 1]++;
    for (size_t i = 0; i < rings->rows; i++)
        first[i + 1] += first[i];
    KILN_TRY(kiln_array_reserve(rings->context, &rings->tet, 4 * kept + 1, error));
    KILN_TRY(kiln_array_reserve(rings->context, &rings->place, 16 * kept + 1, error));
    KILN_TRY(kiln_array_reserve(rings->context, &rings->corner, 4 * kept + 1, error));
    KILN_TRY(kiln_array_reserve(rings->context, &rings->kept, kept + 1, error));
    KILN_TRY(kiln_array_reserve(rings->context, &rings->part, KILN_RING_PART * tets + 1, error));
    rings->corner.count = rings->kept.count = 0;
    for (uint32_t t = 0; t < tets; t++)
        for (uint32_t k = 0; k < 4 && is_kept(mesh, keeps, t); k++) {
            uint32_t v = mesh->tet[t].v[k];
            rings->tet.data[first[v]++] = 4 * t + k;
            rings->corner.data[rings->corner.count++] = v;
            if (k == 3)
                rings->kept.data[rings->kept.count++] = t;
        }
    memmove(first + 1, first, rings->rows * sizeof *first);
    first[0] = 0;
    return KILN_OK;
}

static kiln_status find_places(kiln_ring_volume *rings, const kiln_mesh *mesh, kiln_error *error)
{
    const uint64_t *start = rings->equations.start.data;
    for (uint32_t i = 0; i < rings->rows; i++) {
        if (start[i + 1] - start[i] > UINT16_MAX)
            return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                             "vertex %u has more than %d neighbours", i, UINT16_MAX);
        for (uint64_t s = rings->first.data[i]; s < rings->first.data[i + 1]; s++)
            for (int k = 0; k < 4; k++)
                rings->place.data[4 * s + k] =
                    (uint16_t)(kiln_equations_find(&rings->equations, i,
                                                   mesh->tet[rings->tet.data[s] / 4].v[k]) -
                               start[i]);
    }
    return KILN_OK;
}

static kiln_status build(kiln_ring_volume *rings, const kiln_mesh *mesh, size_t rows,
                         const uint8_t *keeps, kiln_error *error)
{
    rings->rows = rows;
    KILN_TRY(kiln_array_reserve(rings->context, &rings->first, rings->rows + 1, error));
    KILN_TRY(list_stars(rings, mesh, keeps, error));
    const kiln_cliques cliques = {
        .count = rings->corner.count / 4, .size = 4, .row = rings->corner.data};
    KILN_TRY(kiln_equations_set_pattern(&rings->equations, rings->rows, &cliques, 1, error));
    return find_places(rings, mesh, error);
}

kiln_status kiln_ring_volume_build(kiln_ring_volume *rings, const kiln_mesh *mesh, size_t rows,
                                   const uint8_t *keeps, kiln_error *error)
{
    kiln_status status = build(rings, mesh, rows, keeps, error);
    if (status != KILN_OK)
        kiln_ring_volume_free(rings);
    return status;
}

/* What the loops over rows share. */
typedef struct ring_loop {
    kiln_ring_volume *rings;
    const kiln_mesh *mesh;
    const double *in;          /* x, or by tet slot */
    const double *from;        /* x before; NULL: none */
    const double *p, *density; /* [row], or x; [tet slot] */
    kiln_vec3 field;
    double scale, *out;
    const uint64_t *blocks;
    kiln_bsr *H;
} ring_loop;

/* From the first corner to the others. */
static void edges_of(const kiln_tet *tet, const double *x, kiln_vec3 e[4])
{
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = kiln_v3(x[3 * (size_t)tet->v[k]], x[3 * (size_t)tet->v[k] + 1],
                       x[3 * (size_t)tet->v[k] + 2]);
    for (int k = 1; k < 4; k++)
        e[k] = kiln_v3_sub(p[k], p[0]);
}

static double volume_of(const kiln_tet *tet, const double *x)
{
    kiln_vec3 e[4];
    edges_of(tet, x, e);
    return kiln_v3_dot(kiln_v3_scale(kiln_v3_cross(e[1], e[2]), 1.0 / 6.0), e[3]);
}

double kiln_ring_volume_gradients(const kiln_tet *tet, const double *x, double g[4][3])
{
    kiln_vec3 e[4];
    edges_of(tet, x, e);
    kiln_vec3 c[4] = {
        {0, 0, 0}, kiln_v3_cross(e[2], e[3]), kiln_v3_cross(e[3], e[1]), kiln_v3_cross(e[1], e[2])};
    for (int k = 1; k < 4; k++) {
        c[k] = kiln_v3_scale(c[k], 1.0 / 6.0);
        c[0] = kiln_v3_sub(c[0], c[k]);
    }
    for (int k = 0; k < 4; k++) {
        g[k][0] = c[k].x;
        g[k][1] = c[k].y;
        g[k][2] = c[k].z;
    }
    return kiln_v3_dot(c[3], e[3]);
}

/* Each tet is in four rows: what they take from it is found once, before they sum it up. */

static void find_volumes(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    for (size_t i = begin; i < end; i++) {
        uint32_t t = m->rings->kept.data[i];
        const kiln_tet *tet = &m->mesh->tet[t];
        double volume = volume_of(tet, m->in);
        m->rings->part.data[t] = m->from ? volume - volume_of(tet, m->from) : volume;
    }
}

static void find_gradients(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    double g[4][3];
    for (size_t i = begin; i < end; i++) {
        uint32_t t = m->rings->kept.data[i];
        kiln_ring_volume_gradients(&m->mesh->tet[t], m->in, g);
        memcpy(&m->rings->part.data[PART * (size_t)t], g, sizeof g);
    }
}

static void find_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    for (size_t i = begin; i < end; i++) {
        double sum = 0.0;
        for (uint64_t s = m->rings->first.data[i]; s < m->rings->first.data[i + 1]; s++)
            sum += m->rings->part.data[m->rings->tet.data[s] / 4];
        m->out[i] = 0.25 * sum;
    }
}

void kiln_ring_volume_find(const kiln_ring_volume *rings, const kiln_mesh *mesh, const double *from,
                           const double *x, double *out)
{
    ring_loop m = {
        .rings = (kiln_ring_volume *)rings, .mesh = mesh, .in = x, .from = from, .out = out};
    kiln_parallel_for(rings->context, rings->kept.count, TETS, find_volumes, &m);
    kiln_parallel_for(rings->context, rings->rows, GRAIN, find_rows, &m);
}

static void add_gradient_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = m->rings->first.data[i]; s < m->rings->first.data[i + 1]; s++) {
            uint32_t at = m->rings->tet.data[s]; /* 4 tet + corner */
            const double *g = &m->rings->part.data[3 * (size_t)at];
            double mean = 0.0;
            for (int k = 0; k < 4; k++)
                mean += 0.25 * m->p[m->mesh->tet[at / 4].v[k]];
            for (int c = 0; c < 3; c++)
                m->out[3 * i + c] += m->scale * mean * g[c];
        }
}

void kiln_ring_volume_add_gradient(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                   const double *x, const double *p, double scale, double *g)
{
    ring_loop m = {.rings = (kiln_ring_volume *)rings,
                   .mesh = mesh,
                   .in = x,
                   .p = p,
                   .scale = scale,
                   .out = g};
    kiln_parallel_for(rings->context, rings->kept.count, TETS, find_gradients, &m);
    kiln_parallel_for(rings->context, rings->rows, GRAIN, add_gradient_rows, &m);
}

/* Of the volume: -[x_d - x_c]x / 6 at (a, b), (a, b, c, d) an even order of the corners. */
static void add_edge(double *to, size_t stride, double scale, kiln_vec3 edge)
{
    to[1] -= scale * edge.z;
    to[2] += scale * edge.y;
    to[stride] += scale * edge.z;
    to[stride + 2] -= scale * edge.x;
    to[2 * stride] -= scale * edge.y;
    to[2 * stride + 1] += scale * edge.x;
}

void kiln_ring_volume_add_edge(const kiln_mesh *mesh, uint32_t tet, uint32_t own, uint32_t other,
                               const double *x, double factor, uint32_t row, uint64_t block,
                               kiln_bsr *H)
{
    static const uint8_t others[4][4][2] = {{{0, 0}, {2, 3}, {3, 1}, {1, 2}},
                                            {{3, 2}, {0, 0}, {0, 3}, {2, 0}},
                                            {{1, 3}, {3, 0}, {0, 0}, {0, 1}},
                                            {{2, 1}, {0, 2}, {1, 0}, {0, 0}}};
    const uint32_t *v = mesh->tet[tet].v;
    const double *c = x + 3 * (size_t)v[others[own][other][0]];
    const double *d = x + 3 * (size_t)v[others[own][other][1]];
    size_t stride;
    double *to = kiln_bsr_at(H, row, block, &stride);
    add_edge(to, stride, -factor / 6.0, kiln_v3(d[0] - c[0], d[1] - c[1], d[2] - c[2]));
}

static void add_hessian_entry(const ring_loop *m, uint32_t row, uint64_t entry)
{
    const uint32_t tet = m->rings->tet.data[entry] / 4, own = m->rings->tet.data[entry] % 4;
    double mean = 0.0;
    for (int k = 0; k < 4; k++)
        mean += 0.25 * m->p[m->mesh->tet[tet].v[k]];
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t block = m->blocks[4 * entry + k];
        if (k != own && block != UINT64_MAX)
            kiln_ring_volume_add_edge(m->mesh, tet, own, k, m->in, m->scale * mean, row, block,
                                      m->H);
    }
}

static void add_hessian_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = m->rings->first.data[i]; s < m->rings->first.data[i + 1]; s++)
            add_hessian_entry(m, (uint32_t)i, s);
}

void kiln_ring_volume_add_hessian(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                  const double *x, const double *p, double scale,
                                  const uint64_t *blocks, kiln_bsr *H)
{
    ring_loop m = {.rings = (kiln_ring_volume *)rings,
                   .mesh = mesh,
                   .in = x,
                   .p = p,
                   .scale = scale,
                   .blocks = blocks,
                   .H = H};
    kiln_parallel_for(rings->context, rings->rows, GRAIN, add_hessian_rows, &m);
}

void kiln_ring_volume_find_blocks(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                  const kiln_bsr *H, uint64_t *blocks)
{
    for (uint32_t i = 0; i < rings->rows; i++)
        for (uint64_t s = rings->first.data[i]; s < rings->first.data[i + 1]; s++)
            for (int k = 0; k < 4; k++) {
                uint32_t j = mesh->tet[rings->tet.data[s] / 4].v[k];
                blocks[4 * s + k] = j <= i ? UINT64_MAX : kiln_bsr_find(H, i, j);
            }
}

static void linearise_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    kiln_ring_volume *r = m->rings;
    const uint64_t *start = r->equations.start.data;
    for (size_t i = begin; i < end; i++) {
        double *row = r->equations.value.data + 3 * start[i];
        memset(row, 0, 3 * (size_t)(start[i + 1] - start[i]) * sizeof *row);
        for (uint64_t s = r->first.data[i]; s < r->first.data[i + 1]; s++) {
            const double *g = &r->part.data[PART * (size_t)(r->tet.data[s] / 4)];
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++)
                    row[3 * r->place.data[4 * s + k] + c] += 0.25 * g[3 * k + c];
        }
    }
}

void kiln_ring_volume_linearise(kiln_ring_volume *rings, const kiln_mesh *mesh, const double *x)
{
    ring_loop m = {.rings = rings, .mesh = mesh, .in = x};
    kiln_parallel_for(rings->context, rings->kept.count, TETS, find_gradients, &m);
    kiln_parallel_for(rings->context, rings->rows, GRAIN, linearise_rows, &m);
}

static const double MEAN_SHARE = 0.0625;

/* Of a tet whose part in C is 1: what is left of a pressure once its mean is taken out. */
static double share(bool same)
{
    return (same ? 0.1 : 0.05) - MEAN_SHARE;
}

static void stabilise_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    kiln_ring_volume *r = m->rings;
    const kiln_bsr *C = m->H;
    for (size_t i = begin; i < end; i++) {
        size_t upper = (size_t)(C->start[i + 1] - C->start[i]);
        size_t ring = (size_t)(r->equations.start.data[i + 1] - r->equations.start.data[i]);
        double *row = C->value + C->start[i];
        memset(row, 0, upper * sizeof *row);
        for (uint64_t s = r->first.data[i]; s < r->first.data[i + 1]; s++) {
            uint32_t t = r->tet.data[s] / 4, own = r->tet.data[s] % 4;
            for (uint32_t k = 0; k < 4; k++) {
                size_t place = r->place.data[4 * s + k];
                if (place >= ring - upper)
                    row[place - (ring - upper)] += m->in[t] * share(k == own);
            }
        }
        if (r->first.data[i] == r->first.data[i + 1])
            row[0] = 1.0;
    }
}

void kiln_ring_volume_stabilise(kiln_ring_volume *rings, const double *give)
{
    ring_loop m = {.rings = rings, .in = give, .H = &rings->equations.give};
    kiln_parallel_for(rings->context, rings->rows, GRAIN, stabilise_rows, &m);
}

static void add_hydrostatic_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const ring_loop *m = user;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = m->rings->first.data[i]; s < m->rings->first.data[i + 1]; s++) {
            uint32_t t = m->rings->tet.data[s] / 4, own = m->rings->tet.data[s] % 4;
            const double *at = m->p + 3 * i; /* constants are nothing to C */
            double sum = 0.0;
            for (uint32_t k = 0; k < 4; k++) {
                const double *x = m->p + 3 * (size_t)m->mesh->tet[t].v[k];
                kiln_vec3 arm = kiln_v3(x[0] - at[0], x[1] - at[1], x[2] - at[2]);
                sum += share(k == own) * kiln_v3_dot(m->field, arm);
            }
            m->out[i] += m->in[t] * m->density[t] * sum;
        }
}

void kiln_ring_volume_add_hydrostatic(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                      const double *give, const double *density, kiln_vec3 field,
                                      const double *x, double *out)
{
    ring_loop m = {.rings = (kiln_ring_volume *)rings,
                   .mesh = mesh,
                   .in = give,
                   .p = x,
                   .density = density,
                   .field = field,
                   .out = out};
    kiln_parallel_for(rings->context, rings->rows, GRAIN, add_hydrostatic_rows, &m);
}
