/* Pictures scaled as editors scale them, and blurred. */
#ifndef BENCH_RECALL_FILTERS_H
#define BENCH_RECALL_FILTERS_H

#include "image.h"

enum filter { FILTER_BILINEAR, FILTER_BICUBIC, FILTER_LANCZOS, FILTERS };

/** The picture at another size; made smaller, the filter is as much wider. */
struct image image_filter(const struct image *in, int width, int height, enum filter filter);

/** Blurred by a Gaussian of so many pixels. */
struct image image_blur(const struct image *in, double sigma);

#endif
