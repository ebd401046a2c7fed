/* The pictures of a library that match one: looked up in its indexes, judged by their fingerprints.
 */
#include "library/derived/codes.h"

#include "core/try.h"
#include "library/items/rows.h"

static enum doppel_status find_picture(struct doppel_library *library, uint64_t id,
                                       struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(rows_prepare(library, "SELECT 1 FROM item WHERE id = ?1 AND " ROW_IS_WHOLE, VALUES(ID(id)),
                     &statement, error));
    TRY(doppel_store_step(library->store, statement, &row, error));
    sqlite3_reset(statement);
    return row ? DOPPEL_OK : DOPPEL_E_NOT_FOUND;
done:
    return status;
}

static enum doppel_status give_fingerprint(void *context, uint64_t id,
                                           struct doppel_fingerprint *out, uint8_t *out_quality,
                                           struct doppel_error *error)
{
    struct doppel_library *library = context;
    struct doppel_record record = {0};
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    if (!out)
        return find_picture(library, id, error);
    TRY(rows_prepare(library,
                     "SELECT " RECORD_COLUMNS ", fingerprint.data FROM item"
                     " JOIN fingerprint ON fingerprint.item = item.id"
                     " WHERE item.id = ?1 AND " ITEM_IS_WHOLE,
                     VALUES(ID(id)), &statement, error));
    TRY(doppel_store_step(library->store, statement, &row, error));
    bool read = row && record_read(statement, 0, &record) &&
                fingerprint_read(statement, RECORD_COLUMN_COUNT, &record);
    sqlite3_reset(statement);
    if (!read && record.error.status == DOPPEL_E_MEMORY)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a fingerprint of the library");
    if (!read)
        return DOPPEL_E_NOT_FOUND;
    *out = record.fingerprint;
    *out_quality = record.quality;
done:
    return status;
}

static enum doppel_status find_in_tables(struct doppel_library *library,
                                         struct doppel_image_request *request,
                                         doppel_found_visitor *visitor, void *context,
                                         struct doppel_error *error)
{
    const enum doppel_scheme_id scheme = request->query->fingerprint->scheme;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++)
        if (code_tables[i].scheme == scheme)
            status = codes_index(library, (enum code_table)i,
                                 &request->tables[code_tables[i].table], error);
    return status ? status : doppel_images_find(request, visitor, context, error);
}

static bool is_table_of(enum code_table which, const void *scheme)
{
    return code_tables[which].scheme == *(const enum doppel_scheme_id *)scheme;
}

enum doppel_status doppel_library_count_images(struct doppel_library *library, uint64_t *out,
                                               struct doppel_error *error)
{
    static const enum doppel_scheme_id scheme = DOPPEL_SCHEME_PHASH64;
    const struct doppel_index *frames;
    enum doppel_status status = codes_index(library, CODES_PHASH64_FULL, &frames, error);
    if (status == DOPPEL_E_CORRUPT) {
        TRY(codes_mend(library, is_table_of, &scheme, error));
        status = codes_index(library, CODES_PHASH64_FULL, &frames, error);
    }
    TRY(status);
    *out = doppel_index_count(frames);
done:
    return status;
}

enum doppel_status doppel_library_find_images(struct doppel_library *library,
                                              const struct doppel_match_item *query,
                                              const struct doppel_match_options *options,
                                              doppel_found_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    struct doppel_image_request request = {.query = query,
                                           .options = options,
                                           .source = give_fingerprint,
                                           .context = library,
                                           .threads = library->processors};
    const struct doppel_fingerprint *fingerprint = query->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    if (!scheme || scheme->kind != DOPPEL_KIND_IMAGE || fingerprint->version != scheme->version ||
        !fingerprint->count)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the fingerprint asked for is of no picture, or of another version");
    struct doppel_error failure = {0};
    enum doppel_status status = find_in_tables(library, &request, visitor, context, &failure);
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        status = codes_mend(library, is_table_of, &scheme->id, &failure);
        if (!status)
            status = find_in_tables(library, &request, visitor, context, &failure);
    }
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}
