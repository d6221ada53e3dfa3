/* Bodies that press each other: forces are the gradient of the energy across whatever is nearest,
 * and a flat block on another feels the pressure of its gap, however both are cut. */
#include "contact/repulsion.h"
#include "rig.h"
#include "step/collide_impl.h"

#define THICKNESS 0.1
#define YOUNG     1e3

typedef struct two {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_collide c;
    kiln_constraints given;
    double *x;
    size_t size;
} two;

static kiln_mesh *put_together(kiln_context *context, const char *below, const char *above,
                               double gap, kiln_vec3 shift)
{
    kiln_soup all = kiln_test_soup(context, "box", below);
    kiln_soup other = kiln_test_soup(context, "box", above);
    kiln_error error = {0};
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    double top = kiln_box_of(all.points.data, (int)all.points.count).high.z;
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i] =
            kiln_v3_add(other.points.data[i], kiln_v3(shift.x, shift.y, top + gap));
    rig_check(kiln_soup_append(&all, &other, 0, &error), &error);
    rig_check(kiln_mesh_build(context, &all, &options, &mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    kiln_soup_free(&other);
    return mesh;
}

/* Below and above, `gap` apart, the upper moved along by `shift`. */
static void begin(two *t, const char *below, const char *above, double gap, kiln_vec3 shift,
                  double jitter)
{
    kiln_error error = {0};
    kiln_contact_options options = {.bodies = true,
                                    .self = true,
                                    .thickness = THICKNESS,
                                    .stiffness = 1.0,
                                    .once = true,
                                    .material_tells = true};
    t->context = kiln_test_context(1);
    t->mesh = put_together(t->context, below, above, gap, shift);
    t->size = 3 * t->mesh->table[KILN_ON_VERTEX].used;
    t->x = malloc(t->size * sizeof *t->x);
    memcpy(t->x, t->mesh->x, t->size * sizeof *t->x);
    kiln_random random = kiln_random_start(3, 0);
    for (size_t i = 0; i < t->size; i++)
        t->x[i] += jitter * kiln_random_range(&random, -1.0, 1.0);
    double *modulus = malloc(t->mesh->table[KILN_ON_TET].used * sizeof *modulus);
    for (size_t i = 0; i < t->mesh->table[KILN_ON_TET].used; i++)
        modulus[i] = YOUNG;
    kiln_constraints_init(&t->given, t->context);
    kiln_collide_init(&t->c, t->context, &options, 1e-3, NULL, 0);
    rig_check(kiln_collide_build(&t->c, t->mesh, modulus, &error), &error);
    rig_check(kiln_constraints_reset(&t->given, t->size / 3, &error), &error);
    free(modulus);
}

static void finish(two *t)
{
    kiln_collide_free(&t->c);
    kiln_constraints_free(&t->given);
    kiln_mesh_destroy(t->mesh);
    free(t->x);
    kiln_context_destroy(t->context);
}

static void start(two *t, const double *origin, bool over)
{
    kiln_error error = {0};
    kiln_collide_start begins = {
        .given = &t->given, .x = t->x, .origin = origin, .tau = 0.1, .over = over};
    rig_check(kiln_collide_begin(&t->c, &begins, &error), &error);
}

/* Along ways on which the nearest places change: differences of the energy are the work of the
 * force in the middle. */
START_TEST(test_gradient)
{
    two t;
    bool over = _i == 1;
    begin(&t, "lx=1 ly=1 lz=0.4 nx=4 ny=4 nz=1", "lx=0.8 ly=0.8 lz=0.4 nx=3 ny=3 nz=1", 0.05,
          kiln_v3(0.13, 0.08, 0), 0.02);
    start(&t, t.x, over);
    double *way = malloc(t.size * sizeof *way), *at = malloc(t.size * sizeof *at);
    double *next = malloc(t.size * sizeof *at), *g = malloc(t.size * sizeof *g);
    kiln_random random = kiln_random_start(17, 0);
    kiln_term *term = &t.c.repulsion;
    size_t parts = 0;
    for (int trial = 0; trial < 12; trial++) {
        enum { STEPS = 400 };
        for (size_t i = 0; i < t.size; i++)
            way[i] = kiln_random_range(&random, -0.015, 0.015);
        memcpy(at, t.x, t.size * sizeof *at);
        for (int k = 0; k < STEPS; k++) {
            double work = 0.0, size = 0.0;
            for (size_t i = 0; i < t.size; i++) {
                next[i] = t.x[i] + (k + 1.0) / STEPS * way[i];
                g[i] = 0.0;
                at[i] = 0.5 * (at[i] + next[i]);
            }
            term->add(term->self, at, 1.0, g, NULL);
            parts += t.c.once.part_of.count;
            for (size_t i = 0; i < t.size; i++) {
                work += g[i] * way[i] / STEPS;
                size += fabs(g[i] * way[i]) / STEPS;
                at[i] = t.x[i] + (double)k / STEPS * way[i];
            }
            ck_assert_double_eq_tol(term->delta(term->self, at, next), work, 3e-4 * size);
            ck_assert_double_eq_tol(term->value(term->self, next) - term->value(term->self, at),
                                    work, 3e-4 * size);
            memcpy(at, next, t.size * sizeof *at);
        }
    }
    ck_assert_uint_gt(parts, 100);
    free(way);
    free(at);
    free(next);
    free(g);
    finish(&t);
}
END_TEST

static const struct {
    const char *below, *above;
} cuts[] = {{"lx=1 ly=1 lz=0.5 nx=4 ny=4 nz=2", "lx=1 ly=1 lz=0.5 nx=4 ny=4 nz=2"},
            {"lx=1 ly=1 lz=0.5 nx=4 ny=4 nz=2", "lx=1 ly=1 lz=0.5 nx=4 ny=4 nz=2 pattern=mirrored"},
            {"lx=1 ly=1 lz=0.5 nx=3 ny=3 nz=2", "lx=1 ly=1 lz=0.5 nx=7 ny=5 nz=2 pattern=mirrored"},
            {"lx=1 ly=1 lz=0.5 nx=8 ny=8 nz=4", "lx=1 ly=1 lz=0.5 nx=1 ny=1 nz=1"}};

/* What presses from below to above, N: of vertices and faces, of edges. */
static void find_lift(two *t, double lift[2])
{
    kiln_collide_measure(&t->c, t->x);
    lift[0] = lift[1] = 0.0;
    for (size_t a = 0; a < t->c.acting.count; a++) {
        size_t i = t->c.acting.data[a];
        lift[kiln_collide_pair(&t->c, i)->split - 1] +=
            kiln_collide_load(&t->c, i) * fabs(t->c.distance.data[i].normal.z);
    }
}

/* A block on another feels the pressure of the gap on its area, however both are cut: of vertices
 * and faces. What rims count across edges of the other comes on top. */
START_TEST(test_pressure)
{
    two t;
    const double gap = 0.06;
    double lift[2], pressure = -YOUNG * kiln_repulsion_at(gap / THICKNESS).slope;
    begin(&t, cuts[_i].below, cuts[_i].above, gap, kiln_v3(0, 0, 0), 0.0);
    start(&t, t.x, false);
    find_lift(&t, lift);
    ck_assert_double_eq_tol(lift[0], pressure, 0.04 * pressure);
    ck_assert_double_le(lift[1], 0.25 * pressure);
    finish(&t);
}
END_TEST

/* A small block that slides over a slab of 8 x 8 squares feels nearly the same force all the way.
 */
START_TEST(test_slide)
{
    two t;
    begin(&t, "lx=2 ly=2 lz=0.25 nx=8 ny=8 nz=1", "lx=0.5 ly=0.5 lz=0.5 nx=4 ny=4 nz=4", 0.05,
          kiln_v3(0.3, 0.4, 0), 0.0);
    double least[2] = {INFINITY, INFINITY}, most[2] = {0}, lift[2];
    for (int i = 0; i < 60; i++) {
        for (size_t v = 0; v < t.size / 3; v++)
            if (t.mesh->x[v].z > 0.25)
                t.x[3 * v] = t.mesh->x[v].x + 0.0131 * i;
        start(&t, t.x, false);
        find_lift(&t, lift);
        lift[1] += lift[0];
        for (int k = 0; k < 2; k++) {
            least[k] = fmin(least[k], lift[k]);
            most[k] = fmax(most[k], lift[k]);
        }
    }
    ck_assert_double_le(most[0] - least[0], 0.03 * most[0]);
    ck_assert_double_le(most[1] - least[1], 0.08 * most[1]);
    finish(&t);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("once");
    TCase *tc = kiln_test_case(suite, "once");
    tcase_add_loop_test(tc, test_gradient, 0, 2);
    tcase_add_loop_test(tc, test_pressure, 0, 4);
    tcase_add_test(tc, test_slide);
    suite_add_tcase(suite, tc);
    return suite;
}
