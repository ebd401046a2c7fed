/* Votes for lines of videos: of very many in one item, the heaviest are told. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"
#include "match/video/search.h"

enum {
    RUNS = 110,
    LINES = 24,
    TOLD = 16,    /* lines of an item */
    MARGIN = 4,   /* lines that differ by a few hits are alike */
    LIGHTEST = 60 /* hits of one */
};

/* Hits of a line, around the middle of the query. */
static size_t plant(const struct video_line *line, uint32_t count, struct video_hit *out)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t run = (RUNS - count) / 2 + i;
        out[i] = (struct video_hit){
            .id = 7, .run = run, .start_ms = (uint32_t)(1000 * video_line_at(line, run))};
    }
    return count;
}

/* Whether a line was told, give or take a second in the middle of the query. */
static bool is_told(const video_candidates *told, const struct video_line *line)
{
    for (size_t i = 0; i < told->count; i++)
        if (fabs(video_line_at(&told->items[i].line, RUNS / 2) - video_line_at(line, RUNS / 2)) < 1)
            return true;
    return false;
}

/* Lines 1000 s apart, of all speeds that are tried, with LIGHTEST hits and more, each with two more
 * than the one before in a random order. */
static void try_lines(const struct video_task *task, uint64_t *state)
{
    struct video_line lines[LINES];
    uint32_t ranks[LINES];
    struct video_hit hits[LINES * RUNS];
    video_candidates told = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < LINES; i++) {
        uint32_t at = (uint32_t)(video_random(state) % (i + 1));
        ranks[i] = ranks[at];
        ranks[at] = i;
    }
    for (uint32_t i = 0; i < LINES; i++) {
        double speed = pow(1.04, (double)(video_random(state) % 15) - 7);
        lines[i] = (struct video_line){1000 * (i + 1) - speed * RUNS / 2, speed, false};
        count += plant(&lines[i], LIGHTEST + 2 * ranks[i], hits + count);
    }
    assert_true(videos_vote(task, &(struct video_hits){hits, count}, &told));
    assert_int_equal(told.count, TOLD);
    for (uint32_t i = 0; i < LINES; i++)
        if (ranks[i] >= LINES - TOLD + MARGIN)
            assert_true(is_told(&told, &lines[i]));
    array_free(&told);
}

static void tells_the_heaviest(void **unused)
{
    (void)unused;
    struct doppel_video_frame frames[RUNS];
    double rarity[RUNS];
    struct video_view views[VIDEO_VIEWS_MAX];
    for (uint32_t i = 0; i < RUNS; i++) {
        frames[i] = (struct doppel_video_frame){.start_ms = 1000 * i, .end_ms = 1000 * i};
        rarity[i] = 1;
    }
    struct doppel_video_track query = {.frames = frames, .count = RUNS};
    struct doppel_video_search options = doppel_video_search_default();
    struct video_task task = {
        .query = &query, .options = &options, .views = views, .rarity = rarity};
    video_views(&query, &options, views);
    uint64_t state = 11;
    for (int i = 0; i < 50; i++)
        try_lines(&task, &state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_heaviest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
