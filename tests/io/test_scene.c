/* Scenes that are right: every key arrives where it belongs, functions are called with what they
 * need, settings from outside, the same scene each time, and nothing is lost when memory fails. */
#include "io/scene_reader.h"
#include "scene_texts.h"

static void assert_same_settings(const kiln_scene *a, const kiln_scene *b)
{
    const kiln_solid_options *p = &a->solid, *q = &b->solid;
    ck_assert(p->integrator == q->integrator && p->linearised == q->linearised &&
              p->mass == q->mass && p->max_lags == q->max_lags &&
              p->lag_tolerance == q->lag_tolerance && p->max_stretch == q->max_stretch &&
              p->max_acceleration == q->max_acceleration && p->friction_speed == q->friction_speed);
    ck_assert(p->newton.tolerance == q->newton.tolerance && p->newton.length == q->newton.length &&
              p->newton.max_iterations == q->newton.max_iterations &&
              p->newton.line_search == q->newton.line_search);
    ck_assert_str_eq(p->solver.backend, q->solver.backend);
    ck_assert(p->solver.tolerance == q->solver.tolerance && p->solver.memory == q->solver.memory &&
              p->solver.max_iterations == q->solver.max_iterations &&
              p->solver.blas_threads == q->solver.blas_threads);
    ck_assert(a->pace.dt == b->pace.dt && a->pace.dt_min == b->pace.dt_min &&
              a->pace.patience == b->pace.patience && a->load_steps == b->load_steps);
    ck_assert(a->output.frame == b->output.frame && a->output.checkpoint == b->output.checkpoint &&
              a->output.fields == b->output.fields && a->output.velocity == b->output.velocity &&
              a->output.material_position == b->output.material_position &&
              a->output.reaction == b->output.reaction && a->output.contact == b->output.contact &&
              a->output.obstacles == b->output.obstacles);
}

START_TEST(defaults)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file = load(context, minimal, NULL, 0);
    const kiln_scene *s = kiln_scene_file_scene(file);
    kiln_scene fresh;
    kiln_scene_init(&fresh, context);
    ck_assert_str_eq(s->name, "good");
    ck_assert_str_eq(s->file, "dir/good.lua");
    ck_assert_double_eq(s->duration, 2.0);
    assert_same_settings(s, &fresh);
    ck_assert_double_eq(s->pace.dt_min, s->pace.dt / 1024.0);
    ck_assert(!s->has_velocity_field && !s->gravity.evaluate && s->gravity.constant[2] == 0.0);
    const kiln_scene_body *b = &s->bodies.data[0];
    ck_assert_str_eq(b->name, "body1");
    ck_assert_str_eq(b->said.path, "bodies[1]");
    ck_assert_int_eq(b->said.line, 1);
    ck_assert(isnan(b->position.constant[0]) && !b->position.evaluate);
    ck_assert_uint_eq(b->mesh.tets.count, 6);
    const kiln_scene_material *m = &s->materials.data[0];
    ck_assert_str_eq(m->base.model->name, "stable-neo-hookean");
    ck_assert_str_eq(m->name, "stable-neo-hookean");
    double mu, lambda;
    kiln_lame_from_young(1e5, 0.3, &mu, &lambda);
    ck_assert(m->base.mu == mu && m->base.lambda == lambda && m->base.density == 1000.0);
    ck_assert(!m->varies);
    size_t size;
    ck_assert_str_eq(kiln_scene_file_text(file, &size), minimal);
    ck_assert_uint_eq(size, sizeof minimal - 1);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(nearly_incompressible)
{
    static const struct {
        const char *set;
        bool used;
    } cases[] = {{"bodies[1].material.poisson=0.45", false},
                 {"bodies[1].material.poisson=0.46", true},
                 {"bodies[1].material={young=1,poisson=0.48,nodal_pressure='off'}", false},
                 {"bodies[1].material.nodal_pressure=on", true}};
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kiln_scene_file *file = load(context, minimal, &cases[i].set, 1);
        ck_assert(kiln_scene_file_scene(file)->materials.data[0].base.nodal_pressure ==
                  cases[i].used);
        kiln_scene_file_destroy(file);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bodies_and_materials)
{
    whole w;
    load_whole(&w);
    const kiln_scene *s = w.scene;
    ck_assert_str_eq(s->name, "all");
    assert_vector(vector_at(&s->gravity, &somewhere), 0, 0, -2);
    ck_assert(s->has_velocity_field);
    assert_vector(vector_at(&s->velocity_field, &somewhere), 2, 6, 7);
    ck_assert_uint_eq(s->materials.count, 3);
    const kiln_scene_material *m = &s->materials.data[0];
    ck_assert_str_eq(m->name, "rubber");
    ck_assert_str_eq(m->base.model->name, "neo-hookean");
    ck_assert_int_eq(m->said.line, 1);
    ck_assert(m->base.density == 900 && m->base.damping_mass == 0.1 &&
              m->base.damping_stiffness == 0.2 && m->base.viscosity == 0.3 &&
              m->base.nodal_pressure && m->viscosity.constant[0] == 0.3);
    ck_assert(!s->materials.data[1].base.nodal_pressure);
    ck_assert_double_eq(number_at(&s->materials.data[1].young, &somewhere), 1 + 2 + 3 + 7 + 30);
    ck_assert_double_eq(number_at(&s->materials.data[1].density, &somewhere), 4);
    ck_assert(s->materials.data[1].varies && s->materials.data[1].said.line == 4);

    const kiln_scene_body *b = &s->bodies.data[0];
    ck_assert_str_eq(b->name, "bar");
    ck_assert_int_eq(b->said.line, 10);
    ck_assert_uint_eq(b->material, 0);
    ck_assert(b->tolerate_inverted);
    ck_assert_double_eq(b->clearance, 0.01);
    assert_vector(b->spin, 1, 2, 3);
    assert_vector(vector_at(&b->velocity, &somewhere), 3, 4, 5);
    assert_vector(vector_at(&b->position, &somewhere), 6, 4, 5);
    /* The corner (2, 1, 1) of the box: scaled, a quarter turn about z, moved. */
    kiln_vec3 low = b->mesh.points.data[0], high = low;
    for (size_t i = 0; i < b->mesh.points.count; i++) {
        kiln_vec3 p = b->mesh.points.data[i];
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    assert_vector(low, 1 - 2, 2, 3);
    assert_vector(high, 1, 4, 6);
    ck_assert_uint_eq(b->regions.count, 2);
    ck_assert_int_eq(b->regions.data[0].tag, 3);
    ck_assert_uint_eq(b->regions.data[0].material, 1);
    ck_assert_str_eq(b->regions.data[1].said.path, "bodies[1].regions[2]");
    ck_assert_uint_eq(b->regions.data[1].where.count, 1);
    ck_assert_int_eq(b->regions.data[1].where.data[0].selector.number, 4);
    ck_assert_uint_eq(b->patches.count, 2);
    ck_assert_int_eq(b->patches.data[0].tag, -9);
    ck_assert_int_eq(b->patches.data[1].tag, 8);
    ck_assert_uint_eq(b->patches.data[1].where.count, 1);
    ck_assert_str_eq(s->bodies.data[1].name, "body2");
    ck_assert_uint_eq(s->bodies.data[1].material, 1);
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(obstacles_and_motions)
{
    whole w;
    load_whole(&w);
    const kiln_scene *s = w.scene;
    ck_assert_uint_eq(s->obstacles.count, KILN_OBSTACLE_COUNT + 1);
    for (int i = 0; i < KILN_OBSTACLE_COUNT; i++)
        ck_assert_int_eq(s->obstacles.data[i].shape.kind, i);
    const kiln_scene_obstacle *o = s->obstacles.data;
    ck_assert_str_eq(o[0].name, "floor");
    ck_assert_str_eq(o[2].name, "obstacle3");
    assert_vector(o[0].shape.point, 0, 0, 1);
    assert_vector(o[0].shape.normal, 0, 1, 0);
    ck_assert(o[0].friction == 0.5 && o[0].shape.inside_out && !o[1].shape.inside_out);
    ck_assert_int_eq(o[0].motion.kind, KILN_MOTION_TRANSLATE);
    assert_vector(vector_at(&o[0].motion.shift, &somewhere), 1, 2, 3);
    ck_assert_int_eq(o[1].motion.kind, KILN_MOTION_ROTATE);
    ck_assert_double_eq(number_at(&o[1].motion.angle, &somewhere), 3);
    assert_vector(o[1].motion.axis, 1, 0, 0);
    assert_vector(o[1].motion.centre, 0, 1, 0);
    assert_vector(vector_at(&o[1].motion.shift, &somewhere), 2, 2, 2);
    assert_vector(o[1].shape.point, 1, 1, 1);
    ck_assert(o[1].shape.radius == 2 && o[5].shape.radius == 4 && o[6].shape.tube == 1);
    assert_vector(o[4].shape.end, 1, 2, 3);
    ck_assert_uint_eq(o[7].shape.surface.triangles.count, 4);
    assert_vector(o[7].shape.surface.points.data[1], 1, 2, 0); /* (1, 0, 0) placed */
    const kiln_soup *stairs = &o[8].shape.surface;
    ck_assert(o[8].shape.kind == KILN_OBSTACLE_MESH && stairs->tets.count == 0);
    ck_assert_uint_eq(stairs->points.count, stairs->triangles.count / 2 + 2); /* closed */

    ck_assert_uint_eq(s->probes.count, 3);
    const kiln_scene_probe *p = s->probes.data;
    ck_assert(p[0].body == 0 && p[1].body == 0 && isnan(p[1].point.x));
    ck_assert(p[0].with == 0 && p[1].with == 0 && p[2].body == 1 && p[2].with == 1);
    ck_assert_str_eq(p[0].name, "middle");
    assert_vector(p[0].point, 1, 2, 3);

    const kiln_scene_hold *h = s->holds.data;
    ck_assert_str_eq(h[0].name, "grip");
    ck_assert(h[0].body == 0 && h[0].components == 5 && h[0].from == 0.5 && h[0].until == 1.0);
    ck_assert(h[1].body == -1 && h[1].components == 7 && h[1].from == 0.0 && isinf(h[1].until));
    ck_assert_double_eq_tol(h[0].axes.m[0][1], 1.0, 1e-15); /* x became y */
    ck_assert_double_eq(h[1].axes.m[0][0], 0.0);
    ck_assert_int_eq(h[0].motion.kind, KILN_MOTION_FOLLOW);
    ck_assert_int_eq(h[0].motion.obstacle, -1);
    assert_vector(vector_at(&h[0].motion.place, &somewhere), 5, 0, 0);
    ck_assert_int_eq(h[1].motion.obstacle, 2);
    ck_assert_int_eq(h[3].motion.kind, KILN_MOTION_STILL);
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(selections)
{
    whole w;
    load_whole(&w);
    const kiln_scene_hold *h = w.scene->holds.data;
    const kiln_selector *a = &h[0].where.data[0].selector;
    ck_assert(a->kind == KILN_SELECT_BOX && a->reach == KILN_REACH_ANY &&
              a->space == KILN_SPACE_WORLD);
    assert_vector(a->b, 1, 1, 1);
    ck_assert_uint_eq(h[1].where.count, 3);
    ck_assert_int_eq(h[1].where.data[2].kind, KILN_PICK_OR);
    ck_assert(h[1].where.data[2].a == 0 && h[1].where.data[2].b == 1);
    a = &h[1].where.data[0].selector;
    ck_assert(a->kind == KILN_SELECT_SPHERE && a->radius == 2 && a->reach == KILN_REACH_ALL &&
              a->space == KILN_SPACE_MATERIAL);
    assert_vector(h[1].where.data[1].selector.a, 1, 2, 3);
    assert_vector(h[1].where.data[1].selector.b, 0, 0, 1);
    ck_assert_int_eq(h[2].where.data[2].kind, KILN_PICK_MINUS);
    a = &h[2].where.data[1].selector;
    ck_assert(a->kind == KILN_SELECT_NEAREST && a->number == 5 && a->radius == 2);
    ck_assert_uint_eq(h[3].where.count, 4); /* surface, not, interface, and */
    ck_assert_int_eq(h[3].where.data[1].kind, KILN_PICK_NOT);
    ck_assert_int_eq(h[3].where.data[3].kind, KILN_PICK_AND);
    ck_assert(h[3].where.data[3].a == 1 && h[3].where.data[3].b == 2);
    ck_assert_int_eq(h[4].where.data[2].kind, KILN_PICK_OR);
    ck_assert_int_eq(h[5].where.data[2].kind, KILN_PICK_AND);
    ck_assert_int_eq(h[6].where.data[1].kind, KILN_PICK_NOT);
    ck_assert_int_eq(h[6].where.data[0].selector.number, 1);
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(loads_steps_and_output)
{
    whole w;
    load_whole(&w);
    const kiln_scene *s = w.scene;
    ck_assert_int_eq(kiln_scene_try(s, NULL), KILN_OK);
    const kiln_scene_load *l = s->loads.data;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(l[i].kind, i);
    ck_assert(l[0].body == 1 && l[0].from == 1 && l[0].until == 2 && l[0].where.count == 0);
    assert_vector(vector_at(&l[1].amount, &somewhere), 1, 2, 3);
    ck_assert_double_eq(number_at(&l[2].amount, &somewhere), 10);
    assert_vector(vector_at(&l[3].amount, &somewhere), 5, 2, 0);
    const kiln_solid_options *o = &s->solid;
    ck_assert(o->integrator == KILN_NEWMARK && o->linearised && o->mass == KILN_MASS_CONSISTENT);
    ck_assert(s->pace.dt == 0.02 && s->pace.dt_min == 0.001 && s->pace.patience == 3);
    ck_assert(o->max_stretch == 2 && o->max_acceleration == 100 && o->friction_speed == 0.5);
    ck_assert(o->max_lags == 4 && o->lag_tolerance == 0.125 && s->load_steps == 7);
    ck_assert(o->newton.tolerance == 1e-3 && o->newton.max_iterations == 11 &&
              !o->newton.line_search && o->newton.length == 2);
    ck_assert_str_eq(o->solver.backend, "pcg-ic");
    ck_assert(o->solver.tolerance == 1e-5 && o->solver.max_iterations == 99 &&
              o->solver.memory == 1000000000 && o->solver.blas_threads == 2);
    const kiln_scene_output *out = &s->output;
    ck_assert(out->frame == 0.5 && out->checkpoint == 1 && !out->obstacles && !out->triangles);
    ck_assert_uint_eq(out->fields, 1u << KILN_OUTPUT_F | 1u << KILN_OUTPUT_CAUCHY |
                                       1u << KILN_OUTPUT_PRESSURE | 1u << KILN_OUTPUT_ENERGY);
    ck_assert(!out->velocity && !out->material_position && out->reaction && out->contact);
    ck_assert(out->plastic_strain && out->hardening && out->displacement && out->quality);
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

/* The text above really has them all. */
START_TEST(every_key_is_tried)
{
    const kiln_schema *object;
    char wanted[80];
    for (size_t i = 0; (object = kiln_scene_schema_at(i)); i++) {
        if (object == &kiln_shape_file_schema)
            continue;
        const char *dot = strncmp(object->name, "step.", 5) == 0 ? object->name + 5 : object->name;
        snprintf(wanted, sizeof wanted, strchr(dot, '.') ? "%s" : "%s ", dot);
        ck_assert_msg(object == &kiln_turn_schema || strstr(everything, wanted), "%s is not tried",
                      object->name);
        const char *keys[SCENE_KEYS];
        size_t count = kiln_scene_keys(object, keys, 0);
        for (size_t k = 0; k < count; k++) {
            snprintf(wanted, sizeof wanted, "%s = ", keys[k]);
            ck_assert_msg(strstr(everything, wanted) != NULL, "%s.%s is not tried", object->name,
                          keys[k]);
        }
    }
}
END_TEST

START_TEST(the_reference_is_current)
{
    kiln_context *context = kiln_test_context(1);
    folder dir = make_folder();
    char path[160];
    kiln_error error = {0};
    in_folder(&dir, "scene.md", path);
    ck_assert_msg(kiln_scene_write_reference(context, NULL, path, &error) == KILN_OK, "%s",
                  error.message);
    size_t made_size, kept_size;
    char *made = file_bytes(path, &made_size);
    char *kept = file_bytes(KILN_SOURCE_DIR "/docs/scene.md", &kept_size);
    ck_assert_msg(made_size == kept_size && memcmp(made, kept, kept_size) == 0,
                  "docs/scene.md is old: kiln check --reference docs/scene.md");
    free(made);
    free(kept);
    remove_folder(&dir);
    kiln_context_destroy(context);
}
END_TEST

/* What stands for a table is one when a path goes through it. */
START_TEST(settings_inside_short_forms)
{
    static const char *const sets[] = {"contact.thickness=0.03", "remesh.quality=0.3"};
    kiln_context *context = kiln_test_context(1);
    const char *text =
        "return scene { duration = 2, contact = true, remesh = 'global', bodies = {\n"
        " body { shape = shape.box { n = 1 }, material = material { young = 1e5 } } "
        "} }";
    kiln_scene_file *file = load(context, text, sets, 2);
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert(s->contact.bodies);
    ck_assert_double_eq(s->contact.thickness, 0.03);
    ck_assert_int_eq(s->remesh.method, KILN_REMESH_GLOBAL);
    ck_assert_double_eq(s->remesh.quality, 0.3);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(settings)
{
    static const char *const sets[] = {"bodies[1].material.young=2e5",
                                       "step.integrator=bdf2",
                                       "step.newton.iterations=5",
                                       "name=\"my run\"",
                                       "output.frame=1/8",
                                       "gravity={0, 0, -1}",
                                       "step.linearised=true",
                                       "bodies[1].at[3]=5",
                                       "bodies[1].velocity[2]=4"};
    kiln_context *context = kiln_test_context(1);
    const char *text = "return scene { duration = 2, bodies = { body { at = {0, 0, 0}, velocity = "
                       "{1, 2, 3}, shape = shape.box { n = 1 }, material = material { young = 1e5 "
                       "} } } }";
    kiln_scene_file *file = load(context, text, sets, sizeof sets / sizeof sets[0]);
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_double_eq(s->materials.data[0].young.constant[0], 2e5);
    ck_assert_int_eq(s->solid.integrator, KILN_BDF2);
    ck_assert_int_eq(s->solid.newton.max_iterations, 5);
    ck_assert_str_eq(s->name, "my run");
    ck_assert_double_eq(s->output.frame, 0.125);
    ck_assert_double_eq(s->gravity.constant[2], -1);
    ck_assert(s->solid.linearised);
    ck_assert_double_eq(s->bodies.data[0].mesh.points.data[0].z, 5);
    ck_assert_double_eq(s->bodies.data[0].velocity.constant[1], 4);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(params)
{
    static const char *const sets[] = {"young=2e5", "model=stvk", "bodies[1].scale=2"};
    const char *text = "local m = material { young = param('young', 1), model = param('model', "
                       "'linear'), poisson = param('poisson', 0.25) }\n"
                       "return scene { duration = 2, bodies = { body { shape = shape.box { n = 1 },"
                       " material = m } } }";
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file = load(context, text, sets, 3);
    const kiln_scene_material *m = kiln_scene_file_scene(file)->materials.data;
    ck_assert_double_eq(m->young.constant[0], 2e5);
    ck_assert_double_eq(m->poisson.constant[0], 0.25);
    ck_assert_str_eq(m->base.model->name, "stvk");
    ck_assert_str_eq(kiln_scene_file_params(file), "young=1 model=linear poisson=0.25 ");
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

static const struct {
    const char *set, *place, *message;
} bad_sets[] = {
    {"nonsense", "--set", "must be like bodies[1].material.young=2e5, got 'nonsense'"},
    {"=5", "--set =5", "must be like"},
    {"duration=5\n+1", "--set", "must be one line, got 'duration=5"},
    {"bodies[0].at={1,2,3}", "--set bodies[0].at={1,2,3}", "must be like"},
    {"bodies[2].at={1,2,3}", "--set bodies[2].at={1,2,3}", "there is no item [2], but there are 1"},
    {"bodies[1].material.yung=5", "good.lua",
     "bodies[1].material.yung: unknown key; did you mean 'young'? (by --set)"},
    {"bodies[1].material.young=-5", "good.lua",
     "bodies[1].material.young: must be positive, got -5 (by --set)"},
    {"stap.dt=5", "good.lua", "stap: unknown key; did you mean 'step'?"},
    {"step.dt=fast", "good.lua", "step.dt: must be a number, got \"fast\" (by --set)"},
    {"durration=5", "--set durration", "no such key or param; did you mean 'duration'?"},
    {"siez=5", "--set siez", "no such key or param; did you mean 'size'?"},
    {"wholly_unknown=5", "--set wholly_unknown", "the scene has no such key or param"},
    {"size=big", "good.lua", "--set size: must be a number like its preset, got a string"},
    {"duration=1 +", "good.lua", "unexpected symbol near <eof>"},
    {"duration=os.time()", "good.lua", "'os' is not there"},
    {"duration=(function() while true do end end)()", "good.lua", "does not end"},
    {"bodies[1].material.young.x=5", "--set bodies[1].material.young.x=5",
     "the path goes through what is no table"},
    {"bodies[1].=5", "--set bodies[1].=5", "must be like"},
};

START_TEST(bad_settings)
{
    const char *text = "local s = param('size', 1) return scene { duration = 2, bodies = { body { "
                       "shape = shape.box { n = 1 }, scale = s, material = material { young = 1e5 "
                       "} } } }";
    kiln_context *context = kiln_test_context(1);
    kiln_scene_options options = {.text = text,
                                  .text_size = strlen(text),
                                  .sets = &bad_sets[_i].set,
                                  .set_count = 1,
                                  .instructions = 1000000};
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_scene_file_load(context, "good.lua", &options, &file, &error),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(error.place, bad_sets[_i].place);
    ck_assert_msg(strstr(error.message, bad_sets[_i].message) != NULL, "wanted %s, said %s",
                  bad_sets[_i].message, error.message);
    kiln_context_destroy(context);
}
END_TEST

/* Lua's own order of keys and its random numbers differ from state to state. */
START_TEST(the_same_scene_each_time)
{
    const char *text =
        "local t, order = { 'a', 'b', [2.5] = 'h', zeta = 1, alpha = 2, mu = 3, [-1] = 'n' }, ''\n"
        "for k, v in pairs(t) do order = order .. k .. ',' end\n"
        "assert(order == '-1,1,2,2.5,alpha,mu,zeta,', order)\n"
        "assert(select('#', 1, nil, 3) == 3 and select(2, 'a', 'b') == 'b')\n"
        "assert(select(-1, 5, 6) == 6 and select(3, 1) == nil)\n"
        "for i = 1, 100 do local n = math.random(3, 5) assert(n >= 3 and n <= 5) end\n"
        "assert(('x'):rep(3, '-') == 'x-x-x' and tostring(1.5) == '1.5')\n"
        "local list = { 3, 1, 2 } table.sort(list) assert(table.concat(list) == '123')\n"
        "return scene { duration = 1 + math.random(), name = 'n' .. math.random(1000000), bodies = "
        "{ body { shape = shape.box { n = 1 }, material = material { young = 1 } } } }";
    kiln_context *context = kiln_test_context(1);
    double duration = 0.0;
    char name[KILN_NAME_SIZE] = "";
    for (int i = 0; i < 5; i++) {
        kiln_scene_file *file = load(context, text, NULL, 0);
        const kiln_scene *s = kiln_scene_file_scene(file);
        ck_assert(i == 0 || (s->duration == duration && strcmp(s->name, name) == 0));
        duration = s->duration;
        memcpy(name, s->name, sizeof name);
        kiln_scene_file_destroy(file);
    }
    ck_assert(duration > 1.0 && duration < 2.0);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(booleans_in_place_of_tables)
{
    static const char *const on[] = {"contact=true", "remesh=true"};
    static const char *const off[] = {"contact=false", "remesh=false",
                                      "bodies[1].material.plastic=false"};
    const char *text =
        "return scene { duration = 1, contact = { self = false, thickness = 0.01 }, remesh = "
        "'global', bodies = { body { shape = shape.box { n = 1 }, material = material { young = "
        "1e5, plastic = { yield = 1, rate = 1 } } } } }";
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file = load(context, text, on, 2);
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert(s->contact.bodies && s->contact.self);
    ck_assert_double_eq(s->contact.thickness, kiln_contact_default_settings().thickness);
    ck_assert_int_eq(s->contact.said.line, 1);
    ck_assert_int_eq(s->remesh.method, KILN_REMESH_LOCAL);
    ck_assert(s->materials.data[0].base.plastic.flows);
    kiln_scene_file_destroy(file);
    file = load(context, text, off, 3);
    s = kiln_scene_file_scene(file);
    ck_assert(!s->contact.bodies && !s->contact.self);
    ck_assert_int_eq(s->remesh.method, KILN_REMESH_NONE);
    ck_assert(!s->materials.data[0].base.plastic.flows);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(static_scenes_need_no_duration)
{
    const char *text = "return scene { step = { integrator = 'static' }, bodies = { body { shape = "
                       "shape.box { n = 1 }, material = material { young = 1 } } } }";
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file = load(context, text, NULL, 0);
    ck_assert_double_eq(kiln_scene_file_scene(file)->duration, 1.0);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

/* Beside the scene: a tet mesh as it is, a surface filled. */
START_TEST(meshes_from_files)
{
    kiln_context *context = kiln_test_context(1);
    whole w;
    begin_whole(&w, context);
    char path[160], text[800];
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    const kiln_shape *box;
    ck_assert_int_eq(kiln_generator_find("box", &box, NULL), KILN_OK);
    ck_assert_int_eq(kiln_shape_make(box, 0, NULL, &soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_write(context, in_folder(&w.dir, "b.mesh", path), NULL, &soup, NULL),
                     KILN_OK);
    kiln_soup plate;
    kiln_soup_init(&plate, context);
    const char *flat[] = {"lz=0.02", "nx=20", "ny=20", "nz=1"};
    ck_assert_int_eq(kiln_shape_make(box, 4, flat, &plate, NULL), KILN_OK);
    ck_assert_int_eq(
        kiln_soup_write(context, in_folder(&w.dir, "plate.mesh", path), NULL, &plate, NULL),
        KILN_OK);
    snprintf(
        text, sizeof text,
        "local m = material { young = 1 } return scene { duration = 1, bodies = { body { shape "
        "= shape.file { path = 'b.mesh' }, material = m }, body { shape = shape.file { path = "
        "'tet.off', max_edge = 0.5 }, material = m }, body { shape = shape.file { path = "
        "'tet.off', "
        "h = 0.4, weld = 1e-6, exact = true, regions = true, patch_angle = 30 }, material = m }, "
        "body { shape = shape.file { path = 'tet.off', envelope = 0.05 }, material = m }, body { "
        "shape = shape.file { path = 'plate.mesh', h = 0.1, layers = 2 }, material = m } } }");
    FILE *out = fopen(in_folder(&w.dir, "files.lua", path), "w");
    fputs(text, out);
    fclose(out);
    kiln_error error = {0};
    char said[900];
    kiln_status status = kiln_scene_file_load(context, path, NULL, &w.file, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, said, sizeof said));
    const kiln_scene *s = kiln_scene_file_scene(w.file);
    ck_assert_uint_eq(s->bodies.data[0].mesh.tets.count, soup.tets.count);
    for (int k = 1; k < 4; k++)
        ck_assert_uint_gt(s->bodies.data[k].mesh.tets.count, 0);
    /* Longer than before along the plate, and with points amid it. */
    const kiln_soup *thin = &s->bodies.data[4].mesh;
    size_t amid = 0;
    for (size_t i = 0; i < thin->points.count; i++)
        amid += fabs(thin->points.data[i].z - 0.01) < 0.005;
    ck_assert_uint_lt(thin->tets.count, plate.tets.count);
    ck_assert_uint_gt(amid, 50);
    kiln_soup_free(&plate);
    kiln_soup_free(&soup);
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(material_positions_are_placed_too)
{
    kiln_context *context = kiln_test_context(1);
    whole w;
    begin_whole(&w, context);
    char path[160], text[800];
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    const kiln_shape *box;
    kiln_soup_field *u;
    static const char *const coarse[] = {"n=1"};
    ck_assert_int_eq(kiln_generator_find("box", &box, NULL), KILN_OK);
    ck_assert_int_eq(kiln_shape_make(box, 1, coarse, &soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_add_field(&soup, "u", KILN_ON_VERTEX, 3, &u, NULL), KILN_OK);
    for (size_t i = 0; i < soup.points.count; i++) {
        u->data.data[3 * i] = 2.0 * soup.points.data[i].x;
        u->data.data[3 * i + 1] = soup.points.data[i].y;
        u->data.data[3 * i + 2] = soup.points.data[i].z;
    }
    in_folder(&w.dir, "frame.vtu", path);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, NULL), KILN_OK);
    snprintf(text, sizeof text,
             "return scene { duration = 1, bodies = { body { shape = shape.file { path = '%s' }, "
             "material = material { young = 1 }, at = {5, 0, 0}, scale = 3, turn = { degrees = 90 "
             "} } } }",
             path);
    w.file = load(context, text, NULL, 0);
    const kiln_soup *placed = &kiln_scene_file_scene(w.file)->bodies.data[0].mesh;
    const kiln_soup_field *v = kiln_soup_find_field(placed, KILN_ON_VERTEX, "u");
    ck_assert_ptr_nonnull(v);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        const double *q = v->data.data + 3 * i;
        assert_vector(placed->points.data[i], 5 - 3 * p.y, 3 * p.x, 3 * p.z);
        assert_vector(kiln_v3(q[0], q[1], q[2]), 5 - 3 * p.y, 6 * p.x, 3 * p.z);
    }
    kiln_soup_free(&soup);
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

/* Every allocation fails once: an error that says so, nothing left. */
START_TEST(allocations_may_fail)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    whole w;
    begin_whole(&w, context);
    kiln_scene_options options = {.text = w.text, .text_size = strlen(w.text)};
    int64_t before = heap.live_bytes;
    uint64_t step = kiln_test_rounds(23, 1);
    for (uint64_t fail = 1;; fail += step) {
        kiln_error error = {0};
        w.file = NULL;
        heap.calls = 0;
        heap.fail_at = fail;
        kiln_status status = kiln_scene_file_load(context, "good.lua", &options, &w.file, &error);
        heap.fail_at = 0;
        if (status == KILN_OK)
            break;
        ck_assert_msg(status == KILN_ERR_MEMORY, "allocation %llu: %s", (unsigned long long)fail,
                      error.message);
        ck_assert_int_eq(heap.live_bytes, before);
    }
    end_whole(&w);
    ck_assert_int_eq(heap.live_bytes, before);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("scenes");
    TCase *reading = kiln_test_case(suite, "reading");
    tcase_add_test(reading, defaults);
    tcase_add_test(reading, nearly_incompressible);
    tcase_add_test(reading, bodies_and_materials);
    tcase_add_test(reading, obstacles_and_motions);
    tcase_add_test(reading, selections);
    tcase_add_test(reading, loads_steps_and_output);
    tcase_add_test(reading, every_key_is_tried);
    tcase_add_test(reading, the_same_scene_each_time);
    tcase_add_test(reading, static_scenes_need_no_duration);
    tcase_add_test(reading, meshes_from_files);
    tcase_add_test(reading, material_positions_are_placed_too);
    tcase_add_test(reading, allocations_may_fail);
    TCase *outside = kiln_test_case(suite, "outside");
    tcase_add_test(outside, booleans_in_place_of_tables);
    tcase_add_test(outside, the_reference_is_current);
    tcase_add_test(outside, settings);
    tcase_add_test(outside, settings_inside_short_forms);
    tcase_add_test(outside, params);
    tcase_add_loop_test(outside, bad_settings, 0, (int)(sizeof bad_sets / sizeof bad_sets[0]));
    return suite;
}
