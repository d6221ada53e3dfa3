/* Stand-ins for operators that have not landed: whoever lands one deletes its stand-in here (and
 * the last one the file). */
#include "remesh/contract.h"
#include "remesh/insert.h"
#include "remesh/smooth.h"
bool kiln_face_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                   uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                                   uint32_t corner_c, const kiln_contraction_limits *limits,
                                   kiln_proposal *out)
{
    (void)remesher;
    (void)workspace;
    (void)tet;
    (void)corner_a;
    (void)corner_b;
    (void)corner_c;
    (void)limits;
    (void)out;
    return false;
}
bool kiln_tet_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                  uint32_t tet, uint32_t corner_d,
                                  const kiln_contraction_limits *limits, kiln_proposal *out)
{
    (void)remesher;
    (void)workspace;
    (void)tet;
    (void)corner_d;
    (void)limits;
    (void)out;
    return false;
}
const kiln_insertion_effort kiln_insertion_usual, kiln_insertion_hard;
bool kiln_insertion_compound(kiln_remesher *remesher, uint32_t tet,
                             const kiln_insertion_effort *effort)
{
    (void)remesher;
    (void)tet;
    (void)effort;
    return false;
}
