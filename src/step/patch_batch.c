/* Single tets eight at a time, by the element kernels of the whole step: for predictions, which ask
 * every tet of the mesh. */
#include "step/patch_impl.h"

#include <math.h>
#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, ROWS = 4 * LANES };

/* Eight tets that share no vertex: row 4 l + a is corner a of lane l. */
typedef struct lanes {
    kiln_element_batch batch;
    uint32_t vertex[ROWS];
    double lame[2 * LANES], yield[2 * LANES], viscosity[LANES], steady[LANES];
    double x[3 * ROWS + LANES], begin[3 * ROWS + LANES], before[3 * ROWS + LANES],
        rate[3 * ROWS + LANES];
    kiln_element_span span;
    kiln_patch_past past;
    kiln_patch_rates rates;
} lanes;

/* `past`: also what dampers are made of. */
static void load_places(const kiln_patch_corner *corner, size_t lane, bool past, lanes *l)
{
    for (size_t a = 0; a < 4; a++) {
        size_t row = 3 * (4 * lane + a);
        memcpy(l->x + row, &corner[a].x, sizeof(kiln_vec3));
        if (!past)
            continue;
        memcpy(l->begin + row, &corner[a].begin, sizeof(kiln_vec3));
        memcpy(l->before + row, &corner[a].before, sizeof(kiln_vec3));
        memcpy(l->rate + row, &corner[a].rate, sizeof(kiln_vec3));
    }
}

static void load(const kiln_patch_tet *const *tet, const kiln_patch_corner (*const *corner)[4],
                 size_t count, bool past, lanes *l)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        const kiln_patch_tet *t = tet[lane < count ? lane : 0];
        for (size_t k = 0; k < 3; k++) {
            l->batch.gradient[3 * k][lane] = t->gradient[k + 1].x;
            l->batch.gradient[3 * k + 1][lane] = t->gradient[k + 1].y;
            l->batch.gradient[3 * k + 2][lane] = t->gradient[k + 1].z;
        }
        for (int k = 0; k < 6; k++)
            l->batch.place[k][lane] = 1;
        l->batch.volume[lane] = lane < count ? t->volume : 0.0;
        l->batch.slot[lane] = lane < count ? (uint32_t)lane : KILN_NONE;
        l->lame[lane] = t->mu;
        l->lame[LANES + lane] = t->lambda;
        l->viscosity[lane] = t->viscosity;
        l->steady[lane] = t->steady;
        l->yield[lane] = t->yield[0];
        l->yield[LANES + lane] = t->yield[1];
        for (uint32_t a = 0; a < 4; a++)
            l->vertex[4 * lane + a] = 4 * (uint32_t)lane + a;
        load_places(*corner[lane < count ? lane : 0], lane, past, l);
    }
    const kiln_material *material = tet[0]->material;
    l->span = (kiln_element_span){.batch = &l->batch,
                                  .vertex = l->vertex,
                                  .batches = 1,
                                  .lame = l->lame,
                                  .shape = material->nodal_pressure,
                                  .shape_lambda = material->model->shape_lambda,
                                  .yield = l->yield,
                                  .material = material};
    l->past = (kiln_patch_past){l->begin, l->before, l->rate};
    l->rates = (kiln_patch_rates){l->viscosity, l->steady};
}

/* The next of them that have one material, at most eight: `from` goes on behind the first that is
 * another. */
static size_t take(const kiln_patch_tet *tets, const kiln_patch_corner (*corner)[4], size_t count,
                   size_t *from, const kiln_patch_tet *tet[LANES],
                   const kiln_patch_corner (*at[LANES])[4])
{
    size_t taken = 0;
    const kiln_material *material = tets[*from].material;
    for (; *from < count && taken < LANES && tets[*from].material == material; (*from)++) {
        tet[taken] = &tets[*from];
        at[taken++] = &corner[*from];
    }
    return taken;
}

void kiln_patch_tets_slopes(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                            const kiln_patch_corner (*corner)[4], size_t count, kiln_vec3 (*g)[4],
                            kiln_mat3 (*H)[4])
{
    kiln_isa isa = objective->mesh->context->isa;
    uint64_t start[ROWS + 1];
    for (uint64_t r = 0; r <= ROWS; r++) /* the diagonal block, and one for all others */
        start[r] = 2 * r;
    for (size_t from = 0; from < count;) {
        const kiln_patch_tet *tet[LANES];
        const kiln_patch_corner(*at[LANES])[4];
        double value[18 * ROWS + LANES] = {0}, slope[3 * ROWS + LANES] = {0};
        double aside[3 * ROWS + LANES] = {0};
        kiln_bsr matrix = {.block = 3, .rows = ROWS, .start = start, .value = value};
        size_t first = from, taken = take(tets, corner, count, &from, tet, at);
        lanes l;
        load(tet, at, taken, objective->brief.any, &l);
        kiln_element_kernels_of(l.span.material, isa, true)
            ->hessian(&l.span, l.x, 1.0, slope, &matrix);
        if (kiln_patch_has_dampers(objective, l.span.material)) {
            kiln_damper damper;
            kiln_patch_form_dampers(objective, &l.span, &l.past, l.rates, &damper);
            kiln_patch_add_dampers(objective, &l.span, &l.past, &damper, l.x, slope, &matrix);
            if (objective->scheme.impulses)
                kiln_patch_add_aside(objective, &l.span, &l.past, &damper, l.x, aside);
            for (size_t i = 0; i < 3 * ROWS; i++)
                slope[i] += objective->brief.weight * aside[i];
        }
        for (size_t r = 0; r < 4 * taken; r++) {
            const double *block = value + 18 * r; /* rows of six */
            g[first + r / 4][r % 4] = kiln_v3(slope[3 * r], slope[3 * r + 1], slope[3 * r + 2]);
            for (int i = 0; i < 3; i++)
                memcpy(H[first + r / 4][r % 4].m[i], block + 6 * i, 3 * sizeof(double));
        }
    }
}

/* What resists their strain. */
static double damped(const kiln_local_objective *o, const kiln_patch_tet *tets,
                     const kiln_patch_corner (*corner)[4], size_t count)
{
    double sum = 0.0;
    for (size_t from = 0; from < count && o->brief.any;) {
        const kiln_patch_tet *tet[LANES];
        const kiln_patch_corner(*at[LANES])[4];
        size_t taken = take(tets, corner, count, &from, tet, at);
        kiln_damper damper;
        lanes l;
        if (!kiln_patch_has_dampers(o, tet[0]->material))
            continue;
        load(tet, at, taken, true, &l);
        kiln_patch_form_dampers(o, &l.span, &l.past, l.rates, &damper);
        sum += kiln_patch_damped(o, &l.span, &l.past, &damper, NULL, l.x);
    }
    return sum;
}

/* Of up to eight, without what resists their strain; INFINITY where one is turned inside out. */
static void undamped(const kiln_local_objective *o, const kiln_patch_tet *tets,
                     const kiln_patch_corner (*corner)[4], size_t count, double *value)
{
    kiln_patch_tets_energies(o->mesh->context, tets, corner, count, value);
    for (size_t i = 0; i < count; i++) {
        const kiln_vec3 x[4] = {corner[i][0].x, corner[i][1].x, corner[i][2].x, corner[i][3].x};
        kiln_mat3 F = kiln_patch_tet_deformation(&tets[i], x);
        bool out = o->mesh->world_policy == KILN_WORLD_REJECT && !(kiln_m3_det(F) > 0.0);
        value[i] = out ? INFINITY : value[i] + kiln_patch_tet_other(o, &tets[i], corner[i]);
    }
}

double kiln_patch_tets_value(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                             const kiln_patch_corner (*corner)[4], size_t count)
{
    const kiln_local_objective *o = objective;
    double sum = damped(o, tets, corner, count);
    for (size_t from = 0; from < count; from += LANES) {
        double value[LANES];
        size_t some = count - from < LANES ? count - from : LANES;
        undamped(o, tets + from, corner + from, some, value);
        for (size_t i = 0; i < some; i++) {
            if (value[i] == INFINITY)
                return INFINITY;
            sum += value[i];
        }
    }
    return sum;
}

void kiln_patch_tets_values(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                            const kiln_patch_corner (*corner)[4], size_t count, double *value)
{
    undamped(objective, tets, corner, count, value);
    for (size_t i = 0; i < count && objective->brief.any; i++)
        value[i] += damped(objective, tets + i, corner + i, 1);
}

void kiln_patch_tets_energies(const kiln_context *context, const kiln_patch_tet *tets,
                              const kiln_patch_corner (*corner)[4], size_t count, double *energy)
{
    for (size_t from = 0; from < count;) {
        const kiln_patch_tet *tet[LANES];
        const kiln_patch_corner(*at[LANES])[4];
        double each[LANES];
        size_t first = from, taken = take(tets, corner, count, &from, tet, at);
        lanes l;
        load(tet, at, taken, false, &l);
        kiln_element_kernels_of(l.span.material, context->isa, true)->energy(&l.span, l.x, each);
        memcpy(energy + first, each, taken * sizeof *each);
    }
}
