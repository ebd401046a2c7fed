/* The pixel check: lay the small planes of two pictures over each other, from their best view
 * pairs, and hash again what both show. */
#include "image/pixels.h"

#include <math.h>
#include <string.h>

#include "image/align.h"
#include "image/covered.h"
#include "image/distances.h"
#include "image/grain.h"
#include "image/phash.h"

_Static_assert((int)COVERED_SIDE == (int)DCT_SIDE, "what is left out are cells that are hashed");
_Static_assert((int)ALIGN_SIDE == (int)DOPPEL_IMAGE_THUMB_SIDE, "what is fitted are thumbs");

/* So near are only copies: further starts need not be tried. */
enum { SURE_SCORE = 60 };

/* Beyond it nothing that covers a part is why. */
enum { COVERED_SCORE_MAX = 160 };

/* Without what differs most, unrelated pictures come nearer by so much. */
enum { COVERED_COSTS = 32 };

/* Starts that are tried: the best of both ways. */
enum { MOST_STARTS = 3 };

/** A picture, ready to be laid over another one. */
struct small {
    const struct doppel_image_features *features;
    struct align_plane plane;
    bool sampled; /**< the rest is there, once a fit asked for it */
    float plain[ALIGN_SIDE * ALIGN_SIDE], smooth[ALIGN_SIDE * ALIGN_SIDE];
};

static void small_make(const struct doppel_image_features *features, struct small *out)
{
    out->features = features;
    out->sampled = false;
    align_plane_make(features->thumb, &out->plane);
}

static void small_sample(struct small *small)
{
    uint16_t samples[ALIGN_SIDE * ALIGN_SIDE], smooth[ALIGN_SIDE * ALIGN_SIDE];
    if (small->sampled)
        return;
    for (int i = 0; i < ALIGN_SIDE * ALIGN_SIDE; i++)
        samples[i] = small->features->thumb[i];
    align_smooth(samples, ALIGN_SIDE, smooth);
    for (int i = 0; i < ALIGN_SIDE * ALIGN_SIDE; i++) {
        small->plain[i] = samples[i];
        small->smooth[i] = (float)smooth[i] / (1 << ALIGN_SMOOTH_SHIFT);
    }
    small->sampled = true;
}

/** @return left, top, right, bottom; NULL: there is no such view */
static const uint16_t *box_of_view(const struct doppel_image_features *features, uint32_t view)
{
    const struct doppel_fingerprint *fingerprint = &features->fingerprint;
    for (uint32_t i = 0; i < fingerprint->count && i < DOPPEL_VIEW_COUNT; i++)
        if (fingerprint->positions[i] == view)
            return features->boxes[i];
    return NULL;
}

/** Where a view lies on its thumb, turned so that it looks like the other picture's. */
static bool map_of_view(const struct doppel_image_features *features, uint32_t view,
                        unsigned orientation, struct align_map *out)
{
    const uint16_t *box = box_of_view(features, view);
    if (!box)
        return false;
    const double scale = ALIGN_SIDE / 65535., half = scale / 2;
    const double across = (orientation & 4 ? orientation & 2 : orientation & 1) ? -half : half;
    const double down = (orientation & 4 ? orientation & 1 : orientation & 2) ? -half : half;
    const double wide = across * (box[2] - box[0]), tall = down * (box[3] - box[1]);
    const double x = half * (box[0] + box[2]) - .5, y = half * (box[1] + box[3]) - .5;
    *out = orientation & 4 ? (struct align_map){{x, 0, wide, y, tall, 0}}
                           : (struct align_map){{x, wide, 0, y, 0, tall}};
    return box[2] > box[0] && box[3] > box[1];
}

/* ---- what both show ---- */

/** A part of the square, and of what lies around it: from and to, u and v. */
struct shown_part {
    double from[2], to[2];
};

/** Cut off along one axis what a map puts outside of a box on its plane. */
static void cut_shown(const double map[6], const uint16_t box[4], int axis,
                      struct shown_part *shown)
{
    /* the row of the map in which the axis counts most: x or y */
    const bool down = fabs(map[1 + axis]) < fabs(map[4 + axis]);
    const double *row = down ? map + 3 : map, scale = ALIGN_SIDE / 65535.;
    const double first = scale * box[down] - .5, last = scale * box[2 + down] - .5;
    const double slope = row[1 + axis], aslant = row[2 - axis];
    for (int end = 0; end < 2; end++) {
        double other = end ? shown->to[!axis] : shown->from[!axis];
        double at = row[0] + aslant * other, a = (first - at) / slope, b = (last - at) / slope;
        shown->from[axis] = fmax(shown->from[axis], fmin(a, b));
        shown->to[axis] = fmin(shown->to[axis], fmax(a, b));
    }
}

/** The last of the views 0 to 2 that both pictures may have: a sticker on a ground is cut out as if
 * it were what a screen shows. */
static uint32_t common_core(const struct doppel_image_features *a,
                            const struct doppel_image_features *b)
{
    const uint32_t of_a = judge_core_view(&a->fingerprint), of_b = judge_core_view(&b->fingerprint);
    return of_a < of_b ? of_a : of_b;
}

/** The box of a picture's last view up to one of these. */
static const uint16_t *box_within(const struct doppel_image_features *features, uint32_t view)
{
    const uint16_t *box = NULL;
    for (uint32_t i = 0; i <= view; i++) {
        const uint16_t *of_view = box_of_view(features, i);
        box = of_view ? of_view : box;
    }
    return box;
}

/** A square, and where it lies on both planes. */
struct laid {
    struct align_map from, to;
};

/** What both show, not far beyond the square. */
static bool common_shown(const struct laid *laid, const struct small *query,
                         const struct small *item, bool framed, struct shown_part *out)
{
    const double farthest = framed ? 1 : 1.4, least = .8;
    const uint32_t inmost = framed ? common_core(query->features, item->features) : 0;
    const uint16_t *of_query = box_within(query->features, inmost);
    const uint16_t *of_item = box_within(item->features, inmost);
    *out = (struct shown_part){{-farthest, -farthest}, {farthest, farthest}};
    for (int axis = 0; of_query && of_item && axis < 2; axis++) {
        cut_shown(laid->from.map, of_query, axis, out);
        cut_shown(laid->to.map, of_item, axis, out);
    }
    return out->to[0] - out->from[0] >= least && out->to[1] - out->from[1] >= least;
}

/** The value between samples, clamped at the edges. */
static double sample_between(const float *plane, double x, double y)
{
    const double last = ALIGN_SIDE - 1;
    x = x < 0 ? 0 : x > last ? last : x;
    y = y < 0 ? 0 : y > last ? last : y;
    const int left = (int)x < ALIGN_SIDE - 2 ? (int)x : ALIGN_SIDE - 2;
    const int top = (int)y < ALIGN_SIDE - 2 ? (int)y : ALIGN_SIDE - 2;
    const double right = x - left, below = y - top;
    const float *at = plane + top * ALIGN_SIDE + left;
    const double a = (double)at[0], b = (double)at[1];
    const double c = (double)at[ALIGN_SIDE], d = (double)at[ALIGN_SIDE + 1];
    return (1 - below) * (a + right * (b - a)) + below * (c + right * (d - c));
}

/** What a plane shows there, in 1/256 of a level. */
static void sample_shown(const float *plane, const struct align_map *at,
                         const struct shown_part *shown, double out[COVERED_CELLS])
{
    const double *m = at->map, across = (shown->to[0] - shown->from[0]) / DCT_SIDE,
                 down = (shown->to[1] - shown->from[1]) / DCT_SIDE;
    for (int i = 0; i < COVERED_CELLS; i++) {
        double sum = 0;
        for (int part = 0; part < 4; part++) {
            double u = shown->from[0] + (i % DCT_SIDE + .25 + .5 * (part & 1)) * across;
            double v = shown->from[1] + (i / DCT_SIDE + .25 + .5 * (part >> 1)) * down;
            sum += sample_between(plane, m[0] + m[1] * u + m[2] * v, m[3] + m[4] * u + m[5] * v);
        }
        out[i] = sum * (PHASH_CELL_SCALE / 4);
    }
}

static struct doppel_code hash_sampled(const double sampled[COVERED_CELLS])
{
    uint16_t cells[COVERED_CELLS];
    for (int i = 0; i < COVERED_CELLS; i++)
        cells[i] = (uint16_t)(sampled[i] + .5);
    return doppel_image_phash_cells(cells);
}

static struct registered compare_sampled(const double a[COVERED_CELLS],
                                         const double b[COVERED_CELLS])
{
    struct doppel_code left = hash_sampled(a), right = hash_sampled(b);
    struct registered out = {.distance64 = (uint16_t)doppel_code_distance(&left, &right, 64),
                             .distance256 = (uint16_t)doppel_code_distance(&left, &right, 256)};
    out.score = (uint16_t)(out.distance256 + JUDGE_WEIGHT * out.distance64);
    return out;
}

/** The grain of a smoothed plane is not its decoder's. */
static void sample_grain(const float *plane, const struct align_map *at,
                         const struct shown_part *shown, double out[GRAIN_SAMPLES])
{
    const double *m = at->map, across = (shown->to[0] - shown->from[0]) / GRAIN_SIDE,
                 down = (shown->to[1] - shown->from[1]) / GRAIN_SIDE;
    for (int i = 0; i < GRAIN_SAMPLES; i++) {
        double u = shown->from[0] + (i % GRAIN_SIDE + .5) * across;
        double v = shown->from[1] + (i / GRAIN_SIDE + .5) * down;
        out[i] = sample_between(plane, m[0] + m[1] * u + m[2] * v, m[3] + m[4] * u + m[5] * v);
    }
}

static double compare_grain(const struct small *query, const struct align_map *from,
                            const struct small *item, const struct align_map *to,
                            const struct shown_part *shown)
{
    double a[GRAIN_SAMPLES], b[GRAIN_SAMPLES];
    sample_grain(query->smooth, from, shown, a);
    sample_grain(item->smooth, to, shown, b);
    return grain_surprise(a, b);
}

/* ---- starts ---- */

static const struct registered unregistered = {UINT16_MAX, 64, 256, 0};

static struct registered register_from(struct small *query, struct small *item,
                                       const struct view_pair *start)
{
    struct laid laid;
    struct shown_part shown;
    if (!map_of_view(query->features, start->query_view, start->orientation, &laid.from) ||
        !map_of_view(item->features, start->item_view, 0, &laid.to) ||
        !align_fit(&query->plane, &laid.from, &item->plane, &laid.to) ||
        !common_shown(&laid, query, item, start->framed, &shown))
        return unregistered;
    double a[COVERED_CELLS], b[COVERED_CELLS];
    small_sample(query);
    small_sample(item);
    sample_shown(query->plain, &laid.from, &shown, a);
    sample_shown(item->plain, &laid.to, &shown, b);
    struct registered found = compare_sampled(a, b);
    found.grain = compare_grain(query, &laid.from, item, &laid.to, &shown);
    if (found.score <= SURE_SCORE || found.score > COVERED_SCORE_MAX || !covered_leave_out(a, b))
        return found;
    struct registered rest = compare_sampled(a, b);
    rest.score += COVERED_COSTS;
    rest.grain = found.grain;
    return rest.score < found.score ? rest : found;
}

/** A view pair to begin with, and how rare it is. */
struct start {
    struct view_pair pair;
    bool back; /**< the item is the query */
    double log_rate;
};

/** The rarest first; room for one that falls out, or for the nearest. */
struct starts {
    struct start at[MOST_STARTS + 1];
    int count;
};

static void add_start(const struct start *start, struct starts *starts)
{
    int at = starts->count < MOST_STARTS ? starts->count++ : MOST_STARTS;
    for (; at > 0 && starts->at[at - 1].log_rate > start->log_rate; at--)
        starts->at[at] = starts->at[at - 1];
    starts->at[at] = *start;
}

/** Two views that both show what is around a picture begin with what is inside: the frames would
 * hold the fit. */
static void add_starts(const struct doppel_fingerprint *query,
                       const struct doppel_fingerprint *item,
                       const struct doppel_image_verify_options *options, bool back,
                       struct starts *starts)
{
    struct view_pair best[JUDGE_CLASSES];
    verify_best_pairs(query, item, options, best);
    for (int i = 0; i < JUDGE_PARTS; i++) { /* which begins where JUDGE_FULL does */
        if (best[i].score > JUDGE_SCORE_MAX)
            continue;
        if (best[i].framed && !best[i].frames_alone) {
            best[i].query_view = judge_core_view(query);
            best[i].item_view = judge_core_view(item);
        }
        const struct start start = {
            best[i], back,
            calibration_log_rate(&calibration_builtin, (enum judge_class)i, best[i].score)};
        add_start(&start, starts);
    }
}

/** The nearest views of both, crops of the query among them. */
static struct view_pair nearest_pair(const struct doppel_fingerprint *query,
                                     const struct doppel_fingerprint *item,
                                     const struct doppel_image_verify_options *options)
{
    const unsigned orientations = options->orientations ? DOPPEL_IMAGE_ORIENTATIONS : 1;
    const uint32_t views = item->count < DOPPEL_VIEW_COUNT ? item->count : DOPPEL_VIEW_COUNT;
    struct view_pair nearest = {.score = UINT16_MAX};
    for (uint32_t i = 0; i < query->count * orientations; i++) {
        const uint32_t at = i / orientations, turn = i % orientations;
        const struct doppel_code code = doppel_image_orient(&query->codes[at], turn);
        struct code_distances distances[DOPPEL_VIEW_COUNT];
        measure_distances(&code, item->codes, views, distances);
        for (uint32_t j = 0; j < views; j++) {
            const uint32_t score =
                distances[j].distance256 + (uint32_t)JUDGE_WEIGHT * distances[j].distance64;
            if (score < nearest.score)
                nearest = (struct view_pair){.score = (uint16_t)score,
                                             .query_view = (uint8_t)query->positions[at],
                                             .item_view = (uint8_t)item->positions[j],
                                             .orientation = (uint8_t)turn};
        }
    }
    nearest.framed =
        judge_is_framed(query, nearest.query_view) && judge_is_framed(item, nearest.item_view);
    return nearest;
}

/** The last start, unless it is one of the others: they look for no crops of the query, and begin
 * inside of frames, which a sticker may have been cut off with. */
static void add_nearest_start(const struct view_pair *pair, struct starts *starts)
{
    for (int i = 0; i < starts->count; i++) {
        const struct view_pair *other = &starts->at[i].pair;
        if (!starts->at[i].back && other->query_view == pair->query_view &&
            other->item_view == pair->item_view && other->orientation == pair->orientation &&
            other->framed == pair->framed)
            return;
    }
    starts->at[starts->count++] = (struct start){.pair = *pair};
}

struct registered pixels_register(const struct doppel_image_features *query,
                                  const struct doppel_image_features *item,
                                  const struct doppel_image_verify_options *options)
{
    struct starts starts = {.count = 0};
    struct small small[2];
    struct registered nearest = unregistered;
    add_starts(&query->fingerprint, &item->fingerprint, options, false, &starts);
    add_starts(&item->fingerprint, &query->fingerprint, options, true, &starts);
    if (!starts.count)
        return nearest;
    const struct view_pair pair = nearest_pair(&query->fingerprint, &item->fingerprint, options);
    add_nearest_start(&pair, &starts);
    small_make(query, &small[0]);
    small_make(item, &small[1]);
    for (int i = 0; i < starts.count && nearest.score > SURE_SCORE; i++) {
        bool back = starts.at[i].back;
        struct registered found = register_from(&small[back], &small[!back], &starts.at[i].pair);
        const double grain = fmax(found.grain, nearest.grain);
        nearest = found.score < nearest.score ? found : nearest;
        nearest.grain = grain;
    }
    return nearest;
}

/** What the codes prove of two pictures that were laid over each other. */
static double rate_of_codes(double by_codes, double grain)
{
    const double enough = 40; /* which nine of ten unrelated pairs have not */
    const double least = DOPPEL_IMAGE_UNSEEN_POWER;
    return pow(by_codes, least + (1 - least) * fmin(1, grain / enough));
}

/* Grain and quality count so that 9.7 million pairs of pictures of different Debian packages, clip
 * art, charts, screenshots and photographs, are within each rate no more often than it states. */
double pixels_rate(const struct calibration *calibration, const struct registered *nearest,
                   double by_codes, uint8_t quality)
{
    const double least = .35; /* what is left of the power that a quality of 0 would have */
    const double grain_unit = 100;
    if (quality < DOPPEL_IMAGE_MIN_QUALITY)
        return by_codes;
    const double codes = rate_of_codes(by_codes, nearest->grain);
    if (nearest->score > JUDGE_SCORE_MAX)
        return codes;
    const double by_score = -calibration_pixels_log_rate(calibration, nearest->score);
    const double strength =
        (by_score + nearest->grain / grain_unit) * (least + (1 - least) * fmin(1, quality / 100.));
    return fmin(codes, pow(10, -strength));
}

bool doppel_image_check_pixels(const struct doppel_image_features *query,
                               const struct doppel_image_features *item,
                               const struct doppel_image_verify_options *options,
                               struct doppel_image_verdict *verdict)
{
    const double unrelated = 128 + 32 * JUDGE_WEIGHT;
    const uint8_t quality = query->quality < item->quality ? query->quality : item->quality;
    /* Roles decide which fit comes first: a pair has one answer, whoever asks. */
    const bool turned = memcmp(query->thumb, item->thumb, sizeof query->thumb) > 0;
    struct registered nearest =
        turned ? pixels_register(item, query, options) : pixels_register(query, item, options);
    verdict->false_positive_rate =
        pixels_rate(&calibration_builtin, &nearest, verdict->false_positive_rate, quality);
    verdict->similarity = fmax(verdict->similarity, 1 - nearest.score / unrelated);
    return verdict->false_positive_rate <= DOPPEL_IMAGE_MAX_FPR;
}
