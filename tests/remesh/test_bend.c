/* Places in the world of what a pass puts somewhere in matter that is bent. */
#include "fixtures.h"
#include "remesh/bend.h"
#include "support.h"

/* x = b + A u + terms of second degree times `bent`. */
static kiln_vec3 place(kiln_vec3 u, double bent)
{
    return kiln_v3(7 + 1.2 * u.x - 0.3 * u.y + 0.1 * u.z + bent * (u.y * u.y - 0.4 * u.x * u.z),
                   -3 + 0.2 * u.x + 0.9 * u.y + bent * (0.5 * u.x * u.x + 0.3 * u.z * u.y),
                   1 - 0.1 * u.y + 1.1 * u.z + bent * (0.6 * u.x * u.y - 0.2 * u.z * u.z));
}

static kiln_mat3 gradient(kiln_vec3 u, double bent)
{
    return (kiln_mat3){{{1.2 - 0.4 * bent * u.z, -0.3 + 2 * bent * u.y, 0.1 - 0.4 * bent * u.x},
                        {0.2 + bent * u.x, 0.9 + 0.3 * bent * u.z, 0.3 * bent * u.y},
                        {0.6 * bent * u.y, -0.1 + 0.6 * bent * u.x, 1.1 - 0.4 * bent * u.z}}};
}

typedef struct bent_box {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesher r;
    double bent;
} bent_box;

static void begin(bent_box *b, double bent, bool follows)
{
    b->context = kiln_test_context(1);
    b->mesh = kiln_test_mesh(b->context, "box", "nx=4 ny=4 nz=4");
    b->bent = bent;
    kiln_test_jitter(b->mesh, 0.05, 3);
    for (uint32_t v = 0; v < b->mesh->table[KILN_ON_VERTEX].used; v++)
        b->mesh->x[v] = place(b->mesh->u[v], bent);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.bend_elsewhere = follows;
    ck_assert_int_eq(kiln_remesher_begin(b->mesh, &options, &b->r, NULL), KILN_OK);
}

static void end(bent_box *b)
{
    kiln_remesher_end(&b->r);
    kiln_mesh_destroy(b->mesh);
    kiln_context_destroy(b->context);
}

/* How far a place is from where it should be. */
static double error_at(const bent_box *b, kiln_vec3 p, uint32_t hint)
{
    kiln_place found = {.side.hint = hint};
    kiln_remesher_locate(&b->r, p, &found);
    return kiln_v3_norm(kiln_v3_sub(found.x, place(p, b->bent)));
}

/* Mean square over the middles of all edges of all tets, and of those on the surface. */
static void edge_errors(const bent_box *b, double *all, double *surface)
{
    double sum[2] = {0, 0}, count[2] = {0, 0};
    for (uint32_t t = 0; t < b->mesh->table[KILN_ON_TET].used; t++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < i; k++) {
                uint32_t p = b->mesh->tet[t].v[i], q = b->mesh->tet[t].v[k];
                kiln_vec3 middle = kiln_v3_scale(kiln_v3_add(b->mesh->u[p], b->mesh->u[q]), 0.5);
                double error = error_at(b, middle, t);
                bool outside =
                    b->mesh->vertex[p].flags & b->mesh->vertex[q].flags & KILN_VERTEX_SURFACE;
                for (int s = 0; s <= outside; s++) {
                    sum[s] += error * error;
                    count[s] += 1;
                }
            }
    *all = sqrt(sum[0] / count[0]);
    *surface = sqrt(sum[1] / count[1]);
}

START_TEST(what_is_not_bent_stays_flat)
{
    bent_box b;
    double all, surface;
    begin(&b, 0.0, true);
    ck_assert_uint_gt(b.r.gradient.count, 0);
    edge_errors(&b, &all, &surface);
    ck_assert_double_lt(all, 1e-14);
    end(&b);
}
END_TEST

START_TEST(vertices_stay_where_they_are)
{
    bent_box b;
    begin(&b, 0.3, true);
    for (uint32_t t = 0; t < b.mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++)
            ck_assert_double_lt(error_at(&b, b.mesh->u[b.mesh->tet[t].v[k]], t), 1e-14);
    end(&b);
}
END_TEST

START_TEST(second_degree_is_exact_with_its_gradients)
{
    bent_box b;
    double all, surface;
    begin(&b, 0.3, true);
    for (uint32_t v = 0; v < b.mesh->table[KILN_ON_VERTEX].used; v++)
        b.r.gradient.data[v] = gradient(b.mesh->u[v], b.bent);
    edge_errors(&b, &all, &surface);
    ck_assert_double_lt(all, 1e-14);
    for (int i = 0; i < 50; i++) /* also outside, by extrapolation */
        ck_assert_double_lt(error_at(&b, kiln_v3(0.02 * i, 1.02, 0.3 + 0.01 * i), (uint32_t)i),
                            1e-13);
    end(&b);
}
END_TEST

START_TEST(averaged_gradients_take_half_of_the_error)
{
    bent_box flat, bent;
    double chord[2], curve[2];
    begin(&flat, 0.3, false);
    ck_assert_uint_eq(flat.r.gradient.count, 0);
    edge_errors(&flat, &chord[0], &chord[1]);
    begin(&bent, 0.3, true);
    edge_errors(&bent, &curve[0], &curve[1]);
    ck_assert_double_lt(curve[0], 0.5 * chord[0]);
    ck_assert_double_lt(curve[1], 0.5 * chord[1]);
    end(&flat);
    end(&bent);
}
END_TEST

/* Where the pass works in the world the material is left alone. */
START_TEST(only_the_world_is_bent)
{
    bent_box b;
    begin(&b, 0.3, false);
    kiln_remesher_end(&b.r);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.bend_elsewhere = true;
    options.space = KILN_SPACE_WORLD;
    ck_assert_int_eq(kiln_remesher_begin(b.mesh, &options, &b.r, NULL), KILN_OK);
    ck_assert_uint_eq(b.r.gradient.count, 0);
    end(&b);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bend");
    TCase *all = kiln_test_case(suite, "bend");
    tcase_add_test(all, what_is_not_bent_stays_flat);
    tcase_add_test(all, vertices_stay_where_they_are);
    tcase_add_test(all, second_degree_is_exact_with_its_gradients);
    tcase_add_test(all, averaged_gradients_take_half_of_the_error);
    tcase_add_test(all, only_the_world_is_bent);
    return suite;
}
