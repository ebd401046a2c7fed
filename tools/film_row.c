/* A film as a row of output. */
#include "tools/film_row.h"

#include <math.h>

#include "tools/film_judge.h"
#include "tools/output.h"

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

static void put_length(json_t *row, const struct doppel_video_track *film)
{
    put_number(row, "duration", (double)film->duration_ms / 1000, 3);
    if (film->damaged_ms)
        put_number(row, "damaged", (double)film->damaged_ms / 1000, 3);
}

static json_t *sequence_of(const struct doppel_video_track *film)
{
    json_t *sequence = json_array();
    for (size_t i = 0; i < film->count; i++)
        append_code(sequence, &film->frames[i].code, 64, film->frames[i].start_ms);
    return sequence;
}

static void put_track(json_t *row, const struct doppel_video_track *film, bool codes)
{
    put_integer(row, "codes", film->count);
    put_length(row, film);
    put_integer(row, "width", film->width);
    put_integer(row, "height", film->height);
    if (film->keyframes_only)
        put_bool(row, "keyframes", true);
    put_bool(row, "has_sound", film->sound);
    if (codes)
        put_value(row, "sequence", sequence_of(film));
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

void put_film_details(json_t *row, const struct doppel_record *record, bool codes)
{
    struct doppel_video_track film;
    if (record->scheme == DOPPEL_SCHEME_VPDQ && record->attachment)
        put_list(row, record, codes);
    if (!film_read(record, DOPPEL_VIDEO_CODES, &film))
        return;
    put_track(row, &film, codes);
    doppel_video_track_free(&film);
}
