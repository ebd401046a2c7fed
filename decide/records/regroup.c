/* Groups that a manual label has changed while an ingest runs: read again from the library. */
#include "decide/records/memory.h"

#include <time.h>

#include "core/array.h"

struct regroup {
    struct ingest_memory *memory;
    ARRAY(struct doppel_digest) contents; /* that something was said of since */
    uint32_t leader;                      /* number of that of the group at hand */
    enum doppel_status status;
    struct doppel_error *error;
};

static bool take_changed_mark(void *context, const struct doppel_mark *mark)
{
    struct regroup *regroup = context;
    return mark->time_ns < regroup->memory->words_ns ||
           (array_push(&regroup->contents, mark->a) && array_push(&regroup->contents, mark->b));
}

static bool take_changed_member(void *context, uint64_t id)
{
    const struct regroup *regroup = context;
    uint32_t number = memory_number_of(regroup->memory, id);
    if (number != NO_NUMBER && number != regroup->leader)
        decider_regroup(regroup->memory->decider, number, regroup->leader, false);
    return true;
}

/* One that led before is in the index already. */
static bool take_changed_leader(void *context, const struct doppel_library_text *text)
{
    struct regroup *regroup = context;
    struct ingest_memory *memory = regroup->memory;
    bool led = decider_leads(memory->decider, regroup->leader);
    if (text->error.status || text->lane_count != memory->lanes)
        return true;
    decider_regroup(memory->decider, regroup->leader, regroup->leader, text->leads);
    if (text->leads && !led)
        regroup->status = memory_insert(memory, text->lanes, regroup->leader, regroup->error);
    return !regroup->status;
}

/* The group of those with this content, as the library has it. */
static enum doppel_status read_relabelled_group(struct regroup *regroup,
                                                const struct doppel_digest *content,
                                                struct doppel_error *error)
{
    struct ingest_memory *memory = regroup->memory;
    uint64_t leader = 0;
    uint32_t number = decider_find(memory->decider, content);
    uint64_t id = number == NO_NUMBER ? 0 : memory->ids.items[number];
    enum doppel_status status =
        id ? doppel_library_leader(memory->library, id, &leader, error) : DOPPEL_OK;
    regroup->leader = leader ? memory_number_of(memory, leader) : NO_NUMBER;
    if (status || regroup->leader == NO_NUMBER)
        return status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
    const struct doppel_text_query query = {.first = leader, .last = leader, .files = true};
    status = doppel_library_each_text(memory->library, &query, take_changed_leader, regroup, error);
    if (regroup->status) /* which `error` tells */
        return regroup->status;
    if (!status)
        status = doppel_library_each_follower(memory->library, leader, 0, take_changed_member,
                                              regroup, error);
    return status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
}

void memory_regrouped(struct ingest_memory *memory)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    memory->words = doppel_library_labels_revision(memory->library);
    memory->words_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

enum doppel_status memory_regroup(struct ingest_memory *memory, struct doppel_error *error)
{
    struct regroup regroup = {.memory = memory, .error = error};
    if (doppel_library_labels_revision(memory->library) == memory->words)
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_library_each_mark(memory->library, NULL, take_changed_mark, &regroup, error);
    if (status == DOPPEL_E_CORRUPT) /* damaged words were not said */
        status = DOPPEL_OK;
    for (size_t i = 0; i < regroup.contents.count && !status; i++)
        status = read_relabelled_group(&regroup, &regroup.contents.items[i], error);
    array_free(&regroup.contents);
    if (!status)
        memory_regrouped(memory);
    return status;
}
