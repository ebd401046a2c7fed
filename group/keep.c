/* Which member of a group is kept. Of pictures what counts is what they show: a frame around a copy
 * makes it larger and no better. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ORIENTATIONS = 8 };

/* What is known of the members, for the policy. */
struct members_known {
    const struct led_item *members;
    size_t count;
    struct doppel_candidate *candidates; /* of each; `path` is looked up when it is needed */
    double *shares;                      /* of each picture, what is within its frame */
    unsigned *orientations;              /* of each, to the first: quarter turns, 4: mirrored */
};

static void members_known_free(struct members_known *known)
{
    free(known->candidates);
    free(known->shares);
    free(known->orientations);
}

static bool members_known_make(const struct grouping *grouping, struct members_known *known)
{
    known->candidates = calloc(known->count, sizeof *known->candidates);
    known->shares = calloc(known->count, sizeof *known->shares);
    known->orientations = calloc(known->count, sizeof *known->orientations);
    if (!known->candidates || !known->shares || !known->orientations)
        return false;
    for (size_t i = 0; i < known->count; i++) {
        struct grouping_item item = item_store_get(&grouping->items, known->members[i].item);
        known->candidates[i] = (struct doppel_candidate){.authority = item.authority,
                                                         .width = item.width,
                                                         .height = item.height,
                                                         .size = item.size,
                                                         .mtime_ns = item.mtime_ns};
    }
    return true;
}

/* ---- what pictures show ---- */

/* The share of a picture within its frame; 1 also where nothing is known of it. */
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

/* @param out_framed set where one of the two meets the other by what is within a frame */
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
static void mark_turned(struct members_known *known)
{
    size_t counts[ORIENTATIONS] = {0};
    for (size_t i = 0; i < known->count; i++)
        counts[known->orientations[i]]++;
    for (unsigned usual = 0; usual < ORIENTATIONS; usual++)
        for (size_t i = 0; i < known->count && counts[usual] > known->count / 2; i++)
            known->candidates[i].turned = known->orientations[i] != usual;
}

static void look_at_images(const struct grouping *grouping, struct members_known *known)
{
    bool framed = false;
    for (size_t i = 0; i < known->count; i++)
        known->orientations[i] =
            orientation_to(grouping, known->members[i].item, known->members[0].item, &framed);
    for (size_t i = 0; i < known->count && framed; i++)
        known->shares[i] = content_share(grouping, known->members[i].item);
    if (framed)
        doppel_candidates_compare_contents(known->candidates, known->shares, known->count);
    mark_turned(known);
}

/* Whether what pictures show is asked for at all. */
static bool is_by_content(const struct grouping *grouping)
{
    const struct doppel_keep_policy *policy = &grouping->options->policy;
    return grouping->options->kind == DOPPEL_KIND_IMAGE &&
           memchr(policy->criteria, DOPPEL_KEEP_RESOLUTION, policy->count);
}

/* ---- the better of two ---- */

static bool is_better_by_policy(const struct grouping *grouping, const struct members_known *known,
                                size_t a, size_t b, bool *no_memory)
{
    struct doppel_candidate left = known->candidates[a], right = known->candidates[b];
    char *left_path = item_store_path(&grouping->items, known->members[a].item);
    char *right_path = item_store_path(&grouping->items, known->members[b].item);
    left.path = left_path;
    right.path = right_path;
    *no_memory |= !left_path || !right_path;
    bool better = left_path && right_path &&
                  doppel_keep_compare(&grouping->options->policy, &left, &right, NULL) < 0;
    free(left_path);
    free(right_path);
    return better;
}

/* Whether member `a` is rather kept than `b`: a reference, else a file, else what was chosen or is
 * whole, else the better by policy. */
static bool is_better_kept(const struct grouping *grouping, const struct members_known *known,
                           size_t a, size_t b, bool *no_memory)
{
    uint32_t first = known->members[a].item, second = known->members[b].item;
    struct grouping_item x = item_store_get(&grouping->items, first);
    struct grouping_item y = item_store_get(&grouping->items, second);
    if (x.reference != y.reference)
        return x.reference;
    if (x.no_file != y.no_file)
        return y.no_file;
    if (x.chosen != y.chosen)
        return x.chosen;
    if (x.cut != y.cut)
        return y.cut;
    int preferred = grouping->kind->prefer
                        ? grouping->kind->prefer(grouping, grouping_first_of(grouping, first),
                                                 grouping_first_of(grouping, second))
                        : 0;
    return preferred ? preferred > 0 : is_better_by_policy(grouping, known, a, b, no_memory);
}

bool grouping_choose_kept(const struct grouping *grouping, const struct led_item *members,
                          size_t count, uint32_t *out)
{
    struct members_known known = {.members = members, .count = count};
    bool no_memory = !members_known_make(grouping, &known);
    size_t best = 0;
    if (!no_memory && is_by_content(grouping))
        look_at_images(grouping, &known);
    for (size_t i = 1; i < count && !no_memory; i++)
        if (is_better_kept(grouping, &known, i, best, &no_memory))
            best = i;
    *out = members[best].item;
    members_known_free(&known);
    return !no_memory;
}
