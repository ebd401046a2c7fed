/* Points of two pictures, and similarity transforms between them. */
#ifndef DOPPEL_LOCAL_POSE_H
#define DOPPEL_LOCAL_POSE_H

#include "local/local_internal.h"

/* A point as it is compared; lengths in units of a position. */
struct pose_point {
    double x, y, sigma;
    int32_t scale, angle;
    struct doppel_code code;
};

struct pose_points {
    struct pose_point *items; /* given (free) */
    size_t count;
};

/** The first DOPPEL_LOCAL_POINTS of a fingerprint. @param mirrored of the mirrored picture, whose x
 * goes from 0 down. False without memory */
bool pose_points_make(const struct doppel_fingerprint *fingerprint, bool mirrored,
                      struct pose_points *out);

/* From the item to the query: x' = a x - b y + dx, y' = b x + a y + dy. */
struct pose {
    double a, b, dx, dy;
};

/** The one that one pair of points tells. */
struct pose pose_of_points(const struct pose_point *query, const struct pose_point *item);

/** Its scale as a position's, and its angle, as differences of the query's less the item's. */
int32_t pose_scale(const struct pose *pose);
int32_t pose_angle(const struct pose *pose);

static inline double pose_error2(const struct pose *pose, const struct pose_point *query,
                                 const struct pose_point *item)
{
    double x = pose->a * item->x - pose->b * item->y + pose->dx - query->x;
    double y = pose->b * item->x + pose->a * item->y + pose->dy - query->y;
    return x * x + y * y;
}

/* Sums for the one that fits pairs best. */
struct pose_fit {
    double count, qx, qy, ix, iy, ii, qi, cross;
};

void pose_fit_add(struct pose_fit *fit, const struct pose_point *query,
                  const struct pose_point *item);
/** False when the item's points lie on one place. */
bool pose_fit_solve(const struct pose_fit *fit, struct pose *out);

#endif
