/* Selections: the first that has a point gives it its id. */
#include "io/polyfem_impl.h"

#include <string.h>

#define FAR 1e29

static kiln_status push(polyfem *p, polyfem_selections *out, polyfem_selection s)
{
    return kiln_array_push(p->context, out, s, p->error);
}

static kiln_status read_point(polyfem *p, const kiln_json_node *object, const char *key,
                              const kiln_box *box, double out[3])
{
    const kiln_json_node *node = kiln_polyfem_get(object, key);
    bool relative = false;
    size_t count = 0;
    if (!node)
        return kiln_json_fail(object, p->error, "must have a %s", key);
    KILN_TRY(kiln_polyfem_numbers(p, node, out, &count));
    if (count != 3 && !(p->is_flat && count == 2))
        return kiln_json_fail(node, p->error, "must have three numbers, got %zu", count);
    KILN_TRY(kiln_polyfem_flag(p, object, "relative", &relative));
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    for (int k = 0; k < 3 && relative; k++)
        out[k] = (high[k] - low[k]) * out[k] + low[k];
    return KILN_OK;
}

/* Relative to the diagonal of the mesh. */
static kiln_status read_radius(polyfem *p, const kiln_json_node *object, const kiln_box *box,
                               double *out)
{
    bool relative = false;
    if (!kiln_polyfem_get(object, "radius"))
        return kiln_json_fail(object, p->error, "must have a radius");
    KILN_TRY(kiln_polyfem_number(p, object, "radius", (kiln_bounds)KILN_POSITIVE, out));
    KILN_TRY(kiln_polyfem_flag(p, object, "relative", &relative));
    kiln_vec3 side = kiln_v3_sub(box->high, box->low);
    if (relative)
        *out *= hypot(hypot(side.x, side.y), p->is_flat ? 0.0 : side.z);
    return KILN_OK;
}

static kiln_status read_box(polyfem *p, const kiln_json_node *object, const kiln_box *box,
                            polyfem_selection *s)
{
    kiln_json_node *corners = kiln_json_get(object, "box");
    double *const ends[2] = {s->a, s->b};
    bool relative = false;
    s->word = "box";
    KILN_TRY(kiln_polyfem_flag(p, object, "relative", &relative));
    if (corners->type != KILN_JSON_IS_LIST || corners->count != 2)
        return kiln_json_fail(corners, p->error, "must be two corners");
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    for (size_t i = 0; i < 2; i++) {
        size_t count = 0;
        KILN_TRY(kiln_polyfem_numbers(p, kiln_json_at(corners, i), ends[i], &count));
        if (count != 3 && !(p->is_flat && count == 2))
            return kiln_json_fail(corners, p->error, "must be two corners of three numbers");
        for (int k = 0; k < 3 && relative; k++)
            ends[i][k] = (high[k] - low[k]) * ends[i][k] + low[k];
        if (p->is_flat)
            ends[i][2] = i == 0 ? -FAR : FAR;
    }
    for (int k = 0; k < 3; k++)
        if (!(s->a[k] <= s->b[k]))
            return kiln_json_fail(corners, p->error, "the first corner must be the lower one");
    return KILN_OK;
}

/* "x", "-y", 3, -2. */
static kiln_status read_axis(polyfem *p, const kiln_json_node *object, const kiln_box *box,
                             polyfem_selection *s)
{
    const kiln_json_node *axis = kiln_polyfem_get(object, "axis");
    int number = 0;
    bool relative = false;
    s->word = "half_space";
    if (axis->type == KILN_JSON_IS_TEXT) {
        const char *letter = axis->text + strspn(axis->text, "+-");
        const char *found = letter[0] && !letter[1] ? strchr("xyzXYZ", letter[0]) : NULL;
        number = found ? (letter[0] | 32) - 'x' + 1 : 0;
        number = axis->text[0] == '-' ? -number : number;
    } else {
        KILN_TRY(kiln_polyfem_whole(p, object, "axis", (kiln_bounds)KILN_WITHIN(-3, 3), &number));
    }
    if (number == 0)
        return kiln_json_fail(axis, p->error, "must be x, y or z, or 1 to 3, with a sign");
    int k = (number < 0 ? -number : number) - 1;
    if (!kiln_polyfem_get(object, "position"))
        return kiln_json_fail(object, p->error, "must have a position");
    KILN_TRY(kiln_polyfem_number(p, object, "position", (kiln_bounds)KILN_ANY_NUMBER, &s->a[k]));
    KILN_TRY(kiln_polyfem_flag(p, object, "relative", &relative));
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    if (relative)
        s->a[k] = (high[k] - low[k]) * s->a[k] + low[k];
    s->b[k] = number < 0 ? -1.0 : 1.0;
    return KILN_OK;
}

static kiln_status read_plane(polyfem *p, const kiln_json_node *object, const kiln_box *box,
                              polyfem_selection *s)
{
    size_t count = 0;
    double offset = 0.0;
    s->word = "half_space";
    const kiln_json_node *normal = kiln_polyfem_get(object, "normal");
    KILN_TRY(kiln_polyfem_numbers(p, normal, s->b, &count));
    kiln_vec3 n = kiln_v3(s->b[0], s->b[1], s->b[2]);
    if ((count != 3 && !(p->is_flat && count == 2)) || !(kiln_v3_norm(n) > 0.0))
        return kiln_json_fail(normal, p->error, "must be three numbers that are not all 0");
    if (kiln_polyfem_get(object, "point"))
        return read_point(p, object, "point", box, s->a);
    KILN_TRY(kiln_polyfem_number(p, object, "offset", (kiln_bounds)KILN_ANY_NUMBER, &offset));
    n = kiln_v3_scale(n, offset);
    s->a[0] = n.x;
    s->a[1] = n.y;
    s->a[2] = n.z;
    return KILN_OK;
}

/* Sides of the bounding box: 1 to 6 are -x, -y, +x, +y, -z, +z, and 7 is the rest. */
static kiln_status add_sides(polyfem *p, const kiln_json_node *object, const kiln_box *box,
                             polyfem_selections *out)
{
    static const int axes[] = {0, 1, 0, 1, 2, 2}, upper[] = {0, 0, 1, 1, 0, 1};
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    double tolerance = -1.0;
    int offset = 0;
    KILN_TRY(kiln_polyfem_number(p, object, "threshold", (kiln_bounds)KILN_ANY_NUMBER, &tolerance));
    KILN_TRY(
        kiln_polyfem_whole(p, object, "id_offset", (kiln_bounds)KILN_WITHIN(-1e9, 1e9), &offset));
    if (tolerance < 0.0)
        tolerance = p->is_flat ? 1e-7 : 1e-2;
    for (int i = 0; i < (p->is_flat ? 4 : 6); i++) {
        polyfem_selection s = {.word = "box",
                               .a = {-FAR, -FAR, -FAR},
                               .b = {FAR, FAR, FAR},
                               .id = 1 + i + offset,
                               .said = object};
        double side = upper[i] ? high[axes[i]] : low[axes[i]];
        s.a[axes[i]] = side - tolerance;
        s.b[axes[i]] = side + tolerance;
        KILN_TRY(push(p, out, s));
    }
    return push(p, out, (polyfem_selection){.word = "all", .id = 7 + offset, .said = object});
}

/* A sphere of the plane: a cylinder that reaches beyond the slab. */
static void make_disc(polyfem_selection *s)
{
    s->word = "cylinder";
    memcpy(s->b, s->a, sizeof s->b);
    s->a[2] = -1e6 * s->radius;
    s->b[2] = 1e6 * s->radius;
}

static kiln_status read_shape(polyfem *p, const kiln_json_node *object, const kiln_box *box,
                              polyfem_selection *s)
{
    s->word = "all";
    if (kiln_polyfem_get(object, "box"))
        return read_box(p, object, box, s);
    if (kiln_polyfem_get(object, "center")) {
        s->word = "sphere";
        KILN_TRY(read_point(p, object, "center", box, s->a));
        KILN_TRY(read_radius(p, object, box, &s->radius));
        if (p->is_flat)
            make_disc(s);
        return KILN_OK;
    }
    if (kiln_polyfem_get(object, "p1")) {
        s->word = "cylinder";
        KILN_TRY(read_point(p, object, "p1", box, s->a));
        KILN_TRY(read_point(p, object, "p2", box, s->b));
        return read_radius(p, object, box, &s->radius);
    }
    if (kiln_polyfem_get(object, "axis"))
        return read_axis(p, object, box, s);
    return kiln_polyfem_get(object, "normal") ? read_plane(p, object, box, s) : KILN_OK;
}

static kiln_status read_selection(polyfem *p, const kiln_json_node *node, const kiln_box *box,
                                  polyfem_selections *out)
{
    polyfem_selection s = {.word = "all", .said = node};
    char found[80];
    if (node->type == KILN_JSON_IS_NUMBER && node->number == floor(node->number) &&
        fabs(node->number) < 2147483647.0) {
        s.id = (int)node->number;
        return push(p, out, s);
    }
    if (node->type != KILN_JSON_IS_OBJECT)
        return kiln_json_fail(node, p->error,
                              "must be an id or an object with one; ids in files are not "
                              "supported, got %s",
                              kiln_json_describe(node, found, sizeof found));
    if (kiln_polyfem_get(node, "threshold"))
        return add_sides(p, node, box, out);
    if (!kiln_polyfem_get(node, "id"))
        return kiln_json_fail(node, p->error, "must have an id");
    KILN_TRY(kiln_polyfem_whole(p, node, "id", (kiln_bounds)KILN_WITHIN(-2147483647.0, 2147483646),
                                &s.id));
    KILN_TRY(read_shape(p, node, box, &s));
    return push(p, out, s);
}

kiln_status kiln_polyfem_selections(polyfem *p, const kiln_json_node *list, kiln_box box,
                                    polyfem_selections *out)
{
    for (const kiln_json_node *node = list ? list->first : NULL; node; node = node->next)
        KILN_TRY(read_selection(p, node, &box, out));
    return KILN_OK;
}

bool kiln_polyfem_is_inside(const polyfem_selection *s, kiln_vec3 at)
{
    const kiln_vec3 a = kiln_v3(s->a[0], s->a[1], s->a[2]), b = kiln_v3(s->b[0], s->b[1], s->b[2]);
    kiln_vec3 from = kiln_v3_sub(at, a), axis = kiln_v3_sub(b, a);
    switch (s->word[0]) {
    case 'b':
        return at.x >= a.x && at.y >= a.y && at.z >= a.z && at.x <= b.x && at.y <= b.y &&
               at.z <= b.z;
    case 's':
        return kiln_v3_norm2(from) <= s->radius * s->radius;
    case 'c': {
        double along = kiln_v3_dot(from, axis), length2 = kiln_v3_norm2(axis);
        return along >= 0.0 && along <= length2 &&
               kiln_v3_norm2(kiln_v3_cross(from, axis)) <= s->radius * s->radius * length2;
    }
    case 'h':
        return kiln_v3_dot(from, b) >= 0.0;
    default:
        return true;
    }
}

void kiln_polyfem_put_selection(lua_text *lua, const polyfem_selection *s)
{
    static const struct {
        const char *word, *a, *b;
        bool round;
    } forms[] = {{"box", "from", "to", false},
                 {"sphere", "centre", NULL, true},
                 {"cylinder", "from", "to", true},
                 {"half_space", "point", "normal", false}};
    kiln_lua_put(lua, "select.%s {", s->word);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].word, s->word) != 0)
            continue;
        kiln_lua_put(lua, "%s = ", forms[i].a);
        kiln_lua_put_vector(lua, s->a);
        if (forms[i].b) {
            kiln_lua_put(lua, ", %s = ", forms[i].b);
            kiln_lua_put_vector(lua, s->b);
        }
        if (forms[i].round) {
            kiln_lua_put(lua, ", radius = ");
            kiln_lua_put_number(lua, s->radius);
        }
    }
    kiln_lua_put(lua, "}");
}
