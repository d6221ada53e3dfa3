/* One row per suite: name, function (in bench_<name>.c). */
KILN_BENCH_SUITE(linalg, "signed 3x3 SVD, symmetric 3x3 functions")
KILN_BENCH_SUITE(quality, "tet quality, scalar and batched")
KILN_BENCH_SUITE(space, "tet overlap volumes, box tree, curve order")
KILN_BENCH_SUITE(replace, "replace a cavity: commit, refuse, roll back")
KILN_BENCH_SUITE(predicates, "exact orient3d, insphere, triangle overlap")
KILN_BENCH_SUITE(files, "reading and writing mesh files")
KILN_BENCH_SUITE(frames, "writing and reading simulation frames (.vtu)")
KILN_BENCH_SUITE(store, "file to usable mesh, memory, audit")
