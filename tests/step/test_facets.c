/* A small block slides over the facets of obstacles: its energy of contact has no jumps, nor has
 * its force, which is the slope of the energy. */
#include "geom/distance.h"
#include "rig.h"
#include "step/collide_impl.h"

#define REACH 0.1
#define SIZE  0.06
enum { CORNERS = 10, PIECES = 6, LOOKED_AT = 2, ROWS = 8000, HILLS = 12 };

/* Whose energy: that of a place alone, of a solve that began at the first corner, and of one whose
 * forces are over the step. */
enum { OF_PLACE, OF_SOLVE, OVER_STEP, KINDS };

typedef struct slider {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_obstacle *wall;
    kiln_collide collide;
    kiln_constraints given;
    size_t slots, rows;
    int kind;
    kiln_vec3 at[CORNERS]; /* where the middle of the block is led along */
    double block[3 * 64], start[3 * ROWS], x[3 * ROWS], still[3 * ROWS], g[3 * ROWS];
} slider;

static double height_of_hills(double x, double y)
{
    return 0.03 * (sin(14.0 * x) + cos(11.0 * y) + 0.4 * sin(97.0 * x * y));
}

/* Over a square, as a sheet. */
static kiln_soup make_sheet(kiln_context *context)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    for (uint32_t i = 0; i <= HILLS; i++)
        for (uint32_t j = 0; j <= HILLS; j++) {
            double x = 1.2 * i / HILLS, y = 1.2 * j / HILLS;
            uint32_t a = i * (HILLS + 1) + j, b = a + HILLS + 1;
            const kiln_soup_triangle two[2] = {{{a, b, b + 1}}, {{a, b + 1, a + 1}}};
            rig_check(kiln_array_push(context, &soup.points,
                                      kiln_v3(x, y, 0.5 + height_of_hills(x, y)), NULL),
                      NULL);
            for (int k = 0; k < 2 && i < HILLS && j < HILLS; k++)
                rig_check(kiln_array_push(context, &soup.triangles, two[k], NULL), NULL);
        }
    return soup;
}

/* And as the upper side of a block. */
static kiln_soup make_hills(kiln_context *context)
{
    kiln_soup soup =
        kiln_test_soup(context, "box", "lx=1.2 ly=1.2 lz=.5 nx=12 ny=12 nz=1 pattern=mirrored");
    soup.tets.count = soup.tet_tags.count = 0;
    for (size_t i = 0; i < soup.points.count; i++)
        if (soup.points.data[i].z > 0.4)
            soup.points.data[i].z += height_of_hills(soup.points.data[i].x, soup.points.data[i].y);
    return soup;
}

/* And the way of a point from which the nearest place of the obstacle is sought. */
typedef struct shape_row {
    kiln_obstacle_shape shape;
    kiln_soup (*surface)(kiln_context *context);
    kiln_vec3 begin, end;
} shape_row;

static const shape_row shapes[] = {
    {{.kind = KILN_OBSTACLE_SPHERE, .radius = 0.5}, NULL, {1, -.4, .1}, {-.3, .9, .6}},
    {{.kind = KILN_OBSTACLE_CYLINDER, .radius = 0.4, .point = {0, 0, -.5}, .end = {0, 0, .5}},
     NULL,
     {1, -.4, -.1},
     {-.1, .3, .9}},
    {{.kind = KILN_OBSTACLE_CAPSULE, .radius = 0.4, .point = {0, 0, -.2}, .end = {0, 0, .2}},
     NULL,
     {1, -.4, -.3},
     {-.3, .3, .9}},
    {{.kind = KILN_OBSTACLE_BOX, .point = {-.5, -.4, -.3}, .end = {.5, .4, .6}},
     NULL,
     {.55, .2, .5},
     {.3, .45, .75}},
    {{.kind = KILN_OBSTACLE_CONE, .radius = 0.8, .point = {0, 0, -.2}, .end = {0, 0, 1}},
     NULL,
     {1, -.4, -.6},
     {-.2, .4, 1.2}},
    {{.kind = KILN_OBSTACLE_TORUS, .radius = 0.6, .tube = 0.3, .normal = {0, 0, 1}},
     NULL,
     {1, -.2, .1},
     {-.1, .2, .5}},
    {{.kind = KILN_OBSTACLE_TORUS, .radius = 0.6, .tube = 0.3, .normal = {0, 0, 1}},
     NULL,
     {.4, .1, .5},
     {.2, .5, .4}},
    {{.kind = KILN_OBSTACLE_SPHERE, .radius = 0.5, .inside_out = true},
     NULL,
     {.3, -.1, .1},
     {-.1, .3, .2}},
    {{.kind = KILN_OBSTACLE_MESH}, make_hills, {.2, .1, 1}, {1.1, .9, 1}},
    {{.kind = KILN_OBSTACLE_MESH}, make_hills, {.9, .5, .8}, {1.5, .6, .3}},
    {{.kind = KILN_OBSTACLE_MESH}, make_sheet, {.2, .1, 1}, {1.1, .9, 1}},
    {{.kind = KILN_OBSTACLE_MESH}, make_sheet, {.9, .3, 0}, {1.5, .6, .6}}};
enum { SHAPES = (int)(sizeof shapes / sizeof shapes[0]) };

/* The nearest place of the wall. */
static kiln_vec3 foot_of(const slider *s, const kiln_vec3 *places, kiln_vec3 p)
{
    const kiln_u32_array *faces = &s->collide.walls.faces;
    kiln_closest_point best = {.distance2 = INFINITY};
    for (size_t f = 0; f < faces->count; f += 3) {
        const uint32_t *v = &faces->data[f];
        const kiln_vec3 corner[3] = {places[v[0]], places[v[1]], places[v[2]]};
        kiln_closest_point at = kiln_closest_on_triangle(p, corner);
        best = at.distance2 < best.distance2 ? at : best;
    }
    return kiln_v3_sub(p, best.offset);
}

static void lead(slider *s, const shape_row *row)
{
    const kiln_vec3 *places = kiln_collide_points(s->x) + s->slots;
    for (int i = 0; i < CORNERS; i++) {
        kiln_vec3 p = kiln_v3_lerp(row->begin, row->end, i / (CORNERS - 1.0));
        kiln_vec3 foot = foot_of(s, places, p), up = kiln_v3_normalize(kiln_v3_sub(p, foot));
        s->at[i] = kiln_v3_madd(foot, 0.075 + 0.01 * sin(3.0 * i), up);
    }
}

/* The block at a place, 0 to CORNERS - 1, of the way. */
static const double *place(slider *s, double t)
{
    int i = t >= CORNERS - 1 ? CORNERS - 2 : (int)t;
    kiln_vec3 at = kiln_v3_lerp(s->at[i], s->at[i + 1], t - i);
    kiln_vec3 *x = (kiln_vec3 *)(void *)s->x;
    for (size_t v = 0; v < s->slots; v++)
        x[v] = kiln_v3_add(kiln_collide_points(s->block)[v], at);
    return s->x;
}

static double energy_at(slider *s, double t)
{
    kiln_collide *c = &s->collide;
    return s->kind == OF_PLACE ? kiln_collide_energy(c, place(s, t))
                               : c->repulsion.value(c->repulsion.self, place(s, t));
}

/* Its slope along the way by the forces. */
static double slope_at(slider *s, double t)
{
    kiln_collide *c = &s->collide;
    int i = (int)t;
    kiln_vec3 way = kiln_v3_sub(s->at[i + 1], s->at[i]), sum = {0, 0, 0};
    memset(s->g, 0, 3 * s->rows * sizeof *s->g);
    c->repulsion.add(c->repulsion.self, place(s, t), 1.0, s->g, NULL);
    for (size_t v = 0; v < s->slots; v++)
        sum = kiln_v3_add(sum, kiln_collide_points(s->g)[v]);
    return kiln_v3_dot(sum, way);
}

static void begin(slider *s, const shape_row *row, int kind)
{
    kiln_error error = {0};
    *s = (slider){.context = kiln_test_context(1), .kind = kind};
    s->mesh = kiln_test_mesh(s->context, "box", "lx=1 ly=1 lz=1 nx=2 ny=2 nz=2");
    s->slots = s->mesh->table[KILN_ON_VERTEX].used;
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3_normalize(kiln_v3(1, 2, -.5)), 0.7);
    for (size_t v = 0; v < s->slots; v++) {
        kiln_vec3 p = kiln_v3_sub(s->mesh->x[v], kiln_v3(.5, .5, .5));
        p = kiln_m3_apply(turn, kiln_v3_scale(p, SIZE));
        s->mesh->x[v] = s->mesh->u[v] = ((kiln_vec3 *)(void *)s->block)[v] = p;
    }
    kiln_obstacle_shape shape = row->shape;
    if (row->surface)
        shape.surface = row->surface(s->context);
    rig_check(kiln_obstacle_create(s->context, &shape, 0.0, &s->wall, &error), &error);
    kiln_contact_options options = {
        .walls = true, .thickness = REACH, .stiffness = 1.0, .material_tells = true};
    static double modulus[200];
    for (int t = 0; t < 200; t++)
        modulus[t] = 1e3;
    kiln_constraints_init(&s->given, s->context);
    kiln_collide_init(&s->collide, s->context, &options, 1e-3, &s->wall, 1);
    rig_check(kiln_collide_build_walls(&s->collide, &error), &error);
    rig_check(kiln_collide_build(&s->collide, s->mesh, modulus, &error), &error);
    s->rows = kiln_collide_rows(&s->collide, s->slots);
    ck_assert_uint_le(s->rows, ROWS);
    kiln_collide_place_walls(&s->collide, kiln_box_empty(), false, s->x + 3 * s->slots);
    lead(s, row);
    rig_check(kiln_constraints_reset(&s->given, s->rows, &error), &error);
    memcpy(s->start, place(s, 0.0), 3 * s->rows * sizeof *s->x);
    kiln_collide_start start = {.given = &s->given,
                                .x = s->start,
                                .origin = s->start,
                                .tau = 0.1,
                                .over = kind == OVER_STEP,
                                .carried = s->still,
                                .besides = s->still};
    rig_check(kiln_collide_begin(&s->collide, &start, &error), &error);
}

static void end(slider *s)
{
    kiln_collide_free(&s->collide);
    kiln_constraints_free(&s->given);
    kiln_obstacle_destroy(s->wall);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

/* What is left of a change over an interval when it is halved again and again: of a jump all. */
static double jump_between(slider *s, double (*f)(slider *s, double t), double low, double high)
{
    double a = f(s, low), b = f(s, high);
    while (high - low > 4e-14) {
        double middle = 0.5 * (low + high), m = f(s, middle);
        if (fabs(m - a) > fabs(b - m))
            high = middle, b = m;
        else
            low = middle, a = m;
    }
    return fabs(b - a);
}

/* How far a change is from those before and after it. */
static double oddness(const double change[3])
{
    return fabs(change[1] - 0.5 * (change[0] + change[2]));
}

/* The largest jump along the way, sought where changes are the least like their neighbours. Corners
 * of the way bend everything: not across them. */
static double largest_jump(slider *s, double (*f)(slider *s, double t), double *scale)
{
    double most = 0.0, width = 0.99 / PIECES, odd[CORNERS][PIECES] = {0};
    *scale = 0.0;
    for (int i = 0; i < CORNERS - 1; i++) {
        double value[PIECES + 1], change[PIECES];
        for (int k = 0; k <= PIECES; k++)
            value[k] = f(s, i + 0.005 + k * width);
        for (int k = 0; k < PIECES; k++) {
            change[k] = value[k + 1] - value[k];
            *scale = fmax(*scale, fabs(value[k]));
        }
        for (int k = 1; k + 1 < PIECES; k++)
            odd[i][k] = oddness(&change[k - 1]);
    }
    for (int n = 0; n < LOOKED_AT; n++) {
        int at[2] = {0, 0};
        for (int i = 0; i < CORNERS; i++)
            for (int k = 0; k < PIECES; k++)
                if (odd[i][k] > odd[at[0]][at[1]])
                    at[0] = i, at[1] = k;
        double low = at[0] + 0.005 + at[1] * width;
        most = fmax(most, jump_between(s, f, low, low + width));
        odd[at[0]][at[1]] = 0.0;
    }
    return most;
}

START_TEST(energies_have_no_jumps)
{
    static slider s;
    double scale;
    begin(&s, &shapes[_i % SHAPES], _i / SHAPES);
    double jump = largest_jump(&s, energy_at, &scale);
    ck_assert_double_gt(scale, 0.0);
    ck_assert_msg(jump < 1e-12 * scale, "shape %d kind %d: %g of %g", _i % SHAPES, _i / SHAPES,
                  jump, scale);
    end(&s);
}
END_TEST

START_TEST(forces_are_slopes_and_have_no_jumps)
{
    static slider s;
    double scale;
    begin(&s, &shapes[_i % SHAPES], OF_SOLVE + _i / SHAPES);
    double jump = largest_jump(&s, slope_at, &scale);
    ck_assert_double_gt(scale, 0.0);
    ck_assert_msg(jump < 1e-10 * scale, "shape %d kind %d: %g of %g", _i % SHAPES, _i / SHAPES,
                  jump, scale);
    for (int i = 0; i < 2 * (CORNERS - 1); i++) {
        double t = (i + 0.3) / 2.0, e = 1e-5;
        double change = (energy_at(&s, t + e) - energy_at(&s, t - e)) / (2.0 * e);
        ck_assert_double_eq_tol(change, slope_at(&s, t), 1e-6 * scale);
    }
    end(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("facets");
    TCase *tc = kiln_test_case(suite, "facets");
    tcase_add_loop_test(tc, energies_have_no_jumps, 0, KINDS * SHAPES);
    tcase_add_loop_test(tc, forces_are_slopes_and_have_no_jumps, 0, 2 * SHAPES);
    suite_add_tcase(suite, tc);
    return suite;
}
