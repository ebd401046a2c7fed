/* What a fuzz target is called with where there is no libFuzzer: inputs that are the same on every
 * run. With `--seeds FOLDER` they are written instead, as a first corpus for the real fuzzer. */
#ifndef DOPPEL_TESTS_FUZZ_INPUTS_H
#define DOPPEL_TESTS_FUZZ_INPUTS_H

#include <stddef.h>
#include <stdint.h>

/** libFuzzer's entry; each target has one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What some targets do before the first input. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argument_count, char ***arguments);

struct inputs {
    unsigned long count; /* how many to make */
    uint64_t state;      /* of inputs_random */
    const char *folder;  /* where they are written; NULL: the target reads them */
    unsigned long used;
};

/** By the arguments `[COUNT [STATE]]` or `--seeds FOLDER`. */
struct inputs inputs_begin(int argument_count, char **arguments, unsigned long count);

/** 31 bits. */
uint32_t inputs_random(struct inputs *inputs);

/** Reads or writes one. DOPPEL_FUZZ_LOUD in the environment has its number printed. */
void inputs_use(struct inputs *inputs, const uint8_t *data, size_t size);

#endif
