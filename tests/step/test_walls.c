/* What walls press the vertices of a flat block with: the pressure of its gap on the area below it,
 * at its edges too, and however the wall is cut. */
#include "contact/repulsion.h"
#include "rig.h"

#define THICKNESS 0.1
#define GAP       0.06
enum { SLOTS = 64, POINTS = 400 };

static kiln_obstacle *make_wall(kiln_context *context, const char *slab)
{
    kiln_obstacle *wall = NULL;
    kiln_error error = {0};
    kiln_obstacle_shape shape = {
        .kind = KILN_OBSTACLE_PLANE, .point = {0, 0, THICKNESS - GAP}, .normal = {0, 0, 1}};
    if (slab) {
        shape = (kiln_obstacle_shape){.kind = KILN_OBSTACLE_MESH,
                                      .surface = kiln_test_soup(context, "box", slab)};
        shape.surface.tets.count = shape.surface.tet_tags.count = 0;
        for (size_t i = 0; i < shape.surface.points.count; i++)
            shape.surface.points.data[i] =
                kiln_v3_add(shape.surface.points.data[i], kiln_v3(-1.3, -1.2, -1 - GAP));
    }
    rig_check(kiln_obstacle_create(context, &shape, 0.0, &wall, &error), &error);
    return wall;
}

/* A third of the faces at each vertex that look down. */
static void find_areas(const kiln_mesh *mesh, const kiln_contact_surface *s, double area[SLOTS])
{
    memset(area, 0, SLOTS * sizeof *area);
    for (size_t f = 0; f < s->faces.count; f += 3) {
        const uint32_t *v = &s->faces.data[f];
        kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(mesh->u[v[1]], mesh->u[v[0]]),
                                    kiln_v3_sub(mesh->u[v[2]], mesh->u[v[0]]));
        for (int k = 0; k < 3; k++)
            area[v[k]] += fmax(-n.z, 0.0) / 6.0;
    }
}

static const char *const slabs[] = {NULL, "lx=3 ly=3 lz=1 nx=1 ny=1 nz=1",
                                    "lx=3 ly=3 lz=1 nx=9 ny=7 nz=1 pattern=mirrored"};

START_TEST(test_pressure)
{
    kiln_context *context = kiln_test_context(1);
    kiln_error error = {0};
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=1 lz=1 nx=3 ny=3 nz=3");
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    ck_assert_uint_eq(slots, SLOTS);
    kiln_obstacle *wall = make_wall(context, slabs[_i]);
    kiln_contact_options options = {
        .walls = true, .thickness = THICKNESS, .stiffness = 1.0, .material_tells = true};
    double modulus[200], area[SLOTS], force[3 * SLOTS] = {0};
    static double x[3 * (SLOTS + POINTS)];
    for (int t = 0; t < 200; t++)
        modulus[t] = 1e3;
    kiln_collide c;
    kiln_constraints given;
    kiln_constraints_init(&given, context);
    kiln_collide_init(&c, context, &options, 1e-3, &wall, 1);
    rig_check(kiln_collide_build_walls(&c, &error), &error);
    rig_check(kiln_collide_build(&c, mesh, modulus, &error), &error);
    size_t rows = kiln_collide_rows(&c, slots);
    ck_assert_uint_le(rows, SLOTS + POINTS);
    memcpy(x, mesh->x, 3 * slots * sizeof *x);
    kiln_collide_place_walls(&c, (kiln_box){{0, 0, 0}, {1, 1, 1}}, false, x + 3 * slots);
    rig_check(kiln_constraints_reset(&given, rows, &error), &error);
    kiln_collide_start start = {.given = &given, .x = x, .origin = x, .tau = 0.1};
    rig_check(kiln_collide_begin(&c, &start, &error), &error);
    kiln_collide_forces(&c, x, true, force);
    find_areas(mesh, &c.surface, area);
    double pressure = -1e3 * kiln_repulsion_at(GAP / THICKNESS).slope;
    /* Of two triangles a vertex has a part that does not vanish, for which their edges answer. */
    double tolerance = _i == 1 ? 0.03 : 1e-9;
    for (uint32_t v = 0; v < SLOTS; v++)
        ck_assert_double_eq_tol(force[3 * v + 2], pressure * area[v],
                                tolerance * pressure * area[v] + 1e-12 * pressure);
    kiln_collide_free(&c);
    kiln_constraints_free(&given);
    kiln_obstacle_destroy(wall);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("walls");
    TCase *tc = kiln_test_case(suite, "walls");
    tcase_add_loop_test(tc, test_pressure, 0, 3);
    suite_add_tcase(suite, tc);
    return suite;
}
