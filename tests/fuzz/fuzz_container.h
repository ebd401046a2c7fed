/* What the targets of recordings and videos have in common, for their driver. */
#ifndef DOPPEL_TESTS_FUZZ_CONTAINER_H
#define DOPPEL_TESTS_FUZZ_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct file;

enum { FUZZ_SEEDS = 32 }; /* at most */

/** Makes the files that are changed; each given (file_free). @return how many */
extern size_t (*const fuzz_seeds)(struct file *seeds);

#endif
