/* The surface that gatherings look at, while it changes (N3 of vicinity.h). */
#include "contact/contact_surface_impl.h"
#include "step/collide_impl.h"
#include "step/patch.h"
#include "step/vicinity.h"

#include <math.h>
#include <string.h>

/* Faces that have changed, beside the tree: so many, or this part of all. */
enum { FEW_FRESH = 256 };
#define FRESH_PART 0.05

static kiln_box face_box(const kiln_local_objective *o, uint32_t f)
{
    uint32_t v[3];
    kiln_contact_surface_corners(o->mesh, f, v);
    const kiln_vec3 p[3] = {o->end[v[0]], o->end[v[1]], o->end[v[2]]};
    return kiln_box_of(p, 3);
}

static kiln_status grow(kiln_vicinity_surface *s, const kiln_local_objective *o, kiln_error *error)
{
    size_t faces = o->mesh->table[KILN_ON_FACE].live;
    KILN_TRY(kiln_array_reserve(s->context, &s->boxes, faces + 1, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->grown, faces + 1, error));
    s->grown.count = s->fresh.count = s->fresh_boxes.count = 0;
    for (uint32_t f = 0; f < o->mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(o->mesh, f))
            continue;
        s->boxes.data[s->grown.count] = face_box(o, f);
        s->grown.data[s->grown.count++] = f;
    }
    return kiln_bvh_build(&s->tree, s->context, s->boxes.data, s->grown.count, error);
}

static kiln_status grow_wall(kiln_vicinity_surface *s, kiln_bvh *tree, const kiln_u32_array *points,
                             size_t arity, kiln_error *error)
{
    size_t count = points->count / arity;
    KILN_TRY(kiln_array_reserve(s->context, &s->boxes, count + 1, error));
    for (size_t i = 0; i < count; i++) {
        kiln_box box = kiln_box_empty();
        for (size_t k = 0; k < arity; k++)
            box = kiln_box_grow(box, s->walls[points->data[arity * i + k]]);
        s->boxes.data[i] = box;
    }
    return kiln_bvh_build(tree, s->context, s->boxes.data, count, error);
}

static void largest_clearance(kiln_vicinity_surface *s, const kiln_mesh *mesh)
{
    const double *clearance = s->collide->options.clearance;
    for (size_t p = 0; clearance && p < mesh->parts.count; p++)
        if (mesh->parts.data[p].tets > 0)
            s->most = fmax(s->most, clearance[mesh->parts.data[p].body]);
}

kiln_status kiln_vicinity_surface_begin(kiln_vicinity_surface *s, const kiln_local_objective *o,
                                        kiln_error *error)
{
    const kiln_collide *c = s->collide;
    size_t slots = o->mesh->table[KILN_ON_VERTEX].used;
    double sum = 0.0;
    KILN_TRY(kiln_array_reserve(s->context, &s->area, slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->modulus, slots, error));
    memcpy(s->area.data, c->surface.area.data, slots * sizeof(double));
    memcpy(s->modulus.data, c->modulus.data, slots * sizeof(double));
    s->area.count = s->modulus.count = slots;
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        sum += s->area.data[c->surface.vertices.data[i]];
    s->typical = 3.0 * sum / (double)c->surface.faces.count;
    largest_clearance(s, o->mesh);
    if (c->options.walls) {
        KILN_TRY(grow_wall(s, &s->wall_points, &c->walls.vertices, 1, error));
        KILN_TRY(grow_wall(s, &s->wall_edges, &c->walls.edges, 2, error));
        KILN_TRY(grow_wall(s, &s->wall_faces, &c->walls.faces, 3, error));
    }
    KILN_TRY(kiln_vicinity_list_pressed(s, error));
    return grow(s, o, error);
}

void kiln_vicinity_surface_end(kiln_vicinity_surface *s)
{
    kiln_array_free(s->context, &s->area);
    kiln_array_free(s->context, &s->modulus);
    kiln_array_free(s->context, &s->pressed);
    kiln_array_free(s->context, &s->repelled);
    kiln_bvh_destroy(&s->tree);
    kiln_array_free(s->context, &s->grown);
    kiln_array_free(s->context, &s->fresh);
    kiln_array_free(s->context, &s->fresh_boxes);
    kiln_bvh_destroy(&s->wall_points);
    kiln_bvh_destroy(&s->wall_edges);
    kiln_bvh_destroy(&s->wall_faces);
    kiln_array_free(s->context, &s->boxes);
}

static kiln_status tell_face(kiln_vicinity_surface *s, const kiln_local_objective *o, uint32_t f,
                             kiln_error *error)
{
    KILN_TRY(kiln_array_push(s->context, &s->fresh, f, error));
    return kiln_array_push(s->context, &s->fresh_boxes, face_box(o, f), error);
}

/* Of the vertex: area and modulus; its faces are fresh, each for its lowest vertex that is told. */
static kiln_status tell_vertex(kiln_vicinity_surface *s, const kiln_local_objective *o,
                               uint32_t vertex, kiln_walker *walker, kiln_error *error)
{
    double area = 0.0, modulus = 0.0;
    KILN_TRY(kiln_star(o->mesh, vertex, walker, error));
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t t = walker->tets.data[i];
        modulus += kiln_vicinity_modulus(o, t);
        for (uint32_t k = 0; k < 4; k++) {
            kiln_link link = o->mesh->tet[t].n[k];
            if (!kiln_link_is_surface(link) || o->mesh->tet[t].v[k] == vertex)
                continue;
            uint32_t v[3], f = link - KILN_LINK_SURFACE;
            kiln_contact_surface_corners(o->mesh, f, v);
            area += kiln_contact_surface_share(o->mesh, v);
            KILN_TRY(tell_face(s, o, f, error));
        }
    }
    s->area.data[vertex] = area;
    s->modulus.data[vertex] = modulus / (double)walker->tets.count;
    return KILN_OK;
}

kiln_status kiln_vicinity_surface_tell(kiln_vicinity_surface *s, const kiln_local_objective *o,
                                       kiln_walker *walker, const uint32_t *vertices, size_t count,
                                       kiln_error *error)
{
    size_t slots = o->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(s->context, &s->area, slots, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->modulus, slots, error));
    for (; s->area.count < slots; s->area.count++)
        s->area.data[s->area.count] = s->modulus.data[s->area.count] = 0.0;
    for (size_t i = 0; i < count; i++)
        if (kiln_vertex_live(o->mesh, vertices[i]) &&
            o->mesh->vertex[vertices[i]].flags & KILN_VERTEX_SURFACE)
            KILN_TRY(tell_vertex(s, o, vertices[i], walker, error));
    double most = fmax(FEW_FRESH, FRESH_PART * (double)o->mesh->table[KILN_ON_FACE].live);
    return (double)s->fresh.count > most ? grow(s, o, error) : KILN_OK;
}
