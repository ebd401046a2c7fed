/* The facts by which is decided of a file, from a library: the cheapest first. */
#include "decide/file_decider_internal.h"

#include <string.h>

#include "core/digest.h"
#include "core/try.h"

/* So many items with the same bytes or pixels are looked at for one that counts. */
enum { MAX_SAME = 64 };

/* ---- by bytes ---- */

/* Its representative; itself when that is not known. */
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
        doppel_library_get_by_path(decider->library, decider->path, &file->stamp, &known, error);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    if (!status) {
        facts->here = known.id;
        facts->here_same =
            file->known ? known.unchanged
                        : memcmp(&known.digest, &file->record.digest, sizeof known.digest) == 0;
        facts->here_leader = leader_of(decider, known.id);
    }
    return DOPPEL_OK;
}

/* The item that is meant, of what has no path: it may be another one's place that it takes. */
static enum doppel_status ask_by_id(struct file_decider *decider, struct rule_bytes *facts,
                                    struct doppel_error *error)
{
    const struct doppel_metadata *of_all = decider->decide->metadata;
    struct doppel_metadata about = file_own_metadata(decider);
    if (!about.list_count && of_all) {
        about.lists = of_all->lists;
        about.list_count = of_all->list_count;
    }
    facts->by_id = true;
    return doppel_library_find_without_file(decider->library, &decider->file->file->record, &about,
                                            &facts->here, &facts->here_same, error);
}

/* What it matches is benign: it is on such a list, or was itself decided to be nobody's duplicate
 * on account of one that is. */
static bool item_is_benign(const struct file_decider *decider, uint64_t id)
{
    uint64_t of = 0;
    return state_of(decider, id) == DOPPEL_LIST_BENIGN ||
           (!doppel_library_benign_of(decider->library, id, &of, NULL) && of &&
            state_of(decider, of) == DOPPEL_LIST_BENIGN);
}

/* The first counts, but for one that is benign. */
static void take_same(const struct file_decider *decider, struct rule_bytes *facts, uint64_t id)
{
    bool states = doppel_library_has_states(decider->library);
    if (!id || facts->same_is_benign || state_of(decider, id) == DOPPEL_LIST_DISABLED)
        return;
    facts->same_is_benign = states && item_is_benign(decider, id);
    if (!facts->same || facts->same_is_benign)
        facts->same = id;
}

/* Whether others may count more than the first. */
static bool looks_further(const struct file_decider *decider, const struct rule_bytes *facts)
{
    return !facts->same || (!facts->same_is_benign && doppel_library_has_states(decider->library));
}

static bool take_distinct(void *context, const struct doppel_mark *mark)
{
    struct file_decider *decider = context;
    const struct doppel_digest *own = &decider->file->file->record.digest;
    bool first = memcmp(&mark->a, own, sizeof *own) == 0;
    uint64_t id;
    return mark->word != DOPPEL_LABEL_DISTINCT ||
           doppel_library_by_digest(decider->library, first ? &mark->b : &mark->a, &id, NULL) ||
           array_push(&decider->apart, leader_of(decider, id));
}

/* The groups in which it cannot be. */
static enum doppel_status ask_apart(struct file_decider *decider, struct doppel_error *error)
{
    if (!doppel_library_has_labels(decider->library))
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_each_mark(
        decider->library, &decider->file->file->record.digest, take_distinct, decider, error);
    if (status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what was said of a file");
    return status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status; /* damaged words were not said */
}

/* What somebody said of the file and an item, or another one of its group. */
static enum doppel_status ask_word(const struct file_decider *decider,
                                   const struct doppel_digest *content, uint64_t leader,
                                   enum doppel_manual_label *out, struct doppel_error *error)
{
    for (size_t i = 0; i < decider->apart.count; i++)
        if (decider->apart.items[i] == leader) {
            *out = DOPPEL_LABEL_DISTINCT;
            return DOPPEL_OK;
        }
    return doppel_library_get_label(decider->library, &decider->file->file->record.digest, content,
                                    out, error);
}

static bool is_distinct(const struct file_decider *decider, uint64_t id)
{
    struct doppel_name name;
    enum doppel_manual_label word = DOPPEL_LABEL_NONE;
    if (!doppel_library_has_labels(decider->library) ||
        doppel_library_name(decider->library, id, &name, NULL))
        return false;
    (void)ask_word(decider, &name.content, leader_of(decider, id), &word, NULL);
    doppel_name_free(&name);
    return word == DOPPEL_LABEL_DISTINCT;
}

static enum doppel_status ask_by_pixels(struct file_decider *decider, struct rule_bytes *facts,
                                        struct doppel_error *error)
{
    const struct doppel_digest *pixels = &decider->file->file->record.pixels;
    enum doppel_status status = DOPPEL_OK;
    uint64_t id = 0;
    if (digest_is_none(pixels))
        return DOPPEL_OK;
    for (int i = 0; i < MAX_SAME && looks_further(decider, facts); i++) {
        status = doppel_library_by_pixels(decider->library, pixels, id, &id, error);
        if (status || !id)
            break;
        if (!is_distinct(decider, id))
            take_same(decider, facts, id);
    }
    facts->same_content = facts->same != 0;
    return status;
}

static enum doppel_status ask_by_exact(struct file_decider *decider, struct rule_bytes *facts,
                                       struct doppel_error *error)
{
    uint64_t ids[DOPPEL_EXACT_KINDS] = {0};
    enum doppel_status status =
        doppel_library_by_any_exact(decider->library, &decider->file->file->exact, ids, error);
    for (size_t i = 0; i < DOPPEL_EXACT_KINDS && !status; i++)
        take_same(decider, facts, ids[i]);
    return status;
}

static enum doppel_status ask_by_bytes(struct file_decider *decider, struct rule_bytes *facts,
                                       struct doppel_error *error)
{
    const struct doppel_digest *digest = &decider->file->file->record.digest;
    uint64_t id = 0;
    enum doppel_status status;
    TRY(doppel_library_by_bytes(decider->library, digest, &id,
                                decider->file->is_nowhere ? NULL : &facts->gone, error));
    take_same(decider, facts, id);
    for (int i = 1; i < MAX_SAME && id && looks_further(decider, facts); i++) {
        TRY(doppel_library_next_by_bytes(decider->library, digest, id, &id, error));
        take_same(decider, facts, id);
    }
    if (looks_further(decider, facts))
        TRY(ask_by_exact(decider, facts, error));
    if (!facts->same && !facts->gone)
        TRY(ask_by_pixels(decider, facts, error));
    facts->same_leader = leader_of(decider, facts->same);
    facts->gone_leader = leader_of(decider, facts->gone);
done:
    return status;
}

bool file_is_code(const struct file_decider *decider)
{
    return decider->file->is_nowhere && !file_is_listed_alone(decider) &&
           digest_is_none(&decider->file->file->record.digest);
}

bool file_is_listed_alone(const struct file_decider *decider)
{
    const struct doppel_record *record = &decider->file->file->record;
    return decider->file->is_nowhere && record->scheme == DOPPEL_SCHEME_NONE &&
           !record->error.status;
}

enum doppel_status file_gather_bytes(struct file_decider *decider, struct rule_bytes *facts,
                                     struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    *facts = (struct rule_bytes){0};
    decider->apart.count = 0;
    if (file->record.error.status) {
        facts->unreadable = true;
        decider->problem = file->record.error.message;
        return DOPPEL_OK;
    }
    enum doppel_status status;
    if (!file_is_listed_alone(decider))
        TRY(decider->file->is_nowhere ? ask_by_id(decider, facts, error)
                                      : ask_by_path(decider, facts, error));
    if (file_is_code(decider))
        return DOPPEL_OK; /* it has no bytes */
    if (decider->file->is_nowhere || (!facts->here_same && !file->known)) {
        TRY(ask_apart(decider, error));
        TRY(ask_by_bytes(decider, facts, error));
    }
    if (!file->record.scheme && !facts->here_same && !facts->same) { /* and nothing else is known */
        facts->unreadable = true;
        decider->problem = "the library was changed while the file was looked up; try again";
    }
done:
    return status;
}

unsigned file_exact_kinds(void *context)
{
    const struct file_decider *decider = context;
    unsigned kinds;
    return doppel_library_exact_kinds(decider->library, &kinds, NULL) ? 0 : kinds;
}

/* Whether nothing is known of an item but its bytes. */
static bool has_bytes_alone(const struct file_decider *decider, uint64_t id)
{
    struct doppel_item item;
    if (doppel_library_get(decider->library, id, false, &item, NULL))
        return false;
    bool alone = item.record.scheme == DOPPEL_SCHEME_NONE;
    doppel_item_free(&item);
    return alone;
}

/* What decides ends the work; a file that is new all the same is one that is to be found later. */
bool file_is_listed(void *context, const struct doppel_digest *digest,
                    const struct doppel_exact_digests *exact)
{
    const struct file_decider *decider = context;
    uint64_t ids[DOPPEL_EXACT_KINDS] = {0}, same;
    bool active = false, benign = false;
    if (doppel_library_by_any_exact(decider->library, exact, ids, NULL))
        return false;
    for (size_t i = 0; i < DOPPEL_EXACT_KINDS; i++) {
        active |= ids[i] && state_of(decider, ids[i]) == DOPPEL_LIST_ACTIVE;
        benign |= ids[i] && state_of(decider, ids[i]) == DOPPEL_LIST_BENIGN;
    }
    return active && !benign &&
           (doppel_library_by_digest(decider->library, digest, &same, NULL) ||
            has_bytes_alone(decider, same));
}

/* ---- by content ---- */

static enum doppel_status want_search(struct file_decider *decider, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!decider->search) {
        struct doppel_search_options options = decider->decide->search;
        options.representatives = true;
        if (!options.fingerprint) {
            options.fingerprint = other_scheme_read;
            options.fingerprint_context = &decider->other_schemes;
        }
        status =
            doppel_search_new(decider->run, decider->library, &options, &decider->search, error);
    }
    return status ? status : doppel_search_refresh(decider->search, error);
}

/* Where it is from, if that may matter: borrowed from the abouts. */
static struct doppel_origin origin_of_file(struct file_decider *decider, uint64_t id)
{
    struct doppel_metadata about;
    if (!decider->file->source || !decider->file->date ||
        doppel_library_get_metadata(decider->library, id, &about, NULL))
        return (struct doppel_origin){0};
    if (!array_push(&decider->abouts, about)) {
        doppel_metadata_free(&about);
        return (struct doppel_origin){0};
    }
    return (struct doppel_origin){about.source, about.date};
}

/* Of texts alone it is decided in this way; what is only near is never compared with the text
 * itself.
 */
static bool is_same_text(const struct doppel_match *match)
{
    return match->kind == DOPPEL_KIND_TEXT && match->relation == DOPPEL_RELATION_SAME &&
           match->verified == DOPPEL_VERIFIED_EXACT && match->similarity >= 1;
}

/* What is no longer in the library is passed over. */
static enum doppel_status add_candidate(struct file_decider *decider,
                                        const struct doppel_search_result *result,
                                        struct doppel_error *error)
{
    struct doppel_name name;
    struct rule_candidate candidate = {.id = result->id,
                                       .leader = leader_of(decider, result->id),
                                       .same_content = is_same_text(&result->comparison.match),
                                       .state = state_of(decider, result->id),
                                       .match = &result->comparison.match};
    enum doppel_status status = doppel_library_name(decider->library, result->id, &name, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
    candidate.kind = name.kind;
    status = ask_word(decider, &name.content, candidate.leader, &candidate.word, error);
    doppel_name_free(&name);
    if (status)
        return status;
    candidate.origin = origin_of_file(decider, result->id);
    return array_push(&decider->candidates, candidate)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches");
}

static bool take_file_mark(void *context, const struct doppel_mark *mark)
{
    struct file_decider *decider = context;
    const struct doppel_digest *own = &decider->file->file->record.digest;
    bool first = memcmp(&mark->a, own, sizeof *own) == 0;
    uint64_t id = 0;
    if (mark->word == DOPPEL_LABEL_SAME &&
        !doppel_library_by_digest(decider->library, first ? &mark->b : &mark->a, &id, NULL) && id &&
        state_of(decider, id) == DOPPEL_LIST_ACTIVE && (!decider->marked || id < decider->marked))
        decider->marked = id;
    return true;
}

enum doppel_status file_gather_content(struct file_decider *decider, struct rule_content *facts,
                                       struct doppel_error *error)
{
    const struct intake_file *file = decider->file->file;
    decider->marked = 0;
    enum doppel_status status;
    TRY(want_search(decider, error));
    if (file_is_code(decider))
        TRY(doppel_search_code(decider->search, &file->record.fingerprint, &decider->results,
                               error));
    else /* an id is never opened as a path, whatever it says */
        TRY(doppel_search_record(decider->search, &file->record,
                                 decider->file->is_nowhere ? "-" : file->path, &decider->results,
                                 error));
    for (size_t i = 0; i < decider->results.count; i++)
        if (!decider->results.items[i].below_threshold &&
            decider->results.items[i].id != decider->former)
            TRY(add_candidate(decider, &decider->results.items[i], error));
    TRY(doppel_library_each_mark(decider->library, &file->record.digest, take_file_mark, decider,
                                 error));
    *facts = (struct rule_content){
        .kind = file->record.kind,
        .too_short = doppel_compare_obstacle(&file->record, &decider->decide->search.compare),
        .origin = {decider->file->source, decider->file->date},
        .marked = leader_of(decider, decider->marked),
        .candidates = decider->candidates.items,
        .count = decider->candidates.count,
    };
done:
    return status;
}
