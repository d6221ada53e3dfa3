/* Other programs that improve meshes, run beside Kiln when they are installed: each a Python module
 * of Debian, in a process of its own. */
#ifndef KILN_BENCH_PEER_H
#define KILN_BENCH_PEER_H

#include "mesh/soup.h"

typedef struct kiln_peer {
    const char *name;    /* in rows */
    const char *package; /* Debian's; tools/packages-peers lists it */
    const char *module;
    const char *script; /* improve.py IN.mesh OUT.mesh; prints the seconds of the improvement */
} kiln_peer;

/* NULL past the last. */
const kiln_peer *kiln_peer_at(size_t index);

typedef struct kiln_peer_run {
    double seconds;   /* CPU time of the improvement itself, reading and writing not included */
    char version[48]; /* of the package */
} kiln_peer_run;

/* Fails with KILN_ERR_UNSUPPORTED when the peer is not installed. */
kiln_status kiln_peer_improve(const kiln_peer *peer, const kiln_soup *in, kiln_soup *out,
                              kiln_peer_run *run, kiln_error *error);

#endif
