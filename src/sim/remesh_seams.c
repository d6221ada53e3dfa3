/* Seams of bodies that have become one. When they do, the new surface has pits, teeth and sharp
 * valleys as wide as an edge; to fill those at once would widen the neck between bodies that move
 * against each other, and the motion of what is put in is lost. So they are faired in the passes
 * after steps, while the seam moves as one: volume flows along the surface from bumps to dents
 * (remesh/fair.h), as in matter that grows together. Matter stays where it is: transfer hands its
 * fields on, with momentum, and rest shapes as well. */
#include "fem/offset.h"
#include "mesh/rewind.h"
#include "mesh/walk.h"
#include "remesh/fair.h"
#include "remesh/surface.h"
#include "sim/remesh_local_impl.h"

#include <math.h>
#include <string.h>

/* What is not worth a pass: radians beyond what a surface may turn by, and of an edge. */
static const double LEAST_TURN = 0.1, LEAST = 0.005;
/* Of the quality that is asked for: no move makes it worse than that. Tets at a seam need what they
 * are better by for the next blow. */
static const double FLOOR = 1.5;
enum { RINGS = 3 }; /* of vertices that are faired */
/* Cosine of what an edge turns by that is one of its body, marked as such or not: beside the seam
 * such edges stay, or bodies would wear off where nothing has become one. */
static const double SHARP = 0.7;
/* A vertex whose faces' normals differ by less is on a flat side, which stays flat. */
static const double FLAT = 1e-9;

static kiln_status make_room(kiln_local *l, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    kiln_context *context = l->world->context;
    size_t rows = mesh->table[KILN_ON_VERTEX].used + 1;
    KILN_TRY(
        kiln_array_reserve(context, &l->seams.open, mesh->table[KILN_ON_FACE].used + 1, error));
    KILN_TRY(kiln_array_reserve(context, &l->seams.shift, rows, error));
    KILN_TRY(kiln_array_reserve(context, &l->seams.at, rows, error));
    memset(l->seams.shift.data, 0, rows * sizeof *l->seams.shift.data);
    memset(l->seams.at.data, 0, rows * sizeof *l->seams.at.data);
    return KILN_OK;
}

/* Seams are where tets of several bodies meet; and `at[].ring`, what is beside them. */
static bool find_rings(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_BODY);
    const uint32_t *body = (const uint32_t *)(const void *)field->data;
    kiln_seam_vertex *at = l->seams.at.data;
    bool any = false;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++) {
            kiln_seam_vertex *to = &at[mesh->tet[t].v[k]];
            to->ring |= to->body != 0 && to->body != body[t] + 1;
            to->body = body[t] + 1;
            any |= to->ring;
        }
    for (uint8_t ring = 1; ring < RINGS && any; ring++)
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            const uint32_t *v = mesh->tet[t].v;
            bool beside = false;
            for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
                beside |= at[v[k]].ring == ring;
            for (int k = 0; k < 4 && beside; k++)
                at[v[k]].ring = at[v[k]].ring ? at[v[k]].ring : (uint8_t)(ring + 1);
        }
    return any;
}

static bool is_open(const kiln_local *l, const uint32_t v[3], uint32_t tet)
{
    const kiln_scene *scene = l->world->scene;
    const kiln_seam_vertex *at = l->seams.at.data;
    return (at[v[0]].ring || at[v[1]].ring || at[v[2]].ring) &&
           scene->materials.data[kiln_world_material_of(l->world->mesh)[tet]].base.plastic.flows;
}

static kiln_vec3 area_of(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                         kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]]));
}

/* seams.open[face], and what its corners are like. */
static void look_at_faces(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3];
        l->seams.open.data[f] = 0;
        if (!kiln_face_live(mesh, f))
            continue;
        kiln_vec3 area = area_of(mesh, f, v);
        l->seams.open.data[f] = is_open(l, v, mesh->face[f].at / 4);
        for (int k = 0; k < 3 && l->seams.open.data[f]; k++) {
            kiln_seam_vertex *to = &l->seams.at.data[v[k]];
            to->area = kiln_v3_add(to->area, area);
            to->size += kiln_v3_norm(area);
        }
    }
}

static void find_sharp(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    kiln_seam_vertex *at = l->seams.at.data;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3], w[3];
        if (!l->seams.open.data[f])
            continue;
        kiln_vec3 area = area_of(mesh, f, v);
        for (int k = 0; k < 3; k++) {
            uint32_t a = v[k], b = v[(k + 1) % 3];
            kiln_vec3 other = area_of(mesh, kiln_surface_across(mesh, f, a, b), w);
            kiln_vec3 along = kiln_v3_sub(mesh->x[b], mesh->x[a]);
            bool outwards = kiln_v3_dot(kiln_v3_cross(area, other), along) > 0.0;
            bool turns =
                kiln_v3_dot(area, other) < SHARP * kiln_v3_norm(area) * kiln_v3_norm(other);
            at[a].sharp |= outwards && turns;
            at[b].sharp |= outwards && turns;
        }
    }
}

/* What is held, pressed by something, an edge of its body or on a flat side stays. */
static kiln_vec3 may_go(const void *user, uint32_t vertex, kiln_vec3 direction)
{
    const kiln_local *l = user;
    const kiln_world *world = l->world;
    const uint32_t stays =
        KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED | KILN_VERTEX_INTERFACE;
    const double *contact = kiln_solid_contact(world->solid) + 3 * (size_t)vertex;
    const kiln_seam_vertex *at = &l->seams.at.data[vertex];
    if (at->ring == 0 || (at->ring > 1 && at->sharp) || world->mesh->vertex[vertex].flags & stays ||
        contact[0] != 0.0 || contact[1] != 0.0 || contact[2] != 0.0 ||
        kiln_v3_norm(at->area) > (1.0 - FLAT) * at->size)
        return kiln_v3(0, 0, 0);
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(world->solid), vertex);
    return kiln_held_free_part(&held, direction);
}

/* In steps shorter than the scene's less is gone, and none of what is not worth it. */
static void measure(kiln_local *l)
{
    const kiln_world *world = l->world;
    double part = (world->moment.end - world->moment.begin) / world->scene->pace.dt;
    for (uint32_t v = 0; v < world->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 *shift = &l->seams.shift.data[v];
        double edge2 = l->seams.at.data[v].size / 6.0; /* of faces with two sides of an edge */
        l->fairs |= kiln_v3_norm2(*shift) > LEAST * LEAST * edge2;
        *shift = kiln_v3_scale(*shift, fmin(part, 1.0));
    }
}

/* How dense matter is round each vertex. */
static void note_density(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    const double *rest = kiln_offsets_of(mesh).rest_volume;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++) {
            kiln_seam_vertex *to = &l->seams.at.data[mesh->tet[t].v[k]];
            to->volume += kiln_mesh_tet_volume(mesh, t);
            to->rest += rest[t];
        }
}

kiln_status kiln_local_find_seams(kiln_local *l, kiln_error *error)
{
    kiln_world *world = l->world;
    size_t moved;
    l->fairs = false;
    if (!kiln_mesh_field(world->mesh, KILN_ON_TET, KILN_FIELD_BODY) ||
        world->space != KILN_SPACE_WORLD)
        return KILN_OK;
    KILN_TRY(make_room(l, error));
    if (!find_rings(l))
        return KILN_OK;
    look_at_faces(l);
    find_sharp(l);
    const kiln_fair_options options = {
        .open = l->seams.open.data, .may_go = may_go, .user = l, .least = LEAST_TURN};
    KILN_TRY(kiln_fair(world->mesh, &options, l->seams.shift.data, &moved, error));
    if (moved > 0)
        measure(l);
    if (l->fairs)
        note_density(l);
    return KILN_OK;
}

void kiln_local_fair_seams(kiln_local *l, kiln_remesher *remesher)
{
    const kiln_mesh *mesh = l->world->mesh;
    uint32_t rows = (uint32_t)kiln_archive_rows(mesh, KILN_ON_VERTEX);
    for (uint32_t v = 0; v < rows && l->fairs; v++) {
        kiln_vec3 shift = l->seams.shift.data[v], p = kiln_v3_add(mesh->x[v], shift);
        const kiln_vertex_side *side = &remesher->side.data[v];
        l->seams.at.data[v].moved = false;
        if (kiln_v3_norm2(shift) == 0.0 || side->freedom != KILN_ON_SURFACE ||
            !kiln_surface_has_room(remesher, v, p))
            continue;
        kiln_place place = {.side = *side};
        kiln_remesher_locate(remesher, p, &place);
        l->seams.at.data[v].moved =
            kiln_remesher_move_above(remesher, v, &place, FLOOR * l->settings->quality);
    }
}

/* The rest volume that a tet would have if matter were as dense in it as it was round its corners;
 * 0: none of them was moved. */
static double even_rest(const kiln_local *l, uint32_t t, uint32_t rows)
{
    const kiln_mesh *mesh = l->world->mesh;
    double sum = 0.0, known = 0.0;
    bool moved = false;
    for (int k = 0; k < 4; k++) {
        uint32_t v = mesh->tet[t].v[k];
        if (v >= rows) /* it is new */
            continue;
        const kiln_seam_vertex *at = &l->seams.at.data[v];
        moved |= at->moved;
        sum += at->rest / at->volume;
        known++;
    }
    return moved ? sum / known * kiln_mesh_tet_volume(mesh, t) : 0.0;
}

/* Transfers leave matter where it is: what the surface has left would be in the tets behind it, and
 * what it has taken in would be empty. */
kiln_status kiln_local_settle_seams(const kiln_local *l, kiln_error *error)
{
    kiln_mesh *mesh = l->world->mesh;
    if (!l->fairs || l->settings->method != KILN_REMESH_GLOBAL)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, KILN_FIELD_REST_VOLUME, KILN_SAVE_COPY, error));
    double *rest = kiln_offsets_of(mesh).rest_volume;
    uint32_t rows = (uint32_t)kiln_archive_rows(mesh, KILN_ON_VERTEX);
    kiln_f64_array sums = {0}; /* [part] even, and what there is */
    size_t parts = mesh->parts.count;
    KILN_TRY(kiln_array_reserve(mesh->context, &sums, 2 * parts, error));
    memset(sums.data, 0, 2 * parts * sizeof(double));
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            double even = kiln_tet_live(mesh, t) ? even_rest(l, t, rows) : 0.0;
            double *sum = &sums.data[2 * (size_t)mesh->info[t].part];
            if (even > 0.0 && round == 0) {
                sum[0] += even;
                sum[1] += rest[t];
            } else if (even > 0.0) {
                rest[t] = even * sum[1] / sum[0];
            }
        }
    kiln_array_free(mesh->context, &sums);
    return KILN_OK;
}
