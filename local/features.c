/* A plane to its fingerprint; positions to points. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "local/local_internal.h"

/* 2^(i/4) for i = 0 to 3 */
static const double quarter_powers[4] = {1, 1.189207115002721, 1.4142135623730951,
                                         1.681792830507429};

double scale_sigma(int32_t scale)
{
    return quarter_powers[scale % 4] * (double)(1 << scale / 4);
}

int32_t scale_nearest(double sigma)
{
    int32_t scale = 0; /* up to 2^(1/8) times its sigma */
    while (scale + 1 < POSITION_SCALES && sigma > scale_sigma(scale) * 1.0905077326652577)
        scale++;
    return scale;
}

struct doppel_local_point doppel_local_point(uint32_t position)
{
    struct point_place place = unpack_place(position);
    return (struct doppel_local_point){.x = (place.x + .5) / POSITION_SIDE,
                                       .y = (place.y + .5) / POSITION_SIDE,
                                       .radius = scale_sigma(place.scale) * CODE_PATCH / 2 /
                                                 POSITION_SIDE,
                                       .angle = place.angle * 360.0 / POSITION_ANGLES};
}

/* ---- fingerprints ---- */

/* Points up to these numbers have ranks 0, 1, 2; others 3. */
static const size_t rank_ends[POSITION_RANKS - 1] = {DOPPEL_LOCAL_KEPT, 2 * DOPPEL_LOCAL_KEPT,
                                                     4 * DOPPEL_LOCAL_KEPT};

static uint32_t point_rank(size_t number)
{
    uint32_t rank = 0;
    while (rank < POSITION_RANKS - 1 && number >= rank_ends[rank])
        rank++;
    return rank;
}

struct coded_point {
    uint32_t position, number;
    struct doppel_code code;
};

static int compare_points(const void *a, const void *b)
{
    const struct coded_point *left = a, *right = b;
    if (left->position != right->position)
        return left->position < right->position ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

static int32_t share_of_side(double at, double longer)
{
    double share = at * POSITION_SIDE / longer;
    return share < 0 ? 0 : share >= POSITION_SIDE ? POSITION_SIDE - 1 : (int32_t)share;
}

static struct coded_point point_of_blob(const struct blob *blob, double longer)
{
    const struct point_place place = {
        share_of_side((double)blob->x + .5, longer), share_of_side((double)blob->y + .5, longer),
        scale_nearest((double)blob->sigma * POSITION_SIDE / longer), (int32_t)blob->angle};
    return (struct coded_point){.position = pack_place(place, 0), .code = blob->code};
}

enum { ALIKE_DISTANCE = 24 }; /* bits in which points differ that look the same */

/* Those that are kept are to look different: what looks like one of them goes to the end, since a
 * match counts one of the two.
 * @param scratch room for as many */
static void put_alike_last(struct coded_point *points, size_t count, struct coded_point *scratch)
{
    size_t first = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        bool alike = false;
        for (size_t k = 0; k < first && first < DOPPEL_LOCAL_KEPT && !alike; k++)
            alike = point_distance(&points[i].code, &points[k].code) <= ALIKE_DISTANCE;
        if (alike)
            scratch[last++] = points[i];
        else
            points[first++] = points[i];
    }
    memcpy(points + first, scratch, last * sizeof *points);
}

static void rank_points(struct coded_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        points[i].number = (uint32_t)i;
        points[i].position = pack_place(unpack_place(points[i].position), point_rank(i));
    }
}

static enum doppel_status points_of_blobs(const struct blob_list *blobs, double longer,
                                          struct doppel_fingerprint *out,
                                          struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_LOCAL);
    /* twice as many: the others are scratch */
    struct coded_point *points = malloc((2 * blobs->count + 1) * sizeof *points);
    struct doppel_fingerprint made = {0};
    enum doppel_status status;
    if (!points)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture"));
    TRY(doppel_fingerprint_make(scheme, DOPPEL_LOCAL_BITS, (uint32_t)blobs->count, &made, error));
    for (size_t i = 0; i < blobs->count; i++)
        points[i] = point_of_blob(&blobs->items[i], longer);
    put_alike_last(points, blobs->count, points + blobs->count);
    rank_points(points, blobs->count);
    qsort(points, blobs->count, sizeof *points, compare_points);
    for (size_t i = 0; i < blobs->count; i++) {
        made.codes[i] = points[i].code;
        made.positions[i] = points[i].position;
    }
    *out = made;
done:
    free(points);
    return status;
}

static enum doppel_status spread_blobs(const struct scale_octave *first, struct blob_list *blobs,
                                       struct doppel_error *error)
{
    if (!blobs_spread(blobs, first->width, first->height, DOPPEL_LOCAL_POINTS))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture");
    return DOPPEL_OK;
}

enum doppel_status doppel_local_features(const struct doppel_plane *plane,
                                         struct doppel_fingerprint *out, struct doppel_error *error)
{
    struct scales scales = {0};
    struct blob_list blobs = {0};
    enum doppel_status status;
    if (!plane->width || !plane->height)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a picture without pixels has no points");
    TRY(scales_make(plane, SCALES_SIDE, &scales, error));
    if (!blobs_find(&scales, &blobs))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture"));
    const struct scale_octave *first = scales.octaves;
    TRY(spread_blobs(first, &blobs, error));
    for (size_t i = 0; i < blobs.count; i++)
        blob_describe(&scales, &blobs.items[i]);
    if (blobs.count > DOPPEL_LOCAL_KEPT) {
        TRY(blobs_weigh(plane, &scales, &blobs, error));
        TRY(spread_blobs(first, &blobs, error));
    }
    TRY(points_of_blobs(&blobs, first->width > first->height ? first->width : first->height, out,
                        error));
done:
    free(blobs.items);
    scales_free(&scales);
    return status;
}

void doppel_local_keep(struct doppel_fingerprint *fingerprint)
{
    if (fingerprint->count > DOPPEL_LOCAL_KEPT)
        fingerprint->count = DOPPEL_LOCAL_KEPT;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        fingerprint->codes[i] = code_without_marks(&fingerprint->codes[i]);
}
