/* Columns for frames. */
#include "base/parallel.h"
#include "fem/elements_group.h"
#include "fem/flow_potential.h"
#include "fem/principal.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

typedef struct output_job {
    const kiln_elements *e;
    const double *x;
    kiln_element_output what;
    size_t components;
    double *out;
} output_job;

uint32_t kiln_element_output_components(kiln_element_output what)
{
    static const uint32_t components[KILN_OUTPUT_COUNT] = {9, 6, 1, 1, 1};
    return components[what];
}

/* sigma = P F' / J; P from the element's term and, with nodal pressure, p dtheta/dF. A tet without
 * volume has no Cauchy stress: zero. */
static kiln_mat3 cauchy(const kiln_elements *elements, const kiln_element *e, size_t number,
                        const kiln_mat3 *F)
{
    const kiln_material *material = &elements->materials.data[e->material];
    kiln_mat3 P, D;
    if (material->nodal_pressure) {
        kiln_material_stress(material->model, e->mu, material->model->shape_lambda * e->mu, F, &P);
        kiln_dilation_gradient(kiln_flow_dilation(material), F, &D);
        P = kiln_m3_add(P, kiln_m3_scale(D, elements->pressure.data[number]));
    } else {
        kiln_material_stress(material->model, e->mu, e->lambda, F, &P);
    }
    if (elements->besides) {
        kiln_dilation_gradient(material->model->dilation, F, &D);
        P = kiln_m3_add(P, kiln_m3_scale(D, elements->besides[e->slot]));
    }
    double J = kiln_m3_det(*F);
    kiln_mat3 sigma = kiln_m3_scale(kiln_m3_mul(P, kiln_m3_transpose(*F)), 1.0 / J);
    return isfinite(kiln_m3_norm2(sigma)) ? sigma : (kiln_mat3){{{0}}};
}

static double mises(const kiln_mat3 *s)
{
    double xy = 0.5 * (s->m[0][1] + s->m[1][0]), yz = 0.5 * (s->m[1][2] + s->m[2][1]);
    double xz = 0.5 * (s->m[0][2] + s->m[2][0]), a = s->m[0][0] - s->m[1][1];
    double b = s->m[1][1] - s->m[2][2], c = s->m[2][2] - s->m[0][0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (xy * xy + yz * yz + xz * xz));
}

static void write_element(const output_job *job, const kiln_element *e, size_t number)
{
    double *out = job->out + job->components * e->slot;
    kiln_mat3 F = kiln_element_deformation(e, job->x), s = F;
    const kiln_material *material = &job->e->materials.data[e->material];
    const kiln_material_model *model = material->model;
    if (job->what != KILN_OUTPUT_F && job->what != KILN_OUTPUT_ENERGY)
        s = cauchy(job->e, e, number, &F);
    switch (job->what) {
    case KILN_OUTPUT_F:
        memcpy(out, F.m, sizeof F.m);
        break;
    case KILN_OUTPUT_CAUCHY:
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            out[i] = s.m[i][i];
            out[3 + i] = 0.5 * (s.m[i][j] + s.m[j][i]);
        }
        break;
    case KILN_OUTPUT_MISES:
        *out = mises(&s);
        break;
    case KILN_OUTPUT_PRESSURE:
        *out = -(s.m[0][0] + s.m[1][1] + s.m[2][2]) / 3.0;
        break;
    case KILN_OUTPUT_ENERGY:
        *out = material->nodal_pressure ? model->energy(e->mu, model->shape_lambda * e->mu, &F) +
                                              job->e->pressure.data[number]
                                        : model->energy(e->mu, e->lambda, &F);
        break;
    case KILN_OUTPUT_COUNT:
        break;
    }
}

/* In the axes of U the Cauchy stress is diagonal, p_i s_i / J. */
static void write_principal(const output_job *job, const kiln_material *material, size_t number,
                            const kiln_element_group *g, size_t at)
{
    const kiln_elements *elements = job->e;
    const kiln_material_model *model = material->model;
    const kiln_element_batch *batch = &elements->batches.data[number / LANES];
    size_t lane = number % LANES;
    double mu, lambda;
    kiln_elements_lame(elements, material, number, &mu, &lambda);
    double *out = job->out + job->components * batch->slot[lane];
    double s[3] = {g->s[0][at], g->s[1][at], g->s[2][at]}, t[3];
    bool nodal = material->nodal_pressure;
    kiln_principal f;
    model->principal(mu, nodal ? model->shape_lambda * mu : lambda,
                     (nodal ? elements->pressure.data[number] : 0.0) +
                         (elements->besides ? elements->besides[batch->slot[lane]] : 0.0),
                     s, &f);
    double inverse = 1.0 / (s[0] * s[1] * s[2]);
    for (int i = 0; i < 3; i++)
        t[i] = f.p[i] * s[i] * inverse;
    if (!isfinite(t[0] + t[1] + t[2]))
        t[0] = t[1] = t[2] = 0.0;
    double a = t[0] - t[1], b = t[1] - t[2], c = t[2] - t[0];
    if (job->what == KILN_OUTPUT_MISES)
        *out = sqrt(0.5 * (a * a + b * b + c * c));
    else if (job->what == KILN_OUTPUT_PRESSURE)
        *out = -(t[0] + t[1] + t[2]) / 3.0;
    else
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            out[i] = out[3 + i] = 0.0;
            for (int k = 0; k < 3; k++) {
                out[i] += g->u[3 * i + k][at] * t[k] * g->u[3 * i + k][at];
                out[3 + i] += g->u[3 * i + k][at] * t[k] * g->u[3 * j + k][at];
            }
        }
}

/* Stresses of some batches of one material that is a function of the singular values. */
static void output_principal(const output_job *job, const kiln_material *material, size_t first,
                             size_t batches)
{
    kiln_element_group g;
    kiln_elements_decompose_group(job->e, job->x, first, batches, &g);
    for (size_t i = 0; i < LANES * batches; i++)
        if (job->e->batches.data[first + i / LANES].slot[i % LANES] != KILN_NONE)
            write_principal(job, material, LANES * first + i, &g, i);
}

static void output_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const output_job *job = user;
    const kiln_element_chunk *chunk = &job->e->chunks.data[index];
    const kiln_material *material = &job->e->materials.data[chunk->material];
    bool stress = job->what != KILN_OUTPUT_F && job->what != KILN_OUTPUT_ENERGY;
    size_t last = (size_t)chunk->batch + chunk->batches;
    for (size_t b = chunk->batch; stress && material->model->principal && b < last;
         b += KILN_GROUP_BATCHES)
        output_principal(job, material, b,
                         last - b < KILN_GROUP_BATCHES ? last - b : KILN_GROUP_BATCHES);
    if (stress && material->model->principal)
        return;
    for (size_t number = LANES * (size_t)chunk->batch; number < LANES * last; number++) {
        kiln_element e = kiln_elements_at(job->e, number);
        if (e.slot != KILN_NONE)
            write_element(job, &e, number);
    }
}

void kiln_elements_set_besides(kiln_elements *elements, const double *pressure)
{
    elements->besides = pressure;
}

void kiln_elements_output(const kiln_elements *elements, const double *x, kiln_element_output what,
                          double *out)
{
    output_job job = {elements, x, what, kiln_element_output_components(what), out};
    if (what == KILN_OUTPUT_ENERGY)
        kiln_elements_fill_energy(elements, x);
    else
        kiln_elements_fill_pressure(elements, x);
    kiln_parallel_for(elements->context, elements->chunks.count, 1, output_chunk, &job);
}
