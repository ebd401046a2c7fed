/* Reading the curves of a calibration. */
#include "image/calibration.h"

#include <math.h>

/* Seven classes have seven chances to be near by accident. Each is allowed its share of the
 * unrelated items, as -log10: the most to pictures that were painted on, where the hard edits are
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

double calibration_pixels_log_rate(const struct calibration *calibration, uint32_t score)
{
    return between(calibration->pixels_log_rate, CALIBRATION_POINTS - 1,
                   (double)score / CALIBRATION_STEP);
}
