/* Fronts of doubles, of matrices with a negative pivot in every fourth column. */
#define REAL    double
#define VECTOR  kiln_vd
#define LANES   KILN_VD_LANES
#define LOAD    kiln_vd_load
#define STORE   kiln_vd_store
#define SET     kiln_vd_set
#define FMA     kiln_vd_fma
#define FNMA    kiln_vd_fnma
#define ROOT    sqrt
#define LARGEST 1e300
#define SIGNED  1
#define ROUNDED 0
#define KERNELS KILN_SIMD(kiln_front_signed_double)
#if defined(KILN_SIMD_AVX512)
enum { TALL = 3, WIDE = 8 };
#elif defined(KILN_SIMD_AVX2)
enum { TALL = 1, WIDE = 4 };
#else
enum { TALL = 1, WIDE = 2 };
#endif
#include "solve/front_kernels.h"
