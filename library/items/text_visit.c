/* Texts of a library, visited in order of id: records of corpora, and files of text as if they were
 * some. */
#include "library/items/rows.h"
#include "library/items/text_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

/* ---- visiting ---- */

enum {
    COLUMN_ID,
    COLUMN_RECORD_ID,
    COLUMN_SOURCE,
    COLUMN_DATE,
    COLUMN_CORPUS,
    COLUMN_LINE,
    COLUMN_PLACE,
    COLUMN_SIZE,
    COLUMN_ADDED,
    COLUMN_CONTENT,
    COLUMN_WORDS,
    COLUMN_SHINGLES,
    COLUMN_TOO_SHORT,
    COLUMN_DECISION,
    COLUMN_LEADER,
    COLUMN_LEADS,
    COLUMN_LANES,
    COLUMN_SIMHASH,
    COLUMN_PATH,
    COLUMN_IS_WHOLE,
    COLUMN_KEPT /* only with shingles */
};

#define SELECT_TEXT(more)                                                                          \
    "SELECT text.id, record_id, source, date, corpus, line, place, size, added_ns, content, "      \
    "words, shingles, too_short, decision, leader, leads, lanes, simhash, corpus.path,"            \
    " text." IS_WHOLE("text." TEXT_COLUMNS) " AND (corpus IS NULL OR corpus." IS_WHOLE(            \
        CORPUS_COLUMNS) ")" more " FROM text LEFT JOIN corpus ON corpus.id = text.corpus "
#define KEPT ", text_shingles.data, text_shingles." IS_WHOLE(SHINGLE_COLUMNS)
#define JOIN_KEPT "LEFT JOIN text_shingles ON text_shingles.text = text.id "
#define WHERE_TEXT "WHERE text.id BETWEEN ?1 AND ?2 ORDER BY text.id"
#define WHERE_NAME "WHERE record_id = ?3 AND text.id BETWEEN ?1 AND ?2 ORDER BY text.id"

/* A row as it is read: strings end in NUL there. */
struct text_row {
    struct doppel_library_text text;
    char *strings[4];
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint32_t *shingles;
};

static void free_text_row(struct text_row *row)
{
    for (size_t i = 0; i < sizeof row->strings / sizeof *row->strings; i++)
        free(row->strings[i]);
    free(row->shingles);
}

static enum doppel_status read_text_strings(sqlite3_stmt *statement, struct text_row *row)
{
    static const int columns[] = {COLUMN_RECORD_ID, COLUMN_SOURCE, COLUMN_DATE, COLUMN_PATH};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !status; i++)
        status = string_read(statement, columns[i], &row->strings[i]);
    row->text.record_id = row->strings[0];
    row->text.origin = (struct doppel_origin){row->strings[1], row->strings[2]};
    row->text.path = row->strings[3];
    return status;
}

static enum doppel_status read_text_shingles(sqlite3_stmt *statement, struct text_row *row)
{
    if (sqlite3_column_count(statement) <= COLUMN_KEPT ||
        sqlite3_column_type(statement, COLUMN_KEPT) == SQLITE_NULL)
        return DOPPEL_OK;
    const uint8_t *bytes = sqlite3_column_blob(statement, COLUMN_KEPT);
    size_t count = (size_t)sqlite3_column_bytes(statement, COLUMN_KEPT) / SHINGLE_BYTES;
    if (sqlite3_column_int(statement, COLUMN_KEPT + 1) != 1 || count != row->text.shingle_total)
        return DOPPEL_E_CORRUPT;
    row->shingles = malloc(count ? count * sizeof *row->shingles : 1);
    if (!row->shingles)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        row->shingles[i] = get_u32(bytes + SHINGLE_BYTES * i);
        if (i && row->shingles[i] <= row->shingles[i - 1])
            return DOPPEL_E_CORRUPT;
    }
    row->text.shingles = row->shingles;
    return DOPPEL_OK;
}

static bool read_text_lanes(sqlite3_stmt *statement, struct text_row *row)
{
    const uint8_t *bytes = sqlite3_column_blob(statement, COLUMN_LANES);
    int size = sqlite3_column_bytes(statement, COLUMN_LANES);
    if (size != 128 * LANE_BYTES && size != 256 * LANE_BYTES)
        return false;
    row->text.lane_count = (uint32_t)size / LANE_BYTES;
    row->text.lanes = row->lanes;
    for (uint32_t i = 0; i < row->text.lane_count; i++)
        row->lanes[i] = get_u16(bytes + LANE_BYTES * i);
    return true;
}

/* Numbers that are below zero make no sense anywhere here. */
static bool are_counts(sqlite3_stmt *statement)
{
    for (int column = COLUMN_LINE; column <= COLUMN_LEADS; column++)
        if (column != COLUMN_CONTENT && sqlite3_column_int64(statement, column) < 0)
            return false;
    return sqlite3_column_int64(statement, COLUMN_DECISION) <= DOPPEL_DECISION_IGNORED &&
           sqlite3_column_int64(statement, COLUMN_LEADER) <
               sqlite3_column_int64(statement, COLUMN_ID);
}

static enum doppel_status read_text_row(sqlite3_stmt *statement, struct text_row *row)
{
    struct doppel_library_text *text = &row->text;
    const void *content = sqlite3_column_blob(statement, COLUMN_CONTENT);
    if (sqlite3_column_int(statement, COLUMN_IS_WHOLE) != 1 || !are_counts(statement) ||
        sqlite3_column_bytes(statement, COLUMN_CONTENT) != (int)sizeof text->content.bytes)
        return DOPPEL_E_CORRUPT;
    memcpy(text->content.bytes, content, sizeof text->content.bytes);
    text->line = (uint64_t)sqlite3_column_int64(statement, COLUMN_LINE);
    text->offset = (uint64_t)sqlite3_column_int64(statement, COLUMN_PLACE);
    text->size = (uint64_t)sqlite3_column_int64(statement, COLUMN_SIZE);
    text->added_ns = sqlite3_column_int64(statement, COLUMN_ADDED);
    text->words = (uint64_t)sqlite3_column_int64(statement, COLUMN_WORDS);
    text->shingle_total = (uint64_t)sqlite3_column_int64(statement, COLUMN_SHINGLES);
    text->too_short = sqlite3_column_int(statement, COLUMN_TOO_SHORT) != 0;
    text->decision = (enum doppel_decision)sqlite3_column_int(statement, COLUMN_DECISION);
    text->leader = (uint64_t)sqlite3_column_int64(statement, COLUMN_LEADER);
    text->leads = sqlite3_column_int(statement, COLUMN_LEADS) != 0;
    text->simhash = (uint64_t)sqlite3_column_int64(statement, COLUMN_SIMHASH);
    if (!read_text_lanes(statement, row))
        return DOPPEL_E_CORRUPT;
    enum doppel_status status = read_text_strings(statement, row);
    return status ? status : read_text_shingles(statement, row);
}

static enum doppel_status visit_text_row(sqlite3_stmt *statement,
                                         doppel_library_text_visitor *visitor, void *context,
                                         struct doppel_error *error)
{
    struct text_row row;
    row.text =
        (struct doppel_library_text){.id = (uint64_t)sqlite3_column_int64(statement, COLUMN_ID)};
    memset(row.strings, 0, sizeof row.strings);
    row.shingles = NULL;
    enum doppel_status status = read_text_row(statement, &row);
    if (status == DOPPEL_E_CORRUPT) {
        row.text = (struct doppel_library_text){.id = row.text.id};
        doppel_fail(&row.text.error, status,
                    "text %llu is damaged in the library; ingest it again, or remove it",
                    (unsigned long long)row.text.id);
        status = DOPPEL_OK;
    }
    if (status)
        doppel_fail(error, status, "no memory for a text of the library");
    else if (!visitor(context, &row.text))
        status = visit_ended(error);
    free_text_row(&row);
    return status;
}

static bool asks_for_one(const struct doppel_text_query *query)
{
    return query->first && query->first == query->last;
}

/* Records and files, in order of id. A record that is asked for alone is no file. */
static enum doppel_status visit_texts(struct doppel_library *library, sqlite3_stmt *statement,
                                      const struct doppel_text_query *query,
                                      doppel_library_text_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    bool row;
    struct text_files all = {.next = UINT64_MAX}, *files = &all;
    enum doppel_status status;
    TRY(doppel_store_step(library->store, statement, &row, error));
    if (!(row && asks_for_one(query)))
        TRY(text_files_begin(library, query, files, error));
    while (row || files->next != UINT64_MAX) {
        if (row && (uint64_t)sqlite3_column_int64(statement, COLUMN_ID) < files->next) {
            TRY(visit_text_row(statement, visitor, context, error));
            TRY(doppel_store_step(library->store, statement, &row, error));
        } else {
            TRY(text_files_visit(library, files, visitor, context, error));
        }
    }
done:
    sqlite3_reset(statement);
    text_files_end(files);
    return status;
}

enum doppel_status doppel_library_each_text(struct doppel_library *library,
                                            const struct doppel_text_query *query,
                                            doppel_library_text_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    enum { MANY, ONE, NAMED, WAYS };
    static const char *const ways[WAYS][2] = {
        {SELECT_TEXT("") WHERE_TEXT, SELECT_TEXT(KEPT) JOIN_KEPT WHERE_TEXT},
        /* other words, so that they are statements of their own */
        {SELECT_TEXT("") "/* one */" WHERE_TEXT,
         SELECT_TEXT(KEPT) JOIN_KEPT "/* one */" WHERE_TEXT},
        {SELECT_TEXT("") WHERE_NAME, SELECT_TEXT(KEPT) JOIN_KEPT WHERE_NAME}};
    bool one = asks_for_one(query);
    if (!one && library->visiting_texts)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a visit of texts is in progress already");
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store, ways[query->record_id ? NAMED : one][query->shingles], &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)query->first);
    sqlite3_bind_int64(statement, 2, query->last ? (int64_t)query->last : INT64_MAX);
    text_bind_string(statement, 3, query->record_id);
    library->visiting_texts |= !one;
    visit_begin(error);
    status = visit_texts(library, statement, query, visitor, context, error);
    if (!one)
        library->visiting_texts = false;
    return status;
}
