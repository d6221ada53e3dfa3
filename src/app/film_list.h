/* The frames of a run, as run.pvd lists them now: a run that is still going has those written so
 * far. */
#ifndef KILN_APP_FILM_LIST_H
#define KILN_APP_FILM_LIST_H

#include "base/arena.h"
#include "base/array.h"

/* The fine surface of a body at a frame, surface/BODY-NNNNNN.ply. */
typedef struct kiln_film_surface {
    const char *path;
    struct kiln_film_surface *next; /* by name */
} kiln_film_surface;

typedef struct kiln_film_frame {
    double time;                 /* s */
    const char *path;            /* of the .vtu */
    const char *obstacles;       /* surface beside it; NULL: none */
    kiln_film_surface *surfaces; /* that bodies carry; NULL: none */
} kiln_film_frame;

typedef struct kiln_film_list {
    kiln_arena strings;
    KILN_ARRAY_OF(kiln_film_frame)
    frames;
} kiln_film_list;

/* Whether `path` is a folder. */
bool kiln_film_is_folder(const char *path);

/* KILN_ERR_INPUT where `path` is neither file nor folder, or a scene that has not run: what to give
 * instead. */
kiln_status kiln_film_check_operand(const char *path, kiln_error *error);

/* Refuses a folder without run.pvd, and one that lists nothing. Obstacles are the files
 * surface/obstacles*.vtu (or .ply): the one with the frame's number at its end, or else the one
 * with the largest number before it, or else the one without a number. */
kiln_status kiln_film_list_read(kiln_context *context, const char *folder, kiln_film_list *out,
                                kiln_error *error);
void kiln_film_list_free(kiln_film_list *list);

#endif
