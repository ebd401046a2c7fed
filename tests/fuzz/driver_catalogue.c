/* The fuzz target for catalogues without libFuzzer: changes at random. */
#include "inputs.h"

enum { INPUTS = 60, CHANGE = 6, MOST_CHANGES = 12 };

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        uint8_t input[CHANGE * MOST_CHANGES];
        for (size_t at = 0; at < sizeof input; at++)
            input[at] = (uint8_t)(inputs_random(&inputs) >> 23);
        inputs_use(&inputs, input, CHANGE * (1 + i % MOST_CHANGES));
    }
    return 0;
}
