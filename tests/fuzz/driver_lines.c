/* Fuzz targets of lines without libFuzzer: changed lines, the same on every run. With a number, so
 * many. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

enum { INPUTS = 60000, MOST_BYTES = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char alphabet[] = "{}[]:,\"\\\n 01-.eE9afz=/\xFF\xC3";

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

int main(int argument_count, char **arguments)
{
    unsigned long inputs = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : INPUTS;
    uint64_t state = 42;
    size_t seeds = 0;
    while (line_seeds[seeds])
        seeds++;
    for (unsigned long i = 0; i < inputs; i++) {
        const char *seed = line_seeds[next(&state) % seeds];
        size_t size = strlen(seed);
        uint8_t *data = malloc(MOST_BYTES); /* of its own, so that a reader beyond it is seen */
        if (!data)
            return 1;
        memcpy(data, seed, size);
        for (uint64_t changes = next(&state) % 4; changes; changes--)
            data[next(&state) % size] = (uint8_t)alphabet[next(&state) % (sizeof alphabet - 1)];
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
