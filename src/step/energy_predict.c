/* What an edge would gain by a split. */
#include "base/parallel.h"
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 64 };
/* The rest of the patch adds to what the new vertex gains alone, by a half as a rule: predictions
 * below this part of what is asked for are not tried. */
#define HOPE 0.4

/* Of a batch of tets: what is known of each afterwards. */
static void find_slopes(const kiln_local_objective *o, const uint32_t *tets, size_t count,
                        kiln_energy_slopes *const *out, uint8_t *const *known)
{
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    kiln_patch_tet form[KILN_ELEMENT_LANES];
    kiln_patch_corner corner[KILN_ELEMENT_LANES][4];
    kiln_vec3 g[KILN_ELEMENT_LANES][4];
    kiln_mat3 H[KILN_ELEMENT_LANES][4];
    size_t from[KILN_ELEMENT_LANES], formed = 0;
    for (size_t i = 0; i < count; i++) {
        bool has_shape = kiln_patch_form(o, tets[i], &form[formed]);
        *known[i] = has_shape ? KILN_ENERGY_KNOWN : KILN_ENERGY_SHAPELESS;
        for (int k = 0; k < 4; k++)
            corner[formed][k] = kiln_objective_corner(o, o->mesh->tet[tets[i]].v[k]);
        from[formed] = i;
        formed += has_shape;
    }
    if (formed == 0)
        return;
    kiln_patch_tets_slopes(o, form, (const kiln_patch_corner(*)[4])corner, formed, g, H);
    for (size_t i = 0; i < formed; i++) {
        kiln_energy_slopes *s = out[from[i]];
        double inertia = o->scheme.scale > 0.0 ? 1.0 / o->scheme.scale : 0.0;
        double drag = kiln_objective_drag(o, form[i].material);
        s->mass = form[i].mass;
        s->dead = form[i].dead;
        s->pace = inertia + drag;
        for (int k = 0; k < 4; k++) {
            s->g[k] = g[i][k];
            const kiln_patch_corner *at = &corner[i][k];
            s->r[k] = kiln_v3_scale(kiln_v3_sub(at->x, at->centre), inertia);
            s->r[k] = kiln_v3_madd(s->r[k], drag, kiln_v3_sub(at->x, at->origin));
            for (int j = 0; j < 6; j++)
                s->H[k][j] = H[i][k].m[row[j]][column[j]];
        }
    }
}

/* Tets that are not known yet, until there are enough. */
typedef struct unknown {
    uint32_t tet[KILN_ELEMENT_LANES];
    size_t count;
} unknown;

static void find_unknown(kiln_energy_pass *w, unknown *tets)
{
    kiln_energy_slopes *out[KILN_ELEMENT_LANES];
    uint8_t *known[KILN_ELEMENT_LANES];
    for (size_t i = 0; i < tets->count; i++) {
        out[i] = &w->slopes.data[tets->tet[i]];
        known[i] = &w->known.data[tets->tet[i]];
    }
    find_slopes(w->objective, tets->tet, tets->count, out, known);
    for (size_t i = 0; i < tets->count && w->objective->nodal; i++)
        w->dilations.data[tets->tet[i]] = kiln_energy_dilation_of(w->objective, tets->tet[i]);
    tets->count = 0;
}

static void want_slopes(kiln_energy_pass *w, uint32_t t, unknown *tets)
{
    if (w->known.data[t] != KILN_ENERGY_UNKNOWN)
        return;
    for (size_t i = 0; i < tets->count; i++)
        if (tets->tet[i] == t)
            return;
    tets->tet[tets->count++] = t;
    if (tets->count == KILN_ELEMENT_LANES)
        find_unknown(w, tets);
}

/* Pressure times the area of a face, outward, N. */
static kiln_vec3 pressure_on(const kiln_local_objective *o, uint32_t t, int face)
{
    double pressure = kiln_objective_pressure(o, t, face);
    const uint32_t *v = o->mesh->tet[t].v;
    const uint8_t *c = kiln_face_corner[face];
    if (pressure == 0.0)
        return kiln_v3(0, 0, 0);
    kiln_vec3 at = o->end[v[c[0]]];
    return kiln_v3_scale(
        kiln_v3_cross(kiln_v3_sub(o->end[v[c[1]]], at), kiln_v3_sub(o->end[v[c[2]]], at)),
        0.5 * pressure);
}

/* What one tet gives to gradient and Hessian by y: both halves of the split have the new vertex in
 * the place of an end, with twice the slope. */
static void add_slopes(const kiln_local_objective *o, uint32_t t, const kiln_energy_slopes *s,
                       uint32_t a, uint32_t b, kiln_vec3 *g, double H[6])
{
    static const int diagonal[3] = {0, 3, 5};
    *g = kiln_v3_add(*g, kiln_v3_add(s->g[a], s->g[b]));
    *g = kiln_v3_madd(*g, -0.25, s->dead);
    for (int i = 0; i < 6; i++)
        H[i] += 2.0 * (s->H[a][i] + s->H[b][i]);
    for (uint32_t f = 0; f < 4 && o->traction; f++)
        if (f != a && f != b)
            *g = kiln_v3_madd(*g, -1.0 / 3.0, kiln_objective_pull(o, t, (int)f));
    for (uint32_t f = 0; f < 4 && o->pressure; f++)
        if (f != a && f != b)
            *g = kiln_v3_madd(*g, 1.0 / 3.0, pressure_on(o, t, (int)f));
    /* (ra + 2 rm + rc + rd) + (rb + 2 rm + rc + rd), rm the mean of ra and rb */
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(s->r[0], s->r[1]), kiln_v3_add(s->r[2], s->r[3]));
    kiln_vec3 both = kiln_v3_add(kiln_v3_scale(sum, 2.0), kiln_v3_add(s->r[a], s->r[b]));
    *g = kiln_v3_madd(*g, s->mass / 40.0, both);
    for (int i = 0; i < 3; i++)
        H[diagonal[i]] += s->mass / 10.0 * s->pace;
}

/* g' H^-1 g / 2 over what is free, and what is gained before. */
static double gain_of(kiln_vec3 g, const double h[6], double at_once, kiln_tie held)
{
    kiln_mat3 H = {{{h[0], h[1], h[2]}, {h[1], h[3], h[4]}, {h[2], h[4], h[5]}}};
    if (held.bits) {
        kiln_mat3 Q = kiln_tie_free(held);
        double size = (h[0] + h[3] + h[5]) / 3.0;
        H = kiln_m3_mul(Q, kiln_m3_mul(H, Q));
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                H.m[i][k] += size * ((i == k ? 1.0 : 0.0) - Q.m[i][k]);
        g = kiln_m3_apply(Q, g);
    }
    double det = kiln_m3_det(H);
    if (!(det > 0.0) || !isfinite(det))
        return 0.0;
    double gain = at_once + 0.5 * kiln_v3_dot(g, kiln_m3_apply(kiln_m3_inverse(H), g));
    return gain > 0.0 ? gain : 0.0;
}

/* Contact, if the edge is pressed in its middle. How stiff it is does not count: what is behind the
 * new vertex gives way with it. */
static kiln_vec3 without_press(const kiln_local_objective *o, uint32_t a, uint32_t b, kiln_vec3 g)
{
    const kiln_vicinity_surface *s = o->surface;
    return s ? kiln_v3_madd(g, -s->weight, kiln_vicinity_pressed(s, a, b)) : g;
}

static kiln_tie held_by_both(const kiln_local_objective *o, uint32_t a, uint32_t b)
{
    return kiln_tie_common(kiln_objective_tie(o, a), kiln_objective_tie(o, b));
}

static kiln_node node_there(void *user, uint32_t vertex, uint32_t material)
{
    const kiln_local_objective *o = user;
    kiln_walker walker;
    kiln_node node = {0};
    kiln_walker_init(&walker, o->mesh->context);
    (void)kiln_objective_node(o, &walker, vertex, material, &node);
    kiln_walker_free(&walker);
    return node;
}

double kiln_energy_predict(const kiln_local_objective *objective, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b)
{
    const kiln_mesh *mesh = objective->mesh;
    uint32_t ring[KILN_ENERGY_RING], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_ENERGY_RING).count;
    kiln_energy_round round = {
        .end = {a, b}, .count = count, .node_of = node_there, .user = (void *)objective};
    kiln_energy_dilation dilation[KILN_ENERGY_RING];
    kiln_vec3 g = kiln_v3(0, 0, 0);
    double H[6] = {0}, at_once = 0.0;
    if (count > KILN_ENERGY_RING)
        return 0.0;
    for (uint32_t i = 0; i < count; i++) {
        kiln_energy_slopes s, *out = &s;
        uint8_t known, *how = &known;
        uint32_t t = ring[i] / 4;
        find_slopes(objective, &t, 1, &out, &how);
        if (known != KILN_ENERGY_KNOWN)
            return 0.0;
        add_slopes(objective, t, &s, kiln_tet_corner(&mesh->tet[t], a),
                   kiln_tet_corner(&mesh->tet[t], b), &g, H);
        dilation[i] = kiln_energy_dilation_of(objective, t);
        round.tet[i] = t;
        round.dilation[i] = &dilation[i];
    }
    if (objective->nodal)
        at_once = kiln_energy_add_nodes(objective, &round, &g, H);
    return gain_of(without_press(objective, a, b, g), H, at_once, held_by_both(objective, a, b));
}

/* The same with slopes that are known. */
static double predict_round(const kiln_energy_pass *w, uint32_t a, uint32_t b, const uint32_t *ring,
                            uint32_t count)
{
    const kiln_local_objective *o = w->objective;
    kiln_vec3 g = kiln_v3(0, 0, 0);
    double H[6] = {0}, at_once = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = ring[i] / 4;
        const kiln_tet *tet = &o->mesh->tet[t];
        if (w->known.data[t] != KILN_ENERGY_KNOWN)
            return 0.0;
        add_slopes(o, t, &w->slopes.data[t], kiln_tet_corner(tet, a), kiln_tet_corner(tet, b), &g,
                   H);
    }
    if (o->nodal) {
        kiln_energy_round round = kiln_energy_round_of(w, a, b);
        for (uint32_t i = 0; i < count; i++) {
            round.tet[i] = ring[i] / 4;
            round.dilation[i] = &w->dilations.data[ring[i] / 4];
        }
        round.count = count;
        at_once = kiln_energy_add_nodes(o, &round, &g, H);
    }
    return gain_of(without_press(o, a, b, g), H, at_once, held_by_both(o, a, b));
}

static kiln_status reserve_slopes(kiln_energy_pass *w)
{
    kiln_context *context = w->remesher->context;
    size_t tets = w->remesher->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(context, &w->slopes, tets, w->error));
    KILN_TRY(kiln_array_reserve(context, &w->known, tets, w->error));
    while (w->known.count < tets)
        w->known.data[w->known.count++] = KILN_ENERGY_UNKNOWN;
    return kiln_energy_reserve_nodes(w);
}

double kiln_energy_foresee(kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    uint32_t ring[KILN_ENERGY_RING], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_ENERGY_RING).count;
    kiln_status status = reserve_slopes(pass);
    if (status != KILN_OK)
        pass->status = status;
    if (status != KILN_OK || count > KILN_ENERGY_RING)
        return 0.0;
    unknown tets = {.count = 0};
    for (uint32_t i = 0; i < count; i++)
        want_slopes(pass, ring[i] / 4, &tets);
    find_unknown(pass, &tets);
    pass->status = kiln_energy_know_nodes(pass, ring, count);
    return pass->status == KILN_OK ? predict_round(pass, a, b, ring, count) : 0.0;
}

kiln_status kiln_energy_know(kiln_energy_pass *pass, const uint32_t *tets, size_t count)
{
    unknown wanted = {.count = 0};
    KILN_TRY(reserve_slopes(pass));
    for (size_t i = 0; i < count; i++)
        want_slopes(pass, tets[i], &wanted);
    find_unknown(pass, &wanted);
    return KILN_OK;
}

void kiln_energy_forget(kiln_energy_pass *pass, const uint32_t *tets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tets[i] < pass->known.count)
            pass->known.data[tets[i]] = KILN_ENERGY_UNKNOWN;
    kiln_energy_forget_nodes(pass, tets, count);
}

bool kiln_energy_is_worth(const kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                          uint32_t corner_b, double gain)
{
    const kiln_energy_pass *w = pass;
    const kiln_mesh *mesh = w->remesher->mesh;
    const uint32_t *depth = w->depth.data;
    uint32_t a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    uint32_t deepest = depth[a] > depth[b] ? depth[a] : depth[b];
    if (gain < HOPE * w->options->split || deepest >= (uint32_t)w->options->depth ||
        kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b])) < 2.0 * w->options->finest)
        return false;
    double found = kiln_energy_vain(w, tet, corner_a, corner_b);
    return found == 0.0 || found * gain > w->options->split;
}

/* All edges, each by the lowest tet that has it. */
typedef struct edge_gains {
    double of[6];
} edge_gains;
typedef struct survey {
    kiln_energy_pass *w;
    edge_gains *gain;
} survey;

static void slopes_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    kiln_energy_pass *w = ((const survey *)user)->w;
    unknown tets = {.count = 0};
    for (size_t t = begin; t < end; t++)
        if (kiln_tet_live(w->objective->mesh, (uint32_t)t))
            want_slopes(w, (uint32_t)t, &tets);
    find_unknown(w, &tets);
}

/* Negative: the edge belongs to another tet. */
static double predict_own(const kiln_energy_pass *w, uint32_t t, int k)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    uint32_t ring[KILN_ENERGY_RING], ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
    uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
    if (!kiln_edge_is_own(mesh, t, ca, cb))
        return -1.0;
    uint32_t count = kiln_edge_ring(mesh, t, ca, cb, ring, KILN_ENERGY_RING).count;
    return count <= KILN_ENERGY_RING ? predict_round(w, a, b, ring, count) : -1.0;
}

static void predict_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *s = user;
    for (size_t t = begin; t < end; t++)
        for (int k = 0; k < 6; k++)
            s->gain[t].of[k] =
                kiln_tet_live(s->w->objective->mesh, t) ? predict_own(s->w, (uint32_t)t, k) : -1.0;
}

/* The queue, of the edges that are worth a trial; returns the number of all. */
static size_t queue_edges(kiln_energy_pass *w, const edge_gains *gain, size_t tets)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    double *error = w->error_at.data;
    size_t edges = 0;
    memset(error, 0, w->error_at.count * sizeof *error);
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < 6 && kiln_tet_live(mesh, t); k++) {
            uint32_t ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
            uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
            double g = gain[t].of[k];
            edges += g >= 0.0;
            error[a] = fmax(error[a], g);
            error[b] = fmax(error[b], g);
            if (g > 0.0 && kiln_energy_is_worth(w, t, ca, cb, g))
                kiln_energy_push(w, (kiln_energy_candidate){g, a < b ? a : b, a < b ? b : a});
        }
    return edges;
}

kiln_status kiln_energy_survey(kiln_energy_pass *w, kiln_error *error)
{
    kiln_context *context = w->remesher->context;
    const kiln_mesh *mesh = w->remesher->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used, vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_ARRAY_OF(edge_gains)
    gain = {0};
    kiln_status status = reserve_slopes(w);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &gain, tets, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &w->error_at, vertices, error);
    if (status == KILN_OK) {
        survey s = {w, gain.data};
        w->error_at.count = vertices;
        kiln_parallel_for(context, tets, GRAIN, slopes_chunk, &s);
        kiln_energy_survey_nodes(w);
        kiln_parallel_for(context, tets, GRAIN, predict_chunk, &s);
        size_t edges = queue_edges(w, gain.data, tets);
        w->budget =
            w->options->share > 0.0 ? (size_t)ceil(w->options->share * (double)edges) : SIZE_MAX;
        status = w->status;
    }
    kiln_array_free(context, &gain);
    return status;
}
