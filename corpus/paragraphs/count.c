/* The first pass: the keys of all paragraphs, each once a record. */
#include "corpus/paragraphs/paragraphs_internal.h"

#include "core/order.h"

/* Of keys in memory, where nobody set a limit: texts of many short lines go to the file. */
enum { BYTES_AT_FIRST = 64 << 20, BYTES_A_RECORD = 160 };

struct count_task {
    struct counting *counting;
    struct paragraph_slot *slot;
};

/* Sort the keys from `begin` on, and keep each once. */
static void unite_slot(struct paragraph_slot *slot, size_t begin)
{
    uint64_t *keys = slot->keys.items + begin;
    size_t count = slot->keys.count - begin, kept = 0;
    if (count < 2)
        return;
    qsort(keys, count, sizeof *keys, compare_u64);
    for (size_t i = 0; i < count; i++)
        if (!i || keys[i] != keys[i - 1])
            keys[kept++] = keys[i];
    slot->keys.count = begin + kept;
}

static bool count_record(void *context, const struct doppel_corpus_record *record)
{
    const struct count_task *task = context;
    struct paragraph_slot *slot = task->slot;
    struct doppel_error reason = {0};
    if (!paragraphs_read(slot, task->counting, record, &reason))
        return false;
    if (reason.status) {
        slot->unreadable++;
        return true;
    }
    slot->records++;
    size_t begin = slot->keys.count;
    for (size_t i = 0; i < slot->paragraphs.count; i++) {
        const struct keyed_paragraph *paragraph = &slot->paragraphs.items[i];
        if (paragraph->has_key && !array_push(&slot->keys, paragraph->key))
            return doppel_fail(&slot->error, DOPPEL_E_MEMORY, "no memory to count paragraphs"),
                   false;
    }
    unite_slot(slot, begin);
    return true;
}

void count_block(void *context, size_t number, const struct line_block *block)
{
    struct counting *counting = context;
    struct count_task task = {counting, &counting->slots[number]};
    task.slot->keys.count = 0;
    task.slot->records = task.slot->unreadable = 0;
    parser_block(task.slot->parser, block, count_record, &task);
}

enum doppel_status count_deliver(void *context, size_t number, struct doppel_error *error)
{
    struct counting *counting = context;
    struct paragraph_slot *slot = &counting->slots[number];
    if (slot->error.status)
        return doppel_fail(error, slot->error.status, "%s", slot->error.message);
    counting->counts.records += slot->records;
    counting->counts.unreadable += slot->unreadable;
    counting->counts.paragraphs += slot->keys.count;
    if (!counting->options->memory_bytes)
        key_counter_limit(counting->counter,
                          BYTES_AT_FIRST + BYTES_A_RECORD * counting->counts.records);
    enum doppel_status status =
        key_counter_add(counting->counter, slot->keys.items, slot->keys.count, error);
    return status ? status : counting_progress(counting);
}
