/* The table of mesh file formats, and reading and writing a soup through it. A format is one row in
 * format.c; its functions live in a file of its own. */
#ifndef KILN_IO_FORMAT_H
#define KILN_IO_FORMAT_H

#include "io/sink.h"
#include "io/source.h"
#include "mesh/soup.h"

/* Fills an empty soup (or adds fields to one that has points, for KILN_FORMAT_PARTIAL). Need not
 * clean up on failure: kiln_soup_read does. Sources from memory have in_file false; a reader that
 * wants sibling files goes without them. */
typedef kiln_status (*kiln_format_reader)(kiln_source *source, kiln_soup *soup, kiln_error *error);
/* All or nothing (sink.h). */
typedef kiln_status (*kiln_format_writer)(kiln_context *context, const char *path,
                                          kiln_encoding encoding, const kiln_soup *soup,
                                          kiln_error *error);
/* Whether the first bytes can only be this format. */
typedef bool (*kiln_format_sniffer)(kiln_text start);

enum {
    KILN_FORMAT_TETS = 1,    /* holds tets; otherwise a surface */
    KILN_FORMAT_ASCII = 2,   /* writes text */
    KILN_FORMAT_BINARY = 4,  /* writes binary */
    KILN_FORMAT_FIELDS = 8,  /* holds named fields */
    KILN_FORMAT_PARTIAL = 16 /* holds fields for a mesh that is in another file */
};

typedef struct kiln_format {
    const char *name;
    const char *extensions; /* ".a .b" */
    const char *about;
    kiln_format_reader read;   /* NULL: cannot */
    kiln_format_writer write;  /* NULL: cannot */
    kiln_format_sniffer sniff; /* NULL: cannot tell */
    unsigned flags;
} kiln_format;

/* Rows in order; NULL past the last. Of several rows with an extension the first counts. */
const kiln_format *kiln_format_at(size_t row);
const kiln_format *kiln_format_by_name(const char *name);
const kiln_format *kiln_format_by_path(const char *path);

/* The encoding to write: as asked for, otherwise binary if the path ends in `suffix`. */
kiln_encoding kiln_encoding_of(kiln_encoding asked, const char *path, const char *suffix);

/* Reads a file into `soup` (initialised and empty), and checks it (kiln_soup_check). By extension;
 * by content when the extension is unknown. On failure the soup is empty. `options` may be NULL. */
kiln_status kiln_soup_read(kiln_context *context, const char *path,
                           const kiln_format_options *options, kiln_soup *soup, kiln_error *error);
/* The same from a source, by a given format; for tests and fuzzers. */
kiln_status kiln_soup_read_source(const kiln_format *format, kiln_source *source, kiln_soup *soup,
                                  kiln_error *error);
/* Adds the fields of a file without points (KILN_FORMAT_PARTIAL, .sol) to the mesh they belong to.
 * On failure the soup is as before. */
kiln_status kiln_soup_read_fields(kiln_context *context, const char *path,
                                  const kiln_format_options *options, kiln_soup *soup,
                                  kiln_error *error);
kiln_status kiln_soup_write(kiln_context *context, const char *path,
                            const kiln_format_options *options, const kiln_soup *soup,
                            kiln_error *error);

#endif
