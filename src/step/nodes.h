/* Nodal pressure (fem/nodal_pressure.h) of single vertices: what a change of the mesh does to the
 * energy of the nodes that it touches. A node is a vertex within one material; its energy is that
 * of the mean of theta over its tets, so tets that stay where they are count where one at the same
 * vertex does not. */
#ifndef KILN_STEP_NODES_H
#define KILN_STEP_NODES_H

#include "step/patch.h"

/* Nodes that one change may touch; one that touches more is not made. */
enum { KILN_NODES_ROOM = 192 };

/* The nodes at some tets, and what all other tets at them bring. */
typedef struct kiln_nodes {
    size_t count;
    uint32_t vertex[KILN_NODES_ROOM], material[KILN_NODES_ROOM];
    kiln_node other[KILN_NODES_ROOM];
    kiln_node sum[KILN_NODES_ROOM]; /* with those that were put in the place of the tets */
} kiln_nodes;

/* A tet's part; adds nothing where its material has no nodal pressure. */
kiln_node kiln_node_of_tet(const kiln_patch_tet *tet, const kiln_vec3 x[4]);
void kiln_node_add(kiln_node *node, double times, const kiln_node *part);
/* U, U' and U'' of a node that has tets. */
void kiln_node_values(const kiln_local_objective *objective, const kiln_material *material,
                      const kiln_node *node, double u[3]);
double kiln_node_energy(const kiln_local_objective *objective, const kiln_material *material,
                        const kiln_node *node); /* J; 0: no tets */

/* Of a vertex in a material. False: no memory. */
bool kiln_objective_node(const kiln_local_objective *objective, kiln_walker *walker,
                         uint32_t vertex, uint32_t material, kiln_node *out);
/* Of all, J; INFINITY: no memory. */
double kiln_objective_nodal(const kiln_local_objective *objective);

/* `tets` are not the walker's. False: too many, or no memory. */
bool kiln_nodes_gather(kiln_nodes *nodes, const kiln_local_objective *objective,
                       kiln_walker *walker, const uint32_t *tets, size_t count);
/* Others in the place of those tets, one by one; false: one has a node that those have not. */
void kiln_nodes_clear(kiln_nodes *nodes);
bool kiln_nodes_put(kiln_nodes *nodes, const kiln_local_objective *objective,
                    const kiln_patch_tet *tet, const uint32_t vertex[4],
                    const kiln_patch_corner corner[4]);
double kiln_nodes_energy(const kiln_nodes *nodes, const kiln_local_objective *objective); /* J */
/* J, of the nodes at tets of the mesh as it is; INFINITY: it is not known. */
double kiln_nodes_sum(const kiln_local_objective *objective, kiln_walker *walker,
                      const uint32_t *tets, size_t count);

#endif
