/* Vertex insertion with a cavity chosen by quality (Klingner and Shewchuk 2007), and splits. */
#ifndef KILN_REMESH_INSERT_H
#define KILN_REMESH_INSERT_H

#include "remesh/proposal.h"

typedef struct kiln_insertion_limits {
    uint32_t depth;   /* of the cavity from the tets that must go */
    bool may_swallow; /* vertices inside the cavity may go */
} kiln_insertion_limits;

/* A vertex in the middle of 2, 3 or 4 corners of a tet (an edge, a face, the tet; on surface,
 * interface or feature where the corners are), and the cavity round it whose sorted qualities are
 * best. */
bool kiln_insertion_propose(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                            const uint32_t *corner, int corners,
                            const kiln_insertion_limits *limits, kiln_proposal *out);

/* The bare split: every tet that has the edge, face or tet becomes two, three or four. */
bool kiln_split_propose(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                        const uint32_t *corner, int corners, kiln_proposal *out);

/* How much the compound below spends. The reference is the worst tet that went. */
typedef struct kiln_insertion_effort {
    uint32_t depth;
    uint32_t repairs; /* of single tets after the insertion, at most */
    uint32_t spread;  /* tets that may be touched, each counted as often as it is */
    double gate;      /* given up if, with the vertex smoothed, the tets lack more than this times
                         their goal (see margin) in all */
    double margin;    /* tets are repaired until they are better than the reference by this: their
                         goal */
    bool everywhere;  /* all faces and edges are tried, not only the most promising */
} kiln_insertion_effort;
extern const kiln_insertion_effort kiln_insertion_usual, kiln_insertion_hard;

/* Inserts a vertex in the tet, its faces or its edges and improves what is round it; kept where the
 * sorted qualities of everything touched have become better, undone otherwise. The tets touched are
 * in remesher->changed. */
bool kiln_insertion_compound(kiln_remesher *remesher, uint32_t tet,
                             const kiln_insertion_effort *effort);

/* The same with the vertex in the middle of 2, 3 or 4 corners. */
bool kiln_insertion_compound_at(kiln_remesher *remesher, uint32_t tet, const uint32_t *corner,
                                int corners, const kiln_insertion_effort *effort);

#endif
