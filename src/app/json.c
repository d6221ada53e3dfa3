#include "app/json.h"

#include <math.h>

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 32 || *c == 127)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* Objects at depth 0 and 1 go one member per line, deeper ones on one line. */
static void begin_value(kiln_json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->started[json->depth])
            fputc(',', json->out);
        if (json->depth <= 1)
            fprintf(json->out, "\n%*s", 2 * json->depth, "");
        else if (json->started[json->depth])
            fputc(' ', json->out);
        json->started[json->depth] = true;
    }
    if (key) {
        write_string(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_value(kiln_json *json, const char *key, char open, char close)
{
    begin_value(json, key);
    fputc(open, json->out);
    json->depth++;
    json->started[json->depth] = false;
    json->close[json->depth] = close;
}

void kiln_json_object(kiln_json *json, const char *key)
{
    open_value(json, key, '{', '}');
}

void kiln_json_list(kiln_json *json, const char *key)
{
    open_value(json, key, '[', ']');
}

void kiln_json_end(kiln_json *json)
{
    if (json->depth == 1 && json->started[1])
        fputc('\n', json->out);
    fputc(json->close[json->depth], json->out);
    if (--json->depth == 0)
        fputc('\n', json->out);
}

void kiln_json_number(kiln_json *json, const char *key, double value)
{
    begin_value(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.17g", value);
    else
        fputs("null", json->out);
}

void kiln_json_count(kiln_json *json, const char *key, size_t value)
{
    begin_value(json, key);
    fprintf(json->out, "%zu", value);
}

void kiln_json_integer(kiln_json *json, const char *key, long long value)
{
    begin_value(json, key);
    fprintf(json->out, "%lld", value);
}

void kiln_json_text(kiln_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    write_string(json->out, value);
}

void kiln_json_bool(kiln_json *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}
