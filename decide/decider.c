/* One stream of decisions about records and files. */
#include "decide/decider.h"

#include <stdlib.h>
#include <string.h>

#include "core/attached.h"
#include "core/digest.h"
#include "core/try.h"
#include "decide/records/ingest.h"
#include "decide/file_stream.h"
#include "decide/meaning.h"
#include "decide/upstream.h"
#include "intake/watch.h"

enum { MAX_QUALITY = 100 };

struct doppel_decider {
    struct doppel_decide_options options;
    struct doppel_ingest_options record_options;
    struct file_stream_options file_options;
    struct doppel_run *run;
    struct doppel_library *library;
    bool walks;
    struct doppel_text_looks looks; /* of the records that are read */
    struct upstream *upstream;      /* NULL: nobody is asked */
    struct meaning_stage *meaning;  /* NULL: none was wanted yet */
    struct ingest *records;         /* and what is pushed; NULL: a walk */
    struct file_stream *files;      /* NULL: no file was met yet */
    bool in_files;                  /* those that were met last are not all decided about */
    struct upstream_outcome recalled;
    struct doppel_error failure; /* status != OK: it cannot go on */
};

struct doppel_decide_options doppel_decide_options_default(void)
{
    const struct doppel_ingest_options records = doppel_ingest_options_default();
    return (struct doppel_decide_options){
        .search = doppel_search_options_default(),
        .limits = records.limits,
        .records = records.files,
        .fields = records.fields,
    };
}

/* ---- records ---- */

static bool show_decided(void *context, uint64_t done, uint64_t total, uint64_t records)
{
    struct doppel_decider *decider = context;
    (void)records;
    if (!decider->files && decider->options.records.count) {
        const char *unit = doppel_run_progress_so_far(decider->run).unit;
        if (!unit || strcmp(unit, "bytes") != 0) /* an index was rebuilt meanwhile */
            doppel_run_begin(decider->run, "bytes", total);
        doppel_run_set_total(decider->run, total);
        doppel_run_advance(decider->run, done);
    }
    return !doppel_run_cancelled(decider->run);
}

static struct doppel_ingest_options record_options(struct doppel_decider *decider)
{
    const struct doppel_decide_options *options = &decider->options;
    return (struct doppel_ingest_options){
        .files = options->records,
        .fields = options->fields,
        .text = options->search.compare.text,
        .limits = options->limits,
        .bands = options->bands,
        .rows = options->rows,
        .threads = doppel_run_jobs(decider->run),
        .keep_shingles = options->keep_shingles,
        .on_same_id = options->on_same_id,
        .source = options->metadata ? options->metadata->source : NULL,
        .about = options->metadata,
        .plain_records = options->ignore_metadata,
        .check = options->dry_run,
        .looks = options->records.descriptor ? NULL : &decider->looks,
        .progress = show_decided,
        .context = decider,
    };
}

/* Where nothing is wanted, the library goes on as it began. */
static enum doppel_status fit_library(struct doppel_decider *decider, struct doppel_error *error)
{
    struct doppel_decide_options *options = &decider->options;
    struct doppel_text_options *text = &options->search.compare.text;
    doppel_library_fit_unit(decider->library,
                            doppel_scheme_by_id(text->lanes == 256 ? DOPPEL_SCHEME_MINHASH256
                                                                   : DOPPEL_SCHEME_MINHASH128),
                            text);
    if (options->text_given)
        return DOPPEL_OK;
    struct doppel_error why;
    enum doppel_status status =
        doppel_library_text_options(decider->library, text, &options->limits, &why);
    if (!status || status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    return doppel_fail(error, status, "%s", why.message);
}

/* Files of text are read as the records are. */
static void fit_files(struct doppel_decider *decider)
{
    struct doppel_compare_options *compare = &decider->options.search.compare;
    struct doppel_read_options *read = &decider->file_options.decider.read;
    struct doppel_scheme *scheme = &compare->schemes[DOPPEL_KIND_TEXT];
    if (!scheme->id)
        return;
    *scheme = *doppel_scheme_by_id(compare->text.lanes == 256 ? DOPPEL_SCHEME_MINHASH256
                                                              : DOPPEL_SCHEME_MINHASH128);
    scheme->version = doppel_text_version(scheme->version, &compare->text);
    compare->text_similarity = decider->options.limits.min_similarity;
    read->schemes[DOPPEL_KIND_TEXT] = *scheme;
    read->text = compare->text;
}

static bool keeps_more(const struct doppel_decider *decider)
{
    return decider->options.on_keep && !decider->options.dry_run;
}

static enum doppel_status keep_record_decision(void *context,
                                               const struct doppel_dedup_decision *decision,
                                               struct doppel_error *error)
{
    const struct doppel_decide_options *options = &((struct doppel_decider *)context)->options;
    struct doppel_decided decided;
    doppel_decided_of_record(decision, &decided);
    return options->on_keep(options->on_keep_context, &decided, error);
}

static enum doppel_status open_records(struct doppel_decider *decider, struct doppel_error *error)
{
    enum doppel_status status = fit_library(decider, error);
    if (status)
        return status;
    bool pushed = !decider->options.records.count;
    decider->options.with_files |= pushed;
    if (decider->options.with_files)
        fit_files(decider);
    decider->record_options = record_options(decider);
    if (!pushed)
        doppel_run_begin(decider->run, "bytes", 0);
    status = ingest_new(decider->library, &decider->record_options, decider->options.with_files,
                        decider->upstream, &decider->records, error);
    if (!status && keeps_more(decider))
        ingest_set_on_keep(decider->records, keep_record_decision, decider);
    return status;
}

void doppel_decided_of_record(const struct doppel_dedup_decision *decision,
                              struct doppel_decided *out)
{
    *out = (struct doppel_decided){
        .decision = decision->decision,
        .why = decision->reason,
        .id = decision->id,
        .path = decision->path,
        .line = decision->line,
        .kind = DOPPEL_KIND_TEXT,
        .text = decision->line_text,
        .text_size = decision->line_size,
        .item = decision->item,
        .same_id = decision->same_id,
        .replayed = decision->replayed,
        .unique = decision->unique,
        .of = decision->of_item,
        .of_id = decision->of,
        .of_path = decision->of_path,
        .of_line = decision->of_line,
        .replaces_id = decision->replaces,
        .has_match = decision->has_match,
        .semantic = decision->semantic,
        .match = {.matches = decision->has_match, .match = decision->match},
    };
    if (decision->decision != DOPPEL_DECISION_UNREADABLE)
        out->reason = doppel_decision_reason_of(decision->reason);
}

/* ---- files ---- */

static void describe_file(const struct decided_file *from, struct doppel_decided *out)
{
    static const struct record_file none;
    const struct record_file *record = from->record ? from->record : &none;
    const struct file_decision *decision = from->decision;
    const struct rule_answer *answer = &decision->answer;
    const struct doppel_error *error = &from->file->record.error;
    bool remarks = !error->status && error->message[0];
    *out = (struct doppel_decided){
        .decision = answer->decision,
        .reason = answer->reason,
        .why = decision->why,
        .is_file = true,
        .id = record->id,
        .path = record->read ? NULL : from->file->path,
        .line = record->line,
        .source = record->source,
        .date = record->date,
        .metadata = record->said,
        .kind = error->status ? DOPPEL_KIND_UNKNOWN : from->file->record.kind,
        .scheme = error->status ? DOPPEL_SCHEME_NONE : from->file->record.scheme,
        .remark = remarks ? error->message : NULL,
        .item = decision->item,
        .same_id = decision->same_id,
        .unique = answer->decision != DOPPEL_DECISION_DUPLICATE &&
                  answer->decision != DOPPEL_DECISION_UNREADABLE &&
                  answer->decision != DOPPEL_DECISION_IGNORED,
        .of = answer->of,
        .of_id = decision->of.record_id,
        .of_path = decision->of.path,
        .of_line = decision->of.line,
        .of_external_id = decision->of_external_id,
        .upstream = decision->upstream.detail,
        .queued = decision->upstream.queued,
        .same_as = decision->same_as,
        .lists = (const char *const *)decision->hits.lists,
        .list_count = decision->hits.list_count,
        .labels = (const char *const *)decision->hits.labels,
        .label_count = decision->hits.label_count,
        .review = decision->hits.review,
        .not_compared = decision->not_compared,
        .unreadable = &decision->unreadable,
        .replaces = decision->replaces,
        .has_match = decision->has_match,
        .match = decision->match,
    };
}

static enum doppel_status keep_file_decision(void *context, const struct decided_file *file,
                                             struct doppel_error *error)
{
    const struct doppel_decide_options *options = &((struct doppel_decider *)context)->options;
    struct doppel_decided decided;
    describe_file(file, &decided);
    return options->on_keep(options->on_keep_context, &decided, error);
}

static enum doppel_status open_files(struct doppel_decider *decider, struct doppel_error *error)
{
    if (decider->files)
        return DOPPEL_OK;
    decider->file_options.fed = !decider->walks;
    if (keeps_more(decider)) {
        decider->file_options.on_keep = keep_file_decision;
        decider->file_options.on_keep_context = decider;
    }
    return file_stream_new(&decider->file_options, &decider->files, error);
}

static enum doppel_status next_file(struct doppel_decider *decider, struct doppel_decided *out,
                                    struct doppel_error *error)
{
    struct decided_file file;
    enum doppel_status status = file_stream_next(decider->files, &file, error);
    if (!status)
        describe_file(&file, out);
    return status;
}

/* Of folders that are watched there is always another one. */
static enum doppel_status next_walked_file(struct doppel_decider *decider,
                                           struct doppel_decided *out, struct doppel_error *error)
{
    struct doppel_watch *watch = decider->options.watch;
    enum doppel_status status;
    while ((status = next_file(decider, out, error)) == DOPPEL_E_NOT_FOUND && watch) {
        TRY(upstream_settle(decider->upstream, true, error));
        TRY(watch_wait(watch, error));
        file_stream_resume(decider->files);
    }
done:
    return status;
}

static enum doppel_status begin_files(struct doppel_decider *decider,
                                      const struct ingest_found *found, struct doppel_error *error)
{
    enum doppel_status status = open_files(decider, error);
    if (status)
        return status;
    file_stream_feed(decider->files, found->files, found->file_count);
    decider->in_files = true;
    return DOPPEL_OK;
}

/* ---- both ---- */

/* What alone is known of a code, as a record. */
static struct doppel_record code_as_record(const struct doppel_record *given)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(given->fingerprint.scheme);
    return (struct doppel_record){
        .kind = scheme ? scheme->kind : DOPPEL_KIND_UNKNOWN,
        .scheme = given->fingerprint.scheme,
        .version = given->fingerprint.version,
        .quality = given->quality ? given->quality : MAX_QUALITY,
        .fingerprint = given->fingerprint,
    };
}

/* Recordings, videos and keypoints have what was computed of them in the attachment. */
static bool codes_are_whole(const struct doppel_record *record)
{
    const struct doppel_fingerprint *codes = &record->fingerprint;
    bool is_width = codes->code_bits == 32 || codes->code_bits == 64 || codes->code_bits == 256;
    if (scheme_is_attached(record->scheme))
        return !codes->count;
    return is_width && codes->count && codes->codes && codes->positions;
}

/* Whether a record is whole, and of the scheme by which its kind is compared. Of texts of which the
 * code alone is known nobody knows how they were read; those of recordings and videos are not
 * looked up. */
static bool can_search(const struct doppel_decider *decider, const struct doppel_record *record,
                       bool is_code)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    const struct doppel_scheme *compared =
        scheme ? doppel_compare_scheme(&decider->options.search.compare, scheme->kind) : NULL;
    bool any_version = is_code && record->kind == DOPPEL_KIND_TEXT;
    if (is_code && record->kind != DOPPEL_KIND_TEXT && record->kind != DOPPEL_KIND_IMAGE)
        return false;
    return compared && compared->id == scheme->id && record->quality <= MAX_QUALITY &&
           (any_version || record->version == compared->version) && codes_are_whole(record) &&
           doppel_record_is_readable(record);
}

/* A list of hashes may know it. */
static bool is_known_by_bytes_alone(const struct doppel_record *record,
                                    const struct doppel_exact_digests *exact)
{
    return exact && exact->kinds && !record->error.status && record->scheme == DOPPEL_SCHEME_NONE &&
           record->kind == DOPPEL_KIND_UNKNOWN && !record->fingerprint.count;
}

static enum doppel_status check_record(const struct doppel_decider *decider,
                                       const struct doppel_record *record, bool is_code,
                                       struct doppel_error *error)
{
    if (record->error.status)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it could not be read: %s",
                           record->error.message);
    return can_search(decider, record, is_code)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "a record, or the code of an image or a text, is whole, and of the "
                             "scheme and version by which its kind is compared here");
}

/* Whether a signature was made as those of texts are here. */
static bool is_read_alike(const struct doppel_decider *decider,
                          const struct doppel_decide_input *input)
{
    const struct doppel_text_options *text = &decider->options.search.compare.text;
    const enum doppel_scheme_id id =
        text->lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    const uint16_t version = doppel_text_version(doppel_scheme_by_id(id)->version, text);
    return input->signature->lane_count == text->lanes && input->signature_version == version;
}

/* What was decided last, and not kept, is lost: neither that nor what follows could be reported
 * truthfully. */
static enum doppel_status fail_again(const struct doppel_decider *decider,
                                     struct doppel_error *error)
{
    return doppel_fail(error, decider->failure.status, "%s", decider->failure.message);
}

enum doppel_status doppel_decider_push(struct doppel_decider *decider,
                                       const struct doppel_decide_input *input,
                                       struct doppel_error *error)
{
    struct pushed pushed = {
        .path = input->path,
        .record = input->path ? NULL : input->record,
        .exact = input->path || !input->record ? NULL : input->exact,
        .signature = input->path || input->record ? NULL : input->signature,
        .text = input->text,
        .text_size = input->text_size,
        .id = input->id,
        .source = input->source,
        .date = input->date,
        .metadata = input->metadata,
        .client = input->client,
    };
    const bool by_bytes = pushed.record && is_known_by_bytes_alone(pushed.record, pushed.exact);
    const bool is_code = pushed.record && !by_bytes && digest_is_none(&pushed.record->digest);
    struct doppel_record code;
    enum doppel_status status = DOPPEL_OK;
    if (decider->failure.status)
        return fail_again(decider, error);
    if (decider->walks || decider->options.records.count)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the decider reads its inputs itself");
    if (!input->path && !input->record && !input->signature && !input->text)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an input has neither path, record, signature nor text");
    if (pushed.signature && !is_read_alike(decider, input))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the text was read in another way than texts are here");
    if (is_code) {
        code = code_as_record(pushed.record);
        pushed.record = &code;
    }
    if (pushed.record && !by_bytes)
        status = check_record(decider, pushed.record, is_code, error);
    if (status)
        return status;
    if (ingest_pushed(decider->records) >= DOPPEL_DECIDER_MOST)
        return doppel_fail(error, DOPPEL_E_BUSY, "%d inputs wait: pull decisions first",
                           (int)DOPPEL_DECIDER_MOST);
    return ingest_push(decider->records, &pushed, error);
}

static enum doppel_status pull_next(struct doppel_decider *decider, struct doppel_decided *out,
                                    struct doppel_error *error)
{
    struct ingest_found found;
    if (decider->walks)
        return next_walked_file(decider, out, error);
    for (;;) {
        enum doppel_status status = DOPPEL_E_NOT_FOUND;
        if (decider->in_files)
            status = next_file(decider, out, error);
        if (status != DOPPEL_E_NOT_FOUND)
            return status;
        decider->in_files = false;
        status = ingest_next(decider->records, &found, error);
        if (status == DOPPEL_E_NOT_FOUND)
            return doppel_fail(error, status, "no input waits for a decision");
        if (!status && found.files)
            status = begin_files(decider, &found, error);
        if (status)
            return status;
        if (found.files)
            continue;
        doppel_decided_of_record(&found.decision, out);
        out->upstream = found.upstream;
        out->queued = found.queued;
        return DOPPEL_OK;
    }
}

/* What is known at the end of the records. */
static void notice_looks(struct doppel_decider *decider)
{
    char hint[160];
    if (decider->record_options.text.unit != DOPPEL_TEXT_CHARACTERS &&
        doppel_text_looks_hint(&decider->looks, hint, sizeof hint))
        doppel_run_notice(decider->run, "%s", hint);
    decider->looks = (struct doppel_text_looks){0};
}

enum doppel_status doppel_decider_pull(struct doppel_decider *decider, struct doppel_decided *out,
                                       struct doppel_error *error)
{
    struct doppel_error why = {0};
    if (decider->failure.status)
        return fail_again(decider, error);
    enum doppel_status status = pull_next(decider, out, &why);
    if (!status)
        status = meaning_stage_run(decider->meaning, out, &why);
    if (!status)
        return DOPPEL_OK;
    meaning_stage_end(decider->meaning);
    notice_looks(decider);
    why.status = status;
    if (status != DOPPEL_E_NOT_FOUND && status != DOPPEL_E_CANCELLED) {
        decider->failure = why;
        if (!decider->options.dry_run)
            doppel_library_rollback(decider->library);
    }
    return doppel_fail(error, status, "%s", why.message);
}

enum doppel_status doppel_decider_search_meaning(struct doppel_decider *decider,
                                                 const struct doppel_decide_meaning *meaning,
                                                 struct doppel_decided *decided,
                                                 struct doppel_error *error)
{
    if (!decider->meaning)
        decider->meaning = meaning_stage_new(decider->run, &decider->options);
    return decider->meaning ? meaning_stage_search(decider->meaning, meaning, decided, error)
                            : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to search by meaning");
}

enum doppel_status doppel_decider_settle(struct doppel_decider *decider, struct doppel_error *error)
{
    return decider->failure.status ? fail_again(decider, error)
                                   : upstream_settle(decider->upstream, true, error);
}

enum doppel_status doppel_decider_recall(struct doppel_decider *decider, uint64_t item,
                                         struct doppel_decided *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    upstream_outcome_free(&decider->recalled);
    if (decider->upstream)
        status = upstream_outcome(decider->upstream, item, &decider->recalled, error);
    const struct upstream_outcome *by_now = &decider->recalled;
    if (!status)
        *out = (struct doppel_decided){.decision = by_now->decision,
                                       .why = by_now->reason,
                                       .item = item,
                                       .upstream = by_now->detail,
                                       .queued = by_now->queued};
    return status;
}

size_t doppel_decider_waiting(const struct doppel_decider *decider)
{
    if (decider->failure.status)
        return 0;
    return decider->in_files || decider->walks ? file_stream_waiting(decider->files)
                                               : ingest_waiting(decider->records);
}

/* ---- life ---- */

enum doppel_status decider_open(struct doppel_run *run, struct doppel_library *library,
                                const struct doppel_decide_options *options,
                                const struct decider_intake *intake, struct doppel_decider **out,
                                struct doppel_error *error)
{
    struct doppel_decider *decider = calloc(1, sizeof *decider);
    if (!decider)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide");
    decider->options = *options;
    decider->run = run;
    decider->library = library;
    doppel_run_watch(run, library);
    decider->walks = intake->walks || options->watch;
    decider->file_options = (struct file_stream_options){
        .decider = {.decide = &decider->options,
                    .read = intake->read,
                    .run = run,
                    .library = library},
        .walk = intake->walk,
    };
    if (options->watch)
        decider->file_options.walk = (struct doppel_walk_options){
            .feed = watch_next_path, .feed_context = options->watch, .found = true};
    enum doppel_status status;
    if (options->upstream.service.url && !options->dry_run)
        TRY(upstream_new(decider->options.upstream.run ? decider->options.upstream.run : run,
                         library, &decider->options.upstream, &decider->upstream, error));
    if (options->semantic && !(decider->meaning = meaning_stage_new(run, &decider->options)))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide"));
    decider->file_options.decider.upstream = decider->upstream;
    TRY(decider->walks ? open_files(decider, error) : open_records(decider, error));
done:
    if (status)
        doppel_decider_free(decider);
    else
        *out = decider;
    return status;
}

enum doppel_status doppel_decider_new(struct doppel_run *run, struct doppel_library *library,
                                      const struct doppel_decide_options *options,
                                      struct doppel_decider **out, struct doppel_error *error)
{
    const struct doppel_decide_options defaults = doppel_decide_options_default();
    options = options ? options : &defaults;
    struct decider_intake intake = {.read.text = options->search.compare.text};
    memcpy(intake.read.schemes, options->search.compare.schemes, sizeof intake.read.schemes);
    return decider_open(run, library, options, &intake, out, error);
}

void doppel_decider_free(struct doppel_decider *decider)
{
    if (!decider)
        return;
    file_stream_free(decider->files);
    ingest_free(decider->records);
    meaning_stage_free(decider->meaning);
    upstream_free(decider->upstream);
    upstream_outcome_free(&decider->recalled);
    doppel_library_set_watch(decider->library, NULL);
    free(decider);
}
