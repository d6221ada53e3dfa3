/* Single tets eight at a time, by the element kernels of the whole step: for predictions, which ask
 * every tet of the mesh. */
#include "fem/element_kernels.h"
#include "step/patch.h"

#include <math.h>
#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

/* Eight tets that share no vertex: row 4 l + a is corner a of lane l. */
typedef struct lanes {
    kiln_element_batch batch;
    uint32_t vertex[4 * LANES];
    double lame[2 * LANES], yield[2 * LANES], x[3 * 4 * LANES + LANES];
    kiln_element_span span;
} lanes;

static void load(const kiln_patch_tet *const *tet, const kiln_vec3 (*const *x)[4], size_t count,
                 lanes *l)
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
        l->yield[lane] = t->yield[0];
        l->yield[LANES + lane] = t->yield[1];
        for (uint32_t a = 0; a < 4; a++)
            l->vertex[4 * lane + a] = 4 * (uint32_t)lane + a;
        memcpy(l->x + 12 * lane, *x[lane < count ? lane : 0], 12 * sizeof(double));
    }
    const kiln_material *material = tet[0]->material;
    l->span = (kiln_element_span){.batch = &l->batch,
                                  .vertex = l->vertex,
                                  .batches = 1,
                                  .lame = l->lame,
                                  .shape_lambda = material->model->shape_lambda,
                                  .yield = l->yield,
                                  .material = material};
}

/* The next of them that have one material, at most eight: `from` goes on behind the first that is
 * another. */
static size_t take(const kiln_patch_tet *tets, const kiln_vec3 (*x)[4], size_t count, size_t *from,
                   const kiln_patch_tet *tet[LANES], const kiln_vec3 (*at[LANES])[4])
{
    size_t taken = 0;
    const kiln_material *material = tets[*from].material;
    for (; *from < count && taken < LANES && tets[*from].material == material; (*from)++) {
        tet[taken] = &tets[*from];
        at[taken++] = &x[*from];
    }
    return taken;
}

void kiln_patch_tets_slopes(const kiln_context *context, const kiln_patch_tet *tets,
                            const kiln_vec3 (*x)[4], size_t count, kiln_vec3 (*g)[4],
                            kiln_mat3 (*H)[4])
{
    enum { ROWS = 4 * LANES };
    uint64_t start[ROWS + 1];
    for (uint64_t r = 0; r <= ROWS; r++) /* the diagonal block, and one for all others */
        start[r] = 2 * r;
    for (size_t from = 0; from < count;) {
        const kiln_patch_tet *tet[LANES];
        const kiln_vec3(*at[LANES])[4];
        double value[18 * ROWS + LANES] = {0}, slope[3 * ROWS + LANES] = {0};
        kiln_bsr matrix = {.block = 3, .rows = ROWS, .start = start, .value = value};
        size_t first = from, taken = take(tets, x, count, &from, tet, at);
        lanes l;
        load(tet, at, taken, &l);
        kiln_element_kernels_of(l.span.material, context->isa, true)
            ->hessian(&l.span, l.x, 1.0, slope, &matrix);
        for (size_t r = 0; r < 4 * taken; r++) {
            const double *block = value + 18 * r; /* rows of six */
            g[first + r / 4][r % 4] = kiln_v3(slope[3 * r], slope[3 * r + 1], slope[3 * r + 2]);
            for (int i = 0; i < 3; i++)
                memcpy(H[first + r / 4][r % 4].m[i], block + 6 * i, 3 * sizeof(double));
        }
    }
}

double kiln_patch_tets_value(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                             const kiln_vec3 (*x)[4], const kiln_vec3 (*centre)[4], size_t count)
{
    const kiln_local_objective *o = objective;
    double sum = 0.0;
    for (size_t from = 0; from < count; from += LANES) {
        double energy[LANES];
        size_t some = count - from < LANES ? count - from : LANES;
        kiln_patch_tets_energies(o->mesh->context, tets + from, x + from, some, energy);
        for (size_t i = from; i < from + some; i++) {
            kiln_mat3 F = kiln_patch_tet_deformation(&tets[i], x[i]);
            if (o->mesh->world_policy == KILN_WORLD_REJECT && !(kiln_m3_det(F) > 0.0))
                return INFINITY;
            sum += energy[i - from] + kiln_patch_tet_other(o, &tets[i], x[i], centre[i]);
        }
    }
    return sum;
}

void kiln_patch_tets_energies(const kiln_context *context, const kiln_patch_tet *tets,
                              const kiln_vec3 (*x)[4], size_t count, double *energy)
{
    for (size_t from = 0; from < count;) {
        const kiln_patch_tet *tet[LANES];
        const kiln_vec3(*at[LANES])[4];
        double each[LANES];
        size_t first = from, taken = take(tets, x, count, &from, tet, at);
        lanes l;
        load(tet, at, taken, &l);
        kiln_element_kernels_of(l.span.material, context->isa, true)->energy(&l.span, l.x, each);
        memcpy(energy + first, each, taken * sizeof *each);
    }
}
