#include "remesh/domain.h"

#include "fixtures.h"
#include "geom/tet_quality.h"
#include "mesh/shapes.h"
#include "remesh/shape_change.h"
#include "support.h"
#include "topology/import.h"

#include <stdio.h>
#include <string.h>

static kiln_mesh *remesh(const kiln_mesh *mesh, double size, kiln_domain_report *report)
{
    kiln_domain_options options = kiln_domain_default_options();
    kiln_error error;
    kiln_mesh *out;
    options.size = size;
    ck_assert_msg(kiln_domain_remesh(mesh, &options, &out, report, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_ptr_nonnull(out);
    kiln_test_audit(out);
    return out;
}

static double world_volume(const kiln_mesh *mesh)
{
    double volume = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t))
            volume += kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
    }
    return volume;
}

START_TEST(a_box_keeps_faces_edges_and_corners)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *box = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    kiln_domain_report report;
    kiln_mesh *out = remesh(box, 0.15, &report);
    ck_assert_double_eq_tol(world_volume(out), 1.0, 1e-12);
    ck_assert(!report.joined);
    size_t corners = 0;
    for (uint32_t v = 0; v < out->table[KILN_ON_VERTEX].used; v++) {
        const uint32_t flags = out->vertex[v].flags;
        const double x[3] = {out->x[v].x, out->x[v].y, out->x[v].z};
        int faces = 0;
        for (int k = 0; k < 3; k++)
            faces += fabs(x[k]) < 1e-12 || fabs(x[k] - 1.0) < 1e-12;
        corners += faces == 3 && (flags & KILN_VERTEX_CORNER);
        ck_assert_int_eq(faces > 0, (flags & KILN_VERTEX_SURFACE) != 0);
        ck_assert_int_eq(faces > 1, (flags & KILN_VERTEX_FEATURE) != 0);
    }
    ck_assert_uint_eq(corners, 8);
    /* Patches of the box are its six sides, told by their tags. */
    for (uint32_t f = 0; f < out->table[KILN_ON_FACE].used; f++)
        ck_assert_int_ne(out->face[f].tag, 0);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(box);
    kiln_context_destroy(context);
}
END_TEST

/* A gear without tags, so that its flat sides are not known as such. */
static kiln_mesh *gear(kiln_context *context)
{
    static const double tooth[5][2] = {{0, 0.8}, {0.25, 0.8}, {0.35, 1}, {0.65, 1}, {0.75, 0.8}};
    enum { TEETH = 12 };
    char points[2000] = "points=";
    const char *settings[] = {points, "depth=0.3", "h=0.3"};
    for (size_t i = 0; i < 5 * TEETH; i++) {
        const double *at = tooth[i % 5];
        double a = 2.0 * KILN_PI * ((double)(i / 5) + at[0]) / TEETH;
        size_t used = strlen(points);
        snprintf(points + used, sizeof points - used, "%s%.6f,%.6f", i ? " " : "", at[1] * cos(a),
                 at[1] * sin(a));
    }
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *polygon;
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh;
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_shape_find(shapes, count, "polygon", &polygon, NULL), KILN_OK);
    ck_assert_int_eq(kiln_shape_make(polygon, 3, settings, &soup, NULL), KILN_OK);
    soup.triangles.count = soup.triangle_tags.count = 0;
    soup.edges.count = soup.edge_tags.count = soup.ridges.count = soup.corners.count = 0;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    return mesh;
}

/* Its arcs have one corner each: when these go, nothing curved is left to give back what chords
 * took. */
START_TEST(coarse_arcs_keep_their_volume)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = gear(context), *out = remesh(mesh, 0.0, NULL);
    double volume = world_volume(mesh);
    ck_assert_double_eq_tol(world_volume(out), volume, 1e-4 * volume);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(curved_bodies_keep_their_volume)
{
    const char *const shapes[] = {"ball", "torus", "cylinder"};
    for (size_t i = 0; i < 3; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, shapes[i], "");
        double volume = kiln_mesh_volume(mesh);
        kiln_mesh *out = remesh(mesh, 0.0, NULL);
        ck_assert_double_eq_tol(world_volume(out), volume, 0.005 * volume);
        kiln_surface_topology a = kiln_test_surface_of(mesh), b = kiln_test_surface_of(out);
        ck_assert_uint_eq(a.components, b.components);
        ck_assert_int_eq(a.euler, b.euler);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Two unit cubes, the second `shift` to the right of the first. */
static kiln_mesh *two_boxes(kiln_context *context, const char *first, const char *second,
                            kiln_vec3 shift)
{
    kiln_soup a = kiln_test_soup(context, "box", first);
    kiln_soup b = kiln_test_soup(context, "box", second);
    for (size_t i = 0; i < b.points.count; i++)
        b.points.data[i] = kiln_v3_add(b.points.data[i], shift);
    kiln_build_options options = kiln_build_default_options();
    kiln_error error;
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_soup_append(&a, &b, 0, &error), KILN_OK);
    ck_assert_msg(kiln_mesh_build(context, &a, &options, &mesh, NULL, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(&a);
    kiln_soup_free(&b);
    return mesh;
}

static kiln_mesh *two_cubes(kiln_context *context, kiln_vec3 shift)
{
    return two_boxes(context, "nx=5 ny=5 nz=5", "nx=4 ny=4 nz=4", shift);
}

static void add_rest_volume(kiln_mesh *mesh)
{
    ck_assert_int_eq(kiln_mesh_add_field(mesh, "rest_volume", KILN_ON_TET, KILN_F64, 1,
                                         KILN_RULE_CONSERVE, NULL),
                     KILN_OK);
    double *rest = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "rest_volume")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        rest[t] = kiln_mesh_tet_volume(mesh, t);
}

/* Validation M2: the world is one box, what was there twice is compressed to half. */
START_TEST(overlapping_bodies_become_one)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context, kiln_v3(0.9, 0, 0));
    add_rest_volume(mesh);
    kiln_domain_report report;
    kiln_mesh *out = remesh(mesh, 0.2, &report);
    ck_assert_double_eq_tol(report.volume_before, 1.9, 1e-12);
    ck_assert_double_eq_tol(world_volume(out), 1.9, 1e-9);
    ck_assert_uint_eq(kiln_test_surface_of(out).components, 1);
    ck_assert_int_eq(kiln_test_surface_of(out).euler, 2);
    const kiln_field *rest = kiln_mesh_field(out, KILN_ON_TET, "rest_volume");
    ck_assert_ptr_nonnull(rest);
    double sum = 0.0;
    size_t wrong = 0;
    for (uint32_t t = 0; t < out->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = out->tet[t].v;
        double low = INFINITY, high = -INFINITY, value = kiln_field_value(rest, t, 0);
        for (int i = 0; i < 4; i++) {
            low = fmin(low, out->x[v[i]].x);
            high = fmax(high, out->x[v[i]].x);
        }
        double ratio = value / kiln_mesh_tet_volume(out, t);
        sum += value;
        wrong += low >= 0.9 && high <= 1.0 && fabs(ratio - 2.0) > 1e-9;
        wrong += (high <= 0.9 || low >= 1.0) && fabs(ratio - 1.0) > 1e-9;
        wrong += ratio < 1.0 - 1e-9 || ratio > 2.0 + 1e-9;
    }
    ck_assert_double_eq_tol(sum, 2.0, 1e-12);
    ck_assert_uint_eq(wrong, 0);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(touching_bodies_become_one_and_others_do_not)
{
    const double shift[] = {1.0, 1.3};
    for (int i = 0; i < 2; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = two_cubes(context, kiln_v3(shift[i], 0, 0));
        kiln_mesh *out = remesh(mesh, 0.2, NULL);
        ck_assert_double_eq_tol(world_volume(out), 2.0, 1e-9);
        ck_assert_uint_eq(kiln_test_surface_of(out).components, i == 0 ? 1 : 2);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* To join coarse cubes that meet in an edge or a corner would take a tet as large as a sixth of
 * one: they stay two. Fine ones are joined there, by little. */
START_TEST(bodies_that_meet_in_an_edge_keep_their_shape)
{
    const kiln_vec3 shift[] = {{1, 1, 0}, {1, 1, 1}};
    const double size[] = {0.0, 1.0, 0.5};
    kiln_context *context = kiln_test_context(1);
    for (int i = 0; i < 6; i++) {
        kiln_mesh *mesh = two_boxes(context, "nx=1 ny=1 nz=1", "nx=1 ny=1 nz=1", shift[i / 3]);
        kiln_mesh_shape before = {0}, after = {0};
        kiln_shape_change change;
        kiln_domain_report report;
        kiln_mesh *out = remesh(mesh, size[i % 3], &report);
        ck_assert(report.joined);
        ck_assert_uint_gt(report.cuts, 0);
        ck_assert_uint_eq(out->parts.count, 2);
        ck_assert_int_eq(kiln_mesh_shape_take(mesh, KILN_SPACE_WORLD, &before, NULL), KILN_OK);
        ck_assert_int_eq(kiln_mesh_shape_take(out, KILN_SPACE_WORLD, &after, NULL), KILN_OK);
        ck_assert_int_eq(kiln_shape_compare(context, &before, &after, &change, NULL), KILN_OK);
        ck_assert_double_lt(change.hausdorff, 1e-12);
        ck_assert_double_lt(fabs(change.volume), 1e-12);
        kiln_mesh_shape_free(context, &before);
        kiln_mesh_shape_free(context, &after);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
    }
    kiln_mesh *mesh = two_cubes(context, kiln_v3(1, 1, 0));
    kiln_mesh *out = remesh(mesh, 0.1, NULL);
    ck_assert_double_eq_tol(world_volume(out), 2.0, 0.01);
    ck_assert_uint_eq(kiln_test_surface_of(out).components, 1);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Turned, so that no two planes of either are told apart by rounding; the second is a mirror image.
 */
static kiln_vec3 turned(kiln_vec3 p)
{
    const double c = cos(0.6), s = sin(0.6);
    p = kiln_v3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
    return kiln_v3(p.x, c * p.y - s * p.z, s * p.y + c * p.z);
}

static kiln_mesh *cubes_at_a_corner(kiln_context *context, kiln_vec3 shift)
{
    kiln_soup a = kiln_test_soup(context, "box", "n=3"), b = kiln_test_soup(context, "box", "n=3");
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh;
    for (size_t i = 0; i < a.points.count; i++) {
        kiln_vec3 p = a.points.data[i];
        a.points.data[i] = turned(p);
        b.points.data[i] = turned(kiln_v3_add(kiln_v3(1.0 - p.x, p.y, p.z), shift));
    }
    for (size_t i = 0; i < b.tets.count; i++) {
        uint32_t *v = b.tets.data[i].v, first = v[0];
        v[0] = v[1];
        v[1] = first;
    }
    b.triangles.count = b.triangle_tags.count = 0;
    a.triangles.count = a.triangle_tags.count = 0;
    ck_assert_int_eq(kiln_soup_append(&a, &b, 0, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_build(context, &a, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&a);
    kiln_soup_free(&b);
    return mesh;
}

/* They are cut there, and neither loses its corner. */
START_TEST(cubes_that_meet_in_a_corner_keep_it)
{
    kiln_context *context = kiln_test_context(1);
    for (int i = 0; i < 4; i++) {
        kiln_mesh *mesh =
            cubes_at_a_corner(context, kiln_v3(1.0, i & 1 ? -1.0 : 1.0, i & 2 ? -1.0 : 1.0));
        kiln_mesh *out = remesh(mesh, 0.0, NULL);
        ck_assert_double_eq_tol(world_volume(out), 2.0, 1e-9);
        ck_assert_uint_eq(out->parts.count, 2);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(overlapping_balls_become_one)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup a = kiln_test_soup(context, "ball", "h=0.3"), b;
    b = kiln_test_soup(context, "ball", "h=0.3");
    for (size_t i = 0; i < b.points.count; i++)
        b.points.data[i] = kiln_v3_add(b.points.data[i], kiln_v3(1.1, 0.7, 0.2));
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_soup_append(&a, &b, 0, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_build(context, &a, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_domain_report report;
    kiln_mesh *out = remesh(mesh, 0.0, &report);
    ck_assert_double_eq_tol(world_volume(out), report.volume_before, 0.005 * report.volume_before);
    ck_assert_uint_eq(kiln_test_surface_of(out).components, 1);
    ck_assert_int_eq(kiln_test_surface_of(out).euler, 2);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&a);
    kiln_soup_free(&b);
    kiln_context_destroy(context);
}
END_TEST

static kiln_vec3 bent(kiln_vec3 u)
{
    double angle = 0.6 * u.x;
    return kiln_v3((2.0 - u.y) * sin(angle), 2.0 - (2.0 - u.y) * cos(angle), 1.1 * u.z);
}

/* The world is remeshed, material positions follow by interpolation; the other way round too. */
START_TEST(the_other_space_follows)
{
    for (int space = 0; space < 2; space++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=6 ny=6 nz=6");
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            mesh->x[v] = bent(mesh->u[v]);
        kiln_domain_options options = kiln_domain_default_options();
        kiln_domain_report report;
        kiln_mesh *out;
        options.space = space ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
        options.size = 0.2;
        ck_assert_int_eq(kiln_domain_remesh(mesh, &options, &out, &report, NULL), KILN_OK);
        kiln_test_audit(out);
        ck_assert(!report.material_reset);
        double error = 0.0;
        for (uint32_t v = 0; v < out->table[KILN_ON_VERTEX].used; v++)
            error = fmax(error, kiln_v3_norm(kiln_v3_sub(out->x[v], bent(out->u[v]))));
        ck_assert_double_lt(error, 0.01); /* the old mesh is as far from the curve */
        ck_assert_double_eq_tol(kiln_mesh_volume(out), 1.0, 0.005);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

START_TEST(merged_bodies_have_no_common_material_space)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context, kiln_v3(1.5, 0, 0));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->x[v].x > 1.2)
            mesh->x[v].x -= 0.6;
    kiln_domain_report report;
    kiln_mesh *out = remesh(mesh, 0.25, &report);
    ck_assert(report.material_reset);
    ck_assert_double_eq_tol(kiln_mesh_volume(out), 1.9, 1e-9);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(regions_keep_their_interface)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=6 ny=6 nz=6");
    for (size_t t = 0; t < soup.tets.count; t++) {
        double z = 0.0;
        for (int i = 0; i < 4; i++)
            z += 0.25 * soup.points.data[soup.tets.data[t].v[i]].z;
        soup.tet_tags.data[t] = z < 0.5 ? 3 : 7;
    }
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_mesh *out = remesh(mesh, 0.13, NULL);
    double volume[2] = {0.0, 0.0};
    for (uint32_t t = 0; t < out->table[KILN_ON_TET].used; t++) {
        ck_assert(out->info[t].region == 3 || out->info[t].region == 7);
        volume[out->info[t].region == 7] += kiln_mesh_tet_volume(out, t);
    }
    ck_assert_double_eq_tol(volume[0], 0.5, 1e-9);
    ck_assert_double_eq_tol(volume[1], 0.5, 1e-9);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* A crumb of a box: tets are put in where none were. */
START_TEST(tets_put_in_have_the_region_next_to_them)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=4 ny=4 nz=4");
    size_t kept = 0;
    for (size_t t = 0; t < soup.tets.count; t++)
        if (t % 7)
            soup.tets.data[kept++] = soup.tets.data[t];
    soup.tets.count = soup.tet_tags.count = kept;
    soup.triangles.count = soup.triangle_tags.count = 0;
    for (size_t t = 0; t < kept; t++)
        soup.tet_tags.data[t] = 5;
    kiln_mesh_options options = kiln_mesh_default_options();
    kiln_mesh *mesh;
    options.policy = KILN_MESH_REPAIR;
    ck_assert_int_eq(kiln_mesh_import(context, &soup, "crumb", &options, &mesh, NULL, NULL),
                     KILN_OK);
    kiln_domain_report report;
    kiln_domain_options how = kiln_domain_default_options();
    kiln_mesh *out;
    how.least = 0.0; /* what is made of crumbs is worse than they are */
    ck_assert_int_eq(kiln_domain_remesh(mesh, &how, &out, &report, NULL), KILN_OK);
    kiln_test_audit(out);
    ck_assert_uint_gt(report.filled, 0);
    for (uint32_t t = 0; t < out->table[KILN_ON_TET].used; t++)
        ck_assert_int_eq(out->info[t].region, 5);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

static double graded(void *user, kiln_vec3 p)
{
    (void)user;
    return 0.05 + 0.3 * p.x;
}

START_TEST(sizes_are_met)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_domain_options options = kiln_domain_default_options();
    kiln_mesh *out;
    options.size_at = graded;
    ck_assert_int_eq(kiln_domain_remesh(mesh, &options, &out, NULL, NULL), KILN_OK);
    kiln_test_audit(out);
    double sum = 0.0, outside = 0.0, count = 0.0;
    for (uint32_t t = 0; t < out->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++) {
            kiln_vec3 a = out->x[out->tet[t].v[kiln_edge_ends[e][0]]];
            kiln_vec3 b = out->x[out->tet[t].v[kiln_edge_ends[e][1]]];
            double length = kiln_v3_norm(kiln_v3_sub(a, b)) / graded(NULL, kiln_v3_lerp(a, b, 0.5));
            sum += length;
            outside += length < 0.5 || length > 2.0;
            count += 1.0;
        }
    ck_assert_double_gt(sum / count, 0.85);
    ck_assert_double_lt(sum / count, 1.25);
    ck_assert_double_lt(outside / count, 0.02);
    kiln_mesh_destroy(out);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(threads_and_scale_change_nothing)
{
    uint64_t hash[2];
    size_t tets[3];
    for (int run = 0; run < 2; run++) {
        kiln_context *context = kiln_test_context(run + 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "cylinder", "");
        kiln_mesh *out = remesh(mesh, 0.0, NULL);
        hash[run] = kiln_mesh_hash(out);
        tets[0] = out->table[KILN_ON_TET].live;
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    for (int run = 1; run < 3; run++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "cylinder", "");
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            mesh->u[v] = mesh->x[v] = kiln_v3_scale(mesh->x[v], run == 1 ? 0x1p-20 : 0x1p20);
        kiln_mesh *out = remesh(mesh, 0.0, NULL);
        tets[run] = out->table[KILN_ON_TET].live;
        ck_assert_uint_eq(tets[run], tets[0]);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* A turned box, and its like far from the origin in millimetres and kilometres. */
static kiln_mesh *box_elsewhere(kiln_context *context, double angle, double size, kiln_vec3 to)
{
    kiln_soup soup = kiln_test_soup(context, "box", "nx=6 ny=6 nz=6");
    double c = cos(angle), s = sin(angle);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        p = kiln_v3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
        p = kiln_v3(p.x, c * p.y - s * p.z, s * p.y + c * p.z);
        soup.points.data[i] = kiln_v3_scale(kiln_v3_add(p, to), size);
    }
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    return mesh;
}

START_TEST(boxes_stay_boxes_anywhere)
{
    const double angle[] = {0.3, 1.1, 2.0}, far[] = {10.0, 1e4, 1e7}, size[] = {1e-3, 1.0, 1e3};
    for (int k = 0; k < 9; k++) {
        kiln_context *context = kiln_test_context(1);
        kiln_vec3 to = kiln_v3(far[k % 3], -0.3 * far[k % 3], 0.7 * far[k % 3]);
        kiln_mesh *mesh = box_elsewhere(context, angle[k / 3], size[k / 3], to);
        kiln_mesh *out = remesh(mesh, (k % 2 ? 0.11 : 0.3) * size[k / 3], NULL);
        size_t corners = 0;
        double worst = 1.0;
        for (uint32_t v = 0; v < out->table[KILN_ON_VERTEX].used; v++)
            corners += (out->vertex[v].flags & KILN_VERTEX_CORNER) != 0;
        for (uint32_t t = 0; t < out->table[KILN_ON_TET].used; t++) {
            const uint32_t *v = out->tet[t].v;
            worst = fmin(worst, kiln_tet_quality(&out->x[v[0]], &out->x[v[1]], &out->x[v[2]],
                                                 &out->x[v[3]]));
        }
        ck_assert_uint_eq(corners, 8);
        ck_assert_double_ge(worst, 0.25);
        kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

START_TEST(bad_sizes_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2"), *out;
    const double sizes[] = {-1.0, NAN, INFINITY, 1e-7};
    for (int i = 0; i < 4; i++) {
        kiln_domain_options options = kiln_domain_default_options();
        kiln_error error;
        options.size = sizes[i];
        kiln_status status = kiln_domain_remesh(mesh, &options, &out, NULL, &error);
        ck_assert(status == KILN_ERR_INPUT || status == KILN_ERR_LIMIT);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(failing_memory_leaves_nothing)
{
    uint64_t step = 1;
    for (uint64_t fail_at = 1;; fail_at += step) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2"), *out;
        kiln_domain_options options = kiln_domain_default_options();
        options.size = 0.4;
        heap.fail_at = heap.calls + fail_at;
        kiln_status status = kiln_domain_remesh(mesh, &options, &out, NULL, NULL);
        heap.fail_at = 0;
        if (status == KILN_OK)
            kiln_mesh_destroy(out);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        step = kiln_test_rounds(1 + fail_at / 20, 1);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("domain");
    TCase *tcase = kiln_test_case(suite, "domain");
    tcase_add_test(tcase, a_box_keeps_faces_edges_and_corners);
    tcase_add_test(tcase, curved_bodies_keep_their_volume);
    tcase_add_test(tcase, coarse_arcs_keep_their_volume);
    tcase_add_test(tcase, overlapping_bodies_become_one);
    tcase_add_test(tcase, touching_bodies_become_one_and_others_do_not);
    tcase_add_test(tcase, bodies_that_meet_in_an_edge_keep_their_shape);
    tcase_add_test(tcase, cubes_that_meet_in_a_corner_keep_it);
    tcase_add_test(tcase, overlapping_balls_become_one);
    tcase_add_test(tcase, the_other_space_follows);
    tcase_add_test(tcase, merged_bodies_have_no_common_material_space);
    tcase_add_test(tcase, regions_keep_their_interface);
    tcase_add_test(tcase, tets_put_in_have_the_region_next_to_them);
    tcase_add_test(tcase, sizes_are_met);
    tcase_add_test(tcase, threads_and_scale_change_nothing);
    tcase_add_test(tcase, boxes_stay_boxes_anywhere);
    tcase_add_test(tcase, bad_sizes_are_refused);
    tcase_add_test(tcase, failing_memory_leaves_nothing);
    return suite;
}
