/* A dedup in stages against the whole one: the same decisions for any parts; what is missing is
 * named, and what stages cannot do is refused. */
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

static void assert_stages_decide(const struct doppel_dedup_options *options, const char *work,
                                 struct parts parts, const char *wanted)
{
    struct doppel_stages *stages = open_stages(options, work);
    do_until_decided(stages, &parts);
    char *got = emit_all(stages, parts.emit);
    assert_same_lines(got, wanted);
    free(got);
    doppel_stages_free(stages);
}

/* ---- the same decisions ---- */

static const struct parts divisions[] = {
    {1, 1, 0, 1},    {2, 3, 1, 2},      {3, 1, 4, 7},   {7, 5, 0, 1},
    {40, 16, 9, 33}, {1, 256, 99, 120}, {120, 2, 2, 3},
};

static void assert_any_division_decides(struct shards *shards)
{
    char *wanted = decide_at_once(&shards->options);
    for (unsigned i = 0; i < sizeof divisions / sizeof *divisions; i++) {
        work_anew(shards, i);
        assert_stages_decide(&shards->options, shards->work, divisions[i], wanted);
    }
    free(wanted);
}

static void decides_the_same_for_any_parts(void **state)
{
    (void)state;
    struct shards shards =
        one_file(&(struct corpus_plan){.seed = 42, .count = 400, .templates = 2, .same_ids = true});
    assert_any_division_decides(&shards);
    end_shards(&shards);
}

static void decides_the_same_for_any_files(void **state)
{
    (void)state;
    struct shards shards = odd_files();
    assert_any_division_decides(&shards);
    end_shards(&shards);
}

static void decides_the_same_with_other_options(void **state)
{
    (void)state;
    struct shards shards =
        one_file(&(struct corpus_plan){.seed = 99, .count = 300, .templates = 2, .same_ids = true});
    struct doppel_dedup_options *options = &shards.options;
    for (unsigned i = 0; i < 6; i++) {
        options->on_same_id = (enum doppel_same_id)(i % 3);
        options->cluster = i % 2 ? DOPPEL_CLUSTER_COMPONENTS : DOPPEL_CLUSTER_REPRESENTATIVES;
        options->threads = 1 + i % 3;
        options->memory_bytes = i % 2 ? 1 : 0;
        options->text.lanes = i < 3 ? 128 : 256;
        options->bands = i < 3 ? 25 : 42;
        options->rows = i < 3 ? 5 : 6;
        options->limits.min_similarity = i < 3 ? 0.6 : 0.8;
        options->files.max_line_bytes = i == 2 ? 400 : DOPPEL_MAX_RECORD_BYTES;
        char *wanted = decide_at_once(options);
        work_anew(&shards, i);
        assert_stages_decide(options, shards.work, (struct parts){3, 2, i % 3, 2}, wanted);
        free(wanted);
    }
    end_shards(&shards);
}

/* ---- what is there is not done again ---- */

static void leaves_what_is_there(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 3, .count = 60});
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    const struct doppel_stage_part part = {1, 2};
    for (int again = 0; again < 2; again++) {
        bool was_there = !again;
        assert_int_equal(doppel_stages_sign(stages, part, &was_there, NULL), DOPPEL_OK);
        assert_int_equal(was_there, again);
    }
    doppel_stages_free(stages);
    end_shards(&shards);
}

/* ---- what is missing ---- */

static void names_the_parts_that_are_missing(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 6, .count = 40});
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    struct doppel_error error;
    const struct doppel_stage_part only = {1, 1};
    assert_int_equal(doppel_stages_join(stages, only, NULL, &error), DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "no part of --stage sign"));
    for (uint32_t i = 1; i <= 9; i++)
        if (i != 3 && i != 7 && i != 8)
            do_part(stages, DOPPEL_STAGE_SIGN, i, 9);
    do_part(stages, DOPPEL_STAGE_SIGN, 2, 40);
    assert_int_equal(doppel_stages_join(stages, only, NULL, &error), DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "3 of the 9 parts of --stage sign: 3, 7 to 8"));
    assert_int_equal(doppel_stages_decide(stages, NULL, &error), DOPPEL_E_NOT_FOUND);
    doppel_stages_free(stages);
    end_shards(&shards);
}

/* All that was to be compared, or nothing. */
static void wants_all_parts_that_compare(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 6, .count = 40});
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    struct doppel_error error;
    do_part(stages, DOPPEL_STAGE_SIGN, 1, 1);
    do_part(stages, DOPPEL_STAGE_JOIN, 1, 1);
    do_part(stages, DOPPEL_STAGE_COMPARE, 2, 3);
    assert_int_equal(doppel_stages_decide(stages, NULL, &error), DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "2 of the 3 parts of --stage compare: 1, 3"));
    do_part(stages, DOPPEL_STAGE_COMPARE, 1, 3);
    do_part(stages, DOPPEL_STAGE_COMPARE, 3, 3);
    do_part(stages, DOPPEL_STAGE_DECIDE, 1, 1);
    doppel_stages_free(stages);
    end_shards(&shards);
}

static bool count_missing(void *context, const struct doppel_stage_files *files)
{
    struct bytes *out = context;
    char line[200];
    snprintf(line, sizeof line, "%s %s %u:", doppel_stage_name(files->stage),
             files->name ? files->name : "-", files->parts);
    bytes_add_text(out, line);
    for (uint32_t i = 0; i < files->missing_count; i++) {
        snprintf(line, sizeof line, " %u", files->missing[i]);
        bytes_add_text(out, line);
    }
    bytes_add_text(out, "\n");
    return true;
}

static void lists_what_there_is(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 6, .count = 40});
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    struct doppel_stage_output *output;
    struct bytes out = {0};
    do_part(stages, DOPPEL_STAGE_SIGN, 2, 3);
    for (uint32_t i = 1; i <= 2; i++)
        do_part(stages, DOPPEL_STAGE_SIGN, i, 2);
    do_part(stages, DOPPEL_STAGE_JOIN, 1, 4);
    char *junk = path_in(shards.work, "join-0002-of-0004");
    write_file(junk, "junk", 4);
    char *other = path_in(shards.work, "sign-1-of-3"); /* as no part is named */
    write_file(other, "junk", 4);
    const struct doppel_stage_part second = {2, 2};
    assert_int_equal(doppel_stage_output_new(stages, "unique", second, &output, NULL), DOPPEL_OK);
    assert_int_equal(doppel_stage_output_write(output, "{}\n", 3, NULL), DOPPEL_OK);
    assert_int_equal(doppel_stage_output_finish(output, NULL), DOPPEL_OK);
    doppel_stage_output_free(output);
    assert_int_equal(doppel_stage_output_new(stages, "unique", second, &output, NULL), DOPPEL_OK);
    assert_null(output);
    assert_int_equal(doppel_stages_visit(stages, count_missing, &out, NULL), DOPPEL_OK);
    char *got = given_lines(&out);
    assert_string_equal(got,
                        "sign - 2:\nsign - 3: 1 3\njoin - 4: 2 3 4\ncompare - 0:\ndecide - 0:\n"
                        "emit unique 2: 1\n");
    assert_int_equal(doppel_stages_parts(stages, DOPPEL_STAGE_SIGN), 2);
    assert_int_equal(doppel_stages_parts(stages, DOPPEL_STAGE_JOIN), 4);
    assert_int_equal(doppel_stages_parts(stages, DOPPEL_STAGE_COMPARE), 0);
    free(got);
    free(junk);
    free(other);
    doppel_stages_free(stages);
    end_shards(&shards);
}

/* ---- refusals ---- */

static void assert_open_refuses(const struct doppel_dedup_options *options, const char *work,
                                const char *words)
{
    struct doppel_stages *stages;
    struct doppel_error error;
    assert_int_equal(doppel_stages_open(options, work, &stages, &error), DOPPEL_E_ARGUMENT);
    if (!strstr(error.message, words))
        fail_msg("not '%s': %s", words, error.message);
}

static void refuses_a_folder_of_another_run(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 7, .count = 40});
    doppel_stages_free(open_stages(&shards.options, shards.work));
    struct doppel_dedup_options other = shards.options;
    other.limits.min_similarity = 0.8;
    assert_open_refuses(&other, shards.work, "\"min-similarity\",\"value\":0.8");
    other = shards.options;
    other.fields.text = "body";
    assert_open_refuses(&other, shards.work, "\"text-field\",\"value\":\"body\"");
    other = shards.options;
    other.cluster = DOPPEL_CLUSTER_COMPONENTS;
    assert_open_refuses(&other, shards.work, "\"cluster\",\"value\":1");
    other = shards.options;
    other.threads = 3;
    other.lines = 0;
    other.memory_bytes = 1 << 20;
    doppel_stages_free(open_stages(&other, shards.work));
    write_file(shards.paths[0], "{\"text\": \"changed\"}\n", 20);
    assert_open_refuses(&shards.options, shards.work, "\"size\":20");
    end_shards(&shards);
}

/* With the same names, in another folder. */
static void refuses_what_stages_cannot_do(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 7, .count = 40});
    struct doppel_dedup_semantic semantic = {.dimension = 1};
    struct doppel_dedup_options other = shards.options;
    other.semantic = &semantic;
    assert_open_refuses(&other, shards.work, "--semantic");
    other = shards.options;
    other.keep_shingles = true;
    assert_open_refuses(&other, shards.work, "--keep-shingles");
    other = shards.options;
    other.files.paths = (const char *const[]){"-"};
    assert_open_refuses(&other, shards.work, "standard input");
    other = shards.options;
    other.files.format = DOPPEL_CORPUS_CSV;
    assert_open_refuses(&other, shards.work, "is a table");
    assert_open_refuses(&shards.options, shards.folder, "the folder of the stages");
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    static const struct doppel_stage_part none[] = {{0, 3}, {4, 3}, {1, 0}, {1, 257}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(doppel_stages_join(stages, none[i], NULL, NULL), DOPPEL_E_ARGUMENT);
    doppel_stages_free(stages);
    end_shards(&shards);
}

static void refuses_inputs_without_texts(void **state)
{
    (void)state;
    struct shards shards = begin_shards();
    put_file(&shards, "a.jsonl", "{\"body\": 1}\n{\"body\": 2}\n", 24);
    choose_options(&shards);
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    struct bytes out = {0};
    struct doppel_error error, wanted;
    for (uint32_t i = 1; i <= 2; i++)
        do_part(stages, DOPPEL_STAGE_SIGN, i, 2);
    do_part(stages, DOPPEL_STAGE_JOIN, 1, 1);
    assert_int_equal(doppel_dedup(&shards.options, add_whole_decision, &out, &wanted),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_stages_decide(stages, NULL, &error), DOPPEL_E_ARGUMENT);
    assert_string_equal(error.message, wanted.message);
    bytes_free(&out);
    doppel_stages_free(stages);
    end_shards(&shards);
}

/* ---- cancelled ---- */

static bool stop_at_once(void *context, const char *unit, uint64_t done, uint64_t total)
{
    (void)unit;
    (void)done;
    (void)total;
    ++*(int *)context;
    return false;
}

static void leaves_nothing_when_it_is_cancelled(void **state)
{
    (void)state;
    struct shards shards = one_file(&(struct corpus_plan){.seed = 7, .count = 40});
    struct doppel_dedup_options stopped = shards.options;
    struct doppel_stages *stages = open_stages(&shards.options, shards.work);
    struct bytes out = {0};
    int calls = 0;
    stopped.progress = stop_at_once;
    stopped.context = &calls;
    struct doppel_stages *ended = open_stages(&stopped, shards.work);
    const struct doppel_stage_part only = {1, 1};
    assert_int_equal(doppel_stages_sign(ended, only, NULL, NULL), DOPPEL_E_CANCELLED);
    do_part(stages, DOPPEL_STAGE_SIGN, 1, 1);
    assert_int_equal(doppel_stages_join(ended, only, NULL, NULL), DOPPEL_E_CANCELLED);
    do_part(stages, DOPPEL_STAGE_JOIN, 1, 1);
    do_part(stages, DOPPEL_STAGE_COMPARE, 1, 2);
    assert_int_equal(doppel_stages_compare(ended, (struct doppel_stage_part){2, 2}, NULL, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_equal(doppel_stages_decide(ended, NULL, NULL), DOPPEL_E_CANCELLED);
    assert_true(calls >= 3);
    assert_int_equal(doppel_stages_visit(stages, count_missing, &out, NULL), DOPPEL_OK);
    char *got = given_lines(&out);
    assert_string_equal(got, "sign - 1:\njoin - 1:\ncompare - 2: 2\ndecide - 0:\nemit - 0:\n");
    free(got);
    doppel_stages_free(stages);
    doppel_stages_free(ended);
    end_shards(&shards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_the_same_for_any_parts),
        cmocka_unit_test(decides_the_same_for_any_files),
        cmocka_unit_test(decides_the_same_with_other_options),
        cmocka_unit_test(leaves_what_is_there),
        cmocka_unit_test(names_the_parts_that_are_missing),
        cmocka_unit_test(wants_all_parts_that_compare),
        cmocka_unit_test(lists_what_there_is),
        cmocka_unit_test(refuses_a_folder_of_another_run),
        cmocka_unit_test(refuses_what_stages_cannot_do),
        cmocka_unit_test(refuses_inputs_without_texts),
        cmocka_unit_test(leaves_nothing_when_it_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
