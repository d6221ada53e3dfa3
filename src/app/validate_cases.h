/* One row per case: area, name, what it looks at. The function kiln_validate_<name> is in
 * validate_<area>.c. */
KILN_VALIDATION_CASE(geometry, predicates, "exact signs on coplanar and cospherical lattice points")
KILN_VALIDATION_CASE(geometry, matrices, "signed SVD, eigenvalues, logarithm, polar decomposition")
KILN_VALIDATION_CASE(geometry, clipping, "overlaps with a partition add up to the whole")
KILN_VALIDATION_CASE(mesh, boxes, "K(n) and KM(n): counts, volume, features")
KILN_VALIDATION_CASE(mesh, solids, "volumes of ball, cylinder and torus, and how they converge")
KILN_VALIDATION_CASE(operators, M1, "quality of known tets; every operator keeps the mesh")
KILN_VALIDATION_CASE(determinism, threads, "one thread or several: the same bits")
KILN_VALIDATION_CASE(determinism, rollback, "a change taken back leaves the same bits")
KILN_VALIDATION_CASE(determinism, renumbering, "compaction and reordering change numbers only")
KILN_VALIDATION_CASE(files, files, "write and read back: the same bits")
