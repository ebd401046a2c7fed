/* Pictures that are unrelated items to each other, drawn quickly. */
#ifndef TESTS_BENCH_NOISE_H
#define TESTS_BENCH_NOISE_H

#include "demo/draw.h"

/* Grey noise in cells of 7 pixels, interpolated, over all of a picture of at most NOISE_SIDE pixels
 * a side. @param state not 0; the picture is the same for the same one, which moves on */
enum { NOISE_SIDE = 256 };
void noise_draw(struct image *image, uint64_t *state);

#endif
