/* Predictions where there is nodal pressure. A split makes a node and takes half of the tets round
 * the edge from those of its ends, which changes the energy before anything moves; then the way of
 * the new vertex changes the means of all nodes round it. With both the prediction is, as without
 * nodal pressure, what one vertex gains. */
#include "base/parallel.h"
#include "fem/flow_potential.h"
#include "step/energy_impl.h"

#include <string.h>

enum { GRAIN = 64 };

kiln_energy_dilation kiln_energy_dilation_of(const kiln_local_objective *objective, uint32_t tet)
{
    const kiln_local_objective *o = objective;
    const uint32_t *v = o->mesh->tet[tet].v;
    kiln_energy_dilation out = {.part = {.weight = 0.0}};
    kiln_patch_tet form;
    kiln_mat3 D;
    if (!o->materials[o->material[tet]].nodal_pressure || !kiln_patch_form(o, tet, &form))
        return out;
    const kiln_vec3 x[4] = {o->end[v[0]], o->end[v[1]], o->end[v[2]], o->end[v[3]]};
    kiln_mat3 F = kiln_patch_tet_deformation(&form, x);
    kiln_dilation_gradient(kiln_flow_dilation(form.material), &F, &D);
    out.part = kiln_node_of_tet(&form, x);
    for (int a = 0; a < 4; a++)
        out.d[a] = kiln_v3_scale(kiln_m3_apply(D, form.gradient[a]), form.volume);
    return out;
}

/* A node and what it is like: U, U' and U''. */
typedef struct node_state {
    double energy, slope, curvature;
} node_state;

static node_state state_of(const kiln_local_objective *o, uint32_t material, const kiln_node *node)
{
    double u[3];
    if (!(node->weight > 0.0))
        return (node_state){0};
    kiln_node_values(o, &o->materials[material], node, u);
    return (node_state){0.25 * node->weight * u[0], u[1], 0.25 / node->weight * u[2]};
}

/* H += c G G', U'' < 0 counts as 0. */
static void add_outer(double H[6], double c, kiln_vec3 G)
{
    const double g[3] = {G.x, G.y, G.z};
    for (int i = 0, k = 0; i < 3; i++)
        for (int j = i; j < 3; j++, k++)
            H[k] += c > 0.0 ? c * g[i] * g[j] : 0.0;
}

typedef struct edge_ring {
    const kiln_local_objective *o;
    const kiln_energy_round *round;
    uint32_t material;
    node_state end[2], middle;
} edge_ring;

static bool is_of(const edge_ring *e, uint32_t i)
{
    return e->o->material[e->round->tet[i]] == e->material;
}

/* The corners of a tet of the ring: the ends, and the two others. */
static void corners(const edge_ring *e, uint32_t i, uint32_t end[2], uint32_t other[2])
{
    const kiln_tet *tet = &e->o->mesh->tet[e->round->tet[i]];
    uint32_t count = 0;
    for (int k = 0; k < 2; k++)
        end[k] = kiln_tet_corner(tet, e->round->end[k]);
    for (uint32_t k = 0; k < 4; k++)
        if (k != end[0] && k != end[1])
            other[count++] = k;
}

/* The nodes of the ends and of the middle, before and after: J by which their energy falls. */
static double split_nodes(edge_ring *e)
{
    kiln_node half = {0}, node[2], middle = {0};
    double fall = 0.0;
    for (uint32_t i = 0; i < e->round->count; i++)
        if (is_of(e, i))
            kiln_node_add(&half, 0.5, &e->round->dilation[i]->part);
    for (int k = 0; k < 2; k++) {
        node[k] = e->round->node_of(e->round->user, e->round->end[k], e->material);
        fall += state_of(e->o, e->material, &node[k]).energy;
        kiln_node_add(&node[k], -1.0, &half);
        kiln_node_add(&middle, 1.0, &half);
        e->end[k] = state_of(e->o, e->material, &node[k]);
        fall -= e->end[k].energy;
    }
    e->middle = state_of(e->o, e->material, &middle);
    return fall - e->middle.energy;
}

/* A vertex of the ring, where it comes first: what all its tets there have. */
static void add_ring_vertex(const edge_ring *e, uint32_t vertex, double curvature, uint32_t first,
                            double H[6])
{
    kiln_vec3 G = kiln_v3(0, 0, 0);
    for (uint32_t i = 0; i < e->round->count; i++) {
        uint32_t end[2], other[2];
        const uint32_t *v = e->o->mesh->tet[e->round->tet[i]].v;
        if (!is_of(e, i))
            continue;
        corners(e, i, end, other);
        if (v[other[0]] != vertex && v[other[1]] != vertex)
            continue;
        if (i < first)
            return;
        const kiln_vec3 *d = e->round->dilation[i]->d;
        G = kiln_v3_add(G, kiln_v3_add(d[end[0]], d[end[1]]));
    }
    add_outer(H, curvature, G);
}

static void add_material(edge_ring *e, kiln_vec3 *g, double H[6])
{
    kiln_vec3 G[2] = {{0, 0, 0}, {0, 0, 0}};
    for (uint32_t i = 0; i < e->round->count; i++) {
        const kiln_vec3 *d = e->round->dilation[i]->d;
        const uint32_t *v = e->o->mesh->tet[e->round->tet[i]].v;
        uint32_t end[2], other[2];
        double slope = e->middle.slope;
        if (!is_of(e, i))
            continue;
        corners(e, i, end, other);
        for (int k = 0; k < 2; k++) {
            kiln_node node = e->round->node_of(e->round->user, v[other[k]], e->material);
            node_state state = state_of(e->o, e->material, &node);
            slope += state.slope;
            add_ring_vertex(e, v[other[k]], state.curvature, i, H);
        }
        for (int k = 0; k < 2;
             k++) { /* the half that keeps this end has the middle for the other */
            *g = kiln_v3_madd(*g, 0.25 * (slope + e->end[k].slope), d[end[1 - k]]);
            G[k] = kiln_v3_add(G[k], d[end[1 - k]]);
        }
    }
    add_outer(H, e->end[0].curvature, G[0]);
    add_outer(H, e->end[1].curvature, G[1]);
    add_outer(H, e->middle.curvature, kiln_v3_add(G[0], G[1]));
}

double kiln_energy_add_nodes(const kiln_local_objective *objective, const kiln_energy_round *round,
                             kiln_vec3 *g, double H[6])
{
    double at_once = 0.0;
    for (uint32_t m = 0; m < objective->material_count; m++) {
        edge_ring e = {.o = objective, .round = round, .material = m};
        uint32_t of = 0;
        for (uint32_t i = 0; i < round->count; i++)
            of += is_of(&e, i);
        if (of == 0 || !objective->materials[m].nodal_pressure)
            continue;
        at_once += split_nodes(&e);
        add_material(&e, g, H);
    }
    return at_once;
}

/* What a pass knows. */

static kiln_node known_node(void *user, uint32_t vertex, uint32_t material)
{
    const kiln_energy_pass *w = user;
    return w->nodes.data[vertex * w->objective->material_count + material];
}

kiln_energy_round kiln_energy_round_of(const kiln_energy_pass *pass, uint32_t a, uint32_t b)
{
    return (kiln_energy_round){.end = {a, b}, .node_of = known_node, .user = (void *)pass};
}

static bool sum_node(kiln_energy_pass *w, kiln_walker *walker, uint32_t vertex)
{
    size_t materials = w->objective->material_count;
    kiln_node *node = w->nodes.data + vertex * materials;
    if (kiln_star(w->remesher->mesh, vertex, walker, NULL) != KILN_OK)
        return false;
    memset(node, 0, materials * sizeof *node);
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t t = walker->tets.data[i];
        kiln_node_add(&node[w->objective->material[t]], 1.0, &w->dilations.data[t].part);
    }
    w->node_known.data[vertex] = 1;
    return true;
}

kiln_status kiln_energy_reserve_nodes(kiln_energy_pass *pass)
{
    kiln_energy_pass *w = pass;
    kiln_context *context = w->remesher->context;
    const kiln_mesh *mesh = w->remesher->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    if (!w->objective->nodal)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(context, &w->dilations, mesh->table[KILN_ON_TET].used, w->error));
    KILN_TRY(
        kiln_array_reserve(context, &w->nodes, vertices * w->objective->material_count, w->error));
    KILN_TRY(kiln_array_reserve(context, &w->node_known, vertices, w->error));
    while (w->node_known.count < vertices)
        w->node_known.data[w->node_known.count++] = 0;
    return KILN_OK;
}

static void nodes_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    kiln_energy_pass *w = user;
    kiln_workspace *workspace = &w->remesher->workers[worker];
    for (size_t v = begin; v < end; v++)
        if (kiln_vertex_live(w->remesher->mesh, v) && !sum_node(w, &workspace->walker, (uint32_t)v))
            workspace->failed = true;
}

void kiln_energy_survey_nodes(kiln_energy_pass *pass)
{
    if (pass->objective->nodal)
        kiln_parallel_for(pass->remesher->context, pass->node_known.count, GRAIN, nodes_chunk,
                          pass);
}

/* The tets at a vertex, and then its nodes. */
static kiln_status know_node(kiln_energy_pass *w, uint32_t vertex)
{
    if (w->node_known.data[vertex])
        return KILN_OK;
    KILN_TRY(kiln_star(w->remesher->mesh, vertex, &w->node_walker, w->error));
    KILN_TRY(kiln_energy_know(w, w->node_walker.tets.data, w->node_walker.tets.count));
    return sum_node(w, &w->node_walker, vertex) ? KILN_OK : kiln_fail_memory(w->error, 0);
}

kiln_status kiln_energy_know_nodes(kiln_energy_pass *pass, const uint32_t *ring, uint32_t count)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    for (uint32_t i = 0; i < 4 * count && pass->objective->nodal; i++)
        KILN_TRY(know_node(pass, mesh->tet[ring[i / 4] / 4].v[i % 4]));
    return KILN_OK;
}

void kiln_energy_forget_nodes(kiln_energy_pass *pass, const uint32_t *tets, size_t count)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    for (size_t i = 0; i < 4 * count && pass->objective->nodal; i++)
        if (kiln_tet_live(mesh, tets[i / 4]) &&
            mesh->tet[tets[i / 4]].v[i % 4] < pass->node_known.count)
            pass->node_known.data[mesh->tet[tets[i / 4]].v[i % 4]] = 0;
}

void kiln_energy_free_nodes(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    kiln_array_free(context, &pass->dilations);
    kiln_array_free(context, &pass->nodes);
    kiln_array_free(context, &pass->node_known);
}
