/* Passages of a library's texts (winnow32): the keys of a text put into indexes of postings, of
 * those who lead and of those who follow, taken out, and asked for. */
#include <stdlib.h>

#include "core/try.h"
#include "library/derived/passages.h"
#include "library/items/rows.h"

/* ---- one text ---- */

static enum doppel_status insert_keys(struct doppel_library *library,
                                      const struct passage_keys *keys, struct doppel_error *error)
{
    const enum code_table which = passage_table(keys->leads);
    const struct doppel_index_item item = passage_item(keys);
    struct code_index *index = &library->codes[which];
    bool made;
    enum doppel_status status = codes_open_to_put(library, which, &made, error);
    if (status || made) /* of the texts that are there, this one too */
        return status;
    index->put += item.count;
    status = doppel_store_index_insert_item(index->kept, &item, error);
    return status ? status
                  : passage_totals_add(library->store, which, keys->version,
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
                  : passage_totals_add(library->store, which, keys->version,
                                       (struct passage_totals){-1, -(int64_t)keys->words}, error);
}

enum doppel_status passages_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, bool leads,
                                struct doppel_error *error)
{
    struct passage_keys keys = {.id = id, .leads = leads};
    enum doppel_status status = DOPPEL_OK;
    if (!passage_keys_take(record, &keys))
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
    if (!passage_keys_read(statement, out))
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
               ? passage_totals_read(library->store, which, out->version, &out->totals, error)
               : codes_of_passages(library->store, which, sum_private_text, out, error);
}

static enum doppel_status find_in_indexes(struct doppel_library *library,
                                          const struct doppel_passage_lookup *lookup,
                                          doppel_found_visitor *visitor, void *context,
                                          struct doppel_error *error)
{
    struct doppel_passage_indexes indexes = {.salt = passage_salt(lookup->version)};
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
