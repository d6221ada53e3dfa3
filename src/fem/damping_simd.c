/* Dampers in vectors (damping_impl.h). */
#include "fem/damping_impl.h"
#include "fem/elements_blocks_vd.h"

KILN_INLINE kiln_vd away_from_zero(kiln_vd x, kiln_vd least)
{
    return kiln_vd_mulsign(kiln_vd_max(kiln_vd_abs(x), least), x);
}

KILN_INLINE kiln_vd viscosity_of(const kiln_elements_vd *e, const kiln_damper_rates *rates)
{
    kiln_vd eta = kiln_vd_set(rates->viscosity);
    for (size_t i = 0; i < KILN_VD_LANES && rates->viscosity_of; i++) {
        uint32_t slot = e->batch->slot[e->lane + i];
        eta[i] = slot == KILN_NONE ? 0.0 : rates->viscosity_of[slot];
    }
    return eta;
}

KILN_INLINE kiln_vd stiffness_of(const kiln_elements_vd *e, const kiln_damper_rates *rates)
{
    kiln_vd beta = kiln_vd_set(rates->stiffness);
    for (size_t i = 0; i < KILN_VD_LANES && rates->stiffness_of; i++) {
        uint32_t slot = e->batch->slot[e->lane + i];
        beta[i] += slot == KILN_NONE ? 0.0 : rates->stiffness_of[slot];
    }
    return beta;
}

/* Current volume over that at rest, by which viscosity resists. Padding has none, and gets none. */
KILN_INLINE kiln_vd resisting(kiln_vd J, kiln_vd volume, const kiln_damper_rates *rates)
{
    kiln_vd least = kiln_vd_set(rates->least_volume);
    return rates->least_volume > 0.0 ? kiln_vd_max(J, least / kiln_vd_max(volume, 1e-12 * least))
                                     : J;
}

/* V dtheta / dE. */
KILN_INLINE void dilation_rate(kiln_dilation dilation, kiln_vd volume, const kiln_vd s[3],
                               const kiln_vd r[3], kiln_vd t[3])
{
    for (int i = 0; i < 3; i++) {
        kiln_vd slope = kiln_vd_set(1.0); /* trace and stretch: of the sum of the stretches */
        if (dilation == KILN_DILATION_VOLUME)
            slope = s[(i + 1) % 3] * s[(i + 2) % 3];
        t[i] = dilation == KILN_DILATION_GREEN ? volume : volume * slope * r[i];
    }
}

/* One vector: `f` the derivatives of the energy, projected, times the rate of damping. */
KILN_INLINE void form(kiln_elements_vd *e, kiln_svd3_vd *d, const kiln_principal_vd *f,
                      const kiln_damper_rates *rates, kiln_dilation dilation, kiln_damper *out)
{
    kiln_vd B[3][3], r[3], t[3], s0 = kiln_vd_abs(d->s[0]);
    kiln_vd least = KILN_DAMPER_FLATTEST * kiln_vd_max(s0, kiln_vd_set(0x1p-500));
    kiln_vd J = kiln_vd_abs(d->s[0] * d->s[1] * d->s[2]);
    kiln_vd factor = rates->per_tau * e->volume;
    kiln_vd eta = 2.0 * resisting(J, e->volume, rates) * viscosity_of(e, rates);
    kiln_vd third = (1.0 / 3.0) * eta;
    for (int i = 0; i < 3; i++)
        r[i] = 1.0 / away_from_zero(d->s[i], least);
    dilation_rate(dilation, e->volume, d->s, r, t);
    kiln_vd_multiply(e->B, d->v, B);
    for (int k = 0; k < 9; k++)
        kiln_vd_store(out->B[k] + e->lane, B[k / 3][k % 3]);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        kiln_vd sum = 1.0 / away_from_zero(d->s[j] + d->s[k], least), both = r[j] * r[k];
        kiln_vd a = kiln_vd_fma((eta - third) * r[i], r[i], f->a[i]) * r[i] * r[i];
        kiln_vd o = kiln_vd_fnma(third, both, f->o[i]) * both;
        kiln_vd c = kiln_vd_fma(eta * both, both, 4.0 * f->minus[i] * sum * sum);
        kiln_vd_store(out->a[i] + e->lane, factor * a);
        kiln_vd_store(out->o[i] + e->lane, factor * o);
        kiln_vd_store(out->c[i] + e->lane, factor * c);
        kiln_vd_store(out->t[i] + e->lane, t[i]);
    }
}

void KILN_SIMD(kiln_damper_form)(kiln_hessian_vd *h, const kiln_damper_rates *rates,
                                 kiln_dilation dilation, size_t w, kiln_damper *out)
{
    bool stiff = kiln_damper_is_stiff(rates);
    if (stiff)
        KILN_SIMD(kiln_elements_project)(h->f);
    for (size_t b = 0; b < h->count; b++) {
        kiln_principal_vd f = {.a = {{0}}};
        kiln_vd beta = stiffness_of(&h->e[b], rates);
        for (int i = 0; i < 3 && stiff; i++) {
            f.a[i] = beta * h->f[b].a[i];
            f.o[i] = beta * h->f[b].o[i];
            f.minus[i] = beta * h->f[b].minus[i];
        }
        form(&h->e[b], &h->d[b], &f, rates, dilation, out + (w + b) / KILN_VD_PER_BATCH);
    }
}

/* A vector of dampers. */
typedef struct damper_vd {
    kiln_elements_vd e; /* B in the axes of the damper; no volume, no material */
    kiln_principal_vd f;
    kiln_vd t[3], past[6];
} damper_vd;

KILN_INLINE void load_axes(const kiln_damper *damper, const uint32_t *vertex, size_t w,
                           kiln_elements_vd *e)
{
    e->lane = w % KILN_VD_PER_BATCH * KILN_VD_LANES;
    e->vertex = vertex + 4 * KILN_VD_LANES * w;
    for (int k = 0; k < 9; k++)
        e->B[k / 3][k % 3] = kiln_vd_load(damper[w / KILN_VD_PER_BATCH].B[k] + e->lane);
}

KILN_INLINE void load(const kiln_damper_span *span, size_t w, damper_vd *d)
{
    const kiln_damper *from = span->damper + w / KILN_VD_PER_BATCH;
    load_axes(span->damper, span->vertex, w, &d->e);
    d->e.batch = span->batch + w / KILN_VD_PER_BATCH;
    for (int i = 0; i < 3; i++) {
        d->f.a[i] = kiln_vd_load(from->a[i] + d->e.lane);
        d->f.o[i] = kiln_vd_load(from->o[i] + d->e.lane);
        d->f.minus[i] = kiln_vd_load(from->c[i] + d->e.lane);
        d->f.plus[i] = (kiln_vd){0};
        d->t[i] = kiln_vd_load(from->t[i] + d->e.lane);
    }
    for (int k = 0; k < 6; k++)
        d->past[k] = kiln_vd_load(from->past[k] + d->e.lane);
}

/* Deformation at `from`, and by how much it differs at x: G = (Dw(x) - Dw(from)) B, from the
 * differences of places. */
KILN_INLINE void deform(kiln_elements_vd *e, const double *from, const double *x, kiln_vd F[3][3],
                        kiln_vd G[3][3])
{
    kiln_vd then[3][3], way[3][3], origin[3], first[3];
    for (size_t a = 0; a < 4; a++) {
        const double *p[KILN_VD_LANES], *q[KILN_VD_LANES];
        kiln_vd u[3], v[3];
        for (size_t i = 0; i < KILN_VD_LANES; i++) {
            p[i] = from + 3 * (size_t)e->vertex[4 * i + a];
            q[i] = x + 3 * (size_t)e->vertex[4 * i + a];
        }
        kiln_vd_load3(p, &u[0], &u[1], &u[2]);
        kiln_vd_load3(q, &v[0], &v[1], &v[2]);
        for (int i = 0; i < 3; i++)
            if (a == 0) {
                origin[i] = u[i];
                first[i] = v[i] - u[i];
            } else {
                then[i][a - 1] = u[i] - origin[i];
                way[i][a - 1] = (v[i] - u[i]) - first[i];
            }
    }
    kiln_vd_multiply(then, e->B, F);
    kiln_vd_multiply(way, e->B, G);
}

/* sym M'G, as xx yy zz yz zx xy. */
KILN_INLINE void symmetric_part(kiln_vd M[3][3], kiln_vd G[3][3], kiln_vd E[6])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        E[i] = kiln_svd3_dot(M[0][i], G[0][i], M[1][i], G[1][i], M[2][i], G[2][i]);
        E[3 + i] = 0.5 * (kiln_svd3_dot(M[0][j], G[0][k], M[1][j], G[1][k], M[2][j], G[2][k]) +
                          kiln_svd3_dot(M[0][k], G[0][j], M[1][k], G[1][j], M[2][k], G[2][j]));
    }
}

/* sym (F + G/2)'G: by how much Green strain differs between F and F + G. */
KILN_INLINE void strain_change(kiln_vd F[3][3], kiln_vd G[3][3], kiln_vd E[6])
{
    kiln_vd M[3][3];
    for (int k = 0; k < 9; k++)
        M[k / 3][k % 3] = kiln_vd_fma(kiln_vd_set(0.5), G[k / 3][k % 3], F[k / 3][k % 3]);
    symmetric_part(M, G, E);
}

void KILN_SIMD(kiln_damper_set_past)(const kiln_damper_past *past, const uint32_t *vertex,
                                     size_t batches, kiln_damper *out)
{
    for (size_t w = 0; w < batches * KILN_VD_PER_BATCH; w++) {
        kiln_elements_vd e;
        kiln_vd F[3][3], G[3][3], E[6], sum[6] = {{0}};
        load_axes(out, vertex, w, &e);
        if (past->before_weight != 0.0) {
            deform(&e, past->x_n, past->before, F, G);
            strain_change(F, G, E);
            for (int k = 0; k < 6; k++)
                sum[k] = past->before_weight * E[k];
        }
        if (past->rate_weight != 0.0) {
            kiln_elements_vd_deformation(&e, past->x_n, F);
            kiln_elements_vd_deformation(&e, past->v, G);
            symmetric_part(F, G, E);
            for (int k = 0; k < 6; k++)
                sum[k] += past->rate_weight * E[k];
        }
        for (int k = 0; k < 6; k++)
            kiln_vd_store(out[w / KILN_VD_PER_BATCH].past[k] + e.lane, sum[k]);
    }
}

KILN_INLINE void resist(const damper_vd *d, const kiln_vd E[6], kiln_vd S[6])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        S[i] = kiln_svd3_dot(d->f.a[i], E[i], d->f.o[k], E[j], d->f.o[j], E[k]);
        S[3 + i] = d->f.minus[i] * E[3 + i];
    }
}

KILN_INLINE kiln_vd double_dot(const kiln_vd S[6], const kiln_vd E[6])
{
    kiln_vd shear = kiln_svd3_dot(S[3], E[3], S[4], E[4], S[5], E[5]);
    return kiln_svd3_dot(S[0], E[0], S[1], E[1], S[2], E[2]) + (shear + shear);
}

/* Deformation F at x, and E = E(x) - E(x_n) - past. */
KILN_INLINE void strain_at(const kiln_damper_span *span, damper_vd *d, const double *x,
                           kiln_vd F[3][3], kiln_vd E[6])
{
    kiln_vd G[3][3];
    deform(&d->e, span->x_n, x, F, G);
    strain_change(F, G, E);
    for (int k = 0; k < 6; k++)
        E[k] -= d->past[k];
    for (int k = 0; k < 9; k++)
        F[k / 3][k % 3] += G[k / 3][k % 3];
}

/* E(x) - E(from) = sym M'G, M the mean of both deformations: the same number, of the other sign,
 * for the way back. */
KILN_INLINE void strain_between(damper_vd *d, const double *from, const double *x, kiln_vd F0[3][3],
                                kiln_vd F1[3][3], kiln_vd E[6])
{
    kiln_vd F[3][3], G[3][3], M[3][3];
    deform(&d->e, from, x, F, G);
    for (int k = 0; k < 9; k++)
        M[k / 3][k % 3] = 0.5 * (F0[k / 3][k % 3] + F1[k / 3][k % 3]);
    symmetric_part(M, G, E);
}

/* C is symmetric: the difference is (E1 - E0) : C : (E1 + E0) / 2. */
double KILN_SIMD(kiln_damper_energy)(const kiln_damper_span *span, const double *from,
                                     const double *x, double *rate, double *sum)
{
    kiln_vd total = {0};
    for (size_t w = 0; w < span->batches * KILN_VD_PER_BATCH; w++) {
        damper_vd d;
        kiln_vd F[3][3], E[6], way[6], S[6];
        load(span, w, &d);
        strain_at(span, &d, x, F, E);
        memcpy(way, E, sizeof way);
        if (from) {
            kiln_vd F0[3][3], before[6];
            strain_at(span, &d, from, F0, before);
            strain_between(&d, from, x, F0, F, way);
            for (int k = 0; k < 6; k++)
                E[k] += before[k];
        }
        resist(&d, E, S);
        total += 0.5 * double_dot(S, way);
        if (!rate)
            continue;
        kiln_vd_store(rate + w * KILN_VD_LANES,
                      kiln_svd3_dot(d.t[0], way[0], d.t[1], way[1], d.t[2], way[2]));
        kiln_vd_store(sum + w * KILN_VD_LANES,
                      kiln_svd3_dot(d.t[0], E[0], d.t[1], E[1], d.t[2], E[2]));
    }
    double out = 0.0;
    for (int i = 0; i < KILN_VD_LANES; i++)
        out += total[i];
    return out;
}

/* Deformation at x and the stress there; nodal pressure is part of it. */
KILN_INLINE void evaluate(const kiln_damper_span *span, const double *x, size_t w, damper_vd *d,
                          kiln_vd F[3][3], kiln_vd S[6])
{
    kiln_vd E[6];
    load(span, w, d);
    strain_at(span, d, x, F, E);
    resist(d, E, S);
    if (span->pressure)
        for (int i = 0; i < 3; i++)
            S[i] = kiln_vd_fma(kiln_vd_load(span->pressure + w * KILN_VD_LANES), d->t[i], S[i]);
}

KILN_INLINE void add_gradient(damper_vd *d, kiln_vd F[3][3], const kiln_vd S[6], double scale,
                              double *g)
{
    kiln_vd full[3][3] = {{S[0], S[5], S[4]}, {S[5], S[1], S[3]}, {S[4], S[3], S[2]}}, P[3][3];
    for (int k = 0; k < 9; k++)
        full[k / 3][k % 3] *= scale;
    kiln_vd_multiply(F, full, P);
    kiln_elements_vd_scatter(&d->e, P, g);
}

/* F C F' and, times I, the positive part of what the stress does to a turn. */
KILN_INLINE void add_hessian(damper_vd *d, kiln_vd F[3][3], const kiln_principal_vd *S,
                             double scale, kiln_bsr *H)
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    kiln_vd K[6][3][3];
    kiln_elements_vd_make_blocks(&d->f, kiln_vd_set(scale), F, d->e.B, K);
    for (int k = 0; k < 6; k++) {
        const kiln_vd *a = d->e.B[pair[k][0]], *b = d->e.B[pair[k][1]];
        kiln_vd sum = {0};
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            sum += kiln_svd3_dot(S->a[i] * a[i], b[i], S->o[i] * a[j], b[l], S->o[i] * a[l], b[j]);
        }
        for (int i = 0; i < 3; i++)
            K[k][i][i] = kiln_vd_fma(kiln_vd_set(scale), sum, K[k][i][i]);
    }
    kiln_elements_vd_add_blocks(&d->e, K, H);
}

/* d (V theta) of vertices 1 to 3: F diag(t) b_a. */
KILN_INLINE void store_dilation(const damper_vd *d, kiln_vd F[3][3], size_t w, double *gradient)
{
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            kiln_vd sum = kiln_svd3_dot(F[i][0] * d->t[0], d->e.B[a][0], F[i][1] * d->t[1],
                                        d->e.B[a][1], F[i][2] * d->t[2], d->e.B[a][2]);
            for (int lane = 0; lane < KILN_VD_LANES; lane++)
                gradient[9 * (w * KILN_VD_LANES + (size_t)lane) + 3 * (size_t)a + (size_t)i] =
                    sum[lane];
        }
}

static void add_hessians(const kiln_damper_span *span, const double *x, size_t w, size_t count,
                         double scale, double *g, kiln_bsr *H, double *gradient)
{
    damper_vd d[KILN_SVD3_BATCHES];
    kiln_principal_vd positive[KILN_SVD3_BATCHES] = {{.a = {{0}}}};
    kiln_vd F[KILN_SVD3_BATCHES][3][3], S[KILN_SVD3_BATCHES][6];
    for (size_t b = 0; b < count; b++) {
        evaluate(span, x, w + b, &d[b], F[b], S[b]);
        KILN_SIMD(kiln_elements_prefetch)(&d[b].e, H);
        for (int i = 0; i < 3; i++)
            positive[b].a[i] = S[b][i], positive[b].o[i] = S[b][3 + i];
    }
    KILN_SIMD(kiln_elements_project)(positive);
    for (size_t b = 0; b < count; b++) {
        add_gradient(&d[b], F[b], S[b], scale, g);
        if (gradient)
            store_dilation(&d[b], F[b], w + b, gradient);
        add_hessian(&d[b], F[b], &positive[b], scale, H);
    }
}

void KILN_SIMD(kiln_damper_add)(const kiln_damper_span *span, const double *x, double scale,
                                double *g, kiln_bsr *H, double *gradient)
{
    size_t vectors = span->batches * KILN_VD_PER_BATCH, most = KILN_SVD3_BATCHES;
    for (size_t w = 0; w < vectors && H; w += most)
        add_hessians(span, x, w, vectors - w < most ? vectors - w : most, scale, g, H, gradient);
    for (size_t w = 0; w < vectors && !H; w++) {
        damper_vd d;
        kiln_vd F[3][3], S[6];
        evaluate(span, x, w, &d, F, S);
        add_gradient(&d, F, S, scale, g);
    }
}

void KILN_SIMD(kiln_damper_centre)(const kiln_damper_span *span, const double *x, double *g)
{
    for (size_t w = 0; w < span->batches * KILN_VD_PER_BATCH; w++) {
        damper_vd d;
        kiln_vd F[3][3], G[3][3], S[6];
        evaluate(span, x, w, &d, F, S);
        deform(&d.e, span->x_n, x, F, G);
        add_gradient(&d, G, S, -0.5, g);
    }
}
