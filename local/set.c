/* The set of pictures and videos: postings of the keys of their points, and where these are had
 * from. */
#include <stdlib.h>

#include "core/array.h"
#include "core/number_map.h"
#include "core/try.h"
#include "local/keys.h"
#include "local/set.h"

struct doppel_index_options doppel_local_index_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_POSTINGS;
    options.key_bits = CODE_KEY_BITS;
    return options;
}

/* ---- life ---- */

enum doppel_status doppel_local_set_new(struct doppel_local_set **out, struct doppel_error *error)
{
    struct doppel_index_options options = doppel_local_index_options();
    struct doppel_local_set *set = calloc(1, sizeof *set);
    if (!set)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of pictures");
    enum doppel_status status = doppel_index_new(&options, &set->own, error);
    set->index = set->own;
    if (status)
        free(set);
    else
        *out = set;
    return status;
}

enum doppel_status doppel_local_set_over(const struct doppel_index *index,
                                         doppel_local_source *source, void *context,
                                         struct doppel_local_set **out, struct doppel_error *error)
{
    struct doppel_local_set *set = calloc(1, sizeof *set);
    if (!set)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of pictures");
    *set = (struct doppel_local_set){.index = index, .source = source, .context = context};
    *out = set;
    return DOPPEL_OK;
}

void doppel_local_set_free(struct doppel_local_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->kept.count; i++)
        doppel_local_video_free(&set->kept.items[i]);
    array_free(&set->kept);
    number_map_free(&set->numbers);
    doppel_index_free(set->own);
    free(set);
}

uint64_t doppel_local_set_count(const struct doppel_local_set *set)
{
    struct doppel_index_axis *axis;
    if (set->own)
        return set->count;
    if (!set->index || doppel_index_axis_take(set->index, &axis, NULL))
        return 0;
    uint64_t count = doppel_index_axis_length(axis) / DOPPEL_LOCAL_ITEM_LENGTH;
    doppel_index_axis_free(axis);
    return count;
}

/* ---- items ---- */

static bool local_is_scheme(const struct doppel_fingerprint *fingerprint)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_LOCAL);
    return fingerprint->scheme == scheme->id && fingerprint->version == scheme->version &&
           fingerprint->code_bits == DOPPEL_LOCAL_BITS;
}

enum doppel_status local_check(const struct doppel_fingerprint *fingerprint,
                               struct doppel_error *error)
{
    if (local_is_scheme(fingerprint))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "a fingerprint of another scheme has no points to compare");
}

static uint32_t kept_points(const struct doppel_fingerprint *fingerprint)
{
    return fingerprint->count < DOPPEL_LOCAL_KEPT ? fingerprint->count : DOPPEL_LOCAL_KEPT;
}

/* Those of a frame with this number. */
static size_t frame_postings(const struct doppel_fingerprint *fingerprint, uint32_t frame,
                             struct doppel_index_posting *out)
{
    if (!local_is_scheme(fingerprint))
        return 0;
    uint32_t count = kept_points(fingerprint);
    for (uint32_t i = 0; i < count; i++) {
        struct point_place place = unpack_place(fingerprint->positions[i]);
        out[i] = (struct doppel_index_posting){point_key(&fingerprint->codes[i]),
                                               frame * DOPPEL_LOCAL_ITEM_LENGTH +
                                                   posting_of(place.angle, place.scale)};
    }
    return count;
}

size_t doppel_local_postings(const struct doppel_fingerprint *fingerprint,
                             struct doppel_index_posting out[DOPPEL_LOCAL_KEPT])
{
    return frame_postings(fingerprint, 0, out);
}

enum doppel_status doppel_local_video_postings(const struct doppel_local_video *video,
                                               struct doppel_index_posting **out, size_t *out_count,
                                               struct doppel_error *error)
{
    size_t count = 0;
    struct doppel_index_posting *postings =
        malloc(((size_t)video->count * DOPPEL_LOCAL_KEPT + 1) * sizeof *postings);
    if (!postings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a video");
    for (uint32_t i = 0; i < video->count; i++)
        count += frame_postings(&video->frames[i].points, i, postings + count);
    *out = postings;
    *out_count = count;
    return DOPPEL_OK;
}

static enum doppel_status insert_points(struct doppel_index *index, uint64_t id,
                                        const struct doppel_local_video *video,
                                        struct doppel_error *error)
{
    struct doppel_index_posting *postings = NULL;
    size_t count;
    enum doppel_status status;
    TRY(doppel_local_video_postings(video, &postings, &count, error));
    const struct doppel_index_item item = {.payload = id,
                                           .length = video->count * DOPPEL_LOCAL_ITEM_LENGTH,
                                           .count = (uint32_t)count,
                                           .postings = postings};
    TRY(doppel_index_insert_item(index, &item, error));
done:
    free(postings);
    return status;
}

static enum doppel_status copy_points(const struct doppel_fingerprint *from,
                                      struct doppel_fingerprint *out, struct doppel_error *error)
{
    struct doppel_fingerprint made;
    enum doppel_status status =
        doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_LOCAL), DOPPEL_LOCAL_BITS,
                                kept_points(from), &made, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < made.count; i++) {
        made.codes[i] = from->codes[i];
        made.positions[i] = from->positions[i];
    }
    *out = made;
    return DOPPEL_OK;
}

/* Without frames that have no points. */
static enum doppel_status copy_frames(const struct doppel_local_video *from,
                                      struct doppel_local_video *out, struct doppel_error *error)
{
    struct doppel_local_video copy = *from;
    enum doppel_status status = DOPPEL_OK;
    copy.count = 0;
    copy.frames = calloc((size_t)from->count + 1, sizeof *copy.frames);
    if (!copy.frames)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a video"));
    for (uint32_t i = 0; i < from->count; i++) {
        struct doppel_local_frame *frame = &copy.frames[copy.count];
        TRY(local_check(&from->frames[i].points, error));
        if (!from->frames[i].points.count)
            continue;
        *frame = from->frames[i];
        TRY(copy_points(&from->frames[i].points, &frame->points, error));
        copy.count++;
    }
    *out = copy;
    return DOPPEL_OK;
done:
    doppel_local_video_free(&copy);
    return status;
}

enum doppel_status doppel_local_set_add_video(struct doppel_local_set *set, uint64_t id,
                                              const struct doppel_local_video *video,
                                              struct doppel_error *error)
{
    struct doppel_local_video kept = {0};
    enum doppel_status status;
    if (!set->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index that is kept is not added to");
    TRY(copy_frames(video, &kept, error));
    uint64_t number = number_map_find(&set->numbers, id);
    if (number && set->kept.items[number - 1].frames)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "a picture is in the set already"));
    if (!array_reserve(&set->kept) || !number_map_reserve(&set->numbers, 1))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for another picture"));
    if (kept.count)
        TRY(insert_points(set->own, id, &kept, error));
    if (!number)
        *number_map_place(&set->numbers, id) = number = ++set->kept.count;
    set->kept.items[number - 1] = kept;
    set->count += kept.count;
    kept = (struct doppel_local_video){0};
done:
    doppel_local_video_free(&kept);
    return status;
}

enum doppel_status doppel_local_set_add(struct doppel_local_set *set, uint64_t id,
                                        const struct doppel_fingerprint *fingerprint,
                                        struct doppel_error *error)
{
    struct doppel_local_frame frame = {.points = *fingerprint};
    const struct doppel_local_video picture = {.frames = &frame, .count = 1};
    return doppel_local_set_add_video(set, id, &picture, error);
}

enum doppel_status doppel_local_set_remove(struct doppel_local_set *set, uint64_t id,
                                           struct doppel_error *error)
{
    if (!set->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index that is kept is not removed from");
    uint64_t number = number_map_find(&set->numbers, id);
    if (!number)
        return DOPPEL_OK;
    enum doppel_status status = doppel_index_remove(set->own, &id, 1, error);
    if (status)
        return status;
    set->count -= set->kept.items[number - 1].count;
    doppel_local_video_free(&set->kept.items[number - 1]);
    return DOPPEL_OK;
}
