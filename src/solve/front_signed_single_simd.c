/* Fronts of floats, of matrices with a negative pivot in every fourth column. */
#define REAL    float
#define VECTOR  kiln_vf
#define LANES   KILN_VF_LANES
#define LOAD    kiln_vf_load
#define STORE   kiln_vf_store
#define SET     kiln_vf_set
#define FMA     kiln_vf_fma
#define FNMA    kiln_vf_fnma
#define ROOT    sqrtf
#define LARGEST 1e30f
#define SIGNED  1
#define ROUNDED 1
#define KERNELS KILN_SIMD(kiln_front_signed_single)
#if defined(KILN_SIMD_AVX512)
enum { TALL = 3, WIDE = 8 };
#elif defined(KILN_SIMD_AVX2)
enum { TALL = 3, WIDE = 4 };
#else
enum { TALL = 1, WIDE = 4 };
#endif
#include "solve/front_kernels.h"
