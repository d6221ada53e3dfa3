/* The module of liquid that comes in and goes out. */
#include "sim/through.h"

#include "fem/offset.h"
#include "mesh/classify.h"
#include "sim/pass.h"

#include <stdlib.h>
#include <string.h>

static void plan(kiln_world *world)
{
    if (kiln_scene_settings(world->scene, &kiln_through_schema))
        world->remeshes = true;
}

void kiln_passed_add(kiln_passed *passed, const kiln_world *world, uint32_t tet)
{
    const kiln_mesh *mesh = world->mesh;
    const double *mass = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_MASS);
    const kiln_vec3 *v = (const kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, "v");
    const kiln_offsets offsets = kiln_offsets_of(mesh);
    passed->tets++;
    passed->volume += offsets.rest_volume[tet];
    passed->mass += mass[tet];
    for (int k = 0; k < 4; k++)
        passed->momentum = kiln_v3_madd(passed->momentum, 0.25 * mass[tet], v[mesh->tet[tet].v[k]]);
}

static int compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Ascending, each once. */
static void sort_out(kiln_u32_array *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->data, list->count, sizeof *list->data, compare);
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || list->data[i] != list->data[kept - 1])
            list->data[kept++] = list->data[i];
    list->count = kept;
}

kiln_status kiln_through_list(kiln_through *t, kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    const uint32_t *through = kiln_through_of_faces(mesh);
    size_t inlets = t->settings->inlets.count;
    kiln_context *context = t->world->context;
    t->outlet_faces.count = 0;
    for (size_t i = 0; i < inlets; i++)
        t->inlets[i].faces.count = t->inlets[i].vertices.count = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at, number = through[f];
        if (at == KILN_NONE || number == 0)
            continue;
        if (number > inlets) {
            KILN_TRY(kiln_array_push(context, &t->outlet_faces, f, error));
            continue;
        }
        kiln_inlet *inlet = &t->inlets[number - 1];
        KILN_TRY(kiln_array_push(context, &inlet->faces, f, error));
        for (int k = 0; k < 3; k++)
            KILN_TRY(kiln_array_push(context, &inlet->vertices,
                                     mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]], error));
    }
    for (size_t i = 0; i < inlets; i++)
        sort_out(&t->inlets[i].vertices);
    return KILN_OK;
}

double kiln_mean_edge(const kiln_mesh *mesh)
{
    double sum = 0.0;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    for (uint32_t t = 0; t < tets; t++)
        for (int e = 0; e < 6; e++)
            sum += kiln_v3_norm(kiln_v3_sub(mesh->x[mesh->tet[t].v[kiln_edge_ends[e][0]]],
                                            mesh->x[mesh->tet[t].v[kiln_edge_ends[e][1]]]));
    return sum / (6.0 * tets);
}

static kiln_status add_fields(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_THROUGH, KILN_ON_FACE, KILN_U32, 1,
                                 KILN_RULE_COPY, error));
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_LAYER, KILN_ON_TET, KILN_U32, 1, KILN_RULE_COPY,
                                 error));
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_INLET_PLACE, KILN_ON_VERTEX, KILN_F64, 3,
                                 KILN_RULE_INTERPOLATE, error));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE), mesh->x,
           mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->x);
    return KILN_OK;
}

static kiln_status require_patches(kiln_through *t, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(t->world->mesh);
    if (!txn.depth)
        return kiln_txn_fail(KILN_REFUSED_MEMORY, error);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < t->settings->inlets.count && verdict == KILN_ACCEPTED; i++)
        verdict = kiln_inlet_require(&t->inlets[i], &txn);
    verdict = kiln_txn_settle(&txn, verdict);
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

static kiln_status make_doors(kiln_through *t, kiln_error *error)
{
    for (size_t i = 0; i < t->settings->inlets.count; i++)
        KILN_TRY(kiln_inlet_make(t, i, error));
    for (size_t i = 0; i < t->settings->outlets.count; i++)
        KILN_TRY(kiln_outlet_make(t, i, error));
    return require_patches(t, error);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene_through *settings = kiln_scene_settings(world->scene, &kiln_through_schema);
    if (!settings)
        return KILN_OK;
    if (!world->moves || world->space != KILN_SPACE_WORLD)
        return kiln_said_fail(world->scene, &settings->said, error,
                              "needs a liquid body and time steps");
    kiln_through *t = kiln_module_make(world, sizeof *t, self, error);
    if (!t)
        return KILN_ERR_MEMORY;
    t->world = world;
    t->settings = settings;
    t->edge = kiln_mean_edge(world->mesh);
    size_t size = (settings->inlets.count + 1) * sizeof *t->inlets;
    t->inlets = kiln_resize(world->context, NULL, 0, size);
    if (!t->inlets)
        return kiln_fail_memory(error, size);
    memset(t->inlets, 0, size);
    KILN_TRY(add_fields(world, error));
    return make_doors(t, error);
}

static void destroy(void *self)
{
    kiln_through *t = self;
    kiln_context *context = t->world->context;
    size_t inlets = t->settings->inlets.count;
    for (size_t i = 0; t->inlets && i < inlets; i++) {
        kiln_array_free(context, &t->inlets[i].faces);
        kiln_array_free(context, &t->inlets[i].vertices);
    }
    if (t->inlets)
        kiln_release(context, t->inlets, (inlets + 1) * sizeof *t->inlets);
    kiln_array_free(context, &t->outlet_faces);
    kiln_changes_free(context, &t->changes);
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    const kiln_through *t = self;
    for (size_t i = 0; i < t->settings->inlets.count; i++)
        KILN_TRY(kiln_inlet_drive(t, i, drive, error));
    return kiln_outlet_drive(t, drive, error);
}

/* What is due, as one transaction. */
static kiln_status pass(kiln_through *t, const bool *layers, kiln_error *error)
{
    kiln_mesh *mesh = t->world->mesh;
    const kiln_scene_through *said = t->settings;
    const kiln_said *where = &said->said;
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < said->inlets.count && verdict == KILN_ACCEPTED; i++)
        if (layers[i]) {
            where = &said->inlets.data[i].said;
            verdict = kiln_inlet_add_layer(t, i, &txn);
        }
    for (size_t i = 0; i < said->outlets.count && verdict == KILN_ACCEPTED; i++)
        if (kiln_outlet_is_due(t, i)) {
            where = &said->outlets.data[i].said;
            verdict = kiln_outlet_remove(t, i, &txn);
        }
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_txn_commit(&txn);
    if (verdict == KILN_ACCEPTED)
        return KILN_OK;
    return kiln_said_wrap(t->world->scene, where, kiln_txn_fail(verdict, error), error);
}

static kiln_status change_mesh(kiln_through *t, const bool *layers, kiln_error *error)
{
    kiln_world *world = t->world;
    KILN_TRY(kiln_pass_begin(world, &t->changes, error));
    KILN_TRY(pass(t, layers, error));
    KILN_TRY(kiln_pass_end(world, &t->changes, NULL, error));
    /* The rims of the patches alone: liquid has no edges by its angles (waterline.c). */
    KILN_TRY(kiln_mesh_classify(world->mesh, KILN_PI, error));
    return kiln_world_changed(world, &t->changes, error);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    kiln_through *t = self;
    bool layers[KILN_MOST_INLETS] = {false}, due = false;
    for (size_t i = 0; i < t->settings->inlets.count; i++) {
        KILN_TRY(kiln_inlet_move(t, i, moment, &layers[i], error));
        due |= layers[i];
    }
    for (size_t i = 0; i < t->settings->outlets.count; i++)
        due |= kiln_outlet_is_due(t, i);
    return due ? change_mesh(t, layers, error) : KILN_OK;
}

/* In a new mesh of all, patches have vertices that were not there before. Where they began is found
 * from where they are: interpolated from vertices that flow it would be anywhere. */
static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    kiln_through *t = self;
    KILN_TRY(kiln_through_list(t, error));
    if (!changes->all || changes->renumbered || t->world->stale)
        return KILN_OK;
    for (size_t i = 0; i < t->settings->inlets.count; i++)
        KILN_TRY(kiln_inlet_place(t, i, error));
    return require_patches(t, error);
}

static void *state(void *self, size_t *size)
{
    kiln_through *t = self;
    *size = sizeof t->state;
    return &t->state;
}

static void measure(const void *self, kiln_stats *stats)
{
    const kiln_through *t = self;
    stats->in_volume = t->state.in.volume;
    stats->in_mass = t->state.in.mass;
    stats->out_volume = t->state.out.volume;
    stats->out_mass = t->state.out.mass;
}

const kiln_module kiln_module_through = {.name = "through",
                                         .schema = &kiln_through_schema,
                                         .plan = plan,
                                         .create = create,
                                         .destroy = destroy,
                                         .drive = drive,
                                         .after_step = after_step,
                                         .mesh_changed = mesh_changed,
                                         .state = state,
                                         .measure = measure};

void kiln_world_passed(const kiln_world *world, kiln_passed *in, kiln_passed *out)
{
    const kiln_through *t = kiln_world_module(world, &kiln_module_through);
    *in = t ? t->state.in : (kiln_passed){0};
    *out = t ? t->state.out : (kiln_passed){0};
}
