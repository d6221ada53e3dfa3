/* Moves: vertices go in the material to where the energy is less (r-adaptivity). A vertex takes the
 * place in the world that the matter there has, so a uniform deformation gains nothing by it. */
#include "base/parallel.h"
#include "remesh/surface.h"
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

enum { STAR_ROOM = 128, RETREATS = 4, GRAIN = 64 };
/* Of the mean edge at the vertex: how far it looks, and how far it goes at most. */
#define LOOK  0.05
#define REACH 0.3
/* And how far off a plane or a line is on it. */
#define FLAT 1e-9
/* Of what a split must gain: less is not worth the change. */
#define LEAST_PART 0.1

typedef struct star {
    const kiln_local_objective *o;
    uint32_t vertex;
    uint32_t tet[STAR_ROOM];
    int corner[STAR_ROOM];
    kiln_vec3 u[STAR_ROOM][4];
    kiln_patch_corner at_corner[STAR_ROOM][4];
    int count;
    kiln_vec3 at;
    double edge; /* m, mean */
    double before;
} star;

static double value_at(const star *s, kiln_vec3 p);

static bool gather(const kiln_energy_pass *w, kiln_walker *walker, uint32_t vertex, star *s)
{
    const kiln_local_objective *o = w->objective;
    const kiln_mesh *mesh = w->remesher->mesh;
    double sum = 0.0;
    if (kiln_star(mesh, vertex, walker, NULL) != KILN_OK || walker->tets.count > STAR_ROOM ||
        !kiln_objective_is_alike(o, walker->tets.data, walker->tets.count))
        return false;
    s->o = o, s->vertex = vertex, s->at = mesh->u[vertex];
    s->count = (int)walker->tets.count;
    for (int i = 0; i < s->count; i++) {
        const kiln_tet *tet = &mesh->tet[walker->tets.data[i]];
        s->tet[i] = walker->tets.data[i];
        s->corner[i] = (int)kiln_tet_corner(tet, vertex);
        for (int k = 0; k < 4; k++) {
            uint32_t v = tet->v[k];
            s->u[i][k] = mesh->u[v];
            s->at_corner[i][k] = kiln_objective_corner(o, v);
            sum += kiln_v3_norm(kiln_v3_sub(mesh->u[v], s->at)) / 3.0;
        }
    }
    s->edge = sum / s->count;
    s->before = value_at(s, s->at);
    return isfinite(s->before);
}

/* The tet of the star that holds p, and the weights of its corners; -1: p is outside. */
static int locate(const star *s, kiln_vec3 p, double weight[4])
{
    double best = -INFINITY;
    int holder = -1;
    for (int i = 0; i < s->count; i++) {
        double part[4], least = INFINITY;
        const kiln_vec3 *u = s->u[i];
        double whole = kiln_tet_volume(u[0], u[1], u[2], u[3]);
        for (int k = 0; k < 4; k++) {
            kiln_vec3 c[4] = {u[0], u[1], u[2], u[3]};
            c[k] = p;
            part[k] = kiln_tet_volume(c[0], c[1], c[2], c[3]) / whole;
            least = fmin(least, part[k]);
        }
        if (least > best) {
            best = least;
            holder = i;
            memcpy(weight, part, sizeof part);
        }
    }
    return best > -1e-9 ? holder : -1;
}

/* The star's part of the objective with the vertex at p, without loads on faces. */
static double value_at(const star *s, kiln_vec3 p)
{
    const kiln_local_objective *o = s->o;
    kiln_patch_tet tet[STAR_ROOM];
    kiln_patch_corner corner[STAR_ROOM][4];
    double weight[4];
    int holder = locate(s, p, weight);
    if (holder < 0)
        return INFINITY;
    kiln_patch_corner there = kiln_patch_corner_mean(s->at_corner[holder], weight, 4);
    for (int i = 0; i < s->count; i++) {
        kiln_vec3 u[4];
        for (int k = 0; k < 4; k++) {
            u[k] = k == s->corner[i] ? p : s->u[i][k];
            corner[i][k] = k == s->corner[i] ? there : s->at_corner[i][k];
        }
        if (!kiln_patch_form_corners(o, u, s->tet[i], &tet[i]))
            return INFINITY;
    }
    return kiln_patch_tets_value(o, tet, (const kiln_patch_corner(*)[4])corner, (size_t)s->count);
}

/* Directions in which the vertex may go. */
static int directions(const kiln_vertex_side *side, kiln_vec3 out[3])
{
    kiln_vec3 axis = kiln_v3_normalize(side->axis);
    switch ((kiln_freedom)side->freedom) {
    case KILN_FREE:
        out[0] = kiln_v3(1, 0, 0), out[1] = kiln_v3(0, 1, 0), out[2] = kiln_v3(0, 0, 1);
        return 3;
    case KILN_ON_PLANE:
        out[2] = fabs(axis.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
        out[0] = kiln_v3_normalize(kiln_v3_cross(axis, out[2]));
        out[1] = kiln_v3_cross(axis, out[0]);
        return 2;
    case KILN_ON_LINE:
        out[0] = axis;
        return 1;
    case KILN_ON_SURFACE:
    case KILN_ON_CURVE:
    case KILN_FIXED:
        break;
    }
    return 0;
}

/* Where the slopes on both sides lead, one direction by itself. */
static kiln_vec3 downhill(const star *s, const kiln_vec3 *direction, int count)
{
    kiln_vec3 way = kiln_v3(0, 0, 0);
    double look = LOOK * s->edge, here = value_at(s, s->at);
    for (int i = 0; i < count; i++) {
        double ahead = value_at(s, kiln_v3_madd(s->at, look, direction[i]));
        double back = value_at(s, kiln_v3_madd(s->at, -look, direction[i]));
        if (!isfinite(ahead) || !isfinite(back))
            continue;
        double slope = (ahead - back) / (2.0 * look);
        double bend = (ahead - 2.0 * here + back) / (look * look);
        double step = bend > 0.0 ? -slope / bend : slope > 0.0 ? -REACH * s->edge : REACH * s->edge;
        if (slope == 0.0)
            step = 0.0;
        way = kiln_v3_madd(way, fmax(-REACH * s->edge, fmin(REACH * s->edge, step)), direction[i]);
    }
    return way;
}

/* Quality of the star, and the places at the step's begin, as other operators have them. */
static bool is_legal(const kiln_energy_pass *w, const star *s, const kiln_place *place)
{
    const kiln_remesher *r = w->remesher;
    double before = INFINITY;
    for (int i = 0; i < s->count; i++)
        before = fmin(before, r->quality.data[s->tet[i]]);
    for (int i = 0; i < s->count; i++) {
        const kiln_tet *tet = &r->mesh->tet[s->tet[i]];
        uint32_t v[4] = {tet->v[0], tet->v[1], tet->v[2], tet->v[3]};
        v[s->corner[i]] = KILN_PROPOSED;
        kiln_space space = kiln_remesher_space(r, s->tet[i]);
        double score = kiln_remesher_score_in(r, space, place, v);
        if (!(score > 0.0) || !kiln_energy_keeps_shape(w, before, score) ||
            !kiln_remesher_valid_elsewhere(r, space, place, v))
            return false;
    }
    return true;
}

/* Where the step began the surface is bent otherwise: the faces at the vertex keep out of others
 * there, too. */
static bool is_guarded(kiln_energy_pass *w, const star *s, const kiln_place *place)
{
    kiln_remesher *r = w->remesher;
    uint32_t old[STAR_ROOM][3], fresh[STAR_ROOM][3];
    size_t count = 0;
    for (int i = 0; i < s->count; i++) {
        const kiln_tet *tet = &r->mesh->tet[s->tet[i]];
        for (int f = 0; f < 4; f++) {
            if (!kiln_link_is_surface(tet->n[f]) || f == s->corner[i])
                continue;
            if (count == STAR_ROOM)
                return false;
            for (int k = 0; k < 3; k++) {
                old[count][k] = tet->v[kiln_face_corner[f][k]];
                fresh[count][k] = old[count][k] == s->vertex ? KILN_PROPOSED : old[count][k];
            }
            count++;
        }
    }
    return kiln_surface_is_guarded(r, &r->workspace, (const uint32_t(*)[3])old, count,
                                   (const uint32_t(*)[3])fresh, count, place);
}

/* Where the vertex should go, and what the star gains by it at once; 0: nowhere. */
static double find_way(const kiln_energy_pass *w, const star *s, kiln_vec3 *way)
{
    kiln_vec3 direction[3];
    int count = directions(&w->remesher->side.data[s->vertex], direction);
    *way = downhill(s, direction, count);
    for (int i = 0; i < RETREATS; i++, *way = kiln_v3_scale(*way, 0.5)) {
        double gain = s->before - value_at(s, kiln_v3_add(s->at, *way));
        if (gain > LEAST_PART * w->options->split)
            return gain;
    }
    return 0.0;
}

static bool may_move(const kiln_energy_pass *w, uint32_t vertex)
{
    kiln_vec3 direction[3];
    return kiln_vertex_live(w->remesher->mesh, vertex) &&
           directions(&w->remesher->side.data[vertex], direction) > 0;
}

/* Holds are of places: one that is held goes only along the plane or line it is on, and only where
 * all that it could come to there is held as it is. */
static bool stays_held(const kiln_energy_pass *w, const star *s)
{
    const uint32_t *held = w->objective->held;
    const kiln_vertex_side *side = &w->remesher->side.data[s->vertex];
    uint32_t bits = held ? held[s->vertex] : 0;
    if (!bits)
        return true;
    if (side->freedom == KILN_FREE)
        return false;
    kiln_vec3 axis = kiln_v3_normalize(side->axis);
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_vec3 way = kiln_v3_sub(s->u[i][k], s->at);
            double along = fabs(kiln_v3_dot(way, axis)), length = kiln_v3_norm(way);
            double off = side->freedom == KILN_ON_PLANE ? along : length - along;
            uint32_t other = w->remesher->mesh->tet[s->tet[i]].v[k];
            if (off <= FLAT * s->edge && (held[other] & bits) != bits)
                return false;
        }
    return true;
}

static void try_move(kiln_energy_pass *w, uint32_t vertex)
{
    const kiln_remesher *r = w->remesher;
    double least = LEAST_PART * w->options->split;
    kiln_vec3 way;
    star s;
    if (!gather(w, &w->walker, vertex, &s) || !stays_held(w, &s) || !(find_way(w, &s, &way) > 0.0))
        return;
    for (int i = 0; i < RETREATS; i++, way = kiln_v3_scale(way, 0.5)) {
        kiln_place place = {.side = r->side.data[vertex]};
        kiln_vec3 p = kiln_surface_rebase(r, &place.side, kiln_v3_add(s.at, way));
        kiln_remesher_locate(r, p, &place);
        w->trial = (kiln_energy_trial){.least = least, .parents = 4, .may_rest = true};
        int holder = locate(&s, p, w->trial.weight);
        if (holder < 0 || !is_legal(w, &s, &place) || !is_guarded(w, &s, &place))
            continue;
        if (i > 0 && !(s.before - value_at(&s, p) > least))
            return;
        for (int k = 0; k < 4; k++)
            w->trial.parent[k] = r->mesh->tet[s.tet[holder]].v[k];
        if (!kiln_energy_try_move(w, vertex, &place, &w->report->moves))
            kiln_energy_note_still(w, vertex);
        return;
    }
}

/* All vertices, on all threads: what each would gain by itself. */
typedef struct move_survey {
    const kiln_energy_pass *w;
    double *gain; /* [vertex] */
} move_survey;

static void survey_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const move_survey *survey = user;
    const kiln_energy_pass *w = survey->w;
    kiln_walker *walker = &w->remesher->workers[worker].walker;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        kiln_vec3 way;
        star s;
        survey->gain[v] = 0.0;
        if (!may_move(w, v) || kiln_star(w->remesher->mesh, v, walker, NULL) != KILN_OK ||
            kiln_energy_is_still(w, v, &walker->tets) || !gather(w, walker, v, &s) ||
            !stays_held(w, &s))
            continue;
        survey->gain[v] = find_way(w, &s, &way);
        if (survey->gain[v] == 0.0)
            kiln_energy_note_still(w, v);
    }
}

void kiln_energy_move(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    size_t vertices = pass->remesher->mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array gain = {0};
    pass->heap.count = 0;
    pass->status = kiln_array_reserve(context, &gain, vertices, pass->error);
    if (pass->status == KILN_OK) {
        move_survey survey = {pass, gain.data};
        kiln_parallel_for(context, vertices, GRAIN, survey_chunk, &survey);
        for (uint32_t v = 0; v < vertices; v++)
            if (gain.data[v] > 0.0)
                kiln_energy_push(pass, (kiln_energy_candidate){gain.data[v], v, v});
    }
    for (pass->left = pass->budget;
         pass->status == KILN_OK && pass->heap.count > 0 && pass->left > 0; pass->left--) {
        pass->status = kiln_may_go_on(context, pass->error);
        if (pass->status == KILN_OK)
            try_move(pass, kiln_energy_pop(pass).a);
    }
    kiln_array_free(context, &gain);
}
