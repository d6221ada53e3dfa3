#include "sim/through.h"

static void start_inlet(void *settings)
{
    *(kiln_scene_inlet *)settings = (kiln_scene_inlet){.layer = 0.0};
}

#define INLET(member) offsetof(kiln_scene_inlet, member)
static const kiln_schema_row inlet_rows[] = {
    {"where", KILN_VALUE_SELECTION, INLET(where), .preset = "",
     .meaning = "surface faces of a liquid body that lie in one plane"},
    {"velocity", KILN_VALUE_FIELD, INLET(velocity), KILN_ANY_NUMBER, "m/s", "",
     .meaning = "of what comes in, the same all over the faces; into the liquid",
     .signature = KILN_OF_TIME},
    {"layer", KILN_VALUE_NUMBER, INLET(layer), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "thickness of the layers of tets it comes in by; 0: the mean edge of the faces"},
};
static const kiln_schema inlet_schema = {
    .name = "inlet",
    .about =
        "Liquid is pushed in through faces of a body, layer by layer. Walls that meet the faces "
        "must let it pass along them.",
    KILN_SCHEMA_ROWS(inlet_rows),
    .size = sizeof(kiln_scene_inlet),
    .start = start_inlet,
    .has_said = true,
};

static void start_outlet(void *settings)
{
    *(kiln_scene_outlet *)settings =
        (kiln_scene_outlet){.pressure = kiln_quantity_number(0.0), .every = 5};
}

static kiln_status finish_outlet(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    kiln_scene_outlet *outlet = settings;
    double length = kiln_v3_norm(outlet->normal);
    if (!(length > 0.0))
        return kiln_fail_setting(error, "normal", "must have a length, got none");
    outlet->normal = kiln_v3_scale(outlet->normal, 1.0 / length);
    return KILN_OK;
}

#define OUTLET(member) offsetof(kiln_scene_outlet, member)
static const kiln_schema_row outlet_rows[] = {
    {"point", KILN_VALUE_VECTOR, OUTLET(point), KILN_ANY_NUMBER, "m", "",
     .meaning = "of the plane"},
    {"normal", KILN_VALUE_VECTOR, OUTLET(normal), KILN_ANY_NUMBER, NULL, "",
     .meaning = "of the plane, out of the liquid; any length"},
    {"pressure", KILN_VALUE_AMOUNT, OUTLET(pressure), KILN_ANY_NUMBER, "Pa", NULL,
     .meaning = "on the surface that is left there", .signature = KILN_OF_TIME},
    {"beyond", KILN_VALUE_NUMBER, OUTLET(beyond), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "tets go once they are wholly farther than this beyond the plane; 0: the mean edge "
                "of the bodies at the start"},
    {"every", KILN_VALUE_WHOLE, OUTLET(every), KILN_WITHIN(1, 1000000), NULL, NULL,
     .meaning = "steps between looks"},
};
static const kiln_schema outlet_schema = {
    .name = "outlet",
    .about = "A plane past which liquid is taken away.",
    KILN_SCHEMA_ROWS(outlet_rows),
    .size = sizeof(kiln_scene_outlet),
    .start = start_outlet,
    .finish = finish_outlet,
    .has_said = true,
};

static void start(void *settings)
{
    *(kiln_scene_through *)settings = (kiln_scene_through){.inlets = {0}};
}

static kiln_status finish(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    const kiln_scene_through *through = settings;
    if (through->inlets.count > KILN_MOST_INLETS)
        return kiln_fail_setting(error, "inlets", "has %zu, of which there may be %d",
                                 through->inlets.count, KILN_MOST_INLETS);
    if (through->inlets.count + through->outlets.count == 0)
        return kiln_fail_setting(error, NULL, "must have inlets or outlets, got neither");
    return KILN_OK;
}

#define THROUGH(member) offsetof(kiln_scene_through, member)
static const kiln_schema_row through_rows[] = {
    {"inlets", KILN_VALUE_LIST, THROUGH(inlets), .schema = &inlet_schema, .preset = "none",
     .meaning = "where liquid comes in"},
    {"outlets", KILN_VALUE_LIST, THROUGH(outlets), .schema = &outlet_schema, .preset = "none",
     .meaning = "where it leaves"},
};
const kiln_schema kiln_through_schema = {
    .name = "through",
    .about =
        "Liquid that flows through: it comes in at inlets and leaves at outlets. What has passed "
        "is in the columns in_volume, in_mass, out_volume and out_mass of stats.csv.",
    KILN_SCHEMA_ROWS(through_rows),
    .size = sizeof(kiln_scene_through),
    .start = start,
    .finish = finish,
    .has_said = true,
};
