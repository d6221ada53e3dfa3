/* What depends on time: holds, loads, obstacles. */
#include "sim/world_impl.h"

#include <string.h>

double kiln_world_moment(const kiln_world *world)
{
    return 1e-9 * world->scene->pace.dt;
}

/* Steps stop at every beginning and end, so a step lies inside an interval or outside it. At the
 * moment it ends, where a step of no length looks at the forces of the begin, nothing acts any
 * more.
 */
static bool acts(const kiln_world *world, double from, double until, double begin, double end)
{
    double moment = kiln_world_moment(world);
    return from <= begin + moment && end <= until + moment && begin < until - moment;
}

static kiln_status get_vector(const kiln_quantity *quantity, const kiln_circumstances *at,
                              kiln_vec3 *out, kiln_error *error)
{
    double v[3];
    KILN_TRY(kiln_quantity_get(quantity, at, v, 3, error));
    *out = kiln_v3(v[0], v[1], v[2]);
    return KILN_OK;
}

static const kiln_vec3 *starts_of(const kiln_world *world)
{
    const kiln_field *start = kiln_mesh_field(world->mesh, KILN_ON_VERTEX, KILN_FIELD_START);
    return start ? (const kiln_vec3 *)start->data : world->mesh->u;
}

static bool asks_for_place(const kiln_scene *scene)
{
    bool asks = scene->velocity_field.evaluate != NULL;
    for (size_t i = 0; i < scene->materials.count; i++)
        asks |= scene->materials.data[i].varies || scene->materials.data[i].flow_varies;
    for (size_t i = 0; i < scene->holds.count; i++)
        asks |= scene->holds.data[i].motion.place.evaluate != NULL;
    for (size_t i = 0; i < scene->loads.count; i++)
        asks |= scene->loads.data[i].amount.evaluate != NULL;
    return asks;
}

kiln_status kiln_world_keep_start(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    bool moves = world->yields || kiln_world_in_world_space(world->scene);
    if (!moves || !asks_for_place(world->scene))
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_START, KILN_ON_VERTEX, KILN_F64, 3,
                                 KILN_RULE_INTERPOLATE, error));
    memcpy(kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_START)->data, mesh->u,
           mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->u);
    return KILN_OK;
}

/* A rigid motion: x -> rotation (x - centre) + centre + shift. */
typedef struct rigid {
    kiln_mat3 rotation;
    kiln_vec3 centre, shift;
    double angle;
} rigid;

static kiln_status rigid_at(const kiln_motion *motion, double time, rigid *out, kiln_error *error)
{
    *out = (rigid){.rotation = kiln_m3_identity()};
    kiln_circumstances at = {.time = time};
    if (motion->kind == KILN_MOTION_TRANSLATE || motion->kind == KILN_MOTION_ROTATE)
        KILN_TRY(get_vector(&motion->shift, &at, &out->shift, error));
    if (motion->kind == KILN_MOTION_ROTATE) {
        KILN_TRY(kiln_quantity_get(&motion->angle, &at, &out->angle, 1, error));
        out->rotation = kiln_m3_rotation(motion->axis, out->angle);
        out->centre = motion->centre;
    }
    return KILN_OK;
}

static kiln_vec3 rigid_apply(const rigid *r, kiln_vec3 p)
{
    return kiln_v3_add(kiln_m3_apply(r->rotation, kiln_v3_sub(p, r->centre)),
                       kiln_v3_add(r->centre, r->shift));
}

static kiln_vec3 rigid_undo(const rigid *r, kiln_vec3 p)
{
    kiln_vec3 q = kiln_v3_sub(kiln_v3_sub(p, r->shift), r->centre);
    return kiln_v3_add(kiln_m3_apply(kiln_m3_transpose(r->rotation), q), r->centre);
}

/* An obstacle that follows a function has its own reference point at that place. */
static kiln_status obstacle_rigid(const kiln_scene_obstacle *obstacle, double time, rigid *out,
                                  kiln_error *error)
{
    KILN_TRY(rigid_at(&obstacle->motion, time, out, error));
    if (obstacle->motion.kind != KILN_MOTION_FOLLOW)
        return KILN_OK;
    kiln_circumstances at = {.time = time, .material = obstacle->shape.point};
    kiln_vec3 place;
    KILN_TRY(get_vector(&obstacle->motion.place, &at, &place, error));
    out->shift = kiln_v3_sub(place, obstacle->shape.point);
    return KILN_OK;
}

/* Velocities are those that carry the obstacle from where it was `h` ago to where it is. */
static kiln_status obstacle_pose(const kiln_scene_obstacle *obstacle, double time, double h,
                                 kiln_pose *pose, kiln_error *error)
{
    rigid now, before;
    KILN_TRY(obstacle_rigid(obstacle, time, &now, error));
    pose->rotation = now.rotation;
    pose->shift = rigid_apply(&now, kiln_v3(0, 0, 0));
    pose->linear = pose->spin = kiln_v3(0, 0, 0);
    if (h <= 0.0)
        return KILN_OK;
    KILN_TRY(obstacle_rigid(obstacle, time - h, &before, error));
    kiln_vec3 slide = kiln_v3_scale(kiln_v3_sub(now.shift, before.shift), 1.0 / h);
    if (obstacle->motion.kind == KILN_MOTION_ROTATE)
        pose->spin =
            kiln_v3_scale(kiln_v3_normalize(obstacle->motion.axis), (now.angle - before.angle) / h);
    kiln_vec3 arm = kiln_v3_sub(pose->shift, kiln_v3_add(now.centre, now.shift));
    pose->linear = kiln_v3_add(slide, kiln_v3_cross(pose->spin, arm));
    return KILN_OK;
}

kiln_status kiln_world_set_poses(kiln_world *world, double time, double h, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->obstacles.count; i++) {
        const kiln_scene_obstacle *obstacle = &scene->obstacles.data[i];
        kiln_pose pose;
        KILN_TRY(kiln_said_wrap(scene, &obstacle->said,
                                obstacle_pose(obstacle, time, h, &pose, error), error));
        kiln_obstacle_set_pose(world->obstacles[i], &pose);
    }
    return KILN_OK;
}

/* Directions in which one vertex is held, orthonormal, and the coordinates it is sent to along
 * them. */
typedef struct grip {
    int count;
    kiln_vec3 axis[3];
    double place[3];
} grip;

static kiln_vec3 row_of(const kiln_mat3 *m, int row)
{
    return kiln_v3(m->m[row][0], m->m[row][1], m->m[row][2]);
}

static kiln_mat3 axes_of(const kiln_scene_hold *hold)
{
    return kiln_m3_norm2(hold->axes) > 0.0 ? hold->axes : kiln_m3_identity();
}

/* Where the frame of a row is or would be. */
static size_t frame_place(const kiln_constraints *c, uint32_t row, bool *found)
{
    size_t low = 0, high = c->frames.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->frames.data[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < c->frames.count && c->frames.data[low].row == row;
    return low;
}

static grip read_grip(const kiln_constraints *c, uint32_t row)
{
    bool found;
    size_t place = frame_place(c, row, &found);
    kiln_mat3 axes = found ? c->frames.data[place].axes : kiln_m3_identity();
    grip g = {0};
    for (int k = 0; k < 3; k++)
        if (c->held[row] >> k & 1) {
            g.axis[g.count] = row_of(&axes, k);
            g.place[g.count++] = kiln_v3_dot(row_of(&axes, k), c->target[row]);
        }
    return g;
}

/* Adds a direction; false when it depends on those there are and asks for another place. */
static bool grip_add(grip *g, kiln_vec3 axis, double place, double tolerance)
{
    double rest = place;
    for (int k = 0; k < g->count; k++) {
        double along = kiln_v3_dot(axis, g->axis[k]);
        axis = kiln_v3_madd(axis, -along, g->axis[k]);
        rest -= along * g->place[k];
    }
    double length = kiln_v3_norm(axis);
    if (g->count == 3 || length < 1e-6)
        return fabs(rest) <= tolerance;
    g->axis[g->count] = kiln_v3_scale(axis, 1.0 / length);
    g->place[g->count++] = rest / length;
    return true;
}

static kiln_vec3 any_normal(kiln_vec3 n)
{
    kiln_vec3 e = fabs(n.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
    return kiln_v3_normalize(kiln_v3_cross(n, e));
}

static kiln_status write_frame(kiln_constraints *c, uint32_t row, const kiln_mat3 *axes,
                               kiln_error *error)
{
    bool found;
    size_t place = frame_place(c, row, &found);
    if (!found) {
        kiln_constraint_frame none = {.row = row};
        KILN_TRY(kiln_array_push(c->context, &c->frames, none, error));
        memmove(c->frames.data + place + 1, c->frames.data + place,
                (c->frames.count - 1 - place) * sizeof none);
    }
    c->frames.data[place] = (kiln_constraint_frame){row, *axes};
    return KILN_OK;
}

static void drop_frame(kiln_constraints *c, uint32_t row)
{
    bool found;
    size_t place = frame_place(c, row, &found);
    if (!found)
        return;
    memmove(c->frames.data + place, c->frames.data + place + 1,
            (c->frames.count - 1 - place) * sizeof *c->frames.data);
    c->frames.count--;
}

static kiln_status write_grip(kiln_constraints *c, uint32_t row, const grip *g, kiln_error *error)
{
    kiln_vec3 target = {0, 0, 0}, a = g->axis[0];
    for (int k = 0; k < g->count; k++)
        target = kiln_v3_madd(target, g->place[k], g->axis[k]);
    c->target[row] = target;
    c->held[row] = (uint8_t)((1 << g->count) - 1);
    if (g->count == 3) {
        drop_frame(c, row);
        return KILN_OK;
    }
    kiln_vec3 b = g->count > 1 ? g->axis[1] : any_normal(a);
    kiln_mat3 axes = kiln_m3_transpose(kiln_m3_columns(a, b, kiln_v3_cross(a, b)));
    return write_frame(c, row, &axes, error);
}

/* Holds `components` of a row along `axes` at `target`. The plain case, world axes and none held
 * yet, needs no frame. */
static kiln_status hold_row(kiln_constraints *c, uint32_t row, int components,
                            const kiln_mat3 *axes, bool plain, kiln_vec3 target, double tolerance,
                            bool *agrees, kiln_error *error)
{
    *agrees = true;
    if (plain && (!c->held[row] || components == 7)) {
        kiln_vec3 gap = kiln_v3_sub(target, c->target[row]);
        bool found = false;
        if (c->held[row])
            frame_place(c, row, &found);
        if (!c->held[row] || (c->held[row] == 7 && !found)) {
            *agrees = !c->held[row] || kiln_v3_norm(gap) <= tolerance;
            c->held[row] |= (uint8_t)components;
            c->target[row] = target;
            return KILN_OK;
        }
    }
    grip g = read_grip(c, row);
    for (int k = 0; k < 3; k++)
        if (components >> k & 1) {
            kiln_vec3 axis = row_of(axes, k);
            *agrees = grip_add(&g, axis, kiln_v3_dot(axis, target), tolerance) && *agrees;
        }
    return write_grip(c, row, &g, error);
}

typedef struct hold_frame {
    rigid move;       /* since the world began, or of the obstacle to follow */
    rigid at_catch;   /* of the obstacle, when the vertices were caught */
    bool by_function; /* each vertex asks for its place */
} hold_frame;

static kiln_status hold_motion(const kiln_world *world, const kiln_scene_hold *hold, double time,
                               hold_frame *out, kiln_error *error)
{
    *out = (hold_frame){.by_function = false};
    if (hold->motion.kind != KILN_MOTION_FOLLOW)
        return rigid_at(&hold->motion, time, &out->move, error);
    out->by_function = hold->motion.obstacle < 0;
    if (out->by_function)
        return KILN_OK;
    const kiln_scene_obstacle *leader = &world->scene->obstacles.data[hold->motion.obstacle];
    KILN_TRY(obstacle_rigid(leader, time, &out->move, error));
    return obstacle_rigid(leader, hold->from > 0.0 ? hold->from : 0.0, &out->at_catch, error);
}

static kiln_status hold_target(const kiln_world *world, const kiln_scene_hold *hold,
                               const hold_frame *frame, double time, uint32_t vertex,
                               kiln_vec3 origin, kiln_vec3 *target, kiln_error *error)
{
    if (frame->by_function) {
        kiln_circumstances at = {
            .time = time, .material = starts_of(world)[vertex], .world = origin};
        return get_vector(&hold->motion.place, &at, target, error);
    }
    if (hold->motion.kind == KILN_MOTION_FOLLOW)
        origin = rigid_undo(&frame->at_catch, origin);
    *target = rigid_apply(&frame->move, origin);
    return KILN_OK;
}

static kiln_status contradiction(const kiln_world *world, size_t row, uint32_t vertex, double time,
                                 kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    const kiln_scene_hold *hold = &scene->holds.data[row];
    const char *other = "another hold";
    for (size_t i = 0; i < row; i++) {
        const kiln_u32_array *set = &world->holds[i].vertices;
        for (size_t k = 0; k < set->count; k++)
            if (set->data[k] == vertex)
                other = scene->holds.data[i].said.path[0] ? scene->holds.data[i].said.path : other;
    }
    kiln_vec3 u = world->mesh->u[vertex];
    return kiln_said_fail(scene, &hold->said, error,
                          "contradicts %s: at %g s both hold the vertex at (%g, %g, %g), in the "
                          "same direction, at different places",
                          other, time, u.x, u.y, u.z);
}

/* `share` of the way from where the vertices were caught to where they are sent. */
static kiln_status set_hold(const kiln_world *world, size_t row, double time, double share,
                            kiln_constraints *c, kiln_error *error)
{
    const kiln_scene_hold *hold = &world->scene->holds.data[row];
    const kiln_world_hold *set = &world->holds[row];
    const kiln_vec3 *origins =
        (const kiln_vec3 *)kiln_mesh_field(world->mesh, KILN_ON_VERTEX, set->origin)->data;
    bool plain = !(kiln_m3_norm2(hold->axes) > 0.0);
    kiln_mat3 axes = axes_of(hold);
    hold_frame frame;
    KILN_TRY(hold_motion(world, hold, time, &frame, error));
    for (size_t i = 0; i < set->vertices.count; i++) {
        uint32_t v = set->vertices.data[i];
        kiln_vec3 origin = origins[v], target;
        KILN_TRY(hold_target(world, hold, &frame, time, v, origin, &target, error));
        if (share != 1.0)
            target = kiln_v3_lerp(origin, target, share);
        bool agrees;
        KILN_TRY(hold_row(c, v, hold->components, &axes, plain, target, 1e-9 * world->size, &agrees,
                          error));
        if (!agrees)
            return contradiction(world, row, v, time, error);
    }
    return KILN_OK;
}

/* All vertices, not only those of the hold: new ones are interpolated from both. */
void kiln_world_note_places(const kiln_world *world, const char *field)
{
    const kiln_mesh *mesh = world->mesh;
    memcpy(kiln_mesh_field(mesh, KILN_ON_VERTEX, field)->data, mesh->x,
           mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->x);
}

/* What the velocity field leads keeps the field's own velocity, not the mean of the last step. What
 * the forces do is another matter than what the field did, so the integrator starts anew. */
static kiln_status release_field(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *starts = starts_of(world);
    kiln_vec3 *velocity = (kiln_vec3 *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_circumstances at = {
            .time = world->state.clock.time, .material = starts[v], .world = mesh->x[v]};
        if (kiln_vertex_live(mesh, v))
            KILN_TRY(get_vector(&world->scene->velocity_field, &at, &velocity[v], error));
    }
    world->state.clock.h_before = 0.0;
    return KILN_OK;
}

kiln_status kiln_world_catch(kiln_world *world, kiln_error *error)
{
    double moment = kiln_world_moment(world), now = world->state.clock.time;
    for (size_t i = 0; i < world->scene->holds.count; i++)
        if (world->holds[i].late && fabs(now - world->scene->holds.data[i].from) <= moment)
            kiln_world_note_places(world, world->holds[i].origin);
    if (world->scene->has_velocity_field && fabs(now - world->scene->velocity_until) <= moment)
        KILN_TRY(release_field(world, error));
    return kiln_world_release_sets(world, error);
}

/* Holds that act from the start, tried at times spread over the run. What begins later is compared
 * when it begins, because where it catches its vertices is not known before. */
kiln_status kiln_world_check_holds(kiln_world *world, kiln_error *error)
{
    enum { SAMPLES = 16 };
    const kiln_scene *scene = world->scene;
    if (scene->holds.count < 2)
        return KILN_OK;
    kiln_constraints c;
    kiln_constraints_init(&c, world->context);
    kiln_status status = KILN_OK;
    for (int s = 0; s <= SAMPLES && status == KILN_OK; s++) {
        double time = scene->duration * s / SAMPLES;
        status = kiln_constraints_reset(&c, world->mesh->table[KILN_ON_VERTEX].used, error);
        for (size_t i = 0; i < scene->holds.count && status == KILN_OK; i++) {
            const kiln_scene_hold *hold = &scene->holds.data[i];
            if (!world->holds[i].late && time <= hold->until)
                status = kiln_said_wrap(scene, &hold->said,
                                        set_hold(world, i, time, 1.0, &c, error), error);
        }
    }
    kiln_constraints_free(&c);
    return status;
}

static kiln_vec3 face_centre(const kiln_mesh *mesh, uint32_t face, const kiln_vec3 *positions)
{
    uint32_t at = mesh->face[face].at;
    const uint32_t *v = mesh->tet[at / 4].v;
    const uint8_t *corner = kiln_face_corner[at % 4];
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(positions[v[corner[0]]], positions[v[corner[1]]]),
                                positions[v[corner[2]]]);
    return kiln_v3_scale(sum, 1.0 / 3.0);
}

static kiln_vec3 tet_centre(const kiln_mesh *mesh, uint32_t tet, const kiln_vec3 *positions)
{
    const uint32_t *v = mesh->tet[tet].v;
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(positions[v[0]], positions[v[1]]),
                                kiln_v3_add(positions[v[2]], positions[v[3]]));
    return kiln_v3_scale(sum, 0.25);
}

static kiln_status load_vertex(const kiln_world *world, size_t row, uint32_t vertex, double time,
                               double share, kiln_loads *loads, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_load *load = &world->scene->loads.data[row];
    kiln_circumstances at = {
        .time = time, .material = starts_of(world)[vertex], .world = mesh->x[vertex]};
    kiln_vec3 amount;
    KILN_TRY(get_vector(&load->amount, &at, &amount, error));
    kiln_loads_add_force(loads, vertex, kiln_v3_scale(amount, share));
    return KILN_OK;
}

static kiln_status load_face(const kiln_world *world, size_t row, uint32_t face, double time,
                             double share, kiln_loads *loads, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_load *load = &world->scene->loads.data[row];
    kiln_circumstances at = {.time = time};
    if (load->amount.evaluate) {
        at.material = face_centre(mesh, face, starts_of(world));
        at.world = face_centre(mesh, face, mesh->x);
    }
    double amount[3];
    bool pressure = load->kind == KILN_LOAD_PRESSURE;
    KILN_TRY(kiln_quantity_get(&load->amount, &at, amount, pressure ? 1 : 3, error));
    if (pressure)
        return kiln_loads_add_pressure(loads, face, share * amount[0], error);
    kiln_loads_add_traction(loads, face,
                            kiln_v3_scale(kiln_v3(amount[0], amount[1], amount[2]), share),
                            KILN_SPACE_MATERIAL);
    return KILN_OK;
}

static kiln_status load_tet(const kiln_world *world, size_t row, uint32_t tet, double time,
                            double share, kiln_loads *loads, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_load *load = &world->scene->loads.data[row];
    const kiln_field *volume = kiln_mesh_field(mesh, KILN_ON_TET, world->loads[row].amount);
    kiln_circumstances at = {.time = time};
    if (load->amount.evaluate) {
        at.material = tet_centre(mesh, tet, starts_of(world));
        at.world = tet_centre(mesh, tet, mesh->x);
    }
    kiln_vec3 amount;
    KILN_TRY(get_vector(&load->amount, &at, &amount, error));
    kiln_vec3 force = kiln_v3_scale(amount, 0.25 * share * kiln_field_value(volume, tet, 0));
    for (int k = 0; k < 4; k++)
        kiln_loads_add_force(loads, mesh->tet[tet].v[k], force);
    return KILN_OK;
}

/* The dead force of a traction is that of the start: where material faces have since changed, it is
 * shared by their area of now, and its sum stays. */
static kiln_status set_load(kiln_world *world, size_t row, double time, double share,
                            kiln_loads *loads, kiln_error *error)
{
    static kiln_status (*const act[])(const kiln_world *, size_t, uint32_t, double, double,
                                      kiln_loads *,
                                      kiln_error *) = {[KILN_LOAD_FORCE] = load_vertex,
                                                       [KILN_LOAD_TRACTION] = load_face,
                                                       [KILN_LOAD_PRESSURE] = load_face,
                                                       [KILN_LOAD_BODY] = load_tet};
    kiln_load_kind kind = world->scene->loads.data[row].kind;
    const kiln_u32_array *rows = &world->loads[row].rows;
    if (kind == KILN_LOAD_FORCE)
        share /= (double)rows->count;
    if (kind == KILN_LOAD_TRACTION)
        share *= world->loads[row].area / kiln_world_load_area(world, row);
    for (size_t i = 0; i < rows->count; i++)
        KILN_TRY(act[kind](world, row, rows->data[i], time, share, loads, error));
    return KILN_OK;
}

/* Every vertex is carried along the field by one Runge-Kutta step of fourth order. */
static kiln_status follow_field(kiln_world *world, double begin, double end, kiln_constraints *c,
                                kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *starts = starts_of(world);
    double h = end - begin;
    static const double ahead[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1, 2, 2, 1};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        kiln_vec3 sum = {0, 0, 0}, k = {0, 0, 0};
        for (int stage = 0; stage < 4; stage++) {
            kiln_circumstances at = {.time = begin + ahead[stage] * h, .material = starts[v]};
            at.world = kiln_v3_madd(mesh->x[v], ahead[stage] * h, k);
            KILN_TRY(get_vector(&world->scene->velocity_field, &at, &k, error));
            sum = kiln_v3_madd(sum, weight[stage], k);
        }
        c->held[v] = 7;
        c->target[v] = kiln_v3_madd(mesh->x[v], h / 6.0, sum);
    }
    return KILN_OK;
}

/* Frobenius norm of the rate of deformation sym(grad v) at the begin of the step. */
static double strain_rate(const kiln_mesh *mesh, uint32_t tet, const kiln_vec3 *velocity)
{
    const uint32_t *n = mesh->tet[tet].v;
    const kiln_vec3 *x = mesh->x, *v = velocity;
    kiln_mat3 dx = kiln_m3_columns(kiln_v3_sub(x[n[1]], x[n[0]]), kiln_v3_sub(x[n[2]], x[n[0]]),
                                   kiln_v3_sub(x[n[3]], x[n[0]]));
    kiln_mat3 dv = kiln_m3_columns(kiln_v3_sub(v[n[1]], v[n[0]]), kiln_v3_sub(v[n[2]], v[n[0]]),
                                   kiln_v3_sub(v[n[3]], v[n[0]]));
    if (kiln_m3_det(dx) == 0.0)
        return 0.0;
    kiln_mat3 gradient = kiln_m3_mul(dv, kiln_m3_inverse(dx));
    kiln_mat3 rate = kiln_m3_scale(kiln_m3_add(gradient, kiln_m3_transpose(gradient)), 0.5);
    return sqrt(kiln_m3_norm2(rate));
}

kiln_circumstances kiln_world_circumstances(const kiln_world *world, uint32_t t, const kiln_vec3 *v)
{
    const kiln_mesh *mesh = world->mesh;
    return (kiln_circumstances){.time = world->state.clock.time,
                                .material = tet_centre(mesh, t, starts_of(world)),
                                .world = tet_centre(mesh, t, mesh->x),
                                .strain_rate = v ? strain_rate(mesh, t, v) : 0.0};
}

static kiln_status set_gravity(kiln_world *world, double time, double share, kiln_error *error)
{
    kiln_circumstances at = {.time = time};
    kiln_vec3 gravity;
    KILN_TRY(get_vector(&world->scene->gravity, &at, &gravity, error));
    if (kiln_v3_norm2(gravity) > 0.0)
        kiln_loads_add_acceleration(kiln_solid_loads(world->solid), kiln_solid_mass(world->solid),
                                    kiln_v3_scale(gravity, share));
    return KILN_OK;
}

/* Static solves go from the last equilibrium to the next: time runs with `load`, and the first one
 * also lets dead loads and the ways of the holds grow from nothing. */
static kiln_status drive(void *self, kiln_solid *solid, double end, double load, kiln_error *error)
{
    kiln_world *world = self;
    const kiln_scene *scene = world->scene;
    double begin = world->step_begin, time = begin + load * (end - begin);
    if (load == 1.0)
        time = end;
    double share = world->first ? load : 1.0;
    if (scene->has_velocity_field && acts(world, 0.0, scene->velocity_until, begin, end))
        return follow_field(world, begin, end, kiln_solid_constraints(solid), error);
    if (world->varies)
        KILN_TRY(kiln_world_vary(world, time, error));
    for (size_t i = 0; i < scene->holds.count; i++) {
        const kiln_scene_hold *hold = &scene->holds.data[i];
        if (acts(world, hold->from, hold->until, begin, end))
            KILN_TRY(kiln_said_wrap(
                scene, &hold->said,
                set_hold(world, i, time, share, kiln_solid_constraints(solid), error), error));
    }
    for (size_t i = 0; i < scene->loads.count; i++) {
        const kiln_scene_load *row = &scene->loads.data[i];
        if (acts(world, row->from, row->until, begin, end))
            KILN_TRY(kiln_said_wrap(scene, &row->said,
                                    set_load(world, i, time, share, kiln_solid_loads(solid), error),
                                    error));
    }
    KILN_TRY(set_gravity(world, time, share, error));
    return kiln_world_set_poses(world, time, time - begin, error);
}

kiln_driver kiln_world_driver(kiln_world *world)
{
    return (kiln_driver){world, drive};
}
