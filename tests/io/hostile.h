/* Tests that every reader and writer passes: cut and damaged files, failing allocations. */
#ifndef KILN_TESTS_IO_HOSTILE_H
#define KILN_TESTS_IO_HOSTILE_H

#include "fixture.h"

/* Reads `size` bytes from a block of exactly that size, with no more than `limit` bytes of memory.
 */
typedef struct limited_heap {
    size_t live, limit;
    bool exceeded;
} limited_heap;

KILN_UNUSED static void *limited_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    limited_heap *heap = user;
    if (new_size == 0) {
        heap->live -= old_size;
        free(block);
        return NULL;
    }
    if (heap->live - old_size + new_size > heap->limit) {
        heap->exceeded = true;
        return NULL;
    }
    void *grown = realloc(block, new_size);
    heap->live += grown ? new_size - old_size : 0;
    return grown;
}

KILN_UNUSED static kiln_status read_limited(const char *format, const void *bytes, size_t size,
                                            kiln_error *error)
{
    limited_heap heap = {.limit = 1 << 20};
    kiln_context_options options = kiln_context_default_options();
    options.allocator = (kiln_allocator){limited_resize, &heap};
    options.threads = 1;
    kiln_context *context = NULL;
    ck_assert_int_eq(kiln_context_create(&options, &context, NULL), KILN_OK);
    heap.limit += 64 * size;
    char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    kiln_source source;
    kiln_soup soup;
    kiln_source_from_memory(&source, context, "memory", exact, size);
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_soup_read_source(kiln_format_by_name(format), &source, &soup, error);
    kiln_source_close(&source);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    free(exact);
    ck_assert_uint_eq(heap.live, 0);
    ck_assert_msg(!heap.exceeded, "%s: more memory asked for than the file can be worth", format);
    return status;
}

typedef struct bad_text {
    const char *format, *text;
    int line; /* 0: not checked */
    const char *message;
} bad_text;

KILN_UNUSED static void check_bad_text(const bad_text *bad)
{
    kiln_error error = {0};
    char text[1024];
    kiln_status status = read_limited(bad->format, bad->text, strlen(bad->text), &error);
    ck_assert_msg(status == KILN_ERR_INPUT || status == KILN_ERR_UNSUPPORTED, "%s: '%s': status %d",
                  bad->format, bad->text, status);
    kiln_error_format(&error, text, sizeof text);
    ck_assert_msg(strstr(error.message, bad->message) != NULL, "'%s' expected: %s", bad->message,
                  text);
    ck_assert_msg(bad->line == 0 || error.line == bad->line, "line %d expected: %s", bad->line,
                  text);
}

/* Cut at every byte: an error, except within the last `tail` bytes. */
KILN_UNUSED static void check_cuts(const char *format, const char *bytes, size_t size, size_t tail)
{
    for (size_t cut = 0; cut <= size; cut++) {
        kiln_error error = {0};
        kiln_status status = read_limited(format, bytes, cut, &error);
        if (cut == size)
            ck_assert_msg(status == KILN_OK, "%s: %s", format, error.message);
        else if (cut + tail < size)
            ck_assert_msg(status != KILN_OK, "%s: accepted with %zu of %zu bytes", format, cut,
                          size);
        ck_assert_int_ne(status, KILN_ERR_MEMORY);
    }
}

KILN_UNUSED static void check_damage(const char *format, const char *bytes, size_t size,
                                     uint64_t rounds)
{
    kiln_random random = kiln_random_start(99, size);
    char *damaged = malloc(size);
    for (uint64_t k = 0; k < rounds; k++) {
        memcpy(damaged, bytes, size);
        for (uint32_t h = 0; h < 1 + below(&random, 3); h++) {
            static const char odd[] = "90- .x\n\377";
            uint64_t bits = kiln_random_u64(&random);
            size_t at = kiln_random_u64(&random) % size;
            damaged[at] = bits & 1 ? (char)(bits >> 8) : odd[bits >> 8 & 7];
        }
        kiln_error error;
        read_limited(format, damaged, size - below(&random, 2) * (size / 3), &error);
    }
    free(damaged);
}

/* Each allocation of a reader fails in turn; nothing leaks, the soup is left empty. */
KILN_UNUSED static void check_read_failures(const char *path)
{
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_soup soup;
        kiln_soup_init(&soup, context);
        heap.fail_at = heap.calls + k;
        status = kiln_soup_read(context, path, NULL, &soup, NULL);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        ck_assert(status == KILN_OK || soup.points.count == 0);
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_int_eq(heap.live_bytes, 0);
    }
}

/* The same for a writer, which must leave no file behind when it fails. */
KILN_UNUSED static void check_write_failures(const char *format, kiln_encoding encoding)
{
    kiln_status status = KILN_ERR_MEMORY;
    folder scratch = make_folder();
    char path[160];
    in_folder(&scratch, "out", path);
    for (uint64_t k = 1; status != KILN_OK; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_soup soup;
        fixture_mesh(&soup, context);
        fixture_marks(&soup);
        fixture_fields(&soup);
        heap.fail_at = heap.calls + k;
        kiln_format_options options = {format, encoding};
        status = kiln_soup_write(context, path, &options, &soup, NULL);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        ck_assert_int_eq(files_in(&scratch), status == KILN_OK);
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
    remove_folder(&scratch);
}

#endif
