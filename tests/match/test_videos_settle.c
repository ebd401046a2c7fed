/* Stretches of one video in another, as many views and rounds find them, made one answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/video/search.h"

static struct video_stretch stretch(double a_start, double a_end, double b_start, double speed,
                                    double score)
{
    return (struct video_stretch){
        .segment = {a_start, a_end, b_start, b_start + (a_end - a_start) * speed, speed},
        .score = score};
}

static void settle(video_stretches *stretches, const struct video_stretch *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(array_push(stretches, given[i]));
    video_stretches_settle(stretches);
}

/* Whatever order they come in: three pieces of one line, the middle one last. */
static void test_pieces_of_one_line_are_one(void **state)
{
    (void)state;
    const struct video_stretch given[] = {stretch(0, 6.4, 10, 1, 20), stretch(9, 20, 19.1, 1, 90),
                                          stretch(6.5, 8.6, 16.4, 1.02, 5)};
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct video_stretch turned[3];
        video_stretches stretches = {0};
        for (int j = 0; j < 3; j++)
            turned[j] = given[orders[i][j]];
        settle(&stretches, turned, 3);
        assert_int_equal(stretches.count, 1);
        assert_true(stretches.items[0].segment.a_start == 0);
        assert_true(stretches.items[0].segment.a_end == 20);
        assert_true(stretches.items[0].segment.b_start == 10);
        assert_true(stretches.items[0].score == 90);
        array_free(&stretches);
    }
}

/* Other lines, a gap, a mirror image: all stay. */
static void test_what_is_not_one_stays(void **state)
{
    (void)state;
    struct video_stretch given[] = {stretch(0, 5, 0, 1, 50), stretch(5, 10, 40, 1, 40),
                                    stretch(12, 18, 12, 1, 30), stretch(18, 25, 18, 1, 20)};
    video_stretches stretches = {0};
    given[3].view.mirrored = true;
    settle(&stretches, given, 4);
    assert_int_equal(stretches.count, 4);
    array_free(&stretches);
}

/* A scene that comes again in both videos: the line has it both times, what crosses is dropped;
 * where it comes again in one of them only, it stays. */
static void test_what_repeats_itself_is_told_once(void **state)
{
    (void)state;
    const struct video_stretch twice[] = {stretch(0, 60, 0, 1, 200), stretch(5, 9, 45, 1, 12),
                                          stretch(45, 49, 5, 1, 12)};
    const struct video_stretch again[] = {stretch(0, 60, 0, 1, 200), stretch(5, 9, 80, 1, 12)};
    video_stretches stretches = {0};
    settle(&stretches, twice, 3);
    assert_int_equal(stretches.count, 1);
    array_free(&stretches);
    stretches = (video_stretches){0};
    settle(&stretches, again, 2);
    assert_int_equal(stretches.count, 2);
    array_free(&stretches);
}

/* Still scenes give way to what moves, and are never joined. */
static void test_still_scenes_give_way(void **state)
{
    (void)state;
    struct video_stretch given[] = {stretch(0, 5, 0, 1, 50), stretch(4, 8, 4, 1, 90),
                                    stretch(20, 25, 30, 1, 9)};
    video_stretches stretches = {0};
    given[1].uncertain = given[2].uncertain = true;
    settle(&stretches, given, 3);
    assert_int_equal(stretches.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(stretches.items[i].segment.a_start != 4);
    array_free(&stretches);
}

/* ---- what is visited ---- */

static bool note_visit(void *context, const struct doppel_found *found)
{
    char *noted = context;
    while (*noted)
        noted++;
    noted[0] = (char)('0' + found->id);
    noted[1] = found->borderline ? '?' : '!';
    return true;
}

/* Items whose lines told nothing hide no near miss. */
static void test_near_misses_are_visited(void **state)
{
    (void)state;
    static const char *const visited[] = {"4!1!", "4!1!3?", "4!1!3?2?", "4!1!3?2?"};
    for (size_t near_misses = 0; near_misses < 4; near_misses++) {
        const struct video_finding given[] = {{.id = 0},
                                              {.id = 1},
                                              {.id = 2, .rejected = true},
                                              {.id = 3, .rejected = true},
                                              {.id = 4}};
        static const double scores[] = {0, 4, 1, 2, 9};
        char noted[16] = "";
        video_findings findings = {0};
        for (size_t i = 0; i < 5; i++) {
            assert_true(array_push(&findings, given[i]));
            const struct video_stretch found = stretch(0, 5, 0, 1, scores[i]);
            assert_true(!i || array_push(&findings.items[i].stretches, found));
        }
        const struct doppel_video_track query = {0};
        const struct video_visit visit = {&query, near_misses, note_visit, noted};
        assert_int_equal(video_findings_visit(&findings, &visit, NULL), DOPPEL_OK);
        assert_string_equal(noted, visited[near_misses]);
        video_findings_free(&findings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_one_line_are_one),
        cmocka_unit_test(test_what_is_not_one_stays),
        cmocka_unit_test(test_what_repeats_itself_is_told_once),
        cmocka_unit_test(test_still_scenes_give_way),
        cmocka_unit_test(test_near_misses_are_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
