/* Files among the records: handed out in their place. */
#include "decide/records/ingest_internal.h"

enum doppel_status ingest_gather_files(struct ingest *ingest, struct doppel_error *error)
{
    const struct ingest_batch *batch = ingest->batch;
    const struct bytes_pool *strings = &batch->strings;
    const struct prepared_record *first = &batch->records.items[ingest->at];
    bool held = true;
    ingest->files.count = 0;
    for (; held && ingest->at < batch->records.count; ingest->at++) {
        const struct prepared_record *record = &batch->records.items[ingest->at];
        if (!record->is_file || !record->read != !first->read)
            break;
        struct record_file file = {
            .path = pool_string(strings, record->read ? record->id : record->path),
            .line = record->line,
            .id = pool_string(strings, record->id),
            .source = pool_string(strings, record->source),
            .date = pool_string(strings, record->date),
            .client = ingest->reader ? NULL : pool_string(strings, record->client),
            .said = record->said,
            .read = record->read,
            .exact = record->exact,
        };
        file.path = file.path ? file.path : "";
        held = array_push(&ingest->files, file);
    }
    if (!held)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the files of records");
    ingest->count += ingest->files.count;
    return DOPPEL_OK;
}
