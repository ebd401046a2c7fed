/* Which points of a picture are met again, and look the same, where it is shown smaller. */
#include <stdlib.h>

#include "core/try.h"
#include "local/local_internal.h"

enum {
    SMALLER_NUMERATOR = 3, /* of the longer side */
    SMALLER_DENOMINATOR = 4,
    ANGLE_SLACK = 7,
    SURE_DISTANCE = 10, /* bits in which points differ that are not weighed less */
    LOST_DISTANCE = 60, /* as which what is not met counts */
    MOST_LOOKED_FOR = 320
};

static const float LEAST_RATIO = .59f, MOST_RATIO = 1.7f; /* of sigma to where it should be */

static const float SHARE_OF_A_BIT = .951229f; /* e to the power of -1/20 */

static int compare_blob_rows(const void *a, const void *b)
{
    const struct blob *left = a, *right = b;
    if (left->y != right->y)
        return left->y > right->y ? 1 : -1;
    return (left->x > right->x) - (left->x < right->x);
}

/* The first blob of some in order of rows that lies at a height or below it. */
static size_t first_below(const struct blob_list *blobs, float y)
{
    size_t from = 0, to = blobs->count;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (blobs->items[middle].y < y)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint32_t angles_apart(uint32_t a, uint32_t b)
{
    const uint32_t apart = (a - b) & (POSITION_ANGLES - 1);
    return apart <= POSITION_ANGLES / 2 ? apart : POSITION_ANGLES - apart;
}

/* A picture that is smaller, with its blobs in order of rows. */
struct smaller_picture {
    struct scales scales;
    struct blob_list blobs;
    float ratio; /* of its lengths to the picture's */
};

static bool could_be_same(const struct blob *expected, const struct blob *blob)
{
    const float near = 1 + .8f * blob->sigma, ratio = blob->sigma / expected->sigma;
    const float x = blob->x - expected->x, y = blob->y - expected->y;
    return ratio >= LEAST_RATIO && ratio <= MOST_RATIO && x * x + y * y <= near * near;
}

/* In how many bits the nearest point differs that is where and as large as this one should be. */
static uint32_t distance_of_nearest(struct smaller_picture *smaller, const struct blob *blob)
{
    struct blob expected = *blob;
    uint32_t least = LOST_DISTANCE;
    expected.x = (blob->x + .5f) * smaller->ratio - .5f;
    expected.y = (blob->y + .5f) * smaller->ratio - .5f;
    expected.sigma = blob->sigma * smaller->ratio;
    const float reach = 1 + .8f * MOST_RATIO * expected.sigma;
    for (size_t i = first_below(&smaller->blobs, expected.y - reach);
         i < smaller->blobs.count && smaller->blobs.items[i].y <= expected.y + reach; i++) {
        struct blob *other = &smaller->blobs.items[i];
        if (!could_be_same(&expected, other))
            continue;
        if (!other->described)
            blob_describe(&smaller->scales, other);
        const uint32_t distance = point_distance(&blob->code, &other->code);
        if (angles_apart(blob->angle, other->angle) <= ANGLE_SLACK && distance < least)
            least = distance;
    }
    return least;
}

static float steadiness(uint32_t distance)
{
    float out = 1;
    for (uint32_t i = SURE_DISTANCE; i < distance; i++)
        out *= SHARE_OF_A_BIT;
    return out;
}

enum doppel_status blobs_weigh(const struct doppel_plane *plane, const struct scales *scales,
                               struct blob_list *blobs, struct doppel_error *error)
{
    const struct scale_octave *first = scales->octaves;
    const uint32_t longer = first->width > first->height ? first->width : first->height;
    struct smaller_picture smaller = {.ratio = (float)SMALLER_NUMERATOR / SMALLER_DENOMINATOR};
    enum doppel_status status;
    TRY(scales_make(plane, longer * SMALLER_NUMERATOR / SMALLER_DENOMINATOR, &smaller.scales,
                    error));
    if (!blobs_find(&smaller.scales, &smaller.blobs))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture"));
    if (smaller.blobs.count)
        qsort(smaller.blobs.items, smaller.blobs.count, sizeof *smaller.blobs.items,
              compare_blob_rows);
    for (size_t i = 0; i < blobs->count; i++)
        blobs->items[i].worth *= steadiness(
            i < MOST_LOOKED_FOR ? distance_of_nearest(&smaller, &blobs->items[i]) : LOST_DISTANCE);
    status = DOPPEL_OK;
done:
    free(smaller.blobs.items);
    scales_free(&smaller.scales);
    return status;
}
