/* Hanging the vertices of changed tets anew: their old tet gives a hint, the walk does the rest. */
#include "base/parallel.h"
#include "mesh/txn.h"
#include "remesh/embedded_impl.h"

enum { NEARBY = 64 };

typedef struct rehanging {
    kiln_embedded *e;
    const kiln_mesh *mesh;
    kiln_begin_view live, begin;
    kiln_u32_array vertices; /* to be hung anew */
    kiln_u32_array hints;    /* [vertices] tet of the live mesh */
    kiln_begin_place *places;
    kiln_shore shore;
} rehanging;

static bool is_current(const kiln_mesh *mesh, const kiln_hang *h)
{
    return h->tet < mesh->table[KILN_ON_TET].used && kiln_tet_live(mesh, h->tet) &&
           mesh->info[h->tet].changed == h->stamp;
}

static kiln_status collect(rehanging *r, kiln_error *error)
{
    kiln_embedded *e = r->e;
    if (!kiln_archive_active(r->mesh)) {
        for (uint32_t i = 0; i < e->now.hangs.count; i++)
            if (!is_current(r->mesh, &e->now.hangs.data[i]))
                KILN_TRY(kiln_array_push(e->context, &r->vertices, i, error));
        return KILN_OK;
    }
    kiln_u32_array rows = {0};
    kiln_status status = kiln_archive_touched_rows(r->mesh, KILN_ON_TET, &rows, error);
    for (size_t k = 0; k < rows.count && status == KILN_OK; k++) {
        uint32_t i =
            rows.data[k] < e->now.first.count ? e->now.first.data[rows.data[k]] : KILN_NONE;
        if (i != KILN_NONE && is_current(r->mesh, &e->now.hangs.data[i]))
            continue;
        for (; i != KILN_NONE && status == KILN_OK; i = e->now.hangs.data[i].next)
            status = kiln_array_push(e->context, &r->vertices, i, error);
    }
    kiln_array_free(e->context, &rows);
    return status;
}

/* A live tet of the body at a vertex of a tet of the begin, or KILN_NONE. */
static uint32_t live_tet_at(const rehanging *r, const kiln_tet *tet, uint32_t body)
{
    const kiln_mesh *mesh = r->mesh;
    for (int i = 0; i < 4; i++) {
        uint32_t v = tet->v[i];
        if (!kiln_vertex_live(mesh, v) || mesh->vertex[v].tet == KILN_NONE)
            continue;
        if (kiln_embedded_body(mesh, mesh->vertex[v].tet) == body)
            return mesh->vertex[v].tet;
    }
    return KILN_NONE;
}

/* Looks at the vertices of the old tet, then round it in the mesh of the begin. */
static uint32_t hint_nearby(const rehanging *r, const kiln_hang *h)
{
    uint32_t near[NEARBY], count = 0;
    if (!kiln_begin_tet_live(&r->begin, h->tet))
        return KILN_NONE;
    near[count++] = h->tet;
    for (uint32_t next = 0; next < count; next++) {
        const kiln_tet *tet = kiln_begin_tet(&r->begin, near[next]);
        uint32_t hint = live_tet_at(r, tet, h->body);
        if (hint != KILN_NONE)
            return hint;
        for (int f = 0; f < 4 && count < NEARBY; f++) {
            uint32_t other = kiln_link_is_surface(tet->n[f]) ? h->tet : tet->n[f] / 4, k = 0;
            while (k < count && near[k] != other)
                k++;
            if (k == count)
                near[count++] = other;
        }
    }
    return KILN_NONE;
}

/* The tet with the old number, or the first one of the body, or of any. */
static uint32_t hint_anywhere(const rehanging *r, const kiln_hang *h)
{
    const kiln_mesh *mesh = r->mesh;
    uint32_t used = mesh->table[KILN_ON_TET].used, any = KILN_NONE;
    if (h->tet < used && kiln_tet_live(mesh, h->tet) && kiln_embedded_body(mesh, h->tet) == h->body)
        return h->tet;
    for (uint32_t t = 0; t < used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        if (kiln_embedded_body(mesh, t) == h->body)
            return t;
        any = any == KILN_NONE ? t : any;
    }
    return any;
}

/* Vertices of one old tet follow each other and share its hint. */
static kiln_status find_hints(rehanging *r, kiln_error *error)
{
    bool pass = kiln_archive_active(r->mesh);
    uint32_t last = KILN_NONE, hint = KILN_NONE;
    for (size_t k = 0; k < r->vertices.count; k++) {
        const kiln_hang *h = &r->e->now.hangs.data[r->vertices.data[k]];
        if (k == 0 || h->tet != last) {
            hint = pass ? hint_nearby(r, h) : KILN_NONE;
            hint = hint == KILN_NONE ? hint_anywhere(r, h) : hint;
        }
        last = h->tet;
        if (hint == KILN_NONE)
            return kiln_fail(error, KILN_ERR_NUMERIC, NULL, 0, -1,
                             "the mesh of an embedded surface has no tets left");
        KILN_TRY(kiln_array_push(r->e->context, &r->hints, hint, error));
    }
    return KILN_OK;
}

static void locate_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const rehanging *r = user;
    for (size_t k = begin; k < end; k++) {
        kiln_vec3 u = r->e->now.u.data[r->vertices.data[k]];
        kiln_begin_locate_in(&r->live, u, r->hints.data[k], &r->places[k]);
    }
}

static void settle_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const rehanging *r = user;
    for (size_t k = begin; k < end; k++) {
        uint32_t body = kiln_embedded_body(r->mesh, r->places[k].tet);
        kiln_shore_settle(&r->shore, r->e->now.u.data[r->vertices.data[k]], body, &r->places[k]);
    }
}

static kiln_status settle_outside(rehanging *r, kiln_error *error)
{
    size_t count = r->vertices.count, inside = 0;
    while (inside < count && r->places[inside].inside)
        inside++;
    if (inside == count)
        return KILN_OK;
    kiln_status status = kiln_shore_build(&r->shore, r->mesh, KILN_SPACE_MATERIAL, error);
    if (status == KILN_OK)
        kiln_parallel_for(r->e->context, count, KILN_EMBEDDED_GRAIN, settle_chunk, r);
    kiln_shore_free(&r->shore);
    return status;
}

static kiln_status rehang(rehanging *r, kiln_embedded_report *report, kiln_error *error)
{
    kiln_embedded *e = r->e;
    KILN_TRY(kiln_embedded_cover_rows(e, r->mesh, error));
    KILN_TRY(collect(r, error));
    KILN_TRY(find_hints(r, error));
    size_t count = r->vertices.count, bytes = (count + 1) * sizeof(kiln_begin_place);
    r->places = kiln_resize(e->context, NULL, 0, bytes);
    if (!r->places)
        return kiln_fail_memory(error, bytes);
    kiln_parallel_for(e->context, count, KILN_EMBEDDED_GRAIN, locate_chunk, r);
    kiln_status status = settle_outside(r, error);
    for (size_t k = 0; k < count && status == KILN_OK;
         k++) /* all vertices of these tets are hung anew */
        e->now.first.data[e->now.hangs.data[r->vertices.data[k]].tet] = KILN_NONE;
    for (size_t k = 0; k < count && status == KILN_OK; k++) {
        kiln_embedded_hang(e, r->mesh, r->vertices.data[k], r->places[k].tet, r->places[k].weight);
        kiln_embedded_count(&r->places[k], report);
    }
    kiln_release(e->context, r->places, bytes);
    return status;
}

kiln_status kiln_embedded_rehang(kiln_embedded *e, const kiln_mesh *mesh,
                                 kiln_embedded_report *report, kiln_error *error)
{
    kiln_embedded_report unread;
    report = report ? report : &unread;
    *report = (kiln_embedded_report){0};
    rehanging r = {.e = e,
                   .mesh = mesh,
                   .live = kiln_live_view_of(mesh, KILN_SPACE_MATERIAL),
                   .begin = kiln_begin_view_of(mesh, KILN_SPACE_MATERIAL)};
    kiln_status status = rehang(&r, report, error);
    kiln_array_free(e->context, &r.vertices);
    kiln_array_free(e->context, &r.hints);
    return status;
}
