#include "fem/weight.h"

#include "base/parallel.h"

enum { GRAIN = 256, TETS = 512 };

/* A tet at x: gradients of its volume, by how much it is heavier than its mass, and a . (x_t - c).
 */
typedef struct heavy_tet {
    double g[4][3];
    double more, height;
} heavy_tet;
_Static_assert(sizeof(heavy_tet) == KILN_RING_PART * sizeof(double), "rings have room for these");

static heavy_tet look_at(const kiln_weight *w, uint32_t t, const double *x)
{
    heavy_tet tet;
    const double *c = w->centre + 3 * (size_t)w->mesh->info[t].part;
    kiln_vec3 mean = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        const double *p = x + 3 * (size_t)w->mesh->tet[t].v[k];
        mean = kiln_v3_madd(mean, 0.25, kiln_v3(p[0] - c[0], p[1] - c[1], p[2] - c[2]));
    }
    double volume = kiln_ring_volume_gradients(&w->mesh->tet[t], x, tet.g);
    tet.more = w->density[t] * volume - w->mass[t];
    tet.height = kiln_v3_dot(w->acceleration, mean);
    return tet;
}

typedef struct weight_loop {
    const kiln_weight *weight;
    const double *from, *x;
    double scale, *g;
    kiln_bsr *H;
} weight_loop;

static void find_changes(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const weight_loop *m = user;
    const kiln_weight *w = m->weight;
    for (size_t i = begin; i < end; i++) {
        uint32_t t = w->rings->kept.data[i];
        if (w->density[t] == 0.0)
            continue;
        heavy_tet now = look_at(w, t, m->x);
        double change = now.more * now.height;
        if (m->from) {
            heavy_tet before = look_at(w, t, m->from);
            change =
                (now.more - before.more) * now.height + before.more * (now.height - before.height);
        }
        w->rings->part.data[t] = change;
    }
}

double kiln_weight_value(const kiln_weight *w, const double *from, const double *x)
{
    double sum = 0.0;
    weight_loop m = {.weight = w, .from = from, .x = x};
    kiln_parallel_for(w->rings->context, w->rings->kept.count, TETS, find_changes, &m);
    for (size_t i = 0; i < w->rings->kept.count; i++) {
        uint32_t t = w->rings->kept.data[i];
        sum -= w->density[t] == 0.0 ? 0.0 : w->rings->part.data[t];
    }
    return sum;
}

static heavy_tet *heavy_tets(const kiln_weight *w)
{
    return (heavy_tet *)(void *)w->rings->part.data;
}

/* Once, and not for each of its corners. */
static void look_at_all(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const weight_loop *m = user;
    for (size_t i = begin; i < end; i++) {
        uint32_t t = m->weight->rings->kept.data[i];
        if (m->weight->density[t] != 0.0)
            heavy_tets(m->weight)[t] = look_at(m->weight, t, m->x);
    }
}

/* H_ij of rho V a . (x_t - c), without that of V, which is an edge's (ring_volume.c). */
static void add_block(const weight_loop *m, double factor, const double gi[3], const double gj[3],
                      uint32_t row, uint64_t block)
{
    const kiln_vec3 acceleration = m->weight->acceleration;
    const double a[3] = {acceleration.x, acceleration.y, acceleration.z};
    size_t stride;
    double *to = kiln_bsr_at(m->H, row, block, &stride);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            to[r * stride + c] += 0.25 * factor * (a[r] * gj[c] + gi[r] * a[c]);
}

static void add_entry(const weight_loop *m, uint32_t row, uint64_t entry)
{
    const kiln_weight *w = m->weight;
    uint32_t t = w->rings->tet.data[entry] / 4, own = w->rings->tet.data[entry] % 4;
    if (w->density[t] == 0.0)
        return;
    const heavy_tet tet = heavy_tets(w)[t];
    const kiln_vec3 acceleration = w->acceleration;
    const double a[3] = {acceleration.x, acceleration.y, acceleration.z};
    for (int c = 0; c < 3; c++)
        m->g[3 * (size_t)row + c] -=
            m->scale * (w->density[t] * tet.height * tet.g[own][c] + 0.25 * tet.more * a[c]);
    if (!m->H || !w->exact)
        return;
    double factor = -m->scale * w->density[t];
    add_block(m, factor, tet.g[own], tet.g[own], row, m->H->start[row]);
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t block = w->blocks[4 * entry + k];
        if (k == own || block == UINT64_MAX)
            continue;
        add_block(m, factor, tet.g[own], tet.g[k], row, block);
        kiln_ring_volume_add_edge(w->mesh, t, own, k, m->x, factor * tet.height, row, block, m->H);
    }
}

static void add_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const weight_loop *m = user;
    const kiln_ring_volume *rings = m->weight->rings;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = rings->first.data[i]; s < rings->first.data[i + 1]; s++)
            add_entry(m, (uint32_t)i, s);
}

void kiln_weight_add(const kiln_weight *weight, const double *x, double scale, double *g,
                     kiln_bsr *H)
{
    weight_loop m = {.weight = weight, .x = x, .scale = scale, .g = g, .H = H};
    kiln_parallel_for(weight->rings->context, weight->rings->kept.count, TETS, look_at_all, &m);
    kiln_parallel_for(weight->rings->context, weight->rings->rows, GRAIN, add_rows, &m);
}
