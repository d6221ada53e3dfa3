#include "remesh/refine_impl.h"

#include <string.h>

kiln_refine_slots kiln_refine_slots_of(uint32_t code)
{
    if (code >= KILN_CODE_NEW)
        return (kiln_refine_slots){0, 1, 2, 3};
    uint32_t b = code % KILN_CODE_STAR;
    return (kiln_refine_slots){3, b, b == 0, b == 2 ? 1 : 2};
}

static double sum_ascending(double *value, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && value[j - 1] > value[j]; j--) {
            double swap = value[j];
            value[j] = value[j - 1];
            value[j - 1] = swap;
        }
    double sum = value[0];
    for (int i = 1; i < count; i++)
        sum += value[i];
    return sum;
}

kiln_vec3 kiln_refine_mean(const kiln_vec3 *positions, const uint32_t *v, int count)
{
    double x[4] = {0}, y[4] = {0}, z[4] = {0};
    for (int i = 0; i < count; i++) {
        x[i] = positions[v[i]].x;
        y[i] = positions[v[i]].y;
        z[i] = positions[v[i]].z;
    }
    return kiln_v3(sum_ascending(x, count) / count, sum_ascending(y, count) / count,
                   sum_ascending(z, count) / count);
}

kiln_vec3 kiln_refine_third(kiln_vec3 near, kiln_vec3 far)
{
    return kiln_v3((2 * near.x + far.x) / 3, (2 * near.y + far.y) / 3, (2 * near.z + far.z) / 3);
}

kiln_verdict kiln_plan_begin(kiln_refiner *r, size_t old, size_t fresh, size_t faces)
{
    kiln_context *context = r->mesh->context;
    kiln_refine_plan *plan = &r->plan;
    if (kiln_array_reserve(context, &plan->old, old, NULL) != KILN_OK ||
        kiln_array_reserve(context, &plan->fresh, fresh, NULL) != KILN_OK ||
        kiln_array_reserve(context, &plan->words, fresh, NULL) != KILN_OK ||
        kiln_array_reserve(context, &plan->made, fresh, NULL) != KILN_OK ||
        kiln_array_reserve(context, &plan->faces, faces, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    plan->old.count = plan->fresh.count = plan->words.count = plan->faces.count = 0;
    plan->flags = plan->spent_count = plan->apex_count = 0;
    plan->mixes = false;
    return KILN_ACCEPTED;
}

void kiln_plan_take(kiln_refiner *r, uint32_t tet)
{
    r->plan.old.data[r->plan.old.count++] = tet;
}

uint32_t kiln_plan_put(kiln_refiner *r, const uint32_t v[4], uint32_t parent, uint32_t slot,
                       kiln_refine_word word, uint32_t marks)
{
    kiln_refine_plan *plan = &r->plan;
    kiln_new_tet *tet = &plan->fresh.data[plan->fresh.count++];
    *tet = (kiln_new_tet){.parent = parent, .slot = slot, .marks = marks};
    memcpy(tet->v, v, sizeof tet->v);
    plan->words.data[plan->words.count++] = word;
    return (uint32_t)plan->fresh.count - 1;
}

void kiln_plan_face(kiln_refiner *r, uint32_t index, uint32_t face, uint32_t record, bool first)
{
    const kiln_face *from = &r->mesh->face[record];
    /* A crack face's number stays with the record: a part of the face has no twin. */
    r->plan.faces.data[r->plan.faces.count++] = (kiln_new_face){.tet = index,
                                                                .face = face,
                                                                .tag = from->tag,
                                                                .parent = record,
                                                                .twin = first ? from->twin : 0};
    r->plan.flags |= KILN_CAVITY_SURFACE;
}

void kiln_plan_spend(kiln_refiner *r, uint32_t a, uint32_t b)
{
    uint32_t *edge = r->plan.spent[r->plan.spent_count++];
    edge[0] = a;
    edge[1] = b;
}

/* What is wanted of a tet is wanted of whatever overlaps it. Unless a plan mixes, every old tet's
 * slot goes to a child of its own. */
static kiln_status hand_on_wanted(kiln_refiner *r)
{
    const kiln_refine_plan *plan = &r->plan;
    size_t used = r->mesh->table[KILN_ON_TET].used;
    uint8_t any = 0;
    for (size_t i = 0; i < plan->old.count; i++)
        any |= r->wanted.data[plan->old.data[i]];
    KILN_TRY(kiln_array_reserve(r->mesh->context, &r->wanted, used, NULL));
    if (used > r->wanted.count) {
        memset(r->wanted.data + r->wanted.count, 0, used - r->wanted.count);
        r->wanted.count = used;
    }
    KILN_TRY(kiln_array_reserve(r->mesh->context, &r->wanted_log,
                                r->wanted_log.count + plan->fresh.count, NULL));
    for (size_t i = 0; i < plan->fresh.count; i++) {
        uint32_t tet = plan->made.data[i];
        r->wanted_log.data[r->wanted_log.count++] = (kiln_wanted_change){tet, r->wanted.data[tet]};
        r->wanted.data[tet] = plan->mixes ? any : r->wanted.data[plan->fresh.data[i].parent];
    }
    return KILN_OK;
}

static bool has_all(const uint32_t v[4], const uint32_t *corners, int count)
{
    for (int i = 0; i < count; i++)
        if (v[0] != corners[i] && v[1] != corners[i] && v[2] != corners[i] && v[3] != corners[i])
            return false;
    return true;
}

static bool survives(const kiln_refine_plan *plan, const uint32_t *corners, int count)
{
    for (size_t i = 0; i < plan->fresh.count; i++)
        if (has_all(plan->fresh.data[i].v, corners, count))
            return true;
    return false;
}

/* `corners` are the two of an edge or the three of a face, padded to four by repetition. */
static bool may_go(const kiln_refine_plan *plan, const uint32_t corners[4], bool face)
{
    for (uint32_t i = 0; i < plan->spent_count; i++)
        if (has_all(corners, plan->spent[i], 2))
            return true;
    bool inside = !face || plan->apex_count == 0;
    for (uint32_t i = 0; i < plan->apex_count; i++)
        inside |= has_all(corners, &plan->apex[i], 1);
    return !inside;
}

/* A mark that the replacement would lose although nothing in its stead carries it: somebody gave it
 * to a vertex, edge or face that the refinement made. */
static bool loses_marks(const kiln_refiner *r)
{
    const kiln_refine_plan *plan = &r->plan;
    for (size_t i = 0; i < plan->old.count; i++) {
        uint32_t marks = r->mesh->info[plan->old.data[i]].marks;
        const uint32_t *v = r->mesh->tet[plan->old.data[i]].v;
        for (int k = 0; k < 4; k++)
            if (r->mesh->vertex[v[k]].flags & KILN_VERTEX_CORNER && !survives(plan, &v[k], 1))
                return true;
        for (int e = 0; e < 6; e++) {
            uint32_t a = v[kiln_edge_ends[e][0]], b = v[kiln_edge_ends[e][1]];
            const uint32_t edge[4] = {a, b, a, b};
            if (marks >> e & KILN_ONE_EDGE && !survives(plan, edge, 2) &&
                !may_go(plan, edge, false))
                return true;
        }
        for (int f = 0; f < 4; f++) {
            const uint8_t *c = kiln_face_corner[f];
            const uint32_t face[4] = {v[c[0]], v[c[1]], v[c[2]], v[c[2]]};
            if (marks >> f & KILN_ONE_FACE && !survives(plan, face, 3) && !may_go(plan, face, true))
                return true;
        }
    }
    return false;
}

kiln_verdict kiln_plan_apply(kiln_refiner *r, kiln_txn *txn)
{
    kiln_refine_plan *plan = &r->plan;
    if (plan->flags & KILN_CAVITY_FEATURES && loses_marks(r))
        return KILN_REFUSED_FEATURE;
    const kiln_cavity cavity = {.old = plan->old.data,
                                .old_count = (uint32_t)plan->old.count,
                                .fresh = plan->fresh.data,
                                .fresh_count = (uint32_t)plan->fresh.count,
                                .surface = plan->faces.data,
                                .surface_count = (uint32_t)plan->faces.count,
                                .flags = plan->flags};
    KILN_REFUSE_UNLESS(kiln_replace(txn, &cavity, plan->made.data));
    const kiln_field *field = &r->mesh->table[KILN_ON_TET].fields.data[r->column];
    for (size_t i = 0; i < plan->fresh.count; i++)
        KILN_REFUSE_UNLESS(
            kiln_txn_write(txn, KILN_ON_TET, field, plan->made.data[i], &plan->words.data[i]));
    if (r->wanted.count > 0 && hand_on_wanted(r) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    return KILN_ACCEPTED;
}
