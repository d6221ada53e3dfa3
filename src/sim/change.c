#include "sim/change.h"

#include "sim/motion.h"
#include "sim/pairs.h"
#include "sim/sets.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RULE "; 'kiln run --help' says what may change in a run that goes on"

/* "file:line: path: message; where to read more". */
static kiln_status refuse(const kiln_world *after, const kiln_said *said, kiln_error *error,
                          const char *format, ...) KILN_PRINTF(4, 5);

static kiln_status refuse(const kiln_world *after, const kiln_said *said, kiln_error *error,
                          const char *format, ...)
{
    char message[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return kiln_said_fail(after->scene, said, error, "%s" RULE, message);
}

static kiln_status check_count(const kiln_world *after, const char *list, size_t before, size_t now,
                               kiln_error *error)
{
    kiln_said said = {.line = 0};
    snprintf(said.path, sizeof said.path, "%s", list);
    return before == now
               ? KILN_OK
               : refuse(after, &said, error, "there were %zu, now there are %zu", before, now);
}

static kiln_status check_name(const kiln_world *after, const kiln_said *said, const char *before,
                              const char *now, kiln_error *error)
{
    return strcmp(before, now) == 0
               ? KILN_OK
               : refuse(after, said, error, "was called '%s', not '%s'", before, now);
}

/* Bit by bit; arrays of one type. */
#define SAME_ARRAY(a, b)                                                                           \
    ((a).count == (b).count &&                                                                     \
     ((a).count == 0 || memcmp((a).data, (b).data, (a).count * sizeof *(a).data) == 0))

static bool same_soup(const kiln_soup *a, const kiln_soup *b)
{
    return SAME_ARRAY(a->points, b->points) && SAME_ARRAY(a->tets, b->tets) &&
           SAME_ARRAY(a->triangles, b->triangles) && SAME_ARRAY(a->edges, b->edges) &&
           SAME_ARRAY(a->tet_tags, b->tet_tags) && SAME_ARRAY(a->triangle_tags, b->triangle_tags);
}

static bool same_vector(kiln_vec3 a, kiln_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_shape(const kiln_obstacle_shape *a, const kiln_obstacle_shape *b)
{
    return a->kind == b->kind && a->inside_out == b->inside_out &&
           same_vector(a->point, b->point) && same_vector(a->end, b->end) &&
           same_vector(a->normal, b->normal) && a->radius == b->radius && a->tube == b->tube &&
           same_soup(&a->surface, &b->surface);
}

static double density_of(const kiln_world *world, uint32_t tet)
{
    const kiln_field *field = kiln_mesh_field(world->mesh, KILN_ON_TET, KILN_FIELD_DENSITY);
    uint32_t material = kiln_world_material_of(world->mesh)[tet];
    return field ? kiln_field_value(field, tet, 0) : world->materials[material].density;
}

static kiln_status check_tet(const kiln_world *before, const kiln_world *after, uint32_t t,
                             kiln_error *error)
{
    const kiln_mesh *a = before->mesh, *b = after->mesh;
    const kiln_scene *scene = after->scene;
    const kiln_said *said = &scene->bodies.data[b->parts.data[b->info[t].part].body].said;
    uint32_t material = kiln_world_material_of(b)[t];
    if (a->info[t].region != b->info[t].region || kiln_world_material_of(a)[t] != material)
        return refuse(after, said, error,
                      "its regions, or the materials that its parts are made of, have changed "
                      "places");
    if (density_of(before, t) != density_of(after, t))
        return refuse(after, &scene->materials.data[material].said, error,
                      "density was %g and is %g: mass does not come or go", density_of(before, t),
                      density_of(after, t));
    return KILN_OK;
}

static kiln_status check_vertex(const kiln_world *before, const kiln_world *after, uint32_t v,
                                kiln_error *error)
{
    const kiln_mesh *a = before->mesh, *b = after->mesh;
    const kiln_said *said =
        &after->scene->bodies.data[b->parts.data[b->info[b->vertex[v].tet].part].body].said;
    if (!same_vector(a->u[v], b->u[v]) || !same_vector(a->x[v], b->x[v]))
        return refuse(after, said, error, "began at another place, or in another position");
    if (before->moves && after->moves &&
        memcmp(kiln_world_column(before, KILN_ON_VERTEX, "v") + 3 * (size_t)v,
               kiln_world_column(after, KILN_ON_VERTEX, "v") + 3 * (size_t)v,
               sizeof(kiln_vec3)) != 0)
        return refuse(after, said, error,
                      "began with another velocity or spin, and is past its start");
    return KILN_OK;
}

static kiln_status check_face(const kiln_world *before, const kiln_world *after, uint32_t f,
                              kiln_error *error)
{
    const kiln_mesh *a = before->mesh, *b = after->mesh;
    if (a->face[f].tag == b->face[f].tag)
        return KILN_OK;
    uint32_t part = b->info[b->face[f].at / 4].part;
    return refuse(after, &after->scene->bodies.data[b->parts.data[part].body].said, error,
                  "its patches have changed places");
}

/* Soups first: bodies that are the same make meshes whose rows are. */
static kiln_status check_bodies(const kiln_world *before, const kiln_world *after,
                                kiln_error *error)
{
    const kiln_scene *was = before->scene, *is = after->scene;
    KILN_TRY(check_count(after, "bodies", was->bodies.count, is->bodies.count, error));
    for (size_t i = 0; i < is->bodies.count; i++) {
        const kiln_scene_body *old = &was->bodies.data[i], *now = &is->bodies.data[i];
        KILN_TRY(check_name(after, &now->said, old->name, now->name, error));
        if (!same_soup(&old->mesh, &now->mesh))
            return refuse(after, &now->said, error, "its shape or its place is another");
        if (!same_soup(&old->surface, &now->surface))
            return refuse(after, &now->said, error, "its fine surface is another");
    }
    for (uint32_t t = 0; t < after->mesh->table[KILN_ON_TET].used; t++)
        KILN_TRY(check_tet(before, after, t, error));
    for (uint32_t v = 0; v < after->mesh->table[KILN_ON_VERTEX].used; v++)
        KILN_TRY(check_vertex(before, after, v, error));
    for (uint32_t f = 0; f < after->mesh->table[KILN_ON_FACE].used; f++)
        KILN_TRY(check_face(before, after, f, error));
    return KILN_OK;
}

typedef struct span {
    double from, until;
} span;

/* What lies behind stays, what lies ahead stays ahead. */
static kiln_status check_span(const kiln_world *after, const kiln_said *said, span was, span is,
                              double time, kiln_error *error)
{
    double moment = kiln_world_tolerance(after);
    bool begun = was.from < time - moment || was.from <= 0.0, ended = was.until < time - moment;
    if (begun ? is.from != was.from : is.from < time - moment)
        return refuse(after, said, error,
                      begun ? "began at %g s, and cannot begin at %g s: the run is at %g s"
                            : "was to begin at %g s, and cannot have begun at %g s: the run is at "
                              "%g s",
                      was.from, is.from, time);
    if (ended ? is.until != was.until : is.until < time - moment)
        return refuse(after, said, error,
                      ended ? "ended at %g s, and cannot end at %g s: the run is at %g s"
                            : "acts until %g s, and cannot have ended at %g s: the run is at %g s",
                      was.until, is.until, time);
    return KILN_OK;
}

static kiln_status check_set(const kiln_world *before, const kiln_world *after, size_t set,
                             const kiln_said *said, kiln_error *error)
{
    kiln_boundary *a = kiln_world_module(before, &kiln_module_boundary);
    kiln_boundary *b = kiln_world_module(after, &kiln_module_boundary);
    const kiln_u32_array *old = kiln_set_list(a, set), *now = kiln_set_list(b, set);
    return SAME_ARRAY(*old, *now)
               ? KILN_OK
               : refuse(after, said, error, "selects other matter than it did (%zu rows, were %zu)",
                        now->count, old->count);
}

static kiln_status check_holds(const kiln_world *before, const kiln_world *after, double time,
                               kiln_error *error)
{
    const kiln_scene *was = before->scene, *is = after->scene;
    KILN_TRY(check_count(after, "holds", was->holds.count, is->holds.count, error));
    for (size_t i = 0; i < is->holds.count; i++) {
        const kiln_scene_hold *old = &was->holds.data[i], *now = &is->holds.data[i];
        KILN_TRY(check_name(after, &now->said, old->name, now->name, error));
        KILN_TRY(check_set(before, after, i, &now->said, error));
        KILN_TRY(check_span(after, &now->said, (span){old->from, old->until},
                            (span){now->from, now->until}, time, error));
    }
    return KILN_OK;
}

static kiln_status check_loads(const kiln_world *before, const kiln_world *after, double time,
                               kiln_error *error)
{
    const kiln_scene *was = before->scene, *is = after->scene;
    KILN_TRY(check_count(after, "loads", was->loads.count, is->loads.count, error));
    for (size_t i = 0; i < is->loads.count; i++) {
        const kiln_scene_load *old = &was->loads.data[i], *now = &is->loads.data[i];
        if (old->kind != now->kind)
            return refuse(after, &now->said, error, "was a load of another kind");
        KILN_TRY(check_set(before, after, is->holds.count + i, &now->said, error));
        KILN_TRY(check_span(after, &now->said, (span){old->from, old->until},
                            (span){now->from, now->until}, time, error));
    }
    return KILN_OK;
}

static kiln_status check_obstacles(const kiln_world *before, const kiln_world *after,
                                   kiln_error *error)
{
    const kiln_scene *was = before->scene, *is = after->scene;
    KILN_TRY(check_count(after, "obstacles", was->obstacles.count, is->obstacles.count, error));
    for (size_t i = 0; i < is->obstacles.count; i++) {
        const kiln_scene_obstacle *old = &was->obstacles.data[i], *now = &is->obstacles.data[i];
        KILN_TRY(check_name(after, &now->said, old->name, now->name, error));
        if (!same_shape(&old->shape, &now->shape))
            return refuse(after, &now->said, error,
                          "its shape is another (motion and friction may "
                          "be)");
    }
    return KILN_OK;
}

/* The next probe of a pair of bodies, from `at` on; past the last: NULL. */
static const kiln_scene_probe *next_pair(const kiln_scene *scene, size_t *at)
{
    while (*at < scene->probes.count)
        if (scene->probes.data[(*at)++].with > 0)
            return &scene->probes.data[*at - 1];
    return NULL;
}

/* What bodies did to each other in the step before is part of the state. */
static kiln_status check_pairs(const kiln_world *before, const kiln_world *after, kiln_error *error)
{
    size_t at[2] = {0, 0};
    for (;;) {
        const kiln_scene_probe *old = next_pair(before->scene, &at[0]);
        const kiln_scene_probe *now = next_pair(after->scene, &at[1]);
        const kiln_said said = {.path = "probes"};
        if (!old && !now)
            return KILN_OK;
        if (!old || !now || old->body != now->body || old->with != now->with)
            return refuse(after, now ? &now->said : &said, error,
                          "the pairs of bodies that are looked at (with) must stay the same");
    }
}

/* Kinds of matter and of mesh. */
static kiln_status check_kinds(const kiln_world *before, const kiln_world *after, kiln_error *error)
{
    const kiln_scene *is = after->scene;
    if (before->flows && !after->flows)
        return refuse(after, &is->materials.data[0].said, error,
                      "some material was plastic, and none is now: what has flowed would be lost");
    if (before->remeshes &&
        (before->scene->remesh.method != is->remesh.method || before->space != after->space)) {
        kiln_said said = is->remesh.said;
        if (!said.path[0])
            snprintf(said.path, sizeof said.path, "remesh");
        return refuse(after, &said, error, "method and space are others, and the mesh is theirs");
    }
    return KILN_OK;
}

static kiln_status check_field(const kiln_world *before, const kiln_world *after, double time,
                               kiln_error *error)
{
    const kiln_scene *was = before->scene, *is = after->scene;
    const kiln_said said = {.path = "velocity_until"};
    if (!is->has_velocity_field)
        return KILN_OK;
    span old = {0.0, was->has_velocity_field ? was->velocity_until : INFINITY};
    return check_span(after, &said, old, (span){0.0, is->velocity_until}, time, error);
}

kiln_status kiln_world_check_change(const kiln_world *before, const kiln_world *after, double time,
                                    kiln_error *error)
{
    KILN_TRY(check_bodies(before, after, error));
    KILN_TRY(check_holds(before, after, time, error));
    KILN_TRY(check_loads(before, after, time, error));
    KILN_TRY(check_obstacles(before, after, error));
    KILN_TRY(check_pairs(before, after, error));
    KILN_TRY(check_kinds(before, after, error));
    return check_field(before, after, time, error);
}

bool kiln_change_may_be_zero(const char *field)
{
    /* State of integrators that begin anew, no contact so far, no stiffness asked for so far. */
    static const char *const names[] = {"a",
                                        "x_before",
                                        "v_before",
                                        "contact_with",
                                        "contact_load",
                                        "contact_kept",
                                        "contact_push",
                                        "contact_met",
                                        "wall_took",
                                        "sliding",
                                        KILN_FIELD_NORMAL,
                                        KILN_FIELD_GAP,
                                        KILN_FIELD_SLIP,
                                        KILN_FIELD_LAME};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(field, names[i]) == 0)
            return true;
    return false;
}

/* How far an obstacle is from where it was with the old motion at that time, where the matter is. A
 * function that fails is no place to jump from: it may be what was mended. */
static double jump_of(const kiln_scene_obstacle *old, const kiln_scene_obstacle *now, double time,
                      const kiln_box *matter)
{
    kiln_rigid was, is;
    double most = 0.0;
    if (kiln_motion_of_obstacle(old, time, &was, NULL) != KILN_OK ||
        kiln_motion_of_obstacle(now, time, &is, NULL) != KILN_OK)
        return 0.0;
    for (int k = 0; k < 8; k++) {
        kiln_vec3 p =
            kiln_v3(k & 1 ? matter->low.x : matter->high.x, k & 2 ? matter->low.y : matter->high.y,
                    k & 4 ? matter->low.z : matter->high.z);
        kiln_vec3 to = kiln_rigid_apply(&is, kiln_rigid_undo(&was, p));
        most = fmax(most, kiln_v3_norm(kiln_v3_sub(to, p)));
    }
    return most;
}

/* Shorter steps do not shorten a jump, so a step that fails by it is said to before it does. */
static void tell_jumps(const kiln_world *after, const kiln_scene *before)
{
    const double least = 1e-6; /* of the matter's size */
    const kiln_mesh *mesh = after->mesh;
    const double time = after->state.clock.time;
    kiln_box box = kiln_box_of(mesh->x, mesh->table[KILN_ON_VERTEX].used);
    double size = kiln_v3_norm(kiln_v3_sub(box.high, box.low));
    for (size_t i = 0; i < after->scene->obstacles.count; i++) {
        const kiln_scene_obstacle *now = &after->scene->obstacles.data[i];
        double jump = jump_of(&before->obstacles.data[i], now, time, &box);
        if (jump > least * size)
            kiln_log(after->context, KILN_LOG_WARNING,
                     "%s:%d: %s: its new motion has it %.3g m from where it was at %.6g s, and it "
                     "jumps there in the first step; should that fail, let the motion begin where "
                     "the old one was",
                     after->scene->file, now->said.line, now->said.path, jump, time);
    }
}

/* Whether bodies see each other that did not. */
static kiln_status look_for_meetings(const kiln_world *after, const kiln_scene *before, bool *more,
                                     kiln_error *error)
{
    const kiln_scene_contact *was = &before->contact, *is = &after->scene->contact;
    kiln_pairs pairs;
    *more = (is->bodies && !was->bodies) || (is->self && !was->self);
    KILN_TRY(kiln_pairs_build(&pairs, before, error));
    const kiln_pair_table *old = kiln_pairs_table(&pairs), *now = after->options.contact.pairs;
    uint32_t count = old ? (uint32_t)before->bodies.count : 0;
    for (uint32_t a = 0; a < count && !*more; a++)
        for (uint32_t b = a; b < count && !*more; b++)
            *more = (a == b ? is->self : is->bodies) && !kiln_bodies_meet(old, a, b) &&
                    kiln_bodies_meet(now, a, b);
    kiln_pairs_free(&pairs, before->context);
    return KILN_OK;
}

kiln_status kiln_world_take_change(kiln_world *after, const kiln_scene *before, kiln_error *error)
{
    const kiln_scene *is = after->scene;
    kiln_world_state *state = &after->state;
    const kiln_pace_limits *was = &before->pace, *pace = &is->pace;
    if (was->dt != pace->dt || was->dt_min != pace->dt_min || was->patience != pace->patience)
        kiln_pace_init(&state->pace, pace);
    if (before->solid.integrator != is->solid.integrator)
        state->clock.h_before = 0.0;
    KILN_TRY(kiln_world_check_now(after, error));
    tell_jumps(after, before);
    bool more;
    KILN_TRY(look_for_meetings(after, before, &more, error));
    return more ? kiln_world_check_surfaces(after, error) : KILN_OK;
}
