/* When records match: the defaults, and which scheme a kind is compared by. */
#include <doppel/compare.h>

struct doppel_compare_options doppel_compare_options_default(void)
{
    struct doppel_image_verify_options image = doppel_image_verify_options_default();
    struct doppel_compare_options options = {
        .max_distance = -1,
        .min_similarity = -1,
        .text_similarity = -1,
        .max_false_positives = -1,
        .check_pixels = true,
        .views = image.views,
        .orientations = image.orientations,
        .text = doppel_text_options_default(),
    };
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    for (size_t i = 0; i < count; i++)
        if (options.schemes[schemes[i].kind].id == DOPPEL_SCHEME_NONE)
            options.schemes[schemes[i].kind] = schemes[i];
    return options;
}

const struct doppel_scheme *doppel_compare_scheme(const struct doppel_compare_options *options,
                                                  enum doppel_kind kind)
{
    if ((unsigned)kind > DOPPEL_KIND_VIDEO || options->schemes[kind].id == DOPPEL_SCHEME_NONE)
        return NULL;
    return &options->schemes[kind];
}
