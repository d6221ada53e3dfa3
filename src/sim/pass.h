/* The frame of a change of mesh that a module makes inside a step: the pass whose begin is kept,
 * what transfer and modules hand on at its end, and who is told. */
#ifndef KILN_SIM_PASS_H
#define KILN_SIM_PASS_H

#include "mesh/txn.h"
#include "remesh/transfer.h"
#include "sim/world_impl.h"

/* `changes` notes what the pass changes. One that fails before its end is undone by
 * kiln_archive_rollback. */
kiln_status kiln_pass_begin(const kiln_world *world, kiln_changes *changes, kiln_error *error);
/* Amounts, momentum and angular momentum go over (`transfer`; NULL: what went takes its own with
 * it), then what modules keep that is no field; rows close ranks. kiln_world_changed is to follow.
 * Where it fails the pass is undone. */
kiln_status kiln_pass_end(kiln_world *world, kiln_changes *changes,
                          const kiln_transfer_options *transfer, kiln_error *error);

/* A pass of one transaction. */
typedef struct kiln_pass {
    void *user;
    kiln_changes *changes;
    /* Changes the mesh, or says in *changed that it has not: then the pass is undone. */
    kiln_verdict (*change)(void *user, kiln_txn *txn, bool *changed);
    /* Once the transaction is closed and parts are settled; what transfer has to know besides. May
     * be NULL. */
    kiln_verdict (*settled)(void *user, kiln_transfer_options *transfer);
    bool lets_go; /* no transfer: what went takes its own with it */
} kiln_pass;

/* Begin to end, and all are told. */
kiln_status kiln_pass_make(kiln_world *world, const kiln_pass *pass, bool *changed,
                           kiln_error *error);

#endif
