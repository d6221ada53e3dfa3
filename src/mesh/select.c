#include "mesh/select.h"
#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 8192 };

enum looks_at { POINT, VERTEX, TET, FACE };

static const struct {
    const char *name;
    enum looks_at looks_at;
} kinds[KILN_SELECT_COUNT] = {
#define SELECT_ROW(name, text, looks_at, meaning) {text, looks_at},
    KILN_SELECT_TABLE(SELECT_ROW)
#undef SELECT_ROW
};

const char *kiln_select_name(kiln_select_kind kind)
{
    return kinds[kind].name;
}

bool kiln_select_parse(const char *name, kiln_select_kind *kind)
{
    for (int k = 0; k < KILN_SELECT_COUNT; k++)
        if (strcmp(kinds[k].name, name) == 0) {
            *kind = (kiln_select_kind)k;
            return true;
        }
    return false;
}

static bool in_box(const kiln_selector *s, kiln_vec3 p)
{
    return p.x >= s->a.x && p.y >= s->a.y && p.z >= s->a.z && p.x <= s->b.x && p.y <= s->b.y &&
           p.z <= s->b.z;
}

static bool in_sphere(const kiln_selector *s, kiln_vec3 p)
{
    return kiln_v3_norm2(kiln_v3_sub(p, s->a)) <= s->radius * s->radius;
}

static bool in_cylinder(const kiln_selector *s, kiln_vec3 p)
{
    kiln_vec3 axis = kiln_v3_sub(s->b, s->a), from_a = kiln_v3_sub(p, s->a);
    double length2 = kiln_v3_norm2(axis), along = kiln_v3_dot(from_a, axis);
    if (along < 0.0 || along > length2)
        return false;
    /* |from_a x axis| is the distance times the length: no cancellation near the axis. */
    return kiln_v3_norm2(kiln_v3_cross(from_a, axis)) <= s->radius * s->radius * length2;
}

static bool holds_point(const kiln_selector *s, kiln_vec3 p)
{
    switch (s->kind) {
    case KILN_SELECT_BOX:
        return in_box(s, p);
    case KILN_SELECT_SPHERE:
        return in_sphere(s, p);
    case KILN_SELECT_HALF_SPACE:
        return kiln_v3_dot(kiln_v3_sub(p, s->a), s->b) >= 0.0;
    case KILN_SELECT_CYLINDER:
        return in_cylinder(s, p);
    default:
        return true;
    }
}

/* The vertex flag that a predicate on vertices asks for. */
static uint32_t flag_of(kiln_select_kind kind)
{
    switch (kind) {
    case KILN_SELECT_SURFACE:
        return KILN_VERTEX_SURFACE;
    case KILN_SELECT_INTERFACE:
        return KILN_VERTEX_INTERFACE;
    case KILN_SELECT_FEATURE:
        return KILN_VERTEX_FEATURE;
    case KILN_SELECT_CORNER:
        return KILN_VERTEX_CORNER;
    default:
        return KILN_VERTEX_REQUIRED;
    }
}

static bool holds_vertex(const kiln_mesh *mesh, const kiln_selector *s, uint32_t vertex)
{
    if (kinds[s->kind].looks_at == POINT)
        return holds_point(s, kiln_mesh_positions(mesh, s->space)[vertex]);
    return (mesh->vertex[vertex].flags & flag_of(s->kind)) != 0;
}

static bool holds_tet(const kiln_mesh *mesh, const kiln_selector *s, uint32_t tet)
{
    const kiln_tet_info *info = &mesh->info[tet];
    switch (s->kind) {
    case KILN_SELECT_REGION:
        return info->region == s->number;
    case KILN_SELECT_PART:
        return info->part == s->number;
    default:
        return mesh->parts.data[info->part].body == s->number;
    }
}

/* Vertices of a row; returns how many. */
static int corners_of(const kiln_mesh *mesh, kiln_where where, uint32_t row, uint32_t corner[4])
{
    if (where == KILN_ON_VERTEX) {
        corner[0] = row;
        return 1;
    }
    if (where == KILN_ON_TET) {
        memcpy(corner, mesh->tet[row].v, 4 * sizeof(uint32_t));
        return 4;
    }
    uint32_t at = mesh->face[row].at;
    for (int k = 0; k < 3; k++)
        corner[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return 3;
}

static kiln_vec3 centre_of(const kiln_mesh *mesh, kiln_where where, kiln_space space, uint32_t row)
{
    const kiln_vec3 *positions = kiln_mesh_positions(mesh, space);
    uint32_t corner[4];
    int count = corners_of(mesh, where, row, corner);
    kiln_vec3 sum = positions[corner[0]];
    for (int k = 1; k < count; k++)
        sum = kiln_v3_add(sum, positions[corner[k]]);
    return count == 1 ? sum : kiln_v3_scale(sum, 1.0 / count);
}

/* A predicate on points or vertices, asked of any row. */
static bool holds_by_reach(const kiln_mesh *mesh, const kiln_selector *s, kiln_where where,
                           uint32_t row)
{
    if (kinds[s->kind].looks_at == POINT && s->reach == KILN_REACH_CENTRE)
        return holds_point(s, centre_of(mesh, where, s->space, row));
    uint32_t corner[4];
    int count = corners_of(mesh, where, row, corner), holding = 0;
    for (int k = 0; k < count; k++)
        holding += holds_vertex(mesh, s, corner[k]);
    return s->reach == KILN_REACH_ANY ? holding > 0 : holding == count;
}

typedef struct selection_job {
    const kiln_mesh *mesh;
    const kiln_selector *selector;
    kiln_where where;
    uint8_t *chosen;  /* [row] */
    double *distance; /* [row], squared; for `nearest` */
} selection_job;

static void choose_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const selection_job *job = user;
    const kiln_mesh *mesh = job->mesh;
    const kiln_selector *s = job->selector;
    for (uint32_t row = (uint32_t)begin; row < end; row++) {
        bool chosen = kiln_row_live(mesh, job->where, row);
        if (chosen && kinds[s->kind].looks_at == TET)
            chosen = holds_tet(mesh, s, job->where == KILN_ON_FACE ? mesh->face[row].at / 4 : row);
        else if (chosen && kinds[s->kind].looks_at == FACE)
            chosen = mesh->face[row].tag == s->number;
        else if (chosen)
            chosen = holds_by_reach(mesh, s, job->where, row);
        job->chosen[row] = chosen;
    }
}

static void measure_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const selection_job *job = user;
    const kiln_selector *s = job->selector;
    for (uint32_t row = (uint32_t)begin; row < end; row++)
        if (kiln_row_live(job->mesh, job->where, row))
            job->distance[row] =
                kiln_v3_norm2(kiln_v3_sub(centre_of(job->mesh, job->where, s->space, row), s->a));
}

/* Chosen rows in ascending order into `out`, all or nothing. */
static kiln_status list_chosen(kiln_context *context, const uint8_t *chosen, size_t used,
                               kiln_u32_array *out, kiln_error *error)
{
    size_t count = 0;
    for (size_t row = 0; row < used; row++)
        count += chosen[row];
    KILN_TRY(kiln_array_reserve(context, out, count, error));
    out->count = 0;
    for (size_t row = 0; row < used; row++)
        if (chosen[row])
            out->data[out->count++] = (uint32_t)row;
    return KILN_OK;
}

static uint8_t *new_mask(const kiln_mesh *mesh, kiln_where where, kiln_error *error)
{
    size_t size = (size_t)mesh->table[where].used + 1;
    uint8_t *mask = kiln_resize(mesh->context, NULL, 0, size);
    if (mask)
        memset(mask, 0, size);
    else
        kiln_fail_memory(error, size);
    return mask;
}

static void free_mask(const kiln_mesh *mesh, kiln_where where, uint8_t *mask)
{
    kiln_release(mesh->context, mask, (size_t)mesh->table[where].used + 1);
}

typedef struct candidate {
    double distance;
    uint32_t row;
} candidate;

static bool is_farther(candidate a, candidate b)
{
    return a.distance != b.distance ? a.distance > b.distance : a.row > b.row;
}

/* The root of the heap is the farthest of those kept. */
static void sift_down(candidate *heap, size_t count, size_t at)
{
    candidate moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_farther(heap[child + 1], heap[child]))
            child++;
        if (!is_farther(heap[child], moving))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void keep_nearest(selection_job *job, candidate *heap, size_t room)
{
    const kiln_selector *s = job->selector;
    size_t count = 0;
    for (uint32_t row = 0; row < job->mesh->table[job->where].used; row++) {
        if (!kiln_row_live(job->mesh, job->where, row) ||
            (s->radius > 0.0 && job->distance[row] > s->radius * s->radius))
            continue;
        candidate next = {job->distance[row], row};
        if (count < room) {
            heap[count++] = next;
            if (count == room)
                for (size_t i = room / 2; i-- > 0;)
                    sift_down(heap, room, i);
        } else if (is_farther(heap[0], next)) {
            heap[0] = next;
            sift_down(heap, room, 0);
        }
    }
    for (size_t i = 0; i < count; i++)
        job->chosen[heap[i].row] = 1;
}

static kiln_status choose_nearest(selection_job *job, kiln_error *error)
{
    kiln_context *context = job->mesh->context;
    const kiln_table *table = &job->mesh->table[job->where];
    int64_t wanted = job->selector->number;
    size_t room = wanted < table->live ? (size_t)wanted : table->live;
    if (room == 0)
        return KILN_OK;
    size_t heap_size = room * sizeof(candidate), size = (size_t)table->used * sizeof(double);
    candidate *heap = kiln_resize(context, NULL, 0, heap_size);
    job->distance = kiln_resize(context, NULL, 0, size);
    kiln_status status = KILN_OK;
    if (heap && job->distance) {
        kiln_parallel_for(context, table->used, GRAIN, measure_chunk, job);
        keep_nearest(job, heap, room);
    } else {
        status = kiln_fail_memory(error, heap_size + size);
    }
    kiln_release(context, heap, heap_size);
    kiln_release(context, job->distance, size);
    return status;
}

static kiln_status check_selector(const kiln_selector *s, kiln_error *error)
{
    const char *name = kiln_select_name(s->kind);
    if (!kiln_v3_finite(s->a) || !kiln_v3_finite(s->b) || !isfinite(s->radius))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "all numbers must be finite");
    bool round = s->kind == KILN_SELECT_SPHERE || s->kind == KILN_SELECT_CYLINDER;
    if (s->radius < 0.0 || (round && s->radius == 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the radius must be positive, got %g",
                         s->radius);
    if (s->kind == KILN_SELECT_BOX && !(s->a.x <= s->b.x && s->a.y <= s->b.y && s->a.z <= s->b.z))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "the first corner must be the lower one in x, y and z");
    if (s->kind == KILN_SELECT_HALF_SPACE && !(kiln_v3_norm2(s->b) > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the normal must not be zero");
    if (s->kind == KILN_SELECT_CYLINDER && !(kiln_v3_norm2(kiln_v3_sub(s->b, s->a)) > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the axis must have a length");
    if (s->kind == KILN_SELECT_NEAREST && s->number < 1)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the number must be positive");
    return KILN_OK;
}

/* The table whose rows the predicate can be asked about, given whose rows are wanted. */
static kiln_where asked_of(const kiln_selector *s, kiln_where where)
{
    if (kinds[s->kind].looks_at == FACE)
        return KILN_ON_FACE;
    if (kinds[s->kind].looks_at == TET && where == KILN_ON_VERTEX)
        return KILN_ON_TET;
    return where;
}

static kiln_status choose(selection_job *job, kiln_error *error)
{
    if (job->selector->kind == KILN_SELECT_NEAREST)
        return choose_nearest(job, error);
    kiln_parallel_for(job->mesh->context, job->mesh->table[job->where].used, GRAIN, choose_chunk,
                      job);
    return KILN_OK;
}

/* chosen[row of `to`] from chosen[row of `from`]; through vertices unless one is the other's. */
static void convert_mask(const kiln_mesh *mesh, kiln_where from, const uint8_t *chosen,
                         kiln_where to, kiln_reach reach, uint8_t *result)
{
    uint32_t corner[4];
    if (to == KILN_ON_VERTEX || from == to) {
        for (uint32_t row = 0; row < mesh->table[from].used; row++) {
            int count = !chosen[row] ? 0 : from == to ? 1 : corners_of(mesh, from, row, corner);
            for (int k = 0; k < count; k++)
                result[from == to ? row : corner[k]] = 1;
        }
        return;
    }
    for (uint32_t row = 0; row < mesh->table[to].used; row++) {
        if (!kiln_row_live(mesh, to, row))
            continue;
        if (from == KILN_ON_VERTEX) {
            int count = corners_of(mesh, to, row, corner), holding = 0;
            for (int k = 0; k < count; k++)
                holding += chosen[corner[k]];
            result[row] = reach == KILN_REACH_ANY ? holding > 0 : holding == count;
        } else if (from == KILN_ON_TET) {
            result[row] = chosen[mesh->face[row].at / 4];
        } else {
            for (int f = 0; f < 4; f++) {
                kiln_link link = mesh->tet[row].n[f];
                result[row] |= kiln_link_is_surface(link) && chosen[link - KILN_LINK_SURFACE];
            }
        }
    }
}

/* Lists the mask of one table's rows as rows of another. */
static kiln_status list_converted(const kiln_mesh *mesh, kiln_where from, const uint8_t *chosen,
                                  kiln_where to, kiln_reach reach, kiln_u32_array *out,
                                  kiln_error *error)
{
    uint8_t *result = new_mask(mesh, to, error);
    if (!result)
        return KILN_ERR_MEMORY;
    convert_mask(mesh, from, chosen, to, reach, result);
    kiln_status status = list_chosen(mesh->context, result, mesh->table[to].used, out, error);
    free_mask(mesh, to, result);
    return status;
}

kiln_status kiln_select(const kiln_mesh *mesh, kiln_where where, const kiln_selector *selector,
                        kiln_u32_array *out, kiln_error *error)
{
    KILN_TRY(check_selector(selector, error));
    selection_job job = {.mesh = mesh, .selector = selector, .where = asked_of(selector, where)};
    job.chosen = new_mask(mesh, job.where, error);
    if (!job.chosen)
        return KILN_ERR_MEMORY;
    kiln_status status = choose(&job, error);
    if (status == KILN_OK && job.where == where)
        status = list_chosen(mesh->context, job.chosen, mesh->table[where].used, out, error);
    else if (status == KILN_OK)
        status = list_converted(mesh, job.where, job.chosen, where, KILN_REACH_ANY, out, error);
    free_mask(mesh, job.where, job.chosen);
    return status;
}

kiln_status kiln_select_convert(const kiln_mesh *mesh, kiln_where from, const kiln_u32_array *rows,
                                kiln_where to, kiln_reach reach, kiln_u32_array *out,
                                kiln_error *error)
{
    uint8_t *chosen = new_mask(mesh, from, error);
    if (!chosen)
        return KILN_ERR_MEMORY;
    for (size_t i = 0; i < rows->count; i++)
        chosen[rows->data[i]] = 1;
    kiln_status status = list_converted(mesh, from, chosen, to, reach, out, error);
    free_mask(mesh, from, chosen);
    return status;
}

kiln_status kiln_select_combine(kiln_context *context, kiln_select_operation operation,
                                const kiln_u32_array *a, const kiln_u32_array *b,
                                kiln_u32_array *out, kiln_error *error)
{
    kiln_u32_array result = {0};
    KILN_TRY(kiln_array_reserve(context, &result, a->count + b->count + 1, error));
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        bool in_a = i < a->count && (j == b->count || a->data[i] <= b->data[j]);
        bool in_b = j < b->count && (i == a->count || b->data[j] <= a->data[i]);
        uint32_t row = in_a ? a->data[i] : b->data[j];
        i += in_a;
        j += in_b;
        bool keep = operation == KILN_SELECT_AND     ? in_a && in_b
                    : operation == KILN_SELECT_MINUS ? in_a && !in_b
                                                     : true;
        if (keep)
            result.data[result.count++] = row;
    }
    kiln_array_free(context, out);
    *out = result;
    return KILN_OK;
}

kiln_status kiln_select_not(const kiln_mesh *mesh, kiln_where where, const kiln_u32_array *a,
                            kiln_u32_array *out, kiln_error *error)
{
    kiln_u32_array all = {0};
    const kiln_selector everything = {.kind = KILN_SELECT_ALL};
    KILN_TRY(kiln_select(mesh, where, &everything, &all, error));
    kiln_status status = kiln_select_combine(mesh->context, KILN_SELECT_MINUS, &all, a, out, error);
    kiln_array_free(mesh->context, &all);
    return status;
}
