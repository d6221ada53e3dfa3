/* What an edge would gain by a split, and the queue of those that are worth a trial. */
#include "base/parallel.h"
#include "step/energy_impl.h"

#include <math.h>

enum { GRAIN = 64 };
/* The rest of the patch adds to what the new vertex gains alone, by a half as a rule: predictions
 * below this part of what is asked for are not tried. */
#define HOPE 0.4

typedef struct slopes {
    kiln_patch_tet form;
    kiln_vec3 x[4], centre[4], g[4];
    kiln_mat3 H[4];
    bool formed;
} slopes;

static void find_slopes(const kiln_local_objective *o, uint32_t t, slopes *s)
{
    const uint32_t *v = o->mesh->tet[t].v;
    s->formed = kiln_patch_form(o, t, &s->form);
    if (!s->formed)
        return;
    for (int k = 0; k < 4; k++) {
        s->x[k] = o->end[v[k]];
        s->centre[k] = o->scheme.scale > 0.0 ? kiln_objective_centre(o, v[k]) : s->x[k];
    }
    kiln_patch_tet_slopes(&s->form, s->x, s->g, s->H);
}

/* What one tet gives to gradient and Hessian by y: both halves of the split have the new vertex in
 * the place of an end, with twice the slope. */
static void add_slopes(const kiln_local_objective *o, uint32_t t, const slopes *s, int a, int b,
                       kiln_vec3 *g, kiln_mat3 *H)
{
    double mass = s->form.mass;
    *g = kiln_v3_add(*g, kiln_v3_add(s->g[a], s->g[b]));
    *g = kiln_v3_madd(*g, -0.25 * mass, o->acceleration);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            H->m[i][k] += 2.0 * (s->H[a].m[i][k] + s->H[b].m[i][k]);
    for (int f = 0; f < 4 && o->traction; f++)
        if (f != a && f != b)
            *g = kiln_v3_madd(*g, -1.0 / 3.0, kiln_objective_pull(o, t, f));
    if (!(o->scheme.scale > 0.0))
        return;
    kiln_vec3 r[4], sum = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        r[k] = kiln_v3_sub(s->x[k], s->centre[k]);
        sum = kiln_v3_add(sum, r[k]);
    }
    /* (ra + 2 rm + rc + rd) + (rb + 2 rm + rc + rd), rm the mean of ra and rb */
    kiln_vec3 ends = kiln_v3_add(r[a], r[b]);
    kiln_vec3 both = kiln_v3_add(kiln_v3_scale(sum, 2.0), ends);
    *g = kiln_v3_madd(*g, mass / (40.0 * o->scheme.scale), both);
    for (int i = 0; i < 3; i++)
        H->m[i][i] += mass / (10.0 * o->scheme.scale);
}

/* g' H^-1 g / 2 over what is free. */
static double gain_of(kiln_vec3 g, kiln_mat3 H, uint32_t held)
{
    double *at[3] = {&g.x, &g.y, &g.z};
    for (int i = 0; i < 3; i++)
        if (held >> i & 1) {
            for (int k = 0; k < 3; k++)
                H.m[i][k] = H.m[k][i] = 0.0;
            H.m[i][i] = 1.0;
            *at[i] = 0.0;
        }
    double det = kiln_m3_det(H);
    if (!(det > 0.0) || !isfinite(det))
        return 0.0;
    double gain = 0.5 * kiln_v3_dot(g, kiln_m3_apply(kiln_m3_inverse(H), g));
    return gain > 0.0 ? gain : 0.0;
}

static uint32_t held_by_both(const kiln_local_objective *o, uint32_t a, uint32_t b)
{
    return o->held ? o->held[a] & o->held[b] & 7 : 0;
}

double kiln_energy_predict(const kiln_local_objective *objective, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b)
{
    const kiln_mesh *mesh = objective->mesh;
    uint32_t ring[KILN_ENERGY_RING], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_ENERGY_RING).count;
    kiln_vec3 g = kiln_v3(0, 0, 0);
    kiln_mat3 H = {{{0}}};
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++) {
        slopes s;
        uint32_t t = ring[i] / 4;
        find_slopes(objective, t, &s);
        if (!s.formed)
            return 0.0;
        add_slopes(objective, t, &s, (int)kiln_tet_corner(&mesh->tet[t], a),
                   (int)kiln_tet_corner(&mesh->tet[t], b), &g, &H);
    }
    return count > KILN_ENERGY_RING ? 0.0 : gain_of(g, H, held_by_both(objective, a, b));
}

/* The queue: largest gain first. */

static bool comes_before(const kiln_energy_candidate *p, const kiln_energy_candidate *q)
{
    if (p->gain != q->gain)
        return p->gain > q->gain;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

void kiln_energy_push(kiln_energy_pass *w, kiln_energy_candidate c)
{
    kiln_status status = kiln_array_push(w->remesher->context, &w->heap, c, w->error);
    if (status != KILN_OK) {
        w->status = status;
        return;
    }
    kiln_energy_candidate *heap = w->heap.data;
    size_t i = w->heap.count - 1;
    for (; i > 0 && comes_before(&c, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = c;
}

kiln_energy_candidate kiln_energy_pop(kiln_energy_pass *w)
{
    kiln_energy_candidate *heap = w->heap.data, top = heap[0], last = heap[--w->heap.count];
    size_t count = w->heap.count, i = 0;
    while (2 * i + 1 < count) {
        size_t child = 2 * i + 1;
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (comes_before(&last, &heap[child]))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (count > 0)
        heap[i] = last;
    return top;
}

bool kiln_energy_is_worth(const kiln_energy_pass *w, uint32_t a, uint32_t b, double gain)
{
    const kiln_vec3 *u = w->remesher->mesh->u;
    const uint32_t *depth = w->depth.data;
    uint32_t deepest = depth[a] > depth[b] ? depth[a] : depth[b];
    return gain >= HOPE * w->options->split && deepest < (uint32_t)w->options->depth &&
           kiln_v3_norm(kiln_v3_sub(u[a], u[b])) >= 2.0 * w->options->finest;
}

/* All edges, each by the lowest tet that has it. */
typedef struct edge_gains {
    double of[6];
} edge_gains;
typedef struct survey {
    const kiln_energy_pass *w;
    const slopes *of; /* [tet] */
    edge_gains *gain;
} survey;

static void slopes_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *s = user;
    const kiln_local_objective *o = s->w->objective;
    for (size_t t = begin; t < end; t++)
        if (kiln_tet_live(o->mesh, t))
            find_slopes(o, (uint32_t)t, (slopes *)&s->of[t]);
}

static double predict_with(const survey *s, uint32_t t, int k)
{
    const kiln_local_objective *o = s->w->objective;
    const kiln_mesh *mesh = o->mesh;
    uint32_t ring[KILN_ENERGY_RING], ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
    uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
    uint32_t count = kiln_edge_ring(mesh, t, ca, cb, ring, KILN_ENERGY_RING).count;
    kiln_vec3 g = kiln_v3(0, 0, 0);
    kiln_mat3 H = {{{0}}};
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++)
        if (ring[i] / 4 < t || !s->of[ring[i] / 4].formed)
            return 0.0;
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++) {
        const kiln_tet *tet = &mesh->tet[ring[i] / 4];
        add_slopes(o, ring[i] / 4, &s->of[ring[i] / 4], (int)kiln_tet_corner(tet, a),
                   (int)kiln_tet_corner(tet, b), &g, &H);
    }
    return count > KILN_ENERGY_RING ? 0.0 : gain_of(g, H, held_by_both(o, a, b));
}

static void predict_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *s = user;
    for (size_t t = begin; t < end; t++)
        for (int k = 0; k < 6; k++)
            s->gain[t].of[k] =
                kiln_tet_live(s->w->objective->mesh, t) ? predict_with(s, (uint32_t)t, k) : 0.0;
}

kiln_status kiln_energy_survey(kiln_energy_pass *w, kiln_error *error)
{
    kiln_context *context = w->remesher->context;
    const kiln_mesh *mesh = w->remesher->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    KILN_ARRAY_OF(slopes)
    of = {0};
    KILN_ARRAY_OF(edge_gains)
    gain = {0};
    kiln_status status = kiln_array_reserve(context, &of, tets, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &gain, tets, error);
    if (status == KILN_OK) {
        survey s = {w, of.data, gain.data};
        kiln_parallel_for(context, tets, GRAIN, slopes_chunk, &s);
        kiln_parallel_for(context, tets, GRAIN, predict_chunk, &s);
        for (size_t t = 0; t < tets; t++)
            for (int k = 0; k < 6; k++) {
                uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
                uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
                if (gain.data[t].of[k] > 0.0 && kiln_energy_is_worth(w, a, b, gain.data[t].of[k]))
                    kiln_energy_push(w, (kiln_energy_candidate){gain.data[t].of[k], a < b ? a : b,
                                                                a < b ? b : a});
            }
        status = w->status;
    }
    kiln_array_free(context, &of);
    kiln_array_free(context, &gain);
    return status;
}
