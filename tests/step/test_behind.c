/* What got behind something within a step, whoever of the two it was that moved. */
#include "rig.h"

#include "step/collide.h"

#include <math.h>

enum { ROWS = 512 };

#define ACROSS 2.0 /* in place of an overlap */

typedef struct scene {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_obstacle *wall;
    kiln_constraints given;
    kiln_collide collide;
    size_t slots, rows;
    bool stays; /* where the step ends, no stage of it */
    double begin[3 * ROWS], end[3 * ROWS];
} scene;

/* The second bar: as far along, or across the middle of the first. */
static kiln_vec3 place_second(kiln_vec3 p, double along)
{
    if (along == ACROSS)
        return kiln_v3(0.505 - p.y, p.x - 0.495, p.z + 0.02);
    return kiln_v3_add(p, kiln_v3(along, 0.001, 0.02));
}

/* Two bars along x of 1 m and 1 cm across, 1 cm above each other, that share `overlap` of their
 * length; a wall of 10 cm below them that is as thin. */
static void set_up_over(scene *s, double overlap, const char *wall, double wall_y)
{
    kiln_error error = {0};
    s->stays = true;
    s->context = kiln_test_context(1);
    kiln_soup all;
    kiln_soup_init(&all, s->context);
    for (int i = 0; i < 2; i++) {
        kiln_soup one = kiln_test_soup(s->context, "box", "lx=1 ly=0.01 lz=0.01 nx=20 ny=1 nz=1");
        for (size_t p = 0; p < one.points.count; p++)
            one.points.data[p] = i == 0 ? one.points.data[p]
                                        : place_second(one.points.data[p],
                                                       overlap == ACROSS ? ACROSS : 1.0 - overlap);
        rig_check(kiln_soup_append(&all, &one, 0, &error), &error);
        kiln_soup_free(&one);
    }
    kiln_build_options build = kiln_build_default_options();
    rig_check(kiln_mesh_build(s->context, &all, &build, &s->mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_MESH,
                                 .surface = kiln_test_soup(s->context, "box", wall)};
    shape.surface.tets.count = shape.surface.tet_tags.count = 0;
    for (size_t i = 0; i < shape.surface.points.count; i++)
        shape.surface.points.data[i] =
            kiln_v3_add(shape.surface.points.data[i], kiln_v3(0.012, wall_y, -0.03));
    rig_check(kiln_obstacle_create(s->context, &shape, 0.0, &s->wall, &error), &error);
    kiln_contact_options options = {.walls = true,
                                    .bodies = true,
                                    .self = true,
                                    .thickness = 1e-3,
                                    .stiffness = 1.0,
                                    .material_tells = true};
    static double modulus[4096];
    for (size_t t = 0; t < 4096; t++)
        modulus[t] = 1e5;
    kiln_constraints_init(&s->given, s->context);
    kiln_collide_init(&s->collide, s->context, &options, 1e-3, &s->wall, 1);
    rig_check(kiln_collide_build_walls(&s->collide, &error), &error);
    rig_check(kiln_collide_build(&s->collide, s->mesh, modulus, &error), &error);
    s->slots = s->mesh->table[KILN_ON_VERTEX].used;
    s->rows = kiln_collide_rows(&s->collide, s->slots);
    ck_assert_uint_le(s->rows, ROWS);
    memcpy(s->begin, s->mesh->x, 3 * s->slots * sizeof(double));
    kiln_collide_place_walls(&s->collide, (kiln_box){{0, 0, 0}, {2, 1, 1}}, true,
                             s->begin + 3 * s->slots);
    rig_check(kiln_constraints_reset(&s->given, s->rows, &error), &error);
    for (size_t row = s->slots; row < s->rows; row++)
        s->given.held[row] = 7;
    kiln_collide_start start = {.given = &s->given, .x = s->begin, .origin = s->begin, .tau = 0.1};
    rig_check(kiln_collide_begin(&s->collide, &start, &error), &error);
}

static void set_up(scene *s, double overlap)
{
    set_up_over(s, overlap, "lx=0.1 ly=0.004 lz=0.01 nx=2 ny=1 nz=1", 0.003);
}

static void tear_down(scene *s)
{
    kiln_collide_free(&s->collide);
    kiln_constraints_free(&s->given);
    kiln_obstacle_destroy(s->wall);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

static bool ends_behind(scene *s)
{
    uint32_t vertex;
    kiln_error error = {0};
    rig_check(kiln_collide_behind(&s->collide, s->begin, s->end, s->stays, &vertex, &error),
              &error);
    ck_assert(vertex == KILN_NONE || vertex < s->slots);
    return vertex != KILN_NONE;
}

/* Whether something is behind another when both bars and the wall have gone up by so much. */
static bool is_behind(scene *s, double lower, double upper, double wall)
{
    memcpy(s->end, s->begin, sizeof s->end);
    for (uint32_t row = 0; row < s->rows; row++) {
        double way = wall;
        if (row < s->slots)
            way = s->collide.surface.part.data[row] == 0 ? lower : upper;
        s->end[3 * row + 2] += way;
    }
    return ends_behind(s);
}

/* It is the way of one as the other sees it that counts: by 8 cm they have changed places, each
 * of which is shorter than two of the bars' edges. */
START_TEST(bars)
{
    static const double overlaps[] = {0.9, 0.6};
    scene s;
    set_up(&s, overlaps[_i]);
    ck_assert(is_behind(&s, 0.04, -0.04, 0));
    ck_assert(is_behind(&s, 0.08, 0, 0));
    ck_assert(is_behind(&s, 0, -0.06, 0));
    ck_assert(is_behind(&s, 5.08, 5, 5));
    ck_assert(!is_behind(&s, 5, 5, 5));
    ck_assert(!is_behind(&s, -0.01, 0.5, -0.01));
    ck_assert(!is_behind(&s, 0.005, 0, 0));
    tear_down(&s);
}
END_TEST

/* Of 42 edges across a bar 8 are behind, or 2. Half a millimetre apart the bars press each other in
 * the end, and have felt each other; else 8 are too many. */
START_TEST(ends_of_bars)
{
    scene s;
    set_up(&s, 0.36);
    ck_assert(is_behind(&s, 0.08, 0, 0));
    ck_assert(is_behind(&s, 0, -0.08, 0));
    ck_assert(!is_behind(&s, 0.0305, 0, 0));
    ck_assert(!is_behind(&s, 0, -0.0305, 0));
    s.stays = false;
    ck_assert(is_behind(&s, 0.0305, 0, 0));
    tear_down(&s);
    set_up(&s, 0.06);
    ck_assert(!is_behind(&s, 0.08, 0, 0));
    ck_assert(!is_behind(&s, 0, -0.08, 0));
    tear_down(&s);
}
END_TEST

/* Of bars that lie across each other 4 of 84 vertices are behind, but so is the middle of each. */
START_TEST(middles)
{
    scene s;
    set_up(&s, ACROSS);
    ck_assert(is_behind(&s, 0.08, 0, 0));
    ck_assert(is_behind(&s, 0, -0.08, 0));
    ck_assert(is_behind(&s, 5.08, 5, 5));
    ck_assert(!is_behind(&s, 5, 5, 5));
    ck_assert(!is_behind(&s, 0, 0.08, 0));
    memset(s.given.held, 7, s.rows);
    ck_assert(!is_behind(&s, 0.08, 0, 0));
    tear_down(&s);
}
END_TEST

/* The lower bar gives way in its middle, and the upper one ends in the pocket: it went in from
 * above, and the sides of the pocket stand in its straight way from outside to inside. */
START_TEST(pocket)
{
    scene s;
    set_up(&s, 1.0);
    memcpy(s.end, s.begin, sizeof s.end);
    for (uint32_t row = 0; row < s.slots; row++) {
        double *x = &s.end[3 * row];
        if (s.collide.surface.part.data[row] == 0) {
            x[2] -= fabs(x[0] - 0.5) < 0.17 ? 0.3 : 0.0;
        } else {
            x[0] = 0.5 + 0.3 * (x[0] - 0.5);
            x[2] -= 0.28;
        }
    }
    ck_assert(!ends_behind(&s));
    for (uint32_t row = 0; row < s.slots; row++) /* out of it again, through its floor */
        s.end[3 * row + 2] -= s.collide.surface.part.data[row] == 0 ? 0.0 : 0.1;
    ck_assert(ends_behind(&s));
    tear_down(&s);
}
END_TEST

/* No vertex of the bars comes near the wall, which goes through both. */
START_TEST(wall)
{
    scene s;
    set_up(&s, 1.0);
    ck_assert(is_behind(&s, 0, 0, 0.1));
    ck_assert(is_behind(&s, -0.1, -0.1, 0));
    ck_assert(is_behind(&s, 2, 2, 2.1));
    ck_assert(!is_behind(&s, 2, 2, 2));
    ck_assert(!is_behind(&s, 0, 0, -1));
    memset(s.given.held, 7, s.rows); /* where the scene leads them */
    ck_assert(!is_behind(&s, 0, 0, 0.1));
    tear_down(&s);
}
END_TEST

/* 16 of 84 vertices of a bar got past a wall that is broader than the bar and does not give way,
 * and lie half a millimetre below it. */
START_TEST(broad_wall)
{
    scene s;
    set_up_over(&s, 1.0, "lx=0.2 ly=0.03 lz=0.01 nx=2 ny=1 nz=1", -0.01);
    ck_assert(is_behind(&s, -0.0405, 0, 0));
    ck_assert(is_behind(&s, 0, 0.0405, 0.0405));
    ck_assert(!is_behind(&s, -0.0405, -0.0405, -0.0405));
    tear_down(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("behind");
    TCase *tc = kiln_test_case(suite, "behind");
    tcase_add_loop_test(tc, bars, 0, 2);
    tcase_add_test(tc, ends_of_bars);
    tcase_add_test(tc, middles);
    tcase_add_test(tc, pocket);
    tcase_add_test(tc, wall);
    tcase_add_test(tc, broad_wall);
    suite_add_tcase(suite, tc);
    return suite;
}
