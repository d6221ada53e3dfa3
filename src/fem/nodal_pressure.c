/* With V_a = W_a / 4, W_a the sum of V_e over the tets at node a, the energy sum_a V_a U(theta_a)
 * has the gradient
 *     sum_e V_e p_e dtheta_e,    p_e the mean of U'(theta_a) over the nodes of e,
 * and the Hessian
 *     sum_e V_e p_e d2theta_e + sum_a (V_a / W_a^2) U''(theta_a) G_a G_a',  G_a = sum_e V_e
 * dtheta_e. The first sum is added to the element blocks, where it is projected together with
 * W_shape (elements_impl.h); the second is here and PSD where U'' is, so U'' < 0 counts as 0.
 *
 * The rank-one blocks are added row by row: a row of H takes from all nodes with the vertex in
 * their star, in the order of the nodes. No two threads write to one row, and no colouring is
 * needed. */
#include "fem/nodal_pressure.h"

#include "base/parallel.h"
#include "fem/nodal_stars.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, NODE_GRAIN = 512, TET_GRAIN = 1024, ROW_GRAIN = 128 };

/* A node at some x; its U as of the last evaluation. */
typedef struct node_state {
    double weight;    /* W_a, m^3 */
    double energy;    /* V_a U */
    double slope;     /* U' */
    double curvature; /* V_a / W_a^2 U'', not clamped */
} node_state;

struct kiln_nodal_pressure {
    kiln_elements *elements; /* borrowed */
    kiln_context *context;
    kiln_term term;
    kiln_nodal_stars stars;
    KILN_ARRAY_OF(node_state)
    nodes;
    kiln_f64_array theta;    /* [element number] and then p_e */
    kiln_f64_array gradient; /* [element number][9] V_e dtheta_e of vertices 1 to 3 */
    kiln_f64_array sum;      /* [place in stars.row][3] G_a */
    kiln_f64_array partial;  /* [node chunk] */
    kiln_kept_values kept;   /* energies [node] of the last two x */
    bool exact;
};

typedef struct pressure_job {
    kiln_nodal_pressure *p;
    const double *x;
    double *out;
    const double *scale_of; /* [material] */
    const double *of;       /* [node] or [element number] */
    size_t stride;          /* of `of` by node, where it is part of a struct */
    double scale;
    kiln_bsr *H;
    double *before, *after; /* [node] energies to compare with, and to be kept; NULL: none */
} pressure_job;

static double value(void *self, const double *x);
static double delta(void *self, const double *x0, const double *x1);
static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H);
static kiln_cliques cliques(void *self);
static void fill(void *user, const double *x, double *pressure);
static void fill_energy(void *user, const double *x, double *energy);

kiln_status kiln_nodal_pressure_create(kiln_context *context, kiln_elements *elements,
                                       kiln_nodal_pressure **out, kiln_error *error)
{
    kiln_nodal_pressure *p = kiln_resize(context, NULL, 0, sizeof *p);
    if (!p)
        return kiln_fail_memory(error, sizeof *p);
    *p = (kiln_nodal_pressure){
        .elements = elements,
        .context = context,
        .term = {.name = "nodal pressure",
                 .self = p,
                 .weight = 1.0,
                 .value = value,
                 .delta = delta,
                 .add = add,
                 .cliques = cliques},
    };
    kiln_elements_set_pressure(elements, fill, fill_energy, p);
    *out = p;
    return KILN_OK;
}

void kiln_nodal_pressure_destroy(kiln_nodal_pressure *pressure)
{
    if (!pressure)
        return;
    kiln_context *context = pressure->context;
    kiln_elements_set_pressure(pressure->elements, NULL, NULL, NULL);
    kiln_nodal_stars_free(&pressure->stars, context);
    kiln_array_free(context, &pressure->nodes);
    kiln_array_free(context, &pressure->theta);
    kiln_array_free(context, &pressure->gradient);
    kiln_array_free(context, &pressure->sum);
    kiln_array_free(context, &pressure->partial);
    kiln_kept_values_free(&pressure->kept, context);
    kiln_release(context, pressure, sizeof *pressure);
}

static double tet_volume(const kiln_elements *e, size_t number)
{
    return e->batches.data[number / LANES].volume[number % LANES];
}

typedef struct weigh_job {
    kiln_nodal_pressure *p;
    const uint8_t *affected; /* [vertex], NULL: all */
} weigh_job;

static void weigh_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const weigh_job *job = user;
    kiln_nodal_pressure *p = job->p;
    const kiln_nodal_stars *stars = &p->stars;
    for (size_t n = begin; n < end; n++) {
        if (job->affected && !job->affected[n / stars->material.count])
            continue;
        double weight = 0.0;
        for (uint64_t i = stars->first.data[n]; i < stars->first.data[n + 1]; i++)
            weight += tet_volume(p->elements, stars->tet.data[i] / 4);
        p->nodes.data[n] = (node_state){.weight = weight};
    }
}

static void weigh(kiln_nodal_pressure *p, const uint8_t *affected)
{
    weigh_job job = {p, affected};
    kiln_parallel_for(p->context, p->stars.nodes, NODE_GRAIN, weigh_chunk, &job);
}

void kiln_nodal_pressure_reform(kiln_nodal_pressure *pressure)
{
    weigh(pressure, NULL);
}

static kiln_status make_room(kiln_nodal_pressure *p, size_t nodes, kiln_error *error)
{
    size_t room = kiln_elements_room(p->elements), sums = 3 * p->stars.row.count;
    sums = sums > nodes ? sums : nodes; /* also scratch for a number of each node */
    KILN_TRY(kiln_array_reserve(p->context, &p->nodes, nodes, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->theta, room, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->gradient, 9 * room, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->sum, sums, error));
    return kiln_array_reserve(p->context, &p->partial, kiln_chunk_count(nodes, NODE_GRAIN), error);
}

/* NULL: all is affected. */
static kiln_status renew(kiln_nodal_pressure *p, const uint8_t *affected, kiln_error *error)
{
    p->term.revision++;
    KILN_TRY(kiln_nodal_stars_update(&p->stars, p->elements, affected, error));
    if (p->stars.nodes == 0)
        return KILN_OK;
    kiln_status status = make_room(p, p->stars.nodes, error);
    if (status != KILN_OK)
        kiln_nodal_stars_free(&p->stars, p->context); /* not in use unless all of it is there */
    else
        weigh(p, affected);
    return status;
}

kiln_status kiln_nodal_pressure_build(kiln_nodal_pressure *pressure, kiln_error *error)
{
    return renew(pressure, NULL, error);
}

kiln_status kiln_nodal_pressure_update(kiln_nodal_pressure *pressure, const kiln_changes *changes,
                                       kiln_error *error)
{
    kiln_elements *e = pressure->elements;
    if (changes->all || !kiln_nodal_stars_can_stay(&pressure->stars, e))
        return kiln_nodal_pressure_build(pressure, error);
    uint8_t *affected = kiln_resize(e->context, NULL, 0, e->vertices + 1);
    if (!affected) {
        kiln_nodal_stars_free(&pressure->stars, e->context);
        return kiln_fail_memory(error, e->vertices + 1);
    }
    kiln_elements_mark_affected(e, changes, affected);
    kiln_status status = renew(pressure, affected, error);
    kiln_release(e->context, affected, e->vertices + 1);
    return status;
}

bool kiln_nodal_pressure_is_used(const kiln_nodal_pressure *pressure)
{
    return pressure->stars.nodes > 0;
}

kiln_term *kiln_nodal_pressure_term(kiln_nodal_pressure *pressure)
{
    return &pressure->term;
}

void kiln_nodal_pressure_set_exact(kiln_nodal_pressure *pressure, bool exact)
{
    pressure->exact = exact;
}

static kiln_cliques cliques(void *self)
{
    const kiln_nodal_pressure *p = self;
    return (kiln_cliques){
        .count = p->stars.nodes, .start = p->stars.start.data, .row = p->stars.row.data};
}

/* Lame parameters that were set tet by tet are averaged like theta. */
static void evaluate_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const pressure_job *job = user;
    kiln_nodal_pressure *p = job->p;
    const kiln_elements *e = p->elements;
    double energy = 0.0;
    for (size_t n = begin; n < end; n++) {
        node_state *node = &p->nodes.data[n];
        if (p->stars.first.data[n] == p->stars.first.data[n + 1])
            continue; /* no tet of this material is there: all zero */
        const kiln_material *material = &e->materials.data[kiln_nodal_material(&p->stars, n)];
        double theta = 0.0, mu = 0.0, lambda = 0.0, u[3];
        for (uint64_t i = p->stars.first.data[n]; i < p->stars.first.data[n + 1]; i++) {
            size_t tet = p->stars.tet.data[i] / 4;
            double share = tet_volume(e, tet) / node->weight;
            theta += share * p->theta.data[tet];
            if (e->lame.count) {
                const double *lame = e->lame.data + 2 * LANES * (tet / LANES) + tet % LANES;
                mu += share * lame[0];
                lambda += share * lame[LANES];
            }
        }
        if (e->lame.count)
            material->model->volumetric(mu, lambda, theta, u);
        else
            material->model->volumetric(material->mu, material->lambda, theta, u);
        node->energy = 0.25 * node->weight * u[0];
        node->slope = u[1];
        node->curvature = 0.25 / node->weight * u[2];
        energy += job->before ? node->energy - job->before[n] : node->energy;
        if (job->after)
            job->after[n] = node->energy;
    }
    p->partial.data[chunk] = energy;
}

static void evaluate_for(pressure_job *job, const double *x)
{
    kiln_nodal_pressure *p = job->p;
    kiln_elements_dilation(p->elements, x, p->theta.data);
    kiln_parallel_for(p->context, p->stars.nodes, NODE_GRAIN, evaluate_chunk, job);
}

static void evaluate(kiln_nodal_pressure *p, const double *x)
{
    pressure_job job = {.p = p};
    evaluate_for(&job, x);
}

static double sum_partial(const kiln_nodal_pressure *p)
{
    double sum = 0.0;
    for (size_t c = 0; c < kiln_chunk_count(p->stars.nodes, NODE_GRAIN); c++)
        sum += p->partial.data[c];
    return sum;
}

static double *begin_values(kiln_nodal_pressure *p, const double *x)
{
    return kiln_kept_values_begin(&p->kept, p->context, 3 * p->elements->vertices, p->stars.nodes,
                                  p->elements->state, x);
}

static double value(void *self, const double *x)
{
    kiln_nodal_pressure *p = self;
    if (p->stars.nodes == 0)
        return 0.0;
    kiln_kept_values_forget(&p->kept);
    pressure_job job = {.p = p, .after = begin_values(p, x)};
    evaluate_for(&job, x);
    return sum_partial(p);
}

static double delta(void *self, const double *x0, const double *x1)
{
    kiln_nodal_pressure *p = self;
    if (p->stars.nodes == 0)
        return 0.0;
    double *before = kiln_kept_values_find(&p->kept, 3 * p->elements->vertices, p->stars.nodes,
                                           p->elements->state, x0);
    if (!before) {
        before = p->sum.data; /* scratch of add, longer than the nodes are many */
        pressure_job first = {.p = p, .after = before};
        evaluate_for(&first, x0);
    }
    pressure_job job = {.p = p, .before = before, .after = begin_values(p, x1)};
    evaluate_for(&job, x1);
    return sum_partial(p);
}

/* Of a corner of an element whose material has that rank. */
KILN_INLINE const node_state *node_at(const kiln_nodal_pressure *p, size_t number, size_t corner,
                                      uint32_t rank)
{
    uint32_t vertex = p->elements->vertex.data[4 * number + corner];
    return &p->nodes.data[kiln_nodal_node(&p->stars, vertex, rank)];
}

/* Of every element the sum over its nodes of a value, times the scale. Padding gets that of the tet
 * whose vertices it has. */
static void gather_nodes_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const pressure_job *job = user;
    const kiln_nodal_stars *stars = &job->p->stars;
    const uint32_t *vertex = job->p->elements->vertex.data;
    for (size_t batch = begin / LANES; batch < end / LANES; batch++) {
        uint32_t rank = kiln_nodal_batch_rank(stars, job->p->elements, batch);
        for (size_t i = LANES * batch; i < LANES * (batch + 1); i++) {
            double sum = 0.0;
            for (size_t k = 0; k < 4 && rank != KILN_NONE; k++)
                sum += job->of[job->stride * kiln_nodal_node(stars, vertex[4 * i + k], rank)];
            job->out[i] = job->scale * sum;
        }
    }
}

static void gather_nodes(pressure_job *job)
{
    kiln_nodal_pressure *p = job->p;
    kiln_parallel_for(p->context, kiln_elements_room(p->elements), TET_GRAIN, gather_nodes_chunk,
                      job);
}

/* p_e of every element at the x of the last evaluation. */
static void mean_slopes(kiln_nodal_pressure *p, double *out)
{
    pressure_job job = {.p = p,
                        .of = &p->nodes.data->slope,
                        .stride = sizeof(node_state) / sizeof(double),
                        .scale = 0.25,
                        .out = out};
    gather_nodes(&job);
}

/* For the element blocks and the output. An exact Hessian is all here, so those get none. */
static void fill(void *user, const double *x, double *pressure)
{
    kiln_nodal_pressure *p = user;
    if (p->stars.nodes == 0 || p->exact)
        return;
    evaluate(p, x);
    mean_slopes(p, pressure);
}

static void energy_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const pressure_job *job = user;
    const kiln_nodal_pressure *p = job->p;
    for (size_t i = begin; i < end; i++) {
        uint32_t rank = kiln_nodal_rank(&p->stars, p->elements, i);
        for (size_t k = 0; k < 4 && rank != KILN_NONE; k++)
            job->out[i] += node_at(p, i, k, rank)->energy / node_at(p, i, k, rank)->weight;
    }
}

/* The mean of U over the nodes of an element: V_a is a quarter of the volumes at a, so these times
 * the volumes sum to the energy. */
static void fill_energy(void *user, const double *x, double *energy)
{
    kiln_nodal_pressure *p = user;
    if (p->stars.nodes == 0)
        return;
    evaluate(p, x);
    pressure_job job = {.p = p, .out = energy};
    kiln_parallel_for(p->context, kiln_elements_room(p->elements), TET_GRAIN, energy_chunk, &job);
}

static void gradient_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const pressure_job *job = user;
    kiln_nodal_pressure *p = job->p;
    for (size_t i = begin; i < end; i++) {
        if (kiln_nodal_rank(&p->stars, p->elements, i) == KILN_NONE)
            continue;
        kiln_vec3 d[4];
        kiln_elements_dilation_gradient(p->elements, i, job->x, d);
        double volume = tet_volume(p->elements, i), *out = p->gradient.data + 9 * i;
        for (int k = 0; k < 3; k++) {
            out[3 * k] = volume * d[k + 1].x;
            out[3 * k + 1] = volume * d[k + 1].y;
            out[3 * k + 2] = volume * d[k + 1].z;
        }
    }
}

/* G_a; the four vertices of a tet sum to zero. */
static void sum_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    kiln_nodal_pressure *p = ((pressure_job *)user)->p;
    const kiln_nodal_stars *stars = &p->stars;
    for (size_t n = begin; n < end; n++) {
        double *sum = p->sum.data + 3 * stars->start.data[n];
        memset(sum, 0, 3 * (stars->start.data[n + 1] - stars->start.data[n]) * sizeof *sum);
        for (uint64_t i = stars->first.data[n]; i < stars->first.data[n + 1]; i++) {
            const double *d = p->gradient.data + 9 * (size_t)(stars->tet.data[i] / 4);
            const uint16_t *place = stars->place.data + 4 * i;
            for (int c = 0; c < 3; c++) {
                sum[3 * place[0] + c] -= d[c] + d[3 + c] + d[6 + c];
                for (int k = 0; k < 3; k++)
                    sum[3 * place[k + 1] + c] += d[3 * k + c];
            }
        }
    }
}

/* Place of `vertex` among count ascending ones, which have it. */
static size_t find_in(const uint32_t *row, size_t count, uint32_t vertex)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (row[middle] <= vertex)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Row `row` of c G G': both lists of columns ascend and H's has all of the star's. */
static void add_rank_one(const kiln_nodal_pressure *p, kiln_bsr *H, uint32_t row, size_t node,
                         double c)
{
    const kiln_nodal_stars *stars = &p->stars;
    uint64_t begin = stars->start.data[node];
    size_t count = (size_t)(stars->start.data[node + 1] - begin);
    const uint32_t *star = stars->row.data + begin, *column = H->column + H->start[row];
    const double *G = p->sum.data + 3 * begin;
    size_t i = find_in(star, count, row), at = 0;
    size_t stride = 3 * (size_t)(H->start[row + 1] - H->start[row]);
    double *to = H->value + 9 * H->start[row];
    double a = c * G[3 * i], b = c * G[3 * i + 1], d = c * G[3 * i + 2];
    for (size_t j = i; j < count; j++) {
        while (column[at] != star[j])
            at++;
        double *block = to + 3 * at;
        for (size_t k = 0; k < 3; k++) {
            block[k] += a * G[3 * j + k];
            block[stride + k] += b * G[3 * j + k];
            block[2 * stride + k] += d * G[3 * j + k];
        }
    }
}

static void row_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const pressure_job *job = user;
    const kiln_nodal_pressure *p = job->p;
    size_t ranks = p->stars.material.count;
    for (size_t own = begin * ranks; own < end * ranks; own++) {
        uint32_t row = (uint32_t)(own / ranks), rank = (uint32_t)(own % ranks);
        for (uint64_t i = p->stars.start.data[own]; i < p->stars.start.data[own + 1]; i++) {
            size_t node = kiln_nodal_node(&p->stars, p->stars.row.data[i], rank);
            double c = job->scale * (job->of ? job->of[node] : p->nodes.data[node].curvature);
            if (c > 0.0 || (p->exact && c != 0.0))
                add_rank_one(p, job->H, row, node, c);
        }
    }
}

/* sum_e V_e p_e d2theta_e, as it is: blocks b_a[j] h[ij][kl] b_b[l]. */
static void add_exact(kiln_nodal_pressure *p, const double *x, double scale, kiln_bsr *H)
{
    for (size_t n = 0; n < kiln_elements_room(p->elements); n++) {
        if (kiln_nodal_rank(&p->stars, p->elements, n) == KILN_NONE)
            continue;
        kiln_element e = kiln_elements_at(p->elements, n);
        const kiln_material_model *model = p->elements->materials.data[e.material].model;
        kiln_mat3 F = kiln_element_deformation(&e, x);
        double h[9][9], factor = scale * e.volume;
        kiln_material_hessian(model, 0.0, 0.0, p->theta.data[n], &F, false, h);
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++) {
                const double *ga = &e.gradient[a].x, *gb = &e.gradient[b].x;
                double block[3][3] = {{0}};
                for (int row = 0; row < 9; row++)
                    for (int col = 0; col < 9; col++)
                        block[row / 3][col / 3] += factor * ga[row % 3] * h[row][col] * gb[col % 3];
                kiln_bsr_add(H, e.vertex[a], e.vertex[b], block);
            }
    }
}

/* sum_a c_a G_a G_a' of the gradients there are. */
static void add_outer(pressure_job *job)
{
    const kiln_nodal_pressure *p = job->p;
    kiln_parallel_for(p->context, p->stars.nodes, NODE_GRAIN, sum_chunk, job);
    kiln_parallel_for(p->context, p->stars.vertices, ROW_GRAIN, row_chunk, job);
}

/* At the x of the last evaluation. */
static void add_curvature(kiln_nodal_pressure *p, const double *x, double scale, kiln_bsr *H)
{
    pressure_job job = {.p = p, .x = x, .scale = scale, .H = H};
    kiln_parallel_for(p->context, kiln_elements_room(p->elements), TET_GRAIN, gradient_chunk, &job);
    add_outer(&job);
}

static void add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_nodal_pressure *p = self;
    if (p->stars.nodes == 0)
        return;
    evaluate(p, x);
    mean_slopes(p, p->theta.data);
    kiln_elements_add_dilation(p->elements, x, p->theta.data, scale, g);
    if (!H)
        return;
    add_curvature(p, x, scale, H);
    if (p->exact)
        add_exact(p, x, scale, H);
}

/* For damping. */

size_t kiln_nodal_pressure_nodes(const kiln_nodal_pressure *pressure)
{
    return pressure->stars.nodes;
}

double *kiln_nodal_pressure_scratch(kiln_nodal_pressure *pressure)
{
    return pressure->gradient.data;
}

void kiln_nodal_pressure_curvatures(kiln_nodal_pressure *pressure, const double *x,
                                    const double *scale_of, double *out)
{
    evaluate(pressure, x);
    for (size_t n = 0; n < pressure->stars.nodes; n++) {
        double c = pressure->nodes.data[n].curvature;
        out[n] = c > 0.0 ? scale_of[kiln_nodal_material(&pressure->stars, n)] * c : 0.0;
    }
}

static void gather_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const pressure_job *job = user;
    const kiln_nodal_stars *stars = &job->p->stars;
    for (size_t n = begin; n < end; n++) {
        double sum = 0.0;
        for (uint64_t i = stars->first.data[n]; i < stars->first.data[n + 1]; i++)
            sum += job->of[stars->tet.data[i] / 4];
        job->out[n] = sum;
    }
}

void kiln_nodal_pressure_gather(kiln_nodal_pressure *pressure, const double *of_element,
                                double *out)
{
    pressure_job job = {.p = pressure, .of = of_element, .out = out};
    kiln_parallel_for(pressure->context, pressure->stars.nodes, NODE_GRAIN, gather_chunk, &job);
}

void kiln_nodal_pressure_spread(kiln_nodal_pressure *pressure, const double *of_node, double *out)
{
    pressure_job job = {.p = pressure, .of = of_node, .stride = 1, .scale = 1.0, .out = out};
    gather_nodes(&job);
}

void kiln_nodal_pressure_add_outer(kiln_nodal_pressure *pressure, const double *factor,
                                   double scale, kiln_bsr *H)
{
    pressure_job job = {.p = pressure, .of = factor, .scale = scale, .H = H};
    add_outer(&job);
}

size_t kiln_nodal_pressure_bytes(const kiln_nodal_pressure *pressure)
{
    const kiln_nodal_pressure *p = pressure;
    return sizeof *p + kiln_kept_values_bytes(&p->kept) + kiln_nodal_stars_bytes(&p->stars) +
           p->nodes.capacity * sizeof(node_state) +
           (p->theta.capacity + p->gradient.capacity + p->sum.capacity + p->partial.capacity) *
               sizeof(double);
}
