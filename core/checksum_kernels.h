/* Checksums and digests (digest.h) by instruction set: all give the same. */
#ifndef DOPPEL_CORE_CHECKSUM_KERNELS_H
#define DOPPEL_CORE_CHECKSUM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/** As checksum64. */
typedef uint64_t checksum_kernel(const void *data, size_t bytes);
checksum_kernel checksum64_portable, checksum64_avx2, checksum64_avx512;

/** Add bytes to xxHash's own state, an XXH3_state_t. */
typedef void digest_kernel(void *state, const void *data, size_t bytes);
digest_kernel digest_add_avx2, digest_add_avx512;

#endif
