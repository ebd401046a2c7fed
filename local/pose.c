/* Points of fingerprints, and the similarity transforms that pairs of them tell. */
#include "local/pose.h"

#include <math.h>
#include <stdlib.h>

bool pose_points_make(const struct doppel_fingerprint *fingerprint, bool mirrored,
                      struct pose_points *out)
{
    const uint32_t count =
        fingerprint->count < DOPPEL_LOCAL_POINTS ? fingerprint->count : DOPPEL_LOCAL_POINTS;
    struct pose_point *points = malloc((count + (size_t)1) * sizeof *points);
    if (!points)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct point_place place = unpack_place(fingerprint->positions[i]);
        const struct doppel_code *code = &fingerprint->codes[i];
        points[i] = (struct pose_point){place.x,     place.y,     scale_sigma(place.scale),
                                        place.scale, place.angle, *code};
        if (!mirrored)
            continue;
        points[i].x = -points[i].x;
        points[i].angle = (POSITION_ANGLES / 2 - place.angle) & (POSITION_ANGLES - 1);
        points[i].code = code_mirror(code);
    }
    *out = (struct pose_points){points, count};
    return true;
}

struct pose pose_of_points(const struct pose_point *query, const struct pose_point *item)
{
    double cosine, sine, ratio = query->sigma / item->sigma;
    angle_vector(query->angle - item->angle, &cosine, &sine);
    struct pose pose = {.a = ratio * cosine, .b = ratio * sine};
    pose.dx = query->x - (pose.a * item->x - pose.b * item->y);
    pose.dy = query->y - (pose.b * item->x + pose.a * item->y);
    return pose;
}

int32_t pose_scale(const struct pose *pose)
{
    double ratio = sqrt(pose->a * pose->a + pose->b * pose->b);
    return ratio >= 1 ? scale_nearest(ratio) : -scale_nearest(1 / ratio);
}

int32_t pose_angle(const struct pose *pose)
{
    int32_t best = 0;
    double most = -INFINITY;
    for (int32_t angle = 0; angle < POSITION_ANGLES; angle++) {
        double cosine, sine;
        angle_vector(angle, &cosine, &sine);
        double product = pose->a * cosine + pose->b * sine;
        best = product > most ? angle : best;
        most = product > most ? product : most;
    }
    return best;
}

void pose_fit_add(struct pose_fit *fit, const struct pose_point *query,
                  const struct pose_point *item)
{
    fit->count++;
    fit->qx += query->x;
    fit->qy += query->y;
    fit->ix += item->x;
    fit->iy += item->y;
    fit->ii += item->x * item->x + item->y * item->y;
    fit->qi += query->x * item->x + query->y * item->y;
    fit->cross += query->y * item->x - query->x * item->y;
}

bool pose_fit_solve(const struct pose_fit *fit, struct pose *out)
{
    double n = fit->count;
    double spread = n * fit->ii - fit->ix * fit->ix - fit->iy * fit->iy;
    if (!(spread > 0))
        return false;
    double a = (n * fit->qi - fit->qx * fit->ix - fit->qy * fit->iy) / spread;
    double b = (n * fit->cross - fit->qy * fit->ix + fit->qx * fit->iy) / spread;
    *out = (struct pose){a, b, (fit->qx - a * fit->ix + b * fit->iy) / n,
                         (fit->qy - b * fit->ix - a * fit->iy) / n};
    return a != 0 || b != 0;
}
