/* The kernels for AVX-512 as any processor runs them: SIMDe's functions in place of instructions.
 */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define vector_kernels_avx512 vector_kernels_emulated
#include "vector/kernels_avx512.c"
