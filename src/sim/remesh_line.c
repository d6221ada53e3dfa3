/* The line where liquid ends on a solid of its own body that it wets. Both have its vertices, so
 * nothing but the mesh can let it slide: in the pass after a step its vertices go along the solid's
 * surface, to where air, liquid and solid pull with the same force (Young) as its pressure, as fast
 * as tension moves liquid of their size. Matter stays where it is: transfer hands its fields on. */
#include "mesh/walk.h"
#include "sim/remesh_local_impl.h"
#include "step/liquid.h"

#include <math.h>
#include <string.h>

/* Of the way that the pull asks for, what is gone in a step; of an edge, the most of it. */
static const double EAGER = 0.25, MOST = 0.1;
/* Of the tension: what pulls less is at rest. At 1 to 2 % drops crept along their slab for
 * ever, by what remeshing leaves of forces. */
static const double REST = 0.03;
/* Of the quality that is asked for: no move makes it worse than that. */
static const double FLOOR = 0.5;
/* Of a unit normal, what may be free of it at a wall. */
static const double HELD_ACROSS = 1e-6;

typedef struct kiln_line_vertex line_vertex;

static kiln_vec3 corner(const kiln_mesh *mesh, uint32_t at, int k, uint32_t *v)
{
    *v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return mesh->x[*v];
}

static kiln_vec3 free_part(const kiln_world *world, uint32_t v, kiln_vec3 way)
{
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(world->solid), v);
    return kiln_held_free_part(&held, way);
}

/* Holds keep it in its plane: nothing ends there, and it does not pull. */
static bool is_wall(const kiln_world *world, uint32_t at)
{
    uint32_t v[3];
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = corner(world->mesh, at, k, &v[k]);
    kiln_vec3 n =
        kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    for (int k = 0; k < 3; k++)
        if (kiln_v3_norm(free_part(world, v[k], n)) > HELD_ACROSS)
            return false;
    return true;
}

/* A face that pulls: less the gradient of its energy, at its corners. Returns twice its area, and
 * outwards. */
static kiln_vec3 add_pull(kiln_local *l, uint32_t at, double gamma)
{
    const kiln_mesh *mesh = l->world->mesh;
    uint32_t v[3];
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = corner(mesh, at, k, &v[k]);
    kiln_vec3 twice = kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]));
    kiln_vec3 n = kiln_v3_normalize(twice);
    for (int k = 0; k < 3; k++) {
        kiln_vec3 opposite = kiln_v3_sub(p[(k + 1) % 3], p[(k + 2) % 3]);
        line_vertex *to = &l->line.data[v[k]];
        to->pull = kiln_v3_madd(to->pull, -0.5 * gamma, kiln_v3_cross(opposite, n));
    }
    return twice;
}

static const kiln_material *material_at(const kiln_world *world, uint32_t tet)
{
    return &world->materials[kiln_world_material_of(world->mesh)[tet]];
}

/* Edges of a liquid's face across which the surface is that of the solid. */
static void add_line(kiln_local *l, uint32_t face)
{
    const kiln_world *world = l->world;
    const kiln_mesh *mesh = world->mesh;
    uint32_t at = mesh->face[face].at, v[3];
    const kiln_material *m = material_at(world, at / 4);
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = corner(mesh, at, k, &v[k]);
    for (int k = 0; k < 3; k++) {
        uint32_t a = v[k], b = v[(k + 1) % 3];
        uint32_t across = kiln_surface_across(mesh, face, a, b);
        uint32_t other = mesh->face[across].at;
        if (!material_at(world, other / 4)->wettable || is_wall(world, other))
            continue;
        kiln_vec3 way = kiln_v3_sub(p[(k + 1) % 3], p[k]);
        for (int end = 0; end < 2; end++) {
            line_vertex *to = &l->line.data[end ? b : a];
            to->along = kiln_v3_add(to->along, way);
            to->length += 0.5 * kiln_v3_norm(way);
            to->tension = m->surface_tension;
            to->density = m->density;
            to->edges++;
        }
    }
}

/* The solid's surface on one side of the line, dry or wet. Vertices keep to the side that they
 * slide to: along the mean of both they would climb off the solid where the line has drawn it up.
 */
static void add_side(kiln_local *l, uint32_t at, kiln_vec3 outwards, bool wet)
{
    const kiln_mesh *mesh = l->world->mesh;
    uint32_t v[3];
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = corner(mesh, at, k, &v[k]);
    for (int k = 0; k < 3; k++) {
        line_vertex *to = &l->line.data[v[k]];
        to->normal[wet] = kiln_v3_add(to->normal[wet], outwards);
        for (int j = 1; j < 3 && !wet; j++)
            to->dry = kiln_v3_add(to->dry, kiln_v3_sub(p[(k + j) % 3], p[k]));
    }
}

static void look_at_surface(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f) || is_wall(l->world, mesh->face[f].at))
            continue;
        uint32_t at = mesh->face[f].at;
        const kiln_material *m = material_at(l->world, at / 4);
        kiln_vec3 twice = add_pull(l, at, m->liquid ? m->surface_tension : 0.0);
        if (m->liquid)
            add_line(l, f);
        else if (m->wettable)
            add_side(l, at, twice, false);
    }
}

/* Its volume is kept: without its pressure the first facet, not the surface that it stands for,
 * would have the contact angle. */
static void add_pressure(kiln_local *l, const double *pressure, uint32_t tet)
{
    const kiln_mesh *mesh = l->world->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    kiln_vec3 e[3], volume[4] = {{0, 0, 0}};
    double mean = 0.0;
    for (int k = 0; k < 4; k++)
        mean += 0.25 * pressure[v[k]];
    for (int k = 0; k < 3; k++)
        e[k] = kiln_v3_sub(mesh->x[v[k + 1]], mesh->x[v[0]]);
    for (int k = 0; k < 3; k++) {
        volume[k + 1] = kiln_v3_scale(kiln_v3_cross(e[(k + 1) % 3], e[(k + 2) % 3]), 1.0 / 6.0);
        volume[0] = kiln_v3_sub(volume[0], volume[k + 1]);
    }
    for (int k = 0; k < 4; k++)
        l->line.data[v[k]].pull = kiln_v3_madd(l->line.data[v[k]].pull, mean, volume[k]);
}

static void look_at_liquid(kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    const double *pressure =
        kiln_world_column(l->world, KILN_ON_VERTEX, KILN_FIELD_LIQUID_PRESSURE);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && material_at(l->world, t)->liquid)
            add_pressure(l, pressure, t);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4 && kiln_tet_live(mesh, t); f++) {
            kiln_link link = mesh->tet[t].n[f];
            const kiln_material *m = material_at(l->world, t);
            if (kiln_link_is_surface(link) || !m->liquid ||
                !material_at(l->world, link / 4)->wettable)
                continue;
            double gamma = kiln_wet_tension(m, material_at(l->world, link / 4));
            kiln_vec3 twice = add_pull(l, kiln_link_to(t, f), gamma);
            add_side(l, kiln_link_to(t, f), kiln_v3_scale(twice, -1.0), true);
        }
}

/* Along the solid's surface and across the line. */
static kiln_vec3 way_of(const kiln_local *l, uint32_t v, double h)
{
    const line_vertex *at = &l->line.data[v];
    const kiln_vec3 zero = {0, 0, 0};
    if (at->edges == 0 || !(at->tension > 0.0) ||
        l->world->mesh->vertex[v].flags & KILN_VERTEX_REQUIRED)
        return zero;
    kiln_vec3 n = kiln_v3_normalize(kiln_v3_add(at->normal[0], at->normal[1]));
    kiln_vec3 t = kiln_v3_normalize(at->along);
    kiln_vec3 pull = kiln_v3_madd(at->pull, -kiln_v3_dot(at->pull, n), n);
    n = kiln_v3_normalize(at->normal[kiln_v3_dot(pull, at->dry) < 0.0]);
    pull = kiln_v3_madd(pull, -kiln_v3_dot(pull, n), n);
    pull = free_part(l->world, v, kiln_v3_madd(pull, -kiln_v3_dot(pull, t), t));
    pull = kiln_v3_scale(pull, 1.0 / (at->tension * at->length)); /* of the tension */
    double size = at->length * (at->edges == 1 ? 2.0 : 1.0);
    double speed = sqrt(at->tension / (at->density * size));
    double part = EAGER * fmin(1.0, speed * h / size), much = kiln_v3_norm(pull);
    if (!(much > REST))
        return zero;
    return kiln_v3_scale(pull, size * fmin(part, MOST / much));
}

kiln_status kiln_local_find_line(kiln_local *l, kiln_error *error)
{
    const kiln_world *world = l->world;
    size_t rows = world->mesh->table[KILN_ON_VERTEX].used;
    bool wets = false;
    l->slides = false;
    for (size_t i = 0; i < world->scene->materials.count; i++)
        wets |= world->materials[i].wettable;
    if (!wets || !kiln_scene_has_liquid(world->scene) ||
        world->state.step % (uint64_t)l->settings->every != 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(world->context, &l->line, rows + 1, error));
    memset(l->line.data, 0, rows * sizeof *l->line.data);
    look_at_surface(l);
    look_at_liquid(l);
    for (uint32_t v = 0; v < rows; v++) {
        l->line.data[v].way = way_of(l, v, world->moment.end - world->moment.begin);
        l->slides |= kiln_v3_norm2(l->line.data[v].way) > 0.0;
    }
    return KILN_OK;
}

void kiln_local_slide_line(const kiln_local *l, kiln_remesher *remesher)
{
    const kiln_mesh *mesh = l->world->mesh;
    uint32_t rows = (uint32_t)kiln_archive_rows(mesh, KILN_ON_VERTEX);
    for (uint32_t v = 0; v < rows && l->slides; v++) {
        kiln_vec3 way = l->line.data[v].way;
        if (kiln_v3_norm2(way) == 0.0)
            continue;
        kiln_place place = {.side = remesher->side.data[v]};
        kiln_remesher_locate(remesher, kiln_v3_add(mesh->x[v], way), &place);
        kiln_remesher_move_above(remesher, v, &place, FLOOR * l->settings->quality);
    }
}
