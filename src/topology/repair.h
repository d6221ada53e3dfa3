/* Manifold repair: SLI 7.3 and the case it leaves out. */
#ifndef KILN_TOPOLOGY_REPAIR_H
#define KILN_TOPOLOGY_REPAIR_H

#include "mesh/replace.h"

typedef struct kiln_repair_report {
    uint32_t vertices_split; /* copies made where a star was in several pieces */
    uint32_t edges_split;    /* edges with several fans */
    uint32_t tunnels;        /* paths opened between surface sheets that met at a vertex */
} kiln_repair_report;

/* Makes every vertex that the transaction has touched non-manifold manifold again. All surface that
 * this opens gets `tag`. KILN_REFUSED_NON_MANIFOLD after ten rounds. */
kiln_verdict kiln_manifold_repair(kiln_txn *txn, int32_t tag, kiln_repair_report *report);

/* A mesh built from bad input (KILN_BUILD_REPAIR): finds the offending vertices and repairs them in
 * one transaction. */
kiln_verdict kiln_mesh_repair(kiln_mesh *mesh, int32_t tag, kiln_repair_report *report);

#endif
