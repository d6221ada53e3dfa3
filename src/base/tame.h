/* Texts of others on a terminal. */
#ifndef KILN_BASE_TAME_H
#define KILN_BASE_TAME_H

/* In place: control characters but line ends and tabs become '?', so that what comes from scenes
 * and damaged files tells a terminal nothing. */
void kiln_text_tame(char *text);

#endif
