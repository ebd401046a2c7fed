/* Passages of a library's texts (winnow32): the keys of texts, read from their rows; an index of
 * all of a table is made of these. */
#include "library/derived/passages.h"

#include "core/try.h"
#include "library/items/rows.h"

uint32_t passage_salt(uint16_t version)
{
    const uint32_t base = doppel_scheme_by_id(DOPPEL_SCHEME_WINNOW32)->version;
    return (version - base) * UINT32_C(0x9e3779b1);
}

bool is_passage_table(enum code_table which)
{
    return code_tables[which].scheme == DOPPEL_SCHEME_WINNOW32;
}

enum code_table passage_table(bool leads)
{
    return leads ? CODES_WINNOW32 : CODES_WINNOW32_FOLLOWERS;
}

/* Of every eight words there is a key: what has fewer comes from no text, and would make the axis
 * endless. */
bool passage_keys_take(const struct doppel_record *record, struct passage_keys *keys)
{
    enum { WORDS_A_KEY = 16 };
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    struct doppel_text_extra extra = {0};
    keys->postings.count = 0;
    if (!doppel_text_attachment_head(record->attachment, record->attachment_size, &extra) ||
        extra.words / WORDS_A_KEY > fingerprint->count + 2u)
        return true;
    keys->version = record->version;
    keys->words = (uint32_t)extra.words;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        const uint64_t code = fingerprint->codes[i].word[0];
        const uint32_t word = (uint32_t)(code >> 32);
        if (word >= keys->words || (i && word <= keys->postings.items[i - 1].position))
            break;
        if (!array_push(&keys->postings, ((struct doppel_index_posting){
                                             (uint32_t)code ^ passage_salt(keys->version), word})))
            return false;
    }
    return true;
}

bool passage_keys_read(sqlite3_stmt *statement, struct passage_keys *out)
{
    struct text_file file;
    out->postings.count = 0;
    enum doppel_status status = text_file_read(statement, &file);
    if (status) /* a damaged one has none */
        return status != DOPPEL_E_MEMORY;
    out->id = file.id;
    out->leads = file.leads;
    bool taken = passage_keys_take(&file.record, out);
    text_file_free(&file);
    return taken;
}

struct doppel_index_item passage_item(const struct passage_keys *keys)
{
    return (struct doppel_index_item){.payload = keys->id,
                                      .length = keys->words,
                                      .count = (uint32_t)keys->postings.count,
                                      .postings = keys->postings.items};
}

enum doppel_status no_memory_for_keys(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of a text");
}

enum doppel_status passage_rows_begin(struct passage_rows *rows)
{
    enum doppel_status status = doppel_store_statement(
        rows->store, OF_BOTH(SELECT_TEXT_FILE " AND scheme = ?1") " ORDER BY 1", &rows->statement,
        rows->error);
    if (!status)
        sqlite3_bind_int(rows->statement, 1, DOPPEL_SCHEME_WINNOW32);
    return status;
}

void passage_rows_end(struct passage_rows *rows)
{
    if (rows->statement)
        sqlite3_reset(rows->statement);
    array_free(&rows->keys.postings);
    array_free(&rows->versions);
}

static bool count_passage_text(struct passage_rows *rows)
{
    size_t i = 0;
    while (i < rows->versions.count && rows->versions.items[i].version != rows->keys.version)
        i++;
    if (i == rows->versions.count &&
        !array_push(&rows->versions, (struct version_totals){.version = rows->keys.version}))
        return false;
    rows->versions.items[i].totals.texts++;
    rows->versions.items[i].totals.words += rows->keys.words;
    return true;
}

static void tell_passage_rows(struct passage_rows *rows)
{
    enum { TEXTS_A_TELLING = 1024 };
    if (rows->watch && rows->watch->progress && rows->read % TEXTS_A_TELLING == 0 &&
        rows->read < rows->total)
        rows->watch->progress(rows->watch->context, rows->read, rows->total);
    rows->read++;
}

bool passage_rows_next(struct passage_rows *rows)
{
    struct passage_keys *keys = &rows->keys;
    bool row;
    while (!(rows->status = doppel_store_step(rows->store, rows->statement, &row, rows->error)) &&
           row) {
        tell_passage_rows(rows);
        if (!passage_keys_read(rows->statement, keys))
            rows->status = no_memory_for_keys(rows->error);
        else if (!keys->postings.count || passage_table(keys->leads) != rows->which)
            continue;
        else if (!count_passage_text(rows))
            rows->status = no_memory_for_keys(rows->error);
        return !rows->status;
    }
    return false;
}

enum doppel_status codes_of_passages(struct doppel_store *store, enum code_table which,
                                     codes_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct passage_rows rows = {.store = store, .which = which, .error = error};
    bool go_on = true;
    enum doppel_status status = passage_rows_begin(&rows);
    while (!status && go_on && passage_rows_next(&rows)) {
        uint64_t code = (uint64_t)rows.keys.version << 32 | rows.keys.words;
        go_on = visitor(context, &(struct item_codes){&code, &rows.keys.id, 1});
    }
    passage_rows_end(&rows);
    if (!status)
        status = rows.status;
    return status || go_on ? status : DOPPEL_E_CANCELLED;
}

static bool load_passage_row(void *context, struct doppel_index_item *out)
{
    struct passage_rows *rows = context;
    if (!passage_rows_next(rows))
        return false;
    *out = passage_item(&rows->keys);
    return true;
}

enum doppel_status passages_load(const struct doppel_library *library, struct doppel_store *store,
                                 enum code_table which, spool_user *use, void *context,
                                 struct doppel_error *error)
{
    struct passage_rows rows = {
        .store = store, .which = which, .watch = &library->watch, .error = error};
    const struct doppel_index_load load = {.read_item = load_passage_row, .context = &rows};
    enum doppel_status status;
    TRY(passage_rows_begin(&rows));
    if (rows.watch->progress)
        TRY(codes_count_items(store, which, &rows.total, error));
    TRY(use(context, &load, error));
    TRY(rows.status);
    if (rows.watch->progress)
        rows.watch->progress(rows.watch->context, rows.total, rows.total);
done:
    passage_rows_end(&rows);
    return status;
}
