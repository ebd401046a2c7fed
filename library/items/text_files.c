/* Files of text, as if they were records: what is computed of both is the same. */
#include "library/items/text_internal.h"

#include <stdlib.h>

#define SELECT_FILE                                                                                \
    "SELECT item.id, path, added_ns, " RECORD_COLUMNS ", fingerprint.data, attachment.data, "      \
    "link.leader, item.size, " ITEM_IS_WHOLE " AND attachment." IS_WHOLE(                          \
        COMPUTED_COLUMNS("attachment")) " FROM item JOIN fingerprint ON fingerprint.item = "       \
                                        "item.id JOIN attachment ON attachment.item = item.id "    \
                                        "LEFT JOIN link ON link.item = item.id WHERE "             \
                                        "item.id BETWEEN ?1 AND ?2 AND item.scheme = ?3 AND "      \
                                        "item.version = ?4 ORDER BY item.id"

enum {
    COLUMN_ID,
    COLUMN_PATH,
    COLUMN_ADDED,
    COLUMN_RECORD,
    COLUMN_FINGERPRINT = COLUMN_RECORD + RECORD_COLUMN_COUNT,
    COLUMN_ATTACHMENT,
    COLUMN_LEADER,
    COLUMN_SIZE,
    COLUMN_IS_WHOLE
};

/* ---- one after the other ---- */

static enum doppel_status step_to_file(struct doppel_library *library, struct text_files *files,
                                       struct doppel_error *error)
{
    bool row;
    enum doppel_status status = doppel_store_step(library->store, files->statement, &row, error);
    files->next =
        !status && row ? (uint64_t)sqlite3_column_int64(files->statement, COLUMN_ID) : UINT64_MAX;
    return status;
}

enum doppel_status text_files_begin(struct doppel_library *library,
                                    const struct doppel_text_query *query, struct text_files *out,
                                    struct doppel_error *error)
{
    *out = (struct text_files){.next = UINT64_MAX};
    if (!query->files || query->record_id)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_text_options(library, &out->options, NULL, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    bool one = query->first && query->first == query->last;
    status = doppel_store_statement(library->store, one ? SELECT_FILE "/* one */" : SELECT_FILE,
                                    &out->statement, error);
    if (status)
        return status;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(
        out->options.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128);
    sqlite3_bind_int64(out->statement, 1, (int64_t)query->first);
    sqlite3_bind_int64(out->statement, 2, query->last ? (int64_t)query->last : INT64_MAX);
    sqlite3_bind_int(out->statement, 3, (int)scheme->id);
    sqlite3_bind_int(out->statement, 4, doppel_text_version(scheme->version, &out->options));
    return step_to_file(library, out, error);
}

void text_files_end(struct text_files *files)
{
    if (files->statement)
        sqlite3_reset(files->statement);
}

/* ---- a row ---- */

/* What a text needs to live while it is visited. */
struct file_row {
    char *path;
    struct doppel_record record;
    struct doppel_text_extra extra;
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
};

static void free_file_row(struct file_row *row)
{
    free(row->path);
    doppel_record_free(&row->record);
    doppel_text_extra_free(&row->extra);
}

static bool read_file_lanes(struct file_row *row, uint32_t count)
{
    enum { LANES_A_CODE = 16, LANES_A_WORD = 4, LANE_BITS = 16 };
    const struct doppel_fingerprint *fingerprint = &row->record.fingerprint;
    if (fingerprint->count * LANES_A_CODE != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        row->lanes[i] =
            (uint16_t)(fingerprint->codes[i / LANES_A_CODE].word[i % LANES_A_CODE / LANES_A_WORD] >>
                       LANE_BITS * (i % LANES_A_WORD));
    return true;
}

static enum doppel_status read_file_row(const struct text_files *files, struct file_row *row)
{
    sqlite3_stmt *statement = files->statement;
    enum doppel_status status = path_read(statement, COLUMN_PATH, &row->path);
    if (status)
        return status;
    if (sqlite3_column_int(statement, COLUMN_IS_WHOLE) != 1 ||
        !record_read(statement, COLUMN_RECORD, &row->record) ||
        !fingerprint_read(statement, COLUMN_FINGERPRINT, &row->record) ||
        !read_file_lanes(row, files->options.lanes))
        return row->record.error.status == DOPPEL_E_MEMORY ? DOPPEL_E_MEMORY : DOPPEL_E_CORRUPT;
    const uint8_t *attachment = sqlite3_column_blob(statement, COLUMN_ATTACHMENT);
    int size = sqlite3_column_bytes(statement, COLUMN_ATTACHMENT);
    return attachment ? doppel_text_attachment_read(attachment, (size_t)size, &row->extra)
                      : DOPPEL_E_CORRUPT;
}

/* A file is never an update of another one: it leads unless it follows. */
static struct doppel_library_text as_text(const struct text_files *files,
                                          const struct file_row *row)
{
    const struct doppel_text_extra *extra = &row->extra;
    struct doppel_library_text text = {
        .id = files->next,
        .path = *row->path ? row->path : NULL,
        .size = (uint64_t)sqlite3_column_int64(files->statement, COLUMN_SIZE),
        .added_ns = sqlite3_column_int64(files->statement, COLUMN_ADDED),
        .content = extra->content,
        .words = extra->words,
        .too_short = doppel_text_is_short(&files->options, extra->words, extra->characters),
        .leader = (uint64_t)sqlite3_column_int64(files->statement, COLUMN_LEADER),
        .lanes = row->lanes,
        .lane_count = files->options.lanes,
        .simhash = extra->simhash,
        .shingle_total = extra->shingle_total,
    };
    text.leads = !text.leader && !text.too_short;
    text.decision = text.leader      ? DOPPEL_DECISION_DUPLICATE
                    : text.too_short ? DOPPEL_DECISION_TOO_SHORT
                                     : DOPPEL_DECISION_NEW;
    if (extra->shingle_count == extra->shingle_total && extra->shingle_count)
        text.shingles = extra->shingles;
    return text;
}

enum doppel_status text_files_visit(struct doppel_library *library, struct text_files *files,
                                    doppel_library_text_visitor *visitor, void *context,
                                    struct doppel_error *error)
{
    struct file_row row = {0};
    struct doppel_library_text text = {.id = files->next};
    enum doppel_status status = read_file_row(files, &row);
    if (status == DOPPEL_E_MEMORY) {
        free_file_row(&row);
        return doppel_fail(error, status, "no memory for a text of the library");
    }
    if (status)
        doppel_fail(&text.error, DOPPEL_E_CORRUPT,
                    "item %llu is damaged in the library; add its file again, or remove it",
                    (unsigned long long)files->next);
    else
        text = as_text(files, &row);
    bool go_on = visitor(context, &text);
    free_file_row(&row);
    return go_on ? step_to_file(library, files, error) : visit_ended(error);
}
