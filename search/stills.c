/* The frames of videos compared with an image, as images are. */
#include "search/stills.h"

#include "compare/image.h"

/* The frame in the middle of what its code stands for. */
static enum doppel_status read_still(const struct track_search *search,
                                     const struct still_candidate *candidate,
                                     struct doppel_record *out, struct doppel_error *error)
{
    struct doppel_item item;
    if (doppel_library_get(search->library, candidate->found.id, false, &item, NULL))
        return DOPPEL_E_NOT_FOUND;
    const double seconds = (candidate->segment.b_start + candidate->segment.b_end) / 2;
    enum doppel_status status =
        search->options->still(search->options->context, &item, seconds, out, error);
    doppel_item_free(&item);
    return status;
}

/* When the frame is shown stays as the codes said. */
static void take_still_match(const struct doppel_match *still, struct doppel_match *match)
{
    match->similarity = still->similarity;
    match->distance = still->distance;
    match->bits = still->bits;
    match->score = still->score;
    match->false_positive_rate = still->false_positive_rate;
    match->transform.mirrored = still->transform.mirrored;
    match->verified = still->verified;
}

enum doppel_status still_check(const struct track_search *search, const struct doppel_record *image,
                               uint64_t frames, struct still_candidate *candidate,
                               struct doppel_error *error)
{
    struct doppel_compare_options compare = search->options->compare;
    struct doppel_record still = {0};
    struct doppel_match match;
    compare.images_compared = frames;
    enum doppel_status status = read_still(search, candidate, &still, error);
    if (!status && still.fingerprint.count && images_match(&compare, image, &still, &match)) {
        take_still_match(&match, &candidate->found.match);
        candidate->found.borderline = false;
    }
    doppel_record_free(&still);
    return status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY ? status : DOPPEL_OK;
}
