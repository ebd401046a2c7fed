/* The marks of an axis of time, and numbers in pictures. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/svg.h"

/* From a second to two weeks: no more than are asked for, and those not too few. */
static void marks_are_as_many_as_fit(void **state)
{
    (void)state;
    for (int most = 10; most <= 12; most++)
        for (double seconds = 1; seconds < 14 * 86400; seconds *= 1.07) {
            double marks = seconds / svg_clock_step(seconds, most);
            if (marks > most || marks < most / 3.0)
                fail_msg("%g s have %g marks of %d", seconds, marks, most);
        }
}

static void marks_of_long_times_are_whole_hours(void **state)
{
    (void)state;
    assert_true(svg_clock_step(9 * 3600, 10) == 3600);
    assert_true(svg_clock_step(10 * 3600, 10) == 3600);
    assert_true(svg_clock_step(11 * 3600, 10) == 7200);
    assert_true(svg_clock_step(100.5 * 3600, 10) == 11 * 3600);
}

static bool draw_numbers(void *context, FILE *stream)
{
    (void)context;
    fprintf(stream, "<circle r=\"%.1f\"/>\n", 2.5);
    return true;
}

/* A program that draws may have a locale with a comma, and keeps it. */
static void numbers_have_a_point_in_each_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    const struct svg picture = {.width = 9, .height = 9, .style = "", .draw = draw_numbers};
    char path[] = "/tmp/doppel-svg-XXXXXX", text[4096] = "";
    const char *found = NULL;
    int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    const char point = *localeconv()->decimal_point;
    enum doppel_status status = svg_write(path, &picture, NULL);
    const char after = *localeconv()->decimal_point;
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(status, DOPPEL_OK);
    assert_int_equal(after, point);
    assert_true(read(file, text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "r=\"2.5\""));
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_as_many_as_fit),
        cmocka_unit_test(marks_of_long_times_are_whole_hours),
        cmocka_unit_test(numbers_have_a_point_in_each_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
