#include "mesh/shapes.h"

#include "mesh/shape_build.h"

#include <stdlib.h>
#include <string.h>

static const kiln_shape *const rows[] = {
    &kiln_shape_box,     &kiln_shape_ball, &kiln_shape_cylinder,
    &kiln_shape_cone,    &kiln_shape_bowl, &kiln_shape_torus,
    &kiln_shape_polygon, &kiln_shape_text, &kiln_shape_figure,
};

const kiln_shape *const *kiln_shapes(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

/* Insertions, deletions and exchanges from one word to the other; words beyond 31 letters are
 * compared by their first 31. */
static int word_distance(const char *a, size_t n, const char *b)
{
    enum { LONGEST = 31 };
    size_t m = strlen(b);
    int row[LONGEST + 1];
    n = n < LONGEST ? n : LONGEST;
    m = m < LONGEST ? m : LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

static kiln_status find_param(const kiln_shape *shape, const char *name, size_t length,
                              size_t *index, kiln_error *error)
{
    size_t nearest = 0;
    int best = 1000;
    for (size_t i = 0; i < shape->param_count; i++) {
        const char *known = shape->params[i].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            *index = i;
            return KILN_OK;
        }
        int d = word_distance(name, length, known);
        if (d < best) {
            best = d;
            nearest = i;
        }
    }
    return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1,
                     "unknown parameter '%.*s', did you mean '%s'?", (int)(length & 63), name,
                     shape->params[nearest].name);
}

static kiln_status read_choice(const kiln_shape *shape, const kiln_shape_param *param,
                               const char *text, double *value, kiln_error *error)
{
    size_t length = strlen(text);
    const char *at = param->text;
    for (int position = 0;; position++) {
        size_t n = strcspn(at, "|");
        if (n == length && strncmp(at, text, n) == 0) {
            *value = position;
            return KILN_OK;
        }
        if (at[n] == '\0')
            return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1,
                             "%s must be one of %s, got '%.40s'", param->name, param->text, text);
        at += n + 1;
    }
}

static kiln_status read_number(const kiln_shape *shape, const kiln_shape_param *param,
                               const char *text, double *value, kiln_error *error)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end != '\0')
        return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1,
                         "%s must be a number, got '%.40s'", param->name, text);
    if (!(x >= param->low && x <= param->high))
        return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1,
                         "%s must be between %g and %g, got %.40s", param->name, param->low,
                         param->high, text);
    if (param->kind == KILN_PARAM_COUNT && x != floor(x))
        return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1,
                         "%s must be a whole number, got %.40s", param->name, text);
    *value = x;
    return KILN_OK;
}

kiln_status kiln_shape_parse(const kiln_shape *shape, size_t count, const char *const *settings,
                             kiln_shape_values *values, kiln_error *error)
{
    uint32_t given = 0; /* bit per parameter */
    memset(values, 0, sizeof *values);
    for (size_t i = 0; i < shape->param_count; i++) {
        values->number[i] = shape->params[i].preset;
        values->text[i] = shape->params[i].text;
    }
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(settings[i], '=');
        size_t at = 0;
        if (!equals)
            return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1,
                             "expected name=value, got '%.60s'", settings[i]);
        KILN_TRY(find_param(shape, settings[i], (size_t)(equals - settings[i]), &at, error));
        const kiln_shape_param *param = &shape->params[at];
        if (given >> at & 1)
            return kiln_fail(error, KILN_ERR_INPUT, shape->name, 0, -1, "%s is given twice",
                             param->name);
        given |= 1u << at;
        if (param->kind == KILN_PARAM_TEXT)
            values->text[at] = equals + 1;
        else if (param->kind == KILN_PARAM_CHOICE)
            KILN_TRY(read_choice(shape, param, equals + 1, &values->number[at], error));
        else
            KILN_TRY(read_number(shape, param, equals + 1, &values->number[at], error));
    }
    return KILN_OK;
}

kiln_status kiln_shape_find(const kiln_shape *const *shapes, size_t count, const char *name,
                            const kiln_shape **out, kiln_error *error)
{
    size_t nearest = 0;
    int best = 1000;
    for (size_t i = 0; i < count; i++) {
        int d = word_distance(name, strlen(name), shapes[i]->name);
        if (strcmp(shapes[i]->name, name) == 0) {
            *out = shapes[i];
            return KILN_OK;
        }
        if (d < best) {
            best = d;
            nearest = i;
        }
    }
    return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                     "unknown shape '%.40s', did you mean '%s'?", name, shapes[nearest]->name);
}

kiln_status kiln_shape_make(const kiln_shape *shape, size_t count, const char *const *settings,
                            kiln_soup *soup, kiln_error *error)
{
    kiln_shape_values values;
    KILN_TRY(kiln_shape_parse(shape, count, settings, &values, error));
    kiln_status status = shape->generate(&values, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}
