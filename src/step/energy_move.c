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
/* Of that: where the slopes promise less nothing is tried. */
#define HOPE 0.5

typedef struct star {
    const kiln_local_objective *o;
    uint32_t vertex;
    uint32_t tet[STAR_ROOM];
    int corner[STAR_ROOM];
    kiln_vec3 u[STAR_ROOM][4];
    kiln_patch_corner at_corner[STAR_ROOM][4];
    int count;
    kiln_vec3 at;
    kiln_patch_corner then;        /* the vertex as it is */
    kiln_vec3 slope[STAR_ROOM][4]; /* of the weights of corners by the place in the material */
    double mass[STAR_ROOM];        /* kg */
    kiln_vec3 sums[STAR_ROOM];     /* m, of the other corners off their centres of inertia, */
    double squares[STAR_ROOM];     /* of their squares, */
    kiln_vec3 places[STAR_ROOM];   /* and of the other corners off the vertex */
    double edge;                   /* m, mean */
    double before;
    kiln_nodes nodes; /* where there is nodal pressure */
} star;

static double value_at(star *s, kiln_vec3 p, double *drag);

/* Of the weights that a tet's corners have at a place. */
static void find_slopes(const kiln_vec3 u[4], kiln_vec3 slope[4])
{
    kiln_mat3 B = kiln_m3_inverse(
        kiln_m3_columns(kiln_v3_sub(u[1], u[0]), kiln_v3_sub(u[2], u[0]), kiln_v3_sub(u[3], u[0])));
    slope[0] = kiln_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        slope[k + 1] = kiln_v3(B.m[k][0], B.m[k][1], B.m[k][2]);
        slope[0] = kiln_v3_sub(slope[0], slope[k + 1]);
    }
}

/* The weights at a place off the corner `own`; returns the least. */
static double weigh_corners(const kiln_vec3 slope[4], int own, kiln_vec3 off, double weight[4])
{
    double least = INFINITY;
    for (int k = 0; k < 4; k++) {
        weight[k] = (k == own) + kiln_v3_dot(slope[k], off);
        least = fmin(least, weight[k]);
    }
    return least;
}

/* The tet that holds what is `off` the vertex, or is next to it, by the slopes of the star; returns
 * the least weight of its corners. */
static double locate_among(const star *s, const kiln_vec3 (*slope)[4], kiln_vec3 off, int *holder,
                           double weight[4])
{
    double best = -INFINITY;
    for (int i = 0; i < s->count; i++) {
        double part[4], least = weigh_corners(slope[i], s->corner[i], off, part);
        if (least > best) {
            best = least;
            *holder = i;
            memcpy(weight, part, sizeof part);
        }
    }
    return best;
}

static bool weigh(star *s)
{
    for (int i = 0; i < s->count; i++) {
        kiln_patch_tet form;
        if (!kiln_patch_form(s->o, s->tet[i], &form))
            return false;
        s->mass[i] = form.mass;
        s->sums[i] = s->places[i] = kiln_v3(0, 0, 0);
        s->squares[i] = 0.0;
        for (int k = 0; k < 4; k++) {
            const kiln_patch_corner *at = &s->at_corner[i][k];
            kiln_vec3 off = kiln_v3_sub(at->x, at->centre);
            if (k == s->corner[i])
                continue;
            s->sums[i] = kiln_v3_add(s->sums[i], off);
            s->places[i] =
                kiln_v3_add(s->places[i], kiln_v3_sub(at->x, s->at_corner[i][s->corner[i]].x));
            s->squares[i] += kiln_v3_norm2(off);
        }
    }
    return true;
}

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
        find_slopes(s->u[i], s->slope[i]);
    }
    s->then = s->at_corner[0][s->corner[0]];
    s->edge = sum / s->count;
    if (o->nodal && !kiln_nodes_gather(&s->nodes, o, walker, s->tet, (size_t)s->count))
        return false;
    if (o->scheme.scale > 0.0 && !weigh(s))
        return false;
    double drag;
    s->before = value_at(s, s->at, &drag);
    return isfinite(s->before);
}

static double value_of_nodes(star *s, const kiln_patch_tet *tets)
{
    if (!s->o->nodal)
        return 0.0;
    kiln_nodes_clear(&s->nodes);
    for (int i = 0; i < s->count; i++)
        if (!kiln_nodes_put(&s->nodes, s->o, &tets[i], s->o->mesh->tet[s->tet[i]].v,
                            s->at_corner[i]))
            return INFINITY;
    return kiln_nodes_energy(&s->nodes, s->o);
}

/* The tet of the star that holds p; -1: p is outside. */
static int locate(const star *s, kiln_vec3 p, double weight[4])
{
    int holder = -1;
    double least =
        locate_among(s, (const kiln_vec3(*)[4])s->slope, kiln_v3_sub(p, s->at), &holder, weight);
    return least > -1e-9 ? holder : -1;
}

/* Of the consistent mass of a tet, with the vertex `off` its centre of inertia. */
static double square(const star *s, int i, kiln_vec3 off)
{
    return kiln_v3_norm2(off) + s->squares[i] + kiln_v3_norm2(kiln_v3_add(off, s->sums[i]));
}

/* The matter that was at the vertex is elsewhere when that has gone: where the new tets have it,
 * and inertia holds it back as it does in any motion (energy_inertia.c). What is round it is taken
 * to go along as its hat function says, and the sum over all of it, by which weight gains or loses,
 * is as it is. */
static double dragged(const star *s, const kiln_patch_tet *tet)
{
    double weight[4], sum = 0.0;
    int holder = 0;
    if (s->o->scheme.scale <= 0.0)
        return 0.0;
    kiln_vec3 slope[STAR_ROOM][4];
    for (int i = 0; i < s->count; i++)
        if (s->o->offset)
            find_slopes(s->u[i], slope[i]);
        else
            memcpy(slope[i], tet[i].gradient, sizeof slope[i]); /* the same, without a rest shape */
    locate_among(s, (const kiln_vec3(*)[4])slope, kiln_v3_sub(s->at, s->u[0][s->corner[0]]),
                 &holder, weight);
    kiln_vec3 x = kiln_patch_corner_mean(s->at_corner[holder], weight, 4).x;
    const kiln_patch_corner *now = &s->at_corner[0][s->corner[0]], *then = &s->then;
    kiln_vec3 off = kiln_v3_sub(now->x, now->centre), was = kiln_v3_sub(then->x, then->centre);
    kiln_vec3 way = kiln_v3_sub(x, then->x), goes = kiln_v3_sub(now->x, then->x);
    kiln_vec3 moment = kiln_v3(0, 0, 0); /* 4 kg m: by which the whole moves, beyond that */
    for (int i = 0; i < s->count; i++) {
        double fresh = tet[i].mass, old = s->mass[i];
        sum += old * square(s, i, kiln_v3_add(was, way)) - fresh * square(s, i, off);
        moment = kiln_v3_madd(moment, fresh - old, s->places[i]);
        moment = kiln_v3_madd(kiln_v3_madd(moment, fresh, goes), -old, way);
    }
    return fmax(0.0, (sum + 10.0 * kiln_v3_dot(was, moment)) / (40.0 * s->o->scheme.scale));
}

static void put(star *s, kiln_vec3 p, const kiln_patch_corner *there)
{
    for (int i = 0; i < s->count; i++) {
        s->u[i][s->corner[i]] = p;
        s->at_corner[i][s->corner[i]] = *there;
    }
}

static double value_there(star *s, double *drag)
{
    kiln_patch_tet tet[STAR_ROOM];
    for (int i = 0; i < s->count; i++)
        if (!kiln_patch_form_corners(s->o, s->u[i], s->tet[i], &tet[i]))
            return INFINITY;
    *drag = dragged(s, tet);
    return kiln_patch_tets_value(s->o, tet, (const kiln_patch_corner(*)[4])s->at_corner,
                                 (size_t)s->count) +
           value_of_nodes(s, tet) + *drag;
}

/* The star's part of the objective with the vertex at p, without loads on faces; *drag of it is not
 * in that of the new tets. */
static double value_at(star *s, kiln_vec3 p, double *drag)
{
    double weight[4];
    int holder = locate(s, p, weight);
    if (holder < 0)
        return INFINITY;
    kiln_patch_corner there = kiln_patch_corner_mean(s->at_corner[holder], weight, 4);
    put(s, p, &there);
    double value = value_there(s, drag);
    put(s, s->at, &s->then);
    return value;
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

/* Where the slopes on both sides lead, one direction by itself; returns what that promises, J. */
static double downhill(star *s, const kiln_vec3 *direction, int count, kiln_vec3 *way)
{
    double drag, look = LOOK * s->edge, here = s->before, hope = 0.0;
    *way = kiln_v3(0, 0, 0);
    for (int i = 0; i < count; i++) {
        double ahead = value_at(s, kiln_v3_madd(s->at, look, direction[i]), &drag);
        double back = value_at(s, kiln_v3_madd(s->at, -look, direction[i]), &drag);
        if (!isfinite(ahead) || !isfinite(back))
            continue;
        double slope = (ahead - back) / (2.0 * look);
        double bend = (ahead - 2.0 * here + back) / (look * look);
        double step = bend > 0.0 ? -slope / bend : slope > 0.0 ? -REACH * s->edge : REACH * s->edge;
        if (slope == 0.0)
            step = 0.0;
        step = fmax(-REACH * s->edge, fmin(REACH * s->edge, step));
        *way = kiln_v3_madd(*way, step, direction[i]);
        hope -= (slope + 0.5 * bend * step) * step;
    }
    return hope;
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

/* With the vertex at p, before anything else has moved. */
static bool ends_well(const kiln_energy_pass *w, const star *s, kiln_vec3 p)
{
    double weight[4], before = 1.0, after = 1.0;
    if (s->o->scheme.scale == 0.0)
        return true;
    int holder = locate(s, p, weight);
    kiln_vec3 there = kiln_patch_corner_mean(s->at_corner[holder], weight, 4).x;
    for (int i = 0; i < s->count; i++) {
        kiln_vec3 x[4];
        for (int k = 0; k < 4; k++)
            x[k] = s->at_corner[i][k].x;
        before = fmin(before, kiln_tet_quality(&x[0], &x[1], &x[2], &x[3]));
        x[s->corner[i]] = there;
        after = fmin(after, kiln_tet_quality(&x[0], &x[1], &x[2], &x[3]));
    }
    return kiln_energy_keeps_shape(w, before, after);
}

/* Where the vertex should go, and what the star gains by it at once; or, where that is not enough,
 * what could be found. */
static double find_way(const kiln_energy_pass *w, star *s, kiln_vec3 *way)
{
    kiln_vec3 direction[3];
    int count = directions(&w->remesher->side.data[s->vertex], direction);
    double least = LEAST_PART * w->options->split, best = downhill(s, direction, count, way);
    if (best < HOPE * least)
        return best;
    best = 0.0;
    for (int i = 0; i < RETREATS; i++, *way = kiln_v3_scale(*way, 0.5)) {
        double drag, gain = s->before - value_at(s, kiln_v3_add(s->at, *way), &drag);
        if (gain > least && ends_well(w, s, kiln_v3_add(s->at, *way)))
            return gain;
        best = fmax(best, fmin(gain, least));
    }
    return best;
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
    const kiln_local_objective *o = w->objective;
    const kiln_vertex_side *side = &w->remesher->side.data[s->vertex];
    kiln_tie own = kiln_objective_tie(o, s->vertex);
    if (!own.bits)
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
            if (off <= FLAT * s->edge &&
                !kiln_tie_is_same(kiln_tie_common(kiln_objective_tie(o, other), own), own))
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
    if (!gather(w, &w->walker, vertex, &s) || !stays_held(w, &s) ||
        !(find_way(w, &s, &way) > least))
        return;
    for (int i = 0; i < RETREATS; i++, way = kiln_v3_scale(way, 0.5)) {
        kiln_place place = {.side = r->side.data[vertex]};
        kiln_vec3 p = kiln_surface_rebase(r, &place.side, kiln_v3_add(s.at, way));
        kiln_remesher_locate(r, p, &place);
        w->trial = (kiln_energy_trial){.least = least, .parents = 4, .may_rest = true};
        int holder = locate(&s, p, w->trial.weight);
        if (holder < 0 || !is_legal(w, &s, &place) || !ends_well(w, &s, p) ||
            !is_guarded(w, &s, &place))
            continue;
        double gain = s.before - value_at(&s, p, &w->trial.drag);
        if (i > 0 && !(gain > least))
            return;
        for (int k = 0; k < 4; k++)
            w->trial.parent[k] = r->mesh->tet[s.tet[holder]].v[k];
        if (kiln_energy_try_move(w, vertex, &place, &w->report->moves))
            kiln_energy_note_fresh(w, vertex, w->trial.parent, w->trial.weight, w->trial.parents);
        else
            kiln_energy_note_still(w, vertex, least, least);
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
    double least = LEAST_PART * w->options->split;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        kiln_vec3 way;
        star s;
        survey->gain[v] = 0.0;
        if (!may_move(w, v) || kiln_energy_is_still(w, v) || !gather(w, walker, v, &s) ||
            !stays_held(w, &s))
            continue;
        survey->gain[v] = find_way(w, &s, &way);
        if (!(survey->gain[v] > least))
            kiln_energy_note_still(w, v, survey->gain[v], least);
    }
}

void kiln_energy_move(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    size_t vertices = pass->remesher->mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array gain = {0};
    pass->heap.count = 0;
    pass->status = kiln_energy_stamp(pass);
    if (pass->status == KILN_OK)
        pass->status = kiln_array_reserve(context, &gain, vertices, pass->error);
    if (pass->status == KILN_OK) {
        move_survey survey = {pass, gain.data};
        kiln_parallel_for(context, vertices, GRAIN, survey_chunk, &survey);
        for (uint32_t v = 0; v < vertices; v++)
            if (gain.data[v] > LEAST_PART * pass->options->split)
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
