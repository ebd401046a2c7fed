/* The folder of models: names, revisions, and who may replace whom; types of numbers; lists of
 * words. */
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <doppel/embedder.h>
#include <zlib.h>

#include "made_model.h"

static enum doppel_status add_model(const struct made_folder *folder, const char *source,
                                    const char *name, struct doppel_model_info *out,
                                    struct doppel_error *error)
{
    struct doppel_model_add_options add = doppel_model_add_options_default();
    add.folder = made_path(folder, "deep/models");
    add.source = made_path(folder, source);
    add.name = name;
    return doppel_model_add(&add, out, error);
}

static void write_bert(const struct made_folder *folder, const char *name, uint32_t dimension)
{
    struct made_model made;
    const char *tokenizer = made_data("bert", ".tokenizer.json");
    made_model_begin(&made, tokenizer, dimension, false);
    made_model_write(&made, tokenizer, made_path(folder, name));
    made_model_end(&made);
}

/* Names, one after the other. */
static bool append_name(void *context, const struct doppel_model_info *info, const char *problem)
{
    assert_null(problem);
    strcat(strcat(context, info->name), " ");
    return true;
}

static void test_models_come_and_go(void **state)
{
    (void)state;
    struct made_folder folder;
    struct doppel_model_info first, again, other;
    struct doppel_error error;
    char names[256] = "";
    made_folder_begin(&folder);
    const char *models = made_path(&folder, "deep/models");
    assert_int_equal(doppel_models_list(models, append_name, names, &error), DOPPEL_OK);
    assert_string_equal(names, "");
    write_bert(&folder, "source-8M", 4);
    write_bert(&folder, "other", 5);
    assert_int_equal(add_model(&folder, "source-8M/", NULL, &first, &error), DOPPEL_OK);
    assert_string_equal(first.name, "source-8M");
    assert_int_equal(first.dimension, 4);
    assert_int_equal(first.tokens, DOPPEL_MODEL_WORD_PIECES);
    assert_int_equal(first.max_tokens, 512);
    assert_int_equal(first.vocabulary, first.rows);
    assert_int_equal(strlen(first.revision), 32);
    assert_int_equal(add_model(&folder, "source-8M", NULL, &again, &error), DOPPEL_OK);
    assert_memory_equal(&first, &again, sizeof first);
    assert_int_equal(add_model(&folder, "source-8M", "b", &again, &error), DOPPEL_OK);
    assert_string_equal(first.revision, again.revision);
    assert_int_equal(add_model(&folder, "other", "b", &other, &error), DOPPEL_E_BUSY);
    assert_non_null(strstr(error.message, "another model 'b'"));
    doppel_models_list(models, append_name, names, &error);
    assert_string_equal(names, "b source-8M ");
    assert_int_equal(doppel_model_remove(models, "b", &error), DOPPEL_OK);
    assert_int_equal(doppel_model_remove(models, "b", &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_model_remove(models, "../b", &error), DOPPEL_E_ARGUMENT);
    assert_int_equal(add_model(&folder, "other", "b", &other, &error), DOPPEL_OK);
    assert_string_not_equal(first.revision, other.revision);
    made_file(made_path(&folder, "deep/models/b.model"), "x", 1);
    assert_int_equal(add_model(&folder, "other", "b", &other, &error), DOPPEL_E_BUSY);
    made_folder_remove(&folder);
}

/* What a killed process left is swept away once it is old; nothing else is. */
static void test_one_is_chosen(void **state)
{
    (void)state;
    struct made_folder folder;
    struct doppel_model_info first, other;
    struct doppel_embedder_identity kept = {.dimension = 4};
    char name[DOPPEL_MODEL_MAX_NAME + 1] = "untouched";
    size_t count = 7;
    made_folder_begin(&folder);
    const char *models = made_path(&folder, "deep/models");
    assert_int_equal(doppel_embedder_choose(models, NULL, name, &count, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(count, 0);
    write_bert(&folder, "one", 4);
    write_bert(&folder, "two", 5);
    assert_int_equal(add_model(&folder, "one", NULL, &first, NULL), DOPPEL_OK);
    models = made_path(&folder, "deep/models");
    memcpy(kept.revision, "00112233445566778899aabbccddeeff", sizeof kept.revision);
    assert_int_equal(doppel_embedder_choose(models, &kept, name, &count, NULL), DOPPEL_OK);
    assert_string_equal(name, "one"); /* that it is another one is said where it is opened */
    assert_int_equal(add_model(&folder, "two", NULL, &other, NULL), DOPPEL_OK);
    assert_int_equal(doppel_embedder_choose(models, NULL, name, &count, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(count, 2);
    assert_int_equal(doppel_embedder_choose(models, &kept, name, &count, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(count, 2);
    assert_string_equal(name, "one");
    memcpy(kept.revision, other.revision, sizeof kept.revision);
    assert_int_equal(doppel_embedder_choose(models, &kept, name, &count, NULL), DOPPEL_OK);
    assert_string_equal(name, "two");
    made_folder_remove(&folder);
}

static void test_leftovers_are_swept(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool old, stays;
    } files[] = {{"m.model.1.new", true, false},
                 {"m.model.1.new.2.part", true, false},
                 {"m.model.1.new.2.part2", true, true},
                 {"other.new", true, true},
                 {"n.model.1.new.2.part", false, true}};
    const struct timespec long_ago[2] = {{1700000000, 0}, {1700000000, 0}};
    struct made_folder folder;
    struct doppel_model_info info;
    made_folder_begin(&folder);
    write_bert(&folder, "source", 2);
    assert_int_equal(add_model(&folder, "source", "a", &info, NULL), DOPPEL_OK);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            char name[64];
            snprintf(name, sizeof name, "deep/models/%s", files[i].name);
            const char *path = made_path(&folder, name);
            if (round == 0) {
                made_file(path, "x", 1);
                if (files[i].old)
                    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
                if (i + 1 == sizeof files / sizeof *files)
                    assert_int_equal(add_model(&folder, "source", "b", &info, NULL), DOPPEL_OK);
            } else {
                assert_int_equal(access(path, F_OK) == 0, files[i].stays);
            }
        }
    made_folder_remove(&folder);
}

static void *add_in_thread(void *context)
{
    struct doppel_model_info info;
    static const struct doppel_error none;
    struct doppel_error error = none;
    return (void *)(intptr_t)add_model(context, "source", "m", &info, &error);
}

static void test_threads_add_the_same(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct made_folder folder;
    char names[256] = "";
    made_folder_begin(&folder);
    write_bert(&folder, "source", 3);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_in_thread, &folder), 0);
    for (int i = 0; i < THREADS; i++) {
        void *status;
        pthread_join(threads[i], &status);
        assert_int_equal((intptr_t)status, DOPPEL_OK);
    }
    assert_int_equal(
        doppel_models_list(made_path(&folder, "deep/models"), append_name, names, NULL), DOPPEL_OK);
    assert_string_equal(names, "m ");
    made_folder_remove(&folder);
}

static void test_names_that_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"", ".", "..", ".a", "a/b", "-a", "a b", "\xC3\xA9", "a\nb"};
    struct made_folder folder;
    struct doppel_model_info info;
    struct doppel_error error;
    struct doppel_model *model;
    char longest[DOPPEL_MODEL_MAX_NAME + 2] = {0};
    made_folder_begin(&folder);
    write_bert(&folder, "s", 2);
    memset(longest, 'a', DOPPEL_MODEL_MAX_NAME);
    assert_int_equal(add_model(&folder, "s", longest, &info, &error), DOPPEL_OK);
    longest[DOPPEL_MODEL_MAX_NAME] = 'a';
    assert_int_equal(add_model(&folder, "s", longest, &info, &error), DOPPEL_E_ARGUMENT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(add_model(&folder, "s", bad[i], &info, &error), DOPPEL_E_ARGUMENT);
        struct doppel_model_open_options options = {folder.path, bad[i], false};
        assert_int_equal(doppel_model_open(&options, &model, &error), DOPPEL_E_ARGUMENT);
    }
    struct doppel_model_open_options missing = {folder.path, "none", false};
    assert_int_equal(doppel_model_open(&missing, &model, &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(add_model(&folder, "gone", NULL, &info, &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(add_model(&folder, "deep", NULL, &info, &error), DOPPEL_E_FORMAT);
    made_folder_remove(&folder);
}

static void test_a_removed_model_stays_for_who_has_it(void **state)
{
    (void)state;
    struct made_folder folder;
    float row[7];
    const char *text = "the file";
    made_folder_begin(&folder);
    write_bert(&folder, "m", 7);
    struct doppel_model *model = made_model_open(&folder, made_path(&folder, "m"), NULL, true);
    assert_int_equal(doppel_model_remove(folder.path, "m", NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_model_embed(model, &(struct doppel_model_texts){&text, NULL, 1}, row, NULL, NULL),
        DOPPEL_OK);
    doppel_model_free(model);
    doppel_model_free(NULL);
    made_folder_remove(&folder);
}

/* Opening a model of 6 MB takes as much memory of one's own as opening a small one. */
static void test_opening_takes_no_memory_that_grows(void **state)
{
    (void)state;
    size_t taken[2];
    for (int i = 0; i < 2; i++) {
        struct made_folder folder;
        struct doppel_model_open_options options = {folder.path, "m", false};
        struct doppel_model *model;
        made_folder_begin(&folder);
        write_bert(&folder, "m", i ? 4096 : 1);
        doppel_model_free(made_model_open(&folder, made_path(&folder, "m"), NULL, false));
        size_t before = mallinfo2().uordblks;
        assert_int_equal(doppel_model_open(&options, &model, NULL), DOPPEL_OK);
        taken[i] = mallinfo2().uordblks - before;
        doppel_model_free(model);
        made_folder_remove(&folder);
    }
    assert_true(taken[0] < 32 << 10);
    assert_true(taken[1] < taken[0] + 1024); /* malloc rounds */
}

/* ---- types of numbers ---- */

/* Numbers that all types have: eighths from -1 to 1. */
static void test_all_types_of_numbers(void **state)
{
    (void)state;
    static const char tokenizer[] =
        "{\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":1}}}";
    static const double exact[4] = {0.5, -1, 0.125, 0.75};
    static const float floats[4] = {0.5f, -1, 0.125f, 0.75f};
    static const uint16_t halves[4] = {0x3800, 0xbc00, 0x3000, 0x3a00};
    static const uint16_t brains[4] = {0x3f00, 0xbf80, 0x3e00, 0x3f40};
    static const int8_t bytes[4] = {4, -8, 1, 6};
    const struct made_tensor all[] = {
        {"embeddings", "F64", 2, 2, exact, sizeof exact},
        {"embeddings", "F32", 2, 2, floats, sizeof floats},
        {"embedding.weight", "F16", 2, 2, halves, sizeof halves},
        {"embeddings", "BF16", 2, 2, brains, sizeof brains},
        {"embeddings", "I8", 2, 2, bytes, sizeof bytes},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct made_folder folder;
        const char *text = "b";
        float row[2];
        made_folder_begin(&folder);
        made_file(made_path(&folder, "tokenizer.json"), tokenizer, sizeof tokenizer - 1);
        made_safetensors(made_path(&folder, "model.safetensors"), &all[i], 1);
        struct doppel_model *model = made_model_open(&folder, folder.path, NULL, true);
        assert_int_equal(doppel_model_embed(model, &(struct doppel_model_texts){&text, NULL, 1},
                                            row, NULL, NULL),
                         DOPPEL_OK);
        assert_true(fabsf(row[0] - 0.16439899f) < 1e-6f && fabsf(row[1] - 0.98639392f) < 1e-6f);
        doppel_model_free(model);
        made_folder_remove(&folder);
    }
}

/* ---- lists of words ---- */

static void check_list(const struct made_folder *folder, const char *file)
{
    struct doppel_model_info info;
    struct doppel_error error;
    struct doppel_model *model;
    const char *texts[] = {"The CAT, the-cat!",
                           "cat",
                           "ﬁ 2024x",
                           "dog",
                           "'s",
                           "École",
                           "e\xCC\x81"
                           "cole"};
    float rows[7 * 2];
    enum doppel_status each[7];
    if (add_model(folder, file, "list", &info, &error))
        fail_msg("%s", error.message);
    assert_int_equal(info.tokens, DOPPEL_MODEL_WORD_LIST);
    assert_int_equal(info.vocabulary, 4); /* the, cat, 2024, école */
    assert_int_equal(info.max_tokens, 0);
    struct doppel_model_open_options options = {made_path(folder, "deep/models"), "list", true};
    assert_int_equal(doppel_model_open(&options, &model, &error), DOPPEL_OK);
    assert_int_equal(
        doppel_model_embed(model, &(struct doppel_model_texts){texts, NULL, 7}, rows, each, NULL),
        DOPPEL_OK);
    /* places 1 and 2 of 7: a / (a + p) with p = 1 / (place (ln 7 + 0.5772)) */
    double the = 3e-3 / (3e-3 + 1 / (log(7) + 0.5772156649)), square = 0;
    double cat = 3e-3 / (3e-3 + 1 / (2 * (log(7) + 0.5772156649)));
    double want[2] = {the * 1, cat * 1};
    square = sqrt(want[0] * want[0] + want[1] * want[1]);
    assert_true(fabs(rows[0] - want[0] / square) < 1e-5 && fabs(rows[1] - want[1] / square) < 1e-5);
    assert_true(rows[2] == 0 && fabsf(rows[3] - 1) < 1e-6f);
    if (fabsf(rows[4] + 1) > 1e-6f || rows[5] != 0)
        fail_msg("%s: 2024 is (%g, %g)", file, (double)rows[4], (double)rows[5]);
    assert_int_equal(each[3], DOPPEL_E_TOO_SHORT);
    assert_int_equal(each[4], DOPPEL_E_TOO_SHORT);
    assert_int_equal(each[5], DOPPEL_OK);
    assert_memory_equal(rows + 10, rows + 12, 2 * sizeof *rows);
    doppel_model_free(model);
    doppel_model_remove(options.folder, "list", NULL);
}

#define LIST                                                                                       \
    "the 1 0\nCat 0 1\nTHE 5 5\n. . . 7 7\n2024 -1 0.0\n'tis 1e0 -2\n\xC3\xA9"                     \
    "cole 2 2\n"

static void test_lists_of_words(void **state)
{
    (void)state;
    struct made_folder folder;
    made_folder_begin(&folder);
    made_file(made_path(&folder, "glove.txt"), LIST, sizeof LIST - 1);
    check_list(&folder, "glove.txt");
    made_file(made_path(&folder, "wiki.vec"), "7 2\n" LIST, sizeof LIST + 3);
    check_list(&folder, "wiki.vec");
    static const char crlf[] = "the\t1\t0\r\ncat 0 1 \r\nTHE 5 5\r\n. . . 7 7\r\n2024 -1 0\r\n"
                               "'tis 1 -2\r\n\r\n\xC3\xA9"
                               "cole 2 2";
    made_file(made_path(&folder, "crlf.txt"), crlf, sizeof crlf - 1);
    check_list(&folder, "crlf.txt");
    gzFile file = gzopen(made_path(&folder, "glove.txt.gz"), "wb");
    gzwrite(file, LIST, sizeof LIST - 1);
    gzclose(file);
    check_list(&folder, "glove.txt.gz");
    static const char wink[] =
        "{\"precision\":8,\"l2NormIndex\":2,\"wordIndex\":3,\"size\":7,\"dimensions\":2,"
        "\"words\":[\"the\",\"cat\"],\"vectors\":{\"the\":[1,0,1,0],\"cat\":[0,1.0,1,1],"
        "\"THE\":[5,5,1,2],\".\":[7,7,1,3], \"2024\" : [ -1, 0 , 1,4],\"'tis\":[1,-2e0,1,5],"
        "\"\\u00c9cole\":[2,2,2,6]},\"unkVector\":[0,0,0,-1]}";
    made_file(made_path(&folder, "wink.json"), wink, sizeof wink - 1);
    check_list(&folder, "wink.json");
    static const char package[] = "{\"name\":\"wink\",\"main\":\"./wink.json\"}";
    made_file(made_path(&folder, "package.json"), package, sizeof package - 1);
    check_list(&folder, "");
    made_folder_remove(&folder);
}

static void test_lists_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum doppel_status status;
        const char *sentence;
    } cases[] = {
        {"", DOPPEL_E_EMPTY, "no words"},
        {"7 2\n", DOPPEL_E_EMPTY, "no words"},
        {"word\n", DOPPEL_E_FORMAT, "line 1 is no word with 1 to 4096 numbers"},
        {"the 1 2\ncat 1\n", DOPPEL_E_FORMAT, "line 2 is no word with 2 finite numbers"},
        {"the 1 2\ncat 1 x\n", DOPPEL_E_FORMAT, "line 2"},
        {"the 1 2\ncat 1 nan\n", DOPPEL_E_FORMAT, "line 2"},
        {"the 1 2\ncat 1 1e99\n", DOPPEL_E_FORMAT, "line 2"},
        {"the 1 2\n 1 2\n", DOPPEL_E_FORMAT, "line 2"},
        {". 1 2\n, 1 2\n", DOPPEL_E_CORRUPT, "no words of letters or digits"},
        {"the 0 0\n", DOPPEL_E_CORRUPT, "no words of letters or digits"},
        {"\x1F\x8B\x08\x00 is no gzip", DOPPEL_E_CORRUPT, "damaged"},
        {"{", DOPPEL_E_CORRUPT, "no member"},
        {"{}", DOPPEL_E_CORRUPT, "no member"},
        {"{\"a\":1}", DOPPEL_E_FORMAT, "has no 'vectors'"},
        {"{\"vectors\":{}}", DOPPEL_E_CORRUPT, "'dimensions' is missing"},
        {"{\"dimensions\":5000,\"vectors\":{}}", DOPPEL_E_CORRUPT, "'dimensions' is missing"},
        {"{\"dimensions\":1,\"vectors\":{}}", DOPPEL_E_CORRUPT, "no word"},
        {"{\"dimensions\":1,\"vectors\":[]}", DOPPEL_E_CORRUPT, "no object"},
        {"{\"dimensions\":1,\"vectors\":{\"a\":[1,2]}}", DOPPEL_E_CORRUPT, "numbers"},
        {"{\"dimensions\":1,\"vectors\":{\"a\":[1,2,3,4]}}", DOPPEL_E_CORRUPT, "numbers"},
        {"{\"dimensions\":1,\"vectors\":{\"a\":[1e99,2,3]}}", DOPPEL_E_CORRUPT, "numbers"},
        {"{\"dimensions\":1,\"vectors\":{\"a\":[1,2,3]", DOPPEL_E_CORRUPT, "does not end"},
        {"{\"dimensions\":1,\"vectors\":{\"a\":[1,2,3]}", DOPPEL_E_CORRUPT, "does not end"},
    };
    struct made_folder folder;
    made_folder_begin(&folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_model_info info;
        struct doppel_error error = {0};
        made_file(made_path(&folder, "list"), cases[i].text, strlen(cases[i].text));
        enum doppel_status status = add_model(&folder, "list", NULL, &info, &error);
        if (status != cases[i].status || !strstr(error.message, cases[i].sentence))
            fail_msg("'%s': status %d, '%s'", cases[i].text, status, error.message);
    }
    char *line = malloc(3 << 20);
    memset(line, 'a', 3 << 20);
    made_file(made_path(&folder, "list"), line, 3 << 20);
    free(line);
    struct doppel_error error = {0};
    assert_int_equal(add_model(&folder, "list", NULL, NULL, &error), DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "too long"));
    made_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_come_and_go),
        cmocka_unit_test(test_one_is_chosen),
        cmocka_unit_test(test_leftovers_are_swept),
        cmocka_unit_test(test_threads_add_the_same),
        cmocka_unit_test(test_names_that_are_none),
        cmocka_unit_test(test_a_removed_model_stays_for_who_has_it),
        cmocka_unit_test(test_opening_takes_no_memory_that_grows),
        cmocka_unit_test(test_all_types_of_numbers),
        cmocka_unit_test(test_lists_of_words),
        cmocka_unit_test(test_lists_that_are_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
