/* XXH3-64 with AVX2: xxHash's own, compiled for it; Debian's library has SSE2 alone. */
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

#include "core/checksum_kernels.h"

uint64_t checksum64_avx2(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}
