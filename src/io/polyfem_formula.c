#include "io/polyfem_formula.h"

#include "base/nearest_name.h"
#include "io/decimal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NESTING = 40, LENGTH = 4000 };

/* Functions that Lua lacks, in an order in which none calls a later one. */
typedef enum helper {
    HELPER_TANH,
    HELPER_SMOOTH_ABS,
    HELPER_SINH,
    HELPER_COSH,
    HELPER_STEP,
    HELPER_HALF_STEP,
    HELPER_SIGN,
    HELPER_COMPARE,
    HELPER_IF,
    HELPER_TURN_X,
    HELPER_TURN_Y,
    HELPER_NONE
} helper;

/* Of small numbers by their series: exp(-2x) is near 1 there. */
static const char *const definitions[HELPER_NONE] = {
    [HELPER_TANH] = "local function tanh(x)\n"
                    "    local a = math.abs(x)\n"
                    "    local e = math.exp(-2.0 * a)\n"
                    "    if a < 0.01 then\n"
                    "        local q = x * x\n"
                    "        return x * (1.0 - q * (1 / 3 - q * (2 / 15 - q * (17 / 315))))\n"
                    "    end\n"
                    "    return x < 0.0 and (e - 1.0) / (e + 1.0) or (1.0 - e) / (1.0 + e)\n"
                    "end\n",
    [HELPER_SMOOTH_ABS] = "local function smooth_abs(x, k) return tanh(k * x) * x end\n",
    [HELPER_SINH] = "local function sinh(x)\n"
                    "    if math.abs(x) < 0.01 then\n"
                    "        local q = x * x\n"
                    "        return x * (1.0 + q * (1 / 6 + q * (1 / 120 + q / 5040)))\n"
                    "    end\n"
                    "    return 0.5 * (math.exp(x) - math.exp(-x))\n"
                    "end\n",
    [HELPER_COSH] = "local function cosh(x) return 0.5 * (math.exp(x) + math.exp(-x)) end\n",
    [HELPER_STEP] = "local function smoothstep(a)\n"
                    "    if a < 0.0 then return 0.0 end\n"
                    "    return a > 1.0 and 1.0 or 3.0 * a ^ 2 - 2.0 * a ^ 3\n"
                    "end\n",
    [HELPER_HALF_STEP] = "local function half_smoothstep(a)\n"
                         "    return 2.0 * smoothstep((a + 1.0) / 2.0) - 1.0\n"
                         "end\n",
    [HELPER_SIGN] =
        "local function sign(x) return x > 0.0 and 1.0 or x < 0.0 and -1.0 or 0.0 end\n",
    [HELPER_COMPARE] = "local function compare(a, b) return a < b and 1.0 or 0.0 end\n",
    [HELPER_IF] = "local function choose(c, a, b) if c >= 0.0 then return a end return b end\n",
    [HELPER_TURN_X] = "local function rotate_2D_x(x, y, a)\n"
                      "    return x * math.cos(a) - y * math.sin(a)\n"
                      "end\n",
    [HELPER_TURN_Y] = "local function rotate_2D_y(x, y, a)\n"
                      "    return x * math.sin(a) + y * math.cos(a)\n"
                      "end\n",
};

static double of_abs(const double *v)
{
    return fabs(v[0]);
}
static double of_acos(const double *v)
{
    return acos(v[0]);
}
static double of_asin(const double *v)
{
    return asin(v[0]);
}
static double of_atan(const double *v)
{
    return atan(v[0]);
}
static double of_atan2(const double *v)
{
    return atan2(v[0], v[1]);
}
static double of_ceil(const double *v)
{
    return ceil(v[0]);
}
static double of_cos(const double *v)
{
    return cos(v[0]);
}
static double of_cosh(const double *v)
{
    return cosh(v[0]);
}
static double of_exp(const double *v)
{
    return exp(v[0]);
}
static double of_floor(const double *v)
{
    return floor(v[0]);
}
static double of_ln(const double *v)
{
    return log(v[0]);
}
static double of_log10(const double *v)
{
    return log10(v[0]);
}
static double of_pow(const double *v)
{
    return pow(v[0], v[1]);
}
static double of_sin(const double *v)
{
    return sin(v[0]);
}
static double of_sinh(const double *v)
{
    return sinh(v[0]);
}
static double of_sqrt(const double *v)
{
    return sqrt(v[0]);
}
static double of_tan(const double *v)
{
    return tan(v[0]);
}
static double of_tanh(const double *v)
{
    return tanh(v[0]);
}
static double of_min(const double *v)
{
    return v[0] < v[1] ? v[0] : v[1];
}
static double of_max(const double *v)
{
    return v[0] > v[1] ? v[0] : v[1];
}
static double of_deg2rad(const double *v)
{
    return v[0] * acos(-1.0) / 180.0;
}
static double of_turn_x(const double *v)
{
    return v[0] * cos(v[2]) - v[1] * sin(v[2]);
}
static double of_turn_y(const double *v)
{
    return v[0] * sin(v[2]) + v[1] * cos(v[2]);
}
static double of_if(const double *v)
{
    return v[0] >= 0.0 ? v[1] : v[2];
}
static double of_smooth_abs(const double *v)
{
    return tanh(v[1] * v[0]) * v[0];
}
static double of_sign(const double *v)
{
    return (v[0] > 0.0) - (v[0] < 0.0);
}
static double of_compare(const double *v)
{
    return v[0] < v[1];
}
static double of_step(const double *v)
{
    return v[0] < 0.0 ? 0.0 : v[0] > 1.0 ? 1.0 : 3.0 * v[0] * v[0] - 2.0 * v[0] * v[0] * v[0];
}
static double of_half_step(const double *v)
{
    double half = (v[0] + 1.0) / 2.0;
    return 2.0 * of_step(&half) - 1.0;
}
static double of_pi(const double *v)
{
    (void)v;
    return acos(-1.0);
}
static double of_e(const double *v)
{
    (void)v;
    return exp(1.0);
}

/* `open` and `close` stand around the arguments. Whole numbers of Lua's become floats again. */
static const struct function {
    const char *name;
    int arguments;
    const char *open, *close;
    helper needs;
    double (*value)(const double *);
} functions[] = {
    {"abs", 1, "math.abs(", ")", HELPER_NONE, of_abs},
    {"acos", 1, "math.acos(", ")", HELPER_NONE, of_acos},
    {"asin", 1, "math.asin(", ")", HELPER_NONE, of_asin},
    {"atan", 1, "math.atan(", ")", HELPER_NONE, of_atan},
    {"atan2", 2, "math.atan(", ")", HELPER_NONE, of_atan2},
    {"ceil", 1, "(math.ceil(", ") + 0.0)", HELPER_NONE, of_ceil},
    {"compare", 2, "compare(", ")", HELPER_COMPARE, of_compare},
    {"cos", 1, "math.cos(", ")", HELPER_NONE, of_cos},
    {"cosh", 1, "cosh(", ")", HELPER_COSH, of_cosh},
    {"deg2rad", 1, "(", " * math.pi / 180.0)", HELPER_NONE, of_deg2rad},
    {"e", 0, "math.exp(1.0)", "", HELPER_NONE, of_e},
    {"exp", 1, "math.exp(", ")", HELPER_NONE, of_exp},
    {"floor", 1, "(math.floor(", ") + 0.0)", HELPER_NONE, of_floor},
    {"half_smoothstep", 1, "half_smoothstep(", ")", HELPER_HALF_STEP, of_half_step},
    {"if", 3, "choose(", ")", HELPER_IF, of_if},
    {"ln", 1, "math.log(", ")", HELPER_NONE, of_ln},
    {"log", 1, "math.log(", ", 10)", HELPER_NONE, of_log10},
    {"log10", 1, "math.log(", ", 10)", HELPER_NONE, of_log10},
    {"max", 2, "math.max(", ")", HELPER_NONE, of_max},
    {"min", 2, "math.min(", ")", HELPER_NONE, of_min},
    {"pi", 0, "math.pi", "", HELPER_NONE, of_pi},
    {"pow", 2, "", "", HELPER_NONE, of_pow},
    {"rotate_2D_x", 3, "rotate_2D_x(", ")", HELPER_TURN_X, of_turn_x},
    {"rotate_2D_y", 3, "rotate_2D_y(", ")", HELPER_TURN_Y, of_turn_y},
    {"sign", 1, "sign(", ")", HELPER_SIGN, of_sign},
    {"sin", 1, "math.sin(", ")", HELPER_NONE, of_sin},
    {"sinh", 1, "sinh(", ")", HELPER_SINH, of_sinh},
    {"smooth_abs", 2, "smooth_abs(", ")", HELPER_SMOOTH_ABS, of_smooth_abs},
    {"smoothstep", 1, "smoothstep(", ")", HELPER_STEP, of_step},
    {"sqrt", 1, "math.sqrt(", ")", HELPER_NONE, of_sqrt},
    {"tan", 1, "math.tan(", ")", HELPER_NONE, of_tan},
    {"tanh", 1, "tanh(", ")", HELPER_TANH, of_tanh},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

typedef struct reader {
    const kiln_json_node *node;
    const char *at;
    lua_text lua;
    unsigned uses, helpers;
    int depth;
    kiln_error *error;
} reader;

static kiln_status fail(const reader *r, const char *what)
{
    return kiln_json_fail(r->node, r->error, "%s at character %d of \"%.100s\"", what,
                          (int)(r->at - r->node->text) + 1, r->node->text);
}

static char peek(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
    return *r->at;
}

static bool take(reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static kiln_status read_sum(reader *r, double *value);
static kiln_status read_signed(reader *r, double *value);

static kiln_status read_number(reader *r, double *value)
{
    const char *end = kiln_decimal_parse(r->at, r->at + strlen(r->at), value);
    if (!end || !isfinite(*value))
        return fail(r, "there is no number");
    kiln_lua_put_number(&r->lua, *value);
    r->at = end;
    return KILN_OK;
}

/* pow(a, b) becomes (a) ^ (b); all others keep their commas. */
static kiln_status read_arguments(reader *r, const struct function *f, double *values)
{
    bool is_power = f->value == of_pow;
    if (!take(r, '(')) {
        if (f->arguments != 1)
            return fail(r, "there must be an opening parenthesis");
        return read_signed(r, &values[0]);
    }
    for (int i = 0; i < f->arguments; i++) {
        if (i > 0 && !take(r, ','))
            return fail(r, "there must be a comma and another argument");
        kiln_lua_put(&r->lua, is_power ? (i ? " ^ (" : "((") : i ? ", " : "");
        KILN_TRY(read_sum(r, &values[i]));
        kiln_lua_put(&r->lua, is_power ? (i ? "))" : ")") : "");
    }
    return take(r, ')') ? KILN_OK : fail(r, "there must be a closing parenthesis");
}

static kiln_status read_call(reader *r, const struct function *f, double *value)
{
    double values[3] = {0};
    kiln_lua_put(&r->lua, "%s", f->open);
    if (f->arguments > 0)
        KILN_TRY(read_arguments(r, f, values));
    else if (take(r, '(') && !take(r, ')'))
        return fail(r, "there must be a closing parenthesis");
    kiln_lua_put(&r->lua, "%s", f->close);
    *value = f->value(values);
    if (f->needs != HELPER_NONE)
        r->helpers |= 1u << f->needs;
    return KILN_OK;
}

static kiln_status refuse_name(reader *r, const char *name)
{
    char what[200];
    const char *nearest = kiln_nearest_name(name, functions, FUNCTIONS, sizeof functions[0]);
    snprintf(what, sizeof what, "unknown name '%.60s'%s%s%s ends", name,
             nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
    return fail(r, what);
}

static kiln_status read_name(reader *r, double *value)
{
    static const char variables[] = "xyzt";
    char name[64];
    size_t size = 0;
    for (; isalnum((unsigned char)*r->at) || *r->at == '_'; r->at++)
        if (size + 1 < sizeof name)
            name[size++] = *r->at;
    name[size] = 0;
    const char *variable = size == 1 ? strchr(variables, name[0]) : NULL;
    if (variable) {
        r->uses |= 1u << (variable - variables);
        kiln_lua_put(&r->lua, "%c", *variable);
        *value = 0.0;
        return KILN_OK;
    }
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return read_call(r, &functions[i], value);
    return refuse_name(r, name);
}

static kiln_status read_base(reader *r, double *value)
{
    char c = peek(r);
    if (take(r, '(')) {
        kiln_lua_put(&r->lua, "(");
        KILN_TRY(read_sum(r, value));
        kiln_lua_put(&r->lua, ")");
        return take(r, ')') ? KILN_OK : fail(r, "there must be a closing parenthesis");
    }
    if (isdigit((unsigned char)c) || c == '.')
        return read_number(r, value);
    if (isalpha((unsigned char)c))
        return read_name(r, value);
    return fail(r, "a number, a name or a parenthesis must stand");
}

/* Every way to nest goes through here. */
static kiln_status read_signed(reader *r, double *value)
{
    double sign = 1.0;
    while (peek(r) == '-' || *r->at == '+')
        sign = *r->at++ == '-' ? -sign : sign;
    if (++r->depth > NESTING)
        return fail(r, "too deep");
    kiln_lua_put(&r->lua, sign < 0.0 ? "(-" : "");
    KILN_TRY(read_base(r, value));
    kiln_lua_put(&r->lua, sign < 0.0 ? ")" : "");
    *value *= sign;
    r->depth--;
    return KILN_OK;
}

static kiln_status read_power(reader *r, double *value)
{
    size_t begin = r->lua.text.count;
    double by;
    KILN_TRY(read_signed(r, value));
    while (take(r, '^')) {
        kiln_lua_put_before(&r->lua, begin, "(");
        kiln_lua_put(&r->lua, " ^ ");
        KILN_TRY(read_signed(r, &by));
        kiln_lua_put(&r->lua, ")");
        *value = pow(*value, by);
    }
    return KILN_OK;
}

static kiln_status read_product(reader *r, double *value)
{
    size_t begin = r->lua.text.count;
    double by;
    KILN_TRY(read_power(r, value));
    for (char c = peek(r); c == '*' || c == '/' || c == '%'; c = peek(r)) {
        r->at++;
        if (c == '%')
            kiln_lua_put_before(&r->lua, begin, "math.fmod(");
        kiln_lua_put(&r->lua, c == '%' ? ", " : c == '*' ? " * " : " / ");
        KILN_TRY(read_power(r, &by));
        kiln_lua_put(&r->lua, c == '%' ? ")" : "");
        *value = c == '*' ? *value * by : c == '/' ? *value / by : fmod(*value, by);
    }
    return KILN_OK;
}

static kiln_status read_sum(reader *r, double *value)
{
    double by;
    KILN_TRY(read_product(r, value));
    for (char c = peek(r); c == '+' || c == '-'; c = peek(r)) {
        r->at++;
        kiln_lua_put(&r->lua, " %c ", c);
        KILN_TRY(read_product(r, &by));
        *value += c == '+' ? by : -by;
    }
    return KILN_OK;
}

static kiln_status read_whole(reader *r, double *value)
{
    KILN_TRY(read_sum(r, value));
    if (peek(r))
        return fail(r, "an operator must stand");
    if (!r->uses && !isfinite(*value))
        return kiln_json_fail(r->node, r->error, "is no finite number: \"%.100s\"", r->node->text);
    return kiln_lua_status(&r->lua, r->error);
}

static kiln_status keep(kiln_arena *arena, const lua_text *lua, const char **out, kiln_error *error)
{
    char *text = kiln_arena_alloc(arena, lua->text.count + 1);
    if (!text)
        return kiln_fail_memory(error, lua->text.count + 1);
    memcpy(text, lua->text.data, lua->text.count);
    text[lua->text.count] = 0;
    *out = text;
    return KILN_OK;
}

kiln_status kiln_polyfem_formula(kiln_arena *arena, const kiln_json_node *node,
                                 polyfem_formula *out, unsigned *helpers, kiln_error *error)
{
    char found[80];
    reader r = {.node = node, .lua = {.context = arena->context}, .error = error};
    kiln_status status = KILN_OK;
    if (node->type == KILN_JSON_IS_NUMBER) {
        out->constant = node->number;
        kiln_lua_put_number(&r.lua, node->number);
        status = kiln_lua_status(&r.lua, error);
    } else if (node->type == KILN_JSON_IS_TEXT) {
        if (strlen(node->text) > LENGTH)
            return kiln_json_fail(node, error, "a formula may have %d characters", LENGTH);
        r.at = node->text;
        status = read_whole(&r, &out->constant);
    } else {
        return kiln_json_fail(node, error, "must be a number or a formula, got %s",
                              kiln_json_describe(node, found, sizeof found));
    }
    if (status == KILN_OK)
        status = keep(arena, &r.lua, &out->lua, error);
    out->uses = r.uses;
    *helpers |= r.helpers;
    kiln_lua_free(&r.lua);
    return status;
}

polyfem_formula kiln_polyfem_zero(void)
{
    return (polyfem_formula){.lua = "0.0"};
}

void kiln_polyfem_put_helpers(lua_text *lua, unsigned helpers)
{
    if (helpers >> HELPER_SMOOTH_ABS & 1)
        helpers |= 1u << HELPER_TANH;
    if (helpers >> HELPER_HALF_STEP & 1)
        helpers |= 1u << HELPER_STEP;
    for (int i = 0; i < HELPER_NONE; i++)
        if (helpers >> i & 1)
            kiln_lua_put_text(lua, definitions[i], strlen(definitions[i]));
}
