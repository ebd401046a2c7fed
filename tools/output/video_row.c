/* A video as a row of output. */
#include "tools/output/video_row.h"

#include <math.h>

#include "compare/video.h"
#include "tools/output/output.h"

enum { HEX_BYTES = 65 };

static void append_code(json_t *sequence, const struct doppel_code *code, uint32_t bits,
                        uint32_t time_ms)
{
    char hex[HEX_BYTES];
    doppel_code_to_hex(code, bits, hex);
    json_t *pair = json_array();
    json_array_append_new(pair, json_string(hex));
    json_array_append_new(pair, json_integer(time_ms));
    json_array_append_new(sequence, pair);
}

/* ---- frames64 ---- */

static void put_length(json_t *row, const struct doppel_video_track *video)
{
    put_number(row, "duration", (double)video->duration_ms / 1000, 3);
    if (video->damaged_ms)
        put_number(row, "damaged", (double)video->damaged_ms / 1000, 3);
}

static json_t *sequence_of(const struct doppel_video_track *video)
{
    json_t *sequence = json_array();
    for (size_t i = 0; i < video->count; i++)
        append_code(sequence, &video->frames[i].code, 64, video->frames[i].start_ms);
    return sequence;
}

static void put_track(json_t *row, const struct doppel_video_track *video, bool codes)
{
    put_integer(row, "codes", video->count);
    put_length(row, video);
    put_integer(row, "width", video->width);
    put_integer(row, "height", video->height);
    if (video->keyframes_only)
        put_bool(row, "keyframes", true);
    put_bool(row, "has_sound", video->audio);
    if (codes)
        put_value(row, "sequence", sequence_of(video));
}

/* ---- vpdq ---- */

static json_t *sequence_of_list(const struct doppel_vpdq *list)
{
    json_t *sequence = json_array();
    for (size_t i = 0; i < list->count; i++)
        append_code(sequence, &list->frames[i].code, 256,
                    (uint32_t)lround(list->frames[i].seconds * 1000));
    return sequence;
}

static void put_list(json_t *row, const struct doppel_record *record, bool codes)
{
    struct doppel_vpdq list;
    if (doppel_vpdq_parse((const char *)record->attachment, record->attachment_size, &list, NULL))
        return;
    put_integer(row, "codes", list.count);
    if (record->width) {
        put_integer(row, "width", record->width);
        put_integer(row, "height", record->height);
    }
    if (codes)
        put_value(row, "sequence", sequence_of_list(&list));
    doppel_vpdq_free(&list);
}

void put_video_details(json_t *row, const struct doppel_record *record, bool codes)
{
    struct doppel_video_track video;
    if (record->scheme == DOPPEL_SCHEME_VPDQ && record->attachment)
        put_list(row, record, codes);
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return;
    put_track(row, &video, codes);
    doppel_video_track_free(&video);
}
