/* JSON as it is written: shape, escapes, numbers, the same to a stream and to a file. */
#include "io/json.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void write_all(kiln_json *json)
{
    kiln_json_object(json, NULL);
    kiln_json_text(json, "text", "a \"b\" \\ \n\x7f");
    kiln_json_text_part(json, "part", "abcdef", 3);
    kiln_json_list(json, "list");
    kiln_json_number(json, NULL, 0.1);
    kiln_json_number(json, NULL, -1e300);
    kiln_json_number(json, NULL, 5e-324);
    kiln_json_number(json, NULL, NAN);
    kiln_json_number(json, NULL, -INFINITY);
    kiln_json_end(json);
    kiln_json_object(json, "empty");
    kiln_json_end(json);
    kiln_json_count(json, "count", 18446744073709551615u);
    kiln_json_integer(json, "integer", -3);
    kiln_json_bool(json, "yes", true);
    kiln_json_null(json, "nothing");
    kiln_json_end(json);
}

static char *to_stream(kiln_json (*begin)(FILE *out))
{
    static char *text; /* which the stream, closed or not, points at */
    size_t size;
    FILE *out = open_memstream(&text, &size);
    kiln_json json = begin(out);
    write_all(&json);
    fclose(out);
    return text;
}

START_TEST(members_go_on_lines)
{
    char *text = to_stream(kiln_json_to_stream);
    ck_assert_str_eq(text, "{\n"
                           "  \"text\": \"a \\\"b\\\" \\\\ \\u000a\\u007f\",\n"
                           "  \"part\": \"abc\",\n"
                           "  \"list\": [0.1, -1e300, 5e-324, null, null],\n"
                           "  \"empty\": {},\n"
                           "  \"count\": 18446744073709551615,\n"
                           "  \"integer\": -3,\n"
                           "  \"yes\": true,\n"
                           "  \"nothing\": null\n"
                           "}\n");
    free(text);
}
END_TEST

START_TEST(a_line_holds_it_all)
{
    char *text = to_stream(kiln_json_line_to_stream);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
    ck_assert_ptr_nonnull(strstr(text, "\"part\": \"abc\", \"list\": [0.1, "));
    free(text);
}
END_TEST

START_TEST(files_get_the_same)
{
    kiln_context *context = kiln_test_context(1);
    kiln_error error;
    kiln_sink sink;
    char path[] = "/tmp/kiln-test-json-XXXXXX", text[1024];
    close(mkstemp(path));
    ck_assert_int_eq(kiln_sink_open(&sink, context, path, &error), KILN_OK);
    kiln_json json = kiln_json_to_sink(&sink);
    write_all(&json);
    ck_assert_int_eq(kiln_sink_commit(&sink, &error), KILN_OK);
    FILE *file = fopen(path, "rb");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    unlink(path);
    char *wanted = to_stream(kiln_json_to_stream);
    ck_assert_str_eq(text, wanted);
    free(wanted);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("json");
    TCase *all = kiln_test_case(suite, "json");
    tcase_add_test(all, members_go_on_lines);
    tcase_add_test(all, a_line_holds_it_all);
    tcase_add_test(all, files_get_the_same);
    return suite;
}
