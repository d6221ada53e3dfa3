#include "topology/neck.h"

#include <math.h>

/* Of the reach, how far outside the ball its ends are followed: those that meet there are one, and
 * those that do not get there are none. */
static const double SHELL = 1.6;
/* Of the reach, how near the middle of the ball the cut is to be. */
static const double CENTRED = 0.2;
/* Ends of a ball, looks at a neck, tets that a straight line passes. */
enum { MOST_ENDS = 8, LOOKS = 5, MOST_PASSED = 4096 };

void kiln_neck_free(kiln_context *context, kiln_neck *neck)
{
    kiln_array_free(context, &neck->faces);
}

void kiln_neck_search_free(kiln_neck_search *s)
{
    kiln_neck_free(s->ball.context, &s->trial);
    kiln_ball_free(&s->ball);
}

/* Where a line from a point of a tet leaves it: the face, and how far on. */
static uint32_t leave(const kiln_mesh *mesh, uint32_t tet, uint32_t entry, kiln_vec3 from,
                      kiln_vec3 way, double *far)
{
    uint32_t best = KILN_NONE;
    *far = INFINITY;
    for (uint32_t f = 0; f < 4; f++) {
        kiln_vec3 middle, area = kiln_face_area(mesh, kiln_link_to(tet, f), &middle);
        double speed = kiln_v3_dot(area, way);
        if (f == entry || !(speed > 0.0))
            continue;
        double at = kiln_v3_dot(area, kiln_v3_sub(middle, from)) / speed;
        if (at < *far) {
            *far = at;
            best = f;
        }
    }
    return best;
}

/* Until the surface or `most`; *tet is the last. */
static double walk_in(const kiln_mesh *mesh, uint32_t face, double most, uint32_t *tet)
{
    uint32_t at = mesh->face[face].at;
    kiln_vec3 from, area = kiln_face_area(mesh, at, &from);
    kiln_vec3 way = kiln_v3_scale(kiln_v3_normalize(area), -1.0);
    *tet = at / 4;
    uint32_t entry = at % 4;
    for (int i = 0; i < MOST_PASSED; i++) {
        double far;
        uint32_t out = leave(mesh, *tet, entry, from, way, &far);
        if (out == KILN_NONE || far >= most)
            return most;
        kiln_link link = mesh->tet[*tet].n[out];
        if (kiln_link_is_surface(link))
            return far > 0.0 ? far : 0.0;
        *tet = link / 4;
        entry = link % 4;
    }
    return most;
}

double kiln_neck_depth(const kiln_mesh *mesh, uint32_t face, double most, uint32_t *tet)
{
    double depth = walk_in(mesh, face, most, tet);
    walk_in(mesh, face, 0.5 * depth, tet);
    return depth;
}

static bool all_may(const kiln_neck_search *s, const kiln_mesh *mesh)
{
    for (size_t i = 0; s->may && i < s->ball.tets.count; i++)
        if (!s->may(s->user, mesh, s->ball.tets.data[i]))
            return false;
    return true;
}

static uint32_t root_of(const kiln_neck_search *s, uint32_t index)
{
    while (s->ball.end.data[index] != index)
        index = s->ball.end.data[index];
    return index;
}

/* Whether a tet outside the ball has a neighbour beyond what was looked at. */
static bool goes_on(const kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre,
                    uint32_t tet)
{
    for (int k = 0; k < 4; k++) {
        kiln_link link = mesh->tet[tet].n[k];
        if (!kiln_link_is_surface(link) && kiln_ball_index(&s->ball, link / 4) == KILN_NONE &&
            kiln_v3_norm(kiln_v3_sub(kiln_tet_centre(mesh, link / 4, mesh->x), centre)) >
                SHELL * s->reach)
            return true;
    }
    return false;
}

/* Tets outside that hang together there. */
static void join_outside(kiln_neck_search *s, const kiln_mesh *mesh)
{
    for (uint32_t i = 0; i < s->ball.tets.count; i++)
        s->ball.end.data[i] = i;
    for (uint32_t i = (uint32_t)s->ball.inside; i < s->ball.tets.count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[s->ball.tets.data[i]].n[k];
            uint32_t j =
                kiln_link_is_surface(link) ? KILN_NONE : kiln_ball_index(&s->ball, link / 4);
            if (j == KILN_NONE || j < s->ball.inside)
                continue;
            uint32_t a = root_of(s, i), b = root_of(s, j);
            s->ball.end.data[a < b ? b : a] = a < b ? a : b;
        }
    for (uint32_t i = 0; i < s->ball.tets.count; i++)
        s->ball.end.data[i] = root_of(s, i);
}

/* end[index] becomes the number of the end, from 1 on; 0: of what is in the ball, or ends just
 * outside it. Returns how many there are. */
static uint32_t number_ends(kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre)
{
    uint32_t roots[MOST_ENDS], ends = 0;
    join_outside(s, mesh);
    for (uint32_t i = (uint32_t)s->ball.inside; i < s->ball.tets.count && ends < MOST_ENDS; i++) {
        bool known = false;
        for (uint32_t e = 0; e < ends; e++)
            known |= roots[e] == s->ball.end.data[i];
        if (!known && goes_on(s, mesh, centre, s->ball.tets.data[i]))
            roots[ends++] = s->ball.end.data[i];
    }
    for (uint32_t i = 0; i < s->ball.tets.count; i++) {
        uint32_t number = 0;
        for (uint32_t e = 0; e < ends && i >= s->ball.inside; e++)
            number = roots[e] == s->ball.end.data[i] ? e + 1 : number;
        s->ball.end.data[i] = number;
    }
    return ends;
}

/* A cut costs more off the middle. */
typedef struct centred {
    kiln_vec3 centre;
    double reach;
} centred;

static double cost_of(const void *user, kiln_vec3 middle)
{
    const centred *c = user;
    double off = kiln_v3_norm(kiln_v3_sub(middle, c->centre)) / c->reach;
    return 1.0 + off * off;
}

/* The faces between what was reached at last and what was not. */
static kiln_status list_cut(kiln_neck_search *s, const kiln_mesh *mesh, kiln_error *error)
{
    kiln_neck *cut = &s->trial;
    kiln_vec3 near = mesh->x[mesh->tet[s->ball.tets.data[0]].v[0]];
    kiln_vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    double all = 0.0;
    cut->faces.count = 0;
    for (uint32_t i = 0; i < s->ball.tets.count; i++)
        for (uint32_t k = 0; k < 4 && kiln_ball_reached(&s->ball, i); k++) {
            uint32_t back, j = kiln_ball_across(&s->ball, mesh, i, k, &back),
                           at = kiln_link_to(s->ball.tets.data[i], k);
            if (j == KILN_NONE || kiln_ball_reached(&s->ball, j))
                continue;
            kiln_vec3 middle, area = kiln_face_area(mesh, at, &middle);
            double size = kiln_v3_norm(area);
            KILN_TRY(kiln_array_push(s->ball.context, &cut->faces, at, error));
            sum = kiln_v3_add(sum, area);
            moment = kiln_v3_madd(moment, size, kiln_v3_sub(middle, near));
            all += size;
        }
    cut->area = kiln_v3_norm(sum);
    cut->normal = kiln_v3_normalize(sum);
    cut->centre = kiln_v3_madd(near, 1.0 / fmax(all, 1e-300), moment);
    return KILN_OK;
}

static kiln_status keep(kiln_neck_search *s, kiln_neck *neck, kiln_error *error)
{
    kiln_u32_array faces = neck->faces;
    KILN_TRY(kiln_array_reserve(s->ball.context, &faces, s->trial.faces.count, error));
    for (size_t i = 0; i < s->trial.faces.count; i++)
        faces.data[i] = s->trial.faces.data[i];
    faces.count = s->trial.faces.count;
    *neck = s->trial;
    neck->faces = faces;
    return KILN_OK;
}

/* Each end against the others. */
static kiln_status cut_least(kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre,
                             uint32_t ends, kiln_neck *neck, kiln_error *error)
{
    const centred cost = {centre, s->reach};
    neck->area = INFINITY;
    for (uint32_t end = 1; end <= (ends == 2 ? 1 : ends); end++) {
        kiln_ball_cut(&s->ball, mesh, end, cost_of, &cost);
        KILN_TRY(list_cut(s, mesh, error));
        if (s->trial.faces.count > 0 && s->trial.area < neck->area)
            KILN_TRY(keep(s, neck, error));
    }
    return KILN_OK;
}

static kiln_status look(kiln_neck_search *s, const kiln_mesh *mesh, uint32_t tet, kiln_vec3 centre,
                        kiln_neck *neck, bool *found, kiln_error *error)
{
    *found = false;
    KILN_TRY(kiln_ball_gather(&s->ball, mesh, tet, centre, s->reach, SHELL * s->reach, error));
    if (!all_may(s, mesh))
        return KILN_OK;
    uint32_t ends = number_ends(s, mesh, centre);
    if (ends < 2)
        return KILN_OK;
    KILN_TRY(cut_least(s, mesh, centre, ends, neck, error));
    *found = neck->area > 0.0 && neck->area < INFINITY;
    return KILN_OK;
}

kiln_status kiln_neck_find(kiln_neck_search *s, const kiln_mesh *mesh, uint32_t tet,
                           kiln_neck *neck, bool *found, kiln_error *error)
{
    kiln_vec3 centre = kiln_tet_centre(mesh, tet, mesh->x);
    for (int i = 0; i < LOOKS; i++) {
        KILN_TRY(look(s, mesh, tet, centre, neck, found, error));
        if (!*found || kiln_v3_norm(kiln_v3_sub(neck->centre, centre)) <= CENTRED * s->reach)
            return KILN_OK;
        centre = neck->centre;
        tet = neck->faces.data[0] / 4;
    }
    return KILN_OK;
}
