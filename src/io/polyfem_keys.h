/* The keys of PolyFEM's scenes and what becomes of each: a table, in polyfem_keys.c. What it does
 * not know is refused by name and place. */
#ifndef KILN_IO_POLYFEM_KEYS_H
#define KILN_IO_POLYFEM_KEYS_H

#include "io/json_tree.h"

typedef enum polyfem_fate {
    POLYFEM_TAKEN,   /* becomes something */
    POLYFEM_INSIDE,  /* an object: its keys are in the table, others are refused */
    POLYFEM_OPEN,    /* likewise, but keys that are not in the table are ignored, unless they are
                        nearly one that is */
    POLYFEM_IGNORED, /* with all that is inside: output, or how a solver goes about it */
    POLYFEM_SAID,    /* ignored with a warning, whose words are the note */
    POLYFEM_ONLY,    /* refused, unless it is the value in the note, as JSON */
    POLYFEM_REFUSED  /* refused, unless it is empty, false, 0 or null */
} polyfem_fate;

typedef struct polyfem_key {
    const char *path; /* from the root, apart by slashes; a star is any item of a list */
    polyfem_fate fate;
    const char *note;
} polyfem_key;

/* NULL past the last. */
const polyfem_key *kiln_polyfem_key_at(size_t row);

/* What is ignored, for one line about all of it; `said` is called for each that gets its own. */
typedef struct polyfem_survey {
    char ignored[400]; /* paths, apart by commas */
    void (*say)(void *user, const kiln_json_node *node, const char *note);
    void *user;
} polyfem_survey;

/* Checks every key of the tree. An object where the table has a list is put into one. */
kiln_status kiln_polyfem_check_keys(kiln_arena *arena, kiln_json_node *root, polyfem_survey *survey,
                                    kiln_error *error);

#endif
