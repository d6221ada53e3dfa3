/* What slides with friction is damped while it slides, so that it slides steadily.
 *
 * Friction follows the pressure of the moment, and so couples vibration across a surface to
 * vibration along it: of matter that nothing damps some modes grow, by mu c / L times a number, and
 * a block comes down a slope on which Coulomb lets it lie (docs/contact.md). Every integrator shows
 * it whose own damping is less. So
 *   S1 a part that slides has stiffness damping (fem/damping.h: it sees no rigid motion, and leaves
 *      momentum and angular momentum alone) with beta = mu (STEADY L / c + h). L is the cube root
 *      of the part's volume, c = sqrt(E / density) of the tet, mu the coefficient of what slips in
 *      the mean over the load of all that rubs. h, because friction knows loads up to a step late,
 *      which feeds what it couples by mu h times the stiffness;
 *   S2 what asks for less than three quarters of the friction it may have sticks, and counts as
 *      nothing. mu comes within some ten L / c, slowly at first, since a blow, which lasts three to
 *      five, is to keep its bounce; it goes within FALL;
 *   S3 a part that nothing with friction presses is not damped, whatever it did before;
 *   S4 implicit Euler damps as beta = h does, and gets what is missing.
 * mu is the column "sliding", the same at all vertices of a part; negative while nothing presses.
 *
 * STEADY is from the linear modes of blocks, plates and rods on a layer (docs/contact.md): at
 * friction 0.5 they need 0.03 to 0.4 of mu L / c, at 1 0.08 to 0.45. */
#include "step/solid_impl.h"

#include <math.h>

#define STEADY 0.5
#define RISE   3.0 /* L / c, as the next */
#define FALL   10.0
#define FIRST  (1.0 / 32.0)
#define LEAST  1e-3 /* a coefficient below it is none, once nothing slips */

bool kiln_solid_damps_sliding(const kiln_solid *solid)
{
    const kiln_solid *s = solid;
    /* One linear solve takes a turn for strain: damping would brake it. */
    if (s->options.contact.flutters || !kiln_integrator_moves(s->options.integrator) ||
        (s->options.linearised && s->touch.obstacle_count > 0))
        return false;
    return (kiln_collide_is_used(&s->collide) && kiln_collide_rubs(&s->collide)) ||
           kiln_touch_has_friction(&s->touch);
}

static double young_of(const kiln_solid *s, const kiln_material *material, uint32_t tet)
{
    double mu = s->mu ? s->mu[tet] : material->mu;
    double lambda = s->lambda ? s->lambda[tet] : material->lambda;
    return mu > 0.0 ? mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu) : 0.0;
}

/* s/m; 0: it has no shape to vibrate about. */
static double slowness_of(const kiln_solid *s, const uint32_t *material_of, uint32_t tet,
                          double volume)
{
    double young = young_of(s, &s->materials.data[material_of[tet]], tet);
    return young > 0.0 && volume > 0.0 ? sqrt(s->tet_mass.data[tet] / (volume * young)) : 0.0;
}

static const uint32_t *materials_of(const kiln_solid *s)
{
    const kiln_field *field = kiln_mesh_field(s->mesh, KILN_ON_TET, "material");
    return (const uint32_t *)(const void *)field->data;
}

/* What the step begins with; *any: some part has slid. */
static kiln_status recall(kiln_solid *s, bool *any, kiln_error *error)
{
    const double *sliding = kiln_solid_column(s, "sliding");
    size_t parts = s->spin.parts.count;
    *any = false;
    KILN_TRY(kiln_array_reserve(s->context, &s->slide, parts, error));
    for (size_t p = 0; p < parts; p++)
        s->slide.data[p] = (kiln_part_slide){0};
    for (uint32_t v = 0; v < s->rows; v++)
        if (sliding[v] != 0.0 && kiln_vertex_live(s->mesh, v)) {
            kiln_part_slide *part = &s->slide.data[kiln_spin_part_of(&s->spin, v)];
            part->before = fmax(part->before, fabs(sliding[v]));
            part->lay = part->lay || sliding[v] > 0.0;
            *any = true;
        }
    return KILN_OK;
}

static void measure_parts(kiln_solid *s)
{
    const kiln_mesh *mesh = s->mesh;
    const uint32_t *material_of = materials_of(s);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t)) {
            kiln_part_slide *part = &s->slide.data[mesh->info[t].part];
            double volume = kiln_mesh_tet_volume(mesh, t);
            part->volume += volume;
            part->crossed += volume * slowness_of(s, material_of, t, volume);
        }
}

/* S1, S3, S4. Fills s->steady; false: nothing is damped. */
static bool find_damping(const kiln_attempt *t)
{
    const kiln_solid *s = t->solid;
    const kiln_mesh *mesh = s->mesh;
    const uint32_t *material_of = materials_of(s);
    bool any = false;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used; i++) {
        s->steady.data[i] = 0.0;
        if (!kiln_tet_live(mesh, i) || !s->slide.data[mesh->info[i].part].lay)
            continue;
        const kiln_part_slide *part = &s->slide.data[mesh->info[i].part];
        double slowness = slowness_of(s, material_of, i, kiln_mesh_tet_volume(mesh, i));
        double time = STEADY * cbrt(part->volume) * slowness + t->h;
        s->steady.data[i] = slowness > 0.0 ? fmax(part->before * time - t->scheme.damps, 0.0) : 0.0;
        any = any || s->steady.data[i] > 0.0;
    }
    return any;
}

kiln_status kiln_attempt_begin_sliding(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    bool any = false;
    size_t tets = s->mesh->table[KILN_ON_TET].used;
    s->steady.count = 0;
    if (t->scheme.scale > 0.0 && kiln_solid_damps_sliding(s))
        KILN_TRY(recall(s, &any, error));
    if (any) {
        KILN_TRY(kiln_array_reserve(s->context, &s->steady, tets, error));
        measure_parts(s);
        s->steady.count = find_damping(t) ? tets : 0;
    }
    return kiln_damping_set_passing(s->damping, s->steady.count ? s->steady.data : NULL, error);
}

/* S2: `part` of the speed up to which friction grows. */
static double slips(double part)
{
    double rest = 1.0 - part;
    return part < 0.5 ? 0.0 : part < 1.0 ? 1.0 - 4.0 * rest * rest : 1.0;
}

static void add_to_part(kiln_solid *s, uint32_t vertex, double load, double slipped)
{
    kiln_part_slide *part = &s->slide.data[kiln_spin_part_of(&s->spin, vertex)];
    part->load += load;
    part->slipped += slipped;
}

static void add_pair(void *user, const kiln_friction_contact *contact, double speed)
{
    kiln_solid *s = user;
    double slipped = contact->friction * contact->load * slips(speed / s->collide.slip_speed);
    uint32_t a = contact->v[0], b = contact->v[3]; /* one of each side */
    if (a < s->rows)
        add_to_part(s, a, contact->load, slipped);
    if (b < s->rows &&
        (a >= s->rows || kiln_spin_part_of(&s->spin, a) != kiln_spin_part_of(&s->spin, b)))
        add_to_part(s, b, contact->load, slipped);
}

static void add_point(void *user, const kiln_touch_contact *contact, double friction, double speed)
{
    kiln_solid *s = user;
    add_to_part(s, contact->vertex, contact->load,
                friction * contact->load * slips(speed / s->touch.slip_speed));
}

/* From mu to `now`, in so many RISE: mu' = (now - mu) (mu + FIRST now) / now, slow at first. */
static double rise(double mu, double now, double time)
{
    double y = (mu + FIRST * now) / (now - mu) * exp((1.0 + FIRST) * time);
    return isfinite(y) ? now * (y - FIRST) / (1.0 + y) : now;
}

/* S2, S3. */
static double follow(const kiln_part_slide *part, double h)
{
    double now = part->load > 0.0 ? part->slipped / part->load : 0.0, mu = part->before;
    double sound = cbrt(part->volume) * part->crossed / part->volume;
    if (!(sound > 0.0))
        return 0.0;
    mu = mu < now ? rise(mu, now, h / (RISE * sound)) : now + (mu - now) * exp(-h / (FALL * sound));
    if (now == 0.0 && mu < LEAST)
        return 0.0;
    return part->load > 0.0 ? mu : -mu;
}

kiln_status kiln_attempt_remember_sliding(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    double *sliding = kiln_solid_column(s, "sliding");
    bool any;
    if (t->scheme.scale == 0.0 || !kiln_solid_damps_sliding(s))
        return KILN_OK;
    KILN_TRY(recall(s, &any, error));
    if (kiln_collide_is_used(&s->collide))
        kiln_collide_visit_rubbing(&s->collide, s->x.data, add_pair, s);
    kiln_touch_visit_rubbing(&s->touch, s->x.data, add_point, s);
    for (size_t p = 0; p < s->spin.parts.count; p++)
        any = any || s->slide.data[p].slipped > 0.0;
    if (!any)
        return KILN_OK;
    measure_parts(s);
    for (size_t p = 0; p < s->spin.parts.count; p++)
        s->slide.data[p].before = follow(&s->slide.data[p], t->h);
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v))
            sliding[v] = s->slide.data[kiln_spin_part_of(&s->spin, v)].before;
    return KILN_OK;
}
