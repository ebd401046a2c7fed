/* Whether fingerprint and attachment are what their scheme says: they came from a worker, a cache
 * or somebody's file, where a right checksum says only that nothing was changed since. */
#include "library/items/record.h"

#include <doppel/audio.h>
#include <doppel/image.h>
#include <doppel/local.h>
#include <doppel/text.h>
#include <doppel/video.h>

static bool reads_audio(const uint8_t *data, size_t size)
{
    struct doppel_audio_track track;
    if (doppel_audio_track_read(data, size, &track, NULL))
        return false;
    doppel_audio_track_free(&track);
    return true;
}

/* With the audio that it may have. */
static bool reads_video(const uint8_t *data, size_t size)
{
    struct doppel_video_track track;
    if (doppel_video_track_read(data, size, DOPPEL_VIDEO_ALL, &track, NULL))
        return false;
    bool readable = !track.audio_size || reads_audio(track.audio, track.audio_size);
    doppel_video_track_free(&track);
    return readable;
}

static bool reads_text(const uint8_t *data, size_t size)
{
    struct doppel_text_extra extra;
    if (doppel_text_attachment_read(data, size, &extra))
        return false;
    doppel_text_extra_free(&extra);
    return true;
}

static bool reads_vpdq(const uint8_t *data, size_t size)
{
    struct doppel_vpdq list;
    if (doppel_vpdq_parse((const char *)data, size, &list, NULL))
        return false;
    doppel_vpdq_free(&list);
    return true;
}

static bool reads_image(const uint8_t *data, size_t size)
{
    struct doppel_image_features features = {0};
    return doppel_image_attachment_read(data, size, &features) == DOPPEL_OK;
}

static bool reads_points(enum doppel_scheme_id scheme, const uint8_t *data, size_t size)
{
    struct doppel_local_video video;
    if (doppel_local_read(scheme, data, size, &video, NULL))
        return false;
    doppel_local_video_free(&video);
    return true;
}

bool doppel_record_is_readable(const struct doppel_record *record)
{
    const uint8_t *data = record->attachment;
    size_t size = record->attachment_size;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    if (scheme && !fingerprint_fits(&record->fingerprint, record))
        return false;
    if (record->scheme == DOPPEL_SCHEME_PEAKS32)
        return data && reads_audio(data, size);
    if (record->scheme == DOPPEL_SCHEME_FRAMES64)
        return data && reads_video(data, size);
    if (record->scheme == DOPPEL_SCHEME_LOCAL || record->scheme == DOPPEL_SCHEME_FRAMES128)
        return data && reads_points(record->scheme, data, size);
    if (!data || !scheme)
        return true;
    if (record->scheme == DOPPEL_SCHEME_CHROMAPRINT)
        return reads_audio(data, size);
    if (record->scheme == DOPPEL_SCHEME_VPDQ)
        return reads_vpdq(data, size);
    return scheme->kind == DOPPEL_KIND_TEXT ? reads_text(data, size) : reads_image(data, size);
}
