#include "remesh/domain.h"

#include "fixtures.h"
#include "geom/tet_quality.h"
#include "support.h"

static kiln_mesh *remesh(const kiln_mesh *mesh, double size, kiln_domain_report *report)
{
    kiln_domain_options options = kiln_domain_default_options();
    kiln_error error;
    kiln_mesh *out;
    options.size = size;
    ck_assert_msg(kiln_domain_remesh(mesh, &options, &out, report, &error) == KILN_OK, "%s",
                  error.message);
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
    ck_assert_uint_eq(report.corner_sites, 8);
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

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("domain");
    TCase *tcase = kiln_test_case(suite, "domain");
    tcase_add_test(tcase, a_box_keeps_faces_edges_and_corners);
    tcase_add_test(tcase, curved_bodies_keep_their_volume);
    return suite;
}
