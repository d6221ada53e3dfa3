#include "topology/ball.h"

#include <math.h>

/* Of the largest face, what counts as nothing of a flow. */
static const double NOTHING = 1e-12;

void kiln_ball_free(kiln_ball *ball)
{
    kiln_array_free(ball->context, &ball->tets);
    kiln_array_free(ball->context, &ball->place.slots);
    kiln_array_free(ball->context, &ball->end);
    kiln_array_free(ball->context, &ball->queue);
    kiln_array_free(ball->context, &ball->from);
    kiln_array_free(ball->context, &ball->room);
}

kiln_vec3 kiln_face_area(const kiln_mesh *mesh, uint32_t at, kiln_vec3 *middle)
{
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
    *middle = kiln_v3_scale(kiln_v3_add(kiln_v3_add(p[0], p[1]), p[2]), 1.0 / 3.0);
    return kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])), 0.5);
}

uint32_t kiln_ball_index(const kiln_ball *ball, uint32_t tet)
{
    const kiln_idset_slot *slot = kiln_idset_at(&ball->place, tet);
    return slot->epoch == ball->place.epoch ? slot->value : KILN_NONE;
}

uint32_t kiln_ball_across(const kiln_ball *ball, const kiln_mesh *mesh, uint32_t index,
                          uint32_t face, uint32_t *back)
{
    kiln_link link = mesh->tet[ball->tets.data[index]].n[face];
    *back = link % 4;
    return kiln_link_is_surface(link) ? KILN_NONE : kiln_ball_index(ball, link / 4);
}

static kiln_status take_in(kiln_ball *ball, uint32_t tet, kiln_error *error)
{
    kiln_idset_add(&ball->place, kiln_idset_at(&ball->place, tet), tet, (uint32_t)ball->tets.count);
    if (2 * (size_t)ball->place.members >= ball->place.slots.count)
        KILN_TRY(kiln_idset_grow(ball->context, &ball->place, error));
    return kiln_array_push(ball->context, &ball->tets, tet, error);
}

/* What hangs together from the tets listed so far on, between two distances from the centre. */
static kiln_status spread(kiln_ball *ball, const kiln_mesh *mesh, kiln_vec3 centre, double least,
                          double most, kiln_error *error)
{
    for (size_t i = 0; i < ball->tets.count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[ball->tets.data[i]].n[k];
            if (kiln_link_is_surface(link) || kiln_ball_index(ball, link / 4) != KILN_NONE)
                continue;
            double far =
                kiln_v3_norm(kiln_v3_sub(kiln_tet_centre(mesh, link / 4, mesh->x), centre));
            if (far > least && far <= most)
                KILN_TRY(take_in(ball, link / 4, error));
        }
    return KILN_OK;
}

kiln_status kiln_ball_gather(kiln_ball *ball, const kiln_mesh *mesh, uint32_t tet, kiln_vec3 centre,
                             double reach, double shell, kiln_error *error)
{
    ball->tets.count = 0;
    KILN_TRY(kiln_idset_clear(ball->context, &ball->place, 64, error));
    KILN_TRY(take_in(ball, tet, error));
    KILN_TRY(spread(ball, mesh, centre, -1.0, reach, error));
    ball->inside = ball->tets.count;
    KILN_TRY(spread(ball, mesh, centre, reach, shell, error));
    KILN_TRY(kiln_array_reserve(ball->context, &ball->end, ball->tets.count, error));
    KILN_TRY(kiln_array_reserve(ball->context, &ball->from, ball->tets.count, error));
    KILN_TRY(kiln_array_reserve(ball->context, &ball->queue, ball->tets.count, error));
    KILN_TRY(kiln_array_reserve(ball->context, &ball->room, 4 * ball->tets.count, error));
    for (size_t i = 0; i < ball->tets.count; i++)
        ball->end.data[i] = 0;
    return KILN_OK;
}

static double fill_rooms(kiln_ball *ball, const kiln_mesh *mesh, kiln_ball_cost cost,
                         const void *user)
{
    double most = 0.0;
    for (size_t i = 0; i < ball->tets.count; i++)
        for (uint32_t k = 0; k < 4; k++) {
            kiln_vec3 middle;
            double area =
                kiln_v3_norm(kiln_face_area(mesh, kiln_link_to(ball->tets.data[i], k), &middle));
            ball->room.data[4 * i + k] = area * cost(user, middle);
            most = fmax(most, ball->room.data[4 * i + k]);
        }
    return most;
}

/* Breadth first from one end, through faces that have room left; the packed index*4+face through
 * which another end was reached, or none. */
static uint32_t seek(kiln_ball *ball, const kiln_mesh *mesh, uint32_t end, double nothing)
{
    ball->queue.count = 0;
    for (uint32_t i = 0; i < ball->tets.count; i++) {
        ball->from.data[i] = KILN_NONE;
        if (ball->end.data[i] == end) {
            ball->from.data[i] = 4 * i;
            ball->queue.data[ball->queue.count++] = i;
        }
    }
    for (size_t head = 0; head < ball->queue.count; head++)
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t i = ball->queue.data[head], back;
            uint32_t j = kiln_ball_across(ball, mesh, i, k, &back);
            if (j == KILN_NONE || ball->from.data[j] != KILN_NONE ||
                !(ball->room.data[4 * (size_t)i + k] > nothing))
                continue;
            if (ball->end.data[j] != 0)
                return 4 * i + k;
            ball->from.data[j] = 4 * i + k;
            ball->queue.data[ball->queue.count++] = j;
        }
    return KILN_NONE;
}

/* As much as goes along the way that was found. */
static void push_along(kiln_ball *ball, const kiln_mesh *mesh, uint32_t end, uint32_t last)
{
    double most = INFINITY;
    for (uint32_t at = last;; at = ball->from.data[at / 4]) {
        most = fmin(most, ball->room.data[at]);
        if (ball->end.data[at / 4] == end)
            break;
    }
    for (uint32_t at = last;; at = ball->from.data[at / 4]) {
        uint32_t back, j = kiln_ball_across(ball, mesh, at / 4, at % 4, &back);
        ball->room.data[at] -= most;
        ball->room.data[4 * (size_t)j + back] += most;
        if (ball->end.data[at / 4] == end)
            break;
    }
}

void kiln_ball_cut(kiln_ball *ball, const kiln_mesh *mesh, uint32_t end, kiln_ball_cost cost,
                   const void *user)
{
    double nothing = NOTHING * fill_rooms(ball, mesh, cost, user);
    for (uint32_t last; (last = seek(ball, mesh, end, nothing)) != KILN_NONE;)
        push_along(ball, mesh, end, last);
}
