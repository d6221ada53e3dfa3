/* With tau the principal Kirchhoff stresses, K = d tau / d ln S and D = I - 11'/3, the minimum has
 *     r(d) = D tau(l - d) - y n = 0,    q = |d|, n = d / q, y = threshold + growth q (or 0)
 * with the derivative -B, B = D K D + y / q (D - n n') + y' n n', and there
 *     g = tau,    H = K - K D B^-1 D K. */
#include "fem/flow_potential.h"

#include <string.h>

enum { MOST_ROUNDS = 40, MOST_HALVINGS = 12 };

kiln_dilation kiln_flow_dilation(const kiln_material *material)
{
    kiln_dilation own = material->model->dilation;
    bool keeps = own == KILN_DILATION_VOLUME || own == KILN_DILATION_TRACE;
    return !keeps && kiln_flow_is_within(material) ? KILN_DILATION_CHANGE : own;
}

/* Where the minimum is looked for. */
typedef struct flow_state {
    kiln_matter left; /* with the stretches that remain, and without pressure, which stays */
    double l[3], d[3];
    double tau[3], K[3][3]; /* at them */
    double q, y, slope;
    double r[3], residual; /* |r| */
} flow_state;

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void remove_mean(const double v[3], double out[3])
{
    double mean = (v[0] + v[1] + v[2]) / 3.0;
    for (int i = 0; i < 3; i++)
        out[i] = v[i] - mean;
}

/* Stress and stiffness of what is left. */
static void load(flow_state *w)
{
    kiln_principal f;
    kiln_plastic_stress(&w->left, &f);
    for (int i = 0; i < 3; i++)
        w->tau[i] = f.p[i] * w->left.s[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            w->K[i][j] = w->left.s[i] * f.a[i][j] * w->left.s[j] + (i == j ? w->tau[i] : 0.0);
}

static void evaluate(flow_state *w, const kiln_yield_surface *surface)
{
    for (int i = 0; i < 3; i++)
        w->left.s[i] = exp(w->l[i] - w->d[i]);
    load(w);
    w->q = length_of(w->d);
    w->y = surface->threshold + surface->growth * w->q;
    w->slope = w->y > 0.0 ? surface->growth : 0.0;
    w->y = w->y > 0.0 ? w->y : 0.0;
    remove_mean(w->tau, w->r);
    for (int i = 0; i < 3 && w->q > 0.0; i++)
        w->r[i] -= w->y / w->q * w->d[i];
    w->residual = length_of(w->r);
}

/* D B^-1 D. In the plane without a mean, where B is a 2x2 matrix in the axes n and m. */
static void invert(const flow_state *w, double out[3][3])
{
    double n[3], m[3], kn[3], nn = w->slope, nm = 0.0, mm = w->y / w->q;
    for (int i = 0; i < 3; i++)
        n[i] = w->d[i] / w->q;
    for (int i = 0; i < 3; i++) /* n x 1 / sqrt(3) */
        m[i] = (n[(i + 1) % 3] - n[(i + 2) % 3]) / sqrt(3.0);
    for (int i = 0; i < 3; i++) {
        kn[i] = w->K[i][0] * n[0] + w->K[i][1] * n[1] + w->K[i][2] * n[2];
        nn += n[i] * kn[i];
        nm += m[i] * kn[i];
        mm += m[i] * (w->K[i][0] * m[0] + w->K[i][1] * m[1] + w->K[i][2] * m[2]);
    }
    double over = 1.0 / (nn * mm - nm * nm);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] =
                over * (mm * n[i] * n[j] + nn * m[i] * m[j] - nm * (n[i] * m[j] + m[i] * n[j]));
}

/* One step of Newton's method, shortened until the residual falls. False: it does not. */
static bool improve(flow_state *w, const kiln_yield_surface *surface)
{
    double B[3][3], way[3], part = 1.0, residual = w->residual;
    const double from[3] = {w->d[0], w->d[1], w->d[2]};
    invert(w, B);
    for (int i = 0; i < 3; i++)
        way[i] = B[i][0] * w->r[0] + B[i][1] * w->r[1] + B[i][2] * w->r[2];
    for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
        for (int i = 0; i < 3; i++)
            w->d[i] = from[i] + part * way[i];
        evaluate(w, surface);
        if (w->q > 0.0 && w->residual < residual)
            return true;
    }
    memcpy(w->d, from, sizeof from);
    evaluate(w, surface);
    return false;
}

/* Along the deviator of l, as far as an energy quadratic in l would go: what is left is a small
 * strain, where every model is nearly so, however large the trial is. */
static void guess(flow_state *w, const double e[3], double norm, const kiln_yield_surface *surface)
{
    double size = length_of(e), stiff = 2.0 * w->left.mu;
    double part = (norm - surface->threshold) / fmax(norm + surface->growth * size, 1e-3 * norm);
    double linear =
        (stiff * size - surface->threshold) / fmax(stiff + surface->growth, 1e-3 * stiff);
    part = fmin(fmax(part, linear / size), 1.0);
    for (int i = 0; i < 3; i++)
        w->d[i] = part * e[i];
    evaluate(w, surface);
}

/* False: nothing flows, and w says nothing. */
static bool find_flow(flow_state *w, const kiln_matter *matter, const kiln_yield_surface *surface)
{
    double e[3], dev[3];
    if (kiln_plastic_is_degenerate(matter->s))
        return false;
    *w = (flow_state){.left = *matter};
    w->left.pressure = 0.0;
    for (int i = 0; i < 3; i++)
        w->l[i] = log(matter->s[i]);
    remove_mean(w->l, e);
    if (!(length_of(e) > 1e-14))
        return false;
    load(w);
    remove_mean(w->tau, dev);
    double norm = length_of(dev);
    if (!(norm > surface->threshold))
        return false;
    double enough =
        1e-13 * fmax(surface->threshold, 0.0) + 2e-15 * (2.0 * matter->mu + fabs(matter->lambda));
    guess(w, e, norm, surface);
    for (int i = 0; i < MOST_ROUNDS && w->residual > enough && improve(w, surface); i++)
        ;
    return true;
}

/* As flow_linear_simd.c has it; principal strains are stretches less 1. */
static double return_linear(const kiln_matter *matter, const kiln_yield_surface *surface,
                            double d[3])
{
    double e[3], stiff = 2.0 * matter->mu, sum = stiff + surface->growth;
    remove_mean(matter->s, e);
    double size = length_of(e), over = stiff * size - surface->threshold, part = 0.0;
    if (over > 0.0 && !kiln_plastic_is_degenerate(matter->s)) {
        double q = over / sum;
        bool empty = !(sum > 0.0) || !(surface->threshold + surface->growth * q > 0.0);
        part = empty ? 1.0 : q / size;
    }
    for (int i = 0; i < 3; i++)
        d[i] = -log1p(-part * e[i] / matter->s[i]);
    return part;
}

double kiln_flow_return(const kiln_matter *matter, const kiln_yield_surface *surface, double d[3])
{
    if (kiln_flow_is_linear(matter->material))
        return return_linear(matter, surface, d);
    flow_state w;
    double e[3];
    bool flows = find_flow(&w, matter, surface);
    for (int i = 0; i < 3; i++)
        d[i] = flows ? w.d[i] : 0.0;
    if (!flows)
        return 0.0;
    remove_mean(w.l, e);
    return fmin(w.q / length_of(e), 1.0);
}

/* Work of the threshold, which falls in proportion until it is zero. */
static double taken(const flow_state *w, const kiln_yield_surface *surface)
{
    double until = w->y > 0.0 || surface->growth >= 0.0
                       ? w->q
                       : fmin(w->q, -surface->threshold / surface->growth);
    return 0.5 * (surface->threshold + w->y) * until;
}

double kiln_flow_energy(const kiln_matter *matter, const kiln_yield_surface *surface)
{
    const kiln_material *material = matter->material;
    double lambda =
        material->nodal_pressure ? material->model->shape_lambda * matter->mu : matter->lambda;
    flow_state w;
    bool flows = find_flow(&w, matter, surface);
    const double *s = flows ? w.left.s : matter->s;
    kiln_mat3 F = kiln_m3_diagonal(s[0], s[1], s[2]);
    return material->model->energy(matter->mu, lambda, &F) + (flows ? taken(&w, surface) : 0.0);
}

/* H in ln S, into w->K; with n'Bn = 0 (no threshold and no stiffness) there is none. */
static void condense(flow_state *w)
{
    double B[3][3], KB[3][3], H[3][3];
    invert(w, B);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            KB[i][j] = w->K[i][0] * B[0][j] + w->K[i][1] * B[1][j] + w->K[i][2] * B[2][j];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            H[i][j] = H[j][i] =
                w->K[i][j] - KB[i][0] * w->K[0][j] - KB[i][1] * w->K[1][j] - KB[i][2] * w->K[2][j];
    memcpy(w->K, H, sizeof H);
}

void kiln_flow_principal(const kiln_matter *matter, const kiln_yield_surface *surface,
                         kiln_principal *out)
{
    const double *s = matter->s;
    flow_state w;
    if (!find_flow(&w, matter, surface)) {
        kiln_plastic_stress(matter, out);
        return;
    }
    condense(&w);
    double pressure = matter->pressure * s[0] * s[1] * s[2]; /* of p J */
    for (int i = 0; i < 3; i++) {
        out->p[i] = (w.tau[i] + pressure) / s[i];
        for (int j = 0; j < 3; j++)
            out->a[i][j] = (w.K[i][j] + pressure) / (s[i] * s[j]);
        out->a[i][i] -= out->p[i] / s[i];
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
