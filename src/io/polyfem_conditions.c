/* Conditions on surfaces: what is held or led, what is pulled at. */
#include "io/polyfem_impl.h"

#include <stdio.h>
#include <string.h>

static void put_numbers(lua_text *lua, const kiln_json_node *list)
{
    kiln_lua_put(lua, "{");
    for (const kiln_json_node *at = list->first; at; at = at->next) {
        kiln_lua_put_number(lua, at->number);
        kiln_lua_put(lua, at->next ? ", " : "}");
    }
}

static kiln_status check_points(polyfem *p, const kiln_json_node *ramp,
                                const kiln_json_node *points, const kiln_json_node *values)
{
    if (!points || !values || points->type != KILN_JSON_IS_LIST ||
        values->type != KILN_JSON_IS_LIST || points->count < 2 || points->count != values->count)
        return kiln_json_fail(ramp, p->error,
                              "must have points and values, as many of each, at least two");
    double before = -INFINITY;
    for (const kiln_json_node *at = points->first; at; at = at->next) {
        if (at->type != KILN_JSON_IS_NUMBER || !(at->number > before))
            return kiln_json_fail(at, p->error, "must be a number above the one before");
        before = at->number;
    }
    for (const kiln_json_node *at = values->first; at; at = at->next)
        if (at->type != KILN_JSON_IS_NUMBER)
            return kiln_json_fail(at, p->error, "must be a number");
    return KILN_OK;
}

/* Values at points of time, and what is beyond them. */
static kiln_status put_piecewise(polyfem *p, const kiln_json_node *ramp, bool is_linear)
{
    static const char *const ways[] = {"constant", "extrapolate", "repeat", "repeat_offset"};
    const kiln_json_node *points = kiln_polyfem_get(ramp, "points");
    const kiln_json_node *values = kiln_polyfem_get(ramp, "values");
    const char *extend = "constant";
    size_t way = 0;
    lua_text *lua = &p->locals;
    KILN_TRY(check_points(p, ramp, points, values));
    KILN_TRY(kiln_polyfem_word(p, ramp, "extend", &extend));
    while (way < 4 && strcmp(ways[way], extend) != 0)
        way++;
    if (way == 4 || (way == 1 && !is_linear))
        return kiln_json_fail(ramp, p->error, "extend \"%.30s\" is not supported here", extend);
    kiln_lua_put(lua, "    local at, value = ");
    put_numbers(lua, points);
    kiln_lua_put(lua, ", ");
    put_numbers(lua, values);
    kiln_lua_put(lua, "\n    local n, more = #at, 0.0\n    local span = at[n] - at[1]\n");
    kiln_lua_put(lua, "    if t < at[1] or t >= at[n] then\n");
    if (way == 0)
        kiln_lua_put(lua, "        return t < at[1] and value[1] or value[n]\n");
    if (way == 3)
        kiln_lua_put(lua, "        more = ((t - at[1]) // span) * (value[n] - value[1])\n");
    if (way >= 2)
        kiln_lua_put(lua, "        t = at[1] + (t - at[1]) %% span\n");
    kiln_lua_put(lua, "    end\n    local i = 1\n");
    kiln_lua_put(lua, "    while i < n - 1 and t >= at[i + 1] do i = i + 1 end\n");
    if (!is_linear)
        kiln_lua_put(lua, "    return value[i] + more\n");
    else
        kiln_lua_put(lua, "    local part = (t - at[i]) / (at[i + 1] - at[i])\n"
                          "    return (value[i + 1] - value[i]) * part + value[i] + more\n");
    return KILN_OK;
}

static kiln_status put_linear_ramp(polyfem *p, const kiln_json_node *ramp)
{
    double from = 0.0, to = NAN;
    lua_text *lua = &p->locals;
    KILN_TRY(kiln_polyfem_number(p, ramp, "from", (kiln_bounds)KILN_ANY_NUMBER, &from));
    KILN_TRY(kiln_polyfem_number(p, ramp, "to", (kiln_bounds)KILN_ANY_NUMBER, &to));
    if (!(to > from))
        return kiln_json_fail(ramp, p->error, "must have `to` above `from`");
    kiln_lua_put(lua, "    if t >= ");
    kiln_lua_put_number(lua, to);
    kiln_lua_put(lua, " then return ");
    kiln_lua_put_number(lua, to);
    kiln_lua_put(lua, " end\n    return math.max(0.0, t - ");
    kiln_lua_put_number(lua, from);
    kiln_lua_put(lua, ")\n");
    return KILN_OK;
}

kiln_status kiln_polyfem_put_ramp(polyfem *p, const kiln_json_node *condition, const char **call)
{
    const kiln_json_node *ramp = kiln_polyfem_get(condition, "interpolation");
    const char *type = "none";
    *call = NULL;
    KILN_TRY(kiln_polyfem_word(p, ramp, "type", &type));
    if (!ramp || strcmp(type, "none") == 0)
        return KILN_OK;
    char *name = kiln_arena_alloc(p->arena, 32);
    if (!name)
        return kiln_fail_memory(p->error, 32);
    kiln_lua_put(&p->locals, p->ramps++ == 0 ? "local ramps = {}\n" : "");
    snprintf(name, 32, "ramps[%d](t)", p->ramps);
    kiln_lua_put(&p->locals, "ramps[%d] = function(t)", p->ramps);
    kiln_polyfem_end_line(p, &p->locals, ramp);
    if (strcmp(type, "linear") == 0)
        kiln_lua_put(&p->locals, "    return t\n");
    else if (strcmp(type, "linear_ramp") == 0)
        KILN_TRY(put_linear_ramp(p, ramp));
    else if (strcmp(type, "piecewise_constant") == 0 || strcmp(type, "piecewise_linear") == 0)
        KILN_TRY(put_piecewise(p, ramp, strcmp(type, "piecewise_linear") == 0));
    else
        return kiln_json_fail(ramp, p->error, "type \"%.30s\" is not supported", type);
    kiln_lua_put(&p->locals, "end\n");
    *call = name;
    return KILN_OK;
}

/* Faces with one of the condition's ids, or false: no body has such. */
static kiln_status put_where(polyfem *p, const kiln_json_node *condition, bool *any)
{
    const kiln_json_node *id = kiln_polyfem_get(condition, "id");
    *any = false;
    if (!id || (id->type == KILN_JSON_IS_TEXT && strcmp(id->text, "all") == 0)) {
        kiln_lua_put(&p->scene, "select.surface {}");
        *any = true;
        return KILN_OK;
    }
    for (size_t i = 0; i < p->surface_ids.count; i++) {
        bool found;
        KILN_TRY(kiln_polyfem_has_id(p, condition, (int)p->surface_ids.data[i], &found));
        if (!found)
            continue;
        kiln_lua_put(&p->scene, "%sselect.patch {tag = %d}", *any ? " | " : "",
                     (int)p->surface_ids.data[i]);
        *any = true;
    }
    return KILN_OK;
}

/* "xz" of [true, false, true]; what is missing is held. */
static kiln_status read_components(polyfem *p, const kiln_json_node *condition, char letters[4])
{
    const kiln_json_node *list = kiln_polyfem_get(condition, "dimension");
    size_t used = 0;
    if (list && (list->type != KILN_JSON_IS_LIST || list->count > 3))
        return kiln_json_fail(list, p->error, "must be a list of up to three booleans");
    for (size_t k = 0; k < (p->is_flat ? 2u : 3u); k++) {
        const kiln_json_node *item = kiln_json_at(list, k);
        if (item && item->type != KILN_JSON_IS_BOOL)
            return kiln_json_fail(item, p->error, "must be true or false");
        if (!item || item->number != 0.0)
            letters[used++] = "xyz"[k];
    }
    letters[used] = 0;
    return KILN_OK;
}

/* Along with t alone they move as one; otherwise each goes where its material point is sent. */
static kiln_status put_motion(polyfem *p, const kiln_json_node *condition, polyfem_formula v[3])
{
    unsigned uses = v[0].uses | v[1].uses | v[2].uses;
    bool by_place = (uses & FORMULA_USES_PLACE) || p->leads_by_place;
    polyfem_form form = {.arguments = by_place ? "t, u" : "t", .from_place = by_place};
    bool is_still = uses == 0 && v[0].constant == 0.0 && v[1].constant == 0.0 &&
                    v[2].constant == 0.0 && !by_place;
    if (is_still)
        return KILN_OK;
    KILN_TRY(kiln_polyfem_put_ramp(p, condition, &form.factor));
    kiln_lua_put(&p->scene,
                 ", motion = motion.%s = ", by_place ? "follow {place" : "translate {shift");
    kiln_polyfem_put_vector(p, v, form);
    kiln_lua_put(&p->scene, "}");
    return KILN_OK;
}

static kiln_status read_value(polyfem *p, const kiln_json_node *condition, polyfem_formula v[3])
{
    const kiln_json_node *value = kiln_polyfem_get(condition, "value");
    if (condition->type != KILN_JSON_IS_OBJECT)
        return kiln_json_fail(condition, p->error,
                              "must be an object with an id and a value; values in files are not "
                              "supported");
    if (!value)
        return kiln_json_fail(condition, p->error, "must have a value");
    return kiln_polyfem_vector(p, value, v);
}

/* What was written since `begin` is taken back: there is nothing to apply it to. */
static void take_back(polyfem *p, size_t begin, const kiln_json_node *condition)
{
    p->scene.text.count = begin;
    kiln_polyfem_say(p, KILN_LOG_INFO, condition, "no face of what deforms has such an id");
}

static kiln_status put_hold(polyfem *p, const kiln_json_node *condition)
{
    size_t begin = p->scene.text.count;
    polyfem_formula v[3];
    char letters[4];
    bool any;
    KILN_TRY(read_value(p, condition, v));
    KILN_TRY(read_components(p, condition, letters));
    if (!letters[0])
        return KILN_OK;
    kiln_lua_put(&p->scene, "        hold {where = ");
    KILN_TRY(put_where(p, condition, &any));
    if (!any) {
        take_back(p, begin, condition);
        return KILN_OK;
    }
    if (strlen(letters) < 3)
        kiln_lua_put(&p->scene, ", components = \"%s\"", letters);
    KILN_TRY(put_motion(p, condition, v));
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, condition);
    return KILN_OK;
}

static kiln_status put_load(polyfem *p, const kiln_json_node *condition)
{
    size_t begin = p->scene.text.count;
    polyfem_formula v[3];
    bool any;
    KILN_TRY(read_value(p, condition, v));
    bool is_zero = !(v[0].uses | v[1].uses | v[2].uses) && v[0].constant == 0.0 &&
                   v[1].constant == 0.0 && v[2].constant == 0.0;
    if (is_zero)
        return KILN_OK;
    kiln_lua_put(&p->scene, "        load.traction {where = ");
    KILN_TRY(put_where(p, condition, &any));
    if (!any) {
        take_back(p, begin, condition);
        return KILN_OK;
    }
    polyfem_form form = {.arguments = "t, u"};
    KILN_TRY(kiln_polyfem_put_ramp(p, condition, &form.factor));
    kiln_lua_put(&p->scene, ", amount = ");
    kiln_polyfem_put_vector(p, v, form);
    kiln_lua_put(&p->scene, "},");
    kiln_polyfem_end_line(p, &p->scene, condition);
    return KILN_OK;
}

kiln_status kiln_polyfem_put_conditions(polyfem *p)
{
    const kiln_json_node *all = kiln_polyfem_get(p->root, "boundary_conditions");
    const kiln_json_node *held = kiln_polyfem_get(all, "dirichlet_boundary");
    const kiln_json_node *pulled = kiln_polyfem_get(all, "neumann_boundary");
    kiln_lua_put(&p->scene, "    holds = {\n");
    for (const kiln_json_node *at = held ? held->first : NULL; at; at = at->next)
        KILN_TRY(put_hold(p, at));
    if (p->is_flat)
        kiln_lua_put(&p->scene, "        hold {components = \"z\"}, -- a plane problem\n");
    kiln_lua_put(&p->scene, "    },\n    loads = {\n");
    for (const kiln_json_node *at = pulled ? pulled->first : NULL; at; at = at->next)
        KILN_TRY(put_load(p, at));
    kiln_lua_put(&p->scene, "    },\n");
    return KILN_OK;
}
