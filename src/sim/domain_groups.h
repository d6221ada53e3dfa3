/* New meshes for parts of a world, group by group: what hangs together by being near is remeshed
 * together. A group whose new mesh cannot be had keeps its old one, and the others do not wait for
 * it. */
#ifndef KILN_SIM_DOMAIN_GROUPS_H
#define KILN_SIM_DOMAIN_GROUPS_H

#include "remesh/domain.h"
#include "remesh/nearby.h"
#include "sim/world_impl.h"

#define KILN_FIELD_BODY "body"

/* What is to be done. Borrowed. */
typedef struct kiln_domain_wish {
    const kiln_world *world;
    const uint8_t *due;    /* [part] its group is remeshed */
    const uint32_t *group; /* [part] lowest part of its group */
    const kiln_nearby *nearby;
    bool merging; /* that is the only reason: a mesh in as many parts as before is in vain */
} kiln_domain_wish;

/* What came of it: sums over the groups that were remeshed. */
typedef struct kiln_domain_tally {
    size_t groups, parts, tets_before, tets_after;
    double volume_before, volume_after, transfer_seconds;
    double overlap; /* m^3 that two bodies had filled, and one does now */
    bool said;      /* the log has the reason why some were put off */
    KILN_ARRAY_OF(uint8_t)
    fresh; /* [tet of the new mesh] of a part that was remeshed */
} kiln_domain_tally;

/* The whole world's mesh with new parts in place of those that are due, as far as they can be had.
 * Groups are put off, and the log says so, whose surfaces would not be clear of others as contact
 * needs them, or that would leave a hold or load without a face. `sum` is to be zero, and its array
 * freed in any case. */
kiln_status kiln_domain_make_mesh(const kiln_domain_wish *wish, kiln_mesh **out,
                                  kiln_domain_tally *sum, kiln_error *error);

/* A kiln_same_patch: the rim of what is held or loaded, and of what has a tag of its own, stays. */
bool kiln_domain_same_patch(const kiln_mesh *mesh, uint32_t face, uint32_t other, void *unused);

#endif
