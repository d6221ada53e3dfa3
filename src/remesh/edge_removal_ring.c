#include "remesh/edge_removal_ring.h"

#include <string.h>

/* The corners c, d that complete corners a, b to an even permutation: (a, b, c, d) is positive. */
static const uint8_t ring_corners[4][4][2] = {{{0, 0}, {2, 3}, {3, 1}, {1, 2}},
                                              {{3, 2}, {0, 0}, {0, 3}, {2, 0}},
                                              {{1, 3}, {3, 0}, {0, 0}, {0, 1}},
                                              {{2, 1}, {0, 2}, {1, 0}, {0, 0}}};

/* One end of the ring as far as it is known: the way on leads out of the tet through the face
 * opposite a corner, and the vertex of that face off the edge is the next to be left behind. */
typedef struct ring_end {
    uint32_t tet, exit; /* exit: a corner */
    uint32_t pivot;     /* a vertex */
} ring_end;

KILN_INLINE kiln_link way_on(const kiln_mesh *mesh, const ring_end *end)
{
    return mesh->tet[end->tet].n[end->exit];
}

/* One dependent load: the far vertex is the one that the packed link names. What will be asked of
 * it later is fetched meanwhile. */
KILN_INLINE void step(const kiln_remesher *remesher, const kiln_vec3 *points, ring_end *end,
                      kiln_link link, double *worst)
{
    const kiln_tet *next = &remesher->mesh->tet[link / 4];
    double quality = remesher->quality.data[link / 4];
    *worst = quality < *worst ? quality : *worst;
    end->tet = link / 4;
    end->exit = kiln_tet_corner(next, end->pivot);
    end->pivot = next->v[link % 4];
    KILN_PREFETCH(&points[end->pivot]);
}

/* Both ways at a time, so that two loads are under way, until the ends meet or both are at the
 * surface. */
static bool walk(const kiln_remesher *remesher, ring_end front, ring_end back,
                 kiln_removal_ring *ring)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    uint32_t low = KILN_RING_MOST, high = low; /* places of the last tets each way */
    bool behind = true, ahead = true;          /* not at the surface yet */
    ring->worst = remesher->quality.data[front.tet];
    ring->tet_room[low] = front.tet;
    ring->v_room[low] = back.pivot;
    ring->v_room[high + 1] = front.pivot;
    ring->closed = false;
    while ((ahead || behind) && !ring->closed) {
        kiln_link on = way_on(mesh, &front), off = way_on(mesh, &back);
        ahead = !kiln_link_is_surface(on);
        behind = !kiln_link_is_surface(off);
        ring->closed = on / 4 == back.tet;
        if (ahead && !ring->closed) {
            step(remesher, points, &front, on, &ring->worst);
            ring->tet_room[++high] = front.tet;
            ring->v_room[high + 1] = front.pivot;
            ring->closed = off / 4 == front.tet;
        }
        if (behind && !ring->closed) {
            step(remesher, points, &back, off, &ring->worst);
            ring->tet_room[--low] = back.tet;
            ring->v_room[low] = back.pivot;
        }
        if (high - low >= KILN_RING_MOST)
            return false;
    }
    ring->tet = ring->tet_room + low;
    ring->v = ring->v_room + low;
    ring->count = high - low + 1;
    return true;
}

bool kiln_removal_ring_walk(const kiln_remesher *remesher, uint32_t tet, uint32_t corner_a,
                            uint32_t corner_b, kiln_removal_ring *out)
{
    const uint32_t *v = remesher->mesh->tet[tet].v;
    uint32_t c = ring_corners[corner_a][corner_b][0], d = ring_corners[corner_a][corner_b][1];
    out->a = v[corner_a];
    out->b = v[corner_b];
    return walk(remesher, (ring_end){tet, c, v[d]}, (ring_end){tet, d, v[c]}, out);
}

void kiln_removal_ring_rotate(kiln_removal_ring *ring, uint32_t first)
{
    uint32_t tet[KILN_RING_MOST], v[KILN_RING_MOST];
    memcpy(tet, ring->tet, ring->count * sizeof *tet);
    memcpy(v, ring->v, ring->count * sizeof *v);
    for (uint32_t i = 0; i < ring->count; i++) {
        uint32_t from = first + i < ring->count ? first + i : first + i - ring->count;
        ring->tet[i] = tet[from];
        ring->v[i] = v[from];
    }
    ring->v[ring->count] = ring->v[0];
}
