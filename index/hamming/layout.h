/* How many chunks of how many bits, and how large the slots: what a search is expected to cost. */
#ifndef DOPPEL_INDEX_HAMMING_LAYOUT_H
#define DOPPEL_INDEX_HAMMING_LAYOUT_H

#include "index/hamming/table.h"

/** The shape that is fastest around the design radius for `count` uniform codes, within a budget of
 * memory. */
struct hamming_shape hamming_layout(const struct hamming_options *options, uint64_t count);

#endif
