/* Reads JSON (RFC 8259) into a tree whose nodes know where they stand. Strict: one value, no
 * comments, no commas too many, no key twice, UTF-8, numbers that a double can hold.
 *
 * Everything lives in the caller's arena and as long as it. */
#ifndef KILN_IO_JSON_TREE_H
#define KILN_IO_JSON_TREE_H

#include "base/arena.h"

enum { KILN_JSON_NESTING = 100, KILN_JSON_MEMBERS = 4096 }; /* at most */

typedef enum kiln_json_type {
    KILN_JSON_IS_NULL,
    KILN_JSON_IS_BOOL,
    KILN_JSON_IS_NUMBER,
    KILN_JSON_IS_TEXT,
    KILN_JSON_IS_LIST,
    KILN_JSON_IS_OBJECT
} kiln_json_type;

typedef struct kiln_json_node {
    kiln_json_type type;
    uint32_t line, column; /* from 1 */
    const char *file;      /* borrowed */
    const char *key;       /* in an object, ended by zero; NULL elsewhere */
    const char *text;      /* ended by zero, which is not inside */
    double number;         /* also of a boolean: 0 or 1 */
    size_t count;          /* of items or members */
    struct kiln_json_node *parent, *first, *last, *next;
} kiln_json_node;

/* Errors: "scene.json:12: column 5: ...", KILN_ERR_INPUT. `file` is borrowed. */
kiln_status kiln_json_parse(kiln_arena *arena, const char *file, const char *text, size_t size,
                            kiln_json_node **out, kiln_error *error);

/* NULL: there is none, or `object` is none. */
kiln_json_node *kiln_json_get(const kiln_json_node *object, const char *key);
kiln_json_node *kiln_json_at(const kiln_json_node *list, size_t item); /* from 0 */

/* "materials/0/E"; the root is "". Returns `buffer`. */
const char *kiln_json_path(const kiln_json_node *node, char *buffer, size_t size);
/* What it is, for messages: `-3`, `"text"`, `a list`. Returns `buffer`. */
const char *kiln_json_describe(const kiln_json_node *node, char *buffer, size_t size);
/* "file:line: column c: path: message". */
kiln_status kiln_json_fail(const kiln_json_node *node, kiln_error *error, const char *format, ...)
    KILN_PRINTF(3, 4);

/* Puts `node` at the end, or before `before`; it belongs to no other. */
void kiln_json_insert(kiln_json_node *parent, kiln_json_node *node, kiln_json_node *before);
void kiln_json_remove(kiln_json_node *node);
/* `by` stands where `node` stood, under its key. */
void kiln_json_replace(kiln_json_node *node, kiln_json_node *by);
/* A list with the node in it, in its place. */
kiln_status kiln_json_wrap(kiln_arena *arena, kiln_json_node *node, kiln_error *error);

/* Merge patch (RFC 7386): members of `patch` replace those of `target`, null removes, objects are
 * merged. The result is made of the nodes of both. */
kiln_status kiln_json_merge(kiln_arena *arena, kiln_json_node **target, kiln_json_node *patch,
                            kiln_error *error);
/* Patch (RFC 6902): add, remove, replace and test. The nodes of `operations` go into the tree. */
kiln_status kiln_json_patch(kiln_json_node *root, const kiln_json_node *operations,
                            kiln_error *error);

#endif
