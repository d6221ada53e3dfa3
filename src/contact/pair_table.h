/* What the scene says of single pairs of bodies and obstacles: which friction they have, and which
 * do not see each other at all. By kinds, since many bodies are of one: those nobody speaks of, and
 * those of one material. */
#ifndef KILN_CONTACT_PAIR_TABLE_H
#define KILN_CONTACT_PAIR_TABLE_H

#include "base/platform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kiln_pair_rule {
    double friction; /* Coulomb's coefficient; NaN: what it is without the rule */
    bool off;        /* they do not see each other */
} kiln_pair_rule;

/* Borrowed by all who look at it; NULL in its place: nothing is said of any pair. */
typedef struct kiln_pair_table {
    uint32_t kinds;
    const uint32_t *body, *obstacle; /* [body], [obstacle] the kind it is of */
    const kiln_pair_rule *rules;     /* [kind][kind], the same both ways */
} kiln_pair_table;

/* NULL without a table. */
KILN_INLINE const kiln_pair_rule *kiln_pair_rule_of_bodies(const kiln_pair_table *table, uint32_t a,
                                                           uint32_t b)
{
    return table ? &table->rules[(size_t)table->kinds * table->body[a] + table->body[b]] : NULL;
}
KILN_INLINE const kiln_pair_rule *kiln_pair_rule_of_obstacle(const kiln_pair_table *table,
                                                             uint32_t body, uint32_t obstacle)
{
    return table
               ? &table->rules[(size_t)table->kinds * table->body[body] + table->obstacle[obstacle]]
               : NULL;
}

KILN_INLINE bool kiln_bodies_meet(const kiln_pair_table *table, uint32_t a, uint32_t b)
{
    return !table || !kiln_pair_rule_of_bodies(table, a, b)->off;
}
KILN_INLINE bool kiln_body_meets_obstacle(const kiln_pair_table *table, uint32_t body,
                                          uint32_t obstacle)
{
    return !table || !kiln_pair_rule_of_obstacle(table, body, obstacle)->off;
}

#endif
