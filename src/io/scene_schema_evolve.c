/* The rows of plasticity, remeshing and contact. */
#include "io/scene_reader.h"

#include <math.h>

#define ROWS(list)       list, sizeof list / sizeof list[0]
#define IN(type, member) offsetof(type, member)

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

static void start_plastic(void *target)
{
    *(scene_plastic_draft *)target = (scene_plastic_draft){.yield = kiln_quantity_number(0.0)};
}

static const scene_row plastic_rows[] = {
    {"norm", SCENE_CHOICE, IN(scene_plastic_draft, plastic.norm), .choices = norm_name,
     .meaning = "of the stress: frobenius of all of it, pressure included; mises of its deviator, "
                "sqrt(2/3) of the stress in a tension test"},
    {"yield", SCENE_AMOUNT, IN(scene_plastic_draft, yield), SCENE_NOT_NEG, "Pa", "none",
     .meaning = "flows where the norm passes this (this or `yield_stress`); 0: creeps",
     .signature = SCENE_OF_CIRCUMSTANCES},
    {"yield_stress", SCENE_NUMBER, IN(scene_plastic_draft, yield_stress), SCENE_NOT_NEG, "Pa",
     "none", .meaning = "the stress at which it yields in a tension test, in place of `yield`"},
    {"flow", SCENE_CHOICE, IN(scene_plastic_draft, flow), .choices = flow_name,
     .meaning = "rate: as fast as `rate` says; instant: at once, back to the yield surface"},
    {"rate", SCENE_AMOUNT, IN(scene_plastic_draft, rate), SCENE_NOT_NEG, "1/s",
     "must be given with flow rate",
     .meaning = "in a second this part of the strain beyond yield becomes plastic",
     .signature = SCENE_OF_CIRCUMSTANCES},
    {"law", SCENE_CHOICE, IN(scene_plastic_draft, plastic.law), .choices = law_name,
     .meaning = "of hardening. work: yield grows by `hardening` times the stress that flows away; "
                "stress: by `hardening` times the stress, each second, also below yield"},
    {"hardening", SCENE_AMOUNT, IN(scene_plastic_draft, hardening), SCENE_ANY,
     "none (work), 1/s (stress)", NULL, .meaning = "negative: softens",
     .signature = SCENE_OF_CIRCUMSTANCES},
    {"hardening_modulus", SCENE_NUMBER, IN(scene_plastic_draft, hardening_modulus), SCENE_ANY, "Pa",
     "none",
     .meaning = "growth of the yield stress over equivalent plastic strain, in place of "
                "`hardening`; with the norm mises, the law work and a constant stiffness"},
};
const scene_object kiln_scene_object_plastic = {
    "plastic",
    "When a material yields and how it flows then. Of `c`, the stress is in the norm that yields. "
    "`plastic { norm = \"mises\", flow = \"instant\", yield_stress = 400e6, hardening_modulus = "
    "100e6 }` is a metal, `plastic { yield = 500, rate = 10 }` dough.",
    ROWS(plastic_rows), sizeof(scene_plastic_draft), start_plastic};

static const char *method_name(int row)
{
    static const char *const names[] = {"none", "local", "global", NULL};
    return names[row];
}

static const char *space_name(int row)
{
    static const char *const names[] = {"material", "world", NULL};
    return names[row];
}

static void start_remesh(void *target)
{
    kiln_scene *scene = target;
    kiln_scene_init(scene, NULL);
    scene->remesh.method = KILN_REMESH_LOCAL;
}

#define REMESH(member) IN(kiln_scene, remesh.member)
static const scene_row remesh_rows[] = {
    {"method", SCENE_CHOICE, REMESH(method), .choices = method_name,
     .meaning = "local: bad tets are repaired, edges split and contracted; global: a new mesh for "
                "all when the old one has become bad, and bodies that touch merge"},
    {"space", SCENE_CHOICE, REMESH(space), .choices = space_name,
     .meaning = "the mesh that is kept good. material: elastic deformation needs no remeshing and "
                "returns exactly; world: always so with global"},
    {"quality", SCENE_NUMBER, REMESH(quality), SCENE_BETWEEN(0, 1), NULL, NULL,
     .meaning = "tets below are repaired; 1 is the regular tet"},
    {"every", SCENE_WHOLE, REMESH(every), SCENE_WITHIN(1, 1000000), "steps", NULL,
     .meaning = "between looks at the mesh where sizes are asked for; where none are, bad tets "
                "are repaired in the step in which they become so"},
    {"size", SCENE_NUMBER, REMESH(size), SCENE_NOT_NEG, "m", NULL,
     .meaning = "length of edges in the material; 0: no such wish. Of several wishes for sizes, "
                "the finest counts, direction by direction"},
    {"deformation", SCENE_NUMBER, REMESH(deformation), SCENE_NOT_NEG, "m", NULL,
     .meaning = "length of edges in the world, where they are stretched; 0: no such wish"},
    {"strain", SCENE_NUMBER, REMESH(strain), SCENE_NOT_NEG, "1/m", NULL,
     .meaning = "finer where the deformation changes from place to place; 0: no such wish"},
    {"strain_printed", SCENE_FLAG, REMESH(strain_printed),
     .meaning = "`strain` by the equation as it is printed in the paper"},
    {"curvature", SCENE_NUMBER, REMESH(curvature), SCENE_WITHIN(0, 3), "rad", NULL,
     .meaning = "finer where the surface is round: no edge along it turns by more than this; 0: no "
                "such wish"},
    {"size_min", SCENE_NUMBER, REMESH(size_min), SCENE_NOT_NEG, "m", NULL,
     .meaning = "no edge is asked to be shorter; 0: a tenth of the mean edge of the start mesh"},
    {"size_max", SCENE_NUMBER, REMESH(size_max), SCENE_NOT_NEG, "m", NULL,
     .meaning = "nor longer; 0: as long as those of the start mesh"},
    {"isotropic", SCENE_FLAG, REMESH(isotropic),
     .meaning = "the finest size counts in every direction"},
    {"gradation", SCENE_NUMBER, REMESH(gradation), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "ratio of sizes one edge apart, above 1; 0: any"},
    {"most_tets", SCENE_NUMBER, REMESH(most_tets), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "no splits beyond this many; 0: no limit"},
    {"condition", SCENE_NUMBER, REMESH(condition), SCENE_POSITIVE, NULL, NULL,
     .meaning = "global: remesh when the condition number of a tet's shape passes this, above 1"},
    {"condition_change", SCENE_NUMBER, REMESH(condition_change), SCENE_POSITIVE, NULL, NULL,
     .meaning = "global: or has become worse by this factor since the last time, above 1"},
    {"merge", SCENE_NUMBER, REMESH(merge), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "global: surfaces closer than this part of the size there become one"},
};
const scene_object kiln_scene_object_remesh = {
    "remesh",
    "How the mesh follows what it carries. `remesh = \"local\"` is the same as `remesh = remesh { "
    "method = \"local\" }`.",
    ROWS(remesh_rows), sizeof(kiln_scene), start_remesh};

static void start_contact(void *target)
{
    kiln_scene *scene = target;
    kiln_scene_init(scene, NULL);
    scene->contact.bodies = scene->contact.self = true;
}

#define CONTACT(member) IN(kiln_scene, contact.member)
static const scene_row contact_rows[] = {
    {"bodies", SCENE_FLAG, CONTACT(bodies), .meaning = "bodies keep out of each other"},
    {"self", SCENE_FLAG, CONTACT(self), .meaning = "and out of themselves"},
    {"thickness", SCENE_NUMBER, CONTACT(thickness), SCENE_NOT_NEG, "m", NULL,
     .meaning = "surfaces closer than this repel; 0: a tenth of the bodies' mean edge"},
    {"stiffness", SCENE_NUMBER, CONTACT(stiffness), SCENE_POSITIVE, NULL, NULL,
     .meaning = "of the repulsion, relative to the bodies'"},
    {"friction", SCENE_NUMBER, CONTACT(friction), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "Coulomb's coefficient"},
};
const scene_object kiln_scene_object_contact = {
    "contact", "Bodies against each other and themselves. Without it they pass through each other.",
    ROWS(contact_rows), sizeof(kiln_scene), start_contact};
