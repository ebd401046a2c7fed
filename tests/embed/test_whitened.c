/* Whitened models: learned, kept, opened, and what is wrong with their files and their bases.
 * Services: embeddings.py of tests/cli. */
#include <math.h>
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

#include "made_model.h"

enum { DIMENSION = 12 };

/* A model "base", the texts of the data, and their vectors by it. */
struct whitened_world {
    struct made_folder folder;
    char **texts;
    size_t *sizes, count;
    float *rows;
    enum doppel_status *each;
    float *known; /* those that there are */
    size_t known_count;
};

static void add_base(const struct whitened_world *world, const char *source, uint64_t seed,
                     const char *prefix)
{
    const char *tokenizer = made_data("bert", ".tokenizer.json");
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_model_info info;
    struct made_model made;
    const char *path = made_path(&world->folder, source);
    made_model_begin(&made, tokenizer, DIMENSION, false);
    for (size_t i = 0; seed && i < (size_t)made.rows * DIMENSION; i++)
        made.matrix[i] = made_random(&seed);
    made_model_write(&made, tokenizer, path);
    made_model_end(&made);
    add.folder = world->folder.path;
    add.source = path;
    add.name = "base";
    add.prefix = prefix;
    assert_int_equal(doppel_model_add(&add, &info, NULL), DOPPEL_OK);
}

static enum doppel_status open_named(const struct whitened_world *world, const char *name,
                                     struct doppel_embedder **out, struct doppel_error *error)
{
    struct doppel_embedder_options options = doppel_embedder_options_default();
    options.folder = world->folder.path;
    options.name = name;
    return doppel_embedder_open(&options, out, error);
}

static struct doppel_embedder *must_open(const struct whitened_world *world, const char *name)
{
    struct doppel_embedder *embedder = NULL;
    struct doppel_error error = {0};
    if (open_named(world, name, &embedder, &error))
        fail_msg("%s: %s", name, error.message);
    return embedder;
}

static void begin_whitened_world(struct whitened_world *world, const char *prefix)
{
    *world = (struct whitened_world){0};
    made_folder_begin(&world->folder);
    add_base(world, "source", 0, prefix);
    world->texts = made_texts(&world->sizes, &world->count);
    world->rows = calloc(world->count * DIMENSION, sizeof *world->rows);
    world->known = calloc(world->count * DIMENSION, sizeof *world->known);
    world->each = calloc(world->count, sizeof *world->each);
    struct doppel_embedder *base = must_open(world, "base");
    const struct doppel_model_texts texts = {(const char *const *)world->texts, world->sizes,
                                             world->count};
    assert_int_equal(doppel_embedder_embed(base, &texts, world->rows, world->each, NULL),
                     DOPPEL_OK);
    for (size_t i = 0; i < world->count; i++)
        if (!world->each[i])
            memcpy(world->known + world->known_count++ * DIMENSION, world->rows + i * DIMENSION,
                   DIMENSION * sizeof *world->rows);
    assert_true(world->known_count > 4 * DIMENSION);
    doppel_embedder_free(base);
}

static void end_whitened_world(struct whitened_world *world)
{
    made_texts_free(world->texts, world->sizes, world->count);
    free(world->rows);
    free(world->known);
    free(world->each);
    made_folder_remove(&world->folder);
}

/* Of the first `count` vectors. */
static enum doppel_status whiten_base(const struct whitened_world *world, const char *name,
                                      size_t count, struct doppel_model_info *out,
                                      struct doppel_error *error)
{
    const struct doppel_vectors vectors = {world->known, count, DIMENSION};
    struct doppel_model_whiten_options options = doppel_model_whiten_options_default();
    struct doppel_embedder *base = must_open(world, "base");
    options.folder = world->folder.path;
    options.name = name;
    options.base = base;
    options.vectors = &vectors;
    const enum doppel_status status = doppel_model_whiten(&options, out, error);
    doppel_embedder_free(base);
    return status;
}

static struct doppel_model_info must_whiten(const struct whitened_world *world, const char *name,
                                            size_t count)
{
    struct doppel_model_info info;
    struct doppel_error error = {0};
    if (whiten_base(world, name, count, &info, &error))
        fail_msg("%s: %s", name, error.message);
    return info;
}

/* ---- vectors ---- */

/* As whoever whitens in memory has them, but of length 1: the same bits. */
static void test_vectors_are_whitened(void **state)
{
    (void)state;
    static const char *const prefixes[] = {NULL, "query: "};
    for (size_t p = 0; p < 2; p++) {
        struct whitened_world world;
        begin_whitened_world(&world, prefixes[p]);
        must_whiten(&world, "white", world.known_count);
        struct doppel_embedder *white = must_open(&world, "white");
        const struct doppel_vectors learned = {world.known, world.known_count, DIMENSION};
        const struct doppel_model_texts texts = {(const char *const *)world.texts, world.sizes,
                                                 world.count};
        float *rows = calloc(world.count * DIMENSION, sizeof *rows), wanted[DIMENSION];
        enum doppel_status *each = calloc(world.count, sizeof *each);
        struct doppel_vector_whitening *whitening = NULL;
        assert_int_equal(doppel_vector_whitening_make(&learned, &whitening, NULL), DOPPEL_OK);
        assert_int_equal(doppel_embedder_embed(white, &texts, rows, each, NULL), DOPPEL_OK);
        assert_memory_equal(each, world.each, world.count * sizeof *each);
        for (size_t i = 0; i < world.count; i++) {
            const float *row = world.rows + i * DIMENSION;
            double squares = 0;
            assert_true(doppel_vector_whiten(whitening, row, wanted));
            for (size_t j = 0; j < DIMENSION; j++)
                squares += (double)wanted[j] * (double)wanted[j];
            for (size_t j = 0; j < DIMENSION; j++)
                wanted[j] = squares > 0 ? wanted[j] * (float)(1 / sqrt(squares)) : 0;
            assert_memory_equal(rows + i * DIMENSION, wanted, sizeof wanted);
        }
        const struct doppel_embedder_usage usage = doppel_embedder_usage(white);
        assert_int_equal(usage.embedded, world.known_count);
        assert_int_equal(usage.too_short, world.count - world.known_count);
        assert_true(doppel_embedder_is_whitened(white));
        assert_null(doppel_embedder_probe(white));
        doppel_vector_whitening_free(whitening);
        doppel_embedder_free(white);
        free(rows);
        free(each);
        end_whitened_world(&world);
    }
}

/* ---- identities ---- */

static void test_whitened_models_never_meet_others(void **state)
{
    (void)state;
    struct whitened_world world;
    begin_whitened_world(&world, "query: ");
    static const struct {
        const char *name;
        size_t left_out;
    } made[] = {{"one", 0}, {"two", 1}, {"one-again", 0}};
    struct doppel_embedder_identity identities[4];
    for (size_t i = 0; i < 4; i++) {
        if (i)
            must_whiten(&world, made[i - 1].name, world.known_count - made[i - 1].left_out);
        struct doppel_embedder *embedder = must_open(&world, i ? made[i - 1].name : "base");
        identities[i] = *doppel_embedder_identity(embedder);
        assert_int_equal(doppel_embedder_is_whitened(embedder), i > 0);
        assert_string_equal(identities[i].name, i ? made[i - 1].name : "base");
        assert_string_equal(identities[i].prefix, "query: ");
        for (size_t j = strlen(identities[i].name); j < sizeof identities[i].name; j++)
            assert_int_equal(identities[i].name[j], 0);
        doppel_embedder_free(embedder);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            const bool same = i == j || (i % 2 && j % 2);
            assert_int_equal(doppel_embedder_check_identity(&identities[i], &identities[j], NULL),
                             same ? DOPPEL_OK : DOPPEL_E_VERSION);
        }
    end_whitened_world(&world);
}

/* ---- the folder ---- */

static bool note_listed(void *context, const struct doppel_model_info *info, const char *problem)
{
    char *text = context;
    sprintf(text + strlen(text), "%s %s %s %d%s\n", info->name,
            doppel_model_tokens_name(info->tokens), info->base, (int)info->learned_from,
            problem ? " damaged" : "");
    return true;
}

static void test_the_folder_knows_them(void **state)
{
    (void)state;
    struct whitened_world world;
    struct doppel_error error;
    struct doppel_model_info info;
    char listed[256] = "", wanted[256];
    begin_whitened_world(&world, NULL);
    const int count = (int)world.known_count;
    info = must_whiten(&world, "white", world.known_count);
    assert_string_equal(info.base, "base");
    assert_false(info.of_service);
    assert_int_equal(info.learned_from, count);
    must_whiten(&world, "white", world.known_count); /* which is there */
    assert_int_equal(whiten_base(&world, "white", world.known_count - 1, &info, &error),
                     DOPPEL_E_BUSY);
    assert_int_equal(whiten_base(&world, "base", world.known_count, &info, &error), DOPPEL_E_BUSY);
    assert_non_null(strstr(error.message, "there is another model 'base'"));
    assert_int_equal(doppel_models_list(world.folder.path, note_listed, listed, NULL), DOPPEL_OK);
    sprintf(wanted, "base word-pieces  0\nwhite whitened base %d\n", count);
    assert_string_equal(listed, wanted);
    struct stat stamp;
    assert_int_equal(stat(made_path(&world.folder, "white.model"), &stamp), 0);
    assert_true(stamp.st_size < 600);
    assert_int_equal(doppel_model_remove(world.folder.path, "white", NULL), DOPPEL_OK);
    must_whiten(&world, "white", world.known_count - 1);
    end_whitened_world(&world);
}

static void test_what_cannot_be_whitened(void **state)
{
    (void)state;
    struct whitened_world world;
    struct doppel_error error;
    struct doppel_model_info info;
    begin_whitened_world(&world, NULL);
    must_whiten(&world, "white", world.known_count);
    struct doppel_embedder *white = must_open(&world, "white"), *base = must_open(&world, "base");
    struct doppel_vectors vectors = {world.known, world.known_count, DIMENSION};
    struct doppel_model_whiten_options options = {world.folder.path, "new", white, &vectors};
    assert_int_equal(doppel_model_whiten(&options, &info, &error), DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, "of 'white' are whitened already"));
    options.base = base;
    options.name = "a/b";
    assert_int_equal(doppel_model_whiten(&options, &info, &error), DOPPEL_E_ARGUMENT);
    options.name = "new";
    vectors.dimension = DIMENSION / 2;
    assert_int_equal(doppel_model_whiten(&options, &info, &error), DOPPEL_E_ARGUMENT);
    vectors.dimension = DIMENSION;
    vectors.count = DIMENSION - 1;
    assert_int_equal(doppel_model_whiten(&options, &info, &error), DOPPEL_E_EMPTY);
    assert_non_null(strstr(error.message, "too few"));
    vectors.count = world.known_count;
    world.known[7] = NAN;
    assert_int_equal(doppel_model_whiten(&options, &info, &error), DOPPEL_E_FORMAT);
    options.folder = "";
    assert_int_equal(doppel_model_whiten(&options, &info, &error), DOPPEL_E_ARGUMENT);
    assert_int_not_equal(access(made_path(&world.folder, "new.model"), F_OK), 0);
    doppel_embedder_free(white);
    doppel_embedder_free(base);
    end_whitened_world(&world);
}

/* ---- what is wrong with the base ---- */

static void test_a_base_that_is_gone_or_another(void **state)
{
    (void)state;
    struct whitened_world world;
    struct doppel_embedder *embedder = NULL;
    struct doppel_error error;
    size_t size;
    begin_whitened_world(&world, NULL);
    must_whiten(&world, "white", world.known_count);
    const char *path = made_path(&world.folder, "base.model");
    char *bytes = made_read(path, &size);
    bytes[size - 100] ^= 1;
    made_file(path, bytes, size);
    assert_int_equal(open_named(&world, "white", &embedder, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "'base' is damaged: remove it"));
    free(bytes);
    assert_int_equal(doppel_model_remove(world.folder.path, "base", NULL), DOPPEL_OK);
    assert_int_equal(open_named(&world, "white", &embedder, &error), DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "add that one again"));
    add_base(&world, "other", 77, NULL);
    assert_int_equal(open_named(&world, "white", &embedder, &error), DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "'doppel model whiten'"));
    assert_int_equal(doppel_model_remove(world.folder.path, "base", NULL), DOPPEL_OK);
    add_base(&world, "again", 0, "passage: ");
    assert_int_equal(open_named(&world, "white", &embedder, &error), DOPPEL_E_VERSION);
    assert_int_equal(doppel_model_remove(world.folder.path, "base", NULL), DOPPEL_OK);
    add_base(&world, "same", 0, NULL);
    doppel_embedder_free(must_open(&world, "white"));
    struct doppel_endpoint_options endpoint = doppel_endpoint_options_default();
    struct doppel_embedder_options options = {.folder = world.folder.path, .endpoint = &endpoint};
    endpoint.url = "http://127.0.0.1:1";
    endpoint.model = "white";
    assert_int_equal(doppel_embedder_open(&options, &embedder, &error), DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, "no service has it"));
    assert_null(embedder);
    end_whitened_world(&world);
}

/* ---- damage ---- */

/* Every byte, and every length: it is refused, and a sentence says why. */
static void test_damaged_files_are_refused(void **state)
{
    (void)state;
    struct whitened_world world;
    struct doppel_embedder *embedder = NULL;
    size_t size;
    begin_whitened_world(&world, NULL);
    must_whiten(&world, "white", world.known_count);
    const char *path = made_path(&world.folder, "white.model");
    char *bytes = made_read(path, &size);
    for (size_t i = 0; i < size; i++) {
        struct doppel_error error = {0};
        bytes[i] ^= 0x10;
        made_file(path, bytes, size);
        const enum doppel_status status = open_named(&world, "white", &embedder, &error);
        assert_int_equal(status, i < 8    ? DOPPEL_E_FORMAT
                                 : i < 12 ? DOPPEL_E_VERSION
                                          : DOPPEL_E_CORRUPT);
        assert_non_null(strstr(error.message, "white.model: "));
        bytes[i] ^= 0x10;
        made_file(path, bytes, i);
        assert_int_not_equal(open_named(&world, "white", &embedder, &error), DOPPEL_OK);
    }
    bytes[size / 2] ^= 1;
    made_file(path, bytes, size);
    char listed[256] = "";
    assert_int_equal(doppel_models_list(world.folder.path, note_listed, listed, NULL), DOPPEL_OK);
    assert_non_null(strstr(listed, "white unknown  0 damaged"));
    must_whiten(&world, "white", world.known_count); /* what is of no use is replaced */
    doppel_embedder_free(must_open(&world, "white"));
    free(bytes);
    end_whitened_world(&world);
}

/* A file that is whole, with numbers that no sum can hold. */
static void test_huge_numbers_give_no_vector(void **state)
{
    (void)state;
    struct whitened_world world;
    struct doppel_error error;
    size_t size;
    begin_whitened_world(&world, NULL);
    must_whiten(&world, "white", world.known_count);
    const char *path = made_path(&world.folder, "white.model");
    char *bytes = made_read(path, &size);
    const size_t count = doppel_vector_whitening_size(DIMENSION), at = size - 16 - 4 * count;
    const float huge = 3e38F;
    uint8_t *summed = malloc(16 + 4 * count);
    for (size_t i = DIMENSION; i < count; i++)
        memcpy(bytes + at + 4 * i, &huge, sizeof huge);
    memcpy(summed, bytes + 40, 16);
    memcpy(summed + 16, bytes + at, 4 * count);
    const struct doppel_digest revision = doppel_digest_bytes(summed, 16 + 4 * count);
    memcpy(bytes + 56, revision.bytes, 16);
    const struct doppel_digest digest = doppel_digest_bytes(bytes, size - 16);
    memcpy(bytes + size - 16, digest.bytes, 16);
    made_file(path, bytes, size);
    struct doppel_embedder *white = must_open(&world, "white");
    const struct doppel_model_texts texts = {(const char *const *)world.texts, world.sizes,
                                             world.count};
    assert_int_equal(doppel_embedder_embed(white, &texts, world.rows, world.each, &error),
                     DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "'white'"));
    doppel_embedder_free(white);
    free(summed);
    free(bytes);
    end_whitened_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_are_whitened),
        cmocka_unit_test(test_whitened_models_never_meet_others),
        cmocka_unit_test(test_the_folder_knows_them),
        cmocka_unit_test(test_what_cannot_be_whitened),
        cmocka_unit_test(test_a_base_that_is_gone_or_another),
        cmocka_unit_test(test_damaged_files_are_refused),
        cmocka_unit_test(test_huge_numbers_give_no_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
