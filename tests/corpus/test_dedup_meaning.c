/* Long texts in the second stage of dedup: as many of no relation are reported as the rate says,
 * whatever their length, and a passage in other words is found where it stands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <doppel/corpus.h>

#include "files.h"

enum { DIMENSION = 32, MEANINGS = 3000, ENDINGS = 3, WORDS = 16, LINKS = 2000, SEGMENTS = 8 };

/* ---- a model: a word means its number, and its ending little ---- */

static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

static void add_noise(uint64_t number, float scale, float *row)
{
    uint64_t seed = (number + 1) * golden;
    for (int i = 0; i < DIMENSION; i++) {
        float sum = 0;
        for (int j = 0; j < 4; j++)
            sum += (float)(random_next(&seed) >> 40) / (float)(1 << 24) - 0.5F;
        row[i] += scale * sum;
    }
}

struct word_model {
    float rows[MEANINGS][ENDINGS][DIMENSION];
};

static struct word_model *model_of_words(void)
{
    struct word_model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    for (unsigned number = 0; number < MEANINGS; number++)
        for (unsigned ending = 0; ending < ENDINGS; ending++) {
            add_noise(number, 1, model->rows[number][ending]);
            add_noise(MEANINGS + number * ENDINGS + ending, 0.3F, model->rows[number][ending]);
        }
    return model;
}

static enum doppel_status embed_words(void *context, const char *const *texts, const size_t *sizes,
                                      size_t count, float *rows, enum doppel_status *each,
                                      struct doppel_error *error)
{
    const struct word_model *model = context;
    (void)sizes;
    (void)error;
    memset(rows, 0, count * DIMENSION * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        unsigned number, used = 0;
        char ending;
        int read;
        for (const char *at = texts[i]; sscanf(at, " w%u%c%n", &number, &ending, &read) == 2;
             at += read, used++)
            for (size_t j = 0; j < DIMENSION; j++)
                rows[i * DIMENSION + j] += model->rows[number][ending - 'a'][j];
        each[i] = used ? DOPPEL_OK : DOPPEL_E_EMPTY;
    }
    return DOPPEL_OK;
}

/* ---- texts of paragraphs, each a chunk ---- */

static const struct doppel_text_chunk_options chunks_of_paragraphs = {
    .least = 60, .aim = 90, .most = 180};

struct made_corpus {
    struct bytes file;
    uint64_t seed;
    unsigned texts;
    bool scores;
};

/* Of this many letters in any words, so that every one is a chunk. */
static void add_word(struct bytes *text, unsigned meaning, char ending)
{
    char word[16];
    sprintf(word, "w%04u%c ", meaning, ending);
    bytes_add_text(text, word);
}

/* The same number is the same meanings. @param ending of all words */
static void add_paragraph(struct bytes *text, uint64_t number, char ending)
{
    uint64_t seed = (number + 1) * golden;
    if (text->size)
        bytes_add_text(text, "\\n\\n");
    for (int i = 0; i < WORDS; i++)
        add_word(text, (unsigned)(random_next(&seed) >> 33) % MEANINGS, ending);
}

static void add_text(struct made_corpus *corpus, const char *id, const struct bytes *text)
{
    char name[32];
    sprintf(name, "{\"id\":\"%s%u\",\"text\":\"", id, corpus->texts++);
    bytes_add_text(&corpus->file, name);
    bytes_add(&corpus->file, text->data, text->size);
    bytes_add_text(&corpus->file, "\"}\n");
}

/* Texts of paragraphs that no other has. */
static void add_unrelated(struct made_corpus *corpus, unsigned count, unsigned least, unsigned most)
{
    for (unsigned i = 0; i < count; i++) {
        struct bytes text = {0};
        unsigned paragraphs =
            least + (unsigned)(random_next(&corpus->seed) >> 33) % (most - least + 1);
        while (paragraphs--)
            add_paragraph(&text, random_next(&corpus->seed), 'a');
        add_text(corpus, "t", &text);
        bytes_free(&text);
    }
}

/* Paragraphs of numbers from `first` to before `end`, between others. */
static void add_passage(struct made_corpus *corpus, uint64_t first, uint64_t end, unsigned others,
                        char ending)
{
    struct bytes text = {0};
    for (unsigned i = 0; i < others; i++)
        add_paragraph(&text, random_next(&corpus->seed), 'a');
    for (uint64_t number = first; number < end; number++)
        add_paragraph(&text, number, ending);
    for (unsigned i = 0; i < others; i++)
        add_paragraph(&text, random_next(&corpus->seed), 'a');
    add_text(corpus, "p", &text);
    bytes_free(&text);
}

/* ---- what comes of it ---- */

struct found_link {
    unsigned number, of;
    struct doppel_semantic_link link;
    struct doppel_semantic_segment segments[SEGMENTS];
};

struct found_links {
    struct doppel_dedup_semantic_summary summary;
    struct found_link items[LINKS];
    size_t count;
};

static bool note_link(void *context, const struct doppel_dedup_decision *decision)
{
    struct found_links *found = context;
    const struct doppel_semantic_link *link = decision->semantic;
    if (!link)
        return true;
    assert_true(found->count < LINKS);
    struct found_link *item = &found->items[found->count++];
    item->number = (unsigned)strtoul(decision->id + 1, NULL, 10);
    item->of = (unsigned)strtoul(link->of + 1, NULL, 10);
    item->link = *link;
    if (link->segment_count && link->segment_count <= SEGMENTS)
        memcpy(item->segments, link->segments, link->segment_count * sizeof *link->segments);
    return true;
}

static struct found_links *find_links(struct made_corpus *corpus, double rate)
{
    struct found_links *found = calloc(1, sizeof *found);
    assert_non_null(found);
    char *folder = folder_make(), *path = path_in(folder, "corpus.jsonl");
    const char *paths[] = {path};
    struct word_model *model = model_of_words();
    const struct doppel_dedup_semantic semantic = {.dimension = DIMENSION,
                                                   .embed = embed_words,
                                                   .context = model,
                                                   .chunks = chunks_of_paragraphs,
                                                   .max_fp_rate = rate,
                                                   .scores = corpus->scores,
                                                   .summary = &found->summary};
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = paths;
    options.files.count = 1;
    options.semantic = &semantic;
    write_file(path, corpus->file.data, corpus->file.size);
    assert_int_equal(doppel_dedup(&options, note_link, found, NULL), DOPPEL_OK);
    assert_int_equal(found->summary.embedded, corpus->texts);
    bytes_free(&corpus->file);
    free(model);
    free(path);
    folder_remove(folder);
    return found;
}

static const struct found_link *link_of(const struct found_links *found, unsigned number)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].number == number)
            return &found->items[i];
    return NULL;
}

/* ---- rates ---- */

static void test_the_rate_holds_for_any_length(void **state)
{
    (void)state;
    static const struct {
        unsigned texts, least, most;
        double rate;
    } cases[] = {
        {1200, 1, 1, 1e-3},  {1000, 12, 12, 1e-3}, {1500, 12, 12, 1e-4},
        {1000, 1, 20, 1e-3}, {400, 40, 40, 1e-3},
    };
    const size_t count = sizeof cases / sizeof *cases;
    for (size_t turn = 0; turn < 2 * count; turn++) {
        const size_t i = turn % count;
        struct made_corpus corpus = {.seed = (100 + i) * golden, .scores = turn >= count};
        add_unrelated(&corpus, cases[i].texts, cases[i].least, cases[i].most);
        struct found_links *found = find_links(&corpus, cases[i].rate);
        const double pairs = cases[i].texts * (cases[i].texts - 1.0) / 2;
        const double is = (double)found->summary.near / pairs;
        print_message("%s %u texts of %u to %u chunks: %g predicted, %g observed\n",
                      corpus.scores ? "scores:" : "cosines:", cases[i].texts, cases[i].least,
                      cases[i].most, cases[i].rate, is);
        assert_int_equal(found->summary.too_short, 0);
        assert_true(found->summary.chunks >= (uint64_t)cases[i].texts * cases[i].least);
        assert_true(is < 2 * cases[i].rate && is > cases[i].rate / 2);
        assert_true(found->summary.scored == corpus.scores);
        for (size_t j = 0; j < found->count; j++) {
            const struct doppel_semantic_link *link = &found->items[j].link;
            assert_true(link->false_positive_rate <= cases[i].rate);
            assert_true(link->has_score == corpus.scores);
            assert_true(!link->has_score ||
                        (link->score >= found->summary.min_cosine && link->score < link->cosine));
        }
        free(found);
    }
}

/* ---- passages ---- */

enum { PARAGRAPH_LETTERS = WORDS * 7 + 2 };

/* Within a paragraph's length. */
static void assert_near(uint64_t is, uint64_t paragraphs)
{
    const int64_t off = (int64_t)is - (int64_t)(paragraphs * PARAGRAPH_LETTERS);
    assert_true(off < PARAGRAPH_LETTERS && off > -PARAGRAPH_LETTERS);
}

static void check_passages(bool scores)
{
    struct made_corpus corpus = {.seed = 5 * golden, .scores = scores};
    add_passage(&corpus, 1000, 1003, 10, 'a'); /* 0: between others */
    add_passage(&corpus, 2000, 2012, 0, 'a');  /* 1: whole */
    add_passage(&corpus, 3000, 3003, 0, 'a');  /* 2: is in a later one */
    add_passage(&corpus, 4000, 4003, 10, 'a'); /* 3: has a later one */
    add_unrelated(&corpus, 600, 1, 20);
    add_passage(&corpus, 1000, 1003, 5, 'b'); /* 604 */
    add_passage(&corpus, 2000, 2012, 0, 'b');
    add_passage(&corpus, 3000, 3003, 8, 'b');
    add_passage(&corpus, 4000, 4003, 0, 'b');
    struct found_links *found = find_links(&corpus, 1e-3);
    static const enum doppel_relation extents[] = {DOPPEL_RELATION_OVERLAPS, DOPPEL_RELATION_SAME,
                                                   DOPPEL_RELATION_CONTAINS,
                                                   DOPPEL_RELATION_CONTAINED};
    for (unsigned i = 0; i < 4; i++) {
        const struct found_link *link = link_of(found, 604 + i);
        assert_non_null(link);
        assert_int_equal(link->of, i);
        assert_int_equal(link->link.extent, extents[i]);
        assert_true(link->link.cosine > 0.7F);
        assert_int_equal(link->link.segment_count, 1);
    }
    const struct doppel_semantic_segment *segment = link_of(found, 604)->segments;
    assert_near(segment->a_start, 5);
    assert_near(segment->a_end, 8);
    assert_near(segment->b_start, 10);
    assert_near(segment->b_end, 13);
    assert_true(segment->cosine > 0.7F);
    assert_true(fabs(link_of(found, 604)->link.query_coverage - 3.0 / 13) < 0.05);
    assert_true(fabs(link_of(found, 604)->link.item_coverage - 3.0 / 23) < 0.05);
    assert_true(link_of(found, 605)->link.query_coverage > 0.95);
    free(found);
}

static void test_a_passage_is_found_where_it_stands(void **state)
{
    (void)state;
    check_passages(false);
    check_passages(true);
}

/* What overlaps alone goes on to be linked to; of what is said already a third text is linked to
 * the first. */
static void test_what_says_something_new_is_linked_to(void **state)
{
    (void)state;
    struct made_corpus corpus = {.seed = 6 * golden};
    add_passage(&corpus, 1000, 1003, 8, 'a'); /* 0 */
    add_passage(&corpus, 2000, 2010, 0, 'a'); /* 1 */
    add_unrelated(&corpus, 600, 1, 12);
    struct bytes text = {0};
    for (uint64_t number = 1000; number < 1003; number++) /* 602: has the passage of 0 */
        add_paragraph(&text, number, 'b');
    for (uint64_t number = 5000; number < 5008; number++)
        add_paragraph(&text, number, 'a');
    add_text(&corpus, "p", &text);
    bytes_free(&text);
    add_passage(&corpus, 5000, 5008, 0, 'b'); /* 603: is in 602 */
    add_passage(&corpus, 2000, 2010, 0, 'b'); /* 604: is 1 */
    add_passage(&corpus, 2000, 2010, 0, 'c'); /* 605: is 1, and 604 */
    struct found_links *found = find_links(&corpus, 1e-3);
    static const unsigned of[] = {0, 602, 1, 1};
    for (unsigned i = 0; i < 4; i++) {
        const struct found_link *link = link_of(found, 602 + i);
        assert_non_null(link);
        assert_int_equal(link->of, of[i]);
    }
    free(found);
}

static void test_chunks_without_a_vector(void **state)
{
    (void)state;
    struct made_corpus corpus = {.seed = 7 * golden};
    struct bytes text = {0};
    for (int i = 0; i < 40; i++)
        bytes_add_text(&text, "no word that is known ");
    add_text(&corpus, "p", &text); /* 0: none has one */
    bytes_add_text(&text, "\\n\\n");
    add_paragraph(&text, 1000, 'a'); /* 1: one has */
    add_text(&corpus, "p", &text);
    bytes_free(&text);
    add_unrelated(&corpus, 400, 1, 3);
    add_passage(&corpus, 1000, 1001, 0, 'b'); /* 402 */
    struct found_links *found = find_links(&corpus, 1e-3);
    assert_int_equal(found->summary.too_short, 1);
    assert_null(link_of(found, 0));
    assert_non_null(link_of(found, 402));
    assert_int_equal(link_of(found, 402)->of, 1);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rate_holds_for_any_length),
        cmocka_unit_test(test_a_passage_is_found_where_it_stands),
        cmocka_unit_test(test_what_says_something_new_is_linked_to),
        cmocka_unit_test(test_chunks_without_a_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
