/* Images compared: the thresholds of their codes, and the pixels where codes leave a doubt. */
#ifndef DOPPEL_COMPARE_IMAGE_H
#define DOPPEL_COMPARE_IMAGE_H

#include <stdbool.h>

#include <doppel/compare.h>
#include <doppel/library.h>
#include <doppel/match.h>

/* The thresholds of the options, else the defaults. */
struct doppel_match_options match_options_from(const struct doppel_compare_options *compare);

/* The rate of false matches of a query that is wanted. */
double images_rate_from(const struct doppel_compare_options *compare);

/* Whether two images match; `out` is filled also when they do not. */
bool images_match(const struct doppel_compare_options *compare, const struct doppel_record *a,
                  const struct doppel_record *b, struct doppel_match *out);

#endif
