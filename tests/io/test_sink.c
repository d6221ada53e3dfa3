/* Output appears whole or not at all; input comes from files, pipes and memory. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void assert_text(const char *path, const char *text)
{
    size_t size;
    char *bytes = file_bytes(path, &size);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_int_eq(memcmp(bytes, text, size), 0);
    free(bytes);
}

START_TEST(large_and_small_pieces_arrive_in_order)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    in_folder(&scratch, "a", path);
    size_t block = 1 << 20, size;
    char *bytes = malloc(block);
    for (size_t i = 0; i < block; i++)
        bytes[i] = (char)(i * 7 + i / 256);
    kiln_sink sink;
    ck_assert_int_eq(kiln_sink_open(&sink, context, path, NULL), KILN_OK);
    for (int i = 0; i < 100000; i++)
        kiln_sink_integer(&sink, i % 10);
    kiln_sink_bytes(&sink, bytes, block);
    ck_assert_uint_eq(kiln_sink_position(&sink), 100000 + block);
    for (size_t i = 0; i < block; i += 1000)
        kiln_sink_bytes(&sink, bytes + i, block - i < 1000 ? block - i : 1000);
    kiln_sink_format(&sink, "%s", "end");
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(kiln_sink_commit(&sink, NULL), KILN_OK);
    char *found = file_bytes(path, &size);
    ck_assert_uint_eq(size, 100000 + 2 * block + 3);
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(found[i], '0' + i % 10);
    ck_assert_int_eq(memcmp(found + 100000, bytes, block), 0);
    ck_assert_int_eq(memcmp(found + 100000 + block, bytes, block), 0);
    free(found);
    free(bytes);
    ck_assert_int_eq(files_in(&scratch), 1);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(discarded_output_leaves_the_old_file)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    put_text(in_folder(&scratch, "a", path), "old");
    chmod(path, 0640);
    kiln_sink sink;
    ck_assert_int_eq(kiln_sink_open(&sink, context, path, NULL), KILN_OK);
    kiln_sink_text(&sink, "new");
    kiln_sink_discard(&sink);
    kiln_sink_discard(&sink);
    assert_text(path, "old");
    ck_assert_int_eq(files_in(&scratch), 1);

    ck_assert_int_eq(kiln_sink_open(&sink, context, path, NULL), KILN_OK);
    kiln_sink_text(&sink, "new");
    ck_assert_int_eq(kiln_sink_commit(&sink, NULL), KILN_OK);
    assert_text(path, "new");
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0640);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(links_are_followed)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160], link[160];
    put_text(in_folder(&scratch, "a", path), "old");
    ck_assert_int_eq(symlink(path, in_folder(&scratch, "b", link)), 0);
    kiln_sink sink;
    ck_assert_int_eq(kiln_sink_open(&sink, context, link, NULL), KILN_OK);
    kiln_sink_text(&sink, "new");
    ck_assert_int_eq(kiln_sink_commit(&sink, NULL), KILN_OK);
    assert_text(path, "new");
    struct stat info;
    ck_assert_int_eq(lstat(link, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_soup soup;
    kiln_error error;
    fixture_mesh(&soup, context);
    kiln_format_options options = {"gmsh", KILN_ENCODING_ANY};
    ck_assert_int_eq(kiln_soup_write(context, "/dev/full", &options, &soup, &error), KILN_ERR_IO);
    ck_assert_str_eq(error.place, "/dev/full");
    ck_assert_ptr_nonnull(strstr(error.message, strerror(ENOSPC)));
    ck_assert_int_eq(access("/dev/full", W_OK), 0);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

/* A limit on file sizes stops the writing as a full disk would, in every format. */
START_TEST(a_full_disk_damages_nothing)
{
    static const struct {
        const char *format, *file;
    } kinds[] = {{"medit", "a.mesh"}, {"gmsh", "a.msh"}, {"tetgen", "a.node"}, {"sol", "a.sol"}};
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_soup soup;
    fixture_mesh(&soup, context);
    fixture_fields(&soup);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        folder scratch = make_folder();
        char path[160];
        kiln_error error;
        put_text(in_folder(&scratch, kinds[i].file, path), "old");
        struct rlimit before, small;
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = before;
        small.rlim_cur = 100;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        kiln_format_options options = {kinds[i].format, KILN_ENCODING_ANY};
        kiln_status status = kiln_soup_write(context, path, &options, &soup, &error);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_int_eq(status, KILN_ERR_IO);
        ck_assert_ptr_nonnull(strstr(error.message, strerror(EFBIG)));
        assert_text(path, "old");
        ck_assert_int_eq(files_in(&scratch), 1);
        remove_folder(&scratch);
    }
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

START_TEST(unwritable_folders_are_errors)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    folder scratch = make_folder();
    kiln_soup soup;
    kiln_error error;
    char path[160];
    fixture_mesh(&soup, context);
    put_text(in_folder(&scratch, "a.mesh", path), "old");
    chmod(path, 0666);
    chmod(scratch.path, 0555);
    /* Nothing stops root; become nobody. */
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, &error), KILN_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, strerror(EACCES)));
    in_folder(&scratch, "b.node", path);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, &error), KILN_ERR_IO);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    chmod(scratch.path, 0755);
    ck_assert_int_eq(files_in(&scratch), 1);
    assert_text(in_folder(&scratch, "a.mesh", path), "old");
    ck_assert_int_eq(kiln_soup_write(context, "/nowhere/a.mesh", NULL, &soup, &error), KILN_ERR_IO);
    ck_assert_int_eq(kiln_soup_write(context, "/tmp/", NULL, &soup, &error), KILN_ERR_INPUT);
    mkdir(in_folder(&scratch, "c.mesh", path), 0755);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, &error), KILN_ERR_IO);
    rmdir(path);
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

START_TEST(sources_read_files_of_any_size)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    folder scratch = make_folder();
    char path[160];
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 70000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        FILE *file = fopen(in_folder(&scratch, "a", path), "w");
        for (size_t i = 0; i < sizes[k]; i++)
            fputc('x', file);
        fclose(file);
        kiln_source source;
        kiln_text word;
        ck_assert_int_eq(kiln_source_open(&source, context, path, NULL), KILN_OK);
        ck_assert_uint_eq(kiln_source_left(&source), sizes[k]);
        ck_assert_int_eq(kiln_source_word(&source, &word), sizes[k] > 0);
        ck_assert(sizes[k] == 0 || word.size == sizes[k]);
        kiln_source_close(&source);
    }
    kiln_source pipe_source;
    ck_assert_int_eq(kiln_source_open(&pipe_source, context, "/proc/self/stat", NULL), KILN_OK);
    kiln_source endless;
    ck_assert_int_eq(kiln_source_open(&endless, context, "/dev/zero", NULL), KILN_ERR_IO);
    ck_assert_uint_gt(kiln_source_left(&pipe_source), 10);
    kiln_source_close(&pipe_source);
    remove_folder(&scratch);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

START_TEST(scanning_counts_lines)
{
    static const char text[] =
        "12 -7# words\r\n\r\n+5 2.5 999999999999999999999 nan 7x\rlast\nline";
    kiln_context *context = kiln_test_context(1);
    kiln_source source;
    kiln_error error;
    int64_t i;
    double d;
    kiln_text word;
    kiln_source_from_memory(&source, context, "t", text, sizeof text - 1);
    source.comment = '#';
    ck_assert_int_eq(kiln_source_integer(&source, 0, 20, "n", &i, NULL), KILN_OK);
    ck_assert_int_eq(i, 12);
    ck_assert_int_eq(kiln_source_integer(&source, 0, 20, "n", &i, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 1);
    ck_assert_int_eq(kiln_source_integer(&source, -7, 20, "n", &i, NULL), KILN_OK);
    ck_assert_int_eq(i, -7);
    ck_assert(!kiln_source_skip_blank(&source));
    ck_assert_int_eq(kiln_source_integer(&source, 0, 20, "n", &i, NULL), KILN_OK);
    ck_assert_int_eq(i, 5);
    ck_assert_int_eq(kiln_source_integer(&source, 0, 20, "n", &i, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 3);
    ck_assert_int_eq(kiln_source_double(&source, "x", &d, NULL), KILN_OK);
    ck_assert_double_eq(d, 2.5);
    ck_assert_int_eq(kiln_source_integer(&source, INT64_MIN, INT64_MAX, "n", &i, &error),
                     KILN_ERR_INPUT);
    ck_assert(kiln_source_word(&source, &word));
    ck_assert_int_eq(kiln_source_double(&source, "x", &d, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "finite"));
    ck_assert(kiln_source_word(&source, &word));
    ck_assert_int_eq(kiln_source_integer(&source, 0, 20, "n", &i, &error), KILN_ERR_INPUT);
    ck_assert(kiln_source_line(&source, &word));
    ck_assert(kiln_source_line(&source, &word));
    ck_assert(kiln_text_is(word, "last"));
    ck_assert(kiln_source_line(&source, &word));
    ck_assert(kiln_text_is_nocase(word, "LINE"));
    ck_assert_int_eq(kiln_source_integer(&source, 0, 20, "n", &i, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 5);
    ck_assert(!kiln_source_line(&source, &word));
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("sink");
    TCase *all = kiln_test_case(suite, "sink");
    tcase_add_test(all, large_and_small_pieces_arrive_in_order);
    tcase_add_test(all, discarded_output_leaves_the_old_file);
    tcase_add_test(all, links_are_followed);
    tcase_add_test(all, a_full_device_is_an_error);
    tcase_add_test(all, a_full_disk_damages_nothing);
    tcase_add_test(all, unwritable_folders_are_errors);
    tcase_add_test(all, sources_read_files_of_any_size);
    tcase_add_test(all, scanning_counts_lines);
    return suite;
}
