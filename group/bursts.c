/* Shots of a burst: pictures of one camera within seconds, by EXIF. They are no copies of each
 * other; where they are wanted, those of one scene are a group. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

/* ---- and copies ---- */

/* Both are known, and differ. */
static bool have_other_times(const struct doppel_image_origin *a,
                             const struct doppel_image_origin *b)
{
    return a->taken_s != b->taken_s ||
           (a->taken_fraction && b->taken_fraction && a->taken_fraction != b->taken_fraction);
}

/* Of one second whose parts are not known, another size is rather that of an export. */
bool are_other_shots(const struct doppel_image_origin *a, const struct doppel_image_origin *b,
                     bool same_size)
{
    return doppel_image_is_burst(a, b) && (same_size || have_other_times(a, b));
}

/* What is known of an item; of the one that was asked of last it is known by now. */
static const struct known_origin *ask_origin(struct grouping *grouping, uint32_t number,
                                             struct known_origin *asked)
{
    if (asked->item == number + 1)
        return asked;
    asked->item = number + 1;
    asked->known = grouping_load_origin(grouping, number, &asked->origin);
    return asked;
}

bool bursts_separate(struct grouping *grouping, uint32_t a, uint32_t b)
{
    const struct known_origin *first = ask_origin(grouping, a, &grouping->asked[0]);
    if (!first->known || !first->origin.taken_s || !*first->origin.camera)
        return false;
    const struct known_origin *second = ask_origin(grouping, b, &grouping->asked[1]);
    return second->known && are_other_shots(&first->origin, &second->origin, false);
}

/* ---- groups of them ---- */

/* A picture whose camera and time are known. */
struct shot {
    struct doppel_image_origin origin;
    struct doppel_code code; /* of the whole picture */
    uint32_t item;
};

typedef ARRAY(struct shot) shot_array;

/* The most bits of 64 by which shots of one scene differ. */
enum { SCENE_DISTANCE = 20, SCENE_BITS = 64 };

static int compare_shots(const void *left, const void *right)
{
    const struct shot *a = left, *b = right;
    const int camera = strcmp(a->origin.camera, b->origin.camera);
    if (camera)
        return camera;
    if (a->origin.taken_s != b->origin.taken_s)
        return a->origin.taken_s < b->origin.taken_s ? -1 : 1;
    if (a->origin.taken_fraction != b->origin.taken_fraction)
        return a->origin.taken_fraction < b->origin.taken_fraction ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* @return false without memory */
static bool add_shot(const struct grouping *grouping, uint32_t item, shot_array *shots)
{
    struct doppel_image_features features;
    bool room = true;
    if (grouping_first_of(grouping, item) != item ||
        grouping_find_features(grouping, item, &features))
        return true;
    const struct doppel_fingerprint *views = &features.fingerprint;
    if (features.origin.taken_s && *features.origin.camera && views->count &&
        views->positions[0] == DOPPEL_VIEW_FULL)
        room = array_push(shots, ((struct shot){features.origin, views->codes[0], item}));
    doppel_fingerprint_free(&features.fingerprint);
    return room;
}

/* The representative of the group that another one's was joined to. */
static uint32_t find_joined(const uint32_t *joined, uint32_t number)
{
    while (joined[number] != number)
        number = joined[number];
    return number;
}

static bool have_same_size(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    const struct grouping_item first = item_store_get(&grouping->items, a);
    const struct grouping_item second = item_store_get(&grouping->items, b);
    return first.width == second.width && first.height == second.height;
}

/* Two shots of a scene. Those that are near enough to be in a group as it is are shots as well.
 * @param joined whose group that of each representative is joined to */
static void join_shots(struct grouping *grouping, uint32_t *joined, uint32_t first, uint32_t other)
{
    const uint32_t a = find_joined(joined, grouping->shots[first]);
    const uint32_t b = find_joined(joined, grouping->shots[other]);
    if (grouping_are_distinct(grouping, first, other))
        return;
    if (grouping->shots[first] == grouping->shots[other])
        grouping->shots[other] = other;
    else
        joined[a > b ? a : b] = a > b ? b : a;
}

/* In the order of time: each that is like the first one of its scene. */
static void join_scenes(struct grouping *grouping, const shot_array *shots, uint32_t *joined)
{
    const struct shot *scene = NULL, *last = NULL, *shot = shots->items;
    for (size_t i = 0; i < shots->count; i++, last = shot++) {
        const bool follows = last && !strcmp(last->origin.camera, shot->origin.camera) &&
                             (!have_other_times(&last->origin, &shot->origin) ||
                              doppel_image_is_burst(&last->origin, &shot->origin));
        if (follows && grouping->shots[last->item] == grouping->shots[shot->item] &&
            !have_other_times(&last->origin, &shot->origin))
            continue; /* a copy */
        if (!follows ||
            doppel_code_distance(&scene->code, &shot->code, SCENE_BITS) > SCENE_DISTANCE)
            scene = shot;
        else if (have_other_times(&scene->origin, &shot->origin) ||
                 are_other_shots(&scene->origin, &shot->origin,
                                 have_same_size(grouping, scene->item, shot->item)))
            join_shots(grouping, joined, scene->item, shot->item);
    }
}

enum doppel_status bursts_join(struct grouping *grouping, uint32_t *leaders,
                               struct doppel_error *error)
{
    const uint32_t count = item_store_count(&grouping->items);
    uint32_t *joined = calloc(count + 1, sizeof *joined);
    shot_array shots = {0};
    grouping->shots = calloc(count + 1, sizeof *grouping->shots);
    bool room = joined && grouping->shots;
    for (uint32_t i = 0; i < count && room && !doppel_run_cancelled(grouping->options->run); i++) {
        grouping->shots[i] = leaders[i];
        joined[i] = i;
        room = add_shot(grouping, i, &shots);
    }
    if (room && shots.count) {
        qsort(shots.items, shots.count, sizeof *shots.items, compare_shots);
        join_scenes(grouping, &shots, joined);
        for (uint32_t i = 0; i < count; i++)
            leaders[i] = find_joined(joined, leaders[i]);
    }
    array_free(&shots);
    free(joined);
    return room
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the groups of %u files", count);
}

/* ---- in a group ---- */

static uint32_t shot_of_item(const struct grouping *grouping, uint32_t number)
{
    return grouping->shots[grouping_first_of(grouping, number)];
}

bool bursts_joined(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    return grouping->shots && shot_of_item(grouping, a) != shot_of_item(grouping, b);
}

/* The strengths of the higher frequencies, 3 to 7 of 8×8 blocks. */
static unsigned sharpness_of(const struct grouping *grouping, uint32_t number)
{
    struct doppel_image_origin origin;
    unsigned sum = 0;
    if (grouping_load_origin(grouping, number, &origin))
        for (int i = 2; i < 7; i++)
            sum += origin.spectrum[i];
    return sum;
}

static uint64_t pixels_of_item(const struct grouping *grouping, uint32_t number)
{
    const struct grouping_item item = item_store_get(&grouping->items, number);
    return (uint64_t)item.width * item.height;
}

/* Of those with the most pixels, the sharpest one; UINT32_MAX: the choice is made by more than
 * that. */
static uint32_t find_sharpest(const struct grouping *grouping, const struct led_item *members,
                              size_t count)
{
    uint32_t best = UINT32_MAX;
    uint64_t most = 0;
    unsigned sharpest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct grouping_item item = item_store_get(&grouping->items, members[i].item);
        const uint64_t pixels = pixels_of_item(grouping, members[i].item);
        if (item.reference || item.chosen)
            return UINT32_MAX;
        if (pixels < most)
            continue;
        const unsigned sharpness = sharpness_of(grouping, members[i].item);
        if (pixels > most || sharpness > sharpest || best == UINT32_MAX) {
            best = members[i].item;
            sharpest = sharpness;
        }
        most = pixels;
    }
    return best;
}

size_t bursts_prefer_sharpest(const struct grouping *grouping, struct led_item *members,
                              size_t count)
{
    bool shots = false;
    for (size_t i = 1; i < count; i++)
        shots |= bursts_joined(grouping, members[0].item, members[i].item);
    const uint32_t best = shots && !grouping->options->group->keep_given
                              ? find_sharpest(grouping, members, count)
                              : UINT32_MAX;
    if (best == UINT32_MAX)
        return count;
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (!bursts_joined(grouping, best, members[i].item))
            members[used++] = members[i];
    return used;
}
