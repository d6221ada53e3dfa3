/* Whole-domain remeshing inside a run, and bodies that merge by it. */
#include "fem/offset.h"
#include "geom/tet_quality.h"
#include "remesh/surface_union.h"
#include "scenes.h"
#include "sim/keep_energy.h"
#include "sim/world_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* Matter like dough: it flows under nearly any load. */
static void begin(int threads)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, threads);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "dough.lua");
    scene->duration = 2.0;
    scene->pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 1e-6, .patience = 4};
    scene->remesh.method = KILN_REMESH_GLOBAL;
}

static void dough(void)
{
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    scene->materials.data[scene->materials.count - 1].base.plastic =
        (kiln_plastic){.flows = true, .yield = 1e3, .rate = 20.0};
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

static double total(const kiln_mesh *mesh, const char *name)
{
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, name);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        sum += kiln_field_value(field, t, 0);
    return sum;
}

static double worst_quality(const kiln_mesh *mesh)
{
    double worst = 1.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *x = mesh->x;
        worst = fmin(worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    return worst;
}

/* The block's top is drawn along x at a speed of 3 m/s. */
static kiln_status draw(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 3.0 * at->time;
    out[1] = out[2] = 0.0;
    return KILN_OK;
}

static void sheared_block(const char *settings)
{
    dough();
    scene_body(scene, "box", settings);
    scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -1e-9), kiln_v3(9, 9, 1e-9)), 7);
    kiln_scene_hold *top =
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, 1 - 1e-9), kiln_v3(9, 9, 9)), 7);
    top->motion.kind = KILN_MOTION_TRANSLATE;
    top->motion.shift = (kiln_quantity){.evaluate = draw, .self = scene};
}

/* The step before which no merge is looked for: the third word that the module keeps. */
static uint64_t merge_from(kiln_world *world)
{
    const char *name = "";
    for (size_t row = 0; name; row++) {
        size_t size;
        const uint64_t *words = kiln_world_module_state(world, row, &name, &size);
        if (name && strcmp(name, "remesh_domain") == 0)
            return words[2];
    }
    return 0;
}

START_TEST(a_sheared_block_is_remeshed_and_keeps_its_matter)
{
    begin(2);
    sheared_block("nx=4 ny=4 nz=4");
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    double rest = total(mesh, KILN_FIELD_REST_VOLUME), mass = total(mesh, KILN_FIELD_MASS);
    double energy = INFINITY;
    uint64_t remeshes = 0;
    for (int i = 0; i < 60; i++) {
        kiln_stats stats = scene_step(world, scene->duration);
        if (kiln_world_remeshes(world) > remeshes) {
            ck_assert_double_ge(worst_quality(mesh), 0.15);
            kiln_test_audit(mesh);
            /* Rest shapes are smeared a little, but nothing is wound up by it. */
            ck_assert_double_lt(kiln_solid_elastic_energy(kiln_world_solid(world), &mesh->x[0].x),
                                1.1 * energy);
        }
        remeshes = kiln_world_remeshes(world);
        energy = stats.e_elastic;
        ck_assert_double_eq_tol(total(mesh, KILN_FIELD_REST_VOLUME), rest, 1e-12 * rest);
        ck_assert_double_eq_tol(total(mesh, KILN_FIELD_MASS), mass, 1e-12 * mass);
        ck_assert(kiln_mesh_spaces_agree(mesh));
    }
    ck_assert_uint_ge(remeshes, 2);
    ck_assert_uint_lt(remeshes, 20);
    end(world);
}
END_TEST

static void leave_at_a_remesh(void *user, kiln_log_level level, const char *message)
{
    (void)user, (void)level;
    if (strncmp(message, "whole-domain remesh", 19) == 0)
        kiln_context_abandon(context);
}

/* A pass that is to stop ends early and finds a worse mesh: what it decides is not to last. */
START_TEST(a_step_that_is_abandoned_while_it_remeshes_is_none)
{
    begin(1);
    sheared_block("nx=3 ny=3 nz=3");
    context->log = leave_at_a_remesh;
    kiln_world *world = scene_world(scene);
    kiln_status status = KILN_OK;
    for (int i = 0; i < 60 && status == KILN_OK; i++) {
        kiln_stats stats;
        kiln_diagnosis diagnosis;
        bool gave_up;
        uint64_t before = kiln_mesh_hash(kiln_world_mesh(world));
        status = kiln_world_step(world, scene->duration, &stats, &gave_up, &diagnosis, NULL);
        if (status != KILN_OK)
            ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), before);
    }
    ck_assert_int_eq(status, KILN_ERR_STATE);
    ck_assert_uint_eq(kiln_world_remeshes(world), 0);
    end(world);
}
END_TEST

/* A ball at x that flies along x. */
static void ball(double x, double speed)
{
    kiln_scene_body *body = scene_body(scene, "ball", "h=0.5");
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i].x += x;
    body->velocity = kiln_quantity_vector(kiln_v3(speed, 0, 0));
}

static kiln_vec3 momentum(const kiln_stats *stats)
{
    return kiln_v3(stats->px, stats->py, stats->pz);
}

/* Two lumps of dough fly at each other and are one; a rubber ball that comes near stays itself. */
START_TEST(dough_merges_and_rubber_does_not)
{
    begin(2);
    dough();
    ball(-1.2, 2.0);
    ball(1.2, -1.0);
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    ball(-3.15, 2.0);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    double rest = total(mesh, KILN_FIELD_REST_VOLUME), mass = total(mesh, KILN_FIELD_MASS);
    uint32_t tets = mesh->parts.data[2].tets;
    kiln_stats stats = scene_step(world, scene->duration);
    kiln_vec3 before = momentum(&stats);
    ck_assert_uint_eq(mesh->parts.count, 3);
    /* The first remesh may come when only a few faces are near enough, too few to bridge. */
    for (int i = 0; i < 20 && mesh->parts.count == 3; i++)
        stats = scene_step(world, scene->duration);
    ck_assert_uint_le(kiln_world_remeshes(world), 2);
    ck_assert_uint_eq(mesh->parts.count, 2);
    kiln_test_audit(mesh);
    ck_assert_double_ge(worst_quality(mesh), 0.15);
    ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(momentum(&stats), before)), 1e-8 * mass);
    ck_assert_double_eq_tol(total(mesh, KILN_FIELD_REST_VOLUME), rest, 1e-12 * rest);
    ck_assert_double_eq_tol(total(mesh, KILN_FIELD_MASS), mass, 1e-12 * mass);
    uint32_t bodies[2] = {mesh->parts.data[0].body, mesh->parts.data[1].body};
    ck_assert_uint_eq(bodies[0] + bodies[1], 2);
    ck_assert_uint_eq(mesh->parts.data[bodies[0] == 2 ? 0 : 1].tets, tets);
    double energy = stats.e_kinetic + stats.e_elastic;
    for (int i = 0; i < 12; i++) {
        stats = scene_step(world, scene->duration);
        ck_assert_double_lt(stats.e_kinetic + stats.e_elastic, 1.01 * energy);
    }
    end(world);
}
END_TEST

/* Fine surfaces of lumps that became one are one, closed; the other body has none any more. Steps
 * that go on refine it. */
START_TEST(fine_surfaces_of_dough_are_one)
{
    begin(2);
    dough();
    ball(-1.06, 2.0);
    ball(1.06, -1.0);
    for (size_t b = 0; b < 2; b++) {
        kiln_scene_body *body = &scene->bodies.data[b];
        body->surface = kiln_test_soup(context, "ball", "h=0.2");
        body->surface.tets.count = body->surface.tet_tags.count = 0;
        for (size_t i = 0; i < body->surface.points.count; i++)
            body->surface.points.data[i].x += b ? 1.06 : -1.06;
    }
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_soup soup;
    for (int i = 0; i < 20 && mesh->parts.count == 2; i++)
        scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 1);
    for (int i = 0; i < 4; i++) {
        scene_step(world, scene->duration);
        ck_assert_int_eq(kiln_world_surface(world, 1, &soup, NULL), KILN_OK);
        ck_assert_uint_eq(soup.triangles.count, 0);
        ck_assert_int_eq(kiln_world_restore_surface(world, 1, &soup, NULL), KILN_OK);
        kiln_soup_free(&soup);
        ck_assert_int_eq(kiln_world_surface(world, 0, &soup, NULL), KILN_OK);
        kiln_shell shell = {0};
        bool closed;
        shell.triangles.data = soup.triangles.data, shell.triangles.count = soup.triangles.count;
        ck_assert_int_eq(kiln_shell_is_closed(context, &shell, &closed, NULL), KILN_OK);
        ck_assert(closed);
        uint8_t *seen = calloc(soup.points.count, 1);
        size_t vertices = 0;
        for (size_t k = 0; k < 3 * soup.triangles.count; k++) {
            uint32_t v = soup.triangles.data[k / 3].v[k % 3];
            vertices += !seen[v];
            seen[v] = 1;
        }
        free(seen);
        ck_assert_uint_eq(vertices, soup.triangles.count / 2 + 2); /* one sphere: Euler */
        kiln_soup_free(&soup);
    }
    end(world);
}
END_TEST

static void box(double x, double speed)
{
    kiln_scene_body *body = scene_body(scene, "box", "n=4");
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i].x += x;
    body->velocity = kiln_quantity_vector(kiln_v3(speed, 0, 0));
}

/* What is between two flat sides cannot be taken off elsewhere: they come nearer first. Each new
 * mesh has the volume of the old, and no energy comes of it. */
START_TEST(flat_sides_that_merge_bring_nothing)
{
    begin(1);
    dough();
    box(0.0, 0.5);
    box(1.07, -0.5);
    scene->contact.bodies = true;
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double energy = INFINITY;
    for (int i = 0; i < 20 && kiln_world_remeshes(world) == 0; i++) {
        double volume = kiln_mesh_volume(mesh);
        kiln_stats stats = scene_step(world, scene->duration);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 0.005 * volume);
        ck_assert_double_lt(stats.e_kinetic + stats.e_elastic, 1.001 * energy);
        energy = stats.e_kinetic + stats.e_elastic;
    }
    ck_assert_uint_eq(mesh->parts.count, 1);
    ck_assert_double_ge(worst_quality(mesh), 0.15);
    end(world);
}
END_TEST

/* Two doughs of different kinds from files with the same tags are one part with two regions. */
/* The mesher's tets are not as good as those of a ball that was made as one: where these are asked
 * for, bodies keep them, and the next look comes some steps later. */
START_TEST(a_mesh_that_would_be_worse_is_not_taken)
{
    begin(2);
    dough();
    ball(-1.02, 0.0);
    ball(1.02, 0.0);
    scene->remesh.quality = 0.45;
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_world_state *state = kiln_world_get_state(world);
    uint32_t tets = mesh->table[KILN_ON_TET].live;
    ck_assert_double_gt(worst_quality(mesh), scene->remesh.quality);
    scene_step(world, scene->duration);
    ck_assert_uint_gt(merge_from(world), state->step);
    ck_assert_uint_eq(kiln_world_remeshes(world), 0);
    ck_assert_uint_eq(mesh->parts.count, 2);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, tets);
    scene->remesh.quality = 0.15;
    while (state->step <= merge_from(world) && kiln_world_remeshes(world) == 0)
        scene_step(world, scene->duration);
    ck_assert_uint_eq(kiln_world_remeshes(world), 1);
    ck_assert_uint_eq(mesh->parts.count, 1);
    end(world);
}
END_TEST

/* Local remeshing gives the sizes, and what comes near is one all the same. */
START_TEST(sizes_and_merging_go_together)
{
    begin(2);
    dough();
    ball(-1.2, 2.0);
    ball(1.2, -1.0);
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.space = KILN_SPACE_WORLD;
    scene->remesh.size = 0.3;
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    double rest = total(mesh, KILN_FIELD_REST_VOLUME);
    uint32_t tets = mesh->table[KILN_ON_TET].live;
    for (int i = 0; i < 20 && mesh->parts.count == 2; i++)
        scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 1);
    for (int i = 0; i < 3; i++)
        scene_step(world, scene->duration);
    kiln_test_audit(mesh);
    ck_assert_double_ge(worst_quality(mesh), 0.15);
    ck_assert_uint_gt(mesh->table[KILN_ON_TET].live, 3 * tets / 2);
    ck_assert_double_eq_tol(total(mesh, KILN_FIELD_REST_VOLUME), rest, 1e-3 * rest);
    end(world);
}
END_TEST

static double elastic_energy(const kiln_world *world)
{
    return kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x);
}

/* Rest shapes that fit badly flow until there is no more energy than allowed, and no farther. */
START_TEST(what_is_too_much_energy_flows_away)
{
    begin(1);
    dough();
    ball(0.0, 0.0);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_offsets offsets = kiln_offsets_of(mesh);
    uint8_t fresh[4096];
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    ck_assert_uint_le(tets, sizeof fresh);
    for (uint32_t t = 0; t < tets; t++) {
        fresh[t] = t % 5 != 0;
        offsets.shape[t] = (kiln_sym3){.xx = 1.0 + 0.3 * (t % 3), .yy = 1.0, .zz = 0.9, .xy = 0.1};
        offsets.rest_volume[t] *= 1.0 + 0.1 * ((double)(t % 2) - 0.5);
    }
    ck_assert_int_eq(kiln_solid_reform(world->solid, NULL), KILN_OK);
    double all = elastic_energy(world), rest = offsets.rest_volume[0];
    kiln_sym3 kept = offsets.shape[0];
    ck_assert_int_eq(kiln_energy_keep(world, fresh, 2.0 * all, elastic_energy, NULL), KILN_OK);
    ck_assert_double_eq(elastic_energy(world), all);
    ck_assert_int_eq(kiln_energy_keep(world, fresh, 0.6 * all, elastic_energy, NULL), KILN_OK);
    ck_assert_double_le(elastic_energy(world), 0.6 * all);
    ck_assert_double_ge(elastic_energy(world), 0.55 * all);
    ck_assert_double_eq(offsets.rest_volume[0], rest);
    ck_assert_mem_eq(&offsets.shape[0], &kept, sizeof kept);
    end(world);
}
END_TEST

START_TEST(materials_keep_their_own_regions)
{
    begin(1);
    dough();
    ball(-1.02, 1.0);
    dough();
    ball(1.02, -1.0);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    for (int i = 0; i < 5 && kiln_world_remeshes(world) == 0; i++)
        scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 1);
    const kiln_field *material = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL);
    int32_t region[2] = {0, 0};
    size_t count[2] = {0, 0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        int m = (int)kiln_field_value(material, t, 0);
        if (count[m]++ == 0)
            region[m] = mesh->info[t].region;
        ck_assert_int_eq(mesh->info[t].region, region[m]);
    }
    ck_assert_int_ne(region[0], region[1]);
    ck_assert_uint_gt(count[0], 100);
    ck_assert_uint_gt(count[1], 100);
    end(world);
}
END_TEST

/* A slab that is held at its top, and something of dough that comes down on it. */
static void held_slab(const char *shape, const char *settings, kiln_vec3 at, double speed)
{
    dough();
    scene_body(scene, "box", "lx=4 ly=4 lz=1 nx=8 ny=8 nz=2");
    scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, 1 - 1e-9), kiln_v3(9, 9, 1 + 1e-9)), 7)
        ->body = 0;
    kiln_scene_body *body = scene_body(scene, shape, settings);
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i] = kiln_v3_add(body->mesh.points.data[i], at);
    body->velocity = kiln_quantity_vector(kiln_v3(0, 0, -speed));
    scene->contact.bodies = scene->contact.self = true;
    scene->pace.dt = 0.01;
}

/* Faces that are held, and how far off the height of the slab's top they are at most. */
static size_t held_faces(const kiln_mesh *mesh, double *off)
{
    const kiln_field *sets = kiln_mesh_field(mesh, KILN_ON_FACE, KILN_FIELD_SETS);
    size_t count = 0;
    *off = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        if (!((const uint64_t *)(const void *)sets->data)[f])
            continue;
        count++;
        for (int k = 0; k < 3; k++) {
            kiln_vec3 x = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
            *off = fmax(*off, fabs(x.z - 1.0));
        }
    }
    return count;
}

/* Where something has grown on the face there is none any more; the rest of it stays where it is,
 * and nothing is torn to where another body began. */
START_TEST(a_hold_stays_on_what_is_left_of_its_face)
{
    begin(1);
    held_slab("ball", "h=0.5", kiln_v3(2, 2, 2.1), 2.0);
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double off;
    size_t before = held_faces(mesh, &off);
    for (int i = 0; i < 30 && mesh->parts.count == 2; i++)
        scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 1);
    size_t after = held_faces(mesh, &off);
    ck_assert_msg(after > before / 2 && off < 0.15, "%zu of %zu, %g m off", after, before, off);
    for (int i = 0; i < 3; i++) {
        double then = off;
        kiln_stats stats = scene_step(world, scene->duration);
        held_faces(mesh, &off);
        ck_assert_double_eq(stats.rejected, 0.0);
        ck_assert_double_eq_tol(off, then, 1e-9);
    }
    end(world);
}
END_TEST

START_TEST(what_would_leave_nothing_of_a_hold_does_not_merge)
{
    begin(1);
    held_slab("box", "lx=5 ly=5 lz=1 nx=8 ny=8 nz=2", kiln_v3(-0.5, -0.5, 1.06), 0.5);
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double off;
    size_t before = held_faces(mesh, &off);
    for (int i = 0; i < 16; i++)
        scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 2);
    ck_assert_uint_eq(held_faces(mesh, &off), before);
    ck_assert_double_lt(off, 1e-9);
    end(world);
}
END_TEST

/* Where surfaces cross no sides face each other near by. */
START_TEST(bodies_far_into_each_other_are_one)
{
    begin(1);
    dough();
    ball(-0.7, 0.0);
    ball(0.7, 0.0);
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double rest = total(mesh, KILN_FIELD_REST_VOLUME);
    scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 1);
    ck_assert_double_ge(worst_quality(mesh), 0.15);
    ck_assert_double_eq_tol(total(mesh, KILN_FIELD_REST_VOLUME), rest, 1e-12 * rest);
    end(world);
}
END_TEST

static uint32_t tets_of_body(const kiln_mesh *mesh, uint32_t body)
{
    uint32_t tets = 0;
    for (size_t p = 0; p < mesh->parts.count; p++)
        tets += mesh->parts.data[p].body == body ? mesh->parts.data[p].tets : 0;
    return tets;
}

/* Moves a body until its vertex farthest along x is just before the vertex of body 0 that is
 * nearest. */
static void put_before(kiln_mesh *mesh, uint32_t body, double gap)
{
    kiln_vec3 tip[2] = {{INFINITY, 0, 0}, {-INFINITY, 0, 0}};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            uint32_t of = mesh->parts.data[mesh->info[mesh->vertex[v].tet].part].body;
            if (pass == 0 && of == 0 && mesh->x[v].x < tip[0].x)
                tip[0] = mesh->x[v];
            if (pass == 0 && of == body && mesh->x[v].x > tip[1].x)
                tip[1] = mesh->x[v];
            kiln_vec3 way = kiln_v3_sub(tip[0], tip[1]);
            way.x -= gap;
            if (pass == 1 && of == body)
                mesh->u[v] = mesh->x[v] = kiln_v3_add(mesh->x[v], way);
        }
}

/* The new surface of a ball has fewer corners, which are farther out: too far for the rubber that
 * almost touches one. Another ball, far away, need not wait for that. */
START_TEST(who_would_touch_keeps_its_mesh_alone)
{
    begin(1);
    dough();
    ball(0.0, 0.0);
    ball(5.0, 0.0);
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    ball(-4.0, 0.0);
    scene->contact.bodies = true;
    scene->contact.thickness = 1e-6;
    scene->remesh.condition = 1.01;
    scene->remesh.size = 1.0;
    scene->pace.dt = 1e-4;
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    put_before(mesh, 2, 1e-5);
    uint32_t tets[3] = {tets_of_body(mesh, 0), tets_of_body(mesh, 1), tets_of_body(mesh, 2)};
    scene_step(world, scene->duration);
    ck_assert_uint_eq(kiln_world_remeshes(world), 1);
    ck_assert_uint_eq(tets_of_body(mesh, 0), tets[0]);
    ck_assert_uint_ne(tets_of_body(mesh, 1), tets[1]);
    ck_assert_uint_eq(tets_of_body(mesh, 2), tets[2]);
    end(world);
}
END_TEST

/* Balls near enough to be one, whose tets are bad, and a thread of rubber between them, where the
 * neck would be: they get new tets all the same, and stay two. */
START_TEST(what_cannot_merge_has_new_tets_apart)
{
    begin(1);
    dough();
    ball(-1.01, 0.0);
    ball(1.01, 0.0);
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    kiln_scene_body *thread = scene_body(scene, "box", "lx=0.02 ly=0.02 lz=2 nx=1 ny=1 nz=50");
    for (size_t i = 0; i < thread->mesh.points.count; i++) {
        kiln_vec3 *p = &thread->mesh.points.data[i];
        *p = kiln_v3_add(*p, kiln_v3(-0.01, 0.15, -1.0));
    }
    scene->contact.bodies = true;
    scene->contact.thickness = 1e-6;
    scene->remesh.condition = 1.01;
    scene->pace.dt = 1e-4;
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    scene_step(world, scene->duration);
    ck_assert_uint_eq(kiln_world_remeshes(world), 1);
    ck_assert_uint_eq(mesh->parts.count, 3);
    ck_assert_double_ge(worst_quality(mesh), 0.15);
    end(world);
}
END_TEST

typedef struct bump {
    uint32_t vertex;
    double height;    /* over the middle of its neighbours, outwards, m */
    kiln_vec3 normal; /* of unit length */
} bump;

/* Of a vertex of the surface. */
static bump bump_at(const kiln_mesh *mesh, uint32_t vertex)
{
    kiln_vec3 sum = {0, 0, 0}, normal = {0, 0, 0};
    double count = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at, v[3];
        for (int k = 0; k < 3 && kiln_face_live(mesh, f); k++)
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        if (!kiln_face_live(mesh, f) || (v[0] != vertex && v[1] != vertex && v[2] != vertex))
            continue;
        normal = kiln_v3_add(normal, kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                                   kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]])));
        for (int k = 0; k < 3; k++)
            if (v[k] != vertex) {
                sum = kiln_v3_add(sum, kiln_v3_sub(mesh->x[vertex], mesh->x[v[k]]));
                count++;
            }
    }
    normal = kiln_v3_normalize(normal);
    return (bump){vertex, kiln_v3_dot(sum, normal) / count, normal};
}

/* The highest vertex of the surface near a plane across x. */
static uint32_t top_near(const kiln_mesh *mesh, double x)
{
    uint32_t top = KILN_NONE;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->vertex[v].flags & KILN_VERTEX_SURFACE && fabs(mesh->x[v].x - x) < 0.1 &&
            (top == KILN_NONE || mesh->x[v].y > mesh->x[top].y))
            top = v;
    return top;
}

/* Pulls a vertex of the surface out; matter is as dense as before. */
static bump pull_out(kiln_mesh *mesh, uint32_t vertex, double far)
{
    kiln_f64_array dense = {0};
    double *rest = kiln_offsets_of(mesh).rest_volume;
    kiln_error error;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    ck_assert_int_eq(kiln_array_reserve(context, &dense, tets, &error), KILN_OK);
    for (uint32_t t = 0; t < tets; t++)
        dense.data[t] = rest[t] / kiln_mesh_tet_volume(mesh, t);
    mesh->x[vertex] = kiln_v3_madd(mesh->x[vertex], far, bump_at(mesh, vertex).normal);
    mesh->u[vertex] = mesh->x[vertex];
    for (uint32_t t = 0; t < tets; t++)
        rest[t] = dense.data[t] * kiln_mesh_tet_volume(mesh, t);
    kiln_array_free(context, &dense);
    return bump_at(mesh, vertex);
}

static const double PULLED = 0.16;

/* A tooth beside the seam of two balls that fly on as one wears off, one elsewhere stays; nothing
 * else is lost by it. */
START_TEST(seams_are_faired_in_flight)
{
    begin(1);
    dough();
    for (int i = 0; i < 2; i++) {
        kiln_scene_body *body = scene_body(scene, "ball", "h=0.25");
        for (size_t k = 0; k < body->mesh.points.count; k++)
            body->mesh.points.data[k].x += i ? 1.01 : -1.01;
        body->velocity = kiln_quantity_vector(kiln_v3(3, 2, 1));
    }
    scene->contact.bodies = true;
    scene->contact.thickness = 1e-6;
    scene->pace.dt = 1e-3;
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_stats stats = scene_step(world, scene->duration);
    ck_assert_uint_eq(mesh->parts.count, 1);
    bump tooth[2] = {pull_out(mesh, top_near(mesh, 0.4), PULLED),
                     pull_out(mesh, top_near(mesh, 1.6), PULLED)};
    double rest = total(mesh, KILN_FIELD_REST_VOLUME);
    stats = scene_step(world, scene->duration);
    kiln_vec3 before = momentum(&stats);
    double energy = stats.e_kinetic + stats.e_elastic, volume = stats.volume;
    for (int i = 0; i < 30; i++)
        stats = scene_step(world, scene->duration);
    /* What is left is no more than what a surface may turn by. */
    ck_assert_double_lt(bump_at(mesh, tooth[0].vertex).height, tooth[0].height - PULLED / 3);
    ck_assert_double_gt(bump_at(mesh, tooth[1].vertex).height, 0.99 * tooth[1].height);
    ck_assert_double_le(stats.e_kinetic + stats.e_elastic, energy);
    ck_assert_double_gt(stats.e_kinetic + stats.e_elastic, (1.0 - 1e-3) * energy);
    ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(momentum(&stats), before)),
                        1e-9 * kiln_v3_norm(before));
    ck_assert_double_eq_tol(stats.volume, volume, 1e-4 * volume);
    ck_assert_double_eq_tol(total(mesh, KILN_FIELD_REST_VOLUME), rest, 1e-12 * rest);
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("domain");
    TCase *cases = kiln_test_case(suite, "in a run");
    tcase_add_test(cases, a_sheared_block_is_remeshed_and_keeps_its_matter);
    tcase_add_test(cases, a_step_that_is_abandoned_while_it_remeshes_is_none);
    tcase_add_test(cases, flat_sides_that_merge_bring_nothing);
    tcase_add_test(cases, dough_merges_and_rubber_does_not);
    tcase_add_test(cases, fine_surfaces_of_dough_are_one);
    tcase_add_test(cases, a_mesh_that_would_be_worse_is_not_taken);
    tcase_add_test(cases, sizes_and_merging_go_together);
    tcase_add_test(cases, what_is_too_much_energy_flows_away);
    tcase_add_test(cases, materials_keep_their_own_regions);
    tcase_add_test(cases, a_hold_stays_on_what_is_left_of_its_face);
    tcase_add_test(cases, what_would_leave_nothing_of_a_hold_does_not_merge);
    tcase_add_test(cases, bodies_far_into_each_other_are_one);
    tcase_add_test(cases, who_would_touch_keeps_its_mesh_alone);
    tcase_add_test(cases, what_cannot_merge_has_new_tets_apart);
    tcase_add_test(cases, seams_are_faired_in_flight);
    return suite;
}
