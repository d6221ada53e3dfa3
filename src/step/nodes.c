#include "step/nodes.h"

#include "fem/flow_potential.h"

#include <math.h>

kiln_node kiln_node_of_tet(const kiln_patch_tet *tet, const kiln_vec3 x[4])
{
    kiln_node node = {0};
    if (!tet->material->nodal_pressure)
        return node;
    kiln_mat3 F = kiln_patch_tet_deformation(tet, x);
    double theta = kiln_dilation_value(kiln_flow_dilation(tet->material), &F);
    node.weight = tet->volume;
    node.dilation = tet->volume * theta;
    node.mu = tet->volume * tet->mu;
    node.lambda = tet->volume * tet->lambda;
    return node;
}

void kiln_node_add(kiln_node *node, double times, const kiln_node *part)
{
    node->weight += times * part->weight;
    node->dilation += times * part->dilation;
    node->mu += times * part->mu;
    node->lambda += times * part->lambda;
}

/* Parameters that differ from tet to tet are averaged, as theta is. */
void kiln_node_values(const kiln_local_objective *objective, const kiln_material *material,
                      const kiln_node *node, double u[3])
{
    bool own = objective->lame;
    double mu = own ? node->mu / node->weight : material->mu;
    double lambda = own ? node->lambda / node->weight : material->lambda;
    material->model->volumetric(mu, lambda, node->dilation / node->weight, u);
}

double kiln_node_energy(const kiln_local_objective *objective, const kiln_material *material,
                        const kiln_node *node)
{
    double u[3];
    if (!(node->weight > 0.0))
        return 0.0;
    kiln_node_values(objective, material, node, u);
    return 0.25 * node->weight * u[0];
}

static bool has(const uint32_t *tets, size_t count, uint32_t tet)
{
    for (size_t i = 0; i < count; i++)
        if (tets[i] == tet)
            return true;
    return false;
}

/* The sums over the tets of the last walk that are of the material, without some. */
static void sum_star(const kiln_local_objective *o, const kiln_walker *walker, uint32_t material,
                     const uint32_t *without, size_t count, kiln_node *out)
{
    *out = (kiln_node){0};
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t t = walker->tets.data[i];
        const uint32_t *v = o->mesh->tet[t].v;
        kiln_patch_tet tet;
        if (o->material[t] != material || has(without, count, t) || !kiln_patch_form(o, t, &tet))
            continue;
        const kiln_vec3 x[4] = {o->end[v[0]], o->end[v[1]], o->end[v[2]], o->end[v[3]]};
        kiln_node part = kiln_node_of_tet(&tet, x);
        kiln_node_add(out, 1.0, &part);
    }
}

bool kiln_objective_node(const kiln_local_objective *objective, kiln_walker *walker,
                         uint32_t vertex, uint32_t material, kiln_node *out)
{
    if (kiln_star(objective->mesh, vertex, walker, NULL) != KILN_OK)
        return false;
    sum_star(objective, walker, material, NULL, 0, out);
    return true;
}

double kiln_objective_nodal(const kiln_local_objective *objective)
{
    const kiln_local_objective *o = objective;
    kiln_walker walker;
    double sum = 0.0;
    kiln_walker_init(&walker, o->mesh->context);
    for (uint32_t v = 0; v < o->mesh->table[KILN_ON_VERTEX].used && o->nodal; v++)
        for (uint32_t m = 0; m < o->material_count && kiln_vertex_live(o->mesh, v); m++) {
            kiln_node node;
            if (!o->materials[m].nodal_pressure)
                continue;
            if (kiln_objective_node(o, &walker, v, m, &node))
                sum += kiln_node_energy(o, &o->materials[m], &node);
            else
                sum = INFINITY;
        }
    kiln_walker_free(&walker);
    return sum;
}

static size_t find(const kiln_nodes *nodes, uint32_t vertex, uint32_t material)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->vertex[i] == vertex && nodes->material[i] == material)
            return i;
    return KILN_NODES_ROOM;
}

/* Of each the sums over its star, `without` so many of the tets. */
static bool list(kiln_nodes *nodes, const kiln_local_objective *o, kiln_walker *walker,
                 const uint32_t *tets, size_t count, size_t without)
{
    nodes->count = 0;
    for (size_t i = 0; i < 4 * count; i++) {
        uint32_t t = tets[i / 4], vertex = o->mesh->tet[t].v[i % 4], material = o->material[t];
        if (!o->materials[material].nodal_pressure ||
            find(nodes, vertex, material) < KILN_NODES_ROOM)
            continue;
        if (nodes->count == KILN_NODES_ROOM || kiln_star(o->mesh, vertex, walker, NULL) != KILN_OK)
            return false;
        size_t n = nodes->count++;
        nodes->vertex[n] = vertex;
        nodes->material[n] = material;
        sum_star(o, walker, material, tets, without, &nodes->other[n]);
    }
    return true;
}

bool kiln_nodes_gather(kiln_nodes *nodes, const kiln_local_objective *objective,
                       kiln_walker *walker, const uint32_t *tets, size_t count)
{
    return list(nodes, objective, walker, tets, count, count);
}

void kiln_nodes_clear(kiln_nodes *nodes)
{
    for (size_t n = 0; n < nodes->count; n++)
        nodes->sum[n] = nodes->other[n];
}

bool kiln_nodes_put(kiln_nodes *nodes, const kiln_local_objective *objective,
                    const kiln_patch_tet *tet, const uint32_t vertex[4],
                    const kiln_patch_corner corner[4])
{
    const kiln_vec3 x[4] = {corner[0].x, corner[1].x, corner[2].x, corner[3].x};
    uint32_t material = (uint32_t)(tet->material - objective->materials);
    kiln_node part = kiln_node_of_tet(tet, x);
    for (int a = 0; a < 4 && tet->material->nodal_pressure; a++) {
        size_t n = find(nodes, vertex[a], material);
        if (n == KILN_NODES_ROOM)
            return false;
        kiln_node_add(&nodes->sum[n], 1.0, &part);
    }
    return true;
}

double kiln_nodes_energy(const kiln_nodes *nodes, const kiln_local_objective *objective)
{
    double value = 0.0;
    for (size_t n = 0; n < nodes->count; n++)
        value +=
            kiln_node_energy(objective, &objective->materials[nodes->material[n]], &nodes->sum[n]);
    return value;
}

double kiln_nodes_sum(const kiln_local_objective *objective, kiln_walker *walker,
                      const uint32_t *tets, size_t count)
{
    const kiln_local_objective *o = objective;
    kiln_nodes nodes;
    double sum = 0.0;
    if (!o->nodal)
        return 0.0;
    if (!list(&nodes, o, walker, tets, count, 0))
        return INFINITY;
    for (size_t n = 0; n < nodes.count; n++)
        sum += kiln_node_energy(o, &o->materials[nodes.material[n]], &nodes.other[n]);
    return sum;
}
