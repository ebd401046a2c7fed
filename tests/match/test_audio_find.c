/* Recordings found in recordings: all places, ends, drift, roles, and what must not be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/heard.h"

/* A set of three pieces of music and two speeches, made once. */
enum { ITEMS = 5, ITEM_SECONDS = 60 };

struct library {
    struct recording recordings[ITEMS];
    struct doppel_recordings *set;
};

static struct recording make_item(uint64_t id)
{
    return id < 3 ? audio_music(ITEM_SECONDS, id + 1) : audio_speech(ITEM_SECONDS, id + 1);
}

static int make_library(void **state)
{
    static struct library library;
    if (doppel_recordings_new(&library.set, NULL))
        return -1;
    for (uint64_t id = 0; id < ITEMS; id++) {
        library.recordings[id] = make_item(id);
        add_audio(library.set, id, &library.recordings[id]);
    }
    *state = &library;
    return 0;
}

static int free_library(void **state)
{
    struct library *library = *state;
    for (int i = 0; i < ITEMS; i++)
        free(library->recordings[i].samples);
    doppel_recordings_free(library->set);
    return 0;
}

static void assert_segment(const struct answer *answer, size_t index, const double truth[3],
                           double within)
{
    assert_true(index < answer->segments.count);
    const struct doppel_segment *segment = &answer->segments.items[index];
    double length = truth[2];
    assert_near(segment->a_start, truth[0], within);
    assert_near(segment->a_end, truth[0] + length, within);
    assert_near(segment->b_start, truth[1], within);
    assert_near(segment->b_end, truth[1] + length, within);
}

static void test_cuts_are_placed(void **state)
{
    const struct library *library = *state;
    for (uint64_t id = 0; id < ITEMS; id++) {
        double start = 7.3 * (double)id + 3.21, length = id % 2 ? 5 : 2;
        struct recording query = audio_cut(&library->recordings[id], start, length);
        struct answers answers = find_all(library->set, &query, 0);
        assert_int_equal(answers.count, 1);
        const struct answer *answer = &answers.items[0];
        assert_int_equal(answer->found.id, id);
        assert_int_equal(answer->segments.count, 1);
        assert_segment(answer, 0, (double[]){0, start, length}, 0.02);
        assert_int_equal(answer->found.match.relation, DOPPEL_RELATION_CONTAINED);
        assert_true(answer->found.match.similarity > 0.5);
        assert_true(answer->found.match.query_coverage > 0.99);
        assert_near(answer->found.match.item_coverage, length / ITEM_SECONDS, 0.002);
        assert_true(answer->found.match.transform.speed == 0);
        free_answers(&answers);
        free(query.samples);
    }
}

static void test_long_noisy_cut_is_one(void **state)
{
    const struct library *library = *state;
    struct recording query = audio_cut(&library->recordings[1], 10, 30);
    audio_add_noise(&query, 0, 3);
    struct answers answers = find_all(library->set, &query, 0);
    assert_int_equal(answers.count, 1);
    assert_int_equal(answers.items[0].found.id, 1);
    assert_int_equal(answers.items[0].segments.count, 1);
    assert_segment(&answers.items[0], 0, (double[]){0, 10, 30}, 0.2);
    assert_true(answers.items[0].found.match.similarity < 0.9);
    free_answers(&answers);
    free(query.samples);
}

/* A recording that runs faster all along is one segment, and the same. */
static void assert_speed_is_told(const struct library *library, double speed)
{
    struct recording query = audio_speed(&library->recordings[2], speed);
    struct answers answers = find_all(library->set, &query, 0);
    assert_int_equal(answers.count, 1);
    const struct answer *answer = &answers.items[0];
    assert_int_equal(answer->found.id, 2);
    assert_int_equal(answer->segments.count, 1);
    assert_int_equal(answer->found.match.relation, DOPPEL_RELATION_SAME);
    assert_near(answer->found.match.transform.speed, speed, 5e-4);
    assert_near(answer->found.match.transform.pitch, speed, 1e-3);
    assert_near(answer->segments.items[0].speed, speed, 5e-4);
    assert_near(answer->segments.items[0].b_end, ITEM_SECONDS, 0.05);
    free_answers(&answers);
    free(query.samples);
}

static void test_drift_is_followed(void **state)
{
    assert_speed_is_told(*state, 1.003);
    assert_speed_is_told(*state, 1.04);
}

/* Played `factor` times as fast at the same pitch, as players do it: pieces of 80 ms, each from its
 * place, one faded into the next where the two go on alike. Within a piece the speed is 1. */
static struct recording stretch(const struct recording *recording, double factor)
{
    enum { PIECE = 880, FADE = PIECE / 2, REACH = 120 };
    size_t count = (size_t)((double)(recording->count - 2 * PIECE) / factor) / FADE * FADE;
    struct recording out = {calloc(count + PIECE, sizeof *out.samples), count};
    assert_non_null(out.samples);
    for (size_t at = 0; at + PIECE <= count; at += FADE) {
        size_t place = (size_t)((double)at * factor), best = place;
        double highest = -1;
        for (size_t from = place; at && from < place + REACH; from++) {
            double alike = 0;
            for (size_t i = 0; i < FADE; i++)
                alike += (double)out.samples[at + i] * recording->samples[from + i];
            best = alike > highest ? from : best;
            highest = fmax(highest, alike);
        }
        for (size_t i = 0; i < PIECE; i++) {
            float in = i < FADE ? (float)i / FADE : (float)(PIECE - i) / FADE;
            out.samples[at + i] += in * recording->samples[best + i];
        }
    }
    return out;
}

static void test_other_tempos_are_told_right(void **state)
{
    struct library *library = *state;
    static const double tempos[] = {0.97, 0.95, 1.04, 1.06};
    for (size_t i = 0; i < 4; i++)
        for (uint64_t id = 0; id < 4; id += 3) { /* music, speech */
            struct recording cut = audio_cut(&library->recordings[id], 10, i % 2 ? 40 : 12);
            struct recording query = stretch(&cut, tempos[i]);
            struct answers answers = find_all(library->set, &query, 0);
            assert_int_equal(answers.count, 1);
            assert_int_equal(answers.items[0].found.id, id);
            assert_true(answers.items[0].found.match.query_coverage > 0.8);
            const struct doppel_segment *segment = &answers.items[0].segments.items[0];
            assert_near(segment->speed, tempos[i], 0.006);
            assert_near(segment->b_start, 10 + segment->a_start * tempos[i], 0.15);
            free_answers(&answers);
            free(query.samples);
            free(cut.samples);
        }
}

static void test_each_place_is_told(void **state)
{
    const struct library *library = *state;
    struct recording query = audio_music(200, 78);
    struct recording jingle = audio_cut(&library->recordings[0], 30, 2.5);
    for (int i = 0; i < 6; i++)
        audio_paste(&query, 11.37 + 30.11 * i, &jingle);
    struct answers answers = find_all(library->set, &query, 0);
    assert_int_equal(answers.count, 1);
    const struct answer *answer = &answers.items[0];
    assert_int_equal(answer->found.id, 0);
    assert_int_equal(answer->found.match.relation, DOPPEL_RELATION_OVERLAPS);
    assert_int_equal(answer->segments.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_segment(answer, i, (double[]){11.37 + 30.11 * (double)i, 30, 2.5}, 0.4);
    assert_near(answer->found.match.query_coverage, 6 * 2.5 / 200, 0.02);
    free_answers(&answers);
    free(jingle.samples);
    free(query.samples);
}

/* The other way round: the item has the passage at several places, and other items have it. */
static void test_all_items_and_places_are_told(void **state)
{
    (void)state;
    struct doppel_recordings *set;
    assert_int_equal(doppel_recordings_new(&set, NULL), DOPPEL_OK);
    struct recording passage = audio_music(4, 500);
    for (uint64_t id = 0; id < 3; id++) {
        struct recording item = audio_speech(40, 600 + id);
        for (uint64_t k = 0; k <= id; k++)
            audio_paste(&item, 5 + 11.7 * (double)k, &passage);
        add_audio(set, id, &item);
        free(item.samples);
    }
    struct answers answers = find_all(set, &passage, 0);
    assert_int_equal(answers.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct answer *answer = &answers.items[i];
        assert_int_equal(answer->segments.count, answer->found.id + 1);
        for (size_t k = 0; k < answer->segments.count; k++)
            assert_segment(answer, k, (double[]){0, 5 + 11.7 * (double)k, 4}, 0.2);
    }
    free_answers(&answers);
    free(passage.samples);
    doppel_recordings_free(set);
}

/* More places, and more items, than one search of a piece tells. */
static void test_crowds_are_told(void **state)
{
    (void)state;
    struct doppel_recordings *set;
    assert_int_equal(doppel_recordings_new(&set, NULL), DOPPEL_OK);
    struct recording passage = audio_music(3, 501), item = audio_speech(200, 700);
    for (int k = 0; k < 30; k++)
        audio_paste(&item, 2 + 6.3 * k, &passage);
    add_audio(set, 0, &item);
    for (uint64_t id = 1; id <= 30; id++)
        add_audio(set, id, &passage);
    struct answers answers = find_all(set, &passage, 0);
    assert_int_equal(answers.count, 31);
    for (size_t i = 0; i < answers.count; i++)
        assert_int_equal(answers.items[i].segments.count, answers.items[i].found.id ? 1 : 30);
    free_answers(&answers);
    free(passage.samples);
    free(item.samples);
    doppel_recordings_free(set);
}

static void test_unrelated_audio_are_not_found(void **state)
{
    const struct library *library = *state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct recording query =
            seed % 2 ? audio_music(60, 100 + seed) : audio_speech(60, 100 + seed);
        struct answers answers = find_all(library->set, &query, 2);
        assert_true(answers.count <= 2);
        for (size_t i = 0; i < answers.count; i++) {
            assert_true(answers.items[i].found.borderline);
            assert_true(answers.items[i].found.match.false_positive_rate > 1e-3);
            assert_true(answers.items[i].segments.count == 1);
        }
        free_answers(&answers);
        free(query.samples);
    }
}

static void test_another_voice_is_not_found(void **state)
{
    const struct library *library = *state;
    struct recording query = audio_voice(ITEM_SECONDS, 4, 1);
    struct answers answers = find_all(library->set, &query, 0);
    assert_int_equal(answers.count, 0);
    free_answers(&answers);
    free(query.samples);
}

static void test_silence_and_tones_are_not_found(void **state)
{
    const struct library *library = *state;
    struct recording queries[] = {audio_silence(20), audio_tone(20, 440), audio_noise(20, 7)};
    struct doppel_recordings *set;
    assert_int_equal(doppel_recordings_new(&set, NULL), DOPPEL_OK);
    struct recording items[] = {audio_silence(30), audio_tone(30, 440), audio_noise(30, 8)};
    for (uint64_t i = 0; i < 3; i++)
        add_audio(set, i, &items[i]);
    for (size_t i = 0; i < 3; i++) {
        struct answers here = find_all(library->set, &queries[i], 0);
        struct answers there = find_all(set, &queries[i], 0);
        assert_int_equal(here.count, 0);
        assert_int_equal(there.count, 0);
        free_answers(&here);
        free_answers(&there);
        free(queries[i].samples);
        free(items[i].samples);
    }
    doppel_recordings_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_are_placed),
        cmocka_unit_test(test_long_noisy_cut_is_one),
        cmocka_unit_test(test_drift_is_followed),
        cmocka_unit_test(test_other_tempos_are_told_right),
        cmocka_unit_test(test_each_place_is_told),
        cmocka_unit_test(test_all_items_and_places_are_told),
        cmocka_unit_test(test_crowds_are_told),
        cmocka_unit_test(test_unrelated_audio_are_not_found),
        cmocka_unit_test(test_another_voice_is_not_found),
        cmocka_unit_test(test_silence_and_tones_are_not_found),
    };
    return cmocka_run_group_tests(tests, make_library, free_library);
}
