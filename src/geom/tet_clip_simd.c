/* Four planes at a time, as many as a tet has, whatever the lanes of the instruction set. The
 * arithmetic is that of tet_clip.c, bit for bit. */
#include "base/simd.h"
#include "geom/tet_clip.h"

typedef double vd4 __attribute__((vector_size(32)));
typedef int64_t vi4 __attribute__((vector_size(32)));

KILN_INLINE vd4 load(const double p[4])
{
    vd4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

KILN_INLINE bool a_plane_parts(const kiln_clip_tet *a, const kiln_clip_tet *b)
{
    vd4 nx = load(a->nx), ny = load(a->ny), nz = load(a->nz);
    kiln_vec3 shift = kiln_v3_sub(b->base, a->base);
    vd4 offset = load(a->offset) - (nx * shift.x + ny * shift.y + nz * shift.z);
    vi4 outside = offset >= 0.0; /* corner 0 is the base */
    for (int i = 1; i < 4; i++)
        outside &= nx * b->x[i] + ny * b->y[i] + nz * b->z[i] - offset <= 0.0;
    return outside[0] | outside[1] | outside[2] | outside[3];
}

bool KILN_SIMD(kiln_clip_apart)(const kiln_clip_tet *a, const kiln_clip_tet *b)
{
    return a_plane_parts(b, a) || a_plane_parts(a, b);
}
