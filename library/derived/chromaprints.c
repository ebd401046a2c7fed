/* Recordings of a library by AcoustID's codes: looked up in its index of them, compared by their
 * fingerprints. */
#include "library/derived/codes.h"

#include "core/try.h"
#include "library/items/rows.h"

/* ---- finding ---- */

/* A search on its way: who searches may not want every item. */
struct chromaprint_search {
    struct doppel_library *library;
    const struct doppel_fingerprint *query;
    uint32_t max_distance;
    doppel_found_visitor *visitor;
    void *context;
};

/* Of audio files: what is found is a recording. */
static bool read_kept_chromaprint(struct doppel_library *library, uint64_t id,
                                  struct doppel_record *out)
{
    sqlite3_stmt *statement;
    bool row;
    if (rows_prepare(library,
                     "SELECT " RECORD_COLUMNS ", fingerprint.data FROM item"
                     " JOIN fingerprint ON fingerprint.item = item.id"
                     " WHERE item.id = ?1 AND kind = ?2 AND scheme = ?3 AND " ITEM_IS_WHOLE,
                     VALUES(ID(id), ID(DOPPEL_KIND_AUDIO), ID(DOPPEL_SCHEME_CHROMAPRINT)),
                     &statement, NULL) ||
        doppel_store_step(library->store, statement, &row, NULL) || !row)
        return false;
    bool read =
        record_read(statement, 0, out) && fingerprint_read(statement, RECORD_COLUMN_COUNT, out);
    sqlite3_reset(statement);
    if (!read)
        doppel_store_note_failure(library->store, out->error.status);
    return read;
}

static bool give_chromaprint(void *context, uint64_t id, struct doppel_fingerprint *out)
{
    const struct chromaprint_search *search = context;
    struct doppel_record record = {0};
    if (!read_kept_chromaprint(search->library, id, &record))
        return false;
    *out = record.fingerprint;
    return true;
}

static enum doppel_status find_chromaprints(struct chromaprint_search *search,
                                            struct doppel_error *error)
{
    const struct doppel_index *index;
    struct doppel_chromaprints *set = NULL;
    enum doppel_status status;
    TRY(codes_index(search->library, CODES_CHROMAPRINT, &index, error));
    TRY(doppel_chromaprints_over(index, give_chromaprint, search, &set, error));
    TRY(doppel_chromaprints_find(set, search->query, search->max_distance, search->visitor,
                                 search->context, error));
done:
    doppel_chromaprints_free(set);
    return status;
}

static bool is_chromaprint_table(enum code_table which, const void *context)
{
    (void)context;
    return which == CODES_CHROMAPRINT;
}

enum doppel_status doppel_library_find_chromaprints(struct doppel_library *library,
                                                    const struct doppel_fingerprint *query,
                                                    uint32_t max_distance,
                                                    doppel_found_visitor *visitor, void *context,
                                                    struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT);
    struct chromaprint_search search = {library, query, max_distance, visitor, context};
    struct doppel_error failure = {0};
    if (query->scheme != scheme->id || query->version != scheme->version)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the fingerprint asked for is no Chromaprint, or of another version");
    enum doppel_status status = find_chromaprints(&search, &failure);
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        status = codes_mend(library, is_chromaprint_table, NULL, &failure);
        if (!status)
            status = find_chromaprints(&search, &failure);
    }
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}
