#include "io/json.h"

#include <math.h>

static void put_to_sink(void *to, const char *text, size_t size)
{
    kiln_sink_bytes(to, text, size);
}

static void put_to_stream(void *to, const char *text, size_t size)
{
    fwrite(text, 1, size, to);
}

kiln_json kiln_json_to_sink(kiln_sink *sink)
{
    return (kiln_json){.put = put_to_sink, .to = sink};
}

kiln_json kiln_json_to_stream(FILE *out)
{
    return (kiln_json){.put = put_to_stream, .to = out};
}

kiln_json kiln_json_line_to_stream(FILE *out)
{
    return (kiln_json){.put = put_to_stream, .to = out, .one_line = true};
}

static void put_text(kiln_json *json, const char *text)
{
    json->put(json->to, text, strlen(text));
}

static void put_char(kiln_json *json, char byte)
{
    json->put(json->to, &byte, 1);
}

static void put_string(kiln_json *json, const char *text, size_t size)
{
    put_char(json, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        char escape[8];
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c);
        else if (c < 32 || c == 127)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        else
            snprintf(escape, sizeof escape, "%c", c);
        put_text(json, escape);
    }
    put_char(json, '"');
}

/* Members at depth 1 go on lines of their own, deeper ones on one line. */
static void begin_value(kiln_json *json, const char *key)
{
    if (json->depth > 0) {
        bool own_line = json->depth == 1 && !json->one_line;
        if (json->started[json->depth])
            put_text(json, own_line ? "," : ", ");
        if (own_line)
            put_text(json, "\n  ");
        json->started[json->depth] = true;
    }
    if (key) {
        put_string(json, key, strlen(key));
        put_text(json, ": ");
    }
}

static void open_value(kiln_json *json, const char *key, char open, char close)
{
    begin_value(json, key);
    put_char(json, open);
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
    if (json->depth == 1 && json->started[1] && !json->one_line)
        put_char(json, '\n');
    put_char(json, json->close[json->depth]);
    if (--json->depth == 0)
        put_char(json, '\n');
}

void kiln_json_number(kiln_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        kiln_json_null(json, key);
        return;
    }
    char digits[KILN_DECIMAL_SIZE];
    begin_value(json, key);
    json->put(json->to, digits, kiln_decimal_print(value, digits));
}

void kiln_json_count(kiln_json *json, const char *key, size_t value)
{
    char digits[24];
    begin_value(json, key);
    snprintf(digits, sizeof digits, "%zu", value);
    put_text(json, digits);
}

void kiln_json_integer(kiln_json *json, const char *key, long long value)
{
    char digits[24];
    begin_value(json, key);
    snprintf(digits, sizeof digits, "%lld", value);
    put_text(json, digits);
}

void kiln_json_text(kiln_json *json, const char *key, const char *value)
{
    kiln_json_text_part(json, key, value, strlen(value));
}

void kiln_json_text_part(kiln_json *json, const char *key, const char *value, size_t size)
{
    begin_value(json, key);
    put_string(json, value, size);
}

void kiln_json_bool(kiln_json *json, const char *key, bool value)
{
    begin_value(json, key);
    put_text(json, value ? "true" : "false");
}

void kiln_json_null(kiln_json *json, const char *key)
{
    begin_value(json, key);
    put_text(json, "null");
}
