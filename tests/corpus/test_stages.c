/* A dedup in stages against the whole one: the same decisions for any parts; what is damaged,
 * missing, or of another run is refused, and named. */
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

#include <doppel/corpus_stages.h>

#include "tests/corpus/dedup_oracle.h"

/* ---- all that a decision says ---- */

static void add_text(struct bytes *out, const char *text)
{
    bytes_add_text(out, text ? text : "-");
    bytes_add_text(out, "|");
}

static void add_number(struct bytes *out, double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g|", number);
    bytes_add_text(out, text);
}

static void add_match(struct bytes *out, const struct doppel_match *match)
{
    add_number(out, match->relation);
    add_number(out, match->verified);
    add_number(out, match->distance);
    add_number(out, match->bits);
    add_number(out, match->similarity);
    add_number(out, match->has_coverage);
    add_number(out, match->query_coverage);
    add_number(out, match->item_coverage);
}

static bool add_whole_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct bytes *out = context;
    const struct doppel_dedup_representative *first = &decision->representative;
    add_number(out, (double)decision->number);
    add_text(out, decision->path);
    add_number(out, (double)decision->line);
    add_text(out, decision->id);
    add_text(out, decision->source);
    add_number(out, decision->decision);
    add_text(out, decision->reason);
    add_text(out, decision->of);
    add_text(out, decision->of_path);
    add_number(out, (double)decision->of_line);
    add_text(out, decision->replaces);
    add_number(out, decision->unique);
    add_number(out, decision->grouped);
    add_text(out, first->id);
    add_text(out, first->path);
    add_number(out, (double)first->line);
    add_number(out, decision->has_match);
    if (decision->has_match)
        add_match(out, &decision->match);
    if (decision->line_text)
        bytes_add(out, decision->line_text, decision->line_size);
    bytes_add_text(out, "\n");
    return true;
}

static char *given_lines(struct bytes *out)
{
    bytes_add(out, "", 1);
    return out->data;
}

static char *decide_at_once(const struct doppel_dedup_options *options)
{
    struct bytes out = {0};
    struct doppel_error error;
    assert_int_equal(doppel_dedup(options, add_whole_decision, &out, &error), DOPPEL_OK);
    return given_lines(&out);
}

/* ---- in stages ---- */

struct parts {
    uint32_t sign, join, compare, emit; /* compare: 0 is not */
};

static struct doppel_stages *open_stages(const struct doppel_dedup_options *options,
                                         const char *work)
{
    struct doppel_stages *stages;
    struct doppel_error error;
    if (doppel_stages_open(options, work, &stages, &error))
        fail_msg("%s", error.message);
    return stages;
}

static enum doppel_status do_one(struct doppel_stages *stages, enum doppel_stage stage,
                                 struct doppel_stage_part part, struct doppel_error *error)
{
    switch (stage) {
    case DOPPEL_STAGE_SIGN:
        return doppel_stages_sign(stages, part, NULL, error);
    case DOPPEL_STAGE_JOIN:
        return doppel_stages_join(stages, part, NULL, error);
    case DOPPEL_STAGE_COMPARE:
        return doppel_stages_compare(stages, part, NULL, error);
    default:
        return doppel_stages_decide(stages, NULL, error);
    }
}

static void do_part(struct doppel_stages *stages, enum doppel_stage stage, uint32_t number,
                    uint32_t count)
{
    struct doppel_error error;
    const struct doppel_stage_part part = {number, count};
    enum doppel_status status = do_one(stages, stage, part, &error);
    if (status)
        fail_msg("%s", error.message);
}

static void do_until_decided(struct doppel_stages *stages, const struct parts *parts)
{
    for (uint32_t i = parts->sign; i >= 1; i--)
        do_part(stages, DOPPEL_STAGE_SIGN, i, parts->sign);
    for (uint32_t i = 1; i <= parts->join; i++)
        do_part(stages, DOPPEL_STAGE_JOIN, i, parts->join);
    for (uint32_t i = 1; i <= parts->compare; i++)
        do_part(stages, DOPPEL_STAGE_COMPARE, i, parts->compare);
    do_part(stages, DOPPEL_STAGE_DECIDE, 1, 1);
}

static char *emit_all(struct doppel_stages *stages, uint32_t count)
{
    struct bytes out = {0};
    struct doppel_error error;
    for (uint32_t i = 1; i <= count; i++)
        if (doppel_stages_emit(stages, (struct doppel_stage_part){i, count}, add_whole_decision,
                               &out, &error))
            fail_msg("%s", error.message);
    return given_lines(&out);
}

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

/* ---- corpora ---- */

enum { MAX_FILES = 12 };

struct shards {
    char *folder, *work;
    char **paths; /* MAX_FILES: options point there */
    size_t count;
    struct doppel_dedup_options options;
};

static void put_file(struct shards *shards, const char *name, const void *data, size_t size)
{
    char *path = path_in(shards->folder, name);
    write_file(path, size ? data : "", size);
    shards->paths[shards->count++] = path;
}

static struct shards begin_shards(void)
{
    struct shards shards = {.folder = folder_make(), .paths = calloc(MAX_FILES, sizeof(char *))};
    assert_non_null(shards.paths);
    shards.work = path_in(shards.folder, "work");
    return shards;
}

static void end_shards(struct shards *shards)
{
    for (size_t i = 0; i < shards->count; i++)
        free(shards->paths[i]);
    free(shards->paths);
    free(shards->work);
    folder_remove(shards->folder);
}

static void choose_options(struct shards *shards)
{
    shards->options = dedup_options((const char *const *)shards->paths, shards->count);
    shards->options.lines = DOPPEL_LINES_ALL;
}

static struct bytes made_lines(const struct corpus_plan *plan)
{
    struct bytes lines = {0};
    struct corpus corpus = corpus_make(plan);
    corpus_write(&corpus, &lines);
    corpus_free(&corpus);
    return lines;
}

static struct shards one_file(const struct corpus_plan *plan)
{
    struct shards shards = begin_shards();
    struct bytes lines = made_lines(plan);
    put_file(&shards, "corpus.jsonl", lines.data, lines.size);
    bytes_free(&lines);
    choose_options(&shards);
    return shards;
}

/* Plain and compressed ones, and those that one look at their beginning refuses. */
static struct shards odd_files(void)
{
    struct shards shards = begin_shards();
    struct bytes lines = made_lines(
        &(struct corpus_plan){.seed = 17, .count = 240, .templates = 2, .same_ids = true});
    struct bytes gzip = {0}, zstd = {0}, marked = {0};
    size_t half = lines.size / 2;
    bytes_add_gzip(&gzip, lines.data, half);
    bytes_add_zstd(&zstd, lines.data + half, lines.size - half);
    bytes_add_text(&marked, "\xEF\xBB\xBF");
    bytes_add(&marked, lines.data, half);
    bytes_add_text(&marked, "\r\n\r\n\n{\"id\": \"last\", \"text\": \"without a newline\"}");
    static const char array[] = "[{\"text\": \"one array\"},\n{\"text\": \"over\"},\n{\"text\": "
                                "\"several lines\"}\n]\n{\"text\": \"and then a record\"}\n";
    put_file(&shards, "a.jsonl", lines.data, lines.size);
    put_file(&shards, "b.jsonl.gz", gzip.data, gzip.size);
    put_file(&shards, "c.jsonl", "", 0);
    put_file(&shards, "d.jsonl", array, sizeof array - 1);
    put_file(&shards, "e.jsonl.zst", zstd.data, zstd.size);
    put_file(&shards, "f.jsonl", "{\0\"\0\n\0a\0\n\0", 10);
    put_file(&shards, "g.jsonl", marked.data, marked.size);
    put_file(&shards, "h.jsonl.gz", gzip.data, gzip.size - 9);
    put_file(&shards, "i.jsonl", "\n\n \n", 4);
    bytes_free(&lines);
    bytes_free(&gzip);
    bytes_free(&zstd);
    bytes_free(&marked);
    choose_options(&shards);
    return shards;
}

static void work_anew(struct shards *shards, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "work%u", number);
    free(shards->work);
    shards->work = path_in(shards->folder, name);
}

/* ---- the same decisions ---- */

static const struct parts divisions[] = {
    {1, 1, 0, 1},    {2, 3, 1, 2},       {3, 1, 4, 7},   {7, 5, 0, 1},
    {40, 16, 9, 33}, {1, 256, 500, 500}, {500, 2, 2, 3},
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

/* ---- damage ---- */

static struct bytes read_bytes(const char *path)
{
    struct bytes out = {0};
    char buffer[4096];
    size_t got;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while ((got = fread(buffer, 1, sizeof buffer, file)))
        bytes_add(&out, buffer, got);
    (void)fclose(file);
    return out;
}

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

static void unlink_part(const struct shards *shards, const char *name)
{
    char *path = path_in(shards->work, name);
    unlink(path);
    free(path);
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
    free(got);
    free(junk);
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
    other.threads = 3;
    other.lines = 0;
    other.memory_bytes = 1 << 20;
    doppel_stages_free(open_stages(&other, shards.work));
    write_file(shards.paths[0], "{\"text\": \"changed\"}\n", 20);
    assert_open_refuses(&shards.options, shards.work, "\"size\":20");
    end_shards(&shards);
}

/* With the same names, in another folder. */
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
        cmocka_unit_test(refuses_files_with_other_bytes),
        cmocka_unit_test(refuses_signatures_with_other_bytes),
        cmocka_unit_test(mends_what_is_damaged),
        cmocka_unit_test(names_the_parts_that_are_missing),
        cmocka_unit_test(wants_all_parts_that_compare),
        cmocka_unit_test(lists_what_there_is),
        cmocka_unit_test(refuses_a_folder_of_another_run),
        cmocka_unit_test(refuses_a_file_of_another_run),
        cmocka_unit_test(refuses_what_stages_cannot_do),
        cmocka_unit_test(refuses_inputs_without_texts),
        cmocka_unit_test(leaves_nothing_when_it_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
