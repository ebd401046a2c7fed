/* Windows of made recordings, looked for in a set of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/peaks.h"
#include "match/audio/search.h"

enum { ITEMS = 40, SECONDS = 60, FIRST_ID = 1000 };

/* Recordings, a set of them in memory, and one over an index. */
struct shelf {
    struct made_audio recordings[ITEMS];
    struct doppel_recordings *set, *over;
    struct doppel_index *index;
};

static bool give(void *context, uint64_t id, uint32_t from, uint32_t to,
                 struct doppel_audio_track *out)
{
    const struct shelf *shelf = context;
    const struct made_audio *recording = &shelf->recordings[id - FIRST_ID];
    out->count = 0;
    out->peaks = malloc((recording->count + 1) * sizeof *out->peaks);
    for (size_t i = 0; i < recording->count; i++)
        if (recording->peaks[i].time >= from && recording->peaks[i].time < to)
            out->peaks[out->count++] = recording->peaks[i];
    return true;
}

static void add(struct shelf *shelf, size_t number)
{
    struct doppel_recording recording = audio_of(&shelf->recordings[number]);
    struct doppel_index_item item = {.payload = FIRST_ID + number,
                                     .length = doppel_recording_hops(&recording)};
    struct doppel_index_posting *postings;
    size_t count;
    assert_int_equal(doppel_recordings_add(shelf->set, item.payload, &recording, NULL), DOPPEL_OK);
    assert_int_equal(doppel_recording_postings(&recording, &postings, &count, NULL), DOPPEL_OK);
    item.postings = postings;
    item.count = (uint32_t)count;
    assert_int_equal(doppel_index_insert_item(shelf->index, &item, NULL), DOPPEL_OK);
    free(postings);
}

static struct shelf *make_shelf(uint64_t *seed)
{
    struct shelf *shelf = calloc(1, sizeof *shelf);
    struct doppel_index_options options = doppel_recordings_index_options();
    assert_non_null(shelf);
    assert_int_equal(doppel_recordings_new(&shelf->set, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_new(&options, &shelf->index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_recordings_over(shelf->index, give, shelf, &shelf->over, NULL),
                     DOPPEL_OK);
    for (size_t i = 0; i < ITEMS; i++) {
        shelf->recordings[i] = make_audio(SECONDS, 40, seed);
        add(shelf, i);
    }
    return shelf;
}

static void free_shelf(struct shelf *shelf)
{
    for (size_t i = 0; i < ITEMS; i++)
        free(shelf->recordings[i].peaks);
    doppel_recordings_free(shelf->set);
    doppel_recordings_free(shelf->over);
    doppel_index_free(shelf->index);
    free(shelf);
}

static size_t look(const struct doppel_recordings *set, const struct made_audio *heard,
                   const struct doppel_audio_options *options, struct alignment *out)
{
    size_t count = 99;
    assert_int_equal(window_find(set, heard->peaks, heard->count, options, NULL, out, &count, NULL),
                     DOPPEL_OK);
    assert_true(count <= ALIGNMENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_true(out[i].rate > 0 && out[i].rate <= 1 && out[i].met <= out[i].peaks);
        assert_true(!i || out[i].rate >= out[i - 1].rate);
    }
    return count;
}

static bool is_at(const struct alignment *found, uint64_t id, const struct hearing *how)
{
    double middle = how->seconds / 2 / how->speed * STEPS_A_SECOND;
    double wanted = how->from * STEPS_A_SECOND + how->speed * middle;
    return found->id == id && fabs(found->offset + found->speed * middle - wanted) <= 14;
}

/* ---- tests ---- */

static void test_noisy_pieces_are_found(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct shelf *shelf = make_shelf(&seed);
    struct doppel_audio_options options = doppel_audio_options_default();
    assert_int_equal(audio_hops(shelf->set), audio_hops(shelf->over));
    for (size_t i = 0; i < ITEMS; i++) {
        struct hearing how = {.from = random_share(&seed) * (SECONDS - 5),
                              .seconds = 5,
                              .kept = 0.4,
                              .added = 60,
                              .speed = 1,
                              .pitch = 1};
        how.from = i == 0 ? -2 : i == 1 ? SECONDS - 3 : how.from; /* over the edges */
        struct made_audio heard = hear(&shelf->recordings[i], &how, &seed);
        struct alignment found[ALIGNMENTS_MAX], again[ALIGNMENTS_MAX];
        size_t count = look(shelf->set, &heard, &options, found);
        assert_true(count && is_at(&found[0], FIRST_ID + i, &how));
        assert_true(found[0].rate <= options.max_false_positives);
        assert_true(found[0].speed == 1 && found[0].pitch == 1);
        assert_true(count < 2 || found[1].rate > options.max_false_positives);
        assert_int_equal(look(shelf->over, &heard, &options, again), count);
        for (size_t at = 0; at < count; at++)
            assert_true(found[at].id == again[at].id && found[at].offset == again[at].offset &&
                        found[at].score == again[at].score && found[at].rate == again[at].rate);
        free(heard.peaks);
    }
    free_shelf(shelf);
}

/* Times of a query may start anywhere. */
static void test_origin(void **state)
{
    (void)state;
    uint64_t seed = 2;
    struct shelf *shelf = make_shelf(&seed);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct hearing how = {.from = 40, .seconds = 5, .kept = 0.6, .added = 20, 1, 1};
    struct made_audio heard = hear(&shelf->recordings[7], &how, &seed);
    struct alignment found[ALIGNMENTS_MAX], moved[ALIGNMENTS_MAX];
    size_t count = look(shelf->set, &heard, &options, found);
    for (size_t i = 0; i < heard.count; i++)
        heard.peaks[i].time += 4000000001u;
    assert_int_equal(look(shelf->set, &heard, &options, moved), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(moved[i].id, found[i].id);
        assert_true(moved[i].offset + 4000000001.0 == found[i].offset);
    }
    free(heard.peaks);
    free_shelf(shelf);
}

static void test_strangers_are_not(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct shelf *shelf = make_shelf(&seed);
    struct doppel_audio_options options = doppel_audio_options_default();
    unsigned queries = 200, wrong = 0;
    options.max_false_positives = 0.01;
    for (unsigned i = 0; i < queries; i++) {
        struct made_audio heard = make_audio(1 + i % 8, 80, &seed);
        struct alignment found[ALIGNMENTS_MAX];
        options.same_speed = i % 10;
        size_t count = look(shelf->set, &heard, &options, found);
        wrong += count && found[0].rate <= options.max_false_positives;
        free(heard.peaks);
    }
    assert_true(wrong <= 7); /* 2 expected at most */
    free_shelf(shelf);
}

static void test_removal(void **state)
{
    (void)state;
    uint64_t seed = 4;
    struct shelf *shelf = make_shelf(&seed);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct alignment found[ALIGNMENTS_MAX];
    for (size_t i = 0; i < ITEMS; i += 4) {
        struct hearing how = {.from = 30, .seconds = 4, .kept = 0.9, .added = 10, 1, 1};
        struct made_audio heard = hear(&shelf->recordings[i], &how, &seed);
        uint64_t id = FIRST_ID + i;
        assert_int_equal(doppel_recordings_remove(shelf->set, id, NULL), DOPPEL_OK);
        assert_int_equal(doppel_recordings_remove(shelf->set, id, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_remove(shelf->index, &id, 1, NULL), DOPPEL_OK);
        options.same_speed = i % 8;
        for (int over = 0; over < 2; over++) {
            size_t count = look(over ? shelf->over : shelf->set, &heard, &options, found);
            for (size_t at = 0; at < count; at++)
                assert_true((found[at].id - FIRST_ID) % 4 || found[at].id > id);
        }
        free(heard.peaks);
    }
    for (size_t i = 0; i < ITEMS; i++) { /* the others are there still, and one comes back */
        struct hearing how = {.from = 45, .seconds = 4, .kept = 0.9, .added = 10, 1, 1};
        struct made_audio heard = hear(&shelf->recordings[i], &how, &seed);
        struct doppel_recording recording = audio_of(&shelf->recordings[i]);
        if (i == 8)
            assert_int_equal(doppel_recordings_add(shelf->set, FIRST_ID + i, &recording, NULL),
                             DOPPEL_OK);
        options.same_speed = true;
        size_t count = look(shelf->set, &heard, &options, found);
        bool there = count && is_at(&found[0], FIRST_ID + i, &how);
        assert_int_equal(there, i % 4 || i == 8);
        free(heard.peaks);
    }
    free_shelf(shelf);
}

/* A jingle six times in an item, and once in another. */
static void test_several_places(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct doppel_recordings *set;
    struct doppel_audio_options options = doppel_audio_options_default();
    struct made_audio jingle = make_audio(3, 40, &seed);
    assert_int_equal(doppel_recordings_new(&set, NULL), DOPPEL_OK);
    for (uint64_t id = 0; id < 8; id++) {
        struct made_audio item = make_audio(100, 20, &seed);
        item.peaks = realloc(item.peaks, (item.count + 6 * jingle.count) * sizeof *item.peaks);
        for (size_t copy = 0; copy < (id == 3 ? 6 : id == 5); copy++)
            for (size_t i = 0; i < jingle.count; i++) {
                item.peaks[item.count] = jingle.peaks[i];
                item.peaks[item.count++].time += (uint32_t)(5 + 15 * copy) * STEPS_A_SECOND;
            }
        qsort(item.peaks, item.count, sizeof *item.peaks, by_time);
        struct doppel_recording recording = audio_of(&item);
        assert_int_equal(doppel_recordings_add(set, id, &recording, NULL), DOPPEL_OK);
        free(item.peaks);
    }
    struct alignment found[ALIGNMENTS_MAX];
    size_t count = look(set, &jingle, &options, found), places = 0, others = 0;
    for (size_t i = 0; i < count && found[i].rate <= options.max_false_positives; i++) {
        double place = (found[i].offset / STEPS_A_SECOND - 5) / 15;
        others += found[i].id == 5 && fabs(place) < 0.002;
        places += found[i].id == 3 && fabs(place - round(place)) < 0.002 && place < 5.1;
    }
    assert_int_equal(places, 6);
    assert_int_equal(others, 1);
    struct alignment_skip skip = {3, 35 * STEPS_A_SECOND, 100, NULL};
    assert_int_equal(
        window_find(set, jingle.peaks, jingle.count, &options, &skip, found, &count, NULL),
        DOPPEL_OK);
    places = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(found[i].id != 3 || fabs(found[i].offset - skip.offset) > 80);
        places += found[i].id == 3 && found[i].rate <= options.max_false_positives;
    }
    assert_int_equal(places, 5);
    free(jingle.peaks);
    doppel_recordings_free(set);
}

static void test_other_speeds(void **state)
{
    (void)state;
    uint64_t seed = 6;
    struct shelf *shelf = make_shelf(&seed);
    struct doppel_audio_options options = doppel_audio_options_default();
    for (unsigned i = 0; i < 18; i++) {
        double scale = 0.94 + 0.12 * random_share(&seed);
        scale += fabs(scale - 1) < 0.01 ? 0.02 : 0;
        struct hearing how = {.from = 20,
                              .seconds = 5,
                              .kept = 0.8,
                              .added = 20,
                              .speed = i % 3 < 2 ? scale : 1,
                              .pitch = i % 3 != 1 ? scale : 1};
        struct made_audio heard = hear(&shelf->recordings[i], &how, &seed);
        struct alignment found[ALIGNMENTS_MAX];
        options.same_speed = false;
        size_t count = look(shelf->set, &heard, &options, found);
        assert_true(count && found[0].rate <= options.max_false_positives);
        assert_true(is_at(&found[0], FIRST_ID + i, &how));
        assert_true(fabs(found[0].speed - how.speed) < 0.002);
        assert_true(fabs(found[0].pitch - how.pitch) < 0.002);
        options.same_speed = true;
        count = look(shelf->set, &heard, &options, found);
        for (size_t at = 0; at < count; at++)
            assert_true(found[at].speed == 1 && found[at].pitch == 1);
        free(heard.peaks);
    }
    free_shelf(shelf);
}

static void assert_rates(const struct audio_size *size, bool scaled)
{
    const struct audio_size longer = {size->hops * 2, size->items};
    const struct audio_size more = {size->hops, size->items + 1};
    double last = 2;
    for (double score = -20; score < 200; score++) {
        double rate = audio_rate(score, size, scaled);
        assert_true(rate > 0 && rate <= last && rate <= 1);
        assert_true(rate <= audio_rate(score, size, true));
        assert_true(rate <= audio_rate(score, &longer, scaled));
        assert_true(rate <= audio_rate(score, &more, scaled));
        last = rate;
    }
    assert_true(last < 1e-6);
}

/* A higher score is rarer, in a larger set or among scaled ones less so. */
static void test_rates(void **state)
{
    (void)state;
    for (uint64_t hops = 0; hops < 1000000000; hops = hops * 9 + 40)
        for (uint64_t items = 0; items < 6; items++) {
            const struct audio_size size = {hops, items};
            assert_rates(&size, false);
            assert_rates(&size, true);
        }
}

static void test_odd_queries(void **state)
{
    (void)state;
    uint64_t seed = 7;
    struct shelf *shelf = make_shelf(&seed);
    struct doppel_recordings *empty;
    struct doppel_audio_options options = doppel_audio_options_default();
    struct alignment found[ALIGNMENTS_MAX];
    assert_int_equal(doppel_recordings_new(&empty, NULL), DOPPEL_OK);
    struct made_audio none = make_audio(5, 0, &seed), one = make_audio(1, 1, &seed);
    struct made_audio huge = make_audio(1500, 80, &seed), tone = make_audio(20, 40, &seed);
    for (size_t i = 0; i < tone.count; i++)
        tone.peaks[i] =
            (struct doppel_audio_peak){.time = (uint32_t)i * 16, .frequency = 6400, .strong = true};
    const struct made_audio *queries[] = {&none, &one, &huge, &tone};
    for (int i = 0; i < 4; i++) {
        options.same_speed = queries[i] == &huge; /* 36 times more would take long */
        assert_int_equal(look(empty, queries[i], &options, found), 0);
        size_t count = look(shelf->set, queries[i], &options, found);
        assert_true(!count || found[0].rate > options.max_false_positives);
    }
    options.max_postings = 1;
    options.same_speed = true;
    assert_true(look(shelf->set, &huge, &options, found) <= 3);
    doppel_recordings_free(empty);
    free(none.peaks);
    free(one.peaks);
    free(huge.peaks);
    free(tone.peaks);
    free_shelf(shelf);
}

static void test_odd_audio(void **state)
{
    (void)state;
    struct doppel_recordings *set;
    uint64_t seed = 8;
    struct doppel_audio_options options = doppel_audio_options_default();
    struct alignment found[ALIGNMENTS_MAX];
    struct doppel_audio_peak last = {UINT32_MAX, 3000, true, false};
    struct made_audio item = make_audio(20, 40, &seed);
    const struct doppel_recording recordings[] = {
        {NULL, 0, 0}, {NULL, 0, 1e30}, {NULL, 0, NAN}, {&last, 1, 0}, {item.peaks, item.count, -1}};
    assert_int_equal(doppel_recordings_new(&set, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(doppel_recordings_add(set, i, &recordings[i], NULL), DOPPEL_OK);
        assert_int_equal(doppel_recordings_add(set, i, &recordings[i], NULL), DOPPEL_E_ARGUMENT);
        assert_true(doppel_recording_hops(&recordings[i]) > 0);
    }
    size_t count = look(set, &item, &options, found);
    assert_true(count && found[0].id == 4 && found[0].offset == 0);
    for (uint64_t i = 0; i < 9; i++)
        assert_int_equal(doppel_recordings_remove(set, i, NULL), DOPPEL_OK);
    assert_int_equal(audio_hops(set), 0);
    assert_int_equal(look(set, &item, &options, found), 0);
    doppel_recordings_free(set);
    doppel_recordings_free(NULL);
    free(item.peaks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_noisy_pieces_are_found),
                                       cmocka_unit_test(test_origin),
                                       cmocka_unit_test(test_strangers_are_not),
                                       cmocka_unit_test(test_removal),
                                       cmocka_unit_test(test_several_places),
                                       cmocka_unit_test(test_other_speeds),
                                       cmocka_unit_test(test_rates),
                                       cmocka_unit_test(test_odd_queries),
                                       cmocka_unit_test(test_odd_audio)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
