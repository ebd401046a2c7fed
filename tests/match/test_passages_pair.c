/* The passages of two texts against a slow local alignment, and what must hold of any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/texts/align.h"
#include "match/texts/extend.h"
#include "match/words.h"

enum { MOST = 400, TRIALS = 400 };

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The best score of all alignments of parts of two texts, or of the whole of both. Source: Smith
 * and Waterman, "Identification of Common Molecular Subsequences" (1981). */
static int64_t slow_score(const struct doppel_text_word *a, size_t a_count,
                          const struct doppel_text_word *b, size_t b_count, bool local)
{
    static int64_t cells[MOST + 1][MOST + 1];
    int64_t best = 0;
    for (size_t i = 0; i <= a_count; i++) {
        for (size_t j = 0; j <= b_count; j++) {
            int64_t cell = i || j ? INT32_MIN : 0;
            if (i)
                cell = larger(cell, cells[i - 1][j] + EXTEND_GAP);
            if (j)
                cell = larger(cell, cells[i][j - 1] + EXTEND_GAP);
            if (i && j)
                cell = larger(cell, cells[i - 1][j - 1] + (a[i - 1].hash == b[j - 1].hash
                                                               ? EXTEND_MATCH
                                                               : EXTEND_REPLACED));
            cells[i][j] = local ? larger(cell, 0) : cell;
            best = larger(best, cells[i][j]);
        }
    }
    return local ? best : cells[a_count][b_count];
}

/* A passage with edits that stand apart, between words that the texts do not share. */
struct pair {
    struct doppel_text_word a[MOST], b[MOST];
    size_t a_count, b_count, a_first, b_first, a_size, b_size;
};

static void make_pair(struct pair *pair, size_t apart, uint64_t *seed)
{
    pair->a_count = 150 + random_word(seed) % 50;
    pair->a_size = 30 + random_word(seed) % 70;
    pair->a_first = random_word(seed) % (pair->a_count - pair->a_size);
    pair->b_first = random_word(seed) % 60;
    make_words(pair->a, pair->a_count, UINT32_MAX, seed);
    make_words(pair->b, MOST, UINT32_MAX, seed);
    pair->b_size =
        edit_words(pair->a + pair->a_first, pair->a_size, 3, apart, pair->b + pair->b_first, seed);
    pair->b_count = pair->b_first + pair->b_size + random_word(seed) % 60;
    make_words(pair->b + pair->b_first + pair->b_size, MOST - pair->b_first - pair->b_size,
               UINT32_MAX, seed);
    place_words(pair->b, MOST);
}

static aligned_array align_all(const struct pair *pair, uint32_t min_words)
{
    struct words a = {pair->a, (uint32_t)pair->a_count}, b = {pair->b, (uint32_t)pair->b_count};
    aligned_array found = {0};
    assert_true(align_words(&a, &b, min_words, &found));
    return found;
}

/* Edits four words apart cost less than may be lost on the way: the best of all alignments is
 * found. */
static void test_best_alignment_is_found(void **state)
{
    (void)state;
    static struct pair pair;
    uint64_t seed = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        make_pair(&pair, 5, &seed);
        aligned_array found = align_all(&pair, 13);
        assert_int_equal(found.count, 1);
        const struct aligned *it = &found.items[0];
        assert_int_equal(it->score, slow_score(pair.a, pair.a_count, pair.b, pair.b_count, true));
        assert_int_equal(it->a_first, pair.a_first);
        assert_int_equal(it->b_first, pair.b_first);
        assert_int_equal(it->a_end, pair.a_first + pair.a_size);
        assert_int_equal(it->b_end, pair.b_first + pair.b_size);
        array_free(&found);
    }
}

static void check_aligned(const struct pair *pair, const struct aligned *it, uint32_t min_words)
{
    assert_true(it->a_first < it->a_end && it->a_end <= pair->a_count);
    assert_true(it->b_first < it->b_end && it->b_end <= pair->b_count);
    assert_true(it->matched >= min_words);
    assert_true(it->matched <= it->a_end - it->a_first && it->matched <= it->b_end - it->b_first);
    assert_true(it->score <= slow_score(pair->a + it->a_first, it->a_end - it->a_first,
                                        pair->b + it->b_first, it->b_end - it->b_first, false));
}

/* Whatever the texts are, what is found is no better than it can be. */
static void test_scores_are_true(void **state)
{
    (void)state;
    static struct pair pair;
    uint64_t seed = 2;
    size_t passages = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        if (trial % 2) {
            make_pair(&pair, 0, &seed);
        } else {
            uint64_t vocabulary = 1 + random_word(&seed) % 6;
            pair.a_count = random_word(&seed) % 120;
            pair.b_count = random_word(&seed) % 120;
            make_words(pair.a, pair.a_count, vocabulary, &seed);
            make_words(pair.b, pair.b_count, vocabulary, &seed);
        }
        aligned_array found = align_all(&pair, 8);
        for (size_t i = 0; i < found.count; i++)
            check_aligned(&pair, &found.items[i], 8);
        passages += found.count;
        array_free(&found);
    }
    assert_true(passages > TRIALS);
}

static struct doppel_match match_of(const struct doppel_passage_text *a,
                                    const struct doppel_passage_text *b)
{
    struct doppel_passage_options options = doppel_passage_options_default();
    struct doppel_match match;
    assert_int_equal(doppel_match_passages(a, b, &options, &match, NULL), DOPPEL_OK);
    return match;
}

static void free_segments(const struct doppel_match *match)
{
    free((void *)match->segments);
}

static bool has_segment(const struct doppel_match *match, const struct doppel_segment *turned)
{
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *it = &match->segments[i];
        if (it->a_start == turned->b_start && it->a_end == turned->b_end &&
            it->b_start == turned->a_start && it->b_end == turned->a_end)
            return true;
    }
    return false;
}

static void test_swapping_swaps_the_answer(void **state)
{
    (void)state;
    static struct pair pair;
    uint64_t seed = 3;
    for (int trial = 0; trial < TRIALS; trial++) {
        make_pair(&pair, (size_t)trial % 7, &seed);
        if (trial % 3 == 0)
            make_words(pair.a, pair.a_count, 3, &seed), make_words(pair.b, pair.b_count, 3, &seed);
        struct doppel_passage_text a = text_of(pair.a, pair.a_count);
        struct doppel_passage_text b = text_of(pair.b, pair.b_count);
        struct doppel_match one = match_of(&a, &b), other = match_of(&b, &a);
        assert_int_equal(one.segment_count, other.segment_count);
        assert_true(one.query_coverage == other.item_coverage);
        assert_true(one.item_coverage == other.query_coverage);
        assert_true(one.similarity == other.similarity);
        for (size_t i = 0; i < one.segment_count; i++)
            assert_true(has_segment(&other, &one.segments[i]));
        free_segments(&one);
        free_segments(&other);
    }
}

/* A text within another is told, both ways round, with its places in code points. */
static void test_part_and_whole(void **state)
{
    (void)state;
    struct doppel_text_word words[300];
    uint64_t seed = 4;
    make_words(words, 300, UINT32_MAX, &seed);
    struct doppel_passage_text whole = text_of(words, 300), part = text_of(words + 100, 50);
    struct doppel_match match = match_of(&part, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINED);
    assert_int_equal(match.verified, DOPPEL_VERIFIED_ALIGNMENT);
    assert_int_equal(match.segment_count, 1);
    assert_true(match.query_coverage == 1 && match.item_coverage == 50.0 / 300);
    assert_true(match.segments[0].b_start == 100 * WORD_STEP);
    assert_true(match.segments[0].b_end == 150 * WORD_STEP - 1);
    free_segments(&match);
    match = match_of(&whole, &part);
    assert_int_equal(match.relation, DOPPEL_RELATION_CONTAINS);
    free_segments(&match);
    match = match_of(&whole, &whole);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    assert_true(match.similarity == 1 && match.segment_count == 1);
    free_segments(&match);
}

/* Words that were replaced are covered, and not alike. */
static void test_edited_copy(void **state)
{
    (void)state;
    struct doppel_text_word words[200], edited[200];
    uint64_t seed = 14;
    make_words(words, 200, UINT32_MAX, &seed);
    memcpy(edited, words, sizeof words);
    for (size_t i = 10; i < 200; i += 20)
        edited[i].hash = ~edited[i].hash;
    struct doppel_passage_text a = text_of(words, 200), b = text_of(edited, 200);
    struct doppel_match match = match_of(&a, &b);
    assert_int_equal(match.relation, DOPPEL_RELATION_SAME);
    assert_true(match.query_coverage == 1 && match.item_coverage == 1);
    assert_true(match.similarity == 190 / 210.0);
    free_segments(&match);
}

/* A passage that stands in an item twice is told twice. */
static void test_all_places(void **state)
{
    (void)state;
    struct doppel_text_word query[100], item[200];
    uint64_t seed = 5;
    make_words(query, 100, UINT32_MAX, &seed);
    make_words(item, 200, UINT32_MAX, &seed);
    memcpy(item + 20, query + 40, 30 * sizeof *item);
    memcpy(item + 120, query + 40, 30 * sizeof *item);
    struct doppel_passage_text a = text_of(query, 100), b = text_of(item, 200);
    struct doppel_match match = match_of(&a, &b);
    assert_int_equal(match.segment_count, 2);
    assert_true(match.query_coverage == 0.3 && match.item_coverage == 0.3);
    assert_int_equal(match.relation, DOPPEL_RELATION_OVERLAPS);
    free_segments(&match);
}

static void test_nothing_shared(void **state)
{
    (void)state;
    struct doppel_text_word words[200];
    uint64_t seed = 6;
    make_words(words, 200, UINT32_MAX, &seed);
    struct doppel_passage_text a = text_of(words, 100), b = text_of(words + 100, 100);
    struct doppel_passage_text none = text_of(words, 0), few = text_of(words, 12);
    const struct doppel_passage_text *others[] = {&b, &none, &few};
    for (int i = 0; i < 3; i++) {
        struct doppel_match match = match_of(&a, others[i]);
        assert_int_equal(match.segment_count, 0);
        assert_true(match.query_coverage == 0 && match.similarity == 0);
    }
}

/* Texts that repeat themselves endlessly have as many places as their lengths' product. The time
 * that meson gives a test is the limit. */
static void test_endless_repeats(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    struct doppel_text_word *words = malloc(2 * MANY * sizeof *words);
    assert_non_null(words);
    for (unsigned period = 1; period <= 7; period += 3) {
        for (size_t i = 0; i < 2 * MANY; i++)
            words[i].hash = (uint32_t)(i % (i < MANY ? period : period + 2));
        place_words(words, 2 * MANY);
        struct doppel_passage_text a = text_of(words, MANY), b = text_of(words + MANY, MANY);
        struct doppel_passage_text shorter = text_of(words, MANY / 1000);
        struct doppel_match match = match_of(&a, &a);
        assert_true(match.query_coverage == 1);
        free_segments(&match);
        match = match_of(&a, &b);
        free_segments(&match);
        match = match_of(&a, &shorter);
        assert_true(match.item_coverage == 1);
        free_segments(&match);
    }
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_alignment_is_found),
        cmocka_unit_test(test_scores_are_true),
        cmocka_unit_test(test_swapping_swaps_the_answer),
        cmocka_unit_test(test_part_and_whole),
        cmocka_unit_test(test_edited_copy),
        cmocka_unit_test(test_all_places),
        cmocka_unit_test(test_nothing_shared),
        cmocka_unit_test(test_endless_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
