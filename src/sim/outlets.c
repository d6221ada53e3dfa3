/* Outlets: what lies wholly beyond their plane is taken away. */
#include "sim/through.h"
#include "topology/layer.h"
#include "topology/repair.h"

#include <math.h>

/* Of the size of everything: faces that lie in the plane at the start are an outlet's. */
static const double IN_PLANE = 1e-6;

typedef struct cut {
    const kiln_through *t;
    kiln_vec3 point, normal;
    double beyond;
} cut;

static cut cut_of(const kiln_through *t, size_t row)
{
    const kiln_scene_outlet *said = &t->settings->outlets.data[row];
    double beyond = said->beyond > 0.0 ? said->beyond : t->edge;
    return (cut){t, said->point, said->normal, beyond};
}

static bool is_beyond(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const cut *c = user;
    const kiln_world *world = c->t->world;
    if (!world->materials[kiln_world_material_of(mesh)[tet]].liquid)
        return false;
    for (int k = 0; k < 4; k++)
        if (!(kiln_v3_dot(kiln_v3_sub(mesh->x[mesh->tet[tet].v[k]], c->point), c->normal) >
              c->beyond))
            return false;
    return true;
}

kiln_status kiln_outlet_make(kiln_through *t, size_t row, kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    const kiln_scene_outlet *said = &t->settings->outlets.data[row];
    uint32_t *through = kiln_through_of_faces(mesh);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        bool in = !through[f];
        for (int k = 0; k < 3 && in; k++) {
            kiln_vec3 p = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
            in = fabs(kiln_v3_dot(kiln_v3_sub(p, said->point), said->normal)) <=
                 IN_PLANE * t->world->size;
        }
        if (in)
            through[f] = (uint32_t)(t->settings->inlets.count + row + 1);
    }
    return kiln_through_list(t, error);
}

kiln_status kiln_outlet_drive(const kiln_through *t, const kiln_drive *drive, kiln_error *error)
{
    const uint32_t *through = kiln_through_of_faces(t->world->mesh);
    kiln_circumstances now = {.time = drive->time};
    for (size_t row = 0; row < t->settings->outlets.count; row++) {
        const kiln_scene_outlet *said = &t->settings->outlets.data[row];
        double pressure;
        KILN_TRY(kiln_said_wrap(t->world->scene, &said->said,
                                kiln_quantity_get(&said->pressure, &now, &pressure, 1, error),
                                error));
        for (size_t i = 0; i < t->outlet_faces.count && pressure != 0.0; i++)
            if (through[t->outlet_faces.data[i]] == t->settings->inlets.count + row + 1)
                KILN_TRY(kiln_loads_add_pressure(kiln_solid_loads(drive->solid),
                                                 t->outlet_faces.data[i], pressure * drive->share,
                                                 error));
    }
    return KILN_OK;
}

bool kiln_outlet_is_due(const kiln_through *t, size_t row)
{
    const kiln_mesh *mesh = t->world->mesh;
    cut c = cut_of(t, row);
    if (t->world->state.step % (uint64_t)t->settings->outlets.data[row].every != 0)
        return false;
    bool some = false, all = true; /* a mesh without tets is none */
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used && !(some && !all); i++) {
        if (!kiln_tet_live(mesh, i))
            continue;
        bool goes = is_beyond(&c, mesh, i);
        some |= goes;
        all &= goes;
    }
    return some && !all;
}

/* Faces that were uncovered are the outlet's. */
static kiln_verdict name_faces(kiln_txn *txn, uint32_t since, uint32_t number)
{
    const kiln_mesh *mesh = txn->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_FACE, KILN_FIELD_THROUGH);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && verdict == KILN_ACCEPTED; f++)
        if (kiln_face_live(mesh, f) && mesh->face[f].stamp > since)
            verdict = kiln_txn_write(txn, KILN_ON_FACE, field, f, &number);
    return verdict;
}

/* What leaves takes with it what was required of it; holds mark anew what stays. */
static kiln_verdict release(kiln_txn *txn, uint32_t tet)
{
    const kiln_mesh *mesh = txn->mesh;
    const kiln_tet record = mesh->tet[tet];
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t k = 0; k < 4 && verdict == KILN_ACCEPTED; k++) {
        if (mesh->info[tet].marks >> (KILN_MARK_REQUIRED_FACE + k) & 1)
            verdict = kiln_txn_mark_face(txn, tet, k, KILN_MARK_REQUIRED_FACE, false);
        if (verdict == KILN_ACCEPTED && mesh->vertex[record.v[k]].flags & KILN_VERTEX_REQUIRED)
            verdict = kiln_txn_set_vertex(txn, record.v[k], 0, KILN_VERTEX_REQUIRED);
    }
    for (uint32_t e = 0; e < 6 && verdict == KILN_ACCEPTED; e++)
        if (mesh->info[tet].marks >> (KILN_MARK_REQUIRED_EDGE + e) & 1)
            verdict = kiln_txn_mark_edge(txn, tet, e, KILN_MARK_REQUIRED_EDGE, false);
    return verdict;
}

kiln_verdict kiln_outlet_remove(kiln_through *t, size_t row, kiln_txn *txn)
{
    const kiln_mesh *mesh = txn->mesh;
    const uint32_t *through = kiln_through_of_faces(mesh);
    uint32_t number = (uint32_t)(t->settings->inlets.count + row + 1), since = mesh->clock;
    cut c = cut_of(t, row);
    int32_t tag = 0;
    for (size_t i = t->outlet_faces.count; i-- > 0;)
        if (through[t->outlet_faces.data[i]] == number)
            tag = mesh->face[t->outlet_faces.data[i]].tag;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; i++)
        if (kiln_tet_live(mesh, i) && is_beyond(&c, mesh, i)) {
            kiln_passed_add(&t->state.out, t->world, i);
            verdict = release(txn, i);
        }
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_tets_remove(txn, is_beyond, &c, tag, NULL);
    kiln_repair_report report;
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(txn, tag, &report);
    return verdict == KILN_ACCEPTED ? name_faces(txn, since, number) : verdict;
}
