#include "fem/smooth_gradient.h"

#include <math.h>

/* Of the trace, added to the diagonal; the least pivot, of the trace. */
static const double RIDGE = 1e-6, LEAST_PIVOT = 1e-5;
/* Of the farthest vertex, where weights end. */
static const double BEYOND = 1.1;
enum { LEAST_POINTS = 8 };

kiln_status kiln_smooth_gradient_begin(kiln_smooth_gradient *s, const kiln_mesh *mesh,
                                       const uint8_t *of, const double *mass, kiln_error *error)
{
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    s->of = of;
    KILN_TRY(kiln_vertex_stars_build(&s->stars, mesh, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &s->mass, rows + 1, error));
    memset(s->mass.data, 0, rows * sizeof *s->mass.data);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t) && of[t]; k++)
            s->mass.data[mesh->tet[t].v[k]] += 0.25 * mass[t];
    return KILN_OK;
}

void kiln_smooth_gradient_free(kiln_smooth_gradient *s, kiln_context *context)
{
    kiln_vertex_stars_free(&s->stars, context);
    kiln_array_free(context, &s->mass);
    kiln_array_free(context, &s->seen.slots);
    kiln_array_free(context, &s->list);
}

static kiln_status add_around(kiln_smooth_gradient *s, const kiln_mesh *mesh, uint32_t vertex,
                              kiln_error *error)
{
    for (uint64_t i = s->stars.first.data[vertex]; i < s->stars.first.data[vertex + 1]; i++) {
        uint32_t tet = s->stars.tet.data[i] / 4;
        for (int k = 0; k < 4 && s->of[tet]; k++) {
            uint32_t v = mesh->tet[tet].v[k];
            kiln_idset_slot *slot = kiln_idset_at(&s->seen, v);
            if (slot->epoch == s->seen.epoch)
                continue;
            kiln_idset_add(&s->seen, slot, v, 0);
            if (2 * (size_t)s->seen.members >= s->seen.slots.count)
                KILN_TRY(kiln_idset_grow(mesh->context, &s->seen, error));
            KILN_TRY(kiln_array_push(mesh->context, &s->list, v, error));
        }
    }
    return KILN_OK;
}

kiln_mat3 kiln_tet_gradient(const kiln_mesh *mesh, const kiln_vec3 *value, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    kiln_vec3 dx[3], dv[3];
    for (int k = 0; k < 3; k++) {
        dx[k] = kiln_v3_sub(mesh->x[v[k + 1]], mesh->x[v[0]]);
        dv[k] = kiln_v3_sub(value[v[k + 1]], value[v[0]]);
    }
    return kiln_m3_mul(kiln_m3_columns(dv[0], dv[1], dv[2]),
                       kiln_m3_inverse(kiln_m3_columns(dx[0], dx[1], dx[2])));
}

static kiln_mat3 mean_of_tets(const kiln_smooth_gradient *s, const kiln_mesh *mesh,
                              const kiln_vec3 *value, uint32_t vertex)
{
    kiln_mat3 sum = {{{0}}};
    double volume = 0.0;
    for (uint64_t i = s->stars.first.data[vertex]; i < s->stars.first.data[vertex + 1]; i++) {
        uint32_t tet = s->stars.tet.data[i] / 4;
        const uint32_t *v = mesh->tet[tet].v;
        double one = kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
        if (!s->of[tet] || !(one > 0.0))
            continue;
        sum = kiln_m3_add(sum, kiln_m3_scale(kiln_tet_gradient(mesh, value, tet), one));
        volume += one;
    }
    return volume > 0.0 ? kiln_m3_scale(sum, 1.0 / volume) : sum;
}

/* m [4][4] with right sides r [4][3], by elimination; false where points do not span space. */
static bool solve(double m[4][4], double r[4][3])
{
    double trace = m[0][0] + m[1][1] + m[2][2] + m[3][3];
    for (int i = 0; i < 4; i++)
        m[i][i] += RIDGE * trace;
    for (int i = 0; i < 4; i++) {
        if (!(m[i][i] > LEAST_PIVOT * trace))
            return false;
        for (int j = i + 1; j < 4; j++) {
            double factor = m[j][i] / m[i][i];
            for (int k = i; k < 4; k++)
                m[j][k] -= factor * m[i][k];
            for (int k = 0; k < 3; k++)
                r[j][k] -= factor * r[i][k];
        }
    }
    for (int i = 3; i >= 0; i--)
        for (int c = 0; c < 3; c++) {
            for (int k = i + 1; k < 4; k++)
                r[i][c] -= m[i][k] * r[k][c];
            r[i][c] /= m[i][i];
        }
    return true;
}

/* Values are taken relative to the vertex's own: what moves as a whole has no gradient to the bit.
 */
static bool fit(const kiln_smooth_gradient *s, const kiln_mesh *mesh, const kiln_vec3 *value,
                uint32_t vertex, kiln_mat3 *gradient)
{
    double far = 0.0, m[4][4] = {{0}}, r[4][3] = {{0}};
    for (size_t i = 0; i < s->list.count; i++)
        far = fmax(far, kiln_v3_norm(kiln_v3_sub(mesh->x[s->list.data[i]], mesh->x[vertex])));
    if (s->list.count < LEAST_POINTS || !(far > 0.0))
        return false;
    double scale = 1.0 / (BEYOND * far), unit = 1.0 / s->mass.data[vertex];
    for (size_t i = 0; i < s->list.count; i++) {
        uint32_t v = s->list.data[i];
        kiln_vec3 d = kiln_v3_scale(kiln_v3_sub(mesh->x[v], mesh->x[vertex]), scale);
        kiln_vec3 w = kiln_v3_sub(value[v], value[vertex]);
        double inside = 1.0 - kiln_v3_norm2(d), term[4] = {1.0, d.x, d.y, d.z};
        double weight = s->mass.data[v] * unit * inside * inside;
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < 4; b++)
                m[a][b] += weight * term[a] * term[b];
            r[a][0] += weight * term[a] * w.x;
            r[a][1] += weight * term[a] * w.y;
            r[a][2] += weight * term[a] * w.z;
        }
    }
    if (!solve(m, r))
        return false;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            gradient->m[a][b] = r[b + 1][a] * scale;
    return true;
}

kiln_status kiln_smooth_gradient_at(kiln_smooth_gradient *s, const kiln_mesh *mesh,
                                    const kiln_vec3 *value, uint32_t vertex, kiln_mat3 *gradient,
                                    kiln_error *error)
{
    KILN_TRY(kiln_idset_clear(mesh->context, &s->seen, 128, error));
    s->list.count = 0;
    KILN_TRY(add_around(s, mesh, vertex, error));
    size_t ring = s->list.count;
    for (size_t i = 0; i < ring; i++)
        KILN_TRY(add_around(s, mesh, s->list.data[i], error));
    if (!fit(s, mesh, value, vertex, gradient))
        *gradient = mean_of_tets(s, mesh, value, vertex);
    return KILN_OK;
}
