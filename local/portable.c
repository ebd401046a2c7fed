/* The portable form of a video's points: a head, a table of the frames, and their points in turn.
 */
#include <stdlib.h>

#include "core/bytes.h"
#include "core/try.h"
#include "local/set.h"

/* version u16, 0 u16, frames u32, duration u64, damaged u64; of each frame from u32, to u32, points
 * u32; then of each frame the positions, u32 each, and the codes, 2 u64 each; of what a library
 * keeps u32, without marks, and u64. */
enum {
    VERSION_ALL = 1,
    VERSION_KEPT = 2,
    ENTRY_BYTES = 12,
};

/* @param marks with their marks of unsure bits */
static size_t point_bytes(bool marks)
{
    return marks ? 20 : 16;
}

/* ---- writing ---- */

static uint32_t written_points(const struct doppel_local_frame *frame, bool kept)
{
    return kept && frame->points.count > DOPPEL_LOCAL_KEPT ? DOPPEL_LOCAL_KEPT
                                                           : frame->points.count;
}

static void put_frame_entry(const struct doppel_local_frame *frame, uint32_t points, uint8_t *out)
{
    put_u32(out, frame->from_ms);
    put_u32(out + 4, frame->to_ms);
    put_u32(out + 8, points);
}

static uint8_t *put_frame_points(const struct doppel_fingerprint *points, uint32_t count, bool kept,
                                 uint8_t *out)
{
    const size_t first_bytes = kept ? 4 : 8;
    for (uint32_t i = 0; i < count; i++, out += 4)
        put_u32(out, points->positions[i]);
    for (uint32_t i = 0; i < count; i++, out += first_bytes + 8) {
        if (kept)
            put_u32(out, (uint32_t)points->codes[i].word[0]);
        else
            put_u64(out, points->codes[i].word[0]);
        put_u64(out + first_bytes, points->codes[i].word[1]);
    }
    return out;
}

enum doppel_status doppel_local_video_write(const struct doppel_local_video *video, bool kept,
                                            uint8_t **out, size_t *out_size,
                                            struct doppel_error *error)
{
    size_t size = DOPPEL_LOCAL_HEAD_BYTES;
    for (uint32_t i = 0; i < video->count; i++)
        size += ENTRY_BYTES + written_points(&video->frames[i], kept) * point_bytes(!kept);
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to write %u frames", video->count);
    put_u16(bytes, kept ? VERSION_KEPT : VERSION_ALL);
    put_u16(bytes + 2, 0);
    put_u32(bytes + 4, video->count);
    put_u64(bytes + 8, video->duration_ms);
    put_u64(bytes + 16, video->damaged_ms);
    uint8_t *entry = bytes + DOPPEL_LOCAL_HEAD_BYTES;
    uint8_t *next = entry + (size_t)video->count * ENTRY_BYTES;
    for (uint32_t i = 0; i < video->count; i++, entry += ENTRY_BYTES) {
        const uint32_t points = written_points(&video->frames[i], kept);
        put_frame_entry(&video->frames[i], points, entry);
        next = put_frame_points(&video->frames[i].points, points, kept, next);
    }
    *out = bytes;
    *out_size = size;
    return DOPPEL_OK;
}

/* ---- reading ---- */

static enum doppel_status fail_damaged_points(size_t size, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "these %zu bytes are not those of a video's keypoints", size);
}

enum doppel_status doppel_local_video_head(const uint8_t *data, size_t size,
                                           struct doppel_local_video *out,
                                           struct doppel_error *error)
{
    if (size < DOPPEL_LOCAL_HEAD_BYTES || get_u16(data + 2) ||
        (get_u16(data) != VERSION_ALL && get_u16(data) != VERSION_KEPT))
        return fail_damaged_points(size, error);
    const struct doppel_local_video video = {.count = get_u32(data + 4),
                                             .duration_ms = get_u64(data + 8),
                                             .damaged_ms = get_u64(data + 16)};
    if (video.count > DOPPEL_LOCAL_FRAMES)
        return fail_damaged_points(size, error);
    *out = video;
    return DOPPEL_OK;
}

/* The table is within the bytes. */
static enum doppel_status read_video_head(const uint8_t *data, size_t size,
                                          struct doppel_local_video *out,
                                          struct doppel_error *error)
{
    struct doppel_local_video video;
    enum doppel_status status = doppel_local_video_head(data, size, &video, error);
    if (status)
        return status;
    if ((size - DOPPEL_LOCAL_HEAD_BYTES) / ENTRY_BYTES < video.count)
        return fail_damaged_points(size, error);
    *out = video;
    return DOPPEL_OK;
}

/* A frame of a video, or a picture, which has no times. */
static bool entry_is_good(const uint8_t *entry)
{
    const uint32_t from_ms = get_u32(entry), to_ms = get_u32(entry + 4),
                   points = get_u32(entry + 8);
    return (from_ms < to_ms || !(from_ms | to_ms)) && points && points <= DOPPEL_LOCAL_POINTS;
}

static size_t frame_bytes(const uint8_t *data, const uint8_t *entry)
{
    return get_u32(entry + 8) * point_bytes(get_u16(data) == VERSION_ALL);
}

static bool read_points(const uint8_t *data, bool marks, struct doppel_fingerprint *points)
{
    const uint32_t count = points->count;
    for (uint32_t i = 0; i < count; i++, data += 4) {
        points->positions[i] = get_u32(data);
        if (i && points->positions[i] < points->positions[i - 1])
            return false;
    }
    const size_t first_bytes = marks ? 8 : 4;
    for (uint32_t i = 0; i < count; i++, data += first_bytes + 8) {
        points->codes[i].word[0] = marks ? get_u64(data) : get_u32(data);
        points->codes[i].word[1] = get_u64(data + first_bytes);
    }
    return true;
}

/* @param data its points, of which there are enough bytes */
static enum doppel_status read_entry_frame(const uint8_t *entry, const uint8_t *data, bool marks,
                                           struct doppel_local_frame *out,
                                           struct doppel_error *error)
{
    struct doppel_local_frame frame = {.from_ms = get_u32(entry), .to_ms = get_u32(entry + 4)};
    enum doppel_status status;
    TRY(doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_LOCAL), DOPPEL_LOCAL_BITS,
                                get_u32(entry + 8), &frame.points, error));
    if (!read_points(data, marks, &frame.points))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "the keypoints of a frame are out of order"));
    *out = frame;
    return DOPPEL_OK;
done:
    doppel_fingerprint_free(&frame.points);
    return status;
}

enum doppel_status doppel_local_video_frame(const uint8_t *data, size_t size, uint32_t number,
                                            struct doppel_local_frame *out,
                                            struct doppel_error *error)
{
    struct doppel_local_video video = {0};
    enum doppel_status status = read_video_head(data, size, &video, error);
    if (status)
        return status;
    const uint8_t *entry = data + DOPPEL_LOCAL_HEAD_BYTES;
    size_t at = DOPPEL_LOCAL_HEAD_BYTES + (size_t)video.count * ENTRY_BYTES;
    if (number >= video.count)
        return fail_damaged_points(size, error);
    for (uint32_t i = 0; i < number; i++, entry += ENTRY_BYTES)
        at += frame_bytes(data, entry);
    if (!entry_is_good(entry) || at > size || size - at < frame_bytes(data, entry))
        return fail_damaged_points(size, error);
    return read_entry_frame(entry, data + at, get_u16(data) == VERSION_ALL, out, error);
}

/* The frames follow each other in time, and their points fill the rest. */
static bool table_is_good(const uint8_t *data, size_t size, uint32_t count)
{
    const uint8_t *entry = data + DOPPEL_LOCAL_HEAD_BYTES;
    size_t rest = size - DOPPEL_LOCAL_HEAD_BYTES - (size_t)count * ENTRY_BYTES;
    for (uint32_t i = 0, until_ms = 0; i < count; i++, entry += ENTRY_BYTES) {
        if (!entry_is_good(entry) || get_u32(entry) < until_ms || rest < frame_bytes(data, entry))
            return false;
        rest -= frame_bytes(data, entry);
        until_ms = get_u32(entry + 4);
    }
    return rest == 0;
}

enum doppel_status doppel_local_video_read(const uint8_t *data, size_t size,
                                           struct doppel_local_video *out,
                                           struct doppel_error *error)
{
    struct doppel_local_video head = {0}, video = {0};
    enum doppel_status status;
    TRY(read_video_head(data, size, &head, error));
    if (!table_is_good(data, size, head.count))
        TRY(fail_damaged_points(size, error));
    video.frames = calloc((size_t)head.count + 1, sizeof *video.frames);
    if (!video.frames)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u frames", head.count));
    const uint8_t *entry = data + DOPPEL_LOCAL_HEAD_BYTES;
    const uint8_t *points = entry + (size_t)head.count * ENTRY_BYTES;
    for (; video.count < head.count; video.count++, entry += ENTRY_BYTES) {
        TRY(read_entry_frame(entry, points, get_u16(data) == VERSION_ALL,
                             &video.frames[video.count], error));
        points += frame_bytes(data, entry);
    }
    video.duration_ms = head.duration_ms;
    video.damaged_ms = head.damaged_ms;
    *out = video;
    return DOPPEL_OK;
done:
    doppel_local_video_free(&video);
    return status;
}

static enum doppel_status read_picture(const uint8_t *data, size_t size,
                                       struct doppel_local_video *out, struct doppel_error *error)
{
    struct doppel_local_video video = {.frames = calloc(1, sizeof *video.frames), .count = 1};
    enum doppel_status status = DOPPEL_OK;
    if (!video.frames)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture");
    TRY(doppel_fingerprint_read(data, size, &video.frames->points, error));
    TRY(local_check(&video.frames->points, error));
    if (video.frames->points.count > DOPPEL_LOCAL_POINTS)
        TRY(fail_damaged_points(size, error));
    video.count = video.frames->points.count > 0;
    *out = video;
    return DOPPEL_OK;
done:
    doppel_local_video_free(&video);
    return status == DOPPEL_E_ARGUMENT ? DOPPEL_E_CORRUPT : status;
}

static enum doppel_status read_kept_picture(const uint8_t *data, size_t size,
                                            struct doppel_local_video *out,
                                            struct doppel_error *error)
{
    struct doppel_local_video video;
    enum doppel_status status = doppel_local_video_read(data, size, &video, error);
    if (status)
        return status;
    if (video.count > 1 || (video.count && video.frames->to_ms)) {
        doppel_local_video_free(&video);
        return fail_damaged_points(size, error);
    }
    *out = video;
    return DOPPEL_OK;
}

enum doppel_status doppel_local_read(enum doppel_scheme_id scheme, const uint8_t *data, size_t size,
                                     struct doppel_local_video *out, struct doppel_error *error)
{
    if (scheme == DOPPEL_SCHEME_FRAMES128)
        return doppel_local_video_read(data, size, out, error);
    if (scheme == DOPPEL_SCHEME_LOCAL)
        return (size >= 2 && get_u16(data) == VERSION_KEPT ? read_kept_picture
                                                           : read_picture)(data, size, out, error);
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "a record of another scheme has no keypoints");
}

void doppel_local_video_free(struct doppel_local_video *video)
{
    if (!video)
        return;
    for (uint32_t i = 0; i < video->count; i++)
        doppel_fingerprint_free(&video->frames[i].points);
    free(video->frames);
    *video = (struct doppel_local_video){0};
}
