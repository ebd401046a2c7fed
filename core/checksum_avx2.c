/* XXH3 with AVX2: xxHash's own, compiled for it; Debian's library has SSE2 alone. */
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

#include "core/checksum_kernels.h"

uint64_t checksum64_avx2(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

void digest_add_avx2(void *state, const void *data, size_t bytes)
{
    XXH3_128bits_update(state, data, bytes);
}
