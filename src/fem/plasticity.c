#include "fem/plasticity.h"

#include "base/parallel.h"
#include "fem/elements_group.h"
#include "fem/flow_linear.h"
#include "fem/yield_surfaces.h"
#include "mesh/rewind.h"

#include <math.h>
#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

static kiln_status add_column(kiln_mesh *mesh, const char *name, kiln_error *error)
{
    if (kiln_mesh_field(mesh, KILN_ON_TET, name))
        return KILN_OK;
    return kiln_mesh_add_field(mesh, name, KILN_ON_TET, KILN_F64, 1, KILN_RULE_AVERAGE, error);
}

kiln_status kiln_plastic_add_fields(kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(kiln_offsets_add(mesh, error));
    KILN_TRY(add_column(mesh, KILN_FIELD_HARDENING, error));
    return add_column(mesh, KILN_FIELD_PLASTIC_STRAIN, error);
}

/* Of pressure * J. */
static void add_volume(double pressure, const double s[3], kiln_principal *out)
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->p[i] += pressure * s[j] * s[k];
        out->a[j][k] += pressure * s[i];
        out->a[k][j] += pressure * s[i];
        out->minus[i] -= pressure * s[i];
        out->plus[i] += pressure * s[i];
    }
}

void kiln_plastic_stress(const kiln_matter *matter, kiln_principal *out)
{
    const kiln_matter *m = matter;
    const kiln_material_model *model = m->material->model;
    double lambda = m->material->nodal_pressure ? model->shape_lambda * m->mu : m->lambda;
    bool volume = m->pressure != 0.0 && kiln_flow_dilation(m->material) == KILN_DILATION_CHANGE;
    if (model->principal) {
        model->principal(m->mu, lambda, volume ? 0.0 : m->pressure, m->s, out);
        if (volume)
            add_volume(m->pressure, m->s, out);
        return;
    }
    double trace = m->s[0] + m->s[1] + m->s[2] - 3.0; /* linear, whose dilation is the trace */
    for (int i = 0; i < 3; i++) {
        out->p[i] = 2.0 * m->mu * (m->s[i] - 1.0) + lambda * trace + m->pressure;
        for (int j = 0; j < 3; j++)
            out->a[i][j] = lambda + (i == j ? 2.0 * m->mu : 0.0);
    }
}

static double norm_of(const kiln_matter *m, const double p[3])
{
    if (m->material->plastic.norm == KILN_YIELD_FROBENIUS)
        return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    bool linear = kiln_flow_is_linear(m->material);
    double a = linear ? p[0] : p[0] * m->s[0], b = linear ? p[1] : p[1] * m->s[1];
    double c = linear ? p[2] : p[2] * m->s[2];
    return sqrt(((a - b) * (a - b) + (b - c) * (b - c) + (c - a) * (c - a)) / 3.0);
}

double kiln_plastic_norm(const kiln_matter *matter)
{
    kiln_principal f;
    kiln_plastic_stress(matter, &f);
    return norm_of(matter, f.p);
}

/* d(norm^2 / 2) when the stretches change by ds. */
static double norm_change(const kiln_matter *m, const kiln_principal *f, const double ds[3])
{
    double dp[3], t[3], dt[3];
    for (int i = 0; i < 3; i++) {
        dp[i] = f->a[i][0] * ds[0] + f->a[i][1] * ds[1] + f->a[i][2] * ds[2];
        t[i] = f->p[i] * m->s[i];
        dt[i] = dp[i] * m->s[i] + f->p[i] * ds[i];
    }
    if (m->material->plastic.norm == KILN_YIELD_FROBENIUS)
        return f->p[0] * dp[0] + f->p[1] * dp[1] + f->p[2] * dp[2];
    return ((t[0] - t[1]) * (dt[0] - dt[1]) + (t[1] - t[2]) * (dt[1] - dt[2]) +
            (t[2] - t[0]) * (dt[2] - dt[0])) /
           3.0;
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* ln of the isochoric part of the stretches, and the stretch in size. */
static double isochoric_logs(const double s[3], double e[3])
{
    for (int i = 0; i < 3; i++)
        e[i] = log(s[i]);
    double mean = (e[0] + e[1] + e[2]) / 3.0;
    for (int i = 0; i < 3; i++)
        e[i] -= mean;
    return exp(mean);
}

/* A trial state on its way back to the yield surface, which is threshold + grows * gamma. */
typedef struct surface_return {
    const kiln_matter *trial;
    double size, e[3], threshold, grows;
} surface_return;

/* Norm over threshold when `gamma` of the isochoric part has become plastic, and its slope. */
static double excess(const surface_return *r, double gamma, double *slope)
{
    kiln_matter left = *r->trial;
    kiln_principal f;
    double ds[3];
    for (int i = 0; i < 3; i++) {
        left.s[i] = r->size * exp((1.0 - gamma) * r->e[i]);
        ds[i] = -left.s[i] * r->e[i];
    }
    kiln_plastic_stress(&left, &f);
    double norm = norm_of(&left, f.p);
    *slope = norm_change(&left, &f, ds) / norm - r->grows;
    return norm - r->threshold - r->grows * gamma;
}

/* gamma with norm(gamma) = threshold(gamma), by Newton's method inside a bracket from the guess
 * that a norm linear in ln S would make exact. The norm falls with gamma and the threshold moves in
 * proportion, so there is one root; when not even gamma = 1 reaches it (the pressure alone is too
 * much, or softening leaves no threshold) all of it flows. Newton squares the error, so the last
 * step need not be looked at. */
static double return_to_surface(const surface_return *r, double norm)
{
    double low = 0.0, high = 1.0, slope, gamma = (norm - r->threshold) / (norm + r->grows);
    bool reached = false; /* gamma = 1 goes below the surface */
    for (int i = 0; i < 80 && high - low > 1e-15; i++) {
        if (!(gamma > low && gamma < high)) {
            if (!reached && excess(r, 1.0, &slope) >= 0.0)
                return 1.0;
            reached = true;
            gamma = 0.5 * (low + high);
        }
        double at = excess(r, gamma, &slope);
        if (fabs(at) <= 1e-8 * norm)
            return gamma - at / slope;
        *(at > 0.0 ? &low : &high) = gamma;
        reached |= at < 0.0;
        gamma -= at / slope;
    }
    return gamma;
}

static double threshold_of(const kiln_plastic *law, double hardening)
{
    bool work = law->law == KILN_HARDENING_WORK;
    return fmax(law->yield + (work ? hardening : law->hardening * hardening), 0.0);
}

/* DLR's kappa gamma s is 2 mu kappa q at small strain. */
kiln_yield_surface kiln_plastic_surface(const kiln_plastic *law, double mu, double hardening)
{
    bool work = law->law == KILN_HARDENING_WORK;
    return (kiln_yield_surface){threshold_of(law, hardening), work ? 2.0 * mu * law->hardening : 0};
}

kiln_flow kiln_plastic_flow(const kiln_matter *matter, const kiln_plastic *law, double h,
                            double hardening, double strain)
{
    kiln_flow flow = {.hardening = hardening, .strain = strain};
    bool work = law->law == KILN_HARDENING_WORK;
    double norm = kiln_plastic_norm(matter), e[3];
    double threshold = threshold_of(law, hardening);
    if (norm > threshold) {
        double size = isochoric_logs(matter->s, e), gamma = h * law->rate * (1 - threshold / norm);
        if (law->instant) {
            double grows = work ? law->hardening * norm : 0.0;
            surface_return r = {matter, size, {e[0], e[1], e[2]}, threshold, grows};
            gamma = return_to_surface(&r, norm);
        }
        flow.gamma = fmin(fmax(gamma, 0.0), 1.0);
        for (int i = 0; i < 3; i++)
            flow.d[i] = flow.gamma * e[i];
        flow.strain += flow.gamma * sqrt(2.0 / 3.0) * length_of(e);
        if (work)
            flow.hardening = fmax(hardening + law->hardening * flow.gamma * norm, -law->yield);
    }
    if (!work) /* also below the threshold (VPF) */
        flow.hardening += h * norm;
    return flow;
}

kiln_matter kiln_plastic_matter(const kiln_elements *elements, const kiln_material *material,
                                size_t number, const kiln_element_group *g, size_t i)
{
    kiln_matter m = {.material = material, .s = {g->s[0][i], g->s[1][i], g->s[2][i]}};
    kiln_elements_lame(elements, material, number, &m.mu, &m.lambda);
    m.pressure = material->nodal_pressure ? elements->pressure.data[number] : 0.0;
    return m;
}

/* Calls `visit` with the groups of a chunk whose material flows. */
typedef void (*group_visit)(void *job, const kiln_material *material, size_t first, size_t count,
                            const kiln_element_group *group, size_t chunk);

static void visit_groups(const kiln_elements *elements, const double *x, size_t index,
                         group_visit visit, void *job)
{
    const kiln_element_chunk *chunk = &elements->chunks.data[index];
    const kiln_material *material = kiln_elements_material(elements, chunk->material);
    size_t last = (size_t)chunk->batch + chunk->batches;
    kiln_element_group group;
    for (size_t b = chunk->batch; b < last && material->plastic.flows; b += KILN_GROUP_BATCHES) {
        size_t batches = last - b < KILN_GROUP_BATCHES ? last - b : KILN_GROUP_BATCHES;
        kiln_elements_decompose_group(elements, x, b, batches, &group);
        visit(job, material, LANES * b, LANES * batches, &group, index);
    }
}

static uint32_t slot_of(const kiln_elements *elements, size_t number)
{
    return elements->batches.data[number / LANES].slot[number % LANES];
}

/* What is left where the last step had a surface for it. */
static void let_flow(const kiln_elements *elements, size_t number, kiln_matter *matter)
{
    kiln_yield_surface surface;
    double ratio, d[3];
    if (kiln_flow_is_within(matter->material) &&
        kiln_yield_surface_of(elements, number, &surface, &ratio) &&
        kiln_flow_return(matter, &surface, d) > 0.0)
        for (int i = 0; i < 3; i++)
            matter->s[i] *= exp(-d[i]);
}

typedef struct norms_job {
    const kiln_elements *elements;
    const double *x;
    double *norm;
} norms_job;

static void norms_group(void *user, const kiln_material *material, size_t first, size_t count,
                        const kiln_element_group *g, size_t chunk)
{
    (void)chunk;
    const norms_job *job = user;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = slot_of(job->elements, first + i);
        kiln_matter matter = kiln_plastic_matter(job->elements, material, first + i, g, i);
        let_flow(job->elements, first + i, &matter);
        if (slot != KILN_NONE)
            job->norm[slot] = kiln_plastic_norm(&matter);
    }
}

static void norms_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const norms_job *job = user;
    visit_groups(job->elements, job->x, index, norms_group, user);
}

void kiln_plastic_norms(const kiln_elements *elements, const double *x, double *norm)
{
    norms_job job = {elements, x, norm};
    kiln_elements_fill_pressure(elements, x);
    kiln_parallel_for(elements->context, elements->chunks.count, 1, norms_chunk, &job);
}

typedef struct update_job {
    const kiln_elements *elements;
    kiln_mesh *mesh;
    const kiln_plastic *laws;
    double h;
    kiln_offsets offsets;
    double *hardening, *strain;
    uint8_t *flowed;           /* [tet slot] or NULL */
    kiln_flow_report *reports; /* [chunk] */
} update_job;

/* The stretches are one to what an SVD can tell: nothing but size, which does not flow. */
static bool without_shape(const double s[3])
{
    return s[0] - s[2] <= 4e-15 * s[0];
}

static kiln_mat3 edges_of(const uint32_t v[4], const kiln_vec3 *p)
{
    return kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                           kiln_v3_sub(p[v[3]], p[v[0]]));
}

static kiln_mat3 gradient_of(const kiln_elements *elements, size_t number)
{
    const kiln_element_batch *batch = &elements->batches.data[number / LANES];
    kiln_mat3 B;
    for (int k = 0; k < 9; k++)
        B.m[k / 3][k % 3] = batch->gradient[k][number % LANES];
    return B;
}

/* Pi V, where Pi = Dm Dr^-1 is what the elements were formed with. */
static kiln_mat3 turned_offset(const update_job *job, size_t number, const kiln_element_group *g,
                               size_t i)
{
    kiln_mat3 V;
    for (int k = 0; k < 9; k++)
        V.m[k / 3][k % 3] = g->v[k][i];
    kiln_mat3 Dm = edges_of(job->elements->vertex.data + 4 * number, job->mesh->u);
    return kiln_m3_mul(Dm, kiln_m3_mul(gradient_of(job->elements, number), V));
}

/* G <- Pi V S*^(-2 gamma) V' Pi', written as G + Q (S*^(-2 gamma) - I) Q', Q = Pi V, so that
 * rounding is in proportion to what flows. Pi Pi' is G times the square of Pi's size. */
static void change_shape(kiln_sym3 *shape, const kiln_mat3 *Q, const kiln_flow *flow, double size)
{
    kiln_mat3 D;
    for (int k = 0; k < 3; k++) {
        double grow = expm1(-2.0 * flow->d[k]);
        for (int r = 0; r < 3; r++)
            D.m[r][k] = Q->m[r][k] * grow;
    }
    kiln_sym3 more = kiln_sym3_from_mat3(kiln_m3_mul(D, kiln_m3_transpose(*Q)));
    kiln_sym3 G = kiln_sym3_madd(*shape, 1.0 / (size * size), more);
    *shape = kiln_offset_unit(G);
}

/* The same of linear matter, whose strain becomes what is left of it. */
static bool change_linear_shape(const update_job *job, size_t number, const kiln_element_group *g,
                                size_t i, const kiln_flow *flow, double size, kiln_sym3 *shape)
{
    const uint32_t *v = job->elements->vertex.data + 4 * number;
    kiln_mat3 change = {{{0}}};
    for (int k = 0; k < 9; k++)
        for (int n = 0; n < 3; n++)
            change.m[k / 3][k % 3] += g->v[3 * (k / 3) + n][i] * g->s[n][i] * expm1(-flow->d[n]) *
                                      g->v[3 * (k % 3) + n][i];
    kiln_mat3 Dm = edges_of(v, job->mesh->u), B = gradient_of(job->elements, number);
    kiln_mat3 A = kiln_m3_mul(edges_of(v, job->mesh->x), kiln_m3_inverse(Dm));
    kiln_mat3 Pi = kiln_m3_mul(Dm, B);
    return kiln_flow_linear_shape(&A, &Pi, &change, size, shape);
}

/* The strain that flowed. */
static double flow_length(const kiln_matter *matter, const kiln_flow *flow)
{
    double left[3];
    for (int i = 0; i < 3; i++)
        left[i] =
            kiln_flow_is_linear(matter->material) ? matter->s[i] * expm1(-flow->d[i]) : flow->d[i];
    return length_of(left);
}

/* What the step has let flow, or would have if there was none. */
static kiln_flow flow_within(const update_job *job, const kiln_matter *matter, size_t number,
                             const kiln_plastic *law, uint32_t slot)
{
    bool work = law->law == KILN_HARDENING_WORK;
    kiln_flow flow = {.hardening = job->hardening[slot], .strain = job->strain[slot]};
    kiln_yield_surface surface = kiln_plastic_surface(law, matter->mu, flow.hardening);
    double ratio = 1.0;
    if (!kiln_yield_surface_of(job->elements, number, &surface, &ratio) &&
        law->norm == KILN_YIELD_FROBENIUS)
        return kiln_plastic_flow(matter, law, job->h, flow.hardening, flow.strain);
    kiln_matter left = *matter;
    flow.gamma = kiln_flow_return(matter, &surface, flow.d);
    if (flow.gamma > 0.0) {
        double q = flow_length(matter, &flow);
        flow.strain += sqrt(2.0 / 3.0) * q;
        if (work)
            flow.hardening =
                fmax(flow.hardening + 2.0 * matter->mu * law->hardening * q / ratio, -law->yield);
        for (int i = 0; i < 3 && !work; i++)
            left.s[i] *= exp(-flow.d[i]);
    }
    if (!work)
        flow.hardening += job->h * kiln_plastic_norm(&left);
    return flow;
}

/* What flowed inside the step has left forces as they are, but those of linear matter, whose rest
 * shape could not take the square of it (flow_linear.h). */
static void note_strain(const kiln_material *material, double added, double elastic,
                        kiln_flow_report *report)
{
    double off = kiln_flow_is_linear(material)   ? added * added
                 : kiln_flow_is_within(material) ? 0.0
                                                 : added;
    report->strain = fmax(report->strain, added);
    report->elastic = fmax(report->elastic, elastic);
    report->kept = fmax(report->kept, elastic - added);
    report->off = fmax(report->off, off);
}

static void update_element(const update_job *job, const kiln_material *material, size_t number,
                           const kiln_element_group *g, size_t i, kiln_flow_report *report)
{
    uint32_t slot = slot_of(job->elements, number);
    const kiln_plastic *law = job->laws ? &job->laws[slot] : &material->plastic;
    kiln_matter matter = kiln_plastic_matter(job->elements, material, number, g, i);
    if (kiln_plastic_is_degenerate(matter.s)) {
        report->skipped++;
        return;
    }
    kiln_flow flow =
        kiln_flow_is_within(material)
            ? flow_within(job, &matter, number, law, slot)
            : kiln_plastic_flow(&matter, law, job->h, job->hardening[slot], job->strain[slot]);
    job->hardening[slot] = flow.hardening;
    if (!(flow.gamma > 0.0) || without_shape(matter.s))
        return;
    double added = flow.strain - job->strain[slot];
    note_strain(material, added, added / flow.gamma, report);
    job->strain[slot] = flow.strain;
    report->flowed++;
    if (job->flowed)
        job->flowed[slot] = 1;
    report->greatest = fmax(report->greatest, flow.gamma);
    kiln_sym3 *shape = &job->offsets.shape[slot];
    double volume = kiln_mesh_tet_volume(job->mesh, slot);
    double rest_volume = job->offsets.rest_volume[slot];
    double size = volume == rest_volume ? 1.0 : cbrt(volume / rest_volume);
    if (kiln_flow_is_linear(material) && change_linear_shape(job, number, g, i, &flow, size, shape))
        return;
    kiln_mat3 Q = turned_offset(job, number, g, i);
    change_shape(shape, &Q, &flow, size);
}

static void update_group(void *user, const kiln_material *material, size_t first, size_t count,
                         const kiln_element_group *g, size_t chunk)
{
    const update_job *job = user;
    for (size_t i = 0; i < count; i++)
        if (slot_of(job->elements, first + i) != KILN_NONE)
            update_element(job, material, first + i, g, i, &job->reports[chunk]);
}

static void update_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const update_job *job = user;
    job->reports[index] = (kiln_flow_report){0};
    visit_groups(job->elements, &job->mesh->x[0].x, index, update_group, user);
}

static double *column(const kiln_mesh *mesh, const char *name)
{
    return (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, name)->data;
}

static kiln_status save_fields(kiln_mesh *mesh, kiln_error *error)
{
    static const char *const names[] = {KILN_FIELD_OFFSET, KILN_FIELD_HARDENING,
                                        KILN_FIELD_PLASTIC_STRAIN};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, names[i], KILN_SAVE_COPY, error));
    return KILN_OK;
}

kiln_status kiln_plastic_update(const kiln_elements *elements, kiln_mesh *mesh,
                                const kiln_plastic *laws, double h, uint8_t *flowed,
                                kiln_flow_report *report, kiln_error *error)
{
    KILN_TRY(save_fields(mesh, error));
    size_t chunks = elements->chunks.count, bytes = chunks * sizeof(kiln_flow_report) + 1;
    update_job job = {elements,
                      mesh,
                      laws,
                      h,
                      kiln_offsets_of(mesh),
                      column(mesh, KILN_FIELD_HARDENING),
                      column(mesh, KILN_FIELD_PLASTIC_STRAIN),
                      flowed,
                      kiln_resize(elements->context, NULL, 0, bytes)};
    if (!job.reports)
        return kiln_fail_memory(error, bytes);
    kiln_elements_fill_pressure(elements, &mesh->x[0].x);
    kiln_parallel_for(elements->context, chunks, 1, update_chunk, &job);
    *report = (kiln_flow_report){0};
    for (size_t c = 0; c < chunks; c++) {
        report->flowed += job.reports[c].flowed;
        report->skipped += job.reports[c].skipped;
        report->greatest = fmax(report->greatest, job.reports[c].greatest);
        report->strain = fmax(report->strain, job.reports[c].strain);
        report->elastic = fmax(report->elastic, job.reports[c].elastic);
        report->kept = fmax(report->kept, job.reports[c].kept);
        report->off = fmax(report->off, job.reports[c].off);
    }
    kiln_release(elements->context, job.reports, bytes);
    return KILN_OK;
}
