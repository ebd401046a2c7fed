/* The fuzz target for catalogues without libFuzzer: changes at random, the same on every run. With
 * a number, so many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 60, CHANGE = 6, MOST_CHANGES = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argument_count, char **arguments)
{
    unsigned long inputs = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : INPUTS;
    uint64_t state = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 42;
    for (unsigned long i = 0; i < inputs; i++) {
        uint8_t input[CHANGE * MOST_CHANGES];
        for (size_t at = 0; at < sizeof input; at++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            input[at] = (uint8_t)(state >> 56);
        }
        if (getenv("DOPPEL_FUZZ_LOUD"))
            fprintf(stderr, "%lu\n", i);
        LLVMFuzzerTestOneInput(input, CHANGE * (1 + i % MOST_CHANGES));
    }
    printf("%lu inputs\n", inputs);
    return 0;
}
