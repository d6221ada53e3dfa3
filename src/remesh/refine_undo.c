/* The inverses of the steps. None of them recurses: all tets that the step left must still be there
 * as it left them, which is looked up tet by tet and point by point, whatever the words say. */
#include "remesh/refine_impl.h"

#include <string.h>

static bool same_place(kiln_vec3 a, kiln_vec3 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The tet across a face, if it is in the generation; KILN_LINK_SURFACE otherwise. */
static kiln_link across_at(const kiln_refiner *r, uint32_t tet, uint32_t face, uint32_t generation)
{
    kiln_link link = r->mesh->tet[tet].n[face];
    return !kiln_link_is_surface(link) && kiln_is_at(r, link / 4, generation) ? link
                                                                              : KILN_LINK_SURFACE;
}

static kiln_verdict apply_if_willing(kiln_refiner *r, kiln_txn *txn)
{
    for (size_t i = 0; i < r->plan.old.count && r->willing.wants; i++)
        if (!r->willing.wants(r->willing.user, r->mesh, r->plan.old.data[i]))
            return KILN_REFUSED_LOCKED;
    return kiln_plan_apply(r, txn);
}

/* The surface record of a face, or KILN_NONE. */
static uint32_t record_at(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    kiln_link link = mesh->tet[tet].n[face];
    return kiln_link_is_surface(link) ? link - KILN_LINK_SURFACE : KILN_NONE;
}

/* Two parts of one face, which must look alike to become it again. */
static bool faces_agree(const kiln_mesh *mesh, uint32_t tet, uint32_t face, uint32_t other,
                        uint32_t other_face)
{
    uint32_t record = record_at(mesh, tet, face), record2 = record_at(mesh, other, other_face);
    if (kiln_marks_of_face(mesh, tet, face) != kiln_marks_of_face(mesh, other, other_face) ||
        (record == KILN_NONE) != (record2 == KILN_NONE))
        return false;
    return record == KILN_NONE || mesh->face[record].tag == mesh->face[record2].tag;
}

/* A: the tagged one of the four tets at the centroid gets its corner back. */
static kiln_verdict undo_a(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t cycle = generation / 5, a = mesh->tet[tet].v[3], parent = KILN_NONE,
             corner = KILN_NONE;
    for (uint32_t f = 0; f < 4; f++) {
        kiln_link link = f < 3 ? mesh->tet[tet].n[f] : kiln_link_to(tet, 0);
        if (!kiln_link_is_surface(link) &&
            kiln_word_tag(kiln_word_of(r, link / 4), cycle, KILN_TAG_A))
            parent = parent == KILN_NONE ? link / 4 : KILN_LINK_SURFACE;
    }
    if (parent >= KILN_LINK_SURFACE || !kiln_is_at(r, parent, generation) ||
        mesh->tet[parent].v[3] != a)
        return KILN_REFUSED_LOCKED;
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 4, 1, 0));
    kiln_plan_take(r, parent);
    for (uint32_t f = 0; f < 3; f++) {
        kiln_link link = across_at(r, parent, f, generation);
        if (kiln_link_is_surface(link) || mesh->tet[link / 4].v[3] != a)
            return KILN_REFUSED_LOCKED;
        /* The corner that faces the parent is the same in all three. */
        uint32_t facing = mesh->tet[link / 4].v[link % 4];
        if (facing == a || (corner != KILN_NONE && facing != corner))
            return KILN_REFUSED_LOCKED;
        corner = facing;
        kiln_plan_take(r, link / 4);
    }
    uint32_t v[4];
    memcpy(v, mesh->tet[parent].v, sizeof v);
    v[3] = corner;
    if (!same_place(mesh->u[a], kiln_refine_mean(mesh->u, v, 4)))
        return KILN_REFUSED_LOCKED;
    kiln_refine_word word = kiln_word_at(kiln_word_of(r, parent), generation - 1);
    kiln_plan_put(r, v, parent, parent, kiln_word_with_tag(word, cycle, KILN_TAG_A, false), 0);
    return apply_if_willing(r, txn);
}

/* The three tets round the edge that B made, and the face it consumed. */
typedef struct fan {
    uint32_t tet[3], corner[3];
    uint32_t a, b;
    uint32_t own; /* of a star: the tet that was changed in place */
    bool star;
} fan;

static bool find_fan(const kiln_refiner *r, uint32_t tet, uint32_t generation, fan *f)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t cycle = generation / 5, code = kiln_word_code(kiln_word_of(r, tet), cycle);
    kiln_refine_slots s = kiln_refine_slots_of(code);
    uint32_t ring[3], corners = 0, in_place = 0;
    kiln_ring shape = kiln_edge_ring(mesh, tet, s.a, s.b, ring, 3);
    *f = (fan){
        .a = mesh->tet[tet].v[s.a], .b = mesh->tet[tet].v[s.b], .star = kiln_code_is_star(code)};
    if (!shape.closed || shape.count != 3)
        return false;
    for (int i = 0; i < 3; i++) {
        uint32_t t = f->tet[i] = ring[i] / 4;
        if (!kiln_is_at(r, t, generation))
            return false;
        code = kiln_word_code(kiln_word_of(r, t), cycle);
        s = kiln_refine_slots_of(code);
        uint32_t a = mesh->tet[t].v[s.a], b = mesh->tet[t].v[s.b];
        bool turned = !f->star && a == f->b && b == f->a; /* b is a centroid as well */
        if (kiln_code_is_star(code) != f->star || (!turned && (a != f->a || b != f->b)))
            return false;
        if (code < KILN_CODE_NEW) {
            f->own = t;
            in_place++;
        }
        f->corner[i] = mesh->tet[t].v[ring[i] % 4]; /* each corner is left behind once */
        corners += f->corner[i] != a && f->corner[i] != b;
    }
    return corners == 3 && in_place == (f->star ? 1 : 2);
}

/* The tet with its overwritten corner back: the one of the fan's that it lacks. */
static void plan_restored(kiln_refiner *r, const fan *f, uint32_t tet, uint32_t generation,
                          uint32_t marks)
{
    uint32_t v[4], cycle = generation / 5, lacking = KILN_NONE;
    kiln_refine_word word = kiln_word_of(r, tet);
    memcpy(v, r->mesh->tet[tet].v, sizeof v);
    for (int i = 0; i < 3; i++)
        if (kiln_tet_corner(&r->mesh->tet[tet], f->corner[i]) == 4)
            lacking = f->corner[i];
    v[kiln_word_code(word, cycle) % KILN_CODE_STAR] = lacking;
    word = kiln_word_with_code(kiln_word_at(word, generation - 1), cycle, 0);
    kiln_plan_put(r, v, tet, tet, word, marks);
}

static kiln_verdict undo_flip(kiln_refiner *r, kiln_txn *txn, const fan *f, uint32_t generation)
{
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 3, 2, 0));
    for (int i = 0; i < 3; i++) {
        kiln_plan_take(r, f->tet[i]);
        if (kiln_word_code(kiln_word_of(r, f->tet[i]), generation / 5) < KILN_CODE_NEW)
            plan_restored(r, f, f->tet[i], generation, 0);
    }
    return apply_if_willing(r, txn);
}

/* One side of a face that was split at its centroid. */
static kiln_verdict plan_unsplit(kiln_refiner *r, const fan *f, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    if (!same_place(mesh->u[f->b], kiln_refine_mean(mesh->u, f->corner, 3)))
        return KILN_REFUSED_LOCKED;
    uint32_t marks = kiln_marks_of_face(mesh, f->own, 3);
    for (int i = 0; i < 3; i++) {
        if (!faces_agree(mesh, f->own, 3, f->tet[i], kiln_tet_corner(&mesh->tet[f->tet[i]], f->a)))
            return KILN_REFUSED_FEATURE;
        kiln_plan_take(r, f->tet[i]);
    }
    uint32_t index = (uint32_t)r->plan.fresh.count, record = record_at(mesh, f->own, 3);
    r->plan.apex[r->plan.apex_count++] = f->a;
    plan_restored(r, f, f->own, generation, marks << 3);
    if (marks)
        r->plan.flags |= KILN_CAVITY_FEATURES;
    if (record != KILN_NONE)
        kiln_plan_face(r, index, 3, record, true);
    return KILN_ACCEPTED;
}

static kiln_verdict undo_b(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    fan f, other;
    if (!find_fan(r, tet, generation, &f))
        return KILN_REFUSED_LOCKED;
    if (!f.star)
        return undo_flip(r, txn, &f, generation);
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 6, 2, 1));
    KILN_REFUSE_UNLESS(plan_unsplit(r, &f, generation));
    if (!kiln_link_is_surface(mesh->tet[f.own].n[3])) {
        kiln_link link = across_at(r, f.own, 3, generation);
        if (kiln_link_is_surface(link) || !find_fan(r, link / 4, generation, &other) ||
            !other.star || other.b != f.b)
            return KILN_REFUSED_LOCKED;
        for (int i = 0; i < 3; i++)
            if (other.corner[i] != f.corner[0] && other.corner[i] != f.corner[1] &&
                other.corner[i] != f.corner[2])
                return KILN_REFUSED_LOCKED;
        KILN_REFUSE_UNLESS(plan_unsplit(r, &other, generation));
        if (mesh->info[f.own].region != mesh->info[other.own].region)
            r->plan.flags |= KILN_CAVITY_REGIONS;
    }
    return apply_if_willing(r, txn);
}

/* The outer tet beyond one end of a middle tet; `point` is the slot of the end's point. */
static uint32_t outer_at(const kiln_refiner *r, uint32_t middle, uint32_t point, uint32_t beyond,
                         uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    kiln_link link = across_at(r, middle, beyond, generation);
    bool fits = !kiln_link_is_surface(link) && link % 4 == 2 &&
                mesh->tet[link / 4].v[3] == mesh->tet[middle].v[point];
    return fits ? link / 4 : KILN_NONE;
}

/* C in one tet of the ring, whose cut edge gets its ends u and v back. */
static kiln_verdict plan_uncut(kiln_refiner *r, uint32_t middle, kiln_refine_slots s,
                               const uint32_t outer[2], uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t v[4], edge = kiln_marks_of_edge(mesh, middle, s.u, s.v);
    memcpy(v, mesh->tet[middle].v, sizeof v);
    uint32_t marks = edge << kiln_edge_of[s.u][s.v];
    const uint32_t side[2] = {s.a, s.b};
    for (int i = 0; i < 2; i++) {
        if (kiln_marks_of_edge(mesh, outer[i], 2, 3) != edge)
            return KILN_REFUSED_FEATURE;
        for (int k = 0; k < 2; k++) {
            uint32_t there = kiln_tet_corner(&mesh->tet[outer[i]], v[side[k]]);
            if (there == 4)
                return KILN_REFUSED_LOCKED;
            if (!faces_agree(mesh, middle, side[k], outer[i], there))
                return KILN_REFUSED_FEATURE;
        }
        kiln_plan_take(r, outer[i]);
    }
    kiln_plan_take(r, middle);
    v[s.u] = mesh->tet[outer[0]].v[2];
    v[s.v] = mesh->tet[outer[1]].v[2];
    for (int k = 0; k < 2; k++)
        marks |= kiln_marks_of_face(mesh, middle, side[k]) << side[k];
    kiln_refine_word word = kiln_word_at(kiln_word_of(r, middle), generation);
    uint32_t index = kiln_plan_put(
        r, v, middle, middle, kiln_word_with_tag(word, generation / 5, KILN_TAG_C, false), marks);
    if (marks)
        r->plan.flags |= KILN_CAVITY_FEATURES;
    for (int k = 0; k < 2; k++) {
        uint32_t record = record_at(mesh, middle, side[k]);
        if (record != KILN_NONE)
            kiln_plan_face(r, index, side[k], record, true);
        else if (kiln_link_is_interface(mesh, middle, mesh->tet[middle].n[side[k]]))
            r->plan.flags |= KILN_CAVITY_REGIONS;
    }
    return KILN_ACCEPTED;
}

/* C, given a middle tet; `generation` is that of the ring before the cut. */
static kiln_verdict undo_c(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t cycle = generation / 5, ends[2] = {KILN_NONE, KILN_NONE};
    kiln_refine_slots s = kiln_refine_slots_of(kiln_word_code(kiln_word_of(r, tet), cycle));
    uint32_t near_u = mesh->tet[tet].v[s.u], near_v = mesh->tet[tet].v[s.v];
    kiln_ring shape = kiln_edge_ring(mesh, tet, s.u, s.v, NULL, 0);
    if (kiln_array_reserve(mesh->context, &r->ring, shape.count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_edge_ring(mesh, tet, s.u, s.v, r->ring.data, shape.count);
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 3 * (size_t)shape.count, shape.count, 2));
    for (uint32_t i = 0; i < shape.count; i++) {
        uint32_t t = r->ring.data[i] / 4;
        kiln_refine_word word = kiln_word_of(r, t);
        if (!kiln_is_at(r, t, generation + 3) || !kiln_word_tag(word, cycle, KILN_TAG_C))
            return KILN_REFUSED_LOCKED;
        s = kiln_refine_slots_of(kiln_word_code(word, cycle));
        if (mesh->tet[t].v[s.u] == near_v) {
            uint32_t swap = s.u;
            s.u = s.v;
            s.v = swap;
        }
        if (mesh->tet[t].v[s.u] != near_u || mesh->tet[t].v[s.v] != near_v)
            return KILN_REFUSED_LOCKED;
        const uint32_t outer[2] = {outer_at(r, t, s.u, s.v, generation + 1),
                                   outer_at(r, t, s.v, s.u, generation + 1)};
        for (int k = 0; k < 2; k++) {
            if (outer[k] == KILN_NONE || (i > 0 && mesh->tet[outer[k]].v[2] != ends[k]))
                return KILN_REFUSED_LOCKED;
            ends[k] = mesh->tet[outer[k]].v[2];
        }
        KILN_REFUSE_UNLESS(plan_uncut(r, t, s, outer, generation));
    }
    if (!same_place(mesh->u[near_u], kiln_refine_third(mesh->u[ends[0]], mesh->u[ends[1]])) ||
        !same_place(mesh->u[near_v], kiln_refine_third(mesh->u[ends[1]], mesh->u[ends[0]])))
        return KILN_REFUSED_LOCKED;
    kiln_plan_spend(r, ends[0], near_u);
    kiln_plan_spend(r, near_u, near_v);
    kiln_plan_spend(r, near_v, ends[1]);
    return apply_if_willing(r, txn);
}

/* The tet in state 4 across a face of the inner tet that D made. */
static uint32_t corner_tet(const kiln_refiner *r, uint32_t inner, uint32_t face,
                           uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    kiln_link link = across_at(r, inner, face, generation);
    bool fits = !kiln_link_is_surface(link) && link % 4 == 1 &&
                mesh->tet[link / 4].v[0] == mesh->tet[inner].v[1 - face];
    return fits ? link / 4 : KILN_NONE;
}

/* One side of D: inner is (a, b, q, p); both tets of state 3 come back. */
static kiln_verdict plan_uncorner(kiln_refiner *r, uint32_t inner, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t v[4], cycle = generation / 5, far = KILN_NONE;
    memcpy(v, mesh->tet[inner].v, sizeof v);
    bool star = kiln_word_tag(kiln_word_of(r, inner), cycle, KILN_TAG_ROLE);
    uint32_t near = corner_tet(r, inner, 1, generation + 1);
    if (near == KILN_NONE)
        return KILN_REFUSED_LOCKED;
    uint32_t corner = mesh->tet[near].v[1];
    kiln_plan_take(r, inner);
    kiln_plan_take(r, near);
    if (!star) {
        far = corner_tet(r, inner, 0, generation + 1);
        if (far == KILN_NONE || mesh->tet[far].v[1] != corner)
            return KILN_REFUSED_LOCKED;
        kiln_plan_take(r, far);
    } else if (!faces_agree(mesh, inner, 0, near, 0)) {
        return KILN_REFUSED_FEATURE;
    }
    uint32_t marks = star ? kiln_marks_of_face(mesh, inner, 0) : 0;
    r->plan.apex[r->plan.apex_count] = v[0];
    r->plan.apex_count += star;
    kiln_refine_word word =
        kiln_word_with_tag(kiln_word_new(generation), cycle, KILN_TAG_ROLE, star);
    uint32_t x = kiln_plan_put(r, (uint32_t[4]){v[0], v[1], corner, v[3]}, inner, KILN_NONE,
                               kiln_word_with_code(word, cycle, 1), marks);
    kiln_plan_put(r, (uint32_t[4]){v[1], v[0], corner, v[2]}, near, KILN_NONE,
                  kiln_word_with_code(word, cycle, 0), marks << 1);
    if (marks)
        r->plan.flags |= KILN_CAVITY_FEATURES;
    if (star && record_at(mesh, inner, 0) != KILN_NONE) {
        kiln_plan_face(r, x, 0, record_at(mesh, inner, 0), true);
        kiln_plan_face(r, x + 1, 1, record_at(mesh, near, 0), true);
    }
    return KILN_ACCEPTED;
}

/* D, given the inner tet; `generation` is that of the two tets before. */
static kiln_verdict undo_d(kiln_refiner *r, kiln_txn *txn, uint32_t inner, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t cycle = generation / 5;
    kiln_refine_word word = kiln_word_of(r, inner);
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 6, 4, 2));
    KILN_REFUSE_UNLESS(plan_uncorner(r, inner, generation));
    if (kiln_word_tag(word, cycle, KILN_TAG_ROLE) && !kiln_link_is_surface(mesh->tet[inner].n[0])) {
        kiln_link link = across_at(r, inner, 0, generation + 2);
        uint32_t other = link / 4;
        if (kiln_link_is_surface(link) || link % 4 != 0 ||
            !kiln_word_tag(kiln_word_of(r, other), cycle, KILN_TAG_D) ||
            !kiln_word_tag(kiln_word_of(r, other), cycle, KILN_TAG_ROLE) ||
            mesh->tet[other].v[1] != mesh->tet[inner].v[1])
            return KILN_REFUSED_LOCKED;
        uint32_t corner = mesh->tet[r->plan.old.data[1]].v[1];
        KILN_REFUSE_UNLESS(plan_uncorner(r, other, generation));
        if (mesh->tet[r->plan.old.data[3]].v[1] != corner)
            return KILN_REFUSED_LOCKED;
        if (mesh->info[inner].region != mesh->info[other].region)
            r->plan.flags |= KILN_CAVITY_REGIONS;
    }
    return apply_if_willing(r, txn);
}

static bool made_by_e(const kiln_refiner *r, uint32_t tet, uint32_t generation)
{
    uint32_t cycle = generation / 5 - 1;
    kiln_refine_word word = kiln_word_of(r, tet);
    return kiln_is_at(r, tet, generation) && !kiln_word_tag(word, cycle, KILN_TAG_C) &&
           !kiln_word_tag(word, cycle, KILN_TAG_D);
}

static kiln_verdict undo_e(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t cycle = generation / 5 - 1;
    kiln_link link = across_at(r, tet, 0, generation);
    if (kiln_link_is_surface(link) || link % 4 != 0 || !made_by_e(r, link / 4, generation))
        return KILN_REFUSED_LOCKED;
    bool outer = kiln_word_tag(kiln_word_of(r, tet), cycle, KILN_TAG_ROLE);
    if (outer == kiln_word_tag(kiln_word_of(r, link / 4), cycle, KILN_TAG_ROLE))
        return KILN_REFUSED_LOCKED;
    uint32_t inner = outer ? link / 4 : tet, other = outer ? tet : link / 4;
    uint32_t p[4], corner = mesh->tet[other].v[0];
    memcpy(p, mesh->tet[inner].v, sizeof p);
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 2, 3, 0));
    kiln_plan_take(r, inner);
    kiln_plan_take(r, other);
    for (uint32_t i = 0; i < 3; i++)
        kiln_plan_put(r, (uint32_t[4]){p[0], corner, p[1 + i], p[1 + (i + 1) % 3]},
                      i == 1 ? other : inner, KILN_NONE, kiln_word_new(generation - 1), 0);
    return apply_if_willing(r, txn);
}

/* The tet of the next cycle that the step left beside one of state 3 or 4, if it is there. */
static kiln_verdict undo_beside(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t face,
                                uint32_t generation, int tag)
{
    uint32_t cycle = generation / 5;
    kiln_link link = across_at(r, tet, face, 5 * cycle + 5);
    if (kiln_link_is_surface(link) || !kiln_word_tag(kiln_word_of(r, link / 4), cycle, tag))
        return KILN_REFUSED_LOCKED;
    return tag == KILN_TAG_C ? undo_c(r, txn, link / 4, generation - 1)
                             : undo_d(r, txn, link / 4, generation - 1);
}

kiln_verdict kiln_refine_undo(kiln_refiner *r, kiln_txn *txn, uint32_t tet)
{
    const kiln_mesh *mesh = r->mesh;
    if (tet >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, tet))
        return KILN_REFUSED_DEAD;
    kiln_refine_word word = kiln_word_of(r, tet);
    uint32_t generation = kiln_word_generation(word);
    if (!kiln_word_known(word) || generation == 0)
        return KILN_REFUSED_LOCKED;
    switch (generation % 5) {
    case 1:
        return undo_a(r, txn, tet, generation);
    case 2:
        return undo_b(r, txn, tet, generation);
    case 3:
        return undo_beside(r, txn, tet, 2, generation, KILN_TAG_C);
    case 4:
        return undo_beside(r, txn, tet, 1, generation, KILN_TAG_D);
    default:
        break;
    }
    uint32_t cycle = generation / 5 - 1;
    if (kiln_word_tag(word, cycle, KILN_TAG_C))
        return undo_c(r, txn, tet, 5 * cycle + 2);
    if (kiln_word_tag(word, cycle, KILN_TAG_D))
        return undo_d(r, txn, tet, 5 * cycle + 3);
    return undo_e(r, txn, tet, generation);
}
