/* Cholesky of a patch's matrix: dense, by the tiles that the fronts of the whole step are made of
 * (solve/front.h). A patch is one front with nothing under it. */
#include "solve/front.h"
#include "step/patch_impl.h"

#include <string.h>

static kiln_front front_of(const kiln_patch *p)
{
    size_t strips = kiln_strips_of(3 * p->free);
    return (kiln_front){.L = p->L.data, .columns = KILN_STRIP * strips, .strips = strips};
}

kiln_status kiln_patch_reserve_factor(kiln_patch *p, kiln_error *error)
{
    kiln_front f = front_of(p);
    KILN_TRY(kiln_array_reserve(p->context, &p->L, f.columns * f.columns, error));
    return kiln_array_reserve(p->context, &p->right, (1 + KILN_STRIP) * f.columns, error);
}

static const kiln_front_kernels *kernels_of(const kiln_patch *p)
{
    static const kiln_front_kernels *const kernels[] = {
        &kiln_front_double_scalar, &kiln_front_double_avx2, &kiln_front_double_avx512};
    return kernels[p->context->isa];
}

static void fill(const kiln_patch *p)
{
    size_t n = 3 * p->free, columns = KILN_STRIP * kiln_strips_of(n);
    double *L = p->L.data;
    for (size_t s = 0; s < kiln_strips_of(n); s++) /* above the triangle nothing counts */
        memset(L + s * columns * KILN_STRIP, 0, (s + 1) * KILN_STRIP * KILN_STRIP * sizeof *L);
    for (size_t k = 0; k < n; k++) {
        const double *row = kiln_patch_row(p, k);
        for (size_t at = k; at < n; at++)
            L[(at / KILN_STRIP * columns + k) * KILN_STRIP + at % KILN_STRIP] = row[at - k];
    }
    for (size_t k = n; k < columns; k++)
        L[(k / KILN_STRIP * columns + k) * KILN_STRIP + k % KILN_STRIP] = 1.0;
}

bool kiln_patch_factor(kiln_patch *patch)
{
    const kiln_front_kernels *kernels = kernels_of(patch);
    kiln_front f = front_of(patch);
    fill(patch);
    for (size_t p0 = 0; p0 < f.strips; p0 += KILN_PANEL) {
        size_t p1 = p0 + KILN_PANEL < f.strips ? p0 + KILN_PANEL : f.strips;
        if (!kernels->factor(&f, p0, p1))
            return false;
        kernels->solve(&f, p0, p1, p1, f.strips);
        kernels->update(&f, p0, p1, p1, f.strips);
    }
    return true;
}

void kiln_patch_solve(kiln_patch *patch)
{
    const kiln_front_kernels *kernels = kernels_of(patch);
    kiln_front f = front_of(patch);
    size_t n = 3 * patch->free;
    double *v = patch->right.data;
    memset(v, 0, f.columns * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = -patch->g.data[i];
    kernels->forward(&f, v, v + f.columns);
    kernels->backward(&f, v, v + f.columns);
    memcpy(patch->step.data, v, n * sizeof *v);
}
