/* The gate with the POPCNT that comes with AVX2. */
#include "image/gate_loop.h"

bool gate_avx2(const struct doppel_image_gate *gate, const struct doppel_image_codes *a,
               const struct doppel_image_codes *b)
{
    return gate_loop(gate, a, b, turn_each, count_turns);
}
