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

enum { NEAREST = 24 };

/** Everything about one half. */
struct half {
    bool held;
    struct strangers strangers;
    struct finding *findings; /**< subject × edit; those of the other half are zero */
    uint64_t rich_pairs;      /**< unrelated, both of quality 100 */
    uint64_t class_count[JUDGE_CLASSES][JUDGE_SCORE_MAX + 1]; /**< those by best score */
    uint64_t registered_count[JUDGE_SCORE_MAX + 1];           /**< of the borderline ones */
    struct near_pair nearest[NEAREST];                        /**< one of a pair of originals */
};

/** Note the pairs of originals that show the same thing, which are no unrelated items, in n × n
 * flags. */
void find_variants(const struct collection *list, bool *variants);

/** The same for those that a file lists: two names a line, a tab between. False if there is none.
 */
bool read_variants(const struct collection *list, const char *path, bool *variants);

struct rate_options {
    unsigned jobs;
    const struct calibration *calibration; /**< by which RULE_VIEWS and RULE_PIXELS judge */
    double limit;                          /**< the strength that rate_alike counts from */
};

/** Judge all pairs of one half. */
void rate_half(const struct collection *list, const bool *variants,
               const struct rate_options *options, struct half *half);

/** How near two pictures are, neither of which need be an original, by each rule. */
void judge_strengths(const struct doppel_image_features *query,
                     const struct doppel_image_features *item,
                     const struct calibration *calibration, double strength[RULES]);

/** What is looked at: each with all before it. */
enum tier { TIER_FULL, TIER_TRIMMED, TIER_CROPS, TIER_TURNED, TIER_PIXELS, TIERS };

/** The same, by each tier. */
void judge_tiers(const struct doppel_image_features *query,
                 const struct doppel_image_features *item, double strength[TIERS]);

/** What came of an edit made alike of all pictures of the held half. */
struct alike_count {
    uint64_t pairs, false_pairs[RULES];
};

/** Compare every held picture, edited, with the others edited alike; alike_count counts. */
void rate_alike(const struct collection *list, const bool *variants,
                const struct rate_options *options, struct alike_count *counts);

/** Class curves, and the pixels' curve, from the unrelated items of a half; tails are extended in a
 * straight line. */
void calibrate_classes(const struct half *half, struct calibration *out);
void calibrate_pixels(const struct half *half, struct calibration *out);

/** The lowest strength that at most `rate` of the unrelated items reach. */
double limit_at(const struct strangers *strangers, enum rule rule, double rate);
/** The share of unrelated items that reach a strength. */
double rate_at(const struct strangers *strangers, enum rule rule, double strength);

#endif
