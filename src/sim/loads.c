/* Forces from outside. */
#include "sim/boundary.h"
#include "sim/motion.h"

kiln_status kiln_boundary_make_load(kiln_boundary *b, size_t row, kiln_error *error)
{
    const kiln_world *world = b->world;
    static const char *const names[KILN_WHERE_COUNT] = {
        [KILN_ON_VERTEX] = "vertex", [KILN_ON_FACE] = "surface face", [KILN_ON_TET] = "tet"};
    const kiln_scene_load *load = &world->scene->loads.data[row];
    kiln_where where = kiln_load_where(load->kind);
    KILN_TRY(kiln_said_wrap(
        world->scene, &load->said,
        kiln_world_select(world, where, load->body, &load->where, &b->loads[row].rows, error),
        error));
    if (b->loads[row].rows.count == 0)
        return kiln_said_fail(world->scene, &load->said, error, "selects no %s", names[where]);
    return KILN_OK;
}

kiln_where kiln_load_where(kiln_load_kind kind)
{
    static const kiln_where where[] = {
        [KILN_LOAD_FORCE] = KILN_ON_VERTEX,  [KILN_LOAD_TRACTION] = KILN_ON_FACE,
        [KILN_LOAD_PRESSURE] = KILN_ON_FACE, [KILN_LOAD_BODY] = KILN_ON_TET,
        [KILN_LOAD_HEAT] = KILN_ON_TET,      [KILN_LOAD_FLUX] = KILN_ON_FACE,
        [KILN_LOAD_FILM] = KILN_ON_FACE,     [KILN_LOAD_TEMPERATURE] = KILN_ON_VERTEX};
    return where[kind];
}

double kiln_boundary_load_area(const kiln_boundary *b, size_t load)
{
    const kiln_u32_array *rows = &b->loads[load].rows;
    double sum = 0.0;
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t v[4];
        kiln_boundary_corners(b->world->mesh, KILN_ON_FACE, rows->data[i], v);
        const kiln_vec3 *u = b->world->mesh->u;
        sum += 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(u[v[1]], u[v[0]]),
                                                kiln_v3_sub(u[v[2]], u[v[0]])));
    }
    return sum;
}

kiln_vec3 kiln_face_centre(const kiln_mesh *mesh, uint32_t face, const kiln_vec3 *positions)
{
    uint32_t at = mesh->face[face].at;
    const uint32_t *v = mesh->tet[at / 4].v;
    const uint8_t *corner = kiln_face_corner[at % 4];
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(positions[v[corner[0]]], positions[v[corner[1]]]),
                                positions[v[corner[2]]]);
    return kiln_v3_scale(sum, 1.0 / 3.0);
}

static kiln_status load_vertex(const kiln_boundary *b, size_t row, uint32_t vertex, double time,
                               double share, kiln_loads *loads, kiln_error *error)
{
    const kiln_world *world = b->world;
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_load *load = &world->scene->loads.data[row];
    kiln_circumstances at = {
        .time = time, .material = kiln_world_starts(world)[vertex], .world = mesh->x[vertex]};
    kiln_vec3 amount;
    KILN_TRY(kiln_quantity_vector_at(&load->amount, &at, &amount, error));
    kiln_loads_add_force(loads, vertex, kiln_v3_scale(amount, share));
    return KILN_OK;
}

static kiln_status load_face(const kiln_boundary *b, size_t row, uint32_t face, double time,
                             double share, kiln_loads *loads, kiln_error *error)
{
    const kiln_world *world = b->world;
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_load *load = &world->scene->loads.data[row];
    kiln_circumstances at = {.time = time};
    if (load->amount.evaluate) {
        at.material = kiln_face_centre(mesh, face, kiln_world_starts(world));
        at.world = kiln_face_centre(mesh, face, mesh->x);
    }
    double amount[3];
    bool pressure = load->kind == KILN_LOAD_PRESSURE;
    KILN_TRY(kiln_quantity_get(&load->amount, &at, amount, pressure ? 1 : 3, error));
    if (pressure)
        return kiln_loads_add_pressure(loads, face, share * amount[0], error);
    kiln_loads_add_traction(loads, face,
                            kiln_v3_scale(kiln_v3(amount[0], amount[1], amount[2]), share),
                            KILN_SPACE_MATERIAL);
    return KILN_OK;
}

static kiln_status load_tet(const kiln_boundary *b, size_t row, uint32_t tet, double time,
                            double share, kiln_loads *loads, kiln_error *error)
{
    const kiln_world *world = b->world;
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_load *load = &world->scene->loads.data[row];
    const kiln_field *volume = kiln_mesh_field(mesh, KILN_ON_TET, b->loads[row].amount);
    kiln_circumstances at = {.time = time};
    if (load->amount.evaluate) {
        at.material = kiln_tet_centre(mesh, tet, kiln_world_starts(world));
        at.world = kiln_tet_centre(mesh, tet, mesh->x);
    }
    kiln_vec3 amount;
    KILN_TRY(kiln_quantity_vector_at(&load->amount, &at, &amount, error));
    kiln_loads_add_body(loads, tet,
                        kiln_v3_scale(amount, share * kiln_field_value(volume, tet, 0)));
    return KILN_OK;
}

/* The dead force of a traction is that of the start: where material faces have since changed, it is
 * shared by their area of now, and its sum stays. */
static kiln_status set_load(const kiln_boundary *b, size_t row, double time, double share,
                            kiln_loads *loads, kiln_error *error)
{
    static kiln_status (*const act[])(const kiln_boundary *, size_t, uint32_t, double, double,
                                      kiln_loads *,
                                      kiln_error *) = {[KILN_LOAD_FORCE] = load_vertex,
                                                       [KILN_LOAD_TRACTION] = load_face,
                                                       [KILN_LOAD_PRESSURE] = load_face,
                                                       [KILN_LOAD_BODY] = load_tet};
    kiln_load_kind kind = b->world->scene->loads.data[row].kind;
    const kiln_u32_array *rows = &b->loads[row].rows;
    if (kind == KILN_LOAD_FORCE)
        share /= (double)rows->count;
    if (kind == KILN_LOAD_TRACTION)
        share *= b->loads[row].area / kiln_boundary_load_area(b, row);
    for (size_t i = 0; i < rows->count; i++)
        KILN_TRY(act[kind](b, row, rows->data[i], time, share, loads, error));
    return KILN_OK;
}

kiln_status kiln_boundary_load(const kiln_boundary *b, const kiln_drive *drive, kiln_error *error)
{
    const kiln_scene *scene = b->world->scene;
    kiln_loads *loads = kiln_solid_loads(drive->solid);
    for (size_t i = 0; i < scene->loads.count; i++) {
        const kiln_scene_load *said = &scene->loads.data[i];
        if (said->kind < KILN_LOAD_HEAT &&
            kiln_world_acts(b->world, said->from, said->until, drive->begin, drive->end))
            KILN_TRY(kiln_said_wrap(scene, &said->said,
                                    set_load(b, i, drive->time, drive->share, loads, error),
                                    error));
    }
    return KILN_OK;
}
