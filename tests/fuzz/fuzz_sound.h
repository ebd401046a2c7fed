/* The entry of the target of sounds, for its driver. */
#ifndef DOPPEL_TESTS_FUZZ_SOUND_H
#define DOPPEL_TESTS_FUZZ_SOUND_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
