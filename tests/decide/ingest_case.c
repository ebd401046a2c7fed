/* A corpus and a library on the disk, for the tests of ingest. */
#include "tests/decide/ingest_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

void case_begin(const struct corpus_plan *plan, struct ingest_case *made)
{
    *made = (struct ingest_case){.folder = folder_make()};
    made->library = path_in(made->folder, "library");
    made->options = dedup_options(made->paths, 1);
    if (plan)
        made->corpus = corpus_make(plan);
    case_write(made, 0, made->corpus.count);
}

void case_end(struct ingest_case *made)
{
    corpus_free(&made->corpus);
    free(made->path);
    free(made->library);
    folder_remove(made->folder);
}

static struct doppel_library *open_as(const struct ingest_case *made,
                                      const struct doppel_library_options *options)
{
    struct doppel_library *library = NULL;
    struct doppel_error error;
    if (doppel_library_open(made->library, options, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

struct doppel_library *case_open(const struct ingest_case *made)
{
    return open_as(made, &(struct doppel_library_options){.create = true});
}

struct doppel_library *case_open_read_only(const struct ingest_case *made)
{
    return open_as(made, &(struct doppel_library_options){.read_only = true});
}

void case_remove_library(const struct ingest_case *made)
{
    folder_remove(strdup(made->library));
}

static void write_corpus(struct ingest_case *made, const char *lines, size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "corpus-%u.jsonl", made->written++);
    free(made->path);
    made->path = path_in(made->folder, name);
    made->paths[0] = made->path;
    made->options.files.paths = made->paths;
    write_file(made->path, lines, size);
}

void case_write(struct ingest_case *made, size_t first, size_t count)
{
    struct bytes lines = {0};
    const struct corpus piece = {count ? made->corpus.records + first : NULL, count};
    corpus_write(&piece, &lines);
    write_corpus(made, count ? lines.data : "", lines.size);
    bytes_free(&lines);
}

void case_write_text(struct ingest_case *made, const char *lines)
{
    write_corpus(made, lines, strlen(lines));
}

/* What the worker computes of a file. */
static struct doppel_record record_of(const struct doppel_text_options *options, const char *text)
{
    enum { WANT = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SHINGLES };
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_MINHASH128);
    struct doppel_record record = {
        .digest = doppel_digest_bytes(text, strlen(text)),
        .kind = DOPPEL_KIND_TEXT,
        .scheme = scheme->id,
        .version = doppel_text_version(scheme->version, options),
    };
    struct doppel_text *reader;
    struct doppel_text_result result;
    assert_int_equal(doppel_text_new(options, &reader, NULL), DOPPEL_OK);
    assert_int_equal(doppel_text_read(reader, text, strlen(text), WANT, &result, NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_text_fingerprint(scheme->id, options, &result, &record.fingerprint, NULL),
        DOPPEL_OK);
    record.attachment_size = doppel_text_attachment_size(&result);
    record.attachment = malloc(record.attachment_size);
    doppel_text_attachment_write(&result, record.attachment);
    doppel_text_free(reader);
    return record;
}

uint64_t case_add_file(const struct ingest_case *made, struct doppel_library *library,
                       const char *name, const char *text)
{
    struct doppel_error error;
    enum doppel_added added;
    uint64_t id = 0;
    char *path = path_in(made->folder, name);
    write_file(path, text, strlen(text));
    struct doppel_record record = record_of(&made->options.text, text);
    const struct doppel_file_stamp stamp = {.size = (int64_t)strlen(text), .mtime_ns = 1};
    if (doppel_library_add(library, path, &stamp, &record, &added, &id, &error) ||
        doppel_library_commit(library, &error))
        fail_msg("%s", error.message);
    doppel_record_free(&record);
    free(path);
    return id;
}

static size_t number_of(const struct story *story, uint64_t item)
{
    size_t i = 0;
    while (item && i < story->count && story->items[i] != item)
        i++;
    return item && i < story->count ? i + 1 : 0;
}

static bool take_decision(void *context, const struct doppel_dedup_decision *decision)
{
    struct story *story = context;
    decision_line(&story->out, decision, story->count, number_of(story, decision->of_item));
    if (!story->alone)
        story_add(story, decision->item);
    return true;
}

void story_add(struct story *story, uint64_t item)
{
    assert_true(story->count < STORY_ITEMS);
    story->items[story->count++] = item;
}

void story_ingest(struct story *story, const struct ingest_case *made,
                  struct doppel_library *library)
{
    struct doppel_ingest_options options = ingest_options(&made->options);
    struct doppel_error error;
    options.check = story->check;
    if (doppel_ingest(library, &options, take_decision, story, &error))
        fail_msg("%s", error.message);
}

void case_run_sql(const struct ingest_case *made, const char *sql)
{
    sqlite3 *database;
    char *path = path_in(made->library, "catalogue.db"), *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message))
        fail_msg("%s", message);
    sqlite3_close(database);
    free(path);
}
