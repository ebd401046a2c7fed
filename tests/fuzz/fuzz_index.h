/* What the fuzz target for segments is made of. */
#ifndef DOPPEL_TESTS_FUZZ_INDEX_H
#define DOPPEL_TESTS_FUZZ_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include <doppel/index.h>

/** Makes the segment files, before the first input. */
int LLVMFuzzerInitialize(int *argument_count, char ***arguments);

/** libFuzzer's entry. The first byte chooses a segment file, the second what is done with it, each
 * eight that follow change it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEDS_MAX = 24, SEED_QUERIES = 3, SEED_WORDS = 4 };

/* A good segment file and what was asked of it. */
struct seed {
    struct doppel_index_options options;
    uint8_t *bytes;
    size_t size;
    uint64_t queries[SEED_QUERIES * SEED_WORDS];
};

/** Make them, in a folder that is there. @return how many */
size_t make_seeds(const char *folder, struct seed seeds[SEEDS_MAX]);

/** Remove all files of a folder. */
void empty_folder(const char *folder);

#endif
