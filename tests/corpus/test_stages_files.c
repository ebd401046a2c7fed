/* Files of stages that are damaged, or of another run, are refused, named and made again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <cmocka.h>

#include "tests/corpus/stages_scene.h"

/* ---- damage ---- */

/* The stage that reads what a stage wrote. */
static enum doppel_status do_next(struct doppel_stages *stages, enum doppel_stage stage,
                                  struct doppel_error *error)
{
    struct bytes out = {0};
    enum doppel_status status =
        stage == DOPPEL_STAGE_SIGN
            ? doppel_stages_join(stages, (struct doppel_stage_part){1, 1}, NULL, error)
        : stage < DOPPEL_STAGE_DECIDE ? doppel_stages_decide(stages, NULL, error)
                                      : doppel_stages_emit(stages, (struct doppel_stage_part){1, 1},
                                                           add_whole_decision, &out, error);
    bytes_free(&out);
    return status;
}

static void assert_refuses_file(struct doppel_stages *stages, enum doppel_stage stage,
                                const char *path, const struct bytes *bent)
{
    struct doppel_error error;
    write_file(path, bent->data, bent->size);
    enum doppel_status status = do_next(stages, stage, &error);
    if (status != DOPPEL_E_CORRUPT && status != DOPPEL_E_VERSION && status != DOPPEL_E_ARGUMENT)
        fail_msg("%s was taken: %d", path, status);
    assert_non_null(strstr(error.message, path));
}

/* Of the sections, the join reads the keys alone, whose place is the file's end. */
static void bend_bytes(struct doppel_stages *stages, enum doppel_stage stage, const char *path,
                       size_t from)
{
    struct bytes whole = read_bytes(path);
    uint64_t chance = 1 + (uint64_t)stage;
    assert_true(from < whole.size);
    for (int i = 0; i < 60; i++) {
        size_t at = i < 20 ? (size_t)i * 4 : from + random_next(&chance) % (whole.size - from);
        char byte = whole.data[at];
        whole.data[at] = (char)(byte ^ (1 << i % 8));
        assert_refuses_file(stages, stage, path, &whole);
        whole.data[at] = byte;
    }
    for (size_t size = 0; size < whole.size; size += 1 + whole.size / 17)
        assert_refuses_file(stages, stage, path, &(struct bytes){whole.data, size, size});
    bytes_add(&whole, "", 1);
    assert_refuses_file(stages, stage, path, &whole);
    whole.size--;
    write_file(path, whole.data, whole.size);
    bytes_free(&whole);
}

static void refuses_files_with_other_bytes(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 8, .count = 90, .templates = 1});
    char *wanted = decide_at_once(&shards.options);
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    do_until_decided(stages, &(struct parts){2, 1, 1, 1});
    static const struct {
        enum doppel_stage stage;
        const char *name, *next;
    } cases[] = {{DOPPEL_STAGE_SIGN, "sign-0002-of-0002", "join-0001-of-0001"},
                 {DOPPEL_STAGE_JOIN, "join-0001-of-0001", "decide-0001-of-0001"},
                 {DOPPEL_STAGE_COMPARE, "compare-0001-of-0001", "decide-0001-of-0001"},
                 {DOPPEL_STAGE_DECIDE, "decide-0001-of-0001", "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = path_in(shards.work, cases[i].name);
        struct bytes whole = read_bytes(path);
        /* Of what was signed, the join reads the keys, which are the rest of the file. */
        size_t from = cases[i].stage == DOPPEL_STAGE_SIGN ? whole.size - whole.size / 4 : 0;
        unlink_part(&shards, cases[i].next);
        bend_bytes(stages, cases[i].stage, path, from);
        bytes_free(&whole);
        assert_int_equal(do_next(stages, cases[i].stage, NULL), DOPPEL_OK);
        free(path);
    }
    char *got = emit_all(stages, 2);
    assert_same_lines(got, wanted);
    free(got);
    free(wanted);
    doppel_stages_free(stages);
    end_shards(&shards);
}

/* Every byte of what was signed is looked at by one of the stages that read it. */
static void refuses_signatures_with_other_bytes(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 8, .count = 50, .templates = 1});
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    do_part(stages, DOPPEL_STAGE_SIGN, 1, 1);
    do_part(stages, DOPPEL_STAGE_JOIN, 1, 1);
    char *path = path_in(shards.work, "sign-0001-of-0001");
    struct bytes whole = read_bytes(path);
    struct doppel_error error;
    for (size_t at = 0; at < whole.size; at += 1 + whole.size / 150) {
        whole.data[at] ^= 4;
        write_file(path, whole.data, whole.size);
        unlink_part(&shards, "join-0002-of-0002");
        enum doppel_status decided = doppel_stages_decide(stages, NULL, &error);
        enum doppel_status joined =
            doppel_stages_join(stages, (struct doppel_stage_part){2, 2}, NULL, &error);
        if (!joined)
            joined = doppel_stages_join(stages, (struct doppel_stage_part){1, 2}, NULL, &error);
        assert_true(decided || joined);
        assert_non_null(strstr(error.message, path));
        whole.data[at] ^= 4;
        unlink_part(&shards, "decide-0001-of-0001");
        unlink_part(&shards, "join-0001-of-0002");
        unlink_part(&shards, "join-0002-of-0002");
    }
    write_file(path, whole.data, whole.size);
    do_part(stages, DOPPEL_STAGE_DECIDE, 1, 1);
    bytes_free(&whole);
    free(path);
    doppel_stages_free(stages);
    end_shards(&shards);
}

static void mends_what_is_damaged(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 5, .count = 50});
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    do_until_decided(stages, &(struct parts){2, 2, 2, 1});
    static const char *const names[] = {"sign-0001-of-0002", "join-0002-of-0002",
                                        "compare-0001-of-0002", "decide-0001-of-0001"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_in(shards.work, names[i]);
        struct bytes before = read_bytes(path);
        struct bytes bent = read_bytes(path);
        bent.data[bent.size / 2] ^= 1;
        write_file(path, bent.data, bent.size);
        do_part(stages, (enum doppel_stage)(i + 1), (uint32_t)(i == 1 ? 2 : 1), i == 3 ? 1 : 2);
        struct bytes after = read_bytes(path);
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.data, before.data, before.size);
        bytes_free(&before);
        bytes_free(&bent);
        bytes_free(&after);
        free(path);
    }
    doppel_stages_free(stages);
    end_shards(&shards);
}

static void refuses_a_file_of_another_run(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 7, .count = 40});
    struct doppel_dedup_options other = shards.options;
    struct doppel_error error;
    char *elsewhere = path_in(shards.folder, "elsewhere");
    other.limits.min_similarity = 0.8;
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    struct doppel_stages *others = open_stages(&other, elsewhere);
    do_part(others, DOPPEL_STAGE_SIGN, 1, 1);
    char *from = path_in(elsewhere, "sign-0001-of-0001");
    char *to = path_in(shards.work, "sign-0001-of-0001");
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(doppel_stages_join(stages, (struct doppel_stage_part){1, 1}, NULL, &error),
                     DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, to));
    assert_non_null(strstr(error.message, "another run"));
    do_part(stages, DOPPEL_STAGE_SIGN, 1, 1);
    do_part(stages, DOPPEL_STAGE_JOIN, 1, 1);
    free(from);
    free(to);
    free(elsewhere);
    doppel_stages_free(stages);
    doppel_stages_free(others);
    end_shards(&shards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_files_with_other_bytes),
        cmocka_unit_test(refuses_signatures_with_other_bytes),
        cmocka_unit_test(mends_what_is_damaged),
        cmocka_unit_test(refuses_a_file_of_another_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
