/* Passages of a library's texts (winnow32): the keys of all texts in an index of postings, of those
 * who lead and of those who follow; put in, taken out, asked. */
#include "library/derived/codes.h"

#include <stdlib.h>

#include "core/array.h"
#include "core/try.h"
#include "library/items/rows.h"

/* Texts of several versions lie in one index: the keys of each are combined with a number of its
 * own, so that they meet no others. */
static uint32_t salt_of_version(uint16_t version)
{
    const uint32_t base = doppel_scheme_by_id(DOPPEL_SCHEME_WINNOW32)->version;
    return (version - base) * UINT32_C(0x9e3779b1);
}

/* What is in an index of texts of one version. */
struct passage_totals {
    int64_t texts, words;
};

/* What is indexed of a text; one without postings is not. */
struct passage_keys {
    uint64_t id;
    uint16_t version;
    bool leads;
    uint32_t words;
    ARRAY(struct doppel_index_posting) postings;
};

bool is_passage_table(enum code_table which)
{
    return code_tables[which].scheme == DOPPEL_SCHEME_WINNOW32;
}

static enum code_table passage_table(bool leads)
{
    return leads ? CODES_WINNOW32 : CODES_WINNOW32_FOLLOWERS;
}

/* ---- from rows ---- */

/* As a text is read when it is compared (compare/text.c). Of every eight words there is a key: what
 * has fewer comes from no text, and would make the axis endless. @return false without memory */
static bool take_keys(const struct doppel_record *record, struct passage_keys *keys)
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
        if (!array_push(&keys->postings,
                        ((struct doppel_index_posting){
                            (uint32_t)code ^ salt_of_version(keys->version), word})))
            return false;
    }
    return true;
}

static bool read_passage_row(sqlite3_stmt *statement, struct passage_keys *out)
{
    struct text_file file;
    out->postings.count = 0;
    if (!text_file_read(statement, &file)) /* damaged */
        return true;
    out->id = file.id;
    out->leads = file.leads;
    bool taken = take_keys(&file.record, out);
    text_file_free(&file);
    return taken;
}

static struct doppel_index_item item_of_keys(const struct passage_keys *keys)
{
    return (struct doppel_index_item){.payload = keys->id,
                                      .length = keys->words,
                                      .count = (uint32_t)keys->postings.count,
                                      .postings = keys->postings.items};
}

static enum doppel_status no_memory_for_keys(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of a text");
}

/* The texts of a table, one after the other. */
struct passage_rows {
    struct doppel_store *store;
    enum code_table which;
    sqlite3_stmt *statement;
    struct passage_keys keys; /* of the text that was read last */
    ARRAY(struct version_totals {
        uint16_t version;
        struct passage_totals totals;
    })
    versions;
    const struct doppel_library_watch *watch; /* NULL: nobody */
    uint64_t read, total;
    enum doppel_status status; /* why they ended early */
    struct doppel_error *error;
};

static enum doppel_status begin_passage_rows(struct passage_rows *rows)
{
    enum doppel_status status = doppel_store_statement(
        rows->store, OF_BOTH(SELECT_TEXT_FILE " AND scheme = ?1") " ORDER BY 1", &rows->statement,
        rows->error);
    if (!status)
        sqlite3_bind_int(rows->statement, 1, DOPPEL_SCHEME_WINNOW32);
    return status;
}

static void end_passage_rows(struct passage_rows *rows)
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

/* The next that has keys and belongs there. @return false at the end, and when it failed */
static bool next_passage_row(struct passage_rows *rows)
{
    struct passage_keys *keys = &rows->keys;
    bool row;
    while (!(rows->status = doppel_store_step(rows->store, rows->statement, &row, rows->error)) &&
           row) {
        tell_passage_rows(rows);
        if (!read_passage_row(rows->statement, keys))
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
    enum doppel_status status = begin_passage_rows(&rows);
    while (!status && go_on && next_passage_row(&rows)) {
        uint64_t code = (uint64_t)rows.keys.version << 32 | rows.keys.words;
        go_on = visitor(context, &(struct item_codes){&code, &rows.keys.id, 1});
    }
    end_passage_rows(&rows);
    if (!status)
        status = rows.status;
    return status || go_on ? status : DOPPEL_E_CANCELLED;
}

/* ---- made of the rows ---- */

static bool load_passage_row(void *context, struct doppel_index_item *out)
{
    struct passage_rows *rows = context;
    if (!next_passage_row(rows))
        return false;
    *out = item_of_keys(&rows->keys);
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
    TRY(begin_passage_rows(&rows));
    if (rows.watch->progress)
        TRY(codes_count_items(store, which, &rows.total, error));
    TRY(use(context, &load, error));
    TRY(rows.status);
    if (rows.watch->progress)
        rows.watch->progress(rows.watch->context, rows.total, rows.total);
done:
    end_passage_rows(&rows);
    return status;
}

/* ---- how many texts, and words ---- */

/* Rows of `revision`: their numbers lie above those of what it counts changes of. */
enum { TOTALS_PART = 1 << 20, TEXTS_PART = 0, WORDS_PART = 1 };

static int64_t totals_part(enum code_table which, uint16_t version, int of)
{
    return TOTALS_PART | (which == CODES_WINNOW32_FOLLOWERS) << 17 | version << 1 | of;
}

static enum doppel_status add_to_part(struct doppel_store *store, int64_t part, int64_t number,
                                      struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store,
                               "INSERT INTO revision(part, number) VALUES(?1, ?2)"
                               " ON CONFLICT(part) DO UPDATE SET number = number + ?2",
                               &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, part);
    sqlite3_bind_int64(statement, 2, number);
    return doppel_store_step(store, statement, &row, error);
}

static enum doppel_status add_to_totals(struct doppel_store *store, enum code_table which,
                                        uint16_t version, struct passage_totals more,
                                        struct doppel_error *error)
{
    enum doppel_status status =
        add_to_part(store, totals_part(which, version, TEXTS_PART), more.texts, error);
    return status ? status
                  : add_to_part(store, totals_part(which, version, WORDS_PART), more.words, error);
}

/* Of all versions: ?1 to ?2. */
static void bind_parts(sqlite3_stmt *statement, enum code_table which)
{
    sqlite3_bind_int64(statement, 1, totals_part(which, 0, TEXTS_PART));
    sqlite3_bind_int64(statement, 2, totals_part(which, UINT16_MAX, WORDS_PART));
}

enum doppel_status passages_put_totals(struct doppel_store *store,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error)
{
    const struct passage_rows *rows = load->context;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "DELETE FROM revision WHERE part BETWEEN ?1 AND ?2", &statement, error);
    if (status)
        return status;
    bind_parts(statement, rows->which);
    status = doppel_store_step(store, statement, &row, error);
    for (size_t i = 0; i < rows->versions.count && !status; i++)
        status = add_to_totals(store, rows->which, rows->versions.items[i].version,
                               rows->versions.items[i].totals, error);
    return status;
}

static enum doppel_status read_total(struct doppel_store *store, int64_t part, int64_t *out,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(
        store, "SELECT number FROM revision WHERE part = ?1", &statement, error);
    if (status)
        return status;
    sqlite3_bind_int64(statement, 1, part);
    status = doppel_store_step(store, statement, &row, error);
    *out = !status && row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return status;
}

static enum doppel_status read_totals(struct doppel_store *store, enum code_table which,
                                      uint16_t version, struct passage_totals *out,
                                      struct doppel_error *error)
{
    enum doppel_status status =
        read_total(store, totals_part(which, version, TEXTS_PART), &out->texts, error);
    return status ? status
                  : read_total(store, totals_part(which, version, WORDS_PART), &out->words, error);
}

/* All that the rows tell of an index, of any version. */
static enum doppel_status sum_parts(struct doppel_store *store, enum code_table which,
                                    struct passage_totals *out, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store,
                               "SELECT coalesce(sum(number) FILTER (WHERE NOT part & 1), 0),"
                               " coalesce(sum(number) FILTER (WHERE part & 1), 0)"
                               " FROM revision WHERE part BETWEEN ?1 AND ?2",
                               &statement, error);
    if (status)
        return status;
    bind_parts(statement, which);
    status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    *out = (struct passage_totals){sqlite3_column_int64(statement, 0),
                                   sqlite3_column_int64(statement, 1)};
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

enum doppel_status passages_are_counted(struct doppel_store *store, enum code_table which,
                                        bool *out, struct doppel_error *error)
{
    struct passage_rows rows = {.store = store, .which = which, .error = error};
    struct passage_totals all = {0, 0}, told;
    enum doppel_status status;
    TRY(begin_passage_rows(&rows));
    while (next_passage_row(&rows))
        ;
    TRY(rows.status);
    *out = true;
    for (size_t i = 0; i < rows.versions.count; i++) {
        const struct passage_totals *one = &rows.versions.items[i].totals;
        TRY(read_totals(store, which, rows.versions.items[i].version, &told, error));
        *out = *out && told.texts == one->texts && told.words == one->words;
        all.texts += one->texts;
        all.words += one->words;
    }
    TRY(sum_parts(store, which, &told, error));
    *out = *out && told.texts == all.texts && told.words == all.words;
done:
    end_passage_rows(&rows);
    return status;
}

/* ---- one text ---- */

static enum doppel_status insert_keys(struct doppel_library *library,
                                      const struct passage_keys *keys, struct doppel_error *error)
{
    const enum code_table which = passage_table(keys->leads);
    const struct doppel_index_item item = item_of_keys(keys);
    struct code_index *index = &library->codes[which];
    bool made;
    enum doppel_status status = codes_open_to_put(library, which, &made, error);
    if (status || made) /* of the texts that are there, this one too */
        return status;
    index->put += item.count;
    status = doppel_store_index_insert_item(index->kept, &item, error);
    return status ? status
                  : add_to_totals(library->store, which, keys->version,
                                  (struct passage_totals){1, keys->words}, error);
}

static enum doppel_status remove_keys(struct doppel_library *library, enum code_table which,
                                      const struct passage_keys *keys, struct doppel_error *error)
{
    bool there;
    enum doppel_status status = codes_open_to_forget(library, which, &there, error);
    if (status || !there)
        return status;
    status = doppel_store_index_remove(library->codes[which].kept, &keys->id, 1, error);
    return status ? status
                  : add_to_totals(library->store, which, keys->version,
                                  (struct passage_totals){-1, -(int64_t)keys->words}, error);
}

enum doppel_status passages_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, bool leads,
                                struct doppel_error *error)
{
    struct passage_keys keys = {.id = id, .leads = leads};
    enum doppel_status status = DOPPEL_OK;
    if (!take_keys(record, &keys))
        status = no_memory_for_keys(error);
    else if (keys.postings.count)
        status = insert_keys(library, &keys, error);
    array_free(&keys.postings);
    return status;
}

/* @param out its postings are given (array_free), also on failure. @param out_damaged it is there,
 * but not whole */
static enum doppel_status load_keys(struct doppel_library *library, uint64_t id,
                                    struct passage_keys *out, bool *out_damaged,
                                    struct doppel_error *error)
{
    sqlite3_stmt *statement;
    int64_t number;
    bool row;
    *out = (struct passage_keys){.id = id};
    *out_damaged = false;
    enum doppel_status status =
        rows_prepare(library, SELECT_TEXT_FILE " AND item.id = ?1 AND scheme = ?2",
                     VALUES(ID(id), ID(DOPPEL_SCHEME_WINNOW32)), &statement, error);
    if (!status)
        status = doppel_store_step(library->store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return rows_number(library, "SELECT 1 FROM item WHERE id = ?1 AND scheme = ?2",
                           VALUES(ID(id), ID(DOPPEL_SCHEME_WINNOW32)), &number, out_damaged, error);
    if (!read_passage_row(statement, out))
        status = no_memory_for_keys(error);
    sqlite3_reset(statement);
    return status;
}

/* Of a damaged one nobody knows what the totals have of it: all is made again without it. */
enum doppel_status passages_forget(struct doppel_library *library, enum code_table which,
                                   uint64_t id, struct doppel_error *error)
{
    struct passage_keys keys;
    bool damaged;
    enum doppel_status status;
    TRY(load_keys(library, id, &keys, &damaged, error));
    if (damaged)
        TRY(codes_make_again(library, which, error));
    else if (keys.postings.count && passage_table(keys.leads) == which)
        TRY(remove_keys(library, which, &keys, error));
done:
    array_free(&keys.postings);
    return status;
}

enum doppel_status passages_move(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error)
{
    struct passage_keys keys;
    bool damaged;
    enum doppel_status status;
    TRY(load_keys(library, id, &keys, &damaged, error));
    if (keys.postings.count) {
        TRY(remove_keys(library, passage_table(!keys.leads), &keys, error));
        TRY(insert_keys(library, &keys, error));
    }
done:
    array_free(&keys.postings);
    return status;
}

/* ---- finding ---- */

static bool sum_private_text(void *context, const struct item_codes *codes)
{
    struct version_totals *sum = context;
    if (*codes->codes >> 32 == sum->version) {
        sum->totals.texts++;
        sum->totals.words += (uint32_t)*codes->codes;
    }
    return true;
}

/* Where nothing can be written, no rows tell. */
static enum doppel_status take_totals(struct doppel_library *library, enum code_table which,
                                      struct version_totals *out, struct doppel_error *error)
{
    return library->codes[which].kept
               ? read_totals(library->store, which, out->version, &out->totals, error)
               : codes_of_passages(library->store, which, sum_private_text, out, error);
}

static enum doppel_status find_in_indexes(struct doppel_library *library,
                                          const struct doppel_passage_lookup *lookup,
                                          doppel_found_visitor *visitor, void *context,
                                          struct doppel_error *error)
{
    struct doppel_passage_indexes indexes = {.salt = salt_of_version(lookup->version)};
    struct doppel_passages *set = NULL;
    enum doppel_status status;
    for (size_t i = 0; i < (lookup->followers ? 2 : 1); i++) {
        const enum code_table which = passage_table(i == 0);
        struct version_totals sum = {.version = lookup->version};
        TRY(codes_index(library, which, &indexes.indexes[indexes.count++], error));
        TRY(take_totals(library, which, &sum, error));
        indexes.texts += (uint64_t)sum.totals.texts;
        indexes.words += (uint64_t)sum.totals.words;
    }
    TRY(doppel_passages_over(&indexes, &set, error));
    TRY(doppel_passages_find(set, lookup->request, visitor, context, error));
done:
    doppel_passages_free(set);
    return status;
}

static bool is_table_of_passages(enum code_table which, const void *context)
{
    (void)context;
    return is_passage_table(which);
}

enum doppel_status doppel_library_find_passages(struct doppel_library *library,
                                                const struct doppel_passage_lookup *lookup,
                                                doppel_found_visitor *visitor, void *context,
                                                struct doppel_error *error)
{
    struct doppel_error failure = {0};
    enum doppel_status status = find_in_indexes(library, lookup, visitor, context, &failure);
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        status = codes_mend(library, is_table_of_passages, NULL, &failure);
        if (!status)
            status = find_in_indexes(library, lookup, visitor, context, &failure);
    }
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}
