/* Inputs of a fuzz target: read, or written. */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITTEN_AT_MOST = 300 };

struct inputs inputs_begin(int argument_count, char **arguments, unsigned long count)
{
    struct inputs inputs = {.count = count, .state = 42};
    if (argument_count == 3 && !strcmp(arguments[1], "--seeds")) {
        inputs.folder = arguments[2];
        inputs.count = count < WRITTEN_AT_MOST ? count : WRITTEN_AT_MOST;
        return inputs;
    }
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argument_count, &arguments);
    if (argument_count > 1)
        inputs.count = strtoul(arguments[1], NULL, 10);
    if (argument_count > 2)
        inputs.state = strtoull(arguments[2], NULL, 10);
    return inputs;
}

uint32_t inputs_random(struct inputs *inputs)
{
    inputs->state = inputs->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(inputs->state >> 33);
}

static void write_input(const struct inputs *inputs, const uint8_t *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%03lu", inputs->folder, inputs->used);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out)) {
        perror(path);
        exit(1);
    }
}

void inputs_use(struct inputs *inputs, const uint8_t *data, size_t size)
{
    if (getenv("DOPPEL_FUZZ_LOUD"))
        fprintf(stderr, "%lu\n", inputs->used);
    if (inputs->folder)
        write_input(inputs, data, size);
    else
        LLVMFuzzerTestOneInput(data, size);
    inputs->used++;
}
