/* Images compared by their codes, and by their pixels. */
#include "compare/image.h"

struct doppel_match_options match_options_from(const struct doppel_compare_options *compare)
{
    struct doppel_match_options options = doppel_match_options_default();
    options.image.views = compare->views;
    options.image.orientations = compare->orientations;
    options.max_distance = compare->max_distance;
    options.min_similarity = compare->min_similarity;
    options.check_pixels = compare->check_pixels;
    options.max_rate = images_rate_from(compare);
    options.compared = compare->images_compared;
    return options;
}

double images_rate_from(const struct doppel_compare_options *compare)
{
    return compare->max_false_positives >= 0 ? compare->max_false_positives
                                             : DOPPEL_IMAGE_QUERY_RATE;
}

static bool pixels_match(const struct doppel_record *a, const struct doppel_record *b,
                         const struct doppel_match_options *options, struct doppel_match *match)
{
    struct doppel_image_features features_a, features_b;
    struct doppel_image_verdict verdict = doppel_match_verdict(match);
    if (!doppel_record_image_features(a, &features_a) ||
        !doppel_record_image_features(b, &features_b))
        return doppel_match_by_codes(match, options);
    (void)doppel_image_check_pixels(&features_a, &features_b, &options->image, &verdict);
    return doppel_match_from_pixels(&verdict, options, match);
}

bool images_match(const struct doppel_compare_options *compare, const struct doppel_record *a,
                  const struct doppel_record *b, struct doppel_match *out)
{
    struct doppel_match_options options = match_options_from(compare);
    struct doppel_match_item query = {&a->fingerprint, a->quality};
    struct doppel_match_item item = {&b->fingerprint, b->quality};
    if (doppel_match_pair(&query, &item, &options, out))
        return true;
    return doppel_match_borderline(out, &options) && pixels_match(a, b, &options, out);
}
