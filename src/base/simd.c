#include "base/simd.h"

static const char *const names[KILN_ISA_COUNT] = {"scalar", "avx2", "avx512"};

static bool machine_has(kiln_isa isa)
{
#if defined(__x86_64__)
    if (isa == KILN_ISA_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (isa == KILN_ISA_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == KILN_ISA_SCALAR;
}

kiln_isa kiln_isa_best(void)
{
    return machine_has(KILN_ISA_AVX512) ? KILN_ISA_AVX512
           : machine_has(KILN_ISA_AVX2) ? KILN_ISA_AVX2
                                        : KILN_ISA_SCALAR;
}

bool kiln_isa_parse(const char *name, kiln_isa *isa)
{
    for (int i = 0; i < KILN_ISA_COUNT; i++)
        if (strcmp(name, names[i]) == 0 && machine_has((kiln_isa)i)) {
            *isa = (kiln_isa)i;
            return true;
        }
    return false;
}

const char *kiln_isa_name(kiln_isa isa)
{
    return names[isa];
}
