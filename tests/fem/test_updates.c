/* What is derived from the mesh and updated has the bits of what is built anew, after any sequence
 * of changes: real ones, which leave free rows, and surgery on the bare tables, which fills holes
 * from the end, renumbers vertices and shrinks tables as closing ranks does. */
#include "fem/damping.h"
#include "fem/elements_impl.h"
#include "fem/offset.h"
#include "fixtures.h"
#include "mesh_diff.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { MATERIALS = 3, ROOM = 6000 };

/* Bits of the number of a loop test. */
enum { SEVERAL = 1, OFFSETS = 2, NODAL = 4, DAMPED = 8, SURGERY = 16, KINDS = 32 };

typedef struct derived {
    kiln_elements *elements;
    kiln_nodal_pressure *pressure;
    kiln_mass *lumped, *consistent;
    kiln_damping *damping[2]; /* by the mass */
    kiln_bsr H;
} derived;

typedef struct subject {
    kiln_context *context;
    kiln_mesh *mesh;
    size_t materials;
    kiln_material material[MATERIALS];
    uint32_t *material_of;
    double *mass, *x, *zero;
    kiln_random random;
    derived kept;
    kiln_changes changes;
    /* The mesh of the last update. */
    uint32_t tets, vertices;
    kiln_tet *tet;
    kiln_vec3 *u;
    uint32_t *material_then;
    kiln_sym3 *shape;
    double *rest;
} subject;

static void open_derived(kiln_context *context, derived *d)
{
    ck_assert_int_eq(kiln_elements_create(context, &d->elements, NULL), KILN_OK);
    ck_assert_int_eq(kiln_nodal_pressure_create(context, d->elements, &d->pressure, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mass_create(context, &d->lumped, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mass_create(context, &d->consistent, NULL), KILN_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(kiln_damping_create(context, d->elements, &d->damping[i], NULL), KILN_OK);
        kiln_damping_set_pressure(d->damping[i], d->pressure);
    }
    kiln_bsr_init(&d->H, context);
}

static void close_derived(derived *d)
{
    kiln_bsr_free(&d->H);
    for (int i = 0; i < 2; i++)
        kiln_damping_destroy(d->damping[i]);
    kiln_nodal_pressure_destroy(d->pressure);
    kiln_mass_destroy(d->lumped);
    kiln_mass_destroy(d->consistent);
    kiln_elements_destroy(d->elements);
}

static void build(const subject *s, derived *d)
{
    ck_assert_int_eq(kiln_mass_build(d->lumped, s->mesh, KILN_MASS_LUMPED, s->mass, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mass_build(d->consistent, s->mesh, KILN_MASS_CONSISTENT, s->mass, NULL),
                     KILN_OK);
    ck_assert_int_eq(
        kiln_elements_build(d->elements, s->mesh, s->material, s->materials, s->material_of, NULL),
        KILN_OK);
    ck_assert_int_eq(kiln_nodal_pressure_build(d->pressure, NULL), KILN_OK);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(kiln_damping_build(d->damping[i], s->mesh,
                                            i ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED, s->mass,
                                            NULL),
                         KILN_OK);
}

static kiln_status try_update(const subject *s, derived *d)
{
    const kiln_changes *c = &s->changes;
    KILN_TRY(kiln_mass_update(d->lumped, s->mesh, s->mass, c, NULL));
    KILN_TRY(kiln_mass_update(d->consistent, s->mesh, s->mass, c, NULL));
    KILN_TRY(kiln_elements_update(d->elements, s->mesh, s->material_of, c, NULL));
    KILN_TRY(kiln_nodal_pressure_update(d->pressure, c, NULL));
    for (int i = 0; i < 2; i++)
        KILN_TRY(kiln_damping_build(d->damping[i], s->mesh,
                                    i ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED, s->mass, NULL));
    return KILN_OK;
}

static void update(const subject *s, derived *d)
{
    ck_assert_int_eq(try_update(s, d), KILN_OK);
}

static void weigh(subject *s)
{
    for (uint32_t t = 0; t < s->mesh->table[KILN_ON_TET].used; t++)
        s->mass[t] = kiln_tet_live(s->mesh, t) ? 1e3 * kiln_mesh_tet_volume(s->mesh, t) : 0.0;
}

static void remember(subject *s)
{
    kiln_offsets offsets = kiln_offsets_of(s->mesh);
    s->tets = s->mesh->table[KILN_ON_TET].used;
    s->vertices = s->mesh->table[KILN_ON_VERTEX].used;
    memcpy(s->tet, s->mesh->tet, s->tets * sizeof *s->tet);
    memcpy(s->u, s->mesh->u, s->vertices * sizeof *s->u);
    memcpy(s->material_then, s->material_of, s->tets * sizeof(uint32_t));
    if (offsets.shape) {
        memcpy(s->shape, offsets.shape, s->tets * sizeof *s->shape);
        memcpy(s->rest, offsets.rest_volume, s->tets * sizeof *s->rest);
    }
}

/* Not all identities; rest volumes of their own. */
static void give_offset(subject *s, uint32_t tet)
{
    kiln_offsets offsets = kiln_offsets_of(s->mesh);
    if (!offsets.shape)
        return;
    double volume = kiln_mesh_tet_volume(s->mesh, tet);
    offsets.shape[tet] = kiln_sym3_identity();
    offsets.rest_volume[tet] = volume;
    if (kiln_random_below(&s->random, 3) == 0)
        return;
    double *g = &offsets.shape[tet].xx;
    for (int k = 0; k < 6; k++)
        g[k] += kiln_random_range(&s->random, -0.1, 0.1);
    offsets.rest_volume[tet] = volume * kiln_random_range(&s->random, 0.9, 1.1);
}

static subject open_subject_in(kiln_context *context, int kind)
{
    static const char *const models[MATERIALS] = {"stable-neo-hookean", "corotated", "linear"};
    subject s = {.context = context};
    s.mesh = kiln_test_mesh(s.context, "box", "nx=5 ny=5 nz=5");
    kiln_test_jitter(s.mesh, 0.03, 5);
    s.random = kiln_random_start(11, (uint64_t)kind);
    s.materials = kind & SEVERAL ? MATERIALS : 1;
    for (int m = 0; m < MATERIALS; m++) {
        kiln_material *material = &s.material[m];
        ck_assert_int_eq(kiln_material_model_find(models[m], &material->model, NULL), KILN_OK);
        kiln_lame_from_young(100.0 * (m + 1), 0.3, &material->mu, &material->lambda);
        material->density = 1000.0;
        material->nodal_pressure = kind & NODAL && m != 1;
        material->damping_mass = kind & DAMPED ? 0.3 : 0.0;
        material->damping_stiffness = kind & DAMPED && m != 2 ? 0.01 : 0.0;
        material->viscosity = kind & DAMPED && m != 1 ? 0.2 : 0.0;
    }
    ck_assert_int_eq(kiln_mesh_reserve(s.mesh, ROOM, ROOM, ROOM, NULL), KILN_OK);
    if (kind & OFFSETS)
        ck_assert_int_eq(kiln_offsets_add(s.mesh, NULL), KILN_OK);
    s.material_of = calloc(ROOM, sizeof *s.material_of);
    s.material_then = calloc(ROOM, sizeof *s.material_then);
    s.mass = calloc(ROOM, sizeof *s.mass);
    s.x = calloc(3 * ROOM, sizeof *s.x);
    s.zero = calloc(3 * ROOM, sizeof *s.zero);
    s.tet = calloc(ROOM, sizeof *s.tet);
    s.u = calloc(ROOM, sizeof *s.u);
    s.shape = calloc(ROOM, sizeof *s.shape);
    s.rest = calloc(ROOM, sizeof *s.rest);
    for (uint32_t t = 0; t < s.mesh->table[KILN_ON_TET].used; t++) {
        s.material_of[t] = t < 400 ? 0 : (t / 90) % (uint32_t)s.materials;
        give_offset(&s, t);
    }
    open_derived(s.context, &s.kept);
    weigh(&s);
    build(&s, &s.kept);
    remember(&s);
    return s;
}

static subject open_subject(int kind)
{
    return open_subject_in(kiln_test_context(2), kind);
}

static void close_subject(subject *s)
{
    close_derived(&s->kept);
    kiln_changes_free(s->context, &s->changes);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
    free(s->material_of), free(s->material_then), free(s->mass), free(s->x), free(s->zero);
    free(s->tet), free(s->u), free(s->shape), free(s->rest);
}

static bool same_corners(const subject *s, uint32_t t)
{
    return t < s->tets && t < s->mesh->table[KILN_ON_TET].used &&
           memcmp(s->tet[t].v, s->mesh->tet[t].v, sizeof s->tet[t].v) == 0;
}

static bool same_tet(const subject *s, uint32_t t)
{
    kiln_offsets offsets = kiln_offsets_of(s->mesh);
    if (!same_corners(s, t) || s->material_then[t] != s->material_of[t])
        return false;
    for (int k = 0; k < 4 && kiln_tet_live(s->mesh, t); k++)
        if (memcmp(&s->u[s->tet[t].v[k]], &s->mesh->u[s->tet[t].v[k]], sizeof *s->u) != 0)
            return false;
    return !offsets.shape || (memcmp(&s->shape[t], &offsets.shape[t], sizeof *s->shape) == 0 &&
                              s->rest[t] == offsets.rest_volume[t]);
}

/* As kiln_changes would, from a comparison. */
static void list_changes(subject *s)
{
    uint32_t tets = s->mesh->table[KILN_ON_TET].used;
    uint32_t vertices = s->mesh->table[KILN_ON_VERTEX].used;
    uint8_t *other = calloc(ROOM, 1);
    s->changes.before[KILN_ON_TET] = s->tets;
    s->changes.before[KILN_ON_VERTEX] = s->vertices;
    s->changes.rows[KILN_ON_TET].count = s->changes.rows[KILN_ON_VERTEX].count = 0;
    for (uint32_t t = 0; t < tets; t++)
        if (!same_tet(s, t))
            ck_assert_int_eq(kiln_array_push(s->context, &s->changes.rows[KILN_ON_TET], t, NULL),
                             KILN_OK);
    for (uint32_t t = 0; t < (tets > s->tets ? tets : s->tets); t++)
        for (int k = 0; k < 4; k++) {
            if (!same_corners(s, t) && t < s->tets && s->tet[t].v[0] != KILN_NONE)
                other[s->tet[t].v[k]] = 1;
            if (t < tets && kiln_tet_live(s->mesh, t) && !same_tet(s, t))
                other[s->mesh->tet[t].v[k]] = 1;
        }
    for (uint32_t v = 0; v < vertices; v++)
        if (other[v] || v >= s->vertices || memcmp(&s->u[v], &s->mesh->u[v], sizeof *s->u) != 0)
            ck_assert_int_eq(kiln_array_push(s->context, &s->changes.rows[KILN_ON_VERTEX], v, NULL),
                             KILN_OK);
    free(other);
    mesh_tie(&s->changes, s->mesh, s->tet, sizeof *s->tet);
}

static void real_changes(subject *s, int count)
{
    for (int i = 0; i < count; i++) {
        kiln_txn txn = kiln_txn_begin(s->mesh);
        if (kiln_test_change(&txn, &s->random, 0.02, false) != KILN_ACCEPTED ||
            kiln_txn_commit(&txn) != KILN_ACCEPTED)
            kiln_txn_rollback(&txn);
    }
    for (uint32_t t = 0; t < s->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(s->mesh, t) && !same_corners(s, t)) {
            s->material_of[t] = kiln_random_below(&s->random, (uint32_t)s->materials);
            give_offset(s, t);
        }
}

static void copy_tet(subject *s, uint32_t from, uint32_t to)
{
    kiln_offsets offsets = kiln_offsets_of(s->mesh);
    s->mesh->tet[to] = s->mesh->tet[from];
    s->material_of[to] = s->material_of[from];
    if (offsets.shape) {
        offsets.shape[to] = offsets.shape[from];
        offsets.rest_volume[to] = offsets.rest_volume[from];
    }
}

static void remove_tet(subject *s, uint32_t t)
{
    kiln_table *table = &s->mesh->table[KILN_ON_TET];
    copy_tet(s, table->used - 1, t);
    table->used--, table->live--;
}

/* One into four, at its middle. */
static void split_tet(subject *s, uint32_t t)
{
    kiln_mesh *mesh = s->mesh;
    uint32_t middle = mesh->table[KILN_ON_VERTEX].used++, v[4];
    mesh->table[KILN_ON_VERTEX].live++;
    memcpy(v, mesh->tet[t].v, sizeof v);
    kiln_vec3 sum = {0};
    for (int k = 0; k < 4; k++)
        sum = kiln_v3_madd(sum, 0.25, mesh->u[v[k]]);
    mesh->u[middle] = mesh->x[middle] = sum;
    mesh->vertex[middle] = mesh->vertex[v[0]];
    for (int k = 0; k < 4; k++) {
        uint32_t to = k == 0 ? t : mesh->table[KILN_ON_TET].used++;
        mesh->table[KILN_ON_TET].live += k > 0;
        copy_tet(s, t, to);
        memcpy(mesh->tet[to].v, v, sizeof v);
        mesh->tet[to].v[k] = middle;
        give_offset(s, to);
    }
}

static void swap_vertices(subject *s, uint32_t a, uint32_t b)
{
    kiln_vec3 keep = s->mesh->u[a];
    s->mesh->u[a] = s->mesh->u[b];
    s->mesh->u[b] = keep;
    for (uint32_t t = 0; t < s->mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++) {
            uint32_t *v = &s->mesh->tet[t].v[k];
            *v = *v == a ? b : *v == b ? a : *v;
        }
}

/* The last vertex with all its tets. */
static void remove_last_vertex(subject *s)
{
    uint32_t last = --s->mesh->table[KILN_ON_VERTEX].used;
    s->mesh->table[KILN_ON_VERTEX].live--;
    for (uint32_t t = s->mesh->table[KILN_ON_TET].used; t-- > 0;)
        if (kiln_tet_corner(&s->mesh->tet[t], last) < 4)
            remove_tet(s, t);
}

static void surgery(subject *s, int count)
{
    kiln_mesh *mesh = s->mesh;
    for (int i = 0; i < count; i++) {
        uint32_t t = kiln_random_below(&s->random, mesh->table[KILN_ON_TET].used);
        uint32_t v = kiln_random_below(&s->random, mesh->table[KILN_ON_VERTEX].used);
        switch (kiln_random_below(&s->random, 7)) {
        case 0:
        case 1:
            remove_tet(s, t);
            break;
        case 2:
            split_tet(s, t);
            break;
        case 3:
            swap_vertices(s, v, mesh->tet[t].v[0]);
            break;
        case 4:
            mesh->u[v].x += 1e-3;
            break;
        case 5:
            s->material_of[t] = kiln_random_below(&s->random, (uint32_t)s->materials);
            give_offset(s, t);
            break;
        default:
            if (kiln_random_below(&s->random, 8) == 0)
                remove_last_vertex(s);
        }
    }
}

/* A place of its own for every vertex that does not depend on its number. */
static void deform(subject *s)
{
    for (uint32_t v = 0; v < s->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = s->mesh->u[v];
        s->x[3 * v] = 1.1 * u.x + 0.02 * sin(5.0 * u.y);
        s->x[3 * v + 1] = 0.95 * u.y + 0.03 * sin(4.0 * u.z);
        s->x[3 * v + 2] = u.z + 0.02 * sin(6.0 * u.x);
    }
}

static void same_bits(const void *a, const void *b, size_t bytes, const char *what)
{
    ck_assert_msg(bytes == 0 || memcmp(a, b, bytes) == 0, "%s is not what a build gives", what);
}

#define SAME_ARRAY(a, b, what)                                                                     \
    do {                                                                                           \
        ck_assert_uint_eq((a).count, (b).count);                                                   \
        same_bits((a).data, (b).data, (a).count * sizeof *(a).data, what);                         \
    } while (0)

static void same_layout(const kiln_elements *a, const kiln_elements *b)
{
    ck_assert_uint_eq(a->count, b->count);
    SAME_ARRAY(a->number_of, b->number_of, "number_of");
    SAME_ARRAY(a->vertex, b->vertex, "vertex");
    SAME_ARRAY(a->material_of, b->material_of, "material_of");
    SAME_ARRAY(a->tets_of, b->tets_of, "tets_of");
    SAME_ARRAY(a->mention, b->mention, "mention");
    SAME_ARRAY(a->chunks, b->chunks, "chunks");
    SAME_ARRAY(a->colours, b->colours, "colours");
    for (size_t i = 0; i < a->batches.count; i++) {
        const kiln_element_batch *p = &a->batches.data[i], *q = &b->batches.data[i];
        same_bits(p->slot, q->slot, sizeof p->slot, "slot");
        same_bits(p->gradient, q->gradient, sizeof p->gradient, "gradient");
        same_bits(p->volume, q->volume, sizeof p->volume, "volume");
    }
}

static void make_matrix(const subject *s, derived *d)
{
    kiln_term *terms[2] = {kiln_elements_term(d->elements), kiln_nodal_pressure_term(d->pressure)};
    kiln_cliques sets[2];
    for (int i = 0; i < 2; i++)
        sets[i] = terms[i]->cliques(terms[i]->self);
    ck_assert_int_eq(
        kiln_bsr_set_pattern(&d->H, s->mesh->table[KILN_ON_VERTEX].used, sets, 2, NULL), KILN_OK);
    ck_assert_int_eq(terms[0]->attach(terms[0]->self, &d->H, NULL), KILN_OK);
}

/* Value, gradient and Hessian of one term of both. */
static void same_term(const subject *s, kiln_term *a, kiln_term *b, kiln_bsr *Ha, kiln_bsr *Hb)
{
    size_t size = 3 * (size_t)s->mesh->table[KILN_ON_VERTEX].used, blocks = Ha->start[Ha->rows];
    double *g[2] = {calloc(size, sizeof(double)), calloc(size, sizeof(double))};
    double value[2] = {a->value(a->self, s->x), b->value(b->self, s->x)};
    ck_assert_msg(isfinite(value[1]), "%s: no value", a->name);
    same_bits(&value[0], &value[1], sizeof value[0], a->name);
    kiln_bsr_clear(Ha);
    kiln_bsr_clear(Hb);
    a->add(a->self, s->x, 1.0, g[0], Ha);
    b->add(b->self, s->x, 1.0, g[1], Hb);
    same_bits(g[0], g[1], size * sizeof(double), a->name);
    ck_assert_uint_eq(Ha->pattern, Hb->pattern);
    same_bits(Ha->value, Hb->value, 9 * blocks * sizeof(double), a->name);
    free(g[0]), free(g[1]);
}

static void same_damping(subject *s, derived *fresh, int i)
{
    kiln_damping *a = s->kept.damping[i], *b = fresh->damping[i];
    ck_assert_int_eq(kiln_damping_is_used(a), kiln_damping_is_used(b));
    if (!kiln_damping_is_used(a))
        return;
    kiln_damping_start start = {
        .x_n = s->x, .v_n = s->x, .origin = s->zero, .rate_weight = 0.1, .tau = 0.01};
    kiln_damping_begin(a, &start);
    kiln_damping_begin(b, &start);
    same_term(s, kiln_damping_term(a), kiln_damping_term(b), &s->kept.H, &fresh->H);
}

static void compare(subject *s)
{
    derived fresh;
    size_t rows = s->mesh->table[KILN_ON_VERTEX].used;
    open_derived(s->context, &fresh);
    build(s, &fresh);
    same_layout(s->kept.elements, fresh.elements);
    same_bits(kiln_mass_lumped(s->kept.lumped), kiln_mass_lumped(fresh.lumped),
              rows * sizeof(double), "lumped mass");
    deform(s);
    make_matrix(s, &s->kept);
    make_matrix(s, &fresh);
    kiln_bsr *H[2] = {&s->kept.H, &fresh.H};
    same_term(s, kiln_elements_term(s->kept.elements), kiln_elements_term(fresh.elements), H[0],
              H[1]);
    same_term(s, kiln_nodal_pressure_term(s->kept.pressure),
              kiln_nodal_pressure_term(fresh.pressure), H[0], H[1]);
    same_term(s, kiln_mass_inertia(s->kept.lumped, s->zero),
              kiln_mass_inertia(fresh.lumped, s->zero), H[0], H[1]);
    same_term(s, kiln_mass_inertia(s->kept.consistent, s->zero),
              kiln_mass_inertia(fresh.consistent, s->zero), H[0], H[1]);
    for (int i = 0; i < 2; i++)
        same_damping(s, &fresh, i);
    close_derived(&fresh);
}

START_TEST(updates_give_the_bits_of_a_build)
{
    subject s = open_subject(_i);
    compare(&s);
    int rounds = (int)kiln_test_rounds(6, 60);
    for (int round = 0; round < rounds; round++) {
        int count = round % 3 == 0 ? 60 : 12;
        (_i & SURGERY ? surgery : real_changes)(&s, round == 1 ? 0 : count);
        list_changes(&s);
        if (round != 1)
            ck_assert_uint_gt(s.changes.rows[KILN_ON_TET].count, 0);
        weigh(&s);
        update(&s, &s.kept);
        remember(&s);
        if (round != 3) /* two updates without a matrix between them */
            compare(&s);
    }
    compare(&s);
    close_subject(&s);
}
END_TEST

/* What changed everywhere is built. */
START_TEST(all_is_a_build)
{
    subject s = open_subject(SEVERAL | NODAL | DAMPED);
    real_changes(&s, 50);
    s.changes.all = true;
    weigh(&s);
    update(&s, &s.kept);
    compare(&s);
    close_subject(&s);
}
END_TEST

/* Places that are still right are not looked up again. */
START_TEST(places_outside_renewed_rows_are_left_alone)
{
    subject s = open_subject(0);
    make_matrix(&s, &s.kept);
    surgery(&s, 1);
    split_tet(&s, 300);
    list_changes(&s);
    weigh(&s);
    update(&s, &s.kept);
    kiln_elements *e = s.kept.elements;
    uint8_t *renewed = calloc(s.mesh->table[KILN_ON_VERTEX].used, 1);
    uint32_t *was = calloc(kiln_elements_room(e), sizeof *was);
    size_t kept = 0;
    for (size_t n = 0; n < kiln_elements_room(e); n++) {
        uint32_t *place = &e->batches.data[n / 8].place[5][n % 8];
        was[n] = e->stale.data[n / 8] >> n % 8 & 1;
        *place = was[n] ? *place : 12345;
    }
    make_matrix(&s, &s.kept);
    ck_assert_uint_gt(s.kept.H.renewed.count, 0);
    for (size_t i = 0; i < s.kept.H.renewed.count; i++)
        renewed[s.kept.H.renewed.data[i]] = 1;
    for (uint32_t t = 0; t < s.mesh->table[KILN_ON_TET].used; t++) {
        size_t n = e->number_of.data[t];
        const uint32_t *v = e->vertex.data + 4 * n;
        bool again = was[n] || renewed[v[2]]; /* place 5 is in that row */
        ck_assert_int_eq(again, e->batches.data[n / 8].place[5][n % 8] != 12345);
        kept += !again;
    }
    ck_assert_uint_gt(kept, s.mesh->table[KILN_ON_TET].used / 2);
    free(renewed), free(was);
    close_subject(&s);
}
END_TEST

/* A tet without volume, or a material that is not there, leaves no elements; a build mends it. */
START_TEST(failed_updates_leave_nothing)
{
    subject s = open_subject(SEVERAL | SURGERY);
    kiln_error error = {0};
    kiln_vec3 keep = s.mesh->u[0];
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            s.mesh->u[0] = kiln_v3(1e3, 1e3, 1e3);
        else
            s.material_of[77] = 9;
        list_changes(&s);
        ck_assert_int_eq(
            kiln_elements_update(s.kept.elements, s.mesh, s.material_of, &s.changes, &error),
            i == 0 ? KILN_ERR_NUMERIC : KILN_ERR_INPUT);
        ck_assert_uint_eq(kiln_elements_count(s.kept.elements), 0);
        s.mesh->u[0] = keep;
        s.material_of[77] = 0;
        build(&s, &s.kept);
        compare(&s);
    }
    close_subject(&s);
}
END_TEST

START_TEST(updates_without_memory_are_mended_by_a_build)
{
    kiln_status status = KILN_ERR_MEMORY;
    uint64_t k = 1;
    for (; status != KILN_OK; k++) {
        kiln_test_heap heap = {0};
        subject s = open_subject_in(kiln_test_context_on(&heap, 1),
                                    SEVERAL | NODAL | OFFSETS | DAMPED | SURGERY);
        surgery(&s, 40);
        for (int i = 0; i < 60; i++)
            split_tet(&s, 10 * (uint32_t)i);
        list_changes(&s);
        weigh(&s);
        heap.fail_at = heap.calls + k;
        status = try_update(&s, &s.kept);
        heap.fail_at = 0;
        if (status != KILN_OK) {
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
            build(&s, &s.kept);
        }
        compare(&s);
        close_subject(&s);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
    ck_assert_uint_gt(k, 20);
}
END_TEST

START_TEST(settling_the_changed_gives_the_same)
{
    subject s = open_subject(OFFSETS);
    double gained[2];
    kiln_offsets_settle(s.mesh, &gained[0]);
    remember(&s);
    for (int round = 0; round < 5; round++) {
        real_changes(&s, 30);
        kiln_offsets offsets = kiln_offsets_of(s.mesh);
        for (uint32_t t = 0; t < s.mesh->table[KILN_ON_TET].used; t++)
            if (kiln_tet_live(s.mesh, t) && !same_tet(&s, t))
                offsets.rest_volume[t] *= 1.01;
        list_changes(&s);
        uint32_t tets = s.mesh->table[KILN_ON_TET].used;
        double *rest = malloc(2 * tets * sizeof *rest);
        memcpy(rest, offsets.rest_volume, tets * sizeof *rest);
        kiln_offsets_settle_changed(s.mesh, &s.changes, &gained[0]);
        memcpy(rest + tets, offsets.rest_volume, tets * sizeof *rest);
        memcpy(offsets.rest_volume, rest, tets * sizeof *rest);
        kiln_offsets_settle(s.mesh, &gained[1]);
        ck_assert_double_ne(gained[0], 0.0);
        same_bits(&gained[0], &gained[1], sizeof gained[0], "gain");
        same_bits(rest + tets, offsets.rest_volume, tets * sizeof *rest, "rest volume");
        free(rest);
        remember(&s);
    }
    close_subject(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("updates");
    TCase *tests = kiln_test_case(suite, "updates");
    tcase_add_loop_test(tests, updates_give_the_bits_of_a_build, 0, KINDS);
    tcase_add_test(tests, all_is_a_build);
    tcase_add_test(tests, places_outside_renewed_rows_are_left_alone);
    tcase_add_test(tests, failed_updates_leave_nothing);
    tcase_add_test(tests, updates_without_memory_are_mended_by_a_build);
    tcase_add_test(tests, settling_the_changed_gives_the_same);
    return suite;
}
