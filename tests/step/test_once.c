/* Bodies whose places count once: forces are the gradient of the energy across whatever is nearest,
 * a flat block on another feels the pressure of its gap, however both are cut and turned, and edges
 * that cross between their ends repel each other in full. */
#include "contact/repulsion.h"
#include "rig.h"
#include "step/collide_impl.h"

#define YOUNG 1e3

typedef struct two {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_collide c;
    kiln_constraints given;
    double *x;
    size_t size, first; /* the first vertex of the upper body */
} two;

typedef struct lay {
    const char *below, *above;
    double thickness, gap;
    kiln_vec3 shift;
    double turn;   /* of the upper about z, rad */
    bool on_edges; /* both stand on edges, which cross */
} lay;

/* About an axis of unit length, or not at all. */
static kiln_vec3 turned(kiln_vec3 p, kiln_vec3 axis, double angle)
{
    double c = cos(angle), s = sin(angle);
    if (kiln_v3_norm2(axis) == 0.0)
        return p;
    kiln_vec3 out = kiln_v3_madd(kiln_v3_scale(p, c), s, kiln_v3_cross(axis, p));
    return kiln_v3_madd(out, (1.0 - c) * kiln_v3_dot(axis, p), axis);
}

/* With the middle of its top, or bottom, at the origin. */
static kiln_soup block_of(kiln_context *context, const char *settings, kiln_vec3 axis, bool top)
{
    kiln_soup soup = kiln_test_soup(context, "box", settings);
    kiln_box box = kiln_box_of(soup.points.data, (int)soup.points.count);
    kiln_vec3 middle = kiln_v3_lerp(box.low, box.high, 0.5);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = kiln_v3_sub(soup.points.data[i], middle);
        soup.points.data[i] = turned(p, axis, atan(1.0));
    }
    box = kiln_box_of(soup.points.data, (int)soup.points.count);
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i].z -= top ? box.high.z : box.low.z;
    return soup;
}

static kiln_mesh *put_together(kiln_context *context, const lay *l, size_t *first)
{
    kiln_vec3 none = kiln_v3(0, 0, 0);
    kiln_soup all = block_of(context, l->below, l->on_edges ? kiln_v3(1, 0, 0) : none, true);
    kiln_soup other = block_of(context, l->above, l->on_edges ? kiln_v3(0, 1, 0) : none, false);
    kiln_error error = {0};
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    *first = all.points.count;
    for (size_t i = 0; i < other.points.count; i++) {
        kiln_vec3 p = turned(other.points.data[i], kiln_v3(0, 0, 1), l->turn);
        other.points.data[i] = kiln_v3_add(p, kiln_v3(l->shift.x, l->shift.y, l->gap));
    }
    rig_check(kiln_soup_append(&all, &other, 0, &error), &error);
    rig_check(kiln_mesh_build(context, &all, &options, &mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    kiln_soup_free(&other);
    return mesh;
}

static void begin(two *t, const lay *l, double jitter)
{
    kiln_error error = {0};
    kiln_contact_options options = {.bodies = true,
                                    .self = true,
                                    .thickness = l->thickness,
                                    .stiffness = 1.0,
                                    .once = true,
                                    .material_tells = true};
    t->context = kiln_test_context(1);
    t->mesh = put_together(t->context, l, &t->first);
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
    const lay l = {.below = "lx=1 ly=1 lz=0.4 nx=4 ny=4 nz=1",
                   .above = "lx=0.8 ly=0.8 lz=0.4 nx=3 ny=3 nz=1",
                   .thickness = 0.1,
                   .gap = 0.05,
                   .shift = {0.03, -0.02, 0}};
    begin(&t, &l, 0.02);
    start(&t, t.x, over);
    double *way = malloc(t.size * sizeof *way), *at = malloc(t.size * sizeof *at);
    double *next = malloc(t.size * sizeof *at), *g = malloc(t.size * sizeof *g);
    kiln_random random = kiln_random_start(17, 0);
    kiln_term *term = &t.c.repulsion;
    size_t parts = 0;
    for (uint64_t trial = 0; trial < kiln_test_rounds(4, 12); trial++) {
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
            parts += t.c.part_of.count;
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

/* What presses the upper from below, N: of vertices and faces, of edges. */
static void find_lift(two *t, double lift[2])
{
    kiln_collide_measure(&t->c, t->x);
    lift[0] = lift[1] = 0.0;
    for (size_t a = 0; a < t->c.acting.count; a++) {
        size_t i = t->c.acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(&t->c, i);
        double up = t->c.distance.data[i].normal.z * (pair->v[0] >= t->first ? 1.0 : -1.0);
        lift[pair->split - 1] += kiln_collide_load(&t->c, i) * up;
    }
}

/* The matrix is that of the force: along the way of the upper block, which is across all gaps. */
START_TEST(test_stiffness)
{
    two t;
    const lay l = {.below = "lx=1 ly=1 lz=0.4 nx=4 ny=4 nz=1",
                   .above = "lx=1 ly=1 lz=0.4 nx=3 ny=3 nz=1",
                   .thickness = 0.1,
                   .gap = 0.05};
    begin(&t, &l, 0.0);
    start(&t, t.x, false);
    kiln_term *term = &t.c.repulsion;
    double *up = calloc(t.size, sizeof *up), *g = calloc(t.size, sizeof *g);
    double *out = calloc(t.size, sizeof *out), slope[2];
    for (size_t v = t.first; v < t.size / 3; v++)
        up[3 * v + 2] = 1.0;
    kiln_bsr H;
    kiln_bsr_init(&H, t.context);
    kiln_cliques cliques = term->cliques(term->self);
    ck_assert_int_eq(kiln_bsr_set_pattern(&H, t.size / 3, &cliques, 1, NULL), KILN_OK);
    kiln_bsr_clear(&H);
    term->add(term->self, t.x, 1.0, g, &H);
    ck_assert_int_eq(kiln_bsr_multiply(&H, up, out, NULL), KILN_OK);
    const double h = 1e-6;
    for (int k = 0; k < 2; k++) {
        memset(g, 0, t.size * sizeof *g);
        for (size_t v = t.first; v < t.size / 3; v++)
            t.x[3 * v + 2] += k ? 2.0 * h : -h;
        term->add(term->self, t.x, 1.0, g, NULL);
        slope[k] = 0.0;
        for (size_t i = 0; i < t.size; i++)
            slope[k] += up[i] * g[i];
    }
    double stiffness = 0.0, expected = (slope[1] - slope[0]) / (2.0 * h);
    for (size_t i = 0; i < t.size; i++)
        stiffness += up[i] * out[i];
    ck_assert_double_gt(expected, 0.0);
    /* What is taken away, at rims, is left out of the matrix. */
    ck_assert_double_eq_tol(stiffness, expected, 2e-3 * expected);
    kiln_bsr_free(&H);
    free(up);
    free(g);
    free(out);
    finish(&t);
}
END_TEST

/* Area of a square of side 1 that lies in another, turned by an angle below 45 degrees about the
 * same middle: what is common has eight equal sides. */
static double overlap(double turn)
{
    double c = cos(turn), s = sin(turn);
    if (turn == 0.0)
        return 1.0;
    double side = 1.0 / (1.0 + s + c); /* each side of the square is one of them and two legs */
    return 1.0 - 2.0 * side * side * s * c;
}

static const struct {
    int n, other;
    double turn;
    double off; /* at most, of the pressure of the gap on the area */
} cuts[] = {{4, 4, 0, 0.002},       {8, 8, 0, 0.002},     {16, 16, 0, 0.002},
            {4, 3, 0, 0.002},       {8, 6, 0, 0.02},      {16, 12, 0, 0.02},
            {8, 1, 0, 0.04},        {4, 4, 0.2967, 0.12}, {8, 8, 0.2967, 0.02},
            {16, 16, 0.2967, 0.02}, {4, 3, 0.2967, 0.02}, {8, 6, 0.2967, 0.02},
            {16, 12, 0.2967, 0.02}};

/* A block on another feels the pressure of the gap on its area; of edges nothing. */
START_TEST(test_pressure)
{
    two t;
    char below[99], above[99];
    snprintf(below, sizeof below, "lx=1 ly=1 lz=0.25 nx=%d ny=%d nz=1", cuts[_i].n, cuts[_i].n);
    snprintf(above, sizeof above, "lx=1 ly=1 lz=0.25 nx=%d ny=%d nz=1 pattern=mirrored",
             cuts[_i].other, cuts[_i].other);
    const double thickness = 0.2 / cuts[_i].n;
    const lay l = {.below = below,
                   .above = above,
                   .thickness = thickness,
                   .gap = 0.6 * thickness,
                   .turn = cuts[_i].turn};
    double lift[2], expected = -YOUNG * kiln_repulsion_at(0.6).slope * overlap(l.turn);
    begin(&t, &l, 0.0);
    start(&t, t.x, false);
    find_lift(&t, lift);
    ck_assert_double_eq_tol(lift[0] + lift[1], expected, cuts[_i].off * expected);
    ck_assert_double_le(fabs(lift[1]), 5e-4 * expected);
    finish(&t);
}
END_TEST

/* A block that slides over a slab feels the same force all the way. */
START_TEST(test_slide)
{
    static const struct {
        int n;
        double turn, ripple;
    } slides[] = {{4, 0, 0.035},      {8, 0, 0.02},      {16, 0, 0.02},
                  {4, 0.2967, 0.035}, {8, 0.2967, 0.02}, {16, 0.2967, 0.02}};
    two t;
    char below[99], above[99];
    int n = slides[_i].n;
    snprintf(below, sizeof below, "lx=2 ly=2 lz=0.25 nx=%d ny=%d nz=1", 2 * n, 2 * n);
    snprintf(above, sizeof above, "lx=1 ly=1 lz=0.25 nx=%d ny=%d nz=1 pattern=mirrored", 3 * n / 4,
             3 * n / 4);
    const lay l = {.below = below,
                   .above = above,
                   .thickness = 0.2 / n,
                   .gap = 0.12 / n,
                   .shift = {-0.3, 0.05, 0},
                   .turn = slides[_i].turn};
    double least = INFINITY, most = 0.0, lift[2];
    begin(&t, &l, 0.0);
    for (uint64_t i = 0; i < 50; i += kiln_test_rounds(3, 1)) {
        for (size_t v = t.first; v < t.size / 3; v++) {
            t.x[3 * v] = t.mesh->x[v].x + 0.012 * (double)i;
            t.x[3 * v + 1] = t.mesh->x[v].y + 0.0026 * (double)i;
        }
        start(&t, t.x, false);
        find_lift(&t, lift);
        least = fmin(least, lift[0] + lift[1]);
        most = fmax(most, lift[0] + lift[1]);
    }
    ck_assert_double_le(most - least, slides[_i].ripple * most);
    finish(&t);
}
END_TEST

/* Two edges that cross between their ends repel each other in full, and without bound. */
START_TEST(test_crossing)
{
    two t;
    lay l = {.below = "lx=1 ly=1 lz=1 n=1", .above = "lx=1 ly=1 lz=1 n=1", .thickness = 0.1};
    l.on_edges = true;
    for (double s = 0.5; s > 1e-6; s *= 0.1) {
        double lift[2];
        l.gap = s * l.thickness;
        begin(&t, &l, 0.0);
        start(&t, t.x, false);
        find_lift(&t, lift);
        ck_assert_uint_eq(t.c.acting.count, 1);
        size_t i = t.c.acting.data[0];
        double area = kiln_collide_pair(&t.c, i)->area;
        double expected = -YOUNG * area * kiln_repulsion_at(s).slope;
        ck_assert_double_eq_tol(lift[1], expected, 1e-6 * expected);
        finish(&t);
    }
}
END_TEST

/* Ends that showed all of a crossing where the solve began, and show nothing of it now: edges that
 * are pressed count again when a matrix is made, and the energy of the place never knew of it. */
START_TEST(test_weighed_again)
{
    two t;
    kiln_error error = {0};
    const lay l = {.below = "lx=1 ly=1 lz=1 n=1",
                   .above = "lx=1 ly=1 lz=1 n=1",
                   .thickness = 0.1,
                   .gap = 0.03,
                   .on_edges = true};
    double lift[2], full;
    begin(&t, &l, 0.0);
    start(&t, t.x, false);
    find_lift(&t, lift);
    full = lift[1];
    double energy = kiln_collide_energy(&t.c, t.x);
    const uint32_t *v = kiln_collide_pair(&t.c, t.c.acting.data[0])->v;
    kiln_lag *lag = &t.c.once.lag[t.c.once.now];
    const kiln_seen_body seen = {t.c.surface.body.data[v[2]], KILN_NONE, 1e9};
    rig_check(kiln_array_push(t.context, &lag->seen, seen, &error), &error);
    lag->head.data[v[0]] = (uint32_t)lag->seen.count - 1;
    t.c.state++;
    find_lift(&t, lift);
    ck_assert_double_eq_tol(lift[1], 1e-5 * full, 1e-12 * full);
    ck_assert_double_eq(kiln_collide_energy(&t.c, t.x), energy);
    find_lift(&t, lift);
    ck_assert_double_eq_tol(lift[1], 1e-5 * full, 1e-12 * full);
    rig_check(kiln_collide_expect(&t.c, t.x, &error), &error);
    ck_assert_int_eq(t.c.once.again, 1);
    find_lift(&t, lift);
    ck_assert_double_eq_tol(lift[1], full, 1e-12 * full);
    finish(&t);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("once");
    TCase *tc = kiln_test_case(suite, "once");
    tcase_add_loop_test(tc, test_gradient, 0, 2);
    tcase_add_test(tc, test_stiffness);
    tcase_add_loop_test(tc, test_pressure, 0, (int)(sizeof cuts / sizeof cuts[0]));
    tcase_add_loop_test(tc, test_slide, 0, 6);
    tcase_add_test(tc, test_crossing);
    tcase_add_test(tc, test_weighed_again);
    suite_add_tcase(suite, tc);
    return suite;
}
