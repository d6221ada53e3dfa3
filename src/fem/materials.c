#include "fem/material_models.h"

#include "base/nearest_name.h"
#include "geom/svd3.h"

#include <string.h>

static const kiln_material_model *const models[] = {
    &kiln_material_linear,      &kiln_material_corotated,          &kiln_material_fixed_corotated,
    &kiln_material_neo_hookean, &kiln_material_stable_neo_hookean, &kiln_material_neo_hookean_split,
    &kiln_material_stvk};
enum { MODELS = sizeof models / sizeof models[0] };

const kiln_material_model *kiln_material_model_at(size_t row)
{
    return row < MODELS ? models[row] : NULL;
}

kiln_status kiln_material_model_find(const char *name, const kiln_material_model **out,
                                     kiln_error *error)
{
    const char *names[MODELS];
    for (size_t i = 0; i < MODELS; i++) {
        names[i] = models[i]->name;
        if (strcmp(names[i], name) == 0) {
            *out = models[i];
            return KILN_OK;
        }
    }
    const char *nearest = kiln_nearest_name(name, names, MODELS, sizeof names[0]);
    return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                     nearest ? "unknown material '%.40s', did you mean '%s'?"
                             : "unknown material '%.40s'; known are linear, corotated, "
                               "fixed-corotated, neo-hookean, stable-neo-hookean, "
                               "neo-hookean-split and stvk%s",
                     name, nearest ? nearest : "");
}

double kiln_dilation_value(kiln_dilation dilation, const kiln_mat3 *F)
{
    switch (dilation) {
    case KILN_DILATION_TRACE:
        return (F->m[0][0] - 1.0) + (F->m[1][1] - 1.0) + (F->m[2][2] - 1.0);
    case KILN_DILATION_STRETCH: {
        kiln_svd3 d = kiln_svd3_decompose(*F);
        return (d.s[0] - 1.0) + (d.s[1] - 1.0) + (d.s[2] - 1.0);
    }
    case KILN_DILATION_VOLUME:
        return kiln_m3_det(*F);
    case KILN_DILATION_GREEN:
        return 0.5 * (kiln_m3_norm2(*F) - 3.0);
    case KILN_DILATION_CHANGE:
        return kiln_m3_det(*F) - 1.0;
    }
    return 0.0;
}

static kiln_mat3 cofactors(const kiln_mat3 *F)
{
    kiln_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int p = (i + 1) % 3, q = (i + 2) % 3, u = (j + 1) % 3, v = (j + 2) % 3;
            c.m[i][j] = F->m[p][u] * F->m[q][v] - F->m[p][v] * F->m[q][u];
        }
    return c;
}

void kiln_dilation_gradient(kiln_dilation dilation, const kiln_mat3 *F, kiln_mat3 *gradient)
{
    switch (dilation) {
    case KILN_DILATION_TRACE:
        *gradient = kiln_m3_identity();
        return;
    case KILN_DILATION_STRETCH: {
        kiln_svd3 d = kiln_svd3_decompose(*F);
        *gradient = kiln_m3_mul(d.u, kiln_m3_transpose(d.v));
        return;
    }
    case KILN_DILATION_VOLUME:
    case KILN_DILATION_CHANGE:
        *gradient = cofactors(F);
        return;
    case KILN_DILATION_GREEN:
        *gradient = *F;
        return;
    }
}

void kiln_material_stress(const kiln_material_model *model, double mu, double lambda,
                          const kiln_mat3 *F, kiln_mat3 *P)
{
    if (model->stress)
        model->stress(mu, lambda, F, P);
    else
        kiln_principal_stress(model->principal, mu, lambda, F, P);
}

void kiln_material_hessian(const kiln_material_model *model, double mu, double lambda,
                           double pressure, const kiln_mat3 *F, bool project, double H[9][9])
{
    if (model->principal)
        kiln_principal_hessian(model->principal, mu, lambda, pressure, F, project, H);
    else
        model->hessian(mu, lambda, F, project, H); /* theta is linear in F */
}
