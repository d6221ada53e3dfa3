#include "mesh/audit.h"
#include "geom/predicates.h"
#include "mesh/replace_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool broken(kiln_audit_report *report, const char *invariant, const char *format, ...)
    KILN_PRINTF(3, 4);

/* Always false, so that a check can end with `return broken(...)`. */
static bool broken(kiln_audit_report *report, const char *invariant, const char *format, ...)
{
    report->invariant = invariant;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->message, sizeof report->message, format, arguments);
    va_end(arguments);
    return false;
}

static bool check_link(const kiln_mesh *mesh, uint32_t t, uint32_t f, kiln_audit_report *report)
{
    kiln_link link = mesh->tet[t].n[f];
    if (kiln_link_is_surface(link)) {
        uint32_t face = link - KILN_LINK_SURFACE;
        if (face >= mesh->table[KILN_ON_FACE].used)
            return broken(report, "M2", "tet %u face %u names surface face %u of %u", t, f, face,
                          mesh->table[KILN_ON_FACE].used);
        if (mesh->face[face].at != kiln_link_to(t, f))
            return broken(report, "M2", "surface face %u does not name tet %u face %u", face, t, f);
        return true;
    }
    uint32_t s = link / 4, g = link % 4, key[3], other[3];
    if (s >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, s))
        return broken(report, "M1", "tet %u face %u leads to tet %u, which is not there", t, f, s);
    if (mesh->tet[s].n[g] != kiln_link_to(t, f))
        return broken(report, "M1", "tet %u face %u leads to tet %u, but not back", t, f, s);
    uint8_t even = kiln_face_key(mesh->tet[t].v, f, key);
    uint8_t other_even = kiln_face_key(mesh->tet[s].v, g, other);
    if (memcmp(key, other, sizeof key) != 0)
        return broken(report, "M1", "tets %u and %u are linked by faces with other corners", t, s);
    if (even == other_even)
        return broken(report, "M1", "tets %u and %u lie on the same side of their face", t, s);
    if (mesh->info[t].part != mesh->info[s].part)
        return broken(report, "M6", "tets %u and %u are linked but in parts %u and %u", t, s,
                      mesh->info[t].part, mesh->info[s].part);
    uint32_t face_bits = 1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE;
    if (((mesh->info[t].marks >> f) ^ (mesh->info[s].marks >> g)) & face_bits)
        return broken(report, "M7", "tets %u and %u disagree about the marks of their face", t, s);
    return true;
}

/* Links, shape, and marks of edges shared across faces: agreement across every face is agreement
 * round every edge of a connected fan. */
static bool check_tet(const kiln_mesh *mesh, uint32_t t, kiln_audit_report *report)
{
    const kiln_tet *tet = &mesh->tet[t];
    for (int k = 0; k < 4; k++)
        if (tet->v[k] >= mesh->table[KILN_ON_VERTEX].used || !kiln_vertex_live(mesh, tet->v[k]))
            return broken(report, "M4", "tet %u has vertex %u, which is not there", t, tet->v[k]);
    /* Before the predicates, which demand it. */
    for (int k = 0; k < 4; k++)
        if (!kiln_v3_finite(mesh->u[tet->v[k]]) || !kiln_v3_finite(mesh->x[tet->v[k]]))
            return broken(report, "M9", "vertex %u has a coordinate that is not finite", tet->v[k]);
    for (uint32_t f = 0; f < 4; f++) {
        if (!check_link(mesh, t, f, report))
            return false;
        kiln_link link = tet->n[f];
        if (kiln_link_is_surface(link))
            continue;
        uint32_t marks = mesh->info[t].marks, theirs = mesh->info[link / 4].marks;
        uint32_t edge_bits = 1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE;
        for (int e = 0; e < 3 && ((marks | theirs) & KILN_MARKS_ON_EDGE); e++) {
            uint32_t a = kiln_face_corner[f][e], b = kiln_face_corner[f][(e + 1) % 3];
            const kiln_tet *other = &mesh->tet[link / 4];
            uint32_t mine = kiln_edge_of[a][b];
            uint32_t its =
                kiln_edge_of[kiln_tet_corner(other, tet->v[a])][kiln_tet_corner(other, tet->v[b])];
            if (((marks >> mine) ^ (theirs >> its)) & edge_bits)
                return broken(report, "M7", "tets %u and %u disagree about the marks of edge %u-%u",
                              t, link / 4, tet->v[a], tet->v[b]);
        }
    }
    if (kiln_orient3d(mesh->u[tet->v[0]], mesh->u[tet->v[1]], mesh->u[tet->v[2]],
                      mesh->u[tet->v[3]]) <= 0.0)
        return broken(report, "M3", "tet %u is not positive in material space", t);
    if (mesh->world_policy == KILN_WORLD_REJECT &&
        kiln_orient3d(mesh->x[tet->v[0]], mesh->x[tet->v[1]], mesh->x[tet->v[2]],
                      mesh->x[tet->v[3]]) <= 0.0)
        return broken(report, "M3", "tet %u is not positive in world space", t);
    if (mesh->info[t].part >= mesh->parts.count)
        return broken(report, "M6", "tet %u is in part %u of %zu", t, mesh->info[t].part,
                      mesh->parts.count);
    return true;
}

static kiln_status check_vertex(const kiln_mesh *mesh, uint32_t v, kiln_walker *walker,
                                kiln_audit_report *report, kiln_error *error)
{
    const kiln_vertex_info *info = &mesh->vertex[v];
    if (info->tet == KILN_NONE || info->tet >= mesh->table[KILN_ON_TET].used ||
        !kiln_tet_live(mesh, info->tet) || kiln_tet_corner(&mesh->tet[info->tet], v) == 4) {
        broken(report, "M4", "the anchor of vertex %u is tet %u, which does not have it", v,
               info->tet);
        return KILN_OK;
    }
    kiln_vertex_state state;
    uint32_t other;
    KILN_TRY(kiln_vertex_examine(mesh, v, walker, &state, &other, error));
    if (state == KILN_VERTEX_STAR_SPLIT)
        broken(report, "M4", "the star of vertex %u is not connected through faces", v);
    else if (state == KILN_VERTEX_EDGE_SPLIT)
        broken(report, "M5", "edge %u-%u has more than one fan of tets", v, other);
    else if (state != KILN_VERTEX_MANIFOLD)
        broken(report, "M5", "the surface at vertex %u is not one cycle of faces", v);
    uint32_t flags = 0;
    for (size_t i = 0; i < walker->tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        for (int f = 0; f < 4; f++) {
            if (tet->v[f] == v)
                continue;
            if (kiln_link_is_surface(tet->n[f]))
                flags |= KILN_VERTEX_SURFACE;
            else if (kiln_link_is_interface(mesh, walker->tets.data[i], tet->n[f]))
                flags |= KILN_VERTEX_INTERFACE;
        }
    }
    if ((info->flags & (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE)) != flags)
        broken(report, "M7", "the surface and interface flags of vertex %u are wrong", v);
    return KILN_OK;
}

/* A walk from the anchor stays within the faces it can cross; tets that it misses are counted. */
static kiln_status check_vertices(const kiln_mesh *mesh, kiln_audit_report *report,
                                  kiln_error *error)
{
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    kiln_u32_array tets_at = {0};
    KILN_TRY(kiln_array_reserve(mesh->context, &tets_at, (size_t)vertices + 1, error));
    memset(tets_at.data, 0, vertices * sizeof(uint32_t));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            tets_at.data[mesh->tet[t].v[k]]++;
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    kiln_status status = KILN_OK;
    for (uint32_t v = 0; v < vertices && status == KILN_OK && !report->invariant; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        status = check_vertex(mesh, v, &walker, report, error);
        if (status == KILN_OK && !report->invariant && walker.tets.count != tets_at.data[v])
            broken(report, "M4", "the star of vertex %u is not connected through faces", v);
    }
    kiln_walker_free(&walker);
    kiln_array_free(mesh->context, &tets_at);
    return status;
}

/* As many rows on the free list as are dead, each dead, none twice. */
static bool check_free_list(const kiln_mesh *mesh, kiln_where where, kiln_audit_report *report)
{
    const kiln_table *table = &mesh->table[where];
    uint32_t dead = table->used - table->live, found = 0;
    for (uint32_t row = table->free; row != KILN_NONE; found++) {
        bool live = row >= table->used || kiln_row_live(mesh, where, row);
        if (live || found >= dead)
            return broken(report, "M8", "row %u of table %d does not belong on the free list", row,
                          where);
        row = kiln_row_next_free(mesh, where, row);
    }
    return found == dead || broken(report, "M8", "table %d has %u dead rows, %u on the free list",
                                   where, dead, found);
}

static bool check_faces(const kiln_mesh *mesh, kiln_audit_report *report)
{
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        if (at / 4 >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, at / 4) ||
            mesh->tet[at / 4].n[at % 4] != KILN_LINK_SURFACE + f)
            return broken(report, "M2", "surface face %u names tet %u face %u, which names another",
                          f, at / 4, at % 4);
    }
    return true;
}

static bool check_fields(const kiln_mesh *mesh, kiln_where where, kiln_audit_report *report)
{
    const kiln_table *table = &mesh->table[where];
    for (size_t i = 0; i < table->fields.count; i++) {
        const kiln_field *field = &table->fields.data[i];
        if (field->core || field->type != KILN_F64)
            continue;
        for (uint32_t row = 0; row < table->used; row++) {
            bool live = kiln_row_live(mesh, where, row);
            const double *value = (const double *)(field->data + (size_t)row * field->stride);
            for (uint32_t c = 0; c < field->components && live; c++)
                if (!isfinite(value[c]))
                    return broken(report, "M9", "field '%s' of row %u is not finite", field->name,
                                  row);
        }
    }
    return true;
}

/* Counts per part, and that a part is one component: floods must use up its count. */
static kiln_status check_parts(const kiln_mesh *mesh, kiln_audit_report *report, kiln_error *error)
{
    kiln_context *context = mesh->context;
    uint32_t used = mesh->table[KILN_ON_TET].used;
    kiln_u32_array count = {0}, queue = {0};
    KILN_ARRAY_OF(uint8_t)
    seen = {0};
    kiln_status status = kiln_array_reserve(context, &count, mesh->parts.count + 1, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &seen, (size_t)used + 1, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &queue, (size_t)used + 1, error);
    if (status == KILN_OK) {
        memset(count.data, 0, mesh->parts.count * sizeof(uint32_t));
        memset(seen.data, 0, used);
    }
    for (uint32_t start = 0; start < used && status == KILN_OK && !report->invariant; start++) {
        if (!kiln_tet_live(mesh, start) || seen.data[start])
            continue;
        uint32_t part = mesh->info[start].part;
        if (count.data[part] > 0) {
            broken(report, "M6", "part %u has tets that do not hang together, e.g. %u", part,
                   start);
            break;
        }
        queue.count = 0;
        queue.data[queue.count++] = start;
        seen.data[start] = 1;
        while (queue.count > 0) {
            uint32_t t = queue.data[--queue.count];
            count.data[part]++;
            for (int f = 0; f < 4; f++) {
                kiln_link link = mesh->tet[t].n[f];
                if (kiln_link_is_surface(link) || seen.data[link / 4])
                    continue;
                seen.data[link / 4] = 1;
                queue.data[queue.count++] = link / 4;
            }
        }
    }
    for (size_t p = 0; p < mesh->parts.count && status == KILN_OK && !report->invariant; p++)
        if (count.data[p] != mesh->parts.data[p].tets)
            broken(report, "M6", "part %zu counts %u tets but has %u", p, mesh->parts.data[p].tets,
                   count.data[p]);
    kiln_array_free(context, &count);
    kiln_array_free(context, &queue);
    kiln_array_free(context, &seen);
    return status;
}

void kiln_mesh_audit_links(const kiln_mesh *mesh, uint32_t tet, kiln_audit_report *report)
{
    report->invariant = NULL;
    check_tet(mesh, tet, report);
    /* Parts are settled at the outermost commit only. */
    if (report->invariant && strcmp(report->invariant, "M6") == 0)
        report->invariant = NULL;
}

kiln_status kiln_mesh_audit_tet(const kiln_mesh *mesh, uint32_t tet, kiln_walker *walker,
                                kiln_audit_report *report, kiln_error *error)
{
    report->invariant = NULL;
    if (!check_tet(mesh, tet, report))
        return KILN_OK;
    for (int k = 0; k < 4 && !report->invariant; k++)
        KILN_TRY(check_vertex(mesh, mesh->tet[tet].v[k], walker, report, error));
    return KILN_OK;
}

kiln_status kiln_mesh_audit(const kiln_mesh *mesh, kiln_audit_report *report, kiln_error *error)
{
    KILN_TRY(kiln_need(mesh, "mesh", error));
    KILN_TRY(kiln_need(report, "report", error));
    report->invariant = NULL;
    report->message[0] = '\0';
    uint32_t live = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        live++;
        if (!check_tet(mesh, t, report))
            return KILN_OK;
    }
    if (live != mesh->table[KILN_ON_TET].live)
        broken(report, "M8", "%u live tets, counted %u", mesh->table[KILN_ON_TET].live, live);
    if (report->invariant || !check_faces(mesh, report))
        return KILN_OK;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        if (!check_free_list(mesh, (kiln_where)where, report) ||
            !check_fields(mesh, (kiln_where)where, report))
            return KILN_OK;
    kiln_status status = check_vertices(mesh, report, error);
    if (status == KILN_OK && !report->invariant)
        status = check_parts(mesh, report, error);
    return status;
}
