/* Rows of matches on their way to the output. */
#include "tools/output/rows/segment_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
#include "tools/memory.h"

/* Places that begin so near to each other stand in the order in which they were found, which is
 * that of the better match. */
enum { STEP_SECONDS = 1, STRETCH_BYTES = 72 };

struct place_row {
    json_t *row;
    double step; /* a whole number, or infinite: it stays where it is */
    size_t number;
};

void place_rows_begin(struct place_rows *rows, const struct settings *settings,
                      struct output *output)
{
    bool bare = settings->null_separated && !settings->format_given;
    *rows = (struct place_rows){.output = output,
                                .table = settings->format == FORMAT_TABLE,
                                .whole = bare || settings->format == FORMAT_JSON};
}

static void hold(struct place_rows *rows, json_t *row, double step)
{
    struct place_row held = {row, step, rows->rows.count};
    if (!array_push(&rows->rows, held))
        no_memory();
}

/* What is as usual is not worth a column. */
static void hide_usual(json_t *row, const char *key)
{
    json_t *transform = json_object_get(row, "transform");
    if (fabs(json_number_value(json_object_get(transform, key)) - 1) < 5e-4)
        json_object_del(transform, key);
}

static void hold_places(struct place_rows *rows, json_t *row, const json_t *segments)
{
    size_t number;
    json_t *segment;
    json_array_foreach(segments, number, segment)
    {
        json_t *copy = json_copy(row);
        json_object_del(copy, "segments");
        json_object_set(copy, "segment", segment);
        double start = json_number_value(json_object_get(segment, "a_start"));
        hold(rows, copy, floor(start / STEP_SECONDS));
    }
    json_decref(row);
}

/* ---- videos ---- */

/* "[0:12.0-0:20.5]" */
static void print_stretch(const json_t *segment, const char *start, const char *end,
                          char out[STRETCH_BYTES])
{
    char from[32], to[32];
    human_clock(json_number_value(json_object_get(segment, start)), 1, from, sizeof from);
    human_clock(json_number_value(json_object_get(segment, end)), 1, to, sizeof to);
    snprintf(out, STRETCH_BYTES, "[%s-%s]", from, to);
}

static bool is_instant(const json_t *segment, const char *start, const char *end)
{
    return json_number_value(json_object_get(segment, start)) == 0 &&
           json_number_value(json_object_get(segment, end)) == 0;
}

/* "[0:12.0-0:20.5] <-> [1:03.2-1:11.7] x1.25 mirrored"; of a picture and a video only where in the
 * video. */
static void put_where(json_t *row, const json_t *segment)
{
    const json_t *transform = json_object_get(row, "transform");
    double speed = json_number_value(json_object_get(segment, "speed"));
    char a[STRETCH_BYTES], b[STRETCH_BYTES], factor[32] = "", where[3 * STRETCH_BYTES];
    print_stretch(segment, "a_start", "a_end", a);
    print_stretch(segment, "b_start", "b_end", b);
    bool no_a = is_instant(segment, "a_start", "a_end"),
         no_b = is_instant(segment, "b_start", "b_end");
    if (speed > 0 && fabs(speed - 1) >= 5e-3)
        snprintf(factor, sizeof factor, " x%.2f", speed);
    snprintf(where, sizeof where, "%s%s%s%s%s%s%s", no_a ? "" : a, no_a || no_b ? "" : " <-> ",
             no_b ? "" : b, factor,
             json_is_true(json_object_get(transform, "mirrored")) ? " mirrored" : "",
             json_is_true(json_object_get(transform, "cropped")) ? " cropped" : "",
             json_is_true(json_object_get(segment, "repeat")) ? " repeat" : "");
    json_object_set_new(row, "where", json_string(where));
}

/* What matched, and what both have and did not match. */
static void put_evidence_in_words(json_t *row)
{
    const char *evidence = json_string_value(json_object_get(row, "evidence"));
    char words[80];
    if (!evidence)
        return;
    bool uncertain = json_is_true(json_object_get(row, "time_uncertain"));
    bool other_audio = json_is_false(json_object_get(json_object_get(row, "sound"), "match"));
    bool other_image = json_object_get(row, "picture");
    bool same = uncertain || other_audio || other_image;
    const char *which = strcmp(evidence, "sound") == 0               ? "audio"
                        : strcmp(evidence, "picture and sound") == 0 ? "picture and audio"
                                                                     : evidence;
    snprintf(words, sizeof words, "%s%s%s%s", same ? "same " : "", which,
             uncertain ? ", time uncertain" : "",
             other_audio   ? ", other audio"
             : other_image ? ", other picture"
                           : "");
    json_object_set_new(row, "evidence", json_string(words));
}

/* For people: a row a segment, the best item first. */
static void hold_video(struct place_rows *rows, json_t *row, const json_t *segments)
{
    size_t number;
    json_t *segment;
    put_evidence_in_words(row);
    if (!json_array_size(segments)) {
        hold(rows, row, INFINITY);
        return;
    }
    json_array_foreach(segments, number, segment)
    {
        json_t *copy = json_copy(row);
        put_where(copy, segment);
        json_object_del(copy, "transform");
        hold(rows, copy, INFINITY);
    }
    json_decref(row);
}

/* ---- parts of images ---- */

static int percent(const json_t *place, const char *key)
{
    return (int)lround(100 * json_number_value(json_object_get(place, key)));
}

static double angle_of(const json_t *place)
{
    return json_number_value(json_object_get(place, "angle"));
}

/* "x 5-38 %, y 5-48 %, turned 4": where in the image that shows more the other one is, and how much
 * the query is turned beside the item. */
static void put_part_in_words(json_t *row)
{
    const json_t *where = json_object_get(row, "where");
    const json_t *query = json_object_get(where, "query"), *item = json_object_get(where, "item");
    const char *relation = json_string_value(json_object_get(row, "relation"));
    const json_t *place = relation && strcmp(relation, "contained") == 0 ? item : query;
    char words[96];
    if (!place)
        return;
    snprintf(words, sizeof words, "x %d-%d %%, y %d-%d %%, turned %.0f", percent(place, "left"),
             percent(place, "right"), percent(place, "top"), percent(place, "bottom"),
             fmod(round(angle_of(query) - angle_of(item) + 360), 360));
    json_object_set_new(row, "where", json_string(words));
}

/* ---- in and out ---- */

/* @param row taken */
static void hold_row(struct place_rows *rows, json_t *row)
{
    const json_t *segments = json_object_get(row, "segments");
    const char *kind = json_string_value(json_object_get(row, "kind"));
    bool video = kind && strcmp(kind, doppel_kind_name(DOPPEL_KIND_VIDEO)) == 0;
    bool recording = kind && strcmp(kind, doppel_kind_name(DOPPEL_KIND_AUDIO)) == 0;
    if (!recording && !video) {
        if (rows->table)
            put_part_in_words(row);
        output_parsed(rows->output, row);
        json_decref(row);
        return;
    }
    if (rows->table && video) {
        hold_video(rows, row, segments);
        return;
    }
    if (rows->table) {
        hide_usual(row, "speed");
        hide_usual(row, "pitch");
    }
    if (json_array_size(segments))
        hold_places(rows, row, segments);
    else
        hold(rows, row, INFINITY);
}

void place_rows_add(struct place_rows *rows, const struct doppel_json *row)
{
    if (row->failed)
        no_memory();
    if (rows->whole)
        output_object(rows->output, row);
    else
        hold_row(rows, must_have(json_loadb(row->bytes, row->size, 0, NULL)));
}

static int by_place(const void *left, const void *right)
{
    const struct place_row *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

void place_rows_end(struct place_rows *rows)
{
    if (rows->rows.count)
        qsort(rows->rows.items, rows->rows.count, sizeof *rows->rows.items, by_place);
    for (size_t i = 0; i < rows->rows.count; i++) {
        output_parsed(rows->output, rows->rows.items[i].row);
        json_decref(rows->rows.items[i].row);
    }
    array_free(&rows->rows);
}
