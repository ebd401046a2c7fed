/* The codes of texts in the indexes: files and records, of each its signature, among those who lead
 * or among those who follow, and its content. */
#include "library/derived/codes.h"

#include <string.h>

#include "core/array.h"
#include "core/bytes.h"
#include "core/try.h"
#include "library/items/rows.h"
#include "library/items/text_internal.h"

enum { LANES_A_WORD = 4, CONTENT_BYTES = 8 };

/* What the tables are to have of a text. */
struct indexed_text {
    uint64_t id;
    enum doppel_scheme_id scheme;
    struct doppel_digest content;
    uint64_t code[CODE_MAX_WORDS]; /* lanes, or SimHash */
    size_t words;                  /* of it; 0: it is too short to be compared */
    bool leads;
};

#define LEADER_IS_THERE                                                                            \
    "(EXISTS(SELECT 1 FROM text AS one WHERE one.id = text.leader)"                                \
    " OR EXISTS(SELECT 1 FROM item WHERE item.id = text.leader))"

/* One whose representative was removed leads. */
#define SELECT_RECORD                                                                              \
    "SELECT id, content, lanes, too_short, leads OR leader = 0 OR NOT " LEADER_IS_THERE            \
    " FROM text WHERE " IS_WHOLE(TEXT_COLUMNS)
enum { RECORD_ID, RECORD_CONTENT, RECORD_LANES, RECORD_TOO_SHORT, RECORD_LEADS };
enum {
    FILE_ID,
    FILE_RECORD,
    FILE_FINGERPRINT = FILE_RECORD + RECORD_COLUMN_COUNT,
    FILE_ATTACHMENT,
    FILE_LEADS
};

enum doppel_status text_file_read(sqlite3_stmt *statement, struct text_file *out)
{
    *out = (struct text_file){.id = (uint64_t)sqlite3_column_int64(statement, FILE_ID),
                              .leads = sqlite3_column_int(statement, FILE_LEADS) != 0};
    if (!record_read(statement, FILE_RECORD, &out->record) ||
        !fingerprint_read(statement, FILE_FINGERPRINT, &out->record))
        return out->record.error.status == DOPPEL_E_MEMORY ? DOPPEL_E_MEMORY : DOPPEL_E_CORRUPT;
    out->record.attachment = (uint8_t *)sqlite3_column_blob(statement, FILE_ATTACHMENT);
    out->record.attachment_size = (size_t)sqlite3_column_bytes(statement, FILE_ATTACHMENT);
    return DOPPEL_OK;
}

void text_file_free(struct text_file *file)
{
    file->record.attachment = NULL; /* the row's */
    doppel_record_free(&file->record);
}

/* ---- what an index is ---- */

bool is_text_table(enum code_table which)
{
    return code_tables[which].part > CODES_OF_RECORDING;
}

bool has_records(enum code_table which)
{
    return is_text_table(which) && !is_passage_table(which) && !is_shingle_table(which) &&
           code_tables[which].part != CODES_OF_TEXT;
}

void text_table_options(enum code_table which, struct doppel_index_options *out)
{
    const struct doppel_text_limits limits = doppel_text_limits_default();
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code_tables[which].scheme);
    *out = doppel_index_options_default();
    out->bits = 64;
    out->design_radius = scheme ? scheme->max_distance : 0;
    if (is_passage_table(which))
        *out = doppel_passages_index_options();
    if (is_passage_table(which) || code_tables[which].part == CODES_OF_TEXT)
        return;
    out->table = DOPPEL_INDEX_BANDS;
    if (code_tables[which].part == CODES_OF_CONTENT ||
        is_shingle_table(which)) { /* equal or not: one band of 64 bits */
        out->lanes = out->rows = CONTENT_BYTES / sizeof(uint16_t);
        out->bands = 1;
        return;
    }
    out->lanes = code_tables[which].scheme == DOPPEL_SCHEME_MINHASH256 ? 256 : 128;
    (void)doppel_index_bands_choose(out->lanes, limits.min_similarity, DOPPEL_INDEX_BANDS_USUAL,
                                    &out->bands, &out->rows, NULL);
}

static uint64_t content_code(const struct doppel_digest *content)
{
    return get_u64(content->bytes);
}

/* Its code in a table. @return words; 0: it has none there */
static size_t code_in_table(enum code_table which, const struct indexed_text *text,
                            uint64_t out[CODE_MAX_WORDS])
{
    const struct code_table_row *table = &code_tables[which];
    if (table->part == CODES_OF_CONTENT) {
        out[0] = content_code(&text->content);
        return 1;
    }
    bool leads = table->part == CODES_OF_LEADER;
    if (is_passage_table(which) || is_shingle_table(which)) /* passages.c, shingles.c */
        return 0;
    if (text->scheme != table->scheme || (table->part != CODES_OF_TEXT && text->leads != leads))
        return 0;
    memcpy(out, text->code, text->words * sizeof *out);
    return text->words;
}

/* ---- from rows ---- */

static enum doppel_scheme_id scheme_of_lanes(size_t lanes)
{
    return lanes == 256   ? DOPPEL_SCHEME_MINHASH256
           : lanes == 128 ? DOPPEL_SCHEME_MINHASH128
                          : DOPPEL_SCHEME_NONE;
}

static void take_lanes(struct indexed_text *text, const uint8_t *lanes, size_t count)
{
    text->scheme = scheme_of_lanes(count);
    text->words = text->scheme ? count / LANES_A_WORD : 0;
    for (size_t i = 0; i < text->words; i++)
        text->code[i] = get_u64(lanes + i * sizeof *text->code);
}

static enum doppel_status read_indexed_record(sqlite3_stmt *statement, struct indexed_text *out)
{
    const uint8_t *lanes = sqlite3_column_blob(statement, RECORD_LANES);
    *out = (struct indexed_text){.id = (uint64_t)sqlite3_column_int64(statement, RECORD_ID),
                                 .leads = sqlite3_column_int(statement, RECORD_LEADS) != 0};
    if (!digest_read(statement, RECORD_CONTENT, &out->content))
        return DOPPEL_E_CORRUPT;
    if (lanes && !sqlite3_column_int(statement, RECORD_TOO_SHORT))
        take_lanes(out, lanes, (size_t)sqlite3_column_bytes(statement, RECORD_LANES) / LANE_BYTES);
    return DOPPEL_OK;
}

/* An imported code has no attachment: all that is known of its text is its digest. */
static bool read_indexed_item(const struct doppel_record *record, struct indexed_text *out)
{
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    struct doppel_text_extra extra = {.content = record->digest, .shingle_total = 1};
    size_t words = 0;
    if (record->attachment_size &&
        !doppel_text_attachment_head(record->attachment, record->attachment_size, &extra))
        return false;
    for (uint32_t i = 0; i < fingerprint->count; i++)
        for (uint32_t word = 0; word < fingerprint->code_bits / 64u; word++)
            if (words < CODE_MAX_WORDS)
                out->code[words++] = fingerprint->codes[i].word[word];
    out->scheme = record->scheme;
    out->content = extra.content;
    if (record->scheme == DOPPEL_SCHEME_SIMHASH64 || extra.shingle_total)
        out->words = words;
    return true;
}

static enum doppel_status read_indexed_file(sqlite3_stmt *statement, struct indexed_text *out)
{
    struct text_file file;
    enum doppel_status status = text_file_read(statement, &file);
    if (status)
        return status;
    *out = (struct indexed_text){.id = file.id, .leads = file.leads};
    bool read = read_indexed_item(&file.record, out);
    text_file_free(&file);
    return read ? DOPPEL_OK : DOPPEL_E_CORRUPT;
}

/* ---- all of them ---- */

/* @return DOPPEL_E_CORRUPT: the row is damaged; DOPPEL_E_MEMORY */
typedef enum doppel_status text_row_reader(sqlite3_stmt *statement, struct indexed_text *out);

static enum doppel_status no_memory_for_text(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text of the library");
}

static enum doppel_status visit_indexed_texts(struct doppel_store *store, enum code_table which,
                                              sqlite3_stmt *statement, text_row_reader *read,
                                              codes_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    uint64_t code[CODE_MAX_WORDS];
    struct indexed_text text;
    bool row, go_on = true;
    enum doppel_status status = DOPPEL_OK;
    while (go_on && !(status = doppel_store_step(store, statement, &row, error)) && row) {
        enum doppel_status had = read(statement, &text);
        if (had == DOPPEL_E_MEMORY) {
            status = no_memory_for_text(error);
            break;
        }
        if (!had && code_in_table(which, &text, code))
            go_on = visitor(context, &(struct item_codes){code, &text.id, 1});
    }
    sqlite3_reset(statement);
    return status || go_on ? status : DOPPEL_E_CANCELLED;
}

enum doppel_status codes_of_texts(struct doppel_store *store, enum code_table which,
                                  codes_visitor *visitor, void *context, struct doppel_error *error)
{
    const enum doppel_scheme_id scheme = code_tables[which].scheme;
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(
        store,
        scheme ? OF_BOTH(SELECT_TEXT_FILE " AND scheme = ?1")
               : OF_BOTH(SELECT_TEXT_FILE " AND kind = ?2 AND scheme != ?1 AND " IS_TEXT_SCHEME),
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int(statement, 1, (int)scheme);
    if (!scheme)
        sqlite3_bind_int(statement, 2, DOPPEL_KIND_TEXT);
    status =
        visit_indexed_texts(store, which, statement, read_indexed_file, visitor, context, error);
    if (status || !has_records(which))
        return status;
    status = doppel_store_statement(store, SELECT_RECORD " ORDER BY id", &statement, error);
    return status ? status
                  : visit_indexed_texts(store, which, statement, read_indexed_record, visitor,
                                        context, error);
}

enum doppel_status texts_are_uncertain(struct doppel_library *library, bool *out,
                                       struct doppel_error *error)
{
    int64_t any = 0;
    enum doppel_status status =
        rows_number(library,
                    "SELECT EXISTS(" OF_BOTH(
                        "SELECT 1 FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id"
                        " LEFT JOIN attachment ON attachment.item = item.id"
                        " WHERE kind = ?1 AND " IS_TEXT_SCHEME " AND NOT coalesce(" ITEM_IS_WHOLE
                        " AND coalesce(attachment." IS_WHOLE(COMPUTED_COLUMNS(
                            "attachment")) ", 1), 0)") ")"
                                                       " OR EXISTS(SELECT 1 FROM text WHERE NOT "
                                                       "coalesce(" IS_WHOLE(TEXT_COLUMNS) ", 0))",
                    VALUES(ID(DOPPEL_KIND_TEXT)), &any, NULL, error);
    *out = any != 0;
    return status;
}

/* ---- one of them ---- */

static enum doppel_status put_text(struct doppel_library *library, const struct indexed_text *text,
                                   bool moved, struct doppel_error *error)
{
    uint64_t code[CODE_MAX_WORDS], id = text->id;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const enum code_table which = (enum code_table)i;
        if (is_text_table(which) && !(moved && code_tables[which].part == CODES_OF_CONTENT) &&
            code_in_table(which, text, code))
            status = codes_put_in(library, which, &(struct item_codes){code, &id, 1}, error);
    }
    return status;
}

enum doppel_status text_file_leads(struct doppel_library *library, uint64_t id, bool *out,
                                   struct doppel_error *error)
{
    int64_t link;
    bool found = false;
    enum doppel_status status = rows_number(library, "SELECT item FROM link WHERE item = ?1",
                                            VALUES(ID(id)), &link, &found, error);
    *out = !found;
    return status;
}

enum doppel_status text_codes_put_item(struct doppel_library *library, uint64_t id,
                                       const struct doppel_record *record,
                                       struct doppel_error *error)
{
    struct indexed_text text = {.id = id};
    if (!record->scheme || !read_indexed_item(record, &text))
        return DOPPEL_OK;
    enum doppel_status status;
    TRY(text_file_leads(library, id, &text.leads, error));
    TRY(put_text(library, &text, false, error));
    TRY(shingles_put(library, id, record, error));
    if (record->scheme == DOPPEL_SCHEME_WINNOW32)
        TRY(passages_put(library, id, record, text.leads, error));
done:
    return status;
}

enum doppel_status text_codes_put_record(struct doppel_library *library, uint64_t id,
                                         const struct doppel_library_text *record,
                                         struct doppel_error *error)
{
    struct indexed_text text = {
        .id = id, .content = record->content, .leads = record->leads || !record->leader};
    text.scheme = scheme_of_lanes(record->lane_count);
    if (!record->too_short)
        text.words = record->lane_count / LANES_A_WORD;
    for (size_t i = 0; i < text.words * LANES_A_WORD; i++)
        text.code[i / LANES_A_WORD] |= (uint64_t)record->lanes[i] << 16 * (i % LANES_A_WORD);
    return put_text(library, &text, false, error);
}

/* @param out its id is 0 where no text has it */
static enum doppel_status load_indexed_text(struct doppel_library *library, uint64_t id,
                                            struct indexed_text *out, struct doppel_error *error)
{
    static const char *const ways[] = {SELECT_RECORD " AND id = ?1",
                                       SELECT_TEXT_FILE " AND item.id = ?1 AND kind = ?2"};
    static text_row_reader *const readers[] = {read_indexed_record, read_indexed_file};
    enum doppel_status status = DOPPEL_OK;
    bool row = false;
    *out = (struct indexed_text){0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !row && !status; i++) {
        sqlite3_stmt *statement;
        status = doppel_store_statement(library->store, ways[i], &statement, error);
        if (status)
            return status;
        sqlite3_bind_int64(statement, 1, (int64_t)id);
        if (i == 1)
            sqlite3_bind_int(statement, 2, DOPPEL_KIND_TEXT);
        status = doppel_store_step(library->store, statement, &row, error);
        enum doppel_status had = !status && row ? readers[i](statement, out) : DOPPEL_OK;
        sqlite3_reset(statement);
        if (had == DOPPEL_E_MEMORY)
            return no_memory_for_text(error);
        if (had)
            out->id = 0;
    }
    return status;
}

enum doppel_status text_codes_move(struct doppel_library *library, uint64_t id, bool led,
                                   struct doppel_error *error)
{
    struct indexed_text text;
    enum doppel_status status = load_indexed_text(library, id, &text, error);
    if (!status && text.id && text.scheme == DOPPEL_SCHEME_WINNOW32)
        return led == text.leads ? DOPPEL_OK : passages_move(library, id, error);
    if (status || !text.id || !text.words)
        return status;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const struct code_table_row *table = &code_tables[i];
        bool one = table->part == CODES_OF_LEADER || table->part == CODES_OF_FOLLOWER;
        if (one && table->scheme == text.scheme)
            status = codes_forget_in(library, (enum code_table)i, id, error);
    }
    return status ? status : put_text(library, &text, true, error);
}

/* Of a damaged one nobody knows where it is. */
enum doppel_status text_codes_forget_record(struct doppel_library *library, uint64_t id,
                                            struct doppel_error *error)
{
    struct indexed_text text;
    int64_t record = 0;
    enum doppel_status status =
        rows_number(library, "SELECT EXISTS(SELECT 1 FROM text WHERE id = ?1)", VALUES(ID(id)),
                    &record, NULL, error);
    if (status || !record)
        return status;
    status = load_indexed_text(library, id, &text, error);
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const enum doppel_scheme_id scheme = code_tables[i].scheme;
        if (has_records((enum code_table)i) && (!scheme || !text.id || scheme == text.scheme))
            status = codes_forget_in(library, (enum code_table)i, id, error);
    }
    return status;
}

enum doppel_status text_codes_free_followers(struct doppel_library *library, uint64_t id,
                                             struct doppel_error *error)
{
    ARRAY(uint64_t) ids = {0};
    sqlite3_stmt *statement;
    bool row, held = true;
    enum doppel_status status = rows_prepare(
        library, "SELECT id FROM text WHERE leader = ?1 AND leader != 0 AND too_short = 0",
        VALUES(ID(id)), &statement, error);
    if (status)
        return status;
    while (held && !(status = doppel_store_step(library->store, statement, &row, error)) && row)
        held = array_push(&ids, (uint64_t)sqlite3_column_int64(statement, 0));
    sqlite3_reset(statement);
    if (!held)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group");
    for (size_t i = 0; i < ids.count && !status; i++)
        status = text_codes_move(library, ids.items[i], false, error);
    array_free(&ids);
    return status;
}
