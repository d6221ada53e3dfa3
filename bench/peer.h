/* Other programs that improve meshes, run beside Kiln when they are installed: each a Python module
 * of Debian, in a process of its own. */
#ifndef KILN_BENCH_PEERS_H
#define KILN_BENCH_PEERS_H

#include "mesh/soup.h"

typedef struct kiln_peer {
    const char *name;    /* in rows */
    const char *package; /* Debian's; tools/packages-peers lists it */
    const char *module;
    const char *script; /* improve.py IN.mesh OUT.mesh; prints the seconds of the improvement */
} kiln_peer;

/* NULL past the last. */
const kiln_peer *kiln_peer_at(size_t index);

/* CPU seconds of the peer's own improvement, reading and writing not included, and its mesh. Fails
 * with KILN_ERR_UNSUPPORTED when the peer is not installed. */
kiln_status kiln_peer_improve(const kiln_peer *peer, const kiln_soup *in, kiln_soup *out,
                              double *seconds, kiln_error *error);

#endif
