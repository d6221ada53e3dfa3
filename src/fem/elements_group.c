#include "fem/elements_group.h"

#include "fem/flow_potential.h"
#include "geom/svd3.h"

#include <math.h>

enum { LANES = KILN_ELEMENT_LANES };

/* F = Dw B for the eight elements of a batch. */
static void deform_batch(const kiln_elements *e, const double *x, size_t batch,
                         kiln_element_group *g, size_t at)
{
    const kiln_element_batch *b = &e->batches.data[batch];
    const uint32_t *vertex = e->vertex.data + 4 * LANES * batch;
    double dw[9][LANES];
    for (size_t i = 0; i < LANES; i++) {
        const double *origin = x + 3 * (size_t)vertex[4 * i];
        for (int a = 0; a < 3; a++) {
            const double *corner = x + 3 * (size_t)vertex[4 * i + 1 + (size_t)a];
            for (int r = 0; r < 3; r++)
                dw[3 * r + a][i] = corner[r] - origin[r];
        }
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (size_t i = 0; i < LANES; i++)
                g->F[3 * r + c][at + i] = dw[3 * r][i] * b->gradient[c][i] +
                                          dw[3 * r + 1][i] * b->gradient[3 + c][i] +
                                          dw[3 * r + 2][i] * b->gradient[6 + c][i];
}

/* The eigenvectors and eigenvalues of sym F + shift, which is positive. */
static void symmetrise(kiln_element_group *g, size_t i, double *shift)
{
    double norm = 0.0;
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++) {
            double mean = 0.5 * (g->F[3 * r + c][i] + g->F[3 * c + r][i]);
            g->F[3 * r + c][i] = g->F[3 * c + r][i] = mean;
            norm += (r == c ? 1.0 : 2.0) * mean * mean;
        }
    *shift = sqrt(norm);
    for (int r = 0; r < 3; r++)
        g->F[4 * r][i] += *shift;
}

static bool is_linear(const kiln_elements *e, size_t batch)
{
    uint32_t material = e->material_of.data[batch];
    return material != KILN_NONE && kiln_flow_is_linear(&e->materials.data[material]);
}

void kiln_elements_decompose_group(const kiln_elements *elements, const double *x, size_t first,
                                   size_t batches, kiln_element_group *group)
{
    bool linear = is_linear(elements, first);
    double shift[KILN_GROUP_SIZE];
    for (size_t b = 0; b < batches; b++)
        deform_batch(elements, x, first + b, group, LANES * b);
    for (size_t i = 0; i < LANES * batches && linear; i++)
        symmetrise(group, i, &shift[i]);
    kiln_svd3_decompose_batch(elements->context->isa, LANES * batches, KILN_GROUP_SIZE, group->F[0],
                              group->u[0], group->s[0], group->v[0]);
    for (size_t i = 0; i < LANES * batches && linear; i++)
        for (int k = 0; k < 3; k++)
            group->s[k][i] -= shift[i];
}
