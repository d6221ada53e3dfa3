/* Where surfaces are pressed between their vertices: what a vertex in the middle of an edge would
 * take over of the force there, by its hat function. A face that is pressed in its middle, or an
 * edge, is why a mesh should be finer there; the stresses of its tets alone hardly say so. */
#include "contact/contact_surface_impl.h"
#include "step/collide_impl.h"
#include "step/vicinity.h"

#include <stdlib.h>
#include <string.h>

typedef struct listing {
    kiln_vicinity_surface *surface;
    kiln_status status;
    kiln_error *error;
} listing;

/* Forces on the same side of a pair have one direction. On an edge, or an edge of a face, the hat
 * is twice the smaller of the two weights. */
static void note_forces(void *user, const uint32_t v[4], const kiln_vec3 force[4])
{
    listing *l = user;
    for (int i = 0; i < 4; i++)
        if (v[i] < l->surface->repelled.count && kiln_v3_norm2(force[i]) > 0.0)
            l->surface->repelled.data[v[i]] = true;
    for (int i = 0; i < 4; i++)
        for (int k = i + 1; k < 4 && l->status == KILN_OK; k++) {
            uint32_t first_wall = l->surface->collide->first_wall;
            double a = kiln_v3_norm2(force[i]), b = kiln_v3_norm2(force[k]);
            if (v[i] >= first_wall || v[k] >= first_wall ||
                !(kiln_v3_dot(force[i], force[k]) > 0.0))
                continue;
            kiln_pressed_edge edge = {kiln_contact_surface_edge_key(v[i], v[k]),
                                      kiln_v3_scale(a < b ? force[i] : force[k], 2.0)};
            l->status = kiln_array_push(l->surface->context, &l->surface->pressed, edge, l->error);
        }
}

static int by_ends(const void *left, const void *right)
{
    const kiln_pressed_edge *a = left, *b = right;
    return (a->ends > b->ends) - (a->ends < b->ends);
}

/* In the order of the pairs, which a sort by ends alone might change. */
static int by_all(const void *left, const void *right)
{
    const kiln_pressed_edge *a = left, *b = right;
    int order = by_ends(a, b);
    if (order || a->force.x != b->force.x)
        return order ? order : a->force.x < b->force.x ? -1 : 1;
    if (a->force.y != b->force.y)
        return a->force.y < b->force.y ? -1 : 1;
    return (a->force.z > b->force.z) - (a->force.z < b->force.z);
}

kiln_status kiln_vicinity_list_pressed(kiln_vicinity_surface *s, kiln_error *error)
{
    listing l = {.surface = s, .error = error};
    size_t slots = s->area.count;
    KILN_TRY(kiln_array_reserve(s->context, &s->repelled, slots, error));
    if (slots > 0)
        memset(s->repelled.data, 0, slots);
    s->repelled.count = slots;
    s->pressed.count = 0;
    /* It only measures again what it has measured. */
    kiln_collide_visit_forces((kiln_collide *)s->collide, &s->places[0].x, note_forces, &l);
    KILN_TRY(l.status);
    size_t count = 0;
    kiln_pressed_edge *edge = s->pressed.data;
    if (s->pressed.count > 1)
        qsort(edge, s->pressed.count, sizeof *edge, by_all);
    for (size_t i = 0; i < s->pressed.count; i++)
        if (count > 0 && edge[count - 1].ends == edge[i].ends)
            edge[count - 1].force = kiln_v3_add(edge[count - 1].force, edge[i].force);
        else
            edge[count++] = edge[i];
    s->pressed.count = count;
    return KILN_OK;
}

kiln_vec3 kiln_vicinity_pressed(const kiln_vicinity_surface *s, uint32_t a, uint32_t b)
{
    kiln_pressed_edge key = {.ends = kiln_contact_surface_edge_key(a, b)};
    const kiln_pressed_edge *found =
        s->pressed.count ? bsearch(&key, s->pressed.data, s->pressed.count, sizeof key, by_ends)
                         : NULL;
    return found ? found->force : kiln_v3(0, 0, 0);
}
