/* The module of liquid whose tets are divided against locking (topology/subdivide.h) while a step
 * is found: at its begin, before anybody looks at the mesh, and taken back as soon as it is found.
 * Conserved amounts go to the pieces by their volume and are summed up again; what the pieces have
 * of momentum and angular momentum goes to the vertices that stay (remesh/transfer.h). */
#include "mesh/rewind.h"
#include "mesh/txn.h"
#include "sim/pass.h"
#include "topology/subdivide.h"

typedef struct subdivide {
    kiln_world *world;
    kiln_splits splits; /* of the step that is tried */
    KILN_ARRAY_OF(uint8_t)
    may; /* [tet slot] */
    kiln_changes changes;
    bool changed; /* in the step that is tried */
} subdivide;

static bool is_wanted(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].base.liquid &&
            scene->materials.data[i].base.pressure == KILN_PRESSURE_SUBDIVIDE)
            return true;
    return false;
}

static void plan(kiln_world *world)
{
    if (is_wanted(world->scene))
        world->remeshes = true;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!is_wanted(world->scene))
        return KILN_OK;
    subdivide *s = kiln_module_make(world, sizeof *s, self, error);
    if (!s)
        return KILN_ERR_MEMORY;
    s->world = world;
    return KILN_OK;
}

static void destroy(void *self)
{
    subdivide *s = self;
    kiln_array_free(s->world->context, &s->splits);
    kiln_array_free(s->world->context, &s->may);
    kiln_changes_free(s->world->context, &s->changes);
}

static kiln_status find_tets(subdivide *s, kiln_error *error)
{
    const kiln_mesh *mesh = s->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(s->world->context, &s->may, tets + 1, error));
    for (uint32_t t = 0; t < tets; t++) {
        const kiln_material *m = &s->world->materials[material[t]];
        s->may.data[t] = m->liquid && m->pressure == KILN_PRESSURE_SUBDIVIDE;
    }
    return KILN_OK;
}

/* Columns that are carried over by hand are saved as they are before the pass: taken back in the
 * middle of it they would have rows of vertices that are gone. */
static kiln_status begin_pass(subdivide *s, kiln_error *error)
{
    kiln_mesh *mesh = s->world->mesh;
    if (kiln_mesh_field(mesh, KILN_ON_VERTEX, "contact_with"))
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, "contact_with", KILN_SAVE_COPY, error));
    return kiln_pass_begin(s->world, &s->changes, error);
}

/* Vertices take their fields linearly, as places are: nothing of what moves is other than it was.
 */
static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    subdivide *s = self;
    s->splits.count = 0;
    s->changed = false;
    KILN_TRY(find_tets(s, error));
    KILN_TRY(begin_pass(s, error));
    s->changed = true;
    KILN_TRY(kiln_subdivide(s->world->mesh, s->may.data, &s->splits, error));
    KILN_TRY(kiln_pass_end(s->world, &s->changes, NULL, error));
    return kiln_world_changed(s->world, &s->changes, error);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    subdivide *s = self;
    kiln_world *world = s->world;
    const kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS, .even = KILN_FIELD_EVEN};
    size_t left;
    if (s->splits.count == 0)
        return KILN_OK;
    KILN_TRY(kiln_solid_note_past(world->solid, error));
    KILN_TRY(begin_pass(s, error));
    KILN_TRY(kiln_undo_subdivision(world->mesh, &s->splits, &left, error));
    KILN_TRY(kiln_pass_end(world, &s->changes, &transfer, error));
    KILN_TRY(kiln_world_changed(world, &s->changes, error));
    kiln_solid_restore_past(world->solid);
    if (left > 0)
        kiln_log(
            world->context, KILN_LOG_INFO,
            "at %.6g s %zu divided edges and tets stay divided: without, a tet would be turned "
            "inside out",
            world->state.clock.time, left);
    return KILN_OK;
}

static void step_back(void *self)
{
    subdivide *s = self;
    s->splits.count = 0;
    s->world->stale |= s->changed;
}

const kiln_module kiln_module_subdivide = {.name = "subdivide",
                                           .plan = plan,
                                           .create = create,
                                           .destroy = destroy,
                                           .before_step = before_step,
                                           .after_step = after_step,
                                           .step_back = step_back};
