#include "sim/remesh_settings.h"

/* What flows is never the same for long, and early repairs change less: with 0.15 tanks and falling
 * drops grew spikes. */
static const double LIQUID_QUALITY = 0.4;

kiln_scene_remesh kiln_remesh_default_settings(void)
{
    return (kiln_scene_remesh){.space = KILN_SPACE_MATERIAL,
                               .quality = 0.15,
                               .every = 1,
                               .gradation = 1.5,
                               .share = 0.05,
                               .rounds = 100,
                               .condition = 12.0,
                               .condition_change = 3.0,
                               .merge = 0.3,
                               .ridge_angle = 45.0,
                               .band = 1.0};
}

/* A scene that says something about it wants it. */
static void start(void *settings)
{
    kiln_scene_remesh *remesh = settings;
    *remesh = kiln_remesh_default_settings();
    remesh->method = KILN_REMESH_LOCAL;
    remesh->follow = true;
    remesh->contact = 0.5;
}

kiln_status kiln_remesh_check(const kiln_scene_remesh *remesh, kiln_error *error)
{
    if (remesh->method == KILN_REMESH_LOCAL && remesh->space != KILN_SPACE_WORLD &&
        remesh->merge > 0.0)
        return kiln_fail_setting(error, "remesh.merge",
                                 "needs space = \"world\": bodies have no material in common");
    return KILN_OK;
}

void kiln_remesh_preset_liquid(kiln_scene_remesh *remesh)
{
    if (remesh->method == KILN_REMESH_NONE && remesh->said.line == 0) {
        start(remesh);
        remesh->merge = 0.0; /* nobody has asked for it */
    }
    if (remesh->method != KILN_REMESH_LOCAL)
        return;
    remesh->space = KILN_SPACE_WORLD;
    if (!remesh->quality_said)
        remesh->quality = LIQUID_QUALITY;
}

bool kiln_remesh_has_wishes(const kiln_scene_remesh *remesh)
{
    return remesh->size > 0.0 || remesh->deformation > 0.0 || remesh->strain > 0.0 ||
           remesh->curvature > 0.0;
}

bool kiln_remesh_joins(const kiln_scene_remesh *remesh)
{
    return remesh->method == KILN_REMESH_GLOBAL ||
           (remesh->method == KILN_REMESH_LOCAL && remesh->space == KILN_SPACE_WORLD &&
            remesh->merge > 0.0);
}

static void off(void *settings)
{
    *(kiln_scene_remesh *)settings = kiln_remesh_default_settings();
}

static kiln_status check_method(const kiln_scene_remesh *remesh, const kiln_given *given,
                                kiln_error *error)
{
    static const struct {
        const char *key;
        kiln_remesh_method method;
        const char *name;
    } own[] = {
        {"condition", KILN_REMESH_GLOBAL, "global"},
        {"condition_change", KILN_REMESH_GLOBAL, "global"},
        {"every", KILN_REMESH_LOCAL, "local"},
        {"follow", KILN_REMESH_LOCAL, "local"},
        {"contact", KILN_REMESH_LOCAL, "local"},
        {"deformation", KILN_REMESH_LOCAL, "local"},
        {"strain", KILN_REMESH_LOCAL, "local"},
        {"strain_printed", KILN_REMESH_LOCAL, "local"},
        {"curvature", KILN_REMESH_LOCAL, "local"},
        {"chord", KILN_REMESH_LOCAL, "local"},
        {"isotropic", KILN_REMESH_LOCAL, "local"},
        {"pinch", KILN_REMESH_LOCAL, "local"},
        {"droplets", KILN_REMESH_LOCAL, "local"},
        {"gradation", KILN_REMESH_LOCAL, "local"},
        {"split", KILN_REMESH_ENERGY, "energy"},
        {"part", KILN_REMESH_ENERGY, "energy"},
        {"collapse", KILN_REMESH_ENERGY, "energy"},
        {"collapse_part", KILN_REMESH_ENERGY, "energy"},
        {"share", KILN_REMESH_ENERGY, "energy"},
        {"rounds", KILN_REMESH_ENERGY, "energy"},
    };
    if (remesh->method == KILN_REMESH_GLOBAL && remesh->space == KILN_SPACE_MATERIAL &&
        kiln_is_given(given, "space"))
        return kiln_fail_setting(error, "space", "the method \"global\" remeshes the world");
    if (remesh->method == KILN_REMESH_ENERGY && kiln_is_given(given, "merge"))
        return kiln_fail_setting(error, "merge",
                                 "is only for the methods \"global\" and \"local\"");
    if (remesh->droplets != KILN_DROPLETS_KEEP && !(remesh->pinch > 0.0))
        return kiln_fail_setting(error, "droplets", "needs pinch, which says how small they are");
    if (remesh->method == KILN_REMESH_ENERGY && remesh->space == KILN_SPACE_WORLD)
        return kiln_fail_setting(error, "space", "the method \"energy\" remeshes the material");
    if (remesh->method == KILN_REMESH_GLOBAL && kiln_is_given(given, "most_tets"))
        return kiln_fail_setting(error, "most_tets",
                                 "is only for the methods \"local\" and \"energy\"");
    if (remesh->method == KILN_REMESH_ENERGY && kiln_is_given(given, "size"))
        return kiln_fail_setting(error, "size", "is not for the method \"energy\"");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (remesh->method != KILN_REMESH_NONE && remesh->method != own[i].method &&
            kiln_is_given(given, own[i].key))
            return kiln_fail_setting(error, own[i].key, "is only for the method \"%s\"",
                                     own[i].name);
    return KILN_OK;
}

static kiln_status check_sizes(const kiln_scene_remesh *remesh, kiln_error *error)
{
    if (remesh->size_max > 0.0 && remesh->size_min > remesh->size_max)
        return kiln_fail_setting(error, "size_min", "must not be above size_max, %g, got %g",
                                 remesh->size_max, remesh->size_min);
    if (remesh->strain_printed && remesh->strain == 0.0)
        return kiln_fail_setting(error, "strain_printed", "needs strain");
    if (remesh->gradation != 0.0 && !(remesh->gradation > 1.0))
        return kiln_fail_setting(error, "gradation", "must be above 1, or 0, got %g",
                                 remesh->gradation);
    if (!(remesh->condition > 1.0))
        return kiln_fail_setting(error, "condition", "must be above 1, got %g", remesh->condition);
    if (!(remesh->condition_change > 1.0))
        return kiln_fail_setting(error, "condition_change", "must be above 1, got %g",
                                 remesh->condition_change);
    return KILN_OK;
}

static kiln_status finish(void *settings, const kiln_given *given, kiln_error *error)
{
    kiln_scene_remesh *remesh = settings;
    KILN_TRY(check_method(remesh, given, error));
    KILN_TRY(check_sizes(remesh, error));
    remesh->quality_said = kiln_is_given(given, "quality");
    if (remesh->method == KILN_REMESH_GLOBAL)
        remesh->space = KILN_SPACE_WORLD;
    else if (!kiln_is_given(given, "merge"))
        remesh->merge = 0.0;
    if (remesh->method != KILN_REMESH_LOCAL ||
        (kiln_remesh_has_wishes(remesh) && !kiln_is_given(given, "follow")))
        remesh->follow = false;
    if (!remesh->follow && !kiln_is_given(given, "contact"))
        remesh->contact = 0.0;
    return KILN_OK;
}

static const char *method_name(int row)
{
    static const char *const names[] = {"none", "local", "global", "energy", NULL};
    return names[row];
}

static const char *space_name(int row)
{
    static const char *const names[] = {"material", "world", NULL};
    return names[row];
}

static const char *droplets_name(int row)
{
    static const char *const names[] = {"keep", "remove", "merge", NULL};
    return names[row];
}

#define REMESH(member) offsetof(kiln_scene_remesh, member)
static const kiln_schema_row remesh_rows[] = {
    {"method", KILN_VALUE_CHOICE, REMESH(method), .choices = method_name,
     .meaning = "local: bad tets are repaired, edges split and contracted; global: a new mesh for "
                "all that can yield (plastic) when the old one has become bad; such bodies merge "
                "where they touch; energy: inside the step, where its energy falls by it"},
    {"space", KILN_VALUE_CHOICE, REMESH(space), .choices = space_name,
     .meaning = "the mesh that is kept good. material: elastic deformation needs no remeshing and "
                "returns exactly; world: always so with global and for liquid"},
    {"quality", KILN_VALUE_NUMBER, REMESH(quality), KILN_BETWEEN(0, 1), NULL, NULL,
     .meaning = "tets below are repaired; 1 is the regular tet. Preset of liquid: 0.4"},
    {"ridge_angle", KILN_VALUE_NUMBER, REMESH(ridge_angle), KILN_WITHIN(0, 180), "degrees", NULL,
     .meaning = "edges of the surface that turn by more are features, besides those between flat "
                "facets, which are features at any angle"},
    {"band", KILN_VALUE_NUMBER, REMESH(band), KILN_WITHIN(1e-3, 100), NULL, NULL,
     .meaning = "how far remeshing may move curved surfaces, times the usual (0.1 % of the model "
                "or 5 % of the edges there)"},
    {"every", KILN_VALUE_WHOLE, REMESH(every), KILN_WITHIN(1, 1000000), "steps", NULL,
     .meaning = "between looks at the mesh where sizes are asked for; where none are, bad tets "
                "are repaired in the step in which they become so"},
    {"follow", KILN_VALUE_FLAG, REMESH(follow),
     .meaning =
         "sizes follow the matter: as in the start mesh, finer where it is stretched or has "
         "flowed and where ridges and surfaces bend. Only where no wish below is given, unless it "
         "is said"},
    {"contact", KILN_VALUE_NUMBER, REMESH(contact), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "where an obstacle presses that is finer than the cells: edges of this part of its "
                "radius, no shorter than size_min or a twentieth of the mean edge of the start; 0: "
                "no such "
                "wish. Preset where sizes follow, else 0"},
    {"size", KILN_VALUE_NUMBER, REMESH(size), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "length of edges in the material; 0: no such wish. Of several wishes for sizes, "
                "the finest counts, direction by direction"},
    {"deformation", KILN_VALUE_NUMBER, REMESH(deformation), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "length of edges in the world, where they are stretched; 0: no such wish"},
    {"strain", KILN_VALUE_NUMBER, REMESH(strain), KILN_NOT_NEGATIVE, "1/m", NULL,
     .meaning = "finer where the deformation changes from place to place; 0: no such wish"},
    {"strain_printed", KILN_VALUE_FLAG, REMESH(strain_printed),
     .meaning = "`strain` by the equation as it is printed in the paper"},
    {"curvature", KILN_VALUE_NUMBER, REMESH(curvature), KILN_WITHIN(0, 3), "rad", NULL,
     .meaning = "finer where the surface is round: no edge along it turns by more than this; 0: no "
                "such wish"},
    {"chord", KILN_VALUE_NUMBER, REMESH(chord), KILN_WITHIN(0, 0.3), NULL, NULL,
     .meaning =
         "where sizes are given: a surface that has flowed keeps its shape, no edge of it is "
         "farther off the bend it spans than this part of its length; 0: no such wish. "
         "Sizes that follow see to bends by themselves"},
    {"size_min", KILN_VALUE_NUMBER, REMESH(size_min), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "no edge is asked to be shorter; 0: a tenth of the mean edge of the start mesh"},
    {"size_max", KILN_VALUE_NUMBER, REMESH(size_max), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "nor longer; 0: as long as those of the start mesh"},
    {"isotropic", KILN_VALUE_FLAG, REMESH(isotropic),
     .meaning = "the finest size counts in every direction"},
    {"gradation", KILN_VALUE_NUMBER, REMESH(gradation), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning =
         "ratio of sizes one edge apart, above 1; 0: any. Not where sizes follow by themselves"},
    {"most_tets", KILN_VALUE_LONG, REMESH(most_tets), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning =
         "no splits beyond this many; 0: no limit, with `follow` 9.5 times those of the start "
         "or 7000 more, whichever is less; twice as many more while something presses that is "
         "finer than "
         "the cells"},
    {"split", KILN_VALUE_NUMBER, REMESH(split), KILN_NOT_NEGATIVE, "J", NULL,
     .meaning =
         "energy: a split stays if the energy of the step falls by more than this; 0: by `part` "
         "alone"},
    {"part", KILN_VALUE_NUMBER, REMESH(part), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "energy: the same as a part of what is stored and moves in the step, where that is "
                "less than `split`; 0: no such, or 1e-5 without `split`"},
    {"collapse", KILN_VALUE_NUMBER, REMESH(collapse), KILN_NOT_NEGATIVE, "J", NULL,
     .meaning = "energy: a collapse if it rises by no more than this; 0: by `collapse_part`"},
    {"collapse_part", KILN_VALUE_NUMBER, REMESH(collapse_part), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "energy: the same as a part of what a split must gain; 0: all of that in motion, a "
                "hundredth in static solves"},
    {"share", KILN_VALUE_NUMBER, REMESH(share), KILN_WITHIN(0, 1), NULL, NULL,
     .meaning = "energy: splits, flips and moves that are tried in a step of motion, of each the "
                "most promising, at most so many for each edge of the mesh; 0: no limit, as in "
                "static solves"},
    {"rounds", KILN_VALUE_WHOLE, REMESH(rounds), KILN_WITHIN(1, 1000), NULL, NULL,
     .meaning = "energy, static: solves on meshes that follow, at most"},
    {"condition", KILN_VALUE_NUMBER, REMESH(condition), KILN_POSITIVE, NULL, NULL,
     .meaning = "global: remesh when the condition number of a tet's shape passes this, above 1"},
    {"condition_change", KILN_VALUE_NUMBER, REMESH(condition_change), KILN_POSITIVE, NULL, NULL,
     .meaning = "global: or has become worse by this factor since the last time, above 1"},
    {"pinch", KILN_VALUE_NUMBER, REMESH(pinch), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning =
         "necks and films of liquid that are narrower than this part of the mean edge of the "
         "start, and become narrower still, break there; 0: never. 0.5 is usual, 1 for films"},
    {"droplets", KILN_VALUE_CHOICE, REMESH(droplets), .choices = droplets_name,
     .meaning =
         "with pinch, parts of liquid of less than half of the cube of that width. remove: "
         "they are taken away, and counted in gone_volume and gone_mass of stats.csv; merge: "
         "the nearest liquid of the same material gets what they have (joined_volume, "
         "joined_mass)"},
    {"merge", KILN_VALUE_NUMBER, REMESH(merge), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "surfaces of what can yield or is liquid become one where they are closer than "
                "this part of the "
                "size there. Preset with global; local: 0, and needs space = \"world\", which "
                "liquid has"},
};
const kiln_schema kiln_remesh_schema = {
    .name = "remesh",
    .about = "How the mesh follows what it carries. `remesh = \"local\"` is the same as `remesh = "
             "remesh { method = \"local\" }`; `true` is that too, `false` is `\"none\"`.",
    KILN_SCHEMA_ROWS(remesh_rows),
    .size = sizeof(kiln_scene_remesh),
    .start = start,
    .finish = finish,
    .has_said = true,
    .may_be_first = true,
    .off = off,
};
