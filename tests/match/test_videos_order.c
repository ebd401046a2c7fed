/* Videos: the same answers in any order and over any index; and a slow search beside it. */
#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"

enum { VIDEOS = 30, QUERIES = 60, TEXT = 1 << 14 };

static bool print(void *context, const struct doppel_found *found)
{
    char *text = context;
    const struct doppel_match *match = &found->match;
    size_t length = strlen(text);
    int added = snprintf(text + length, TEXT - length, "%d %d %.9g %u %zu\n", (int)found->id,
                         match->relation, match->score, match->distance, match->segment_count);
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *one = &match->segments[i];
        added += snprintf(text + length + added, TEXT - length - (size_t)added, "%a %a %a %a %a\n",
                          one->a_start, one->a_end, one->b_start, one->b_end, one->speed);
    }
    return true;
}

static void find(const struct doppel_videos *videos, const struct doppel_video_track *query,
                 char text[TEXT])
{
    struct doppel_video_search options = doppel_video_search_default();
    options.near_misses = 3;
    text[0] = 0;
    assert_int_equal(doppel_videos_find(videos, query, &options, print, text, NULL), DOPPEL_OK);
}

/* Videos, some of which share pieces. */
static void make_tracks(struct clip clips[VIDEOS], struct doppel_video_track tracks[VIDEOS],
                        uint64_t *state)
{
    for (int i = 0; i < VIDEOS; i++)
        clips[i] = video_make(60, i % 2 ? 20 : 6, state);
    for (int i = 0; i < VIDEOS; i++) {
        struct showing own = {0, 60, 1, 0, 2, false};
        struct showing part = {10, 30, 1.1, 0, 5, i % 3 == 0};
        tracks[i] = video_track(100);
        video_show(&clips[i], &own, &tracks[i], state);
        video_show(&clips[(i + 1) % VIDEOS], &part, &tracks[i], state);
    }
}

static bool source(void *context, uint64_t id, struct doppel_video_track *out)
{
    const struct doppel_video_track *track = (const struct doppel_video_track *)context + id;
    *out = *track;
    out->frames = malloc(track->count * sizeof *out->frames);
    memcpy(out->frames, track->frames, track->count * sizeof *out->frames);
    return out->frames;
}

/* In memory, added forwards and backwards, some removed and added again; and over an index. */
static void answers_alike(void **unused)
{
    (void)unused;
    uint64_t state = 31;
    struct clip clips[VIDEOS];
    struct doppel_video_track tracks[VIDEOS];
    struct doppel_videos *sets[3] = {NULL};
    make_tracks(clips, tracks, &state);
    struct doppel_index_options options = doppel_videos_index_options();
    struct doppel_index *index = NULL;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_new(&sets[0], NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_new(&sets[1], NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < VIDEOS; i++) {
        uint64_t back = VIDEOS - 1 - i;
        struct doppel_video_code_list list;
        assert_int_equal(doppel_videos_add(sets[0], i, &tracks[i], NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_add(sets[0], i, &tracks[i], NULL), DOPPEL_E_ARGUMENT);
        assert_int_equal(doppel_videos_add(sets[1], back, &tracks[back], NULL), DOPPEL_OK);
        assert_int_equal(doppel_video_codes(i, &tracks[i], &list, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_insert(index, list.codes, list.payloads, list.count, NULL),
                         DOPPEL_OK);
        free(list.codes);
        free(list.payloads);
    }
    for (uint64_t i = 0; i < VIDEOS; i += 4) {
        assert_int_equal(doppel_videos_remove(sets[0], i, NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_add(sets[0], i, &tracks[i], NULL), DOPPEL_OK);
    }
    assert_int_equal(doppel_videos_over(index, source, tracks, &sets[2], NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_frames(sets[0]), doppel_videos_frames(sets[2]));
    for (int i = 0; i < QUERIES; i++) {
        char text[TEXT], other[TEXT];
        struct showing part = {5, 25, i % 2 ? 1 : 1.2, 0, 8, false};
        struct doppel_video_track query = clip_shown(&clips[i % VIDEOS], &part, &state);
        find(sets[0], &query, text);
        assert_true(text[0]);
        for (int j = 1; j < 3; j++) {
            find(sets[j], &query, other);
            assert_string_equal(text, other);
        }
        doppel_video_track_free(&query);
    }
    assert_int_equal(doppel_videos_add(sets[2], 99, &tracks[0], NULL), DOPPEL_E_ARGUMENT);
    for (int i = 0; i < 3; i++)
        doppel_videos_free(sets[i]);
    doppel_index_free(index);
    for (int i = 0; i < VIDEOS; i++)
        doppel_video_track_free(&tracks[i]);
    for (int i = 0; i < VIDEOS; i++)
        free(clips[i].codes);
}

static void limits_ids(void **unused)
{
    (void)unused;
    uint64_t state = 32;
    struct doppel_video_code_list list;
    struct clip clip = video_make(30, 20, &state);
    struct doppel_video_track track = video_whole(&clip, &state);
    struct doppel_videos *videos = NULL;
    char text[TEXT];
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_add(videos, UINT64_C(1) << 32, &track, NULL), DOPPEL_E_LIMIT);
    assert_int_equal(doppel_video_codes(UINT64_C(1) << 32, &track, &list, NULL), DOPPEL_E_LIMIT);
    assert_int_equal(doppel_videos_frames(videos), 0);
    assert_int_equal(doppel_videos_add(videos, UINT32_MAX, &track, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_frames(videos), track.count);
    find(videos, &track, text);
    assert_int_equal(strtoul(text, NULL, 10), (unsigned long)-1); /* printed as an int */
    assert_int_equal(doppel_videos_remove(videos, UINT32_MAX, NULL), DOPPEL_OK);
    find(videos, &track, text);
    assert_string_equal(text, "");
    doppel_videos_free(videos);
    doppel_video_track_free(&track);
    free(clip.codes);
}

static bool note_borderline(void *context, const struct doppel_found *found)
{
    int *noted = context;
    *noted = found->borderline ? 1 : 2;
    return true;
}

/* Where near misses are wanted, look-ups go farther: all codes are 17 bits of 64 away, and 104 of
 * 256. */
static void looks_farther_for_near_misses(void **unused)
{
    (void)unused;
    uint64_t state = 34;
    struct clip clip = video_make(30, 8, &state);
    struct doppel_video_track item = video_whole(&clip, &state);
    struct doppel_video_track query =
        clip_shown(&clip, &(struct showing){0, 30, 1, 0, 0, false}, &state);
    struct doppel_videos *videos = NULL;
    for (size_t i = 0; i < query.count; i++) {
        query.frames[i].code.word[0] ^= 0x1ffff;
        for (int word = 1; word < 4; word++)
            query.frames[i].code.word[word] ^= 0x1fffffff;
    }
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_add(videos, 0, &item, NULL), DOPPEL_OK);
    for (size_t near_misses = 0; near_misses < 2; near_misses++) {
        struct doppel_video_search options = doppel_video_search_default();
        int noted = 0;
        options.near_misses = near_misses;
        assert_int_equal(
            doppel_videos_find(videos, &query, &options, note_borderline, &noted, NULL), DOPPEL_OK);
        assert_int_equal(noted, near_misses ? 1 : 0);
    }
    doppel_videos_free(videos);
    doppel_video_track_free(&item);
    doppel_video_track_free(&query);
    free(clip.codes);
}

/* ---- the slow search ---- */

/* The code that a track shows at a time. NULL: none */
static const struct doppel_code *code_at(const struct doppel_video_track *track, double time)
{
    const struct doppel_code *code = NULL;
    double nearest = .126;
    for (size_t i = 0; i < track->count; i++) {
        double start = track->frames[i].start_ms / 1000.0, end = track->frames[i].end_ms / 1000.0;
        double far = time < start ? start - time : time > end ? time - end : 0;
        if (far >= nearest)
            continue;
        nearest = far;
        code = &track->frames[i].code;
    }
    return code;
}

/* Over both videos, at moments a twentieth of a second apart: the greatest sum of bits under 90. */
static double gain_of(const struct doppel_video_track *query, const struct doppel_video_track *item,
                      double offset, double speed)
{
    double best = 0, sum = 0, length = (double)query->duration_ms / 1000;
    for (double time = 0; time < length; time += .05) {
        const struct doppel_code *a = code_at(query, time);
        const struct doppel_code *b = code_at(item, offset + speed * time);
        if (!a || !b)
            continue;
        uint32_t distance = doppel_code_distance(a, b, 256);
        sum = fmax(sum + 90 - (distance < 130 ? distance : 130), 0);
        best = fmax(best, sum);
    }
    return best;
}

struct first {
    bool there;
    struct doppel_segment segment;
};

static bool keep(void *context, const struct doppel_found *found)
{
    *(struct first *)context = (struct first){true, found->match.segments[0]};
    return false;
}

/* No line of all offsets and speeds is much better than the one that is found. */
static void finds_the_best_line(void **unused)
{
    (void)unused;
    uint64_t state = 33;
    for (int i = 0; i < 12; i++) {
        struct clip clip = video_make(24, i % 2 ? 20 : 8, &state);
        struct doppel_video_track item = video_whole(&clip, &state);
        double from = video_uniform(&state, 0, 12), speed = video_uniform(&state, .75, 1.35);
        struct showing part = {from, from + 10, speed, 0, 8, false};
        struct doppel_video_track query = clip_shown(&clip, &part, &state);
        struct doppel_video_search options = doppel_video_search_default();
        struct doppel_videos *videos = NULL;
        struct first first = {0};
        struct doppel_error error = {0};
        assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_add(videos, 0, &item, NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_find(videos, &query, &options, keep, &first, &error),
                         DOPPEL_E_CANCELLED);
        assert_string_equal(error.message, "the search was ended by its caller");
        assert_true(first.there);
        double found = gain_of(&query, &item,
                               first.segment.b_start - first.segment.speed * first.segment.a_start,
                               first.segment.speed);
        double best = 0;
        for (double tried = .7; tried < 1.42; tried += .03)
            for (double offset = -2; offset < 16; offset += .2)
                best = fmax(best, gain_of(&query, &item, offset, tried));
        assert_true(found > .8 * best); /* speed 1 is preferred */
        doppel_videos_free(videos);
        doppel_video_track_free(&item);
        doppel_video_track_free(&query);
        free(clip.codes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_alike),
        cmocka_unit_test(limits_ids),
        cmocka_unit_test(looks_farther_for_near_misses),
        cmocka_unit_test(finds_the_best_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
