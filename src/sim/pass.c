#include "sim/pass.h"
#include "mesh/rewind.h"

kiln_status kiln_pass_begin(const kiln_world *world, kiln_changes *changes, kiln_error *error)
{
    kiln_changes_start(changes, world->mesh);
    return kiln_archive_begin(world->mesh, error);
}

static kiln_status hand_on(kiln_world *world, kiln_changes *changes,
                           const kiln_transfer_options *transfer, kiln_error *error)
{
    if (transfer)
        KILN_TRY(kiln_transfer(world->mesh, transfer, NULL, error));
    KILN_TRY(kiln_world_carry(world, NULL, error));
    return kiln_changes_note_pass(changes, world->mesh, error);
}

kiln_status kiln_pass_end(kiln_world *world, kiln_changes *changes,
                          const kiln_transfer_options *transfer, kiln_error *error)
{
    kiln_status status = hand_on(world, changes, transfer, error);
    if (status != KILN_OK) {
        kiln_archive_rollback(world->mesh);
        return status;
    }
    kiln_archive_end(world->mesh);
    return kiln_changes_close(changes, world->mesh, error);
}

static kiln_verdict run_transaction(kiln_mesh *mesh, const kiln_pass *pass, bool *changed)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    if (!txn.depth)
        return KILN_REFUSED_MEMORY;
    return kiln_txn_settle(&txn, pass->change(pass->user, &txn, changed));
}

kiln_status kiln_pass_make(kiln_world *world, const kiln_pass *pass, bool *changed,
                           kiln_error *error)
{
    kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS, .even = KILN_FIELD_EVEN};
    *changed = false;
    KILN_TRY(kiln_pass_begin(world, pass->changes, error));
    kiln_verdict verdict = run_transaction(world->mesh, pass, changed);
    if (verdict == KILN_ACCEPTED && *changed && pass->settled)
        verdict = pass->settled(pass->user, &transfer);
    if (verdict != KILN_ACCEPTED || !*changed) {
        kiln_archive_rollback(world->mesh);
        return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
    }
    KILN_TRY(kiln_pass_end(world, pass->changes, pass->lets_go ? NULL : &transfer, error));
    return kiln_world_changed(world, pass->changes, error);
}
