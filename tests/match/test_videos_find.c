/* Finding videos: several segments, strangers, intros, still scenes; the order of things; a slow
 * search beside it. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"

enum { MOST_FOUND = 128, MOST_SEGMENTS = 8 };

struct found {
    uint64_t id;
    struct doppel_match match;
    struct doppel_segment segments[MOST_SEGMENTS];
};

struct visits {
    size_t count;
    struct found found[MOST_FOUND];
};

static bool note(void *context, const struct doppel_found *found)
{
    struct visits *visits = context;
    assert_true(visits->count < MOST_FOUND && found->match.segment_count <= MOST_SEGMENTS);
    struct found *out = &visits->found[visits->count++];
    *out = (struct found){.id = found->id, .match = found->match};
    out->match.segments = NULL;
    for (size_t i = 0; i < found->match.segment_count; i++)
        out->segments[i] = found->match.segments[i];
    return true;
}

static struct visits find(const struct doppel_videos *videos,
                          const struct doppel_video_track *query)
{
    struct visits visits = {0};
    struct doppel_video_search options = doppel_video_search_default();
    assert_int_equal(doppel_videos_find(videos, query, &options, note, &visits, NULL), DOPPEL_OK);
    return visits;
}

static struct doppel_videos *set_of(const struct doppel_video_track *tracks, size_t count)
{
    struct doppel_videos *videos = NULL;
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(doppel_videos_add(videos, i, &tracks[i], NULL), DOPPEL_OK);
    return videos;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < .4;
}

/* How long its last sample is shown is not known: a clip of a second is within all the same. */
static void a_clip_of_a_second_is_contained(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct clip clip = video_make(60, 60, &state);
    struct doppel_video_track item = video_whole(&clip, &state);
    struct doppel_videos *videos = set_of(&item, 1);
    for (int from = 3; from < 50; from += 4) {
        struct showing showing = {from, from + .9, 1, .1, 1, false};
        struct doppel_video_track query = clip_shown(&clip, &showing, &state);
        query.duration_ms += 100; /* for which the last frame stays */
        struct visits visits = find(videos, &query);
        assert_int_equal(visits.count, 1);
        assert_int_equal(visits.found[0].match.relation, DOPPEL_RELATION_CONTAINED);
        doppel_video_track_free(&query);
    }
    doppel_video_track_free(&item);
    doppel_videos_free(videos);
    free(clip.codes);
}

/* Pieces of two videos, those of the first in the other order, and a stranger in between. */
static void finds_all_segments(void **unused)
{
    (void)unused;
    uint64_t state = 21;
    struct clip clips[3];
    struct doppel_video_track tracks[2];
    for (int i = 0; i < 3; i++)
        clips[i] = video_make(100, 20, &state);
    for (int i = 0; i < 2; i++)
        tracks[i] = video_whole(&clips[i], &state);
    struct doppel_videos *videos = set_of(tracks, 2);
    struct doppel_video_track query = video_track(100);
    static const struct {
        int clip;
        struct showing showing;
    } parts[] = {{0, {60, 80, 1, 0, 6, false}}, /* 0 to 20 */
                 {2, {0, 10, 1, 0, 6, false}},
                 {1, {30, 45, 1, 0, 6, false}}, /* 30 to 45 */
                 {0, {10, 30, 1, 0, 6, true}}}; /* 45 to 65 */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        video_show(&clips[parts[i].clip], &parts[i].showing, &query, &state);
    struct visits visits = find(videos, &query);
    assert_int_equal(visits.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct found *found = &visits.found[i];
        const struct doppel_segment *segments = found->segments;
        assert_int_equal(found->match.relation, DOPPEL_RELATION_OVERLAPS);
        assert_int_equal(found->match.segment_count, found->id ? 1 : 2);
        if (found->id) {
            assert_true(is_near(segments[0].a_start, 30) && is_near(segments[0].a_end, 45));
            assert_true(is_near(segments[0].b_start, 30) && is_near(segments[0].b_end, 45));
            assert_true(fabs(found->match.query_coverage - 15 / 65.) < .02);
            assert_true(fabs(found->match.item_coverage - .15) < .02);
        } else {
            assert_true(is_near(segments[0].a_start, 0) && is_near(segments[0].a_end, 20));
            assert_true(is_near(segments[0].b_start, 60) && is_near(segments[0].b_end, 80));
            assert_true(is_near(segments[1].a_start, 45) && is_near(segments[1].a_end, 65));
            assert_true(is_near(segments[1].b_start, 10) && is_near(segments[1].b_end, 30));
        }
    }
    /* The other way round, and as a pair. */
    struct doppel_match match;
    struct doppel_video_search options = doppel_video_search_default();
    assert_int_equal(doppel_match_videos(&tracks[0], &query, &options, &match, NULL), DOPPEL_OK);
    assert_int_equal(match.segment_count, 2);
    assert_true(is_near(match.segments[0].a_start, 10) && is_near(match.segments[0].b_start, 45));
    free((void *)match.segments);
    doppel_videos_free(videos);
    doppel_video_track_free(&query);
    for (int i = 0; i < 3; i++)
        free(clips[i].codes);
    for (int i = 0; i < 2; i++)
        doppel_video_track_free(&tracks[i]);
}

/* A clip that is shown twice is found twice. */
static void finds_repeats(void **unused)
{
    (void)unused;
    uint64_t state = 22;
    struct clip full = video_make(60, 20, &state), clip = video_make(12, 20, &state);
    struct doppel_video_track item = video_track(100), query = video_whole(&clip, &state);
    struct showing a = {0, 20, 1, 0, 2, false}, b = {20, 50, 1, 0, 2, false};
    struct showing whole = {0, 12, 1, 0, 6, false};
    video_show(&full, &a, &item, &state);
    video_show(&clip, &whole, &item, &state); /* 20 to 32 */
    video_show(&full, &b, &item, &state);
    video_show(&clip, &whole, &item, &state); /* 62 to 74 */
    struct doppel_videos *videos = set_of(&item, 1);
    struct visits visits = find(videos, &query);
    assert_int_equal(visits.count, 1);
    assert_int_equal(visits.found[0].match.segment_count, 2);
    assert_int_equal(visits.found[0].match.relation, DOPPEL_RELATION_CONTAINED);
    double sum = visits.found[0].segments[0].b_start + visits.found[0].segments[1].b_start;
    assert_true(fabs(sum - 82) < .6);
    doppel_videos_free(videos);
    doppel_video_track_free(&item);
    doppel_video_track_free(&query);
    free(full.codes);
    free(clip.codes);
}

/* An advertisement in a day of television: each of its showings is told, whichever is the query. */
static void finds_many_repeats(void **unused)
{
    (void)unused;
    enum { TIMES = 12 };
    uint64_t state = 27;
    struct clip clip = video_make(12, 20, &state);
    struct doppel_video_track once = video_whole(&clip, &state), often = video_track(TIMES * 40);
    struct showing whole = {0, 12, 1, 0, 6, false};
    for (int i = 0; i < TIMES; i++) {
        struct clip other = video_make(28, 20, &state);
        struct showing between = {0, 28, 1, 0, 2, false};
        video_show(&clip, &whole, &often, &state);
        video_show(&other, &between, &often, &state);
        free(other.codes);
    }
    const struct doppel_video_track *pairs[][2] = {{&once, &often}, {&often, &once}};
    for (int i = 0; i < 2; i++) {
        struct doppel_match match;
        struct doppel_video_search options = doppel_video_search_default();
        assert_int_equal(doppel_match_videos(pairs[i][0], pairs[i][1], &options, &match, NULL),
                         DOPPEL_OK);
        assert_int_equal(match.segment_count, TIMES);
        for (int j = 0; j < TIMES; j++) {
            double start = i ? match.segments[j].a_start : match.segments[j].b_start;
            assert_true(fabs(start - 40 * j) < 1);
        }
        free((void *)match.segments);
    }
    doppel_video_track_free(&often);
    doppel_video_track_free(&once);
    free(clip.codes);
}

/* ---- strangers ---- */

/* Videos that use the same few codes of their own over and over, videos that hardly move, and
 * videos of fast scenes: of thousands of searches none finds anything. */
static void finds_no_strangers(void **unused)
{
    (void)unused;
    uint64_t state = 23;
    enum { VIDEOS = 40, QUERIES = 1500 };
    struct doppel_video_track tracks[VIDEOS];
    static const double moves[] = {0, 2, 12, 25};
    for (int i = 0; i < VIDEOS; i++) {
        struct clip clip = video_make(300, moves[i % 4], &state);
        for (size_t j = clip.count / 4; i % 3 == 0 && j < clip.count; j++)
            clip.codes[j] = clip.codes[j - clip.count / 4]; /* four times the same */
        tracks[i] = video_whole(&clip, &state);
        free(clip.codes);
    }
    struct doppel_videos *videos = set_of(tracks, VIDEOS);
    size_t found = 0;
    for (int i = 0; i < QUERIES; i++) {
        struct clip clip = video_make(i % 5 ? 20 : 90, moves[i % 4], &state);
        for (size_t j = clip.count / 2; i % 3 == 0 && j < clip.count; j++)
            clip.codes[j] = clip.codes[j - clip.count / 2];
        struct doppel_video_track query = video_whole(&clip, &state);
        found += find(videos, &query).count;
        doppel_video_track_free(&query);
        free(clip.codes);
    }
    assert_int_equal(found, 0);
    doppel_videos_free(videos);
    for (int i = 0; i < VIDEOS; i++)
        doppel_video_track_free(&tracks[i]);
}

/* ---- intros ---- */

/* A hundred episodes begin with the same 10 s. A clip of one of them, with the intro, is best found
 * there. */
static void weighs_intros_little(void **unused)
{
    (void)unused;
    uint64_t state = 24;
    enum { EPISODES = 100 };
    struct clip intro = video_make(10, 20, &state), clips[EPISODES];
    struct doppel_video_track tracks[EPISODES];
    struct showing of_intro = {0, 10, 1, 0, 3, false}, whole = {0, 50, 1, 0, 3, false};
    for (int i = 0; i < EPISODES; i++) {
        clips[i] = video_make(50, 20, &state);
        tracks[i] = video_track(60);
        video_show(&intro, &of_intro, &tracks[i], &state);
        video_show(&clips[i], &whole, &tracks[i], &state);
    }
    struct doppel_videos *videos = set_of(tracks, EPISODES);
    for (uint64_t i = 0; i < EPISODES; i += 7) {
        struct doppel_video_track query = video_track(60);
        struct showing part = {20, 30, 1, 0, 6, false};
        video_show(&intro, &of_intro, &query, &state);
        video_show(&clips[i], &part, &query, &state);
        struct visits visits = find(videos, &query);
        assert_true(visits.count >= 1);
        assert_int_equal(visits.found[0].id, i);
        for (size_t j = 1; j < visits.count; j++)
            assert_true(visits.found[j].match.score < visits.found[0].match.score / 2);
        doppel_video_track_free(&query);
    }
    doppel_videos_free(videos);
    for (int i = 0; i < EPISODES; i++) {
        free(clips[i].codes);
        doppel_video_track_free(&tracks[i]);
    }
    free(intro.codes);
}

/* ---- still scenes ---- */

static void tells_still_scenes(void **unused)
{
    (void)unused;
    uint64_t state = 25;
    struct clip clip = video_make(60, 20, &state), still = video_make(20, 0, &state);
    for (size_t i = 1; i < still.count; i++)
        still.codes[i] = still.codes[0];
    struct doppel_video_track item = video_track(100);
    struct showing a = {0, 30, 1, 0, 2, false}, b = {30, 60, 1, 0, 2, false};
    struct showing scene = {0, 20, 1, 0, 2, false}, part = {0, 8, 1, 0, 5, false};
    video_show(&clip, &a, &item, &state);
    video_show(&still, &scene, &item, &state); /* 30 to 50 */
    video_show(&clip, &b, &item, &state);
    struct doppel_video_track query = clip_shown(&still, &part, &state);
    struct doppel_videos *videos = set_of(&item, 1);
    struct visits visits = find(videos, &query);
    assert_int_equal(visits.count, 1);
    assert_true(visits.found[0].match.time_uncertain);
    assert_int_equal(visits.found[0].match.segment_count, 1);
    const struct doppel_segment *segment = &visits.found[0].segments[0];
    assert_true(is_near(segment->a_start, 0) && is_near(segment->a_end, 8));
    assert_true(is_near(segment->b_start, 30) && is_near(segment->b_end, 50));
    doppel_videos_free(videos);
    doppel_video_track_free(&item);
    doppel_video_track_free(&query);
    free(clip.codes);
    free(still.codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clip_of_a_second_is_contained),
        cmocka_unit_test(finds_all_segments),
        cmocka_unit_test(finds_repeats),
        cmocka_unit_test(finds_many_repeats),
        cmocka_unit_test(finds_no_strangers),
        cmocka_unit_test(weighs_intros_little),
        cmocka_unit_test(tells_still_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
