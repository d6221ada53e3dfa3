#include "sim/contact_sizes.h"

#include "sim/world_impl.h"

#include <math.h>

#define PART_OF_EDGE 0.1 /* the thickness that is preset */
/* Of the smallest body, the thickness; and the way it may creep in a second where it sticks. */
#define PART_OF_BODY 0.1

/* Of all tets of the bodies as the scene gives them: a resumed run has no other start to go by. */
static double mean_edge(const kiln_scene *scene)
{
    double sum = 0.0, count = 0.0;
    for (size_t b = 0; b < scene->bodies.count; b++) {
        const kiln_soup *soup = &scene->bodies.data[b].mesh;
        for (size_t t = 0; t < soup->tets.count; t++)
            for (int e = 0; e < 6; e++) {
                const uint32_t *v = soup->tets.data[t].v;
                sum += kiln_v3_norm(kiln_v3_sub(soup->points.data[v[kiln_edge_ends[e][0]]],
                                                soup->points.data[v[kiln_edge_ends[e][1]]]));
                count += 1.0;
            }
    }
    return count > 0.0 ? sum / count : 0.0;
}

/* Twice the way from the mean of its corners to the farthest: however it is turned, and no edge is
 * longer. So what is a tenth of a mean edge is less than a tenth of every body that has one. */
static double body_size(const kiln_soup *soup)
{
    kiln_vec3 sum = {0};
    double far = 0.0;
    if (soup->tets.count == 0)
        return INFINITY;
    kiln_vec3 base = soup->points.data[soup->tets.data[0].v[0]];
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 0; k < 4; k++)
            sum = kiln_v3_add(sum, kiln_v3_sub(soup->points.data[soup->tets.data[t].v[k]], base));
    kiln_vec3 middle = kiln_v3_madd(base, 0.25 / (double)soup->tets.count, sum);
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 0; k < 4; k++)
            far = fmax(far, kiln_v3_norm2(
                                kiln_v3_sub(soup->points.data[soup->tets.data[t].v[k]], middle)));
    return 2.0 * sqrt(far);
}

static const kiln_scene_body *smallest_body(const kiln_scene *scene, double *size)
{
    const kiln_scene_body *smallest = NULL;
    *size = INFINITY;
    for (size_t b = 0; b < scene->bodies.count; b++) {
        double own = body_size(&scene->bodies.data[b].mesh);
        smallest = own < *size ? &scene->bodies.data[b] : smallest;
        *size = fmin(*size, own);
    }
    return smallest;
}

double kiln_contact_thickness(const kiln_scene *scene)
{
    double said = scene->contact.thickness, size;
    if (said > 0.0)
        return said;
    smallest_body(scene, &size);
    return fmin(PART_OF_EDGE * mean_edge(scene), PART_OF_BODY * size);
}

static bool has_friction(const kiln_scene *scene)
{
    const kiln_scene_contact *contact = &scene->contact;
    bool any = (contact->bodies || contact->self) && contact->friction > 0.0;
    for (size_t o = 0; o < scene->obstacles.count; o++)
        any |= scene->obstacles.data[o].friction > 0.0;
    for (size_t i = 0; i < contact->pairs.count; i++)
        any |= !contact->pairs.data[i].off && contact->pairs.data[i].friction > 0.0;
    return any;
}

void kiln_contact_tell_small(const kiln_world *world)
{
    kiln_contact_sizes sizes = kiln_solid_contact_sizes(world->solid);
    double size, most;
    const kiln_scene_body *body = smallest_body(world->scene, &size);
    most = PART_OF_BODY * size;
    if (!body)
        return;
    if (sizes.thickness > most * (1.0 + 1e-9))
        kiln_log(world->context, KILN_LOG_WARNING,
                 "contact.thickness, %.3g m, is large for body '%s', which is %.3g m in size and "
                 "keeps that far from others; for a tenth of it write contact = { thickness = "
                 "%.2g }",
                 sizes.thickness, body->name, size, most);
    if (world->moves && has_friction(world->scene) && sizes.friction_speed > most)
        kiln_log(world->context, KILN_LOG_WARNING,
                 "step.friction_speed, %.3g m/s, below which what sticks may creep, is large for "
                 "body '%s', which is %.3g m in size; for a hundredth of it in a second write "
                 "step = { friction_speed = %.2g }",
                 sizes.friction_speed, body->name, size, 0.01 * size);
}
