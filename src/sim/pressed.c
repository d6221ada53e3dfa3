#include "sim/pressed.h"

#include "remesh/metric.h"

#include <math.h>
#include <string.h>

/* What presses matters from this part of Young's modulus on, over its own square or, where that is
 * less, the cells it presses: what lies on a pin is let be until that dents it. Of a square, so
 * that it is the same on coarse and fine cells. */
static const double MATTERS = 0.1;

static void sum_loads(const kiln_press *press, size_t count, double *load)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            if (press[i].v[k] != KILN_NONE)
                load[press[i].v[k]] += press[i].weight[k] * press[i].square;
}

static bool matters(const kiln_press *press, const double *load, double radius)
{
    double square = 0.0;
    for (int k = 0; k < 3; k++)
        if (press->v[k] != KILN_NONE)
            square += load[press->v[k]];
    return square >= MATTERS * fmin(radius * radius, press->area);
}

static double start_of(const kiln_press *press, const double *start)
{
    double h = 0.0;
    for (int k = 0; k < 3; k++)
        if (press->v[k] != KILN_NONE)
            h += press->weight[k] * start[press->v[k]];
    return h;
}

/* Across what presses, and into the matter, h; along it longer. */
static kiln_sym3 metric_of(double h, double ratio, kiln_vec3 across, kiln_vec3 normal)
{
    kiln_vec3 along = kiln_v3_normalize(kiln_v3_cross(normal, across));
    const kiln_mat3 directions = kiln_m3_columns(across, along, kiln_v3_cross(across, along));
    const double sizes[3] = {h, ratio * h, h};
    return kiln_metric_from_directions(&directions, sizes);
}

/* A field has no sizes between vertices. So an edge or a face that is pressed in its middle is
 * asked to be shorter by a factor, and what of it is still pressed then again, until the sizes
 * there are those asked for; elsewhere they grow. */
static void ask_at(const kiln_mesh *mesh, const kiln_press *press, double leap,
                   const kiln_sym3 *asked, kiln_sym3 *metric)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        uint32_t a = press->v[k], b = press->v[(k + 1) % 3];
        if (a != KILN_NONE && b != KILN_NONE)
            longest = fmax(longest, kiln_metric_length(asked, kiln_v3_sub(mesh->x[b], mesh->x[a])));
    }
    double coarser = fmax(longest / leap, 1.0);
    kiln_sym3 m = kiln_sym3_scale(*asked, 1.0 / (coarser * coarser));
    for (int k = 0; k < 3; k++) {
        uint32_t v = press->v[k];
        if (v != KILN_NONE)
            metric[v] = metric[v].xx > 0.0 ? kiln_metric_intersect(metric[v], m) : m;
    }
}

void kiln_pressed_metrics(const kiln_world *world, const kiln_pressed_rules *rules, double *load,
                          kiln_sym3 *metric, bool *any)
{
    size_t count, rows = world->mesh->table[KILN_ON_VERTEX].used;
    const kiln_press *press = kiln_solid_presses(world->solid, &count);
    memset(load, 0, rows * sizeof *load);
    memset(metric, 0, rows * sizeof *metric);
    sum_loads(press, count, load);
    *any = false;
    for (size_t i = 0; i < count; i++) {
        kiln_vec3 across, normal, foot;
        if (press[i].obstacle == KILN_NONE)
            continue;
        const kiln_obstacle *obstacle = world->obstacles[press[i].obstacle];
        double start = start_of(&press[i], rules->start);
        double radius = kiln_obstacle_radius(obstacle, press[i].at, 0.5 * rules->finest, &across);
        double h = fmax(rules->part * radius, rules->finest);
        if (h >= start || !matters(&press[i], load, radius))
            continue;
        kiln_obstacle_distance(obstacle, press[i].at, &normal, &foot);
        kiln_sym3 asked = metric_of(h, rules->ratio, across, normal);
        ask_at(world->mesh, &press[i], rules->leap, &asked, metric);
        *any = true;
    }
}

/* The module that says it where nothing makes cells finer: once, of the place that is pressed
 * hardest. */

typedef struct warner {
    kiln_world *world;
    uint64_t said;
} warner;

/* Obstacles are looked at over a part of a cell, so that an edge of 90 degrees, which has 1.4 of
 * that for its radius, is just not finer than cells by the factor. */
static const double LOOK = 0.25, FINER = 3.0;

static void plan_to_warn(kiln_world *world)
{
    if (world->scene->obstacles.count > 0)
        world->options.watch.presses = true;
}

static kiln_status create_warner(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    if (world->scene->obstacles.count == 0 || remesh->contact > 0.0)
        return KILN_OK;
    warner *w = kiln_module_make(world, sizeof *w, self, error);
    if (!w)
        return KILN_ERR_MEMORY;
    w->world = world;
    return KILN_OK;
}

static const kiln_press *hardest(const kiln_press *press, size_t count)
{
    const kiln_press *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (press[i].obstacle != KILN_NONE && (!found || press[i].square > found->square))
            found = &press[i];
    return found;
}

/* The edge of regular triangles, six of which a vertex has a third of. */
static double cell_of(const kiln_press *press)
{
    int count = 0;
    while (count < 3 && press->v[count] != KILN_NONE)
        count++;
    return sqrt(press->area / count * 2.0 / sqrt(3.0));
}

static kiln_status warn(void *self, const kiln_moment *moment, kiln_error *error)
{
    warner *w = self;
    const kiln_world *world = w->world;
    size_t count;
    kiln_vec3 across;
    (void)error;
    const kiln_press *press = kiln_solid_presses(world->solid, &count);
    if (w->said || !(press = hardest(press, count)))
        return KILN_OK;
    double cell = cell_of(press);
    double radius =
        kiln_obstacle_radius(world->obstacles[press->obstacle], press->at, LOOK * cell, &across);
    if (!(cell > FINER * radius) || press->square < MATTERS * radius * radius)
        return KILN_OK;
    w->said = 1;
    radius = kiln_obstacle_radius(world->obstacles[press->obstacle], press->at, 0.1 * radius,
                                  &across); /* as it is */
    kiln_log(
        world->context, KILN_LOG_WARNING,
        "at %.6g s obstacle '%s', with a radius of %.3g m, presses cells of %.3g m, %.1f times "
        "as large, which cannot dent by less than themselves: it is felt too stiffly. "
        "remesh = \"local\" makes them finer there, or begin with a finer mesh",
        moment->end, world->scene->obstacles.data[press->obstacle].name, radius, cell,
        cell / radius);
    return KILN_OK;
}

static void *warner_state(void *self, size_t *size)
{
    warner *w = self;
    *size = sizeof w->said;
    return &w->said;
}

const kiln_module kiln_module_pressed = {.name = "pressed",
                                         .plan = plan_to_warn,
                                         .create = create_warner,
                                         .after_step = warn,
                                         .state = warner_state};
