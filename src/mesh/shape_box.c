/* Boxes [0,lx] x [0,ly] x [0,lz] of cells cut into tets: Kuhn (K), mirrored Kuhn (KM) and
 * body-centred cubic. Grid points are numbered with x fastest; coordinates on the far faces are
 * exactly lx, ly, lz. */
#include "mesh/shape_build.h"

enum { P_LX, P_LY, P_LZ, P_N, P_NX, P_NY, P_NZ, P_PATTERN, P_H };
enum { PATTERN_KUHN, PATTERN_MIRRORED, PATTERN_BCC };

typedef struct box {
    kiln_soup *soup;
    uint32_t n[3];
    double length[3];
    uint32_t centres; /* number of the first cell centre (BCC) */
} box;

static uint32_t grid_point(const box *b, uint32_t i, uint32_t j, uint32_t k)
{
    return i + (b->n[0] + 1) * (j + (b->n[1] + 1) * k);
}

static uint32_t cell_centre(const box *b, uint32_t i, uint32_t j, uint32_t k)
{
    return b->centres + i + b->n[0] * (j + b->n[1] * k);
}

static double coordinate(const box *b, int axis, uint32_t i)
{
    return i == b->n[axis] ? b->length[axis] : b->length[axis] * i / b->n[axis];
}

static kiln_status add_triangle(const box *b, uint32_t p, uint32_t q, uint32_t r, int32_t tag,
                                kiln_error *error)
{
    kiln_soup_triangle triangle = {{p, q, r}};
    KILN_TRY(kiln_array_push(b->soup->context, &b->soup->triangles, triangle, error));
    return kiln_array_push(b->soup->context, &b->soup->triangle_tags, tag, error);
}

/* Faces of the newest tet in the planes of the box, tagged 1-6 for -x +x -y +y -z +z. */
static kiln_status add_surface(const box *b, const uint32_t corner[4][3], const uint32_t id[4],
                               kiln_error *error)
{
    static const uint8_t face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int f = 0; f < 4; f++)
        for (int axis = 0; axis < 3; axis++) {
            uint32_t at = corner[face[f][0]][axis];
            if (at != corner[face[f][1]][axis] || at != corner[face[f][2]][axis] ||
                (at != 0 && at != b->n[axis]))
                continue;
            KILN_TRY(add_triangle(b, id[face[f][0]], id[face[f][1]], id[face[f][2]],
                                  2 * axis + (at ? 2 : 1), error));
        }
    return KILN_OK;
}

/* Six tets 000 - +e_a - +e_b - 111, one per order of the axes; a mirrored cell starts at another
 * corner. */
static kiln_status cut_kuhn(const box *b, const uint32_t cell[3], int mirrored, kiln_error *error)
{
    static const uint8_t order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                        {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    uint32_t flip[3];
    uint32_t flips = 0;
    for (int axis = 0; axis < 3; axis++) {
        flip[axis] = mirrored ? cell[axis] & 1 : 0;
        flips += flip[axis];
    }
    for (int t = 0; t < 6; t++) {
        uint32_t step[3] = {0, 0, 0}, corner[4][3], id[4];
        for (int v = 0; v < 4; v++) {
            if (v > 0)
                step[order[t][v - 1]] = 1;
            for (int axis = 0; axis < 3; axis++)
                corner[v][axis] = cell[axis] + (step[axis] ^ flip[axis]);
        }
        if ((flips & 1) != (t >= 3)) /* the order so far is negative */
            for (int axis = 0; axis < 3; axis++) {
                uint32_t keep = corner[1][axis];
                corner[1][axis] = corner[2][axis];
                corner[2][axis] = keep;
            }
        for (int v = 0; v < 4; v++)
            id[v] = grid_point(b, corner[v][0], corner[v][1], corner[v][2]);
        kiln_soup_tet tet = {{id[0], id[1], id[2], id[3]}};
        KILN_TRY(kiln_array_push(b->soup->context, &b->soup->tets, tet, error));
        KILN_TRY(add_surface(b, corner, id, error));
    }
    return KILN_OK;
}

/* The square of grid points across `axis` at the near side of `cell`, in ring order. */
static void face_ring(const box *b, const uint32_t cell[3], int axis, uint32_t ring[4])
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    static const uint8_t du[4] = {0, 1, 1, 0}, dv[4] = {0, 0, 1, 1};
    for (int i = 0; i < 4; i++) {
        uint32_t at[3] = {cell[0], cell[1], cell[2]};
        at[u] += du[i];
        at[v] += dv[i];
        ring[i] = grid_point(b, at[0], at[1], at[2]);
    }
}

/* Inside: four tets round the segment between two cell centres. At a face of the box: the pyramid
 * below the square, cut along the diagonal that alternates from cell to cell. */
static kiln_status cut_bcc_face(const box *b, const uint32_t cell[3], int axis, kiln_error *error)
{
    uint32_t ring[4], before[3] = {cell[0], cell[1], cell[2]};
    face_ring(b, cell, axis, ring);
    int first = cell[axis] == 0, last = cell[axis] == b->n[axis];
    if (!first)
        before[axis]--;
    if (!first && !last) {
        uint32_t low = cell_centre(b, before[0], before[1], before[2]);
        uint32_t high = cell_centre(b, cell[0], cell[1], cell[2]);
        for (int i = 0; i < 4; i++)
            KILN_TRY(kiln_shape_tet(b->soup, low, high, ring[i], ring[(i + 1) % 4], error));
        return KILN_OK;
    }
    const uint32_t *inner = first ? cell : before;
    uint32_t apex = cell_centre(b, inner[0], inner[1], inner[2]);
    int turn = (int)((cell[0] + cell[1] + cell[2]) & 1);
    for (int half = 0; half < 2; half++) {
        uint32_t p = ring[turn + 2 * half], q = ring[(turn + 2 * half + 1) % 4];
        uint32_t r = ring[(turn + 2 * half + 2) % 4];
        KILN_TRY(kiln_shape_tet(b->soup, apex, p, q, r, error));
        if (first)
            KILN_TRY(add_triangle(b, p, r, q, 2 * axis + 1, error));
        else
            KILN_TRY(add_triangle(b, p, q, r, 2 * axis + 2, error));
    }
    return KILN_OK;
}

static kiln_status cut_bcc(box *b, kiln_error *error)
{
    kiln_soup *soup = b->soup;
    b->centres = (uint32_t)soup->points.count;
    for (uint32_t k = 0; k < b->n[2]; k++)
        for (uint32_t j = 0; j < b->n[1]; j++)
            for (uint32_t i = 0; i < b->n[0]; i++) {
                kiln_vec3 p = {b->length[0] * (i + 0.5) / b->n[0],
                               b->length[1] * (j + 0.5) / b->n[1],
                               b->length[2] * (k + 0.5) / b->n[2]};
                KILN_TRY(kiln_shape_point(soup, p, NULL, error));
            }
    for (uint32_t k = 0; k <= b->n[2]; k++)
        for (uint32_t j = 0; j <= b->n[1]; j++)
            for (uint32_t i = 0; i <= b->n[0]; i++) {
                const uint32_t cell[3] = {i, j, k};
                for (int axis = 0; axis < 3; axis++) {
                    int u = (axis + 1) % 3, v = (axis + 2) % 3;
                    if (cell[u] < b->n[u] && cell[v] < b->n[v])
                        KILN_TRY(cut_bcc_face(b, cell, axis, error));
                }
            }
    return KILN_OK;
}

static kiln_status fill(box *b, int pattern, kiln_error *error)
{
    kiln_soup *soup = b->soup;
    double cells = (double)b->n[0] * b->n[1] * b->n[2];
    double grid = (b->n[0] + 1.0) * (b->n[1] + 1.0) * (b->n[2] + 1.0);
    double tets = pattern == PATTERN_BCC ? 12.5 * cells : 6 * cells;
    KILN_TRY(kiln_shape_reserve(soup, pattern == PATTERN_BCC ? grid + cells : grid, tets, error));
    for (uint32_t k = 0; k <= b->n[2]; k++)
        for (uint32_t j = 0; j <= b->n[1]; j++)
            for (uint32_t i = 0; i <= b->n[0]; i++) {
                kiln_vec3 p = {coordinate(b, 0, i), coordinate(b, 1, j), coordinate(b, 2, k)};
                KILN_TRY(kiln_shape_point(soup, p, NULL, error));
            }
    if (pattern == PATTERN_BCC)
        return cut_bcc(b, error);
    for (uint32_t k = 0; k < b->n[2]; k++)
        for (uint32_t j = 0; j < b->n[1]; j++)
            for (uint32_t i = 0; i < b->n[0]; i++) {
                const uint32_t cell[3] = {i, j, k};
                KILN_TRY(cut_kuhn(b, cell, pattern == PATTERN_MIRRORED, error));
            }
    return KILN_OK;
}

static kiln_status generate(const kiln_shape_values *values, kiln_soup *soup, kiln_error *error)
{
    box b = {.soup = soup};
    double shortest = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        b.length[axis] = values->number[P_LX + axis];
        shortest = b.length[axis] < shortest ? b.length[axis] : shortest;
    }
    double edge = values->number[P_H] > 0.0 ? values->number[P_H] : shortest / values->number[P_N];
    for (int axis = 0; axis < 3; axis++) {
        double count = values->number[P_NX + axis];
        b.n[axis] = count > 0.0 ? (uint32_t)count : kiln_shape_divisions(b.length[axis], edge, 1);
    }
    KILN_TRY(fill(&b, (int)values->number[P_PATTERN], error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tet_tags, soup->tets.count, error));
    for (size_t i = 0; i < soup->tets.count; i++)
        soup->tet_tags.data[i] = 1;
    soup->tet_tags.count = soup->tets.count;
    return KILN_OK;
}

static const kiln_shape_param params[] = {
    [P_LX] = {"lx", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "length along x"},
    [P_LY] = {"ly", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "length along y"},
    [P_LZ] = {"lz", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "length along z"},
    [P_N] = {"n", KILN_PARAM_COUNT, 4, 1, 100000, NULL, "cells along the shortest side"},
    [P_NX] = {"nx", KILN_PARAM_COUNT, 0, 0, 100000, NULL, "cells along x (0: from n or h)"},
    [P_NY] = {"ny", KILN_PARAM_COUNT, 0, 0, 100000, NULL, "cells along y (0: from n or h)"},
    [P_NZ] = {"nz", KILN_PARAM_COUNT, 0, 0, 100000, NULL, "cells along z (0: from n or h)"},
    [P_PATTERN] = {"pattern", KILN_PARAM_CHOICE, 0, 0, 0, "kuhn|mirrored|bcc",
                   "K(n), KM(n) or body-centred cubic cells"},
    [P_H] = {"h", KILN_PARAM_NUMBER, 0, 0, 1e9, NULL, "edge length wanted (0: from n)"},
};

const kiln_shape kiln_shape_box = {
    "box",  "box with one corner at the origin", "1 -x, 2 +x, 3 -y, 4 +y, 5 -z, 6 +z",
    params, sizeof params / sizeof params[0],    generate,
};
