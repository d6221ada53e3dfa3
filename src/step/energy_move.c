/* Moves: vertices go in the material to where the energy is less (r-adaptivity). A vertex takes the
 * place in the world that the matter there has, so a uniform deformation gains nothing by it. */
#include "remesh/surface.h"
#include "step/energy_impl.h"

#include <math.h>

enum { STAR_ROOM = 128, RETREATS = 4 };
/* Of the mean edge at the vertex: how far it looks, and how far it goes at most. */
#define LOOK  0.05
#define REACH 0.3
/* Of what a split must gain: less is not worth the change. */
#define LEAST_PART 0.1

typedef struct star {
    const kiln_local_objective *o;
    uint32_t vertex;
    uint32_t tet[STAR_ROOM];
    int corner[STAR_ROOM];
    int count;
    kiln_vec3 at;
    double edge; /* m, mean */
    double before;
} star;

static bool gather(kiln_energy_pass *w, uint32_t vertex, star *s)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    double sum = 0.0;
    if (kiln_star(mesh, vertex, &w->walker, w->error) != KILN_OK)
        return false;
    if (w->walker.tets.count > STAR_ROOM)
        return false;
    *s = (star){.o = w->objective, .vertex = vertex, .at = mesh->u[vertex]};
    for (size_t i = 0; i < w->walker.tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[w->walker.tets.data[i]];
        s->tet[s->count] = w->walker.tets.data[i];
        s->corner[s->count++] = (int)kiln_tet_corner(tet, vertex);
        for (int k = 0; k < 4; k++)
            sum += kiln_v3_norm(kiln_v3_sub(mesh->u[tet->v[k]], s->at)) / 3.0;
    }
    s->edge = sum / s->count;
    s->before = kiln_patch_sum(w->objective, s->tet, (size_t)s->count);
    return isfinite(s->before);
}

/* The tet of the star that holds p, and the weights of its corners; false: p is outside. */
static bool locate(const star *s, kiln_vec3 p, uint32_t *holder, double weight[4])
{
    const kiln_mesh *mesh = s->o->mesh;
    double best = -INFINITY;
    for (int i = 0; i < s->count; i++) {
        const uint32_t *v = mesh->tet[s->tet[i]].v;
        double part[4], least = INFINITY, whole = kiln_mesh_tet_volume(mesh, s->tet[i]);
        for (int k = 0; k < 4; k++) {
            kiln_vec3 c[4] = {mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]};
            c[k] = p;
            part[k] = kiln_tet_volume(c[0], c[1], c[2], c[3]) / whole;
            least = fmin(least, part[k]);
        }
        if (least > best) {
            best = least;
            *holder = s->tet[i];
            for (int k = 0; k < 4; k++)
                weight[k] = part[k];
        }
    }
    return best > -1e-9;
}

/* The star's part of the objective with the vertex at p. */
static double value_at(const star *s, kiln_vec3 p)
{
    const kiln_local_objective *o = s->o;
    const kiln_mesh *mesh = o->mesh;
    uint32_t holder = KILN_NONE;
    double weight[4], sum = 0.0;
    if (!locate(s, p, &holder, weight))
        return INFINITY;
    kiln_vec3 end = kiln_v3(0, 0, 0), middle = end;
    for (int k = 0; k < 4; k++) {
        uint32_t v = mesh->tet[holder].v[k];
        end = kiln_v3_madd(end, weight[k], o->end[v]);
        if (o->scheme.scale > 0.0)
            middle = kiln_v3_madd(middle, weight[k], kiln_objective_centre(o, v));
    }
    for (int i = 0; i < s->count; i++) {
        kiln_patch_tet tet;
        kiln_vec3 u[4], x[4], centre[4];
        for (int k = 0; k < 4; k++) {
            uint32_t v = mesh->tet[s->tet[i]].v[k];
            bool own = k == s->corner[i];
            u[k] = own ? p : mesh->u[v];
            x[k] = own ? end : o->end[v];
            centre[k] = own ? middle : o->scheme.scale > 0.0 ? kiln_objective_centre(o, v) : x[k];
        }
        if (!kiln_patch_form_new(o, u, s->tet[i], &tet))
            return INFINITY;
        sum += kiln_patch_tet_value(o, &tet, x, centre);
    }
    return sum;
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
    for (int i = 0; i < s->count; i++) {
        const kiln_tet *tet = &r->mesh->tet[s->tet[i]];
        uint32_t v[4] = {tet->v[0], tet->v[1], tet->v[2], tet->v[3]};
        v[s->corner[i]] = KILN_PROPOSED;
        kiln_space space = kiln_remesher_space(r, s->tet[i]);
        if (!(kiln_remesher_score_in(r, space, place, v) > w->options->quality) ||
            !kiln_remesher_valid_elsewhere(r, space, place, v))
            return false;
    }
    return true;
}

static void try_move(kiln_energy_pass *w, uint32_t vertex, double least)
{
    const kiln_remesher *r = w->remesher;
    kiln_vec3 direction[3];
    int count = directions(&r->side.data[vertex], direction);
    star s;
    if (count == 0 || (w->objective->held && w->objective->held[vertex]) || !gather(w, vertex, &s))
        return;
    kiln_vec3 way = downhill(&s, direction, count);
    for (int i = 0; i < RETREATS; i++, way = kiln_v3_scale(way, 0.5)) {
        kiln_place place = {.side = r->side.data[vertex]};
        uint32_t holder = KILN_NONE;
        double gain = s.before - value_at(&s, kiln_v3_add(s.at, way));
        if (!(gain > least))
            continue;
        kiln_vec3 p = kiln_surface_rebase(r, &place.side, kiln_v3_add(s.at, way));
        kiln_remesher_locate(r, p, &place);
        w->trial = (kiln_energy_trial){.least = least, .parents = 4};
        if (!is_legal(w, &s, &place) || !locate(&s, p, &holder, w->trial.weight))
            continue;
        for (int k = 0; k < 4; k++)
            w->trial.parent[k] = r->mesh->tet[holder].v[k];
        kiln_energy_try_move(w, vertex, &place, &w->report->moves);
        return;
    }
}

void kiln_energy_move(kiln_energy_pass *pass)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    double least = LEAST_PART * pass->options->split;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used && pass->status == KILN_OK; v++) {
        if (v % 64 == 0)
            pass->status = kiln_may_go_on(pass->remesher->context, pass->error);
        if (pass->status == KILN_OK && kiln_vertex_live(mesh, v))
            try_move(pass, v, least);
    }
}
