#include "app/hausdorff.h"

#include "app/skin.h"
#include "geom/bvh.h"
#include "geom/distance.h"

enum { LATTICE = 4 }; /* steps along an edge */

typedef struct surface {
    const kiln_soup *soup;
    kiln_skin skin;
    kiln_bvh tree;
} surface;

static void corners(const surface *s, size_t face, kiln_vec3 out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = s->soup->points.data[s->skin.data[face].v[k]];
}

static kiln_status open_surface(surface *s, const kiln_soup *soup, kiln_error *error)
{
    *s = (surface){.soup = soup};
    KILN_TRY(kiln_skin_collect(soup, NULL, &s->skin, error));
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(soup->context, &boxes, s->skin.count, error));
    for (size_t i = 0; i < s->skin.count; i++) {
        kiln_vec3 p[3];
        corners(s, i, p);
        boxes.data[i] =
            kiln_box_grow(kiln_box_grow(kiln_box_grow(kiln_box_empty(), p[0]), p[1]), p[2]);
    }
    kiln_status status = kiln_bvh_build(&s->tree, soup->context, boxes.data, s->skin.count, error);
    kiln_array_free(soup->context, &boxes);
    return status;
}

static void close_surface(surface *s)
{
    kiln_bvh_destroy(&s->tree);
    kiln_array_free(s->soup->context, &s->skin);
}

static double distance2(void *user, uint32_t item, kiln_vec3 p)
{
    kiln_vec3 triangle[3];
    corners(user, item, triangle);
    return kiln_closest_on_triangle(p, triangle).distance2;
}

static double farthest2(const surface *from, surface *to)
{
    double most = 0.0;
    for (size_t i = 0; i < from->skin.count; i++) {
        kiln_vec3 p[3];
        corners(from, i, p);
        for (int a = 0; a <= LATTICE; a++)
            for (int b = 0; a + b <= LATTICE; b++) {
                kiln_vec3 x = kiln_v3_madd(p[0], (double)a / LATTICE, kiln_v3_sub(p[1], p[0]));
                x = kiln_v3_madd(x, (double)b / LATTICE, kiln_v3_sub(p[2], p[0]));
                double d2 = INFINITY;
                kiln_bvh_closest(&to->tree, x, INFINITY, distance2, to, &d2);
                most = d2 > most ? d2 : most;
            }
    }
    return most;
}

kiln_status kiln_soup_hausdorff(const kiln_soup *a, const kiln_soup *b, double *out,
                                kiln_error *error)
{
    surface s, t;
    kiln_status status = open_surface(&s, a, error);
    if (status == KILN_OK) {
        status = open_surface(&t, b, error);
        if (status == KILN_OK) {
            double there = farthest2(&s, &t), back = farthest2(&t, &s);
            *out = sqrt(there > back ? there : back);
        }
        close_surface(&t);
    }
    close_surface(&s);
    return status;
}
