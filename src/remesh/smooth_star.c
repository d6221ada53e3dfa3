#include "remesh/smooth_star.h"
#include "geom/vec3.h"

enum { SINES = 6 };

static size_t blocks_of(size_t count)
{
    return kiln_star_room(count) / KILN_STAR_LANES;
}

static size_t functions_of(kiln_measure measure, size_t tets)
{
    return measure == KILN_MEASURE_MIN_SINE ? SINES * tets : tets;
}

size_t kiln_star_record_bytes(kiln_measure measure, size_t tets)
{
    size_t room = kiln_star_room(functions_of(measure, tets));
    return blocks_of(tets) * sizeof(kiln_star_block) + 4 * room * sizeof(double);
}

kiln_star_record kiln_star_record_in(void *memory, kiln_isa isa, kiln_measure measure, size_t tets)
{
    kiln_star_record star = {.measure = measure,
                             .isa = isa,
                             .tets = tets,
                             .functions = functions_of(measure, tets),
                             .block = memory};
    size_t room = kiln_star_room(star.functions);
    star.value = (double *)(star.block + blocks_of(tets));
    for (int k = 0; k < 3; k++)
        star.gradient[k] = star.value + (size_t)(k + 1) * room;
    return star;
}

void kiln_star_record_fill(kiln_star_record *star, const kiln_star_frame *frame,
                           const kiln_vec3 **corner)
{
    static void (*const table[])(kiln_star_block *, size_t, const kiln_star_frame *,
                                 const kiln_vec3 *const *) = KILN_SIMD_TABLE(kiln_star_fill);
    size_t blocks = blocks_of(star->tets);
    for (size_t i = star->tets; i < kiln_star_room(star->tets); i++)
        for (int k = 0; k < 3; k++)
            corner[3 * i + k] = corner[k];
    table[star->isa](star->block, blocks, frame, corner);
    for (size_t i = star->functions; i % KILN_STAR_LANES != 0; i++) {
        star->value[i] = INFINITY;
        star->gradient[0][i] = star->gradient[1][i] = star->gradient[2][i] = 0.0;
    }
}

static kiln_vec3 corner_of(const kiln_star_record *star, size_t tet, int j)
{
    const kiln_star_block *block = &star->block[tet / KILN_STAR_LANES];
    size_t lane = tet % KILN_STAR_LANES;
    return kiln_v3(block->y[j][0][lane], block->y[j][1][lane], block->y[j][2][lane]);
}

/* One sine, det |edge| / (A B) with A, B twice the areas of the faces at the edge; grad of its
 * logarithm without that of det is given. */
static double put_sine(kiln_star_record *star, size_t i, double det, kiln_vec3 n, double ratio,
                       kiln_vec3 rest)
{
    kiln_vec3 g = kiln_v3_scale(kiln_v3_madd(n, det, rest), ratio);
    star->value[i] = det * ratio;
    star->gradient[0][i] = g.x;
    star->gradient[1][i] = g.y;
    star->gradient[2][i] = g.z;
    return star->value[i];
}

/* The six sines of a tet: at the edges x y_j (faces opposite y_k and y_l), then at y_k y_l (faces
 * opposite x and y_j). A face of area vector a = (y_k - x) x (y_l - x) has
 * grad |a| = a / |a| x (y_l - y_k). */
static double sines_of(kiln_star_record *star, size_t tet, kiln_vec3 x)
{
    const kiln_star_block *block = &star->block[tet / KILN_STAR_LANES];
    size_t lane = tet % KILN_STAR_LANES;
    kiln_vec3 y[3], e[3], grow[3];
    kiln_vec3 n = kiln_v3(block->n[0][lane], block->n[1][lane], block->n[2][lane]);
    double area[3], base = kiln_v3_norm(n), det = kiln_v3_dot(n, x) - block->c[lane];
    for (int j = 0; j < 3; j++) {
        y[j] = corner_of(star, tet, j);
        e[j] = kiln_v3_sub(x, y[j]);
    }
    for (int j = 0; j < 3; j++) {
        kiln_vec3 a = kiln_v3_cross(e[(j + 1) % 3], e[(j + 2) % 3]);
        area[j] = kiln_v3_norm(a) + 1e-150;
        grow[j] = kiln_v3_scale(kiln_v3_cross(a, kiln_v3_sub(y[(j + 2) % 3], y[(j + 1) % 3])),
                                1.0 / (area[j] * area[j]));
    }
    double least = INFINITY;
    for (int j = 0; j < 3; j++) {
        int k = (j + 1) % 3, l = (j + 2) % 3;
        double length = kiln_v3_norm(e[j]) + 1e-150;
        double opposite = kiln_v3_norm(kiln_v3_sub(y[l], y[k]));
        kiln_vec3 rest = kiln_v3_scale(e[j], 1.0 / (length * length));
        rest = kiln_v3_sub(rest, kiln_v3_add(grow[k], grow[l]));
        double at_x =
            put_sine(star, SINES * tet + (size_t)j, det, n, length / (area[k] * area[l]), rest);
        double beyond = put_sine(star, SINES * tet + 3 + (size_t)j, det, n,
                                 opposite / (base * area[j]), kiln_v3_scale(grow[j], -1.0));
        least = at_x < least ? at_x : least;
        least = beyond < least ? beyond : least;
    }
    return least;
}

static double all_sines(kiln_star_record *star, kiln_vec3 x)
{
    double least = INFINITY;
    for (size_t t = 0; t < star->tets; t++) {
        double sine = sines_of(star, t, x);
        least = sine < least ? sine : least;
    }
    return least;
}

double kiln_star_values(kiln_star_record *star, kiln_vec3 x)
{
    static double (*const table[])(const kiln_star_block *, size_t, kiln_measure, const double[3],
                                   double *) = KILN_SIMD_TABLE(kiln_star_values);
    if (star->measure == KILN_MEASURE_MIN_SINE)
        return all_sines(star, x);
    return table[star->isa](star->block, blocks_of(star->tets), star->measure, &x.x, star->value);
}

double kiln_star_gradients(kiln_star_record *star, kiln_vec3 x)
{
    static double (*const table[])(const kiln_star_block *, size_t, kiln_measure, const double[3],
                                   double *, double *const[3]) =
        KILN_SIMD_TABLE(kiln_star_gradients);
    if (star->measure == KILN_MEASURE_MIN_SINE)
        return all_sines(star, x);
    return table[star->isa](star->block, blocks_of(star->tets), star->measure, &x.x, star->value,
                            star->gradient);
}

size_t kiln_star_below(const kiln_star_record *star, double limit, uint32_t *index, size_t room)
{
    static size_t (*const table[])(const double *, size_t, double, uint32_t *, size_t) =
        KILN_SIMD_TABLE(kiln_star_below);
    return table[star->isa](star->value, star->functions, limit, index, room);
}

double kiln_star_first_crossing(const kiln_star_record *star, kiln_vec3 d, double worst,
                                double rate, double apart)
{
    static double (*const table[])(const double *, double *const[3], size_t, const double[3],
                                   double, double, double) =
        KILN_SIMD_TABLE(kiln_star_first_crossing);
    return table[star->isa](star->value, star->gradient, star->functions, &d.x, worst, rate, apart);
}
