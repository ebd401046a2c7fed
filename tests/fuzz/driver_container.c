/* The targets of recordings and videos without libFuzzer: mutants that are the same on every run.
 * `--seeds DIR` writes the files instead, as a first corpus for the real fuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_container.h"
#include "audio_mutants.h"

enum { MUTATIONS = 20 };

static void write_seed(const char *folder, size_t index, const struct file *seed)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%02zu", folder, index);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(seed->data, 1, seed->size, out) != seed->size || fclose(out)) {
        perror(path);
        exit(1);
    }
}

static void run_mutants(const struct file *seed, uint64_t *random)
{
    for (int i = 0; i < MUTATIONS; i++) {
        struct file mutant = file_mutant(seed, random);
        LLVMFuzzerTestOneInput(mutant.data, mutant.size);
        file_free(&mutant);
    }
}

int main(int argument_count, char **arguments)
{
    struct file seeds[FUZZ_SEEDS];
    size_t count = fuzz_seeds(seeds);
    uint64_t random = 42;
    bool writes = argument_count == 3 && !strcmp(arguments[1], "--seeds");
    for (size_t i = 0; i < count; i++) {
        if (writes)
            write_seed(arguments[2], i, &seeds[i]);
        else
            run_mutants(&seeds[i], &random);
        file_free(&seeds[i]);
    }
    printf("%zu seeds, %d mutations of each\n", count, MUTATIONS);
    return 0;
}
