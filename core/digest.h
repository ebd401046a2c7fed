/* Checksums for the rooms, which do not see xxHash themselves. */
#ifndef DOPPEL_CORE_DIGEST_H
#define DOPPEL_CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/** XXH3-64 of `bytes` bytes. Thread-safe. Source: xxHash, seed 0. */
uint64_t checksum64(const void *data, size_t bytes);

#endif
