#include "fem/flow_potential.h"

bool kiln_flow_is_within(const kiln_material *material)
{
    const kiln_plastic *law = &material->plastic;
    return law->flows && law->instant && !law->varies && law->norm == KILN_YIELD_MISES &&
           material->model->principal &&
           (!material->nodal_pressure || material->model->dilation == KILN_DILATION_VOLUME);
}

/* Where the minimum is. tau = p s are the principal Kirchhoff stresses there. */
typedef struct flow_state {
    kiln_matter left; /* with the stretches that remain */
    kiln_principal f; /* at them */
    double n[3], e;   /* e = |e| */
    double q, taken;  /* strain that flows; J per volume it takes */
    double tau[3];
    double t;         /* tau . n */
    double K[3][3];   /* d tau_i / d ln s_j */
    double stiffness; /* n' K n */
} flow_state;

static void evaluate(flow_state *w, const double log_s[3], double q)
{
    w->q = q;
    for (int i = 0; i < 3; i++)
        w->left.s[i] = exp(log_s[i] - q * w->n[i]);
    kiln_plastic_stress(&w->left, &w->f);
    w->t = w->stiffness = 0.0;
    for (int i = 0; i < 3; i++) {
        w->tau[i] = w->f.p[i] * w->left.s[i];
        w->t += w->tau[i] * w->n[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            w->K[i][j] = w->left.s[i] * w->f.a[i][j] * w->left.s[j] + (i == j ? w->tau[i] : 0.0);
            w->stiffness += w->n[i] * w->K[i][j] * w->n[j];
        }
}

/* Newton inside a bracket for t(q) = threshold + growth q, not below zero (softening). At q = |e|
 * there is no deviator left, so there is a root. False: nothing flows, and w is as far as it needs
 * to be known then. */
static bool find_flow(flow_state *w, const kiln_matter *matter, const kiln_yield_surface *surface)
{
    const double *s = matter->s;
    if (kiln_plastic_is_degenerate(s))
        return false;
    double log_s[3] = {log(s[0]), log(s[1]), log(s[2])};
    double mean = (log_s[0] + log_s[1] + log_s[2]) / 3.0;
    w->e = sqrt((log_s[0] - mean) * (log_s[0] - mean) + (log_s[1] - mean) * (log_s[1] - mean) +
                (log_s[2] - mean) * (log_s[2] - mean));
    if (!(w->e > 1e-14))
        return false;
    for (int i = 0; i < 3; i++)
        w->n[i] = (log_s[i] - mean) / w->e;
    w->left = *matter;
    evaluate(w, log_s, 0.0);
    if (!(w->t > surface->threshold))
        return false;
    double low = 0.0, high = w->e, scale = 1e-13 * w->t, limit = 0.0;
    for (int i = 0; i < 60; i++) {
        limit = surface->threshold + surface->growth * w->q;
        double slope = w->stiffness + (limit > 0.0 ? surface->growth : 0.0);
        limit = limit > 0.0 ? limit : 0.0;
        double gap = w->t - limit;
        if (fabs(gap) <= scale || high - low <= 1e-15 * w->e)
            break;
        *(gap > 0.0 ? &low : &high) = w->q;
        double next = w->q + gap / slope;
        evaluate(w, log_s, next > low && next < high ? next : 0.5 * (low + high));
    }
    /* The threshold falls in proportion until it is zero. */
    double until = limit > 0.0 || surface->growth >= 0.0
                       ? w->q
                       : fmin(w->q, -surface->threshold / surface->growth);
    w->taken = 0.5 * (surface->threshold + limit) * until;
    return true;
}

double kiln_flow_energy(const kiln_matter *matter, const kiln_yield_surface *surface)
{
    const kiln_material *material = matter->material;
    double lambda =
        material->nodal_pressure ? material->model->shape_lambda * matter->mu : matter->lambda;
    flow_state w = {.q = 0.0};
    bool flows = find_flow(&w, matter, surface);
    const double *s = flows ? w.left.s : matter->s;
    kiln_mat3 F = kiln_m3_diagonal(s[0], s[1], s[2]);
    return material->model->energy(matter->mu, lambda, &F) + (flows ? w.taken : 0.0);
}

/* First and second derivatives g and H in ln S, exact. With gamma = q / |e|, P = I - 11'/3 - nn',
 * M = I - gamma P and r = P tau: ln S of what remains changes by M d(ln S) - n dq, so
 *     g = M tau,
 *     H = M K M - w w' / (n'Kn + growth) + gamma / |e| (r n' + n r' + t P),  w = M K n + r / |e|.
 */
static void logarithmic_derivatives(const flow_state *f, double growth, double g[3], double H[3][3])
{
    double gamma = f->q / f->e, r[3], w[3], P[3][3], M[3][3], MK[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            P[i][j] = (i == j ? 1.0 : 0.0) - 1.0 / 3.0 - f->n[i] * f->n[j];
            M[i][j] = (i == j ? 1.0 : 0.0) - gamma * P[i][j];
        }
    for (int i = 0; i < 3; i++) {
        r[i] = P[i][0] * f->tau[0] + P[i][1] * f->tau[1] + P[i][2] * f->tau[2];
        g[i] = f->tau[i] - gamma * r[i];
        for (int j = 0; j < 3; j++)
            MK[i][j] = M[i][0] * f->K[0][j] + M[i][1] * f->K[1][j] + M[i][2] * f->K[2][j];
    }
    for (int i = 0; i < 3; i++)
        w[i] = MK[i][0] * f->n[0] + MK[i][1] * f->n[1] + MK[i][2] * f->n[2] + r[i] / f->e;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            H[i][j] = MK[i][0] * M[0][j] + MK[i][1] * M[1][j] + MK[i][2] * M[2][j] -
                      w[i] * w[j] / (f->stiffness + growth) +
                      gamma / f->e * (r[i] * f->n[j] + f->n[i] * r[j] + f->t * P[i][j]);
}

void kiln_flow_principal(const kiln_matter *matter, const kiln_yield_surface *surface,
                         kiln_principal *out)
{
    const double *s = matter->s;
    double g[3], H[3][3];
    flow_state w = {.q = 0.0};
    if (!find_flow(&w, matter, surface)) {
        kiln_plastic_stress(matter, out);
        return;
    }
    bool grows = surface->threshold + surface->growth * w.q > 0.0;
    logarithmic_derivatives(&w, grows ? surface->growth : 0.0, g, H);
    for (int i = 0; i < 3; i++) {
        out->p[i] = g[i] / s[i];
        for (int j = 0; j < 3; j++)
            out->a[i][j] = (H[i][j] - (i == j ? g[i] : 0.0)) / (s[i] * s[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double gap = s[j] - s[k];
        out->plus[i] = (out->p[j] + out->p[k]) / (s[j] + s[k]);
        /* Near equal stretches their difference says nothing; the limit is known. */
        out->minus[i] = fabs(gap) > 1e-5 * s[0]
                            ? (out->p[j] - out->p[k]) / gap
                            : 0.5 * (out->a[j][j] + out->a[k][k]) - out->a[j][k];
    }
}
