#include "app/render_field.h"

#include "app/arguments.h"
#include "app/skin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t find_field(const kiln_soup *soup, const char *name)
{
    for (size_t i = 0; i < soup->fields.count; i++)
        if (strcmp(soup->fields.data[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* Of xx yy zz xy yz xz. */
static double mises_of(const double *s)
{
    double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    double shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * shear);
}

static double pressure_of(const double *s)
{
    return -(s[0] + s[1] + s[2]) / 3.0;
}

static double symmetric_norm(const double *s)
{
    double shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
    return sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 2.0 * shear);
}

/* Values become numbers in place: an item's result never comes after its components. */
static void reduce(kiln_soup_field *field, double (*to_number)(const double *))
{
    size_t items = field->data.count / field->components;
    for (size_t i = 0; i < items; i++)
        field->data.data[i] = to_number(field->data.data + i * field->components);
    field->components = 1;
    field->data.count = items;
}

/* A field `name` of numbers on the items of field `from`; both by number, because adding moves
 * them. */
static kiln_status add_like(kiln_soup *soup, const char *name, size_t from, double **out,
                            kiln_error *error)
{
    kiln_soup_field *added;
    KILN_TRY(kiln_soup_add_field(soup, name, soup->fields.data[from].where, 1, &added, error));
    *out = added->data.data;
    return KILN_OK;
}

static kiln_status add_reduced(kiln_soup *soup, const char *name, size_t from,
                               double (*to_number)(const double *), kiln_error *error)
{
    double *to;
    KILN_TRY(add_like(soup, name, from, &to, error));
    const kiln_soup_field *field = &soup->fields.data[from];
    for (size_t i = 0; i < field->data.count / field->components; i++)
        to[i] = to_number(field->data.data + i * field->components);
    return KILN_OK;
}

static double length3(const double *v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static kiln_status add_displacement(kiln_soup *soup, const char *name, size_t from,
                                    kiln_error *error)
{
    double *to;
    KILN_TRY(add_like(soup, name, from, &to, error));
    const double *u = soup->fields.data[from].data.data;
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        const double d[3] = {p.x - u[3 * i], p.y - u[3 * i + 1], p.z - u[3 * i + 2]};
        to[i] = length3(d);
    }
    return KILN_OK;
}

/* Number of a component by its name in a field of so many; -1: none. */
static int component_of(const char *name, uint32_t components)
{
    static const char *const vectors[] = {"x", "y", "z"};
    static const char *const symmetric[] = {"xx", "yy", "zz", "xy", "yz", "xz"};
    static const char *const tensors[] = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
    const char *const *names = components == 3   ? vectors
                               : components == 6 ? symmetric
                               : components == 9 ? tensors
                                                 : NULL;
    for (uint32_t i = 0; names && i < components; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    char *end;
    long number = strtol(name, &end, 10);
    bool fine = isdigit((unsigned char)name[0]) && !*end && number < (long)components;
    return fine ? (int)number : -1;
}

static kiln_status add_component(kiln_soup *soup, const char *name, size_t from, int component,
                                 kiln_error *error)
{
    double *to;
    KILN_TRY(add_like(soup, name, from, &to, error));
    const kiln_soup_field *field = &soup->fields.data[from];
    for (size_t i = 0; i < field->data.count / field->components; i++)
        to[i] = field->data.data[i * field->components + (size_t)component];
    return KILN_OK;
}

static size_t find_shaped(const kiln_soup *soup, const char *name, uint32_t components)
{
    size_t found = find_field(soup, name);
    return found != SIZE_MAX && soup->fields.data[found].components == components ? found
                                                                                  : SIZE_MAX;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static kiln_status unknown(const kiln_soup *soup, const char *asked, kiln_error *error)
{
    const char *names[40] = {"quality", "region", "none"};
    size_t count = 3;
    if (find_shaped(soup, "v", 3) != SIZE_MAX)
        names[count++] = "speed";
    if (find_shaped(soup, "u", 3) != SIZE_MAX)
        names[count++] = "displacement";
    for (size_t i = 0; i < soup->fields.count && count < sizeof names / sizeof names[0]; i++)
        if (find_field(soup, soup->fields.data[i].name) ==
                i && /* those of vertices and tets once */
            !is_among(soup->fields.data[i].name, names, count))
            names[count++] = soup->fields.data[i].name;
    char list[300] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list - 1; i++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    const char *nearest = kiln_nearest_name(asked, names, count, sizeof names[0]);
    if (nearest)
        return kiln_fail(error, KILN_ERR_INPUT, KILN_COLOR_OPTION, 0, -1,
                         "'%s' is none of: %s; did you mean '%s'?", asked, list, nearest);
    return kiln_fail(error, KILN_ERR_INPUT, KILN_COLOR_OPTION, 0, -1,
                     "'%s' is none of: %s (a scene's output.fields names what else is written)",
                     asked, list);
}

static kiln_status pick_component(kiln_soup *soup, const char *asked, kiln_error *error)
{
    const char *dot = strrchr(asked, '.');
    char base[KILN_NAME_SIZE];
    if (!dot || (size_t)(dot - asked) >= sizeof base)
        return unknown(soup, asked, error);
    snprintf(base, sizeof base, "%.*s", (int)(dot - asked), asked);
    size_t from = find_field(soup, base);
    int component =
        from == SIZE_MAX ? -1 : component_of(dot + 1, soup->fields.data[from].components);
    if (component < 0)
        return unknown(soup, asked, error);
    return add_component(soup, asked, from, component, error);
}

kiln_status kiln_render_pick_field(kiln_soup *soup, const char *asked, kiln_error *error)
{
    if (!asked || strcmp(asked, "quality") == 0 || strcmp(asked, "region") == 0 ||
        strcmp(asked, "none") == 0)
        return KILN_OK;
    size_t found = find_field(soup, asked), from;
    if (found != SIZE_MAX) {
        kiln_soup_field *field = &soup->fields.data[found];
        if (field->components == 6)
            reduce(field, strcmp(asked, "stress") == 0 ? mises_of : symmetric_norm);
        return KILN_OK;
    }
    if (strcmp(asked, "speed") == 0 && (from = find_shaped(soup, "v", 3)) != SIZE_MAX)
        return add_reduced(soup, asked, from, length3, error);
    if (strcmp(asked, "mises") == 0 && (from = find_shaped(soup, "stress", 6)) != SIZE_MAX)
        return add_reduced(soup, asked, from, mises_of, error);
    if (strcmp(asked, "pressure") == 0 && (from = find_shaped(soup, "stress", 6)) != SIZE_MAX)
        return add_reduced(soup, asked, from, pressure_of, error);
    if (strcmp(asked, "displacement") == 0 && (from = find_shaped(soup, "u", 3)) != SIZE_MAX &&
        soup->fields.data[from].where == KILN_ON_VERTEX)
        return add_displacement(soup, asked, from, error);
    return pick_component(soup, asked, error);
}

kiln_status kiln_render_smooth_field(kiln_soup *soup, const char *asked, kiln_error *error)
{
    size_t found = asked ? find_field(soup, asked) : SIZE_MAX;
    if (found == SIZE_MAX || soup->fields.data[found].where != KILN_ON_TET)
        return KILN_OK;
    kiln_soup_field *field = &soup->fields.data[found];
    kiln_f64_array sums = {0};
    size_t points = soup->points.count;
    KILN_TRY(kiln_array_reserve(soup->context, &sums, 2 * points + 1, error));
    memset(sums.data, 0, 2 * points * sizeof *sums.data);
    const kiln_vec3 *p = soup->points.data;
    for (size_t t = 0; t < soup->tets.count; t++) {
        const uint32_t *v = soup->tets.data[t].v;
        double volume = fabs(kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]));
        double value = kiln_soup_field_size(field, t);
        for (int k = 0; k < 4 && isfinite(value); k++) {
            sums.data[v[k]] += volume * value;
            sums.data[points + v[k]] += volume;
        }
    }
    for (size_t i = 0; i < points; i++) {
        double weight = sums.data[points + i];
        sums.data[i] = weight > 0.0 ? sums.data[i] / weight : NAN;
    }
    kiln_array_free(soup->context, &field->data);
    sums.count = points;
    field->data = sums;
    field->where = KILN_ON_VERTEX;
    field->components = 1;
    return KILN_OK;
}

double kiln_render_field_title(const char *asked, double largest, char title[KILN_NAME_SIZE])
{
    static const struct {
        const char *name, *shown, *unit;
        bool prefixed;
    } rows[] = {{"speed", "speed", "m/s", false},
                {"v", "speed", "m/s", false},
                {"u", "u", "m", false},
                {"displacement", "displacement", "m", false},
                {"stress", "von Mises", "Pa", true},
                {"mises", "von Mises", "Pa", true},
                {"pressure", "pressure", "Pa", true},
                {"energy", "energy", "J/m^3", true},
                {"reaction", "reaction", "N", true},
                {"contact", "contact", "N", true},
                {"contact_pressure", "contact pressure", "Pa", true},
                {"gap", "gap", "m", false},
                {"slip", "slip", "m/s", false},
                {"temperature", "temperature", "K", false}};
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    size_t base = strcspn(asked, ".");
    snprintf(title, KILN_NAME_SIZE, "%s", asked);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strlen(rows[i].name) != base || memcmp(asked, rows[i].name, base) != 0)
            continue;
        int thousands = 0;
        double factor = 1.0;
        for (; rows[i].prefixed && thousands < 4 && largest >= 1000.0 * factor; thousands++)
            factor *= 1000.0;
        snprintf(title, KILN_NAME_SIZE, "%s (%s%s)", asked[base] ? asked : rows[i].shown,
                 prefixes[thousands], rows[i].unit);
        return factor;
    }
    return 1.0;
}
