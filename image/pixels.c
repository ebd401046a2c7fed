/* The pixel check: align two pictures' thumbs from their best view pairs, compare block by block.
 */
#include "image/pixels.h"

#include <math.h>

#include "image/align.h"

enum { SIDE = DOPPEL_IMAGE_THUMB_SIDE };

/** The box of a view in thumb pixels: left, top, right, bottom. */
static bool box_of_image_features(const struct doppel_image_features *features, uint32_t view,
                                  double box[4])
{
    for (uint32_t i = 0; i < features->fingerprint.count && i < DOPPEL_VIEW_COUNT; i++) {
        if (features->fingerprint.positions[i] != view)
            continue;
        for (int side = 0; side < 4; side++)
            box[side] = features->boxes[i][side] * (SIDE / 65535.);
        return box[2] > box[0] && box[3] > box[1];
    }
    return false;
}

static int clamped(int i)
{
    return i < 0 ? 0 : i >= SIDE ? SIDE - 1 : i;
}

/** By 1-2-1 both ways: the grain of a thumb is not the same after a move by half a sample. */
static void smooth(const uint8_t *thumb, float out[SIDE * SIDE])
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += thumb[clamped(y + dy) * SIDE + clamped(x + dx)] * (2 - (dx & 1)) *
                           (2 - (dy & 1));
            out[y * SIDE + x] = (float)sum / 16;
        }
}

static double sample_of(const float *plane, double x, double y)
{
    x = fmax(0, fmin(SIDE - 1, x));
    y = fmax(0, fmin(SIDE - 1, y));
    int left = x < SIDE - 2 ? (int)x : SIDE - 2, top = y < SIDE - 2 ? (int)y : SIDE - 2;
    double right = x - left, below = y - top;
    const float *at = plane + top * SIDE + left;
    return (1 - below) * ((1 - right) * at[0] + right * at[1]) +
           below * ((1 - right) * at[SIDE] + right * at[SIDE + 1]);
}

/** One sample of a view, the mean of four points of its cell. */
static float cell_of_pixels(const float *plane, const double box[4], int column, int row)
{
    double wide = (box[2] - box[0]) / ALIGN_SIDE, tall = (box[3] - box[1]) / ALIGN_SIDE, sum = 0;
    for (int i = 0; i < 4; i++)
        sum += sample_of(plane, box[0] + (column + .25 + .5 * (i & 1)) * wide - .5,
                         box[1] + (row + .25 + .5 * (i >> 1)) * tall - .5);
    return (float)(sum / 4);
}

/** A view of the query, turned so that it looks like the item. */
static void make_template(const float *plane, const double box[4], unsigned orientation,
                          struct align_template *out)
{
    for (int y = 0; y < ALIGN_SIDE; y++)
        for (int x = 0; x < ALIGN_SIDE; x++) {
            int column = orientation & 1 ? ALIGN_SIDE - 1 - x : x;
            int row = orientation & 2 ? ALIGN_SIDE - 1 - y : y;
            out->sample[y * ALIGN_SIDE + x] = orientation & 4
                                                  ? cell_of_pixels(plane, box, row, column)
                                                  : cell_of_pixels(plane, box, column, row);
        }
}

/** The thumb, smoothed, and its slopes. */
static void make_target(const uint8_t *thumb, struct align_target *out)
{
    const float *s = out->sample;
    smooth(thumb, out->sample);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            out->slope_x[y * SIDE + x] =
                (s[y * SIDE + clamped(x + 1)] - s[y * SIDE + clamped(x - 1)]) / 2;
            out->slope_y[y * SIDE + x] =
                (s[clamped(y + 1) * SIDE + x] - s[clamped(y - 1) * SIDE + x]) / 2;
        }
}

/** Where the template lies if it is exactly the box. */
static struct align_map map_of_pixels(const double box[4])
{
    return (struct align_map){{(box[0] + box[2]) / 2 - .5, (box[2] - box[0]) / 2, 0,
                               (box[1] + box[3]) / 2 - .5, 0, (box[3] - box[1]) / 2}};
}

/** Two pictures, ready to be laid over each other. */
struct sides {
    const struct doppel_image_features *query, *item;
    float plane[SIDE * SIDE]; /**< the query's thumb, smoothed */
    struct align_target target;
};

static double agreement_from(const struct sides *sides, const struct view_pair *pair)
{
    double query_box[4], item_box[4];
    if (!box_of_image_features(sides->query, pair->query_view, query_box) ||
        !box_of_image_features(sides->item, pair->item_view, item_box))
        return 0;
    struct align_template template;
    make_template(sides->plane, query_box, pair->orientation, &template);
    struct align_map map = map_of_pixels(item_box);
    double before = align_agreement(&template, &sides->target, &map);
    if (!align_fit(&template, &sides->target, &map))
        return before;
    return fmax(before, align_agreement(&template, &sides->target, &map));
}

double pixels_agreement(const struct doppel_image_features *query,
                        const struct doppel_image_features *item,
                        const struct doppel_image_verify_options *options)
{
    struct view_pair best[JUDGE_CLASSES];
    struct sides sides = {.query = query, .item = item};
    verify_best_pairs(&query->fingerprint, &item->fingerprint, options, best);
    smooth(query->thumb, sides.plane);
    make_target(item->thumb, &sides.target);
    double agreement = 0;
    for (int i = 0; i < JUDGE_PARTS; i++) /* which begins where JUDGE_FULL does */
        if (best[i].score <= JUDGE_SCORE_MAX && !best[i].framed)
            agreement = fmax(agreement, agreement_from(&sides, &best[i]));
    return agreement;
}

bool doppel_image_check_pixels(const struct doppel_image_features *query,
                               const struct doppel_image_features *item,
                               const struct doppel_image_verify_options *options,
                               struct doppel_image_verdict *verdict)
{
    double agreement = pixels_agreement(query, item, options);
    struct doppel_image_verdict seen = {
        .false_positive_rate =
            pow(10, calibration_pixels_log_rate(&calibration_builtin, agreement))};
    doppel_image_weigh(query->quality < item->quality ? query->quality : item->quality, &seen);
    verdict->false_positive_rate = fmin(verdict->false_positive_rate, seen.false_positive_rate);
    verdict->similarity = fmax(verdict->similarity, agreement);
    return verdict->false_positive_rate <= DOPPEL_IMAGE_MAX_FPR;
}
