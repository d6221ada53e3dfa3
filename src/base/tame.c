#include "base/tame.h"

#include <stdbool.h>

void kiln_text_tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        bool wide = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f; /* C1 in UTF-8 */
        if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 127 || wide)
            *c = '?';
        if (wide)
            *++c = '?';
    }
}
