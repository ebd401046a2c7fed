/* Which member of a group is kept. Of images and videos what counts is what they show, and of
 * images what is seen of how they came about (library/ledger/looks.c). */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

/* What is known of the members, for the policy. */
struct members_known {
    const struct led_item *members;
    size_t count;
    struct doppel_candidate *candidates; /* of each; `path` is looked up when it is needed */
    struct doppel_image_look *looks;     /* of each image, or video */
};

static void members_known_free(struct members_known *known)
{
    free(known->candidates);
    free(known->looks);
}

static bool members_known_make(const struct grouping *grouping, struct members_known *known)
{
    known->candidates = calloc(known->count, sizeof *known->candidates);
    known->looks = calloc(known->count, sizeof *known->looks);
    if (!known->candidates || !known->looks)
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

/* ---- what images show ---- */

enum doppel_status grouping_find_features(const struct grouping *grouping, uint32_t number,
                                          struct doppel_image_features *out)
{
    const struct grouping_options *options = grouping->options;
    struct grouping_item item = item_store_get(&grouping->items, number);
    char *path = item_store_path(&grouping->items, number);
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    item.path = path;
    *out = (struct doppel_image_features){0};
    if (!path)
        status = DOPPEL_E_MEMORY;
    else if (options->features && !parts_duration(grouping, grouping_first_of(grouping, number)))
        status = options->features(options->context, &item, out);
    free(path);
    return status;
}

bool grouping_load_origin(const struct grouping *grouping, uint32_t number,
                          struct doppel_image_origin *out)
{
    struct doppel_image_features features;
    bool known = !grouping_find_features(grouping, number, &features);
    if (known)
        *out = features.origin;
    doppel_fingerprint_free(&features.fingerprint);
    return known;
}

/* Who cannot be looked at any more is said: another one may be kept because of that.
 * @param out fingerprint given (doppel_fingerprint_free) */
static bool load_features(const struct grouping *grouping, uint32_t number,
                          struct doppel_image_features *out)
{
    enum doppel_status status = grouping_find_features(grouping, number, out);
    char *path = item_store_path(&grouping->items, number);
    if (status && status != DOPPEL_E_NOT_FOUND)
        doppel_run_notice(grouping->options->run,
                          "%s: what was seen of it is gone; look at its group before "
                          "anything is removed",
                          path ? path : "an image");
    free(path);
    return !status;
}

/* What has the same content looks the same: it is not loaded again. */
static void look_at_images(const struct grouping *grouping, struct members_known *known)
{
    struct doppel_image_features first, image;
    uint32_t last = 0;
    if (!load_features(grouping, known->members[0].item, &first))
        goto done;
    for (size_t i = 0; i < known->count; i++) {
        uint32_t content = grouping_first_of(grouping, known->members[i].item);
        if (i && content == grouping_first_of(grouping, known->members[last].item)) {
            known->looks[i] = known->looks[last];
            continue;
        }
        if (load_features(grouping, known->members[i].item, &image))
            known->looks[i] =
                doppel_image_look_make(&image, &known->candidates[i], &first, known->candidates);
        doppel_fingerprint_free(&image.fingerprint);
        last = (uint32_t)i;
    }
done:
    doppel_fingerprint_free(&first.fingerprint);
}

/* Whether there are two contents at all. */
static bool have_different_contents(const struct grouping *grouping,
                                    const struct members_known *known)
{
    uint32_t first = grouping_first_of(grouping, known->members[0].item);
    for (size_t i = 1; i < known->count; i++)
        if (grouping_first_of(grouping, known->members[i].item) != first)
            return true;
    return false;
}

static void look_at_members(const struct grouping *grouping, struct members_known *known)
{
    const uint32_t first = grouping_first_of(grouping, known->members[0].item);
    if (grouping->options->kind == DOPPEL_KIND_VIDEO ||
        (grouping->waiting.count && parts_duration(grouping, first)))
        videos_look(grouping, known->members, known->count, known->looks);
    else
        look_at_images(grouping, known);
    doppel_candidates_compare_images(known->candidates, known->looks, known->count);
}

/* Whether what images and videos show, and dates of images, are asked for at all. */
static bool is_by_look(const struct grouping *grouping)
{
    const struct doppel_keep_policy *policy = &grouping->options->policy;
    return (grouping->options->kind == DOPPEL_KIND_IMAGE ||
            grouping->options->kind == DOPPEL_KIND_VIDEO) &&
           (memchr(policy->criteria, DOPPEL_KEEP_RESOLUTION, policy->count) ||
            memchr(policy->criteria, DOPPEL_KEEP_DATE, policy->count));
}

/* ---- the better of two ---- */

/* Which of two is kept, and why. */
struct better {
    bool first;
    const char *reason;
    bool asked_for;
};

static struct better better_by_policy(const struct grouping *grouping,
                                      const struct members_known *known, size_t a, size_t b,
                                      bool *no_memory)
{
    const struct doppel_keep_policy *policy = &grouping->options->policy;
    struct doppel_candidate left = known->candidates[a], right = known->candidates[b];
    struct better better = {.reason = "order"};
    char *left_path = item_store_path(&grouping->items, known->members[a].item);
    char *right_path = item_store_path(&grouping->items, known->members[b].item);
    left.path = left_path;
    right.path = right_path;
    *no_memory |= !left_path || !right_path;
    if (left_path && right_path)
        better = (struct better){doppel_keep_compare(policy, &left, &right, NULL) < 0,
                                 doppel_keep_reason(policy, &left, &right), false};
    free(left_path);
    free(right_path);
    return better;
}

/* A reference, else a file, else what was chosen or is whole, else the better by policy. */
static struct better better_of(const struct grouping *grouping, const struct members_known *known,
                               size_t a, size_t b, bool *no_memory)
{
    uint32_t first = known->members[a].item, second = known->members[b].item;
    struct grouping_item x = item_store_get(&grouping->items, first);
    struct grouping_item y = item_store_get(&grouping->items, second);
    if (x.reference != y.reference)
        return (struct better){x.reference, "reference", true};
    if (x.no_file != y.no_file)
        return (struct better){y.no_file, "file", false};
    if (x.chosen != y.chosen)
        return (struct better){x.chosen, "chosen", true};
    if (x.cut != y.cut)
        return (struct better){y.cut, "whole", false};
    int preferred = grouping->kind->prefer
                        ? grouping->kind->prefer(grouping, grouping_first_of(grouping, first),
                                                 grouping_first_of(grouping, second))
                        : 0;
    return preferred ? (struct better){preferred > 0,
                                       grouping->kind->is_timed ? "duration" : "whole", false}
                     : better_by_policy(grouping, known, a, b, no_memory);
}

/* The best of the members; but for one. */
static size_t find_best_kept(const struct grouping *grouping, const struct members_known *known,
                             size_t but, bool *no_memory)
{
    size_t best = but == 0;
    for (size_t i = best + 1; i < known->count && !*no_memory; i++)
        if (i != but && better_of(grouping, known, i, best, no_memory).first)
            best = i;
    return best;
}

bool grouping_choose_kept(const struct grouping *grouping, const struct led_item *members,
                          size_t count, struct kept_choice *out)
{
    struct members_known known = {.members = members, .count = count};
    bool no_memory = !members_known_make(grouping, &known);
    size_t best = 0;
    if (!no_memory && is_by_look(grouping) && have_different_contents(grouping, &known))
        look_at_members(grouping, &known);
    if (!no_memory)
        best = find_best_kept(grouping, &known, SIZE_MAX, &no_memory);
    if (!no_memory && count > 1) {
        size_t second = find_best_kept(grouping, &known, best, &no_memory);
        struct better better = better_of(grouping, &known, best, second, &no_memory);
        out->reason = better.reason;
        out->asked_for = better.asked_for;
    }
    out->item = members[best].item;
    members_known_free(&known);
    return !no_memory;
}
