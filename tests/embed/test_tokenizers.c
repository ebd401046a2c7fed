/* The tokens of odd texts are those that huggingface's tokenizers has (data/make_ids.js), for each
 * tokenizer of the data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "made_model.h"

enum { DIMENSION = 3, MOST_TOKENS = 600 };

static const char *const tokenizers[] = {"bert",          "bert_cased",   "bert_accents",
                                         "word_level",    "unigram",      "unigram_spaced",
                                         "unigram_first", "unigram_plain"};

static struct doppel_model *open_tokenizer(const struct made_folder *folder, const char *name)
{
    struct made_model made;
    const char *tokenizer = made_data(name, ".tokenizer.json");
    const char *source = made_path(folder, name);
    made_model_begin(&made, tokenizer, DIMENSION, false);
    made_model_write(&made, tokenizer, source);
    made_model_end(&made);
    return made_model_open(folder, source, NULL, false);
}

/* What stands for words that are not known is left out, but of Unigram. */
static json_int_t left_out(const char *name)
{
    json_t *json = json_load_file(made_data(name, ".tokenizer.json"), 0, NULL);
    const json_t *model = json_object_get(json, "model");
    const char *unknown = json_string_value(json_object_get(model, "unk_token"));
    json_int_t id = -1;
    if (unknown)
        id = json_integer_value(json_object_get(json_object_get(model, "vocab"), unknown));
    json_decref(json);
    return id;
}

static void check_text(const struct doppel_model *model, const char *name, const char *text,
                       size_t size, const json_t *ids)
{
    uint32_t got[MOST_TOKENS];
    size_t count, wanted = 0;
    json_int_t unknown = left_out(name);
    assert_int_equal(doppel_model_tokenize(model, text, size, got, MOST_TOKENS, &count, NULL), 0);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        json_int_t id = json_integer_value(json_array_get(ids, i));
        if (id == unknown)
            continue;
        if (wanted >= count || got[wanted] != id)
            fail_msg("%s: token %zu of '%s' is %lld, not %lld", name, wanted, text,
                     wanted < count ? (long long)got[wanted] : -1LL, (long long)id);
        wanted++;
    }
    if (wanted != count)
        fail_msg("%s: '%s' has %zu tokens, not %zu", name, text, count, wanted);
}

static void test_tokens_are_those_of_the_reference(void **state)
{
    (void)state;
    struct made_folder folder;
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    made_folder_begin(&folder);
    for (size_t t = 0; t < sizeof tokenizers / sizeof *tokenizers; t++) {
        struct doppel_model *model = open_tokenizer(&folder, tokenizers[t]);
        json_t *ids = json_load_file(made_data(tokenizers[t], ".ids.json"), 0, NULL);
        assert_int_equal(json_array_size(ids), count);
        for (size_t i = 0; i < count; i++)
            check_text(model, tokenizers[t], texts[i], sizes[i], json_array_get(ids, i));
        json_decref(ids);
        doppel_model_free(model);
    }
    made_folder_remove(&folder);
    made_texts_free(texts, sizes, count);
}

/* ASCII goes another way than the rest: a text has the same tokens with a character between. */
static void test_both_ways_through_ascii_agree(void **state)
{
    (void)state;
    struct made_folder folder;
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count), slow[4096];
    made_folder_begin(&folder);
    struct doppel_model *model = open_tokenizer(&folder, "bert");
    for (size_t i = 0; i < count; i++) {
        uint32_t fast[MOST_TOKENS], other[MOST_TOKENS];
        size_t fast_count, slow_count, at = 0;
        for (size_t j = 0; j < sizes[i]; j++) { /* a soft hyphen, which is dropped, in each word */
            slow[at++] = texts[i][j];
            if (texts[i][j] != ' ' && texts[i][j] > 0 && texts[i][j] != '[') {
                memcpy(slow + at, "\xC2\xAD", 2);
                at += 2;
            }
        }
        if (strchr(texts[i], '['))
            continue;
        doppel_model_tokenize(model, texts[i], sizes[i], fast, MOST_TOKENS, &fast_count, NULL);
        doppel_model_tokenize(model, slow, at, other, MOST_TOKENS, &slow_count, NULL);
        assert_int_equal(fast_count, slow_count);
        assert_memory_equal(fast, other, fast_count * sizeof *fast);
    }
    doppel_model_free(model);
    made_folder_remove(&folder);
    made_texts_free(texts, sizes, count);
}

/* Any bytes are a text, and those that are no UTF-8 are U+FFFD. */
static void test_bad_bytes_are_replaced(void **state)
{
    (void)state;
    struct made_folder folder;
    made_folder_begin(&folder);
    for (size_t t = 0; t < sizeof tokenizers / sizeof *tokenizers; t++) {
        struct doppel_model *model = open_tokenizer(&folder, tokenizers[t]);
        static const char bad[] = "the\xFF \xE4\xB8 of\xC0\x80 \xED\xA0\x80 and\xF5";
        static const char good[] = "the\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD of"
                                   "\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD"
                                   "\xEF\xBF\xBD and\xEF\xBF\xBD";
        uint32_t a[MOST_TOKENS], b[MOST_TOKENS];
        size_t a_count, b_count;
        doppel_model_tokenize(model, bad, sizeof bad - 1, a, MOST_TOKENS, &a_count, NULL);
        doppel_model_tokenize(model, good, sizeof good - 1, b, MOST_TOKENS, &b_count, NULL);
        assert_int_equal(a_count, b_count);
        assert_memory_equal(a, b, a_count * sizeof *a);
        doppel_model_free(model);
    }
    made_folder_remove(&folder);
}

static void test_room_for_tokens_is_kept_to(void **state)
{
    (void)state;
    struct made_folder folder;
    made_folder_begin(&folder);
    struct doppel_model *model = open_tokenizer(&folder, "bert");
    uint32_t ids[3] = {9, 9, 9};
    size_t count;
    assert_int_equal(doppel_model_tokenize(model, "the of and to", 13, ids, 2, &count, NULL), 0);
    assert_int_equal(count, 4);
    assert_int_equal(ids[2], 9);
    doppel_model_free(model);
    made_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_are_those_of_the_reference),
        cmocka_unit_test(test_both_ways_through_ascii_agree),
        cmocka_unit_test(test_bad_bytes_are_replaced),
        cmocka_unit_test(test_room_for_tokens_is_kept_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
