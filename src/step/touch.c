#include "contact/surface_vertices.h"
#include "step/touch_impl.h"

#include <string.h>

void kiln_touch_init(kiln_touch *touch, kiln_context *context, kiln_obstacle *const *obstacles,
                     size_t obstacle_count)
{
    *touch = (kiln_touch){
        .context = context,
        .obstacles = obstacles,
        .obstacle_count = obstacle_count,
    };
    kiln_walker_init(&touch->walker, context);
    kiln_constraints_init(&touch->planes, context);
    touch->friction = kiln_touch_friction_term(touch);
}

void kiln_touch_free(kiln_touch *touch)
{
    kiln_array_free(touch->context, &touch->surface);
    kiln_array_free(touch->context, &touch->flag);
    kiln_array_free(touch->context, &touch->sunk);
    kiln_array_free(touch->context, &touch->kept);
    kiln_array_free(touch->context, &touch->held);
    kiln_array_free(touch->context, &touch->past_x);
    kiln_array_free(touch->context, &touch->past_v);
    kiln_array_free(touch->context, &touch->change);
    kiln_array_free(touch->context, &touch->impulse);
    kiln_constraints_free(&touch->planes);
    kiln_array_free(touch->context, &touch->stage);
    kiln_walker_free(&touch->walker);
    kiln_array_free(touch->context, &touch->contacts);
}

void kiln_touch_measure(kiln_touch *touch, double length)
{
    touch->slack = KILN_TOUCH_SLACK * length;
}

static kiln_status make_room(kiln_touch *touch, size_t rows, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(touch->context, &touch->flag, touch->surface.count, error));
    KILN_TRY(kiln_array_reserve(touch->context, &touch->sunk, rows, error));
    KILN_TRY(kiln_array_reserve(touch->context, &touch->kept, rows, error));
    KILN_TRY(kiln_array_reserve(touch->context, &touch->held, rows, error));
    KILN_TRY(kiln_array_reserve(touch->context, &touch->change, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(touch->context, &touch->impulse, 3 * rows, error));
    if (touch->looks_back) {
        KILN_TRY(kiln_array_reserve(touch->context, &touch->past_x, 3 * rows, error));
        KILN_TRY(kiln_array_reserve(touch->context, &touch->past_v, 3 * rows, error));
    }
    touch->sunk.count = rows;
    if (rows) {
        memset(touch->sunk.data, 0, rows * sizeof(double));
        memset(touch->kept.data, 0, rows * sizeof(double));
    }
    return KILN_OK;
}

kiln_status kiln_touch_build(kiln_touch *touch, const kiln_mesh *mesh, double length,
                             kiln_error *error)
{
    kiln_touch_measure(touch, length);
    touch->contacts.count = touch->sunk.count = 0;
    if (touch->obstacle_count == 0)
        return KILN_OK;
    KILN_TRY(kiln_surface_vertices_build(&touch->surface, mesh, error));
    return make_room(touch, mesh->table[KILN_ON_VERTEX].used, error);
}

kiln_status kiln_touch_update(kiln_touch *touch, const kiln_mesh *mesh, double length,
                              const kiln_changes *changes, kiln_error *error)
{
    if (changes->all || touch->sunk.count != changes->before[KILN_ON_VERTEX])
        return kiln_touch_build(touch, mesh, length, error);
    kiln_touch_measure(touch, length);
    touch->contacts.count = touch->sunk.count = 0;
    KILN_TRY(
        kiln_surface_vertices_update(&touch->surface, mesh, &changes->rows[KILN_ON_VERTEX], error));
    return make_room(touch, mesh->table[KILN_ON_VERTEX].used, error);
}

size_t kiln_touch_count(const kiln_touch *touch)
{
    size_t count = 0;
    for (size_t i = 0; i < touch->contacts.count; i++)
        count += touch->contacts.data[i].active;
    return count;
}

void kiln_touch_remember(const kiln_touch *touch, uint32_t *with, double *load, double *kept,
                         double *push)
{
    for (size_t i = 0; i < touch->surface.count; i++) {
        uint32_t v = touch->surface.data[i];
        with[v] = 0;
        load[v] = push[v] = 0.0;
        kept[v] = touch->kept.data[v];
    }
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active || (with[c->vertex] != 0 && load[c->vertex] >= c->load))
            continue;
        with[c->vertex] = c->obstacle + 1;
        load[c->vertex] = c->load;
        push[c->vertex] = c->seen;
    }
}

size_t kiln_touch_bytes(const kiln_touch *touch)
{
    size_t columns = touch->sunk.capacity + touch->kept.capacity + touch->past_x.capacity +
                     touch->past_v.capacity + touch->change.capacity + touch->impulse.capacity;
    return touch->surface.capacity * sizeof(uint32_t) + touch->flag.capacity +
           touch->held.capacity + columns * sizeof(double) +
           touch->planes.rows * (sizeof(kiln_vec3) + 1) +
           touch->contacts.capacity * sizeof(kiln_touch_contact) +
           touch->stage.capacity * sizeof(kiln_touch_push_at);
}
