/* The second stage of dedup as its caller sees it: what is shown, when, and what a failure ends. */
#include <dirent.h>
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

enum { TEXTS = 600, REPEATED = 40, DIMENSION = 4, LETTERS = 26 };

enum part { NOWHERE, FORESEEING, BEGINNING, EMBEDDING };

/* One that embeds, and fails where it is told to. */
struct made_stage {
    enum part fails;
    enum doppel_status with;
    struct bytes foreseen, embedded; /* all texts, one after the other */
    unsigned begun, batches;
    struct doppel_dedup_semantic_summary summary;
    uint64_t decisions, linked;
    const char *off; /* a folder for vectors; NULL: none */
};

static enum doppel_status fail_at(const struct made_stage *stage, enum part part,
                                  struct doppel_error *error)
{
    return stage->fails == part ? doppel_fail(error, stage->with, "the service is gone")
                                : DOPPEL_OK;
}

static enum doppel_status foresee_made(void *context, const char *const *texts, const size_t *sizes,
                                       size_t count, struct doppel_error *error)
{
    struct made_stage *stage = context;
    assert_int_equal(stage->begun, 0);
    for (size_t i = 0; i < count; i++)
        bytes_add(&stage->foreseen, texts[i], sizes[i]);
    return fail_at(stage, FORESEEING, error);
}

static enum doppel_status begin_made(void *context, struct doppel_error *error)
{
    struct made_stage *stage = context;
    assert_int_equal(stage->embedded.size, 0);
    stage->begun++;
    return fail_at(stage, BEGINNING, error);
}

/* By the first letter, so that many texts mean the same. */
static enum doppel_status embed_made(void *context, const char *const *texts, const size_t *sizes,
                                     size_t count, float *rows, enum doppel_status *each,
                                     struct doppel_error *error)
{
    struct made_stage *stage = context;
    assert_true(count > 0 && count <= 256);
    for (size_t i = 0; i < count; i++) {
        float *row = rows + i * DIMENSION;
        bytes_add(&stage->embedded, texts[i], sizes[i]);
        memset(row, 0, DIMENSION * sizeof *row);
        row[(texts[i][0] - 'a') % DIMENSION] = 1;
        each[i] = DOPPEL_OK;
    }
    return ++stage->batches == 2 ? fail_at(stage, EMBEDDING, error) : DOPPEL_OK;
}

static bool count_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct made_stage *stage = context;
    stage->decisions++;
    stage->linked += decision->semantic != NULL;
    return true;
}

/* Texts of words of their own, and some of them again. */
static void write_corpus(const char *path)
{
    struct bytes file = {0};
    uint64_t seed = 7;
    char text[400], line[500];
    for (int i = 0; i < TEXTS; i++) {
        size_t size = 0;
        for (int word = 0; word < 20; word++)
            size += (size_t)sprintf(text + size, "%c%06x ", 'a' + (i + word) % LETTERS,
                                    (unsigned)random_next(&seed) & 0xffffff);
        sprintf(line, "{\"id\":%d,\"text\":\"%s\"}\n", i, text);
        bytes_add_text(&file, line);
        if (i < REPEATED)
            bytes_add_text(&file, line);
    }
    write_file(path, file.data, file.size);
    bytes_free(&file);
}

static enum doppel_status run_made(struct made_stage *stage, bool with_foresight, bool with_summary,
                                   struct doppel_error *error)
{
    char *folder = folder_make(), *path = path_in(folder, "corpus.jsonl");
    const char *paths[] = {path};
    const struct doppel_dedup_hand_off hand_off = {.folder = stage->off, .model = "made"};
    const struct doppel_dedup_semantic semantic = {
        .hand_off = stage->off ? &hand_off : NULL,
        .dimension = DIMENSION,
        .embed = embed_made,
        .foresee = with_foresight ? foresee_made : NULL,
        .begin = begin_made,
        .context = stage,
        .min_cosine = 0.99F,
        .summary = with_summary ? &stage->summary : NULL,
    };
    struct doppel_dedup_options options = doppel_dedup_options_default();
    options.files.paths = paths;
    options.files.count = 1;
    options.semantic = &semantic;
    options.on_same_id = DOPPEL_SAME_ID_SKIP;
    write_corpus(path);
    enum doppel_status status = doppel_dedup(&options, count_decision, stage, error);
    free(path);
    folder_remove(folder);
    return status;
}

static void end_made(struct made_stage *stage)
{
    bytes_free(&stage->foreseen);
    bytes_free(&stage->embedded);
}

static void test_all_is_foreseen(void **state)
{
    (void)state;
    struct made_stage stage = {0};
    assert_int_equal(run_made(&stage, true, true, NULL), DOPPEL_OK);
    assert_int_equal(stage.begun, 1);
    assert_int_equal(stage.batches, 3);
    assert_true(stage.embedded.size > TEXTS * 150);
    assert_int_equal(stage.foreseen.size, stage.embedded.size);
    assert_memory_equal(stage.foreseen.data, stage.embedded.data, stage.embedded.size);
    assert_int_equal(stage.summary.embedded, TEXTS);
    assert_int_equal(stage.summary.decided, REPEATED);
    assert_int_equal(stage.decisions, TEXTS + REPEATED);
    assert_int_equal(stage.linked, TEXTS - DIMENSION);
    assert_int_equal(stage.summary.failure.status, DOPPEL_OK);
    end_made(&stage);
}

static void test_without_foresight(void **state)
{
    (void)state;
    struct made_stage stage = {0};
    assert_int_equal(run_made(&stage, false, true, NULL), DOPPEL_OK);
    assert_int_equal(stage.foreseen.size, 0);
    assert_int_equal(stage.begun, 1);
    assert_int_equal(stage.linked, TEXTS - DIMENSION);
    end_made(&stage);
}

static void test_a_failure_ends_the_stage(void **state)
{
    (void)state;
    static const enum part parts[] = {FORESEEING, BEGINNING, EMBEDDING};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct made_stage stage = {.fails = parts[i], .with = DOPPEL_E_BUSY};
        assert_int_equal(run_made(&stage, true, true, NULL), DOPPEL_OK);
        assert_int_equal(stage.decisions, TEXTS + REPEATED);
        assert_int_equal(stage.linked, 0);
        assert_int_equal(stage.summary.failure.status, DOPPEL_E_BUSY);
        assert_string_equal(stage.summary.failure.message, "the service is gone");
        assert_int_equal(stage.begun, parts[i] != FORESEEING);
        assert_int_equal(stage.batches, parts[i] == EMBEDDING ? 2 : 0);
        end_made(&stage);
    }
}

static void test_a_failure_that_nobody_would_see(void **state)
{
    (void)state;
    struct made_stage stage = {.fails = EMBEDDING, .with = DOPPEL_E_BUSY};
    struct doppel_error error;
    assert_int_equal(run_made(&stage, true, false, &error), DOPPEL_E_BUSY);
    assert_string_equal(error.message, "the service is gone");
    assert_int_equal(stage.decisions, 0);
    end_made(&stage);
}

static void test_cancelling_ends_the_run(void **state)
{
    (void)state;
    static const enum part parts[] = {FORESEEING, BEGINNING, EMBEDDING};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct made_stage stage = {.fails = parts[i], .with = DOPPEL_E_CANCELLED};
        assert_int_equal(run_made(&stage, true, true, NULL), DOPPEL_E_CANCELLED);
        assert_int_equal(stage.decisions, 0);
        end_made(&stage);
    }
}

static size_t count_files(const char *folder)
{
    DIR *open = opendir(folder);
    size_t count = 0;
    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static void test_vectors_are_handed_off_whole_or_not(void **state)
{
    (void)state;
    static const enum part parts[] = {FORESEEING, BEGINNING, EMBEDDING, NOWHERE};
    for (size_t i = 0; i < 2 * sizeof parts / sizeof *parts; i++) {
        char *folder = folder_make();
        struct made_stage stage = {.fails = parts[i / 2],
                                   .with = i % 2 ? DOPPEL_E_CANCELLED : DOPPEL_E_BUSY,
                                   .off = folder};
        const bool whole = stage.fails == NOWHERE;
        assert_int_equal(run_made(&stage, true, true, NULL),
                         i % 2 && !whole ? DOPPEL_E_CANCELLED : DOPPEL_OK);
        assert_int_equal(count_files(folder), whole ? 2 : 0);
        assert_int_equal(stage.summary.handed_off, whole ? TEXTS : 0);
        end_made(&stage);
        folder_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_foreseen),
        cmocka_unit_test(test_without_foresight),
        cmocka_unit_test(test_a_failure_ends_the_stage),
        cmocka_unit_test(test_a_failure_that_nobody_would_see),
        cmocka_unit_test(test_cancelling_ends_the_run),
        cmocka_unit_test(test_vectors_are_handed_off_whole_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
