/* Judging two pictures: the nearest views of each class, and how rare such nearness is. */
#include "image/judge.h"

#include <math.h>

#include "image/distances.h"

struct doppel_image_verify_options doppel_image_verify_options_default(void)
{
    return (struct doppel_image_verify_options){.views = DOPPEL_VIEWS_ALL, .orientations = true};
}

enum judge_class rate_class_of(uint32_t query_view, uint32_t item_view, unsigned orientation)
{
    enum judge_class class = item_view >= DOPPEL_VIEW_CENTRE ? JUDGE_CROP
                             : query_view || item_view       ? JUDGE_TRIMMED
                                                             : JUDGE_FULL;
    return orientation ? class + JUDGE_FULL_TURNED : class;
}

bool rate_view_counts(uint32_t view, enum doppel_image_views views, bool query)
{
    if (view == DOPPEL_VIEW_FULL)
        return true;
    if (views == DOPPEL_VIEWS_FULL || view >= DOPPEL_VIEW_COUNT)
        return false;
    if (view == DOPPEL_VIEW_TRIMMED)
        return true;
    return query ? view == DOPPEL_VIEW_INTERFACE
                 : view > DOPPEL_VIEW_INTERFACE && views == DOPPEL_VIEWS_ALL;
}

/** How near: the low bits count four times in moved frames. In a full frame that was only painted
 * on they are as likely to change as the others, or more. */
static uint16_t score_of_view_pair(const struct view_pair *pair, enum judge_class class)
{
    if (class == JUDGE_FULL)
        return (uint16_t)(pair->distance256 + JUDGE_FULL_WEIGHT * pair->distance64);
    int32_t score = pair->distance256 + JUDGE_WEIGHT * pair->distance64;
    return (uint16_t)judge_far_score(score, pair->distance64);
}

/** Whether a search by 64-bit codes, or of full frames by 256-bit ones, brings the pair together.
 */
static bool is_candidate(const struct view_pair *pair)
{
    bool full = !pair->query_view && !pair->item_view && !pair->orientation;
    return pair->distance64 <= DOPPEL_IMAGE_CANDIDATE_RADIUS ||
           (full && pair->distance256 <= DOPPEL_IMAGE_FULL_RADIUS);
}

/** The number of the view with the least around the picture: positions ascend, and the interface
 * view is cut off after borders. */
static uint32_t core_of(const struct doppel_fingerprint *fingerprint)
{
    uint32_t core = 0;
    while (core + 1 < fingerprint->count &&
           fingerprint->positions[core + 1] <= DOPPEL_VIEW_INTERFACE)
        core++;
    return core;
}

uint8_t judge_core_view(const struct doppel_fingerprint *fingerprint)
{
    return (uint8_t)fingerprint->positions[core_of(fingerprint)];
}

/** Unrelated items in the same frame, or on the same app's screen, look alike as a whole: what is
 * inside has to be alike too, if only a little, unless a sticker lies on it. */
static bool cores_agree(const struct doppel_fingerprint *query,
                        const struct doppel_fingerprint *item, unsigned orientation)
{
    const struct doppel_code *of_item = &item->codes[core_of(item)];
    struct doppel_code code = doppel_image_orient(&query->codes[core_of(query)], orientation);
    return doppel_code_distance(&code, of_item, 256) +
               JUDGE_WEIGHT * doppel_code_distance(&code, of_item, 64) <=
           JUDGE_CORE_SCORE_MAX;
}

/** Whether a view shows a border or interface elements that another view has not; crops are made of
 * what borders were trimmed off only. */
bool judge_is_framed(const struct doppel_fingerprint *fingerprint, uint32_t view)
{
    uint32_t core = judge_core_view(fingerprint);
    return view >= DOPPEL_VIEW_CENTRE ? core == DOPPEL_VIEW_INTERFACE : view < core;
}

static bool is_trimmed(const struct doppel_fingerprint *fingerprint)
{
    return fingerprint->count > 1 && fingerprint->positions[1] == DOPPEL_VIEW_TRIMMED;
}

/** How far the crops are apart that two pictures have in common, as they are. */
struct parts {
    uint16_t nearest;     /**< by JUDGE_FULL_WEIGHT; UINT16_MAX without crops */
    uint16_t farthest[2]; /**< by JUDGE_FULL_WEIGHT and by JUDGE_WEIGHT */
};

static struct parts compare_crops(const struct doppel_fingerprint *a,
                                  const struct doppel_fingerprint *b)
{
    struct parts parts = {.nearest = UINT16_MAX};
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->positions[i] != b->positions[j]) {
            a->positions[i] < b->positions[j] ? i++ : j++;
            continue;
        }
        if (a->positions[i] >= DOPPEL_VIEW_CENTRE) {
            unsigned near = doppel_code_distance(&a->codes[i], &b->codes[j], 64);
            unsigned wide = doppel_code_distance(&a->codes[i], &b->codes[j], 256);
            unsigned whole = wide + JUDGE_FULL_WEIGHT * near, moved = wide + JUDGE_WEIGHT * near;
            parts.nearest = whole < parts.nearest ? (uint16_t)whole : parts.nearest;
            parts.farthest[0] = whole > parts.farthest[0] ? (uint16_t)whole : parts.farthest[0];
            parts.farthest[1] = moved > parts.farthest[1] ? (uint16_t)moved : parts.farthest[1];
        }
        i++, j++;
    }
    return parts;
}

/** Two pictures, and the nearest pairs so far. */
struct comparison {
    const struct doppel_fingerprint *query, *item;
    enum doppel_image_views views;
    bool with_crops;
    bool same_trim; /**< their crops are of the same part */
    bool knows_parts;
    struct parts parts;     /**< once asked for */
    struct view_pair *best; /**< JUDGE_CLASSES */
};

static const struct parts *parts_of(struct comparison *at)
{
    if (!at->knows_parts)
        at->parts = compare_crops(at->query, at->item);
    at->knows_parts = true;
    return &at->parts;
}

/** Unrelated items with the same logo, or the same corners left empty by a turn, are near as a
 * whole. But not all crops show those: one that is far apart makes the whole so. */
static uint16_t mind_the_parts(struct comparison *at, const struct view_pair *pair,
                               enum judge_class class, uint16_t score)
{
    bool comparable = pair->query_view == pair->item_view && !pair->orientation;
    if (!comparable || !at->with_crops || !at->same_trim)
        return score;
    int least = parts_of(at)->farthest[class != JUDGE_FULL] - JUDGE_PART_SLACK;
    return least > score ? (uint16_t)least : score;
}

/** Of a pair of which the frames alone are alike: near enough to be looked at, and no more. */
static uint16_t score_of_frames(enum judge_class class, uint16_t score)
{
    const uint16_t least = class == JUDGE_FULL ? 120 : 160; /* rates of 1e-2 and less */
    return score < least ? least : score;
}

static void compare_pair(struct comparison *at, struct view_pair pair)
{
    if (!is_candidate(&pair))
        return;
    enum judge_class class = rate_class_of(pair.query_view, pair.item_view, pair.orientation);
    pair.score = score_of_view_pair(&pair, class);
    if (pair.score >= at->best[class].score)
        return;
    pair.score = mind_the_parts(at, &pair, class, pair.score);
    if (pair.score >= at->best[class].score)
        return;
    pair.framed =
        judge_is_framed(at->query, pair.query_view) && judge_is_framed(at->item, pair.item_view);
    pair.frames_alone = pair.framed && pair.score > JUDGE_SAME_SCORE_MAX &&
                        !cores_agree(at->query, at->item, pair.orientation);
    if (pair.frames_alone)
        pair.score = score_of_frames(class, pair.score);
    if (pair.score < at->best[class].score)
        at->best[class] = pair;
}

/** One oriented view of the query against all views of the item. */
static void compare_views(struct comparison *at, const struct doppel_code *code,
                          struct view_pair pair)
{
    struct code_distances distances[DOPPEL_VIEW_COUNT];
    const uint32_t count =
        at->item->count < DOPPEL_VIEW_COUNT ? at->item->count : DOPPEL_VIEW_COUNT;
    measure_distances(code, at->item->codes, count, distances);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t view = at->item->positions[i];
        if (distances[i].distance64 > DOPPEL_IMAGE_CANDIDATE_RADIUS && (view || pair.query_view))
            continue;
        pair.item_view = (uint8_t)view;
        pair.distance64 = distances[i].distance64;
        pair.distance256 = distances[i].distance256;
        if (rate_view_counts(view, at->views, false))
            compare_pair(at, pair);
    }
}

/** What is painted on a picture, and the corners that a turn leaves, spoil some crops less than the
 * frame. */
static void compare_parts(struct comparison *at)
{
    const struct view_pair *full = &at->best[JUDGE_FULL];
    if (full->score > JUDGE_SCORE_MAX || full->frames_alone || parts_of(at)->nearest == UINT16_MAX)
        return;
    struct view_pair *out = &at->best[JUDGE_PARTS];
    *out = *full;
    unsigned whole = full->distance256 + JUDGE_FULL_WEIGHT * full->distance64;
    out->score = (uint16_t)((whole + at->parts.nearest) / 2);
    out->score = mind_the_parts(at, out, JUDGE_FULL, out->score);
}

void verify_best_pairs(const struct doppel_fingerprint *query,
                       const struct doppel_fingerprint *item,
                       const struct doppel_image_verify_options *options,
                       struct view_pair best[JUDGE_CLASSES])
{
    for (int i = 0; i < JUDGE_CLASSES; i++)
        best[i] = (struct view_pair){.score = UINT16_MAX};
    if (!query->count || !item->count)
        return;
    struct comparison at = {.query = query,
                            .item = item,
                            .views = options->views,
                            .with_crops = options->views == DOPPEL_VIEWS_ALL,
                            .same_trim = is_trimmed(query) == is_trimmed(item),
                            .best = best};
    unsigned orientations = options->orientations ? DOPPEL_IMAGE_ORIENTATIONS : 1;
    for (uint32_t i = 0; i < query->count; i++) {
        if (!rate_view_counts(query->positions[i], options->views, true))
            continue;
        for (unsigned o = 0; o < orientations; o++) {
            struct doppel_code code = doppel_image_orient(&query->codes[i], o);
            struct view_pair pair = {.query_view = (uint8_t)query->positions[i],
                                     .orientation = (uint8_t)o};
            compare_views(&at, &code, pair);
        }
    }
    if (at.with_crops)
        compare_parts(&at);
}

/** 1 for equal codes, 0 where half of the bits differ. */
static double similarity_of_views(uint16_t score, enum judge_class class)
{
    bool whole = class == JUDGE_FULL || class == JUDGE_PARTS;
    double unrelated = 128 + 32 * (whole ? JUDGE_FULL_WEIGHT : JUDGE_WEIGHT);
    return fmax(0, 1 - score / unrelated);
}

struct doppel_image_verdict verify_by(const struct calibration *calibration,
                                      const struct view_pair best[JUDGE_CLASSES])
{
    /* nothing within the radius: say so by the full frames */
    struct doppel_image_verdict verdict = {
        .distance64 = 64, .distance256 = 256, .whole_distance = 256, .false_positive_rate = 1};
    const struct view_pair *top = NULL;
    double log_rate = 0;
    for (int i = 0; i < JUDGE_CLASSES; i++) {
        if (best[i].score > JUDGE_SCORE_MAX)
            continue;
        verdict.similarity =
            fmax(verdict.similarity, similarity_of_views(best[i].score, (enum judge_class)i));
        double class_rate = calibration_log_rate(calibration, (enum judge_class)i, best[i].score);
        if (!top || class_rate < log_rate) {
            log_rate = class_rate;
            top = &best[i];
        }
    }
    if (best[JUDGE_FULL].score <= JUDGE_SCORE_MAX && !best[JUDGE_FULL].frames_alone)
        verdict.whole_distance = best[JUDGE_FULL].distance256;
    if (!top)
        return verdict;
    verdict.distance64 = top->distance64;
    verdict.distance256 = top->distance256;
    verdict.query_view = top->query_view;
    verdict.item_view = top->item_view;
    verdict.orientation = top->orientation;
    verdict.false_positive_rate = pow(10, log_rate);
    return verdict;
}

/* Of pictures with little structure: of 121 771 pairs of 494 such pictures, charts, flags, moons
 * and gradients, 22 were within 62 of 256 bits, and each bit less has a tenth fewer. */
static double strict_rate(uint32_t whole_distance)
{
    enum { STRICT_MEASURED = 62 };
    const double log_measured = -3.74, log_a_bit = .05;
    return whole_distance <= DOPPEL_IMAGE_STRICT_RADIUS
               ? pow(10, log_measured - log_a_bit * (STRICT_MEASURED - (double)whole_distance))
               : 1;
}

void doppel_image_weigh(uint8_t poorer_quality, struct doppel_image_verdict *verdict)
{
    if (poorer_quality >= DOPPEL_IMAGE_MIN_QUALITY)
        verdict->false_positive_rate =
            pow(verdict->false_positive_rate, fmin(1, poorer_quality / 100.));
    else
        verdict->false_positive_rate = poorer_quality >= DOPPEL_IMAGE_STRICT_QUALITY
                                           ? strict_rate(verdict->whole_distance)
                                           : 1;
}

struct doppel_image_verdict doppel_image_verify(const struct doppel_fingerprint *query,
                                                const struct doppel_fingerprint *item,
                                                const struct doppel_image_verify_options *options)
{
    struct view_pair best[JUDGE_CLASSES];
    verify_best_pairs(query, item, options, best);
    return verify_by(&calibration_builtin, best);
}
