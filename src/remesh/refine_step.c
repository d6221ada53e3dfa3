/* The steps A to E. A step at generation g takes tets of generation g only, and what it needs is
 * brought to g by steps at lower generations: the tet that asked is not disturbed meanwhile, and
 * the recursion ends after at most g levels. */
#include "geom/predicates.h"
#include "remesh/refine_impl.h"

#include <string.h>

static kiln_verdict step(kiln_refiner *r, kiln_txn *txn, uint32_t tet);

/* What lies across the face is brought to the generation and returned packed; the surface is
 * refused. */
static kiln_verdict bring_across(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t face,
                                 uint32_t generation, kiln_link *across)
{
    for (;;) {
        *across = r->mesh->tet[tet].n[face];
        if (kiln_link_is_surface(*across))
            return KILN_REFUSED_LOCKED;
        kiln_refine_word word = kiln_word_of(r, *across / 4);
        if (!kiln_word_known(word) || kiln_word_generation(word) > generation)
            return KILN_REFUSED_LOCKED;
        if (kiln_word_generation(word) == generation)
            return KILN_ACCEPTED;
        KILN_REFUSE_UNLESS(step(r, txn, *across / 4));
    }
}

/* The same for all tets round an edge, which are left in r->ring. */
static kiln_verdict bring_ring(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t corner_a,
                               uint32_t corner_b, uint32_t generation, kiln_ring *shape)
{
    for (;;) {
        *shape = kiln_edge_ring(r->mesh, tet, corner_a, corner_b, r->ring.data,
                                (uint32_t)r->ring.capacity);
        if (shape->count > r->ring.capacity) {
            if (kiln_array_reserve(r->mesh->context, &r->ring, shape->count, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
            continue;
        }
        uint32_t lower = KILN_NONE;
        for (uint32_t i = 0; i < shape->count && lower == KILN_NONE; i++) {
            kiln_refine_word word = kiln_word_of(r, r->ring.data[i] / 4);
            if (!kiln_word_known(word) || kiln_word_generation(word) > generation)
                return KILN_REFUSED_LOCKED;
            if (kiln_word_generation(word) < generation)
                lower = r->ring.data[i] / 4;
        }
        if (lower == KILN_NONE)
            return KILN_ACCEPTED;
        KILN_REFUSE_UNLESS(step(r, txn, lower));
    }
}

static uint32_t add_mean(kiln_txn *txn, const uint32_t *v, int count)
{
    const kiln_mesh *mesh = txn->mesh;
    const double weights[4] = {1.0 / count, 1.0 / count, 1.0 / count, 1.0 / count};
    return kiln_txn_add_vertex(txn, kiln_refine_mean(mesh->u, v, count),
                               kiln_refine_mean(mesh->x, v, count), v, weights, count);
}

/* A: the parent keeps its slot and its first three corners; the others are the parent with one
 * corner exchanged for the centroid, which an even permutation then brings to slot 3. */
static kiln_verdict step_a(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    static const uint8_t child[3][3] = {{3, 2, 1}, {2, 3, 0}, {1, 0, 3}};
    if (generation == KILN_REFINE_LAST)
        return KILN_REFUSED_LOCKED;
    uint32_t v[4];
    memcpy(v, r->mesh->tet[tet].v, sizeof v);
    uint32_t a = add_mean(txn, v, 4);
    if (a == KILN_NONE)
        return KILN_REFUSED_MEMORY;
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 1, 4, 0));
    kiln_plan_take(r, tet);
    kiln_refine_word word = kiln_word_at(kiln_word_of(r, tet), generation + 1);
    word = kiln_word_with_tag(word, generation / 5, KILN_TAG_A, true);
    kiln_plan_put(r, (uint32_t[4]){v[0], v[1], v[2], a}, tet, tet, word, 0);
    for (int j = 0; j < 3; j++)
        kiln_plan_put(r, (uint32_t[4]){v[child[j][0]], v[child[j][1]], v[child[j][2]], a}, tet,
                      KILN_NONE, kiln_word_new(generation + 1), 0);
    return kiln_plan_apply(r, txn);
}

/* Will the flips D at the three corners of the face be possible? Their tet between a, b and the
 * points next to the corner is the one that may turn over. */
static bool later_flips_hold(const kiln_mesh *mesh, kiln_space space, const uint32_t t[4],
                             uint32_t b)
{
    const kiln_vec3 *at = kiln_mesh_positions(mesh, space);
    for (int i = 0; i < 3; i++) {
        kiln_vec3 corner = at[t[i]], next = at[t[(i + 1) % 3]], last = at[t[(i + 2) % 3]];
        if (kiln_orient3d(at[t[3]], at[b], kiln_refine_third(corner, next),
                          kiln_refine_third(corner, last)) <= 0.0)
            return false;
    }
    return true;
}

/* A face that must stay, or that could not be flipped now and at its corners later. */
static bool face_stays(const kiln_mesh *mesh, uint32_t tet, kiln_link across)
{
    const uint32_t *t = mesh->tet[tet].v;
    uint32_t b = mesh->tet[across / 4].v[3];
    return kiln_link_is_interface(mesh, tet, across) || kiln_marks_of_face(mesh, tet, 3) ||
           !later_flips_hold(mesh, KILN_SPACE_MATERIAL, t, b) ||
           (mesh->world_policy == KILN_WORLD_REJECT &&
            !later_flips_hold(mesh, KILN_SPACE_WORLD, t, b));
}

/* B: t loses its corner 0, its partner the lowest other one, and the third tet has both. */
static kiln_verdict flip_inherited(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t partner,
                                   uint32_t generation)
{
    uint32_t t[4], n[4], cycle = generation / 5;
    memcpy(t, r->mesh->tet[tet].v, sizeof t);
    memcpy(n, r->mesh->tet[partner].v, sizeof n);
    uint32_t a = t[3], b = n[3], lost = n[0] == t[0], other = 1;
    /* The third tet has t[0] and n[lost]; round the edge a-b the face's corners turn as 0, 2, 1. */
    while (t[other] != n[lost])
        other++;
    uint32_t first = other == 2 ? t[0] : t[1], second = other == 2 ? t[2] : t[0];
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 2, 3, 0));
    r->plan.mixes = true;
    kiln_plan_take(r, tet);
    kiln_plan_take(r, partner);
    kiln_refine_word word = kiln_word_at(kiln_word_of(r, tet), generation + 1);
    kiln_plan_put(r, (uint32_t[4]){b, t[1], t[2], a}, tet, tet, kiln_word_with_code(word, cycle, 0),
                  0);
    n[lost] = a;
    word = kiln_word_at(kiln_word_of(r, partner), generation + 1);
    kiln_plan_put(r, n, partner, partner, kiln_word_with_code(word, cycle, lost), 0);
    kiln_plan_put(r, (uint32_t[4]){a, b, first, second}, tet, KILN_NONE,
                  kiln_word_with_code(kiln_word_new(generation + 1), cycle, KILN_CODE_NEW), 0);
    return kiln_plan_apply(r, txn);
}

/* B*, one side: the face's point b takes the place of corner 0 in the tet itself. */
static void plan_star(kiln_refiner *r, uint32_t tet, uint32_t b, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t v[4], cycle = generation / 5, marks = kiln_marks_of_face(mesh, tet, 3);
    memcpy(v, mesh->tet[tet].v, sizeof v);
    kiln_refine_word word = kiln_word_at(kiln_word_of(r, tet), generation + 1);
    kiln_refine_word made =
        kiln_word_with_code(kiln_word_new(generation + 1), cycle, KILN_CODE_NEW_STAR);
    kiln_plan_take(r, tet);
    r->plan.apex[r->plan.apex_count++] = v[3];
    uint32_t own = kiln_plan_put(r, (uint32_t[4]){b, v[1], v[2], v[3]}, tet, tet,
                                 kiln_word_with_code(word, cycle, KILN_CODE_STAR), marks << 3);
    kiln_plan_put(r, (uint32_t[4]){v[3], b, v[0], v[2]}, tet, KILN_NONE, made, marks);
    kiln_plan_put(r, (uint32_t[4]){v[3], b, v[1], v[0]}, tet, KILN_NONE, made, marks);
    if (marks)
        r->plan.flags |= KILN_CAVITY_FEATURES;
    kiln_link link = mesh->tet[tet].n[3];
    if (!kiln_link_is_surface(link))
        return;
    kiln_plan_face(r, own, 3, link - KILN_LINK_SURFACE, true);
    kiln_plan_face(r, own + 1, 0, link - KILN_LINK_SURFACE, false);
    kiln_plan_face(r, own + 2, 0, link - KILN_LINK_SURFACE, false);
}

/* B* at the surface (partner KILN_NONE), B** inside. */
static kiln_verdict split_inherited(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t partner,
                                    uint32_t generation)
{
    uint32_t b = add_mean(txn, r->mesh->tet[tet].v, 3);
    if (b == KILN_NONE)
        return KILN_REFUSED_MEMORY;
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 2, 6, 3));
    plan_star(r, tet, b, generation);
    if (partner != KILN_NONE) {
        plan_star(r, partner, b, generation);
        if (r->mesh->info[tet].region != r->mesh->info[partner].region)
            r->plan.flags |= KILN_CAVITY_REGIONS;
    }
    return kiln_plan_apply(r, txn);
}

static kiln_verdict step_b(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    if (kiln_link_is_surface(mesh->tet[tet].n[3]))
        return split_inherited(r, txn, tet, KILN_NONE, generation);
    kiln_link across;
    KILN_REFUSE_UNLESS(bring_across(r, txn, tet, 3, generation, &across));
    if (across % 4 != 3)
        return KILN_REFUSED_LOCKED;
    uint32_t partner = across / 4;
    kiln_verdict verdict = face_stays(mesh, tet, across)
                               ? KILN_REFUSED_INVERTED
                               : flip_inherited(r, txn, tet, partner, generation);
    if (verdict != KILN_REFUSED_INVERTED && verdict != KILN_REFUSED_INVERTED_WORLD)
        return verdict;
    return split_inherited(r, txn, tet, partner, generation);
}

static bool permutation_even(const uint32_t order[4])
{
    bool even = true;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            even ^= order[i] > order[j];
    return even;
}

/* The tet at one end of the cut edge, as (a, b, end, point) or with a and b exchanged. */
static uint32_t plan_outer(kiln_refiner *r, uint32_t tet, kiln_refine_slots s, bool a_first,
                           uint32_t end, uint32_t point, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t a = mesh->tet[tet].v[s.a], b = mesh->tet[tet].v[s.b], cycle = generation / 5;
    uint32_t marks = kiln_marks_of_edge(mesh, tet, s.u, s.v) << kiln_edge_of[2][3];
    marks |= kiln_marks_of_face(mesh, tet, s.a) << (a_first ? 0 : 1);
    marks |= kiln_marks_of_face(mesh, tet, s.b) << (a_first ? 1 : 0);
    bool star = kiln_code_is_star(kiln_word_code(kiln_word_of(r, tet), cycle));
    kiln_refine_word word =
        kiln_word_with_code(kiln_word_new(generation + 1), cycle, a_first ? 1 : 0);
    word = kiln_word_with_tag(word, cycle, KILN_TAG_ROLE, star);
    return kiln_plan_put(r, (uint32_t[4]){a_first ? a : b, a_first ? b : a, end, point}, tet,
                         KILN_NONE, word, marks);
}

/* C in one tet: u and v are the slots of the vertices of that name in it. */
static void plan_cut(kiln_refiner *r, uint32_t tet, kiln_refine_slots s, uint32_t near_u,
                     uint32_t near_v, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t v[4], u = mesh->tet[tet].v[s.u], w = mesh->tet[tet].v[s.v];
    uint32_t edge = kiln_marks_of_edge(mesh, tet, s.u, s.v);
    uint32_t face_a = kiln_marks_of_face(mesh, tet, s.a),
             face_b = kiln_marks_of_face(mesh, tet, s.b);
    memcpy(v, mesh->tet[tet].v, sizeof v);
    v[s.u] = near_u;
    v[s.v] = near_v;
    bool even = permutation_even((uint32_t[4]){s.a, s.b, s.u, s.v});
    kiln_refine_word word = kiln_word_at(kiln_word_of(r, tet), generation + 3);
    word = kiln_word_with_tag(word, generation / 5, KILN_TAG_C, true);
    kiln_plan_take(r, tet);
    uint32_t middle = kiln_plan_put(r, v, tet, tet, word,
                                    edge << kiln_edge_of[s.u][s.v] | face_a << s.a | face_b << s.b);
    uint32_t outer_u = plan_outer(r, tet, s, even, u, near_u, generation);
    uint32_t outer_v = plan_outer(r, tet, s, !even, w, near_v, generation);
    if (edge | face_a | face_b)
        r->plan.flags |= KILN_CAVITY_FEATURES;
    for (int side = 0; side < 2; side++) {
        uint32_t slot = side ? s.b : s.a;
        kiln_link link = mesh->tet[tet].n[slot];
        if (kiln_link_is_interface(mesh, tet, link))
            r->plan.flags |= KILN_CAVITY_REGIONS;
        if (!kiln_link_is_surface(link))
            continue;
        kiln_plan_face(r, middle, slot, link - KILN_LINK_SURFACE, true);
        kiln_plan_face(r, outer_u, even ? side : 1 - side, link - KILN_LINK_SURFACE, false);
        kiln_plan_face(r, outer_v, even ? 1 - side : side, link - KILN_LINK_SURFACE, false);
    }
}

static uint32_t add_third(kiln_txn *txn, uint32_t near, uint32_t far)
{
    const kiln_mesh *mesh = txn->mesh;
    return kiln_txn_add_vertex(txn, kiln_refine_third(mesh->u[near], mesh->u[far]),
                               kiln_refine_third(mesh->x[near], mesh->x[far]),
                               (uint32_t[2]){near, far}, (double[2]){2.0 / 3.0, 1.0 / 3.0}, 2);
}

static kiln_verdict step_c(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t cycle = generation / 5;
    kiln_refine_slots s = kiln_refine_slots_of(kiln_word_code(kiln_word_of(r, tet), cycle));
    uint32_t u = mesh->tet[tet].v[s.u], v = mesh->tet[tet].v[s.v];
    kiln_ring shape;
    KILN_REFUSE_UNLESS(bring_ring(r, txn, tet, s.u, s.v, generation, &shape));
    uint32_t near_u = add_third(txn, u, v), near_v = add_third(txn, v, u);
    if (near_u == KILN_NONE || near_v == KILN_NONE)
        return KILN_REFUSED_MEMORY;
    if (kiln_marks_of_edge(mesh, tet, s.u, s.v) & 1u << KILN_MARK_FEATURE_EDGE) {
        KILN_REFUSE_UNLESS(kiln_txn_set_vertex(txn, near_u, KILN_VERTEX_FEATURE, 0));
        KILN_REFUSE_UNLESS(kiln_txn_set_vertex(txn, near_v, KILN_VERTEX_FEATURE, 0));
    }
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, shape.count, 3 * (size_t)shape.count, 6));
    kiln_plan_spend(r, u, v);
    for (uint32_t i = 0; i < shape.count; i++) {
        uint32_t t = r->ring.data[i] / 4;
        s = kiln_refine_slots_of(kiln_word_code(kiln_word_of(r, t), cycle));
        if (mesh->tet[t].v[s.u] == v) {
            uint32_t swap = s.u;
            s.u = s.v;
            s.v = swap;
        }
        if (mesh->tet[t].v[s.u] != u || mesh->tet[t].v[s.v] != v)
            return KILN_REFUSED_LOCKED;
        plan_cut(r, t, s, near_u, near_v, generation);
    }
    return kiln_plan_apply(r, txn);
}

/* D of the tet x and its partner y across face 3, both (c0, c1, corner, point). At a face that
 * stays only the side of a is flipped. */
static kiln_verdict plan_corner(kiln_refiner *r, uint32_t x, uint32_t y, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    const uint32_t *v = mesh->tet[x].v;
    uint32_t cycle = generation / 5, corner = v[2], p = v[3], q = mesh->tet[y].v[3];
    bool b_last = kiln_word_code(kiln_word_of(r, x), cycle) == 1;
    bool star = kiln_word_tag(kiln_word_of(r, x), cycle, KILN_TAG_ROLE);
    uint32_t a = v[b_last ? 0 : 1], b = v[b_last ? 1 : 0], first = b_last ? q : p,
             second = b_last ? p : q;
    kiln_refine_word inner =
        kiln_word_with_tag(kiln_word_new(generation + 2), cycle, KILN_TAG_D, true);
    inner = kiln_word_with_tag(inner, cycle, KILN_TAG_ROLE, star);
    kiln_plan_take(r, x);
    kiln_plan_take(r, y);
    uint32_t at_x = b_last ? 0 : 1, at_y = kiln_tet_corner(&mesh->tet[y], a);
    uint32_t marks = star ? kiln_marks_of_face(mesh, x, at_x) : 0;
    uint32_t k = kiln_plan_put(r, (uint32_t[4]){a, b, first, second}, x, KILN_NONE, inner, marks);
    kiln_plan_put(r, (uint32_t[4]){a, corner, second, first}, y, KILN_NONE,
                  kiln_word_new(generation + 1), marks);
    if (!star) {
        kiln_plan_put(r, (uint32_t[4]){b, corner, first, second}, y, KILN_NONE,
                      kiln_word_new(generation + 1), 0);
        return KILN_ACCEPTED;
    }
    r->plan.apex[r->plan.apex_count++] = a;
    if (kiln_marks_of_face(mesh, y, at_y) != marks)
        return KILN_REFUSED_FEATURE;
    if (marks)
        r->plan.flags |= KILN_CAVITY_FEATURES;
    kiln_link link_x = mesh->tet[x].n[at_x], link_y = mesh->tet[y].n[at_y];
    if (!kiln_link_is_surface(link_x))
        return KILN_ACCEPTED;
    uint32_t record_x = link_x - KILN_LINK_SURFACE, record_y = link_y - KILN_LINK_SURFACE;
    if (mesh->face[record_x].tag != mesh->face[record_y].tag)
        return KILN_REFUSED_FEATURE;
    kiln_plan_face(r, k, 0, record_x, true);
    kiln_plan_face(r, k + 1, 0, record_y, true);
    return KILN_ACCEPTED;
}

/* The partner of a tet in state 3 at the same corner of the same face. */
static kiln_verdict find_partner(kiln_refiner *r, kiln_txn *txn, uint32_t x, uint32_t generation,
                                 uint32_t *y)
{
    const kiln_mesh *mesh = r->mesh;
    kiln_link across;
    KILN_REFUSE_UNLESS(bring_across(r, txn, x, 3, generation, &across));
    *y = across / 4;
    uint32_t cycle = generation / 5;
    kiln_refine_word mine = kiln_word_of(r, x), theirs = kiln_word_of(r, *y);
    uint32_t b_mine = mesh->tet[x].v[kiln_word_code(mine, cycle) & 1];
    bool star = kiln_word_tag(mine, cycle, KILN_TAG_ROLE);
    bool fits = across % 4 == 3 && mesh->tet[*y].v[2] == mesh->tet[x].v[2] &&
                star == kiln_word_tag(theirs, cycle, KILN_TAG_ROLE) &&
                (!star || b_mine == mesh->tet[*y].v[kiln_word_code(theirs, cycle) & 1]);
    return fits ? KILN_ACCEPTED : KILN_REFUSED_LOCKED;
}

static kiln_verdict step_d(kiln_refiner *r, kiln_txn *txn, uint32_t x, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t y, cycle = generation / 5, other_x = KILN_NONE, other_y = KILN_NONE;
    KILN_REFUSE_UNLESS(find_partner(r, txn, x, generation, &y));
    bool star = kiln_word_tag(kiln_word_of(r, x), cycle, KILN_TAG_ROLE);
    uint32_t at_x = 1 - (kiln_word_code(kiln_word_of(r, x), cycle) & 1);
    uint32_t at_y = 1 - (kiln_word_code(kiln_word_of(r, y), cycle) & 1);
    if (star && !kiln_link_is_surface(mesh->tet[x].n[at_x])) {
        kiln_link across_x, across_y;
        KILN_REFUSE_UNLESS(bring_across(r, txn, x, at_x, generation, &across_x));
        KILN_REFUSE_UNLESS(bring_across(r, txn, y, at_y, generation, &across_y));
        other_x = across_x / 4;
        KILN_REFUSE_UNLESS(find_partner(r, txn, other_x, generation, &other_y));
        /* The other side's pair must lie at the same two points of the same face. */
        if (other_y != across_y / 4 || mesh->tet[other_x].v[3] != mesh->tet[x].v[3] ||
            mesh->tet[other_x].v[2] != mesh->tet[x].v[2] ||
            !kiln_word_tag(kiln_word_of(r, other_x), cycle, KILN_TAG_ROLE))
            return KILN_REFUSED_LOCKED;
    } else if (star && !kiln_link_is_surface(mesh->tet[y].n[at_y])) {
        return KILN_REFUSED_LOCKED;
    }
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 4, 6, 2));
    r->plan.mixes = true;
    KILN_REFUSE_UNLESS(plan_corner(r, x, y, generation));
    if (other_x != KILN_NONE) {
        KILN_REFUSE_UNLESS(plan_corner(r, other_x, other_y, generation));
        if (mesh->info[x].region != mesh->info[other_x].region)
            r->plan.flags |= KILN_CAVITY_REGIONS;
    }
    return kiln_plan_apply(r, txn);
}

static kiln_verdict step_e(kiln_refiner *r, kiln_txn *txn, uint32_t tet, uint32_t generation)
{
    const kiln_mesh *mesh = r->mesh;
    kiln_ring shape;
    KILN_REFUSE_UNLESS(bring_ring(r, txn, tet, 0, 1, generation, &shape));
    if (!shape.closed || shape.count != 3)
        return KILN_REFUSED_LOCKED;
    uint32_t v[4], third = KILN_NONE;
    memcpy(v, mesh->tet[tet].v, sizeof v);
    KILN_REFUSE_UNLESS(kiln_plan_begin(r, 3, 2, 0));
    r->plan.mixes = true;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t t = r->ring.data[i] / 4;
        const uint32_t *w = mesh->tet[t].v;
        if (w[0] != v[0] || w[1] != v[1])
            return KILN_REFUSED_LOCKED;
        for (int k = 2; k < 4; k++)
            third = w[k] != v[2] && w[k] != v[3] ? w[k] : third;
        kiln_plan_take(r, t);
    }
    kiln_refine_word word = kiln_word_new(generation + 1);
    kiln_plan_put(r, (uint32_t[4]){v[0], v[2], v[3], third}, r->plan.old.data[0], KILN_NONE, word,
                  0);
    word = kiln_word_with_tag(word, generation / 5, KILN_TAG_ROLE, true);
    kiln_plan_put(r, (uint32_t[4]){v[1], v[2], third, v[3]}, r->plan.old.data[1], KILN_NONE, word,
                  0);
    return kiln_plan_apply(r, txn);
}

static kiln_verdict step(kiln_refiner *r, kiln_txn *txn, uint32_t tet)
{
    static kiln_verdict (*const steps[5])(kiln_refiner *, kiln_txn *, uint32_t,
                                          uint32_t) = {step_a, step_b, step_c, step_d, step_e};
    kiln_refine_word word = kiln_word_of(r, tet);
    if (!kiln_word_known(word))
        return KILN_REFUSED_LOCKED;
    uint32_t generation = kiln_word_generation(word);
    return steps[generation % 5](r, txn, tet, generation);
}

kiln_verdict kiln_refine_step(kiln_refiner *refiner, kiln_txn *txn, uint32_t tet)
{
    const kiln_mesh *mesh = refiner->mesh;
    if (tet >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, tet))
        return KILN_REFUSED_DEAD;
    return step(refiner, txn, tet);
}
