/* The codes that an index is to have: visited item by item, and loaded into one. */
#include "library/derived/codes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/try.h"
#include "library/items/rows.h"

/* Codes on their way into a segment: a temporary file, read several times. */
struct code_spool {
    FILE *file;
    size_t words;
    uint64_t count;
    const struct doppel_library_watch *watch;
    uint64_t items, total; /* visited, and to be */
};

static void spool_rewind(void *context)
{
    rewind(((struct code_spool *)context)->file);
}

static size_t spool_read(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct code_spool *spool = context;
    size_t done = 0;
    while (done < max && fread(&payloads[done], sizeof *payloads, 1, spool->file) == 1 &&
           fread(codes + done * spool->words, sizeof *codes, spool->words, spool->file) ==
               spool->words)
        done++;
    return done;
}

static void tell_spooled(struct code_spool *spool)
{
    enum { ITEMS_A_TELLING = 4096 };
    if (spool->watch->progress && spool->items % ITEMS_A_TELLING == 0 &&
        spool->items < spool->total)
        spool->watch->progress(spool->watch->context, spool->items, spool->total);
    spool->items++;
}

static bool spool_write(void *context, const struct item_codes *codes)
{
    struct code_spool *spool = context;
    tell_spooled(spool);
    for (size_t i = 0; i < codes->count; i++)
        if (fwrite(&codes->payloads[i], sizeof *codes->payloads, 1, spool->file) != 1 ||
            fwrite(codes->codes + i * spool->words, sizeof *codes->codes, spool->words,
                   spool->file) != spool->words)
            return false;
    spool->count += codes->count;
    return true;
}

/* In the library, whose disk has room for as much; where that cannot be written to, elsewhere. */
static FILE *spool_open(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file ? file : tmpfile();
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
static bool visit_codes_of_row(enum code_table which, sqlite3_stmt *statement,
                               codes_visitor *visitor, void *context)
{
    struct doppel_record record = {0};
    struct item_codes codes;
    const uint64_t id = (uint64_t)sqlite3_column_int64(statement, 0);
    if (!record_read(statement, 1, &record) ||
        !fingerprint_read(statement, 1 + RECORD_COLUMN_COUNT, &record))
        return true;
    bool go_on =
        codes_of_record(which, id, &record, &codes, NULL) == DOPPEL_OK && visitor(context, &codes);
    item_codes_free(&codes);
    doppel_record_free(&record);
    return go_on;
}

enum doppel_status codes_of_items(struct doppel_store *store, enum code_table which,
                                  codes_visitor *visitor, void *context, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code_tables[which].scheme);
    sqlite3_stmt *statement;
    bool row, go_on = true;
    if (is_passage_table(which))
        return codes_of_passages(store, which, visitor, context, error);
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
    while (go_on && !(status = doppel_store_step(store, statement, &row, error)) && row)
        go_on = visit_codes_of_row(which, statement, visitor, context);
    sqlite3_reset(statement);
    return status || go_on ? status : DOPPEL_E_CANCELLED;
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
                                      struct code_spool *spool, struct doppel_error *error)
{
    enum doppel_status status = codes_of_items(store, which, spool_write, spool, error);
    if (status == DOPPEL_E_CANCELLED || (!status && fflush(spool->file)))
        status = doppel_fail(error, DOPPEL_E_IO, "no room to make the index %s",
                             code_tables[which].folder);
    return status;
}

static size_t words_a_code(const struct doppel_index_options *make)
{
    return make->table == DOPPEL_INDEX_BANDS ? make->lanes / 4 : (make->bits + 63) / 64;
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
    struct code_spool spool = {
        .file = spool_open(library->directory), .words = words_a_code(make), .watch = watch};
    if (!spool.file)
        return doppel_fail(error, DOPPEL_E_IO, "%s: no temporary file can be made",
                           library->directory);
    enum doppel_status status;
    TRY(watch->progress ? codes_count_items(store, which, &spool.total, error) : DOPPEL_OK);
    TRY(spool_items(store, which, &spool, error));
    const struct doppel_index_load load = {
        .count = spool.count, .read = spool_read, .rewind = spool_rewind, .context = &spool};
    TRY(use(context, &load, error));
done:
    if (watch->progress)
        watch->progress(watch->context, spool.total, spool.total);
    fclose(spool.file);
    return status;
}
