#include "io/polyfem_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const kiln_json_node *kiln_polyfem_get(const kiln_json_node *object, const char *key)
{
    const kiln_json_node *node = kiln_json_get(object, key);
    return node && node->type != KILN_JSON_IS_NULL ? node : NULL;
}

static kiln_status refuse(const polyfem *p, const kiln_json_node *node, const char *rule)
{
    char found[80];
    return kiln_json_fail(node, p->error, "must be %s, got %s", rule,
                          kiln_json_describe(node, found, sizeof found));
}

kiln_status kiln_polyfem_number(polyfem *p, const kiln_json_node *object, const char *key,
                                kiln_bounds bounds, double *out)
{
    const kiln_json_node *node = kiln_polyfem_get(object, key);
    char rule[64];
    if (!node)
        return KILN_OK;
    if (node->type != KILN_JSON_IS_NUMBER)
        return refuse(p, node, "a number");
    if (!kiln_bounds_hold(&bounds, node->number))
        return refuse(p, node, kiln_bounds_broken(&bounds, node->number, rule, sizeof rule));
    *out = node->number;
    return KILN_OK;
}

kiln_status kiln_polyfem_whole(polyfem *p, const kiln_json_node *object, const char *key,
                               kiln_bounds bounds, int *out)
{
    double value = *out;
    KILN_TRY(kiln_polyfem_number(p, object, key, bounds, &value));
    if (value != floor(value) || fabs(value) > 2147483647.0)
        return refuse(p, kiln_polyfem_get(object, key), "a whole number");
    *out = (int)value;
    return KILN_OK;
}

kiln_status kiln_polyfem_flag(polyfem *p, const kiln_json_node *object, const char *key, bool *out)
{
    const kiln_json_node *node = kiln_polyfem_get(object, key);
    if (!node)
        return KILN_OK;
    if (node->type != KILN_JSON_IS_BOOL)
        return refuse(p, node, "true or false");
    *out = node->number != 0.0;
    return KILN_OK;
}

kiln_status kiln_polyfem_word(polyfem *p, const kiln_json_node *object, const char *key,
                              const char **out)
{
    const kiln_json_node *node = kiln_polyfem_get(object, key);
    if (!node)
        return KILN_OK;
    if (node->type != KILN_JSON_IS_TEXT)
        return refuse(p, node, "a text");
    *out = node->text;
    return KILN_OK;
}

kiln_status kiln_polyfem_numbers(polyfem *p, const kiln_json_node *list, double out[3],
                                 size_t *count)
{
    static const kiln_bounds any = KILN_ANY_NUMBER;
    if (list->type != KILN_JSON_IS_LIST || list->count > 3)
        return refuse(p, list, "a list of up to three numbers");
    *count = list->count;
    for (const kiln_json_node *item = list->first; item; item = item->next) {
        if (item->type != KILN_JSON_IS_NUMBER || !kiln_bounds_hold(&any, item->number))
            return refuse(p, item, "a number");
        *out++ = item->number;
    }
    return KILN_OK;
}

kiln_status kiln_polyfem_vector(polyfem *p, const kiln_json_node *list, polyfem_formula out[3])
{
    if (list->type != KILN_JSON_IS_LIST || list->count > 3)
        return refuse(p, list, "a list of up to three numbers or formulas");
    for (int k = 0; k < 3; k++)
        out[k] = kiln_polyfem_zero();
    for (const kiln_json_node *item = list->first; item; item = item->next, out++)
        KILN_TRY(kiln_polyfem_formula(p->arena, item, out, &p->helpers, p->error));
    return KILN_OK;
}

kiln_status kiln_polyfem_has_id(polyfem *p, const kiln_json_node *condition, int id, bool *out)
{
    const kiln_json_node *node = kiln_polyfem_get(condition, "id");
    *out = !node || (node->type == KILN_JSON_IS_TEXT && strcmp(node->text, "all") == 0) ||
           (node->type == KILN_JSON_IS_NUMBER && node->number == id);
    if (!node || node->type == KILN_JSON_IS_NUMBER || *out)
        return KILN_OK;
    if (node->type != KILN_JSON_IS_LIST)
        return refuse(p, node, "a number, a list of numbers or \"all\"");
    for (const kiln_json_node *item = node->first; item; item = item->next) {
        if (item->type != KILN_JSON_IS_NUMBER)
            return refuse(p, item, "a number");
        *out |= item->number == id;
    }
    return KILN_OK;
}

void kiln_polyfem_end_line(const polyfem *p, lua_text *lua, const kiln_json_node *node)
{
    if (node && node->file == p->file)
        kiln_lua_put(lua, " --:%u", node->line);
    kiln_lua_put(lua, "\n");
}

static void put_component(polyfem *p, const polyfem_formula *v, const polyfem_form *form, char axis)
{
    lua_text *lua = &p->scene;
    bool bare = !form->negative && !form->factor;
    if (form->from_place)
        kiln_lua_put(lua, "%c + ", axis);
    kiln_lua_put(lua, form->negative ? "-(" : bare && !form->from_place ? "" : "(");
    kiln_lua_put_text(lua, v->lua, strlen(v->lua));
    kiln_lua_put(lua, bare && !form->from_place ? "" : ")");
    if (form->factor)
        kiln_lua_put(lua, " * %s", form->factor);
}

void kiln_polyfem_put_vector(polyfem *p, const polyfem_formula v[3], polyfem_form form)
{
    lua_text *lua = &p->scene;
    unsigned uses = v[0].uses | v[1].uses | v[2].uses;
    bool has_time = strchr(form.arguments, 't') != NULL;
    if (uses == 0 && !form.factor && !form.from_place) {
        double constant[3];
        for (int k = 0; k < 3; k++)
            constant[k] = form.negative ? 0.0 - v[k].constant : v[k].constant;
        kiln_lua_put_vector(lua, constant);
        return;
    }
    kiln_lua_put(lua, "function(%s) ", form.arguments);
    if (!has_time || p->t0 != 0.0) {
        kiln_lua_put(lua, "local t = %s", has_time ? "t + " : "");
        kiln_lua_put_number(lua, p->t0);
        kiln_lua_put(lua, "; ");
    }
    if (strchr(form.arguments, 'u'))
        kiln_lua_put(lua, "local x, y, z = u.x, u.y, u.z; ");
    kiln_lua_put(lua, "return ");
    for (int k = 0; k < 3; k++) {
        kiln_lua_put(lua, k ? ", " : "");
        put_component(p, &v[k], &form, "xyz"[k]);
    }
    kiln_lua_put(lua, " end");
}

void kiln_polyfem_say(const polyfem *p, kiln_log_level level, const kiln_json_node *node,
                      const char *format, ...)
{
    char message[400], path[200];
    va_list arguments;
    if (p->quiet)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    kiln_json_path(node, path, sizeof path);
    kiln_log(p->context, level, "%s:%u: %s%s%s", node->file, node->line, path, path[0] ? ": " : "",
             message);
}
