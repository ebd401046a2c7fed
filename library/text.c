/* Texts of corpora: remembered, and visited again. */
#include "library/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

#define TEXT_COLUMNS                                                                               \
    "id, record_id, source, date, corpus, line, place, size, added_ns, content, words, shingles, " \
    "too_short, decision, leader, leads, lanes"
#define TEXT_VALUES "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17"
#define CORPUS_COLUMNS "corpus.id, corpus.path"
#define SHINGLE_COLUMNS "text_shingles.text, text_shingles.data"

enum { LANE_BYTES = 2, SHINGLE_BYTES = 4 };

void texts_rolled_back(struct doppel_library *library)
{
    free(library->corpus);
    library->corpus = NULL;
    library->text_lanes = 0;
}

/* ---- remembering ---- */

static enum doppel_status last_id(struct doppel_library *library, uint64_t *out,
                                  struct doppel_error *error)
{
    bool row;
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        library->store, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'item'",
        &statement, error);
    if (!status)
        status = doppel_store_step(library->store, statement, &row, error);
    if (status)
        return status;
    *out = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

/* Put the counter that the items have too. (RETURNING would cost a table of its own each time.) */
static enum doppel_status put_last_id(struct doppel_library *library, uint64_t id,
                                      struct doppel_error *error)
{
    const char *sql = id == 1 ? "INSERT INTO sqlite_sequence(name, seq) VALUES('item', ?1)"
                              : "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'item'";
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(library->store, sql, &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    return library_run(library, statement, error);
}

static enum doppel_status take_id(struct doppel_library *library, uint64_t *out,
                                  struct doppel_error *error)
{
    uint64_t last = 0;
    enum doppel_status status = last_id(library, &last, error);
    if (!status)
        status = put_last_id(library, last + 1, error);
    if (!status)
        *out = last + 1;
    return status;
}

enum doppel_status doppel_library_begin(struct doppel_library *library, uint64_t *out_last_id,
                                        struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    if (!status && out_last_id)
        status = library_end(library, last_id(library, out_last_id, error));
    return status;
}

static enum doppel_status find_corpus(struct doppel_library *library, const char *path,
                                      int64_t *out, struct doppel_error *error)
{
    static const char *const ways[] = {
        "SELECT id FROM corpus WHERE path = ?1",
        "INSERT INTO corpus(id, path, checksum) SELECT number, ?1, " CHECKSUM_OF(
            "number, ?1") " FROM (SELECT coalesce(max(id), 0) + 1 AS number FROM corpus) RETURNING "
                          "id"};
    bool row = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !row; i++) {
        sqlite3_stmt *statement;
        enum doppel_status status =
            doppel_store_statement(library->store, ways[i], &statement, error);
        if (status)
            return status;
        path_bind(statement, 1, path);
        status = doppel_store_step(library->store, statement, &row, error);
        if (status)
            return status;
        if (row)
            *out = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    return DOPPEL_OK;
}

/* The row of a corpus; the last one is remembered, as records come one file after the other. */
static enum doppel_status number_of_corpus(struct doppel_library *library, const char *path,
                                           int64_t *out, struct doppel_error *error)
{
    if (library->corpus && strcmp(library->corpus, path) == 0) {
        *out = library->corpus_number;
        return DOPPEL_OK;
    }
    enum doppel_status status = find_corpus(library, path, out, error);
    if (status)
        return status;
    free(library->corpus);
    library->corpus = strdup(path);
    library->corpus_number = *out;
    return DOPPEL_OK;
}

static void bind_string(sqlite3_stmt *statement, int parameter, const char *string)
{
    if (string)
        path_bind(statement, parameter, string);
}

static void bind_text(sqlite3_stmt *statement, const struct doppel_library_text *text,
                      const uint8_t *lanes)
{
    bind_string(statement, 2, text->record_id);
    bind_string(statement, 3, text->origin.source);
    bind_string(statement, 4, text->origin.date);
    sqlite3_bind_int64(statement, 6, (int64_t)text->line);
    sqlite3_bind_int64(statement, 7, (int64_t)text->offset);
    sqlite3_bind_int64(statement, 8, (int64_t)text->size);
    sqlite3_bind_int64(statement, 9, now_ns());
    sqlite3_bind_blob(statement, 10, text->content.bytes, sizeof text->content.bytes,
                      SQLITE_STATIC);
    sqlite3_bind_int64(statement, 11, (int64_t)text->words);
    sqlite3_bind_int64(statement, 12, (int64_t)text->shingle_total);
    sqlite3_bind_int(statement, 13, text->too_short);
    sqlite3_bind_int(statement, 14, (int)text->decision);
    sqlite3_bind_int64(statement, 15, (int64_t)text->leader);
    sqlite3_bind_int(statement, 16, text->leads);
    sqlite3_bind_blob(statement, 17, lanes, (int)text->lane_count * LANE_BYTES, SQLITE_STATIC);
}

static enum doppel_status insert_text(struct doppel_library *library,
                                      const struct doppel_library_text *text, uint64_t id,
                                      struct doppel_error *error)
{
    uint8_t lanes[DOPPEL_TEXT_MAX_LANES * LANE_BYTES];
    int64_t corpus = 0;
    sqlite3_stmt *statement;
    enum doppel_status status = DOPPEL_OK;
    if (text->path)
        status = number_of_corpus(library, text->path, &corpus, error);
    if (!status)
        status = doppel_store_statement(library->store,
                                        "INSERT INTO text(" TEXT_COLUMNS
                                        ", checksum) VALUES(" TEXT_VALUES
                                        ", " CHECKSUM_OF(TEXT_VALUES) ")",
                                        &statement, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < text->lane_count; i++)
        put_u16(lanes + LANE_BYTES * i, text->lanes[i]);
    bind_text(statement, text, lanes);
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    if (text->path)
        sqlite3_bind_int64(statement, 5, corpus);
    return library_run(library, statement, error);
}

static enum doppel_status insert_shingles(struct doppel_library *library, uint64_t id,
                                          const struct doppel_library_text *text,
                                          struct doppel_error *error)
{
    size_t size = 0;
    uint8_t *bytes = NULL;
    if (size_multiply(text->shingle_total, SHINGLE_BYTES, &size))
        bytes = malloc(size ? size : 1);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the shingles of a text");
    for (size_t i = 0; i < text->shingle_total; i++)
        put_u32(bytes + SHINGLE_BYTES * i, text->shingles[i]);
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store,
                               "INSERT INTO text_shingles(text, data, checksum)"
                               " VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")",
                               &statement, error);
    if (status) {
        free(bytes);
        return status;
    }
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_blob64(statement, 2, bytes, size, free);
    return library_run(library, statement, error);
}

static enum doppel_status add_text(struct doppel_library *library,
                                   const struct doppel_library_text *text, uint64_t *out_id,
                                   struct doppel_error *error)
{
    enum doppel_status status = take_id(library, out_id, error);
    if (!status)
        status = insert_text(library, text, *out_id, error);
    if (!status && text->shingles)
        status = insert_shingles(library, *out_id, text, error);
    return status;
}

static enum doppel_status check_lanes(struct doppel_library *library,
                                      const struct doppel_library_text *text,
                                      struct doppel_error *error)
{
    struct doppel_text_options options;
    if (!library->text_lanes) {
        enum doppel_status status = doppel_library_text_options(library, &options, NULL, error);
        if (status)
            return status;
        library->text_lanes = options.lanes;
    }
    return text->lanes && text->lane_count == library->text_lanes
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: its signatures have %u lanes",
                             library->directory, library->text_lanes);
}

enum doppel_status doppel_library_add_text(struct doppel_library *library,
                                           const struct doppel_library_text *text, uint64_t *out_id,
                                           struct doppel_error *error)
{
    uint64_t id = 0;
    enum doppel_status status = library_begin(library, error);
    if (!status)
        status = check_lanes(library, text, error);
    if (!status)
        status = library_end(library, add_text(library, text, &id, error));
    if (!status)
        *out_id = id;
    return status;
}

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
    COLUMN_PATH,
    COLUMN_IS_WHOLE,
    COLUMN_KEPT /* only with shingles */
};

#define SELECT_TEXT(more)                                                                          \
    "SELECT text.id, record_id, source, date, corpus, line, place, size, added_ns, content, "      \
    "words, shingles, too_short, decision, leader, leads, lanes, corpus.path,"                     \
    " text." IS_WHOLE("text." TEXT_COLUMNS) " AND (corpus IS NULL OR corpus." IS_WHOLE(            \
        CORPUS_COLUMNS) ")" more " FROM text LEFT JOIN corpus ON corpus.id = text.corpus "
#define KEPT ", text_shingles.data, text_shingles." IS_WHOLE(SHINGLE_COLUMNS)
#define JOIN_KEPT "LEFT JOIN text_shingles ON text_shingles.text = text.id "
#define WHERE_TEXT                                                                                 \
    "WHERE text.id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR record_id = ?3) ORDER BY text.id"

/* A row as it is read: strings end in NUL there. */
struct text_row {
    struct doppel_library_text text;
    char *strings[4];
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint32_t *shingles;
};

static void free_row(struct text_row *row)
{
    for (size_t i = 0; i < sizeof row->strings / sizeof *row->strings; i++)
        free(row->strings[i]);
    free(row->shingles);
}

/* DOPPEL_E_CORRUPT when it holds a NUL; DOPPEL_E_MEMORY. */
static enum doppel_status read_string(sqlite3_stmt *statement, int column, char **out)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return DOPPEL_OK;
    const void *bytes = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (size && (!bytes || memchr(bytes, '\0', size)))
        return DOPPEL_E_CORRUPT;
    *out = malloc(size + 1);
    if (!*out)
        return DOPPEL_E_MEMORY;
    if (size)
        memcpy(*out, bytes, size);
    (*out)[size] = '\0';
    return DOPPEL_OK;
}

static enum doppel_status read_strings(sqlite3_stmt *statement, struct text_row *row)
{
    static const int columns[] = {COLUMN_RECORD_ID, COLUMN_SOURCE, COLUMN_DATE, COLUMN_PATH};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !status; i++)
        status = read_string(statement, columns[i], &row->strings[i]);
    row->text.record_id = row->strings[0];
    row->text.origin = (struct doppel_origin){row->strings[1], row->strings[2]};
    row->text.path = row->strings[3];
    return status;
}

static enum doppel_status read_shingles(sqlite3_stmt *statement, struct text_row *row)
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

static bool read_lanes(sqlite3_stmt *statement, struct text_row *row)
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
    return sqlite3_column_int64(statement, COLUMN_DECISION) <= DOPPEL_DECISION_CONFLICT &&
           sqlite3_column_int64(statement, COLUMN_LEADER) <
               sqlite3_column_int64(statement, COLUMN_ID);
}

static enum doppel_status read_text(sqlite3_stmt *statement, struct text_row *row)
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
    if (!read_lanes(statement, row))
        return DOPPEL_E_CORRUPT;
    enum doppel_status status = read_strings(statement, row);
    return status ? status : read_shingles(statement, row);
}

static enum doppel_status visit_row(sqlite3_stmt *statement, doppel_library_text_visitor *visitor,
                                    void *context, struct doppel_error *error)
{
    struct text_row row;
    row.text =
        (struct doppel_library_text){.id = (uint64_t)sqlite3_column_int64(statement, COLUMN_ID)};
    memset(row.strings, 0, sizeof row.strings);
    row.shingles = NULL;
    enum doppel_status status = read_text(statement, &row);
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
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    free_row(&row);
    return status;
}

static enum doppel_status visit_texts(struct doppel_library *library, sqlite3_stmt *statement,
                                      const struct doppel_text_query *query,
                                      doppel_library_text_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    bool row;
    enum doppel_status status;
    sqlite3_bind_int64(statement, 1, (int64_t)query->first);
    sqlite3_bind_int64(statement, 2, query->last ? (int64_t)query->last : INT64_MAX);
    bind_string(statement, 3, query->record_id);
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if ((status = visit_row(statement, visitor, context, error)))
            break;
    sqlite3_reset(statement);
    return status;
}

enum doppel_status doppel_library_each_text(struct doppel_library *library,
                                            const struct doppel_text_query *query,
                                            doppel_library_text_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    static const char *const ways[2][2] = {
        {SELECT_TEXT("") WHERE_TEXT, SELECT_TEXT(KEPT) JOIN_KEPT WHERE_TEXT},
        /* other words, so that they are statements of their own */
        {SELECT_TEXT("") "/* one */" WHERE_TEXT,
         SELECT_TEXT(KEPT) JOIN_KEPT "/* one */" WHERE_TEXT}};
    bool one = query->first && query->first == query->last;
    if (!one && library->visiting_texts)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a visit of texts is under way already");
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store, ways[one][query->shingles], &statement, error);
    if (status)
        return status;
    library->visiting_texts |= !one;
    status = visit_texts(library, statement, query, visitor, context, error);
    if (!one)
        library->visiting_texts = false;
    return status;
}
