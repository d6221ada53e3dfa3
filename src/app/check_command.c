#include "app/command.h"
#include "io/json.h"
#include "io/scene.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const load_names[] = {"force", "traction", "pressure", "body",
                                         "heat",  "flux",     "film",     "temperature"};
static const char *const load_items[] = {"vertices", "faces", "faces", "tets",
                                         "tets",     "faces", "faces", "vertices"};
static const char *const norm_names[] = {"frobenius", "mises"};
static const char *const law_names[] = {"work", "stress"};
static const char *const method_names[] = {"none", "local", "global", "energy"};
static const char *const motion_names[] = {"still", "translate", "rotate", "follow"};

typedef struct checked {
    const kiln_scene *scene;
    const kiln_world *world;
    const kiln_mesh *mesh;
    const char *params;
    const uint32_t *regions; /* [body] */
    kiln_contact_sizes sizes;
} checked;

/* Steps of the wanted length, cut where frames are due. */
static double count_steps(const kiln_scene *scene)
{
    double frame = scene->output.frame, dt = scene->pace.dt, whole = scene->duration;
    if (!(frame > 0.0) || frame >= whole)
        return ceil(whole / dt - 1e-9);
    double frames = floor(whole / frame + 1e-9), rest = whole - frames * frame;
    return frames * ceil(frame / dt - 1e-9) + (rest > 1e-9 * whole ? ceil(rest / dt - 1e-9) : 0.0);
}

static double count_frames(const kiln_scene *scene)
{
    double frame = scene->output.frame, whole = scene->duration;
    return frame > 0.0 && frame < whole ? 1.0 + ceil(whole / frame - 1e-9) : 2.0;
}

/* Different regions among the tets of a body; counting stops at many. */
static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* regions[body] counts those of its tets: all tets by body and region, in order. */
static kiln_status count_regions(const kiln_scene *scene, const kiln_mesh *mesh,
                                 kiln_u32_array *regions, kiln_error *error)
{
    KILN_ARRAY_OF(uint64_t)
    found = {0};
    size_t bodies = scene->bodies.count;
    KILN_TRY(kiln_array_reserve(scene->context, regions, bodies, error));
    memset(regions->data, 0, bodies * sizeof *regions->data);
    KILN_TRY(kiln_array_reserve(scene->context, &found, mesh->table[KILN_ON_TET].live, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_row_live(mesh, KILN_ON_TET, t))
            found.data[found.count++] = (uint64_t)mesh->parts.data[mesh->info[t].part].body << 32 |
                                        (uint32_t)mesh->info[t].region;
    qsort(found.data, found.count, sizeof *found.data, by_value);
    for (size_t i = 0; i < found.count; i++)
        regions->data[found.data[i] >> 32] += i == 0 || found.data[i] != found.data[i - 1];
    kiln_array_free(scene->context, &found);
    return KILN_OK;
}

static const char *material_name(const kiln_scene *scene, uint32_t material)
{
    return scene->materials.data[material].name;
}

static const char *body_name(const kiln_scene *scene, int32_t body)
{
    return body < 0 ? "all bodies" : scene->bodies.data[body].name;
}

/* " from 1 s till 2 s", nothing when it always acts. Returns `buffer`. */
static const char *interval_text(double from, double until, char *buffer, size_t size)
{
    int used = from > 0.0 ? snprintf(buffer, size, ", from %g s", from) : 0;
    buffer[used] = 0;
    if (isfinite(until))
        snprintf(buffer + used, size - (size_t)used, ", till %g s", until);
    return buffer;
}

static const char *components_text(uint8_t components, char buffer[4])
{
    int used = 0;
    for (int k = 0; k < 3; k++)
        if (components >> k & 1)
            buffer[used++] = "xyz"[k];
    buffer[used] = 0;
    return buffer;
}

/* Whether an earlier region, or what no region has, has it. */
static bool is_named(const kiln_scene_body *body, size_t region)
{
    uint32_t material = body->regions.data[region].material;
    bool named = material == body->material;
    for (size_t k = 0; k < region; k++)
        named |= body->regions.data[k].material == material;
    return named;
}

static void print_bodies(const checked *c)
{
    const kiln_scene *s = c->scene;
    puts("bodies");
    for (size_t i = 0; i < s->bodies.count; i++) {
        const kiln_scene_body *body = &s->bodies.data[i];
        size_t regions = c->regions[i];
        printf("  %-16s %zu vertices, %zu tets, %zu region%s: %s", body->name,
               body->mesh.points.count, body->mesh.tets.count, regions, regions == 1 ? "" : "s",
               material_name(s, body->material));
        for (size_t k = 0; k < body->regions.count; k++)
            if (!is_named(body, k))
                printf(", %s", material_name(s, body->regions.data[k].material));
        if (body->surface.triangles.count > 0)
            printf("; carries a surface of %zu triangles", body->surface.triangles.count);
        putchar('\n');
    }
}

static void print_flow(const kiln_scene *s)
{
    bool any = false;
    for (size_t i = 0; i < s->materials.count; i++) {
        const kiln_scene_material *m = &s->materials.data[i];
        const kiln_plastic *p = &m->base.plastic;
        if (!p->flows)
            continue;
        if (!any)
            puts("plastic");
        any = true;
        printf("  %-16s %s norm, ", m->name, norm_names[p->norm]);
        if (m->yield.evaluate)
            printf("yields where a function says, flows ");
        else
            printf("yields at %g Pa, flows ", p->yield);
        if (p->instant)
            printf("at once");
        else if (m->rate.evaluate)
            printf("at a rate that is a function");
        else
            printf("at %g 1/s", p->rate);
        if (m->hardening.evaluate || p->hardening != 0.0)
            printf(", %s by %s", p->hardening < 0.0 ? "softens" : "hardens", law_names[p->law]);
        putchar('\n');
    }
}

static void print_pairs(const kiln_scene_contact *contact)
{
    for (size_t i = 0; i < contact->pairs.count; i++) {
        const kiln_scene_pair *pair = &contact->pairs.data[i];
        printf("  %s and %s: ", pair->a, pair->b);
        if (pair->off)
            puts("do not see each other");
        else if (isnan(pair->friction))
            puts("as without a word about them");
        else
            printf("friction %g\n", pair->friction);
    }
}

static void print_evolution(const kiln_scene *s)
{
    const kiln_scene_remesh *r = &s->remesh;
    if (r->method != KILN_REMESH_NONE)
        printf("remesh\n  %s in %s space, quality %g, every %d step%s\n", method_names[r->method],
               r->space == KILN_SPACE_WORLD ? "world" : "material", r->quality, r->every,
               r->every == 1 ? "" : "s");
    if (s->contact.bodies || s->contact.self)
        printf("contact\n  %s%s%s, friction %g\n", s->contact.bodies ? "between bodies" : "",
               s->contact.bodies && s->contact.self ? " and " : "",
               s->contact.self ? "of bodies with themselves" : "", s->contact.friction);
    print_pairs(&s->contact);
}

static const char *preset_text(double said)
{
    return said > 0.0 ? "" : " (preset)";
}

/* What contact measures by, of bodies as of obstacles. */
static void print_sizes(const kiln_scene *s, const kiln_contact_sizes *sizes)
{
    if (sizes->friction_speed == 0.0)
        return;
    if (!s->contact.bodies && !s->contact.self)
        puts("contact with obstacles");
    if (sizes->thickness > 0.0)
        printf("  thickness %.4g m%s\n", sizes->thickness, preset_text(s->contact.thickness));
    if (sizes->stiffest > 0.0)
        printf("  stiffness %g of Young's moduli, %.4g to %.4g Pa\n", s->contact.stiffness,
               sizes->softest, sizes->stiffest);
    printf("  friction sticks below %.4g m/s%s\n", sizes->friction_speed,
           preset_text(s->solid.friction_speed));
}

static void print_gravity(const kiln_quantity *gravity)
{
    const double *g = gravity->constant;
    if (gravity->evaluate)
        puts("gravity\n  a function of time");
    else if (g[0] != 0.0 || g[1] != 0.0 || g[2] != 0.0)
        printf("gravity\n  {%g, %g, %g} m/s^2\n", g[0], g[1], g[2]);
}

static void print_obstacles(const kiln_scene *s)
{
    if (s->obstacles.count > 0)
        puts("obstacles");
    for (size_t i = 0; i < s->obstacles.count; i++) {
        const kiln_scene_obstacle *o = &s->obstacles.data[i];
        printf("  %-16s %s%s, friction %g, %s\n", o->name, kiln_obstacle_name(o->shape.kind),
               o->shape.inside_out ? " inside out" : "", o->friction, motion_names[o->motion.kind]);
    }
}

static void print_holds_and_loads(const checked *c)
{
    const kiln_scene *s = c->scene;
    char text[64], letters[4];
    if (s->holds.count > 0)
        puts("holds");
    for (size_t i = 0; i < s->holds.count; i++) {
        const kiln_scene_hold *h = &s->holds.data[i];
        printf("  %-16s %zu vertices of %s, %s, %s%s\n", h->name[0] ? h->name : h->said.path,
               kiln_world_hold_size(c->world, i), body_name(s, h->body),
               components_text(h->components, letters), motion_names[h->motion.kind],
               interval_text(h->from, h->until, text, sizeof text));
    }
    if (s->loads.count > 0)
        puts("loads");
    for (size_t i = 0; i < s->loads.count; i++) {
        const kiln_scene_load *l = &s->loads.data[i];
        printf("  %-16s %s on %zu %s of %s%s%s\n", l->said.path, load_names[l->kind],
               kiln_world_load_size(c->world, i), load_items[l->kind], body_name(s, l->body),
               l->amount.evaluate ? ", a function" : "",
               interval_text(l->from, l->until, text, sizeof text));
    }
}

static void print_step(const kiln_scene *s)
{
    bool moves = s->solid.integrator != KILN_STATIC;
    printf("step\n  %s", kiln_integrator_name(s->solid.integrator));
    if (moves)
        printf(", dt %g s, not below %g s, %s mass", s->pace.dt, s->pace.dt_min,
               kiln_scene_mass(s) == KILN_MASS_LUMPED ? "lumped" : "consistent");
    printf(", solver %s%s\n", s->solid.solver.backend, s->solid.linearised ? ", linearised" : "");
}

static void print_text(const checked *c)
{
    const kiln_scene *s = c->scene;
    printf("%s: a scene without faults\n", s->name);
    print_bodies(c);
    print_flow(s);
    print_evolution(s);
    print_sizes(s, &c->sizes);
    print_gravity(&s->gravity);
    print_obstacles(s);
    print_holds_and_loads(c);
    print_step(s);
    if (c->params[0])
        printf("params for --set\n  %s\n", c->params);
    if (s->solid.integrator == KILN_STATIC)
        printf("run\n  %g s, %.0f frames, an equilibrium at each\n", s->duration, count_frames(s));
    else
        printf("run\n  %g s in about %.0f steps, %.0f frames\n", s->duration, count_steps(s),
               count_frames(s));
}

static void json_bodies(kiln_json *json, const checked *c)
{
    const kiln_scene *s = c->scene;
    kiln_json_list(json, "bodies");
    for (size_t i = 0; i < s->bodies.count; i++) {
        const kiln_scene_body *body = &s->bodies.data[i];
        kiln_json_object(json, NULL);
        kiln_json_text(json, "name", body->name);
        kiln_json_count(json, "vertices", body->mesh.points.count);
        kiln_json_count(json, "tets", body->mesh.tets.count);
        kiln_json_count(json, "regions", c->regions[i]);
        kiln_json_count(json, "surface", body->surface.triangles.count);
        kiln_json_list(json, "materials");
        kiln_json_text(json, NULL, material_name(s, body->material));
        for (size_t k = 0; k < body->regions.count; k++)
            kiln_json_text(json, NULL, material_name(s, body->regions.data[k].material));
        kiln_json_end(json);
        kiln_json_end(json);
    }
    kiln_json_end(json);
}

static void json_plastic(kiln_json *json, const kiln_scene *s)
{
    kiln_json_list(json, "plastic");
    for (size_t i = 0; i < s->materials.count; i++)
        if (s->materials.data[i].base.plastic.flows)
            kiln_json_text(json, NULL, s->materials.data[i].name);
    kiln_json_end(json);
}

static void json_contact(kiln_json *json, const kiln_contact_sizes *sizes)
{
    if (sizes->friction_speed == 0.0)
        return;
    kiln_json_object(json, "contact");
    kiln_json_number(json, "thickness", sizes->thickness);
    kiln_json_number(json, "friction_speed", sizes->friction_speed);
    kiln_json_number(json, "softest", sizes->softest);
    kiln_json_number(json, "stiffest", sizes->stiffest);
    kiln_json_end(json);
}

static void json_obstacles(kiln_json *json, const kiln_scene *s)
{
    kiln_json_list(json, "obstacles");
    for (size_t i = 0; i < s->obstacles.count; i++) {
        const kiln_scene_obstacle *o = &s->obstacles.data[i];
        kiln_json_object(json, NULL);
        kiln_json_text(json, "name", o->name);
        kiln_json_text(json, "shape", kiln_obstacle_name(o->shape.kind));
        kiln_json_number(json, "friction", o->friction);
        kiln_json_text(json, "motion", motion_names[o->motion.kind]);
        kiln_json_end(json);
    }
    kiln_json_end(json);
}

static void json_times(kiln_json *json, double from, double until)
{
    kiln_json_number(json, "from", from);
    kiln_json_number(json, "till", until); /* null: never */
}

static void json_holds_and_loads(kiln_json *json, const checked *c)
{
    const kiln_scene *s = c->scene;
    char letters[4];
    kiln_json_list(json, "holds");
    for (size_t i = 0; i < s->holds.count; i++) {
        const kiln_scene_hold *h = &s->holds.data[i];
        kiln_json_object(json, NULL);
        kiln_json_text(json, "name", h->name);
        kiln_json_text(json, "body", body_name(s, h->body));
        kiln_json_count(json, "vertices", kiln_world_hold_size(c->world, i));
        kiln_json_text(json, "components", components_text(h->components, letters));
        kiln_json_text(json, "motion", motion_names[h->motion.kind]);
        json_times(json, h->from, h->until);
        kiln_json_end(json);
    }
    kiln_json_end(json);
    kiln_json_list(json, "loads");
    for (size_t i = 0; i < s->loads.count; i++) {
        const kiln_scene_load *l = &s->loads.data[i];
        kiln_json_object(json, NULL);
        kiln_json_text(json, "kind", load_names[l->kind]);
        kiln_json_text(json, "body", body_name(s, l->body));
        kiln_json_count(json, load_items[l->kind], kiln_world_load_size(c->world, i));
        json_times(json, l->from, l->until);
        kiln_json_end(json);
    }
    kiln_json_end(json);
}

static void print_json(const checked *c)
{
    const kiln_scene *s = c->scene;
    kiln_json json = kiln_json_to_stream(stdout);
    kiln_json_object(&json, NULL);
    kiln_json_text(&json, "name", s->name);
    kiln_json_text(&json, "file", s->file);
    kiln_json_number(&json, "duration", s->duration);
    kiln_json_count(&json, "steps", (size_t)count_steps(s));
    kiln_json_count(&json, "frames", (size_t)count_frames(s));
    kiln_json_text(&json, "integrator", kiln_integrator_name(s->solid.integrator));
    kiln_json_number(&json, "dt", s->pace.dt);
    kiln_json_number(&json, "dt_min", s->pace.dt_min);
    kiln_json_text(&json, "solver", s->solid.solver.backend);
    kiln_json_text(&json, "params", c->params);
    kiln_json_text(&json, "remesh", method_names[s->remesh.method]);
    json_bodies(&json, c);
    json_plastic(&json, s);
    json_contact(&json, &c->sizes);
    json_obstacles(&json, s);
    json_holds_and_loads(&json, c);
    kiln_json_end(&json);
}

static kiln_status check_scene(const kiln_scene_file *file, bool json, kiln_error *error)
{
    const kiln_scene *scene = kiln_scene_file_scene(file);
    kiln_world *world;
    kiln_u32_array regions = {0};
    KILN_TRY(kiln_scene_try(scene, error));
    KILN_TRY(kiln_world_create(scene, &world, error));
    kiln_status status = count_regions(scene, kiln_world_mesh(world), &regions, error);
    checked c = {.scene = scene,
                 .world = world,
                 .mesh = kiln_world_mesh(world),
                 .params = kiln_scene_file_params(file),
                 .regions = regions.data,
                 .sizes = kiln_solid_contact_sizes(kiln_world_solid(world))};
    if (status == KILN_OK && json)
        print_json(&c);
    else if (status == KILN_OK)
        print_text(&c);
    kiln_array_free(scene->context, &regions);
    kiln_world_destroy(world);
    return status;
}

/* What the scene prints. */
static void show(void *user, kiln_log_level level, const char *message)
{
    (void)user;
    if (level != KILN_LOG_DEBUG)
        fprintf(stderr, "%s\n", message);
}

static kiln_status check(kiln_context *context, const kiln_arguments *arguments, kiln_error *error)
{
    const char *reference = kiln_arguments_get(arguments, "reference");
    const char *sets[KILN_MAX_GIVEN];
    if (reference)
        KILN_TRY(kiln_scene_write_reference(context, NULL, reference, error));
    if (arguments->operand_count == 0)
        return reference ? KILN_OK
                         : kiln_fail(error, KILN_ERR_INPUT, "check", 0, -1,
                                     "the scene is missing; usage: kiln check %s",
                                     arguments->usage->synopsis);
    context->log = show;
    kiln_scene_options options = {.sets = sets,
                                  .set_count = kiln_arguments_all(arguments, "set", sets)};
    kiln_scene_file *file;
    KILN_TRY(kiln_scene_file_load(context, arguments->operands[0], &options, &file, error));
    kiln_status status = check_scene(file, kiln_arguments_has(arguments, "json"), error);
    if (status == KILN_OK && kiln_arguments_has(arguments, "lua"))
        status = kiln_scene_write_lua(context, arguments->operands[0],
                                      kiln_arguments_get(arguments, "lua"), error);
    kiln_scene_file_destroy(file);
    return status;
}

int kiln_command_check(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"set", 0, "PATH=VALUE", "change the scene first; may be given several times"},
        {"json", 0, NULL, "for scripts"},
        {"lua", 0, "FILE",
         "write the scene as Lua, without --set: what a scene in JSON becomes; one that is Lua "
         "already is copied, and its place is beside it"},
        {"reference", 0, "FILE", "write the reference of the scene language (docs/scene.md)"}};
    static const kiln_usage usage = {
        .command = "check",
        .synopsis = "SCENE.lua|SCENE.json [--set PATH=VALUE]... [--json] [--lua FILE]",
        .what = "Validates a scene, Kiln's or PolyFEM's (JSON), and lists what it would run.",
        .example = "  kiln check jelly.lua --set bodies[1].material.young=2e5\n"
                   "  kiln check ball-wall.json --lua ball-wall.lua\n",
        .own = options,
        .own_count = 4,
        .most_operands = 1};
    return kiln_command_frame(&usage, argc, argv, check);
}
