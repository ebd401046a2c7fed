/* The manifest of a run: its inputs and options, a line of JSON each, in its folder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/json_writer.h>
#include <doppel/version.h>

#include "core/try.h"
#include "corpus/stages/hidden_file.h"
#include "corpus/stages/stages_internal.h"

static const char manifest_name[] = "manifest";

/* ---- its lines ---- */

static void add_option_text(struct doppel_json *json, const char *name, const char *value)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "option", name);
    doppel_json_path(json, "value", value ? value : "");
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static void add_option_number(struct doppel_json *json, const char *name, double value)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "option", name);
    doppel_json_real(json, "value", value);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static void add_fields(struct doppel_json *json, const struct doppel_corpus_fields *fields)
{
    const struct doppel_corpus_fields usual = doppel_corpus_fields_default();
    add_option_text(json, "id-field", fields->id ? fields->id : usual.id);
    add_option_text(json, "text-field", fields->text ? fields->text : usual.text);
    add_option_text(json, "path-field", fields->path ? fields->path : usual.path);
    add_option_text(json, "source-field", fields->source ? fields->source : usual.source);
    add_option_text(json, "date-field", fields->date ? fields->date : usual.date);
    for (size_t i = 0; i < fields->folder_count; i++)
        add_option_text(json, "allow-paths", fields->folders[i]);
}

static void add_text_options(struct doppel_json *json, const struct dedup *dedup)
{
    const struct doppel_dedup_options *options = dedup->options;
    const struct doppel_text_options *text = &options->text;
    add_option_number(json, "min-similarity", options->limits.min_similarity);
    add_option_number(json, "min-containment", options->limits.min_containment);
    add_option_number(json, "text-format", text->format);
    add_option_number(json, "nfkc", text->nfkc);
    add_option_number(json, "fold-case", text->fold_case);
    add_option_number(json, "drop-punctuation", text->drop_punctuation);
    add_option_number(json, "unit", text->unit);
    add_option_number(json, "shingle", text->shingle);
    add_option_number(json, "min-words", text->min_words);
    add_option_number(json, "lanes", dedup->lanes);
    add_option_number(json, "bands", dedup->bands);
    add_option_number(json, "rows", dedup->rows_a_band);
    add_option_number(json, "on-same-id", options->on_same_id);
    add_option_number(json, "max-record", (double)options->files.max_line_bytes);
}

static void add_input(struct doppel_json *json, const struct reader *reader, uint32_t file)
{
    const struct stat *status = reader_file_stat(reader, file);
    doppel_json_object_begin(json, NULL);
    doppel_json_path(json, "input", reader_file_path(reader, file));
    doppel_json_integer(json, "size", (uint64_t)status->st_size);
    doppel_json_signed(json, "mtime_ns",
                       status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static enum doppel_status make_manifest(const struct dedup *dedup, struct doppel_json *json,
                                        struct doppel_error *error)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "doppel_stages", 1);
    doppel_json_text(json, "program", DOPPEL_VERSION);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
    add_fields(json, &dedup->options->fields);
    add_text_options(json, dedup);
    for (uint32_t i = 0; i < reader_file_count(dedup->reader); i++)
        add_input(json, dedup->reader, i);
    return doppel_json_status(json, error);
}

/* ---- the one that is there ---- */

static enum doppel_status read_run_manifest(const char *path, struct doppel_json *out,
                                            struct doppel_error *error)
{
    char buffer[4096];
    size_t got;
    FILE *file = fopen(path, "re");
    if (!file)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "%s cannot be opened: %s", path, strerror(errno));
    while ((got = fread(buffer, 1, sizeof buffer, file)))
        doppel_json_append(out, buffer, got);
    bool good = !ferror(file);
    (void)fclose(file);
    if (!good)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be read: %s", path, strerror(errno));
    return doppel_json_status(out, error);
}

static size_t line_bytes(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((newline ? newline : end) - at);
}

/* Name the first line that differs, as it is in both; "" at the end. */
static enum doppel_status manifests_differ(const char *path, const struct doppel_json *there,
                                           const struct doppel_json *here,
                                           struct doppel_error *error)
{
    enum { SHOWN = 180 };
    size_t same = 0, line = 0;
    while (same < there->size && same < here->size && there->bytes[same] == here->bytes[same])
        if (here->bytes[same++] == '\n')
            line = same;
    if (there->size && there->bytes[0] != '{')
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s is damaged: use another folder, or remove this one", path);
    size_t a = there->size ? line_bytes(there->bytes + line, there->bytes + there->size) : 0;
    size_t b = line_bytes(here->bytes + line, here->bytes + here->size);
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "%s is of another run: it has %.*s where this one has %.*s; give all stages "
                       "the same inputs, unchanged, and options, or use another folder",
                       path, (int)(a < SHOWN ? a : SHOWN), a ? there->bytes + line : "",
                       (int)(b < SHOWN ? b : SHOWN), here->bytes + line);
}

static enum doppel_status write_manifest(const char *folder, const struct doppel_json *manifest,
                                         struct doppel_error *error)
{
    struct hidden_file file = {0};
    enum doppel_status status;
    TRY(hidden_file_open(folder, manifest_name, &file, error));
    if (fwrite(manifest->bytes, 1, manifest->size, file.stream) != manifest->size)
        TRY(hidden_file_failed(&file, error));
    TRY(hidden_file_finish_first(&file, error));
done:
    hidden_file_drop(&file);
    return status;
}

enum doppel_status stages_take_manifest(struct doppel_stages *stages, const struct dedup *dedup,
                                        struct doppel_error *error)
{
    struct doppel_json here = {0}, there = {0};
    char *path = NULL;
    enum doppel_status status;
    if (asprintf(&path, "%s/%s", stages->folder, manifest_name) < 0)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", stages->folder);
    TRY(make_manifest(dedup, &here, error));
    status = read_run_manifest(path, &there, error);
    if (status == DOPPEL_E_NOT_FOUND) {
        TRY(write_manifest(stages->folder, &here, error));
        status =
            read_run_manifest(path, &there, error); /* maybe that of a process beside this one */
    }
    TRY(status);
    if (there.size != here.size || memcmp(there.bytes, here.bytes, here.size) != 0)
        TRY(manifests_differ(path, &there, &here, error));
    stages->run = doppel_digest_bytes(here.bytes, here.size);
done:
    doppel_json_free(&here);
    doppel_json_free(&there);
    free(path);
    return status;
}
