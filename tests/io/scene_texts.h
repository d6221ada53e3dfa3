/* Scenes as texts, for the tests that read them. */
#ifndef KILN_TESTS_IO_SCENE_TEXTS_H
#define KILN_TESTS_IO_SCENE_TEXTS_H

#include "fixture.h"
#include "io/scene.h"

#include <math.h>

KILN_UNUSED static kiln_scene_file *load(kiln_context *context, const char *text,
                                         const char *const *sets, size_t set_count)
{
    kiln_scene_options options = {
        .text = text, .text_size = strlen(text), .sets = sets, .set_count = set_count};
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    char said[900];
    kiln_status status = kiln_scene_file_load(context, "dir/good.lua", &options, &file, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, said, sizeof said));
    return file;
}

KILN_UNUSED static void assert_vector(kiln_vec3 v, double x, double y, double z)
{
    ck_assert_double_eq_tol(v.x, x, 1e-14);
    ck_assert_double_eq_tol(v.y, y, 1e-14);
    ck_assert_double_eq_tol(v.z, z, 1e-14);
}

static const char minimal[] =
    "return scene { duration = 2, bodies = { body { shape = shape.box { n = 1 }, material = "
    "material { young = 1e5 } } } }";

/* Every key there is, with a value that is not its preset; the method of remeshing is a parameter,
 * since each has keys of its own. */
static const char everything[] =
    "local rubber = material { name = 'rubber', model = 'neo-hookean', young = 2e5, poisson = "
    "0.25,\n"
    "  density = 900, damping_mass = 0.1, damping_stiffness = 0.2, viscosity = 0.3,\n"
    "  nodal_pressure = 'on' }\n"
    "local soft = material { young = function(c) return 1 + c.t + c.u.x + c.x.y + c.stress +\n"
    "  c.strain_rate + c.temperature end, density = function(c) return 1 + c.u[1] end,"
    "  plastic = plastic { norm = 'frobenius', flow = 'rate', law = 'stress', hardening = -0.25,"
    "    yield = function(c) return c.stress + c.t end, rate = function(c) return c.u.x end } }\n"
    "local domain = remesh { method = 'global', space = 'world', quality = 0.2, size = 0.5, "
    "condition = 9, condition_change = 2, merge = 0.5 } "
    "local judged = remesh { method = 'energy', split = 1e-3, part = 1e-5, collapse = 1e-6, "
    "collapse_part = 0.5, share "
    "= 0.1, rounds "
    "= 3 } "
    "local water = material { liquid = liquid { surface_tension = 0.07, pressure = 'mini' } } "
    "local hot = material { young = 1, contact_angle = 70, melt = water, thermal = thermal { "
    "conductivity = 1, "
    "  capacity = 2, expansion = 3, reference = 4, latent = 5, melting = 6, range = 7 } } "
    "local T = {axis = {0, 0, 2}, angle = math.pi / 2}\n"
    "return scene { name = 'all', duration = 3, gravity = function(t) return 0, 0, -t end,\n"
    "  velocity_field = function(t, x) return {t, x.x, x.y} end, velocity_until = 1.5,\n"
    "  bodies = {\n"
    "    body { name = 'bar', shape = shape.box { lx = 2, ly = 1, lz = 1, n = 2, pattern = 'bcc' "
    "},\n"
    "      material = rubber, at = {1, 2, 3}, turn = T, scale = {1, 2, 3},\n"
    "      velocity = function(u) return u end, spin = {1, 2, 3},\n"
    "      position = function(u) return 2 * u.x, u.y, u.z end, clearance = 0.01,\n"
    "      tolerate_inverted = true, temperature = function(u) return u.x + 300 end,\n"
    "      regions = { region { tag = 3, material = soft },\n"
    "        region { where = select.region { tag = 4 }, material = rubber } },\n"
    "      patches = { patch { tag = -9 }, { tag = 8, where = select.patch { tag = 2 } } },"
    "      surface = shape.ball { radius = 0.25, h = 0.2 } },\n"
    "    body { shape = shape.ball { radius = 0.5, h = 0.3 }, material = soft,\n"
    "      turn = { axis = {1, 0, 0}, degrees = 180 }, scale = 2,\n"
    "      regions = { region { tag = 1, material = material { young = 3e9, poisson = 0.5 - 0.25,\n"
    "        plastic = plastic { norm = 'mises', flow = 'instant', yield_stress = 3e6,\n"
    "          hardening_modulus = 9e6 } } } } },\n"
    "  },\n"
    "  obstacles = {\n"
    "    obstacle.plane { name = 'floor', point = {0, 0, 1}, normal = {0, 1, 0}, friction = 0.5,\n"
    "      contact_angle = 60, drag = 2, no_slip = true, temperature = 400, conductance = 5,\n"
    "      inside_out = true, motion = motion.translate { shift = {1, 2, 3} } },\n"
    "    obstacle.sphere { centre = {1, 1, 1}, radius = 2,\n"
    "      motion = motion.rotate { angle = 3, axis = {1, 0, 0}, centre = {0, 1, 0},\n"
    "        shift = function(t) return {t, t, t} end } },\n"
    "    obstacle.cylinder { from = {0, 0, 0}, to = {0, 0, 1}, radius = 3 },\n"
    "    obstacle.capsule { from = {0, 0, 0}, to = {0, 0, 1}, radius = 3 },\n"
    "    obstacle.box { from = {0, 0, 0}, to = {1, 2, 3} },\n"
    "    obstacle.cone { from = {0, 0, 0}, to = {1, 2, 3}, radius = 4 },\n"
    "    obstacle.torus { centre = {1, 0, 0}, normal = {0, 1, 0}, radius = 4, tube = 1 },\n"
    "    obstacle.mesh { path = 'PATH', at = {1, 0, 0}, turn = T, scale = 2 },\n"
    "    obstacle.mesh { shape = shape.polygon { points = '0,0 2,0 2,1 1,1 1,2 0,2', depth = 1 } "
    "},\n"
    "  },\n"
    "  holds = {\n"
    "    hold { name = 'grip', body = 'bar', components = 'xz', turn = T, from = 0.5, till = 1,\n"
    "      where = select.box { from = {0, 0, 0}, to = {1, 1, 1}, reach = 'any', space = 'world' "
    "},\n"
    "      motion = motion.follow { place = function(t, u) return t + u.x, 0, 0 end } },\n"
    "    hold { where = select.sphere { centre = {1, 0, 0}, radius = 2, reach = 'all' } |\n"
    "        select.half_space { point = {1, 2, 3}, normal = {0, 0, 1} },\n"
    "      motion = motion.follow { obstacle = 'obstacle3' } },\n"
    "    hold { where = select.cylinder { from = {0, 0, 0}, to = {1, 0, 0}, radius = 1 } -\n"
    "        select.nearest { to = {1, 1, 1}, count = 5, within = 2, space = 'world' },\n"
    "      motion = motion.still {} },\n"
    "    hold { where = ~select.surface { reach = 'any' } & select.interface() },\n"
    "    hold { where = select.feature {} + select.corner {} },\n"
    "    hold { where = select.required {} * select.part { number = 0 } },\n"
    "    hold { where = -select.body { name = 'body2' } },\n"
    "  },\n"
    "  probes = { probe { name = 'middle', body = 'bar', point = {1, 2, 3} },\n"
    "             { body = 'bar' }, probe { body = 'body2', with = 'bar' } },\n"
    "  loads = {\n"
    "    load.force { body = 'body2', amount = {1, 2, 3}, from = 1, till = 2 },\n"
    "    load.traction { where = select.patch { tag = 2 }, amount = {1, 2, 3} },\n"
    "    load.pressure { where = select.all {}, amount = function(t, u) return t * u.z end },\n"
    "    load.body { amount = function(t, u) return u.z, t, 0 end },\n"
    "    load.heat { amount = 6 }, load.flux { amount = function(t, u) return t end },\n"
    "    load.film { amount = 7, outside = function(t, u) return u.z + 300 end },\n"
    "    load.temperature { amount = 350 },\n"
    "  },\n"
    "  step = { integrator = 'newmark', dt = 0.02, dt_min = 0.001, patience = 3, linearised = "
    "true,\n"
    "    mass = 'consistent', max_stretch = 2, max_acceleration = 100, friction_speed = 0.5,\n"
    "    lags = 4, lag_tolerance = 0.125, load_steps = 7,\n"
    "    newton = { tolerance = 1e-3, iterations = 11, line_search = false, length = 2 },\n"
    "    solver = { backend = 'pcg-ic', tolerance = 1e-5, iterations = 99, memory = 1e9,\n"
    "      blas_threads = 2, precision = 'double' } },\n"
    "  remesh = param('method', 'local') == 'global' and domain or remesh { method = 'local',\n"
    "    space = 'world', quality = 0.2, ridge_angle = 30, band = 2, every = 3, size = 0.5,\n"
    "    deformation = 0.25, strain = 8, strain_printed = true, follow = true, curvature = 0.5,\n"
    "    size_min = 0.125, size_max = 2, chord = 0.05, pinch = 0.5, droplets = 'remove',\n"
    "    isotropic = true, gradation = 1.25, most_tets = 1e6 },\n"
    "  contact = contact { bodies = true, self = false, thickness = 0.01, stiffness = 2,\n"
    "    weights = 'once', adaptive = true, steady = false,\n"
    "    friction = 0.75, pairs = { pair { a = 'bar', b = 'rubber', friction = 0.25 },\n"
    "      { a = 'body2', b = 'floor', off = true } } },\n"
    "  output = { frame = 0.5, checkpoint = 1, obstacles = false, triangles = false,\n"
    "    fields = { 'deformation', 'stress', 'pressure', 'energy', 'reaction', 'contact',\n"
    "      'plastic_strain', 'hardening', 'displacement', 'quality' } },\n"
    "}\n";

/* With a surface for the obstacle, in a folder of its own. */
typedef struct whole {
    kiln_context *context;
    folder dir;
    char text[sizeof everything + 200];
    kiln_scene_file *file;
    const kiln_scene *scene;
} whole;

KILN_UNUSED static void begin_whole(whole *w, kiln_context *context)
{
    w->context = context;
    w->dir = make_folder();
    char path[160];
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    static const kiln_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const kiln_soup_triangle faces[] = {{{1, 2, 3}}, {{0, 3, 2}}, {{0, 1, 3}}, {{0, 2, 1}}};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(kiln_array_push(context, &soup.points, points[i], NULL), KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.triangles, faces[i], NULL), KILN_OK);
    }
    in_folder(&w->dir, "tet.off", path);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, NULL), KILN_OK);
    kiln_soup_free(&soup);
    const char *gap = strstr(everything, "PATH");
    snprintf(w->text, sizeof w->text, "%.*s%s%s", (int)(gap - everything), everything, path,
             gap + 4);
}

KILN_UNUSED static void end_whole(whole *w)
{
    kiln_scene_file_destroy(w->file);
    remove_folder(&w->dir);
}

KILN_UNUSED static void load_whole(whole *w)
{
    begin_whole(w, kiln_test_context(1));
    w->file = load(w->context, w->text, NULL, 0);
    w->scene = kiln_scene_file_scene(w->file);
}

KILN_UNUSED static double number_at(const kiln_quantity *q, const kiln_circumstances *at)
{
    double out = NAN;
    kiln_error error = {0};
    ck_assert_msg(kiln_quantity_get(q, at, &out, 1, &error) == KILN_OK, "%s", error.message);
    return out;
}

KILN_UNUSED static kiln_vec3 vector_at(const kiln_quantity *q, const kiln_circumstances *at)
{
    double out[3];
    kiln_error error = {0};
    ck_assert_msg(kiln_quantity_get(q, at, out, 3, &error) == KILN_OK, "%s", error.message);
    return kiln_v3(out[0], out[1], out[2]);
}

static const kiln_circumstances somewhere = {.time = 2,
                                             .material = {3, 4, 5},
                                             .world = {6, 7, 8},
                                             .stress = 9,
                                             .strain_rate = 10,
                                             .temperature = 11};

#endif
