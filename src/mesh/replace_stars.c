/* The general path: outline or regions change, so stars, flags and volume have to follow. */
#include "mesh/replace_impl.h"
#include "mesh/journal.h"

#include <string.h>

static kiln_status gather_vertices(kiln_mesh *mesh, const kiln_cavity *cavity,
                                   struct kiln_scratch *scratch)
{
    size_t most = 4 * ((size_t)cavity->old_count + cavity->fresh_count) + 3 * cavity->opened_count;
    KILN_TRY(kiln_array_reserve(mesh->context, &scratch->vertices, most, NULL));
    KILN_TRY(kiln_idset_clear(mesh->context, &scratch->vertex_set, most, NULL));
    scratch->vertices.count = 0;
    for (uint32_t i = 0; i < cavity->old_count + cavity->fresh_count; i++) {
        const uint32_t *v = i < cavity->old_count ? mesh->tet[cavity->old[i]].v
                                                  : cavity->fresh[i - cavity->old_count].v;
        for (int k = 0; k < 4; k++) {
            kiln_idset_slot *slot = kiln_idset_at(&scratch->vertex_set, v[k]);
            if (slot->epoch == scratch->vertex_set.epoch)
                continue;
            kiln_idset_add(&scratch->vertex_set, slot, v[k], 0);
            scratch->vertices.data[scratch->vertices.count++] = v[k];
        }
    }
    return KILN_OK;
}

/* Every vertex of R and N gets a list while its star is still whole, and room for what comes. */
kiln_status kiln_cavity_list_stars(kiln_mesh *mesh, const kiln_cavity *cavity,
                                   struct kiln_scratch *scratch)
{
    KILN_TRY(gather_vertices(mesh, cavity, scratch));
    for (size_t i = 0; i < scratch->vertices.count; i++) {
        uint32_t vertex = scratch->vertices.data[i];
        if (kiln_star_listed(mesh, vertex))
            continue;
        KILN_TRY(kiln_star(mesh, vertex, &scratch->walker, NULL));
        KILN_TRY(kiln_star_start(mesh, vertex, scratch->walker.tets.data,
                                 scratch->walker.tets.count, NULL));
    }
    size_t words = 0;
    for (size_t i = 0; i < scratch->vertices.count; i++) {
        uint32_t vertex = scratch->vertices.data[i];
        uint32_t more = cavity->fresh_count;
        if (scratch->many)
            kiln_corner_list(&scratch->fresh_at, vertex, &more);
        KILN_TRY(kiln_star_reserve(mesh, vertex, more, NULL));
        words += kiln_star_list(mesh, vertex)->count + 4;
    }
    /* The lists' images come on top of what `reserve` asked for. */
    return kiln_journal_reserve(mesh, 4 * (size_t)cavity->old_count,
                                (size_t)cavity->old_count + cavity->fresh_count,
                                4 * (size_t)cavity->old_count + cavity->surface_count +
                                    cavity->opened_count + cavity->glued_count,
                                16 * ((size_t)cavity->old_count + cavity->fresh_count) +
                                    4 * (size_t)scratch->vertices.count + words + 64,
                                NULL);
}

void kiln_cavity_update_stars(kiln_mesh *mesh, const kiln_cavity *cavity,
                              struct kiln_scratch *scratch)
{
    for (size_t i = 0; i < scratch->vertices.count; i++)
        kiln_star_save(mesh, scratch->vertices.data[i]);
    for (uint32_t i = 0; i < cavity->old_count; i++)
        for (int k = 0; k < 4; k++)
            kiln_star_remove(mesh, kiln_old_tet(mesh, scratch, i)->v[k], cavity->old[i]);
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        for (int k = 0; k < 4; k++)
            kiln_star_insert(mesh, cavity->fresh[i].v[k], scratch->number.data[i]);
}

/* Surface and interface flags of vertices whose star changed shape. */
void kiln_cavity_update_flags(kiln_mesh *mesh, const struct kiln_scratch *scratch)
{
    for (size_t i = 0; i < scratch->vertices.count; i++) {
        uint32_t vertex = scratch->vertices.data[i];
        if (!kiln_vertex_live(mesh, vertex))
            continue;
        const kiln_u32_array *star = kiln_star_list(mesh, vertex);
        uint32_t flags =
            mesh->vertex[vertex].flags & ~(uint32_t)(KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE);
        for (size_t j = 0; j < star->count; j++) {
            const kiln_tet *tet = &mesh->tet[star->data[j]];
            for (int f = 0; f < 4; f++) {
                if (tet->v[f] == vertex)
                    continue;
                if (kiln_link_is_surface(tet->n[f]))
                    flags |= KILN_VERTEX_SURFACE;
                else if (kiln_link_is_interface(mesh, star->data[j], tet->n[f]))
                    flags |= KILN_VERTEX_INTERFACE;
            }
        }
        if (flags != mesh->vertex[vertex].flags)
            kiln_journal_set_now(mesh, KILN_WORD_VERTEX_FLAGS, vertex, flags);
    }
}

/* Volume of N less that of R, summed in the order given: retargeting the same tets books exactly
 * nothing. */
void kiln_cavity_book_volume(kiln_mesh *mesh, const kiln_cavity *cavity,
                             struct kiln_scratch *scratch)
{
    double before = 0.0, after = 0.0;
    for (uint32_t i = 0; i < cavity->old_count; i++) {
        const uint32_t *v = kiln_old_tet(mesh, scratch, i)->v;
        before += kiln_tet_volume(mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]);
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        after += kiln_mesh_tet_volume(mesh, scratch->number.data[i]);
    double change = after - before;
    if (change > 0.0)
        mesh->ledger.volume_gained += change;
    else
        mesh->ledger.volume_lost -= change;
    if (cavity->old_count == 0)
        mesh->ledger.tets_injected += cavity->fresh_count;
    if (cavity->fresh_count == 0)
        mesh->ledger.tets_removed += cavity->old_count;
    uint32_t part = KILN_NONE;
    if (cavity->fresh_count > 0) {
        part = mesh->info[scratch->number.data[0]].part;
    } else if (cavity->old_count > 0) {
        part = kiln_old_info(mesh, scratch, 0).part;
    }
    if (change != 0.0 && part != KILN_NONE)
        kiln_cavity_count(mesh, part, 0, change);
}
