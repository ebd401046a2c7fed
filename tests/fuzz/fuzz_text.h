/* What the fuzz target for texts is made of. */
#ifndef DOPPEL_TESTS_FUZZ_TEXT_H
#define DOPPEL_TESTS_FUZZ_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** libFuzzer's entry. The first byte: four bits of options, two of format, two of CPU. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
