/* What Stellar 1.0 (V/l^3 objective) and Mmg 5.8 (-optim) made of meshes of the shared data,
 * measured on this kind of machine, one thread (docs/improve.md). */
#ifndef KILN_BENCH_RECORDED_H
#define KILN_BENCH_RECORDED_H

typedef struct kiln_recorded_figures {
    double seconds;   /* CPU */
    double low, high; /* dihedral angles, degrees */
    double q;         /* worst */
    double tets;
} kiln_recorded_figures;

typedef struct kiln_recorded {
    double tets; /* of the input */
    kiln_recorded_figures stellar, mmg;
} kiln_recorded;

extern const kiln_recorded kiln_recorded_random_cube, kiln_recorded_ball, kiln_recorded_twisted_bar,
    kiln_recorded_animal;
/* Stellar did not finish in 15 minutes; its angles and worst q are those of the small one. */
extern const kiln_recorded kiln_recorded_large_cube;

#endif
