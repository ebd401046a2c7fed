/* The codes that an index is to have: visited item by item, and loaded into one. */
#include <stdlib.h>

#include "core/try.h"
#include "library/derived/code_spool.h"
#include "library/items/rows.h"

/* Items on their way into an index, and how far they are. */
struct spooling {
    struct code_spool *spool;
    const struct doppel_library_watch *watch;
    uint64_t items, total; /* visited, and to be */
};

static void tell_spooled(struct spooling *spooling)
{
    enum { ITEMS_A_TELLING = 4096 };
    if (spooling->watch->progress && spooling->items % ITEMS_A_TELLING == 0 &&
        spooling->items < spooling->total)
        spooling->watch->progress(spooling->watch->context, spooling->items, spooling->total);
    spooling->items++;
}

static bool spool_codes(void *context, const struct item_codes *codes)
{
    struct spooling *spooling = context;
    tell_spooled(spooling);
    return code_spool_put(spooling->spool, codes);
}

bool has_own_payloads(enum code_table which)
{
    return code_tables[which].part == CODES_OF_RECORDING ||
           (code_tables[which].part == CODES_OF_IMAGE &&
            code_tables[which].scheme == DOPPEL_SCHEME_PHASH64);
}

static void take_image_codes(enum code_table which, uint64_t id, const struct doppel_record *record,
                             struct item_codes *out)
{
    const struct doppel_match_item item = {&record->fingerprint, record->quality};
    out->count = doppel_image_table_codes(code_tables[which].table, &item, out->codes);
    for (size_t i = 0; i < out->count; i++)
        out->payloads[i] = doppel_image_table_payload(&record->fingerprint, id, i);
}

static void take_recording_codes(uint64_t id, const struct doppel_fingerprint *fingerprint,
                                 struct item_codes *out)
{
    if (fingerprint->count >> DOPPEL_CHROMAPRINT_PLACE_BITS)
        return;
    for (; out->count < fingerprint->count; out->count++) {
        out->codes[out->count] = fingerprint->codes[out->count].word[0];
        out->payloads[out->count] = id << DOPPEL_CHROMAPRINT_PLACE_BITS | out->count;
    }
}

enum doppel_status codes_of_record(enum code_table which, uint64_t id,
                                   const struct doppel_record *record, struct item_codes *out,
                                   struct doppel_error *error)
{
    const bool recording = code_tables[which].part == CODES_OF_RECORDING;
    const size_t most = recording ? record->fingerprint.count + 1u : DOPPEL_IMAGE_TABLE_WORDS;
    *out = (struct item_codes){.codes = malloc(most * sizeof *out->codes),
                               .payloads = malloc(most * sizeof *out->payloads)};
    if (!out->codes || !out->payloads)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the codes of an item");
    if (recording)
        take_recording_codes(id, &record->fingerprint, out);
    else
        take_image_codes(which, id, record, out);
    return DOPPEL_OK;
}

void item_codes_free(struct item_codes *codes)
{
    free(codes->codes);
    free(codes->payloads);
}

/* Damaged items are left out: the library tells of them, and mends them when they are added again.
 */
static enum doppel_status visit_codes_of_row(enum code_table which, sqlite3_stmt *statement,
                                             codes_visitor *visitor, void *context)
{
    struct doppel_record record = {0};
    struct item_codes codes;
    const uint64_t id = (uint64_t)sqlite3_column_int64(statement, 0);
    if (!record_read(statement, 1, &record) ||
        !fingerprint_read(statement, 1 + RECORD_COLUMN_COUNT, &record))
        return record.error.status == DOPPEL_E_MEMORY ? DOPPEL_E_MEMORY : DOPPEL_OK;
    enum doppel_status status = codes_of_record(which, id, &record, &codes, NULL);
    if (!status && !visitor(context, &codes))
        status = DOPPEL_E_CANCELLED;
    item_codes_free(&codes);
    doppel_record_free(&record);
    return status;
}

enum doppel_status codes_of_items(struct doppel_store *store, enum code_table which,
                                  codes_visitor *visitor, void *context, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code_tables[which].scheme);
    sqlite3_stmt *statement;
    bool row;
    if (is_passage_table(which))
        return codes_of_passages(store, which, visitor, context, error);
    if (is_shingle_table(which))
        return codes_of_shingles(store, which, visitor, context, error);
    if (is_text_table(which))
        return codes_of_texts(store, which, visitor, context, error);
    enum doppel_status status =
        doppel_store_statement(store,
                               OF_BOTH("SELECT id, " RECORD_COLUMNS ", fingerprint.data FROM item"
                                       " CROSS JOIN fingerprint ON fingerprint.item = item.id"
                                       " WHERE scheme = ?1 AND version = ?2 AND " ITEM_IS_WHOLE),
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int(statement, 1, (int)scheme->id);
    sqlite3_bind_int(statement, 2, scheme->version);
    while (!status && !(status = doppel_store_step(store, statement, &row, error)) && row)
        status = visit_codes_of_row(which, statement, visitor, context);
    sqlite3_reset(statement);
    return status == DOPPEL_E_MEMORY ? doppel_fail(error, status, "no memory for an item") : status;
}

enum doppel_status codes_are_uncertain(struct doppel_library *library, enum code_table which,
                                       bool *out, struct doppel_error *error)
{
    int64_t any = 0;
    if (is_text_table(which))
        return texts_are_uncertain(library, out, error);
    enum doppel_status status =
        rows_number(library,
                    "SELECT EXISTS(" OF_BOTH(
                        "SELECT 1 FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id"
                        " WHERE scheme = ?1 AND NOT coalesce(" ITEM_IS_WHOLE ", 0)") ")",
                    VALUES(ID(code_tables[which].scheme)), &any, NULL, error);
    *out = any != 0;
    return status;
}

static enum doppel_status spool_items(struct doppel_store *store, enum code_table which,
                                      struct spooling *spooling, struct doppel_index_load *out,
                                      struct doppel_error *error)
{
    enum doppel_status status = codes_of_items(store, which, spool_codes, spooling, error);
    if (status == DOPPEL_E_CANCELLED || (!status && !code_spool_load(spooling->spool, out)))
        status = doppel_fail(error, DOPPEL_E_NO_SPACE, "no room to make the index %s",
                             code_tables[which].folder);
    return status;
}

static bool stop_at_first_code(void *context, const struct item_codes *codes)
{
    (void)context, (void)codes;
    return false;
}

enum doppel_status codes_any_items(struct doppel_store *store, enum code_table which, bool *out,
                                   struct doppel_error *error)
{
    enum doppel_status status = codes_of_items(store, which, stop_at_first_code, NULL, error);
    *out = status == DOPPEL_E_CANCELLED;
    return *out ? DOPPEL_OK : status;
}

enum doppel_status codes_count_items(struct doppel_store *store, enum code_table which,
                                     uint64_t *out, struct doppel_error *error)
{
    const struct code_table_row *table = &code_tables[which];
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store,
        "SELECT (SELECT count(*) FROM (" OF_BOTH(
            "SELECT 1 FROM item WHERE scheme BETWEEN ?1 AND ?3") "))"
                                                                 " + CASE WHEN ?2 THEN (SELECT"
                                                                 " count(*) FROM text) ELSE 0 END",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int(statement, 1, (int)(table->scheme ? table->scheme : DOPPEL_SCHEME_MINHASH128));
    sqlite3_bind_int(statement, 3, (int)(table->scheme ? table->scheme : DOPPEL_SCHEME_DATASKETCH));
    sqlite3_bind_int(statement, 2, has_records(which));
    status = doppel_store_step(store, statement, &row, error);
    if (!status)
        *out = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

enum doppel_status codes_load(const struct doppel_library *library, struct doppel_store *store,
                              enum code_table which, const struct doppel_index_options *make,
                              spool_user *use, void *context, struct doppel_error *error)
{
    const struct doppel_library_watch *watch = &library->watch;
    if (is_passage_table(which))
        return passages_load(library, store, which, use, context, error);
    struct spooling spooling = {.spool = code_spool_new(library->directory, make), .watch = watch};
    struct doppel_index_load load;
    if (!spooling.spool)
        return doppel_fail(error, DOPPEL_E_IO, "%s: no temporary file can be made",
                           library->directory);
    enum doppel_status status;
    TRY(watch->progress ? codes_count_items(store, which, &spooling.total, error) : DOPPEL_OK);
    TRY(spool_items(store, which, &spooling, &load, error));
    TRY(use(context, &load, error));
done:
    if (watch->progress)
        watch->progress(watch->context, spooling.total, spooling.total);
    code_spool_free(spooling.spool);
    return status;
}
