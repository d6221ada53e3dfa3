/* The module of the fine surfaces that hang in bodies: seen, never felt. */
#include "fem/plasticity.h"
#include "remesh/embedded.h"
#include "sim/remeshing.h"
#include "sim/world_impl.h"

#include <stdint.h>

typedef struct surfaces {
    kiln_world *world;
    kiln_embedded **list; /* [scene->bodies.count], NULL: the body has none */
    uint64_t saved;       /* in which try, before they were hung anew */
} surfaces;

static kiln_status hang(const surfaces *s, kiln_error *error)
{
    const kiln_scene *scene = s->world->scene;
    for (size_t i = 0; i < scene->bodies.count; i++) {
        const kiln_scene_body *body = &scene->bodies.data[i];
        if (body->surface.triangles.count == 0)
            continue;
        kiln_status status =
            kiln_embedded_create(s->world->mesh, &body->surface, KILN_SPACE_MATERIAL, (uint32_t)i,
                                 &s->list[i], NULL, error);
        KILN_TRY(kiln_said_wrap(scene, &body->said, status, error));
    }
    return KILN_OK;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    size_t size = scene->bodies.count * sizeof(kiln_embedded *), triangles = 0;
    for (size_t i = 0; i < scene->bodies.count; i++)
        triangles += scene->bodies.data[i].surface.triangles.count;
    if (triangles == 0)
        return KILN_OK;
    surfaces *s = kiln_module_make(world, sizeof *s, self, error);
    if (!s)
        return KILN_ERR_MEMORY;
    s->world = world;
    s->list = kiln_resize(world->context, NULL, 0, size);
    if (!s->list)
        return kiln_fail_memory(error, size);
    for (size_t i = 0; i < scene->bodies.count; i++)
        s->list[i] = NULL;
    return hang(s, error);
}

static void destroy(void *self)
{
    surfaces *s = self;
    size_t bodies = s->world->scene->bodies.count;
    kiln_context *context = s->world->context;
    for (size_t i = 0; i < bodies && s->list; i++)
        kiln_embedded_destroy(s->list[i]);
    if (s->list)
        kiln_release(context, s->list, bodies * sizeof *s->list);
}

/* Before the first change in a step. */
static kiln_status save(surfaces *s, kiln_error *error)
{
    if (s->saved == s->world->tries)
        return KILN_OK;
    for (size_t i = 0; i < s->world->scene->bodies.count; i++)
        if (s->list[i])
            KILN_TRY(kiln_embedded_save(s->list[i], error));
    s->saved = s->world->tries;
    return KILN_OK;
}

static void step_back(void *self)
{
    surfaces *s = self;
    for (size_t i = 0; i < s->world->scene->bodies.count && s->saved == s->world->tries; i++)
        if (s->list[i])
            kiln_embedded_take_back(s->list[i]);
}

/* Where the mesh follows what flows, they do. */
static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    surfaces *s = self;
    kiln_world *world = s->world;
    if (!world->remeshes)
        return KILN_OK;
    const double *flowed =
        world->flows ? kiln_world_column(world, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN) : NULL;
    KILN_TRY(save(s, error));
    for (size_t i = 0; i < world->scene->bodies.count; i++)
        if (s->list[i])
            KILN_TRY(kiln_embedded_refine(s->list[i], world->mesh, flowed, NULL, error));
    return KILN_OK;
}

static kiln_status material_moves(void *self, kiln_error *error)
{
    const surfaces *s = self;
    for (size_t i = 0; i < s->world->scene->bodies.count; i++)
        if (s->list[i])
            KILN_TRY(kiln_embedded_note(s->list[i], s->world->mesh, error));
    return KILN_OK;
}

static kiln_status material_moved(void *self, kiln_error *error)
{
    surfaces *s = self;
    KILN_TRY(save(s, error));
    for (size_t i = 0; i < s->world->scene->bodies.count; i++)
        if (s->list[i])
            KILN_TRY(kiln_embedded_rebase(s->list[i], s->world->mesh, error));
    return KILN_OK;
}

static uint32_t root_of(const uint32_t *root, uint32_t body)
{
    while (root[body] != body)
        body = root[body];
    return body;
}

/* Bodies with matter in one part of the new mesh are one; root[body] is the lowest, or a body on
 * the way to it. */
static void find_joined(const kiln_mesh *to, uint32_t *root, size_t bodies)
{
    const kiln_field *field = kiln_mesh_field(to, KILN_ON_TET, KILN_FIELD_BODY);
    const uint32_t *body = field ? (const uint32_t *)(const void *)field->data : NULL;
    for (uint32_t b = 0; b < bodies; b++)
        root[b] = b;
    for (uint32_t t = 0; t < to->table[KILN_ON_TET].used && body; t++) {
        if (!kiln_tet_live(to, t))
            continue;
        uint32_t a = root_of(root, to->parts.data[to->info[t].part].body);
        uint32_t b = root_of(root, body[t]);
        root[a > b ? a : b] = a > b ? b : a;
    }
}

/* To another mesh they go where they are in the world; those of bodies that became one, as one. */
static kiln_status carry_joined(const surfaces *s, const kiln_mesh *to, const uint32_t *root,
                                uint32_t first, kiln_embedded **list, uint32_t *bodies,
                                kiln_error *error)
{
    const kiln_world *world = s->world;
    size_t count = 0, carried = 0;
    bool done;
    for (uint32_t b = first; b < world->scene->bodies.count; b++)
        if (root_of(root, b) == first) {
            carried += s->list[b] != NULL;
            list[count] = s->list[b];
            bodies[count++] = b;
        }
    if (carried == 0)
        return KILN_OK;
    KILN_TRY(kiln_embedded_unite(list, bodies, count, world->mesh, to, &done, error));
    for (size_t i = 0; i < count && !done; i++)
        if (list[i])
            KILN_TRY(kiln_embedded_move(list[i], world->mesh, to, KILN_SPACE_WORLD, NULL, error));
    return KILN_OK;
}

static kiln_status carry_to(const surfaces *s, const kiln_mesh *to, kiln_error *error)
{
    kiln_context *context = s->world->context;
    size_t count = s->world->scene->bodies.count;
    size_t size = count * sizeof(kiln_embedded *), numbers = 2 * count * sizeof(uint32_t);
    kiln_embedded **list = kiln_resize(context, NULL, 0, size);
    uint32_t *root = kiln_resize(context, NULL, 0, numbers);
    kiln_status status = list && root ? KILN_OK : kiln_fail_memory(error, size + numbers);
    if (status == KILN_OK)
        find_joined(to, root, count);
    for (uint32_t b = 0; b < count && status == KILN_OK; b++)
        if (root_of(root, b) == b)
            status = carry_joined(s, to, root, b, list, root + count, error);
    kiln_release(context, list, size);
    kiln_release(context, root, numbers);
    return status;
}

/* In a pass they are hung anew where their tets changed. */
static kiln_status carry(void *self, const kiln_mesh *to, kiln_error *error)
{
    surfaces *s = self;
    KILN_TRY(save(s, error));
    if (to)
        return carry_to(s, to, error);
    for (size_t i = 0; i < s->world->scene->bodies.count; i++)
        if (s->list[i])
            KILN_TRY(kiln_embedded_rehang(s->list[i], s->world->mesh, NULL, error));
    return KILN_OK;
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    surfaces *s = self;
    const kiln_mesh *mesh = s->world->mesh;
    for (size_t i = 0; i < s->world->scene->bodies.count; i++) {
        kiln_embedded *e = s->list[i];
        if (e && changes->renumbered)
            KILN_TRY(kiln_embedded_renumber(e, mesh, changes->renumbered, error));
        else if (e && !changes->all)
            KILN_TRY(kiln_embedded_follow_rows(e, mesh, &changes->moved[KILN_ON_TET], error));
    }
    return KILN_OK;
}

const kiln_module kiln_module_surfaces = {.name = "surfaces",
                                          .create = create,
                                          .destroy = destroy,
                                          .after_step = after_step,
                                          .step_back = step_back,
                                          .material_moves = material_moves,
                                          .material_moved = material_moved,
                                          .carry = carry,
                                          .mesh_changed = mesh_changed};

static kiln_embedded *surface_of(const kiln_world *world, size_t body)
{
    const surfaces *s = kiln_world_module(world, &kiln_module_surfaces);
    return s ? s->list[body] : NULL;
}

kiln_status kiln_world_surface(const kiln_world *world, size_t body, kiln_soup *soup,
                               kiln_error *error)
{
    kiln_soup_init(soup, world->context);
    if (!surface_of(world, body))
        return KILN_OK;
    kiln_status status = kiln_embedded_to_soup(surface_of(world, body), world->mesh, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

kiln_status kiln_world_restore_surface(kiln_world *world, size_t body, const kiln_soup *soup,
                                       kiln_error *error)
{
    return kiln_embedded_restore(surface_of(world, body), world->mesh, soup, error);
}
