#include "io/polyfem_keys.h"

#include "base/nearest_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SELECTION(path)                                                                            \
    {path "/*", POLYFEM_INSIDE, NULL}, {path "/*/id", POLYFEM_TAKEN, NULL},                        \
        {path "/*/id_offset", POLYFEM_TAKEN, NULL}, {path "/*/relative", POLYFEM_TAKEN, NULL},     \
        {path "/*/box", POLYFEM_TAKEN, NULL}, {path "/*/center", POLYFEM_TAKEN, NULL},             \
        {path "/*/radius", POLYFEM_TAKEN, NULL}, {path "/*/p1", POLYFEM_TAKEN, NULL},              \
        {path "/*/p2", POLYFEM_TAKEN, NULL}, {path "/*/axis", POLYFEM_TAKEN, NULL},                \
        {path "/*/position", POLYFEM_TAKEN, NULL}, {path "/*/normal", POLYFEM_TAKEN, NULL},        \
        {path "/*/point", POLYFEM_TAKEN, NULL}, {path "/*/offset", POLYFEM_TAKEN, NULL},           \
    {                                                                                              \
        path "/*/threshold", POLYFEM_TAKEN, NULL                                                   \
    }
#define CONDITION(path)                                                                            \
    {path "/*", POLYFEM_INSIDE, NULL}, {path "/*/id", POLYFEM_TAKEN, NULL},                        \
        {path "/*/value", POLYFEM_TAKEN, NULL}, {path "/*/time_reference", POLYFEM_REFUSED, NULL}, \
        {path "/*/interpolation", POLYFEM_INSIDE, NULL},                                           \
        {path "/*/interpolation/type", POLYFEM_TAKEN, NULL},                                       \
        {path "/*/interpolation/points", POLYFEM_TAKEN, NULL},                                     \
        {path "/*/interpolation/values", POLYFEM_TAKEN, NULL},                                     \
        {path "/*/interpolation/extend", POLYFEM_TAKEN, NULL},                                     \
        {path "/*/interpolation/from", POLYFEM_TAKEN, NULL},                                       \
    {                                                                                              \
        path "/*/interpolation/to", POLYFEM_TAKEN, NULL                                            \
    }
#define START(path)                                                                                \
    {path "/*", POLYFEM_INSIDE, NULL}, {path "/*/id", POLYFEM_TAKEN, NULL},                        \
    {                                                                                              \
        path "/*/value", POLYFEM_TAKEN, NULL                                                       \
    }

static const polyfem_key keys[] = {
    {"root_path", POLYFEM_REFUSED, NULL},
    {"authors", POLYFEM_IGNORED, NULL},
    {"tests", POLYFEM_IGNORED, NULL},
    {"output", POLYFEM_OPEN, NULL},
    {"output/paraview", POLYFEM_OPEN, NULL},
    {"output/paraview/skip_frame", POLYFEM_TAKEN, NULL},
    {"preset_problem", POLYFEM_REFUSED, NULL},
    {"input", POLYFEM_REFUSED, NULL},
    {"constraints", POLYFEM_REFUSED, NULL},
    {"units", POLYFEM_INSIDE, NULL},
    {"units/length", POLYFEM_ONLY, "\"m\""},
    {"units/mass", POLYFEM_ONLY, "\"kg\""},
    {"units/time", POLYFEM_ONLY, "\"s\""},
    {"units/characteristic_length", POLYFEM_IGNORED, NULL},

    {"geometry/*", POLYFEM_INSIDE, NULL},
    {"geometry/*/name", POLYFEM_TAKEN, NULL},
    {"geometry/*/type", POLYFEM_TAKEN, NULL},
    {"geometry/*/mesh", POLYFEM_TAKEN, NULL},
    {"geometry/*/enabled", POLYFEM_TAKEN, NULL},
    {"geometry/*/is_obstacle", POLYFEM_TAKEN, NULL},
    {"geometry/*/extract", POLYFEM_TAKEN, NULL},
    {"geometry/*/unit", POLYFEM_ONLY, "\"m\""},
    {"geometry/*/n_refs", POLYFEM_TAKEN, NULL},
    {"geometry/*/transformation", POLYFEM_INSIDE, NULL},
    {"geometry/*/transformation/translation", POLYFEM_TAKEN, NULL},
    {"geometry/*/transformation/rotation", POLYFEM_TAKEN, NULL},
    {"geometry/*/transformation/rotation_mode", POLYFEM_TAKEN, NULL},
    {"geometry/*/transformation/scale", POLYFEM_TAKEN, NULL},
    {"geometry/*/transformation/dimensions", POLYFEM_TAKEN, NULL},
    {"geometry/*/advanced", POLYFEM_INSIDE, NULL},
    {"geometry/*/advanced/normalize_mesh", POLYFEM_TAKEN, NULL},
    {"geometry/*/advanced/force_linear_geometry", POLYFEM_IGNORED, NULL},
    {"geometry/*/advanced/refinement_location", POLYFEM_ONLY, "0.5"},
    {"geometry/*/advanced/min_component", POLYFEM_ONLY, "-1"},
    {"geometry/*/point_selection", POLYFEM_REFUSED, NULL},
    {"geometry/*/curve_selection", POLYFEM_REFUSED, NULL},
    SELECTION("geometry/*/volume_selection"),
    SELECTION("geometry/*/surface_selection"),
    {"geometry/*/array", POLYFEM_INSIDE, NULL},
    {"geometry/*/array/offset", POLYFEM_TAKEN, NULL},
    {"geometry/*/array/size", POLYFEM_TAKEN, NULL},
    {"geometry/*/array/relative", POLYFEM_TAKEN, NULL},
    {"geometry/*/point", POLYFEM_TAKEN, NULL},
    {"geometry/*/normal", POLYFEM_TAKEN, NULL},
    {"geometry/*/height", POLYFEM_TAKEN, NULL},
    {"geometry/*/mesh_sequence", POLYFEM_REFUSED, NULL},
    {"geometry/*/fps", POLYFEM_REFUSED, NULL},

    {"materials/*", POLYFEM_INSIDE, NULL},
    {"materials/*/id", POLYFEM_TAKEN, NULL},
    {"materials/*/type", POLYFEM_TAKEN, NULL},
    {"materials/*/E", POLYFEM_TAKEN, NULL},
    {"materials/*/nu", POLYFEM_TAKEN, NULL},
    {"materials/*/lambda", POLYFEM_TAKEN, NULL},
    {"materials/*/mu", POLYFEM_TAKEN, NULL},
    {"materials/*/rho", POLYFEM_TAKEN, NULL},
    {"materials/*/density", POLYFEM_TAKEN, NULL},
    {"materials/*/phi", POLYFEM_REFUSED, NULL},
    {"materials/*/psi", POLYFEM_REFUSED, NULL},
    {"materials/*/elasticity_tensor", POLYFEM_REFUSED, NULL},

    {"space", POLYFEM_INSIDE, NULL},
    {"space/discr_order", POLYFEM_ONLY, "1"},
    {"space/pressure_discr_order", POLYFEM_IGNORED, NULL},
    {"space/basis_type", POLYFEM_ONLY, "\"Lagrange\""},
    {"space/poly_basis_type", POLYFEM_IGNORED, NULL},
    {"space/use_p_ref", POLYFEM_ONLY, "false"},
    {"space/advanced", POLYFEM_OPEN, NULL},
    {"space/remesh", POLYFEM_INSIDE, NULL},
    {"space/remesh/enabled", POLYFEM_TAKEN, NULL},
    {"space/remesh/type", POLYFEM_ONLY, "\"physics\""},
    {"space/remesh/split", POLYFEM_OPEN, NULL},
    {"space/remesh/split/acceptance_tolerance", POLYFEM_TAKEN, NULL},
    {"space/remesh/collapse", POLYFEM_OPEN, NULL},
    {"space/remesh/collapse/acceptance_tolerance", POLYFEM_TAKEN, NULL},
    {"space/remesh/swap", POLYFEM_OPEN, NULL},
    {"space/remesh/smooth", POLYFEM_OPEN, NULL},
    {"space/remesh/local_relaxation", POLYFEM_OPEN, NULL},

    {"time", POLYFEM_INSIDE, NULL},
    {"time/t0", POLYFEM_TAKEN, NULL},
    {"time/tend", POLYFEM_TAKEN, NULL},
    {"time/dt", POLYFEM_TAKEN, NULL},
    {"time/time_steps", POLYFEM_TAKEN, NULL},
    {"time/quasistatic", POLYFEM_TAKEN, NULL},
    {"time/integrator", POLYFEM_TAKEN, NULL},
    {"time/integrator/type", POLYFEM_TAKEN, NULL},
    {"time/integrator/steps", POLYFEM_TAKEN, NULL},
    {"time/integrator/gamma", POLYFEM_ONLY, "0.5"},
    {"time/integrator/beta", POLYFEM_ONLY, "0.25"},

    {"contact", POLYFEM_INSIDE, NULL},
    {"contact/enabled", POLYFEM_TAKEN, NULL},
    {"contact/dhat", POLYFEM_TAKEN, NULL},
    {"contact/dhat_percentage", POLYFEM_IGNORED, NULL},
    {"contact/epsv", POLYFEM_TAKEN, NULL},
    {"contact/friction_coefficient", POLYFEM_TAKEN, NULL},
    {"contact/use_convergent_formulation", POLYFEM_TAKEN, NULL},
    {"contact/use_area_weighting", POLYFEM_ONLY, "true"},
    {"contact/use_improved_max_operator", POLYFEM_TAKEN, NULL},
    {"contact/use_physical_barrier", POLYFEM_ONLY, "true"},
    {"contact/collision_mesh", POLYFEM_TAKEN, NULL},
    {"contact/periodic", POLYFEM_REFUSED, NULL},
    {"contact/adhesion", POLYFEM_INSIDE, NULL},
    {"contact/adhesion/adhesion_enabled", POLYFEM_REFUSED, NULL},
    {"contact/adhesion/dhat_p", POLYFEM_IGNORED, NULL},
    {"contact/adhesion/dhat_a", POLYFEM_IGNORED, NULL},
    {"contact/adhesion/adhesion_strength", POLYFEM_IGNORED, NULL},
    {"contact/adhesion/tangential_adhesion_coefficient", POLYFEM_REFUSED, NULL},
    {"contact/adhesion/epsa", POLYFEM_IGNORED, NULL},
    {"contact/use_gcp_formulation", POLYFEM_REFUSED, NULL},
    {"contact/use_smooth_formulation", POLYFEM_REFUSED, NULL},

    {"boundary_conditions", POLYFEM_INSIDE, NULL},
    {"boundary_conditions/rhs", POLYFEM_TAKEN, NULL},
    CONDITION("boundary_conditions/dirichlet_boundary"),
    {"boundary_conditions/dirichlet_boundary/*/dimension", POLYFEM_TAKEN, NULL},
    CONDITION("boundary_conditions/neumann_boundary"),
    CONDITION("boundary_conditions/obstacle_displacements"),
    {"boundary_conditions/normal_aligned_neumann_boundary", POLYFEM_REFUSED, NULL},
    {"boundary_conditions/pressure_boundary", POLYFEM_REFUSED, NULL},
    {"boundary_conditions/pressure_cavity", POLYFEM_REFUSED, NULL},
    {"boundary_conditions/periodic_boundary", POLYFEM_REFUSED, NULL},

    {"initial_conditions", POLYFEM_INSIDE, NULL},
    START("initial_conditions/solution"),
    START("initial_conditions/velocity"),
    {"initial_conditions/acceleration", POLYFEM_REFUSED, NULL},

    {"solver", POLYFEM_INSIDE, NULL},
    {"solver/max_threads", POLYFEM_IGNORED, NULL},
    {"solver/linear", POLYFEM_IGNORED, NULL},
    {"solver/adjoint_linear", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear", POLYFEM_OPEN, NULL},
    {"solver/nonlinear/x_delta", POLYFEM_TAKEN, NULL},
    {"solver/nonlinear/max_iterations", POLYFEM_TAKEN, NULL},
    {"solver/nonlinear/solver", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/f_delta", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/grad_norm", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/rel_grad_norm", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/first_grad_norm_tol", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/x_delta_tol", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/grad_norm_tol", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/rel_x_delta_tol", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/rel_grad_norm_tol", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/newton_decrement_tol", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/norm_type", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/iterations_per_strategy", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/allow_out_of_iterations", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/line_search", POLYFEM_IGNORED, NULL},
    {"solver/nonlinear/advanced", POLYFEM_IGNORED, NULL},
    {"solver/augmented_lagrangian", POLYFEM_OPEN, NULL},
    {"solver/augmented_lagrangian/initial_weight", POLYFEM_IGNORED, NULL},
    {"solver/augmented_lagrangian/scaling", POLYFEM_IGNORED, NULL},
    {"solver/augmented_lagrangian/max_weight", POLYFEM_IGNORED, NULL},
    {"solver/augmented_lagrangian/eta", POLYFEM_IGNORED, NULL},
    {"solver/augmented_lagrangian/error", POLYFEM_IGNORED, NULL},
    {"solver/augmented_lagrangian/nonlinear", POLYFEM_IGNORED, NULL},
    {"solver/contact", POLYFEM_INSIDE, NULL},
    {"solver/contact/CCD", POLYFEM_INSIDE, NULL},
    {"solver/contact/CCD/broad_phase", POLYFEM_IGNORED, NULL},
    {"solver/contact/CCD/tolerance", POLYFEM_IGNORED, NULL},
    {"solver/contact/CCD/max_iterations", POLYFEM_IGNORED, NULL},
    {"solver/contact/barrier_stiffness", POLYFEM_TAKEN, NULL},
    {"solver/contact/initial_barrier_stiffness", POLYFEM_IGNORED, NULL},
    {"solver/contact/friction_iterations", POLYFEM_TAKEN, NULL},
    {"solver/contact/friction_convergence_tol", POLYFEM_IGNORED, NULL},
    {"solver/contact/tangential_adhesion_iterations", POLYFEM_IGNORED, NULL},
    {"solver/rayleigh_damping", POLYFEM_REFUSED, NULL},
    {"solver/advanced", POLYFEM_INSIDE, NULL},
    {"solver/advanced/lump_mass_matrix", POLYFEM_TAKEN, NULL},
    {"solver/advanced/cache_size", POLYFEM_IGNORED, NULL},
    {"solver/advanced/lagged_regularization_weight", POLYFEM_REFUSED, NULL},
    {"solver/advanced/lagged_regularization_iterations", POLYFEM_IGNORED, NULL},
    {"solver/advanced/check_inversion", POLYFEM_IGNORED, NULL},
    {"solver/advanced/jacobian_threshold", POLYFEM_IGNORED, NULL},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

const polyfem_key *kiln_polyfem_key_at(size_t row)
{
    return row < KEYS ? &keys[row] : NULL;
}

static const polyfem_key *find_key(const char *path)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].path, path) == 0)
            return &keys[i];
    return NULL;
}

typedef struct walk {
    kiln_arena *arena;
    polyfem_survey *survey;
    kiln_error *error;
} walk;

static kiln_status check_object(walk *w, kiln_json_node *object, const char *pattern, bool open);

static void note_ignored(polyfem_survey *survey, const kiln_json_node *node)
{
    char path[200];
    size_t used = strlen(survey->ignored);
    kiln_json_path(node, path, sizeof path);
    if (used + strlen(path) + 10 < sizeof survey->ignored)
        snprintf(survey->ignored + used, sizeof survey->ignored - used, "%s%s", used ? ", " : "",
                 path);
    else if (used > 0 && survey->ignored[used - 1] != '.')
        snprintf(survey->ignored + used, sizeof survey->ignored - used, " ...");
}

/* The last words of the known keys in the same object. Where others are ignored only what is
 * nearly one of them is refused: it was meant to be one. */
static kiln_status refuse_unknown(const walk *w, const kiln_json_node *node, const char *parent,
                                  bool open)
{
    const char *names[KEYS];
    size_t count = 0, size = strlen(parent);
    for (size_t i = 0; i < KEYS; i++) {
        const char *rest = keys[i].path + size + (size > 0);
        if (strncmp(keys[i].path, parent, size) == 0 && (size == 0 || keys[i].path[size] == '/') &&
            !strchr(rest, '/'))
            names[count++] = rest;
    }
    const char *nearest = kiln_nearest_name(node->key, names, count, sizeof names[0]);
    if (nearest)
        return kiln_json_fail(node, w->error, "unknown key, not supported; did you mean '%s'?",
                              nearest);
    if (open) {
        note_ignored(w->survey, node);
        return KILN_OK;
    }
    return kiln_json_fail(node, w->error, "unknown key, not supported");
}

static bool is_empty(const kiln_json_node *node)
{
    switch (node->type) {
    case KILN_JSON_IS_NULL:
        return true;
    case KILN_JSON_IS_BOOL:
    case KILN_JSON_IS_NUMBER:
        return node->number == 0.0;
    case KILN_JSON_IS_TEXT:
        return !node->text[0];
    default:
        return node->count == 0;
    }
}

static bool is_switched_off(const kiln_json_node *node)
{
    const kiln_json_node *enabled = kiln_json_get(node, "enabled");
    return is_empty(node) || (enabled && is_empty(enabled));
}

static bool is_value(const kiln_json_node *node, const char *json)
{
    if (node->type == KILN_JSON_IS_TEXT)
        return !node->text[0] || (json[0] == '"' && strlen(node->text) + 2 == strlen(json) &&
                                  strncmp(node->text, json + 1, strlen(node->text)) == 0);
    if (node->type == KILN_JSON_IS_BOOL)
        return strcmp(json, node->number != 0.0 ? "true" : "false") == 0;
    return node->type == KILN_JSON_IS_NULL ||
           (node->type == KILN_JSON_IS_NUMBER && json[0] != '"' && json[0] != 't' &&
            json[0] != 'f' && node->number == strtod(json, NULL));
}

/* Items of a list in the table; one that stands alone is put into a list. */
static kiln_status check_items(walk *w, kiln_json_node *node, const char *pattern)
{
    char item[304];
    snprintf(item, sizeof item, "%s/*", pattern);
    if (node->type == KILN_JSON_IS_NULL)
        return KILN_OK;
    if (node->type != KILN_JSON_IS_LIST) {
        KILN_TRY(kiln_json_wrap(w->arena, node, w->error));
        node = node->parent;
    }
    for (kiln_json_node *at = node->first; at; at = at->next)
        if (at->type == KILN_JSON_IS_OBJECT)
            KILN_TRY(check_object(w, at, item, false));
    return KILN_OK;
}

static kiln_status check_value(walk *w, kiln_json_node *node, const polyfem_key *key)
{
    char found[80];
    kiln_json_describe(node, found, sizeof found);
    switch (key->fate) {
    case POLYFEM_IGNORED:
        note_ignored(w->survey, node);
        return KILN_OK;
    case POLYFEM_SAID:
        if (!is_switched_off(node))
            w->survey->say(w->survey->user, node, key->note);
        return KILN_OK;
    case POLYFEM_ONLY:
        if (is_value(node, key->note))
            return KILN_OK;
        return kiln_json_fail(node, w->error, "not supported: only %s is, got %s", key->note,
                              found);
    case POLYFEM_REFUSED:
        return is_empty(node) ? KILN_OK : kiln_json_fail(node, w->error, "not supported");
    case POLYFEM_INSIDE:
    case POLYFEM_OPEN:
        if (node->type != KILN_JSON_IS_OBJECT && node->type != KILN_JSON_IS_NULL)
            return kiln_json_fail(node, w->error, "must be an object, got %s", found);
        return check_object(w, node, key->path, key->fate == POLYFEM_OPEN);
    default: /* an object in place of a word: time/integrator */
        return node->type == KILN_JSON_IS_OBJECT && strcmp(key->path, "time/integrator") == 0
                   ? check_object(w, node, key->path, false)
                   : KILN_OK;
    }
}

static kiln_status check_object(walk *w, kiln_json_node *object, const char *pattern, bool open)
{
    kiln_json_node *next;
    for (kiln_json_node *node = object->first; node; node = next) {
        char path[300], items[304];
        next = node->next; /* the node may get a list around it */
        snprintf(path, sizeof path, "%s%s%.100s", pattern, pattern[0] ? "/" : "", node->key);
        snprintf(items, sizeof items, "%s/*", path);
        const polyfem_key *key = find_key(path);
        if (key)
            KILN_TRY(check_value(w, node, key));
        else if (find_key(items))
            KILN_TRY(check_items(w, node, path));
        else
            KILN_TRY(refuse_unknown(w, node, pattern, open));
    }
    return KILN_OK;
}

kiln_status kiln_polyfem_check_keys(kiln_arena *arena, kiln_json_node *root, polyfem_survey *survey,
                                    kiln_error *error)
{
    walk w = {arena, survey, error};
    if (root->type != KILN_JSON_IS_OBJECT)
        return kiln_json_fail(root, error, "a scene must be an object");
    return check_object(&w, root, "", false);
}
