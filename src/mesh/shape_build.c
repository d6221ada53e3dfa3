#include "mesh/shape_build.h"

#include <string.h>

uint32_t kiln_shape_divisions(double length, double size, uint32_t low)
{
    double n = floor(length / size + 0.5);
    if (n < low)
        return low;
    return n > 1e6 ? 1000000u : (uint32_t)n;
}

kiln_status kiln_shape_reserve(kiln_soup *soup, double points, double tets, kiln_error *error)
{
    if (!(tets < KILN_SHAPE_MAX_TETS) || !(points < KILN_SHAPE_MAX_TETS))
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                         "this would make about %.3g tets, a mesh holds %.0f: choose a larger size",
                         tets, KILN_SHAPE_MAX_TETS);
    if (tets * KILN_BYTES_A_TET > kiln_machine_memory())
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                         "this would make about %.3g tets, which take %.0f GB or more, and there "
                         "are %.0f: choose a larger size",
                         tets, 1e-9 * tets * KILN_BYTES_A_TET, 1e-9 * kiln_machine_memory());
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, (size_t)points, error));
    return kiln_array_reserve(soup->context, &soup->tets, (size_t)tets, error);
}

kiln_status kiln_shape_point(kiln_soup *soup, kiln_vec3 p, uint32_t *index, kiln_error *error)
{
    if (index)
        *index = (uint32_t)soup->points.count;
    return kiln_array_push(soup->context, &soup->points, p, error);
}

kiln_status kiln_shape_tet(kiln_soup *soup, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                           kiln_error *error)
{
    const kiln_vec3 *p = soup->points.data;
    kiln_soup_tet tet = {{a, b, c, d}};
    if (kiln_tet_volume(p[a], p[b], p[c], p[d]) < 0.0) {
        tet.v[2] = d;
        tet.v[3] = c;
    }
    return kiln_array_push(soup->context, &soup->tets, tet, error);
}

kiln_status kiln_shape_prism(kiln_soup *soup, const uint32_t a[3], const uint32_t b[3],
                             kiln_error *error)
{
    /* Turn and swap ends until low[0] is the lowest number of all six. */
    int first = 0;
    const uint32_t *low = a, *high = b;
    uint32_t best = a[0] < b[0] ? a[0] : b[0];
    for (int i = 1; i < 3; i++) {
        uint32_t m = a[i] < b[i] ? a[i] : b[i];
        if (m < best) {
            best = m;
            first = i;
        }
    }
    if (b[first] < a[first]) {
        low = b;
        high = a;
    }
    int i = first, j = (first + 1) % 3, k = (first + 2) % 3;
    KILN_TRY(kiln_shape_tet(soup, low[i], high[i], high[j], high[k], error));
    /* What remains is a pyramid from low[i] over the side j, k. */
    uint32_t side_j = low[j] < high[j] ? low[j] : high[j];
    uint32_t side_k = low[k] < high[k] ? low[k] : high[k];
    int from_low_j = side_j < side_k ? low[j] < high[j] : high[k] < low[k];
    if (from_low_j) {
        KILN_TRY(kiln_shape_tet(soup, low[i], low[j], low[k], high[k], error));
        return kiln_shape_tet(soup, low[i], low[j], high[k], high[j], error);
    }
    KILN_TRY(kiln_shape_tet(soup, low[i], low[j], low[k], high[j], error));
    return kiln_shape_tet(soup, low[i], low[k], high[k], high[j], error);
}

double kiln_shape_quality(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    double square[6] = {
        kiln_v3_norm2(kiln_v3_sub(b, a)), kiln_v3_norm2(kiln_v3_sub(c, a)),
        kiln_v3_norm2(kiln_v3_sub(d, a)), kiln_v3_norm2(kiln_v3_sub(c, b)),
        kiln_v3_norm2(kiln_v3_sub(d, b)), kiln_v3_norm2(kiln_v3_sub(d, c)),
    };
    double sum = 0.0, inverse = 0.0;
    for (int i = 0; i < 6; i++) {
        sum += square[i];
        inverse += 1.0 / sqrt(square[i]);
    }
    double mean_square = sum / 6.0;
    return 6.0 * sqrt(2.0) * kiln_tet_volume(a, b, c, d) * (6.0 / inverse) /
           (mean_square * mean_square);
}

kiln_status kiln_shape_cut(kiln_soup *soup, const uint32_t p[4], int inner, int outer,
                           uint32_t cut[4][4], kiln_error *error)
{
    if (inner == 1) {
        uint32_t v[4];
        for (int k = 0; k < 4; k++)
            v[k] = k < 4 - outer ? p[k] : cut[0][k - (4 - outer)];
        return kiln_shape_tet(soup, v[0], v[1], v[2], v[3], error);
    }
    if (inner == 3)
        return kiln_shape_prism(soup, p, (uint32_t[]){cut[0][0], cut[1][0], cut[2][0]}, error);
    if (outer == 2)
        return kiln_shape_prism(soup, (uint32_t[]){p[0], cut[0][0], cut[0][1]},
                                (uint32_t[]){p[1], cut[1][0], cut[1][1]}, error);
    /* As kiln_shape_prism cuts the quadrilateral on the other side of it. */
    uint32_t low0 = p[0] < cut[0][0] ? p[0] : cut[0][0], low1 = p[1] < cut[1][0] ? p[1] : cut[1][0];
    bool from_inner = low0 < low1 ? p[0] < cut[0][0] : cut[1][0] < p[1];
    uint32_t a = from_inner ? p[0] : cut[0][0], b = from_inner ? cut[1][0] : p[1];
    KILN_TRY(kiln_shape_tet(soup, p[2], a, b, p[from_inner ? 1 : 0], error));
    return kiln_shape_tet(soup, p[2], a, b, cut[from_inner ? 0 : 1][0], error);
}

kiln_status kiln_shape_octahedron(kiln_soup *soup, const uint32_t v[6], kiln_error *error)
{
    const kiln_vec3 *p = soup->points.data;
    int best = 0;
    double best_worst = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t *d = v + 2 * axis, *s = v + 2 * ((axis + 1) % 3),
                       *t = v + 2 * ((axis + 2) % 3);
        double worst = 2.0;
        for (int side = 0; side < 4; side++) {
            double q = fabs(kiln_shape_quality(p[d[0]], p[d[1]], p[s[side & 1]], p[t[side >> 1]]));
            worst = q < worst ? q : worst;
        }
        /* A margin: octahedra that are alike are cut alike, whatever the rounding. */
        if (worst > best_worst + 1e-9) {
            best_worst = worst;
            best = axis;
        }
    }
    const uint32_t *d = v + 2 * best, *s = v + 2 * ((best + 1) % 3), *t = v + 2 * ((best + 2) % 3);
    for (int side = 0; side < 4; side++)
        KILN_TRY(kiln_shape_tet(soup, d[0], d[1], s[side & 1], t[side >> 1], error));
    return KILN_OK;
}

/* Faces outward for a positive tet. */
static const uint8_t tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static uint32_t lowest(const uint32_t v[3])
{
    uint32_t m = v[0] < v[1] ? v[0] : v[1];
    return m < v[2] ? m : v[2];
}

static void face_of(const kiln_soup *soup, uint32_t face, uint32_t v[3])
{
    const kiln_soup_tet *tet = &soup->tets.data[face >> 2];
    for (int i = 0; i < 3; i++)
        v[i] = tet->v[tet_face[face & 3][i]];
}

static int same_face(const uint32_t a[3], const uint32_t b[3])
{
    for (int shift = 0; shift < 3; shift++)
        if (a[0] == b[shift])
            return (a[1] == b[(shift + 1) % 3] && a[2] == b[(shift + 2) % 3]) ||
                   (a[1] == b[(shift + 2) % 3] && a[2] == b[(shift + 1) % 3]);
    return 0;
}

static kiln_status add_triangle(kiln_soup *soup, const uint32_t v[3], int32_t tag,
                                kiln_error *error)
{
    kiln_soup_triangle triangle = {{v[0], v[1], v[2]}};
    KILN_TRY(kiln_array_push(soup->context, &soup->triangles, triangle, error));
    return kiln_array_push(soup->context, &soup->triangle_tags, tag, error);
}

/* Faces of one bucket (same lowest vertex) that have no partner in it. */
static kiln_status add_unmatched(kiln_soup *soup, const uint32_t *faces, uint32_t count,
                                 kiln_shape_patch patch, void *user, kiln_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v[3], w[3];
        face_of(soup, faces[i], v);
        int matched = 0;
        for (uint32_t j = 0; j < count && !matched; j++) {
            face_of(soup, faces[j], w);
            matched = j != i && same_face(v, w);
        }
        if (!matched)
            KILN_TRY(add_triangle(soup, v, patch(user, v), error));
    }
    return KILN_OK;
}

static kiln_status match_faces(kiln_soup *soup, uint32_t *start, uint32_t *faces,
                               kiln_shape_patch patch, void *user, kiln_error *error)
{
    size_t points = soup->points.count, face_count = 4 * soup->tets.count;
    uint32_t v[3];
    memset(start, 0, (points + 1) * sizeof *start);
    for (size_t f = 0; f < face_count; f++) {
        face_of(soup, (uint32_t)f, v);
        start[lowest(v) + 1]++;
    }
    for (size_t i = 0; i < points; i++)
        start[i + 1] += start[i];
    for (size_t f = 0; f < face_count; f++) {
        face_of(soup, (uint32_t)f, v);
        faces[start[lowest(v)]++] = (uint32_t)f;
    }
    /* start[i] is now the end of bucket i. */
    for (size_t i = 0; i < points; i++) {
        uint32_t begin = i ? start[i - 1] : 0;
        KILN_TRY(add_unmatched(soup, faces + begin, start[i] - begin, patch, user, error));
    }
    return KILN_OK;
}

kiln_status kiln_shape_surface(kiln_soup *soup, kiln_shape_patch patch, void *user,
                               kiln_error *error)
{
    kiln_context *context = soup->context;
    KILN_TRY(kiln_array_reserve(context, &soup->tet_tags, soup->tets.count, error));
    for (size_t i = 0; i < soup->tets.count; i++)
        soup->tet_tags.data[i] = 1;
    soup->tet_tags.count = soup->tets.count;

    kiln_u32_array start = {0}, faces = {0};
    kiln_status status = kiln_array_reserve(context, &start, soup->points.count + 1, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &faces, 4 * soup->tets.count, error);
    if (status == KILN_OK)
        status = match_faces(soup, start.data, faces.data, patch, user, error);
    kiln_array_free(context, &start);
    kiln_array_free(context, &faces);
    return status;
}

int32_t kiln_shape_one_patch(void *user, const uint32_t v[3])
{
    (void)user;
    (void)v;
    return 1;
}
