/* Judging two pictures: the nearest views of each class, and how rare such nearness is. */
#include "image/judge.h"

#include <math.h>

struct doppel_image_judge_options doppel_image_judge_options_default(void)
{
    return (struct doppel_image_judge_options){.views = DOPPEL_VIEWS_ALL, .orientations = true};
}

enum judge_class judge_class_of(uint32_t query_view, uint32_t item_view, unsigned orientation)
{
    enum judge_class class = item_view >= DOPPEL_VIEW_CENTRE ? JUDGE_CROP
                             : query_view || item_view       ? JUDGE_TRIMMED
                                                             : JUDGE_FULL;
    return orientation ? class + JUDGE_FULL_TURNED : class;
}

bool judge_view_counts(uint32_t view, enum doppel_image_views views, bool query)
{
    if (view == DOPPEL_VIEW_FULL)
        return true;
    if (views == DOPPEL_VIEWS_FULL || view >= DOPPEL_VIEW_COUNT)
        return false;
    if (view == DOPPEL_VIEW_TRIMMED)
        return true;
    return query ? view == DOPPEL_VIEW_FURNITURE
                 : view > DOPPEL_VIEW_FURNITURE && views == DOPPEL_VIEWS_ALL;
}

/** How near: the low bits count four times in moved frames. In a full frame that was only painted
 * on they are as likely to change as the others, or more. */
static uint16_t score_of(const struct judge_pair *pair, enum judge_class class)
{
    unsigned weight = class == JUDGE_FULL ? JUDGE_FULL_WEIGHT : JUDGE_WEIGHT;
    return (uint16_t)(pair->distance256 + weight * pair->distance64);
}

/** Whether a search by 64-bit codes, or of full frames by 256-bit ones, brings the pair together.
 */
static bool is_candidate(const struct judge_pair *pair)
{
    bool full = !pair->query_view && !pair->item_view && !pair->orientation;
    return pair->distance64 <= DOPPEL_IMAGE_CANDIDATE_RADIUS ||
           (full && pair->distance256 <= DOPPEL_IMAGE_FULL_RADIUS);
}

/** The number of the view with the least around the picture: positions ascend, and furniture is
 * cut off after borders. */
static uint32_t core_of(const struct doppel_fingerprint *fingerprint)
{
    uint32_t core = 0;
    while (core + 1 < fingerprint->count &&
           fingerprint->positions[core + 1] <= DOPPEL_VIEW_FURNITURE)
        core++;
    return core;
}

/** Whether a view shows a border or furniture that another view has not. */
static bool is_framed(const struct doppel_fingerprint *fingerprint, uint32_t view)
{
    return view < fingerprint->positions[core_of(fingerprint)];
}

/** Strangers in the same frame, or on the same app's screen, look alike as a whole: what is inside
 * has to be alike too, if only a little. */
static bool cores_agree(const struct doppel_fingerprint *query,
                        const struct doppel_fingerprint *item, unsigned orientation)
{
    const struct doppel_code *of_item = &item->codes[core_of(item)];
    struct doppel_code code = doppel_image_orient(&query->codes[core_of(query)], orientation);
    return doppel_code_distance(&code, of_item, 256) +
               JUDGE_WEIGHT * doppel_code_distance(&code, of_item, 64) <=
           JUDGE_CORE_SCORE_MAX;
}

/** One oriented view of the query against all views of the item. */
static void compare_views(const struct doppel_code *code, struct judge_pair pair,
                          const struct doppel_fingerprint *query,
                          const struct doppel_fingerprint *item, enum doppel_image_views views,
                          struct judge_pair best[JUDGE_CLASSES])
{
    bool query_framed = is_framed(query, pair.query_view);
    for (uint32_t i = 0; i < item->count; i++) {
        if (!judge_view_counts(item->positions[i], views, false))
            continue;
        pair.item_view = (uint8_t)item->positions[i];
        pair.distance64 = (uint16_t)doppel_code_distance(code, &item->codes[i], 64);
        if (pair.distance64 > DOPPEL_IMAGE_CANDIDATE_RADIUS && (pair.item_view || pair.query_view))
            continue;
        pair.distance256 = (uint16_t)doppel_code_distance(code, &item->codes[i], 256);
        if (!is_candidate(&pair))
            continue;
        pair.framed = query_framed && is_framed(item, pair.item_view);
        if (pair.framed && !cores_agree(query, item, pair.orientation))
            continue;
        enum judge_class class = judge_class_of(pair.query_view, pair.item_view, pair.orientation);
        struct judge_pair *top = &best[class];
        pair.score = score_of(&pair, class);
        if (pair.score < top->score)
            *top = pair;
    }
}

/** d256 + d64 of the crop of both in which they differ least; UINT16_MAX without crops. */
static uint16_t nearest_part(const struct doppel_fingerprint *a, const struct doppel_fingerprint *b)
{
    uint16_t nearest = UINT16_MAX;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->positions[i] != b->positions[j]) {
            a->positions[i] < b->positions[j] ? i++ : j++;
            continue;
        }
        uint32_t score = doppel_code_distance(&a->codes[i], &b->codes[j], 256) +
                         JUDGE_FULL_WEIGHT * doppel_code_distance(&a->codes[i], &b->codes[j], 64);
        if (a->positions[i] >= DOPPEL_VIEW_CENTRE && score < nearest)
            nearest = (uint16_t)score;
        i++, j++;
    }
    return nearest;
}

/** What is painted on a picture, and the corners that a turn leaves, spoil some crops less than the
 * frame. */
static void compare_parts(const struct doppel_fingerprint *query,
                          const struct doppel_fingerprint *item,
                          struct judge_pair best[JUDGE_CLASSES])
{
    const struct judge_pair *full = &best[JUDGE_FULL];
    uint16_t part = full->score <= JUDGE_SCORE_MAX ? nearest_part(query, item) : UINT16_MAX;
    if (part == UINT16_MAX)
        return;
    best[JUDGE_PARTS] = *full;
    best[JUDGE_PARTS].score = (uint16_t)((full->score + part) / 2);
}

void judge_best_pairs(const struct doppel_fingerprint *query, const struct doppel_fingerprint *item,
                      const struct doppel_image_judge_options *options,
                      struct judge_pair best[JUDGE_CLASSES])
{
    for (int i = 0; i < JUDGE_CLASSES; i++)
        best[i] = (struct judge_pair){.score = UINT16_MAX};
    unsigned orientations = options->orientations ? DOPPEL_IMAGE_ORIENTATIONS : 1;
    for (uint32_t i = 0; i < query->count; i++) {
        if (!judge_view_counts(query->positions[i], options->views, true))
            continue;
        for (unsigned o = 0; o < orientations; o++) {
            struct doppel_code code = doppel_image_orient(&query->codes[i], o);
            struct judge_pair pair = {.query_view = (uint8_t)query->positions[i],
                                      .orientation = (uint8_t)o};
            compare_views(&code, pair, query, item, options->views, best);
        }
    }
    if (options->views == DOPPEL_VIEWS_ALL)
        compare_parts(query, item, best);
}

/** Nothing within the radius: say so by the full frames. */
static struct doppel_image_verdict no_candidate(void)
{
    return (struct doppel_image_verdict){
        .distance64 = 64, .distance256 = 256, .false_positive_rate = 1, .similarity = 0};
}

struct doppel_image_verdict judge_by(const struct calibration *calibration,
                                     const struct judge_pair best[JUDGE_CLASSES])
{
    const struct judge_pair *top = NULL;
    double log_rate = 0;
    for (int i = 0; i < JUDGE_CLASSES; i++) {
        if (best[i].score > JUDGE_SCORE_MAX)
            continue;
        double class_rate = calibration_log_rate(calibration, i, best[i].score);
        if (!top || class_rate < log_rate) {
            log_rate = class_rate;
            top = &best[i];
        }
    }
    if (!top)
        return no_candidate();
    double rate = fmin(1, pow(10, log_rate));
    return (struct doppel_image_verdict){.distance64 = top->distance64,
                                         .distance256 = top->distance256,
                                         .query_view = top->query_view,
                                         .item_view = top->item_view,
                                         .orientation = top->orientation,
                                         .false_positive_rate = rate,
                                         .similarity = doppel_image_similarity_at(rate)};
}

struct doppel_image_verdict doppel_image_judge(const struct doppel_fingerprint *query,
                                               const struct doppel_fingerprint *item,
                                               const struct doppel_image_judge_options *options)
{
    struct judge_pair best[JUDGE_CLASSES];
    judge_best_pairs(query, item, options, best);
    return judge_by(&calibration_builtin, best);
}
