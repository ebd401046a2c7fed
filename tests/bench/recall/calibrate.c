/* From counts of unrelated items to curves. */
#include "rates.h"

#include <math.h>
#include <stdlib.h>

#include "edits.h"

#include "image/pixels.h"

/* A point of a curve needs this many unrelated items behind it; beyond, the curve goes on straight.
 */
enum { ENOUGH = 20, PLENTY = 30 * ENOUGH };

/* What a tail falls by for each bin where unrelated items are too few to tell, and between which it
 * may.
 */
static const double DEFAULT_SLOPE = .08, MIN_SLOPE = .05, MAX_SLOPE = .12;

/* Unrelated items that are candidates at all score less than this. */
enum { CANDIDATE_SCORE = 180 };

/** Where a rising count first reaches `wanted`. */
static int first_with(const uint64_t *total, int bins, uint64_t wanted)
{
    int i = 0;
    while (i < bins && total[i] < wanted)
        i++;
    return i;
}

static double log_share(uint64_t count, uint64_t pairs)
{
    return log10((double)count / (double)pairs);
}

/** log10 of the rate at a bin of a rising cumulative count; `top` is where a tail without
 * unrelated items begins. */
static double tail_rate(const uint64_t *total, int bins, uint64_t pairs, int bin, int top)
{
    int known = first_with(total, bins, ENOUGH), steady = first_with(total, bins, PLENTY);
    if (known == bins)
        return log_share(ENOUGH, pairs) - DEFAULT_SLOPE * fmax(0, top - bin);
    if (bin >= known)
        return log_share(total[bin], pairs);
    double slope = DEFAULT_SLOPE;
    if (steady < bins)
        slope =
            (log_share(total[steady], pairs) - log_share(total[known], pairs)) / (steady - known);
    slope = fmax(MIN_SLOPE, fmin(MAX_SLOPE, slope));
    return log_share(total[known], pairs) - slope * (known - bin);
}

void calibrate_classes(const struct half *half, struct calibration *out)
{
    enum { BINS = JUDGE_SCORE_MAX + 1 };
    for (int class = 0; class < JUDGE_CLASSES; class ++) {
        uint64_t total[BINS], sum = 0;
        for (int i = 0; i < BINS; i++)
            total[i] = sum += half->class_count[class][i];
        for (int i = 0; i < CALIBRATION_POINTS; i++)
            out->log_rate[class][i] = (float)tail_rate(total, BINS, half->rich_pairs,
                                                       i * CALIBRATION_STEP, CANDIDATE_SCORE);
    }
}

void calibrate_pixels(const struct half *half, struct calibration *out)
{
    enum { BINS = JUDGE_SCORE_MAX + 1 };
    uint64_t total[BINS], sum = 0;
    for (int i = 0; i < BINS; i++)
        total[i] = sum += half->registered_count[i];
    for (int i = 0; i < CALIBRATION_POINTS; i++)
        out->pixels_log_rate[i] =
            (float)tail_rate(total, BINS, half->rich_pairs, i * CALIBRATION_STEP, CANDIDATE_SCORE);
}
