/* A dedup in stages for tests. */
#include "tests/corpus/stages_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cmocka.h>

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

bool add_whole_decision(void *context, const struct doppel_dedup_decision *decision)
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

char *given_lines(struct bytes *out)
{
    bytes_add(out, "", 1);
    return out->data;
}

char *decide_at_once(const struct doppel_dedup_options *options)
{
    struct bytes out = {0};
    struct doppel_error error;
    assert_int_equal(doppel_dedup(options, add_whole_decision, &out, &error), DOPPEL_OK);
    return given_lines(&out);
}

/* ---- in stages ---- */

struct doppel_stages *open_stages(const struct doppel_dedup_options *options, const char *work)
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

void do_part(struct doppel_stages *stages, enum doppel_stage stage, uint32_t number, uint32_t count)
{
    struct doppel_error error;
    const struct doppel_stage_part part = {number, count};
    enum doppel_status status = do_one(stages, stage, part, &error);
    if (status)
        fail_msg("%s", error.message);
}

void do_until_decided(struct doppel_stages *stages, const struct parts *parts)
{
    for (uint32_t i = parts->sign; i >= 1; i--)
        do_part(stages, DOPPEL_STAGE_SIGN, i, parts->sign);
    for (uint32_t i = 1; i <= parts->join; i++)
        do_part(stages, DOPPEL_STAGE_JOIN, i, parts->join);
    for (uint32_t i = 1; i <= parts->compare; i++)
        do_part(stages, DOPPEL_STAGE_COMPARE, i, parts->compare);
    do_part(stages, DOPPEL_STAGE_DECIDE, 1, 1);
}

char *emit_all(struct doppel_stages *stages, uint32_t count)
{
    struct bytes out = {0};
    struct doppel_error error;
    for (uint32_t i = 1; i <= count; i++)
        if (doppel_stages_emit(stages, (struct doppel_stage_part){i, count}, add_whole_decision,
                               &out, &error))
            fail_msg("%s", error.message);
    return given_lines(&out);
}

/* ---- corpora ---- */

enum { MAX_FILES = 12 };

void put_file(struct shards *shards, const char *name, const void *data, size_t size)
{
    char *path = path_in(shards->folder, name);
    write_file(path, size ? data : "", size);
    shards->paths[shards->count++] = path;
}

struct shards begin_shards(void)
{
    struct shards shards = {.folder = folder_make(), .paths = calloc(MAX_FILES, sizeof(char *))};
    assert_non_null(shards.paths);
    shards.work = path_in(shards.folder, "work");
    return shards;
}

void end_shards(struct shards *shards)
{
    for (size_t i = 0; i < shards->count; i++)
        free(shards->paths[i]);
    free(shards->paths);
    free(shards->work);
    folder_remove(shards->folder);
}

void choose_options(struct shards *shards)
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

struct shards one_file(const struct corpus_plan *plan)
{
    struct shards shards = begin_shards();
    struct bytes lines = made_lines(plan);
    put_file(&shards, "corpus.jsonl", lines.data, lines.size);
    bytes_free(&lines);
    choose_options(&shards);
    return shards;
}

struct shards odd_files(void)
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

void work_anew(struct shards *shards, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "work%u", number);
    free(shards->work);
    shards->work = path_in(shards->folder, name);
}

/* ---- files ---- */

struct bytes read_bytes(const char *path)
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

void unlink_part(const struct shards *shards, const char *name)
{
    char *path = path_in(shards->work, name);
    unlink(path);
    free(path);
}
