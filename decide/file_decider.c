/* What is to be decided of a file: by the facts, and keeping what was decided. */
#include "decide/file_decider_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/absolute_path.h"
#include "core/try.h"
#include "decide/ledger.h"
#include "decide/log_entry.h"
#include "decide/known_failures.h"

void file_decision_free(struct file_decision *decision)
{
    doppel_name_free(&decision->of);
    doppel_comparison_free(&decision->match);
    list_hits_free(&decision->hits);
    upstream_outcome_free(&decision->upstream);
    free(decision->of_external_id);
    *decision = (struct file_decision){0};
}

enum doppel_status file_decider_new(const struct file_decider_options *options,
                                    struct file_decider **out, struct doppel_error *error)
{
    struct file_decider *decider = calloc(1, sizeof *decider);
    if (!decider)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide about files");
    decider->options = options;
    decider->decide = options->decide;
    decider->run = options->run;
    decider->library = options->library;
    decider->other_schemes = (struct other_scheme_reader){options->run, options->read, NULL};
    *out = decider;
    return DOPPEL_OK;
}

static void forget_candidates(struct file_decider *decider)
{
    for (size_t i = 0; i < decider->abouts.count; i++)
        doppel_metadata_free(&decider->abouts.items[i]);
    decider->abouts.count = decider->candidates.count = 0;
}

void file_decider_free(struct file_decider *decider)
{
    if (!decider)
        return;
    forget_candidates(decider);
    file_decider_forget_folders(decider);
    array_free(&decider->abouts);
    array_free(&decider->candidates);
    array_free(&decider->apart);
    doppel_search_results_free(&decider->results);
    doppel_search_free(decider->search);
    other_scheme_reader_free(&decider->other_schemes);
    free(decider);
}

/* ---- paths ---- */

void file_decider_forget_folders(struct file_decider *decider)
{
    free(decider->folder);
    free(decider->real_folder);
    decider->folder = decider->real_folder = NULL;
}

static bool decision_links(const char *path)
{
    struct stat status;
    return lstat(path, &status) || S_ISLNK(status.st_mode);
}

/* absolute_path; of files of one folder, which often come together, at the cost of one look. NULL:
 * no memory. */
static char *absolute_path_of(struct file_decider *decider, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = (size_t)(name - path);
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || decision_links(path))
        return absolute_path(path);
    if (!decider->folder || strlen(decider->folder) != length ||
        memcmp(decider->folder, path, length) != 0) {
        file_decider_forget_folders(decider);
        decider->folder = strndup(path, length);
        if (decider->folder)
            decider->real_folder = absolute_path(length ? decider->folder : ".");
        if (!decider->real_folder) {
            file_decider_forget_folders(decider);
            return NULL;
        }
    }
    size_t real = strlen(decider->real_folder);
    char *absolute = malloc(real + strlen(name) + 2);
    if (!absolute)
        return NULL;
    bool root = real && decider->real_folder[real - 1] == '/';
    stpcpy(stpcpy(stpcpy(absolute, decider->real_folder), root ? "" : "/"), name);
    return absolute;
}

/* ---- for the intake ---- */

static bool reads_scheme(const struct file_decider *decider, enum doppel_kind kind,
                         enum doppel_scheme_id id, uint16_t version)
{
    const struct doppel_scheme *scheme =
        kind <= DOPPEL_KIND_VIDEO ? read_scheme(&decider->options->read, kind) : NULL;
    return scheme && scheme->id == id && scheme->version == version;
}

/* Of an item that nothing was made of: as long as it follows the one that it was listed by. */
static bool is_listed_item(const struct file_decider *decider, const struct doppel_known *known)
{
    uint64_t leader;
    return known->scheme == DOPPEL_SCHEME_NONE &&
           !doppel_library_leader(decider->library, known->id, &leader, NULL) &&
           leader != known->id;
}

/* It may have been read in another way before. */
static bool is_read_otherwise(const struct file_decider *decider)
{
    const struct doppel_read_options *read = &decider->options->read;
    return read->text_format_given || read->pcm.format;
}

bool file_is_known(void *context, const char *path, const struct doppel_file_stamp *stamp)
{
    struct file_decider *decider = context;
    struct doppel_known known = {0};
    if (is_read_otherwise(decider))
        return false;
    char *absolute = absolute_path_of(decider, path);
    bool same = absolute &&
                !doppel_library_get_by_path(decider->library, absolute, stamp, &known, NULL) &&
                known.unchanged &&
                (reads_scheme(decider, known.kind, known.scheme, known.version) ||
                 (!decider->options->read.kind && /* who names a kind wants no others */
                  is_listed_item(decider, &known)));
    if (known.kind == DOPPEL_KIND_AUDIO &&
        read_scheme(&decider->options->read, DOPPEL_KIND_VIDEO) && named_as_video(path))
        same = false; /* its audio may have been added alone, before */
    free(absolute);
    return same;
}

bool file_fails(void *context, const char *path, const struct doppel_file_stamp *stamp,
                struct doppel_error *out)
{
    struct file_decider *decider = context;
    if (is_read_otherwise(decider))
        return false;
    char *absolute = absolute_path_of(decider, path);
    bool known = absolute && failure_is_known(decider->run, decider->library, absolute, stamp, out);
    free(absolute);
    return known;
}

bool file_recall(void *context, const struct doppel_digest *digest, struct doppel_record *out)
{
    const struct file_decider *decider = context;
    struct doppel_item item;
    uint64_t id;
    if (doppel_library_by_bytes(decider->library, digest, &id, NULL, NULL) || !id ||
        doppel_library_get(decider->library, id, true, &item, NULL))
        return false;
    const struct doppel_record *record = &item.record;
    bool good = reads_scheme(decider, record->kind, record->scheme, record->version);
    if (good) {
        *out = item.record;
        item.record = (struct doppel_record){0};
    }
    doppel_item_free(&item);
    return good;
}

/* ---- what is reported ---- */

/* Of the same bytes or content, for which nothing was compared. */
static bool is_by_bytes(const struct file_decision *decision)
{
    const struct rule_answer *answer = &decision->answer;
    return answer->candidate == NO_CANDIDATE && answer->of &&
           answer->reason != DOPPEL_BECAUSE_KNOWN && answer->reason != DOPPEL_BECAUSE_MARKED &&
           !rule_keeps_out(answer);
}

/* The match that decided; taken from the results of the search. */
static enum doppel_status describe_file_match(struct file_decider *decider,
                                              struct file_decision *decision,
                                              struct doppel_error *error)
{
    const struct rule_answer *answer = &decision->answer;
    if (answer->candidate != NO_CANDIDATE) {
        uint64_t id = decider->candidates.items[answer->candidate].id;
        struct doppel_search_result *found = doppel_search_results_find(&decider->results, id);
        decision->match = found->comparison;
        found->comparison = (struct doppel_comparison){0};
    } else if (is_by_bytes(decision)) {
        enum doppel_status status =
            doppel_compare_same(&decider->file->file->record, &decision->match, error);
        if (status)
            return status;
    } else {
        return DOPPEL_OK;
    }
    decision->has_match = true;
    decision->same_as = answer->same_as == answer->of ? 0 : answer->same_as;
    return DOPPEL_OK;
}

static const char *why_of(const struct file_decider *decider, const struct rule_answer *answer)
{
    bool says = answer->decision == DOPPEL_DECISION_UNREADABLE ||
                answer->decision == DOPPEL_DECISION_TOO_SHORT;
    return says ? decider->problem : doppel_decision_reason_name(answer->reason);
}

/* ---- keeping ---- */

struct doppel_metadata file_own_metadata(const struct file_decider *decider)
{
    const struct file_to_decide *file = decider->file;
    struct doppel_metadata about = file->said ? *file->said : (struct doppel_metadata){0};
    about.source = (char *)file->source;
    about.date = (char *)file->date;
    if (!about.external_id)
        about.external_id = (char *)file->id;
    return about;
}

static enum doppel_status keep_metadata(struct file_decider *decider, uint64_t item,
                                        struct doppel_error *error)
{
    const struct doppel_metadata about = file_own_metadata(decider);
    bool said = decider->file->said || about.source || about.date || about.external_id;
    return item ? ledger_describe(decider->library, item, decider->decide->metadata,
                                  said ? &about : NULL, error)
                : DOPPEL_OK;
}

static enum doppel_status link_to_leader(struct file_decider *decider,
                                         struct file_decision *decision, struct doppel_error *error)
{
    uint64_t leader = decision->answer.of;
    return decision->answer.follows && decision->item != leader
               ? ledger_follow(decider->library, decision->item, leader, &decision->replaces, error)
               : DOPPEL_OK;
}

static enum doppel_status remember_file(struct file_decider *decider,
                                        struct file_decision *decision,
                                        enum doppel_added *out_added, struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    if (decider->file->is_nowhere)
        return doppel_library_add_without_file(decider->library, &file->record,
                                               file_own_metadata(decider).external_id,
                                               decision->answer.former, &decision->item, error);
    enum doppel_status status =
        doppel_library_add_decided(decider->library, decider->path, &file->stamp, &file->record,
                                   out_added, &decision->item, error);
    return status ? status : doppel_library_forget_failure(decider->library, decider->path, error);
}

static enum doppel_status log_decision(struct file_decider *decider,
                                       const struct file_decision *decision,
                                       struct doppel_error *error)
{
    return decide_log(decider->library, &decider->decide->search.compare, decider->path,
                      decider->file->source, decider->file->file->record.version, decision, error);
}

static enum doppel_status keep_decision(struct file_decider *decider,
                                        struct file_decision *decision, struct doppel_error *error)
{
    const struct rule_answer *answer = &decision->answer;
    enum doppel_added added = DOPPEL_ADDED_UNCHANGED;
    enum doppel_status status = DOPPEL_OK;
    bool readable = answer->decision != DOPPEL_DECISION_UNREADABLE;
    bool known = readable && decision->item;
    const struct intake_file *file = decider->file->file;
    bool unchanged = file->known || (known && decider->file->is_nowhere);
    if (rule_keeps_out(answer) || file_is_listed_alone(decider))
        return log_decision(decider, decision, error);
    if (readable && !unchanged)
        TRY(remember_file(decider, decision, &added, error));
    else if (file->record.error.status && !file->known && file->stamp.inode)
        TRY(failure_keep(decider->run, decider->library, decider->path, &file->stamp,
                         &file->record.error, error));
    bool decided = !known && (readable || !file->known); /* else it is there already */
    if (decided)
        TRY(log_decision(decider, decision, error));
    TRY(keep_metadata(decider, decision->item, error));
    if (decided && readable && added != DOPPEL_ADDED_MOVED)
        TRY(link_to_leader(decider, decision, error));
    if (decided && answer->former)
        decision->replaces = answer->former;
    if (decided && answer->decision == DOPPEL_DECISION_NEW)
        TRY(upstream_queue(decider->options->upstream, decision->item, error));
done:
    return status;
}

enum doppel_status file_decider_prepare(struct file_decider *decider,
                                        const struct intake_file *file, bool nowhere,
                                        bool *out_tracks, struct doppel_error *error)
{
    char *path = nowhere ? strdup("") : absolute_path_of(decider, file->path);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    enum doppel_status status =
        doppel_library_prepare(decider->library, path, &file->record, out_tracks, error);
    free(path);
    return status;
}

/* ---- ids that came before ---- */

/* What was there before under an id, an item or a record; 0: nothing. */
static enum doppel_status find_same_id(struct file_decider *decider, const char *id, uint64_t *out,
                                       struct doppel_error *error)
{
    struct doppel_reference called = {0};
    char *name = malloc(strlen(id) + sizeof "id:");
    if (!name)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an id");
    stpcpy(stpcpy(name, "id:"), id);
    enum doppel_status status = doppel_library_resolve(decider->library, name, &called, error);
    free(name);
    *out = called.id;
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* An id may be that of one file alone, wherever that moves and however it changes at its path. */
static enum doppel_status check_id(struct file_decider *decider, struct file_decision *decision,
                                   struct doppel_error *error)
{
    const struct rule_answer *answer = &decision->answer;
    const char *id = file_own_metadata(decider).external_id;
    const bool changed = answer->reason == DOPPEL_BECAUSE_SAME_PATH;
    uint64_t other = 0;
    if (!id || answer->decision == DOPPEL_DECISION_UNREADABLE ||
        answer->reason == DOPPEL_BECAUSE_MOVED)
        return DOPPEL_OK;
    enum doppel_status status = find_same_id(decider, id, &other, error);
    if (status || !other || other == decision->item || (changed && other == answer->former))
        return status;
    if (rule_by_id(decider->decide->on_same_id, other, &decision->answer))
        decision->item = decision->replaces = 0;
    decision->same_id = other == answer->former ? 0 : other;
    return DOPPEL_OK;
}

/* ---- deciding ---- */

/* A file that has changed may be the duplicate of another one, too: whose place it takes is one
 * thing, whom it follows another. */
static enum doppel_status find_other_leader(struct file_decider *decider, struct rule_bytes bytes,
                                            struct rule_answer *answer, struct doppel_error *error)
{
    struct rule_content content;
    struct rule_answer other;
    uint64_t former = bytes.here;
    bytes.here = bytes.gone = 0;
    if (!rule_by_bytes(&bytes, &other)) {
        enum doppel_status status = file_gather_content(decider, &content, error);
        if (status)
            return status;
        rule_by_content(&content, &other);
    }
    bool by_a_match = other.follows && other.reason != DOPPEL_BECAUSE_MARKED;
    if (!by_a_match || other.of == former)
        return DOPPEL_OK;
    answer->of = other.of;
    answer->same_as = other.same_as;
    answer->candidate = other.candidate;
    answer->follows = true;
    return DOPPEL_OK;
}

/* What it could not be compared with may have it: nobody is to take it for new. */
static void refuse_new_unless_compared(struct file_decider *decider, struct rule_answer *answer)
{
    const uint64_t *counts = decider->results.not_compared;
    const char *why = NULL;
    if (answer->decision != DOPPEL_DECISION_NEW || file_is_code(decider))
        return;
    for (int i = 1; i < DOPPEL_SEARCH_SCHEMES; i++)
        if (counts[i])
            why = "nothing like it among what it could be compared with, but there are items of "
                  "other schemes (\"not_compared\")";
    if (decider->results.unreadable.count)
        why = "nothing like it among what it could be compared with, but there are items like it "
              "that are damaged (\"unreadable\")";
    if (!why)
        return;
    *answer =
        (struct rule_answer){.decision = DOPPEL_DECISION_UNREADABLE, .candidate = NO_CANDIDATE};
    decider->problem = why;
}

static enum doppel_status decide_by_rule(struct file_decider *decider, struct file_decision *out,
                                         struct doppel_error *error)
{
    struct rule_bytes bytes;
    struct rule_content content;
    enum doppel_status status;
    TRY(file_gather_bytes(decider, &bytes, error));
    out->item = bytes.here_same ? bytes.here : 0;
    if (rule_by_bytes(&bytes, &out->answer)) {
        out->replaces = decider->former = out->answer.former;
        return decider->former ? find_other_leader(decider, bytes, &out->answer, error) : DOPPEL_OK;
    }
    TRY(file_gather_content(decider, &content, error));
    rule_by_content(&content, &out->answer);
    refuse_new_unless_compared(decider, &out->answer);
    if (out->answer.decision == DOPPEL_DECISION_TOO_SHORT)
        decider->problem =
            doppel_compare_obstacle(&decider->file->file->record, &decider->decide->search.compare);
done:
    return status;
}

/* A file that was there already is no match. An image with the bytes of another one is compared all
 * the same: a list may have come between the two. */
static enum doppel_status gather_hits(struct file_decider *decider, struct file_decision *decision,
                                      struct doppel_error *error)
{
    const struct doppel_decide_options *decide = decider->decide;
    const bool there = decision->answer.reason == DOPPEL_BECAUSE_KNOWN ||
                       decision->answer.reason == DOPPEL_BECAUSE_MOVED;
    struct rule_content content;
    if (is_by_bytes(decision) && !decider->candidates.count &&
        decider->file->file->record.kind == DOPPEL_KIND_IMAGE &&
        doppel_library_has_lists(decider->library)) {
        enum doppel_status status = file_gather_content(decider, &content, error);
        if (status)
            return status;
    }
    const struct list_query query = {.answer = &decision->answer,
                                     .candidates = decider->candidates.items,
                                     .count = decider->candidates.count,
                                     .counts =
                                         !there && (!decide->dry_run || decide->count_matches)};
    return list_hits_gather(decider->library, &query, &decision->hits, error);
}

/* What it is linked to may be damaged, and then has no name. */
static enum doppel_status name_primary(struct file_decider *decider, struct file_decision *decision,
                                       struct doppel_error *error)
{
    struct doppel_metadata about;
    uint64_t of = decision->answer.of;
    if (!of)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_name(decider->library, of, &decision->of, error);
    if (!status && !decision->of.path && !decision->of.record_id &&
        !(status = doppel_library_get_metadata(decider->library, of, &about, error))) {
        decision->of_external_id = about.external_id;
        about.external_id = NULL;
        doppel_metadata_free(&about);
    }
    return status == DOPPEL_E_MEMORY ? status : DOPPEL_OK;
}

enum doppel_status file_decision_take_outcome(struct file_decider *decider,
                                              struct file_decision *decision,
                                              struct doppel_error *error)
{
    struct upstream *upstream = decider->options->upstream;
    if (!upstream || decision->answer.decision != DOPPEL_DECISION_NEW || !decision->item)
        return DOPPEL_OK;
    enum doppel_status status =
        upstream_outcome(upstream, decision->item, &decision->upstream, error);
    if (status || decision->upstream.decision == DOPPEL_DECISION_NEW)
        return status;
    decision->answer.decision = decision->upstream.decision;
    decision->answer.reason = doppel_decision_reason_of(decision->upstream.reason);
    decision->why = decision->upstream.reason;
    return DOPPEL_OK;
}

static enum doppel_status decide_and_keep(struct file_decider *decider,
                                          struct file_decision *decision,
                                          struct doppel_error *error)
{
    enum doppel_status status;
    (void)doppel_library_read_failure(decider->library, NULL); /* of what came before */
    TRY(decide_by_rule(decider, decision, error));
    TRY(check_id(decider, decision, error));
    TRY(doppel_library_read_failure(decider->library, error)); /* then the rule knew too little */
    TRY(describe_file_match(decider, decision, error));
    decision->why = why_of(decider, &decision->answer);
    decision->unreadable = decider->results.unreadable;
    memcpy(decision->not_compared, decider->results.not_compared, sizeof decision->not_compared);
    TRY(gather_hits(decider, decision, error));
    if (!decider->decide->dry_run)
        TRY(keep_decision(decider, decision, error));
    TRY(name_primary(decider, decision, error));
done:
    return status;
}

enum doppel_status file_decide(struct file_decider *decider, const struct file_to_decide *file,
                               struct file_decision *out, struct doppel_error *error)
{
    struct file_decision decision = {0};
    decider->file = file;
    decider->former = 0;
    decider->problem = NULL;
    decider->results.unreadable.count = 0;
    memset(decider->results.not_compared, 0, sizeof decider->results.not_compared);
    decider->path =
        file->is_nowhere ? strdup(file->file->path) : absolute_path_of(decider, file->file->path);
    if (!decider->path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    enum doppel_status status = decide_and_keep(decider, &decision, error);
    forget_candidates(decider);
    free(decider->path);
    decider->path = NULL;
    if (status)
        file_decision_free(&decision);
    else
        *out = decision;
    return status;
}
