/* Surfaces as broken as people's files: triangles missing, turned, given again beside themselves,
 * corners that do not meet, holes, another body across the first. */
#ifndef KILN_TESTS_BROKEN_H
#define KILN_TESTS_BROKEN_H

#include "mesh/soup.h"

/* Number `seed` of them, about 2 in size, turned at random, every triangle with points of its own;
 * fails the test when out of memory. */
kiln_soup kiln_test_broken(kiln_context *context, uint64_t seed);

/* A random turn of all points. */
void kiln_test_turn(kiln_soup *soup, uint64_t seed);

#endif
