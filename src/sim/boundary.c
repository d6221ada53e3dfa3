/* The module of boundary conditions: holds and loads. */
#include "sim/boundary.h"

#include <string.h>

static void plan(kiln_world *world)
{
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->holds.count; i++)
        world->asks_for_place |= scene->holds.data[i].motion.place.evaluate != NULL;
    for (size_t i = 0; i < scene->loads.count; i++)
        world->asks_for_place |= scene->loads.data[i].amount.evaluate != NULL;
}

static void *make_rows(kiln_context *context, size_t bytes, kiln_error *error)
{
    void *rows = kiln_resize(context, NULL, 0, bytes + 1);
    if (rows)
        memset(rows, 0, bytes);
    else
        kiln_fail_memory(error, bytes);
    return rows;
}

static kiln_status make_sets(kiln_boundary *b, kiln_error *error)
{
    kiln_world *world = b->world;
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->holds.count; i++) {
        KILN_TRY(kiln_boundary_make_hold(b, i, error));
        KILN_TRY(kiln_world_add_event(world, scene->holds.data[i].from, error));
        KILN_TRY(kiln_world_add_event(world, scene->holds.data[i].until, error));
    }
    for (size_t i = 0; i < scene->loads.count; i++) {
        KILN_TRY(kiln_boundary_make_load(b, i, error));
        KILN_TRY(kiln_world_add_event(world, scene->loads.data[i].from, error));
        KILN_TRY(kiln_world_add_event(world, scene->loads.data[i].until, error));
    }
    KILN_TRY(kiln_boundary_write_sets(b, error));
    return kiln_boundary_check_holds(b, error);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    if (scene->holds.count + scene->loads.count == 0)
        return KILN_OK;
    kiln_boundary *b = kiln_module_make(world, sizeof *b, self, error);
    if (!b)
        return KILN_ERR_MEMORY;
    b->world = world;
    b->holds = make_rows(world->context, scene->holds.count * sizeof *b->holds, error);
    b->loads = make_rows(world->context, scene->loads.count * sizeof *b->loads, error);
    return b->holds && b->loads ? make_sets(b, error) : KILN_ERR_MEMORY;
}

static void destroy(void *self)
{
    kiln_boundary *b = self;
    const kiln_scene *scene = b->world->scene;
    kiln_context *context = b->world->context;
    for (size_t i = 0; i < scene->holds.count && b->holds; i++)
        kiln_array_free(context, &b->holds[i].vertices);
    for (size_t i = 0; i < scene->loads.count && b->loads; i++)
        kiln_array_free(context, &b->loads[i].rows);
    kiln_release(context, b->holds, b->holds ? scene->holds.count * sizeof *b->holds + 1 : 0);
    kiln_release(context, b->loads, b->loads ? scene->loads.count * sizeof *b->loads + 1 : 0);
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    KILN_TRY(kiln_boundary_catch(self, moment->begin, error));
    return kiln_boundary_release_sets(self, moment->begin, error);
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    KILN_TRY(kiln_boundary_hold(self, drive, error));
    return kiln_boundary_load(self, drive, error);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    return kiln_boundary_pass_by(self, error);
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    const kiln_boundary *b = self;
    KILN_TRY(kiln_boundary_refresh_sets(self, changes, error));
    return b->world->remeshes && kiln_scene_has_liquid(b->world->scene)
               ? kiln_boundary_level(b, error)
               : KILN_OK;
}

/* What ended in the step has not. */
static void step_back(void *self)
{
    const kiln_boundary *b = self;
    b->world->stale |= b->released;
}

const kiln_module kiln_module_boundary = {.name = "boundary",
                                          .plan = plan,
                                          .create = create,
                                          .destroy = destroy,
                                          .before_step = before_step,
                                          .drive = drive,
                                          .after_step = after_step,
                                          .step_back = step_back,
                                          .mesh_changed = mesh_changed};

static const kiln_boundary *boundary_of(const kiln_world *world)
{
    return kiln_world_module(world, &kiln_module_boundary);
}

const kiln_u32_array *kiln_world_held(const kiln_world *world, size_t hold)
{
    return &boundary_of(world)->holds[hold].vertices;
}

size_t kiln_world_hold_size(const kiln_world *world, size_t hold)
{
    return boundary_of(world)->holds[hold].vertices.count;
}

size_t kiln_world_load_size(const kiln_world *world, size_t load)
{
    return boundary_of(world)->loads[load].rows.count;
}
