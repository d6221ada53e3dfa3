#include "remesh/smooth.h"
#include "remesh/proposal.h"
#include "remesh/smooth_climb.h"
#include "remesh/space.h"
#include "remesh/surface.h"

/* Stars of a vertex of the surface have few faces; those of more are left alone. */
enum { FACES_ROOM = 64, STAR_ROOM = 4096, RETREATS = 3 };

typedef struct smoothing_job {
    const kiln_remesher *remesher;
    kiln_workspace *workspace;
    uint32_t vertex;
    uint32_t *tets;
    size_t count;
    kiln_vec3 at; /* where the vertex is */
    double scale; /* about the mean edge */
    double floor; /* what the judge must have of the worst */
    bool mapped;  /* by L', the metric at the vertex being L L' */
    double L[6];  /* xx, yx, zx, yy, zy, zz */
} smoothing_job;

/* Cholesky factor of the metric, which is frozen while one vertex is smoothed. */
static void factor_metric(const kiln_sym3 *m, double L[6])
{
    L[0] = sqrt(m->xx);
    L[1] = m->xy / L[0];
    L[2] = m->xz / L[0];
    L[3] = sqrt(m->yy - L[1] * L[1]);
    L[4] = (m->yz - L[1] * L[2]) / L[3];
    L[5] = sqrt(m->zz - L[2] * L[2] - L[4] * L[4]);
}

/* L' d, L'^-1 d and L^-1 d. */
static kiln_vec3 map(const double L[6], kiln_vec3 d)
{
    return kiln_v3(L[0] * d.x + L[1] * d.y + L[2] * d.z, L[3] * d.y + L[4] * d.z, L[5] * d.z);
}
static kiln_vec3 unmap(const double L[6], kiln_vec3 d)
{
    double z = d.z / L[5], y = (d.y - L[4] * z) / L[3];
    return kiln_v3((d.x - L[1] * y - L[2] * z) / L[0], y, z);
}
static kiln_vec3 map_normal(const double L[6], kiln_vec3 n)
{
    double x = n.x / L[0], y = (n.y - L[1] * x) / L[3];
    return kiln_v3(x, y, (n.z - L[2] * x - L[4] * y) / L[5]);
}

static kiln_star_freedom freedom_of(const smoothing_job *job, const kiln_vertex_side *side)
{
    kiln_star_freedom freedom = {3, side->axis};
    switch ((kiln_freedom)side->freedom) {
    case KILN_ON_PLANE:
    case KILN_ON_SURFACE:
        freedom.dimension = 2;
        freedom.axis = job->mapped ? map_normal(job->L, side->axis) : side->axis;
        break;
    case KILN_ON_LINE:
    case KILN_ON_CURVE:
        freedom.dimension = 1;
        freedom.axis = job->mapped ? map(job->L, side->axis) : side->axis;
        break;
    case KILN_FREE:
    case KILN_FIXED:
        break;
    }
    freedom.axis = kiln_v3_normalize(freedom.axis);
    return freedom;
}

/* Corners of the tets other than the vertex, so that with it first they are in positive order. */
static void list_corners(const smoothing_job *job, const kiln_vec3 **corner)
{
    const kiln_mesh *mesh = job->remesher->mesh;
    const kiln_vec3 *points = kiln_points_of_vertex(job->remesher, job->vertex);
    for (size_t i = 0; i < job->count; i++) {
        const kiln_tet *tet = &mesh->tet[job->tets[i]];
        const uint8_t *c = kiln_face_corner[kiln_tet_corner(tet, job->vertex)];
        for (int k = 0; k < 3; k++)
            corner[3 * i + k] = &points[tet->v[c[k]]];
    }
}

/* About the mean edge at the vertex. */
static double edge_at(const smoothing_job *job, const kiln_vec3 *const *corner)
{
    enum { SAMPLES = 8 };
    size_t count = job->count < SAMPLES ? job->count : SAMPLES;
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        kiln_vec3 e = kiln_v3_sub(*corner[3 * i], job->at);
        sum += kiln_v3_norm(job->mapped ? map(job->L, e) : e);
    }
    return sum / (double)count;
}

/* The worst of the star with the vertex at the place; -INFINITY if a tet is inverted in the other
 * space or one is not above the floor. */
static double worst_at(const smoothing_job *job, const kiln_place *place)
{
    const kiln_remesher *remesher = job->remesher;
    double worst = INFINITY;
    for (size_t i = 0; i < job->count; i++) {
        const kiln_tet *tet = &remesher->mesh->tet[job->tets[i]];
        uint32_t v[4] = {tet->v[0], tet->v[1], tet->v[2], tet->v[3]};
        v[kiln_tet_corner(tet, job->vertex)] = KILN_PROPOSED;
        kiln_space space = kiln_remesher_space(remesher, job->tets[i]);
        double score = kiln_remesher_score_in(remesher, space, place, v);
        if (!(score > job->floor) || !kiln_remesher_valid_elsewhere(remesher, space, place, v))
            return -INFINITY;
        worst = score < worst ? score : worst;
    }
    return worst;
}

/* Faces of surface and interfaces at the vertex, before and with it at its place. */
static bool surface_allows(const smoothing_job *job, const kiln_place *place)
{
    const kiln_mesh *mesh = job->remesher->mesh;
    uint32_t old[FACES_ROOM][3], fresh[FACES_ROOM][3];
    size_t count = 0;
    for (size_t i = 0; i < job->count; i++) {
        const kiln_tet *tet = &mesh->tet[job->tets[i]];
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = tet->n[f];
            if (!kiln_link_is_front(mesh, job->tets[i], link) || tet->v[f] == job->vertex)
                continue;
            if (count == FACES_ROOM)
                return false;
            for (int k = 0; k < 3; k++) {
                old[count][k] = tet->v[kiln_face_corner[f][k]];
                fresh[count][k] = old[count][k] == job->vertex ? KILN_PROPOSED : old[count][k];
            }
            count++;
        }
    }
    return count == 0 ||
           kiln_surface_allows(job->remesher, job->workspace, old, count, fresh, count, place);
}

static bool judge_may(const smoothing_job *job, const kiln_smoothing *found)
{
    if (!job->remesher->judge.may)
        return true;
    const kiln_proposal proposal = {.kind = KILN_OP_SMOOTHING,
                                    .old = job->tets,
                                    .old_count = (uint32_t)job->count,
                                    .before = found->before,
                                    .after = found->after,
                                    .stamp = found->stamp,
                                    .has_place = true,
                                    .place = found->place,
                                    .moved = job->vertex};
    return kiln_judge_may(job->remesher, &proposal);
}

/* The place a displacement leads to: all of it, or as much as is legal and gains. */
static bool find_place(const smoothing_job *job, const kiln_vertex_side *side,
                       kiln_vec3 displacement, double promised, kiln_smoothing *out)
{
    /* Then the place is where the record was evaluated, up to rounding. */
    bool plain = side->freedom == KILN_FREE && job->remesher->one_space && !job->mapped;
    for (int i = 0; i < RETREATS; i++) {
        kiln_vec3 p = kiln_v3_add(job->at, displacement);
        out->place = (kiln_place){.side = *side};
        p = kiln_surface_rebase(job->remesher, &out->place.side, p);
        kiln_remesher_locate(job->remesher, p, &out->place);
        out->after = plain && i == 0 ? promised : worst_at(job, &out->place);
        if (out->after > job->floor &&
            (side->freedom == KILN_FREE || surface_allows(job, &out->place)) && judge_may(job, out))
            return true;
        displacement = kiln_v3_scale(displacement, 0.5);
    }
    return false;
}

static bool climb_and_place(smoothing_job *job, const kiln_vertex_side *side, double target,
                            kiln_smoothing *out)
{
    const kiln_remesher *remesher = job->remesher;
    kiln_measure measure = remesher->options.measure;
    size_t room = kiln_star_room(job->count);
    const kiln_vec3 **corner =
        kiln_arena_array(&job->workspace->arena, const kiln_vec3 *, 3 * room);
    void *memory =
        kiln_arena_alloc(&job->workspace->arena, kiln_star_record_bytes(measure, job->count));
    if (!memory || !corner)
        return kiln_workspace_fail(job->workspace);
    job->mapped = remesher->options.sizing != NULL;
    if (job->mapped)
        factor_metric(&remesher->metric.data[job->vertex], job->L);
    list_corners(job, corner);
    job->scale = edge_at(job, corner);
    kiln_star_record star =
        kiln_star_record_in(memory, remesher->context->isa, measure, job->count);
    kiln_star_frame frame = {job->at, job->scale, job->mapped ? job->L : NULL};
    kiln_star_record_fill(&star, &frame, corner);
    kiln_star_freedom freedom = freedom_of(job, side);
    kiln_vec3 moved = kiln_v3(0, 0, 0);
    double worst = remesher->judge.sums ? kiln_star_climb_sum(&star, &freedom, job->floor, &moved)
                                        : kiln_star_climb(&star, &freedom, target, &moved);
    out->rounds = star.rounds;
    /* What the climb saw is not what counts where tets have spaces of their own. */
    if (!job->mapped && !job->remesher->mixed && !(worst > job->floor))
        return false;
    if (moved.x == 0.0 && moved.y == 0.0 && moved.z == 0.0)
        return false;
    moved = kiln_v3_scale(moved, job->scale);
    return find_place(job, side, job->mapped ? unmap(job->L, moved) : moved, worst, out);
}

bool kiln_smoothing_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                            uint32_t vertex, double target, kiln_smoothing *out)
{
    const kiln_vertex_side *side = &remesher->side.data[vertex];
    bool curved = side->freedom == KILN_ON_SURFACE || side->freedom == KILN_ON_CURVE;
    if (side->freedom == KILN_FIXED)
        return false;
    if (kiln_star(remesher->mesh, vertex, &workspace->walker, NULL) != KILN_OK)
        return kiln_workspace_fail(workspace);
    /* The surface term of a vertex on its surface: nothing is gained beyond it (DLR 4.3). */
    if (curved && target > KILN_QUADRIC_ALPHA)
        target = KILN_QUADRIC_ALPHA;
    const kiln_u32_array *star = &workspace->walker.tets;
    out->before = kiln_remesher_worst(remesher, star->data, star->count);
    out->stamp = remesher->mesh->clock;
    out->rounds = 0;
    bool sums = remesher->judge.sums;
    if ((!sums && !(out->before < target)) || star->count == 0 || star->count > STAR_ROOM)
        return false;
    smoothing_job job = {.remesher = remesher,
                         .workspace = workspace,
                         .vertex = vertex,
                         .tets = star->data,
                         .count = star->count,
                         .at = kiln_points_of_vertex(remesher, vertex)[vertex],
                         .floor = kiln_judge_floor(&remesher->judge, out->before)};
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    bool found = climb_and_place(&job, side, target, out);
    kiln_arena_release(&workspace->arena, mark);
    return found;
}
