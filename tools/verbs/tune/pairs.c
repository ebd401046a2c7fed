/* Labelled pairs to judged ones: their files read once each, and every pair compared. */
#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/verbs/semantic/library.h"
#include "tools/verbs/tune/pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compare/image.h"
#include "core/try.h"
#include "intake/reader.h"
#include "tools/memory.h"
#include "intake/open_cache.h"
#include "compare/text.h"

/* The files that the labels name, each once, in order of their paths. */
struct files {
    const char **paths; /* borrowed from the labels */
    size_t count;
    struct intake_file *read; /* count of them; path == NULL: it could not be read */
};

/* ---- files ---- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static struct files files_of(const struct labels *labels, struct report *report)
{
    struct files files = {must_allocate(2 * labels->count * sizeof(char *)), 0, NULL};
    for (size_t i = 0; i < labels->count; i++) {
        files.paths[2 * i] = labels->items[i].a;
        files.paths[2 * i + 1] = labels->items[i].b;
    }
    qsort(files.paths, 2 * labels->count, sizeof *files.paths, compare_paths);
    for (size_t i = 0; i < 2 * labels->count; i++) {
        const char *path = files.paths[i];
        if (i && strcmp(path, files.paths[i - 1]) == 0)
            continue;
        if (names_folder(path))
            report_input(report, path, "a folder; labels are of files");
        else
            files.paths[files.count++] = path;
    }
    files.read = must_allocate(files.count * sizeof *files.read);
    return files;
}

static void files_free(struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        intake_file_free(&files->read[i]);
    free(files->read);
    free(files->paths);
}

static enum doppel_status read_files(const struct settings *settings, struct report *report,
                                     struct doppel_cache *cache, struct files *files,
                                     struct doppel_error *error)
{
    struct doppel_walk_options walk = {.paths = {files->paths, files->count}, .every_name = true};
    struct intake_options options = {.read = read_options_from(settings),
                                     .run = report->run,
                                     .walk = &walk,
                                     .attachments = true,
                                     .cache = cache};
    struct intake *intake;
    struct intake_file file;
    enum doppel_status status = intake_new(&options, &intake, error);
    if (status)
        return status;
    while ((status = intake_next(intake, &file, error)) == DOPPEL_OK)
        files->read[file.source] = file;
    intake_free(intake);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* NULL: it could not be read, which has been said. */
static const struct doppel_record *record_of_path(const struct files *files, const char *path)
{
    const char **found =
        bsearch(&path, files->paths, files->count, sizeof *files->paths, compare_paths);
    const struct intake_file *file = found ? &files->read[found - files->paths] : NULL;
    return file && file->path ? &file->record : NULL;
}

/* ---- pairs ---- */

static bool same_bytes(const struct doppel_record *a, const struct doppel_record *b)
{
    return memcmp(&a->digest, &b->digest, sizeof a->digest) == 0;
}

/* Same words, and texts that hold one another, match at every limit; short ones at none. */
static struct scored_pair score_texts(const struct doppel_compare_options *options,
                                      const struct doppel_record *a, const struct doppel_record *b)
{
    struct doppel_compare_options any = *options, most = *options;
    struct doppel_match match = {0};
    any.min_similarity = 0;
    most.min_similarity = 1;
    struct scored_pair scored = {.similarity = -1,
                                 .by_default = text_records_match(options, a, b, &match)};
    if (text_records_match(&most, a, b, &match))
        scored.similarity = 1;
    else if (text_records_match(&any, a, b, &match))
        scored.similarity = match.similarity;
    return scored;
}

static struct scored_pair score_pair(const struct doppel_compare_options *options,
                                     const struct doppel_record *a, const struct doppel_record *b)
{
    struct doppel_match_options any = match_options_from(options);
    struct doppel_match_item query = {&a->fingerprint, a->quality};
    struct doppel_match_item item = {&b->fingerprint, b->quality};
    struct doppel_match match;
    if (same_bytes(a, b))
        return (struct scored_pair){.similarity = 1, .by_default = true};
    if (a->kind == DOPPEL_KIND_TEXT)
        return score_texts(options, a, b);
    any.min_similarity = 0;
    struct scored_pair scored = {.by_default = images_match(options, a, b, &match)};
    scored.similarity = doppel_match_pair(&query, &item, &any, &match) ? match.similarity : -1;
    return scored;
}

static void report_pair(struct report *report, const char *path, uint64_t line, const char *reason)
{
    size_t size = strlen(path) + 32;
    char *place = must_allocate(size);
    snprintf(place, size, "%s:%llu", path, (unsigned long long)line);
    report_input(report, place, reason);
    free(place);
}

/* How pairs are judged. */
struct pair_scoring {
    struct report *report;
    struct doppel_compare_options options;
    struct doppel_semantic *semantic; /* of texts; NULL: by their words */
    bool by_rate;                     /* in a library */
};

static double similarity_of_rate(double rate)
{
    return -log10(rate) / 10;
}

double rate_of_similarity(double similarity)
{
    return pow(10, -10 * similarity);
}

/* By the cosine of the nearest passages, or its rate in the library.
 * @return false: it failed, which was reported */
static bool score_meaning(const struct pair_scoring *scoring, const struct label *label,
                          struct scored_pair *out)
{
    struct doppel_semantic *semantic = scoring->semantic;
    struct doppel_error error;
    float cosine = 0;
    double rate = 1;
    const enum doppel_status status =
        scoring->by_rate
            ? doppel_semantic_rate_files(semantic, label->a, label->b, &rate, &error)
            : doppel_semantic_compare_files(semantic, label->a, label->b, &cosine, &error);
    if (status)
        report_input(scoring->report, label->a, error.message);
    *out = (struct scored_pair){.similarity =
                                    scoring->by_rate ? similarity_of_rate(rate) : (double)cosine};
    return !status;
}

static void add_scored(struct tuned *tuned, enum doppel_scheme_id scheme, struct scored_pair scored)
{
    struct scored_pairs *pairs = &tuned->pairs;
    if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 64;
        pairs->items = must_resize(pairs->items, pairs->capacity * sizeof *pairs->items);
    }
    pairs->items[pairs->count++] = scored;
    tuned->scheme = scheme;
}

static bool score_label(const struct pair_scoring *scoring, const struct label *label,
                        const struct doppel_record *a, const struct doppel_record *b,
                        struct scored_pair *out)
{
    if (scoring->semantic && a->kind == DOPPEL_KIND_TEXT)
        return score_meaning(scoring, label, out);
    *out = score_pair(&scoring->options, a, b);
    return true;
}

static void score_all(const struct pair_scoring *scoring, const char *label_path,
                      const struct labels *labels, const struct files *files,
                      struct tuned out[TUNED_KINDS])
{
    for (size_t i = 0; i < labels->count; i++) {
        const struct label *label = &labels->items[i];
        const struct doppel_record *a = record_of_path(files, label->a),
                                   *b = record_of_path(files, label->b);
        if (!a || !b)
            continue;
        if (a->kind != b->kind || a->scheme != b->scheme || a->version != b->version) {
            report_pair(scoring->report, label_path, label->line, "the two are of different kinds");
            continue;
        }
        struct scored_pair scored;
        if (!score_label(scoring, label, a, b, &scored))
            continue;
        scored.same = label->same;
        add_scored(&out[a->kind], a->scheme, scored);
        out[a->kind].by_meaning = scoring->semantic && a->kind == DOPPEL_KIND_TEXT;
        out[a->kind].by_rate = out[a->kind].by_meaning && scoring->by_rate;
    }
}

enum doppel_status tune_pairs(const struct settings *settings, struct report *report,
                              const char *label_path, const struct labels *labels,
                              struct tuned out[TUNED_KINDS], struct doppel_error *error)
{
    struct doppel_cache *cache = NULL;
    struct semantic_library semantic = {0};
    struct doppel_library *library = NULL;
    struct files files = {0};
    enum doppel_status status;
    if (settings->library_given)
        TRY(open_library(settings, false, true, &library, error));
    TRY(semantic_library_open(settings, report, library, false, &semantic, error));
    TRY(open_cache(report->run, &cache, error));
    files = files_of(labels, report);
    TRY(read_files(settings, report, cache, &files, error));
    const struct pair_scoring scoring = {report, compare_options_from(settings), semantic.semantic,
                                         library != NULL};
    score_all(&scoring, label_path, labels, &files, out);
done:
    files_free(&files);
    leave_cache(report->run, cache);
    semantic_library_close(&semantic);
    doppel_library_close(library);
    return status;
}

void tuned_free(struct tuned tuned[TUNED_KINDS])
{
    for (size_t i = 0; i < TUNED_KINDS; i++)
        free(tuned[i].pairs.items);
}
