#include "base/clock.h"
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

static kiln_status begin(kiln_energy_pass *w, kiln_error *error)
{
    kiln_context *context = w->remesher->context;
    size_t vertices = w->remesher->mesh->table[KILN_ON_VERTEX].used;
    kiln_patch_init(&w->patch, context);
    kiln_vicinity_init(&w->vicinity, context);
    kiln_walker_init(&w->walker, context);
    kiln_walker_init(&w->node_walker, context);
    KILN_TRY(kiln_array_reserve(context, &w->depth, vertices, error));
    w->depth.count = vertices;
    memset(w->depth.data, 0, vertices * sizeof(uint32_t));
    w->slots = kiln_resize(context, NULL, 0, KILN_ENERGY_SLOTS * sizeof *w->slots);
    if (!w->slots)
        return kiln_fail_memory(error, KILN_ENERGY_SLOTS * sizeof *w->slots);
    for (int i = 0; i < KILN_ENERGY_SLOTS; i++)
        kiln_patch_init(&w->slots[i].patch, context);
    kiln_energy_look(w);
    return kiln_energy_note_paces(w);
}

static void end(kiln_energy_pass *w)
{
    kiln_context *context = w->remesher->context;
    kiln_patch_free(&w->patch);
    kiln_vicinity_free(&w->vicinity);
    kiln_array_free(context, &w->changing);
    kiln_walker_free(&w->walker);
    kiln_walker_free(&w->node_walker);
    for (int i = 0; w->slots && i < KILN_ENERGY_SLOTS; i++)
        kiln_patch_free(&w->slots[i].patch);
    if (w->slots)
        kiln_release(context, w->slots, KILN_ENERGY_SLOTS * sizeof *w->slots);
    kiln_array_free(context, &w->heap);
    kiln_array_free(context, &w->aside);
    kiln_array_free(context, &w->error_at);
    kiln_array_free(context, &w->stamp);
    kiln_array_free(context, &w->slopes);
    kiln_array_free(context, &w->known);
    kiln_energy_free_nodes(w);
    kiln_array_free(context, &w->near.slots);
    kiln_array_free(context, &w->depth);
    kiln_array_free(context, &w->around);
    kiln_array_free(context, &w->pace);
    kiln_array_free(context, &w->settling);
    kiln_array_free(context, &w->seen.slots);
}

kiln_status kiln_energy_remesh(kiln_remesher *remesher, kiln_local_objective *objective,
                               const kiln_energy_options *options, kiln_energy_report *report,
                               kiln_error *error)
{
    kiln_energy_pass w = {.remesher = remesher,
                          .objective = objective,
                          .options = options,
                          .report = report,
                          .error = error};
    kiln_judge before = remesher->judge;
    *report = (kiln_energy_report){0};
    remesher->judge = kiln_energy_judge(&w);
    kiln_status status = begin(&w, error);
    const struct {
        void (*sweep)(kiln_energy_pass *);
        kiln_energy_count *count;
    } sweeps[] = {{kiln_energy_split, &report->splits},
                  {kiln_energy_flip, &report->flips},
                  {kiln_energy_move, &report->moves},
                  {kiln_energy_collapse, &report->collapses}};
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0] && status == KILN_OK; i++) {
        double started = kiln_wall_seconds();
        sweeps[i].sweep(&w);
        sweeps[i].count->seconds = kiln_wall_seconds() - started;
        status = w.status;
    }
    if (status == KILN_OK)
        kiln_energy_settle(&w);
    remesher->judge = before;
    end(&w);
    if (status == KILN_OK && remesher->workspace.failed)
        return kiln_fail_memory(error, 0);
    return status;
}
