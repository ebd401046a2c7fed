/* What people said of a library's items, as far as decisions ask for it: words about two contents,
 * and lists. */
#include "decide/records/ingest_internal.h"

#include <string.h>

#include "decide/ledger.h"

/* The first thing that goes wrong ends the decision of the record at hand. */
static void note_people_error(struct ingest *ingest, enum doppel_status status,
                              const struct doppel_error *error)
{
    if (status && !ingest->people_error.status)
        ingest->people_error = *error;
}

enum doppel_list_state people_state(struct ingest *ingest, uint64_t earlier)
{
    struct doppel_error error;
    enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
    if (ingest->has_states)
        note_people_error(ingest, doppel_library_state_of(ingest->library, earlier, &state, &error),
                          &error);
    return state;
}

bool people_were_benign(struct ingest *ingest, uint64_t earlier)
{
    struct doppel_error error;
    enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
    uint64_t of = 0;
    if (!ingest->has_states)
        return false;
    note_people_error(ingest, doppel_library_benign_of(ingest->library, earlier, &of, &error),
                      &error);
    if (of)
        note_people_error(ingest, doppel_library_state_of(ingest->library, of, &state, &error),
                          &error);
    return state == DOPPEL_LIST_BENIGN;
}

struct marked_search {
    struct ingest *ingest;
    const struct doppel_digest *content;
    enum doppel_manual_label word;
    bool failed;
};

static bool take_marked_content(void *context, const struct doppel_mark *mark)
{
    struct marked_search *marked = context;
    const struct doppel_digest *content = marked->content;
    bool first = memcmp(&mark->a, content, sizeof *content) == 0;
    if (mark->word == marked->word)
        marked->failed |= !array_push(&marked->ingest->marked, first ? mark->b : mark->a);
    return !marked->failed;
}

void people_marked(struct ingest *ingest, enum doppel_manual_label word)
{
    struct doppel_error error;
    struct marked_search marked = {
        .ingest = ingest, .content = &ingest->record->content, .word = word};
    ingest->marked.count = 0;
    if (!ingest->has_words)
        return;
    enum doppel_status status = doppel_library_each_mark(ingest->library, marked.content,
                                                         take_marked_content, &marked, &error);
    if (marked.failed)
        status = doppel_fail(&error, DOPPEL_E_MEMORY, "no memory for what was said of a text");
    if (status != DOPPEL_E_CORRUPT) /* damaged words were not said */
        note_people_error(ingest, status, &error);
}

/* ---- what is said of what comes in ---- */

enum doppel_status people_same_id(struct ingest *ingest, const struct decider_answer *answer,
                                  uint64_t *out, struct doppel_error *error)
{
    const struct prepared_record *record = ingest->record;
    const char *id = record->said ? record->said->external_id : NULL;
    uint64_t other = 0;
    if (!id && ingest->with_files) /* which have ids of that kind */
        id = pool_string(&ingest->batch->strings, record->id);
    if (!id || record->unreadable)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_by_external_id(ingest->library, id, &other, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    bool itself = answer->of == other || answer->known == other;
    *out = status || itself ? 0 : other;
    return status;
}

enum doppel_status people_tell(struct ingest *ingest, uint64_t item, struct doppel_error *error)
{
    return ledger_describe(ingest->library, item, ingest->options.about, ingest->record->said,
                           error);
}

enum doppel_status people_check(struct ingest *ingest, struct prepared_record *record,
                                struct doppel_error *error)
{
    static const struct doppel_metadata nothing;
    struct bytes_pool *strings = &ingest->batch->strings;
    struct doppel_metadata about = record->said ? *record->said : nothing;
    struct doppel_error wrong;
    if (record->is_file && !about.external_id)
        about.external_id = (char *)pool_string(strings, record->id);
    if (record->unreadable || (!record->said && !about.external_id))
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_check_metadata(ingest->library, &about, &wrong);
    if (status != DOPPEL_E_ARGUMENT)
        return status ? doppel_fail(error, status, "%s", wrong.message) : DOPPEL_OK;
    record->problem = pool_add_string(strings, wrong.message);
    record->unreadable = true;
    record->is_file = false;
    return record->problem == SIZE_MAX
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record")
               : DOPPEL_OK;
}
