/* How much of its band a begin face may use where the surface faces itself.
 *
 * Tets are positive, so matter keeps the two sides of a wall apart; nothing but the band does that
 * for two sheets with a gap between them. Each may have less than half of the gap, and then they do
 * not meet, whatever becomes of either and in whichever order: faces X and Z that are d apart are
 * both held to d / 2 if d is less than two of their bands, and where only one of them looks that
 * far, the other's band is less than d / 2. Sheets that touch, or pass through each other, have no
 * room. Where bodies may coincide only sheets of one count: contact guards the world. Found when
 * first asked for, since most faces never are. */
#include "geom/distance.h"
#include "remesh/surface.h"
#include "remesh/surface_begin.h"

/* How far the smooth surface and what is allowed round it are from the begin faces, in bands. */
static const double REACH_IF_SMOOTH = 1.7;
/* Faces with a common corner are nearer to each other than their other corners are. */
static const double PART_AT_CORNER = 0.5;

typedef struct room_query {
    const struct kiln_surface *surface;
    const kiln_sheet_triangle *t;
    kiln_box box;
    double touching; /* what is no gap */
    double gap;      /* the smallest so far */
} room_query;

static bool has_corner(const kiln_sheet_triangle *t, uint32_t v)
{
    return t->v[0] == v || t->v[1] == v || t->v[2] == v;
}

/* Whether something of b that is no corner of a is in front of a. */
static bool sees(const struct kiln_surface *surface, const kiln_sheet_triangle *a,
                 const kiln_sheet_triangle *b)
{
    for (int k = 0; k < 3; k++)
        if (!has_corner(a, b->v[k]) &&
            kiln_v3_dot(a->normal, kiln_v3_sub(b->p[k], a->p[0])) >= -surface->rounding)
            return true;
    return false;
}

/* The distance of what they do not share: corners from the other face, and the edges opposite a
 * common corner from each other. */
static double gap_at_corner(const kiln_sheet_triangle *a, const kiln_sheet_triangle *b)
{
    double gap2 = INFINITY;
    kiln_vec3 edge[2][2];
    int count[2] = {0, 0};
    for (int k = 0; k < 6; k++) {
        const kiln_sheet_triangle *own = k < 3 ? a : b, *other = k < 3 ? b : a;
        if (has_corner(other, own->v[k % 3]))
            continue;
        gap2 = fmin(gap2, kiln_triangle_distance2(own->p[k % 3], other->p));
        if (count[k / 3] < 2)
            edge[k / 3][count[k / 3]] = own->p[k % 3];
        count[k / 3]++;
    }
    if (count[0] == 2 && count[1] == 2)
        gap2 = fmin(gap2, kiln_edges_distance2((const kiln_vec3 *)edge[0], edge[1]));
    return PART_AT_CORNER * (count[0] ? sqrt(gap2) : 0.0);
}

/* Whether they are near enough to touch, which matters on any side. */
static bool touch(const room_query *query, const kiln_sheet_triangle *other)
{
    const kiln_vec3 grow = kiln_v3(query->touching, query->touching, query->touching);
    kiln_box box = kiln_box_of(other->p, 3);
    return kiln_box_overlap(query->box,
                            (kiln_box){kiln_v3_sub(box.low, grow), kiln_v3_add(box.high, grow)});
}

static bool face_each_other(const room_query *query, const kiln_sheet_triangle *other)
{
    return kiln_v3_dot(query->t->normal, other->normal) < 0.0 &&
           sees(query->surface, query->t, other) && sees(query->surface, other, query->t);
}

static bool visit(void *user, uint32_t item)
{
    room_query *query = user;
    const kiln_sheet_triangle *t = query->t, *other = &query->surface->triangles.data[item];
    if (other->interface || other == t ||
        (query->surface->bodies_coincide && other->body != t->body))
        return true;
    bool joined =
        has_corner(other, t->v[0]) || has_corner(other, t->v[1]) || has_corner(other, t->v[2]);
    bool facing = face_each_other(query, other);
    if (!facing && !joined && !touch(query, other))
        return true;
    double gap =
        joined ? gap_at_corner(t, other) : sqrt(kiln_closest_triangles(t->p, other->p).distance2);
    if (gap <= query->touching)
        query->gap = 0.0;
    else if (facing)
        query->gap = fmin(query->gap, gap);
    return query->gap > 0.0;
}

static double find_room(const struct kiln_surface *surface, const kiln_sheet_triangle *t)
{
    const double touching = 4.0 * surface->rounding;
    const double reach = fmax(2.0 * touching, 2.0 * (surface->smooth ? REACH_IF_SMOOTH : 1.0) *
                                                  kiln_surface_band(surface, t->edge));
    const kiln_vec3 grow = kiln_v3(reach, reach, reach);
    room_query query = {surface, t, kiln_box_of(t->p, 3), touching, reach};
    if (t->interface)
        return 1.0;
    kiln_box box = {kiln_v3_sub(query.box.low, grow), kiln_v3_add(query.box.high, grow)};
    kiln_bvh_query_box(&surface->triangle_tree, box, visit, &query);
    return query.gap / reach;
}

double kiln_surface_room(const struct kiln_surface *surface, uint32_t item)
{
    /* Threads that ask for the same find the same. */
    _Atomic double *known = &surface->room.data[item];
    double room = atomic_load_explicit(known, memory_order_relaxed);
    if (room >= 0.0)
        return room;
    room = find_room(surface, &surface->triangles.data[item]);
    atomic_store_explicit(known, room, memory_order_relaxed);
    return room;
}

/* A triangle goes no farther than the farthest of its corners. */
bool kiln_surface_has_room(const kiln_remesher *remesher, uint32_t vertex, kiln_vec3 p)
{
    const struct kiln_surface *surface = remesher->surface;
    if (vertex >= surface->vertices)
        return false;
    for (uint32_t i = surface->start.data[vertex]; i < surface->start.data[vertex + 1]; i++) {
        uint32_t item = surface->corner.data[i] / 3;
        const kiln_sheet_triangle *t = &surface->triangles.data[item];
        double room = kiln_surface_room(surface, item);
        double way2 = kiln_v3_norm2(kiln_v3_sub(p, t->p[surface->corner.data[i] % 3]));
        double most = room * kiln_surface_band(surface, t->edge);
        if (room < 1.0 && !(way2 < most * most))
            return false;
    }
    return true;
}
