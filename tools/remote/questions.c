/* Files are read here, and lines with their codes are sent. */
#include "tools/remote/questions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "compare/record_fields.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/digest.h"
#include "core/files/absolute_path.h"
#include "core/text/printable.h"
#include "core/try.h"
#include "intake/open_cache.h"
#include "intake/reader.h"
#include "tools/args/engine_options.h"
#include "tools/memory.h"

/* A request has so many files, or about so many bytes, or those of so much time. */
enum { MOST_FILES = 1000, BODY_BYTES = 8 << 20, LONGEST_MS = 1000 };

struct asked_file {
    char *path, *failure; /* given; failure NULL: it was read */
    bool sent;
};

struct question_batch {
    const struct remote_question *question;
    struct settings settings; /* with the schemes of the service */
    unsigned exact_kinds;
    ARRAY(struct asked_file) files;
    struct doppel_json body;
    int64_t begun_ms;
    bool ended; /* no more answers are wanted */
};

void remote_make_key(char out[static REMOTE_KEY])
{
    uint64_t random[2] = {0};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        random[0] = (uint64_t)monotonic_ns() ^ (uint64_t)getpid() << 40;
    doppel_hex_encode(random, sizeof random, out);
}

/* ---- answers ---- */

enum doppel_status remote_take_result(const struct remote_question *question, const char *name,
                                      const struct doppel_client_answer *answer, bool *out_go_on,
                                      struct doppel_error *error)
{
    json_t *root = json_loadb(answer->body, answer->size, 0, NULL);
    const json_t *results = json_object_get(root, "results");
    const json_t *said = json_array_get(results, 0);
    enum doppel_status status = DOPPEL_OK;
    if (json_array_size(results) == 1 && question->is_answer(said))
        *out_go_on = question->answered(question->context, name, said, NULL);
    else
        status = remote_fail_answer(&question->remote, error);
    json_decref(root);
    return status;
}

/* Lines as many as were sent; what could not be read has its turn among them. */
static enum doppel_status take_answers(struct question_batch *batch,
                                       const struct doppel_client_answer *answer,
                                       struct doppel_error *error)
{
    const struct remote_question *question = batch->question;
    const char *at = answer->body ? answer->body : "", *end = at + answer->size;
    for (size_t i = 0; i < batch->files.count && !batch->ended; i++) {
        const struct asked_file *file = &batch->files.items[i];
        json_t *said = NULL;
        if (file->sent) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            said = newline ? json_loadb(at, (size_t)(newline - at), 0, NULL) : NULL;
            if (!question->is_answer(said)) {
                json_decref(said);
                return remote_fail_answer(&question->remote, error);
            }
            at = newline + 1;
        }
        batch->ended = !question->answered(question->context, file->path, said, file->failure);
        json_decref(said);
    }
    return at == end || batch->ended ? DOPPEL_OK : remote_fail_answer(&question->remote, error);
}

static void empty_batch(struct question_batch *batch)
{
    for (size_t i = 0; i < batch->files.count; i++) {
        free(batch->files.items[i].path);
        free(batch->files.items[i].failure);
    }
    batch->files.count = 0;
    doppel_json_clear(&batch->body);
}

static enum doppel_status send_questions(struct question_batch *batch, struct doppel_error *error)
{
    char key[REMOTE_KEY];
    struct doppel_client_answer answer = {0};
    const struct doppel_client_request request = {.method = "POST",
                                                  .path = batch->question->path,
                                                  .type = "application/x-ndjson",
                                                  .body = batch->body.bytes,
                                                  .size = batch->body.size,
                                                  .idempotency_key =
                                                      batch->question->writes ? key : NULL};
    remote_make_key(key);
    enum doppel_status status;
    TRY(doppel_json_status(&batch->body, error));
    if (batch->body.size)
        TRY(remote_send(&batch->question->remote, &request, &answer, error));
    TRY(take_answers(batch, &answer, error));
done:
    doppel_client_answer_free(&answer);
    empty_batch(batch);
    return status;
}

/* ---- questions ---- */

char *remote_id_of(const struct settings *settings, const char *path)
{
    char host[65] = "";
    if (settings->external_id)
        return must_copy(settings->external_id);
    if (strcmp(path, "-") == 0)
        return NULL;
    char *absolute = must_have(absolute_path(path));
    char *name = must_have(name_for_id(absolute));
    char *id = must_allocate(strlen(name) + sizeof host + 20);
    gethostname(host, sizeof host - 1);
    int used = sprintf(id, "%s:%s", host, name);
    if (strcmp(name, absolute) != 0) /* others may have the same part */
        sprintf(id + used, "#%016" PRIx64, checksum64(absolute, strlen(absolute)));
    free(absolute);
    free(name);
    return id;
}

static void write_file_digests(struct doppel_json *json, const struct doppel_exact_digests *exact)
{
    if (!exact->kinds)
        return;
    doppel_json_object_begin(json, "exact");
    for (unsigned i = DOPPEL_EXACT_MD5; i <= DOPPEL_EXACT_SHA256; i++) {
        char hex[2 * sizeof exact->bytes[i] + 1];
        doppel_hex_encode(exact->bytes[i], doppel_exact_bytes((enum doppel_exact)i), hex);
        if (exact->kinds >> i & 1)
            doppel_json_text(json, doppel_exact_name((enum doppel_exact)i), hex);
    }
    doppel_json_object_end(json);
}

/* What the command line says of all files. */
static void write_told(struct doppel_json *json, const struct settings *settings)
{
    doppel_json_text(json, "source", settings->source);
    doppel_json_texts(json, "lists", settings->lists.items, settings->lists.count);
    doppel_json_texts(json, "labels", settings->labels.items, settings->labels.count);
    if (settings->meta)
        doppel_json_raw(json, "meta", settings->meta, strlen(settings->meta));
}

/* What it is comes first, by which a service tells it from a record of a corpus. Of an image the
 * attachment is a small picture, so it stays here. */
static void write_file_line(struct question_batch *batch, struct intake_file *file)
{
    struct doppel_json *json = &batch->body;
    doppel_json_object_begin(json, NULL);
    if (!file->record.error.status) {
        if (file->record.kind == DOPPEL_KIND_IMAGE)
            file->record.attachment_size = 0;
        doppel_json_object_begin(json, "record");
        write_record_fields(json, &file->record);
        doppel_json_object_end(json);
    }
    write_file_digests(json, &file->exact);
    if (batch->question->tells) {
        char *id = remote_id_of(&batch->settings, file->path);
        doppel_json_text(json, "id", id);
        free(id);
        write_told(json, &batch->settings);
    }
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

/* A list of hashes may know what cannot be read. */
static void ask_about(struct question_batch *batch, struct intake_file *file)
{
    const struct doppel_error *reason = &file->record.error;
    struct asked_file asked = {
        .path = must_copy(file->path),
        .failure = reason->status ? must_copy(reason->message) : NULL,
        .sent = !reason->status || file->exact.kinds,
    };
    if (!batch->files.count)
        batch->begun_ms = monotonic_ms();
    if (!array_push(&batch->files, asked))
        no_memory();
    if (asked.sent)
        write_file_line(batch, file);
}

static bool is_batch_full(const struct question_batch *batch)
{
    return batch->files.count >= MOST_FILES || batch->body.size >= BODY_BYTES ||
           monotonic_ms() - batch->begun_ms >= LONGEST_MS;
}

/* ---- reading ---- */

static unsigned wanted_exact_kinds(void *context)
{
    const struct question_batch *batch = context;
    return batch->exact_kinds;
}

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *element = json_string_value(json_array_get(list, i));
        if (element && strcmp(element, text) == 0)
            return true;
    }
    return false;
}

/* What the service compares by, unless a scheme was given. */
static enum doppel_status adopt_remote_schemes(struct question_batch *batch,
                                               struct doppel_error *error)
{
    json_t *root = NULL;
    struct settings *settings = &batch->settings;
    enum doppel_status status = remote_get(&batch->question->remote, "/v1/schemes", &root, error);
    if (status)
        return status;
    for (enum doppel_kind kind = DOPPEL_KIND_TEXT; kind <= DOPPEL_KIND_VIDEO; kind++) {
        const char *theirs = json_string_value(json_object_get(root, doppel_kind_name(kind)));
        const struct doppel_scheme *scheme = theirs ? doppel_scheme_by_name(theirs) : NULL;
        if (scheme && scheme->kind == kind && !settings->scheme_given &&
            settings->by_kind[kind].id != DOPPEL_SCHEME_NONE)
            settings->by_kind[kind] = *scheme;
    }
    for (unsigned i = DOPPEL_EXACT_MD5; i <= DOPPEL_EXACT_SHA256; i++)
        if (has_text(json_object_get(root, "exact"), doppel_exact_name((enum doppel_exact)i)))
            batch->exact_kinds |= 1u << i;
    json_decref(root);
    return DOPPEL_OK;
}

static enum doppel_status ask_about_files(struct question_batch *batch, struct doppel_cache *cache,
                                          bool *out_any, struct doppel_error *error)
{
    struct doppel_walk_options walk = walk_options_from(&batch->settings);
    walk.every_name = walk.stdin_operand = true;
    const struct intake_options options = {
        .read = read_options_from(&batch->settings),
        .run = batch->question->report->run,
        .walk = &walk,
        .cache = cache,
        .attachments = true,
        .failures = true,
        .exact_kinds = wanted_exact_kinds,
        .known_context = batch,
    };
    struct intake *intake = NULL;
    struct intake_file file;
    enum doppel_status status;
    TRY(intake_new(&options, &intake, error));
    while (!batch->ended && !(status = intake_next(intake, &file, error))) {
        *out_any = true;
        ask_about(batch, &file);
        intake_file_free(&file);
        if (is_batch_full(batch))
            TRY(send_questions(batch, error));
    }
    if (status == DOPPEL_E_NOT_FOUND)
        status = send_questions(batch, error);
done:
    intake_free(intake);
    return status;
}

enum doppel_status remote_ask(const struct remote_question *question, struct doppel_error *error)
{
    struct question_batch batch = {.question = question, .settings = *question->settings};
    struct doppel_cache *cache = NULL;
    bool any = false;
    enum doppel_status status;
    TRY(adopt_remote_schemes(&batch, error));
    TRY(open_cache(question->report->run, &cache, error));
    TRY(ask_about_files(&batch, cache, &any, error));
    if (!any)
        report_no_input(question->report, question->settings->verb->name);
done:
    leave_cache(question->report->run, cache);
    empty_batch(&batch);
    array_free(&batch.files);
    doppel_json_free(&batch.body);
    return status;
}
