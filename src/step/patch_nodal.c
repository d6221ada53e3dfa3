/* The nodal pressure of a patch (fem/nodal_pressure.c has the formulas). Nodes of rows that are not
 * free have tets outside, whose theta stays. */
#include "fem/elements_guard.h"
#include "fem/flow_potential.h"
#include "step/nodes.h"
#include "step/patch_impl.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

void kiln_patch_free_nodes(kiln_patch *patch)
{
    kiln_context *context = patch->context;
    kiln_patch_pressure *n = &patch->pressure;
    kiln_array_free(context, &n->beyond);
    kiln_array_free(context, &n->others);
    kiln_array_free(context, &n->nodes);
    kiln_array_free(context, &n->mean);
    kiln_array_free(context, &n->amount);
    kiln_array_free(context, &n->value);
    kiln_array_free(context, &n->tried_value);
    kiln_array_free(context, &n->slope);
    kiln_array_free(context, &n->curvature);
    kiln_array_free(context, &n->first);
    kiln_array_free(context, &n->lane);
    kiln_array_free(context, &n->gradient);
    kiln_array_free(context, &n->sum);
    kiln_array_free(context, &n->star);
    kiln_array_free(context, &n->listed);
}

/* Of the tets at a row's vertex that are not of the patch. */
static kiln_status list_others(kiln_patch *p, const kiln_local_objective *o, size_t row,
                               kiln_error *error)
{
    kiln_patch_pressure *nodes = &p->pressure;
    KILN_TRY(kiln_star(o->mesh, p->vertex.data[row], &p->walker, error));
    for (size_t i = 0; i < p->walker.tets.count; i++) {
        uint32_t t = p->walker.tets.data[i];
        const uint32_t *v = o->mesh->tet[t].v;
        kiln_patch_tet tet;
        if (!o->materials[o->material[t]].nodal_pressure || kiln_idset_has(&p->seen, t))
            continue;
        if (!kiln_patch_form(o, t, &tet)) {
            p->shapeless = true;
            continue;
        }
        const kiln_vec3 x[4] = {o->end[v[0]], o->end[v[1]], o->end[v[2]], o->end[v[3]]};
        kiln_node part = kiln_node_of_tet(&tet, x);
        kiln_node_add(&nodes->others.data[row * nodes->materials + o->material[t]], 1.0, &part);
        for (int k = 0; k < 4; k++)
            KILN_TRY(kiln_array_push(p->context, &nodes->beyond, v[k], error));
    }
    return KILN_OK;
}

kiln_status kiln_patch_list_nodes(kiln_patch *patch, const kiln_local_objective *objective,
                                  kiln_error *error)
{
    kiln_patch *p = patch;
    kiln_context *context = p->context;
    kiln_patch_pressure *n = &p->pressure;
    n->nodes.count = n->beyond.count = 0;
    n->at_once = 0.0;
    if (!objective->nodal)
        return KILN_OK;
    n->materials = objective->material_count;
    size_t rows = p->vertex.count, count = rows * n->materials, lanes = p->batches.capacity * LANES;
    KILN_TRY(kiln_array_reserve(context, &n->others, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->nodes, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->amount, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->value, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->tried_value, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->slope, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->curvature, count, error));
    KILN_TRY(kiln_array_reserve(context, &n->mean, lanes, error));
    KILN_TRY(kiln_array_reserve(context, &n->gradient, 4 * lanes, error));
    KILN_TRY(kiln_array_reserve(context, &n->lane, 4 * lanes, error));
    KILN_TRY(kiln_array_reserve(context, &n->first, rows + 1, error));
    KILN_TRY(kiln_array_reserve(context, &n->sum, rows, error));
    KILN_TRY(kiln_array_reserve(context, &n->star, rows, error));
    KILN_TRY(kiln_array_reserve(context, &n->listed, rows, error));
    memset(n->listed.data, 0, rows);
    memset(n->others.data, 0, count * sizeof *n->others.data);
    memset(n->sum.data, 0, rows * sizeof *n->sum.data);
    for (size_t row = p->free; row < rows; row++)
        KILN_TRY(list_others(p, objective, row, error));
    n->nodes.count = count;
    return KILN_OK;
}

static uint32_t material_of(const kiln_local_objective *o, const kiln_patch_span *span)
{
    return (uint32_t)(span->material - o->materials);
}

/* Calls for all lanes of tets with nodal pressure. */
typedef void (*visit_lane)(kiln_patch *p, const kiln_local_objective *o, size_t lane,
                           const uint32_t row[4], uint32_t material);
static void visit(kiln_patch *p, const kiln_local_objective *o, visit_lane act)
{
    for (size_t i = 0; i < p->spans.count; i++) {
        const kiln_patch_span *s = &p->spans.data[i];
        for (size_t n = LANES * s->first;
             n < LANES * (s->first + s->count) && s->material->nodal_pressure; n++)
            if (p->batches.data[n / LANES].slot[n % LANES] != KILN_NONE)
                act(p, o, n, p->lanes.data + 4 * n, material_of(o, s));
    }
}

static double volume_of(const kiln_patch *p, size_t lane)
{
    return p->batches.data[lane / LANES].volume[lane % LANES];
}

static kiln_node part_of(const kiln_patch *p, size_t lane)
{
    const double *lame = p->lame.data + 2 * LANES * (lane / LANES) + lane % LANES;
    double volume = volume_of(p, lane);
    return (kiln_node){volume, volume * p->pressure.mean.data[lane], volume * lame[0],
                       volume * lame[LANES]};
}

static void weigh_lane(kiln_patch *p, const kiln_local_objective *o, size_t lane,
                       const uint32_t row[4], uint32_t material)
{
    (void)o;
    kiln_patch_pressure *nodes = &p->pressure;
    kiln_node part = part_of(p, lane);
    part.dilation = 0.0;
    for (int a = 0; a < 4; a++) {
        kiln_node_add(&nodes->nodes.data[row[a] * nodes->materials + material], 1.0, &part);
        nodes->first.data[row[a] + 1]++;
    }
}

/* Each begin goes to its end, which is the next one's begin. */
static void list_lane(kiln_patch *p, const kiln_local_objective *o, size_t lane,
                      const uint32_t row[4], uint32_t material)
{
    (void)o, (void)material;
    kiln_patch_pressure *nodes = &p->pressure;
    for (int a = 0; a < 4; a++)
        nodes->lane.data[nodes->first.data[row[a]]++] = (uint32_t)lane;
}

static void list_lanes(kiln_patch *p, const kiln_local_objective *o)
{
    kiln_u32_array *first = &p->pressure.first;
    size_t rows = p->vertex.count;
    for (size_t r = 0; r < rows; r++)
        first->data[r + 1] += first->data[r];
    visit(p, o, list_lane);
    memmove(first->data + 1, first->data, rows * sizeof *first->data);
    first->data[0] = 0;
}

static void add_amount(kiln_patch *p, const kiln_local_objective *o, size_t lane,
                       const uint32_t row[4], uint32_t material)
{
    (void)o;
    kiln_patch_pressure *nodes = &p->pressure;
    double amount = volume_of(p, lane) * nodes->mean.data[lane];
    for (int a = 0; a < 4; a++)
        nodes->amount.data[row[a] * nodes->materials + material] += amount;
}

/* `mean` and `amount` at x. */
static void find_amounts(kiln_patch *p, const kiln_local_objective *o, const kiln_vec3 *x)
{
    static void (*const values[])(const kiln_element_span *, kiln_dilation, const double *,
                                  double *) = KILN_SIMD_TABLE(kiln_elements_dilation_span);
    kiln_patch_pressure *nodes = &p->pressure;
    for (size_t i = 0; i < p->spans.count; i++) {
        const kiln_patch_span *s = &p->spans.data[i];
        kiln_element_span span = kiln_patch_kernel_span(p, s);
        if (s->material->nodal_pressure)
            values[p->context->isa](&span, kiln_flow_dilation(s->material), &x[0].x,
                                    nodes->mean.data + LANES * s->first);
    }
    for (size_t n = 0; n < nodes->nodes.count; n++)
        nodes->amount.data[n] = nodes->nodes.data[n].dilation;
    visit(p, o, add_amount);
}

void kiln_patch_value_nodes(kiln_patch *patch, const kiln_local_objective *objective,
                            const kiln_vec3 *x, double *value)
{
    kiln_patch_pressure *nodes = &patch->pressure;
    if (nodes->nodes.count == 0)
        return;
    find_amounts(patch, objective, x);
    for (size_t n = 0; n < nodes->nodes.count; n++) {
        kiln_node node = nodes->nodes.data[n];
        node.dilation = nodes->amount.data[n];
        value[n] = kiln_node_energy(objective, &objective->materials[n % nodes->materials], &node);
    }
}

/* The halves of each tet at the edge: that of the other end was this end's, too. */
static void find_at_once(kiln_patch *p, const kiln_local_objective *o)
{
    kiln_patch_pressure *nodes = &p->pressure;
    for (uint32_t m = 0; m < nodes->materials; m++) {
        const kiln_material *material = &o->materials[m];
        kiln_node whole[3];
        for (size_t r = 0; r < 3; r++) {
            whole[r] = nodes->nodes.data[r * nodes->materials + m];
            whole[r].dilation = nodes->amount.data[r * nodes->materials + m];
            nodes->at_once -= kiln_node_energy(o, material, &whole[r]);
        }
        for (uint32_t i = nodes->first.data[0]; i < nodes->first.data[1]; i++) {
            size_t lane = nodes->lane.data[i];
            const uint32_t *row = p->lanes.data + 4 * lane; /* ascending: 0 is first */
            kiln_node part = part_of(p, lane);
            if (o->material[p->batches.data[lane / LANES].slot[lane % LANES]] == m)
                kiln_node_add(&whole[row[1] == 1 ? 2 : 1], 1.0, &part);
        }
        for (size_t r = 1; r < 3; r++)
            nodes->at_once += kiln_node_energy(o, material, &whole[r]);
    }
}

void kiln_patch_fill_nodes(kiln_patch *patch, const kiln_local_objective *objective)
{
    kiln_patch *p = patch;
    kiln_patch_pressure *nodes = &p->pressure;
    if (nodes->nodes.count == 0)
        return;
    memcpy(nodes->nodes.data, nodes->others.data, nodes->nodes.count * sizeof *nodes->nodes.data);
    memset(nodes->first.data, 0, (p->vertex.count + 1) * sizeof *nodes->first.data);
    visit(p, objective, weigh_lane);
    list_lanes(p, objective);
    kiln_patch_value_nodes(p, objective, p->x.data, nodes->value.data);
    nodes->at_once = 0.0;
    if (p->splits)
        find_at_once(p, objective);
}

static void press_lane(kiln_patch *p, const kiln_local_objective *o, size_t lane,
                       const uint32_t row[4], uint32_t material)
{
    (void)o;
    kiln_patch_pressure *nodes = &p->pressure;
    double sum = 0.0;
    for (int a = 0; a < 4; a++)
        sum += nodes->slope.data[row[a] * nodes->materials + material];
    nodes->mean.data[lane] = 0.25 * sum;
}

void kiln_patch_slope_nodes(kiln_patch *patch, const kiln_local_objective *objective)
{
    kiln_patch_pressure *nodes = &patch->pressure;
    if (nodes->nodes.count == 0)
        return;
    find_amounts(patch, objective, patch->x.data);
    for (size_t n = 0; n < nodes->nodes.count; n++) {
        kiln_node node = nodes->nodes.data[n];
        double u[3] = {0};
        node.dilation = nodes->amount.data[n];
        if (node.weight > 0.0)
            kiln_node_values(objective, &objective->materials[n % nodes->materials], &node, u);
        nodes->slope.data[n] = u[1];
        nodes->curvature.data[n] = node.weight > 0.0 ? 0.25 / node.weight * u[2] : 0.0;
    }
    visit(patch, objective, press_lane);
}

static void find_gradient(kiln_patch *p, const kiln_local_objective *o, size_t lane,
                          const uint32_t row[4], uint32_t material)
{
    const kiln_element_batch *batch = &p->batches.data[lane / LANES];
    size_t l = lane % LANES;
    kiln_patch_tet tet = {.volume = batch->volume[l]};
    kiln_vec3 x[4], *out = p->pressure.gradient.data + 4 * lane;
    kiln_mat3 D;
    for (int a = 0; a < 4; a++)
        x[a] = p->x.data[row[a]];
    for (int k = 0; k < 3; k++)
        tet.gradient[k + 1] = kiln_v3(batch->gradient[3 * k][l], batch->gradient[3 * k + 1][l],
                                      batch->gradient[3 * k + 2][l]);
    kiln_mat3 F = kiln_patch_tet_deformation(&tet, x);
    kiln_dilation_gradient(kiln_flow_dilation(&o->materials[material]), &F, &D);
    out[0] = kiln_v3(0, 0, 0);
    for (int a = 1; a < 4; a++) {
        out[a] = kiln_v3_scale(kiln_m3_apply(D, tet.gradient[a]), tet.volume);
        out[0] = kiln_v3_sub(out[0], out[a]);
    }
}

/* G of a node by the rows that are free, which are listed in `star`. */
static void sum_gradients(kiln_patch *p, const kiln_local_objective *o, size_t row, uint32_t m)
{
    kiln_patch_pressure *nodes = &p->pressure;
    nodes->star.count = 0;
    for (uint32_t i = nodes->first.data[row]; i < nodes->first.data[row + 1]; i++) {
        size_t lane = nodes->lane.data[i];
        if (o->material[p->batches.data[lane / LANES].slot[lane % LANES]] != m)
            continue;
        for (int a = 0; a < 4; a++) {
            uint32_t r = p->lanes.data[4 * lane + a];
            kiln_vec3 *sum = &nodes->sum.data[r];
            if (r >= p->free)
                continue;
            if (!nodes->listed.data[r])
                nodes->star.data[nodes->star.count++] = r;
            nodes->listed.data[r] = 1;
            *sum = kiln_v3_add(*sum, nodes->gradient.data[4 * lane + a]);
        }
    }
}

/* Rows and columns of c G G' that are free. */
static void add_outer(kiln_patch *p, double c)
{
    const kiln_patch_pressure *nodes = &p->pressure;
    for (size_t i = 0; i < nodes->star.count; i++)
        for (size_t j = 0; j < nodes->star.count; j++) {
            uint32_t a = nodes->star.data[i], b = nodes->star.data[j];
            kiln_vec3 ga = kiln_v3_scale(nodes->sum.data[a], c), gb = nodes->sum.data[b];
            const double left[3] = {ga.x, ga.y, ga.z}, right[3] = {gb.x, gb.y, gb.z};
            if (a > b)
                continue;
            for (size_t k = 0; k < 3; k++)
                for (size_t l = a == b ? k : 0; l < 3; l++)
                    kiln_patch_row(p, 3 * a + k)[3 * (b - a) + l - k] += left[k] * right[l];
        }
}

void kiln_patch_add_nodes(kiln_patch *patch, const kiln_local_objective *objective)
{
    static void (*const gradients[])(const kiln_element_span *, kiln_dilation, const double *,
                                     const double *, double, double *) =
        KILN_SIMD_TABLE(kiln_elements_add_dilation_span);
    kiln_patch *p = patch;
    kiln_patch_pressure *nodes = &p->pressure;
    if (nodes->nodes.count == 0)
        return;
    for (size_t i = 0; i < p->spans.count; i++) {
        kiln_element_span span = kiln_patch_kernel_span(p, &p->spans.data[i]);
        if (span.pressure)
            gradients[p->context->isa](&span, kiln_flow_dilation(span.material), &p->x.data[0].x,
                                       span.pressure, 1.0, p->g.data);
    }
    visit(p, objective, find_gradient);
    for (size_t n = 0; n < nodes->nodes.count; n++) {
        if (!(nodes->curvature.data[n] > 0.0))
            continue;
        sum_gradients(p, objective, n / nodes->materials, (uint32_t)(n % nodes->materials));
        add_outer(p, nodes->curvature.data[n]);
        for (size_t i = 0; i < nodes->star.count; i++) {
            nodes->sum.data[nodes->star.data[i]] = kiln_v3(0, 0, 0);
            nodes->listed.data[nodes->star.data[i]] = 0;
        }
    }
}
