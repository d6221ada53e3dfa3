/* What changed: tets that went or came (their stamps differ), vertices that are new or moved, and
 * which of them hang together. */
#include "remesh/transfer_impl.h"

static kiln_vec3 live_position(const kiln_transfer_job *job, uint32_t vertex)
{
    return kiln_mesh_positions(job->to, job->space)[vertex];
}

static uint32_t merged_into(const kiln_transfer_options *options, uint32_t body)
{
    for (size_t i = 0; i < options->merged_count; i++)
        if (options->merged[i].from == body)
            return options->merged[i].into;
    return body;
}

static kiln_status add_source(kiln_transfer_job *job, uint32_t tet, kiln_error *error)
{
    const kiln_tet_info *info = kiln_begin_info(&job->view, tet);
    kiln_transfer_tet source = {.tet = tet, .region = info->region};
    kiln_begin_corners(&job->view, kiln_begin_tet(&job->view, tet), source.corner);
    source.volume = kiln_tet_moments(source.corner, source.corner[0], KILN_MOMENT_VOLUME).volume;
    if (job->pass)
        source.body =
            merged_into(&job->options, kiln_begin_parts(job->from, NULL)[info->part].body);
    return kiln_array_push(job->context, &job->sources, source, error);
}

static kiln_status add_target(kiln_transfer_job *job, uint32_t tet, kiln_error *error)
{
    const kiln_mesh *mesh = job->to;
    kiln_transfer_tet target = {.tet = tet, .region = mesh->info[tet].region};
    for (int i = 0; i < 4; i++)
        target.corner[i] = live_position(job, mesh->tet[tet].v[i]);
    target.volume = kiln_tet_moments(target.corner, target.corner[0], KILN_MOMENT_VOLUME).volume;
    if (job->pass)
        target.body = mesh->parts.data[mesh->info[tet].part].body;
    return kiln_array_push(job->context, &job->targets, target, error);
}

/* Numbers rows as they come. */
typedef struct numbering {
    kiln_context *context;
    kiln_idset rows;        /* row -> number */
    kiln_u32_array parents; /* union-find over the numbers */
} numbering;

static kiln_status number_of(numbering *n, uint32_t row, uint32_t *number, kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&n->rows, row);
    if (slot->epoch == n->rows.epoch) {
        *number = slot->value;
        return KILN_OK;
    }
    *number = (uint32_t)n->parents.count;
    kiln_idset_add(&n->rows, slot, row, *number);
    KILN_TRY(kiln_array_push(n->context, &n->parents, *number, error));
    if (2 * (size_t)n->rows.members >= n->rows.slots.count)
        KILN_TRY(kiln_idset_grow(n->context, &n->rows, error));
    return KILN_OK;
}

static uint32_t root(kiln_u32_array *parents, uint32_t i)
{
    uint32_t *p = parents->data;
    while (p[i] != i)
        i = p[i] = p[p[i]];
    return i;
}

static kiln_status join_corners(numbering *n, const uint32_t v[4], uint32_t *first,
                                kiln_error *error)
{
    for (int i = 0; i < 4; i++) {
        uint32_t number;
        KILN_TRY(number_of(n, v[i], &number, error));
        if (i == 0) {
            *first = number;
            continue;
        }
        uint32_t a = root(&n->parents, *first), b = root(&n->parents, number);
        n->parents.data[a > b ? a : b] = a > b ? b : a;
    }
    return KILN_OK;
}

/* Old and new tets hang together through vertex numbers. A number that was freed and given out
 * again joins too much, which bodies and regions then keep apart. */
static kiln_status join_clusters(kiln_transfer_job *job, numbering *n, kiln_error *error)
{
    KILN_TRY(kiln_idset_clear(job->context, &n->rows, 256, error));
    for (size_t i = 0; i < job->sources.count; i++) {
        kiln_transfer_tet *s = &job->sources.data[i];
        KILN_TRY(join_corners(n, kiln_begin_tet(&job->view, s->tet)->v, &s->cluster, error));
    }
    for (size_t i = 0; i < job->targets.count; i++) {
        kiln_transfer_tet *t = &job->targets.data[i];
        KILN_TRY(join_corners(n, job->to->tet[t->tet].v, &t->cluster, error));
    }
    for (size_t i = 0; i < job->sources.count; i++)
        job->sources.data[i].cluster = root(&n->parents, job->sources.data[i].cluster);
    for (size_t i = 0; i < job->targets.count; i++)
        job->targets.data[i].cluster = root(&n->parents, job->targets.data[i].cluster);
    for (size_t i = 0; i < job->gone.count; i++) {
        const kiln_idset_slot *slot = kiln_idset_at(&n->rows, job->gone.data[i].row);
        if (slot->epoch == n->rows.epoch)
            job->gone.data[i].cluster = root(&n->parents, slot->value);
    }
    return KILN_OK;
}

static kiln_status find_clusters(kiln_transfer_job *job, kiln_error *error)
{
    numbering n = {.context = job->context};
    kiln_status status = join_clusters(job, &n, error);
    kiln_array_free(job->context, &n.rows.slots);
    kiln_array_free(job->context, &n.parents);
    return status;
}

static kiln_status look_at_tet(kiln_transfer_job *job, uint32_t tet, kiln_error *error)
{
    const kiln_mesh *mesh = job->to;
    bool before = kiln_begin_tet_live(&job->view, tet), now = kiln_tet_live(mesh, tet);
    if (before && now && kiln_begin_info(&job->view, tet)->changed == mesh->info[tet].changed)
        return KILN_OK;
    if (before)
        KILN_TRY(add_source(job, tet, error));
    return now ? add_target(job, tet, error) : KILN_OK;
}

static kiln_status look_at_vertex(kiln_transfer_job *job, const kiln_begin_column *infos,
                                  uint32_t vertex, kiln_error *error)
{
    bool now = kiln_vertex_live(job->to, vertex), before = false;
    if (vertex < infos->rows) {
        const kiln_vertex_info *info = kiln_begin_row(infos, vertex);
        before = !(info->flags & KILN_VERTEX_DEAD);
    }
    if (before) {
        kiln_vec3 at = kiln_begin_position(&job->view, vertex);
        kiln_vec3 to = live_position(job, vertex);
        if (now && at.x == to.x && at.y == to.y && at.z == to.z)
            return KILN_OK;
        kiln_vertex_gone gone = {.row = vertex, .cluster = KILN_NONE, .at = at};
        KILN_TRY(kiln_array_push(job->context, &job->gone, gone, error));
    }
    if (!now)
        return KILN_OK;
    kiln_vertex_source source = {.vertex = vertex};
    return kiln_array_push(job->context, &job->vertices, source, error);
}

static kiln_status look_at_rows(kiln_transfer_job *job, kiln_where where, kiln_u32_array *rows,
                                kiln_error *error)
{
    kiln_begin_column infos = kiln_begin_column_of(job->from, KILN_ON_VERTEX, 2);
    rows->count = 0;
    KILN_TRY(kiln_archive_touched_rows(job->from, where, rows, error));
    for (uint32_t row = kiln_archive_rows(job->from, where); row < job->to->table[where].used;
         row++)
        KILN_TRY(kiln_array_push(job->context, rows, row, error));
    for (size_t i = 0; i < rows->count; i++)
        KILN_TRY(where == KILN_ON_TET ? look_at_tet(job, rows->data[i], error)
                                      : look_at_vertex(job, &infos, rows->data[i], error));
    return KILN_OK;
}

kiln_status kiln_transfer_collect_pass(kiln_transfer_job *job, kiln_error *error)
{
    kiln_u32_array rows = {0};
    kiln_status status = look_at_rows(job, KILN_ON_TET, &rows, error);
    if (status == KILN_OK)
        status = look_at_rows(job, KILN_ON_VERTEX, &rows, error);
    if (status == KILN_OK)
        status = find_clusters(job, error);
    kiln_array_free(job->context, &rows);
    return status;
}

kiln_status kiln_transfer_collect_all(kiln_transfer_job *job, kiln_error *error)
{
    kiln_begin_column infos = kiln_begin_column_of(job->from, KILN_ON_VERTEX, 2);
    for (uint32_t t = 0; t < job->view.tet.rows; t++)
        if (kiln_begin_tet_live(&job->view, t))
            KILN_TRY(add_source(job, t, error));
    for (uint32_t t = 0; t < job->to->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(job->to, t))
            KILN_TRY(add_target(job, t, error));
    for (uint32_t v = 0; v < infos.rows; v++) {
        const kiln_vertex_info *info = kiln_begin_row(&infos, v);
        kiln_vertex_gone gone = {.row = v, .at = kiln_begin_position(&job->view, v)};
        if (!(info->flags & KILN_VERTEX_DEAD))
            KILN_TRY(kiln_array_push(job->context, &job->gone, gone, error));
    }
    for (uint32_t v = 0; v < job->to->table[KILN_ON_VERTEX].used; v++) {
        kiln_vertex_source source = {.vertex = v};
        if (kiln_vertex_live(job->to, v))
            KILN_TRY(kiln_array_push(job->context, &job->vertices, source, error));
    }
    return KILN_OK;
}
