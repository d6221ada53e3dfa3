#include "sim/material_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *norm_name(int row)
{
    static const char *const names[] = {"frobenius", "mises", NULL};
    return names[row];
}

static const char *flow_name(int row)
{
    static const char *const names[] = {"rate", "instant", NULL};
    return names[row];
}

static const char *law_name(int row)
{
    static const char *const names[] = {"work", "stress", NULL};
    return names[row];
}

static void start_plastic(void *settings)
{
    *(kiln_plastic_settings *)settings =
        (kiln_plastic_settings){.yield = kiln_quantity_number(0.0)};
}

/* Of two keys that say the same in different words. */
static kiln_status check_either(const kiln_given *given, const char *one, const char *other,
                                kiln_error *error)
{
    if (kiln_is_given(given, one) && kiln_is_given(given, other))
        return kiln_fail_setting(error, NULL, "must have either %s or %s, got both", one, other);
    return KILN_OK;
}

static kiln_status check_plastic(const kiln_plastic_settings *p, const kiln_given *given,
                                 kiln_error *error)
{
    KILN_TRY(check_either(given, "yield", "yield_stress", error));
    KILN_TRY(check_either(given, "hardening", "hardening_modulus", error));
    if (!kiln_is_given(given, "yield") && !kiln_is_given(given, "yield_stress"))
        return kiln_fail_setting(error, NULL, "must have either yield or yield_stress, got none");
    bool has_rate = kiln_is_given(given, "rate");
    if (p->plastic.instant && has_rate)
        return kiln_fail_setting(error, "rate", "flow \"instant\" has no rate");
    if (!p->plastic.instant && !has_rate)
        return kiln_fail_setting(error, "rate", "must be given with flow \"rate\", in 1/s");
    bool is_metal = p->plastic.norm == KILN_YIELD_MISES && p->plastic.law == KILN_HARDENING_WORK;
    if (p->by_modulus && !is_metal)
        return kiln_fail_setting(error, "hardening_modulus",
                                 "needs the norm \"mises\" and the law \"work\"");
    return KILN_OK;
}

static kiln_status finish_plastic(void *settings, const kiln_given *given, kiln_error *error)
{
    kiln_plastic_settings *p = settings;
    p->plastic.flows = true;
    p->plastic.instant = p->flow == 1;
    p->by_modulus = kiln_is_given(given, "hardening_modulus");
    KILN_TRY(check_plastic(p, given, error));
    if (kiln_is_given(given, "yield_stress"))
        p->yield = kiln_quantity_number(p->plastic.norm == KILN_YIELD_MISES
                                            ? sqrt(2.0 / 3.0) * p->yield_stress
                                            : p->yield_stress);
    return KILN_OK;
}

#define PLASTIC(member) offsetof(kiln_plastic_settings, member)
static const kiln_schema_row plastic_rows[] = {
    {"norm", KILN_VALUE_CHOICE, PLASTIC(plastic.norm), .choices = norm_name,
     .meaning = "of the stress: frobenius of all of it, pressure included; mises of its deviator, "
                "sqrt(2/3) of the stress in a tension test"},
    {"yield", KILN_VALUE_AMOUNT, PLASTIC(yield), KILN_NOT_NEGATIVE, "Pa", "none",
     .meaning = "flows where the norm passes this (this or `yield_stress`); 0: creeps",
     .signature = KILN_OF_CIRCUMSTANCES},
    {"yield_stress", KILN_VALUE_NUMBER, PLASTIC(yield_stress), KILN_NOT_NEGATIVE, "Pa", "none",
     .meaning = "the stress at which it yields in a tension test, in place of `yield`"},
    {"flow", KILN_VALUE_CHOICE, PLASTIC(flow), .choices = flow_name,
     .meaning = "rate: as fast as `rate` says; instant: at once, back to the yield surface"},
    {"rate", KILN_VALUE_AMOUNT, PLASTIC(rate), KILN_NOT_NEGATIVE, "1/s",
     "must be given with flow rate",
     .meaning = "in a second this part of the strain beyond yield becomes plastic",
     .signature = KILN_OF_CIRCUMSTANCES},
    {"law", KILN_VALUE_CHOICE, PLASTIC(plastic.law), .choices = law_name,
     .meaning = "of hardening. work: yield grows by `hardening` times the stress that flows away; "
                "stress: by `hardening` times the stress, each second, also below yield"},
    {"hardening", KILN_VALUE_AMOUNT, PLASTIC(hardening), KILN_ANY_NUMBER,
     "none (work), 1/s (stress)", NULL, .meaning = "negative: softens",
     .signature = KILN_OF_CIRCUMSTANCES},
    {"hardening_modulus", KILN_VALUE_NUMBER, PLASTIC(hardening_modulus), KILN_ANY_NUMBER, "Pa",
     "none",
     .meaning = "growth of the yield stress over equivalent plastic strain, in place of "
                "`hardening`; with the norm mises, the law work and a constant stiffness"},
};
const kiln_schema kiln_plastic_schema = {
    .name = "plastic",
    .about = "When a material yields and how it flows then. Of `c`, the stress is in the norm that "
             "yields. `plastic { norm = \"mises\", flow = \"instant\", yield_stress = 400e6, "
             "hardening_modulus = 100e6 }` is a metal, `plastic { yield = 500, rate = 10 }` dough.",
    KILN_SCHEMA_ROWS(plastic_rows),
    .size = sizeof(kiln_plastic_settings),
    .start = start_plastic,
    .finish = finish_plastic,
    .off = start_plastic,
};

static const char *pressure_name(int row)
{
    static const char *const names[] = {"stabilised", "subdivide", "mini", NULL};
    return names[row];
}

static void start_liquid(void *settings)
{
    *(kiln_liquid_settings *)settings = (kiln_liquid_settings){0};
}

static kiln_status finish_liquid(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    (void)error;
    ((kiln_liquid_settings *)settings)->liquid = true;
    return KILN_OK;
}

static const kiln_schema_row liquid_rows[] = {
    {"surface_tension", KILN_VALUE_NUMBER, offsetof(kiln_liquid_settings, surface_tension),
     KILN_NOT_NEGATIVE, "N/m", NULL, .meaning = "of its surface with air; water has 0.073"},
    {"pressure", KILN_VALUE_CHOICE, offsetof(kiln_liquid_settings, pressure),
     .choices = pressure_name,
     .meaning = "what keeps it from alternating from vertex to vertex. stabilised: each tet lets "
                "go of a tenth of what is not constant in it; subdivide: tets and edges between "
                "surfaces are divided while a step is found (as in the paper SLI); mini: an "
                "unknown more in each tet, for liquid so viscous that its inertia hardly counts"},
};
const kiln_schema kiln_liquid_schema = {
    .name = "liquid",
    .about = "Matter that keeps its volume and has no shape to go back to. `material { density = "
             "997, viscosity = 1e-3, liquid = liquid { surface_tension = 0.073 } }` is water.",
    KILN_SCHEMA_ROWS(liquid_rows),
    .size = sizeof(kiln_liquid_settings),
    .start = start_liquid,
    .finish = finish_liquid,
    .off = start_liquid,
};

static void start_thermal(void *settings)
{
    *(kiln_thermal_settings *)settings = (kiln_thermal_settings){
        .conductivity = kiln_quantity_number(0.0), .base = {.range = 0.5}, .reference = NAN};
}

static kiln_status finish_thermal(void *settings, const kiln_given *given, kiln_error *error)
{
    kiln_thermal_settings *t = settings;
    if (t->base.latent > 0.0 && !kiln_is_given(given, "melting"))
        return kiln_fail_setting(error, "melting", "must be given with latent heat, in K");
    t->conducts = true;
    t->melts = kiln_is_given(given, "melting");
    t->base.conductivity = t->conductivity.evaluate ? 0.0 : t->conductivity.constant[0];
    return KILN_OK;
}

#define THERMAL(member) offsetof(kiln_thermal_settings, member)
static const kiln_schema_row thermal_rows[] = {
    {"conductivity", KILN_VALUE_AMOUNT, THERMAL(conductivity), KILN_NOT_NEGATIVE, "W/(m K)", "",
     .meaning = "of heat; a function is asked at the begin of each step",
     .signature = KILN_OF_CIRCUMSTANCES},
    {"capacity", KILN_VALUE_NUMBER, THERMAL(base.capacity), KILN_POSITIVE, "J/(kg K)", "",
     .meaning = "specific heat"},
    {"expansion", KILN_VALUE_NUMBER, THERMAL(expansion), KILN_ANY_NUMBER, "1/K", NULL,
     .meaning = "of lengths with temperature; matter that is kept from it is under stress"},
    {"reference", KILN_VALUE_NUMBER, THERMAL(reference), KILN_NOT_NEGATIVE, "K",
     "that of the start, place by place", .meaning = "the temperature at which it has no stress"},
    {"latent", KILN_VALUE_NUMBER, THERMAL(base.latent), KILN_NOT_NEGATIVE, "J/kg", NULL,
     .meaning = "heat that it takes to melt"},
    {"melting", KILN_VALUE_NUMBER, THERMAL(base.melts), KILN_NOT_NEGATIVE, "K", "none",
     .meaning = "the middle of the range in which it melts"},
    {"range", KILN_VALUE_NUMBER, THERMAL(base.range), KILN_POSITIVE, "K", NULL,
     .meaning = "half of that range"},
};
const kiln_schema kiln_thermal_schema = {
    .name = "thermal",
    .about = "What heat does in a material, in scenes with `heat`. `thermal { conductivity = 35, "
             "capacity = 130, expansion = 29e-6 }` is lead.",
    KILN_SCHEMA_ROWS(thermal_rows),
    .size = sizeof(kiln_thermal_settings),
    .start = start_thermal,
    .finish = finish_thermal,
    .off = start_thermal,
};

static const char *model_name(int row)
{
    const kiln_material_model *model = kiln_material_model_at((size_t)row);
    return model ? model->name : NULL;
}

static const char *nodal_pressure_name(int row)
{
    static const char *const names[] = {"auto", "on", "off"};
    return row < 3 ? names[row] : NULL;
}

static void start_material(void *settings)
{
    kiln_material_settings *s = settings;
    *s = (kiln_material_settings){.material = {.young = kiln_quantity_number(0.0),
                                               .poisson = kiln_quantity_number(0.3),
                                               .density = kiln_quantity_number(1000.0),
                                               .viscosity = kiln_quantity_number(0.0)}};
    start_plastic(&s->plastic);
    start_thermal(&s->material.thermal);
    for (int i = 0; model_name(i); i++)
        if (strcmp(model_name(i), "stable-neo-hookean") == 0)
            s->model = i;
}

static kiln_status take_plastic(kiln_scene_material *m, const kiln_plastic_settings *p,
                                kiln_error *error)
{
    if (p->by_modulus && m->varies)
        return kiln_fail_setting(error, "plastic",
                                 "hardening_modulus needs young and poisson to be numbers");
    m->yield = p->yield;
    m->rate = p->rate;
    /* Along the flow the norm falls by 2 mu |d dev ln S| = sqrt(6) mu d(strain), and the threshold
     * is sqrt(2/3) of the yield stress. */
    m->hardening = p->by_modulus ? kiln_quantity_number(p->hardening_modulus / (3.0 * m->base.mu))
                                 : p->hardening;
    m->flow_varies = m->yield.evaluate || m->rate.evaluate || m->hardening.evaluate;
    m->base.plastic = p->plastic;
    m->base.plastic.yield = m->yield.constant[0];
    m->base.plastic.rate = m->rate.constant[0];
    m->base.plastic.hardening = m->hardening.constant[0];
    return KILN_OK;
}

/* Liquid has no stiffness; what is left of a model is that it does not let tets turn over. */
static kiln_status take_liquid(kiln_material_settings *s, const kiln_given *given,
                               kiln_error *error)
{
    static const char *const solid[] = {
        "model",         "young", "poisson", "plastic", "nodal_pressure", "damping_stiffness",
        "contact_angle", "melt"};
    for (size_t i = 0; i < sizeof solid / sizeof *solid; i++)
        if (kiln_is_given(given, solid[i]))
            return kiln_fail_setting(error, solid[i], "is of solids, and the material is liquid");
    s->material.young = s->material.poisson = kiln_quantity_number(0.0);
    s->material.base.liquid = true;
    s->material.base.surface_tension = s->liquid.surface_tension;
    s->material.base.pressure = (kiln_pressure_rule)s->liquid.pressure;
    for (s->model = 0; strcmp(model_name(s->model), "neo-hookean") != 0;)
        s->model++;
    if (!s->material.name[0])
        snprintf(s->material.name, sizeof s->material.name, "liquid");
    return KILN_OK;
}

static kiln_status finish_material(void *settings, const kiln_given *given, kiln_error *error)
{
    kiln_material_settings *s = settings;
    kiln_scene_material *m = &s->material;
    if (s->liquid.liquid)
        KILN_TRY(take_liquid(s, given, error));
    else if (!kiln_is_given(given, "young"))
        return kiln_fail_setting(error, "young", "must be given: Young's modulus");
    m->base.wettable = kiln_is_given(given, "contact_angle");
    m->melt = kiln_is_given(given, "melt") ? s->melt + 1 : 0;
    m->base.model = kiln_material_model_at((size_t)s->model);
    m->varies = m->young.evaluate || m->poisson.evaluate || m->viscosity.evaluate;
    if (!m->varies)
        kiln_lame_from_young(m->young.constant[0], m->poisson.constant[0], &m->base.mu,
                             &m->base.lambda);
    KILN_TRY(take_plastic(m, &s->plastic, error));
    bool locks = (!m->poisson.evaluate && m->poisson.constant[0] > 0.45) ||
                 (m->base.plastic.flows && m->base.plastic.norm == KILN_YIELD_MISES);
    m->base.nodal_pressure = s->nodal_pressure == 1 || (s->nodal_pressure == 0 && locks);
    m->base.density = m->density.evaluate ? 0.0 : m->density.constant[0];
    m->base.viscosity = m->viscosity.evaluate ? 0.0 : m->viscosity.constant[0];
    if (!m->name[0])
        snprintf(m->name, sizeof m->name, "%.60s", m->base.model->name);
    return KILN_OK;
}

#define MATERIAL(member) offsetof(kiln_material_settings, member)
static const kiln_schema_row material_rows[] = {
    {"name", KILN_VALUE_NAME, MATERIAL(material.name), .preset = "the model's",
     .meaning = "for messages and lists"},
    {"model", KILN_VALUE_CHOICE, MATERIAL(model), .choices = model_name,
     .meaning = "the elastic energy; linear is for small rotations, larger ones swell it and its "
                "damping and viscosity brake them"},
    {"young", KILN_VALUE_AMOUNT, MATERIAL(material.young), KILN_POSITIVE, "Pa",
     "must be given of solids", .meaning = "Young's modulus", .signature = KILN_OF_CIRCUMSTANCES},
    {"poisson", KILN_VALUE_AMOUNT, MATERIAL(material.poisson), KILN_BETWEEN(-1, 0.5), NULL, NULL,
     .meaning = "Poisson's ratio; 0.5 would be incompressible", .signature = KILN_OF_CIRCUMSTANCES},
    {"density", KILN_VALUE_AMOUNT, MATERIAL(material.density), KILN_POSITIVE, "kg/m^3", NULL,
     .meaning = "mass per rest volume; a function is asked once, at the start",
     .signature = KILN_OF_CIRCUMSTANCES},
    {"damping_mass", KILN_VALUE_NUMBER, MATERIAL(material.base.damping_mass), KILN_NOT_NEGATIVE,
     "1/s", NULL, .meaning = "Rayleigh damping by mass: slows everything down"},
    {"damping_stiffness", KILN_VALUE_NUMBER, MATERIAL(material.base.damping_stiffness),
     KILN_NOT_NEGATIVE, "s", NULL,
     .meaning = "Rayleigh damping by stiffness: takes out vibration; at finite strain of "
                "first order in dt with every integrator, as viscosity is"},
    {"viscosity", KILN_VALUE_AMOUNT, MATERIAL(material.viscosity), KILN_NOT_NEGATIVE, "Pa s", NULL,
     .meaning = "shear viscosity", .signature = KILN_OF_CIRCUMSTANCES},
    {"plastic", KILN_VALUE_TABLE, MATERIAL(plastic), .schema = &kiln_plastic_schema,
     .preset = "none: elastic",
     .meaning = "when it yields and how it flows then; with the linear model for small rotations "
                "only"},
    {"liquid", KILN_VALUE_TABLE, MATERIAL(liquid), .schema = &kiln_liquid_schema,
     .preset = "none: solid", .meaning = "flows as its density, viscosity and surface say"},
    {"melt", KILN_VALUE_MATERIAL, MATERIAL(melt), .preset = "none: it stays solid",
     .meaning = "the liquid that it becomes where it is warm (`thermal.melting`, `thermal.range`), "
                "and that becomes it where it is cold; [heat.md](heat.md#melting-and-freezing)"},
    {"thermal", KILN_VALUE_TABLE, MATERIAL(material.thermal), .schema = &kiln_thermal_schema,
     .preset = "none", .meaning = "what heat does in it; in scenes with [heat](#heat)"},
    {"contact_angle", KILN_VALUE_NUMBER, MATERIAL(material.base.contact_angle), KILN_WITHIN(0, 180),
     "degrees", "none: its line stays",
     .meaning = "of a solid: the angle at which liquid of the same body meets it, measured in the "
                "liquid; its line slides there"},
    {"nodal_pressure", KILN_VALUE_CHOICE, MATERIAL(nodal_pressure), .choices = nodal_pressure_name,
     .meaning =
         "average the pressure around vertices, against locking when poisson nears 0.5 or flow "
         "keeps volumes; auto: when it is above 0.45, or plastic in the norm mises"},
};
const kiln_schema kiln_material_schema = {
    .name = "material",
    .about = "What a body is made of. One material may be given to several bodies and regions.",
    KILN_SCHEMA_ROWS(material_rows),
    .size = sizeof(kiln_material_settings),
    .start = start_material,
    .finish = finish_material,
    .has_said = true,
};
