/* Stand-ins for operators that have not landed: whoever lands one deletes its stand-in here (and
 * the last one the file). */
#include "remesh/insert.h"
#include "remesh/smooth.h"
const kiln_insertion_effort kiln_insertion_usual, kiln_insertion_hard;
bool kiln_insertion_compound(kiln_remesher *remesher, uint32_t tet,
                             const kiln_insertion_effort *effort)
{
    (void)remesher;
    (void)tet;
    (void)effort;
    return false;
}
