#include "sim/output_settings.h"

kiln_scene_output kiln_output_default_settings(void)
{
    return (kiln_scene_output){.frame = 0.04,
                               .fields = 1u << KILN_OUTPUT_MISES,
                               .velocity = true,
                               .temperature = true,
                               .material_position = true,
                               .obstacles = true,
                               .triangles = true};
}

static void start(void *settings)
{
    *(kiln_scene_output *)settings = kiln_output_default_settings();
}

/* Those of elements first, by kiln_element_output. */
static const struct {
    const char *name, *meaning;
} fields[] = {
    {"deformation", "deformation gradient F, 9 numbers, by tet"},
    {"stress", "Cauchy stress xx yy zz xy yz xz, Pa, by tet"},
    {"mises", "von Mises stress, Pa, by tet"},
    {"pressure", "minus the mean of the Cauchy stress, Pa, by tet"},
    {"energy", "elastic energy, J per rest volume, by tet"},
    {"velocity", "v, m/s, by vertex"},
    {"material", "material position u, m, by vertex"},
    {"reaction", "what holds the held vertices, N, by vertex"},
    {"contact", "what obstacles and other surfaces press and rub with, N, by vertex"},
    {"plastic_strain", "equivalent plastic strain, by tet"},
    {"hardening", "what the hardening law has added up, Pa (work) or Pa s (stress), by tet"},
    {"displacement", "world position minus material position of the start, m, by vertex"},
    {"quality", "of the tet in the world, 1 for a regular one, by tet"},
    {"contact_pressure", "normal force of contact by the vertex's share of the surface as it is, "
                         "Pa, by vertex"},
    {"gap", "distance to the nearest other surface, beyond the clearance, where below "
            "contact.thickness, else that, m, by vertex"},
    {"slip", "speed along what presses, below step.friction_speed it sticks; 0 where nothing "
             "does, m/s, by vertex"},
    {"temperature", "K, by vertex; in scenes with `heat`"},
    {NULL, NULL},
};

const char *kiln_output_field_name(int row)
{
    return fields[row].name;
}

const char *kiln_output_field_meaning(int row)
{
    return fields[row].meaning;
}

/* A list of fields takes the place of the preset one: those beyond the elements' are flags. */
static kiln_status finish(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)error;
    kiln_scene_output *output = settings;
    bool *flag[] = {&output->velocity,
                    &output->material_position,
                    &output->reaction,
                    &output->contact,
                    &output->plastic_strain,
                    &output->hardening,
                    &output->displacement,
                    &output->quality,
                    &output->contact_pressure,
                    &output->gap,
                    &output->slip,
                    &output->temperature};
    if (!kiln_is_given(given, "fields"))
        return KILN_OK;
    for (size_t i = 0; i < sizeof flag / sizeof flag[0]; i++)
        *flag[i] = output->fields >> (KILN_OUTPUT_COUNT + i) & 1;
    output->fields &= (1u << KILN_OUTPUT_COUNT) - 1;
    return KILN_OK;
}

static const kiln_schema_row output_rows[] = {
    {"frame", KILN_VALUE_NUMBER, offsetof(kiln_scene_output, frame), KILN_NOT_NEGATIVE, "s", NULL,
     .meaning = "time between frames, met exactly; 0: only the first and the last"},
    {"checkpoint", KILN_VALUE_NUMBER, offsetof(kiln_scene_output, checkpoint), KILN_NOT_NEGATIVE,
     "s", NULL,
     .meaning = "simulated time between checkpoints; 0: one a minute by the clock on the wall"},
    {"fields", KILN_VALUE_NAMES, offsetof(kiln_scene_output, fields),
     .choices = kiln_output_field_name, .preset = "{\"mises\", \"velocity\", \"material\"}",
     .meaning = "columns of the frames, see below"},
    {"obstacles", KILN_VALUE_FLAG, offsetof(kiln_scene_output, obstacles),
     .meaning = "obstacles as surfaces beside the frames"},
    {"triangles", KILN_VALUE_FLAG, offsetof(kiln_scene_output, triangles),
     .meaning = "surface triangles as cells of the frames, after the tets"},
};
const kiln_schema kiln_output_schema = {
    .name = "output",
    .about = "What is written, and when.",
    KILN_SCHEMA_ROWS(output_rows),
    .size = sizeof(kiln_scene_output),
    .start = start,
    .finish = finish,
};
