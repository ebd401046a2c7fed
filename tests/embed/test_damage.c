/* Sources that are wrong are refused by a sentence that says why, and leave nothing behind; damaged
 * files of models do no harm. */
#include <dirent.h>
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
#include <jansson.h>

#include "core/bytes.h"
#include "embed/model.h"
#include "made_model.h"

/* ---- sources ---- */

static void put_source(const struct made_folder *folder, const char *name, const char *tokenizer,
                       const void *tensors, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "mkdir -p %s", made_path(folder, name));
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/tokenizer.json", made_path(folder, name));
    made_file(path, tokenizer, strlen(tokenizer));
    snprintf(path, sizeof path, "%s/model.safetensors", made_path(folder, name));
    made_file(path, tensors, size);
}

static void expect_refusal(const struct made_folder *folder, const char *source,
                           enum doppel_status status, const char *sentence)
{
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_model_info info;
    struct doppel_error error = {0};
    add.folder = made_path(folder, "models");
    add.source = made_path(folder, source);
    add.name = "m";
    enum doppel_status got = doppel_model_add(&add, &info, &error);
    if (got != status || !strstr(error.message, sentence))
        fail_msg("status %d, '%s', not %d, '%s'", got, error.message, status, sentence);
    assert_int_equal(doppel_models_list(add.folder, NULL, NULL, NULL), DOPPEL_OK); /* none */
}

#define GOOD_VOCAB                                                                                 \
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","                                   \
    "\"vocab\":{\"[UNK]\":0,\"the\":1,\"##s\":2}}"
#define GOOD_TOKENIZER                                                                             \
    "{\"normalizer\":{\"type\":\"BertNormalizer\"},"                                               \
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}," GOOD_VOCAB "}"

/* A header, and so many bytes of data. */
static void try_tensors(const struct made_folder *folder, const char *header, const void *data,
                        size_t size, enum doppel_status status, const char *sentence)
{
    uint8_t bytes[1024];
    size_t length = strlen(header);
    put_u64(bytes, length);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, data, size);
    put_source(folder, "source", GOOD_TOKENIZER, bytes, 8 + length + size);
    expect_refusal(folder, "source", status, sentence);
}

#define EMBEDDINGS(type, shape, begin, end)                                                        \
    "{\"embeddings\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end \
    "]}}"

static void test_wrong_tensors(void **state)
{
    (void)state;
    static const float ones[6] = {1, 1, 1, 1, 1, 1};
    static const struct {
        const char *header;
        size_t size;
        enum doppel_status status;
        const char *sentence;
    } cases[] = {
        {"{}", 24, DOPPEL_E_FORMAT, "has no 'embeddings'"},
        {"[]", 24, DOPPEL_E_CORRUPT, "no object"},
        {"{\"a\":", 24, DOPPEL_E_CORRUPT, "header is damaged"},
        {"", 24, DOPPEL_E_CORRUPT, "header is damaged"},
        {"{\"a\":1,\"a\":2}", 24, DOPPEL_E_CORRUPT, "duplicate"},
        {"{\"embeddings\":7}", 24, DOPPEL_E_UNSUPPORTED, "type unknown"},
        {EMBEDDINGS("U8", "[3,2]", "0", "6"), 24, DOPPEL_E_UNSUPPORTED, "type U8"},
        {EMBEDDINGS("F32", "[6]", "0", "24"), 24, DOPPEL_E_UNSUPPORTED, "no matrix"},
        {EMBEDDINGS("I32", "[3,2]", "0", "24"), 24, DOPPEL_E_UNSUPPORTED, "no matrix"},
        {EMBEDDINGS("F32", "[3,2,1]", "0", "24"), 24, DOPPEL_E_UNSUPPORTED, "shape"},
        {EMBEDDINGS("F32", "[]", "0", "24"), 24, DOPPEL_E_UNSUPPORTED, "shape"},
        {EMBEDDINGS("F32", "[3,-2]", "0", "24"), 24, DOPPEL_E_UNSUPPORTED, "shape"},
        {EMBEDDINGS("F32", "[3,2.0]", "0", "24"), 24, DOPPEL_E_UNSUPPORTED, "shape"},
        {EMBEDDINGS("F32", "[3,2]", "0", "23"), 24, DOPPEL_E_CORRUPT, "23 bytes"},
        {EMBEDDINGS("F32", "[3,2]", "0", "25"), 24, DOPPEL_E_CORRUPT, "outside"},
        {EMBEDDINGS("F32", "[3,2]", "1", "25"), 24, DOPPEL_E_CORRUPT, "outside"},
        {EMBEDDINGS("F32", "[3,2]", "24", "0"), 24, DOPPEL_E_CORRUPT, "outside"},
        {EMBEDDINGS("F32", "[3,2]", "-8", "16"), 24, DOPPEL_E_CORRUPT, "outside"},
        {EMBEDDINGS("F32", "[3,2]", "0", "9223372036854775807"), 24, DOPPEL_E_CORRUPT, "outside"},
        {EMBEDDINGS("F32", "[4611686018427387904,4]", "0", "0"), 24, DOPPEL_E_UNSUPPORTED, "shape"},
        {EMBEDDINGS("F32", "[4611686018427387904,1]", "0", "0"), 24, DOPPEL_E_CORRUPT, "0 bytes"},
        {EMBEDDINGS("F32", "[3,0]", "0", "0"), 24, DOPPEL_E_CORRUPT, "no rows"},
        {EMBEDDINGS("F32", "[0,2]", "0", "0"), 24, DOPPEL_E_CORRUPT, "no rows"},
        {EMBEDDINGS("F32", "[2,2]", "0", "16"), 24, DOPPEL_E_CORRUPT, "2 rows, but the tokenizer"},
        {EMBEDDINGS("F32", "[6,1]", "0", "24"), 24, DOPPEL_E_CORRUPT, "6 rows, but the tokenizer"},
    };
    struct made_folder folder;
    made_folder_begin(&folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_tensors(&folder, cases[i].header, ones, cases[i].size, cases[i].status,
                    cases[i].sentence);
    static const uint8_t huge[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    put_source(&folder, "source", GOOD_TOKENIZER, huge, sizeof huge);
    expect_refusal(&folder, "source", DOPPEL_E_FORMAT, "cut short");
    put_source(&folder, "source", GOOD_TOKENIZER, huge, 7);
    expect_refusal(&folder, "source", DOPPEL_E_FORMAT, "cut short");
    put_source(&folder, "source", GOOD_TOKENIZER, huge, 0);
    expect_refusal(&folder, "source", DOPPEL_E_FORMAT, "cut short");
    made_folder_remove(&folder);
}

static void test_numbers_that_are_none(void **state)
{
    (void)state;
    static const char header[] = EMBEDDINGS("F32", "[3,2]", "0", "24");
    const float bad[] = {NAN, INFINITY, -INFINITY};
    struct made_folder folder;
    made_folder_begin(&folder);
    for (size_t i = 0; i < 3; i++) {
        float numbers[6] = {1, 2, 3, 4, 5, 6};
        numbers[i * 2] = bad[i];
        try_tensors(&folder, header, numbers, sizeof numbers, DOPPEL_E_CORRUPT,
                    "of 'embeddings' is none");
    }
    static const float zeros[6];
    try_tensors(&folder, header, zeros, sizeof zeros, DOPPEL_E_CORRUPT, "all numbers");
    static const uint16_t halves[6] = {0x3c00, 0x3c00, 0x7c00, 0, 0, 0}; /* with an infinity */
    try_tensors(&folder, EMBEDDINGS("F16", "[3,2]", "0", "12"), halves, sizeof halves,
                DOPPEL_E_CORRUPT, "number 2 of 'embeddings'");
    made_folder_remove(&folder);
}

/* What belongs to tokens: as much as there are tokens, and rows that are there. */
static void test_wrong_mappings_and_weights(void **state)
{
    (void)state;
    static const float rows[4] = {1, 2, 3, 4}, weights[4] = {1, 2, NAN, 4};
    static const int32_t good[3] = {0, 1, 1}, beyond[3] = {0, 1, 2}, below[3] = {0, -1, 1};
    const struct made_tensor matrix = {"embeddings", "F32", 2, 2, rows, sizeof rows};
    const struct {
        struct made_tensor mapping, weights;
        enum doppel_status status;
        const char *sentence;
    } cases[] = {
        {{"mapping", "I32", 3, 0, beyond, 12},
         {"w", "F32", 3, 0, rows, 12},
         DOPPEL_E_CORRUPT,
         "token 2 row 2 of 2"},
        {{"mapping", "I32", 3, 0, below, 12},
         {"w", "F32", 3, 0, rows, 12},
         DOPPEL_E_CORRUPT,
         "token 1 row -1"},
        {{"mapping", "I32", 2, 0, good, 8},
         {"w", "F32", 3, 0, rows, 12},
         DOPPEL_E_CORRUPT,
         "'mapping' has 2 numbers, the tokenizer has 3"},
        {{"mapping", "F32", 3, 0, good, 12},
         {"w", "F32", 3, 0, rows, 12},
         DOPPEL_E_UNSUPPORTED,
         "'mapping' has no whole numbers"},
        {{"mapping", "I32", 3, 0, good, 12},
         {"weights", "F32", 4, 0, rows, 16},
         DOPPEL_E_CORRUPT,
         "'weights' has 4 numbers"},
        {{"mapping", "I32", 3, 0, good, 12},
         {"weights", "F32", 3, 0, weights, 12},
         DOPPEL_E_CORRUPT,
         "number 2 of 'weights'"},
        {{"mapping", "I32", 3, 0, good, 12},
         {"weights", "I32", 3, 0, good, 12},
         DOPPEL_E_UNSUPPORTED,
         "'weights' has no floats"},
    };
    struct made_folder folder;
    made_folder_begin(&folder);
    put_source(&folder, "source", GOOD_TOKENIZER, "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_tensor all[] = {matrix, cases[i].mapping, cases[i].weights};
        made_safetensors(made_path(&folder, "source/model.safetensors"), all, 3);
        expect_refusal(&folder, "source", cases[i].status, cases[i].sentence);
    }
    made_folder_remove(&folder);
}

#define WITH_NORMALIZER(json) "{\"normalizer\":" json "," GOOD_VOCAB "}"
#define WITH_SPLIT(json) "{\"pre_tokenizer\":" json "," GOOD_VOCAB "}"
#define WITH_ADDED(json) "{\"added_tokens\":[" json "]," GOOD_VOCAB "}"
#define WITH_MODEL(json) "{\"model\":" json "}"

struct odd_tokenizer {
    const char *tokenizer;
    enum doppel_status status;
    const char *sentence;
};

static const struct odd_tokenizer odd_models[] = {
    {"", DOPPEL_E_CORRUPT, "line 1"},
    {"[]", DOPPEL_E_CORRUPT, "no object"},
    {"{", DOPPEL_E_CORRUPT, "line 1"},
    {"{\"a\":1,\"a\":1}", DOPPEL_E_CORRUPT, "duplicate"},
    {"{}", DOPPEL_E_UNSUPPORTED, "model unnamed"},
    {WITH_MODEL("{\"type\":\"BPE\",\"vocab\":{\"a\":0}}"), DOPPEL_E_UNSUPPORTED, "model BPE"},
    {WITH_MODEL("{\"type\":\"WordPiece\"}"), DOPPEL_E_CORRUPT, "no tokens"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"vocab\":[1]}"), DOPPEL_E_CORRUPT, "no object"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}}"), DOPPEL_E_CORRUPT, "unk_token"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"b\",\"vocab\":{\"a\":0}}"),
     DOPPEL_E_CORRUPT, "unk_token is not in the vocabulary: b"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":1}}"),
     DOPPEL_E_CORRUPT, "beyond its tokens for a"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":-1}}"),
     DOPPEL_E_CORRUPT, "beyond its tokens for a"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":\"0\"}}"),
     DOPPEL_E_CORRUPT, "beyond its tokens for a"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":0}}"),
     DOPPEL_E_CORRUPT, "id of another token to b"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"a\":1}}"),
     DOPPEL_E_CORRUPT, "duplicate"},
    {WITH_MODEL("{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0},"
                "\"max_input_chars_per_word\":100000}"),
     DOPPEL_E_UNSUPPORTED, "max_input_chars_per_word"},
    {WITH_MODEL("{\"type\":\"Unigram\",\"vocab\":[[\"a\",0],[\"a\",1]]}"), DOPPEL_E_CORRUPT,
     "twice a"},
    {WITH_MODEL("{\"type\":\"Unigram\",\"vocab\":[[\"a\",0],[\"b\"]]}"), DOPPEL_E_CORRUPT, "pairs"},
    {WITH_MODEL("{\"type\":\"Unigram\",\"vocab\":[7]}"), DOPPEL_E_CORRUPT, "pairs"},
    {WITH_MODEL("{\"type\":\"Unigram\",\"unk_id\":1,\"vocab\":[[\"a\",0]]}"), DOPPEL_E_CORRUPT,
     "unk_id is beyond"},
    {WITH_MODEL("{\"type\":\"Unigram\",\"byte_fallback\":true,\"vocab\":[[\"a\",0]]}"),
     DOPPEL_E_UNSUPPORTED, "byte_fallback"},
    {WITH_MODEL("{\"type\":\"Unigram\",\"vocab\":[[\"a\\u0000\",0]]}"), DOPPEL_E_UNSUPPORTED,
     "NUL"},
};

static const struct odd_tokenizer odd_steps[] = {
    {WITH_NORMALIZER("{\"type\":\"ByteLevel\"}"), DOPPEL_E_UNSUPPORTED, "the normalizer ByteLevel"},
    {WITH_NORMALIZER("{}"), DOPPEL_E_UNSUPPORTED, "the normalizer without a type"},
    {WITH_NORMALIZER("7"), DOPPEL_E_UNSUPPORTED, "the normalizer without a type"},
    {WITH_NORMALIZER("{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},"
                     "{\"type\":\"New\"}]}"),
     DOPPEL_E_UNSUPPORTED, "the normalizer New"},
    {WITH_NORMALIZER("{\"type\":\"Sequence\"}"), DOPPEL_E_UNSUPPORTED, "without members"},
    {WITH_NORMALIZER("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[a-z]\"},"
                     "\"content\":\"\"}"),
     DOPPEL_E_UNSUPPORTED, "the normalizer Replace, [a-z]"},
    {WITH_NORMALIZER("{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"\"}"),
     DOPPEL_E_UNSUPPORTED, "lacks its pattern"},
    {WITH_NORMALIZER("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"!\"}"), DOPPEL_E_CORRUPT,
     "Precompiled is damaged"},
    {WITH_NORMALIZER("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"////fwAAAAA=\"}"),
     DOPPEL_E_CORRUPT, "Precompiled is damaged"},
    {WITH_SPLIT("{\"type\":\"ByteLevel\"}"), DOPPEL_E_UNSUPPORTED, "the pre_tokenizer ByteLevel"},
    {WITH_SPLIT("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"}}"), DOPPEL_E_UNSUPPORTED,
     "the pre_tokenizer Split"},
    {WITH_SPLIT("{\"type\":\"Punctuation\",\"behavior\":\"Removed\"}"), DOPPEL_E_UNSUPPORTED,
     "Punctuation, Removed"},
    {WITH_SPLIT("{\"type\":\"Metaspace\",\"replacement\":\"\"}"), DOPPEL_E_UNSUPPORTED,
     "lacks its sign"},
    {WITH_SPLIT("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"x\"}"),
     DOPPEL_E_UNSUPPORTED, "Metaspace, x"},
    {WITH_ADDED("{\"content\":\"the\",\"id\":2}"), DOPPEL_E_CORRUPT,
     "two ids are those of the added token the"},
    {WITH_ADDED("{\"content\":\"new\",\"id\":1}"), DOPPEL_E_CORRUPT, "another token to new"},
    {WITH_ADDED("{\"content\":\"new\",\"id\":4}"), DOPPEL_E_CORRUPT, "beyond its tokens"},
    {WITH_ADDED("{\"content\":\"new\"}"), DOPPEL_E_CORRUPT, "lacks its content or id"},
    {WITH_ADDED("7"), DOPPEL_E_CORRUPT, "lacks its content or id"},
    {"{\"truncation\":{\"direction\":\"Left\",\"max_length\":9}," GOOD_VOCAB "}",
     DOPPEL_E_UNSUPPORTED, "truncation to the Left"},
    {"{\"truncation\":{\"direction\":\"Right\",\"max_length\":0}," GOOD_VOCAB "}",
     DOPPEL_E_UNSUPPORTED, "no tokens"},
};

static void expect_refusals(const struct odd_tokenizer *cases, size_t count)
{
    struct made_folder folder;
    static const float rows[6] = {1, 2, 3, 4, 5, 6};
    made_folder_begin(&folder);
    for (size_t i = 0; i < count; i++) {
        put_source(&folder, "source", cases[i].tokenizer, "", 0);
        struct made_tensor matrix = {"embeddings", "F32", 3, 2, rows, sizeof rows};
        made_safetensors(made_path(&folder, "source/model.safetensors"), &matrix, 1);
        expect_refusal(&folder, "source", cases[i].status, cases[i].sentence);
    }
    made_folder_remove(&folder);
}

static void test_tokenizers_that_are_not_understood(void **state)
{
    (void)state;
    expect_refusals(odd_models, sizeof odd_models / sizeof *odd_models);
    expect_refusals(odd_steps, sizeof odd_steps / sizeof *odd_steps);
}

/* ---- files of models ---- */

static void open_and_embed(const struct made_folder *folder)
{
    struct doppel_model *model;
    struct doppel_error error = {0};
    if (doppel_model_open(&(struct doppel_model_open_options){folder->path, "m", false}, &model,
                          &error)) {
        assert_true(error.message[0]);
        return;
    }
    static const char *const texts[] = {"the files of a system", "caf\xC3\xA9 [MASK]", "12 is not",
                                        "\xE4\xB8\xAD\xE6\x96\x87 <mask> \xF0\x9F\x98\x80"};
    float *rows = malloc(4 * doppel_model_info(model)->dimension * sizeof *rows);
    enum doppel_status status =
        doppel_model_embed(model, &(struct doppel_model_texts){texts, NULL, 4}, rows, NULL, &error);
    assert_true(status == DOPPEL_OK || status == DOPPEL_E_CORRUPT);
    free(rows);
    doppel_model_free(model);
}

/* The head's own digest fits again, as an attacker's would. */
static void settle_head(uint8_t *bytes)
{
    struct doppel_digest digest = doppel_digest_bytes(bytes, MODEL_HEAD_BYTES - 16);
    memcpy(bytes + MODEL_HEAD_BYTES - 16, digest.bytes, 16);
}

static char *made_compiled(const struct made_folder *folder, const char *name, size_t *out_size)
{
    struct made_model made;
    const char *tokenizer = made_data(name, ".tokenizer.json");
    made_model_begin(&made, tokenizer, 8, true);
    made_model_write(&made, tokenizer, made_path(folder, "m"));
    made_model_end(&made);
    doppel_model_remove(folder->path, "m", NULL);
    doppel_model_free(made_model_open(folder, made_path(folder, "m"), "a: ", false));
    return made_read(made_path(folder, "m.model"), out_size);
}

static void test_damaged_files_do_no_harm(void **state)
{
    (void)state;
    static const char *const names[] = {"bert", "unigram", "bert_accents", "unigram_first"};
    struct made_folder folder;
    uint64_t random = 7;
    made_folder_begin(&folder);
    for (size_t n = 0; n < 4; n++) {
        size_t size;
        char *bytes = made_compiled(&folder, names[n], &size), *changed = malloc(size);
        const char *path = made_path(&folder, "m.model");
        for (int i = 0; i < 400; i++) {
            memcpy(changed, bytes, size);
            size_t end = i % 8 ? size : (size_t)((made_random(&random) + 1) / 2 * (float)size);
            for (int j = 0; j <= i % 50; j++) {
                size_t range = i % 3 ? size : MODEL_HEAD_BYTES;
                size_t at = (size_t)((made_random(&random) + 1) / 2 * (float)range);
                changed[at < size ? at : 0] = (char)(made_random(&random) * 128);
            }
            settle_head((uint8_t *)changed);
            made_file(path, changed, end);
            open_and_embed(&folder);
        }
        free(changed);
        free(bytes);
    }
    made_folder_remove(&folder);
}

struct listed_models {
    size_t good, bad;
};

static bool count_listed(void *context, const struct doppel_model_info *info, const char *problem)
{
    struct listed_models *listed = context;
    assert_string_equal(info->name, "m");
    listed->good += !problem;
    listed->bad += problem && strstr(problem, "damaged");
    return true;
}

/* A changed byte anywhere is seen by the list; of the head also when it is opened. */
static void test_the_list_checks_every_byte(void **state)
{
    (void)state;
    struct made_folder folder;
    size_t size;
    made_folder_begin(&folder);
    char *bytes = made_compiled(&folder, "unigram", &size);
    for (size_t at = 8; at < size; at += at < 512 ? 37 : 997) {
        struct listed_models listed = {0};
        if ((at >= 8 && at < 12) || (at >= MODEL_HEAD_BYTES && at < MODEL_PAGE))
            continue; /* the version; bytes of no meaning */
        bytes[at] ^= 0x10;
        made_file(made_path(&folder, "m.model"), bytes, size);
        bytes[at] ^= 0x10;
        assert_int_equal(doppel_models_list(folder.path, count_listed, &listed, NULL), DOPPEL_OK);
        assert_int_equal(listed.bad, 1);
    }
    struct listed_models listed = {0};
    made_file(made_path(&folder, "m.model"), bytes, size);
    assert_int_equal(doppel_models_list(folder.path, count_listed, &listed, NULL), DOPPEL_OK);
    assert_int_equal(listed.good, 1);
    free(bytes);
    made_folder_remove(&folder);
}

static void test_other_files_are_no_models(void **state)
{
    (void)state;
    struct made_folder folder;
    struct doppel_model *model;
    struct doppel_error error;
    size_t size;
    made_folder_begin(&folder);
    char *bytes = made_compiled(&folder, "bert", &size);
    const struct doppel_model_open_options options = {folder.path, "m", false};
    bytes[8] = 9;
    made_file(made_path(&folder, "m.model"), bytes, size);
    assert_int_equal(doppel_model_open(&options, &model, &error), DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "another version"));
    bytes[0] = 'x';
    made_file(made_path(&folder, "m.model"), bytes, size);
    assert_int_equal(doppel_model_open(&options, &model, &error), DOPPEL_E_FORMAT);
    made_file(made_path(&folder, "m.model"), bytes, 0);
    assert_int_equal(doppel_model_open(&options, &model, &error), DOPPEL_E_FORMAT);
    free(bytes);
    made_folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_tensors),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_wrong_mappings_and_weights),
        cmocka_unit_test(test_tokenizers_that_are_not_understood),
        cmocka_unit_test(test_damaged_files_do_no_harm),
        cmocka_unit_test(test_the_list_checks_every_byte),
        cmocka_unit_test(test_other_files_are_no_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
