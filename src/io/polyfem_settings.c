/* Time, contact, solver and materials. */
#include "io/polyfem_impl.h"

#include <stdio.h>
#include <string.h>

/* Kiln's barrier is -(s - 1)^2 ln s, PolyFEM's -(s^2 - 1)^2 ln s^2 of the same weights and reach:
 * near the reach, where surfaces rest, that is 8 times as stiff (docs/contact.md, polyfem.md). */
#define BARRIER_RATIO 8.0

static void put_key(polyfem *p, const char *key, double value, const kiln_json_node *said)
{
    kiln_lua_put(&p->scene, "    %s = ", key);
    kiln_lua_put_number(&p->scene, value);
    kiln_lua_put(&p->scene, ",");
    kiln_polyfem_end_line(p, &p->scene, said);
}

typedef struct timing {
    double duration, dt, skip;
    const char *integrator;
    bool moves;
} timing;

static kiln_status read_integrator(polyfem *p, const kiln_json_node *node, timing *t)
{
    static const struct {
        const char *name, *ours;
    } names[] = {{"ImplicitEuler", "implicit-euler"},
                 {"BDF1", "implicit-euler"},
                 {"BDF2", "bdf2"},
                 {"ImplicitNewmark", "newmark"}};
    const char *word = "ImplicitEuler";
    char by_steps[16];
    int steps = 1;
    if (node && node->type == KILN_JSON_IS_OBJECT) {
        KILN_TRY(kiln_polyfem_word(p, node, "type", &word));
        KILN_TRY(kiln_polyfem_whole(p, node, "steps", (kiln_bounds)KILN_WITHIN(1, 6), &steps));
        if (strcmp(word, "BDF") == 0) {
            snprintf(by_steps, sizeof by_steps, "BDF%d", steps);
            word = by_steps;
        }
    } else if (node) {
        KILN_TRY(kiln_polyfem_word(p, node->parent, "integrator", &word));
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, word) == 0) {
            t->integrator = names[i].ours;
            return KILN_OK;
        }
    return kiln_json_fail(node, p->error,
                          "%.30s is not supported: ImplicitEuler, BDF of 1 or 2 steps and "
                          "ImplicitNewmark are",
                          word);
}

/* Two of tend, dt and time_steps say all. */
static kiln_status read_length(polyfem *p, const kiln_json_node *node, timing *t)
{
    const kiln_bounds positive = KILN_POSITIVE;
    double tend = NAN;
    int steps = 0;
    t->dt = NAN;
    KILN_TRY(kiln_polyfem_number(p, node, "t0", (kiln_bounds)KILN_NOT_NEGATIVE, &p->t0));
    KILN_TRY(kiln_polyfem_number(p, node, "tend", positive, &tend));
    KILN_TRY(kiln_polyfem_number(p, node, "dt", positive, &t->dt));
    KILN_TRY(kiln_polyfem_whole(p, node, "time_steps", (kiln_bounds)KILN_WITHIN(1, 1e9), &steps));
    if ((steps > 0) + isfinite(tend) + isfinite(t->dt) < 2)
        return kiln_json_fail(node, p->error, "must have two of tend, dt and time_steps");
    t->duration = isfinite(tend) ? tend - p->t0 : t->dt * steps;
    if (!isfinite(t->dt))
        t->dt = t->duration / steps;
    if (!(t->duration > 0.0))
        return kiln_json_fail(node, p->error, "tend must be after t0, got %g and %g", tend, p->t0);
    return KILN_OK;
}

/* Without a time the scene is static, at PolyFEM's time 1. */
static kiln_status read_time(polyfem *p, timing *t)
{
    const kiln_json_node *node = kiln_polyfem_get(p->root, "time");
    const kiln_json_node *view = kiln_polyfem_get(kiln_polyfem_get(p->root, "output"), "paraview");
    bool quasistatic = false;
    int skip = 1;
    *t = (timing){.duration = 1.0, .dt = 1.0, .integrator = "static"};
    if (!node)
        return KILN_OK;
    KILN_TRY(read_length(p, node, t));
    KILN_TRY(read_integrator(p, kiln_polyfem_get(node, "integrator"), t));
    KILN_TRY(kiln_polyfem_flag(p, node, "quasistatic", &quasistatic));
    KILN_TRY(kiln_polyfem_whole(p, view, "skip_frame", (kiln_bounds)KILN_WITHIN(1, 1e9), &skip));
    t->moves = !quasistatic;
    t->integrator = quasistatic ? "static" : t->integrator;
    t->skip = t->dt * (t->moves ? skip : 1); /* each step of a static one is a frame */
    return KILN_OK;
}

/* The largest change of a step in m: x_delta is in m/s. */
static kiln_status put_newton(polyfem *p, const timing *t)
{
    const kiln_json_node *node = kiln_polyfem_get(kiln_polyfem_get(p->root, "solver"), "nonlinear");
    double delta = 0.0;
    int most = 0;
    KILN_TRY(kiln_polyfem_number(p, node, "x_delta", (kiln_bounds)KILN_NOT_NEGATIVE, &delta));
    KILN_TRY(
        kiln_polyfem_whole(p, node, "max_iterations", (kiln_bounds)KILN_WITHIN(0, 1000000), &most));
    if (delta * t->dt >= 1.0)
        return kiln_json_fail(kiln_polyfem_get(node, "x_delta"), p->error,
                              "times dt must be below 1 m, got %g", delta * t->dt);
    if (!(delta > 0.0) && most == 0)
        return KILN_OK;
    kiln_lua_put(&p->scene, "        newton = {");
    if (delta > 0.0) {
        kiln_lua_put(&p->scene, "tolerance = ");
        kiln_lua_put_number(&p->scene, delta);
        kiln_lua_put(&p->scene, " * ");
        kiln_lua_put_number(&p->scene, t->dt);
        kiln_lua_put(&p->scene, ", length = 1.0");
    }
    if (most > 0)
        kiln_lua_put(&p->scene, "%siterations = %d", delta > 0.0 ? ", " : "", most);
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, node);
    return KILN_OK;
}

static kiln_status put_step(polyfem *p, const timing *t, double epsv)
{
    const kiln_json_node *time = kiln_polyfem_get(p->root, "time");
    const kiln_json_node *advanced =
        kiln_polyfem_get(kiln_polyfem_get(p->root, "solver"), "advanced");
    bool lumped = false;
    KILN_TRY(kiln_polyfem_flag(p, advanced, "lump_mass_matrix", &lumped));
    kiln_lua_put(&p->scene, "    step = {");
    kiln_polyfem_end_line(p, &p->scene, time);
    kiln_lua_put(&p->scene, "        integrator = \"%s\", mass = \"%s\", dt = ", t->integrator,
                 lumped ? "lumped" : "consistent");
    kiln_lua_put_number(&p->scene, t->dt);
    if (p->friction > 0.0) {
        kiln_lua_put(&p->scene, ", friction_speed = ");
        kiln_lua_put_number(&p->scene, epsv);
    }
    kiln_lua_put(&p->scene, ",");
    kiln_polyfem_end_line(p, &p->scene, time);
    KILN_TRY(put_newton(p, t));
    kiln_lua_put(&p->scene, "    },\n");
    return KILN_OK;
}

static kiln_status refuse_collision_mesh(polyfem *p, const kiln_json_node *contact)
{
    const kiln_json_node *mesh = kiln_polyfem_get(contact, "collision_mesh");
    bool enabled = true;
    KILN_TRY(kiln_polyfem_flag(p, mesh, "enabled", &enabled));
    return mesh && enabled ? kiln_json_fail(mesh, p->error, "not supported") : KILN_OK;
}

static kiln_status read_contact(polyfem *p, double *dhat, double *epsv)
{
    const kiln_json_node *contact = kiln_polyfem_get(p->root, "contact");
    const kiln_json_node *solver = kiln_polyfem_get(kiln_polyfem_get(p->root, "solver"), "contact");
    int lags = 1;
    KILN_TRY(kiln_polyfem_flag(p, contact, "enabled", &p->has_contact));
    KILN_TRY(kiln_polyfem_number(p, contact, "dhat", (kiln_bounds)KILN_POSITIVE, dhat));
    KILN_TRY(kiln_polyfem_number(p, contact, "epsv", (kiln_bounds)KILN_POSITIVE, epsv));
    KILN_TRY(kiln_polyfem_number(p, contact, "friction_coefficient", (kiln_bounds)KILN_NOT_NEGATIVE,
                                 &p->friction));
    KILN_TRY(kiln_polyfem_whole(p, solver, "friction_iterations",
                                (kiln_bounds)KILN_WITHIN(-1e9, 1e9), &lags));
    if (lags == 0 || !p->has_contact) /* as there: none is no friction */
        p->friction = 0.0;
    return p->has_contact ? refuse_collision_mesh(p, contact) : KILN_OK;
}

/* A number is a stiffness in Pa in the convergent formulation; otherwise the preset stays. */
static kiln_status put_stiffness(polyfem *p)
{
    const kiln_json_node *solver = kiln_polyfem_get(kiln_polyfem_get(p->root, "solver"), "contact");
    const kiln_json_node *node = kiln_polyfem_get(solver, "barrier_stiffness");
    double kappa = 0.0;
    bool convergent = false;
    if (!node)
        return KILN_OK;
    if (node->type == KILN_JSON_IS_TEXT && strcmp(node->text, "adaptive") == 0) {
        kiln_lua_put(&p->scene, ", adaptive = true");
        return KILN_OK;
    }
    KILN_TRY(
        kiln_polyfem_number(p, solver, "barrier_stiffness", (kiln_bounds)KILN_POSITIVE, &kappa));
    KILN_TRY(kiln_polyfem_flag(p, kiln_polyfem_get(p->root, "contact"),
                               "use_convergent_formulation", &convergent));
    if (!convergent || !isfinite(p->softest)) {
        kiln_polyfem_say(p, KILN_LOG_WARNING, node,
                         "ignored, Kiln's preset is taken: only with use_convergent_formulation, "
                         "and constant E, is it a stiffness");
        return KILN_OK;
    }
    kiln_lua_put(&p->scene, ", stiffness = ");
    kiln_lua_put_number(&p->scene, BARRIER_RATIO * kappa / p->softest);
    return KILN_OK;
}

/* Its convergent formulation is area weights, which Kiln has in any case, and the improved max
 * operator, which counts each place once. That costs time (docs/contact.md), and patches of
 * remeshing by energy do not know it: it is taken where it is asked for by its own name. */
static kiln_status put_weights(polyfem *p)
{
    bool improved = false;
    KILN_TRY(kiln_polyfem_flag(p, kiln_polyfem_get(p->root, "contact"), "use_improved_max_operator",
                               &improved));
    if (improved)
        kiln_lua_put(&p->scene, ", weights = \"once\"");
    return KILN_OK;
}

static kiln_status put_contact(polyfem *p, double dhat)
{
    if (!p->has_contact)
        return KILN_OK;
    kiln_lua_put(&p->scene, "    contact = contact {thickness = ");
    kiln_lua_put_number(&p->scene, dhat);
    if (p->friction > 0.0) {
        kiln_lua_put(&p->scene, ", friction = ");
        kiln_lua_put_number(&p->scene, p->friction);
    }
    KILN_TRY(put_stiffness(p));
    KILN_TRY(put_weights(p));
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, kiln_polyfem_get(p->root, "contact"));
    return KILN_OK;
}

/* Tolerances are J there as here; what a collapse may cost is negative there. Who gives none gets
 * parts of the energy, as in Kiln's own scenes: 1e-3 J, the preset there, suit few scenes. */
static kiln_status put_remesh(polyfem *p)
{
    const kiln_json_node *node = kiln_polyfem_get(kiln_polyfem_get(p->root, "space"), "remesh");
    double split = 0.0, collapse = 0.0;
    bool enabled = false;
    KILN_TRY(kiln_polyfem_flag(p, node, "enabled", &enabled));
    KILN_TRY(kiln_polyfem_number(p, kiln_polyfem_get(node, "split"), "acceptance_tolerance",
                                 (kiln_bounds)KILN_POSITIVE, &split));
    KILN_TRY(kiln_polyfem_number(p, kiln_polyfem_get(node, "collapse"), "acceptance_tolerance",
                                 (kiln_bounds)KILN_ANY_NUMBER, &collapse));
    if (!enabled)
        return KILN_OK;
    if (split > 0.0 && collapse == 0.0)
        collapse = -1e-8; /* the preset there */
    kiln_lua_put(&p->scene, "    remesh = remesh {method = \"energy\", split = ");
    kiln_lua_put_number(&p->scene, split); /* 0: by parts */
    kiln_lua_put(&p->scene, ", collapse = ");
    kiln_lua_put_number(&p->scene, fabs(collapse));
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, node);
    return KILN_OK;
}

/* `rhs` is on the left side of the equation: the acceleration is its opposite. */
static kiln_status put_gravity(polyfem *p)
{
    const kiln_json_node *node =
        kiln_polyfem_get(kiln_polyfem_get(p->root, "boundary_conditions"), "rhs");
    polyfem_formula v[3];
    if (!node)
        return KILN_OK;
    KILN_TRY(kiln_polyfem_vector(p, node, v));
    if ((v[0].uses | v[1].uses | v[2].uses) & FORMULA_USES_PLACE)
        return kiln_json_fail(node, p->error, "may depend on t only: x, y, z are not supported");
    kiln_lua_put(&p->scene, "    gravity = ");
    kiln_polyfem_put_vector(p, v, (polyfem_form){.arguments = "t", .negative = true});
    kiln_lua_put(&p->scene, ",");
    kiln_polyfem_end_line(p, &p->scene, node);
    return KILN_OK;
}

kiln_status kiln_polyfem_put_settings(polyfem *p)
{
    timing t;
    double dhat = 1e-3, epsv = 1e-3;
    KILN_TRY(read_time(p, &t));
    KILN_TRY(read_contact(p, &dhat, &epsv));
    put_key(p, "duration", t.duration, kiln_polyfem_get(p->root, "time"));
    KILN_TRY(put_gravity(p));
    KILN_TRY(put_step(p, &t, epsv));
    KILN_TRY(put_contact(p, dhat));
    KILN_TRY(put_remesh(p));
    kiln_lua_put(&p->scene, "    output = {frame = ");
    kiln_lua_put_number(&p->scene, t.skip);
    kiln_lua_put(&p->scene, "},\n");
    return KILN_OK;
}

static const char *model_of(const char *type)
{
    static const struct {
        const char *name, *ours;
    } names[] = {{"NeoHookean", "neo-hookean"},
                 {"LinearElasticity", "linear"},
                 {"HookeLinearElasticity", "linear"},
                 {"SaintVenant", "stvk"},
                 {"FixedCorotational", "fixed-corotated"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, type) == 0)
            return names[i].ours;
    return NULL;
}

typedef struct stuff {
    polyfem_formula young, poisson, density;
} stuff;

static kiln_status read_formula(polyfem *p, const kiln_json_node *material, const char *key,
                                polyfem_formula *out)
{
    const kiln_json_node *node = kiln_polyfem_get(material, key);
    return node ? kiln_polyfem_formula(p->arena, node, out, &p->helpers, p->error) : KILN_OK;
}

static kiln_status put_constant(polyfem *p, double value, polyfem_formula *out)
{
    lua_text lua = {.context = p->context};
    kiln_lua_put_number(&lua, value);
    char *text = kiln_arena_alloc(p->arena, lua.text.count + 1);
    if (text && !lua.failed) {
        memcpy(text, lua.text.data, lua.text.count);
        text[lua.text.count] = 0;
        *out = (polyfem_formula){.lua = text, .constant = value};
    }
    kiln_status status = text ? kiln_lua_status(&lua, p->error) : kiln_fail_memory(p->error, 1);
    kiln_lua_free(&lua);
    return status;
}

/* Lamé's constants as Young's modulus and Poisson's ratio. */
static kiln_status from_lame(polyfem *p, const kiln_json_node *material, stuff *s)
{
    double lambda = NAN, mu = NAN;
    KILN_TRY(kiln_polyfem_number(p, material, "lambda", (kiln_bounds)KILN_ANY_NUMBER, &lambda));
    KILN_TRY(kiln_polyfem_number(p, material, "mu", (kiln_bounds)KILN_POSITIVE, &mu));
    if (!isfinite(lambda) || !isfinite(mu) || !(lambda + mu > 0.0))
        return kiln_json_fail(material, p->error,
                              "must have E and nu, or lambda and mu as numbers");
    KILN_TRY(put_constant(p, mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), &s->young));
    return put_constant(p, lambda / (2.0 * (lambda + mu)), &s->poisson);
}

static kiln_status check_stuff(polyfem *p, const kiln_json_node *material, const stuff *s)
{
    static const kiln_bounds positive = KILN_POSITIVE, ratio = KILN_BETWEEN(-1.0, 0.5);
    const struct {
        const char *name;
        const polyfem_formula *formula;
        const kiln_bounds *bounds;
    } rows[] = {
        {"E", &s->young, &positive}, {"nu", &s->poisson, &ratio}, {"rho", &s->density, &positive}};
    for (size_t i = 0; i < 3; i++) {
        const kiln_json_node *node = kiln_polyfem_get(material, rows[i].name);
        double value = rows[i].formula->constant;
        char rule[64];
        if (rows[i].formula->uses == 0 && !kiln_bounds_hold(rows[i].bounds, value))
            return kiln_json_fail(
                node ? node : material, p->error, "%s must be %s, got %g", rows[i].name,
                kiln_bounds_broken(rows[i].bounds, value, rule, sizeof rule), value);
    }
    if (s->young.uses)
        p->softest = NAN;
    else if (!(p->softest <= s->young.constant) && !isnan(p->softest))
        p->softest = s->young.constant;
    return KILN_OK;
}

/* In the plane PolyFEM makes lambda of E and nu in another way; here it is that of 3D. */
static kiln_status to_plane(polyfem *p, const kiln_json_node *material, stuff *s)
{
    double young = s->young.constant, nu = s->poisson.constant;
    if (s->young.uses || s->poisson.uses)
        return kiln_json_fail(material, p->error, "E and nu must be numbers in a plane problem");
    double lambda = nu * young / (1.0 - nu * nu), mu = young / (2.0 * (1.0 + nu));
    KILN_TRY(put_constant(p, mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), &s->young));
    return put_constant(p, lambda / (2.0 * (lambda + mu)), &s->poisson);
}

static kiln_status read_stuff(polyfem *p, const kiln_json_node *material, stuff *s)
{
    *s = (stuff){.density = {.lua = "1.0", .constant = 1.0}};
    KILN_TRY(read_formula(p, material, "E", &s->young));
    KILN_TRY(read_formula(p, material, "nu", &s->poisson));
    KILN_TRY(read_formula(p, material, "density", &s->density));
    KILN_TRY(read_formula(p, material, "rho", &s->density));
    if (!s->young.lua || !s->poisson.lua)
        KILN_TRY(from_lame(p, material, s));
    else if (p->is_flat)
        KILN_TRY(to_plane(p, material, s));
    return check_stuff(p, material, s);
}

static void put_amount(polyfem *p, const char *key, const polyfem_formula *f)
{
    kiln_lua_put(&p->locals, ", %s = ", key);
    if (f->uses) {
        kiln_lua_put(&p->locals, "function(c) local x, y, z, t = c.u.x, c.u.y, c.u.z, c.t");
        if (p->t0 != 0.0) {
            kiln_lua_put(&p->locals, " + ");
            kiln_lua_put_number(&p->locals, p->t0);
        }
        kiln_lua_put(&p->locals, "; return ");
    }
    kiln_lua_put_text(&p->locals, f->lua, strlen(f->lua));
    kiln_lua_put(&p->locals, f->uses ? " end" : "");
}

static kiln_status put_material(polyfem *p, const kiln_json_node *material, size_t number)
{
    const char *type = "";
    stuff s;
    if (material->type != KILN_JSON_IS_OBJECT)
        return kiln_json_fail(material, p->error, "must be an object");
    KILN_TRY(kiln_polyfem_word(p, material, "type", &type));
    const char *model = model_of(type);
    if (!model)
        return kiln_json_fail(material, p->error,
                              "type \"%.40s\" is not supported: NeoHookean, LinearElasticity, "
                              "HookeLinearElasticity, SaintVenant and FixedCorotational are",
                              type);
    KILN_TRY(read_stuff(p, material, &s));
    kiln_lua_put(&p->locals, "materials[%zu] = material {name = \"material %zu\", model = ", number,
                 number);
    kiln_lua_put(&p->locals, "\"%s\"", model);
    put_amount(p, "young", &s.young);
    put_amount(p, "poisson", &s.poisson);
    put_amount(p, "density", &s.density);
    kiln_lua_put(&p->locals, ", nodal_pressure = \"off\"}");
    kiln_polyfem_end_line(p, &p->locals, material);
    return KILN_OK;
}

kiln_status kiln_polyfem_put_materials(polyfem *p)
{
    const kiln_json_node *list = kiln_polyfem_get(p->root, "materials");
    size_t number = 0;
    if (!list || list->count == 0)
        return kiln_json_fail(p->root, p->error, "materials must be given");
    p->softest = INFINITY;
    kiln_lua_put(&p->locals, "local materials = {}\n"); /* of locals there may be 200 */
    for (const kiln_json_node *at = list->first; at; at = at->next)
        KILN_TRY(put_material(p, at, ++number));
    return KILN_OK;
}

kiln_status kiln_polyfem_material_of(polyfem *p, const kiln_json_node *geometry, int id,
                                     size_t *number)
{
    const kiln_json_node *list = kiln_polyfem_get(p->root, "materials");
    *number = 0;
    for (const kiln_json_node *at = list->first; at; at = at->next) {
        bool found;
        ++*number;
        KILN_TRY(kiln_polyfem_has_id(p, at, id, &found));
        if (found)
            return KILN_OK;
    }
    return kiln_json_fail(geometry, p->error, "no material has the id %d of its volume", id);
}
