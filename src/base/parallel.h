/* The one parallel primitive: a loop over chunks whose limits depend on the item count only.
 * Results are the same bits for any number of threads as long as a chunk writes only its own
 * items, or sums into its own slot and the slots are combined in chunk order. */
#ifndef KILN_BASE_PARALLEL_H
#define KILN_BASE_PARALLEL_H

#include "base/context.h"

enum { KILN_MAX_THREADS = 64 };

/* One chunk [begin, end). `chunk` counts from 0; `worker` is below context->threads and tells
 * which scratch to use (never what to compute). */
typedef void (*kiln_chunk_body)(void *user, size_t chunk, size_t begin, size_t end, int worker);

/* Number of chunks of `grain` items that cover `count`. */
size_t kiln_chunk_count(size_t count, size_t grain);

/* Runs the body once per chunk, on up to context->threads threads; falls back to the calling
 * thread when threads cannot be had. A loop that a body starts in the same context runs inline:
 * chunk after chunk on the thread of that body and with its worker number, so scratch that is told
 * apart by worker must not be shared by both loops. Loops inside loops so cost no threads and give
 * the same bits as alone. A loop in another context is that context's own; as outside of loops, a
 * context may be used by one thread at a time, besides the bodies of its loops. */
void kiln_parallel_for(kiln_context *context, size_t count, size_t grain, kiln_chunk_body body,
                       void *user);

/* Sum of item(user, i) for i < count: fixed chunks, combined in order. Needs scratch for
 * one double per chunk; KILN_ERR_MEMORY otherwise. */
typedef double (*kiln_item_value)(void *user, size_t item);
kiln_status kiln_parallel_sum(kiln_context *context, size_t count, kiln_item_value item, void *user,
                              double *sum, kiln_error *error);

void kiln_parallel_shutdown(kiln_context *context);

#endif
