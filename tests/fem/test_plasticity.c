#include "fem/elements_impl.h"
#include "fem/nodal_pressure.h"
#include "fem/plasticity.h"
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

static kiln_material material_of(const char *model, kiln_plastic law)
{
    kiln_material m = {.mu = 2.0, .lambda = 3.0, .plastic = law};
    m.plastic.flows = true;
    ck_assert_int_eq(kiln_material_model_find(model, &m.model, NULL), KILN_OK);
    return m;
}

static void build(setting *s, const kiln_material *material)
{
    ck_assert_int_eq(kiln_elements_build(s->elements, s->mesh, material, 1, s->material_of, NULL),
                     KILN_OK);
}

static setting open_on(kiln_context *context, const char *size, const kiln_material *material)
{
    setting s = {.context = context};
    s.mesh = kiln_test_mesh(s.context, "box", size);
    kiln_test_jitter(s.mesh, 0.05, 5);
    s.tets = s.mesh->table[KILN_ON_TET].used;
    s.vertices = s.mesh->table[KILN_ON_VERTEX].used;
    s.material_of = calloc(s.tets, sizeof(uint32_t));
    ck_assert_int_eq(kiln_elements_create(s.context, &s.elements, NULL), KILN_OK);
    ck_assert_int_eq(kiln_plastic_add_fields(s.mesh, NULL), KILN_OK);
    build(&s, material);
    return s;
}

static setting open_setting(const char *size, const kiln_material *material)
{
    return open_on(kiln_test_context(2), size, material);
}

static void close_setting(setting *s)
{
    free(s->material_of);
    kiln_elements_destroy(s->elements);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

static double *column(const setting *s, const char *name)
{
    return (double *)(void *)kiln_mesh_field(s->mesh, KILN_ON_TET, name)->data;
}

static void place(setting *s, kiln_mat3 F, double wave)
{
    for (uint32_t v = 0; v < s->vertices; v++) {
        kiln_vec3 u = s->mesh->u[v];
        s->mesh->x[v] = kiln_m3_apply(F, u);
        s->mesh->x[v].x += wave * sin(3.0 * u.y);
        s->mesh->x[v].z += wave * sin(2.0 * u.x + u.y);
    }
}

static kiln_flow_report update(setting *s, double h)
{
    kiln_flow_report report;
    ck_assert_int_eq(kiln_plastic_update(s->elements, s->mesh, NULL, h, NULL, &report, NULL),
                     KILN_OK);
    return report;
}

static void reform(setting *s)
{
    ck_assert_int_eq(kiln_elements_reform(s->elements, s->mesh, NULL), KILN_OK);
}

/* P3: volume does not flow, in either norm, whatever the pressure. */
START_TEST(hydrostatic_pressure_changes_no_shape)
{
    for (int norm = 0; norm < 2; norm++)
        for (int instant = 0; instant < 2; instant++) {
            kiln_material m = material_of("corotated", (kiln_plastic){.norm = (kiln_yield_norm)norm,
                                                                      .instant = instant,
                                                                      .yield = 0.01,
                                                                      .rate = 5});
            setting s = open_setting("nx=2 ny=1 nz=1", &m);
            place(&s, kiln_m3_diagonal(0.99, 0.99, 0.99), 0.0);
            double *norms = calloc(s.tets, sizeof *norms);
            kiln_plastic_norms(s.elements, &s.mesh->x[0].x, norms);
            ck_assert(norm == KILN_YIELD_MISES ? norms[0] < 1e-12 : norms[0] > 0.1);
            for (int i = 0; i < 1000; i++) {
                update(&s, 0.1);
                reform(&s);
            }
            const kiln_sym3 *shape = kiln_offsets_of(s.mesh).shape;
            for (uint32_t t = 0; t < s.tets; t++) {
                const double *g = &shape[t].xx, unit[6] = {1, 1, 1, 0, 0, 0};
                for (int k = 0; k < 6; k++)
                    ck_assert_double_eq_tol(g[k], unit[k], 1e-12);
            }
            free(norms);
            close_setting(&s);
        }
}
END_TEST

/* P3: ten thousand updates that all flow, to and fro. */
START_TEST(volume_does_not_drift)
{
    const kiln_mat3 way[2] = {{{{1.1, 0.1, 0}, {0, 0.95, 0.05}, {0, 0, 0.98}}},
                              {{{0.9, 0, 0.05}, {0.1, 1.05, 0}, {0, 0.1, 1.02}}}};
    kiln_material m = material_of(
        "neo-hookean", (kiln_plastic){.instant = true, .norm = KILN_YIELD_MISES, .yield = 0.05});
    setting s = open_setting("nx=2 ny=1 nz=1", &m);
    double *rest = malloc(s.tets * sizeof *rest);
    memcpy(rest, kiln_offsets_of(s.mesh).rest_volume, s.tets * sizeof *rest);
    int updates = (int)kiln_test_rounds(10000, 100000);
    for (int i = 0; i < updates; i++) {
        place(&s, way[i % 2], 0.02);
        ck_assert_uint_eq(update(&s, 0.1).flowed, s.tets);
        reform(&s);
    }
    kiln_offsets offsets = kiln_offsets_of(s.mesh);
    ck_assert_int_eq(memcmp(rest, offsets.rest_volume, s.tets * sizeof *rest), 0);
    for (size_t i = 0; i < kiln_elements_room(s.elements); i++) {
        kiln_element e = kiln_elements_at(s.elements, i);
        if (e.slot == KILN_NONE)
            continue;
        kiln_mat3 F = kiln_element_deformation(&e, &s.mesh->u[0].x); /* Pi */
        ck_assert_double_eq_tol(kiln_m3_det(F), 1.0, 1e-12);
        ck_assert_double_eq_tol(kiln_sym3_det(offsets.shape[e.slot]), 1.0, 1e-10);
    }
    free(rest);
    close_setting(&s);
}
END_TEST

/* Rest shapes of linear matter keep their volume, so that a flow of size q changes the trace of the
 * strain by q^2 / 2 and q times the deviator that is left, to higher order, and pressure with it
 * (flow_linear.h). By how much the norm frobenius, of a deviator that is exact, may then miss the
 * yield stress. */
static double off_surface(const setting *s, const kiln_material *m, const kiln_element *element)
{
    double q = sqrt(1.5) * column(s, KILN_FIELD_PLASTIC_STRAIN)[element->slot];
    double yield = m->plastic.yield, bulk = m->lambda + 2.0 / 3.0 * m->mu;
    kiln_mat3 F = kiln_element_deformation(element, &s->mesh->x[0].x);
    double pressure = bulk * fabs(F.m[0][0] + F.m[1][1] + F.m[2][2] - 3.0);
    double off = bulk * (0.5 * q * q + q * yield / (2.0 * m->mu)); /* of it */
    return 3.0 * off * (2.0 * pressure + off) / (2.0 * yield);
}

/* Instant flow ends on the yield surface, for every model, in both norms, be it large or small. */
static void flow_to_surface(const kiln_material *m, double size)
{
    const kiln_mat3 F = {{{0.12, 0.1, 0}, {0, -0.07, 0.05}, {0.02, 0, -0.03}}};
    bool pressed = m->plastic.norm == KILN_YIELD_FROBENIUS;
    bool nearly = pressed && !m->model->principal;
    setting s = open_setting("nx=2 ny=2 nz=2", m);
    place(&s, kiln_m3_add(kiln_m3_identity(), kiln_m3_scale(F, size)), 0.02 * size);
    kiln_flow_report report = update(&s, 0.1);
    ck_assert_uint_gt(report.flowed, s.tets / 2);
    reform(&s);
    double *norms = calloc(s.tets, sizeof *norms), yield = m->plastic.yield;
    kiln_plastic_norms(s.elements, &s.mesh->x[0].x, norms);
    for (size_t i = 0; i < kiln_elements_room(s.elements); i++) {
        kiln_element e = kiln_elements_at(s.elements, i);
        if (e.slot == KILN_NONE)
            continue;
        bool flowed = !kiln_offset_is_identity(&kiln_offsets_of(s.mesh).shape[e.slot]);
        double bound = (nearly ? off_surface(&s, m, &e) : 0.0) + 1e-12;
        if (flowed && report.greatest < 1.0)
            ck_assert_double_eq_tol(norms[e.slot], yield, bound);
        else
            ck_assert(pressed || norms[e.slot] <= yield);
    }
    ck_assert(pressed || report.greatest < 1.0);
    free(norms);
    close_setting(&s);
}

START_TEST(instant_flow_reaches_the_surface)
{
    for (size_t model = 0; kiln_material_model_at(model); model++)
        for (int norm = 0; norm < 2; norm++)
            for (double size = 1.0; size > 1e-3; size *= 0.1) {
                kiln_material m = material_of(kiln_material_model_at(model)->name,
                                              (kiln_plastic){.instant = true,
                                                             .norm = (kiln_yield_norm)norm,
                                                             .yield = 0.2 * size});
                flow_to_surface(&m, size);
            }
}
END_TEST

static kiln_matter matter_at(const kiln_material *material, double a, double b, double c)
{
    return (kiln_matter){.material = material, .mu = 2.0, .lambda = 3.0, .s = {a, b, c}};
}

/* The formulas of DLR and VPF, a step at a time. */
START_TEST(laws_are_those_of_the_papers)
{
    kiln_plastic law = {.yield = 0.1, .rate = 5, .hardening = 0.4};
    kiln_material m = material_of("corotated", law);
    kiln_matter at = matter_at(&m, 1.3, 1.0, 0.9);
    /* P = 2 mu (S - I) + lambda tr(S - I) I by hand. */
    double norm = sqrt(1.8 * 1.8 + 0.6 * 0.6 + 0.2 * 0.2), h = 0.01;
    ck_assert_double_eq_tol(kiln_plastic_norm(&at), norm, 1e-14);
    kiln_flow flow = kiln_plastic_flow(&at, &m.plastic, h, 0.3, 2.0);
    double gamma = h * 5 * (norm - 0.4) / norm, e[3], mean = log(1.3 * 0.9) / 3, sum = 0;
    for (int i = 0; i < 3; i++) {
        e[i] = log(at.s[i]) - mean;
        sum += e[i] * e[i];
    }
    ck_assert_double_eq_tol(flow.gamma, gamma, 1e-15);
    ck_assert_double_eq_tol(flow.hardening, 0.3 + 0.4 * gamma * norm, 1e-15);
    ck_assert_double_eq_tol(flow.strain, 2.0 + sqrt(2.0 / 3.0 * sum) * gamma, 1e-15);
    /* Never more than all of it. */
    ck_assert_double_eq(kiln_plastic_flow(&at, &m.plastic, 100, 0, 0).gamma, 1.0);
    /* VPF: alpha grows below the threshold too. */
    m.plastic.law = KILN_HARDENING_STRESS;
    flow = kiln_plastic_flow(&at, &m.plastic, h, 0.5, 0);
    ck_assert_double_eq_tol(flow.gamma, h * 5 * (norm - 0.1 - 0.4 * 0.5) / norm, 1e-15);
    ck_assert_double_eq_tol(flow.hardening, 0.5 + h * norm, 1e-15);
    flow = kiln_plastic_flow(&at, &m.plastic, h, 50, 1.5);
    ck_assert_double_eq(flow.gamma, 0.0);
    ck_assert_double_eq(flow.strain, 1.5);
    ck_assert_double_eq_tol(flow.hardening, 50 + h * norm, 1e-13);
    /* Creep. */
    m.plastic = (kiln_plastic){.flows = true, .rate = 5};
    ck_assert_double_eq_tol(kiln_plastic_flow(&at, &m.plastic, h, 0, 0).gamma, h * 5, 1e-15);
}
END_TEST

/* The threshold ends at zero and can grow from there. */
START_TEST(softening_ends_at_zero)
{
    for (int instant = 0; instant < 2; instant++) {
        kiln_plastic law = {.yield = 1.0, .rate = 5, .hardening = -0.9, .instant = instant};
        kiln_material m = material_of("corotated", law);
        kiln_matter at = matter_at(&m, 1.3, 1.0, 0.9);
        double hardening = 0.0;
        for (int i = 0; i < 1000; i++) {
            kiln_flow flow = kiln_plastic_flow(&at, &m.plastic, 0.01, hardening, 0.0);
            ck_assert_double_ge(flow.hardening, -1.0);
            ck_assert_double_le(flow.hardening, hardening);
            hardening = flow.hardening;
        }
        ck_assert_double_eq(hardening, -1.0);
        m.plastic.hardening = 0.1;
        ck_assert_double_gt(kiln_plastic_flow(&at, &m.plastic, 0.01, hardening, 0).hardening, -1.0);
    }
}
END_TEST

/* Work hardening of a return: norm and threshold meet where the threshold has gone. */
START_TEST(a_return_meets_the_hardened_surface)
{
    for (int k = 0; k < 20; k++) {
        kiln_plastic law = {
            .instant = true, .norm = KILN_YIELD_MISES, .yield = 0.1, .hardening = 0.1 * k - 0.5};
        kiln_material m = material_of("neo-hookean-split", law);
        kiln_matter at = matter_at(&m, 1.25, 1.0, 0.9), left = at;
        kiln_flow flow = kiln_plastic_flow(&at, &m.plastic, 1, 0.0, 0.0);
        for (int i = 0; i < 3; i++)
            left.s[i] = at.s[i] * exp(-flow.d[i]);
        ck_assert_double_eq_tol(kiln_plastic_norm(&left), fmax(0.1 + flow.hardening, 0.0), 1e-13);
    }
}
END_TEST

/* A deviator knows no pressure. */
START_TEST(mises_does_not_feel_pressure)
{
    for (size_t model = 0; kiln_material_model_at(model); model++) {
        kiln_material m = material_of(kiln_material_model_at(model)->name,
                                      (kiln_plastic){.norm = KILN_YIELD_MISES});
        m.nodal_pressure = true;
        kiln_matter at = matter_at(&m, 1.2, 1.0, 0.9), pressed = at;
        pressed.pressure = 100.0;
        if (m.model->dilation == KILN_DILATION_VOLUME)
            ck_assert_double_eq_tol(kiln_plastic_norm(&pressed), kiln_plastic_norm(&at), 1e-12);
        m.plastic.norm = KILN_YIELD_FROBENIUS;
        ck_assert_double_gt(kiln_plastic_norm(&pressed), 50.0);
    }
    /* sqrt(2/3) of the stress in a tension test, at small strain. */
    kiln_material m = material_of("neo-hookean", (kiln_plastic){.norm = KILN_YIELD_MISES});
    double strain = 1e-6, young = 2.0 * (3 * 3 + 2 * 2) / (3.0 + 2.0), poisson = 3.0 / (2 * 5.0);
    kiln_matter at = matter_at(&m, 1 + strain, 1 - poisson * strain, 1 - poisson * strain);
    ck_assert_double_eq_tol(kiln_plastic_norm(&at) / (sqrt(2.0 / 3.0) * young * strain), 1.0, 1e-5);
}
END_TEST

START_TEST(flat_and_inverted_tets_are_left_alone)
{
    kiln_material m = material_of("corotated", (kiln_plastic){.yield = 0.01, .rate = 5});
    setting s = open_setting("nx=2 ny=2 nz=2", &m);
    const kiln_mat3 bad[2] = {kiln_m3_diagonal(1.2, 1.0, -0.9), kiln_m3_diagonal(1.2, 1.0, 0.0)};
    for (int k = 0; k < 2; k++) {
        place(&s, bad[k], 0.0);
        kiln_flow_report report = update(&s, 0.1);
        ck_assert_uint_eq(report.skipped, s.tets);
        ck_assert_uint_eq(report.flowed, 0);
    }
    for (uint32_t t = 0; t < s.tets; t++) {
        ck_assert(kiln_offset_is_identity(&kiln_offsets_of(s.mesh).shape[t]));
        ck_assert_double_eq(column(&s, KILN_FIELD_HARDENING)[t], 0.0);
    }
    place(&s, kiln_m3_diagonal(1.2, 1.0, 0.9), 0.0);
    ck_assert_uint_eq(update(&s, 0.1).flowed, s.tets);
    close_setting(&s);
}
END_TEST

/* Only what is said to flow does; laws of single tets go before the material's. */
START_TEST(laws_of_single_tets)
{
    kiln_material m = material_of("corotated", (kiln_plastic){.yield = 0.01, .rate = 5});
    m.plastic.flows = false;
    setting s = open_setting("nx=2 ny=2 nz=2", &m);
    place(&s, kiln_m3_diagonal(1.2, 1.0, 0.9), 0.0);
    ck_assert_uint_eq(update(&s, 0.1).flowed, 0);
    m.plastic.flows = true;
    build(&s, &m);
    kiln_plastic *laws = malloc(s.tets * sizeof *laws);
    for (uint32_t t = 0; t < s.tets; t++) {
        laws[t] = m.plastic;
        laws[t].yield = t % 2 ? 0.01 : 1e9;
    }
    kiln_flow_report report;
    uint8_t *flowed = malloc(s.tets);
    memset(flowed, 7, s.tets);
    ck_assert_int_eq(kiln_plastic_update(s.elements, s.mesh, laws, 0.1, flowed, &report, NULL),
                     KILN_OK);
    ck_assert_uint_eq(report.flowed, s.tets / 2);
    for (uint32_t t = 0; t < s.tets; t++) {
        ck_assert_int_eq(kiln_offset_is_identity(&kiln_offsets_of(s.mesh).shape[t]), t % 2 == 0);
        ck_assert_uint_eq(flowed[t], t % 2 ? 1 : 7);
    }
    free(laws), free(flowed);
    close_setting(&s);
}
END_TEST

/* What flow does to F: U S' V' with S' the stretches that are left. */
START_TEST(flow_takes_its_part_of_the_stretch)
{
    kiln_material m = material_of("corotated", (kiln_plastic){.yield = 0.0, .rate = 5});
    setting s = open_setting("nx=2 ny=2 nz=2", &m);
    place(&s, (kiln_mat3){{{1.2, 0.2, 0}, {-0.1, 0.95, 0.05}, {0.02, 0, 0.9}}}, 0.03);
    kiln_polar3 *before = malloc(s.tets * sizeof *before);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < s.tets; i++) {
            kiln_element e = kiln_elements_at(s.elements, s.elements->number_of.data[i]);
            before[i] = kiln_polar3_decompose(kiln_element_deformation(&e, &s.mesh->x[0].x));
        }
        update(&s, 0.05);
        reform(&s);
        for (size_t i = 0; i < s.tets; i++) {
            kiln_element e = kiln_elements_at(s.elements, s.elements->number_of.data[i]);
            kiln_polar3 now = kiln_polar3_decompose(kiln_element_deformation(&e, &s.mesh->x[0].x));
            kiln_sym3 want = kiln_sym3_log(before[i].left), have = kiln_sym3_log(now.left);
            double mean = (want.xx + want.yy + want.zz) / 3.0;
            const double *a = &want.xx, *b = &have.xx;
            for (int k = 0; k < 6; k++) /* gamma = .25 of the isochoric part */
                ck_assert_double_eq_tol(b[k], 0.75 * a[k] + (k < 3 ? 0.25 * mean : 0.0), 1e-13);
        }
    }
    free(before);
    close_setting(&s);
}
END_TEST

typedef struct outcome {
    kiln_sym3 *shape;
    double *hardening;
} outcome;

static outcome run_with(int threads, const char *isa)
{
    kiln_context_options options = kiln_context_default_options();
    kiln_context *context;
    options.threads = threads;
    options.isa = isa;
    if (kiln_context_create(&options, &context, NULL) != KILN_OK)
        return (outcome){NULL, NULL}; /* not on this machine */
    kiln_material m = material_of(
        "neo-hookean",
        (kiln_plastic){.instant = true, .norm = KILN_YIELD_MISES, .yield = 0.3, .hardening = 0.1});
    setting s = open_on(context, "nx=7 ny=7 nz=7", &m);
    place(&s, kiln_m3_diagonal(1.1, 1.0, 0.95), 0.1);
    for (int i = 0; i < 3; i++) {
        update(&s, 0.1);
        reform(&s);
    }
    outcome o = {malloc(s.tets * sizeof *o.shape), malloc(s.tets * sizeof *o.hardening)};
    memcpy(o.shape, kiln_offsets_of(s.mesh).shape, s.tets * sizeof *o.shape);
    memcpy(o.hardening, column(&s, KILN_FIELD_HARDENING), s.tets * sizeof *o.hardening);
    close_setting(&s);
    return o;
}

enum { BOX_TETS = 6 * 7 * 7 * 7 };

START_TEST(same_bits_on_any_threads)
{
    outcome one = run_with(1, NULL);
    for (int threads = 2; threads <= 4; threads++) {
        outcome more = run_with(threads, NULL);
        ck_assert_int_eq(memcmp(one.shape, more.shape, BOX_TETS * sizeof *one.shape), 0);
        ck_assert_int_eq(memcmp(one.hardening, more.hardening, BOX_TETS * sizeof(double)), 0);
        free(more.shape), free(more.hardening);
    }
    static const char *const isa[] = {"scalar", "avx2", "avx512"};
    for (int k = 0; k < 3; k++) {
        outcome other = run_with(1, isa[k]);
        for (int i = 0; other.shape && i < 6 * BOX_TETS; i++)
            ck_assert_double_eq_tol((&one.shape[0].xx)[i], (&other.shape[0].xx)[i], 1e-12);
        for (int i = 0; other.shape && i < BOX_TETS; i++)
            ck_assert_double_eq_tol(one.hardening[i], other.hardening[i], 1e-12);
        free(other.shape), free(other.hardening);
    }
    free(one.shape), free(one.hardening);
}
END_TEST

/* Volumes anew give the weights of a build, and leave the pattern alone. */
START_TEST(nodal_pressure_is_reformed)
{
    kiln_material m = material_of("neo-hookean", (kiln_plastic){.yield = 0.01, .rate = 5});
    m.nodal_pressure = true;
    setting s = open_setting("nx=3 ny=3 nz=3", &m);
    kiln_nodal_pressure *pressure;
    ck_assert_int_eq(kiln_nodal_pressure_create(s.context, s.elements, &pressure, NULL), KILN_OK);
    ck_assert_int_eq(kiln_nodal_pressure_build(pressure, NULL), KILN_OK);
    kiln_term *term = kiln_nodal_pressure_term(pressure);
    place(&s, kiln_m3_diagonal(1.1, 1.0, 0.95), 0.05);
    double first = term->value(term->self, &s.mesh->x[0].x);
    for (uint32_t t = 0; t < s.tets; t++)
        kiln_offsets_of(s.mesh).rest_volume[t] *= 1.0 + 0.01 * (t % 7);
    reform(&s);
    uint64_t revision = term->revision;
    kiln_nodal_pressure_reform(pressure);
    ck_assert_uint_eq(term->revision, revision);
    double light = term->value(term->self, &s.mesh->x[0].x);
    ck_assert_int_eq(kiln_nodal_pressure_build(pressure, NULL), KILN_OK);
    ck_assert_double_eq(term->value(term->self, &s.mesh->x[0].x), light);
    ck_assert_double_ne(first, light);
    kiln_nodal_pressure_destroy(pressure);
    close_setting(&s);
}
END_TEST

START_TEST(memory_may_fail)
{
    kiln_material m = material_of("corotated", (kiln_plastic){.yield = 0.01, .rate = 5});
    kiln_test_heap heap = {0};
    setting s = open_on(kiln_test_context_on(&heap, 1), "nx=2 ny=2 nz=2", &m);
    place(&s, kiln_m3_diagonal(1.2, 1.0, 0.9), 0.0);
    kiln_flow_report report;
    heap.fail_at = heap.calls + 1;
    ck_assert_int_eq(kiln_plastic_update(s.elements, s.mesh, NULL, 0.1, NULL, &report, NULL),
                     KILN_ERR_MEMORY);
    ck_assert(kiln_offset_is_identity(&kiln_offsets_of(s.mesh).shape[0]));
    heap.fail_at = 0;
    ck_assert_uint_eq(update(&s, 0.1).flowed, s.tets);
    close_setting(&s);
    ck_assert_int_eq(heap.live_blocks, 0);
    for (uint64_t fail = 1;; fail++) { /* fields may be asked for again after a failure */
        kiln_test_heap other = {0};
        kiln_context *context = kiln_test_context_on(&other, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=1");
        other.fail_at = other.calls + fail;
        kiln_status status = kiln_plastic_add_fields(mesh, NULL);
        other.fail_at = 0;
        ck_assert_int_eq(kiln_plastic_add_fields(mesh, NULL), KILN_OK);
        ck_assert_ptr_nonnull(kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN));
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("plasticity");
    TCase *c = kiln_test_case(suite, "plasticity");
    tcase_add_test(c, hydrostatic_pressure_changes_no_shape);
    tcase_add_test(c, volume_does_not_drift);
    tcase_add_test(c, instant_flow_reaches_the_surface);
    tcase_add_test(c, laws_are_those_of_the_papers);
    tcase_add_test(c, softening_ends_at_zero);
    tcase_add_test(c, a_return_meets_the_hardened_surface);
    tcase_add_test(c, mises_does_not_feel_pressure);
    tcase_add_test(c, flat_and_inverted_tets_are_left_alone);
    tcase_add_test(c, laws_of_single_tets);
    tcase_add_test(c, flow_takes_its_part_of_the_stretch);
    tcase_add_test(c, same_bits_on_any_threads);
    tcase_add_test(c, nodal_pressure_is_reformed);
    tcase_add_test(c, memory_may_fail);
    return suite;
}
