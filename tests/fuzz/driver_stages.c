/* The fuzz target for the files of stages without libFuzzer: each file as it is, then changes at
 * random, most with checksums that fit. */
#include "inputs.h"

enum { INPUTS = 500, FILES = 9, HEAD = 2, CHANGE = 8, MOST_CHANGES = 3, OF_HEAD = 255 };

static void make_changes(struct inputs *inputs, uint8_t *input, size_t size)
{
    for (size_t at = 0; at < size; at++)
        input[at] = (uint8_t)(inputs_random(inputs) >> 23);
    for (size_t at = HEAD; at < size; at += CHANGE)
        if (inputs_random(inputs) % 8 == 0)
            input[at + 4] = OF_HEAD;
    if (inputs_random(inputs) % 4)
        input[1] |= 1;
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        uint8_t input[HEAD + CHANGE * MOST_CHANGES];
        const size_t changes = i < FILES ? 0 : 1 + i % MOST_CHANGES;
        make_changes(&inputs, input, HEAD + CHANGE * changes);
        input[0] = (uint8_t)i;
        inputs_use(&inputs, input, HEAD + CHANGE * changes);
    }
    return 0;
}
