#include "solve/dissect_joints.h"

#include <string.h>

/* A body with more joints than this is one large front whatever is done: they go to the root, and
 * their clique is not made. */
enum { MANY = 256, NONE = 0xFFFFFFFFu };

typedef struct meeting {
    uint32_t body, joint;
} meeting;

typedef struct joint_graph {
    kiln_context *context;
    const kiln_row_graph *graph;
    const kiln_joints *joints;
    KILN_ARRAY_OF(meeting)
    meetings;             /* of a joint and a body it touches or is part of, once each */
    kiln_u32_array edges; /* between joints, [edge][2] */
    uint64_t *start;      /* [bodies + 1] cliques */
    uint32_t *member;     /* [meetings] */
    uint32_t *joint;      /* [vertex] number of the joint; NONE */
    uint32_t *seen;       /* [body] last joint that met it, and 1 */
    uint32_t *number;     /* [joint] among those that are dissected; NONE: it goes to the root */
    uint32_t *kept;       /* joints that are dissected */
    uint32_t kept_count;
    void *memory;
    size_t bytes;
} joint_graph;

static kiln_status reserve(joint_graph *j, kiln_error *error)
{
    size_t n = j->graph->rows, bodies = j->joints->bodies, count = j->joints->count;
    j->bytes = (bodies + 1) * sizeof(uint64_t) + (n + bodies + 2 * count) * sizeof(uint32_t);
    j->memory = kiln_resize(j->context, NULL, 0, j->bytes);
    if (!j->memory)
        return kiln_fail_memory(error, j->bytes);
    j->start = j->memory;
    j->joint = (uint32_t *)(j->start + bodies + 1);
    j->seen = j->joint + n;
    j->number = j->seen + bodies;
    j->kept = j->number + count;
    memset(j->start, 0, (bodies + 1) * sizeof(uint64_t));
    memset(j->joint, 0xFF, n * sizeof(uint32_t));
    memset(j->seen, 0, (bodies + count) * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++)
        j->joint[j->joints->vertex[i]] = i;
    return KILN_OK;
}

static kiln_status look_around(joint_graph *j, uint32_t joint, kiln_error *error)
{
    const kiln_row_graph *g = j->graph;
    uint32_t v = j->joints->vertex[joint];
    for (uint64_t k = g->start[v]; k < g->start[v + 1]; k++) {
        uint32_t u = g->neighbour[k], other = j->joint[u], body = j->joints->body[u];
        if (other == NONE && j->seen[body] != joint + 1) {
            j->seen[body] = joint + 1;
            meeting met = {body, joint};
            KILN_TRY(kiln_array_push(j->context, &j->meetings, met, error));
        } else if (other != NONE && other > joint) {
            KILN_TRY(kiln_array_reserve(j->context, &j->edges, j->edges.count + 2, error));
            j->edges.data[j->edges.count++] = joint;
            j->edges.data[j->edges.count++] = other;
        }
    }
    return KILN_OK;
}

static bool is_large(const joint_graph *j, uint32_t body)
{
    return j->start[body + 1] - j->start[body] > MANY;
}

static void choose_kept(joint_graph *j)
{
    for (size_t b = 0; b < j->joints->bodies; b++)
        j->start[b + 1] += j->start[b];
    for (size_t i = 0; i < j->meetings.count; i++)
        if (is_large(j, j->meetings.data[i].body))
            j->number[j->meetings.data[i].joint] = NONE;
    for (uint32_t i = 0; i < j->joints->count; i++)
        if (j->number[i] != NONE) {
            j->number[i] = j->kept_count;
            j->kept[j->kept_count++] = i;
        }
}

/* Fills lists by moving their begins back from their ends. */
static void list_members(joint_graph *j)
{
    for (size_t b = j->joints->bodies; b > 0; b--)
        j->start[b] = j->start[b - 1];
    for (size_t i = 0; i < j->meetings.count; i++) {
        meeting met = j->meetings.data[i];
        j->member[j->start[met.body + 1]++] = j->number[met.joint];
    }
    for (size_t i = 0; i < j->edges.count; i++)
        j->edges.data[i] = j->number[j->edges.data[i]];
}

static kiln_status dissect_kept(joint_graph *j, kiln_dissection *out, kiln_error *error)
{
    const kiln_cliques cliques[] = {
        {.count = j->joints->bodies, .start = j->start, .row = j->member},
        {.count = j->edges.count / 2, .size = 2, .row = j->edges.data}};
    kiln_bsr pattern;
    kiln_row_graph graph = {0};
    kiln_bsr_init_blocks(&pattern, j->context, 1);
    kiln_status status = kiln_bsr_set_pattern(&pattern, j->kept_count, cliques, 2, error);
    if (status == KILN_OK)
        status = kiln_row_graph_make(&pattern, &graph, error);
    if (status == KILN_OK)
        status = kiln_dissect(j->context, &graph, out, error);
    kiln_row_graph_free(j->context, &graph);
    kiln_bsr_free(&pattern);
    return status;
}

/* The joints of a body are a clique, so their nodes are on one path: it hangs from the lowest. */
static void hang_bodies(const joint_graph *j, const kiln_dissection *out, uint32_t *node,
                        uint32_t *below)
{
    for (uint32_t k = 0; k < out->nodes; k++)
        for (uint32_t p = out->first[k]; p < out->first[k + 1]; p++)
            node[out->order[p]] = k;
    for (size_t b = 0; b < j->joints->bodies; b++)
        below[b] = (uint32_t)out->nodes - 1;
    for (size_t i = 0; i < j->meetings.count; i++) {
        meeting met = j->meetings.data[i];
        uint32_t number = j->number[met.joint];
        if (number != NONE && node[number] < below[met.body])
            below[met.body] = node[number];
    }
}

/* From numbers to vertices, and the joints that were left out to the root. */
static kiln_status complete(const joint_graph *j, kiln_dissection *out, kiln_error *error)
{
    size_t count = j->joints->count, at = j->kept_count;
    uint32_t *order =
        kiln_resize(j->context, out->order, out->count * sizeof *order, count * sizeof *order);
    if (!order)
        return kiln_fail_memory(error, count * sizeof *order);
    out->order = order;
    out->count = count;
    for (size_t i = 0; i < at; i++)
        order[i] = j->joints->vertex[j->kept[order[i]]];
    for (size_t i = 0; i < count; i++)
        if (j->number[i] == NONE)
            order[at++] = j->joints->vertex[i];
    out->first[out->nodes] = (uint32_t)count;
    return KILN_OK;
}

static kiln_status make(joint_graph *j, kiln_dissection *out, uint32_t *below, kiln_error *error)
{
    KILN_TRY(reserve(j, error));
    for (uint32_t i = 0; i < j->joints->count; i++)
        KILN_TRY(look_around(j, i, error));
    for (size_t i = 0; i < j->meetings.count; i++)
        j->start[j->meetings.data[i].body + 1]++;
    choose_kept(j);
    size_t bytes = (j->meetings.count + 1) * sizeof(uint32_t);
    j->member = kiln_resize(j->context, NULL, 0, bytes);
    if (!j->member)
        return kiln_fail_memory(error, bytes);
    list_members(j);
    kiln_status status = dissect_kept(j, out, error);
    if (status == KILN_OK) {
        hang_bodies(j, out, j->joint, below);
        status = complete(j, out, error);
        if (status != KILN_OK)
            kiln_dissection_free(j->context, out);
    }
    kiln_release(j->context, j->member, bytes);
    return status;
}

kiln_status kiln_dissect_joints(kiln_context *context, const kiln_row_graph *graph,
                                const kiln_joints *joints, kiln_dissection *out, uint32_t *below,
                                kiln_error *error)
{
    joint_graph j = {.context = context, .graph = graph, .joints = joints};
    kiln_status status = make(&j, out, below, error);
    kiln_array_free(context, &j.meetings);
    kiln_array_free(context, &j.edges);
    kiln_release(context, j.memory, j.bytes);
    return status;
}
