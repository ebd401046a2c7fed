/* Reading the curves of a calibration; rates and similarities. */
#include "image/calibration.h"

#include <math.h>

#include <doppel/image.h>

/* Seven classes have seven chances to be near by accident. Each is allowed its share of the
 * strangers, as -log10: the most to pictures that were painted on, where the hard edits are
 * decided; turned pictures are turned and nothing else, mostly, and come out near enough with
 * little. The shares .03, .12, .25, .04, .04, .07 and .45 add up to one. */
static const double class_penalty[JUDGE_CLASSES] = {
    [JUDGE_FULL] = 1.523,        [JUDGE_TRIMMED] = .921,         [JUDGE_CROP] = .602,
    [JUDGE_FULL_TURNED] = 1.398, [JUDGE_TRIMMED_TURNED] = 1.398, [JUDGE_CROP_TURNED] = 1.155,
    [JUDGE_PARTS] = .347,
};

static double between(const float *curve, int last, double place)
{
    int i = place < last ? (int)place : last - 1;
    double share = fmin(place, last) - i;
    return curve[i] + share * (curve[i + 1] - curve[i]);
}

double calibration_log_rate(const struct calibration *calibration, enum judge_class class,
                            uint32_t score)
{
    double place = (double)score / CALIBRATION_STEP;
    return fmin(0, between(calibration->log_rate[class], CALIBRATION_POINTS - 1, place) +
                       class_penalty[class]);
}

double calibration_pixels_place(double agreement)
{
    const double most = .995;
    return atanh(fmax(0, fmin(most, agreement))) / atanh(most) * PIXELS_BINS;
}

double calibration_pixels_log_rate(const struct calibration *calibration, double agreement)
{
    return between(calibration->pixels_log_rate, PIXELS_BINS, calibration_pixels_place(agreement));
}

/* ---- similarity ---- */

/* Similarity is 1 - score / UNRELATED_SCORE of two full frames with the same rate: 1 for equal
 * codes, 0 where half of the bits differ. */
static const double UNRELATED_SCORE = 128 + 32 * JUDGE_FULL_WEIGHT;

double doppel_image_similarity_at(double false_positive_rate)
{
    const float *curve = calibration_builtin.log_rate[JUDGE_FULL];
    double log_rate = log10(false_positive_rate) - class_penalty[JUDGE_FULL];
    if (log_rate <= curve[0])
        return 1;
    for (int i = 1; i < CALIBRATION_POINTS; i++) {
        if (log_rate > curve[i])
            continue;
        double share = (log_rate - curve[i - 1]) / (curve[i] - curve[i - 1]);
        return fmax(0, 1 - (i - 1 + share) * CALIBRATION_STEP / UNRELATED_SCORE);
    }
    return 0;
}

double doppel_image_fpr_at(double similarity)
{
    double score = (1 - fmax(0, fmin(1, similarity))) * UNRELATED_SCORE;
    const float *curve = calibration_builtin.log_rate[JUDGE_FULL];
    double log_rate = between(curve, CALIBRATION_POINTS - 1, score / CALIBRATION_STEP);
    return fmin(1, pow(10, log_rate + class_penalty[JUDGE_FULL]));
}
