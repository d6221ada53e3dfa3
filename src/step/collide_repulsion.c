/* Repulsion as a term of the objective. */
#include "contact/repulsion.h"
#include "step/collide_impl.h"

#include <string.h>

/* Of pair i; multiplied by its reach, scale and 1 / reach these are J, N and N/m. */
static kiln_repulsion repulsion_of(const kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    double s = c->distance.data[i].d / pair->reach;
    bool curved = pair->split == 2 || !kiln_collide_is_wall(c, pair->v[1]);
    if (!c->from || kiln_collide_friction_of(c, i) > 0.0) /* what trembles would not stick */
        return kiln_repulsion_at(s);
    return kiln_repulsion_over(c->before.data[i] / pair->reach, s, curved);
}

double kiln_collide_load(const kiln_collide *c, size_t i)
{
    return kiln_collide_acts(c, i) ? -kiln_collide_scale(c, i) * repulsion_of(c, i).slope : 0.0;
}

/* The energies of all pairs at x, J, in the room that was reserved when the pairs were found. */
static const double *measure_energies(kiln_collide *c, const double *x)
{
    kiln_collide_measure(c, x);
    size_t pairs = c->found.pairs.count;
    double *energy =
        kiln_kept_values_begin(&c->kept, c->context, 3 * c->given->rows, pairs, c->state, x);
    for (size_t i = 0; i < pairs; i++)
        energy[i] = kiln_collide_acts(c, i)
                        ? kiln_collide_scale(c, i) * kiln_collide_pair(c, i)->reach *
                              repulsion_of(c, i).value
                        : 0.0;
    return energy;
}

static double sum_of(kiln_collide *c, const double *energy, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->found.pairs.count; i++)
        sum += energy[i];
    if (c->failure != KILN_OK)
        return INFINITY;
    *kiln_kept_values_begin(&c->totals, c->context, 3 * c->given->rows, 1, c->solve, x) = sum;
    return sum;
}

static double repulsion_value(void *self, const double *x)
{
    kiln_collide *c = self;
    kiln_kept_values_forget(&c->kept);
    return sum_of(c, measure_energies(c, x), x);
}

/* Pair by pair where both places have the same; else of the sums, of which the first is known. */
static double repulsion_delta(void *self, const double *x0, const double *x1)
{
    kiln_collide *c = self;
    size_t size = 3 * c->given->rows;
    if (!kiln_collide_has_room(c, x0, NULL) || !kiln_collide_has_room(c, x1, NULL)) {
        const double *total = kiln_kept_values_find(&c->totals, size, 1, c->solve, x0);
        double before = total ? *total : repulsion_value(c, x0);
        return repulsion_value(c, x1) - before;
    }
    size_t pairs = c->found.pairs.count;
    const double *before = kiln_kept_values_find(&c->kept, size, pairs, c->state, x0);
    if (!before)
        before = measure_energies(c, x0);
    const double *after = measure_energies(c, x1);
    double sum = 0.0;
    for (size_t i = 0; i < pairs; i++)
        sum += after[i] - before[i];
    (void)sum_of(c, after, x1);
    return sum;
}

void kiln_collide_add_blocks(kiln_bsr *H, const uint32_t v[4], const double w[4],
                             const double m[3][3], bool coupled)
{
    double block[3][3];
    for (int k = 0; k < 4; k++)
        for (int l = k; l < 4; l++) {
            double factor = coupled ? w[k] * w[l] : k == l ? 4.0 * w[k] * w[k] : 0.0;
            if (factor == 0.0)
                continue;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    block[r][s] = factor * m[r][s];
            kiln_bsr_add(H, v[k], v[l], (const double(*)[3])block);
        }
}

/* Of the Hessian only the part along the normal: what the turning of the normal adds is negative
 * where the pair repels. */
static void repulsion_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_collide *c = self;
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++) {
        if (!kiln_collide_acts(c, i))
            continue;
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        const kiln_pair_distance *at = &c->distance.data[i];
        kiln_repulsion b = repulsion_of(c, i);
        double force = scale * kiln_collide_scale(c, i), slope = force * b.slope;
        for (int k = 0; k < 4; k++)
            kiln_collide_add_at(g, pair->v[k], slope * at->weight[k], at->normal);
        if (!H)
            continue;
        const double n[3] = {at->normal.x, at->normal.y, at->normal.z};
        double curvature = force * b.curvature / pair->reach, m[3][3];
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                m[r][s] = curvature * n[r] * n[s];
        kiln_collide_add_blocks(H, pair->v, at->weight, (const double(*)[3])m,
                                kiln_collide_is_coupled(c, i));
    }
}

static kiln_cliques repulsion_cliques(void *self)
{
    const kiln_collide *c = self;
    return (kiln_cliques){.count = c->cliques.count / 4, .size = 4, .row = c->cliques.data};
}

kiln_term kiln_collide_repulsion_term(kiln_collide *c)
{
    return (kiln_term){.name = "repulsion",
                       .self = c,
                       .weight = 1.0,
                       .value = repulsion_value,
                       .delta = repulsion_delta,
                       .add = repulsion_add,
                       .max_step = kiln_collide_max_step,
                       .renew = kiln_collide_expect,
                       .cliques = repulsion_cliques,
                       .passing = true};
}

double kiln_collide_energy(kiln_collide *c, const double *x)
{
    double sum = 0.0;
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++) {
        double reach = kiln_collide_pair(c, i)->reach;
        if (kiln_collide_acts(c, i))
            sum += kiln_collide_scale(c, i) * reach *
                   kiln_repulsion_at(c->distance.data[i].d / reach).value;
    }
    return sum;
}
