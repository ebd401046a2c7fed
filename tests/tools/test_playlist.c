/* Playlists: which of what overlaps becomes a row, and that rows are the same however early they
 * are printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "tools/output/groups/playlist.h"

enum { MOST = 64 };

/* ---- what is printed ---- */

static FILE *printing; /* what standard output goes to */
static int before;

static struct playlist *begin_playlist(struct settings *settings, struct report *report)
{
    *settings = (struct settings){.format = FORMAT_JSON};
    *report = (struct report){.stream = stderr, .quiet = true};
    printing = tmpfile();
    assert_non_null(printing);
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    dup2(fileno(printing), STDOUT_FILENO);
    struct playlist *playlist = playlist_new(settings, report);
    playlist_begin(playlist, "mix");
    return playlist;
}

/* @return what was printed: given (free) */
static char *end_playlist(struct playlist *playlist)
{
    bool written = playlist_finish(playlist);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    rewind(printing);
    assert_true(fread(text, 1, (1 << 16) - 1, printing) < (1 << 16) - 1);
    fclose(printing);
    assert_true(written);
    return text;
}

struct row {
    double start, end, item_start;
    int id;
};

static double value_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

static size_t read_rows(const char *text, struct row *out)
{
    size_t count = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_true(count < 4 * MOST);
        out[count++] =
            (struct row){value_of(line, "\"start\":"), value_of(line, "\"end\":"),
                         value_of(line, "\"item_start\":"), (int)value_of(line, "\"id\":")};
        assert_int_equal(value_of(line, "\"number\":"), count);
    }
    return count;
}

static void add_span(struct playlist *playlist, const struct playlist_span *span)
{
    char name[32];
    snprintf(name, sizeof name, "/item-%d", (int)span->id);
    playlist_add(playlist, span, &(struct playlist_item){.name = name, .has_file = true});
}

/* ---- cases ---- */

static void the_best_of_what_overlaps_has_the_time(void **state)
{
    (void)state;
    static const struct {
        struct playlist_span spans[3];
        struct row rows[4];
    } cases[] = {
        /* one fades into a longer one */
        {{{0, 200, 0, 1, 10, 0, 1}, {190, 401, 0, 1, 10, 0, 2}},
         {{0, 190, 0, 1}, {190, 401, 0, 2}}},
        /* the longer one comes first: the other begins within itself, at its own speed */
        {{{0, 201, 0, 1, 10, 0, 1}, {190, 390, 0, 1.02, 10, 0, 2}},
         {{0, 201, 0, 1}, {201, 390, 11.22, 2}}},
        /* another copy of it, and a jingle on top */
        {{{0, 200, 0, 1, 30, 0, 1}, {.4, 199, .4, 1, 29, 0, 2}, {50, 55, 0, 1, 40, 0, 3}},
         {{0, 200, 0, 1}}},
        /* a faint one around a clear one */
        {{{0, 100, 7, 1, 3, 0, 1}, {40, 80, 0, 1, 30, 0, 2}},
         {{0, 40, 7, 1}, {40, 80, 0, 2}, {80, 100, 87, 1}}},
        /* what is left is too little */
        {{{0, 100, 0, 1, 9, 0, 1}, {98, 140, 0, 1, 90, 0, 2}, {139, 144, 0, 1, 9, 0, 3}},
         {{0, 98, 0, 1}, {98, 140, 0, 2}, {140, 144, 1, 3}}},
        {{{0, 100, 0, 1, 9, 0, 1}, {97, 104, 0, 1, 9, 0, 2}}, {{0, 100, 0, 1}, {100, 104, 3, 2}}},
        {{{0, 100, 0, 1, 9, 0, 1}, {95, 104, 0, 1, 9, 0, 2}}, {{0, 100, 0, 1}}},
        /* it goes on after a break; at another place of it; after too long a break */
        {{{0, 50, 0, 1, 9, 0, 1}, {58, 100, 58.4, 1, 9, 0, 1}}, {{0, 100, 0, 1}}},
        {{{0, 50, 0, 1, 9, 0, 1}, {58, 100, 20, 1, 9, 0, 1}}, {{0, 50, 0, 1}, {58, 100, 20, 1}}},
        {{{0, 50, 0, 1, 9, 0, 1}, {61, 100, 61, 1, 9, 0, 1}}, {{0, 50, 0, 1}, {61, 100, 61, 1}}},
        /* in any order, and one that is none */
        {{{58, 100, 58, 1, 9, 0, 1}, {3, 3, 0, 1, 9, 0, 2}, {0, 50, 0, 1, 9, 0, 1}},
         {{0, 100, 0, 1}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings settings;
        struct report report;
        struct row rows[4 * MOST];
        size_t wanted = 0;
        struct playlist *playlist = begin_playlist(&settings, &report);
        for (size_t j = 0; j < 3; j++)
            if (cases[i].spans[j].id)
                add_span(playlist, &cases[i].spans[j]);
        char *text = end_playlist(playlist);
        while (wanted < 4 && cases[i].rows[wanted].id)
            wanted++;
        if (read_rows(text, rows) != wanted)
            fail_msg("case %zu: %s", i, text);
        for (size_t j = 0; j < wanted; j++)
            if (rows[j].id != cases[i].rows[j].id ||
                fabs(rows[j].start - cases[i].rows[j].start) > .0011 ||
                fabs(rows[j].end - cases[i].rows[j].end) > .0011 ||
                fabs(rows[j].item_start - cases[i].rows[j].item_start) > .0011)
                fail_msg("case %zu, row %zu: %s", i, j, text);
        free(text);
    }
}

/* ---- at random ---- */

static double draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 40) / (1 << 24);
}

/* Spans of few items, in the order in which their ends are known, six seconds later. */
static int compare_ends(const void *left, const void *right)
{
    const struct playlist_span *a = left, *b = right;
    return (a->end > b->end) - (a->end < b->end);
}

static size_t draw_spans(uint64_t seed, struct playlist_span *out)
{
    size_t count = 2 + (size_t)(draw(&seed) * (MOST - 2));
    double at = 0;
    for (size_t i = 0; i < count; i++) {
        double start = at + draw(&seed) * 30, seconds = 2 + draw(&seed) * 60;
        bool goes_on = draw(&seed) < .4;
        out[i] = (struct playlist_span){.start = start,
                                        .end = start + seconds,
                                        .item_start = goes_on ? start : draw(&seed) * 500,
                                        .speed = 1,
                                        .score = 1 + draw(&seed) * 50,
                                        .id = 1 + (uint64_t)(draw(&seed) * 4)};
        at = start;
    }
    qsort(out, count, sizeof *out, compare_ends);
    return count;
}

/* As a monitor tells them: starts up to twelve seconds late, ends six. */
static void add_as_they_come(struct playlist *playlist, const struct playlist_span *spans,
                             size_t count, uint64_t seed)
{
    double last = spans[count - 1].end + 60, late[MOST];
    size_t added = 0;
    for (size_t i = 0; i < count; i++)
        late[i] = draw(&seed) * 12;
    for (double now = 0; now < last; now += .5 + 3 * draw(&seed)) {
        double until = now;
        for (; added < count && spans[added].end + 6 <= now; added++)
            add_span(playlist, &spans[added]);
        for (size_t i = added; i < count; i++)
            if (spans[i].start + late[i] <= now)
                until = fmin(until, spans[i].start);
        playlist_settle(playlist, until);
    }
    assert_int_equal(added, count);
}

/* At no time two of them; each within a span, or several of its item. */
static void check_rows(const struct row *rows, size_t count, const struct playlist_span *spans,
                       size_t span_count)
{
    for (size_t i = 0; i < count; i++) {
        bool begins = false;
        assert_true(rows[i].end > rows[i].start);
        assert_true(!i || rows[i].start >= rows[i - 1].end - .0011);
        for (size_t j = 0; j < span_count; j++)
            begins |= (int)spans[j].id == rows[i].id && spans[j].start - .001 <= rows[i].start &&
                      rows[i].start <= spans[j].end + 10;
        assert_true(begins);
    }
}

static void rows_are_the_same_whenever_they_come(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct playlist_span spans[MOST];
        struct settings settings;
        struct report report;
        struct row rows[4 * MOST];
        size_t count = draw_spans(seed, spans);
        struct playlist *playlist = begin_playlist(&settings, &report);
        for (size_t i = 0; i < count; i++)
            add_span(playlist, &spans[i]);
        char *at_once = end_playlist(playlist);
        playlist = begin_playlist(&settings, &report);
        add_as_they_come(playlist, spans, count, seed);
        char *bit_by_bit = end_playlist(playlist);
        check_rows(rows, read_rows(at_once, rows), spans, count);
        if (strcmp(at_once, bit_by_bit) != 0) {
            fprintf(stderr, "%s\n%s", at_once, bit_by_bit);
            fail_msg("seed %d", (int)seed);
        }
        free(at_once);
        free(bit_by_bit);
    }
}

/* ---- the time of day ---- */

static void starts_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *after; /* 90.25 s later; NULL: refused */
    } cases[] = {
        {"2026-11-25T06:00:00+01:00", "2026-11-25T06:01:30.250+01:00"},
        {"2026-11-25 06:00:00.5-0330", "2026-11-25T06:01:30.750-03:30"},
        {"2026-12-31T23:59Z", "2027-01-01T00:00:30.250+00:00"},
        {"2028-02-29T12:00:00Z", "2028-02-29T12:01:30.250+00:00"},
        {"2026-02-29T12:00:00Z", NULL},
        {"2026-11-25", NULL},
        {"2026-11-25T25:00:00", NULL},
        {"2026-11-25T06:00:00+15:00", NULL},
        {"2026-11-25T06:00:00+01:0", NULL},
        {"2026-11-25T06:00:00+-1:00", NULL},
        {"2026-11-25T06:00:00 ", NULL},
        {"1960-11-25T06:00:00Z", NULL},
        {"6:00", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct start_time start;
        char text[CLOCK_BYTES];
        if (start_time_parse(cases[i].text, &start) != (cases[i].after != NULL))
            fail_msg("%s", cases[i].text);
        if (!cases[i].after)
            continue;
        start_time_after(&start, 90.25, text);
        assert_string_equal(text, cases[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_what_overlaps_has_the_time),
        cmocka_unit_test(rows_are_the_same_whenever_they_come),
        cmocka_unit_test(starts_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
