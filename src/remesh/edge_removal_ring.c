#include "remesh/edge_removal_ring.h"

#include <string.h>

/* The corners c, d that complete corners a, b to an even permutation: (a, b, c, d) is positive. */
static const uint8_t ring_corners[4][4][2] = {{{0, 0}, {2, 3}, {3, 1}, {1, 2}},
                                              {{3, 2}, {0, 0}, {0, 3}, {2, 0}},
                                              {{1, 3}, {3, 0}, {0, 0}, {0, 1}},
                                              {{2, 1}, {0, 2}, {1, 0}, {0, 0}}};

/* From a tet across the face opposite `exit`: the face's vertex off the edge becomes the next to be
 * left behind. One dependent load a step: the far vertex is the one the packed link names. */
typedef struct ring_step {
    uint32_t tet, exit; /* exit: a corner */
    uint32_t pivot;     /* vertex of the exit face off the edge */
} ring_step;

KILN_INLINE bool step(const kiln_mesh *mesh, ring_step *at)
{
    kiln_link link = mesh->tet[at->tet].n[at->exit];
    if (kiln_link_is_surface(link))
        return false;
    const kiln_tet *next = &mesh->tet[link / 4];
    at->tet = link / 4;
    at->exit = kiln_tet_corner(next, at->pivot);
    at->pivot = next->v[link % 4];
    return true;
}

/* The steps from the first tet on, until it comes again, the surface or the cap. */
static bool walk(const kiln_remesher *remesher, ring_step at, kiln_removal_ring *ring)
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t first = at.tet;
    ring->count = 0;
    ring->worst = INFINITY;
    ring->v[0] = mesh->tet[first].v[at.exit];
    do {
        if (ring->count == KILN_RING_MOST)
            return false;
        double quality = remesher->quality.data[at.tet];
        ring->worst = quality < ring->worst ? quality : ring->worst;
        ring->tet[ring->count++] = at.tet;
        ring->v[ring->count] = at.pivot;
        ring->closed = step(mesh, &at);
    } while (ring->closed && at.tet != first);
    return true;
}

bool kiln_removal_ring_walk(const kiln_remesher *remesher, uint32_t tet, uint32_t corner_a,
                            uint32_t corner_b, kiln_removal_ring *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    uint32_t c = ring_corners[corner_a][corner_b][0], d = ring_corners[corner_a][corner_b][1];
    out->a = v[corner_a];
    out->b = v[corner_b];
    if (!walk(remesher, (ring_step){tet, c, v[d]}, out))
        return false;
    if (out->closed)
        return true;
    /* Back to the surface face where it begins, and from there. */
    ring_step at = {tet, d, v[c]}, last = at;
    for (uint32_t steps = 0; step(mesh, &at); last = at)
        if (++steps == KILN_RING_MOST)
            return false;
    uint32_t leave = kiln_tet_corner(&mesh->tet[last.tet], last.pivot);
    return walk(remesher, (ring_step){last.tet, leave, mesh->tet[last.tet].v[last.exit]}, out);
}

void kiln_removal_ring_rotate(kiln_removal_ring *ring, uint32_t first)
{
    const kiln_removal_ring old = *ring;
    for (uint32_t i = 0; i < ring->count; i++) {
        uint32_t from = first + i < ring->count ? first + i : first + i - ring->count;
        ring->tet[i] = old.tet[from];
        ring->v[i] = old.v[from];
    }
    ring->v[ring->count] = ring->v[0];
}
