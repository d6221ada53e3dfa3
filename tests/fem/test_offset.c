#include "fem/elements_impl.h"
#include "fem/offset.h"
#include "fixtures.h"
#include "support.h"

#include <string.h>

typedef struct setting {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_elements *elements;
    uint32_t *material_of;
    uint32_t tets, vertices;
} setting;

static void build(setting *s)
{
    kiln_material material = {.model = kiln_material_model_at(1), .mu = 2, .lambda = 3};
    ck_assert_int_eq(kiln_elements_build(s->elements, s->mesh, &material, 1, s->material_of, NULL),
                     KILN_OK);
}

static setting open_on(kiln_context *context)
{
    setting s = {.context = context};
    s.mesh = kiln_test_mesh(s.context, "box", "nx=5 ny=4 nz=4");
    kiln_test_jitter(s.mesh, 0.06, 5);
    s.tets = s.mesh->table[KILN_ON_TET].used;
    s.vertices = s.mesh->table[KILN_ON_VERTEX].used;
    s.material_of = calloc(s.tets, sizeof(uint32_t));
    ck_assert_int_eq(kiln_elements_create(s.context, &s.elements, NULL), KILN_OK);
    return s;
}

static setting open_setting(int threads)
{
    return open_on(kiln_test_context(threads));
}

static void close_setting(setting *s)
{
    free(s->material_of);
    kiln_elements_destroy(s->elements);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

/* Gradients and volumes of all elements, to be freed. */
static double *geometry(const setting *s, size_t *bytes)
{
    size_t row = sizeof s->elements->batches.data->gradient, batches = s->elements->batches.count;
    size_t tail = sizeof s->elements->batches.data->volume;
    *bytes = batches * (row + tail);
    char *out = malloc(*bytes);
    for (size_t b = 0; b < batches; b++) {
        memcpy(out + b * (row + tail), s->elements->batches.data[b].gradient, row);
        memcpy(out + b * (row + tail) + row, s->elements->batches.data[b].volume, tail);
    }
    return (double *)(void *)out;
}

/* exp of a random symmetric matrix without trace. */
static kiln_sym3 random_shape(kiln_random *random, double size)
{
    double n[6];
    for (int i = 0; i < 6; i++)
        n[i] = size * (2.0 * kiln_random_unit(random) - 1.0);
    double mean = (n[0] + n[1] + n[2]) / 3.0;
    return kiln_sym3_exp((kiln_sym3){n[0] - mean, n[1] - mean, n[2] - mean, n[3], n[4], n[5]});
}

static void randomise(setting *s, double size)
{
    kiln_random random = kiln_random_start(7, 0);
    ck_assert_int_eq(kiln_offsets_add(s->mesh, NULL), KILN_OK);
    kiln_offsets offsets = kiln_offsets_of(s->mesh);
    for (uint32_t t = 0; t < s->tets; t++) {
        if (t % 3 == 0)
            continue;
        offsets.shape[t] = random_shape(&random, size);
        offsets.rest_volume[t] *= 1.0 + 0.3 * kiln_random_unit(&random);
    }
}

/* Smooth, not affine, nothing inverted. */
static void bend(const setting *s, kiln_vec3 *out, double amount)
{
    for (uint32_t v = 0; v < s->vertices; v++) {
        kiln_vec3 u = s->mesh->u[v];
        out[v] = kiln_v3(u.x + amount * sin(2 * u.y), u.y * (1 + amount * u.x),
                         u.z - amount * cos(u.x + u.y));
    }
}

static double mat_gap(kiln_mat3 a, kiln_mat3 b)
{
    return sqrt(kiln_m3_norm2(kiln_m3_add(a, kiln_m3_scale(b, -1.0))) / kiln_m3_norm2(b));
}

static kiln_mat3 left_stretch(const setting *s, size_t number, const kiln_vec3 *x)
{
    kiln_element e = kiln_elements_at(s->elements, number);
    kiln_mat3 F = kiln_element_deformation(&e, &x[0].x);
    return kiln_m3_mul(F, kiln_m3_transpose(F));
}

/* Offsets of a mesh that nothing has happened to give the bits of a mesh without. */
START_TEST(identity_is_exact)
{
    setting s = open_setting(2);
    build(&s);
    size_t bytes;
    double *plain = geometry(&s, &bytes);
    ck_assert_ptr_null(kiln_offsets_of(s.mesh).shape);
    ck_assert_int_eq(kiln_offsets_add(s.mesh, NULL), KILN_OK);
    ck_assert_int_eq(kiln_offsets_add(s.mesh, NULL), KILN_OK); /* what is there stays */
    build(&s);
    double *with = geometry(&s, &bytes);
    ck_assert_int_eq(memcmp(plain, with, bytes), 0);
    kiln_offsets offsets = kiln_offsets_of(s.mesh);
    kiln_mat3 unit = kiln_m3_identity();
    for (uint32_t t = 0; t < s.tets; t++) {
        kiln_mat3 Pi = kiln_offset_map(&offsets.shape[t], kiln_mesh_tet_volume(s.mesh, t),
                                       offsets.rest_volume[t]);
        ck_assert_int_eq(memcmp(&Pi, &unit, sizeof unit), 0);
    }
    free(plain), free(with);
    close_setting(&s);
}
END_TEST

/* Pi is symmetric, Pi^2 has the shape of G, and its determinant is the ratio of the volumes. */
START_TEST(the_map_has_shape_and_size)
{
    kiln_random random = kiln_random_start(3, 0);
    for (int i = 0; i < 300; i++) {
        kiln_sym3 G = random_shape(&random, 1.5);
        double volume = 0.1 + kiln_random_unit(&random), rest = 0.1 + kiln_random_unit(&random);
        kiln_sym3 scaled = kiln_sym3_scale(G, 0.5 + 3.0 * kiln_random_unit(&random));
        kiln_mat3 Pi = kiln_offset_map(&scaled, volume, rest);
        double size = cbrt(volume / rest);
        ck_assert_double_eq_tol(kiln_m3_det(Pi) / (volume / rest), 1.0, 1e-12);
        ck_assert_double_le(mat_gap(Pi, kiln_m3_transpose(Pi)), 1e-15);
        kiln_mat3 square = kiln_m3_scale(kiln_m3_mul(Pi, Pi), 1.0 / (size * size));
        ck_assert_double_le(mat_gap(square, kiln_sym3_to_mat3(G)), 1e-12);
    }
}
END_TEST

/* The elements have F = Dw Dm^-1 Pi with the map's Pi, and the rest volumes. */
START_TEST(elements_are_formed_with_the_map)
{
    setting s = open_setting(1);
    randomise(&s, 0.8);
    build(&s);
    kiln_offsets offsets = kiln_offsets_of(s.mesh);
    kiln_vec3 *x = malloc(s.vertices * sizeof *x);
    bend(&s, x, 0.15);
    for (size_t i = 0; i < kiln_elements_room(s.elements); i++) {
        kiln_element e = kiln_elements_at(s.elements, i);
        if (e.slot == KILN_NONE)
            continue;
        const uint32_t *v = s.mesh->tet[e.slot].v;
        kiln_mat3 D[2];
        for (int k = 0; k < 2; k++) {
            const kiln_vec3 *p = k ? x : s.mesh->u;
            D[k] = kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                                   kiln_v3_sub(p[v[3]], p[v[0]]));
        }
        kiln_mat3 Pi = kiln_offset_map(&offsets.shape[e.slot], kiln_mesh_tet_volume(s.mesh, e.slot),
                                       offsets.rest_volume[e.slot]);
        kiln_mat3 F = kiln_m3_mul(kiln_m3_mul(D[1], kiln_m3_inverse(D[0])), Pi);
        ck_assert_double_le(mat_gap(kiln_element_deformation(&e, &x[0].x), F), 1e-13);
        ck_assert_double_eq(e.volume, offsets.rest_volume[e.slot]);
    }
    free(x);
    close_setting(&s);
}
END_TEST

/* Same bits by building and by reforming, for any number of threads. */
START_TEST(reform_gives_the_bits_of_a_build)
{
    double *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        setting s = open_setting(threads);
        build(&s);
        uint64_t revision = kiln_elements_term(s.elements)->revision;
        randomise(&s, 0.8);
        ck_assert_int_eq(kiln_elements_reform(s.elements, s.mesh, NULL), KILN_OK);
        ck_assert_uint_eq(kiln_elements_term(s.elements)->revision, revision);
        size_t bytes;
        double *reformed = geometry(&s, &bytes);
        build(&s);
        double *built = geometry(&s, &bytes);
        ck_assert_int_eq(memcmp(reformed, built, bytes), 0);
        free(built);
        if (first)
            ck_assert_int_eq(memcmp(reformed, first, bytes), 0);
        free(first);
        first = reformed;
        close_setting(&s);
    }
    free(first);
}
END_TEST

/* Rest shapes stay where the material goes: F F' is what it was, also after many small moves and
 * the way back. */
START_TEST(following_leaves_the_stretch)
{
    setting s = open_setting(2);
    randomise(&s, 0.5);
    build(&s);
    kiln_vec3 *x = malloc(s.vertices * sizeof *x), *u = malloc(s.vertices * sizeof *u);
    kiln_mat3 *before = malloc(s.tets * sizeof *before);
    bend(&s, x, 0.2);
    for (size_t t = 0; t < s.tets; t++)
        before[t] = left_stretch(&s, s.elements->number_of.data[t], x);
    double *rest = malloc(s.tets * sizeof *rest);
    memcpy(rest, kiln_offsets_of(s.mesh).rest_volume, s.tets * sizeof *rest);
    for (int move = 0; move < 200; move++) {
        bend(&s, u, move % 2 ? -0.002 : 0.003);
        ck_assert_int_eq(kiln_offsets_follow(s.mesh, u, NULL), KILN_OK);
        ck_assert_int_eq(memcmp(s.mesh->u, u, s.vertices * sizeof *u), 0);
    }
    ck_assert_int_eq(memcmp(rest, kiln_offsets_of(s.mesh).rest_volume, s.tets * sizeof *rest), 0);
    ck_assert_int_eq(kiln_elements_reform(s.elements, s.mesh, NULL), KILN_OK);
    for (size_t t = 0; t < s.tets; t++)
        ck_assert_double_le(mat_gap(left_stretch(&s, s.elements->number_of.data[t], x), before[t]),
                            2e-13);
    free(x), free(u), free(before), free(rest);
    close_setting(&s);
}
END_TEST

/* Only what moves is touched, and nothing where a tet would be turned over. */
START_TEST(following_is_all_or_nothing)
{
    setting s = open_setting(2);
    randomise(&s, 0.5);
    kiln_vec3 *u = malloc(s.vertices * sizeof *u);
    kiln_sym3 *shape = malloc(s.tets * sizeof *shape);
    memcpy(u, s.mesh->u, s.vertices * sizeof *u);
    memcpy(shape, kiln_offsets_of(s.mesh).shape, s.tets * sizeof *shape);
    uint32_t moved = s.mesh->tet[s.tets / 2].v[0];
    u[moved].x += 0.01;
    ck_assert_int_eq(kiln_offsets_follow(s.mesh, u, NULL), KILN_OK);
    for (uint32_t t = 0; t < s.tets; t++) {
        const uint32_t *v = s.mesh->tet[t].v;
        bool touched = v[0] == moved || v[1] == moved || v[2] == moved || v[3] == moved;
        int same = memcmp(&shape[t], &kiln_offsets_of(s.mesh).shape[t], sizeof *shape) == 0;
        ck_assert_int_eq(same, !touched);
    }
    memcpy(shape, kiln_offsets_of(s.mesh).shape, s.tets * sizeof *shape);
    u[moved].x += 10.0;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_offsets_follow(s.mesh, u, &error), KILN_ERR_NUMERIC);
    ck_assert_ptr_nonnull(strstr(error.message, "inverted"));
    ck_assert_int_eq(memcmp(shape, kiln_offsets_of(s.mesh).shape, s.tets * sizeof *shape), 0);
    ck_assert_double_lt(s.mesh->u[moved].x, 5.0);
    free(u), free(shape);
    close_setting(&s);
}
END_TEST

/* Where nothing ever flowed the rest volume is that of the mesh, and the difference is booked. */
START_TEST(settling_books_volume)
{
    setting s = open_setting(1);
    double gained = 1.0, put = 0.0;
    kiln_offsets_settle(s.mesh, &gained);
    ck_assert_double_eq(gained, 0.0);
    randomise(&s, 0.5);
    kiln_offsets offsets = kiln_offsets_of(s.mesh);
    for (uint32_t t = 0; t < s.tets; t++)
        if (t % 3 == 0) {
            offsets.rest_volume[t] *= 0.99;
            put += kiln_mesh_tet_volume(s.mesh, t) * 0.01;
        }
    double kept = offsets.rest_volume[1];
    kiln_offsets_settle(s.mesh, &gained);
    ck_assert_double_eq_tol(gained, put, 1e-14);
    ck_assert_double_eq(offsets.rest_volume[1], kept);
    ck_assert_double_eq(offsets.rest_volume[3], kiln_mesh_tet_volume(s.mesh, 3));
    close_setting(&s);
}
END_TEST

START_TEST(a_rest_shape_without_volume_is_an_error)
{
    setting s = open_setting(2);
    randomise(&s, 0.5);
    build(&s);
    kiln_error error = {0};
    kiln_offsets_of(s.mesh).rest_volume[40] = 0.0;
    ck_assert_int_eq(kiln_elements_reform(s.elements, s.mesh, &error), KILN_ERR_NUMERIC);
    ck_assert_ptr_nonnull(strstr(error.message, "tet 40 has the rest volume 0"));
    ck_assert_uint_eq(kiln_elements_count(s.elements), 0);
    close_setting(&s);
}
END_TEST

START_TEST(memory_may_fail)
{
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        setting s = open_on(context);
        heap.fail_at = heap.calls + fail;
        kiln_status status = kiln_offsets_add(s.mesh, NULL);
        heap.fail_at = 0;
        if (status == KILN_OK) {
            close_setting(&s);
            ck_assert_uint_gt(fail, 1);
            break;
        }
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_int_eq(kiln_offsets_add(s.mesh, NULL), KILN_OK); /* may be asked again */
        ck_assert(kiln_offset_is_identity(&kiln_offsets_of(s.mesh).shape[s.tets - 1]));
        ck_assert_double_gt(kiln_offsets_of(s.mesh).rest_volume[0], 0.0);
        close_setting(&s);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("offset");
    TCase *c = kiln_test_case(suite, "offset");
    tcase_add_test(c, identity_is_exact);
    tcase_add_test(c, the_map_has_shape_and_size);
    tcase_add_test(c, elements_are_formed_with_the_map);
    tcase_add_test(c, reform_gives_the_bits_of_a_build);
    tcase_add_test(c, following_leaves_the_stretch);
    tcase_add_test(c, following_is_all_or_nothing);
    tcase_add_test(c, settling_books_volume);
    tcase_add_test(c, a_rest_shape_without_volume_is_an_error);
    tcase_add_test(c, memory_may_fail);
    return suite;
}
