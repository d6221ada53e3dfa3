/* Regions, locks and bodies that follow from what the tets are made of. Logged; a refusal (out of
 * memory) leaves the rest undone, for the caller to roll back. */
#ifndef KILN_TOPOLOGY_ASSIGN_H
#define KILN_TOPOLOGY_ASSIGN_H

#include "mesh/txn.h"

/* Tets of one region that differ in kind[tet slot] are to be in different ones: the first kind met
 * keeps the number, the others get numbers above all there are, in the order in which they come. */
kiln_verdict kiln_regions_divide(kiln_txn *txn, const uint32_t *kind);

/* No operator may take a tet of a part with free[part] zero. */
kiln_verdict kiln_parts_lock(kiln_txn *txn, const uint8_t *free);

/* A part belongs to the lowest body[tet slot] among its tets; one without tets to none. */
kiln_verdict kiln_parts_join_bodies(kiln_txn *txn, const uint32_t *body);

#endif
