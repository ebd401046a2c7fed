/* The targets of recordings and videos without libFuzzer: mutants; the files themselves are the
 * seeds. */
#include <stdio.h>

#include "fuzz_container.h"
#include "audio_mutants.h"
#include "inputs.h"

enum { MUTATIONS = 20 };

static void run_mutants(struct inputs *inputs, const struct file *seed)
{
    for (int i = 0; i < MUTATIONS; i++) {
        struct file mutant = file_mutant(seed, &inputs->state);
        inputs_use(inputs, mutant.data, mutant.size);
        file_free(&mutant);
    }
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, 0);
    struct file seeds[FUZZ_SEEDS];
    size_t count = fuzz_seeds(seeds);
    for (size_t i = 0; i < count; i++) {
        if (inputs.folder)
            inputs_use(&inputs, seeds[i].data, seeds[i].size);
        else
            run_mutants(&inputs, &seeds[i]);
        file_free(&seeds[i]);
    }
    printf("%zu seeds, %d mutations of each\n", count, MUTATIONS);
    return 0;
}
