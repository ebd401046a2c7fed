/* Numbers, sizes and times as people type them. */
#ifndef DOPPEL_CORE_TEXT_VALUES_H
#define DOPPEL_CORE_TEXT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* All take the whole text or nothing: false, and *out untouched, for anything else or out of range.
 */

bool parse_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out);

/* "800", "64K", "1.5G", "2GiB", "10MB"; a unit is `step` (1000 or 1024) times the one before. */
bool parse_size(const char *text, uint64_t step, uint64_t *out);

/* "90" and "90s" seconds, "500ms", "2m", "1.5h" to milliseconds. */
bool parse_time(const char *text, uint32_t *out_ms);

/* A decimal number in the C locale, from `least` to `most`. */
bool parse_number(const char *text, double least, double most, double *out);

/* "0.9" or "90%". */
bool parse_share(const char *text, double *out);

/* A decimal number, also as "1e-6"; over 0 and at most 1. */
bool parse_rate(const char *text, double *out);

#endif
