/* Scale, then turn about the origin, then shift: as Kiln's bodies are placed, too. */
#include "io/polyfem_impl.h"

#include <string.h>

typedef struct quaternion {
    double w, v[3];
} quaternion;

static quaternion multiply(quaternion a, quaternion b)
{
    quaternion q = {.w = a.w * b.w};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        q.w -= a.v[k] * b.v[k];
        q.v[k] = a.w * b.v[k] + b.w * a.v[k] + a.v[i] * b.v[j] - a.v[j] * b.v[i];
    }
    return q;
}

static double radians(double degrees)
{
    return degrees * (acos(-1.0) / 180.0);
}

static double length_of(const double v[3])
{
    return hypot(hypot(v[0], v[1]), v[2]);
}

static void take_quaternion(quaternion q, polyfem_placement *out)
{
    double sine = length_of(q.v);
    out->angle = 2.0 * atan2(sine, q.w);
    out->in_degrees = false;
    if (sine > 0.0)
        memcpy(out->axis, q.v, sizeof out->axis);
}

/* Up to four numbers. */
static kiln_status read_numbers(polyfem *p, const kiln_json_node *list, double out[4],
                                size_t *count)
{
    *count = 0;
    if (list->type != KILN_JSON_IS_LIST || list->count > 4)
        return kiln_json_fail(list, p->error, "must be a list of three or four numbers");
    for (const kiln_json_node *item = list->first; item; item = item->next) {
        if (item->type != KILN_JSON_IS_NUMBER)
            return kiln_json_fail(item, p->error, "must be a number");
        out[(*count)++] = item->number;
    }
    return KILN_OK;
}

/* Angles about axes, in the order of the mode's letters. One that is alone is kept as it is. */
static kiln_status turn_by_letters(polyfem *p, const kiln_json_node *node, const char *mode,
                                   const double *degrees, size_t count, polyfem_placement *out)
{
    quaternion q = {.w = 1.0};
    int turned = 0;
    if (count != 3 || !mode[0] || strlen(mode) > 3 || strspn(mode, "xyzXYZ") != strlen(mode))
        return kiln_json_fail(node, p->error,
                              "the mode must be axis_angle, quaternion, rotation_vector or letters "
                              "of xyz with three angles, got \"%.30s\" with %zu numbers",
                              mode, count);
    for (; *mode; mode++) {
        int k = (*mode | 32) - 'x';
        double half = 0.5 * radians(degrees[k]);
        quaternion step = {.w = cos(half)};
        if (degrees[k] == 0.0)
            continue;
        step.v[k] = sin(half);
        q = multiply(step, q);
        memset(out->axis, 0, sizeof out->axis);
        out->axis[k] = 1.0;
        out->angle = degrees[k];
        out->in_degrees = true;
        turned++;
    }
    if (turned > 1)
        take_quaternion(q, out);
    return KILN_OK;
}

static kiln_status read_rotation(polyfem *p, const kiln_json_node *transform,
                                 polyfem_placement *out)
{
    const kiln_json_node *node = kiln_polyfem_get(transform, "rotation");
    const char *mode = "xyz";
    double r[4] = {0};
    size_t count = 3;
    KILN_TRY(kiln_polyfem_word(p, transform, "rotation_mode", &mode));
    if (!node || (node->type == KILN_JSON_IS_LIST && node->count == 0))
        return KILN_OK;
    if (node->type == KILN_JSON_IS_NUMBER && p->is_flat)
        r[2] = node->number;
    else if (node->type == KILN_JSON_IS_NUMBER && strlen(mode) == 1 && strchr("xyzXYZ", mode[0]))
        r[(mode[0] | 32) - 'x'] = node->number;
    else
        KILN_TRY(read_numbers(p, node, r, &count));
    bool by_axis = strcmp(mode, "axis_angle") == 0, by_q = strcmp(mode, "quaternion") == 0;
    bool by_vector = strcmp(mode, "rotation_vector") == 0;
    if (!by_axis && !by_q && !by_vector)
        return turn_by_letters(p, node, mode, r, count, out);
    const double *axis = by_axis ? r + 1 : r;
    if (count != (by_vector ? 3u : 4u) || (!by_vector && !(length_of(axis) + fabs(r[3]) > 0.0)))
        return kiln_json_fail(node, p->error, "must have %d numbers that are not all 0",
                              by_vector ? 3 : 4);
    if (by_q) {
        take_quaternion((quaternion){r[3], {r[0], r[1], r[2]}}, out);
    } else if (length_of(axis) > 0.0) {
        memcpy(out->axis, axis, sizeof out->axis);
        out->angle = by_axis ? r[0] : length_of(axis);
        out->in_degrees = true;
    }
    return KILN_OK;
}

static kiln_mat3 turn_matrix(const polyfem_placement *place)
{
    return kiln_m3_rotation(kiln_v3(place->axis[0], place->axis[1], place->axis[2]),
                            place->in_degrees ? radians(place->angle) : place->angle);
}

kiln_vec3 kiln_polyfem_placed(const polyfem_placement *place, kiln_vec3 q)
{
    q = kiln_v3(q.x * place->scale[0], q.y * place->scale[1], q.z * place->scale[2]);
    if (place->angle != 0.0)
        q = kiln_m3_apply(turn_matrix(place), q);
    return kiln_v3_add(q, kiln_v3(place->at[0], place->at[1], place->at[2]));
}

/* The point of the file that is to be the origin before it is turned. */
static void move_origin(polyfem_placement *place, kiln_vec3 origin)
{
    polyfem_placement still = *place;
    memset(still.at, 0, sizeof still.at);
    kiln_vec3 moved = kiln_polyfem_placed(&still, origin);
    place->at[0] -= moved.x;
    place->at[1] -= moved.y;
    place->at[2] -= moved.z;
}

/* PolyFEM flattens what is flat already by a factor of 0: that is a shift. */
static kiln_status check_scale(polyfem *p, const kiln_json_node *said, const kiln_box *box,
                               polyfem_placement *out)
{
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    for (int k = 0; k < 3; k++) {
        if (out->scale[k] == 0.0 && low[k] == high[k]) {
            double at[3] = {0};
            at[k] = low[k];
            out->scale[k] = 1.0;
            move_origin(out, kiln_v3(at[0], at[1], at[2]));
        }
        if (!(out->scale[k] > 0.0))
            return kiln_json_fail(said, p->error,
                                  "must make all three sides positive, got a factor of %g",
                                  out->scale[k]);
    }
    return KILN_OK;
}

/* scale[] from `dimensions` or `scale`; who said it. */
static kiln_status read_scale(polyfem *p, const kiln_json_node *transform, const kiln_box *box,
                              polyfem_placement *out, const kiln_json_node **said)
{
    const kiln_json_node *sides = kiln_polyfem_get(transform, "dimensions");
    const kiln_json_node *scale = kiln_polyfem_get(transform, "scale");
    kiln_vec3 extent = kiln_v3_sub(box->high, box->low);
    const double size[3] = {extent.x, extent.y, extent.z};
    double wanted[3] = {0};
    size_t count;
    *said = sides ? sides : scale;
    if (!*said)
        return KILN_OK;
    if (!sides && scale->type == KILN_JSON_IS_NUMBER) {
        wanted[0] = wanted[1] = wanted[2] = scale->number;
    } else {
        KILN_TRY(kiln_polyfem_numbers(p, *said, wanted, &count));
        if (count == 0)
            return KILN_OK;
    }
    for (int k = 0; k < (p->is_flat ? 2 : 3); k++)
        out->scale[k] *= sides && size[k] > 0.0 ? wanted[k] / size[k] : wanted[k];
    return KILN_OK;
}

kiln_status kiln_polyfem_place(polyfem *p, const kiln_json_node *geometry, const kiln_soup *mesh,
                               polyfem_placement *out)
{
    const kiln_json_node *transform = kiln_polyfem_get(geometry, "transformation"), *said;
    const kiln_json_node *shift = kiln_polyfem_get(transform, "translation");
    kiln_box box = kiln_box_empty(), unit;
    bool normalize = false;
    size_t count;
    for (size_t i = 0; i < mesh->points.count; i++)
        box = kiln_box_grow(box, mesh->points.data[i]);
    unit = box;
    *out = (polyfem_placement){.scale = {1, 1, 1}, .axis = {0, 0, 1}};
    KILN_TRY(
        kiln_polyfem_flag(p, kiln_polyfem_get(geometry, "advanced"), "normalize_mesh", &normalize));
    if (normalize) { /* the longest side becomes 1, the lowest corner the origin */
        kiln_vec3 side = kiln_v3_sub(box.high, box.low);
        double by = 1.0 / fmax(fmax(side.x, side.y), side.z);
        out->scale[0] = out->scale[1] = out->scale[2] = by;
        unit = (kiln_box){kiln_v3(0, 0, 0), kiln_v3_scale(side, by)};
    }
    KILN_TRY(read_scale(p, transform, &unit, out, &said));
    KILN_TRY(read_rotation(p, transform, out));
    if (shift)
        KILN_TRY(kiln_polyfem_numbers(p, shift, out->at, &count));
    if (p->is_flat) {
        out->at[2] = 0.0;
        out->scale[2] = 1.0;
    }
    if (said)
        KILN_TRY(check_scale(p, said, &box, out));
    if (normalize)
        move_origin(out, box.low);
    return KILN_OK;
}

void kiln_polyfem_put_placement(lua_text *lua, const polyfem_placement *place)
{
    const double *s = place->scale;
    if (s[0] != s[1] || s[1] != s[2]) {
        kiln_lua_put(lua, ", scale = ");
        kiln_lua_put_vector(lua, s);
    } else if (s[0] != 1.0) {
        kiln_lua_put(lua, ", scale = ");
        kiln_lua_put_number(lua, s[0]);
    }
    if (place->angle != 0.0) {
        kiln_lua_put(lua, ", turn = {axis = ");
        kiln_lua_put_vector(lua, place->axis);
        kiln_lua_put(lua, ", %s = ", place->in_degrees ? "degrees" : "angle");
        kiln_lua_put_number(lua, place->angle);
        kiln_lua_put(lua, "}");
    }
    if (place->at[0] != 0.0 || place->at[1] != 0.0 || place->at[2] != 0.0) {
        kiln_lua_put(lua, ", at = ");
        kiln_lua_put_vector(lua, place->at);
    }
}
