/* Instant flow inside a step. Flow after the step alone is a split: while a step is solved matter
 * is elastic, and where a step strains it by more than its yield strain, stresses overshoot and
 * bodies come out too stiff (Taylor bar: 25 mm instead of 21). So the step itself sees the energy
 * that is left when matter has flowed (incremental potential: Ortiz and Stainier 1999), in the
 * logarithms of the stretches l = ln S:
 *     Psi*(l) = min over d, tr d = 0, of Psi(l - d) + int_0^|d| threshold + growth q dq.
 * At the minimum the deviator of the Kirchhoff stress lies along d and has the size of the
 * threshold: von Mises. The derivative of Psi* in l is the stress that is left, so when the step
 * is over and d is written into the rest shape (plasticity.h), its equilibrium stays what it was.
 * Flow along the deviator of l, as the papers have it, differs by the angle between strain and
 * stress and would leave forces of that order, which near a limit load move bodies far.
 *
 * The model linear has the strain itself in place of l, sym F - I with all its components: the
 * potential of small strains, which is convex and whose minimum is a formula. What its rest shape
 * takes leaves forces of second order (plasticity.c), so static steps are solved again after it.
 *
 * The norm frobenius has no such potential, since pressure counts and does not flow. While a step
 * is solved its surface is that of von Mises with the threshold times `ratio`, the deviator over
 * the whole norm where the last solve ended (plasticity.c), and with its pressure that of the
 * neighbourhood. */
#ifndef KILN_FEM_FLOW_POTENTIAL_H
#define KILN_FEM_FLOW_POTENTIAL_H

#include "fem/plasticity.h"
#include "fem/principal.h"

/* Of the deviator, Pa: at the begin of the step, and per logarithmic strain. */
typedef struct kiln_yield_surface {
    double threshold, growth;
} kiln_yield_surface;

/* Of a law whose hardening is `hardening` so far, of the norm as a whole. */
kiln_yield_surface kiln_plastic_surface(const kiln_plastic *law, double mu, double hardening);

/* True where a step sees the flow of this material: instant. */
KILN_INLINE bool kiln_flow_is_within(const kiln_material *material)
{
    return material->plastic.instant && material->plastic.flows;
}

/* Of those, small strains: all that is said of stretches then is of 1 + strain, and Kirchhoff's
 * stress is the stress. */
KILN_INLINE bool kiln_flow_is_linear(const kiln_material *material)
{
    return kiln_flow_is_within(material) && !material->model->principal;
}

/* What nodal pressure is a function of, J or J - 1 where the material flows within: flow keeps J,
 * but not the traces that other models have. Linear matter keeps its trace. */
kiln_dilation kiln_flow_dilation(const kiln_material *material);

/* What of ln S becomes plastic, and which part of its deviator that is in length, up to 1 (linear:
 * of the strain's); 0: nothing flows. A flat or inverted tet does not. */
double kiln_flow_return(const kiln_matter *matter, const kiln_yield_surface *surface, double d[3]);

/* J per rest volume, with what flow takes and without pressure; and its derivatives in the
 * stretches, with it. Not linear (flow_linear_simd.c). */
double kiln_flow_energy(const kiln_matter *matter, const kiln_yield_surface *surface);
void kiln_flow_principal(const kiln_matter *matter, const kiln_yield_surface *surface,
                         kiln_principal *out);

#endif
