#include "topology/film.h"

#include <math.h>
#include <stdlib.h>

/* Of the radius of a hole: what it takes away in any case, how far out its rim may be, and how far
 * the film must go on beyond. And how many times its depth from where the film ends: nearer than
 * that the rim that is there takes it in before. */
static const double CORE = 0.6, OUTMOST = 1.5, SHELL = 2.0, APART = 4.0;
/* What a cut costs more for being off the radius by all of it. */
static const double OFF_ROUND = 4.0;
/* Cosine: sides of a film look away from each other. */
static const double OPPOSITE = -0.7;

void kiln_film_free(kiln_context *context, kiln_film *film)
{
    kiln_array_free(context, &film->tets);
    kiln_array_free(context, &film->rim);
}

void kiln_film_search_free(kiln_film_search *s)
{
    kiln_array_free(s->ball.context, &s->faces);
    kiln_array_free(s->ball.context, &s->root);
    kiln_array_free(s->ball.context, &s->corners);
    kiln_ball_free(&s->ball);
}

/* Of one region: what a hole takes away of another that is not beside it would be lost. */
static bool all_may(const kiln_film_search *s, const kiln_mesh *mesh)
{
    int32_t region = mesh->info[s->ball.tets.data[0]].region;
    for (size_t i = 0; i < s->ball.tets.count; i++)
        if (mesh->info[s->ball.tets.data[i]].region != region ||
            (s->may && !s->may(s->user, mesh, s->ball.tets.data[i])))
            return false;
    return true;
}

typedef struct axis {
    kiln_vec3 centre, along;
    double radius;
} axis;

static double off_axis(const axis *a, kiln_vec3 point)
{
    kiln_vec3 r = kiln_v3_sub(point, a->centre);
    return kiln_v3_norm(kiln_v3_madd(r, -kiln_v3_dot(r, a->along), a->along));
}

static double cost_of(const void *user, kiln_vec3 middle)
{
    const axis *a = user;
    double off = off_axis(a, middle) / a->radius - 1.0;
    return 1.0 + OFF_ROUND * off * off;
}

/* The middle against all that is outside; whether there is both. */
static bool name_ends(kiln_film_search *s, const kiln_mesh *mesh, kiln_vec3 centre)
{
    for (size_t i = 0; i < s->ball.tets.count; i++) {
        kiln_vec3 at = kiln_tet_centre(mesh, s->ball.tets.data[i], mesh->x);
        bool core = i == 0 || kiln_v3_norm(kiln_v3_sub(at, centre)) <= CORE * s->radius;
        s->ball.end.data[i] = i >= s->ball.inside ? 2 : core;
    }
    return s->ball.inside < s->ball.tets.count;
}

/* The faces of what the cut encloses: those on the surface, and then those of the rim. */
static kiln_status list_faces(kiln_film_search *s, const kiln_mesh *mesh, size_t *on_surface,
                              kiln_error *error)
{
    s->faces.count = *on_surface = 0;
    for (int rim = 0; rim < 2; rim++) {
        for (uint32_t i = 0; i < s->ball.tets.count; i++)
            for (uint32_t k = 0; k < 4 && kiln_ball_reached(&s->ball, i); k++) {
                uint32_t tet = s->ball.tets.data[i], back;
                uint32_t j = kiln_ball_across(&s->ball, mesh, i, k, &back);
                bool surface = kiln_link_is_surface(mesh->tet[tet].n[k]);
                if (rim ? !surface && (j == KILN_NONE || !kiln_ball_reached(&s->ball, j)) : surface)
                    KILN_TRY(
                        kiln_array_push(s->ball.context, &s->faces, kiln_link_to(tet, k), error));
            }
        if (!rim)
            *on_surface = s->faces.count;
    }
    return KILN_OK;
}

static int by_ends(const void *a, const void *b)
{
    const kiln_film_corner *l = a, *r = b;
    if (l->low != r->low)
        return l->low < r->low ? -1 : 1;
    if (l->high != r->high)
        return l->high < r->high ? -1 : 1;
    return (l->face > r->face) - (l->face < r->face);
}

/* Edges (or vertices, each with `high` none) of the first faces, in order. */
static kiln_status list_corners(kiln_film_search *s, const kiln_mesh *mesh, size_t faces,
                                bool edges, kiln_error *error)
{
    s->corners.count = 0;
    for (uint32_t i = 0; i < 3 * faces; i++) {
        uint32_t at = s->faces.data[i / 3];
        const uint8_t *c = kiln_face_corner[at % 4];
        uint32_t a = mesh->tet[at / 4].v[c[i % 3]], b = mesh->tet[at / 4].v[c[(i + 1) % 3]];
        kiln_film_corner corner = {edges && b < a ? b : a,
                                   !edges  ? KILN_NONE
                                   : b < a ? a
                                           : b,
                                   i / 3};
        KILN_TRY(kiln_array_push(s->ball.context, &s->corners, corner, error));
    }
    qsort(s->corners.data, s->corners.count, sizeof *s->corners.data, by_ends);
    return KILN_OK;
}

static uint32_t root_of(const kiln_film_search *s, uint32_t face)
{
    while (s->root.data[face] != face)
        face = s->root.data[face];
    return face;
}

static bool same_ends(const kiln_film_corner *a, const kiln_film_corner *b)
{
    return a->low == b->low && a->high == b->high;
}

/* How many pieces the first faces are, through edges, and their Euler characteristic (of vertices
 * that pieces share only one counts); -1 where more than two faces meet at an edge. */
static kiln_status count_pieces(kiln_film_search *s, const kiln_mesh *mesh, size_t faces,
                                int *pieces, int *euler, kiln_error *error)
{
    *pieces = -1;
    *euler = (int)faces;
    KILN_TRY(kiln_array_reserve(s->ball.context, &s->root, faces, error));
    for (uint32_t i = 0; i < faces; i++)
        s->root.data[i] = i;
    KILN_TRY(list_corners(s, mesh, faces, false, error));
    for (size_t i = 0; i < s->corners.count; i++)
        *euler += i == 0 || !same_ends(&s->corners.data[i], &s->corners.data[i - 1]);
    KILN_TRY(list_corners(s, mesh, faces, true, error));
    for (size_t i = 0; i < s->corners.count; i++) {
        const kiln_film_corner *c = &s->corners.data[i];
        if (i == 0 || !same_ends(c, c - 1)) {
            --*euler;
            continue;
        }
        if (i > 1 && same_ends(c, c - 2))
            return KILN_OK;
        uint32_t a = root_of(s, c->face), b = root_of(s, c[-1].face);
        s->root.data[a < b ? b : a] = a < b ? a : b;
    }
    *pieces = 0;
    for (uint32_t i = 0; i < faces; i++)
        *pieces += s->root.data[i] == i;
    return KILN_OK;
}

/* Two disks on the surface, that look away from each other; how large and how far apart. */
static bool measure(const kiln_film_search *s, const kiln_mesh *mesh, size_t on_surface,
                    kiln_film *film)
{
    kiln_vec3 side[2] = {{0, 0, 0}, {0, 0, 0}}, sum = {0, 0, 0};
    kiln_vec3 near = mesh->x[mesh->tet[s->ball.tets.data[0]].v[0]];
    double volume = 0.0;
    for (uint32_t i = 0; i < on_surface; i++) {
        kiln_vec3 middle, area = kiln_face_area(mesh, s->faces.data[i], &middle);
        int which = root_of(s, i) != 0;
        side[which] = kiln_v3_add(side[which], area);
    }
    for (uint32_t i = 0; i < s->ball.tets.count; i++) {
        if (!kiln_ball_reached(&s->ball, i))
            continue;
        uint32_t tet = s->ball.tets.data[i];
        double part = kiln_mesh_tet_volume(mesh, tet);
        volume += part;
        sum = kiln_v3_madd(sum, part, kiln_v3_sub(kiln_tet_centre(mesh, tet, mesh->x), near));
    }
    double a = kiln_v3_norm(side[0]), b = kiln_v3_norm(side[1]), area = 0.5 * (a + b);
    if (!(volume > 0.0) || !(area > 0.0) || !(kiln_v3_dot(side[0], side[1]) < OPPOSITE * a * b))
        return false;
    film->normal = kiln_v3_normalize(kiln_v3_sub(side[0], side[1]));
    film->centre = kiln_v3_madd(near, 1.0 / volume, sum);
    film->depth = volume / area;
    film->radius = sqrt(area / KILN_PI);
    return true;
}

static kiln_status keep(const kiln_film_search *s, const kiln_mesh *mesh, size_t on_surface,
                        kiln_film *film, kiln_error *error)
{
    kiln_context *context = s->ball.context;
    film->tets.count = film->rim.count = 0;
    for (uint32_t i = 0; i < s->ball.tets.count; i++)
        if (kiln_ball_reached(&s->ball, i))
            KILN_TRY(kiln_array_push(context, &film->tets, s->ball.tets.data[i], error));
    for (size_t i = 3 * on_surface; i < 3 * s->faces.count; i++) {
        uint32_t at = s->faces.data[i / 3];
        uint32_t v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][i % 3]];
        bool known = false;
        for (size_t k = 0; k < film->rim.count && !known; k++)
            known = film->rim.data[k] == v;
        if (!known)
            KILN_TRY(kiln_array_push(context, &film->rim, v, error));
    }
    return KILN_OK;
}

/* Whether the surface of what is in a ball about it is two pieces, its sides. */
static kiln_status is_far_from_ends(kiln_film_search *s, const kiln_mesh *mesh, kiln_vec3 centre,
                                    double depth, bool *is_far, kiln_error *error)
{
    double reach = APART * depth;
    int pieces = 2, euler;
    if (reach > OUTMOST * s->radius) {
        KILN_TRY(
            kiln_ball_gather(&s->ball, mesh, s->ball.tets.data[0], centre, reach, reach, error));
        s->faces.count = 0;
        for (uint32_t i = 0; i < 4 * s->ball.tets.count; i++) {
            uint32_t at = kiln_link_to(s->ball.tets.data[i / 4], i % 4);
            if (kiln_link_is_surface(mesh->tet[at / 4].n[at % 4]))
                KILN_TRY(kiln_array_push(s->ball.context, &s->faces, at, error));
        }
        KILN_TRY(count_pieces(s, mesh, s->faces.count, &pieces, &euler, error));
    }
    *is_far = pieces == 2;
    return KILN_OK;
}

kiln_status kiln_film_find(kiln_film_search *s, const kiln_mesh *mesh, uint32_t face, double depth,
                           uint32_t tet, kiln_film *film, bool *found, kiln_error *error)
{
    axis a = {.radius = s->radius};
    size_t on_surface;
    int pieces, euler;
    *found = false;
    a.along = kiln_v3_normalize(kiln_face_area(mesh, mesh->face[face].at, &a.centre));
    a.centre = kiln_v3_madd(a.centre, -0.5 * depth, a.along);
    KILN_TRY(kiln_ball_gather(&s->ball, mesh, tet, a.centre, OUTMOST * s->radius, SHELL * s->radius,
                              error));
    if (!all_may(s, mesh) || !name_ends(s, mesh, a.centre))
        return KILN_OK;
    kiln_ball_cut(&s->ball, mesh, 1, cost_of, &a);
    KILN_TRY(list_faces(s, mesh, &on_surface, error));
    KILN_TRY(count_pieces(s, mesh, s->faces.count, &pieces, &euler, error));
    if (pieces != 1 || euler != 2)
        return KILN_OK;
    KILN_TRY(count_pieces(s, mesh, on_surface, &pieces, &euler, error));
    if (pieces != 2 || euler != 2 || !measure(s, mesh, on_surface, film))
        return KILN_OK;
    KILN_TRY(keep(s, mesh, on_surface, film, error));
    return is_far_from_ends(s, mesh, a.centre, film->depth, found, error);
}
