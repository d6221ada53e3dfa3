/* Changes of JSON trees: members in and out, merge patch and patch. */
#include "io/json_tree.h"

#include <stdlib.h>
#include <string.h>

static kiln_json_node *before_of(const kiln_json_node *parent, const kiln_json_node *node)
{
    kiln_json_node *at = parent->first;
    if (at == node)
        return NULL;
    while (at && at->next != node)
        at = at->next;
    return at;
}

void kiln_json_insert(kiln_json_node *parent, kiln_json_node *node, kiln_json_node *before)
{
    kiln_json_node *previous = before ? before_of(parent, before) : parent->last;
    node->parent = parent;
    node->next = before;
    if (previous)
        previous->next = node;
    else
        parent->first = node;
    if (!before)
        parent->last = node;
    parent->count++;
}

void kiln_json_remove(kiln_json_node *node)
{
    kiln_json_node *parent = node->parent, *previous = before_of(parent, node);
    if (previous)
        previous->next = node->next;
    else
        parent->first = node->next;
    if (parent->last == node)
        parent->last = previous;
    parent->count--;
    node->parent = node->next = NULL;
}

void kiln_json_replace(kiln_json_node *node, kiln_json_node *by)
{
    kiln_json_node *parent = node->parent, *next = node->next;
    by->key = node->key;
    kiln_json_remove(node);
    kiln_json_insert(parent, by, next);
}

static kiln_json_node *new_node(kiln_arena *arena, kiln_json_type type, const kiln_json_node *like,
                                kiln_error *error)
{
    kiln_json_node *node = kiln_arena_alloc(arena, sizeof *node);
    if (!node) {
        kiln_fail_memory(error, sizeof *node);
        return NULL;
    }
    *node = (kiln_json_node){
        .type = type, .line = like->line, .column = like->column, .file = like->file};
    return node;
}

kiln_status kiln_json_wrap(kiln_arena *arena, kiln_json_node *node, kiln_error *error)
{
    kiln_json_node *list = new_node(arena, KILN_JSON_IS_LIST, node, error);
    if (!list)
        return KILN_ERR_MEMORY;
    kiln_json_replace(node, list);
    node->key = NULL;
    kiln_json_insert(list, node, NULL);
    return KILN_OK;
}

static kiln_status merge_member(kiln_arena *arena, kiln_json_node *target, kiln_json_node *value,
                                kiln_error *error)
{
    kiln_json_node *old = kiln_json_get(target, value->key), *merged = old;
    const char *key = value->key;
    if (value->type == KILN_JSON_IS_NULL) {
        if (old)
            kiln_json_remove(old);
        return KILN_OK;
    }
    KILN_TRY(kiln_json_merge(arena, &merged, value, error));
    if (merged == old)
        return KILN_OK;
    if (old) {
        kiln_json_replace(old, merged);
    } else {
        merged->key = key;
        kiln_json_insert(target, merged, NULL);
    }
    return KILN_OK;
}

kiln_status kiln_json_merge(kiln_arena *arena, kiln_json_node **target, kiln_json_node *patch,
                            kiln_error *error)
{
    if (patch->type != KILN_JSON_IS_OBJECT) {
        *target = patch;
        return KILN_OK;
    }
    if (!*target || (*target)->type != KILN_JSON_IS_OBJECT) {
        *target = new_node(arena, KILN_JSON_IS_OBJECT, patch, error);
        if (!*target)
            return KILN_ERR_MEMORY;
    }
    while (patch->first) {
        kiln_json_node *member = patch->first;
        kiln_json_remove(member);
        KILN_TRY(merge_member(arena, *target, member, error));
    }
    return KILN_OK;
}

/* One step of a pointer, "~1" for a slash and "~0" for a tilde; the rest after it. */
static const char *take_step(const char *at, char *step, size_t size)
{
    size_t used = 0;
    for (at++; *at && *at != '/'; at++) {
        char c = *at;
        if (c == '~' && (at[1] == '0' || at[1] == '1'))
            c = *++at == '0' ? '~' : '/';
        if (used + 1 < size)
            step[used++] = c;
    }
    step[used] = 0;
    return at;
}

/* Of a list by its number, of an object by its key; NULL: not there. */
static kiln_json_node *child(const kiln_json_node *node, const char *step)
{
    if (node->type == KILN_JSON_IS_OBJECT)
        return kiln_json_get(node, step);
    char *end;
    unsigned long item = strtoul(step, &end, 10);
    bool is_number = step[0] >= '0' && step[0] <= '9' && !*end;
    return is_number ? kiln_json_at(node, item) : NULL;
}

enum { STEP_SIZE = 200 };

/* The node the pointer's last step is to be looked for in, and that step. */
static kiln_status find_parent(kiln_json_node *root, const kiln_json_node *path,
                               kiln_json_node **parent, char *step, kiln_error *error)
{
    const char *at = path->text;
    *parent = root;
    if (at[0] != '/')
        return kiln_json_fail(path, error, "must begin with a slash, got \"%.60s\"", path->text);
    for (;;) {
        at = take_step(at, step, STEP_SIZE);
        if (!*at)
            return KILN_OK;
        *parent = child(*parent, step);
        if (!*parent)
            return kiln_json_fail(path, error, "leads nowhere: there is no \"%.60s\"", step);
    }
}

static kiln_status add(kiln_json_node *parent, const char *step, kiln_json_node *value,
                       const kiln_json_node *path, kiln_error *error)
{
    kiln_json_node *old = child(parent, step);
    kiln_json_remove(value);
    value->key = NULL;
    if (parent->type == KILN_JSON_IS_OBJECT && old) {
        kiln_json_replace(old, value);
    } else if (parent->type == KILN_JSON_IS_LIST && (old || strcmp(step, "-") == 0)) {
        kiln_json_insert(parent, value, old);
    } else if (parent->type == KILN_JSON_IS_OBJECT) {
        char *key = strrchr((char *)path->text, '/') + 1; /* lives as long as the tree */
        if (strchr(key, '~'))
            return kiln_json_fail(path, error, "new keys must not have ~ in them");
        value->key = key;
        kiln_json_insert(parent, value, NULL);
    } else {
        return kiln_json_fail(path, error, "there is no item \"%.60s\"", step);
    }
    return KILN_OK;
}

static bool is_same(const kiln_json_node *a, const kiln_json_node *b)
{
    if (a->type != b->type || a->number != b->number || a->count != b->count ||
        (a->type == KILN_JSON_IS_TEXT && strcmp(a->text, b->text) != 0))
        return false;
    const kiln_json_node *other = b->first;
    for (const kiln_json_node *item = a->first; item; item = item->next) {
        const kiln_json_node *twin =
            a->type == KILN_JSON_IS_OBJECT ? kiln_json_get(b, item->key) : other;
        if (!twin || !is_same(item, twin))
            return false;
        other = other->next;
    }
    return true;
}

static kiln_status apply(kiln_json_node *root, kiln_json_node *operation, kiln_error *error)
{
    kiln_json_node *op = kiln_json_get(operation, "op"), *path = kiln_json_get(operation, "path");
    kiln_json_node *value = kiln_json_get(operation, "value"), *parent;
    char step[STEP_SIZE];
    if (!op || op->type != KILN_JSON_IS_TEXT || !path || path->type != KILN_JSON_IS_TEXT)
        return kiln_json_fail(operation, error, "must have an op and a path, both texts");
    KILN_TRY(find_parent(root, path, &parent, step, error));
    kiln_json_node *old = child(parent, step);
    bool adds = strcmp(op->text, "add") == 0, removes = strcmp(op->text, "remove") == 0;
    bool replaces = strcmp(op->text, "replace") == 0, tests = strcmp(op->text, "test") == 0;
    if (!adds && !removes && !replaces && !tests)
        return kiln_json_fail(op, error, "\"%.30s\" is not supported: add, remove, replace, test",
                              op->text);
    if (!removes && !value)
        return kiln_json_fail(operation, error, "must have a value");
    if (!adds && !old)
        return kiln_json_fail(path, error, "leads nowhere: there is no \"%.60s\"", step);
    if (adds)
        return add(parent, step, value, path, error);
    if (tests)
        return is_same(old, value) ? KILN_OK : kiln_json_fail(path, error, "is another value");
    if (removes) {
        kiln_json_remove(old);
    } else {
        kiln_json_remove(value);
        kiln_json_replace(old, value);
    }
    return KILN_OK;
}

kiln_status kiln_json_patch(kiln_json_node *root, const kiln_json_node *operations,
                            kiln_error *error)
{
    if (operations->type != KILN_JSON_IS_LIST)
        return kiln_json_fail(operations, error, "must be a list of operations");
    for (kiln_json_node *op = operations->first; op; op = op->next)
        KILN_TRY(apply(root, op, error));
    return KILN_OK;
}
