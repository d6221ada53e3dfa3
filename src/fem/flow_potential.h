/* Instant von Mises flow inside a step. Flow after the step alone is a split: while a step is
 * solved matter is elastic, and where a step strains it by more than its yield strain, stresses
 * overshoot and bodies come out too stiff (Taylor bar: 25 mm instead of 21). So the step itself
 * sees the energy that is left when matter has flowed (incremental potential: Ortiz and Stainier
 * 1999), in the logarithms of the stretches ln S = mean + e, n = e / |e|:
 *     Psi*(S) = min over q in [0, |e|] of Psi(exp(ln S - q n)) + int_0^q threshold + growth q' dq'.
 * The minimum is the return along e that kiln_plastic_flow makes afterwards, q = gamma |e|, but for
 * the angle between e and the deviator of the stress, which is of the order of the elastic strain.
 */
#ifndef KILN_FEM_FLOW_POTENTIAL_H
#define KILN_FEM_FLOW_POTENTIAL_H

#include "fem/plasticity.h"
#include "fem/principal.h"

/* In the norm, Pa: at the begin of the step, and per logarithmic strain. */
typedef struct kiln_yield_surface {
    double threshold, growth;
} kiln_yield_surface;

/* True where a step sees the flow of this material: instant, mises, with numbers that are known
 * before, and with a pressure (of the nodal form) that flow leaves alone. */
bool kiln_flow_is_within(const kiln_material *material);

/* J per rest volume, with what flow takes; and its derivatives in the stretches. A flat or inverted
 * tet does not flow. */
double kiln_flow_energy(const kiln_matter *matter, const kiln_yield_surface *surface);
void kiln_flow_principal(const kiln_matter *matter, const kiln_yield_surface *surface,
                         kiln_principal *out);

#endif
