#include "topology/neck.h"

#include <math.h>

/* Of the reach, how far outside the ball its ends are followed: those that meet there are one, and
 * those that do not get there are none. */
static const double SHELL = 1.6;
/* Of the reach, how near the middle of the ball the cut is to be. */
static const double CENTRED = 0.2;
/* Ends of a ball, looks at a neck, tets that a straight line passes. */
enum { MOST_ENDS = 8, LOOKS = 5, MOST_PASSED = 4096 };
/* Of the largest face, what counts as nothing of a flow. */
static const double NOTHING = 1e-12;

void kiln_neck_free(kiln_context *context, kiln_neck *neck)
{
    kiln_array_free(context, &neck->faces);
}

void kiln_neck_search_free(kiln_neck_search *s)
{
    kiln_array_free(s->context, &s->tets);
    kiln_array_free(s->context, &s->place.slots);
    kiln_array_free(s->context, &s->end);
    kiln_array_free(s->context, &s->queue);
    kiln_array_free(s->context, &s->from);
    kiln_array_free(s->context, &s->room);
    kiln_neck_free(s->context, &s->trial);
}

static kiln_vec3 middle_of(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    const kiln_vec3 *x = mesh->x;
    return kiln_v3_scale(kiln_v3_add(kiln_v3_add(x[v[0]], x[v[1]]), kiln_v3_add(x[v[2]], x[v[3]])),
                         0.25);
}

/* Area and direction of a face, out of its tet; its middle. */
static kiln_vec3 face_area(const kiln_mesh *mesh, uint32_t at, kiln_vec3 *middle)
{
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
    *middle = kiln_v3_scale(kiln_v3_add(kiln_v3_add(p[0], p[1]), p[2]), 1.0 / 3.0);
    return kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])), 0.5);
}

/* Where a line from a point of a tet leaves it: the face, and how far on. */
static uint32_t leave(const kiln_mesh *mesh, uint32_t tet, uint32_t entry, kiln_vec3 from,
                      kiln_vec3 way, double *far)
{
    uint32_t best = KILN_NONE;
    *far = INFINITY;
    for (uint32_t f = 0; f < 4; f++) {
        kiln_vec3 middle, area = face_area(mesh, kiln_link_to(tet, f), &middle);
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
    kiln_vec3 from, area = face_area(mesh, at, &from);
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

static uint32_t index_of(const kiln_neck_search *s, uint32_t tet)
{
    const kiln_idset_slot *slot = kiln_idset_at(&s->place, tet);
    return slot->epoch == s->place.epoch ? slot->value : KILN_NONE;
}

static kiln_status take_in(kiln_neck_search *s, uint32_t tet, kiln_error *error)
{
    kiln_idset_add(&s->place, kiln_idset_at(&s->place, tet), tet, (uint32_t)s->tets.count);
    if (2 * (size_t)s->place.members >= s->place.slots.count)
        KILN_TRY(kiln_idset_grow(s->context, &s->place, error));
    return kiln_array_push(s->context, &s->tets, tet, error);
}

/* What hangs together from the tets listed so far on, `first` of them done, between two distances
 * from the centre. */
static kiln_status spread(kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre,
                          size_t first, double least, double most, kiln_error *error)
{
    for (size_t i = first; i < s->tets.count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[s->tets.data[i]].n[k];
            if (kiln_link_is_surface(link) || index_of(s, link / 4) != KILN_NONE)
                continue;
            double far = kiln_v3_norm(kiln_v3_sub(middle_of(mesh, link / 4), centre));
            if (far > least && far <= most)
                KILN_TRY(take_in(s, link / 4, error));
        }
    return KILN_OK;
}

static kiln_status gather(kiln_neck_search *s, const kiln_mesh *mesh, uint32_t tet,
                          kiln_vec3 centre, kiln_error *error)
{
    s->tets.count = 0;
    KILN_TRY(kiln_idset_clear(s->context, &s->place, 64, error));
    KILN_TRY(take_in(s, tet, error));
    KILN_TRY(spread(s, mesh, centre, 0, -1.0, s->reach, error));
    s->inside = s->tets.count;
    return spread(s, mesh, centre, 0, s->reach, SHELL * s->reach, error);
}

static bool all_may(const kiln_neck_search *s, const kiln_mesh *mesh)
{
    for (size_t i = 0; s->may && i < s->tets.count; i++)
        if (!s->may(s->user, mesh, s->tets.data[i]))
            return false;
    return true;
}

static uint32_t root_of(const kiln_neck_search *s, uint32_t index)
{
    while (s->end.data[index] != index)
        index = s->end.data[index];
    return index;
}

/* Whether a tet outside the ball has a neighbour beyond what was looked at. */
static bool goes_on(const kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre,
                    uint32_t tet)
{
    for (int k = 0; k < 4; k++) {
        kiln_link link = mesh->tet[tet].n[k];
        if (!kiln_link_is_surface(link) && index_of(s, link / 4) == KILN_NONE &&
            kiln_v3_norm(kiln_v3_sub(middle_of(mesh, link / 4), centre)) > SHELL * s->reach)
            return true;
    }
    return false;
}

/* Tets outside that hang together there. */
static void join_outside(kiln_neck_search *s, const kiln_mesh *mesh)
{
    for (uint32_t i = 0; i < s->tets.count; i++)
        s->end.data[i] = i;
    for (uint32_t i = (uint32_t)s->inside; i < s->tets.count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[s->tets.data[i]].n[k];
            uint32_t j = kiln_link_is_surface(link) ? KILN_NONE : index_of(s, link / 4);
            if (j == KILN_NONE || j < s->inside)
                continue;
            uint32_t a = root_of(s, i), b = root_of(s, j);
            s->end.data[a < b ? b : a] = a < b ? a : b;
        }
    for (uint32_t i = 0; i < s->tets.count; i++)
        s->end.data[i] = root_of(s, i);
}

/* end[index] becomes the number of the end, from 1 on; 0: of what is in the ball, or ends just
 * outside it. Returns how many there are. */
static uint32_t number_ends(kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre)
{
    uint32_t roots[MOST_ENDS], ends = 0;
    join_outside(s, mesh);
    for (uint32_t i = (uint32_t)s->inside; i < s->tets.count && ends < MOST_ENDS; i++) {
        bool known = false;
        for (uint32_t e = 0; e < ends; e++)
            known |= roots[e] == s->end.data[i];
        if (!known && goes_on(s, mesh, centre, s->tets.data[i]))
            roots[ends++] = s->end.data[i];
    }
    for (uint32_t i = 0; i < s->tets.count; i++) {
        uint32_t number = 0;
        for (uint32_t e = 0; e < ends && i >= s->inside; e++)
            number = roots[e] == s->end.data[i] ? e + 1 : number;
        s->end.data[i] = number;
    }
    return ends;
}

/* A cut costs its area, and more off the middle. */
static double fill_rooms(kiln_neck_search *s, const kiln_mesh *mesh, kiln_vec3 centre)
{
    double most = 0.0;
    for (size_t i = 0; i < s->tets.count; i++)
        for (uint32_t k = 0; k < 4; k++) {
            kiln_vec3 middle;
            double area = kiln_v3_norm(face_area(mesh, kiln_link_to(s->tets.data[i], k), &middle));
            double off = kiln_v3_norm(kiln_v3_sub(middle, centre)) / s->reach;
            s->room.data[4 * i + k] = area * (1.0 + off * off);
            most = fmax(most, s->room.data[4 * i + k]);
        }
    return most;
}

/* What lies across a face: its index, or none. */
static uint32_t across(const kiln_neck_search *s, const kiln_mesh *mesh, uint32_t index,
                       uint32_t face, uint32_t *back)
{
    kiln_link link = mesh->tet[s->tets.data[index]].n[face];
    *back = link % 4;
    return kiln_link_is_surface(link) ? KILN_NONE : index_of(s, link / 4);
}

/* Breadth first from one end, through faces that have room left; the packed index*4+face through
 * which another end was reached, or none. */
static uint32_t seek(kiln_neck_search *s, const kiln_mesh *mesh, uint32_t end, double nothing)
{
    s->queue.count = 0;
    for (uint32_t i = 0; i < s->tets.count; i++) {
        s->from.data[i] = KILN_NONE;
        if (s->end.data[i] == end) {
            s->from.data[i] = 4 * i;
            s->queue.data[s->queue.count++] = i;
        }
    }
    for (size_t head = 0; head < s->queue.count; head++)
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t i = s->queue.data[head], back, j = across(s, mesh, i, k, &back);
            if (j == KILN_NONE || s->from.data[j] != KILN_NONE ||
                !(s->room.data[4 * (size_t)i + k] > nothing))
                continue;
            if (s->end.data[j] != 0)
                return 4 * i + k;
            s->from.data[j] = 4 * i + k;
            s->queue.data[s->queue.count++] = j;
        }
    return KILN_NONE;
}

/* As much as goes along the way that was found. */
static void push_along(kiln_neck_search *s, const kiln_mesh *mesh, uint32_t end, uint32_t last)
{
    double most = INFINITY;
    for (uint32_t at = last;; at = s->from.data[at / 4]) {
        most = fmin(most, s->room.data[at]);
        if (s->end.data[at / 4] == end)
            break;
    }
    for (uint32_t at = last;; at = s->from.data[at / 4]) {
        uint32_t back, j = across(s, mesh, at / 4, at % 4, &back);
        s->room.data[at] -= most;
        s->room.data[4 * (size_t)j + back] += most;
        if (s->end.data[at / 4] == end)
            break;
    }
}

/* The faces between what was reached at last and what was not. */
static kiln_status list_cut(kiln_neck_search *s, const kiln_mesh *mesh, kiln_error *error)
{
    kiln_neck *cut = &s->trial;
    kiln_vec3 near = mesh->x[mesh->tet[s->tets.data[0]].v[0]];
    kiln_vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    double all = 0.0;
    cut->faces.count = 0;
    for (uint32_t i = 0; i < s->tets.count; i++)
        for (uint32_t k = 0; k < 4 && s->from.data[i] != KILN_NONE; k++) {
            uint32_t back, j = across(s, mesh, i, k, &back), at = kiln_link_to(s->tets.data[i], k);
            if (j == KILN_NONE || s->from.data[j] != KILN_NONE)
                continue;
            kiln_vec3 middle, area = face_area(mesh, at, &middle);
            double size = kiln_v3_norm(area);
            KILN_TRY(kiln_array_push(s->context, &cut->faces, at, error));
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
    KILN_TRY(kiln_array_reserve(s->context, &faces, s->trial.faces.count, error));
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
    neck->area = INFINITY;
    for (uint32_t end = 1; end <= (ends == 2 ? 1 : ends); end++) {
        double nothing = NOTHING * fill_rooms(s, mesh, centre);
        for (uint32_t last; (last = seek(s, mesh, end, nothing)) != KILN_NONE;)
            push_along(s, mesh, end, last);
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
    KILN_TRY(gather(s, mesh, tet, centre, error));
    if (!all_may(s, mesh))
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(s->context, &s->end, s->tets.count, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->from, s->tets.count, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->queue, s->tets.count, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->room, 4 * s->tets.count, error));
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
    kiln_vec3 centre = middle_of(mesh, tet);
    for (int i = 0; i < LOOKS; i++) {
        KILN_TRY(look(s, mesh, tet, centre, neck, found, error));
        if (!*found || kiln_v3_norm(kiln_v3_sub(neck->centre, centre)) <= CENTRED * s->reach)
            return KILN_OK;
        centre = neck->centre;
        tet = neck->faces.data[0] / 4;
    }
    return KILN_OK;
}
