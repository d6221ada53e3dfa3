/* Writes JSON: commas, escapes and indentation are its business. Numbers that JSON cannot hold
 * (NaN, infinity) become null. */
#ifndef KILN_APP_JSON_H
#define KILN_APP_JSON_H

#include <stdbool.h>
#include <stdio.h>

enum { KILN_JSON_DEPTH = 16 };

typedef struct kiln_json {
    FILE *out;
    int depth;
    bool started[KILN_JSON_DEPTH]; /* something was written at this depth */
    char close[KILN_JSON_DEPTH];
} kiln_json;

/* `key` is NULL inside a list and at the top. */
void kiln_json_object(kiln_json *json, const char *key);
void kiln_json_list(kiln_json *json, const char *key);
void kiln_json_end(kiln_json *json);
void kiln_json_number(kiln_json *json, const char *key, double value);
void kiln_json_count(kiln_json *json, const char *key, size_t value);
void kiln_json_integer(kiln_json *json, const char *key, long long value);
void kiln_json_text(kiln_json *json, const char *key, const char *value);
void kiln_json_bool(kiln_json *json, const char *key, bool value);

#endif
