/* Two recordings that were compared, drawn by a call: what stands in the chart, and what is
 * refused. */
#include "audio_track.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <doppel/match.h>
#include <doppel/report.h>

/* Two recordings as records, and what they share. */
struct compared {
    struct doppel_record records[2];
    struct doppel_match match; /* segments are given */
};

static struct doppel_record record_of(const struct doppel_audio_track *track)
{
    struct doppel_record record = {.kind = DOPPEL_KIND_AUDIO,
                                   .scheme = DOPPEL_SCHEME_PEAKS32,
                                   .version = 1,
                                   .attachment_size = doppel_audio_track_size(track, true)};
    record.attachment = malloc(record.attachment_size);
    assert_non_null(record.attachment);
    doppel_audio_track_write(track, true, record.attachment);
    return record;
}

static struct doppel_recording peaks_of(const struct doppel_audio_track *track)
{
    return (struct doppel_recording){track->peaks, track->count, (double)track->duration_ms / 1000};
}

/* Frees both recordings. */
static struct compared compare(struct recording query, struct recording item)
{
    struct compared out;
    struct doppel_audio_track a = audio_track(&query), b = audio_track(&item);
    const struct doppel_recording peaks[2] = {peaks_of(&a), peaks_of(&b)};
    struct doppel_audio_options options = doppel_audio_options_default();
    out.records[0] = record_of(&a);
    out.records[1] = record_of(&b);
    assert_int_equal(doppel_match_recordings(&peaks[0], &peaks[1], &options, &out.match, NULL),
                     DOPPEL_OK);
    doppel_audio_track_free(&a);
    doppel_audio_track_free(&b);
    free(query.samples);
    free(item.samples);
    return out;
}

static void compared_free(struct compared *compared)
{
    free(compared->records[0].attachment);
    free(compared->records[1].attachment);
    free((void *)compared->match.segments);
}

static enum doppel_status draw(const struct compared *compared, const char *output,
                               struct doppel_error *error)
{
    const struct doppel_file_stamp stamp = {0};
    const struct doppel_chart_side sides[2] = {{"a <&>\xff.wav", &compared->records[0], &stamp},
                                               {"whole.wav", &compared->records[1], &stamp}};
    const struct doppel_chart_options options = {.output = output};
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(NULL, &run, NULL), DOPPEL_OK);
    enum doppel_status status = doppel_chart_match(run, sides, &compared->match, &options, error);
    doppel_run_free(run);
    return status;
}

/* The chart, given. */
static char *drawn(const struct compared *compared)
{
    char path[] = "/tmp/doppel-chart-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(draw(compared, path, NULL), DOPPEL_OK);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(read(fd, text, (1 << 20) - 1) > 0);
    close(fd);
    unlink(path);
    return text;
}

static void assert_has_text(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("no %s in %s", wanted, text);
}

static void a_part_is_drawn_where_it_is(void **state)
{
    (void)state;
    struct recording whole = audio_music(40, 5);
    struct compared compared = compare(audio_cut(&whole, 8, 16), whole);
    assert_true(compared.match.segment_count > 0);
    char *svg = drawn(&compared);
    assert_has_text(svg, "<svg xmlns");
    assert_has_text(svg, "What two recordings share");
    assert_has_text(svg, "below: "); /* after the times */
    assert_has_text(svg, "class=\"shared\" x=");
    assert_has_text(svg, "a &lt;&amp;&gt;\\xff.wav");
    assert_null(strstr(svg, "nan"));
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    free(svg);
    compared_free(&compared);
}

static void nothing_shared_is_said(void **state)
{
    (void)state;
    struct compared compared = compare(audio_music(12, 1), audio_music(12, 2));
    assert_int_equal(compared.match.segment_count, 0);
    char *svg = drawn(&compared);
    assert_has_text(svg, "nothing is shared");
    assert_null(strstr(svg, "nan"));
    free(svg);
    compared_free(&compared);
}

static void other_kinds_and_places_are_refused(void **state)
{
    (void)state;
    struct doppel_error error;
    struct compared compared = compare(audio_music(8, 1), audio_music(8, 1));
    assert_int_equal(draw(&compared, "/nowhere/chart.svg", &error), DOPPEL_E_IO);
    assert_has_text(error.message, "/nowhere/chart.svg: cannot be written");
    compared.records[1].scheme = DOPPEL_SCHEME_PHASH64;
    assert_int_equal(draw(&compared, "/nowhere/chart.svg", &error), DOPPEL_E_ARGUMENT);
    compared_free(&compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_drawn_where_it_is),
        cmocka_unit_test(nothing_shared_is_said),
        cmocka_unit_test(other_kinds_and_places_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
