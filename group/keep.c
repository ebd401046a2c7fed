/* Which member of a group is kept. Of pictures what counts is what they show: a frame around a copy
 * makes it larger and no better. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

/* Contents that differ by less are of one size: the borders of a frame are found to a row of a
 * plane of about 192, on both sides. */
static const double SAME_CONTENT_SHARE = .96;
/* What takes more of the picture has no frame that the others lack. */
static const double UNFRAMED_SHARE = .98;

enum { ORIENTATIONS = 8 };

/* How a picture stands beside the others of its group. */
struct image_standing {
    double share; /* of the picture, without its frame */
    uint64_t pixels;
    unsigned orientation; /* to the first member: quarter turns, 4: mirrored */
    bool framed, turned;
};

/* ---- what pictures show ---- */

/* The share of a picture within its frame; 1 where there is none, or nothing is known of it. */
static double content_share(const struct grouping *grouping, uint32_t number)
{
    const struct grouping_options *options = grouping->options;
    struct grouping_item item = item_store_get(&grouping->items, number);
    struct doppel_image_features features = {0};
    char *path = item_store_path(&grouping->items, number);
    double share = 1;
    item.path = path;
    if (path && options->features && options->features(options->context, &item, &features))
        share = doppel_image_content_share(&features);
    doppel_fingerprint_free(&features.fingerprint);
    free(path);
    return share;
}

/* @param out_framed set where one of the two has a frame that the other one lacks */
static unsigned orientation_to(const struct grouping *grouping, uint32_t item, uint32_t first,
                               bool *out_framed)
{
    struct doppel_match match = {0};
    uint32_t query = grouping_first_of(grouping, item);
    first = grouping_first_of(grouping, first);
    if (query == first || !grouping->kind->compare(grouping, query, first, &match))
        return 0;
    *out_framed |= match.transform.trimmed;
    return match.transform.rotated / 90U % 4 + (match.transform.mirrored ? 4 : 0);
}

/* Those are turned that do not stand as more than half of them do. */
static void mark_turned(struct image_standing *standings, size_t count)
{
    size_t counts[ORIENTATIONS] = {0};
    for (size_t i = 0; i < count; i++)
        counts[standings[i].orientation]++;
    for (unsigned usual = 0; usual < ORIENTATIONS; usual++)
        for (size_t i = 0; i < count && counts[usual] > count / 2; i++)
            standings[i].turned = standings[i].orientation != usual;
}

/* Contents nearly as large as the largest one are as large. */
static void mark_framed(struct image_standing *standings, size_t count)
{
    uint64_t most = 0;
    double widest = 0;
    for (size_t i = 0; i < count; i++) {
        most = standings[i].pixels > most ? standings[i].pixels : most;
        widest = standings[i].share > widest ? standings[i].share : widest;
    }
    for (size_t i = 0; i < count; i++) {
        struct image_standing *standing = &standings[i];
        if ((double)standing->pixels > SAME_CONTENT_SHARE * (double)most)
            standing->pixels = most;
        standing->framed = standing->share < UNFRAMED_SHARE * widest;
    }
}

/* What a frame is is said by the others: where all pictures have the same margins, as a night sky
 * has, these are theirs. */
static void look_at_images(const struct grouping *grouping, const struct led_item *members,
                           size_t count, struct image_standing *standings)
{
    bool framed = false;
    for (size_t i = 0; i < count; i++)
        standings[i].orientation =
            orientation_to(grouping, members[i].item, members[0].item, &framed);
    for (size_t i = 0; i < count && framed; i++) {
        struct grouping_item item = item_store_get(&grouping->items, members[i].item);
        standings[i].share = content_share(grouping, members[i].item);
        standings[i].pixels =
            (uint64_t)(standings[i].share * (double)item.width * (double)item.height);
    }
    if (framed)
        mark_framed(standings, count);
    mark_turned(standings, count);
}

/* ---- the better of two ---- */

static struct doppel_candidate policy_candidate(const struct grouping_item *item, const char *path,
                                                const struct image_standing *standing)
{
    return (struct doppel_candidate){.authority = item->authority,
                                     .width = item->width,
                                     .height = item->height,
                                     .content_pixels = standing->pixels,
                                     .framed = standing->framed,
                                     .turned = standing->turned,
                                     .size = item->size,
                                     .mtime_ns = item->mtime_ns,
                                     .path = path};
}

static bool is_better_by_policy(const struct grouping *grouping, const uint32_t numbers[2],
                                const struct image_standing *const standings[2], bool *no_memory)
{
    struct doppel_candidate candidates[2];
    char *paths[2];
    for (int i = 0; i < 2; i++) {
        struct grouping_item item = item_store_get(&grouping->items, numbers[i]);
        paths[i] = item_store_path(&grouping->items, numbers[i]);
        candidates[i] = policy_candidate(&item, paths[i], standings[i]);
    }
    *no_memory |= !paths[0] || !paths[1];
    bool better =
        paths[0] && paths[1] &&
        doppel_keep_compare(&grouping->options->policy, &candidates[0], &candidates[1], NULL) < 0;
    free(paths[0]);
    free(paths[1]);
    return better;
}

/* Whether the first one is rather kept: a reference, else a file, else what was chosen or is whole,
 * else the better by policy. */
static bool is_better_kept(const struct grouping *grouping, const uint32_t numbers[2],
                           const struct image_standing *const standings[2], bool *no_memory)
{
    struct grouping_item x = item_store_get(&grouping->items, numbers[0]);
    struct grouping_item y = item_store_get(&grouping->items, numbers[1]);
    if (x.reference != y.reference)
        return x.reference;
    if (x.no_file != y.no_file)
        return y.no_file;
    if (x.chosen != y.chosen)
        return x.chosen;
    if (x.cut != y.cut)
        return y.cut;
    int preferred = grouping->kind->prefer
                        ? grouping->kind->prefer(grouping, grouping_first_of(grouping, numbers[0]),
                                                 grouping_first_of(grouping, numbers[1]))
                        : 0;
    return preferred ? preferred > 0 : is_better_by_policy(grouping, numbers, standings, no_memory);
}

/* Whether what pictures show is asked for at all. */
static bool is_by_content(const struct grouping *grouping)
{
    const struct doppel_keep_policy *policy = &grouping->options->policy;
    return grouping->options->kind == DOPPEL_KIND_IMAGE &&
           memchr(policy->criteria, DOPPEL_KEEP_RESOLUTION, policy->count);
}

bool grouping_choose_kept(const struct grouping *grouping, const struct led_item *members,
                          size_t count, uint32_t *out)
{
    struct image_standing *standings = calloc(count, sizeof *standings);
    bool no_memory = false;
    size_t best = 0;
    if (!standings)
        return false;
    if (is_by_content(grouping))
        look_at_images(grouping, members, count, standings);
    for (size_t i = 1; i < count; i++)
        if (is_better_kept(grouping, (const uint32_t[]){members[i].item, members[best].item},
                           (const struct image_standing *const[]){&standings[i], &standings[best]},
                           &no_memory))
            best = i;
    *out = members[best].item;
    free(standings);
    return !no_memory;
}
