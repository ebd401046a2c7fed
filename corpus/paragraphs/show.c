/* The second pass: frequent paragraphs where they come first, and records without them. */
#include <stdatomic.h>

#include "corpus/paragraphs/paragraphs_internal.h"

struct show_task {
    struct counting *counting;
    struct paragraph_slot *slot;
    const struct line_block *block;
};

static bool no_memory_to_show(struct paragraph_slot *slot)
{
    doppel_fail(&slot->error, DOPPEL_E_MEMORY, "no memory to show paragraphs");
    return false;
}

/* Keep bytes of the block's results. */
static bool keep_slot(struct paragraph_slot *slot, const char *bytes, size_t size, size_t *out_at)
{
    *out_at = slot->bytes.size;
    return buffer_add(&slot->bytes, bytes, size) || no_memory_to_show(slot);
}

static bool push(struct paragraph_slot *slot, struct event event)
{
    return array_push(&slot->events, event) || no_memory_to_show(slot);
}

/* Mark the frequent paragraphs of the record. */
static bool decide_task(const struct show_task *task, struct event *event, size_t *out_dropped)
{
    struct paragraph_slot *slot = task->slot;
    struct counting *counting = task->counting;
    size_t dropped = 0;
    slot->dropped.count = 0;
    for (size_t i = 0; i < slot->paragraphs.count; i++) {
        const struct keyed_paragraph *keyed = &slot->paragraphs.items[i];
        size_t entry = keyed->has_key ? key_table_find(&counting->table, keyed->key) : SIZE_MAX;
        if (!array_push(&slot->dropped, entry != SIZE_MAX))
            return no_memory_to_show(slot);
        dropped += entry != SIZE_MAX;
        if (entry == SIZE_MAX || !counting->options->paragraph ||
            atomic_load_explicit(&counting->seen[entry], memory_order_relaxed))
            continue;
        event->kind = EVENT_PARAGRAPH;
        event->entry = entry;
        event->number = i + 1;
        event->size = keyed->paragraph.size;
        if (!keep_slot(slot, keyed->paragraph.bytes, event->size, &event->bytes_at) ||
            !push(slot, *event))
            return false;
    }
    *out_dropped = dropped;
    return true;
}

/* Keep the record's line without what is dropped. */
static bool strip(const struct show_task *task, const struct doppel_corpus_record *record,
                  struct event *event)
{
    struct paragraph_slot *slot = task->slot;
    const char *line = task->block->bytes + (record->offset - task->block->offset);
    if (!event->dropped) {
        event->size = record->size;
        return keep_slot(slot, line, record->size, &event->bytes_at);
    }
    size_t token_size = 0;
    const char *token = parser_text_token(slot->parser, &token_size);
    slot->stripped.size = 0;
    event->bytes_at = slot->bytes.size;
    if (!strip_text(slot->text, slot->text_size, slot->dropped.items, &slot->stripped) ||
        !replace_text(line, record->size, token, token_size, task->counting->options->fields.text,
                      &slot->stripped, &slot->bytes))
        return no_memory_to_show(slot);
    event->size = slot->bytes.size - event->bytes_at;
    return true;
}

static bool show_unreadable(struct paragraph_slot *slot, struct event *event,
                            const struct doppel_error *reason)
{
    event->kind = EVENT_UNREADABLE;
    event->size = strlen(reason->message) + 1;
    return keep_slot(slot, reason->message, event->size, &event->bytes_at) && push(slot, *event);
}

static bool show_record(void *context, const struct doppel_corpus_record *record)
{
    const struct show_task *task = context;
    struct paragraph_slot *slot = task->slot;
    struct doppel_error reason = {0};
    struct event event = {.file = record->file, .line = record->line, .id_at = SIZE_MAX};
    if (!paragraphs_read(slot, task->counting, record, &reason))
        return false;
    if (record->id && !keep_slot(slot, record->id, strlen(record->id) + 1, &event.id_at))
        return false;
    if (reason.status)
        return show_unreadable(slot, &event, &reason);
    size_t dropped;
    if (!decide_task(task, &event, &dropped))
        return false;
    if (!task->counting->options->record)
        return true;
    event.kind = EVENT_RECORD;
    event.number = slot->paragraphs.count;
    event.dropped = dropped;
    return strip(task, record, &event) && push(slot, event);
}

void show_block(void *context, size_t number, const struct line_block *block)
{
    struct counting *counting = context;
    struct show_task task = {counting, &counting->slots[number], block};
    struct json_line lines = {0};
    struct line_block as_lines = *block;
    task.slot->events.count = 0;
    task.slot->bytes.size = 0;
    if (is_archive_layout(block->layout)) {
        rows_to_json(block->layout, block->bytes, block->size, &lines);
        as_lines.bytes = lines.bytes ? lines.bytes : "";
        as_lines.size = lines.size;
        as_lines.layout = NULL;
        task.block = &as_lines;
    }
    if (lines.failed)
        no_memory_to_show(task.slot);
    else
        parser_block(task.slot->parser, task.block, show_record, &task);
    json_line_free(&lines);
}

/* ---- in order ---- */

static bool visit_paragraph(struct counting *counting, const struct paragraph_slot *slot,
                            const struct event *event)
{
    if (atomic_exchange_explicit(&counting->seen[event->entry], 1, memory_order_relaxed))
        return true;
    struct doppel_paragraph paragraph = {
        .documents = counting->table.counts[event->entry],
        .path = counting_path(counting, event->file),
        .line = event->line,
        .id = event->id_at == SIZE_MAX ? NULL : slot->bytes.bytes + event->id_at,
        .number = event->number,
        .text = slot->bytes.bytes + event->bytes_at,
        .text_size = event->size,
    };
    return counting->options->paragraph(counting->options->context, &paragraph);
}

static bool visit_record(struct counting *counting, const struct paragraph_slot *slot,
                         const struct event *event)
{
    if (!counting->options->record)
        return true;
    struct doppel_stripped_record record = {
        .path = counting_path(counting, event->file),
        .line = event->line,
        .id = event->id_at == SIZE_MAX ? NULL : slot->bytes.bytes + event->id_at,
    };
    const char *bytes = slot->bytes.bytes + event->bytes_at;
    if (event->kind == EVENT_UNREADABLE) {
        record.unreadable = bytes;
    } else {
        record.json = bytes;
        record.json_size = event->size;
        record.paragraphs = event->number;
        record.dropped = event->dropped;
        counting->counts.dropped += event->dropped;
    }
    return counting->options->record(counting->options->context, &record);
}

enum doppel_status show_deliver(void *context, size_t number, struct doppel_error *error)
{
    struct counting *counting = context;
    const struct paragraph_slot *slot = &counting->slots[number];
    for (size_t i = 0; i < slot->events.count; i++) {
        const struct event *event = &slot->events.items[i];
        bool go_on = event->kind == EVENT_PARAGRAPH ? visit_paragraph(counting, slot, event)
                                                    : visit_record(counting, slot, event);
        if (!go_on)
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended by the caller");
    }
    if (slot->error.status)
        return doppel_fail(error, slot->error.status, "%s", slot->error.message);
    return counting_progress(counting);
}
