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

static void fill(const kiln_patch *p, const kiln_front *f)
{
    size_t n = 3 * p->free;
    for (size_t s = 0; s < f->strips; s++) /* what is above the triangle does not count */
        memset(f->L + s * f->columns * KILN_STRIP, 0,
               (s + 1) * KILN_STRIP * KILN_STRIP * sizeof(double));
    for (size_t k = 0; k < n; k++) {
        const double *row = kiln_patch_row(p, k);
        for (size_t at = k; at < n; at++)
            f->L[(at / KILN_STRIP * f->columns + k) * KILN_STRIP + at % KILN_STRIP] = row[at - k];
    }
    for (size_t k = n; k < f->columns; k++)
        f->L[(k / KILN_STRIP * f->columns + k) * KILN_STRIP + k % KILN_STRIP] = 1.0;
}

bool kiln_patch_factor(kiln_patch *patch)
{
    static bool (*const factor[])(const kiln_front *, size_t, size_t) =
        KILN_SIMD_TABLE(kiln_front_factor);
    static void (*const solve[])(const kiln_front *, size_t, size_t, size_t, size_t) =
        KILN_SIMD_TABLE(kiln_front_solve);
    static void (*const update[])(const kiln_front *, size_t, size_t, size_t, size_t) =
        KILN_SIMD_TABLE(kiln_front_update);
    kiln_isa isa = patch->context->isa;
    kiln_front f = front_of(patch);
    fill(patch, &f);
    for (size_t p0 = 0; p0 < f.strips; p0 += KILN_PANEL) {
        size_t p1 = p0 + KILN_PANEL < f.strips ? p0 + KILN_PANEL : f.strips;
        if (!factor[isa](&f, p0, p1))
            return false;
        solve[isa](&f, p0, p1, p1, f.strips);
        update[isa](&f, p0, p1, p1, f.strips);
    }
    return true;
}

void kiln_patch_solve(kiln_patch *patch)
{
    static void (*const forward[])(const kiln_front *, double *) =
        KILN_SIMD_TABLE(kiln_front_forward);
    static void (*const backward[])(const kiln_front *, double *, double *) =
        KILN_SIMD_TABLE(kiln_front_backward);
    kiln_isa isa = patch->context->isa;
    kiln_front f = front_of(patch);
    size_t n = 3 * patch->free;
    double *v = patch->right.data;
    memset(v, 0, f.columns * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = -patch->g.data[i];
    forward[isa](&f, v);
    backward[isa](&f, v, v + f.columns);
    memcpy(patch->step.data, v, n * sizeof *v);
}
