#include "remesh/flip.h"
#include "mesh/walk.h"

kiln_verdict kiln_flip_23(kiln_txn *txn, uint32_t tet, uint32_t face, uint32_t made[3])
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_link link = mesh->tet[tet].n[face];
    if (kiln_link_is_surface(link))
        return KILN_REFUSED_DECLARATION;
    const uint32_t old[2] = {tet, link / 4};
    uint32_t below = mesh->tet[tet].v[face], above = mesh->tet[link / 4].v[link % 4];
    const uint8_t *corner = kiln_face_corner[face];
    kiln_new_tet fresh[3];
    for (int i = 0; i < 3; i++)
        /* The face is seen counterclockwise from `above`. */
        fresh[i] = (kiln_new_tet){
            .v = {below, above, mesh->tet[tet].v[corner[i]], mesh->tet[tet].v[corner[(i + 1) % 3]]},
            .parent = old[i == 1],
            .slot = KILN_NONE};
    kiln_cavity cavity = {.old = old, .old_count = 2, .fresh = fresh, .fresh_count = 3};
    return kiln_replace(txn, &cavity, made);
}

kiln_verdict kiln_flip_32(kiln_txn *txn, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                          uint32_t made[2])
{
    const kiln_mesh *mesh = txn->mesh;
    uint32_t ring[3];
    kiln_ring shape = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, 3);
    if (!shape.closed || shape.count != 3)
        return KILN_REFUSED_DECLARATION;
    uint32_t a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b], link[3];
    const uint32_t old[3] = {ring[0] / 4, ring[1] / 4, ring[2] / 4};
    /* The exit corner of each tet is a vertex of the ring, each once. */
    for (int i = 0; i < 3; i++)
        link[i] = mesh->tet[old[i]].v[ring[i] % 4];
    /* Which way the ring turns is read off the first tet: (a, b, link[0], its fourth corner). */
    uint32_t fourth = 0;
    const kiln_tet *first = &mesh->tet[old[0]];
    while (first->v[fourth] == a || first->v[fourth] == b || fourth == ring[0] % 4)
        fourth++;
    bool turn = first->v[fourth] == link[2];
    uint32_t order[4] = {kiln_tet_corner(first, a), kiln_tet_corner(first, b), ring[0] % 4, fourth};
    bool even = true;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            even ^= order[i] > order[j];
    if (even == turn) {
        uint32_t swap = link[1];
        link[1] = link[2];
        link[2] = swap;
    }
    /* Tets (a, b, p, q) positive: the triangle p, q, r is seen counterclockwise from b. */
    kiln_new_tet fresh[2] = {
        {.v = {link[0], link[1], link[2], b}, .parent = old[0], .slot = KILN_NONE},
        {.v = {link[0], link[2], link[1], a}, .parent = old[1], .slot = KILN_NONE}};
    kiln_cavity cavity = {.old = old, .old_count = 3, .fresh = fresh, .fresh_count = 2};
    return kiln_replace(txn, &cavity, made);
}

kiln_verdict kiln_flip_22(kiln_txn *txn, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                          uint32_t made[2])
{
    const kiln_mesh *mesh = txn->mesh;
    uint32_t ring[2];
    kiln_ring shape = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, 2);
    if (shape.closed || shape.count != 2)
        return KILN_REFUSED_DECLARATION;
    uint32_t a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    const uint32_t old[2] = {ring[0] / 4, ring[1] / 4};
    const kiln_tet *first = &mesh->tet[old[0]], *second = &mesh->tet[old[1]];
    /* first = {a, b, exit, pivot}, second = {a, b, pivot, far}: both have the pivot. */
    uint32_t near = first->v[ring[0] % 4], pivot = second->v[ring[1] % 4], far_corner = 0;
    while (second->v[far_corner] == a || second->v[far_corner] == b ||
           second->v[far_corner] == pivot)
        far_corner++;
    uint32_t far = second->v[far_corner];
    uint32_t entry = kiln_tet_corner(first, pivot); /* the face opposite it is surface */
    uint32_t face_a = first->n[entry] - KILN_LINK_SURFACE;
    uint32_t face_b = second->n[ring[1] % 4] - KILN_LINK_SURFACE;
    if (mesh->face[face_a].tag != mesh->face[face_b].tag)
        return KILN_REFUSED_FEATURE;
    /* Replace b by `far` in the first tet, a by `near` in the second. */
    kiln_new_tet fresh[2] = {{.parent = old[0], .slot = old[0]},
                             {.parent = old[1], .slot = old[1]}};
    for (int k = 0; k < 4; k++) {
        fresh[0].v[k] = first->v[k] == b ? far : first->v[k];
        fresh[1].v[k] = second->v[k] == a ? near : second->v[k];
    }
    const kiln_new_face surface[2] = {
        {.tet = 0, .face = entry, .tag = mesh->face[face_a].tag, .parent = face_a},
        {.tet = 1, .face = ring[1] % 4, .tag = mesh->face[face_b].tag, .parent = face_b}};
    kiln_cavity cavity = {.old = old,
                          .old_count = 2,
                          .fresh = fresh,
                          .fresh_count = 2,
                          .surface = surface,
                          .surface_count = 2,
                          .flags = KILN_CAVITY_SURFACE};
    return kiln_replace(txn, &cavity, made);
}
