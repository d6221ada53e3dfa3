/* Connected parts by merging: `root` [point] leads to the part's first point. */
#ifndef KILN_APP_FILM_PARTS_H
#define KILN_APP_FILM_PARTS_H

#include <stdint.h>

static inline uint32_t kiln_part_root(uint32_t *root, uint32_t v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

static inline void kiln_part_connect(uint32_t *root, uint32_t a, uint32_t b)
{
    a = kiln_part_root(root, a);
    b = kiln_part_root(root, b);
    root[a > b ? a : b] = a < b ? a : b;
}

#endif
