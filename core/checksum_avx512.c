/* XXH3 with AVX-512: see checksum_avx2.c. */
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX512
#include <xxhash.h>

#include "core/checksum_kernels.h"

uint64_t checksum64_avx512(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

void digest_add_avx512(void *state, const void *data, size_t bytes)
{
    XXH3_128bits_update(state, data, bytes);
}
