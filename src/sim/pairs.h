/* The scene's `contact.pairs`, as contact looks at them. */
#ifndef KILN_SIM_PAIRS_H
#define KILN_SIM_PAIRS_H

#include "contact/pair_table.h"
#include "sim/scene.h"

/* Zero-initialise. */
typedef struct kiln_pairs {
    kiln_u32_array kinds; /* of bodies, then of obstacles */
    KILN_ARRAY_OF(kiln_pair_rule)
    rules;
    kiln_pair_table table; /* of these; no kinds: the scene says nothing of any pair */
} kiln_pairs;

/* Names are those of bodies, else of obstacles, else of materials, which stand for all bodies of
 * theirs. What is said of a body or an obstacle goes before what is said of a material; of two that
 * say as much the later holds. Refuses names that nothing has, obstacles among themselves, and
 * pairs that are said twice. On failure it is as if the scene said nothing. */
/* The obstacle in a pair, whose names are known to be right; NULL: none. */
const char *kiln_pair_obstacle(const kiln_scene *scene, const kiln_scene_pair *pair);
kiln_status kiln_pairs_build(kiln_pairs *pairs, const kiln_scene *scene, kiln_error *error);
KILN_INLINE const kiln_pair_table *kiln_pairs_table(const kiln_pairs *pairs)
{
    return pairs->table.kinds > 0 ? &pairs->table : NULL;
}
void kiln_pairs_free(kiln_pairs *pairs, kiln_context *context);

#endif
