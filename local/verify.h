/* Two pictures, point by point. */
#ifndef DOPPEL_LOCAL_VERIFY_H
#define DOPPEL_LOCAL_VERIFY_H

#include "local/pose.h"

/* Points by their angle: those of angle i are numbers[starts[i]] up to numbers[starts[i + 1]]. */
struct angle_order {
    uint32_t starts[POSITION_ANGLES + 1];
    uint32_t *numbers;
};

/* A query, as it is and mirrored. */
struct verify_query {
    struct pose_points sides[2];
    struct angle_order orders[2];
    double width, height; /* that its points take, from 0 */
};

/** @param out given (verify_query_free). False without memory */
bool verify_query_make(const struct doppel_fingerprint *fingerprint, bool mirrored,
                       struct verify_query *out);
void verify_query_free(struct verify_query *query);

/* What was voted for: differences of angle and scale, the query's less the item's. */
struct verify_hint {
    bool mirrored;
    int32_t angle, scale;             /* in units of a position */
    int32_t angle_range, scale_range; /* so far off is fine */
};

struct verify_found {
    double surprise; /* -ln of how likely so much is by chance; 0: nothing was met */
    struct doppel_local_verdict verdict;
};

/** @param out the better one of what was found and what it holds already. False without memory */
bool verify_points(const struct verify_query *query, const struct pose_points *item,
                   const struct verify_hint *hint, struct verify_found *out);

/** The rate of unrelated pairs with a surprise. */
double verify_rate(double surprise);

#endif
