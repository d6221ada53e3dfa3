/* Writes JSON: commas, escapes and indentation are its business. Numbers that JSON cannot hold
 * (NaN, infinity) become null, the others have the digits that read back as the same double. */
#ifndef KILN_IO_JSON_H
#define KILN_IO_JSON_H

#include "io/sink.h"

#include <stdio.h>

enum { KILN_JSON_DEPTH = 16 };

typedef struct kiln_json {
    void (*put)(void *to, const char *text, size_t size);
    void *to; /* borrowed */
    bool one_line;
    int depth;
    bool started[KILN_JSON_DEPTH]; /* something was written at this depth */
    char close[KILN_JSON_DEPTH];
} kiln_json;

/* Failures are the target's: kiln_sink_commit, ferror. */
kiln_json kiln_json_to_sink(kiln_sink *sink);
kiln_json kiln_json_to_stream(FILE *out);
/* The whole value on a line of its own, for readers that take one value a line. */
kiln_json kiln_json_line_to_stream(FILE *out);

/* `key` is NULL inside a list and at the top. */
void kiln_json_object(kiln_json *json, const char *key);
void kiln_json_list(kiln_json *json, const char *key);
void kiln_json_end(kiln_json *json);
void kiln_json_number(kiln_json *json, const char *key, double value);
void kiln_json_count(kiln_json *json, const char *key, size_t value);
void kiln_json_integer(kiln_json *json, const char *key, long long value);
void kiln_json_text(kiln_json *json, const char *key, const char *value);
/* `size` bytes of it, which need not end in zero. */
void kiln_json_text_part(kiln_json *json, const char *key, const char *value, size_t size);
void kiln_json_bool(kiln_json *json, const char *key, bool value);
void kiln_json_null(kiln_json *json, const char *key);

#endif
