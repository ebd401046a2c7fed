/* Fuzz targets of lines without libFuzzer: the seeds, and changes of them. */
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "lines.h"

enum { INPUTS = 60000, MOST_BYTES = 2048 };

static const char alphabet[] = "{}[]:,\"\\\n 01-.eE9afz=/\xFF\xC3";

static void use_line(struct inputs *inputs, const char *seed, uint32_t changes)
{
    size_t size = strlen(seed);
    uint8_t *data = malloc(MOST_BYTES); /* of its own, so that a reader beyond it is seen */
    if (!data)
        abort();
    memcpy(data, seed, size);
    for (; changes; changes--) {
        size_t at = inputs_random(inputs) % size;
        data[at] = (uint8_t)alphabet[inputs_random(inputs) % (sizeof alphabet - 1)];
    }
    inputs_use(inputs, data, size);
    free(data);
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    size_t seeds = 0;
    for (; line_seeds[seeds]; seeds++)
        use_line(&inputs, line_seeds[seeds], 0);
    while (inputs.used < inputs.count) {
        const char *seed = line_seeds[inputs_random(&inputs) % seeds];
        use_line(&inputs, seed, inputs_random(&inputs) % 4);
    }
    return 0;
}
