/* Cells that follow what presses within the step. A stepper around that of the solid: where a step
 * has been found at whose end something presses that is finer than the cells there, it is not
 * taken; the mesh of its begin is given the sizes that its end asks for, and it is found again.
 * After the step it would be too late: its force is that of cells that cannot dent so far, and
 * grows with the length of the step. */
#include "remesh/metric.h"
#include "sim/remesh_local_impl.h"

#include <string.h>

/* At most. Each divides edges that are much too long by four (sim/pressed.h): that is from the
 * start's to a twentieth of them, and once more where the first has made room for another shape. */
enum { ROUNDS = 4 };

static bool asks(const kiln_local *l, uint32_t vertex)
{
    return l->pressed.data[vertex].xx > 0.0;
}

/* Out of bounds, and not one that was tried in vain (remesh/needed.c). */
static bool is_too_long(const kiln_local *l, const kiln_size_options *size, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = l->world->mesh;
    const kiln_vec3 *p = kiln_mesh_positions(mesh, l->world->space);
    kiln_sym3 at_a = kiln_sizing_at_vertex(l->sizing, a);
    kiln_sym3 at_b = kiln_sizing_at_vertex(l->sizing, b);
    if (!(kiln_metric_edge_length(&at_a, &at_b, kiln_v3_sub(p[b], p[a])) > size->longest))
        return false;
    const kiln_size_wait *wait = kiln_size_waits(mesh, size);
    bool waits = wait[a][KILN_SIZE_SPLIT] > 1 && wait[b][KILN_SIZE_SPLIT] > 1;
    return !waits && !kiln_tried_enough(kiln_tried_of(mesh, size->tried), KILN_TRIED_SIZE,
                                        (const uint32_t[]){a, b}, 2);
}

/* Whether an edge of what is pressed is to be split, or more of all edges (as tets have them) than
 * a pass leaves as they are: the force hangs on cells several radii away. */
static bool is_coarse(const kiln_local *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    const kiln_size_options size = kiln_local_size_options(l);
    const double tets = mesh->table[KILN_ON_TET].live;
    double count = 0.0;
    if (size.most_tets && tets >= (double)size.most_tets)
        return false;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6 && kiln_tet_live(mesh, t); k++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
            if (!is_too_long(l, &size, a, b))
                continue;
            if (asks(l, a) || asks(l, b) || ++count > size.enough * 6.0 * tets)
                return true;
        }
    return false;
}

static kiln_status look_at_sizes(kiln_local *l, bool *coarse, kiln_error *error)
{
    KILN_TRY(kiln_local_find_pressed(l, error));
    if (!l->is_pressed) /* as most that rests on something */
        return KILN_OK;
    KILN_TRY(kiln_local_make_sizing(l, error));
    *coarse = is_coarse(l);
    return KILN_OK;
}

static bool may_refuse(const void *self)
{
    const kiln_local *l = self;
    return l->rounds > 0;
}

/* Sizes are those of the end, so while they are found the mesh is there. */
static kiln_status look_at_end(void *self, const kiln_vec3 *places, bool *coarse, kiln_error *error)
{
    kiln_local *l = self;
    kiln_mesh *mesh = l->world->mesh;
    size_t rows = mesh->table[KILN_ON_VERTEX].used, presses;
    *coarse = false;
    kiln_solid_presses(l->world->solid, &presses);
    if (!may_refuse(l) || presses == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(l->world->context, &l->begin, rows, error));
    memcpy(l->begin.data, mesh->x, rows * sizeof *mesh->x);
    memcpy(mesh->x, places, rows * sizeof *mesh->x);
    kiln_status status = look_at_sizes(l, coarse, error);
    memcpy(mesh->x, l->begin.data, rows * sizeof *mesh->x);
    return status;
}

static kiln_status follow(kiln_local *l, kiln_error *error)
{
    KILN_TRY(kiln_local_remesh_within(l, error));
    l->rounds = l->work.changed > 0 ? l->rounds - 1 : 0;
    l->changed |= l->work.changed > 0;
    return KILN_OK;
}

static kiln_status advance(void *self, const kiln_interval *interval, kiln_step_report *report,
                           kiln_error *error)
{
    kiln_local *l = self;
    kiln_step_report one;
    l->changed = false;
    l->rounds = l->world->state.step % (uint64_t)l->settings->every == 0 ? ROUNDS : 0;
    KILN_TRY(l->inner.advance(l->inner.self, interval, report, error));
    while (report->outcome == KILN_STEP_COARSE) {
        KILN_TRY(follow(l, error));
        KILN_TRY(l->inner.advance(l->inner.self, interval, &one, error));
        kiln_step_report_add(report, &one);
    }
    return KILN_OK;
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    const kiln_local *l = self;
    return l->inner.mesh_changed(l->inner.self, changes, error);
}

static kiln_status renew(void *self, kiln_error *error)
{
    const kiln_local *l = self;
    return l->inner.renew(l->inner.self, error);
}

/* Functions of what goes on in a tet are asked at the begin of a step, of the tets there are. */
static bool has_functions(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].varies || scene->materials.data[i].flow_varies)
            return true;
    return false;
}

void kiln_local_follow_within(kiln_local *l)
{
    kiln_world *world = l->world;
    if (l->settings->method != KILN_REMESH_LOCAL || !(l->settings->contact > 0.0) ||
        world->obstacle_count == 0 || !world->moves || has_functions(world->scene))
        return;
    kiln_stepper *solid = kiln_world_solid_stepper(world);
    l->inner = *solid;
    *solid =
        (kiln_stepper){.self = l, .advance = advance, .mesh_changed = mesh_changed, .renew = renew};
    kiln_solid_set_review(world->solid, (kiln_solid_review){l, may_refuse, look_at_end});
}
