/* The marks of an axis of time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_as_many_as_fit),
        cmocka_unit_test(marks_of_long_times_are_whole_hours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
