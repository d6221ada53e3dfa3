/* Columns for frames. */
#include "fem/elements_impl.h"

#include "base/parallel.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

typedef struct output_job {
    const kiln_elements *e;
    const double *x;
    kiln_element_output what;
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
        material->model->stress(e->mu, material->model->shape_lambda * e->mu, F, &P);
        kiln_dilation_gradient(material->model->dilation, F, &D);
        P = kiln_m3_add(P, kiln_m3_scale(D, elements->pressure.data[number]));
    } else {
        material->model->stress(e->mu, e->lambda, F, &P);
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
    double *out = job->out + (size_t)kiln_element_output_components(job->what) * e->slot;
    kiln_mat3 F = kiln_element_deformation(e, job->x), s = F;
    const kiln_material_model *model = job->e->materials.data[e->material].model;
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
        *out = model->energy(e->mu, e->lambda, &F);
        break;
    case KILN_OUTPUT_COUNT:
        break;
    }
}

static void output_batches(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const output_job *job = user;
    for (size_t number = LANES * begin; number < LANES * end; number++) {
        kiln_element e = kiln_elements_at(job->e, number);
        if (e.slot != KILN_NONE)
            write_element(job, &e, number);
    }
}

void kiln_elements_output(const kiln_elements *elements, const double *x, kiln_element_output what,
                          double *out)
{
    output_job job = {elements, x, what, out};
    kiln_elements_fill_pressure(elements, x);
    kiln_parallel_for(elements->context, elements->batches.count, KILN_CHUNK_BATCHES,
                      output_batches, &job);
}
