/* Which look-ups find a picture, and under which codes it is found. */
#include <doppel/image.h>

static bool is_wanted(uint32_t view, enum doppel_image_views views, bool query)
{
    switch (view) {
    case DOPPEL_VIEW_FULL:
        return true;
    case DOPPEL_VIEW_TRIMMED:
        return views != DOPPEL_VIEWS_FULL;
    case DOPPEL_VIEW_FURNITURE:
        return query && views != DOPPEL_VIEWS_FULL;
    default:
        return !query && views == DOPPEL_VIEWS_ALL && view < DOPPEL_VIEW_COUNT;
    }
}

size_t doppel_image_queries(const struct doppel_fingerprint *fingerprint,
                            const struct doppel_image_judge_options *options,
                            struct doppel_image_query out[DOPPEL_IMAGE_MAX_QUERIES])
{
    unsigned orientations = options->orientations ? DOPPEL_IMAGE_ORIENTATIONS : 1;
    size_t count = 0;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        uint32_t view = fingerprint->positions[i];
        if (!is_wanted(view, options->views, true))
            continue;
        for (unsigned o = 0; o < orientations && count < DOPPEL_IMAGE_MAX_QUERIES; o++)
            out[count++] = (struct doppel_image_query){
                .code = doppel_image_orient(&fingerprint->codes[i], o).word[0],
                .view = (uint8_t)view,
                .orientation = (uint8_t)o};
    }
    return count;
}

size_t doppel_image_index_codes(const struct doppel_fingerprint *fingerprint,
                                const struct doppel_image_judge_options *options,
                                uint64_t out[DOPPEL_VIEW_COUNT])
{
    size_t count = 0;
    for (uint32_t i = 0; i < fingerprint->count && count < DOPPEL_VIEW_COUNT; i++)
        if (is_wanted(fingerprint->positions[i], options->views, false))
            out[count++] = fingerprint->codes[i].word[0];
    return count;
}
