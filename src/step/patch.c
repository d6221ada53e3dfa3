#include "step/patch_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_HALVINGS = 16, LANES = KILN_ELEMENT_LANES };
#define ARMIJO 1e-4

void kiln_patch_init(kiln_patch *patch, kiln_context *context)
{
    *patch = (kiln_patch){.context = context};
    kiln_walker_init(&patch->walker, context);
    kiln_vicinity_init(&patch->near, context);
}

void kiln_patch_free(kiln_patch *patch)
{
    kiln_context *context = patch->context;
    kiln_walker_free(&patch->walker);
    kiln_array_free(context, &patch->row_of.slots);
    kiln_array_free(context, &patch->seen.slots);
    kiln_array_free(context, &patch->vertex);
    kiln_array_free(context, &patch->u);
    kiln_array_free(context, &patch->x);
    kiln_array_free(context, &patch->centre);
    kiln_array_free(context, &patch->origin);
    kiln_array_free(context, &patch->begin);
    kiln_array_free(context, &patch->before);
    kiln_array_free(context, &patch->rate);
    kiln_array_free(context, &patch->drag);
    kiln_array_free(context, &patch->dead);
    kiln_array_free(context, &patch->dampers);
    kiln_array_free(context, &patch->aside);
    kiln_array_free(context, &patch->force);
    kiln_array_free(context, &patch->tried);
    kiln_array_free(context, &patch->held);
    kiln_array_free(context, &patch->tets);
    kiln_array_free(context, &patch->rows);
    kiln_array_free(context, &patch->order);
    kiln_array_free(context, &patch->turn);
    kiln_array_free(context, &patch->batches);
    kiln_array_free(context, &patch->spans);
    kiln_array_free(context, &patch->lanes);
    kiln_array_free(context, &patch->lame);
    kiln_array_free(context, &patch->yield);
    kiln_array_free(context, &patch->mass);
    kiln_array_free(context, &patch->value);
    kiln_array_free(context, &patch->tried_value);
    kiln_array_free(context, &patch->g);
    kiln_array_free(context, &patch->step);
    kiln_array_free(context, &patch->start);
    kiln_array_free(context, &patch->blocks);
    kiln_array_free(context, &patch->L);
    kiln_array_free(context, &patch->right);
    kiln_patch_free_nodes(patch);
    kiln_array_free(context, &patch->loaded);
    kiln_vicinity_free(&patch->near);
    kiln_array_free(context, &patch->near_value);
    kiln_array_free(context, &patch->near_tried);
}

/* Gathering. */

static kiln_status push_row(kiln_patch *p, uint32_t vertex, const kiln_patch_vertex *row,
                            kiln_error *error)
{
    KILN_TRY(kiln_array_push(p->context, &p->u, row->u, error));
    KILN_TRY(kiln_array_push(p->context, &p->x, row->corner.x, error));
    KILN_TRY(kiln_array_push(p->context, &p->centre, row->corner.centre, error));
    KILN_TRY(kiln_array_push(p->context, &p->origin, row->corner.origin, error));
    KILN_TRY(kiln_array_push(p->context, &p->begin, row->corner.begin, error));
    KILN_TRY(kiln_array_push(p->context, &p->before, row->corner.before, error));
    KILN_TRY(kiln_array_push(p->context, &p->rate, row->corner.rate, error));
    KILN_TRY(kiln_array_push(p->context, &p->force, row->force, error));
    KILN_TRY(kiln_array_push(p->context, &p->held, row->held, error));
    return kiln_array_push(p->context, &p->vertex, vertex, error);
}

static kiln_patch_vertex vertex_of(const kiln_local_objective *o, uint32_t vertex)
{
    kiln_patch_vertex row = {.u = o->mesh->u[vertex], .corner = kiln_objective_corner(o, vertex)};
    row.force = o->points ? o->points[vertex] : kiln_v3(0, 0, 0);
    row.held = kiln_objective_tie(o, vertex);
    return row;
}

static kiln_status add_row(kiln_patch *p, const kiln_local_objective *o, uint32_t vertex,
                           uint32_t *row, kiln_error *error)
{
    if (2 * (p->row_of.members + 1) > p->row_of.slots.count)
        KILN_TRY(kiln_idset_grow(p->context, &p->row_of, error));
    kiln_idset_slot *slot = kiln_idset_at(&p->row_of, vertex);
    if (slot->epoch == p->row_of.epoch) {
        *row = slot->value;
        return KILN_OK;
    }
    *row = (uint32_t)p->vertex.count;
    kiln_idset_add(&p->row_of, slot, vertex, *row);
    kiln_patch_vertex made = vertex_of(o, vertex);
    return push_row(p, vertex, &made, error);
}

/* Loads on its faces: a third to each corner. */
static void add_pulls(kiln_patch *p, const kiln_local_objective *o, uint32_t t,
                      const uint32_t row[4])
{
    for (int f = 0; f < 4 && o->traction; f++) {
        kiln_vec3 pull = kiln_v3_scale(kiln_objective_pull(o, t, f), 1.0 / 3.0);
        for (int k = 0; k < 3; k++) {
            kiln_vec3 *force = &p->force.data[row[kiln_face_corner[f][k]]];
            *force = kiln_v3_add(*force, pull);
        }
    }
}

/* Whether an odd number of neighbours changed places. */
static bool sort_rows(uint32_t row[4])
{
    bool odd = false;
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && row[k - 1] > row[k]; k--) {
            uint32_t other = row[k];
            row[k] = row[k - 1];
            row[k - 1] = other;
            odd = !odd;
        }
    return odd;
}

/* A tet with these rows for its corners: `t`, or the part of it that they span. */
static kiln_status push_tet(kiln_patch *p, uint32_t t, const uint32_t corner[4], kiln_error *error)
{
    uint32_t row[4] = {corner[0], corner[1], corner[2], corner[3]};
    bool odd = sort_rows(row);
    KILN_TRY(kiln_array_reserve(p->context, &p->rows, p->rows.count + 4, error));
    memcpy(p->rows.data + p->rows.count, row, sizeof row);
    p->rows.count += 4;
    KILN_TRY(kiln_array_push(p->context, &p->order, odd ? -1.0 : 1.0, error));
    return kiln_array_push(p->context, &p->tets, t, error);
}

/* Where the edge of the rows 1 and 2 is split, row 0 stands in its middle and a tet that has both
 * becomes two. A pull on one of its faces that has both goes to all three of each half. */
static kiln_status add_halves(kiln_patch *p, const kiln_local_objective *o, uint32_t t,
                              const uint32_t row[4], kiln_error *error)
{
    for (uint32_t end = 1; end <= 2; end++) {
        uint32_t half[4];
        for (int a = 0; a < 4; a++)
            half[a] = row[a] == end ? 0 : row[a];
        KILN_TRY(push_tet(p, t, half, error));
    }
    for (int f = 0; f < 4 && o->traction; f++) {
        kiln_vec3 pull = kiln_v3_scale(kiln_objective_pull(o, t, f), 1.0 / 3.0);
        bool both = row[f] != 1 && row[f] != 2;
        if (both)
            p->force.data[0] = kiln_v3_add(p->force.data[0], pull);
        for (int k = 0; k < 3; k++) {
            uint32_t r = row[kiln_face_corner[f][k]];
            double share = both && (r == 1 || r == 2) ? 0.5 : 1.0;
            p->force.data[r] = kiln_v3_madd(p->force.data[r], share, pull);
        }
    }
    return KILN_OK;
}

static kiln_status add_tet(kiln_patch *p, const kiln_local_objective *o, uint32_t t,
                           kiln_error *error)
{
    uint32_t row[4], ends = 0;
    if (2 * (p->seen.members + 1) > p->seen.slots.count)
        KILN_TRY(kiln_idset_grow(p->context, &p->seen, error));
    kiln_idset_slot *slot = kiln_idset_at(&p->seen, t);
    if (slot->epoch == p->seen.epoch)
        return KILN_OK;
    kiln_idset_add(&p->seen, slot, t, 0);
    for (int a = 0; a < 4; a++) {
        KILN_TRY(add_row(p, o, o->mesh->tet[t].v[a], &row[a], error));
        ends += row[a] == 1 || row[a] == 2;
    }
    KILN_TRY(kiln_patch_list_loaded(p, o, t, row, error));
    if (p->splits && ends == 2)
        return add_halves(p, o, t, row, error);
    add_pulls(p, o, t, row);
    return push_tet(p, t, row, error);
}

/* Batches. */

/* Where in its row the block of two rows a < b stands. Rows that are not free have one block, and
 * the others one behind the last, for what nobody asks for. */
static uint32_t block_of(const kiln_patch *p, uint32_t a, uint32_t b)
{
    return a >= p->free ? 0 : (uint32_t)(b < p->free ? b : p->free) - a;
}

/* Gradients with the corners in the order of the rows: F does not know the order (elements_form.c),
 * nor does the volume. */
static bool form_lane(kiln_patch *p, const kiln_local_objective *o, size_t tet, size_t number)
{
    kiln_patch_tet form_of;
    kiln_vec3 u[4];
    const uint32_t *row = p->rows.data + 4 * tet;
    uint32_t t = p->tets.data[tet];
    for (int a = 0; a < 4; a++)
        u[a] = p->u.data[row[a]];
    bool formed = kiln_patch_form_corners(o, u, t, &form_of);
    kiln_element_batch *batch = &p->batches.data[number / LANES];
    size_t lane = number % LANES;
    for (int k = 0; k < 3; k++) {
        batch->gradient[3 * k][lane] = form_of.gradient[k + 1].x;
        batch->gradient[3 * k + 1][lane] = form_of.gradient[k + 1].y;
        batch->gradient[3 * k + 2][lane] = form_of.gradient[k + 1].z;
    }
    batch->volume[lane] = form_of.volume;
    batch->slot[lane] = t;
    for (int a = 0, k = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++, k++)
            batch->place[k][lane] = block_of(p, row[a], row[b]);
    memcpy(p->lanes.data + 4 * number, row, 4 * sizeof *row);
    p->lame.data[2 * LANES * (number / LANES) + lane] = form_of.mu;
    p->lame.data[2 * LANES * (number / LANES) + LANES + lane] = form_of.lambda;
    p->yield.data[2 * LANES * (number / LANES) + lane] = form_of.yield[0];
    p->yield.data[2 * LANES * (number / LANES) + LANES + lane] = form_of.yield[1];
    p->mass.data[number] = form_of.mass;
    p->dead.data[number] = form_of.dead;
    p->drag.data[number] = kiln_objective_drag(o, form_of.material);
    p->turn.data[number] = p->order.data[tet];
    return formed;
}

/* The rest of the last batch repeats its first tet, without volume. */
static void pad(kiln_patch *p, size_t number)
{
    for (; number % LANES != 0; number++) {
        kiln_element_batch *batch = &p->batches.data[number / LANES];
        size_t lane = number % LANES;
        for (int k = 0; k < 9; k++)
            batch->gradient[k][lane] = batch->gradient[k][0];
        for (int k = 0; k < 6; k++)
            batch->place[k][lane] = batch->place[k][0];
        batch->volume[lane] = 0.0;
        batch->slot[lane] = KILN_NONE;
        memcpy(p->lanes.data + 4 * number, p->lanes.data + 4 * (number - lane),
               4 * sizeof(uint32_t));
        for (size_t i = 0; i <= LANES; i += LANES) {
            size_t first = 2 * LANES * (number / LANES) + i;
            p->lame.data[first + lane] = p->lame.data[first];
            p->yield.data[first + lane] = p->yield.data[first];
        }
        p->mass.data[number] = p->drag.data[number] = 0.0;
        p->dead.data[number] = kiln_v3(0, 0, 0);
        p->turn.data[number] = 0.0;
    }
}

static kiln_status reserve_batches(kiln_patch *p, size_t materials, kiln_error *error)
{
    size_t most = p->tets.count / LANES + materials;
    KILN_TRY(kiln_array_reserve(p->context, &p->spans, materials, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->batches, most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->lanes, 4 * LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->lame, 2 * LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->yield, 2 * LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->mass, LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->drag, LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->dead, LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->dampers, most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->turn, LANES * most, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->value, LANES * most, error));
    return kiln_array_reserve(p->context, &p->tried_value, LANES * most, error);
}

static void make_batches(kiln_patch *p, const kiln_local_objective *o)
{
    size_t number = 0, done = 0;
    p->spans.count = 0;
    for (uint32_t m = 0; done < p->tets.count; m++) {
        size_t first = number;
        for (size_t i = 0; i < p->tets.count; i++)
            if (o->material[p->tets.data[i]] == m) {
                if (!form_lane(p, o, i, number))
                    p->shapeless = true;
                number++, done++;
            }
        if (number == first)
            continue;
        pad(p, number);
        number = (number + LANES - 1) / LANES * LANES;
        p->spans.data[p->spans.count++] =
            (kiln_patch_span){first / LANES, (number - first) / LANES, &o->materials[m]};
    }
    p->batches.count = number / LANES;
}

static kiln_patch_past past_of(const kiln_patch *p)
{
    return (kiln_patch_past){&p->begin.data[0].x, &p->before.data[0].x, &p->rate.data[0].x};
}

kiln_element_span kiln_patch_kernel_span(const kiln_patch *patch, const kiln_patch_span *span)
{
    const kiln_patch *p = patch;
    size_t first = span->first;
    bool nodal = span->material->nodal_pressure;
    return (kiln_element_span){.batch = p->batches.data + first,
                               .vertex = p->lanes.data + 4 * LANES * first,
                               .batches = span->count,
                               .lame = p->lame.data + 2 * LANES * first,
                               .shape = nodal,
                               .shape_lambda = span->material->model->shape_lambda,
                               .pressure = nodal ? p->pressure.mean.data + LANES * first : NULL,
                               .yield = p->yield.data + 2 * LANES * first,
                               .material = span->material};
}

static const kiln_element_kernels *kernels_of(const kiln_patch *p, const kiln_patch_span *s)
{
    return kiln_element_kernels_of(s->material, p->context->isa, true);
}

/* Models without a barrier say nothing of tets that are turned inside out. */
static bool is_positive(const kiln_patch *p, const kiln_local_objective *o, size_t n,
                        const kiln_vec3 *x)
{
    const uint32_t *row = p->lanes.data + 4 * n;
    return o->mesh->world_policy != KILN_WORLD_REJECT ||
           p->turn.data[n] * kiln_tet_volume(x[row[0]], x[row[1]], x[row[2]], x[row[3]]) > 0.0;
}

/* Of places off others, by the consistent mass, over it. */
static double square(const uint32_t row[4], const kiln_vec3 *x, const kiln_vec3 *from)
{
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    double squares = 0.0;
    for (int a = 0; a < 4; a++) {
        kiln_vec3 r = kiln_v3_sub(x[row[a]], from[row[a]]);
        squares += kiln_v3_norm2(r);
        sum = kiln_v3_add(sum, r);
    }
    return (squares + kiln_v3_norm2(sum)) / 40.0;
}

/* Values tet by tet at the places, without what resists strain. */
static void find_values(const kiln_patch *p, const kiln_local_objective *o, const kiln_vec3 *x,
                        double *value)
{
    for (size_t i = 0; i < p->spans.count; i++) {
        const kiln_patch_span *s = &p->spans.data[i];
        kiln_element_span span = kiln_patch_kernel_span(p, s);
        kernels_of(p, s)->energy(&span, &x[0].x, value + LANES * s->first);
    }
    for (size_t n = 0; n < LANES * p->batches.count; n++) {
        const uint32_t *row = p->lanes.data + 4 * n;
        double mass = p->mass.data[n];
        if (p->batches.data[n / LANES].slot[n % LANES] == KILN_NONE)
            continue;
        for (int a = 0; a < 4; a++)
            value[n] -= 0.25 * kiln_v3_dot(p->dead.data[n], x[row[a]]);
        if (o->scheme.scale > 0.0)
            value[n] += mass / o->scheme.scale * square(row, x, p->centre.data);
        if (p->drag.data[n] > 0.0)
            value[n] += mass * p->drag.data[n] * square(row, x, p->origin.data);
        if (!is_positive(p, o, n, x))
            value[n] = INFINITY;
    }
}

static kiln_status clear(kiln_patch *p, size_t count, kiln_error *error)
{
    p->vertex.count = p->tets.count = p->u.count = p->x.count = p->centre.count = 0;
    p->origin.count = p->begin.count = p->before.count = p->rate.count = 0;
    p->force.count = p->held.count = p->rows.count = p->order.count = p->loaded.count = 0;
    p->shapeless = p->splits = p->touches = false;
    p->near.pairs.count = p->near.rubs.count = p->near.triangles.count = 0;
    KILN_TRY(kiln_idset_clear(p->context, &p->row_of, 4 * count, error));
    return kiln_idset_clear(p->context, &p->seen, 16 * count, error);
}

/* The rows so far are free: what is round them, and room for all that is found of it. */
static kiln_status list_around(kiln_patch *p, const kiln_local_objective *o, kiln_error *error)
{
    p->free = p->vertex.count;
    for (size_t i = p->splits; i < p->free; i++) {
        KILN_TRY(kiln_star(o->mesh, p->vertex.data[i], &p->walker, error));
        for (size_t k = 0; k < p->walker.tets.count; k++)
            KILN_TRY(add_tet(p, o, p->walker.tets.data[k], error));
    }
    size_t rows = p->vertex.count, blocks = p->free * (p->free + 1) / 2 + rows;
    KILN_TRY(reserve_batches(p, o->material_count, error));
    KILN_TRY(kiln_patch_list_nodes(p, o, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->tried, rows, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->g, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->step, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->aside, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->start, rows + 1, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->blocks, 9 * blocks, error));
    return kiln_patch_reserve_factor(p, error);
}

void kiln_patch_fill(kiln_patch *patch, const kiln_local_objective *objective)
{
    kiln_patch *p = patch;
    size_t rows = p->vertex.count;
    make_batches(p, objective);
    p->start.data[0] = 0;
    for (size_t r = 0; r < rows; r++)
        p->start.data[r + 1] = p->start.data[r] + (r < p->free ? p->free - r + 1 : 1);
    p->H = (kiln_bsr){.context = p->context,
                      .block = 3,
                      .rows = rows,
                      .start = p->start.data,
                      .value = p->blocks.data,
                      .room = p->start.data[rows]};
    kiln_patch_past past = past_of(p);
    const kiln_patch_rates rates = {objective->viscosity, objective->steady};
    for (size_t i = 0; i < p->spans.count; i++) {
        kiln_element_span span = kiln_patch_kernel_span(p, &p->spans.data[i]);
        if (kiln_patch_has_dampers(objective, span.material))
            kiln_patch_form_dampers(objective, &span, &past, rates,
                                    p->dampers.data + p->spans.data[i].first);
    }
    find_values(p, objective, p->x.data, p->value.data);
    kiln_patch_fill_nodes(p, objective);
}

/* Contact. */

/* Of the patch's mean edge, or of the thickness: how far its vertices go before what is near is
 * looked for again. */
#define ROOM       0.1
#define LEAST_ROOM 0.5

static double room_of(const kiln_patch *p, const kiln_local_objective *o)
{
    double sum = 0.0;
    size_t tets = p->tets.count;
    for (size_t i = 0; i < tets; i++) {
        const uint32_t *row = p->rows.data + 4 * i;
        sum += kiln_v3_norm(kiln_v3_sub(p->x.data[row[0]], p->x.data[row[1]]));
    }
    return fmax(ROOM * sum / (double)tets, LEAST_ROOM * o->surface->collide->options.thickness);
}

/* How far each of the free may go before any of the pairs repels, `most` at most. */
static double room_to_others(const kiln_vicinity *n, double most)
{
    for (size_t i = 0; i < n->pairs.count; i++) {
        const kiln_surface_pair *pair = &n->pairs.data[i];
        bool goes[2] = {false, false};
        for (uint32_t k = 0; k < 4; k++)
            goes[k >= pair->split] |= pair->v[k] < n->free;
        most = fmin(most, (n->apart.data[i] - KILN_VICINITY_SURELY * pair->reach) /
                              (double)(goes[0] + goes[1]));
    }
    return most;
}

/* With the free vertices at x. */
static kiln_status look_near(kiln_patch *p, const kiln_local_objective *o, kiln_error *error)
{
    if (!o->surface)
        return KILN_OK;
    KILN_TRY(kiln_vicinity_gather(&p->near, o->surface, o, p->vertex.data, p->free, p->x.data,
                                  room_of(p, o), error));
    size_t count = kiln_vicinity_count(&p->near);
    KILN_TRY(kiln_array_reserve(p->context, &p->near_value, count, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->near_tried, count, error));
    kiln_vicinity_values(&p->near, o->surface, o, p->x.data, p->near_value.data);
    return KILN_OK;
}

/* How far the free of one that splits have gone, at most. */
static double way_of_split(const kiln_patch *p)
{
    const kiln_vec3 *place = p->near.place.data;
    double most = 0.0;
    for (size_t r = 0; r < p->free; r++) {
        kiln_vec3 from = r > 0 ? place[r - 1] : kiln_v3_lerp(place[0], place[1], 0.5);
        most = fmax(most, kiln_v3_norm(kiln_v3_sub(p->x.data[r], from)));
    }
    return most;
}

kiln_status kiln_patch_look_split(kiln_patch *patch, const kiln_local_objective *objective,
                                  kiln_error *error)
{
    kiln_patch *p = patch;
    if (!objective->surface)
        return KILN_OK;
    double room = 2.0 * room_of(p, objective);
    KILN_TRY(kiln_vicinity_gather(&p->near, objective->surface, objective, p->vertex.data + 1,
                                  p->free - 1, NULL, room, error));
    if (p->near.triangles.count > 0)
        p->touches = !(way_of_split(p) < room_to_others(&p->near, room));
    return KILN_OK;
}

kiln_status kiln_patch_gather(kiln_patch *patch, const kiln_local_objective *objective,
                              const uint32_t *vertices, size_t count, kiln_error *error)
{
    uint32_t row;
    KILN_TRY(clear(patch, count, error));
    for (size_t i = 0; i < count; i++)
        KILN_TRY(add_row(patch, objective, vertices[i], &row, error));
    KILN_TRY(list_around(patch, objective, error));
    kiln_patch_fill(patch, objective);
    return look_near(patch, objective, error);
}

kiln_status kiln_patch_list_split(kiln_patch *patch, const kiln_local_objective *objective,
                                  const uint32_t end[2], const uint32_t *vertices, size_t count,
                                  kiln_error *error)
{
    uint32_t row;
    kiln_patch_vertex a = vertex_of(objective, end[0]), b = vertex_of(objective, end[1]);
    const kiln_patch_corner ends[2] = {a.corner, b.corner};
    kiln_patch_vertex middle = {.u = kiln_v3_lerp(a.u, b.u, 0.5),
                                .corner = kiln_patch_corner_mean(ends, (double[]){0.5, 0.5}, 2),
                                .held = kiln_tie_common(a.held, b.held)};
    KILN_TRY(clear(patch, count + 1, error));
    patch->splits = true;
    KILN_TRY(push_row(patch, KILN_NONE, &middle, error));
    for (int i = 0; i < 2; i++)
        KILN_TRY(add_row(patch, objective, end[i], &row, error));
    for (size_t i = 0; i < count; i++)
        KILN_TRY(add_row(patch, objective, vertices[i], &row, error));
    KILN_TRY(list_around(patch, objective, error));
    for (size_t r = 1; r < patch->vertex.count && objective->surface; r++)
        patch->touches |= kiln_vicinity_is_repelled(objective->surface, patch->vertex.data[r]);
    return KILN_OK;
}

/* Newton. */

static void add_inertia(kiln_patch *p, const kiln_local_objective *o)
{
    double inertia = o->scheme.scale > 0.0 ? 1.0 / o->scheme.scale : 0.0;
    for (size_t n = 0; n < LANES * p->batches.count; n++) {
        const uint32_t *row = p->lanes.data + 4 * n;
        double weight = p->mass.data[n] / 20.0, drag = p->drag.data[n], pace = inertia + drag;
        kiln_vec3 r[4], sum = kiln_v3(0, 0, 0);
        if (weight * pace == 0.0)
            continue;
        for (int a = 0; a < 4; a++) {
            kiln_vec3 at = p->x.data[row[a]];
            r[a] = kiln_v3_scale(kiln_v3_sub(at, p->centre.data[row[a]]), inertia);
            r[a] = kiln_v3_madd(r[a], drag, kiln_v3_sub(at, p->origin.data[row[a]]));
            sum = kiln_v3_add(sum, r[a]);
        }
        for (int a = 0; a < 4; a++) {
            kiln_vec3 *g = (kiln_vec3 *)(void *)(p->g.data + 3 * row[a]);
            *g = kiln_v3_madd(*g, weight, kiln_v3_add(r[a], sum));
            for (int b = a; b < 4 && row[b] < p->free; b++)
                for (size_t i = 0; i < 3; i++)
                    kiln_patch_row(p, 3 * row[a] + i)[3 * (row[b] - row[a])] +=
                        weight * pace * (a == b ? 2.0 : 1.0);
        }
    }
}

/* What resists strain. */
static void add_resistance(kiln_patch *p, const kiln_local_objective *o)
{
    kiln_patch_past past = past_of(p);
    if (!o->brief.any)
        return;
    memset(p->aside.data, 0, 3 * p->vertex.count * sizeof(double));
    for (size_t i = 0; i < p->spans.count; i++) {
        const kiln_patch_span *s = &p->spans.data[i];
        const kiln_damper *dampers = p->dampers.data + s->first;
        kiln_element_span span = kiln_patch_kernel_span(p, s);
        if (!kiln_patch_has_dampers(o, s->material))
            continue;
        kiln_patch_add_dampers(o, &span, &past, dampers, &p->x.data[0].x, p->g.data, &p->H);
        if (o->scheme.impulses)
            kiln_patch_add_aside(o, &span, &past, dampers, &p->x.data[0].x, p->aside.data);
    }
    for (size_t i = 0; i < 3 * p->free; i++)
        p->g.data[i] += p->aside.data[i] *= o->brief.weight;
}

/* By how much its potential changes from x to `tried`. */
static double resisted(const kiln_patch *p, const kiln_local_objective *o)
{
    kiln_patch_past past = past_of(p);
    double change = 0.0;
    if (!o->brief.any)
        return 0.0;
    for (size_t i = 0; i < p->spans.count; i++) {
        const kiln_patch_span *s = &p->spans.data[i];
        kiln_element_span span = kiln_patch_kernel_span(p, s);
        if (kiln_patch_has_dampers(o, s->material))
            change += kiln_patch_damped(o, &span, &past, p->dampers.data + s->first,
                                        &p->x.data[0].x, &p->tried.data[0].x);
    }
    for (size_t r = 0; r < p->free; r++) {
        const double *f = p->aside.data + 3 * r;
        kiln_vec3 way = kiln_v3_sub(p->tried.data[r], p->x.data[r]);
        change += kiln_v3_dot(kiln_v3(f[0], f[1], f[2]), way);
    }
    return change;
}

/* Rows that stay have no part in the matrix. */
static void add_push(void *user, const kiln_vicinity_push *push)
{
    kiln_patch *p = user;
    const double n[3] = {push->normal.x, push->normal.y, push->normal.z};
    for (int k = 0; k < 4; k++) {
        uint32_t a = push->row[k];
        if (a >= p->free || push->weight[k] == 0.0)
            continue;
        kiln_vec3 *g = (kiln_vec3 *)(void *)(p->g.data + 3 * a);
        *g = kiln_v3_madd(*g, push->slope * push->weight[k], push->normal);
        for (int l = 0; l < 4; l++) {
            uint32_t b = push->row[l];
            double by = push->curvature * push->weight[k] * push->weight[l];
            if (b >= p->free || b < a || by == 0.0)
                continue;
            for (size_t i = 0; i < 3; i++)
                for (size_t j = a == b ? i : 0; j < 3; j++)
                    kiln_patch_row(p, 3 * a + i)[3 * (b - a) + j - i] += by * n[i] * n[j];
        }
    }
}

/* `all`: with the stiffness of loads, which may be negative. */
static void assemble(kiln_patch *p, const kiln_local_objective *o, bool all)
{
    size_t rows = p->vertex.count;
    memset(p->g.data, 0, 3 * rows * sizeof(double));
    memset(p->blocks.data, 0, 9 * p->start.data[rows] * sizeof(double));
    kiln_patch_slope_nodes(p, o);
    for (size_t i = 0; i < p->spans.count; i++) {
        const kiln_patch_span *s = &p->spans.data[i];
        kiln_element_span span = kiln_patch_kernel_span(p, s);
        kernels_of(p, s)->hessian(&span, &p->x.data[0].x, 1.0, p->g.data, &p->H);
    }
    kiln_patch_add_nodes(p, o);
    kiln_patch_add_loaded(p, all);
    add_inertia(p, o);
    add_resistance(p, o);
    for (size_t n = 0; n < LANES * p->batches.count; n++)
        for (int a = 0; a < 4; a++) {
            kiln_vec3 *g = (kiln_vec3 *)(void *)(p->g.data + 3 * p->lanes.data[4 * n + a]);
            *g = kiln_v3_madd(*g, -0.25, p->dead.data[n]);
        }
    for (size_t r = 0; r < p->free; r++) {
        kiln_vec3 *g = (kiln_vec3 *)(void *)(p->g.data + 3 * r);
        *g = kiln_v3_sub(*g, p->force.data[r]);
    }
    if (kiln_vicinity_count(&p->near) > 0)
        kiln_vicinity_visit(&p->near, o->surface, o, p->x.data, add_push, p);
}

/* Rows and columns of what is held become those of the unit matrix. */
static void hold_component(kiln_patch *p, size_t i)
{
    size_t n = 3 * p->free;
    p->g.data[i] = 0.0;
    for (size_t k = 0; k < i; k++)
        kiln_patch_row(p, k)[i - k] = 0.0;
    double *row = kiln_patch_row(p, i);
    row[0] = 1.0;
    for (size_t k = i + 1; k < n; k++)
        row[k - i] = 0.0;
}

static void hold(kiln_patch *p)
{
    for (size_t r = 0; r < p->free; r++) {
        kiln_tie tie = p->held.data[r];
        if (tie.bits > KILN_TIE_ALL)
            kiln_patch_hold_turned(p, r);
        for (size_t c = 0; c < 3; c++)
            if (tie.bits >> c & 1)
                hold_component(p, 3 * r + c);
    }
}

static bool factor(kiln_patch *p, const kiln_local_objective *o, bool all)
{
    assemble(p, o, all);
    hold(p);
    return kiln_patch_factor(p);
}

/* At x + part * step: by how much the objective changes. */
static double try_step(kiln_patch *p, const kiln_local_objective *o, double part)
{
    double change = 0.0;
    memcpy(p->tried.data, p->x.data, p->vertex.count * sizeof *p->x.data);
    for (size_t r = 0; r < p->free; r++) {
        const double *d = p->step.data + 3 * r;
        kiln_vec3 by = kiln_v3_scale(kiln_v3(d[0], d[1], d[2]), part);
        p->tried.data[r] = kiln_v3_add(p->x.data[r], by);
        change -= kiln_v3_dot(p->force.data[r], kiln_v3_sub(p->tried.data[r], p->x.data[r]));
    }
    find_values(p, o, p->tried.data, p->tried_value.data);
    change += resisted(p, o) + kiln_patch_change_loaded(p);
    for (size_t n = 0; n < LANES * p->batches.count; n++)
        change += p->tried_value.data[n] - p->value.data[n];
    kiln_patch_pressure *nodes = &p->pressure;
    kiln_patch_value_nodes(p, o, p->tried.data, nodes->tried_value.data);
    for (size_t n = 0; n < nodes->nodes.count; n++)
        change += nodes->tried_value.data[n] - nodes->value.data[n];
    size_t count = kiln_vicinity_count(&p->near);
    if (count > 0)
        kiln_vicinity_values(&p->near, o->surface, o, p->tried.data, p->near_tried.data);
    for (size_t i = 0; i < count; i++)
        change += p->near_tried.data[i] - p->near_value.data[i];
    return change;
}

static void take_step(kiln_patch *p)
{
    memcpy(p->x.data, p->tried.data, p->free * sizeof *p->x.data);
    memcpy(p->value.data, p->tried_value.data, LANES * p->batches.count * sizeof(double));
    if (p->pressure.nodes.count > 0)
        memcpy(p->pressure.value.data, p->pressure.tried_value.data,
               p->pressure.nodes.count * sizeof(double));
    size_t count = kiln_vicinity_count(&p->near);
    if (count > 0)
        memcpy(p->near_value.data, p->near_tried.data, count * sizeof(double));
}

static const kiln_vec3 *step_of(const kiln_patch *p)
{
    return (const kiln_vec3 *)(const void *)p->step.data;
}

/* As far as nothing is in the way, 0: nobody knows. False in *in_room: what is near must be looked
 * for again. */
static double free_part(kiln_patch *p, bool *in_room)
{
    *in_room = true;
    if (p->near.triangles.count == 0)
        return 1.0;
    return kiln_vicinity_way(&p->near, p->x.data, step_of(p), in_room);
}

/* One iteration: its change of the objective, 0: none is found; the length of the full step. */
static double iterate(kiln_patch *p, const kiln_local_objective *o, double *length)
{
    double slope = 0.0;
    bool in_room;
    *length = 0.0;
    if (!factor(p, o, true) && !(p->loaded.count > 0 && factor(p, o, false)))
        return 0.0;
    kiln_patch_solve(p);
    kiln_patch_free_steps(p);
    for (size_t i = 0; i < 3 * p->free; i++) {
        slope += p->g.data[i] * p->step.data[i];
        *length = fmax(*length, fabs(p->step.data[i]));
    }
    double part = free_part(p, &in_room);
    for (int halvings = 0; halvings < MOST_HALVINGS && part > 0.0; halvings++, part *= 0.5) {
        double change = try_step(p, o, part);
        if (change <= ARMIJO * part * slope) {
            take_step(p);
            /* Without memory the patch goes nowhere any more. */
            if (!in_room && look_near(p, o, NULL) != KILN_OK)
                p->shapeless = true;
            return change;
        }
    }
    return 0.0;
}

double kiln_patch_relax(kiln_patch *patch, const kiln_local_objective *objective, int iterations,
                        double enough, double tolerance)
{
    double sum = 0.0;
    for (int i = 0; i < iterations && !patch->shapeless; i++) {
        double length, change = iterate(patch, objective, &length);
        sum += change;
        if (-change <= enough || length <= tolerance)
            break;
    }
    return -sum;
}

kiln_verdict kiln_patch_store(const kiln_patch *patch, kiln_mesh *mesh, uint32_t made,
                              kiln_txn *txn)
{
    const kiln_field *end = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_END);
    for (size_t r = 0; r < patch->free; r++) {
        uint32_t vertex = patch->vertex.data[r] == KILN_NONE ? made : patch->vertex.data[r];
        kiln_verdict verdict = kiln_txn_write(txn, KILN_ON_VERTEX, end, vertex, &patch->x.data[r]);
        if (verdict != KILN_ACCEPTED)
            return verdict;
    }
    return KILN_ACCEPTED;
}
