#include "solve/blas.h"

#include "base/simd.h"

#include <dlfcn.h>
#include <openblas-pthread/cblas.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The state of the process's BLAS; it cannot belong to a context. Written once. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static kiln_blas_state state;
static int (*get_active_levels)(void);
static void (*set_active_levels)(int);

static void copy_name(char *to, size_t size, const char *from)
{
    size_t length = from ? strlen(from) : 0;
    length = length < size ? length : size - 1;
    if (length)
        memcpy(to, from, length);
    to[length] = 0;
}

/* Kernels without AVX2. */
static bool is_old_kernel(const char *name)
{
    static const char *const old[] = {"Prescott",    "Core2",     "Penryn",     "Dunnington",
                                      "Nehalem",     "Athlon",    "Opteron",    "Opteron_SSE3",
                                      "Barcelona",   "Bobcat",    "Atom",       "Nano",
                                      "Sandybridge", "Bulldozer", "Piledriver", "Steamroller",
                                      "Katmai",      "Banias",    "Coppermine", "Northwood"};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (strcmp(name, old[i]) == 0)
            return true;
    return false;
}

/* ISO C has no conversion from void * to a function. */
typedef void (*plain_function)(void);
static plain_function find_function(void *library, const char *name)
{
    void *address = library ? dlsym(library, name) : NULL;
    plain_function function = NULL;
    memcpy(&function, &address, sizeof function);
    return function;
}

static void choose_kernel_again(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY);
    plain_function quit = find_function(library, "gotoblas_dynamic_quit");
    plain_function init = find_function(library, "gotoblas_dynamic_init");
    if (!quit || !init) {
        state.note = "slow kernel, cannot be corrected: set OPENBLAS_CORETYPE";
    } else {
        setenv("OPENBLAS_CORETYPE", kiln_isa_best() == KILN_ISA_AVX512 ? "SkylakeX" : "Haswell", 1);
        quit();
        init();
        unsetenv("OPENBLAS_CORETYPE");
        copy_name(state.kernel, sizeof state.kernel, openblas_get_corename());
        state.note = is_old_kernel(state.kernel)
                         ? "slow kernel, not corrected: set OPENBLAS_CORETYPE"
                         : "corrected";
    }
    if (library)
        dlclose(library);
}

static void prepare(void)
{
    copy_name(state.found, sizeof state.found, openblas_get_corename());
    copy_name(state.kernel, sizeof state.kernel, state.found);
    state.note = "as it should be";
    if (getenv("OPENBLAS_CORETYPE"))
        state.note = "as OPENBLAS_CORETYPE says";
    else if (kiln_isa_best() != KILN_ISA_SCALAR && is_old_kernel(state.found))
        choose_kernel_again();

    /* Stays open: the two functions are used as long as the process lives. */
    void *openmp = dlopen("libgomp.so.1", RTLD_LAZY);
    plain_function get = find_function(openmp, "omp_get_max_active_levels");
    plain_function set = find_function(openmp, "omp_set_max_active_levels");
    memcpy(&get_active_levels, &get, sizeof get);
    memcpy(&set_active_levels, &set, sizeof set);
}

const kiln_blas_state *kiln_blas_prepare(void)
{
    pthread_once(&once, prepare);
    return &state;
}

/* What OpenBLAS asks for (0.3.21: 128 MiB and a page), and some for the pages that tell of it. */
#define WORK_BUFFER ((size_t)132 << 20)

kiln_status kiln_blas_reserve(kiln_error *error)
{
    static atomic_bool has_buffer;
    kiln_blas_prepare();
    if (atomic_load(&has_buffer))
        return KILN_OK;
    /* Looked at, or the compiler leaves out the pair. */
    char *volatile room = malloc(WORK_BUFFER);
    if (!room)
        return kiln_fail_memory(error, WORK_BUFFER);
    free(room);
    double one = 1.0;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, 1, 1, 1.0, &one, 1, 0.0, &one, 1);
    atomic_store(&has_buffer, true);
    return KILN_OK;
}

void kiln_blas_set_threads(int threads)
{
    kiln_blas_prepare();
    if (openblas_get_num_threads() != threads)
        openblas_set_num_threads(threads);
}

int kiln_openmp_begin_serial(void)
{
    kiln_blas_prepare();
    if (!get_active_levels || !set_active_levels)
        return -1;
    int before = get_active_levels();
    set_active_levels(0);
    return before;
}

void kiln_openmp_end_serial(int before)
{
    if (before >= 0)
        set_active_levels(before);
}
