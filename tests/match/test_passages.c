/* A set of texts against comparing the query with each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/words.h"
#include "text/winnow.h"

enum { ITEMS = 120, WORDS = 300, FIRST_ID = 1000 };

struct text {
    struct doppel_text_word words[2 * WORDS];
    struct doppel_text_key keys[2 * WORDS];
    uint32_t starts[2 * WORDS];
    struct doppel_passage_text text;
    bool removed;
};

/* The texts of a set, and what is to be had of them again. */
struct shelf {
    struct text *texts;
    struct doppel_passages *passages;
    enum { HAS_WORDS, HAS_KEYS, HAS_NOTHING } has;
    size_t asked;
};

static void finish(struct text *text, size_t count)
{
    place_words(text->words, count);
    text->text = text_of(text->words, count);
    text->text.keys = text->keys;
    text->text.key_count = winnow(text->words, count, text->keys);
    text->text.key_starts = text->starts;
    for (size_t i = 0; i < text->text.key_count; i++)
        text->starts[i] = text->words[text->keys[i].word].start;
}

/* Texts of their own words; every other one has a piece of the one before it, edited. */
static void fill(struct text *texts, uint64_t *seed)
{
    for (size_t i = 0; i < ITEMS; i++) {
        make_words(texts[i].words, WORDS, UINT32_MAX, seed);
        size_t count = WORDS;
        if (i % 2) {
            size_t from = random_word(seed) % (WORDS - 60), to = random_word(seed) % (WORDS - 60);
            size_t made = edit_words(texts[i - 1].words + from, 20 + random_word(seed) % 40, 15, 1,
                                     texts[i].words + to, seed);
            count = to + made + random_word(seed) % 100;
        }
        finish(&texts[i], count);
    }
}

static struct shelf make_shelf(uint64_t *seed)
{
    struct shelf shelf = {.texts = calloc(ITEMS, sizeof(struct text))};
    assert_non_null(shelf.texts);
    assert_int_equal(doppel_passages_new(&shelf.passages, NULL), DOPPEL_OK);
    fill(shelf.texts, seed);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(
            doppel_passages_add(shelf.passages, FIRST_ID + i, &shelf.texts[i].text, NULL),
            DOPPEL_OK);
    return shelf;
}

static void free_shelf(struct shelf *shelf)
{
    doppel_passages_free(shelf->passages);
    free(shelf->texts);
}

static bool give(void *context, uint64_t id, struct doppel_passage_text *out)
{
    struct shelf *shelf = context;
    shelf->asked++;
    *out = shelf->texts[id - FIRST_ID].text;
    if (shelf->has == HAS_KEYS)
        out->words = NULL;
    return shelf->has != HAS_NOTHING;
}

/* What a search found. */
struct answers {
    size_t count;
    struct doppel_found found[ITEMS];
    struct doppel_segment segments[ITEMS]; /* the first of each */
    size_t most;
};

static bool note(void *context, const struct doppel_found *found)
{
    struct answers *answers = context;
    assert_true(answers->count < ITEMS);
    if (found->match.segment_count)
        answers->segments[answers->count] = found->match.segments[0];
    answers->found[answers->count++] = *found;
    return answers->count < answers->most;
}

static struct answers find(struct shelf *shelf, const struct doppel_passage_text *query)
{
    struct answers answers = {.most = ITEMS + 1};
    struct doppel_passage_request request = doppel_passage_request_default(query);
    request.source = give;
    request.source_context = shelf;
    assert_int_equal(doppel_passages_find(shelf->passages, &request, note, &answers, NULL),
                     DOPPEL_OK);
    for (size_t i = 1; i < answers.count; i++)
        assert_true(answers.found[i - 1].match.score >= answers.found[i].match.score);
    return answers;
}

static const struct doppel_found *answer_of(const struct answers *answers, size_t item)
{
    for (size_t i = 0; i < answers->count; i++)
        if (answers->found[i].id == FIRST_ID + item)
            return &answers->found[i];
    return NULL;
}

static bool share_a_key(const struct text *a, const struct text *b)
{
    for (size_t i = 0; i < a->text.key_count; i++)
        for (size_t j = 0; j < b->text.key_count; j++)
            if (a->keys[i].key == b->keys[j].key)
                return true;
    return false;
}

static bool same_match(const struct doppel_match *a, const struct doppel_match *b)
{
    return a->relation == b->relation && a->verified == b->verified &&
           a->similarity == b->similarity && a->query_coverage == b->query_coverage &&
           a->item_coverage == b->item_coverage && a->segment_count == b->segment_count;
}

/* With words at hand, what shares a key and a passage is found, and as comparing the two tells. */
static void check_against_pairs(struct shelf *shelf)
{
    size_t matches = 0;
    struct doppel_passage_options options = doppel_passage_options_default();
    for (size_t i = 0; i < ITEMS; i++) {
        struct answers answers = find(shelf, &shelf->texts[i].text);
        for (size_t j = 0; j < ITEMS; j++) {
            const struct doppel_found *found = answer_of(&answers, j);
            struct doppel_match match;
            assert_int_equal(doppel_match_passages(&shelf->texts[i].text, &shelf->texts[j].text,
                                                   &options, &match, NULL),
                             DOPPEL_OK);
            bool expected = match.segment_count && !shelf->texts[j].removed &&
                            share_a_key(&shelf->texts[i], &shelf->texts[j]);
            assert_int_equal(found != NULL, expected);
            assert_true(!found || same_match(&found->match, &match));
            matches += found && i != j;
            free((void *)match.segments);
        }
    }
    assert_true(matches > ITEMS / 2);
}

static void test_finds_what_pairs_have(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct shelf shelf = make_shelf(&seed);
    check_against_pairs(&shelf);
    for (size_t i = 0; i < ITEMS; i += 7) {
        assert_int_equal(doppel_passages_remove(shelf.passages, FIRST_ID + i, NULL), DOPPEL_OK);
        shelf.texts[i].removed = true;
    }
    check_against_pairs(&shelf);
    free_shelf(&shelf);
}

/* Without words, what shares many keys is found all the same, near where it is. */
static void test_finds_by_keys_alone(void **state)
{
    (void)state;
    uint64_t seed = 2;
    struct shelf shelf = make_shelf(&seed);
    struct text *query = &shelf.texts[1];
    make_words(query->words, WORDS, UINT32_MAX, &seed);
    memcpy(query->words + 100, shelf.texts[50].words + 200, 60 * sizeof *query->words);
    finish(query, WORDS);
    shelf.has = HAS_KEYS;
    struct answers answers = find(&shelf, &query->text);
    assert_int_equal(answers.count, 1);
    assert_int_equal(answers.found[0].id, FIRST_ID + 50);
    assert_int_equal(answers.found[0].match.verified, DOPPEL_VERIFIED_CODES);
    assert_int_equal(answers.found[0].match.segment_count, 1);
    const struct doppel_segment *segment = &answers.segments[0];
    assert_true(segment->a_start >= 100 * WORD_STEP && segment->a_start <= 112 * WORD_STEP);
    assert_true(segment->a_end <= 160 * WORD_STEP && segment->a_end >= 148 * WORD_STEP);
    assert_true(segment->b_start >= 200 * WORD_STEP && segment->b_start <= 212 * WORD_STEP);
    assert_true(segment->b_end <= 275 * WORD_STEP && segment->b_end >= 248 * WORD_STEP);
    struct doppel_passage_text item = shelf.texts[50].text;
    struct doppel_passage_options options = doppel_passage_options_default();
    struct doppel_match match;
    item.words = NULL;
    assert_int_equal(doppel_match_passages(&query->text, &item, &options, &match, NULL), DOPPEL_OK);
    assert_true(same_match(&match, &answers.found[0].match));
    free((void *)match.segments);
    shelf.has = HAS_NOTHING;
    answers = find(&shelf, &query->text);
    assert_int_equal(answers.count, 1);
    assert_int_equal(answers.found[0].match.segment_count, 0);
    assert_true(answers.found[0].match.query_coverage > 0.15);
    free_shelf(&shelf);
}

/* A passage that all have does not hide the one that a single item has. */
static void test_common_passages_count_little(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct shelf shelf = make_shelf(&seed);
    struct doppel_text_word common[40];
    make_words(common, 40, UINT32_MAX, &seed);
    doppel_passages_free(shelf.passages);
    assert_int_equal(doppel_passages_new(&shelf.passages, NULL), DOPPEL_OK);
    for (size_t i = 0; i < ITEMS; i++) {
        memcpy(shelf.texts[i].words + 10, common, sizeof common);
        finish(&shelf.texts[i], WORDS);
        assert_int_equal(
            doppel_passages_add(shelf.passages, FIRST_ID + i, &shelf.texts[i].text, NULL),
            DOPPEL_OK);
    }
    struct text *query = calloc(1, sizeof *query);
    assert_non_null(query);
    make_words(query->words, WORDS, UINT32_MAX, &seed);
    memcpy(query->words + 50, common, sizeof common);
    memcpy(query->words + 150, shelf.texts[77].words + 200, 30 * sizeof *common);
    finish(query, WORDS);
    struct doppel_passage_request request = doppel_passage_request_default(&query->text);
    request.source = give;
    request.source_context = &shelf;
    struct answers answers = {.most = ITEMS + 1};
    request.max_postings = 40;
    assert_int_equal(doppel_passages_find(shelf.passages, &request, note, &answers, NULL),
                     DOPPEL_OK);
    assert_int_equal(answers.count, 1);
    assert_int_equal(answers.found[0].id, FIRST_ID + 77);
    request.max_postings = 1 << 20;
    answers.count = 0;
    assert_int_equal(doppel_passages_find(shelf.passages, &request, note, &answers, NULL),
                     DOPPEL_OK);
    assert_int_equal(answers.count, ITEMS);
    answers = (struct answers){.most = 1};
    assert_int_equal(doppel_passages_find(shelf.passages, &request, note, &answers, NULL),
                     DOPPEL_E_CANCELLED);
    free(query);
    free_shelf(&shelf);
}

/* A text of one word is as many hits as its length squared; they are not gone through. */
static void test_endless_repeats(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    struct doppel_text_word *words = calloc(MANY, sizeof *words);
    struct doppel_text_key *keys = malloc(MANY * sizeof *keys);
    assert_true(words && keys);
    place_words(words, MANY);
    struct text text = {.text = text_of(words, MANY)};
    text.text.keys = keys;
    text.text.key_count = winnow(words, MANY, keys);
    struct shelf shelf = {.texts = &text};
    assert_int_equal(doppel_passages_new(&shelf.passages, NULL), DOPPEL_OK);
    assert_int_equal(doppel_passages_add(shelf.passages, FIRST_ID, &text.text, NULL), DOPPEL_OK);
    find(&shelf, &text.text);
    shelf.has = HAS_NOTHING;
    find(&shelf, &text.text);
    doppel_passages_free(shelf.passages);
    free(keys);
    free(words);
}

/* A text of four pages holds one of two, whose first page it has on its second. */
static void test_pages_are_named(void **state)
{
    (void)state;
    static const uint32_t of_all[] = {0, 600, 600, 1200}, of_part[] = {0, 300};
    struct doppel_text_word all[300], part[100];
    uint64_t seed = 5;
    make_words(all, 300, UINT32_MAX, &seed);
    memcpy(part, all + 120, sizeof part);
    place_words(part, 100);
    struct doppel_passage_text a = text_of(part, 100), b = text_of(all, 300);
    struct doppel_passage_options options = doppel_passage_options_default();
    a.pages = of_part;
    a.page_count = 2;
    for (int named = 0; named < 2; named++) {
        struct doppel_match match;
        b.pages = named ? of_all : NULL;
        b.page_count = named ? 4 : 0;
        assert_int_equal(doppel_match_passages(&a, &b, &options, &match, NULL), DOPPEL_OK);
        assert_int_equal(match.segment_count, 1);
        assert_int_equal(match.segments->a_pages[0], 1);
        assert_int_equal(match.segments->a_pages[1], 2);
        assert_int_equal(match.segments->b_pages[0], named ? 3 : 0);
        assert_int_equal(match.segments->b_pages[1], named ? 4 : 0);
        free((void *)match.segments);
    }
}

static void test_odd_texts(void **state)
{
    (void)state;
    struct doppel_passages *passages;
    assert_int_equal(doppel_passages_new(&passages, NULL), DOPPEL_OK);
    struct doppel_passage_text none = {0};
    assert_int_equal(doppel_passages_add(passages, 1, &none, NULL), DOPPEL_OK);
    struct doppel_text_key beyond = {.key = 1, .word = 9};
    struct doppel_passage_text wrong = {.word_count = 9, .keys = &beyond, .key_count = 1};
    assert_int_equal(doppel_passages_add(passages, 2, &wrong, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_passages_remove(passages, 3, NULL), DOPPEL_OK);
    struct doppel_passage_request request = doppel_passage_request_default(&none);
    struct answers answers = {.most = 1};
    assert_int_equal(doppel_passages_find(passages, &request, note, &answers, NULL), DOPPEL_OK);
    assert_int_equal(answers.count, 0);
    doppel_passages_free(passages);
    doppel_passages_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_pairs_have),
        cmocka_unit_test(test_finds_by_keys_alone),
        cmocka_unit_test(test_common_passages_count_little),
        cmocka_unit_test(test_endless_repeats),
        cmocka_unit_test(test_pages_are_named),
        cmocka_unit_test(test_odd_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
