/* Paragraphs that recur: one pass over the corpus counts them, another shows and drops them. */
#include <doppel/corpus.h>

#include <stdlib.h>
#include <unistd.h>

#include "core/try.h"
#include "corpus/read/temporary.h"
#include "corpus/read/blocks.h"
#include "corpus/paragraphs/paragraphs_internal.h"

struct doppel_paragraph_options doppel_paragraph_options_default(void)
{
    return (struct doppel_paragraph_options){
        .files = {.max_line_bytes = DOPPEL_MAX_RECORD_BYTES},
        .fields = doppel_corpus_fields_default(),
        .text = doppel_text_options_default(),
        .max_documents = 10,
    };
}

/* ---- slots ---- */

static enum doppel_status slot_init(struct paragraph_slot *slot,
                                    const struct doppel_paragraph_options *options,
                                    struct doppel_error *error)
{
    struct doppel_text_options plain = options->text;
    plain.format = DOPPEL_TEXT_PLAIN;
    slot->parser = parser_new(&options->fields);
    if (!slot->parser)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    enum doppel_status status = doppel_text_new(&options->text, &slot->source, error);
    return status ? status : doppel_text_new(&plain, &slot->words, error);
}

static void slots_free_slot(struct paragraph_slot *slots, size_t count)
{
    for (size_t i = 0; slots && i < count; i++) {
        parser_free(slots[i].parser);
        doppel_text_free(slots[i].source);
        doppel_text_free(slots[i].words);
        file_text_free(&slots[i].file);
        array_free(&slots[i].keys);
        array_free(&slots[i].paragraphs);
        array_free(&slots[i].dropped);
        array_free(&slots[i].events);
        buffer_free(&slots[i].bytes);
        buffer_free(&slots[i].stripped);
    }
    free(slots);
}

static enum doppel_status slots_new(const struct doppel_paragraph_options *options, size_t count,
                                    struct paragraph_slot **out, struct doppel_error *error)
{
    struct paragraph_slot *slots = calloc(count, sizeof *slots);
    enum doppel_status status = DOPPEL_OK;
    if (!slots)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    for (size_t i = 0; i < count && !status; i++)
        status = slot_init(&slots[i], options, error);
    if (status)
        slots_free_slot(slots, count);
    else
        *out = slots;
    return status;
}

/* ---- what both passes do with a record ---- */

static bool no_memory_slot(struct paragraph_slot *slot)
{
    doppel_fail(&slot->error, DOPPEL_E_MEMORY, "no memory for the paragraphs of a record");
    return false;
}

/* The key of a paragraph; false: it has no words, and is not counted. */
static bool paragraph_key(struct paragraph_slot *slot, const struct paragraph *paragraph,
                          uint64_t *out)
{
    struct doppel_text_result result;
    enum doppel_status status = doppel_text_read(slot->words, paragraph->bytes, paragraph->size,
                                                 DOPPEL_TEXT_DIGEST, &result, &slot->error);
    if (status || !result.words)
        return false;
    memcpy(out, result.digest.bytes, sizeof *out);
    return true;
}

static bool cut_paragraphs(struct paragraph_slot *slot)
{
    struct paragraph_cutter cutter;
    struct keyed_paragraph keyed = {0};
    slot->paragraphs.count = 0;
    paragraphs_begin(&cutter, slot->text, slot->text_size);
    while (paragraphs_next(&cutter, &keyed.paragraph)) {
        keyed.has_key = paragraph_key(slot, &keyed.paragraph, &keyed.key);
        if (slot->error.status)
            return false;
        if (!array_push(&slot->paragraphs, keyed))
            return no_memory_slot(slot);
    }
    return true;
}

bool paragraphs_read(struct paragraph_slot *slot, const struct counting *counting,
                     const struct doppel_corpus_record *record, struct doppel_error *reason)
{
    const char *bytes;
    size_t size;
    const char *path = counting_path(counting, record->file);
    if (record->error.status) {
        *reason = record->error;
        return true;
    }
    if (record_text(record, &counting->options->fields, path,
                    counting->options->files.max_line_bytes, &slot->file, &bytes, &size, reason) ||
        doppel_text_plain(slot->source, bytes, size, &slot->text, &slot->text_size, reason))
        return reason->status != DOPPEL_E_MEMORY || no_memory_slot(slot);
    return cut_paragraphs(slot);
}

const char *counting_path(const struct counting *counting, uint32_t file)
{
    return spool_shown(&counting->spool, reader_file_path(counting->reader, file));
}

enum doppel_status counting_progress(const struct counting *counting)
{
    const struct doppel_paragraph_options *options = counting->options;
    uint64_t done, total;
    if (!options->progress)
        return DOPPEL_OK;
    reader_progress(counting->reader, &done, &total);
    bool go_on =
        options->progress(options->context, done + (counting->second ? total : 0), 2 * total);
    return go_on ? DOPPEL_OK : DOPPEL_E_CANCELLED;
}

/* ---- the passes ---- */

static enum doppel_status run_pass_counting(struct counting *counting,
                                            void (*work)(void *, size_t, const struct line_block *),
                                            enum doppel_status (*deliver)(void *, size_t,
                                                                          struct doppel_error *),
                                            struct doppel_error *error)
{
    struct doppel_corpus_files files = counting->options->files;
    files.paths = counting->spool.paths;
    enum doppel_status status = reader_new(&files, &counting->reader, error);
    if (status)
        return status;
    struct blocks_run run = {.reader = counting->reader,
                             .threads = counting->threads,
                             .work = work,
                             .deliver = deliver,
                             .context = counting};
    status = reader_check_fields(counting->reader, &counting->options->fields)
                 ? blocks_run(&run, error)
                 : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    reader_free(counting->reader);
    counting->reader = NULL;
    return status;
}

static enum doppel_status count_all(struct counting *counting, const char *folder,
                                    struct doppel_error *error)
{
    const struct doppel_paragraph_options *options = counting->options;
    enum doppel_status status;
    TRY(key_counter_new(options->memory_bytes, folder, &counting->counter, error));
    TRY(run_pass_counting(counting, count_block, count_deliver, error));
    TRY(key_counter_finish(counting->counter, options->max_documents ? options->max_documents : 1,
                           &counting->table, error));
done:
    key_counter_free(counting->counter);
    counting->counts.distinct = counting->table.distinct;
    counting->counts.recurring = counting->table.repeated;
    counting->counts.frequent = counting->table.count;
    return status;
}

static enum doppel_status show_all(struct counting *counting, struct doppel_error *error)
{
    counting->second = true;
    counting->seen = calloc(counting->table.count + 1, sizeof *counting->seen);
    if (!counting->seen)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to show paragraphs");
    enum doppel_status status = run_pass_counting(counting, show_block, show_deliver, error);
    free(counting->seen);
    return status;
}

enum doppel_status doppel_paragraphs(const struct doppel_paragraph_options *options,
                                     struct doppel_paragraph_counts *out,
                                     struct doppel_error *error)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct counting counting = {.options = options, .threads = options->threads};
    if (!counting.threads)
        counting.threads = processors > 0 ? (uint32_t)processors : 1;
    const char *folder = temporary_folder(options->temporary);
    size_t slots = blocks_slots(counting.threads);
    enum doppel_status status;
    TRY(spool_files(&options->files, folder, &counting.spool, error));
    TRY(slots_new(options, slots, &counting.slots, error));
    TRY(count_all(&counting, folder, error));
    if (options->paragraph || options->record)
        TRY(show_all(&counting, error));
    *out = counting.counts;
done:
    slots_free_slot(counting.slots, slots);
    key_table_free(&counting.table);
    spool_free(&counting.spool);
    return status;
}
