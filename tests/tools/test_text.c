/* Text for people and machines: UTF-8, escapes, CSV fields, human figures, progress. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/output/formats.h"
#include "core/text/printable.h"
#include "tools/output/progress.h"

/* ---- UTF-8 ---- */

/* Whether libc's converter takes it; it, too, refuses what is overlong, a surrogate or too large.
 */
static bool iconv_valid(iconv_t converter, const char *text)
{
    char copy[16], points[64], *in = copy, *out = points;
    size_t in_left = strlen(text), out_left = sizeof points;
    strcpy(copy, text);
    iconv(converter, NULL, NULL, NULL, NULL);
    return iconv(converter, &in, &in_left, &out, &out_left) != (size_t)-1;
}

/* Bytes from where the rules change, so that most sequences are nearly right. */
static char telling_byte(void)
{
    static const unsigned char bytes[] = {'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                          0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                          0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    return (char)bytes[(size_t)rand() % sizeof bytes];
}

static void utf8_is_what_libc_takes(void **state)
{
    (void)state;
    iconv_t converter = iconv_open("UTF-32", "UTF-8");
    size_t valid = 0;
    srand(1);
    for (int i = 0; i < 200000; i++) {
        char text[8] = "";
        size_t length = 1 + (size_t)rand() % 4;
        for (size_t j = 0; j < length; j++)
            text[j] = telling_byte();
        assert_int_equal(utf8_valid(text), iconv_valid(converter, text));
        valid += utf8_valid(text);
        char *repaired = utf8_repaired(text);
        assert_true(utf8_valid(repaired));
        assert_int_equal(strcmp(repaired, text) == 0, utf8_valid(text));
        free(repaired);
    }
    assert_true(valid > 1000);
    iconv_close(converter);
}

static void names_become_parts_of_ids(void **state)
{
    char cut[1 + 3 * 400 + 1] = "a", *id;
    (void)state;
    for (int i = 0; i < 400; i++)
        strcat(cut, "\xe2\x82\xac"); /* the sign of the euro */
    struct {
        const char *name, *expected;
    } cases[] = {
        {"/a b%\xc3\xa9.jpg", "/a b%\xc3\xa9.jpg"},
        {"a\n\x7f\x1b[0m\xff", "a???[0m\xef\xbf\xbd"},
        {cut, cut + strlen(cut) - 510},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        id = name_for_id(cases[i].name);
        assert_string_equal(id, cases[i].expected);
        free(id);
    }
}

static void assert_printable(const char *text, bool bytes_too, const char *expected)
{
    char *shown = printable(text, bytes_too);
    assert_string_equal(shown, expected);
    free(shown);
}

static void controls_are_shown(void **state)
{
    (void)state;
    assert_printable("a\nb\tc\rd\x1b[31m\x7f", true, "a\\nb\\tc\\rd\\x1b[31m\\x7f");
    assert_printable("\xc2\x9b[31m", true, "\\x9b[31m");             /* C1 */
    assert_printable("\xe2\x80\xaegpj.exe", true, "\\u202egpj.exe"); /* right to left */
    assert_printable("\xd8\x9c|\xf3\xa0\x81\x81|\xef\xbf\xbe", true, "\\u061c|\\U000e0041|\\ufffe");
    assert_printable("\xff\xc3", true, "\\xff\\xc3");
    assert_printable("\xff\n", false, "\xff\\n");
    assert_printable("Grüße 世界 😀", true, "Grüße 世界 😀");
}

static void widths_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(display_width("abc"), 3);
    assert_int_equal(display_width("Grüße"), 5);
    assert_int_equal(display_width("世界"), 4);
    assert_int_equal(display_width("e\xcc\x81"), 1);
    assert_int_equal(display_width(""), 0);
}

/* ---- CSV ---- */

static void assert_field(const char *text, const char *expected)
{
    char *written = NULL;
    size_t size;
    FILE *stream = open_memstream(&written, &size);
    csv_write_field(stream, text);
    fclose(stream);
    assert_string_equal(written, expected);
    free(written);
}

static void csv_quotes_where_it_must(void **state)
{
    (void)state;
    assert_field("plain text", "plain text");
    assert_field("", "");
    assert_field("a,b", "\"a,b\"");
    assert_field("say \"hi\"", "\"say \"\"hi\"\"\"");
    assert_field("two\nlines", "\"two\nlines\"");
    assert_field("\r", "\"\r\"");
}

static void csv_is_spelled_out_on_a_terminal(void **state)
{
    (void)state;
    static const struct column columns[] = {{"name", NULL, CELL_TEXT}, {"path", NULL, CELL_PATH}};
    static const struct layout layout = {columns, 2, NULL, NULL, NULL};
    json_t *row = json_pack("{s:s, s:s}", "name", "\x1b]0;x\x07\xc2\x9b", "path",
                            "\xe2\x80\xae"
                            "a\nb");
    for (int terminal = 0; terminal < 2; terminal++) {
        char *written = NULL;
        size_t size;
        FILE *stream = open_memstream(&written, &size);
        csv_write_row(stream, &layout, row, NULL, terminal);
        fclose(stream);
        assert_string_equal(written, terminal ? "\\x1b]0;x\\x07\\x9b,\\u202ea\\nb,\r\n"
                                              : "\x1b]0;x\x07\xc2\x9b,\"\xe2\x80\xae"
                                                "a\nb\",\r\n");
        free(written);
    }
    json_decref(row);
}

/* ---- figures for people ---- */

static void assert_human(enum cell cell, json_t *value, const char *expected)
{
    char *text = human_text(cell, value);
    assert_string_equal(text, expected);
    free(text);
    json_decref(value);
}

static void figures_are_short(void **state)
{
    (void)state;
    assert_human(CELL_SIZE, json_integer(0), "0 B");
    assert_human(CELL_SIZE, json_integer(999), "999 B");
    assert_human(CELL_SIZE, json_integer(1000), "1.0 kB");
    assert_human(CELL_SIZE, json_integer(9960), "10 kB");
    assert_human(CELL_SIZE, json_integer(999499), "999 kB");
    assert_human(CELL_SIZE, json_integer(999500), "1.0 MB");
    assert_human(CELL_SIZE, json_integer(INT64_MAX), "9.2 EB");
    assert_human(CELL_SECONDS, json_real(0.04), "0:00.0");
    assert_human(CELL_SECONDS, json_real(59.96), "1:00.0");
    assert_human(CELL_SECONDS, json_integer(3723), "1:02:03");
    assert_human(CELL_BOOL, json_true(), "yes");
    assert_human(CELL_BOOL, json_false(), "");
    assert_human(CELL_NUMBER, json_real(0.9876), "0.9876");
    assert_human(CELL_TEXT, json_string("a\nb"), "a\\nb");
    assert_human(CELL_TEXT, NULL, "");
}

/* ---- progress ---- */

static void assert_progress(const struct progress *progress, const char *expected)
{
    char line[256];
    progress_format(progress, line, sizeof line);
    assert_string_equal(line, expected);
}

static void progress_tells_pages_of_ocr(void **state)
{
    (void)state;
    struct progress progress = {
        .unit = "files", .done = 1, .total = 3, .pages = 37, .pages_total = 300, .page_rate = .5};
    assert_progress(&progress, "1 of 3 files · 33 % · 37 of 300 pages · 8:46 left");
    progress.pages = 300;
    assert_progress(&progress, "1 of 3 files · 33 % · 300 of 300 pages");
}

static void progress_tells_what_is_known(void **state)
{
    (void)state;
    struct progress progress = {.unit = "files"};
    assert_progress(&progress, "0 files");
    progress.done = 1234;
    assert_progress(&progress, "1 234 files");
    progress.pace.rate = 310;
    progress.total = 10000;
    progress.errors = 3;
    assert_progress(&progress, "1 234 of 10 000 files · 12 % · 310/s · 0:28 left · 3 errors");
    progress.pace.rate = 0.5;
    progress.errors = 1;
    assert_progress(&progress, "1 234 of 10 000 files · 12 % · 0.5/s · 4:52:12 left · 1 error");
    progress.done = 10000;
    progress.errors = 0;
    assert_progress(&progress, "10 000 of 10 000 files · 100 % · 0.5/s");
    progress.done = 10001; /* more came than were counted */
    assert_progress(&progress, "10 001 files · 0.5/s");
}

static void progress_tells_of_videos_how_long_they_are(void **state)
{
    (void)state;
    struct progress progress = {.unit = "files", .done = 12, .total = 40};
    progress.videos = (struct video_progress){
        .done = 12, .total = 40, .done_ms = 192 * 60000, .total_ms = 580 * 60000};
    assert_progress(&progress, "12 of 40 videos · 3 h 12 min of 9 h 40 min");
    progress.video_pace.rate = 60000;
    progress.errors = 1;
    assert_progress(&progress, "12 of 40 videos · 3 h 12 min of 9 h 40 min · 6:28 left · 1 error");
    progress.errors = 0;
    progress.total = 50; /* pictures among them */
    assert_progress(&progress, "12 of 50 files · 24 % · 12 of 40 videos · 3 h 12 min of 9 h 40 min "
                               "· 6:28 left");
    progress.total = 0; /* not counted yet */
    progress.videos = (struct video_progress){.done = 1, .done_ms = 75000};
    assert_progress(&progress, "12 files · 1 video · 1 min 15 s");
    progress.videos = (struct video_progress){.done = 0, .done_ms = 45000};
    assert_progress(&progress, "12 files · 0 videos · 45 s");
}

static void progress_shows_bytes_in_megabytes(void **state)
{
    (void)state;
    struct progress progress = {
        .unit = "bytes", .done = 1500000, .total = 39999999, .pace = {.rate = 20e6}};
    assert_progress(&progress, "2 of 40 MB · 5 % · 20/s · 0:02 left");
}

static void progress_fits_small_buffers(void **state)
{
    (void)state;
    struct progress progress = {
        .unit = "files", .done = 1234567, .total = 2000000, .pace = {.rate = 10}};
    for (size_t size = 1; size < 64; size++) {
        char line[64];
        memset(line, 'x', sizeof line);
        progress_format(&progress, line, size);
        assert_true(strlen(line) < size);
    }
}

static void progress_is_for_terminals(void **state)
{
    (void)state;
    FILE *stream = tmpfile();
    struct progress progress;
    progress_init(&progress, stream, true, false);
    progress_begin(&progress, "files", 10);
    progress.drawn_ns = 0;
    progress_update(&progress, 5, 0);
    progress_clear(&progress);
    assert_int_equal(ftell(stream), 0);
    assert_int_equal(progress.done, 5);
    fclose(stream);
}

/* A terminal of this many columns; what is written to `*out_stream` can be read from it. */
static int open_terminal(unsigned short columns, FILE **out_stream)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    *out_stream = fopen(ptsname(master), "w");
    assert_non_null(*out_stream);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    return master;
}

static void assert_shown(int master, const char *expected)
{
    char text[256] = "";
    ssize_t size = read(master, text, sizeof text - 1);
    assert_true(size > 0);
    assert_string_equal(text, expected);
}

static void progress_is_drawn_and_taken_away(void **state)
{
    (void)state;
    FILE *stream;
    struct progress progress;
    int master = open_terminal(20, &stream);
    progress_init(&progress, stream, true, false);
    progress_begin(&progress, "files", 100);
    progress_update(&progress, 5, 0); /* too early to be worth a line */
    progress.drawn_ns = 0;
    progress.pace.sampled_ns = progress.video_pace.sampled_ns = progress.begun_ns =
        INT64_MAX / 2; /* no rate yet */
    progress_update(&progress, 50, 2);
    assert_shown(master, "\r50 of 100 files · 5\033[K"); /* cut to 19 columns */
    progress_update(&progress, 51, 2);                   /* within a tenth of a second */
    progress_clear(&progress);
    assert_shown(master, "\r\033[K");
    progress_clear(&progress);
    fclose(stream);
    close(master);
}

static void progress_can_be_switched_off(void **state)
{
    (void)state;
    FILE *stream;
    struct progress progress;
    int master = open_terminal(80, &stream);
    progress_init(&progress, stream, false, false);
    assert_null(progress.stream);
    fclose(stream);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_what_libc_takes),
        cmocka_unit_test(names_become_parts_of_ids),
        cmocka_unit_test(controls_are_shown),
        cmocka_unit_test(widths_are_those_of_a_terminal),
        cmocka_unit_test(csv_quotes_where_it_must),
        cmocka_unit_test(csv_is_spelled_out_on_a_terminal),
        cmocka_unit_test(figures_are_short),
        cmocka_unit_test(progress_tells_pages_of_ocr),
        cmocka_unit_test(progress_tells_what_is_known),
        cmocka_unit_test(progress_tells_of_videos_how_long_they_are),
        cmocka_unit_test(progress_shows_bytes_in_megabytes),
        cmocka_unit_test(progress_fits_small_buffers),
        cmocka_unit_test(progress_is_for_terminals),
        cmocka_unit_test(progress_is_drawn_and_taken_away),
        cmocka_unit_test(progress_can_be_switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
