/* What scenes say about flow, remeshing and contact. */
#include "fixtures.h"
#include "scene_texts.h"

START_TEST(flow)
{
    whole w;
    load_whole(&w);
    const kiln_scene_material *m = w.scene->materials.data;
    ck_assert(!m[0].base.plastic.flows && !m[0].flow_varies);
    ck_assert(m[1].base.plastic.flows && m[1].flow_varies && !m[1].base.plastic.instant);
    ck_assert(m[1].base.plastic.norm == KILN_YIELD_FROBENIUS &&
              m[1].base.plastic.law == KILN_HARDENING_STRESS);
    ck_assert_double_eq(number_at(&m[1].yield, &somewhere), 9 + 2);
    ck_assert_double_eq(number_at(&m[1].rate, &somewhere), 3);
    ck_assert_double_eq(number_at(&m[1].hardening, &somewhere), -0.25);
    const kiln_plastic *metal = &m[2].base.plastic;
    ck_assert(metal->flows && metal->instant && metal->norm == KILN_YIELD_MISES &&
              !m[2].flow_varies && m[2].base.nodal_pressure);
    ck_assert(metal->law == KILN_HARDENING_WORK);
    ck_assert_double_eq_tol(metal->yield, sqrt(2.0 / 3.0) * 3e6, 1e-8);
    ck_assert_double_eq_tol(metal->hardening, 9e6 / (3 * 1.2e9), 1e-15);
    ck_assert(number_at(&m[2].yield, &somewhere) == metal->yield &&
              number_at(&m[2].hardening, &somewhere) == metal->hardening);
    const kiln_soup *surface = &w.scene->bodies.data[0].surface;
    ck_assert_uint_gt(surface->triangles.count, 19);
    ck_assert_uint_eq(surface->points.count, surface->triangles.count / 2 + 2); /* a sphere */
    ck_assert_uint_eq(surface->tets.count, 0);
    for (size_t i = 0; i < surface->points.count; i++) { /* scaled, a quarter turn, moved */
        kiln_vec3 p = kiln_v3_sub(surface->points.data[i], kiln_v3(1, 2, 3));
        ck_assert_double_eq_tol(kiln_v3_norm(kiln_v3(p.x / 2, p.y, p.z / 3)), 0.25, 1e-12);
    }
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(remeshing_and_contact)
{
    whole w;
    load_whole(&w);
    const kiln_scene_remesh *r = &w.scene->remesh;
    ck_assert(r->method == KILN_REMESH_LOCAL && r->space == KILN_SPACE_WORLD && r->quality == 0.2 &&
              r->every == 3 && r->size == 0.5 && r->deformation == 0.25 && r->strain == 8 &&
              r->strain_printed && r->curvature == 0.5 && r->size_min == 0.125 &&
              r->size_max == 2 && r->isotropic && r->gradation == 1.25 && r->most_tets == 1e6);
    ck_assert_str_eq(r->said.path, "remesh");
    const kiln_scene_contact *c = &w.scene->contact;
    ck_assert(c->bodies && !c->self && c->thickness == 0.01 && c->stiffness == 2 &&
              c->friction == 0.75);
    const kiln_scene_pair *p = c->pairs.data;
    ck_assert(c->pairs.count == 2 && p[0].friction == 0.25 && !p[0].off);
    ck_assert(isnan(p[1].friction) && p[1].off);
    ck_assert_str_eq(p[0].a, "bar");
    ck_assert_str_eq(p[1].b, "floor");
    ck_assert_str_eq(p[1].said.path, "contact.pairs[2]");
    ck_assert_double_eq(w.scene->velocity_until, 1.5);
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(remeshing_of_the_whole)
{
    whole w;
    const char *set = "method=global";
    begin_whole(&w, kiln_test_context(1));
    w.file = load(w.context, w.text, &set, 1);
    const kiln_scene_remesh *r = &kiln_scene_file_scene(w.file)->remesh;
    ck_assert(r->method == KILN_REMESH_GLOBAL && r->space == KILN_SPACE_WORLD &&
              r->quality == 0.2 && r->size == 0.5 && r->condition == 9 &&
              r->condition_change == 2 && r->merge == 0.5);
    kiln_context *context = w.context;
    end_whole(&w);
    kiln_context_destroy(context);
}
END_TEST

/* What is on and what is meant where little is said. */
START_TEST(short_forms)
{
    static const struct {
        const char *set;
        kiln_remesh_method method;
        kiln_space space;
        bool follow;
    } cases[] = {{"remesh=local", KILN_REMESH_LOCAL, KILN_SPACE_MATERIAL, true},
                 {"remesh=global", KILN_REMESH_GLOBAL, KILN_SPACE_WORLD, false},
                 {"remesh=energy", KILN_REMESH_ENERGY, KILN_SPACE_MATERIAL, false},
                 {"remesh=none", KILN_REMESH_NONE, KILN_SPACE_MATERIAL, false},
                 {"remesh={}", KILN_REMESH_LOCAL, KILN_SPACE_MATERIAL, true},
                 {"remesh={space='world'}", KILN_REMESH_LOCAL, KILN_SPACE_WORLD, true},
                 {"remesh={follow=false}", KILN_REMESH_LOCAL, KILN_SPACE_MATERIAL, false},
                 {"remesh={size=1}", KILN_REMESH_LOCAL, KILN_SPACE_MATERIAL, false},
                 {"remesh={size=1,follow=true}", KILN_REMESH_LOCAL, KILN_SPACE_MATERIAL, true},
                 {"contact={}", KILN_REMESH_NONE, KILN_SPACE_MATERIAL, false}};
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kiln_scene_file *file = load(context, minimal, &cases[i].set, 1);
        const kiln_scene *s = kiln_scene_file_scene(file);
        ck_assert(s->remesh.method == cases[i].method && s->remesh.space == cases[i].space);
        ck_assert_int_eq(s->remesh.follow, cases[i].follow);
        ck_assert_double_eq(s->remesh.contact, cases[i].follow ? 0.5 : 0.0);
        bool touches = strncmp(cases[i].set, "contact", 7) == 0;
        ck_assert(s->contact.bodies == touches && s->contact.self == touches);
        kiln_scene_file_destroy(file);
    }
    kiln_context_destroy(context);
}
END_TEST

/* The tension test's words, in both norms; frobenius is not the one that locks. */
START_TEST(yield_stress_is_that_of_a_tension_test)
{
    const char *set = "bodies[1].material.plastic={yield_stress=50,rate=4}";
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file = load(context, minimal, &set, 1);
    const kiln_scene_material *m = &kiln_scene_file_scene(file)->materials.data[0];
    ck_assert(m->base.plastic.norm == KILN_YIELD_FROBENIUS && m->base.plastic.yield == 50 &&
              m->base.plastic.rate == 4 && !m->base.plastic.instant && !m->base.nodal_pressure);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

/* A file of tets alone: its surface is found, for bodies and for obstacles; loose points go. */
START_TEST(surfaces_from_files)
{
    kiln_context *context = kiln_test_context(1);
    folder dir = make_folder();
    char path[160], said[900];
    kiln_soup box = kiln_test_soup(context, "box", "n=3");
    box.triangles.count = box.triangle_tags.count = 0;
    ck_assert_int_eq(kiln_soup_write(context, in_folder(&dir, "b.mesh", path), NULL, &box, NULL),
                     KILN_OK);
    kiln_soup_free(&box);
    FILE *out = fopen(in_folder(&dir, "files.lua", path), "w");
    fputs("return scene { duration = 1, bodies = { body { shape = shape.box { n = 1 },\n"
          "  surface = shape.file { path = 'b.mesh' }, at = {5, 0, 0},\n"
          "  material = material { young = 1 } } },\n"
          "  obstacles = { obstacle.mesh { path = 'b.mesh' } } }\n",
          out);
    fclose(out);
    kiln_error error = {0};
    kiln_scene_file *file = NULL;
    kiln_status status = kiln_scene_file_load(context, path, NULL, &file, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, said, sizeof said));
    const kiln_scene *s = kiln_scene_file_scene(file);
    const kiln_soup *both[] = {&s->bodies.data[0].surface, &s->obstacles.data[0].shape.surface};
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(both[i]->triangles.count, 6 * 9 * 2);
        ck_assert_uint_eq(both[i]->points.count, 64 - 8);
        ck_assert_double_ge(both[i]->points.data[0].x, i ? 0.0 : 5.0);
    }
    kiln_scene_file_destroy(file);
    remove_folder(&dir);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("scenes that flow");
    TCase *reading = kiln_test_case(suite, "reading");
    tcase_add_test(reading, flow);
    tcase_add_test(reading, remeshing_and_contact);
    tcase_add_test(reading, remeshing_of_the_whole);
    tcase_add_test(reading, short_forms);
    tcase_add_test(reading, yield_stress_is_that_of_a_tension_test);
    tcase_add_test(reading, surfaces_from_files);
    return suite;
}
