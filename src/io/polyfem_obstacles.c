/* Meshes that do not deform: obstacles, still or led without turning. */
#include "io/polyfem_impl.h"

#include <string.h>

/* The condition that leads the obstacle: of its own list, else of the bodies'; NULL: none. */
static kiln_status find_leader(polyfem *p, const kiln_json_node *geometry,
                               const kiln_json_node **out)
{
    static const char *const lists[] = {"obstacle_displacements", "dirichlet_boundary"};
    const kiln_json_node *all = kiln_polyfem_get(p->root, "boundary_conditions");
    const kiln_json_node *ids = kiln_polyfem_get(geometry, "surface_selection");
    *out = NULL;
    if (!ids || ids->count == 0)
        return KILN_OK;
    const kiln_json_node *id = ids->first;
    if (ids->count != 1 || id->type != KILN_JSON_IS_NUMBER || id->number != floor(id->number) ||
        fabs(id->number) > 2147483646.0)
        return kiln_json_fail(ids, p->error, "of an obstacle must be one whole number");
    for (int i = 0; i < 2; i++) {
        const kiln_json_node *list = kiln_polyfem_get(all, lists[i]);
        for (const kiln_json_node *at = list ? list->first : NULL; at && !*out; at = at->next) {
            bool found;
            KILN_TRY(kiln_polyfem_has_id(p, at, (int)id->number, &found));
            *out = found ? at : NULL;
        }
    }
    return KILN_OK;
}

static kiln_status put_motion(polyfem *p, const kiln_json_node *geometry)
{
    const kiln_json_node *leader, *value;
    polyfem_formula v[3];
    polyfem_form form = {.arguments = "t"};
    KILN_TRY(find_leader(p, geometry, &leader));
    if (!leader)
        return KILN_OK;
    value = kiln_polyfem_get(leader, "value");
    if (!value)
        return kiln_json_fail(leader, p->error, "must have a value");
    KILN_TRY(kiln_polyfem_vector(p, value, v));
    if ((v[0].uses | v[1].uses | v[2].uses) & FORMULA_USES_PLACE)
        return kiln_json_fail(value, p->error,
                              "of an obstacle may depend on t only: obstacles that turn or deform "
                              "are not supported");
    KILN_TRY(kiln_polyfem_put_ramp(p, leader, &form.factor));
    kiln_lua_put(&p->scene, ", motion = motion.translate {shift = ");
    kiln_polyfem_put_vector(p, v, form);
    kiln_lua_put(&p->scene, "}");
    return KILN_OK;
}

static kiln_status end_obstacle(polyfem *p, const kiln_json_node *geometry)
{
    if (p->friction > 0.0) {
        kiln_lua_put(&p->scene, ", friction = ");
        kiln_lua_put_number(&p->scene, p->friction);
    }
    KILN_TRY(put_motion(p, geometry));
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, geometry);
    return KILN_OK;
}

static void put_plane(polyfem *p, const double point[3], const double normal[3])
{
    kiln_lua_put(&p->scene, "        obstacle.plane {point = ");
    kiln_lua_put_vector(&p->scene, point);
    kiln_lua_put(&p->scene, ", normal = ");
    kiln_lua_put_vector(&p->scene, normal);
}

static kiln_status read_plane(polyfem *p, const kiln_json_node *geometry, double point[3],
                              double normal[3])
{
    const kiln_json_node *at = kiln_polyfem_get(geometry, "point");
    const kiln_json_node *along = kiln_polyfem_get(geometry, "normal");
    size_t count = 0;
    if (!at || !along)
        return kiln_json_fail(geometry, p->error, "must have a point and a normal");
    KILN_TRY(kiln_polyfem_numbers(p, at, point, &count));
    return kiln_polyfem_numbers(p, along, normal, &count);
}

/* Turns by right angles leave traces of rounding. */
static double without_trace(double component)
{
    return fabs(component) < 1e-15 ? 0.0 : component;
}

static kiln_vec3 tidy(kiln_vec3 n)
{
    return kiln_v3_normalize(kiln_v3(without_trace(n.x), without_trace(n.y), without_trace(n.z)));
}

/* The normal of the plane all triangles lie in, towards the bodies; false: they lie in none. */
static bool is_flat(const polyfem *p, const polyfem_placement *place, kiln_vec3 *point,
                    kiln_vec3 *normal)
{
    const kiln_soup *mesh = &p->mesh;
    double largest = 0.0, size = 0.0;
    kiln_box box = kiln_box_empty();
    kiln_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < mesh->triangles.count; i++) {
        const uint32_t *v = mesh->triangles.data[i].v;
        kiln_vec3 c[3];
        for (int k = 0; k < 3; k++) {
            c[k] = kiln_polyfem_placed(place, mesh->points.data[v[k]]);
            box = kiln_box_grow(box, c[k]);
            sum = kiln_v3_add(sum, mesh->points.data[v[k]]);
        }
        kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(c[1], c[0]), kiln_v3_sub(c[2], c[0]));
        if (kiln_v3_norm(area) > largest) {
            largest = kiln_v3_norm(area);
            *normal = tidy(kiln_v3_scale(area, 1.0 / largest));
        }
    }
    sum = kiln_v3_scale(sum, 1.0 / (3.0 * (double)mesh->triangles.count));
    *point = kiln_polyfem_placed(place, sum); /* of a sheet about its origin: where it was put */
    size = kiln_v3_norm(kiln_v3_sub(box.high, box.low));
    for (size_t i = 0; i < mesh->triangles.count && largest > 0.0; i++)
        for (int k = 0; k < 3; k++) {
            kiln_vec3 q = mesh->points.data[mesh->triangles.data[i].v[k]];
            q = kiln_v3_sub(kiln_polyfem_placed(place, q), *point);
            if (fabs(kiln_v3_dot(q, *normal)) > 1e-9 * size)
                return false;
        }
    kiln_vec3 middle = kiln_v3_lerp(p->bodies.low, p->bodies.high, 0.5);
    if (kiln_v3_dot(kiln_v3_sub(middle, *point), *normal) < 0.0)
        *normal = kiln_v3_scale(*normal, -1.0);
    return largest > 0.0;
}

/* Whether the box around the bodies lies on the side of the normal. */
static bool is_beside(const kiln_box *box, kiln_vec3 point, kiln_vec3 normal)
{
    kiln_vec3 nearest = kiln_v3(normal.x > 0.0 ? box->low.x : box->high.x,
                                normal.y > 0.0 ? box->low.y : box->high.y,
                                normal.z > 0.0 ? box->low.z : box->high.z);
    return kiln_v3_dot(kiln_v3_sub(nearest, point), normal) >= 0.0;
}

/* A flat sheet has no inside: as far as bodies on one side know, it is a plane. */
static kiln_status put_sheet(polyfem *p, const kiln_json_node *geometry, kiln_vec3 point,
                             kiln_vec3 normal)
{
    kiln_polyfem_say(p, KILN_LOG_WARNING, geometry, "is flat: it acts as a plane without an edge");
    put_plane(p, (double[3]){point.x, point.y, point.z}, (double[3]){normal.x, normal.y, normal.z});
    return end_obstacle(p, geometry);
}

static kiln_status put_mesh(polyfem *p, const kiln_json_node *geometry)
{
    const char *extract = "surface";
    polyfem_placement place;
    kiln_vec3 point = {0, 0, 0}, normal = {0, 0, 1};
    KILN_TRY(kiln_polyfem_word(p, geometry, "extract", &extract));
    if (strcmp(extract, "surface") != 0 && strcmp(extract, "volume") != 0)
        return kiln_json_fail(geometry, p->error, "extract \"%.30s\" is not supported", extract);
    KILN_TRY(kiln_polyfem_read_mesh(p, geometry));
    if (p->mesh.tets.count + p->mesh.triangles.count == 0)
        return kiln_json_fail(kiln_polyfem_get(geometry, "mesh"), p->error,
                              "has neither tets nor triangles: edges and points as obstacles are "
                              "not supported");
    KILN_TRY(kiln_polyfem_place(p, geometry, &p->mesh, &place));
    if (p->mesh.tets.count == 0 && is_flat(p, &place, &point, &normal) &&
        is_beside(&p->bodies, point, normal))
        return put_sheet(p, geometry, point, normal);
    kiln_lua_put(&p->scene, "        obstacle.mesh {path = ");
    kiln_polyfem_put_mesh_path(p);
    kiln_polyfem_put_placement(&p->scene, &place);
    return end_obstacle(p, geometry);
}

static kiln_status put_obstacle(polyfem *p, const kiln_json_node *geometry)
{
    const char *type = "mesh";
    double point[3] = {0}, normal[3] = {0, 1, 0};
    KILN_TRY(kiln_polyfem_word(p, geometry, "type", &type));
    if (strcmp(type, "mesh") == 0 && p->is_flat)
        return kiln_json_fail(geometry, p->error,
                              "meshes as obstacles are not supported in a plane problem: plane and "
                              "ground are");
    if (strcmp(type, "mesh") == 0)
        return put_mesh(p, geometry);
    if (strcmp(type, "plane") == 0)
        KILN_TRY(read_plane(p, geometry, point, normal));
    else if (strcmp(type, "ground") == 0)
        KILN_TRY(
            kiln_polyfem_number(p, geometry, "height", (kiln_bounds)KILN_ANY_NUMBER, &point[1]));
    else
        return kiln_json_fail(geometry, p->error, "type \"%.40s\" is not supported as an obstacle",
                              type);
    put_plane(p, point, normal);
    return end_obstacle(p, geometry);
}

kiln_status kiln_polyfem_put_obstacles(polyfem *p)
{
    const kiln_json_node *list = kiln_polyfem_get(p->root, "geometry");
    kiln_lua_put(&p->scene, "    obstacles = {\n");
    for (const kiln_json_node *at = list->first; at; at = at->next) {
        bool enabled = true, is_obstacle = false;
        KILN_TRY(kiln_polyfem_flag(p, at, "enabled", &enabled));
        KILN_TRY(kiln_polyfem_flag(p, at, "is_obstacle", &is_obstacle));
        if (!enabled || !is_obstacle)
            continue;
        if (p->has_contact)
            KILN_TRY(put_obstacle(p, at));
        else
            kiln_polyfem_say(p, KILN_LOG_WARNING, at, "left out: contact is not enabled");
    }
    kiln_lua_put(&p->scene, "    },\n");
    return KILN_OK;
}
