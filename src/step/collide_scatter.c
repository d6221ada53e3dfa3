/* Sums over pairs into rows of a gradient and a matrix. */
#include "base/parallel.h"
#include "step/collide_impl.h"

/* All go over all stencils, which a few of them are not worth; where some rows have most of the
 * work, more parts than threads even it out. */
enum { FEW = 64, PARTS = 4 };

typedef struct scatter_job {
    kiln_collide_add *add;
    const void *user;
    double *g;
    kiln_bsr *H;
} scatter_job;

static void add_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const scatter_job *job = user;
    const kiln_row_band rows = {begin, end, job->g, job->H};
    job->add(job->user, &rows);
}

void kiln_collide_scatter(const kiln_collide *c, size_t count, kiln_collide_add *add,
                          const void *user, double *g, kiln_bsr *H)
{
    scatter_job job = {add, user, g, H};
    size_t threads = (size_t)c->context->threads, parts = count / FEW;
    parts = parts < PARTS * threads ? parts : PARTS * threads;
    parts = threads > 1 && parts > 1 ? parts : 1;
    if (count)
        kiln_parallel_for(c->context, c->given->rows, c->given->rows / parts + 1, add_rows, &job);
}
