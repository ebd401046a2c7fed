/* Vectors of texts, against means that are summed slowly in double precision. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "made_model.h"

enum { MOST_TOKENS = 600 };

struct embed_case {
    const char *tokenizer;
    uint32_t dimension;
    bool mapped;
};

static const struct embed_case cases[] = {
    {"bert", 1, false},    {"bert", 63, false},    {"bert", 64, true},
    {"bert", 256, true},   {"unigram", 65, false}, {"unigram_spaced", 300, true},
    {"bert", 1000, false}, {"bert", 4096, false},  {"word_level", 128, false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* A folder with one model, and what it was made of. */
struct embed_world {
    struct made_folder folder;
    struct made_model made;
    struct doppel_model *model;
};

static void world_begin(struct embed_world *world, const struct embed_case *one, const char *prefix,
                        bool exact)
{
    const char *tokenizer = made_data(one->tokenizer, ".tokenizer.json");
    made_folder_begin(&world->folder);
    const char *source = made_path(&world->folder, "model");
    made_model_begin(&world->made, tokenizer, one->dimension, one->mapped);
    made_model_write(&world->made, tokenizer, source);
    world->model = made_model_open(&world->folder, source, prefix, exact);
}

static void world_end(struct embed_world *world)
{
    doppel_model_free(world->model);
    made_model_end(&world->made);
    made_folder_remove(&world->folder);
}

static enum doppel_status embed_one(const struct doppel_model *model, const char *text, size_t size,
                                    float *out)
{
    enum doppel_status each;
    struct doppel_model_texts texts = {&text, &size, 1};
    assert_int_equal(doppel_model_embed(model, &texts, out, &each, NULL), DOPPEL_OK);
    return each;
}

/* ---- the reference ---- */

/* @return false: there is no vector */
static bool slow_vector(const struct embed_world *world, const char *text, size_t size, double *out)
{
    const struct made_model *made = &world->made;
    uint32_t ids[MOST_TOKENS];
    size_t count;
    double squares = 0;
    doppel_model_tokenize(world->model, text, size, ids, MOST_TOKENS, &count, NULL);
    memset(out, 0, made->dimension * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        size_t row = made->mapping ? (size_t)made->mapping[ids[i]] : ids[i];
        double weight = made->weights ? made->weights[ids[i]] : 1;
        for (uint32_t d = 0; d < made->dimension; d++)
            out[d] += weight * made->matrix[row * made->dimension + d] / (double)count;
    }
    for (uint32_t d = 0; d < made->dimension; d++)
        squares += out[d] * out[d];
    for (uint32_t d = 0; d < made->dimension && squares > 0; d++)
        out[d] /= sqrt(squares);
    return squares > 0;
}

static void check_exact(const struct embed_world *world, const char *text, size_t size)
{
    double want[4096];
    float got[4096];
    bool there = slow_vector(world, text, size, want);
    enum doppel_status status = embed_one(world->model, text, size, got);
    if (status == DOPPEL_E_TOO_SHORT) /* of Unigram also what has unknown tokens alone */
        memset(want, 0, sizeof want);
    assert_true(there || status == DOPPEL_E_TOO_SHORT);
    for (uint32_t d = 0; d < world->made.dimension; d++)
        if (fabs(got[d] - want[d]) > 1e-5)
            fail_msg("'%s': number %u is %g, not %g", text, d, (double)got[d], want[d]);
}

static void test_exact_vectors_are_within_1e_5(void **state)
{
    (void)state;
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    for (size_t c = 0; c < CASES; c++) {
        struct embed_world world;
        world_begin(&world, &cases[c], NULL, true);
        for (size_t i = 0; i < count; i++)
            check_exact(&world, texts[i], sizes[i]);
        world_end(&world);
    }
    made_texts_free(texts, sizes, count);
}

static void test_rows_of_8_bits_are_near(void **state)
{
    (void)state;
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    for (size_t c = 0; c < CASES; c++) {
        struct embed_world world;
        world_begin(&world, &cases[c], NULL, false);
        for (size_t i = 0; i < count; i++) {
            double want[4096], cosine = 0;
            float got[4096];
            slow_vector(&world, texts[i], sizes[i], want);
            if (embed_one(world.model, texts[i], sizes[i], got))
                continue;
            for (uint32_t d = 0; d < world.made.dimension; d++)
                cosine += got[d] * want[d];
            assert_true(cosine > .999);
        }
        world_end(&world);
    }
    made_texts_free(texts, sizes, count);
}

/* ---- what always holds ---- */

static void test_vectors_have_length_1_or_none(void **state)
{
    (void)state;
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    struct embed_world world;
    float got[256];
    world_begin(&world, &cases[3], NULL, false);
    for (size_t i = 0; i < count; i++) {
        double squares = 0;
        enum doppel_status status = embed_one(world.model, texts[i], sizes[i], got);
        for (size_t d = 0; d < 256; d++)
            squares += got[d] * got[d];
        assert_true(fabs(squares - (status ? 0 : 1)) < 1e-5);
    }
    assert_int_equal(embed_one(world.model, "", 0, got), DOPPEL_E_TOO_SHORT);
    assert_int_equal(embed_one(world.model, " \n ", 3, got), DOPPEL_E_TOO_SHORT);
    assert_int_equal(embed_one(world.model, "\xF0\x9F\x98\x80", 4, got), DOPPEL_E_TOO_SHORT);
    world_end(&world);
    made_texts_free(texts, sizes, count);
}

static void test_unknown_characters_alone_are_too_short(void **state)
{
    (void)state;
    struct embed_world world;
    float got[65];
    world_begin(&world, &cases[4], NULL, false);
    assert_int_equal(embed_one(world.model, "\xF0\x9F\x98\x80", 4, got), DOPPEL_OK); /* after a ▁ */
    world_end(&world);
    world_begin(&world, &cases[5], NULL, false);
    float none[300];
    assert_int_equal(embed_one(world.model, "", 0, none), DOPPEL_E_TOO_SHORT);
    world_end(&world);
}

/* Many texts at once are each as they are alone, in whatever order they come. */
static void test_texts_do_not_touch_each_other(void **state)
{
    (void)state;
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    struct embed_world world;
    enum { D = 256 };
    world_begin(&world, &cases[3], NULL, false);
    const char **turned = malloc(count * sizeof *turned);
    size_t *turned_sizes = malloc(count * sizeof *turned_sizes);
    enum doppel_status *each = malloc(2 * count * sizeof *each);
    float *rows = malloc(2 * count * D * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        turned[i] = texts[count - 1 - i];
        turned_sizes[i] = sizes[count - 1 - i];
    }
    struct doppel_model_texts one = {(const char *const *)texts, sizes, count};
    struct doppel_model_texts other = {turned, turned_sizes, count};
    assert_int_equal(doppel_model_embed(world.model, &one, rows, each, NULL), 0);
    assert_int_equal(doppel_model_embed(world.model, &other, rows + count * D, each + count, NULL),
                     0);
    for (size_t i = 0; i < count; i++) {
        float alone[D];
        size_t j = 2 * count - 1 - i;
        assert_int_equal(embed_one(world.model, texts[i], sizes[i], alone), each[i]);
        assert_int_equal(each[i], each[j]);
        assert_memory_equal(rows + i * D, alone, sizeof alone);
        assert_memory_equal(rows + i * D, rows + j * D, sizeof alone);
    }
    free(rows);
    free(each);
    free(turned);
    free(turned_sizes);
    world_end(&world);
    made_texts_free(texts, sizes, count);
}

static void test_the_order_of_words_does_not_count(void **state)
{
    (void)state;
    struct embed_world world;
    float a[256], b[256];
    world_begin(&world, &cases[3], NULL, true);
    embed_one(world.model, "the of and to in", 16, a);
    embed_one(world.model, "in to and of the", 16, b);
    for (size_t d = 0; d < 256; d++)
        assert_true(fabsf(a[d] - b[d]) < 1e-6f);
    world_end(&world);
}

static void test_a_prefix_stands_before_every_text(void **state)
{
    (void)state;
    struct embed_world plain, prefixed;
    float a[256], b[256];
    world_begin(&plain, &cases[3], NULL, false);
    world_begin(&prefixed, &cases[3], "the of: ", false);
    const struct doppel_model_info *info = doppel_model_info(prefixed.model);
    assert_string_equal(info->prefix, "the of: ");
    assert_string_not_equal(info->revision, doppel_model_info(plain.model)->revision);
    assert_int_equal(embed_one(plain.model, "the of: and to", 14, a), 0);
    assert_int_equal(embed_one(prefixed.model, "and to", 6, b), 0);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(embed_one(prefixed.model, "", 0, b), DOPPEL_E_TOO_SHORT);
    assert_int_equal(embed_one(prefixed.model, " \xF0\x9F\x98\x80", 5, b), DOPPEL_E_TOO_SHORT);
    world_end(&plain);
    world_end(&prefixed);
}

/* model2vec looks at 512 tokens, and before that at 512 times the median of their lengths. */
static void test_long_texts_are_cut(void **state)
{
    (void)state;
    struct embed_world world;
    float a[256], b[256];
    char text[8192];
    uint32_t ids[MOST_TOKENS];
    size_t count;
    world_begin(&world, &cases[3], NULL, false);
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "a ", 2);
    doppel_model_tokenize(world.model, text, 4000, ids, MOST_TOKENS, &count, NULL);
    assert_int_equal(count, 512);
    embed_one(world.model, text, 1024, a);
    memset(text + 1024, 'b', 3000);
    embed_one(world.model, text, 4024, b);
    assert_memory_equal(a, b, sizeof a);
    memset(text, ' ', sizeof text);
    memcpy(text + 8000, "the", 3);
    assert_int_equal(embed_one(world.model, text, 8003, a), DOPPEL_E_TOO_SHORT);
    world_end(&world);
}

/* ---- processors and threads ---- */

static void test_every_kernel_gives_the_same_bits(void **state)
{
    (void)state;
    static const uint32_t masks[] = {0, CPU_AVX2, UINT32_MAX};
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    for (size_t c = 0; c < CASES; c++)
        for (int exact = 0; exact < 2; exact++) {
            float *rows[3];
            for (size_t m = 0; m < 3; m++) {
                struct embed_world world;
                struct doppel_model_texts all = {(const char *const *)texts, sizes, count};
                size_t numbers = count * cases[c].dimension;
                rows[m] = malloc(numbers * sizeof *rows[m]);
                cpu_mask(masks[m]);
                world_begin(&world, &cases[c], NULL, exact);
                assert_int_equal(doppel_model_embed(world.model, &all, rows[m], NULL, NULL), 0);
                world_end(&world);
                assert_memory_equal(rows[m], rows[0], numbers * sizeof *rows[m]);
            }
            for (size_t m = 0; m < 3; m++)
                free(rows[m]);
        }
    cpu_mask(UINT32_MAX);
    made_texts_free(texts, sizes, count);
}

struct embed_thread {
    const struct doppel_model *model;
    const struct doppel_model_texts *texts;
    float *rows;
};

static void *embed_all(void *context)
{
    struct embed_thread *thread = context;
    for (int i = 0; i < 5; i++)
        doppel_model_embed(thread->model, thread->texts, thread->rows, NULL, NULL);
    return NULL;
}

static void test_threads_share_a_model(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    size_t *sizes, count;
    char **texts = made_texts(&sizes, &count);
    struct embed_world world;
    pthread_t threads[THREADS];
    struct embed_thread contexts[THREADS];
    world_begin(&world, &cases[5], NULL, false);
    struct doppel_model_texts all = {(const char *const *)texts, sizes, count};
    size_t bytes = count * 300 * sizeof(float);
    for (int i = 0; i < THREADS; i++) {
        contexts[i] = (struct embed_thread){world.model, &all, malloc(bytes)};
        assert_int_equal(pthread_create(&threads[i], NULL, embed_all, &contexts[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_memory_equal(contexts[i].rows, contexts[0].rows, bytes);
    }
    for (int i = 0; i < THREADS; i++)
        free(contexts[i].rows);
    world_end(&world);
    made_texts_free(texts, sizes, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_vectors_are_within_1e_5),
        cmocka_unit_test(test_rows_of_8_bits_are_near),
        cmocka_unit_test(test_vectors_have_length_1_or_none),
        cmocka_unit_test(test_unknown_characters_alone_are_too_short),
        cmocka_unit_test(test_texts_do_not_touch_each_other),
        cmocka_unit_test(test_the_order_of_words_does_not_count),
        cmocka_unit_test(test_a_prefix_stands_before_every_text),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_every_kernel_gives_the_same_bits),
        cmocka_unit_test(test_threads_share_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
