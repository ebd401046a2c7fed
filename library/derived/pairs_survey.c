/* The pictures of a library, by their rows: which the kept file is of, as they are; which are new;
 * and which items may be in a group whatever they look like. */
#include "library/derived/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "library/items/rows.h"

enum doppel_status pairing_without_memory(const struct image_pairing *pairing)
{
    return doppel_fail(pairing->error, DOPPEL_E_MEMORY, "no memory for which pictures match");
}

bool pairing_is_cancelled(const struct image_pairing *pairing)
{
    const struct doppel_pairs_request *request = pairing->request;
    return request->cancelled && request->cancelled(request->context);
}

/* ---- the rows of items ---- */

#define SURVEY                                                                                     \
    "SELECT item.id, item.scheme, item.version, item.kind, item.quality, item.digest,"             \
    " " HAS_NO_FILE ", " ITEM_IS_WHOLE ", fingerprint.checksum"                                    \
    " FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id WHERE "
enum {
    SURVEYED_ID,
    SURVEYED_SCHEME,
    SURVEYED_VERSION,
    SURVEYED_KIND,
    SURVEYED_QUALITY,
    SURVEYED_DIGEST,
    SURVEYED_NO_FILE,
    SURVEYED_WHOLE,
    SURVEYED_SUM
};

bool pairing_wants(const struct image_pairing *pairing, uint64_t id)
{
    const struct doppel_item_set *wanted = pairing->request->wanted;
    enum doppel_list_state state;
    return (!wanted || doppel_item_set_has(wanted, id)) &&
           !(doppel_library_has_states(pairing->library) &&
             !doppel_library_state_of(pairing->library, id, &state, NULL) &&
             state == DOPPEL_LIST_DISABLED);
}

static int compare_named(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct doppel_digest));
}

static bool is_named(const struct image_pairing *pairing, const struct doppel_digest *digest)
{
    const struct doppel_pairs_request *request = pairing->request;
    return request->named_count && bsearch(digest, request->named, request->named_count,
                                           sizeof *digest, compare_named) != NULL;
}

bool pairing_is_damaged(const struct image_pairing *pairing, uint64_t id)
{
    for (size_t i = 0; i < pairing->damaged.count; i++)
        if (pairing->damaged.items[i] == id)
            return true;
    return false;
}

/* Whether the kept file is of it. Rows come in order of id. */
static bool is_met(struct image_pairing *pairing, const struct met_image *image)
{
    const struct met_images *met = &pairing->met;
    while (pairing->at < met->image_count && met_image_at(met, pairing->at).id < image->id)
        pairing->at++;
    if (pairing->at == met->image_count)
        return false;
    const struct met_image there = met_image_at(met, pairing->at);
    if (there.id != image->id || there.sum != image->sum)
        return false;
    pairing->kept_count += !(pairing->kept[pairing->at / 8] >> pairing->at % 8 & 1);
    pairing->kept[pairing->at / 8] |= (uint8_t)(1u << pairing->at % 8);
    return true;
}

/* An image that may be compared: it is whole, and of the scheme. @param wanted as it is, or since
 * others borrow its fingerprint */
static bool take_image_row(struct image_pairing *pairing, sqlite3_stmt *row, bool wanted)
{
    const struct met_image image = {(uint64_t)sqlite3_column_int64(row, SURVEYED_ID),
                                    (uint64_t)sqlite3_column_int64(row, SURVEYED_SUM)};
    if (sqlite3_column_int(row, SURVEYED_QUALITY) < DOPPEL_IMAGE_STRICT_QUALITY)
        return true;
    return is_met(pairing, &image) || !wanted || array_push(&pairing->fresh, image);
}

static bool is_usable(const struct image_pairing *pairing, sqlite3_stmt *row)
{
    return sqlite3_column_int(row, SURVEYED_WHOLE) == 1 &&
           sqlite3_column_int64(row, SURVEYED_ID) > 0 &&
           sqlite3_column_int(row, SURVEYED_KIND) == DOPPEL_KIND_IMAGE &&
           sqlite3_column_int(row, SURVEYED_SCHEME) == (int)pairing->key.scheme->id &&
           sqlite3_column_type(row, SURVEYED_SUM) == SQLITE_INTEGER;
}

/* What is known by its bytes alone may share them with one that is compared. */
static bool take_bytes_row(struct image_pairing *pairing, sqlite3_stmt *row,
                           const struct doppel_digest *digest)
{
    const int64_t id = sqlite3_column_int64(row, SURVEYED_ID);
    uint64_t source = (uint64_t)id;
    if (sqlite3_column_int(row, SURVEYED_NO_FILE))
        return true;
    if (pairing_wants(pairing, (uint64_t)id) &&
        !doppel_library_by_digest(pairing->library, digest, &source, NULL) &&
        source != (uint64_t)id && !array_push(&pairing->sources, source))
        return false;
    return array_push(&pairing->visits, id);
}

static bool take_surveyed_row(struct image_pairing *pairing, sqlite3_stmt *row)
{
    const struct doppel_pairs_request *request = pairing->request;
    const int64_t id = sqlite3_column_int64(row, SURVEYED_ID);
    struct doppel_digest digest = {0};
    const bool whole = sqlite3_column_int(row, SURVEYED_WHOLE) == 1 && id > 0 &&
                       digest_read(row, SURVEYED_DIGEST, &digest);
    if (whole && sqlite3_column_int(row, SURVEYED_SCHEME) == DOPPEL_SCHEME_NONE)
        return take_bytes_row(pairing, row, &digest);
    if (!whole || !is_usable(pairing, row) || pairing_is_damaged(pairing, (uint64_t)id))
        return array_push(&pairing->visits, id);
    if (sqlite3_column_int(row, SURVEYED_VERSION) != pairing->key.scheme->version) {
        pairing->versions++;
        return true;
    }
    const bool wanted = pairing_wants(pairing, (uint64_t)id);
    pairing->compared +=
        wanted && !(request->with_file && sqlite3_column_int(row, SURVEYED_NO_FILE));
    return take_image_row(pairing, row, wanted) &&
           (!is_named(pairing, &digest) || array_push(&pairing->visits, id));
}

static void forget_survey(struct image_pairing *pairing)
{
    pairing->fresh.count = pairing->sources.count = pairing->visits.count = 0;
    pairing->compared = pairing->versions = pairing->kept_count = pairing->at = 0;
    free(pairing->kept);
    pairing->kept = calloc(pairing->met.image_count / 8 + 1, 1);
}

static enum doppel_status survey_rows(struct image_pairing *pairing)
{
    enum { ROWS_A_LOOK = 1024 };
    struct doppel_library *library = pairing->library;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        rows_prepare(library, SURVEY "item.scheme IN (0, ?1) ORDER BY item.id",
                     VALUES(ID(pairing->key.scheme->id)), &statement, pairing->error);
    for (uint64_t rows = 1; !status; rows++) {
        status = doppel_store_step(library->store, statement, &row, pairing->error);
        if (status || !row)
            return status;
        if (!take_surveyed_row(pairing, statement))
            status = pairing_without_memory(pairing);
        else if (rows % ROWS_A_LOOK == 0 && pairing_is_cancelled(pairing))
            status = doppel_fail(pairing->error, DOPPEL_E_CANCELLED, "ended early");
    }
    sqlite3_reset(statement);
    return status;
}

static int compare_met_images(const void *left, const void *right)
{
    const struct met_image *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* @param count of the fresh ones, that are in order of id */
static bool is_among_first(const struct image_pairing *pairing, size_t count, uint64_t id)
{
    const struct met_image wanted = {.id = id};
    return count &&
           bsearch(&wanted, pairing->fresh.items, count, sizeof wanted, compare_met_images) != NULL;
}

bool pairing_is_fresh(const struct image_pairing *pairing, uint64_t id)
{
    return is_among_first(pairing, pairing->fresh.count, id);
}

/* Those whose fingerprints others borrow are compared, whether they are wanted or not. */
static enum doppel_status survey_sources(struct image_pairing *pairing)
{
    struct doppel_library *library = pairing->library;
    const size_t rows = pairing->fresh.count;
    enum doppel_status status = DOPPEL_OK;
    if (pairing->sources.count)
        qsort(pairing->sources.items, pairing->sources.count, sizeof *pairing->sources.items,
              compare_u64);
    pairing->at = 0;
    for (size_t i = 0; i < pairing->sources.count && !status; i++) {
        const uint64_t id = pairing->sources.items[i];
        sqlite3_stmt *row;
        if ((i && pairing->sources.items[i - 1] == id) || is_among_first(pairing, rows, id))
            continue;
        status = rows_first(library, SURVEY "item.id = ?1", VALUES(ID(id)), &row, pairing->error);
        if (status || !row)
            continue;
        if (is_usable(pairing, row) &&
            sqlite3_column_int(row, SURVEYED_VERSION) == pairing->key.scheme->version &&
            !take_image_row(pairing, row, true))
            status = pairing_without_memory(pairing);
        sqlite3_reset(row);
    }
    if (pairing->fresh.count > rows)
        qsort(pairing->fresh.items, pairing->fresh.count, sizeof *pairing->fresh.items,
              compare_met_images);
    return status;
}

enum doppel_status pairing_survey(struct image_pairing *pairing)
{
    forget_survey(pairing);
    if (!pairing->kept)
        return pairing_without_memory(pairing);
    enum doppel_status status = survey_rows(pairing);
    return status ? status : survey_sources(pairing);
}

bool pairing_keeps(const struct image_pairing *pairing, uint64_t id)
{
    return met_keeps(&pairing->met, pairing->kept, id);
}
