#include "fem/plasticity.h"

#include "base/parallel.h"
#include "fem/elements_impl.h"
#include "fem/principal.h"
#include "geom/svd3.h"

#include <math.h>
#include <string.h>

static kiln_status add_column(kiln_mesh *mesh, const char *name, kiln_error *error)
{
    if (kiln_mesh_field(mesh, KILN_ON_TET, name))
        return KILN_OK;
    return kiln_mesh_add_field(mesh, name, KILN_ON_TET, KILN_F64, 1, KILN_RULE_AVERAGE, error);
}

kiln_status kiln_plastic_add_fields(kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(kiln_offsets_add(mesh, error));
    KILN_TRY(add_column(mesh, KILN_FIELD_HARDENING, error));
    return add_column(mesh, KILN_FIELD_PLASTIC_STRAIN, error);
}

/* Principal first Piola-Kirchhoff stresses. */
static void principal_stress(const kiln_material *material, double mu, double lambda,
                             double pressure, const double s[3], double p[3])
{
    const kiln_material_model *model = material->model;
    kiln_principal f;
    if (material->nodal_pressure)
        lambda = model->shape_lambda * mu;
    if (model->principal) {
        model->principal(mu, lambda, pressure, s, &f);
        memcpy(p, f.p, sizeof f.p);
        return;
    }
    double trace = s[0] + s[1] + s[2] - 3.0; /* linear, whose dilation is the trace */
    for (int i = 0; i < 3; i++)
        p[i] = 2.0 * mu * (s[i] - 1.0) + lambda * trace + pressure;
}

double kiln_plastic_norm(const kiln_material *material, double mu, double lambda, double pressure,
                         const double s[3])
{
    double p[3];
    principal_stress(material, mu, lambda, pressure, s, p);
    if (material->plastic.norm == KILN_YIELD_FROBENIUS)
        return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    double a = p[0] * s[0], b = p[1] * s[1], c = p[2] * s[2];
    return sqrt(((a - b) * (a - b) + (b - c) * (b - c) + (c - a) * (c - a)) / 3.0);
}

/* The stretches that are left when `gamma` of the isochoric part has become plastic. */
static void left_over(const double s[3], double gamma, double out[3])
{
    double size = cbrt(s[0] * s[1] * s[2]);
    for (int i = 0; i < 3; i++)
        out[i] = size * pow(s[i] / size, 1.0 - gamma);
}

/* Radial return: gamma with norm(gamma) = threshold(gamma), by the secant method kept inside a
 * bracket. The norm falls with gamma and the threshold moves in proportion, so there is one root;
 * when not even gamma = 1 reaches it (the pressure alone is too much) all of it flows. */
static double return_to_surface(const kiln_material *material, const kiln_plastic *law, double mu,
                                double lambda, double pressure, const double s[3], double norm,
                                double threshold)
{
    double low = 0.0, high = 1.0, excess = norm - threshold, left[3];
    double grows = law->law == KILN_HARDENING_WORK ? law->hardening * norm : 0.0;
    double at_low = excess;
    left_over(s, 1.0, left);
    double at_high = kiln_plastic_norm(material, mu, lambda, pressure, left) - threshold - grows;
    if (at_high >= 0.0)
        return 1.0;
    for (int i = 0; i < 60; i++) {
        double gamma = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(gamma > low && gamma < high))
            gamma = 0.5 * (low + high);
        left_over(s, gamma, left);
        double at =
            kiln_plastic_norm(material, mu, lambda, pressure, left) - threshold - grows * gamma;
        if (fabs(at) <= 1e-13 * norm || high - low < 1e-15)
            return gamma;
        if (at > 0.0) {
            low = gamma, at_low = at, at_high *= 0.5; /* Illinois: no end stays for ever */
        } else {
            high = gamma, at_high = at, at_low *= 0.5;
        }
    }
    return 0.5 * (low + high);
}

static double dev_log_norm(const double s[3])
{
    double size = cbrt(s[0] * s[1] * s[2]), sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double e = log(s[i] / size);
        sum += e * e;
    }
    return sqrt(sum);
}

kiln_flow kiln_plastic_flow(const kiln_material *material, const kiln_plastic *law, double mu,
                            double lambda, double pressure, const double s[3], double h,
                            double hardening, double strain)
{
    kiln_flow flow = {0.0, hardening, strain};
    double norm = kiln_plastic_norm(material, mu, lambda, pressure, s);
    bool work = law->law == KILN_HARDENING_WORK;
    double threshold = law->yield + (work ? hardening : law->hardening * hardening);
    threshold = threshold > 0.0 ? threshold : 0.0;
    if (norm > threshold && norm > 0.0) {
        double gamma = law->instant ? return_to_surface(material, law, mu, lambda, pressure, s,
                                                        norm, threshold)
                                    : h * law->rate * (norm - threshold) / norm;
        flow.gamma = gamma < 0.0 ? 0.0 : gamma > 1.0 ? 1.0 : gamma;
        flow.strain += sqrt(2.0 / 3.0) * flow.gamma * dev_log_norm(s);
    }
    flow.hardening += work ? law->hardening * flow.gamma * norm : h * norm;
    return flow;
}

typedef struct norms_job {
    const kiln_elements *elements;
    const double *x;
    double *norm;
} norms_job;

static double element_pressure(const kiln_elements *elements, const kiln_material *material,
                               size_t number)
{
    return material->nodal_pressure ? elements->pressure.data[number] : 0.0;
}

static void norms_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const norms_job *job = user;
    const kiln_element_chunk *chunk = &job->elements->chunks.data[index];
    const kiln_material *material = kiln_elements_material(job->elements, chunk->material);
    size_t first = KILN_ELEMENT_LANES * (size_t)chunk->batch;
    size_t last = first + KILN_ELEMENT_LANES * (size_t)chunk->batches;
    for (size_t i = first; i < last && material->plastic.flows; i++) {
        kiln_element e = kiln_elements_at(job->elements, i);
        if (e.slot == KILN_NONE)
            continue;
        kiln_svd3 svd = kiln_svd3_decompose(kiln_element_deformation(&e, job->x));
        job->norm[e.slot] = kiln_plastic_norm(material, e.mu, e.lambda,
                                              element_pressure(job->elements, material, i), svd.s);
    }
}

void kiln_plastic_norms(const kiln_elements *elements, const double *x, double *norm)
{
    norms_job job = {elements, x, norm};
    kiln_elements_fill_pressure(elements, x);
    kiln_parallel_for(elements->context, elements->chunks.count, 1, norms_chunk, &job);
}

typedef struct update_job {
    const kiln_elements *elements;
    kiln_mesh *mesh;
    const kiln_plastic *laws;
    double h;
    kiln_offsets offsets;
    double *hardening, *strain;
    kiln_flow_report *reports; /* [chunk] */
} update_job;

/* A flat or inverted tet has no reliable stress (VPF 5). */
static bool degenerate(const double s[3])
{
    return !(s[2] > 1e-6 * s[0]) || !isfinite(s[0]);
}

static void update_element(const update_job *job, const kiln_element *e, size_t number,
                           kiln_flow_report *report)
{
    const kiln_material *material = kiln_elements_material(job->elements, e->material);
    const kiln_plastic *law = job->laws ? &job->laws[e->slot] : &material->plastic;
    kiln_mat3 F = kiln_element_deformation(e, &job->mesh->x[0].x);
    kiln_svd3 svd = kiln_svd3_decompose(F);
    if (degenerate(svd.s)) {
        report->skipped++;
        return;
    }
    double pressure = element_pressure(job->elements, material, number);
    kiln_flow flow = kiln_plastic_flow(material, law, e->mu, e->lambda, pressure, svd.s, job->h,
                                       job->hardening[e->slot], job->strain[e->slot]);
    job->hardening[e->slot] = flow.hardening;
    if (!(flow.gamma > 0.0))
        return;
    job->strain[e->slot] = flow.strain;
    report->flowed++;
    report->greatest = fmax(report->greatest, flow.gamma);
    /* Q = Pi V S*^-gamma: G = Q Q'. */
    double size = cbrt(svd.s[0] * svd.s[1] * svd.s[2]), shrink[3];
    for (int i = 0; i < 3; i++)
        shrink[i] = pow(svd.s[i] / size, -flow.gamma);
    kiln_sym3 *shape = &job->offsets.shape[e->slot];
    double volume = kiln_mesh_tet_volume(job->mesh, e->slot);
    kiln_mat3 Pi = kiln_offset_map(shape, volume, job->offsets.rest_volume[e->slot]);
    kiln_mat3 Q = kiln_m3_mul(Pi, svd.v);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            Q.m[r][c] *= shrink[c];
    kiln_sym3 G = kiln_sym3_from_mat3(kiln_m3_mul(Q, kiln_m3_transpose(Q)));
    *shape = kiln_sym3_scale(G, 1.0 / cbrt(kiln_sym3_det(G)));
}

static void update_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const update_job *job = user;
    const kiln_element_chunk *chunk = &job->elements->chunks.data[index];
    const kiln_material *material = kiln_elements_material(job->elements, chunk->material);
    kiln_flow_report *report = &job->reports[index];
    *report = (kiln_flow_report){0};
    if (!material->plastic.flows)
        return;
    size_t first = KILN_ELEMENT_LANES * (size_t)chunk->batch;
    for (size_t i = first; i < first + KILN_ELEMENT_LANES * (size_t)chunk->batches; i++) {
        kiln_element e = kiln_elements_at(job->elements, i);
        if (e.slot != KILN_NONE)
            update_element(job, &e, i, report);
    }
}

static double *column(const kiln_mesh *mesh, const char *name)
{
    return (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, name)->data;
}

kiln_status kiln_plastic_update(const kiln_elements *elements, kiln_mesh *mesh,
                                const kiln_plastic *laws, double h, kiln_flow_report *report,
                                kiln_error *error)
{
    size_t chunks = elements->chunks.count, bytes = chunks * sizeof(kiln_flow_report) + 1;
    update_job job = {elements,
                      mesh,
                      laws,
                      h,
                      kiln_offsets_of(mesh),
                      column(mesh, KILN_FIELD_HARDENING),
                      column(mesh, KILN_FIELD_PLASTIC_STRAIN),
                      kiln_resize(elements->context, NULL, 0, bytes)};
    if (!job.reports)
        return kiln_fail_memory(error, bytes);
    kiln_elements_fill_pressure(elements, &mesh->x[0].x);
    kiln_parallel_for(elements->context, chunks, 1, update_chunk, &job);
    *report = (kiln_flow_report){0};
    for (size_t c = 0; c < chunks; c++) {
        report->flowed += job.reports[c].flowed;
        report->skipped += job.reports[c].skipped;
        report->greatest = fmax(report->greatest, job.reports[c].greatest);
    }
    kiln_release(elements->context, job.reports, bytes);
    return KILN_OK;
}
