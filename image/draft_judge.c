/* A judge until the calibrated one lands: the nearest pair of views, and a straight line. */
#include <doppel/image.h>

#include <math.h>

struct doppel_image_judge_options doppel_image_judge_options_default(void)
{
    return (struct doppel_image_judge_options){.views = DOPPEL_VIEWS_ALL, .orientations = true};
}

static bool meets(uint32_t query_view, uint32_t item_view, enum doppel_image_views views)
{
    uint32_t most = views == DOPPEL_VIEWS_FULL ? 0 : views == DOPPEL_VIEWS_TRIM ? 1 : 7;
    return query_view <= DOPPEL_VIEW_FURNITURE && query_view <= most && item_view <= most &&
           item_view != DOPPEL_VIEW_FURNITURE;
}

static double log_rate(uint32_t score)
{
    return fmin(0, -8 + (score - 110.0) / 15);
}

struct doppel_image_verdict doppel_image_judge(const struct doppel_fingerprint *query,
                                               const struct doppel_fingerprint *item,
                                               const struct doppel_image_judge_options *options)
{
    struct doppel_image_verdict best = {64, 256, 0, 0, 0, 1, 0};
    uint32_t best_score = UINT32_MAX;
    for (uint32_t a = 0; a < query->count; a++)
        for (unsigned turn = 0; turn < (options->orientations ? 8u : 1u); turn++) {
            struct doppel_code code = doppel_image_orient(&query->codes[a], turn);
            for (uint32_t b = 0; b < item->count; b++) {
                if (!meets(query->positions[a], item->positions[b], options->views))
                    continue;
                uint32_t near = doppel_code_distance(&code, &item->codes[b], 64);
                uint32_t score = doppel_code_distance(&code, &item->codes[b], 256) + 3 * near;
                if (score >= best_score)
                    continue;
                best_score = score;
                best = (struct doppel_image_verdict){near,
                                                     score - 3 * near,
                                                     (uint8_t)query->positions[a],
                                                     (uint8_t)item->positions[b],
                                                     (uint8_t)turn,
                                                     pow(10, log_rate(score)),
                                                     fmax(0, 1 - score / 224.0)};
            }
        }
    return best;
}

double doppel_image_similarity_at(double false_positive_rate)
{
    return fmax(0, 1 - ((log10(false_positive_rate) + 8) * 15 + 110) / 224);
}

double doppel_image_fpr_at(double similarity)
{
    return pow(10, log_rate((uint32_t)(224 * (1 - similarity))));
}

bool doppel_image_check_pixels(const struct doppel_image_features *query,
                               const struct doppel_image_features *item,
                               const struct doppel_image_judge_options *options,
                               struct doppel_image_verdict *verdict)
{
    *verdict = doppel_image_judge(&query->fingerprint, &item->fingerprint, options);
    return false;
}
