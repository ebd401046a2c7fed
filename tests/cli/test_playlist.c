/* find and monitor --playlist: the order and the places that were planted, and what other programs
 * read of cue sheets and M3U, by readers that were written for this test. */
#include "command.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audio.h"

enum { ROWS = 3, WAV_HEADER = 44 };

/* What is played in mix.wav, which ends after 90 s; the rest is faint noise. */
static const struct {
    const char *file, *artist, *title, *said; /* `said`: how M3U calls it */
    double start, end, item_start;
} played[ROWS] = {
    {"b.wav", NULL, NULL, "b", 5, 15, 10},
    {"a.wav", "Ana", "One \"two\"", "Ana - One \"two\"", 20, 40, 0},
    {"new\nline.wav", "Bea", "Another", "Bea - Another", 40, 60, 0},
};

/* A second copy of a.wav, noisier, is in the library too: it is heard where a.wav is. */
static void make_mix(void)
{
    struct recording a = audio_music(20, 1), b = audio_music(20, 2), c = audio_music(20, 4),
                     copy = audio_music(20, 1), part = audio_cut(&b, 10, 10),
                     mix = audio_noise(90, 3);
    audio_gain(&mix, 0.05);
    audio_paste(&mix, 5, &part);
    audio_paste(&mix, 20, &a);
    audio_paste(&mix, 40, &c);
    audio_add_noise(&copy, 3, 9);
    keep_tagged_wav("a.wav", a, played[1].artist, played[1].title, "Uno");
    keep_wav("b.wav", b);
    keep_tagged_wav("new\nline.wav", c, played[2].artist, played[2].title, NULL);
    keep_wav("copy.wav", copy);
    keep_wav("mix.wav", mix);
    free(part.samples);
    free(doppel_prints(0, "add", "-L", "lib", "a.wav", "b.wav", "new\nline.wav", "copy.wav"));
}

/* ---- rows ---- */

/* Line `number` of a text; given (free). */
static char *line_at(const char *text, unsigned number)
{
    for (; number && text; number--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    assert_non_null(text);
    return strndup(text, strcspn(text, "\n"));
}

/* What is cut out of the middle begins with the first peak that is whole: up to a quarter of a
 * second later. All else is right to a tenth. */
static double tolerance_of(size_t row)
{
    return played[row].item_start > 0 ? .25 : .1;
}

static void expect_rows(const char *json)
{
    assert_int_equal(count_lines(json, ""), ROWS);
    for (unsigned i = 0; i < ROWS; i++) {
        char *line = line_at(json, i), escaped[64];
        assert_number(line, "number", i + 1, 0);
        assert_number(line, "start", played[i].start, tolerance_of(i));
        assert_number(line, "end", played[i].end, .1);
        assert_number(line, "duration", number_of(line, "end") - number_of(line, "start"), .0015);
        assert_number(line, "item_start", played[i].item_start, tolerance_of(i));
        snprintf(escaped, sizeof escaped, "/%s\"",
                 strcmp(played[i].file, "new\nline.wav") ? played[i].file : "new\\nline.wav");
        assert_has(line, escaped);
        assert_has(line, "\"query\":\"mix.wav\"");
        if (played[i].artist)
            assert_has(line, "\"artist\":");
        else
            assert_lacks(line, "\"artist\":");
        free(line);
    }
}

static void a_recording_has_a_playlist(void **state)
{
    (void)state;
    make_mix();
    char *json = doppel_prints(0, "find", "-L", "lib", "--playlist", "--json", "mix.wav");
    expect_rows(json);
    free(json);
    char *all = doppel_prints(0, "find", "-L", "lib", "--format", "csv", "mix.wav");
    assert_has(all, "copy.wav"); /* which is heard as well */
    free(all);
    struct ran table = doppel("find", "-L", "lib", "--playlist", "mix.wav");
    assert_code(&table, 0);
    assert_int_equal(count_lines(table.out, ""), 1 + ROWS);
    assert_has(table.err, "3 rows, 0:50 in all\n");
    ran_free(&table);
    char *csv = doppel_prints(0, "find", "-L", "lib", "--playlist", "--format", "csv", "mix.wav");
    assert_has(csv, "start,end,duration,item_start,");
    free(csv);
    keep_wav("other.wav", audio_music(12, 77));
    free(doppel_prints(1, "find", "-L", "lib", "--playlist", "other.wav"));
}

static void a_stream_has_a_playlist(void **state)
{
    (void)state;
    make_mix();
    char *json = doppel_prints(0, "monitor", "-L", "lib", "--playlist", "--json", "mix.wav");
    expect_rows(json);
    free(json);
}

/* A row is printed once nothing can change it, while the stream goes on. */
static void rows_come_as_they_are_known(void **state)
{
    (void)state;
    size_t size;
    char text[4096] = "";
    make_mix();
    char *wav = read_file("mix.wav", &size);
    assert_int_equal(mkfifo("radio", 0600), 0);
    struct running running =
        command_start(NULL, (const char *const[]){"monitor", "-L", "lib", "--playlist", "--json",
                                                  "--pcm", "s16le:11025:1", "radio", NULL});
    int fd = open("radio", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t at = WAV_HEADER; at < size;) {
        ssize_t written = write(fd, wav + at, size - at);
        assert_true(written > 0);
        at += (size_t)written;
    }
    double began = now_seconds();
    while (!strstr(text, "/b.wav\"")) {
        assert_true(now_seconds() - began < 60);
        pause_ms(50);
        ssize_t got = pread(running.out, text, sizeof text - 1, 0);
        text[got > 0 ? got : 0] = '\0';
    }
    close(fd);
    struct ran ran = command_end(&running);
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, ""), ROWS);
    ran_free(&ran);
    free(wav);
}

/* ---- a reader of cue sheets ---- */

struct cue_track {
    int number;
    char title[128], performer[128];
    double index[2]; /* < 0: none */
};

/* What stands between the first and the last quote of a line. */
static void read_quoted(const char *line, char *out, size_t size)
{
    const char *first = strchr(line, '"'), *last = strrchr(line, '"');
    assert_true(first && last > first);
    snprintf(out, size, "%.*s", (int)(last - first - 1), first + 1);
    assert_null(strchr(out, '"'));
}

static size_t read_cue(const char *text, char *file, struct cue_track *tracks, size_t most)
{
    size_t count = 0, files = 0;
    char *copy = strdup(text), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")) && rest) {
        int number, minutes, seconds, frames;
        line += strspn(line, " ");
        if (strncmp(line, "FILE ", 5) == 0) {
            read_quoted(line, file, 128);
            assert_string_equal(strrchr(line, ' '), " WAVE");
            files++;
        } else if (sscanf(line, "TRACK %d AUDIO", &number) == 1) {
            assert_true(count < most && files == 1);
            tracks[count++] = (struct cue_track){.number = number, .index = {-1, -1}};
        } else if (strncmp(line, "TITLE ", 6) == 0 && count) {
            read_quoted(line, tracks[count - 1].title, 128);
        } else if (strncmp(line, "PERFORMER ", 10) == 0 && count) {
            read_quoted(line, tracks[count - 1].performer, 128);
        } else if (sscanf(line, "INDEX %d %d:%d:%d", &number, &minutes, &seconds, &frames) == 4) {
            assert_true(count && number >= 0 && number <= 1 && seconds < 60 && frames < 75);
            tracks[count - 1].index[number] = minutes * 60 + seconds + frames / 75.0;
        } else {
            assert_int_equal(strncmp(line, "REM ", 4), 0);
        }
    }
    free(copy);
    return count;
}

static void a_cue_sheet_is_written(void **state)
{
    (void)state;
    make_mix();
    for (int i = 0; i < 2; i++) {
        char *text =
            doppel_prints(0, i ? "monitor" : "find", "-L", "lib", "--format", "cue", "mix.wav");
        char file[128] = "";
        struct cue_track tracks[8];
        assert_int_equal(read_cue(text, file, tracks, 8), ROWS);
        assert_string_equal(file, "mix.wav");
        for (unsigned j = 0; j < ROWS; j++) {
            assert_int_equal(tracks[j].number, (int)j + 1);
            assert_true(fabs(tracks[j].index[1] - played[j].start) < tolerance_of(j));
            assert_string_equal(tracks[j].performer, played[j].artist ? played[j].artist : "");
        }
        assert_string_equal(tracks[0].title, "b");
        assert_string_equal(tracks[1].title, "One 'two'");
        assert_true(tracks[0].index[0] == 0); /* what is unknown is a pregap */
        assert_true(fabs(tracks[1].index[0] - 15) < .1);
        free(text);
    }
}

/* ---- a reader of M3U ---- */

static void decode_address(const char *line, char *out)
{
    unsigned byte;
    if (strncmp(line, "file://", 7) != 0) {
        strcpy(out, line);
        return;
    }
    for (line += 7; *line; line++)
        if (*line == '%' && sscanf(line + 1, "%2x", &byte) == 1) {
            *out++ = (char)byte;
            line += 2;
        } else {
            *out++ = *line;
        }
    *out = '\0';
}

static void an_m3u_is_written(void **state)
{
    (void)state;
    make_mix();
    for (int i = 0; i < 2; i++) {
        char *text =
            doppel_prints(0, i ? "monitor" : "find", "-L", "lib", "--format", "m3u", "mix.wav");
        char *first = line_at(text, 0);
        assert_string_equal(first, "#EXTM3U");
        free(first);
        assert_int_equal(count_lines(text, ""), 1 + 2 * ROWS);
        for (unsigned j = 0; j < ROWS; j++) {
            char *info = line_at(text, 1 + 2 * j), *path = line_at(text, 2 + 2 * j);
            char decoded[4096];
            int seconds, end = 0;
            assert_int_equal(sscanf(info, "#EXTINF:%d,%n", &seconds, &end), 1);
            assert_true(end && abs(seconds - (int)(played[j].end - played[j].start)) <= 1);
            assert_string_equal(info + end, played[j].said);
            decode_address(path, decoded);
            assert_int_equal(access(decoded, R_OK), 0);
            assert_string_equal(strrchr(decoded, '/') + 1, played[j].file);
            free(info);
            free(path);
        }
        free(text);
    }
}

/* ---- the time of day ---- */

/* A time with an offset, as seconds since 1970. */
static double seconds_of(const char *text)
{
    struct tm parts = {0};
    double fraction;
    int hours, minutes, used = 0;
    char sign;
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    assert_non_null(end);
    assert_int_equal(sscanf(end, "%lf%n", &fraction, &used), 1);
    assert_int_equal(used, 4);
    assert_int_equal(sscanf(end + used, "%c%2d:%2d", &sign, &hours, &minutes), 3);
    return (double)timegm(&parts) + fraction - (sign == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
}

static void the_time_of_day_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *given, *first, *second; /* the beginnings of what is printed; 1798757990 … */
        double began;
    } cases[] = {
        {"2026-11-25T06:00:00+01:00", "2026-11-25T06:00:0", "2026-11-25T06:00:", 1795582800},
        {"2026-12-31T23:59:50.5Z", "2026-12-31T23:59:55", "2027-01-01T00:00:", 1798761590.5},
        {"2026-11-25 06:00:00-0330", "2026-11-25T06:00:0", "2026-11-25T06:00:", 1795599000},
        /* in local time, an hour later from then on */
        {"2026-03-29T01:59:45", "2026-03-29T01:59:", "2026-03-29T03:00:", 1774745985},
    };
    make_mix();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct setting setting = {.environment = {"TZ=CET-1CEST,M3.5.0,M10.5.0/3"}};
        for (int j = 0; j < 2; j++) {
            struct ran ran =
                doppel_with(&setting, j ? "find" : "monitor", "-L", "lib", "--playlist", "--json",
                            "--start-time", cases[i].given, "mix.wav");
            assert_code(&ran, 0);
            const char *at = ran.out;
            for (unsigned row = 0; row < 2; row++) {
                char *line = line_at(at, row), *time = strstr(line, "\"start_time\":\"");
                assert_non_null(time);
                time += strlen("\"start_time\":\"");
                const char *wanted = row ? cases[i].second : cases[i].first;
                if (row)
                    assert_int_equal(strncmp(time, wanted, strlen(wanted)), 0);
                assert_true(fabs(seconds_of(time) - cases[i].began - number_of(line, "start")) <
                            .002);
                free(line);
            }
            ran_free(&ran);
        }
    }
    char *events = doppel_prints(0, "monitor", "-L", "lib", "--json", "--start-time",
                                 "2026-11-25T06:00:00Z", "mix.wav");
    assert_int_equal(count_lines(events, "\"start_time\":\"2026-11-25T06:00:"),
                     count_lines(events, ""));
    assert_int_equal(count_lines(events, "\"end_time\""), count_lines(events, "\"event\":\"end\""));
    free(events);
}

static void wrong_use_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *words[8], *sentence;
    } wrong[] = {
        {{"find", "--playlist", "--near-misses", "3", "x.wav"}, "'--near-misses' is not for"},
        {{"find", "--playlist", "--repeats", "x.wav"}, "'--repeats' is not for '--playlist'"},
        {{"find", "--playlist", "-0", "x.wav"}, "'--null' is not for '--playlist'"},
        {{"find", "--playlist", "--kind", "image", "x.wav"}, "'--playlist' is for recordings"},
        {{"find", "--start-time", "now", "x.wav"}, "'--start-time' is for '--playlist'"},
        {{"find", "--format", "m3u", "--start-time", "6:00", "x.wav"}, "'--start-time' takes"},
        {{"monitor", "--start-time", "2026-02-30T06:00:00", "x.wav"}, "'--start-time' takes"},
        {{"monitor", "--start-time", "2026-11-25T06:00:00+1", "x.wav"}, "'--start-time' takes"},
        {{"monitor", "--start-time", "2026-11-25T06:00:00 +01:00", "x.wav"}, "'--start-time' tak"},
        {{"list", "--format", "cue"}, "cue"},
        {{"list", "--playlist"}, "--playlist"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran ran = command_run(NULL, wrong[i].words);
        assert_code(&ran, 2);
        assert_has(ran.err, wrong[i].sentence);
        ran_free(&ran);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_recording_has_a_playlist),  IN_SANDBOX(a_stream_has_a_playlist),
        IN_SANDBOX(rows_come_as_they_are_known), IN_SANDBOX(a_cue_sheet_is_written),
        IN_SANDBOX(an_m3u_is_written),           IN_SANDBOX(the_time_of_day_is_told),
        IN_SANDBOX(wrong_use_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
