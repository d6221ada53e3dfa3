/* Refinement words in files: a field of three numbers below 2^22, which any format that holds
 * fields keeps exactly, even in single precision. */
#ifndef KILN_REMESH_REFINE_FILE_H
#define KILN_REMESH_REFINE_FILE_H

#include "remesh/refine.h"

typedef KILN_ARRAY_OF(kiln_refine_word)
kiln_refine_words;

/* kiln_mesh_to_soup with the words in the form above, or without when nothing is refined. Surface
 * triangles come in the order of their tets, as those of a mesh just built do: what was refined and
 * restored between files gives the same soup. */
kiln_status kiln_refine_to_soup(const kiln_refiner *refiner, kiln_soup *soup, kiln_error *error);

/* Takes the field out of the soup; no words when there is none. KILN_ERR_INPUT for one that cannot
 * hold words. `place` is the file's name. */
kiln_status kiln_refine_words_from_soup(kiln_soup *soup, const char *place,
                                        kiln_refine_words *words, kiln_error *error);

/* Words for the live tets in order of number. Not inside a transaction or pass. What words say is
 * believed only as far as the mesh agrees, so wrong ones do no harm. */
kiln_status kiln_refiner_set_words(kiln_refiner *refiner, const kiln_refine_words *words,
                                   kiln_error *error);

#endif
