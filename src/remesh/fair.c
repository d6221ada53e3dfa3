#include "remesh/fair.h"

#include "mesh/walk.h"

#include <math.h>
#include <string.h>

/* By how much the curvature may differ from one end of an edge to the other, times its length:
 * radians. A bump of one vertex by a is 2.3 a / l, a wave of the shortest length 4.5 a / l. Where
 * both ends are bent the same way, what the less bent one is comes on top. */
static const double TURN = 0.12;
/* Of the length of an edge, what one radian more moves the surface by; and the most radians. */
static const double RATE = 0.12, MOST = 0.7;
/* Of a unit normal, what must be free for a vertex to go. */
static const double FREE_PART = 0.3;
/* Of its volume, what a tet must keep; shifts are halved so many times for it, then given up. */
static const double KEPT = 0.5;
enum { HALVINGS = 3 };

/* What the open faces at a vertex say. Neighbours within count twice, those along a wall once, as
 * if the wall were a mirror. */
typedef struct place {
    kiln_vec3 area;   /* gradient of the volume, m^2 */
    kiln_vec3 normal; /* of unit length, the way it may go; 0: it stays */
    kiln_vec3 around; /* sum of the ways to the neighbours */
    double square;    /* and of their squares */
    double count;
    double bent; /* mean curvature, 1/m, of bumps positive */
    double gain; /* m^3 */
} place;

typedef struct fairing {
    const kiln_mesh *mesh;
    const kiln_fair_options *options;
    place *at; /* [vertex] */
    kiln_vec3 *shift;
} fairing;

static void corners_of(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static bool is_open(const fairing *f, uint32_t face)
{
    return kiln_face_live(f->mesh, face) && f->options->open[face];
}

static void look_at_faces(fairing *f)
{
    const kiln_vec3 *x = f->mesh->x;
    for (uint32_t face = 0; face < f->mesh->table[KILN_ON_FACE].used; face++) {
        uint32_t v[3];
        if (!is_open(f, face))
            continue;
        corners_of(f->mesh, face, v);
        kiln_vec3 area =
            kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]]));
        for (int k = 0; k < 3; k++) {
            place *p = &f->at[v[k]];
            p->area = kiln_v3_madd(p->area, 1.0 / 6.0, area);
            for (int j = 1; j < 3; j++) {
                kiln_vec3 way = kiln_v3_sub(x[v[(k + j) % 3]], x[v[k]]);
                p->around = kiln_v3_add(p->around, way);
                p->square += kiln_v3_norm2(way);
                p->count++;
            }
        }
    }
}

static void find_curvatures(fairing *f)
{
    for (uint32_t v = 0; v < f->mesh->table[KILN_ON_VERTEX].used; v++) {
        place *p = &f->at[v];
        if (p->count == 0.0)
            continue;
        kiln_vec3 n = f->options->may_go(f->options->user, v, kiln_v3_normalize(p->area));
        p->normal = kiln_v3_norm(n) >= FREE_PART ? kiln_v3_normalize(n) : kiln_v3(0, 0, 0);
        p->bent = -2.0 * kiln_v3_dot(p->around, p->normal) / p->square;
    }
}

/* Along an edge of an open face, once from each of its faces; a ring has six edges, or so. */
static void flow_along(fairing *f, uint32_t a, uint32_t b)
{
    place *p = &f->at[a], *q = &f->at[b];
    double room = fmin(kiln_v3_dot(p->area, p->normal), kiln_v3_dot(q->area, q->normal));
    if (!(room > 0.0)) /* one of them stays, or the surface is folded */
        return;
    double length = kiln_v3_norm(kiln_v3_sub(f->mesh->x[b], f->mesh->x[a]));
    double turn = (p->bent - q->bent) * length, both = 0.0;
    if (p->bent * q->bent > 0.0) /* a shape that the mesh shows badly, not noise */
        both = fmin(fabs(p->bent), fabs(q->bent)) * length;
    double much = fmin(fabs(turn) - TURN - both, MOST);
    if (!(much > f->options->least))
        return;
    double flows = copysign(RATE / 12.0 * much * length * room, turn);
    p->gain -= flows;
    q->gain += flows;
}

static void find_shifts(fairing *f)
{
    for (uint32_t face = 0; face < f->mesh->table[KILN_ON_FACE].used; face++) {
        uint32_t v[3];
        if (!is_open(f, face))
            continue;
        corners_of(f->mesh, face, v);
        for (int k = 0; k < 3; k++)
            flow_along(f, v[k], v[(k + 1) % 3]);
    }
    for (uint32_t v = 0; v < f->mesh->table[KILN_ON_VERTEX].used; v++) {
        const place *p = &f->at[v];
        if (p->gain != 0.0)
            f->shift[v] =
                kiln_v3_madd(f->shift[v], p->gain / kiln_v3_dot(p->area, p->normal), p->normal);
    }
}

static double volume_of(const fairing *f, const uint32_t v[4], bool shifted)
{
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = shifted ? kiln_v3_add(f->mesh->x[v[k]], f->shift[v[k]]) : f->mesh->x[v[k]];
    return kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])),
                       kiln_v3_sub(p[3], p[0])) /
           6.0;
}

/* Tets that would lose too much hold their corners back. */
static void hold_back(fairing *f)
{
    const kiln_mesh *mesh = f->mesh;
    bool any = true;
    for (int round = 0; any; round++) {
        any = false;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            const uint32_t *v = mesh->tet[t].v;
            if (!kiln_tet_live(mesh, t) || volume_of(f, v, true) >= KEPT * volume_of(f, v, false))
                continue;
            for (int k = 0; k < 4; k++) {
                any |= kiln_v3_norm2(f->shift[v[k]]) > 0.0;
                f->shift[v[k]] = kiln_v3_scale(f->shift[v[k]], round < HALVINGS ? 0.5 : 0.0);
            }
        }
    }
}

kiln_status kiln_fair(const kiln_mesh *mesh, const kiln_fair_options *options, kiln_vec3 *shift,
                      size_t *moved, kiln_error *error)
{
    size_t rows = mesh->table[KILN_ON_VERTEX].used, bytes = (rows + 1) * sizeof(place);
    fairing f = {mesh, options, kiln_resize(mesh->context, NULL, 0, bytes), shift};
    *moved = 0;
    if (!f.at)
        return kiln_fail_memory(error, bytes);
    memset(f.at, 0, bytes);
    look_at_faces(&f);
    find_curvatures(&f);
    find_shifts(&f);
    for (uint32_t v = 0; v < rows; v++)
        *moved += kiln_v3_norm2(shift[v]) > 0.0;
    if (*moved > 0)
        hold_back(&f);
    kiln_release(mesh->context, f.at, bytes);
    return KILN_OK;
}
