/* Rest shapes: B = Dm^-1 Pi and the rest volume. */
#include "base/parallel.h"
#include "fem/elements_group.h"
#include "fem/elements_layout.h"
#include "fem/offset.h"
#include "geom/svd3.h"

enum { LANES = KILN_ELEMENT_LANES };

typedef struct form_job {
    kiln_elements *e;
    const kiln_mesh *mesh;
    kiln_offsets offsets;
    const uint32_t *slots; /* NULL: all */
} form_job;

/* Eigenvalues and vectors of the shapes of a group, [component][element]: a positive matrix is its
 * own singular value decomposition. */
typedef struct shape_group {
    uint32_t slot[KILN_GROUP_SIZE];
    size_t count;
    double G[9][KILN_GROUP_SIZE], u[9][KILN_GROUP_SIZE], s[3][KILN_GROUP_SIZE],
        v[9][KILN_GROUP_SIZE];
    bool turned[KILN_GROUP_SIZE]; /* the shape is not I */
} shape_group;

/* Tets with the shape I take I, and where all do it costs nothing: most of a body is often elastic.
 */
static void decompose_shapes(const form_job *job, shape_group *g)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        g->turned[i] = !kiln_offset_is_identity(&job->offsets.shape[g->slot[i]]);
        any |= g->turned[i];
    }
    for (size_t i = 0; i < g->count && any; i++) {
        kiln_mat3 G = kiln_sym3_to_mat3(job->offsets.shape[g->slot[i]]);
        for (int k = 0; k < 9; k++)
            g->G[k][i] = G.m[k / 3][k % 3];
    }
    if (any)
        kiln_svd3_decompose_batch(job->e->context->isa, g->count, KILN_GROUP_SIZE, g->G[0], g->u[0],
                                  g->s[0], g->v[0]);
}

/* Pi as kiln_offset_map gives it, to rounding: the roots of the eigenvalues, scaled so that their
 * product is the ratio of the volumes. */
static kiln_mat3 offset_of(const shape_group *g, size_t i, double volume, double rest_volume)
{
    double size = volume == rest_volume ? 1.0 : cbrt(volume / rest_volume), pi[3];
    if (!g->turned[i])
        return kiln_m3_scale(kiln_m3_identity(), size);
    for (int k = 0; k < 3; k++)
        pi[k] = sqrt(g->s[k][i]);
    size /= cbrt(pi[0] * pi[1] * pi[2]);
    kiln_mat3 Pi;
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                sum += g->u[3 * r + k][i] * pi[k] * g->u[3 * c + k][i];
            Pi.m[r][c] = Pi.m[c][r] = size * sum;
        }
    return Pi;
}

/* Rest shape and volume of an element whose slot and vertices are known. The order of the vertices
 * does not matter: Dm and Dw have the same one, F neither knows it. */
KILN_INLINE bool form(const form_job *job, const shape_group *g, size_t i)
{
    const kiln_vec3 *u = job->mesh->u;
    uint32_t tet = g->slot[i];
    size_t number = job->e->number_of.data[tet], lane = number % LANES;
    const uint32_t *v = job->e->vertex.data + 4 * number;
    kiln_element_batch *batch = &job->e->batches.data[number / LANES];
    kiln_mat3 B = kiln_m3_inverse(kiln_m3_columns(kiln_v3_sub(u[v[1]], u[v[0]]),
                                                  kiln_v3_sub(u[v[2]], u[v[0]]),
                                                  kiln_v3_sub(u[v[3]], u[v[0]])));
    double volume = kiln_mesh_tet_volume(job->mesh, tet);
    if (job->offsets.shape) {
        double rest_volume = job->offsets.rest_volume[tet];
        if (g->turned[i] || volume != rest_volume)
            B = kiln_m3_mul(B, offset_of(g, i, volume, rest_volume));
        volume = rest_volume;
    }
    for (int k = 0; k < 9; k++)
        batch->gradient[k][lane] = B.m[k / 3][k % 3];
    batch->volume[lane] = volume;
    return volume > 0.0 && isfinite(volume) && isfinite(kiln_m3_norm2(B));
}

/* The first slot without volume goes to *failed. */
static void form_group(const form_job *job, shape_group *g, double *failed)
{
    if (job->offsets.shape)
        decompose_shapes(job, g);
    for (size_t i = 0; i < g->count; i++)
        if (!form(job, g, i) && *failed < 0.0)
            *failed = g->slot[i];
    g->count = 0;
}

static void form_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const form_job *job = user;
    double *failed = &job->e->partial.data[chunk];
    shape_group g;
    g.count = 0;
    *failed = -1.0;
    for (size_t i = begin; i < end; i++) {
        uint32_t slot = job->slots ? job->slots[i] : (uint32_t)i;
        if (job->e->number_of.data[slot] == KILN_NONE)
            continue;
        g.slot[g.count++] = slot;
        if (g.count == KILN_GROUP_SIZE)
            form_group(job, &g, failed);
    }
    form_group(job, &g, failed);
}

static kiln_status no_volume(uint32_t tet, double volume, kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_NUMERIC, "elements", 0, -1,
                     "tet %u has the rest volume %g m^3; it must be positive and not so small that "
                     "its shape is lost",
                     (unsigned)tet, volume);
}

kiln_status kiln_elements_form(kiln_elements *elements, const kiln_mesh *mesh,
                               const uint32_t *slots, size_t count, kiln_error *error)
{
    kiln_elements *e = elements;
    form_job job = {e, mesh, kiln_offsets_of(mesh), slots};
    kiln_parallel_for(e->context, count, KILN_WINDOW_TETS, form_chunk, &job);
    uint32_t tet = KILN_NONE;
    for (size_t c = 0; c < kiln_chunk_count(count, KILN_WINDOW_TETS); c++)
        if (e->partial.data[c] >= 0.0 && (uint32_t)e->partial.data[c] < tet)
            tet = (uint32_t)e->partial.data[c];
    if (tet == KILN_NONE)
        return KILN_OK;
    double volume =
        job.offsets.shape ? job.offsets.rest_volume[tet] : kiln_mesh_tet_volume(mesh, tet);
    return no_volume(tet, volume, error);
}
