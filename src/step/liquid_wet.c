/* Obstacles that liquid wets: what of its surface lies on them, and how far its line comes. */
#include "step/liquid.h"
#include "step/touch_impl.h"

#include <math.h>
#include <string.h>

/* A face that leans towards a wall by less than this, radians, or this part of the contact angle,
 * is about to be wet, with one corner on it or with two: where it has two the line itself moves,
 * and only a face that nearly lies on the wall is in its way. */
static const double LEANS = 0.35, LEANS_AT_LINE = 0.1, LEANS_OF_ANGLE = 0.6;
/* Nor does it reach for one that is further off, in lengths of its faces. */
static const double REACH = 0.5;
/* What a vertex stays above the wall, in lengths of its faces, while a tet has its other corners
 * on it: that would be flat. Remeshing takes such tets away. */
static const double HOVER = 0.1;

static bool is_face_of_liquid(const kiln_liquid *l, uint32_t face)
{
    uint32_t at = l->mesh->face[face].at;
    return at != KILN_NONE && l->keeps.data[at / 4];
}

/* A third of the area of a face. */
static double corner_area(const kiln_liquid *l, uint32_t face, const double *x, uint32_t v[3])
{
    kiln_vec3 p[3];
    uint32_t at = l->mesh->face[face].at;
    for (int k = 0; k < 3; k++) {
        v[k] = l->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        const double *place = x + 3 * (size_t)v[k];
        p[k] = kiln_v3(place[0], place[1], place[2]);
    }
    return kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]))) / 6.0;
}

void kiln_liquid_begin_wet(kiln_liquid *l, const double *x)
{
    size_t bytes = l->mesh->table[KILN_ON_VERTEX].used * sizeof(double);
    memset(l->area.data, 0, bytes);
    memset(l->wet.data, 0, bytes);
    memset(l->pull.data, 0, bytes);
    for (uint32_t f = 0; f < l->mesh->table[KILN_ON_FACE].used; f++) {
        if (!is_face_of_liquid(l, f))
            continue;
        uint32_t v[3];
        double area = corner_area(l, f, x, v);
        for (int k = 0; k < 3; k++) {
            l->area.data[v[k]] += area;
            l->pull.data[v[k]] = fmax(l->pull.data[v[k]], l->tension.data[f]);
        }
    }
}

/* Gap between a vertex and where the obstacle will be at the end of the step. */
static double gap_of(const kiln_obstacle *obstacle, const kiln_touch_start *start, uint32_t v,
                     kiln_vec3 *normal)
{
    const double *at = start->x + 3 * (size_t)v;
    kiln_vec3 nearest, x = kiln_v3(at[0], at[1], at[2]);
    x = kiln_v3_madd(x, start->h, kiln_obstacle_velocity(obstacle, x));
    return kiln_obstacle_distance(obstacle, x, normal, &nearest);
}

/* What tension moves a vertex by in a step: the way of waves as long as its faces. */
static double way_of(const kiln_liquid *l, double mass, double h, uint32_t v)
{
    return h * sqrt(l->pull.data[v] * l->area.data[v] / mass);
}

static void come_nearer(kiln_liquid *l, const kiln_touch_start *start, uint32_t v,
                        uint32_t obstacle, double gap)
{
    double mass = kiln_mass_lumped(start->matter)[v];
    l->towards.data[v] = obstacle + 1;
    l->above.data[v] = fmax(0.0, gap - way_of(l, mass, start->h, v));
}

static bool leans_towards(const kiln_liquid *l, const kiln_touch_start *start, const uint32_t v[3],
                          const kiln_obstacle *obstacle, uint32_t of, double *gap)
{
    kiln_vec3 p[3], wall;
    for (int k = 0; k < 3; k++) {
        const double *at = start->x + 3 * (size_t)v[k];
        p[k] = kiln_v3(at[0], at[1], at[2]);
    }
    kiln_vec3 n =
        kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    *gap = gap_of(obstacle, start, of, &wall);
    int on = 0;
    for (int k = 0; k < 3; k++)
        on += start->with[v[k]] != 0;
    double angle = fmin(on > 1 ? LEANS_AT_LINE : LEANS,
                        LEANS_OF_ANGLE * kiln_obstacle_wetting(obstacle)->angle);
    return *gap > 0.0 && *gap < REACH * sqrt(l->area.data[of]) &&
           -kiln_v3_dot(n, wall) > cos(angle);
}

/* Corners that touch nothing, of a face that leans towards an obstacle another one is on. */
static void lean(kiln_liquid *l, const kiln_touch *touch, const kiln_touch_start *start,
                 uint32_t face)
{
    uint32_t v[3];
    corner_area(l, face, start->x, v);
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) {
            uint32_t o = start->with[v[j]];
            double gap;
            if (start->with[v[k]] || !o || !(kiln_touch_cling(touch, o - 1, v[k]) > 0.0))
                continue;
            if (leans_towards(l, start, v, touch->obstacles[o - 1], v[k], &gap))
                come_nearer(l, start, v[k], o - 1, gap);
        }
}

void kiln_liquid_lean(kiln_liquid *l, const kiln_touch *touch, const kiln_touch_start *start)
{
    size_t vertices = l->mesh->table[KILN_ON_VERTEX].used;
    memset(l->towards.data, 0, vertices * sizeof(uint32_t));
    memset(l->above.data, 0, vertices * sizeof(double));
    if (!start->with || !(start->h > 0.0))
        return;
    for (size_t i = 0; i < touch->surface.count; i++) {
        uint32_t v = touch->surface.data[i], o = start->with[v];
        kiln_vec3 normal;
        if (!o || !(kiln_touch_cling(touch, o - 1, v) > 0.0))
            continue;
        double gap = gap_of(touch->obstacles[o - 1], start, v, &normal);
        if (gap > kiln_touch_plane_slack(touch))
            come_nearer(l, start, v, o - 1, gap);
    }
    for (uint32_t f = 0; f < l->mesh->table[KILN_ON_FACE].used; f++)
        if (is_face_of_liquid(l, f))
            lean(l, touch, start, f);
}

/* The contact of a vertex with an obstacle, where it holds. Those of a vertex are in a row. */
static kiln_touch_contact *contact_with(const kiln_liquid *l, const kiln_touch *touch, uint32_t v,
                                        uint32_t obstacle)
{
    for (size_t i = l->contact.data[v];
         i < touch->contacts.count && touch->contacts.data[i].vertex == v; i++)
        if (touch->contacts.data[i].active && touch->contacts.data[i].obstacle == obstacle)
            return &touch->contacts.data[i];
    return NULL;
}

/* The obstacle that all corners are on; NULL: none. */
static const kiln_obstacle *wetted_by(const kiln_liquid *l, const kiln_touch *touch,
                                      const uint32_t v[3])
{
    for (size_t i = l->contact.data[v[0]];
         i < touch->contacts.count && touch->contacts.data[i].vertex == v[0]; i++) {
        uint32_t o = touch->contacts.data[i].obstacle;
        if (touch->contacts.data[i].active && contact_with(l, touch, v[1], o) &&
            contact_with(l, touch, v[2], o))
            return touch->obstacles[o];
    }
    return NULL;
}

/* Of a tet all of whose corners are on one obstacle, the contact of that which was farthest off. */
static kiln_touch_contact *farthest_of(const kiln_liquid *l, const kiln_touch *touch,
                                       const uint32_t v[4], uint32_t obstacle, double *most)
{
    kiln_touch_contact *farthest = NULL;
    *most = -INFINITY;
    for (int k = 0; k < 4; k++) {
        kiln_touch_contact *c = contact_with(l, touch, v[k], obstacle);
        if (!c)
            return NULL;
        kiln_vec3 normal, nearest;
        double gap = kiln_obstacle_distance(touch->obstacles[obstacle],
                                            kiln_touch_at(touch->begin, v[k]), &normal, &nearest);
        if (gap > *most) {
            *most = gap;
            farthest = c;
        }
    }
    return farthest;
}

/* Tets that would be flat on an obstacle: a corner of each stays off it. */
static void hover(const kiln_liquid *l, kiln_touch *touch)
{
    for (size_t i = 0; i < l->rings.kept.count; i++) {
        const uint32_t *v = l->mesh->tet[l->rings.kept.data[i]].v;
        for (size_t j = l->contact.data[v[0]];
             j < touch->contacts.count && touch->contacts.data[j].vertex == v[0]; j++) {
            double gap, above = 0.0;
            kiln_touch_contact *c =
                farthest_of(l, touch, v, touch->contacts.data[j].obstacle, &gap);
            if (c) /* and comes off it no faster than others come to it */
                above =
                    fmin(HOVER * sqrt(l->area.data[c->vertex]),
                         fmax(gap, 0.0) + way_of(l, touch->mass[c->vertex], touch->h, c->vertex));
            if (!c || touch->sunk.data[c->vertex] <= -above)
                continue;
            c->point = kiln_v3_madd(c->point, above + touch->sunk.data[c->vertex], c->normal);
            touch->sunk.data[c->vertex] = -above;
        }
    }
}

void kiln_liquid_meet(kiln_liquid *l, kiln_touch *touch)
{
    for (size_t i = 0; i < l->mesh->table[KILN_ON_VERTEX].used; i++)
        l->contact.data[i] = KILN_NONE;
    for (size_t i = touch->contacts.count; i-- > 0;)
        l->contact.data[touch->contacts.data[i].vertex] = (uint32_t)i;
    hover(l, touch);
}

void kiln_liquid_wet(kiln_liquid *l, const kiln_touch *touch, const double *x)
{
    size_t vertices = l->mesh->table[KILN_ON_VERTEX].used;
    memset(l->wet.data, 0, vertices * sizeof(double));
    for (uint32_t f = 0; f < l->mesh->table[KILN_ON_FACE].used; f++) {
        l->gamma.data[f] = l->dry.data[f];
        uint32_t v[3];
        if (!is_face_of_liquid(l, f))
            continue;
        double area = corner_area(l, f, x, v);
        const kiln_obstacle *wall = wetted_by(l, touch, v);
        if (!wall)
            continue;
        l->gamma.data[f] *= -cos(kiln_obstacle_wetting(wall)->angle);
        for (int k = 0; k < 3; k++)
            l->wet.data[v[k]] += area;
    }
    kiln_surface_energy_set(l->surface, l->gamma.data);
}

kiln_touch_liquid kiln_liquid_touches(const kiln_liquid *l)
{
    if (!l->used)
        return (kiln_touch_liquid){.area = NULL};
    return (kiln_touch_liquid){l->area.data, l->wet.data, l->pull.data, l->above.data,
                               l->towards.data};
}
