/* The step's begin at vertices that a pass has made, or moved in the material. They lie on the
 * chords of the mesh as it was, not where the matter would be had the mesh been as good before:
 * they would swing about that place, with motion as short as their edges, which integrators damp
 * (bdf2) or have no forces for (newmark, whose accelerations are interpolated). So each is set to
 * where its forces are those that the acceleration of the matter round it asks for. What is stored
 * less then was taken from the motion by a mesh that was too stiff, and goes back to it as what
 * other changes take does. */
#include "fem/yield_surfaces.h"
#include "geom/predicates.h"
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

enum { STAR_ROOM = 128, SWEEPS = 3, RETREATS = 4 };

typedef struct begin_star {
    uint32_t vertex;
    size_t count;
    kiln_patch_tet form[STAR_ROOM];
    kiln_patch_corner corner[STAR_ROOM][4]; /* at the step's begin */
    int own[STAR_ROOM];
    kiln_vec3 pull; /* N: of loads, less inertia */
} begin_star;

/* Nodes of pressure have energies that are not those of single tets. Among others surfaces feel
 * forces and are in their way, and what is set right behind them alone comes out of step with them:
 * two balls got back up to 2.4 % of their energy after they had lost it. */
static bool is_asked(const kiln_energy_pass *w)
{
    const kiln_local_objective *o = w->objective;
    return w->options->settles && o->scheme.scale > 0.0 && !o->nodal && !o->surface;
}

static kiln_vec3 *shifts_of(const kiln_energy_pass *w)
{
    const kiln_field *field =
        kiln_mesh_field(w->remesher->mesh, KILN_ON_VERTEX, KILN_FIELD_SETTLED);
    return field ? (kiln_vec3 *)(void *)field->data : NULL;
}

/* At the step's begin as far as it is known: newmark has it; of bdf2 it lies between that of the
 * middle of the step before and that of the end; of others it is that of the end. */
static kiln_vec3 pace_of(const kiln_local_objective *o, uint32_t v)
{
    const kiln_scheme *scheme = &o->scheme;
    const kiln_vec3 *const *history = o->history;
    double back = -scheme->centre[KILN_HISTORY_X_BEFORE]; /* w^2 / (1 + 2 w), w of the steps */
    if (scheme->centre[KILN_HISTORY_A] != 0.0)
        return history[KILN_HISTORY_A][v];
    kiln_vec3 end =
        kiln_v3_scale(kiln_v3_sub(o->end[v], kiln_objective_centre(o, v)), 1.0 / scheme->scale);
    if (!(back > 0.0)) /* a first step, and those that do not look back */
        return end;
    double w = back + sqrt(back * back + back);
    double before = scheme->tau * (1.0 + 2.0 * w) / (w * (1.0 + w)); /* s */
    kiln_vec3 past = kiln_v3_scale(
        kiln_v3_sub(history[KILN_HISTORY_V][v], history[KILN_HISTORY_V_BEFORE][v]), 1.0 / before);
    return kiln_v3_madd(past, 1.0 / (1.0 + 2.0 * w), kiln_v3_sub(end, past));
}

kiln_status kiln_energy_note_paces(kiln_energy_pass *pass)
{
    const kiln_local_objective *o = pass->objective;
    size_t rows = o->mesh->table[KILN_ON_VERTEX].used;
    kiln_vec3 *shift = shifts_of(pass);
    if (shift)
        memset(shift, 0, rows * sizeof *shift);
    if (!is_asked(pass))
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(pass->remesher->context, &pass->pace, rows, pass->error));
    pass->pace.count = rows;
    for (uint32_t v = 0; v < rows; v++)
        pass->pace.data[v] = kiln_vertex_live(o->mesh, v) ? pace_of(o, v) : kiln_v3(0, 0, 0);
    return KILN_OK;
}

void kiln_energy_note_fresh(kiln_energy_pass *pass, uint32_t vertex, const uint32_t *parent,
                            const double *weight, int parents)
{
    kiln_context *context = pass->remesher->context;
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    if (!is_asked(pass) || pass->status != KILN_OK)
        return;
    for (int i = 0; i < parents; i++)
        sum = kiln_v3_madd(sum, weight[i], pass->pace.data[parent[i]]);
    pass->status = kiln_array_reserve(context, &pass->pace, (size_t)vertex + 1, pass->error);
    if (pass->status != KILN_OK)
        return;
    while (pass->pace.count <= vertex)
        pass->pace.data[pass->pace.count++] = kiln_v3(0, 0, 0);
    pass->pace.data[vertex] = sum;
    pass->status = kiln_array_push(context, &pass->settling, vertex, pass->error);
}

/* What is held is where it is led. */
static bool may_settle(const kiln_energy_pass *w, uint32_t vertex)
{
    return kiln_vertex_live(w->remesher->mesh, vertex) &&
           !kiln_objective_tie(w->objective, vertex).bits;
}

/* On a tet's corner; false: loads that follow the surface are not known at the begin. */
static bool add_loads(const kiln_local_objective *o, uint32_t t, int own, begin_star *s)
{
    for (int f = 0; f < 4; f++) {
        if (f == own)
            continue;
        if (kiln_objective_pressure(o, t, f) != 0.0)
            return false;
        s->pull = kiln_v3_madd(s->pull, 1.0 / 3.0, kiln_objective_pull(o, t, f));
    }
    return true;
}

/* Without what resists strain, which is of the way through the step; what may flow in it has no
 * elastic energy that its forces are the slopes of. */
static bool gather(kiln_energy_pass *w, uint32_t vertex, begin_star *s)
{
    const kiln_local_objective *o = w->objective;
    const kiln_mesh *mesh = w->remesher->mesh;
    if (kiln_star(mesh, vertex, &w->walker, NULL) != KILN_OK || w->walker.tets.count > STAR_ROOM)
        return false;
    s->vertex = vertex;
    s->count = w->walker.tets.count;
    s->pull = o->points ? o->points[vertex] : kiln_v3(0, 0, 0);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t t = w->walker.tets.data[i];
        const uint32_t *v = mesh->tet[t].v;
        kiln_vec3 pace = w->pace.data[vertex];
        s->own[i] = (int)kiln_tet_corner(&mesh->tet[t], vertex);
        if (!kiln_patch_form(o, t, &s->form[i]) || s->form[i].yield[0] < KILN_NEVER_YIELDS ||
            !add_loads(o, t, s->own[i], s))
            return false;
        for (int k = 0; k < 4; k++) {
            s->corner[i][k] = (kiln_patch_corner){.x = mesh->x[v[k]]};
            pace = kiln_v3_add(pace, w->pace.data[v[k]]);
        }
        s->pull = kiln_v3_madd(s->pull, 0.25, s->form[i].dead);
        s->pull = kiln_v3_madd(s->pull, -s->form[i].mass / 20.0, pace); /* the consistent mass */
    }
    return true;
}

static size_t batch_from(const begin_star *s, size_t from)
{
    return s->count - from < KILN_ELEMENT_LANES ? s->count - from : KILN_ELEMENT_LANES;
}

static double stored(const kiln_energy_pass *w, const begin_star *s)
{
    double sum = 0.0;
    for (size_t from = 0; from < s->count; from += KILN_ELEMENT_LANES) {
        double energy[KILN_ELEMENT_LANES];
        size_t some = batch_from(s, from);
        kiln_patch_tets_energies(w->remesher->context, s->form + from,
                                 (const kiln_patch_corner(*)[4])s->corner + from, some, energy);
        for (size_t i = 0; i < some; i++)
            sum += energy[i];
    }
    return sum;
}

/* Newton's step of the one vertex; false: there is none. */
static bool find_step(const kiln_energy_pass *w, const begin_star *s, kiln_vec3 *step)
{
    kiln_local_objective elastic = *w->objective;
    kiln_vec3 force = s->pull;
    kiln_mat3 sum = {{{0}}};
    elastic.brief.any = false;
    for (size_t from = 0; from < s->count; from += KILN_ELEMENT_LANES) {
        kiln_vec3 g[KILN_ELEMENT_LANES][4];
        kiln_mat3 H[KILN_ELEMENT_LANES][4];
        size_t some = batch_from(s, from);
        kiln_patch_tets_slopes(&elastic, s->form + from,
                               (const kiln_patch_corner(*)[4])s->corner + from, some, g, H);
        for (size_t i = 0; i < some; i++) {
            const kiln_mat3 *own = &H[i][s->own[from + i]];
            force = kiln_v3_sub(force, g[i][s->own[from + i]]);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    sum.m[r][c] += r < c ? own->m[r][c] : own->m[c][r];
        }
    }
    double det = kiln_m3_det(sum);
    if (!(det > 0.0) || !isfinite(det))
        return false;
    *step = kiln_m3_apply(kiln_m3_inverse(sum), force);
    return true;
}

static bool is_positive(const begin_star *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const kiln_patch_corner *c = s->corner[i];
        if (!(kiln_orient3d(c[0].x, c[1].x, c[2].x, c[3].x) > 0.0))
            return false;
    }
    return true;
}

/* Its way, and J by which what is stored falls; false: it stays. */
static bool find_way(kiln_energy_pass *w, uint32_t vertex, kiln_vec3 *way, double *fell)
{
    begin_star s;
    kiln_vec3 at = w->remesher->mesh->x[vertex];
    if (!gather(w, vertex, &s) || !find_step(w, &s, way))
        return false;
    double before = stored(w, &s);
    for (int i = 0; i < RETREATS; i++, *way = kiln_v3_scale(*way, 0.5)) {
        for (size_t k = 0; k < s.count; k++)
            s.corner[k][s.own[k]].x = kiln_v3_add(at, *way);
        if (!is_positive(&s))
            continue;
        *fell = before - stored(w, &s);
        if (*fell + kiln_v3_dot(s.pull, *way) > 0.0)
            return true;
    }
    return false;
}

/* The rows are of this pass, or it has moved them: what takes it back takes this back, too. */
void kiln_energy_settle(kiln_energy_pass *pass)
{
    kiln_energy_pass *w = pass;
    kiln_mesh *mesh = w->remesher->mesh;
    kiln_vec3 *shift = shifts_of(w), way;
    double fell;
    for (size_t i = 0; shift && i < w->settling.count; i++)
        shift[w->settling.data[i]] = kiln_v3(0, 0, 0);
    for (size_t i = 0; i < SWEEPS * w->settling.count; i++) {
        uint32_t v = w->settling.data[i % w->settling.count];
        if (!may_settle(w, v) || !find_way(w, v, &way, &fell))
            continue;
        mesh->x[v] = kiln_v3_add(mesh->x[v], way);
        if (shift)
            shift[v] = kiln_v3_add(shift[v], way);
        if (w->options->lost)
            w->options->lost[mesh->info[mesh->vertex[v].tet].part] += fell;
    }
}
