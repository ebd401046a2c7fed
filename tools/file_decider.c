/* What is to be decided of a file, from a library: gathering facts, and keeping what was decided.
 */
#include "tools/file_decider.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/array.h"
#include "tools/about_options.h"
#include "tools/collection.h"
#include "tools/decide_log.h"
#include "tools/exact_digests.h"
#include "tools/known_failures.h"
#include "tools/library_search.h"
#include "tools/memory.h"
#include "tools/pair_judge.h"

struct file_decider {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct library_search *search; /* NULL: nothing was looked for yet */
    struct answers answers;
    ARRAY(struct rule_candidate) candidates;
    ARRAY(struct doppel_about) abouts; /* of the candidates whose origin was asked for */

    char *folder, *real_folder; /* that the last path was in, and its absolute form; or NULL */

    /* of the file at hand */
    const struct file_to_decide *file;
    char *path; /* absolute */
    uint64_t marked;
};

void file_decision_free(struct file_decision *decision)
{
    doppel_name_free(&decision->of);
    json_decref(decision->match);
    *decision = (struct file_decision){0};
}

enum doppel_status file_decider_new(const struct settings *settings, struct report *report,
                                    struct doppel_library *library, struct file_decider **out,
                                    struct doppel_error *error)
{
    (void)error;
    struct file_decider *decider = must_allocate(sizeof *decider);
    *decider = (struct file_decider){.settings = settings, .report = report, .library = library};
    *out = decider;
    return DOPPEL_OK;
}

static void forget_candidates(struct file_decider *decider)
{
    for (size_t i = 0; i < decider->abouts.count; i++)
        doppel_about_free(&decider->abouts.items[i]);
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
    answers_free(&decider->answers);
    library_search_free(decider->search);
    free(decider);
}

/* ---- paths ---- */

void file_decider_forget_folders(struct file_decider *decider)
{
    free(decider->folder);
    free(decider->real_folder);
    decider->folder = decider->real_folder = NULL;
}

static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) || S_ISLNK(status.st_mode);
}

/* absolute_path; of files of one folder, which often come together, at the cost of one look. */
static char *path_of(struct file_decider *decider, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = (size_t)(name - path);
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_link(path))
        return absolute_path(path);
    if (!decider->folder || strlen(decider->folder) != length ||
        memcmp(decider->folder, path, length) != 0) {
        file_decider_forget_folders(decider);
        decider->folder = must_allocate(length + 1);
        memcpy(decider->folder, path, length);
        decider->real_folder = absolute_path(length ? decider->folder : ".");
    }
    size_t real = strlen(decider->real_folder);
    char *absolute = must_allocate(real + strlen(name) + 2);
    bool root = real && decider->real_folder[real - 1] == '/';
    stpcpy(stpcpy(stpcpy(absolute, decider->real_folder), root ? "" : "/"), name);
    return absolute;
}

/* ---- for the intake ---- */

static bool is_wanted(const struct file_decider *decider, enum doppel_kind kind,
                      enum doppel_scheme_id id, uint16_t version)
{
    const struct doppel_scheme *scheme =
        kind <= DOPPEL_KIND_VIDEO ? settings_scheme(decider->settings, kind) : NULL;
    return scheme && scheme->id == id && scheme->version == version;
}

bool file_is_known(void *context, const char *path, const struct doppel_file_stamp *stamp)
{
    struct file_decider *decider = context;
    struct doppel_known known = {0};
    if (decider->settings->text_format >= 0 || decider->settings->pcm.format)
        return false; /* it may have been read in another way */
    char *absolute = path_of(decider, path);
    bool same = !doppel_library_at(decider->library, absolute, stamp, &known, NULL) &&
                known.unchanged && is_wanted(decider, known.kind, known.scheme, known.version);
    if (known.kind == DOPPEL_KIND_AUDIO && settings_scheme(decider->settings, DOPPEL_KIND_VIDEO) &&
        named_as_film(path))
        same = false; /* its sound may have been added alone, before */
    free(absolute);
    return same;
}

bool file_fails(void *context, const char *path, const struct doppel_file_stamp *stamp,
                struct doppel_error *out)
{
    struct file_decider *decider = context;
    if (decider->settings->text_format >= 0 || decider->settings->pcm.format)
        return false;
    char *absolute = path_of(decider, path);
    bool known = failure_is_known(decider->settings, decider->library, absolute, stamp, out);
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
    bool good = is_wanted(decider, record->kind, record->scheme, record->version);
    if (good) {
        *out = item.record;
        item.record = (struct doppel_record){0};
    }
    doppel_item_free(&item);
    return good;
}

/* ---- by bytes ---- */

/* Its leader; itself when that cannot be told. */
static uint64_t leader_of(const struct file_decider *decider, uint64_t id)
{
    uint64_t leader = id;
    return id && doppel_library_leader(decider->library, id, &leader, NULL) ? id : leader;
}

static enum doppel_list_state state_of(const struct file_decider *decider, uint64_t id)
{
    enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
    if (id && doppel_library_has_states(decider->library))
        (void)doppel_library_state_of(decider->library, id, &state, NULL);
    return state;
}

/* The item at the path of the file. */
static enum doppel_status ask_by_path(struct file_decider *decider, struct rule_bytes *facts,
                                      struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    struct doppel_known known;
    enum doppel_status status =
        doppel_library_at(decider->library, decider->path, &file->stamp, &known, error);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    if (!status) {
        facts->here = known.id;
        facts->here_same =
            file->known ? known.unchanged
                        : memcmp(&known.digest, &file->record.digest, sizeof known.digest) == 0;
        facts->here_leader = leader_of(decider, known.id);
    }
    if (file->known && !facts->here_same)
        facts->unreadable = "the library was changed while the file was looked up; try again";
    return DOPPEL_OK;
}

static enum doppel_status ask_by_bytes(struct file_decider *decider, struct rule_bytes *facts,
                                       struct doppel_error *error)
{
    const struct doppel_digest *digest = &decider->file->file->record.digest;
    enum doppel_status status =
        doppel_library_by_bytes(decider->library, digest, &facts->same, &facts->gone, error);
    if (!status && !facts->same)
        status = exact_find(decider->library, decider->path, &decider->file->file->stamp,
                            &facts->same, error);
    if (status)
        return status;
    enum doppel_list_state state = state_of(decider, facts->same);
    if (state == DOPPEL_LIST_DISABLED)
        facts->same = 0;
    facts->same_is_benign = state == DOPPEL_LIST_BENIGN;
    facts->same_leader = leader_of(decider, facts->same);
    facts->gone_leader = leader_of(decider, facts->gone);
    return DOPPEL_OK;
}

static enum doppel_status gather_bytes(struct file_decider *decider, struct rule_bytes *facts,
                                       struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    *facts = (struct rule_bytes){0};
    if (file->record.error.status) {
        facts->unreadable = file->record.error.message;
        return DOPPEL_OK;
    }
    enum doppel_status status = ask_by_path(decider, facts, error);
    if (!status && !facts->here && !file->known)
        status = ask_by_bytes(decider, facts, error);
    return status;
}

/* ---- by content ---- */

static enum doppel_status want_search(struct file_decider *decider, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!decider->search) {
        status = library_search_new(decider->settings, decider->report, decider->library,
                                    &decider->search, error);
        if (!status)
            library_search_leaders(decider->search);
    }
    return status ? status : library_search_catch_up(decider->search, error);
}

/* Where it is from, if that may matter: borrowed from the abouts. */
static struct doppel_origin origin_of(struct file_decider *decider, uint64_t id)
{
    struct doppel_about about;
    if (!decider->file->source || !decider->file->date ||
        doppel_library_about(decider->library, id, &about, NULL))
        return (struct doppel_origin){0};
    if (!array_push(&decider->abouts, about)) {
        doppel_about_free(&about);
        return (struct doppel_origin){0};
    }
    return (struct doppel_origin){about.source, about.date};
}

/* Of texts alone it is told in this way; what is only near is never compared with the text itself.
 */
static bool is_same_text(const struct doppel_match *match)
{
    return match->kind == DOPPEL_KIND_TEXT && match->relation == DOPPEL_RELATION_SAME &&
           match->verified == DOPPEL_VERIFIED_EXACT && match->similarity >= 1;
}

/* What is no longer in the library is passed over. */
static enum doppel_status add_candidate(struct file_decider *decider, const struct answer *answer,
                                        struct doppel_error *error)
{
    struct doppel_name name;
    struct rule_candidate candidate = {.id = answer->id,
                                       .leader = leader_of(decider, answer->id),
                                       .same_content = is_same_text(&answer->pair.match),
                                       .state = state_of(decider, answer->id),
                                       .match = &answer->pair.match};
    enum doppel_status status = doppel_library_name(decider->library, answer->id, &name, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
    candidate.kind = name.kind;
    status = doppel_library_word(decider->library, &decider->file->file->record.digest,
                                 &name.content, &candidate.word, error);
    doppel_name_free(&name);
    if (status)
        return status;
    candidate.origin = origin_of(decider, answer->id);
    return array_push(&decider->candidates, candidate)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches");
}

static bool take_mark(void *context, const struct doppel_mark *mark)
{
    struct file_decider *decider = context;
    const struct doppel_digest *own = &decider->file->file->record.digest;
    bool first = memcmp(&mark->a, own, sizeof *own) == 0;
    uint64_t id = 0;
    if (mark->word == DOPPEL_WORD_SAME &&
        !doppel_library_by_digest(decider->library, first ? &mark->b : &mark->a, &id, NULL) && id &&
        state_of(decider, id) == DOPPEL_LIST_ACTIVE && (!decider->marked || id < decider->marked))
        decider->marked = id;
    return true;
}

static enum doppel_status gather_content(struct file_decider *decider, struct rule_content *facts,
                                         struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    decider->marked = 0;
    enum doppel_status status = want_search(decider, error);
    if (!status)
        status = library_search_file(decider->search, file, &decider->answers, error);
    for (size_t i = 0; i < decider->answers.items.count && !status; i++)
        if (!decider->answers.items.items[i].near_miss)
            status = add_candidate(decider, &decider->answers.items.items[i], error);
    if (!status)
        status = doppel_library_each_mark(decider->library, &file->record.digest, take_mark,
                                          decider, error);
    *facts = (struct rule_content){
        .kind = file->record.kind,
        .too_short = !status && pair_obstacle(decider->settings, &file->record),
        .origin = {decider->file->source, decider->file->date},
        .marked = leader_of(decider, decider->marked),
        .candidates = decider->candidates.items,
        .count = decider->candidates.count,
    };
    return status;
}

/* ---- what is told ---- */

static struct answer *answer_of_candidate(const struct file_decider *decider, size_t candidate)
{
    return answers_of(&decider->answers, decider->candidates.items[candidate].id);
}

/* The match that decided: its fields, and as the log has them. */
static void describe(struct file_decider *decider, struct file_decision *decision,
                     struct decide_match *match)
{
    struct pair_match same;
    const struct rule_answer *answer = &decision->answer;
    const struct doppel_record *record = &decider->file->file->record;
    bool by_bytes = answer->candidate == NO_CANDIDATE && answer->of && record->scheme &&
                    !decision->item && strcmp(answer->reason, "marked") != 0;
    if (answer->candidate != NO_CANDIDATE) {
        decision->match = decide_match_row(&answer_of_candidate(decider, answer->candidate)->pair);
        decide_match_fill(decider->settings,
                          &answer_of_candidate(decider, answer->candidate)->pair.match,
                          decision->match, match);
    } else if (by_bytes) {
        pair_of_same_bytes(record, &same);
        decision->match = decide_match_row(&same);
        decide_match_fill(decider->settings, &same.match, NULL, match);
        pair_match_free(&same);
    }
    match->version = record->version;
}

/* ---- keeping ---- */

static enum doppel_status tell_about(struct file_decider *decider, uint64_t item,
                                     struct doppel_error *error)
{
    const struct file_to_decide *file = decider->file;
    struct doppel_about about = {.source = (char *)file->source,
                                 .date = (char *)file->date,
                                 .external_id = (char *)file->id};
    bool said = about.source || about.date || about.external_id;
    if (!item)
        return DOPPEL_OK;
    enum doppel_status status = about_tell(decider->settings, decider->library, item, error);
    return said && !status ? doppel_library_tell(decider->library, item, &about, error) : status;
}

/* Link it to its leader, and choose which one of the group is to be kept. */
static enum doppel_status follow(struct file_decider *decider, struct file_decision *decision,
                                 struct doppel_error *error)
{
    struct doppel_candidate candidate;
    enum doppel_keep by;
    char *name = NULL;
    uint64_t leader = decision->answer.of;
    if (!decision->answer.follows || decision->item == leader)
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_library_link(decider->library, decision->item, leader, error);
    if (!status)
        status =
            doppel_library_candidate(decider->library, decision->item, &candidate, &name, error);
    if (!status)
        status = doppel_library_choose(decider->library, leader, decision->item, &candidate,
                                       &decision->replaces, &by, error);
    free(name);
    return status;
}

static enum doppel_status add(struct file_decider *decider, struct file_decision *decision,
                              enum doppel_added *out_added, struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    enum doppel_status status =
        doppel_library_add_decided(decider->library, decider->path, &file->stamp, &file->record,
                                   out_added, &decision->item, error);
    return status ? status : doppel_library_forget_failure(decider->library, decider->path, error);
}

static enum doppel_status keep(struct file_decider *decider, struct file_decision *decision,
                               const struct decide_match *match, struct doppel_error *error)
{
    const struct rule_answer *answer = &decision->answer;
    enum doppel_added added = DOPPEL_ADDED_UNCHANGED;
    enum doppel_status status = DOPPEL_OK;
    bool readable = answer->decision != DOPPEL_DECISION_UNREADABLE;
    bool known = readable && decision->item;
    const struct intake_file *file = decider->file->file;
    if (readable && !file->known)
        status = add(decider, decision, &added, error);
    else if (!readable && !file->known && file->stamp.inode)
        status = failure_keep(decider->settings, decider->library, decider->path, &file->stamp,
                              &file->record.error, error);
    if (!status)
        status = tell_about(decider, decision->item, error);
    if (status || known || (!readable && file->known))
        return status; /* it is there already: nothing was decided */
    if (readable && added != DOPPEL_ADDED_MOVED)
        status = follow(decider, decision, error);
    if (!status && answer->former)
        decision->replaces = answer->former;
    return status ? status
                  : decide_log(decider->library, decider->path, decider->file->source, decision,
                               match, error);
}

enum doppel_status file_decider_prepare(struct file_decider *decider,
                                        const struct intake_file *file, bool *out_tracks,
                                        struct doppel_error *error)
{
    char *path = path_of(decider, file->path);
    enum doppel_status status =
        doppel_library_prepare(decider->library, path, &file->record, out_tracks, error);
    free(path);
    return status;
}

/* ---- deciding ---- */

static enum doppel_status decide(struct file_decider *decider, struct file_decision *out,
                                 struct doppel_error *error)
{
    struct rule_bytes bytes;
    struct rule_content content;
    enum doppel_status status = gather_bytes(decider, &bytes, error);
    if (!status && rule_by_bytes(&bytes, &out->answer)) {
        out->item = bytes.here_same ? bytes.here : 0;
        out->replaces = out->answer.former;
        return DOPPEL_OK;
    }
    if (!status)
        status = gather_content(decider, &content, error);
    if (!status)
        rule_by_content(&content, &out->answer);
    return status;
}

enum doppel_status file_decide(struct file_decider *decider, const struct file_to_decide *file,
                               bool only_asked, struct file_decision *out,
                               struct doppel_error *error)
{
    struct decide_match match = {0};
    struct file_decision decision = {0};
    decider->file = file;
    decider->path = path_of(decider, file->file->path);
    enum doppel_status status = decide(decider, &decision, error);
    if (!status)
        describe(decider, &decision, &match);
    if (!status && !only_asked)
        status = keep(decider, &decision, &match, error);
    if (!status && decision.answer.of &&
        doppel_library_name(decider->library, decision.answer.of, &decision.of, error) ==
            DOPPEL_E_MEMORY)
        status = DOPPEL_E_MEMORY;
    decide_match_free(&match);
    forget_candidates(decider);
    free(decider->path);
    decider->path = NULL;
    if (status)
        file_decision_free(&decision);
    else
        *out = decision;
    return status;
}
