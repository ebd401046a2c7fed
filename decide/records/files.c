/* Files among the records: handed out in their place. */
#include "decide/records/ingest_internal.h"

#include <string.h>

/* The path of a file as it is seen from the working folder. */
static bool locate(struct ingest *ingest, const char *path, size_t *out)
{
    const char *corpus = ingest_file_path(ingest, ingest->batch->block.file);
    const char *slash = strrchr(corpus, '/');
    size_t folder = path[0] == '/' || !slash ? 0 : (size_t)(slash - corpus) + 1;
    *out = pool_add(&ingest->strings, corpus, folder);
    return *out != SIZE_MAX && pool_add_string(&ingest->strings, path) != SIZE_MAX;
}

static bool name_code(struct ingest *ingest, const char *id, size_t *out)
{
    *out = pool_add_string(&ingest->strings, id ? id : "");
    return *out != SIZE_MAX;
}

enum doppel_status ingest_gather_files(struct ingest *ingest, struct doppel_error *error)
{
    const struct ingest_batch *batch = ingest->batch;
    const struct bytes_pool *strings = &batch->strings;
    const struct prepared_record *first = &batch->records.items[ingest->at];
    bool held = true;
    ingest->files.count = ingest->file_paths.count = 0;
    for (; held && ingest->at < batch->records.count; ingest->at++) {
        const struct prepared_record *record = &batch->records.items[ingest->at];
        if (!record->is_file || !record->code != !first->code)
            break;
        const struct record_file file = {
            .line = record->line,
            .id = pool_string(strings, record->id),
            .source = pool_string(strings, record->source),
            .date = pool_string(strings, record->date),
            .said = record->said,
            .code = record->code,
        };
        size_t path;
        held = (record->code ? name_code(ingest, file.id, &path)
                             : locate(ingest, pool_string(strings, record->path), &path)) &&
               array_push(&ingest->file_paths, path) && array_push(&ingest->files, file);
    }
    if (!held)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the files of records");
    for (size_t i = 0; i < ingest->files.count; i++)
        ingest->files.items[i].path = pool_string(&ingest->strings, ingest->file_paths.items[i]);
    ingest->count += ingest->files.count;
    return DOPPEL_OK;
}
