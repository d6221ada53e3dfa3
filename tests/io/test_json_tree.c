/* JSON as it is read: strict, with places, and changed by merging and patching. */
#include "io/json_tree.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static kiln_context *context;
static kiln_arena arena;

static void open_arena(void)
{
    context = kiln_test_context(1);
    kiln_arena_init(&arena, context);
}

static void close_arena(void)
{
    kiln_arena_destroy(&arena);
    kiln_context_destroy(context);
}

static kiln_json_node *parse(const char *text)
{
    kiln_json_node *root = NULL;
    kiln_error error = {0};
    kiln_status status = kiln_json_parse(&arena, "a.json", text, strlen(text), &root, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", text, error.message);
    return root;
}

static const struct {
    const char *text;
    long long line;
    const char *message;
} bad[] = {
    {"", 1, "column 1: a value must stand here, got the end of the file"},
    {"  \n ", 2, "column 2: a value must stand here"},
    {"{", 1, "column 2: a key in quotes must stand here, got the end of the file"},
    {"{\"a\"", 1, "column 5: a colon must stand here"},
    {"{\"a\":", 1, "column 6: a value must stand here"},
    {"{\"a\": 1", 1, "column 8: a comma or } must stand here"},
    {"{\"a\": 1,}", 1, "column 9: a key in quotes must stand here, got '}'"},
    {"{\"a\": 1 \"b\": 2}", 1, "column 9: a comma or } must stand here, got '\"'"},
    {"{a: 1}", 1, "column 2: a key in quotes must stand here, got 'a'"},
    {"{\n  \"a\": 1,\n  \"a\": 2\n}", 3, "column 3: the key \"a\" is there twice"},
    {"[1, 2,]", 1, "column 7: a value must stand here, got ']'"},
    {"[1 2]", 1, "column 4: a comma or ] must stand here"},
    {"[1, 2", 1, "column 6: a comma or ] must stand here"},
    {"[1] 2", 1, "column 5: the end of the file must stand here, got '2'"},
    {"// no\n1", 1, "column 1: a value must stand here, got '/'"},
    {"[01]", 1, "column 2: must be a number as JSON writes them"},
    {"[1.]", 1, "column 2: must be a number"},
    {"[-]", 1, "column 2: must be a number"},
    {"[1e]", 1, "column 2: must be a number"},
    {"[+1]", 1, "column 2: a value must stand here, got '+'"},
    {"[.5]", 1, "column 2: a value must stand here, got '.'"},
    {"[1e999]", 1, "column 2: the number is too large"},
    {"[NaN]", 1, "column 2: a value must stand here"},
    {"[Infinity]", 1, "column 2: a value must stand here"},
    {"[tru]", 1, "column 2: a value must stand here, got 't'"},
    {"[\"a]", 1, "column 2: the text has no closing quote"},
    {"[\"a\nb\"]", 1, "column 2: the text has no closing quote"},
    {"[\"a\tb\"]", 1, "column 4: a text must not have control characters"},
    {"[\"\\x\"]", 1, "column 3: unknown escape"},
    {"[\"\\u12\"]", 1, "column 3: must be a character"},
    {"[\"\\u0000\"]", 1, "column 3: must be a character"},
    {"[\"\\ud800\"]", 1, "column 3: must be a character"},
    {"[\"\\ud800\\u0041\"]", 1, "column 3: must be a character"},
    {"[\"\\udc00\"]", 1, "column 3: must be a character"},
    {"[\"\xff\"]", 1, "column 3: the text is not UTF-8"},
    {"[\"\xc0\xaf\"]", 1, "column 3: the text is not UTF-8"},
    {"[\"\xe0\x80\x80\"]", 1, "column 3: the text is not UTF-8"},
    {"[\"\xed\xa0\x80\"]", 1, "column 3: the text is not UTF-8"},
    {"[\"\xf4\x90\x80\x80\"]", 1, "column 3: the text is not UTF-8"},
    {"[\"\xe2\x82\"]", 1, "column 3: the text is not UTF-8"},
    {"[\"\xe2\x82\xac\", x]", 1, "column 7: a value must stand here, got 'x'"},
};

START_TEST(bad_json_is_refused)
{
    kiln_json_node *root;
    kiln_error error = {0};
    kiln_status status =
        kiln_json_parse(&arena, "a.json", bad[_i].text, strlen(bad[_i].text), &root, &error);
    ck_assert_int_eq(status, KILN_ERR_INPUT);
    ck_assert_str_eq(error.place, "a.json");
    ck_assert_int_eq(error.line, bad[_i].line);
    ck_assert_msg(strstr(error.message, bad[_i].message), "%s: '%s' lacks '%s'", bad[_i].text,
                  error.message, bad[_i].message);
}
END_TEST

START_TEST(values_and_their_places)
{
    kiln_json_node *root = parse("\xef\xbb\xbf{ \"a\": [1, -2.5e-3, true, false, null],\n"
                                 "  \"b\": {\"c\": \"\\u20ac \\ud83d\\ude00 \\n\\/\"} }\n");
    const kiln_json_node *a = kiln_json_get(root, "a"), *b = kiln_json_get(root, "b");
    ck_assert_uint_eq(root->count, 2);
    ck_assert_uint_eq(a->count, 5);
    ck_assert_double_eq(kiln_json_at(a, 1)->number, -2.5e-3);
    ck_assert_int_eq(kiln_json_at(a, 2)->type, KILN_JSON_IS_BOOL);
    ck_assert_double_eq(kiln_json_at(a, 2)->number, 1.0);
    ck_assert_int_eq(kiln_json_at(a, 4)->type, KILN_JSON_IS_NULL);
    ck_assert_ptr_null(kiln_json_at(a, 5));
    ck_assert_ptr_null(kiln_json_get(a, "c"));
    const kiln_json_node *c = kiln_json_get(b, "c");
    ck_assert_str_eq(c->text, "\xe2\x82\xac \xf0\x9f\x98\x80 \n/");
    ck_assert_uint_eq(c->line, 2);
    ck_assert_uint_eq(c->column, 14);
    char path[40];
    ck_assert_str_eq(kiln_json_path(c, path, sizeof path), "b/c");
    ck_assert_str_eq(kiln_json_path(kiln_json_at(a, 3), path, sizeof path), "a/3");
}
END_TEST

START_TEST(depth_and_keys_have_limits)
{
    char text[3 * KILN_JSON_NESTING];
    kiln_json_node *root;
    kiln_error error = {0};
    for (int depth = KILN_JSON_NESTING; depth <= KILN_JSON_NESTING + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        kiln_status status = kiln_json_parse(&arena, "a", text, 2 * (size_t)depth, &root, &error);
        ck_assert_int_eq(status, depth > KILN_JSON_NESTING ? KILN_ERR_INPUT : KILN_OK);
    }
    static char many[20 * (KILN_JSON_MEMBERS + 2)];
    size_t used = 0;
    for (int i = 0; i <= KILN_JSON_MEMBERS; i++)
        used += (size_t)sprintf(many + used, "%s\"k%d\":0", i ? "," : "{", i);
    sprintf(many + used, "}");
    ck_assert_int_eq(kiln_json_parse(&arena, "a", many, used + 1, &root, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "4096 keys at most"));
}
END_TEST

/* Compares as texts. */
static void write_node(const kiln_json_node *node, char *out)
{
    char value[100];
    if (node->key)
        sprintf(out + strlen(out), "%s:", node->key);
    if (node->type < KILN_JSON_IS_LIST) {
        strcat(out, kiln_json_describe(node, value, sizeof value));
        return;
    }
    strcat(out, node->type == KILN_JSON_IS_LIST ? "[" : "{");
    for (const kiln_json_node *at = node->first; at; at = at->next) {
        ck_assert_ptr_eq(at->parent, node);
        write_node(at, out);
        strcat(out, at->next ? "," : "");
    }
    strcat(out, node->type == KILN_JSON_IS_LIST ? "]" : "}");
}

/* The examples of RFC 7386, and our own. */
static const struct {
    const char *target, *patch, *result;
} merges[] = {
    {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{a:\"c\"}"},
    {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{a:\"b\",b:\"c\"}"},
    {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
    {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{b:\"c\"}"},
    {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{a:\"c\"}"},
    {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{a:[\"b\"]}"},
    {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{a:{b:\"d\"}}"},
    {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{a:[1]}"},
    {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
    {"{\"e\":null}", "{\"a\":1}", "{e:null,a:1}"},
    {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{a:\"b\"}"},
    {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{a:{bb:{}}}"},
    {"{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":{\"d\":[null]},\"e\":4}", "{a:1,b:{d:[null]},c:3,e:4}"},
};

START_TEST(trees_are_merged)
{
    char text[400] = "";
    kiln_json_node *root = parse(merges[_i].target), *patch = parse(merges[_i].patch);
    ck_assert_int_eq(kiln_json_merge(&arena, &root, patch, NULL), KILN_OK);
    write_node(root, text);
    ck_assert_str_eq(text, merges[_i].result);
}
END_TEST

/* Operations on {"a": [1, {"b": 2}], "c/d": 3}; no result: an error with these words. */
static const struct {
    const char *operations, *result;
} patches[] = {
    {"[{\"op\":\"replace\",\"path\":\"/a/1/b\",\"value\":\"x\"}]", "{a:[1,{b:\"x\"}],c/d:3}"},
    {"[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":9}]", "{a:[9,1,{b:2}],c/d:3}"},
    {"[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":9}]", "{a:[1,{b:2},9],c/d:3}"},
    {"[{\"op\":\"add\",\"path\":\"/n\",\"value\":[]}]", "{a:[1,{b:2}],c/d:3,n:[]}"},
    {"[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "{a:[1],c/d:3}"},
    {"[{\"op\":\"remove\",\"path\":\"/c~1d\"}]", "{a:[1,{b:2}]}"},
    {"[{\"op\":\"test\",\"path\":\"/a/1\",\"value\":{\"b\":2}},"
     "{\"op\":\"remove\",\"path\":\"/a/0\"}]",
     "{a:[{b:2}],c/d:3}"},
    {"[{\"op\":\"test\",\"path\":\"/a/0\",\"value\":2}]", "0/path: is another value"},
    {"[{\"op\":\"replace\",\"path\":\"/a/2\",\"value\":1}]", "leads nowhere: there is no \"2\""},
    {"[{\"op\":\"replace\",\"path\":\"/q/2\",\"value\":1}]", "leads nowhere: there is no \"q\""},
    {"[{\"op\":\"add\",\"path\":\"/a/x\",\"value\":1}]", "there is no item \"x\""},
    {"[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", "must begin with a slash"},
    {"[{\"op\":\"move\",\"path\":\"/a\",\"from\":\"/b\"}]", "\"move\" is not supported"},
    {"[{\"op\":\"add\",\"path\":\"/a\"}]", "must have a value"},
    {"[{\"path\":\"/a\"}]", "must have an op and a path"},
    {"{}", "must be a list of operations"},
};

START_TEST(trees_are_patched)
{
    char text[400] = "";
    kiln_json_node *root = parse("{\"a\": [1, {\"b\": 2}], \"c/d\": 3}");
    kiln_error error = {0};
    kiln_status status = kiln_json_patch(root, parse(patches[_i].operations), &error);
    if (status == KILN_OK)
        write_node(root, text);
    else
        strcpy(text, error.message);
    ck_assert_msg(strstr(text, patches[_i].result), "%s: '%s' is not '%s'", patches[_i].operations,
                  text, patches[_i].result);
}
END_TEST

/* Bytes changed, cut and doubled at random: an answer, and a place for what is wrong. */
START_TEST(any_text_has_an_answer)
{
    static const char whole[] =
        "{\"a\": [1, -2.5e3, true, null, {\"b\": \"\\u20ac\\n\"}], \"c\": {\"d\": []}}";
    kiln_random random = kiln_random_start(7, 7);
    uint64_t rounds = kiln_test_rounds(20000, 2000000);
    for (uint64_t i = 0; i < rounds; i++) {
        char text[2 * sizeof whole];
        size_t size = sizeof whole - 1;
        memcpy(text, whole, size);
        for (int k = 0; k < 3; k++)
            text[kiln_random_u64(&random) % size] =
                (kiln_random_u64(&random) & 1) ? "{}[]\",:\\u0e-"[kiln_random_u64(&random) % 12]
                                               : (char)kiln_random_u64(&random);
        size = kiln_random_u64(&random) % (size + 1);
        kiln_arena_mark mark = kiln_arena_set_mark(&arena);
        kiln_json_node *root;
        kiln_error error = {0};
        kiln_status status = kiln_json_parse(&arena, "a", text, size, &root, &error);
        ck_assert(status == KILN_OK || (error.line > 0 && error.message[0]));
        kiln_arena_release(&arena, mark);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("json tree");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(all, open_arena, close_arena);
    tcase_add_loop_test(all, bad_json_is_refused, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(all, values_and_their_places);
    tcase_add_test(all, depth_and_keys_have_limits);
    tcase_add_loop_test(all, trees_are_merged, 0, (int)(sizeof merges / sizeof merges[0]));
    tcase_add_loop_test(all, trees_are_patched, 0, (int)(sizeof patches / sizeof patches[0]));
    tcase_add_test(all, any_text_has_an_answer);
    return suite;
}
