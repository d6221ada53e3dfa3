/* Pressure that follows the surface of a patch (fem/loads.c has the formulas). Its potential is p
 * times the volume that a face sweeps from where it was at the begin of an iteration, so the force
 * at that begin is the one that follows. What all iterations sweep is p V where the surface is
 * closed or its rim stays, and the work along the way where it does not. */
#include "step/patch_impl.h"

static kiln_status push_face(kiln_patch *p, kiln_patch_face face, kiln_error *error)
{
    return kiln_array_push(p->context, &p->loaded, face, error);
}

kiln_status kiln_patch_list_loaded(kiln_patch *patch, const kiln_local_objective *objective,
                                   uint32_t tet, const uint32_t row[4], kiln_error *error)
{
    for (int f = 0; f < 4 && objective->pressure; f++) {
        kiln_patch_face face = {.pressure = kiln_objective_pressure(objective, tet, f)};
        uint32_t ends = 0;
        if (face.pressure == 0.0)
            continue;
        for (int k = 0; k < 3; k++) {
            face.row[k] = row[kiln_face_corner[f][k]];
            ends += face.row[k] == 1 || face.row[k] == 2;
        }
        if (!patch->splits || ends < 2) {
            KILN_TRY(push_face(patch, face, error));
            continue;
        }
        for (uint32_t end = 1; end <= 2; end++) {
            kiln_patch_face half = face;
            for (int k = 0; k < 3; k++)
                half.row[k] = face.row[k] == end ? 0 : face.row[k];
            KILN_TRY(push_face(patch, half, error));
        }
    }
    return KILN_OK;
}

/* With d the ways of the corners, s their sum, e the edges 01 and 02 and f by how much they differ
 * then, the mean of the area vector over the way is e1 x e2 / 2 + (e1 x f2 + f1 x e2) / 4 + f1 x f2
 * / 6, and the face sweeps a third of s times it. */
static double swept(const kiln_patch_face *face, const kiln_vec3 *from, const kiln_vec3 *to)
{
    kiln_vec3 d[3], e[2], f[2];
    for (int k = 0; k < 3; k++)
        d[k] = kiln_v3_sub(to[face->row[k]], from[face->row[k]]);
    for (int k = 0; k < 2; k++) {
        e[k] = kiln_v3_sub(from[face->row[k + 1]], from[face->row[0]]);
        f[k] = kiln_v3_sub(d[k + 1], d[0]);
    }
    kiln_vec3 first = kiln_v3_add(kiln_v3_cross(e[0], f[1]), kiln_v3_cross(f[0], e[1]));
    kiln_vec3 mean = kiln_v3_scale(kiln_v3_cross(e[0], e[1]), 0.5);
    mean = kiln_v3_madd(mean, 0.25, first);
    mean = kiln_v3_madd(mean, 1.0 / 6.0, kiln_v3_cross(f[0], f[1]));
    return kiln_v3_dot(kiln_v3_add(d[0], kiln_v3_add(d[1], d[2])), mean) / 3.0;
}

double kiln_patch_change_loaded(const kiln_patch *patch)
{
    double change = 0.0;
    for (size_t i = 0; i < patch->loaded.count; i++) {
        const kiln_patch_face *face = &patch->loaded.data[i];
        change += face->pressure * swept(face, patch->x.data, patch->tried.data);
    }
    return change;
}

/* Block of two rows += z x, or its transpose, where both are free. */
static void add_cross(kiln_patch *p, uint32_t a, uint32_t b, kiln_vec3 z)
{
    if (a >= p->free || b >= p->free)
        return;
    if (a > b) {
        uint32_t c = a;
        a = b, b = c;
        z = kiln_v3_scale(z, -1.0);
    }
    const double block[3][3] = {{0, -z.z, z.y}, {z.z, 0, -z.x}, {-z.y, z.x, 0}};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            kiln_patch_row(p, 3 * a + i)[3 * (b - a) + j - i] += block[i][j];
}

void kiln_patch_add_loaded(kiln_patch *patch, bool hessian)
{
    kiln_patch *p = patch;
    for (size_t i = 0; i < p->loaded.count; i++) {
        const kiln_patch_face *face = &p->loaded.data[i];
        const uint32_t *row = face->row;
        const kiln_vec3 *x = p->x.data;
        kiln_vec3 e1 = kiln_v3_sub(x[row[1]], x[row[0]]), e2 = kiln_v3_sub(x[row[2]], x[row[0]]);
        kiln_vec3 area = kiln_v3_cross(e1, e2);
        double third = face->pressure / 3.0;
        for (int k = 0; k < 3; k++) {
            kiln_vec3 *g = (kiln_vec3 *)(void *)(p->g.data + 3 * row[k]);
            *g = kiln_v3_madd(*g, 0.5 * third, area);
        }
        if (!hessian)
            continue;
        kiln_vec3 u = kiln_v3_scale(e1, 0.25 * third), w = kiln_v3_scale(e2, 0.25 * third);
        add_cross(p, row[0], row[1], kiln_v3_madd(u, -2.0, w));
        add_cross(p, row[0], row[2], kiln_v3_sub(kiln_v3_scale(u, 2.0), w));
        add_cross(p, row[1], row[2], kiln_v3_add(u, w));
    }
}
