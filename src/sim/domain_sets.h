/* Holds and loads where bodies become one: they stay on what is left of their faces. */
#ifndef KILN_SIM_DOMAIN_SETS_H
#define KILN_SIM_DOMAIN_SETS_H

#include "sim/world_impl.h"

/* `fresh` was made of `old`, and its faces have what the nearest old ones had. That is taken from
 * faces that lie on none of the old ones that had it: those of a seam are new. Vertices of those
 * that keep it have been caught where the matter behind the old ones was, though they may lie in
 * another body. */
kiln_status kiln_domain_keep_sets(const kiln_scene *scene, const kiln_mesh *old, kiln_mesh *fresh,
                                  kiln_error *error);

/* A set of the scene that has something of the old mesh and nothing of the new; KILN_NONE. */
kiln_status kiln_domain_lost_set(const kiln_scene *scene, const kiln_mesh *old,
                                 const kiln_mesh *fresh, size_t *lost, kiln_error *error);

#endif
