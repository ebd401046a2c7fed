/* From fingerprints to rates: every edit against every original of its half. */
#ifndef BENCH_RECALL_RATES_H
#define BENCH_RECALL_RATES_H

#include "collect.h"

#include "image/judge.h"

/** Three ways to say how near two pictures are. */
enum rule { RULE_ONE_HASH, RULE_VIEWS, RULE_PIXELS, RULES };

/** How often unrelated pictures came out this near: strengths are -log10 of a rate (for one hash 64
 * less the distance), in hundredths. */
enum { STRENGTH_STEPS = 100, STRENGTH_BINS = 80 * STRENGTH_STEPS };

struct strangers {
    uint64_t pairs;
    uint64_t count[RULES][STRENGTH_BINS];
};

/** What came of an edit against its own original. */
struct finding {
    float strength[RULES];
    uint8_t distance64,
        distance256; /**< of the deciding views; of the full frames if there is none */
};

/** An unrelated pair that comes near. */
struct near_pair {
    double strength; /**< by RULE_VIEWS */
    const char *query, *edit, *item;
};

enum { NEAREST = 12 };

/** Everything about one half. */
struct half {
    bool held;
    struct strangers strangers;
    struct finding *findings; /**< subject × edit; those of the other half are zero */
    uint64_t class_count[JUDGE_CLASSES][JUDGE_SCORE_MAX + 1]; /**< unrelated pairs by best score */
    uint64_t agreement_count[PIXELS_BINS + 1];                /**< of the borderline ones */
    struct near_pair nearest[NEAREST];                        /**< one of a pair of originals */
};

/** Pairs of originals that show the same thing: no strangers. n × n flags. */
bool *find_variants(const struct collection *list);

struct rate_options {
    unsigned jobs;
    const struct calibration *calibration; /**< by which RULE_VIEWS and RULE_PIXELS judge */
};

/** Judge all pairs of one half. */
void rate_half(const struct collection *list, const bool *variants,
               const struct rate_options *options, struct half *half);

/** Class curves, and the pixels' curve, from the strangers of a half; tails are extended in a
 * straight line. */
void calibrate_classes(const struct half *half, struct calibration *out);
void calibrate_pixels(const struct half *half, struct calibration *out);

/** The lowest strength that at most `rate` of the strangers reach. */
double limit_at(const struct strangers *strangers, enum rule rule, double rate);
/** The share of strangers that reach a strength. */
double rate_at(const struct strangers *strangers, enum rule rule, double strength);

#endif
