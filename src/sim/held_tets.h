/* Edges of bodies that flow, where they hold tets that have become bad. */
#ifndef KILN_SIM_HELD_TETS_H
#define KILN_SIM_HELD_TETS_H

#include "sim/world_impl.h"

/* A tet all corners of which lie on feature edges can be moved by nothing: where two edges of a
 * body that flows are pressed together, or one into a seam, it becomes ever flatter, and a new mesh
 * of all the part was the only way out. Features near such tets below `quality` in the world are
 * forgotten, except rims of what is held, loaded or has a tag of its own; repairs can take them
 * then.
 * `*released` is how many such tets there were. */
kiln_status kiln_release_held_tets(kiln_world *world, double quality, size_t *released,
                                   kiln_error *error);

#endif
