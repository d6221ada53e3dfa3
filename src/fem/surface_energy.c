#include "fem/surface_energy.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 512 };

/* Triangles that are flatter than this, in squares of their edges, have no normal to speak of; the
 * cotangents of flat ones are cut off. */
static const double NO_AREA = 1e-12, LARGEST_COTANGENT = 1e3;

typedef struct tense_face {
    uint32_t v[3]; /* outward */
    uint32_t slot; /* of the surface; KILN_NONE: within */
    double gamma;  /* N/m */
} tense_face;

struct kiln_surface_energy {
    kiln_context *context;
    size_t rows;
    KILN_ARRAY_OF(tense_face)
    face;
    KILN_ARRAY_OF(uint64_t)
    first;               /* [rows + 1] */
    kiln_u32_array star; /* [entry] face * 3 + corner, ascending in a row */
    KILN_ARRAY_OF(uint64_t)
    block;               /* [entry][3] in the matrix; none before the row */
    kiln_f64_array sums; /* [chunk] */
    bool exact;
    kiln_term term;
};

static const uint64_t NO_BLOCK = UINT64_MAX;

/* One triangle at x. */
typedef struct triangle {
    kiln_vec3 E[3]; /* edges opposite the corners */
    kiln_vec3 n;    /* unit; 0 where there is none */
    double area;
} triangle;

static kiln_vec3 place_of(const double *x, uint32_t row)
{
    return kiln_v3(x[3 * (size_t)row], x[3 * (size_t)row + 1], x[3 * (size_t)row + 2]);
}

static triangle triangle_at(const tense_face *face, const double *x)
{
    triangle t;
    kiln_vec3 p[3];
    double longest = 0.0;
    for (int k = 0; k < 3; k++)
        p[k] = place_of(x, face->v[k]);
    for (int k = 0; k < 3; k++) {
        t.E[k] = kiln_v3_sub(p[(k + 1) % 3], p[(k + 2) % 3]);
        longest = fmax(longest, kiln_v3_dot(t.E[k], t.E[k]));
    }
    kiln_vec3 twice = kiln_v3_cross(t.E[2], t.E[0]);
    double size = kiln_v3_norm(twice);
    t.area = 0.5 * size;
    t.n = t.area > NO_AREA * longest ? kiln_v3_scale(twice, 1.0 / size) : kiln_v3(0, 0, 0);
    return t;
}

/* From x0 to x1, exact to rounding of the change: |b| - |a| = (b - a) . (b + a) / (|a| + |b|). */
static double area_change(const tense_face *face, const double *x0, const double *x1)
{
    kiln_vec3 e[2], f[2], d[2];
    for (int k = 0; k < 2; k++) {
        e[k] = kiln_v3_sub(place_of(x0, face->v[k + 1]), place_of(x0, face->v[0]));
        f[k] = kiln_v3_sub(place_of(x1, face->v[k + 1]), place_of(x1, face->v[0]));
        d[k] = kiln_v3_sub(f[k], e[k]);
    }
    kiln_vec3 a = kiln_v3_cross(e[0], e[1]), b = kiln_v3_cross(f[0], f[1]);
    kiln_vec3 change = kiln_v3_add(kiln_v3_cross(d[0], f[1]), kiln_v3_cross(e[0], d[1]));
    double sizes = kiln_v3_norm(a) + kiln_v3_norm(b);
    return sizes > 0.0 ? 0.5 * kiln_v3_dot(change, kiln_v3_add(a, b)) / sizes : 0.0;
}

typedef struct face_loop {
    kiln_surface_energy *energy;
    const double *x, *from; /* NULL: the value itself */
    double scale, *g;
    kiln_bsr *H;
} face_loop;

static void sum_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const face_loop *m = user;
    double sum = 0.0;
    for (size_t f = begin; f < end; f++) {
        const tense_face *face = &m->energy->face.data[f];
        sum += face->gamma *
               (m->from ? area_change(face, m->from, m->x) : triangle_at(face, m->x).area);
    }
    m->energy->sums.data[chunk] = sum;
}

static double sum_faces(kiln_surface_energy *energy, const double *from, const double *x)
{
    face_loop m = {.energy = energy, .x = x, .from = from};
    double sum = 0.0;
    kiln_parallel_for(energy->context, energy->face.count, GRAIN, sum_chunk, &m);
    for (size_t c = 0; c < kiln_chunk_count(energy->face.count, GRAIN); c++)
        sum += energy->sums.data[c];
    return sum;
}

static double value(void *self, const double *x)
{
    return sum_faces(self, NULL, x);
}

static double delta(void *self, const double *x0, const double *x1)
{
    return sum_faces(self, x0, x1);
}

/* normal n n' + along (I - n n') + turn [n]x */
static kiln_mat3 block_of(kiln_vec3 axis, double normal, double along, double turn)
{
    const double n[3] = {axis.x, axis.y, axis.z};
    kiln_mat3 block;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            block.m[r][c] = (normal - along) * n[r] * n[c] + (r == c ? along : 0.0);
    block.m[0][1] -= turn * n[2];
    block.m[1][0] += turn * n[2];
    block.m[0][2] += turn * n[1];
    block.m[2][0] -= turn * n[1];
    block.m[1][2] -= turn * n[0];
    block.m[2][1] += turn * n[0];
    return block;
}

/* The block (i, j) of gamma times the Hessian, or of its PSD part. */
static kiln_mat3 hessian_block(const triangle *t, double gamma, bool exact, int i, int j)
{
    static const double COSINE[3] = {1.0, -0.5, -0.5};
    static const double SINE[3] = {0.0, 0.86602540378443864676, -0.86602540378443864676};
    static const double TRUE_TURN[3] = {0.0, 0.5, -0.5};
    int turn = (i - j + 3) % 3;
    double part = 0.28867513459481288225; /* sqrt(3) / 6 */
    double limit = LARGEST_COTANGENT, normal = 0.0;
    if (gamma > 0.0 || exact)
        normal = gamma * fmin(limit, fmax(-limit, kiln_v3_dot(t->E[i], t->E[j]) / (4 * t->area)));
    if (exact)
        return block_of(t->n, normal, 0.0, gamma * TRUE_TURN[turn]);
    return block_of(t->n, normal, fabs(gamma) * part * COSINE[turn], gamma * part * SINE[turn]);
}
static void add_blocks(const face_loop *m, uint32_t row, uint64_t entry, const triangle *t)
{
    const kiln_surface_energy *energy = m->energy;
    uint32_t at = energy->star.data[entry];
    double gamma = m->scale * energy->face.data[at / 3].gamma;
    for (int k = 0; k < 3; k++) {
        uint64_t block = energy->block.data[3 * entry + k];
        if (block == NO_BLOCK)
            continue;
        size_t stride;
        double *to = kiln_bsr_at(m->H, row, block, &stride);
        kiln_mat3 h = hessian_block(t, gamma, energy->exact, (int)(at % 3), k);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                to[r * stride + c] += h.m[r][c];
    }
}

/* Row by row, so that each is written by one chunk and in one order. */
static void add_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const face_loop *m = user;
    const kiln_surface_energy *energy = m->energy;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = energy->first.data[i]; s < energy->first.data[i + 1]; s++) {
            uint32_t at = energy->star.data[s];
            const tense_face *face = &energy->face.data[at / 3];
            triangle t = triangle_at(face, m->x);
            if (t.n.x == 0.0 && t.n.y == 0.0 && t.n.z == 0.0)
                continue;
            kiln_vec3 force =
                kiln_v3_scale(kiln_v3_cross(t.E[at % 3], t.n), 0.5 * m->scale * face->gamma);
            m->g[3 * i] += force.x;
            m->g[3 * i + 1] += force.y;
            m->g[3 * i + 2] += force.z;
            if (m->H)
                add_blocks(m, (uint32_t)i, s, &t);
        }
}

static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_surface_energy *energy = self;
    face_loop m = {.energy = energy, .x = x, .scale = scale, .g = g, .H = H};
    kiln_parallel_for(energy->context, energy->rows, GRAIN, add_rows, &m);
}

static bool set_exact(void *self, bool exact)
{
    kiln_surface_energy *energy = self;
    energy->exact = exact;
    return energy->face.count > 0;
}

static kiln_status attach(void *self, const kiln_bsr *H, kiln_error *error)
{
    kiln_surface_energy *energy = self;
    KILN_TRY(
        kiln_array_reserve(energy->context, &energy->block, 9 * energy->face.count + 1, error));
    for (uint32_t i = 0; i < energy->rows; i++)
        for (uint64_t s = energy->first.data[i]; s < energy->first.data[i + 1]; s++)
            for (int k = 0; k < 3; k++) {
                uint32_t j = energy->face.data[energy->star.data[s] / 3].v[k];
                energy->block.data[3 * s + k] = j < i ? NO_BLOCK : kiln_bsr_find(H, i, j);
            }
    return KILN_OK;
}

kiln_status kiln_surface_energy_create(kiln_context *context, kiln_surface_energy **out,
                                       kiln_error *error)
{
    kiln_surface_energy *energy = kiln_resize(context, NULL, 0, sizeof *energy);
    if (!energy)
        return kiln_fail_memory(error, sizeof *energy);
    *energy = (kiln_surface_energy){.context = context,
                                    .term = {.name = "surface tension",
                                             .self = energy,
                                             .weight = 1.0,
                                             .value = value,
                                             .delta = delta,
                                             .add = add,
                                             .set_exact = set_exact,
                                             .attach = attach}};
    *out = energy;
    return KILN_OK;
}

void kiln_surface_energy_destroy(kiln_surface_energy *energy)
{
    if (!energy)
        return;
    kiln_array_free(energy->context, &energy->face);
    kiln_array_free(energy->context, &energy->first);
    kiln_array_free(energy->context, &energy->star);
    kiln_array_free(energy->context, &energy->block);
    kiln_array_free(energy->context, &energy->sums);
    kiln_release(energy->context, energy, sizeof *energy);
}

static kiln_status list_face(kiln_surface_energy *energy, const kiln_mesh *mesh, uint32_t at,
                             uint32_t slot, double gamma, kiln_error *error)
{
    tense_face face = {.slot = slot, .gamma = gamma};
    for (int k = 0; k < 3; k++)
        face.v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return kiln_array_push(energy->context, &energy->face, face, error);
}

static kiln_status list_faces(kiln_surface_energy *energy, const kiln_mesh *mesh,
                              const double *gamma, const kiln_tense_links *within,
                              kiln_error *error)
{
    energy->face.count = 0;
    for (size_t i = 0; i < within->count; i++)
        KILN_TRY(
            list_face(energy, mesh, within->data[i].at, KILN_NONE, within->data[i].gamma, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        if (at != KILN_NONE && gamma[f] != 0.0)
            KILN_TRY(list_face(energy, mesh, at, f, gamma[f], error));
    }
    return KILN_OK;
}

static void list_stars(kiln_surface_energy *energy)
{
    uint64_t *first = energy->first.data;
    memset(first, 0, (energy->rows + 1) * sizeof *first);
    for (size_t f = 0; f < energy->face.count; f++)
        for (int k = 0; k < 3; k++)
            first[energy->face.data[f].v[k] + 1]++;
    for (size_t i = 0; i < energy->rows; i++)
        first[i + 1] += first[i];
    for (uint32_t f = 0; f < energy->face.count; f++)
        for (uint32_t k = 0; k < 3; k++)
            energy->star.data[first[energy->face.data[f].v[k]]++] = 3 * f + k;
    memmove(first + 1, first, energy->rows * sizeof *first);
    first[0] = 0;
}

static kiln_status build(kiln_surface_energy *energy, const kiln_mesh *mesh, const double *gamma,
                         const kiln_tense_links *within, kiln_error *error)
{
    kiln_context *context = energy->context;
    energy->rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(list_faces(energy, mesh, gamma, within, error));
    KILN_TRY(kiln_array_reserve(context, &energy->first, energy->rows + 1, error));
    KILN_TRY(kiln_array_reserve(context, &energy->star, 3 * energy->face.count + 1, error));
    KILN_TRY(kiln_array_reserve(context, &energy->sums,
                                kiln_chunk_count(energy->face.count, GRAIN) + 1, error));
    list_stars(energy);
    return KILN_OK;
}

kiln_status kiln_surface_energy_build(kiln_surface_energy *energy, const kiln_mesh *mesh,
                                      const double *gamma, const kiln_tense_links *within,
                                      kiln_error *error)
{
    kiln_status status = build(energy, mesh, gamma, within, error);
    if (status != KILN_OK)
        energy->rows = energy->face.count = 0;
    return status;
}

void kiln_surface_energy_set(kiln_surface_energy *energy, const double *gamma)
{
    for (size_t f = 0; f < energy->face.count; f++)
        if (energy->face.data[f].slot != KILN_NONE)
            energy->face.data[f].gamma = gamma[energy->face.data[f].slot];
}

kiln_term *kiln_surface_energy_term(kiln_surface_energy *energy)
{
    return &energy->term;
}
