#include "io/json_tree.h"

#include "io/decimal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct parser {
    kiln_arena *arena;
    const char *file, *begin, *at, *end;
    kiln_error *error;
    int depth;
} parser;

static kiln_status fail_at(const parser *p, const char *place, const char *format, ...)
{
    char message[300];
    va_list arguments;
    long long line = 1, column = 1;
    for (const char *c = p->begin; c < place; c++) {
        column = *c == '\n' ? 1 : column + ((*c & 0xc0) != 0x80); /* characters, not bytes */
        line += *c == '\n';
    }
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return kiln_fail(p->error, KILN_ERR_INPUT, p->file, line, -1, "column %lld: %s", column,
                     message);
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

/* What stands there, for messages. Returns `buffer`. */
static const char *found(const parser *p, char buffer[32])
{
    if (p->at == p->end)
        return "the end of the file";
    if ((unsigned char)*p->at < ' ' || (unsigned char)*p->at > 126)
        snprintf(buffer, 32, "the byte 0x%02x", (unsigned char)*p->at);
    else
        snprintf(buffer, 32, "'%c'", *p->at);
    return buffer;
}

static kiln_status expected(const parser *p, const char *what)
{
    char buffer[32];
    return fail_at(p, p->at, "%s must stand here, got %s", what, found(p, buffer));
}

/* Length of the UTF-8 character at `at`, which is not ASCII; 0: none. Neither overlong ones nor
 * surrogates nor what is beyond U+10FFFF. */
static size_t utf8_length(const char *at, const char *end)
{
    const unsigned char *c = (const unsigned char *)at;
    size_t length = c[0] >= 0xc2 && c[0] < 0xe0   ? 2
                    : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                    : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || (size_t)(end - at) < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
               (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f);
    return bad ? 0 : length;
}

static size_t put_utf8(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(heads[length] | code);
    return length;
}

/* Four hexadecimal digits after \u; -1: they are not there. */
static int hex4(const parser *p, const char *at)
{
    int code = 0;
    if (p->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        code = 16 * code + digit;
    }
    return code;
}

static kiln_status parse_unicode(parser *p, char *out, size_t *size)
{
    int code = hex4(p, p->at + 2);
    size_t used = 6;
    if (code >= 0xd800 && code < 0xdc00 && p->end - p->at >= 12 && p->at[6] == '\\' &&
        p->at[7] == 'u') {
        int low = hex4(p, p->at + 8);
        code =
            low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
        used = 12;
    }
    if (code <= 0 || (code >= 0xd800 && code < 0xe000))
        return fail_at(p, p->at,
                       "must be a character: \\u and four digits, not 0000, surrogates "
                       "in pairs");
    *size += put_utf8((unsigned)code, out + *size);
    p->at += used;
    return KILN_OK;
}

static kiln_status parse_escape(parser *p, char *out, size_t *size)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char letter = p->end - p->at > 1 ? p->at[1] : 0;
    if (letter == 'u')
        return parse_unicode(p, out, size);
    const char *row = letter ? strchr(from, letter) : NULL;
    if (!row)
        return fail_at(p, p->at, "unknown escape in a text");
    out[(*size)++] = to[row - from];
    p->at += 2;
    return KILN_OK;
}

/* Bytes to the closing quote, escapes not resolved: no less than the text needs. */
static kiln_status measure_text(const parser *p, size_t *room)
{
    for (const char *at = p->at; at < p->end && *at != '\n'; at++) {
        if (*at == '"') {
            *room = (size_t)(at - p->at);
            return KILN_OK;
        }
        at += *at == '\\' && at + 1 < p->end && at[1] != '\n';
    }
    return fail_at(p, p->at - 1, "the text has no closing quote");
}

static kiln_status parse_text(parser *p, const char **out)
{
    size_t room = 0, size = 0;
    p->at++;
    KILN_TRY(measure_text(p, &room));
    char *text = kiln_arena_alloc(p->arena, room + 1);
    if (!text)
        return kiln_fail_memory(p->error, room + 1);
    while (*p->at != '"') {
        unsigned char c = (unsigned char)*p->at;
        if (c == '\\') {
            KILN_TRY(parse_escape(p, text, &size));
            continue;
        }
        size_t length = c < 0x80 ? 1 : utf8_length(p->at, p->end);
        if (c < ' ' || length == 0)
            return fail_at(p, p->at,
                           c < ' ' ? "a text must not have control characters"
                                   : "the text is not UTF-8");
        memcpy(text + size, p->at, length);
        size += length;
        p->at += length;
    }
    p->at++;
    text[size] = 0;
    *out = text;
    return KILN_OK;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The end of what RFC 8259 calls a number; NULL: there is none. */
static const char *number_end(const char *at, const char *end)
{
    at += at < end && *at == '-';
    const char *whole = at, *digits;
    at = skip_digits(at, end);
    if (at == whole || (*whole == '0' && at - whole > 1))
        return NULL;
    if (at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        at = skip_digits(at, end);
        if (at == digits)
            return NULL;
    }
    return at;
}

static kiln_status parse_number(parser *p, double *out)
{
    const char *end = number_end(p->at, p->end);
    if (!end || kiln_decimal_parse(p->at, end, out) != end)
        return fail_at(p, p->at, "must be a number as JSON writes them, like -1.5e3");
    if (!isfinite(*out))
        return fail_at(p, p->at, "the number is too large");
    p->at = end;
    return KILN_OK;
}

static bool take_word(parser *p, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(p->end - p->at) < size || memcmp(p->at, word, size) != 0)
        return false;
    p->at += size;
    return true;
}

static kiln_status parse_value(parser *p, kiln_json_node **out);

static kiln_status parse_items(parser *p, kiln_json_node *list)
{
    for (bool first = true;; first = false) {
        kiln_json_node *item;
        skip_space(p);
        if (p->at < p->end && *p->at == ']' && first)
            break;
        KILN_TRY(parse_value(p, &item));
        kiln_json_insert(list, item, NULL);
        skip_space(p);
        if (p->at < p->end && *p->at == ']')
            break;
        if (p->at == p->end || *p->at != ',')
            return expected(p, "a comma or ]");
        p->at++;
    }
    p->at++;
    return KILN_OK;
}

static kiln_status parse_member(parser *p, kiln_json_node *object)
{
    const char *key, *place = p->at;
    kiln_json_node *value;
    if (p->at == p->end || *p->at != '"')
        return expected(p, "a key in quotes");
    KILN_TRY(parse_text(p, &key));
    if (kiln_json_get(object, key))
        return fail_at(p, place, "the key \"%.60s\" is there twice", key);
    if (object->count == KILN_JSON_MEMBERS)
        return fail_at(p, place, "an object may have %d keys at most", KILN_JSON_MEMBERS);
    skip_space(p);
    if (p->at == p->end || *p->at != ':')
        return expected(p, "a colon");
    p->at++;
    skip_space(p);
    KILN_TRY(parse_value(p, &value));
    value->key = key;
    kiln_json_insert(object, value, NULL);
    return KILN_OK;
}

static kiln_status parse_members(parser *p, kiln_json_node *object)
{
    for (bool first = true;; first = false) {
        skip_space(p);
        if (p->at < p->end && *p->at == '}' && first)
            break;
        KILN_TRY(parse_member(p, object));
        skip_space(p);
        if (p->at < p->end && *p->at == '}')
            break;
        if (p->at == p->end || *p->at != ',')
            return expected(p, "a comma or }");
        p->at++;
    }
    p->at++;
    return KILN_OK;
}

static kiln_status parse_inside(parser *p, kiln_json_node *node)
{
    bool is_list = *p->at == '[';
    node->type = is_list ? KILN_JSON_IS_LIST : KILN_JSON_IS_OBJECT;
    if (p->depth == KILN_JSON_NESTING)
        return fail_at(p, p->at, "must be at most %d levels deep", KILN_JSON_NESTING);
    p->depth++;
    p->at++;
    KILN_TRY(is_list ? parse_items(p, node) : parse_members(p, node));
    p->depth--;
    return KILN_OK;
}

static kiln_status parse_word(parser *p, kiln_json_node *node)
{
    node->type = KILN_JSON_IS_BOOL;
    if (take_word(p, "true"))
        node->number = 1.0;
    else if (take_word(p, "null"))
        node->type = KILN_JSON_IS_NULL;
    else if (!take_word(p, "false"))
        return expected(p, "a value");
    return KILN_OK;
}

/* Line and column of a node are set afterwards, for all in one pass over the text. */
static kiln_status parse_value(parser *p, kiln_json_node **out)
{
    kiln_json_node *node = kiln_arena_alloc(p->arena, sizeof *node);
    if (!node)
        return kiln_fail_memory(p->error, sizeof *node);
    *node = (kiln_json_node){.file = p->file};
    *out = node;
    if (p->at == p->end)
        return expected(p, "a value");
    size_t offset = (size_t)(p->at - p->begin);
    node->line = (uint32_t)offset; /* until place_nodes */
    char c = *p->at;
    if (c == '{' || c == '[')
        return parse_inside(p, node);
    if (c == '"') {
        node->type = KILN_JSON_IS_TEXT;
        return parse_text(p, &node->text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        node->type = KILN_JSON_IS_NUMBER;
        return parse_number(p, &node->number);
    }
    return parse_word(p, node);
}

/* Nodes in the order of the text: the next of the tree, from the parent before its children. */
static kiln_json_node *next_node(kiln_json_node *node)
{
    if (node->first)
        return node->first;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

static void place_nodes(const parser *p, kiln_json_node *root)
{
    const char *at = p->begin;
    uint32_t line = 1, column = 1;
    for (kiln_json_node *node = root; node; node = next_node(node)) {
        const char *place = p->begin + node->line;
        for (; at < place; at++) {
            column = *at == '\n' ? 1 : column + ((*at & 0xc0) != 0x80);
            line += *at == '\n';
        }
        node->line = line;
        node->column = column;
    }
}

kiln_status kiln_json_parse(kiln_arena *arena, const char *file, const char *text, size_t size,
                            kiln_json_node **out, kiln_error *error)
{
    parser p = {arena, file, text, text, text + size, error, 0};
    if (size > UINT32_MAX / 2)
        return kiln_fail(error, KILN_ERR_INPUT, file, 0, -1, "is too long for JSON: %zu bytes",
                         size);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        p.at += 3;
    skip_space(&p);
    KILN_TRY(parse_value(&p, out));
    skip_space(&p);
    if (p.at < p.end)
        return expected(&p, "the end of the file");
    place_nodes(&p, *out);
    return KILN_OK;
}

kiln_json_node *kiln_json_get(const kiln_json_node *object, const char *key)
{
    if (!object || object->type != KILN_JSON_IS_OBJECT)
        return NULL;
    for (kiln_json_node *member = object->first; member; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

kiln_json_node *kiln_json_at(const kiln_json_node *list, size_t item)
{
    kiln_json_node *node = list && list->type == KILN_JSON_IS_LIST ? list->first : NULL;
    for (; node && item > 0; item--)
        node = node->next;
    return node;
}

static size_t position(const kiln_json_node *node)
{
    size_t at = 0;
    for (const kiln_json_node *item = node->parent->first; item != node; item = item->next)
        at++;
    return at;
}

const char *kiln_json_path(const kiln_json_node *node, char *buffer, size_t size)
{
    buffer[0] = 0;
    if (!node->parent)
        return buffer;
    kiln_json_path(node->parent, buffer, size);
    size_t used = strlen(buffer);
    const char *gap = used > 0 ? "/" : "";
    if (node->key)
        snprintf(buffer + used, size - used, "%s%.60s", gap, node->key);
    else
        snprintf(buffer + used, size - used, "%s%zu", gap, position(node));
    return buffer;
}

const char *kiln_json_describe(const kiln_json_node *node, char *buffer, size_t size)
{
    static const char *const names[] = {"null", "", "", "", "a list", "an object"};
    if (node->type == KILN_JSON_IS_BOOL)
        snprintf(buffer, size, "%s", node->number != 0.0 ? "true" : "false");
    else if (node->type == KILN_JSON_IS_NUMBER)
        snprintf(buffer, size, "%.10g", node->number);
    else if (node->type == KILN_JSON_IS_TEXT)
        snprintf(buffer, size, "\"%.60s\"", node->text);
    else
        snprintf(buffer, size, "%s", names[node->type]);
    for (char *c = buffer; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return buffer;
}

kiln_status kiln_json_fail(const kiln_json_node *node, kiln_error *error, const char *format, ...)
{
    char message[400], path[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    kiln_json_path(node, path, sizeof path);
    return kiln_fail(error, KILN_ERR_INPUT, node->file, node->line, -1, "column %u: %s%s%s",
                     node->column, path, path[0] ? ": " : "", message);
}
