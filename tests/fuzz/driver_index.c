/* The fuzz target for segments without libFuzzer: inputs at random. */
#include "inputs.h"

enum { INPUTS = 600, HEAD = 2, CHANGE = 8, CHANGES_MAX = 4 };

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        uint8_t input[HEAD + CHANGE * CHANGES_MAX];
        for (size_t at = 0; at < sizeof input; at++)
            input[at] = (uint8_t)(inputs_random(&inputs) >> 23);
        inputs_use(&inputs, input, HEAD + CHANGE * (i % (CHANGES_MAX + 1)));
    }
    return 0;
}
