/* Inlets: pistons that leave liquid behind. */
#include "fem/offset.h"
#include "mesh/rewind.h"
#include "mesh/txn.h"
#include "mesh/walk.h"
#include "sim/motion.h"
#include "sim/through.h"
#include "topology/layer.h"

#include <math.h>
#include <string.h>

/* Of the size of a patch, what its vertices may lie off their plane. */
static const double FLAT = 1e-6;
/* Of a layer: what rounding may take off its thickness. */
static const double ALMOST = 1e-9;

static void corners_of(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

/* Normal, mean edge, and whether it is flat. */
static bool measure_patch(kiln_inlet *inlet, const kiln_mesh *mesh)
{
    kiln_vec3 area = {0, 0, 0};
    double edges = 0.0, longest = 0.0, off = 0.0;
    uint32_t v[3];
    for (size_t i = 0; i < inlet->faces.count; i++) {
        corners_of(mesh, inlet->faces.data[i], v);
        kiln_vec3 a = mesh->x[v[0]], b = mesh->x[v[1]], c = mesh->x[v[2]];
        area = kiln_v3_add(area, kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(c, a)));
        for (int k = 0; k < 3; k++)
            edges += kiln_v3_norm(kiln_v3_sub(mesh->x[v[k]], mesh->x[v[(k + 1) % 3]]));
    }
    inlet->inward = kiln_v3_scale(kiln_v3_normalize(area), -1.0);
    corners_of(mesh, inlet->faces.data[0], v);
    kiln_vec3 origin = mesh->x[v[0]];
    for (size_t i = 0; i < inlet->vertices.count; i++) {
        kiln_vec3 way = kiln_v3_sub(mesh->x[inlet->vertices.data[i]], origin);
        longest = fmax(longest, kiln_v3_norm(way));
        off = fmax(off, fabs(kiln_v3_dot(way, inlet->inward)));
    }
    inlet->level = kiln_v3_dot(origin, inlet->inward);
    if (inlet->layer == 0.0)
        inlet->layer = edges / (3.0 * (double)inlet->faces.count);
    return off <= FLAT * longest;
}

static kiln_status check_faces(const kiln_through *t, const kiln_scene_inlet *said,
                               const kiln_u32_array *faces, kiln_error *error)
{
    const kiln_world *world = t->world;
    const uint32_t *through = kiln_through_of_faces(world->mesh);
    const uint32_t *material = kiln_world_material_of(world->mesh);
    if (faces->count == 0)
        return kiln_said_fail(world->scene, &said->said, error, "selects no surface face");
    for (size_t i = 0; i < faces->count; i++) {
        if (through[faces->data[i]])
            return kiln_said_fail(world->scene, &said->said, error,
                                  "has faces that are of another inlet too");
        uint32_t tet = world->mesh->face[faces->data[i]].at / 4;
        if (!world->materials[material[tet]].liquid)
            return kiln_said_fail(world->scene, &said->said, error,
                                  "has faces of a solid body: only liquid flows in");
    }
    return KILN_OK;
}

kiln_status kiln_inlet_make(kiln_through *t, size_t row, kiln_error *error)
{
    kiln_world *world = t->world;
    const kiln_scene_inlet *said = &t->settings->inlets.data[row];
    kiln_inlet *inlet = &t->inlets[row];
    KILN_TRY(kiln_said_wrap(
        world->scene, &said->said,
        kiln_world_select(world, KILN_ON_FACE, -1, &said->where, &inlet->faces, error), error));
    KILN_TRY(check_faces(t, said, &inlet->faces, error));
    for (size_t i = 0; i < inlet->faces.count; i++)
        kiln_through_of_faces(world->mesh)[inlet->faces.data[i]] = (uint32_t)row + 1;
    KILN_TRY(kiln_through_list(t, error));
    inlet->layer = said->layer;
    if (!measure_patch(inlet, world->mesh))
        return kiln_said_fail(world->scene, &said->said, error,
                              "has faces that do not lie in one plane");
    return KILN_OK;
}

/* The patch stays as it is: nothing moves, splits or contracts it. */
static kiln_verdict mark_patch(const uint32_t *at, size_t faces, const uint32_t *vertices,
                               size_t count, kiln_txn *txn, bool on)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < faces && verdict == KILN_ACCEPTED; i++)
        verdict = kiln_txn_mark_face(txn, at[i] / 4, at[i] % 4, KILN_MARK_REQUIRED_FACE, on);
    for (size_t i = 0; i < count && verdict == KILN_ACCEPTED; i++)
        verdict = kiln_txn_set_vertex(txn, vertices[i], on ? KILN_VERTEX_REQUIRED : 0,
                                      on ? 0 : KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER);
    return verdict;
}

kiln_verdict kiln_inlet_require(const kiln_inlet *inlet, kiln_txn *txn)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < inlet->faces.count && verdict == KILN_ACCEPTED; i++)
        verdict = mark_patch(&txn->mesh->face[inlet->faces.data[i]].at, 1, NULL, 0, txn, true);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    return mark_patch(NULL, 0, inlet->vertices.data, inlet->vertices.count, txn, true);
}

kiln_status kiln_inlet_place(const kiln_through *t, size_t row, kiln_error *error)
{
    kiln_mesh *mesh = t->world->mesh;
    const kiln_inlet *inlet = &t->inlets[row];
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE, KILN_SAVE_COPY, error));
    kiln_vec3 *places =
        (kiln_vec3 *)(void *)kiln_world_column(t->world, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE);
    for (size_t i = 0; i < inlet->vertices.count; i++) {
        uint32_t v = inlet->vertices.data[i];
        kiln_vec3 at = kiln_v3_sub(mesh->x[v], t->state.way[row]);
        double off = inlet->level - kiln_v3_dot(at, inlet->inward);
        places[v] = kiln_v3_madd(at, off, inlet->inward);
    }
    return KILN_OK;
}

/* How far the patch has gone `time - begin` after the begin of the step. */
static kiln_status way_at(const kiln_through *t, size_t row, double begin, double time,
                          kiln_vec3 *way, kiln_error *error)
{
    const kiln_scene_inlet *said = &t->settings->inlets.data[row];
    kiln_circumstances then = {.time = begin}, now = {.time = time};
    kiln_vec3 first, last;
    KILN_TRY(kiln_said_wrap(t->world->scene, &said->said,
                            kiln_quantity_vector_at(&said->velocity, &then, &first, error), error));
    KILN_TRY(kiln_said_wrap(t->world->scene, &said->said,
                            kiln_quantity_vector_at(&said->velocity, &now, &last, error), error));
    *way = kiln_v3_madd(t->state.way[row], 0.5 * (time - begin), kiln_v3_add(first, last));
    return KILN_OK;
}

kiln_status kiln_inlet_drive(const kiln_through *t, size_t row, const kiln_drive *drive,
                             kiln_error *error)
{
    const kiln_world *world = t->world;
    const kiln_inlet *inlet = &t->inlets[row];
    const kiln_vec3 *places =
        (const kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE);
    kiln_constraints *constraints = kiln_solid_constraints(drive->solid);
    kiln_hold hold = {.components = 7, .tolerance = 1e-9 * world->size};
    kiln_vec3 way;
    KILN_TRY(way_at(t, row, drive->begin, drive->time, &way, error));
    for (size_t i = 0; i < inlet->vertices.count; i++) {
        uint32_t v = inlet->vertices.data[i];
        bool agrees;
        hold.target = kiln_v3_add(places[v], way);
        KILN_TRY(kiln_constraints_hold(constraints, v, &hold, &agrees, error));
        if (!agrees)
            return kiln_said_fail(world->scene, &t->settings->inlets.data[row].said, error,
                                  "contradicts a hold of the vertex at (%g, %g, %g): what meets an "
                                  "inlet must let liquid pass along it",
                                  places[v].x, places[v].y, places[v].z);
        /* To the last bit, not by the directions that others hold it in. */
        const kiln_held whole = {.count = 3,
                                 .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                 .place = {hold.target.x, hold.target.y, hold.target.z}};
        KILN_TRY(kiln_constraints_set_held(constraints, v, &whole, error));
    }
    return KILN_OK;
}

kiln_status kiln_inlet_move(kiln_through *t, size_t row, const kiln_moment *moment, bool *due,
                            kiln_error *error)
{
    const kiln_inlet *inlet = &t->inlets[row];
    kiln_vec3 way;
    KILN_TRY(way_at(t, row, moment->begin, moment->end, &way, error));
    t->state.way[row] = way;
    double gone = kiln_v3_dot(way, inlet->inward);
    if (gone < -ALMOST * inlet->layer)
        return kiln_said_fail(t->world->scene, &t->settings->inlets.data[row].said, error,
                              "has pulled liquid out by %g m at %g s: its velocity must point into "
                              "the liquid",
                              -gone, moment->end);
    *due = gone >= (1.0 - ALMOST) * inlet->layer;
    return KILN_OK;
}

static void place_copy(void *user, const kiln_mesh *mesh, uint32_t vertex, kiln_vec3 *u,
                       kiln_vec3 *x)
{
    (void)mesh;
    const kiln_vec3 *places = user;
    *u = *x = places[vertex];
}

/* Places that the new vertices remember of their originals lie back with them. */
static kiln_verdict set_back(const kiln_inlet *inlet, kiln_vec3 way, kiln_txn *txn)
{
    static const char *const names[] = {"x_before", "looked_at"};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int f = 0; f < 2; f++) {
        const kiln_field *field = kiln_mesh_field(txn->mesh, KILN_ON_VERTEX, names[f]);
        for (size_t i = 0; field && i < inlet->vertices.count && verdict == KILN_ACCEPTED; i++) {
            uint32_t v = inlet->vertices.data[i];
            kiln_vec3 back = kiln_v3_sub(((const kiln_vec3 *)(const void *)field->data)[v], way);
            verdict = kiln_txn_write(txn, KILN_ON_VERTEX, field, v, &back);
        }
    }
    return verdict;
}

static kiln_verdict write_number(kiln_txn *txn, const char *name, uint32_t tet, const void *value)
{
    const kiln_field *field = kiln_mesh_field(txn->mesh, KILN_ON_TET, name);
    return field ? kiln_txn_write(txn, KILN_ON_TET, field, tet, value) : KILN_ACCEPTED;
}

/* New tets have their volume and the mass that goes with it. */
static kiln_verdict fill_tets(kiln_through *t, kiln_txn *txn, uint32_t since)
{
    const kiln_world *world = t->world;
    const kiln_mesh *mesh = txn->mesh;
    const double *density = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_DENSITY);
    const uint32_t *material = kiln_world_material_of(mesh);
    const uint32_t layer = (uint32_t)(t->state.layers + 1);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; i++) {
        if (!kiln_tet_live(mesh, i) || mesh->info[i].changed <= since)
            continue;
        double volume = kiln_mesh_tet_volume(mesh, i);
        double mass = volume * (density ? density[i] : world->materials[material[i]].density);
        if ((verdict = write_number(txn, KILN_FIELD_MASS, i, &mass)) != KILN_ACCEPTED ||
            (verdict = write_number(txn, KILN_FIELD_EVEN, i, &mass)) != KILN_ACCEPTED ||
            (verdict = write_number(txn, KILN_FIELD_REST_VOLUME, i, &volume)) != KILN_ACCEPTED)
            return verdict;
        verdict = write_number(txn, KILN_FIELD_LAYER, i, &layer);
        kiln_passed_add(&t->state.in, world, i);
    }
    t->state.layers++;
    return verdict;
}

/* What the patch was, while it is covered: where its faces are, its vertices, and its rim. */
typedef struct covered {
    kiln_u32_array at, vertices, rim; /* rim: tet, edge */
} covered;

static kiln_status note_patch(const kiln_inlet *inlet, const kiln_mesh *mesh, covered *old)
{
    const uint32_t *through = kiln_through_of_faces(mesh);
    for (size_t i = 0; i < inlet->faces.count; i++) {
        uint32_t face = inlet->faces.data[i], at = mesh->face[face].at;
        const uint8_t *c = kiln_face_corner[at % 4];
        KILN_TRY(kiln_array_push(mesh->context, &old->at, at, NULL));
        for (int k = 0; k < 3; k++) {
            const uint32_t *v = mesh->tet[at / 4].v;
            uint32_t a = c[k], b = c[(k + 1) % 3];
            if (through[kiln_surface_across(mesh, face, v[a], v[b])] == through[face])
                continue;
            KILN_TRY(kiln_array_push(mesh->context, &old->rim, at / 4, NULL));
            KILN_TRY(kiln_array_push(mesh->context, &old->rim, kiln_edge_of[a][b], NULL));
        }
    }
    for (size_t i = 0; i < inlet->vertices.count; i++)
        KILN_TRY(kiln_array_push(mesh->context, &old->vertices, inlet->vertices.data[i], NULL));
    return KILN_OK;
}

/* The old patch is liquid as any other, and its rim lies within the walls. */
static kiln_verdict release_patch(const covered *old, kiln_txn *txn)
{
    kiln_verdict verdict = mark_patch(old->at.data, old->at.count, old->vertices.data,
                                      old->vertices.count, txn, false);
    for (size_t i = 0; i < old->rim.count && verdict == KILN_ACCEPTED; i += 2)
        verdict = kiln_txn_mark_edge(txn, old->rim.data[i], old->rim.data[i + 1],
                                     KILN_MARK_FEATURE_EDGE, false);
    return verdict;
}

static kiln_verdict cover_patch(kiln_through *t, size_t row, const covered *old, kiln_txn *txn)
{
    kiln_inlet *inlet = &t->inlets[row];
    kiln_mesh *mesh = txn->mesh;
    uint32_t since = mesh->clock;
    void *places = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE)->data;
    /* The table of vertices may grow, and its columns with it. */
    if (kiln_mesh_reserve(mesh, old->vertices.count, 3 * old->at.count,
                          old->at.count + old->rim.count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    places = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE)->data;
    kiln_verdict verdict = kiln_layer_add(txn, inlet->faces.data, inlet->faces.count, place_copy,
                                          places, KILN_LAYER_AS_BESIDE);
    if (verdict == KILN_ACCEPTED)
        verdict = fill_tets(t, txn, since);
    if (verdict == KILN_ACCEPTED)
        verdict = release_patch(old, txn);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    if (kiln_through_list(t, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    verdict = set_back(inlet, t->state.way[row], txn);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_inlet_require(inlet, txn);
    t->state.way[row] = kiln_v3(0, 0, 0);
    return verdict;
}

kiln_verdict kiln_inlet_add_layer(kiln_through *t, size_t row, kiln_txn *txn)
{
    covered old = {.at = {0}};
    kiln_context *context = t->world->context;
    kiln_verdict verdict = KILN_REFUSED_MEMORY;
    if (note_patch(&t->inlets[row], txn->mesh, &old) == KILN_OK)
        verdict = cover_patch(t, row, &old, txn);
    kiln_array_free(context, &old.at);
    kiln_array_free(context, &old.vertices);
    kiln_array_free(context, &old.rim);
    return verdict;
}
