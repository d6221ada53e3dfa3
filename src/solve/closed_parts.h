/* Parts of equations (equations.h) that nothing free can change the sum of: the liquid in a closed
 * container. A multiplier that is the same for all of such a part does nothing. */
#ifndef KILN_SOLVE_CLOSED_PARTS_H
#define KILN_SOLVE_CLOSED_PARTS_H

#include "solve/equations.h"

typedef struct kiln_closed_parts {
    kiln_context *context; /* borrowed */
    uint64_t pattern;      /* of the equations that are numbered */
    size_t parts, closed;  /* how many there are, and are closed */
    kiln_u32_array part;   /* [row] in the order of their first rows, which are */
    kiln_u32_array first;  /* [part]; KILN_ROW_NONE: the part is open */
    kiln_f64_array sums;   /* [part][2] scratch */
} kiln_closed_parts;

enum { KILN_ROW_NONE = 0xFFFFFFFF };

void kiln_closed_parts_free(kiln_closed_parts *parts);
/* Of J as it is, with what is held taken out. */
kiln_status kiln_closed_parts_find(kiln_closed_parts *parts, const kiln_equations *equations,
                                   kiln_error *error);
/* Of closed parts: v less what it sums up to, by the share of each row (NULL: all alike). */
void kiln_closed_parts_take_out(const kiln_closed_parts *parts, const double *share, double *v);
/* The largest sum of e in a closed part, of that of `amount`. */
double kiln_closed_parts_unkept(const kiln_closed_parts *parts, const double *e,
                                const double *amount);

#endif
