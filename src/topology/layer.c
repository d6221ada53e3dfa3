#include "topology/layer.h"
#include "geom/predicates.h"
#include "mesh/idset.h"
#include "topology/cavity_list.h"

/* The three tets of the prism a0 a1 a2 - b0 b1 b2, cut along a1-b0, a2-b0, a2-b1, each turned
 * positive. False when one is flat. Returns through `first` the index of the first. */
static bool add_prism(kiln_cavity_list *list, const kiln_mesh *mesh, const uint32_t a[3],
                      const uint32_t b[3], uint32_t parent, uint32_t *first)
{
    const uint32_t tets[3][4] = {
        {a[0], a[1], a[2], b[0]}, {a[1], a[2], b[0], b[1]}, {a[2], b[0], b[1], b[2]}};
    for (int i = 0; i < 3; i++) {
        const uint32_t *v = tets[i];
        double sign = kiln_orient3d(mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]);
        if (sign == 0.0)
            return false;
        kiln_new_tet tet = {.v = {v[0], v[1], sign > 0 ? v[2] : v[3], sign > 0 ? v[3] : v[2]},
                            .parent = parent,
                            .slot = KILN_NONE};
        uint32_t index = kiln_cavity_list_new(list, tet);
        if (i == 0)
            *first = index;
    }
    return true;
}

/* The face of new tet `index` that has none of these three vertices outside it. */
static uint32_t face_of(const kiln_cavity_list *list, uint32_t index, const uint32_t v[3])
{
    const uint32_t *corner = list->fresh.data[index].v;
    uint32_t f = 0;
    while (corner[f] == v[0] || corner[f] == v[1] || corner[f] == v[2])
        f++;
    return f;
}

static void face_vertices(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

/* Copies of the patch's vertices, in ascending order of the originals' first use. */
static kiln_verdict copy_vertices(kiln_txn *txn, const uint32_t *faces, size_t count,
                                  kiln_layer_place place, void *user, kiln_idset *copies)
{
    kiln_mesh *mesh = txn->mesh;
    if (kiln_idset_clear(mesh->context, copies, 3 * count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < count; i++) {
        uint32_t v[3];
        if (faces[i] >= mesh->table[KILN_ON_FACE].used || !kiln_face_live(mesh, faces[i]))
            return KILN_REFUSED_DEAD;
        face_vertices(mesh, faces[i], v);
        for (int k = 0; k < 3; k++) {
            if (kiln_idset_has(copies, v[k]))
                continue;
            kiln_vec3 u = mesh->u[v[k]], x = mesh->x[v[k]];
            const double one = 1.0;
            place(user, mesh, v[k], &u, &x);
            uint32_t copy = kiln_txn_add_vertex(txn, u, x, &v[k], &one, 1);
            if (copy == KILN_NONE)
                return KILN_REFUSED_MEMORY;
            kiln_idset_add(copies, kiln_idset_at(copies, v[k]), v[k], copy);
        }
    }
    return KILN_ACCEPTED;
}

/* The two side faces over the edge of corners i < j of the prism whose first tet is `first`, where
 * the surface beyond is not of the patch. Each triangle is named by its tet and the corner of the
 * prism (0 to 2: a, 3 to 5: b) that it lies opposite to in it. */
static void add_sides(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t face,
                      const kiln_idset *patch, const uint32_t a[3], const uint32_t b[3],
                      uint32_t first, int32_t rim_tag)
{
    static const struct {
        uint8_t end[2], tet[2], apart[2];
    } sides[3] = {{{0, 1}, {0, 1}, {2, 2}}, {{0, 2}, {0, 2}, {1, 4}}, {{1, 2}, {1, 2}, {3, 3}}};
    for (int s = 0; s < 3; s++) {
        uint32_t beside = kiln_surface_across(mesh, face, a[sides[s].end[0]], a[sides[s].end[1]]);
        if (kiln_idset_has(patch, beside))
            continue;
        for (int k = 0; k < 2; k++) {
            uint8_t corner = sides[s].apart[k];
            uint32_t tet = first + sides[s].tet[k], apart = corner < 3 ? a[corner] : b[corner - 3];
            uint32_t f = 0;
            while (list->fresh.data[tet].v[f] != apart)
                f++;
            int32_t tag = rim_tag == KILN_LAYER_AS_BESIDE ? mesh->face[beside].tag : rim_tag;
            kiln_cavity_list_surface(
                list, (kiln_new_face){.tet = tet, .face = f, .tag = tag, .parent = beside});
        }
    }
}

static kiln_verdict add_prisms(kiln_cavity_list *list, kiln_txn *txn, const uint32_t *faces,
                               size_t count, const kiln_idset *copies, const kiln_idset *patch,
                               int32_t rim_tag)
{
    const kiln_mesh *mesh = txn->mesh;
    for (size_t i = 0; i < count; i++) {
        uint32_t a[3], b[3], first, at = mesh->face[faces[i]].at;
        face_vertices(mesh, faces[i], a);
        /* Ascending order makes neighbouring prisms cut their common side alike. */
        for (int k = 1; k < 3; k++)
            for (int j = k; j > 0 && a[j] < a[j - 1]; j--) {
                uint32_t swap = a[j];
                a[j] = a[j - 1];
                a[j - 1] = swap;
            }
        for (int k = 0; k < 3; k++)
            b[k] = kiln_idset_at(copies, a[k])->value;
        if (!add_prism(list, mesh, a, b, at / 4, &first))
            return KILN_REFUSED_INVERTED;
        kiln_cavity_list_glued(
            list, (kiln_glue_face){.tet = first, .face = face_of(list, first, a), .outside = at});
        kiln_cavity_list_surface(list, (kiln_new_face){.tet = first + 2,
                                                       .face = face_of(list, first + 2, b),
                                                       .tag = mesh->face[faces[i]].tag,
                                                       .parent = faces[i]});
        add_sides(list, mesh, faces[i], patch, a, b, first, rim_tag);
    }
    return list->failed ? KILN_REFUSED_MEMORY : KILN_ACCEPTED;
}

kiln_verdict kiln_layer_add(kiln_txn *txn, const uint32_t *faces, size_t count,
                            kiln_layer_place place, void *user, int32_t rim_tag)
{
    kiln_context *context = txn->mesh->context;
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, context);
    kiln_idset copies = {0}, patch = {0};
    kiln_verdict verdict = copy_vertices(&inner, faces, count, place, user, &copies);
    if (verdict == KILN_ACCEPTED && kiln_idset_clear(context, &patch, count, NULL) != KILN_OK)
        verdict = KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < count && verdict == KILN_ACCEPTED; i++)
        kiln_idset_add(&patch, kiln_idset_at(&patch, faces[i]), faces[i], 0);
    if (verdict == KILN_ACCEPTED)
        verdict = add_prisms(&list, &inner, faces, count, &copies, &patch, rim_tag);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_cavity_list_replace(&list, &inner, KILN_CAVITY_ANY);
    kiln_array_free(context, &patch.slots);
    kiln_array_free(context, &copies.slots);
    kiln_cavity_list_free(&list);
    return kiln_txn_settle(&inner, verdict);
}

/* Vertices of face b in the order that lies opposite a's: reversed, in the nearest rotation. */
static void match_rotation(const kiln_mesh *mesh, const uint32_t a[3], uint32_t b[3])
{
    uint32_t turned[3] = {b[0], b[2], b[1]};
    double least = INFINITY;
    int best = 0;
    for (int r = 0; r < 3; r++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++)
            sum += kiln_v3_norm(kiln_v3_sub(mesh->u[a[k]], mesh->u[turned[(k + r) % 3]]));
        if (sum < least) {
            least = sum;
            best = r;
        }
    }
    for (int k = 0; k < 3; k++)
        b[k] = turned[(k + best) % 3];
}

static kiln_verdict try_bridge(kiln_txn *txn, const uint32_t a[3], const uint32_t b[3],
                               uint32_t at_a, uint32_t at_b, int32_t tag)
{
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, txn->mesh->context);
    kiln_verdict verdict = KILN_REFUSED_INVERTED;
    uint32_t first;
    if (add_prism(&list, txn->mesh, a, b, at_a / 4, &first) && !list.failed) {
        kiln_cavity_list_glued(
            &list, (kiln_glue_face){.tet = 0, .face = face_of(&list, 0, a), .outside = at_a});
        kiln_cavity_list_glued(
            &list, (kiln_glue_face){.tet = 2, .face = face_of(&list, 2, b), .outside = at_b});
        kiln_cavity_list_close(&list, tag);
        verdict = kiln_cavity_list_replace(&list, txn, KILN_CAVITY_ANY);
    }
    kiln_cavity_list_free(&list);
    return verdict;
}

kiln_verdict kiln_bridge_faces(kiln_txn *txn, uint32_t face_a, uint32_t face_b, int32_t tag)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const kiln_mesh *mesh = txn->mesh;
    uint32_t used = mesh->table[KILN_ON_FACE].used, a[3], b[3];
    if (face_a >= used || face_b >= used || face_a == face_b || !kiln_face_live(mesh, face_a) ||
        !kiln_face_live(mesh, face_b))
        return KILN_REFUSED_DEAD;
    face_vertices(mesh, face_a, a);
    face_vertices(mesh, face_b, b);
    match_rotation(mesh, a, b);
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            if (a[k] == b[j])
                return KILN_REFUSED_REPEATED;
    kiln_verdict verdict = KILN_REFUSED_INVERTED;
    for (int i = 0; i < 6 && verdict != KILN_ACCEPTED; i++) {
        const uint8_t *o = orders[i];
        const uint32_t pa[3] = {a[o[0]], a[o[1]], a[o[2]]}, pb[3] = {b[o[0]], b[o[1]], b[o[2]]};
        verdict = try_bridge(txn, pa, pb, mesh->face[face_a].at, mesh->face[face_b].at, tag);
    }
    return verdict;
}

static kiln_status add_totals(const kiln_mesh *mesh, const kiln_u32_array *tets,
                              kiln_f64_array *totals)
{
    const kiln_table *table = &mesh->table[KILN_ON_TET];
    totals->count = 0;
    for (size_t i = 0; i < table->fields.count; i++) {
        const kiln_field *field = &table->fields.data[i];
        if (field->core || field->rule != KILN_RULE_CONSERVE)
            continue;
        for (uint32_t c = 0; c < field->components; c++) {
            double sum = 0.0;
            for (size_t k = 0; k < tets->count; k++)
                sum += ((const double *)(field->data + (size_t)tets->data[k] * field->stride))[c];
            KILN_TRY(kiln_array_push(mesh->context, totals, sum, NULL));
        }
    }
    return KILN_OK;
}

kiln_verdict kiln_tets_remove(kiln_txn *txn, kiln_tet_predicate predicate, void *user, int32_t tag,
                              kiln_f64_array *totals)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, mesh->context);
    kiln_idset leaving = {0};
    uint32_t used = mesh->table[KILN_ON_TET].used;
    for (uint32_t t = 0; t < used; t++)
        if (kiln_tet_live(mesh, t) && predicate(user, mesh, t))
            kiln_cavity_list_old(&list, t);
    kiln_verdict verdict = KILN_ACCEPTED;
    if (list.failed || kiln_idset_clear(mesh->context, &leaving, list.old.count, NULL) != KILN_OK ||
        (totals && add_totals(mesh, &list.old, totals) != KILN_OK))
        verdict = KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < list.old.count && verdict == KILN_ACCEPTED; i++)
        kiln_idset_add(&leaving, kiln_idset_at(&leaving, list.old.data[i]), list.old.data[i], 0);
    for (size_t i = 0; i < list.old.count && verdict == KILN_ACCEPTED; i++)
        for (int f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[list.old.data[i]].n[f];
            if (!kiln_link_is_surface(link) && !kiln_idset_has(&leaving, link / 4))
                kiln_cavity_list_opened(&list, (kiln_open_face){.outside = link, .tag = tag});
        }
    if (verdict == KILN_ACCEPTED && list.old.count > 0)
        verdict = kiln_cavity_list_replace(&list, txn, KILN_CAVITY_ANY);
    kiln_array_free(mesh->context, &leaving.slots);
    kiln_cavity_list_free(&list);
    return verdict;
}
