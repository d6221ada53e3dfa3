#include "fem/thermal_stress.h"

#include "base/parallel.h"
#include "fem/offset.h"
#include "fem/principal.h"
#include "fem/vertex_stars.h"

#include <string.h>

enum { GRAIN = 256 };

typedef struct thermal_tet {
    kiln_mat3 B;   /* F = Dw B */
    double volume; /* at rest; 0: none */
    kiln_dilation dilation;
} thermal_tet;

struct kiln_thermal_stress {
    kiln_context *context;
    kiln_vertex_stars stars;
    KILN_ARRAY_OF(thermal_tet)
    tet;                     /* [slot] */
    kiln_f64_array pressure; /* [slot] */
    kiln_f64_array sums;     /* [chunk] */
    kiln_term term;
};

static kiln_mat3 deformation(const kiln_thermal_stress *stress, size_t tet, const double *x)
{
    const uint32_t *v = &stress->stars.corner.data[4 * tet];
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++) {
        const double *at = x + 3 * (size_t)v[k];
        p[k] = kiln_v3(at[0], at[1], at[2]);
    }
    return kiln_m3_mul(
        kiln_m3_columns(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]), kiln_v3_sub(p[3], p[0])),
        stress->tet.data[tet].B);
}

typedef struct stress_loop {
    kiln_thermal_stress *stress;
    const double *x, *from; /* NULL: the value itself */
    double scale, *g;
    kiln_bsr *H;
} stress_loop;

static void sum_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const stress_loop *l = user;
    double sum = 0.0;
    for (size_t i = begin; i < end; i++) {
        const thermal_tet *t = &l->stress->tet.data[i];
        double p = l->stress->pressure.data[i];
        if (p == 0.0)
            continue;
        kiln_mat3 F = deformation(l->stress, i, l->x);
        double theta = kiln_dilation_value(t->dilation, &F);
        if (l->from) {
            F = deformation(l->stress, i, l->from);
            theta -= kiln_dilation_value(t->dilation, &F);
        }
        sum += t->volume * p * theta;
    }
    l->stress->sums.data[chunk] = sum;
}

static double sum_tets(kiln_thermal_stress *stress, const double *from, const double *x)
{
    stress_loop l = {.stress = stress, .x = x, .from = from};
    double sum = 0.0;
    kiln_parallel_for(stress->context, stress->stars.tets, GRAIN, sum_chunk, &l);
    for (size_t c = 0; c < kiln_chunk_count(stress->stars.tets, GRAIN); c++)
        sum += stress->sums.data[c];
    return sum;
}

static double value(void *self, const double *x)
{
    return sum_tets(self, NULL, x);
}

static double delta(void *self, const double *x0, const double *x1)
{
    return sum_tets(self, x0, x1);
}

/* p J, p tr S, p tr (F'F - I) / 2 in singular values. */
static void by_volume(double mu, double lambda, double p, const double s[3], kiln_principal *out)
{
    (void)mu, (void)lambda;
    kiln_principal_of_invariants(&(kiln_invariants){.j = p}, s, out);
}

static void by_green(double mu, double lambda, double p, const double s[3], kiln_principal *out)
{
    (void)mu, (void)lambda;
    kiln_principal_of_invariants(&(kiln_invariants){.i = 0.5 * p}, s, out);
}

static void by_stretch(double mu, double lambda, double p, const double s[3], kiln_principal *out)
{
    (void)mu, (void)lambda;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 3; k++) {
        double sum = s[(k + 1) % 3] + s[(k + 2) % 3];
        out->p[k] = p;
        out->plus[k] = 2.0 * p / fmax(sum, KILN_PRINCIPAL_SMALLEST_SUM);
    }
}

/* The corner's column of dF / dx: B' e, with minus their sum for the first one. */
static kiln_vec3 lever_of(const thermal_tet *t, uint32_t corner)
{
    const kiln_mat3 *B = &t->B;
    if (corner > 0)
        return kiln_v3(B->m[corner - 1][0], B->m[corner - 1][1], B->m[corner - 1][2]);
    return kiln_v3(-(B->m[0][0] + B->m[1][0] + B->m[2][0]), -(B->m[0][1] + B->m[1][1] + B->m[2][1]),
                   -(B->m[0][2] + B->m[1][2] + B->m[2][2]));
}

static void add_block(const stress_loop *l, uint32_t row, uint32_t column, const double W[9][9],
                      kiln_vec3 left, kiln_vec3 right, double scale)
{
    const double a[3] = {left.x, left.y, left.z}, b[3] = {right.x, right.y, right.z};
    size_t stride;
    double *to = kiln_bsr_at(l->H, row, kiln_bsr_find(l->H, row, column), &stride);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double sum = 0.0;
            for (int j = 0; j < 3; j++)
                for (int m = 0; m < 3; m++)
                    sum += a[j] * W[3 * i + j][3 * k + m] * b[m];
            to[(size_t)i * stride + (size_t)k] += scale * sum;
        }
}

static void add_hessian(const stress_loop *l, uint32_t at, const kiln_mat3 *F, double scale)
{
    static const kiln_principal_function principal[] = {[KILN_DILATION_STRETCH] = by_stretch,
                                                        [KILN_DILATION_VOLUME] = by_volume,
                                                        [KILN_DILATION_GREEN] = by_green,
                                                        [KILN_DILATION_CHANGE] = by_volume};
    const thermal_tet *t = &l->stress->tet.data[at / 4];
    if (t->dilation == KILN_DILATION_TRACE)
        return; /* linear in F */
    double W[9][9];
    kiln_principal_hessian(principal[t->dilation], 0.0, 0.0, l->stress->pressure.data[at / 4], F,
                           true, W);
    const uint32_t *v = &l->stress->stars.corner.data[at - at % 4];
    for (uint32_t b = 0; b < 4; b++)
        if (v[b] >= v[at % 4])
            add_block(l, v[at % 4], v[b], W, lever_of(t, at % 4), lever_of(t, b), scale);
}

/* Row by row, so that each is written by one chunk and in one order. */
static void add_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const stress_loop *l = user;
    const kiln_thermal_stress *stress = l->stress;
    for (size_t i = begin; i < end; i++)
        for (uint64_t s = stress->stars.first.data[i]; s < stress->stars.first.data[i + 1]; s++) {
            uint32_t at = stress->stars.tet.data[s];
            const thermal_tet *t = &stress->tet.data[at / 4];
            double p = stress->pressure.data[at / 4];
            if (p == 0.0)
                continue;
            kiln_mat3 F = deformation(stress, at / 4, l->x), slope;
            kiln_dilation_gradient(t->dilation, &F, &slope);
            kiln_vec3 force = kiln_m3_apply(slope, lever_of(t, at % 4));
            double scale = l->scale * t->volume;
            l->g[3 * i] += scale * p * force.x;
            l->g[3 * i + 1] += scale * p * force.y;
            l->g[3 * i + 2] += scale * p * force.z;
            if (l->H)
                add_hessian(l, at, &F, scale);
        }
}

static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_thermal_stress *stress = self;
    stress_loop l = {.stress = stress, .x = x, .scale = scale, .g = g, .H = H};
    kiln_parallel_for(stress->context, stress->stars.rows, GRAIN, add_rows, &l);
}

kiln_status kiln_thermal_stress_create(kiln_context *context, kiln_thermal_stress **out,
                                       kiln_error *error)
{
    kiln_thermal_stress *stress = kiln_resize(context, NULL, 0, sizeof *stress);
    *out = stress;
    if (!stress)
        return kiln_fail_memory(error, sizeof *stress);
    *stress = (kiln_thermal_stress){.context = context,
                                    .term = {.name = "thermal stress",
                                             .self = stress,
                                             .weight = 1.0,
                                             .value = value,
                                             .delta = delta,
                                             .add = add}};
    return KILN_OK;
}

void kiln_thermal_stress_destroy(kiln_thermal_stress *stress)
{
    if (!stress)
        return;
    kiln_context *context = stress->context;
    kiln_array_free(context, &stress->tet);
    kiln_array_free(context, &stress->pressure);
    kiln_vertex_stars_free(&stress->stars, context);
    kiln_array_free(context, &stress->sums);
    kiln_release(context, stress, sizeof *stress);
}

static thermal_tet tet_of(const kiln_mesh *mesh, uint32_t t, const kiln_offsets *offsets,
                          kiln_dilation dilation)
{
    const uint32_t *v = mesh->tet[t].v;
    const kiln_vec3 *u = mesh->u;
    kiln_mat3 Dm = kiln_m3_columns(kiln_v3_sub(u[v[1]], u[v[0]]), kiln_v3_sub(u[v[2]], u[v[0]]),
                                   kiln_v3_sub(u[v[3]], u[v[0]]));
    thermal_tet out = {.B = kiln_m3_inverse(Dm), .dilation = dilation};
    out.volume = kiln_mesh_tet_volume(mesh, t);
    if (!offsets->shape)
        return out;
    kiln_mat3 map = kiln_offset_map(&offsets->shape[t], out.volume, offsets->rest_volume[t]);
    out.B = kiln_m3_mul(out.B, map);
    out.volume = offsets->rest_volume[t];
    return out;
}

kiln_status kiln_thermal_stress_build(kiln_thermal_stress *stress, const kiln_mesh *mesh,
                                      const kiln_material *materials, const uint32_t *material_of,
                                      kiln_error *error)
{
    kiln_context *context = stress->context;
    const kiln_offsets offsets = kiln_offsets_of(mesh);
    KILN_TRY(kiln_vertex_stars_build(&stress->stars, mesh, error));
    size_t tets = stress->stars.tets;
    KILN_TRY(kiln_array_reserve(context, &stress->tet, tets + 1, error));
    KILN_TRY(kiln_array_reserve(context, &stress->pressure, tets + 1, error));
    KILN_TRY(kiln_array_reserve(context, &stress->sums, kiln_chunk_count(tets, GRAIN) + 1, error));
    for (uint32_t t = 0; t < tets; t++) {
        stress->pressure.data[t] = 0.0;
        if (kiln_tet_live(mesh, t))
            stress->tet.data[t] =
                tet_of(mesh, t, &offsets, materials[material_of[t]].model->dilation);
    }
    return KILN_OK;
}

double *kiln_thermal_stress_pressures(kiln_thermal_stress *stress)
{
    return stress->pressure.data;
}

kiln_term *kiln_thermal_stress_term(kiln_thermal_stress *stress)
{
    return &stress->term;
}
