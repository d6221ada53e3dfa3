/* Groups: changed tets among which the totals of their matter can be kept. And the sets of tets and
 * vertices on which they are put right. */
#include "remesh/transfer_impl.h"

#include <stdlib.h>

/* In a pass what hangs together and is of one part now (a cluster may join too much); between two
 * meshes a part. */
static kiln_status find_group(kiln_transfer_job *job, kiln_idset *first, uint32_t cluster,
                              uint32_t part, uint32_t *group, kiln_error *error)
{
    uint32_t key = job->pass ? cluster : part, last = KILN_NONE;
    kiln_idset_slot *slot = kiln_idset_at(first, key);
    bool known = slot->epoch == first->epoch;
    for (*group = known ? slot->value : KILN_NONE; *group != KILN_NONE;
         *group = job->groups.data[last].next) {
        last = *group;
        if (job->groups.data[last].part == part)
            return KILN_OK;
    }
    *group = (uint32_t)job->groups.count;
    kiln_transfer_group fresh = {.part = part, .next = KILN_NONE};
    KILN_TRY(kiln_array_push(job->context, &job->groups, fresh, error));
    if (last != KILN_NONE) {
        job->groups.data[last].next = *group;
        return KILN_OK;
    }
    kiln_idset_add(first, slot, key, *group);
    return 2 * (size_t)first->members >= first->slots.count
               ? kiln_idset_grow(job->context, first, error)
               : KILN_OK;
}

static kiln_status add_member(kiln_transfer_job *job, kiln_idset *first, uint32_t cluster,
                              uint32_t tet, double mass, kiln_error *error)
{
    uint32_t group;
    KILN_TRY(find_group(job, first, cluster, job->to->info[tet].part, &group, error));
    KILN_TRY(kiln_array_push(job->context, &job->group_of, group, error));
    return kiln_array_push(job->context, &job->gains, ((kiln_transfer_gain){tet, group, mass}),
                           error);
}

static kiln_status add_members(kiln_transfer_job *job, kiln_idset *first, kiln_error *error)
{
    KILN_TRY(kiln_idset_clear(job->context, first, 64, error));
    for (size_t i = 0; i < job->targets.count; i++) {
        const kiln_transfer_tet *target = &job->targets.data[i];
        KILN_TRY(add_member(job, first, target->cluster, target->tet,
                            kiln_transfer_target_mass(job, target->tet), error));
    }
    for (size_t i = 0; i < job->heirs.count; i++) {
        const kiln_transfer_tet *source = &job->sources.data[job->heirs.data[i].a];
        double mass = job->mass ? kiln_transfer_source_mass(job, source) : 0.0;
        KILN_TRY(add_member(job, first, source->cluster, job->heirs.data[i].b, mass, error));
    }
    return KILN_OK;
}

/* Tets by group, and a place in the middle of each. */
static kiln_status list_members(kiln_transfer_job *job, kiln_error *error)
{
    size_t members = job->gains.count, groups = job->groups.count;
    KILN_TRY(kiln_array_reserve(job->context, &job->member, members, error));
    for (size_t i = 0; i < members; i++)
        job->groups.data[job->gains.data[i].group].count++;
    for (size_t g = 1; g < groups; g++)
        job->groups.data[g].first = job->groups.data[g - 1].first + job->groups.data[g - 1].count;
    for (size_t g = 0; g < groups; g++)
        job->groups.data[g].count = 0;
    for (size_t i = 0; i < members; i++) {
        kiln_transfer_group *group = &job->groups.data[job->gains.data[i].group];
        job->member.data[group->first + group->count++] = job->gains.data[i].tet;
    }
    job->member.count = members;
    return KILN_OK;
}

static void find_middle(const kiln_transfer_job *job, kiln_transfer_group *group)
{
    const uint32_t *tets = &job->member.data[group->first];
    kiln_vec3 near = job->to->x[job->to->tet[tets[0]].v[0]], sum = {0}, r[4];
    double square = 0.0, corners = 4.0 * group->count;
    for (uint32_t i = 0; i < group->count; i++) {
        kiln_transfer_new_corners(job, tets[i], near, r);
        for (int k = 0; k < 4; k++)
            sum = kiln_v3_add(sum, r[k]);
    }
    group->at = kiln_v3_madd(near, 1.0 / corners, sum);
    for (uint32_t i = 0; i < group->count; i++) {
        kiln_transfer_new_corners(job, tets[i], group->at, r);
        for (int k = 0; k < 4; k++)
            square += kiln_v3_norm2(r[k]);
    }
    group->size = sqrt(square / corners);
}

static kiln_status add_share(kiln_transfer_job *job, uint32_t source, uint32_t group, double part,
                             kiln_error *error)
{
    kiln_transfer_share *share = &job->shares.data[source];
    if (share->group == KILN_NONE)
        share->group = group;
    while (share->group != group && share->next != KILN_NONE)
        share = &job->shares.data[share->next];
    if (share->group == group) {
        share->part += part;
        return KILN_OK;
    }
    share->next = (uint32_t)job->shares.count;
    return kiln_array_push(job->context, &job->shares,
                           ((kiln_transfer_share){source, group, part, KILN_NONE}), error);
}

/* Tets overlap with many others, nearly always of one group. */
static kiln_status find_shares(kiln_transfer_job *job, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(job->context, &job->shares, job->sources.count, error));
    for (uint32_t i = 0; i < job->sources.count; i++)
        job->shares.data[i] = (kiln_transfer_share){i, KILN_NONE, 0.0, KILN_NONE};
    job->shares.count = job->sources.count;
    for (size_t i = 0; i < job->overlaps.count; i++) {
        const kiln_overlap *o = &job->overlaps.data[i];
        double covered = job->covered.data[o->source];
        if (covered > 0.0)
            KILN_TRY(add_share(job, o->source, job->group_of.data[o->target], o->volume / covered,
                               error));
    }
    for (size_t i = 0; i < job->strays.count; i++)
        KILN_TRY(add_share(job, job->strays.data[i].a, job->group_of.data[job->strays.data[i].b],
                           1.0, error));
    for (size_t i = 0; i < job->heirs.count; i++)
        KILN_TRY(add_share(job, job->heirs.data[i].a, job->group_of.data[job->targets.count + i],
                           1.0, error));
    return KILN_OK;
}

kiln_status kiln_transfer_find_groups(kiln_transfer_job *job, kiln_error *error)
{
    kiln_idset first = {0};
    kiln_status status = add_members(job, &first, error);
    kiln_array_free(job->context, &first.slots);
    if (status == KILN_OK)
        status = list_members(job, error);
    if (status == KILN_OK)
        status = find_shares(job, error);
    for (size_t g = 0; status == KILN_OK && g < job->groups.count; g++)
        find_middle(job, &job->groups.data[g]);
    return status;
}

void kiln_transfer_old_corners(const kiln_transfer_job *job, uint32_t source, kiln_vec3 from,
                               kiln_vec3 r[4])
{
    kiln_begin_corners(&job->world, kiln_begin_tet(&job->view, job->sources.data[source].tet), r);
    for (int k = 0; k < 4; k++)
        r[k] = kiln_v3_sub(r[k], from);
}

void kiln_transfer_new_corners(const kiln_transfer_job *job, uint32_t tet, kiln_vec3 from,
                               kiln_vec3 r[4])
{
    for (int k = 0; k < 4; k++)
        r[k] = kiln_v3_sub(job->to->x[job->to->tet[tet].v[k]], from);
}

/* Sets. */

void kiln_transfer_set_free(kiln_context *context, kiln_transfer_set *set)
{
    kiln_array_free(context, &set->tets);
    kiln_array_free(context, &set->vertices);
    kiln_array_free(context, &set->number.slots);
    kiln_array_free(context, &set->seen.slots);
    kiln_array_free(context, &set->weights);
    if (set->walker.context)
        kiln_walker_free(&set->walker);
}

static kiln_status add_vertex(kiln_context *context, kiln_transfer_set *set, uint32_t vertex,
                              kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&set->number, vertex);
    if (slot->epoch == set->number.epoch)
        return KILN_OK;
    kiln_idset_add(&set->number, slot, vertex, (uint32_t)set->vertices.count);
    KILN_TRY(kiln_array_push(context, &set->vertices, vertex, error));
    return 2 * (size_t)set->number.members >= set->number.slots.count
               ? kiln_idset_grow(context, &set->number, error)
               : KILN_OK;
}

static kiln_status add_corners(const kiln_transfer_job *job, kiln_transfer_set *set,
                               const uint32_t *tets, size_t count, kiln_error *error)
{
    for (size_t i = 0; i < 4 * count; i++)
        KILN_TRY(add_vertex(job->context, set, job->to->tet[tets[i / 4]].v[i % 4], error));
    return KILN_OK;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool is_in(const kiln_u32_array *tets, uint32_t tet)
{
    for (size_t i = 0; i < tets->count; i++)
        if (tets->data[i] == tet)
            return true;
    return false;
}

kiln_status kiln_transfer_tets_near(const kiln_transfer_job *job, uint32_t group, size_t least,
                                    kiln_u32_array *tets, kiln_error *error)
{
    const kiln_transfer_group *of = &job->groups.data[group];
    tets->count = 0;
    for (uint32_t i = 0; i < of->count; i++)
        KILN_TRY(kiln_array_push(job->context, tets, job->member.data[of->first + i], error));
    size_t looked = 0, layer;
    do {
        for (layer = tets->count; looked < layer; looked++)
            for (int k = 0; k < 4; k++) {
                uint32_t link = job->to->tet[tets->data[looked]].n[k];
                if (!kiln_link_is_surface(link) && !is_in(tets, link / 4))
                    KILN_TRY(kiln_array_push(job->context, tets, link / 4, error));
            }
    } while (tets->count > layer && tets->count < least);
    qsort(tets->data, tets->count, sizeof(uint32_t), ascending);
    return KILN_OK;
}

static kiln_status add_tet(kiln_context *context, kiln_transfer_set *set, uint32_t tet,
                           kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&set->seen, tet);
    if (slot->epoch == set->seen.epoch)
        return KILN_OK;
    kiln_idset_add(&set->seen, slot, tet, 0);
    KILN_TRY(kiln_array_push(context, &set->tets, tet, error));
    return 2 * (size_t)set->seen.members >= set->seen.slots.count
               ? kiln_idset_grow(context, &set->seen, error)
               : KILN_OK;
}

/* Every tet at one of the vertices: the order of a walk is no property of the mesh. */
static kiln_status add_stars(const kiln_transfer_job *job, kiln_transfer_set *set,
                             kiln_error *error)
{
    KILN_TRY(kiln_idset_clear(job->context, &set->seen, 64, error));
    for (size_t i = 0; i < set->vertices.count; i++) {
        KILN_TRY(kiln_star(job->to, set->vertices.data[i], &set->walker, error));
        for (size_t k = 0; k < set->walker.tets.count; k++)
            KILN_TRY(add_tet(job->context, set, set->walker.tets.data[k], error));
    }
    if (set->tets.count)
        qsort(set->tets.data, set->tets.count, sizeof(uint32_t), ascending);
    return KILN_OK;
}

static kiln_status begin_set(const kiln_transfer_job *job, kiln_transfer_set *set,
                             const kiln_transfer_group *like, kiln_error *error)
{
    if (!set->walker.context)
        kiln_walker_init(&set->walker, job->context);
    set->tets.count = set->vertices.count = 0;
    set->at = like->at;
    return kiln_idset_clear(job->context, &set->number, 64, error);
}

/* Mass of a vertex and M x, a quarter of each tet and its twentieths, changed or not. */
static kiln_status weigh(const kiln_transfer_job *job, kiln_transfer_set *set, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(job->context, &set->weights, set->vertices.count, error));
    memset(set->weights.data, 0, set->vertices.count * sizeof *set->weights.data);
    for (size_t i = 0; i < set->tets.count; i++) {
        uint32_t tet = set->tets.data[i];
        double mass = kiln_transfer_target_mass(job, tet);
        kiln_vec3 r[4];
        kiln_transfer_new_corners(job, tet, set->at, r);
        kiln_vec3 sum = kiln_v3_add(kiln_v3_add(r[0], r[1]), kiln_v3_add(r[2], r[3]));
        for (int k = 0; k < 4; k++) {
            uint32_t at = kiln_transfer_set_index(set, job->to->tet[tet].v[k]);
            if (at == KILN_NONE)
                continue;
            kiln_vertex_weight *weight = &set->weights.data[at];
            weight->mass += 0.25 * mass;
            weight->moment = kiln_v3_madd(weight->moment, 0.05 * mass, kiln_v3_add(sum, r[k]));
        }
    }
    return KILN_OK;
}

kiln_status kiln_transfer_set_of_group(const kiln_transfer_job *job, uint32_t group,
                                       kiln_transfer_set *set, kiln_error *error)
{
    const kiln_transfer_group *of = &job->groups.data[group];
    const uint32_t *tets = &job->member.data[of->first];
    KILN_TRY(begin_set(job, set, of, error));
    KILN_TRY(add_corners(job, set, tets, of->count, error));
    for (uint32_t i = 0; !job->pass && i < of->count; i++)
        KILN_TRY(kiln_array_push(job->context, &set->tets, tets[i], error));
    if (job->pass)
        KILN_TRY(add_stars(job, set, error));
    return weigh(job, set, error);
}

kiln_status kiln_transfer_set_of_part(const kiln_transfer_job *job, uint32_t group,
                                      kiln_transfer_set *set, kiln_error *error)
{
    const kiln_transfer_group *of = &job->groups.data[group];
    KILN_TRY(begin_set(job, set, of, error));
    for (uint32_t t = 0; t < job->to->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(job->to, t) && job->to->info[t].part == of->part)
            KILN_TRY(kiln_array_push(job->context, &set->tets, t, error));
    KILN_TRY(add_corners(job, set, set->tets.data, set->tets.count, error));
    return weigh(job, set, error);
}
