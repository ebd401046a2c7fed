/* Texts of a library, files and records, looked up in its indexes: those that may be near to a
 * signature, and those that may have a content. */
#include "library/derived/codes.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/bytes.h"
#include "library/items/rows.h"
#include "library/items/text_internal.h"

/* Signatures are looked at one by one for other bands than their index has; when that was done for
 * so many times what it holds, it is made again with those bands. */
enum { SCANS_A_BUILD = 64 };

struct candidate_list {
    struct doppel_index_hit *items;
    size_t count;
};

static int hits_by_payload(const void *left, const void *right)
{
    const struct doppel_index_hit *a = left, *b = right;
    return (a->payload > b->payload) - (a->payload < b->payload);
}

/* ---- bands ---- */

static bool has_bands(const struct code_index *codes, const struct doppel_index_request *request)
{
    struct doppel_store_index_info info;
    if (!codes->kept || !request->bands)
        return true;
    doppel_store_index_info(codes->kept, &info);
    return info.options.table != DOPPEL_INDEX_BANDS ||
           (info.options.bands == request->bands && info.options.rows == request->rows);
}

static enum doppel_status choose_index(struct doppel_library *library, enum code_table which,
                                       const struct doppel_index_request *request,
                                       const struct doppel_index **out, struct doppel_error *error)
{
    struct code_index *codes = &library->codes[which];
    enum doppel_status status = codes_index(library, which, out, error);
    if (status || has_bands(codes, request))
        return status;
    uint64_t held = doppel_index_count(*out);
    codes->scanned += held;
    if (codes->scanned / SCANS_A_BUILD <= held || access(library->directory, W_OK) ||
        library->no_rebuild)
        return DOPPEL_OK;
    codes->bands = request->bands;
    codes->rows = request->rows;
    codes->scanned = 0;
    status = codes_make_again(library, which, error);
    return status ? status : codes_index(library, which, out, error);
}

/* ---- looking up ---- */

static bool is_this_table(enum code_table which, const void *wanted)
{
    return which == *(const enum code_table *)wanted;
}

static enum doppel_status look_up(struct doppel_library *library, enum code_table which,
                                  const struct doppel_index_request *request,
                                  struct candidate_list *out, struct doppel_error *error)
{
    const struct doppel_index *index;
    enum doppel_status status = choose_index(library, which, request, &index, error);
    return status ? status
                  : doppel_index_search_array(index, request, &out->items, &out->count, error);
}

/* In order of id. @param out given (free) */
static enum doppel_status look_up_whole(struct doppel_library *library, enum code_table which,
                                        const struct doppel_index_request *request,
                                        struct candidate_list *out, struct doppel_error *error)
{
    struct doppel_error failure = {0};
    *out = (struct candidate_list){0};
    enum doppel_status status = look_up(library, which, request, out, &failure);
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        status = codes_mend(library, is_this_table, &which, &failure);
        if (!status)
            status = look_up(library, which, request, out, &failure);
    }
    if (status)
        return doppel_fail(error, status, "%s", failure.message);
    if (out->count > 1)
        qsort(out->items, out->count, sizeof *out->items, hits_by_payload);
    return DOPPEL_OK;
}

static enum doppel_status visit_candidates(struct doppel_library *library, enum code_table which,
                                           const struct doppel_index_request *request,
                                           doppel_text_candidate_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    struct candidate_list list;
    enum doppel_status status = look_up_whole(library, which, request, &list, error);
    for (size_t i = 0; i < list.count && !status; i++)
        if (!visitor(context, list.items[i].payload, list.items[i].distance))
            status = DOPPEL_E_CANCELLED;
    free(list.items);
    return status;
}

enum doppel_status doppel_library_near_texts(struct doppel_library *library,
                                             const struct doppel_text_lookup *lookup,
                                             doppel_text_candidate_visitor *visitor, void *context,
                                             struct doppel_error *error)
{
    const struct doppel_index_request request = {.queries = lookup->code,
                                                 .count = 1,
                                                 .radius = lookup->radius,
                                                 .bands = lookup->bands,
                                                 .rows = lookup->rows};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        bool follows = code_tables[i].part == CODES_OF_FOLLOWER;
        if (code_tables[i].scheme == lookup->scheme && is_text_table((enum code_table)i) &&
            !is_shingle_table((enum code_table)i) && (lookup->followers || !follows))
            status =
                visit_candidates(library, (enum code_table)i, &request, visitor, context, error);
    }
    return status;
}

enum doppel_status doppel_library_texts_of(struct doppel_library *library,
                                           const struct doppel_digest *content, size_t limit,
                                           doppel_text_candidate_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    const uint64_t code = get_u64(content->bytes);
    const struct doppel_index_request request = {.queries = &code, .count = 1, .nearest = limit};
    return visit_candidates(library, CODES_CONTENTS, &request, visitor, context, error);
}

enum doppel_status doppel_library_record_called(struct doppel_library *library,
                                                const char *record_id, uint64_t *out,
                                                struct doppel_error *error)
{
    int64_t id = 0;
    enum doppel_status status =
        rows_number(library,
                    "SELECT coalesce((SELECT id FROM text WHERE record_id = ?1"
                    " AND " IS_WHOLE(TEXT_COLUMNS) " ORDER BY id DESC LIMIT 1), 0)",
                    VALUES(value_string(record_id)), &id, NULL, error);
    *out = (uint64_t)id;
    return status;
}

enum doppel_status doppel_library_records_at_most(struct doppel_library *library, uint64_t *out,
                                                  struct doppel_error *error)
{
    int64_t count = 0;
    enum doppel_status status = rows_number(
        library, "SELECT coalesce((SELECT max(id) FROM text) - (SELECT min(id) FROM text) + 1, 0)",
        NO_VALUES, &count, NULL, error);
    *out = (uint64_t)count;
    return status;
}

enum doppel_status doppel_library_changed(struct doppel_library *library, int64_t *version,
                                          bool *out_changed, struct doppel_error *error)
{
    int64_t now = 0;
    enum doppel_status status = doppel_store_data_version(library->store, &now, error);
    now = now * 31 + doppel_library_labels_revision(library);
    *out_changed = now != *version;
    *version = now;
    return status;
}

bool doppel_library_is_moved(struct doppel_library *library)
{
    return doppel_store_is_moved(library->store);
}
