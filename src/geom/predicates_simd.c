/* The filter of kiln_orient3d on whole vectors, operation for operation, so the bits are the same;
 * lanes it does not decide are evaluated exactly one by one. */
#include "geom/predicates.h"

typedef struct vector3 {
    kiln_vd x, y, z;
} vector3;

static inline vector3 load_difference(const double *const p[3], const double *const q[3], size_t i)
{
    return (vector3){kiln_vd_load(p[0] + i) - kiln_vd_load(q[0] + i),
                     kiln_vd_load(p[1] + i) - kiln_vd_load(q[1] + i),
                     kiln_vd_load(p[2] + i) - kiln_vd_load(q[2] + i)};
}

static inline kiln_vec3 point_at(const double *const p[3], size_t i)
{
    return kiln_v3(p[0][i], p[1][i], p[2][i]);
}

/* Determinants of the vector at item i; a bit for each lane that is not decided. */
static inline unsigned filter(const kiln_orient3d_lanes *lanes, size_t i, double *out)
{
    vector3 u = load_difference(lanes->b, lanes->a, i), v = load_difference(lanes->c, lanes->a, i);
    vector3 w = load_difference(lanes->d, lanes->a, i);
    kiln_vd vxwy = v.x * w.y, vywx = v.y * w.x;
    kiln_vd wxuy = w.x * u.y, wyux = w.y * u.x;
    kiln_vd uxvy = u.x * v.y, uyvx = u.y * v.x;
    kiln_vd det = u.z * (vxwy - vywx) + v.z * (wxuy - wyux) + w.z * (uxvy - uyvx);
    kiln_vd uz = kiln_vd_abs(u.z), vz = kiln_vd_abs(v.z), wz = kiln_vd_abs(w.z);
    kiln_vd permanent = uz * (kiln_vd_abs(vxwy) + kiln_vd_abs(vywx)) +
                        vz * (kiln_vd_abs(wxuy) + kiln_vd_abs(wyux)) +
                        wz * (kiln_vd_abs(uxvy) + kiln_vd_abs(uyvx));
    kiln_vd bound = 0x1p-50 * permanent + 0x1p-900 * (uz + vz + wz + 1.0);
    kiln_vd_store(out, det);
    return kiln_vi_bits(~(kiln_vi)(kiln_vd_abs(det) > bound));
}

static double exact_at(const kiln_orient3d_lanes *lanes, size_t i)
{
    return kiln_orient3d_exact(point_at(lanes->a, i), point_at(lanes->b, i), point_at(lanes->c, i),
                               point_at(lanes->d, i));
}

size_t KILN_SIMD(kiln_orient3d_batch)(size_t count, const kiln_orient3d_lanes *lanes, double *det)
{
    size_t i = 0, undecided = 0;
    for (; i + KILN_VD_LANES <= count; i += KILN_VD_LANES) {
        unsigned open = filter(lanes, i, det + i);
        for (size_t k = i; KILN_UNLIKELY(open != 0); k++, open >>= 1)
            if (open & 1) {
                det[k] = exact_at(lanes, k);
                undecided++;
            }
    }
    for (; i < count; i++)
        if (!kiln_orient3d_filter(point_at(lanes->a, i), point_at(lanes->b, i),
                                  point_at(lanes->c, i), point_at(lanes->d, i), &det[i])) {
            det[i] = exact_at(lanes, i);
            undecided++;
        }
    return undecided;
}
