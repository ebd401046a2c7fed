/* One type over whatever embeds: its identity, and what it counts. Services: endpoint.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <doppel/embedder.h>

#include "made_model.h"

enum { DIMENSION = 24 };

struct embedder_world {
    struct made_folder folder;
    struct doppel_model *model;
    const char *name;
};

static void begin_world(struct embedder_world *world, const char *prefix)
{
    const char *tokenizer = made_data("bert", ".tokenizer.json");
    struct made_model made;
    made_folder_begin(&world->folder);
    const char *source = made_path(&world->folder, "model");
    made_model_begin(&made, tokenizer, DIMENSION, false);
    made_model_write(&made, tokenizer, source);
    made_model_end(&made);
    world->model = made_model_open(&world->folder, source, prefix, false);
    world->name = doppel_model_info(world->model)->name;
}

static void end_world(struct embedder_world *world)
{
    doppel_model_free(world->model);
    made_folder_remove(&world->folder);
}

static enum doppel_status open_embedder(const struct embedder_world *world, const char *name,
                                        struct doppel_embedder **out, struct doppel_error *error)
{
    struct doppel_embedder_options options = doppel_embedder_options_default();
    options.folder = world->folder.path;
    options.name = name;
    return doppel_embedder_open(&options, out, error);
}

/* ---- identities ---- */

static const struct doppel_embedder_identity kept_identity = {
    "potion", "0123456789abcdef0123456789abcdef", 256, "query: "};

static void test_identities(void **state)
{
    (void)state;
    static const struct {
        struct doppel_embedder_identity now;
        const char *says; /* NULL: they meet */
    } cases[] = {
        {{"potion", "0123456789abcdef0123456789abcdef", 256, "query: "}, NULL},
        {{"renamed", "0123456789abcdef0123456789abcdef", 256, "query: "}, NULL},
        {{"other", "1123456789abcdef0123456789abcdef", 256, "query: "},
         "of the model 'potion', and not of 'other'"},
        {{"potion", "1123456789abcdef0123456789abcdef", 128, "query: "},
         "have 256 numbers, and those of 'potion' now have 128"},
        {{"potion", "1123456789abcdef0123456789abcdef", 256, ""}, "after the prefix 'query: '"},
        {{"potion", "1123456789abcdef0123456789abcdef", 256, "query: "},
         "the revision 01234567 of 'potion', which now has the revision 11234567"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_error error = {0};
        enum doppel_status status =
            doppel_embedder_check_identity(&kept_identity, &cases[i].now, &error);
        assert_int_equal(status, cases[i].says ? DOPPEL_E_VERSION : DOPPEL_OK);
        if (cases[i].says && !strstr(error.message, cases[i].says))
            fail_msg("'%s' instead of '%s'", error.message, cases[i].says);
    }
}

static void test_identity_of_a_model(void **state)
{
    (void)state;
    struct embedder_world world;
    struct doppel_embedder *embedder;
    begin_world(&world, "query: ");
    const struct doppel_model_info *info = doppel_model_info(world.model);
    assert_int_equal(open_embedder(&world, world.name, &embedder, NULL), DOPPEL_OK);
    const struct doppel_embedder_identity *identity = doppel_embedder_identity(embedder);
    assert_string_equal(identity->name, info->name);
    assert_string_equal(identity->revision, info->revision);
    assert_string_equal(identity->prefix, "query: ");
    assert_int_equal(identity->dimension, DIMENSION);
    assert_null(doppel_embedder_probe(embedder));
    for (size_t i = strlen(identity->prefix); i < sizeof identity->prefix; i++)
        assert_int_equal(identity->prefix[i], 0);
    doppel_embedder_free(embedder);
    end_world(&world);
}

static void test_what_cannot_be_opened(void **state)
{
    (void)state;
    struct embedder_world world;
    struct doppel_embedder *embedder = NULL;
    struct doppel_error error;
    char name[DOPPEL_EMBEDDER_MAX_NAME + 2];
    struct doppel_endpoint_options endpoint = doppel_endpoint_options_default();
    struct doppel_embedder_options options = {.endpoint = &endpoint};
    begin_world(&world, NULL);
    assert_int_equal(open_embedder(&world, "other", &embedder, &error), DOPPEL_E_NOT_FOUND);
    memset(name, 'm', sizeof name);
    name[sizeof name - 1] = '\0';
    endpoint.url = "http://127.0.0.1:1";
    endpoint.model = name;
    assert_int_equal(doppel_embedder_open(&options, &embedder, &error), DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, "at most 255 bytes"));
    endpoint.model = "m";
    endpoint.url = "http://10.0.0.1/";
    assert_int_equal(doppel_embedder_open(&options, &embedder, &error), DOPPEL_E_UNSUPPORTED);
    assert_null(embedder);
    doppel_embedder_free(NULL);
    end_world(&world);
}

/* One bit of a row, which nothing else would notice. */
static void test_a_damaged_model_is_refused(void **state)
{
    (void)state;
    struct embedder_world world;
    struct doppel_embedder *embedder = NULL;
    struct doppel_error error;
    char file[DOPPEL_MODEL_MAX_NAME + 8];
    size_t size;
    begin_world(&world, NULL);
    snprintf(file, sizeof file, "%s.model", world.name);
    const char *path = made_path(&world.folder, file);
    char *bytes = made_read(path, &size);
    bytes[size - 100] ^= 1;
    made_file(path, bytes, size);
    assert_int_equal(open_embedder(&world, world.name, &embedder, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "is damaged"));
    assert_null(embedder);
    bytes[size - 100] ^= 1;
    made_file(path, bytes, size);
    assert_int_equal(open_embedder(&world, world.name, &embedder, &error), DOPPEL_OK);
    doppel_embedder_free(embedder);
    free(bytes);
    end_world(&world);
}

/* ---- embedding ---- */

static void test_vectors_are_those_of_the_model(void **state)
{
    (void)state;
    struct embedder_world world;
    struct doppel_embedder *embedder;
    size_t *sizes, count, short_ones = 0;
    char **texts = made_texts(&sizes, &count);
    begin_world(&world, NULL);
    assert_int_equal(open_embedder(&world, world.name, &embedder, NULL), DOPPEL_OK);
    const struct doppel_model_texts request = {(const char *const *)texts, sizes, count};
    float *wanted = calloc(count * DIMENSION, sizeof *wanted);
    float *rows = calloc(count * DIMENSION, sizeof *rows);
    enum doppel_status *each = calloc(count, sizeof *each);
    assert_int_equal(doppel_model_embed(world.model, &request, wanted, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_embedder_embed(embedder, &request, rows, each, NULL), DOPPEL_OK);
    assert_memory_equal(rows, wanted, count * DIMENSION * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        short_ones += each[i] == DOPPEL_E_TOO_SHORT;
    assert_int_equal(doppel_embedder_embed(embedder, &request, rows, NULL, NULL), DOPPEL_OK);
    const struct doppel_embedder_usage usage = doppel_embedder_usage(embedder);
    assert_int_equal(usage.texts, 2 * count);
    assert_int_equal(usage.too_short, 2 * short_ones);
    assert_int_equal(usage.embedded, 2 * (count - short_ones));
    assert_true(short_ones > 0 && short_ones < count);
    assert_int_equal(usage.refused + usage.tokens + usage.requests, 0);
    free(wanted);
    free(rows);
    free(each);
    made_texts_free(texts, sizes, count);
    doppel_embedder_free(embedder);
    end_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_identity_of_a_model),
        cmocka_unit_test(test_what_cannot_be_opened),
        cmocka_unit_test(test_a_damaged_model_is_refused),
        cmocka_unit_test(test_vectors_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
