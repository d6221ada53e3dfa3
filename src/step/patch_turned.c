/* Rows of a patch that are held along turned axes: with Q the part that is free, gradient and
 * blocks become Q g and Q H Q, and what is held gets the size of the block on its diagonal. */
#include "step/patch_impl.h"

/* Block of rows a <= b; of one on the diagonal the upper triangle counts. */
static kiln_mat3 block_at(const kiln_patch *p, size_t a, size_t b)
{
    kiln_mat3 out;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            out.m[i][j] =
                a == b && j < i ? out.m[j][i] : kiln_patch_row(p, 3 * a + i)[3 * (b - a) + j - i];
    return out;
}

static void set_block(kiln_patch *p, size_t a, size_t b, kiln_mat3 block)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = a == b ? i : 0; j < 3; j++)
            kiln_patch_row(p, 3 * a + i)[3 * (b - a) + j - i] = block.m[i][j];
}

void kiln_patch_hold_turned(kiln_patch *patch, size_t row)
{
    kiln_patch *p = patch;
    kiln_mat3 Q = kiln_tie_free(p->held.data[row]), own = block_at(p, row, row);
    kiln_vec3 *g = (kiln_vec3 *)(void *)(p->g.data + 3 * row);
    double size = (own.m[0][0] + own.m[1][1] + own.m[2][2]) / 3.0;
    *g = kiln_m3_apply(Q, *g);
    for (size_t a = 0; a < row; a++)
        set_block(p, a, row, kiln_m3_mul(block_at(p, a, row), Q));
    own = kiln_m3_mul(Q, kiln_m3_mul(own, Q));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            own.m[i][j] += size * ((i == j ? 1.0 : 0.0) - Q.m[i][j]);
    set_block(p, row, row, own);
    for (size_t b = row + 1; b < p->free; b++)
        set_block(p, row, b, kiln_m3_mul(Q, block_at(p, row, b)));
}

void kiln_patch_free_steps(kiln_patch *patch)
{
    for (size_t r = 0; r < patch->free; r++) {
        kiln_vec3 *step = (kiln_vec3 *)(void *)(patch->step.data + 3 * r);
        if (patch->held.data[r].bits > KILN_TIE_ALL)
            *step = kiln_m3_apply(kiln_tie_free(patch->held.data[r]), *step);
    }
}
