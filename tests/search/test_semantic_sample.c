/* Texts to learn a whitening from: which chunks are taken, and vectors of a library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <doppel/search_whiten.h>
#include <doppel/text_chunks.h>

enum { CHUNKS = 20000, KEPT = 1000 };

static struct doppel_semantic_sample *sample_numbers(size_t count, size_t most)
{
    struct doppel_semantic_sample *sample = NULL;
    char chunk[32];
    assert_int_equal(doppel_semantic_sample_new(NULL, most, &sample, NULL), DOPPEL_OK);
    for (size_t i = 0; i < count; i++) {
        const int size = sprintf(chunk, "%zu", i);
        assert_int_equal(doppel_semantic_sample_add_chunk(sample, chunk, (size_t)size, NULL),
                         DOPPEL_OK);
    }
    return sample;
}

/* Of many, each is as likely to be there: so the numbers lie evenly. */
static void test_any_chunk_is_as_likely(void **state)
{
    (void)state;
    struct doppel_semantic_sample *sample = sample_numbers(CHUNKS, KEPT),
                                  *again = sample_numbers(CHUNKS, KEPT);
    struct doppel_model_texts texts, same;
    uint64_t seen;
    bool there[CHUNKS] = {false};
    size_t tenths[10] = {0};
    doppel_semantic_sample_texts(sample, &texts, &seen);
    assert_int_equal(seen, CHUNKS);
    doppel_semantic_sample_texts(again, &same, &seen);
    assert_int_equal(texts.count, KEPT);
    assert_int_equal(same.count, KEPT);
    for (size_t i = 0; i < KEPT; i++) {
        const size_t number = strtoul(texts.texts[i], NULL, 10);
        assert_string_equal(texts.texts[i], same.texts[i]);
        assert_int_equal(texts.sizes[i], strlen(texts.texts[i]));
        assert_true(number < CHUNKS && !there[number]);
        there[number] = true;
        tenths[number / (CHUNKS / 10)]++;
    }
    for (size_t i = 0; i < 10; i++) /* 100 each; five times the deviation */
        assert_in_range(tenths[i], 52, 148);
    doppel_semantic_sample_free(sample);
    doppel_semantic_sample_free(again);
}

static void test_few_are_all_there(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, KEPT - 1, KEPT};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct doppel_semantic_sample *sample = sample_numbers(counts[i], KEPT);
        struct doppel_model_texts texts;
        uint64_t seen;
        doppel_semantic_sample_texts(sample, &texts, &seen);
        assert_int_equal(seen, counts[i]);
        assert_int_equal(texts.count, counts[i]);
        for (size_t j = 0; j < texts.count; j++)
            assert_int_equal(strtoul(texts.texts[j], NULL, 10), j);
        doppel_semantic_sample_free(sample);
    }
    struct doppel_semantic_sample *none = NULL;
    assert_int_equal(doppel_semantic_sample_new(NULL, DOPPEL_SEMANTIC_SAMPLE_MOST + 1, &none, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_null(none);
    doppel_semantic_sample_free(NULL);
}

/* The chunks are those that the verbs embed. */
static void test_texts_are_cut_as_everywhere(void **state)
{
    (void)state;
    enum { SIZE = 40000 };
    char *text = malloc(SIZE);
    struct doppel_semantic_sample *sample = NULL;
    struct doppel_text_chunker chunker;
    struct doppel_text_chunk chunk;
    struct doppel_model_texts texts;
    struct doppel_error error;
    uint64_t seen;
    size_t count = 0;
    for (size_t i = 0; i < SIZE; i++)
        text[i] = "abcdefg hij kl. mn"[i * 7 % 18];
    assert_int_equal(doppel_semantic_sample_new(NULL, 0, &sample, NULL), DOPPEL_OK);
    assert_int_equal(doppel_semantic_sample_add(sample, text, SIZE, NULL), DOPPEL_OK);
    doppel_semantic_sample_texts(sample, &texts, &seen);
    assert_int_equal(doppel_text_chunker_begin(text, SIZE, NULL, &chunker, NULL), DOPPEL_OK);
    for (; doppel_text_chunker_next(&chunker, &chunk); count++) {
        assert_true(count < texts.count);
        assert_int_equal(texts.sizes[count], chunk.byte_end - chunk.byte_start);
        assert_memory_equal(texts.texts[count], text + chunk.byte_start, texts.sizes[count]);
    }
    assert_true(count > 30 && count == texts.count && count == seen);
    assert_int_equal(doppel_semantic_sample_add_file(sample, "/none/such", &error),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_semantic_sample_add_file(sample, "/dev", &error), DOPPEL_E_FORMAT);
    assert_int_equal(doppel_semantic_sample_add(sample, "", 0, NULL), DOPPEL_OK);
    doppel_semantic_sample_free(sample);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_chunk_is_as_likely),
        cmocka_unit_test(test_few_are_all_there),
        cmocka_unit_test(test_texts_are_cut_as_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
