/* New pictures of a library compared with all: looked up in the kept tables, or, where they are
 * many, joined. */
#include "library/derived/pairing.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/items/rows.h"

enum {
    JOIN_NS = 25000,    /* an image of the library takes, when a few are joined with all, */
    JOIN_LEAST = 10000, /* as if there were so many more: tables have to be opened */
    ROUNDS = 3 /* what others add while images are compared is compared next; at last left out */
};

/* ---- their fingerprints ---- */

#define PAIRED_FINGERPRINTS                                                                        \
    "SELECT " RECORD_COLUMNS ", fingerprint.data, item.id FROM item"                               \
    " JOIN fingerprint ON fingerprint.item = item.id WHERE " ITEM_IS_WHOLE " AND "
enum { PAIRED_FINGERPRINT = RECORD_COLUMN_COUNT, PAIRED_ID };

static bool read_paired(sqlite3_stmt *row, struct doppel_record *out)
{
    *out = (struct doppel_record){0};
    return record_read(row, 0, out) && fingerprint_read(row, PAIRED_FINGERPRINT, out);
}

/* ---- few: looked up ---- */

struct lone_look_up {
    struct image_pairing *pairing;
    uint64_t id;
};

static bool note_looked_up(void *context, const struct doppel_found *found)
{
    const struct lone_look_up *look_up = context;
    struct image_pairing *pairing = look_up->pairing;
    const uint64_t a = look_up->id, b = found->id;
    const bool fresh = pairing_is_fresh(pairing, b);
    if (pairing_is_cancelled(pairing))
        pairing->status = DOPPEL_E_CANCELLED;
    else if (b != a && (fresh ? a < b : pairing_keeps(pairing, b)) &&
             !array_push(&pairing->found,
                         ((struct doppel_image_pair){a < b ? a : b, a < b ? b : a})))
        pairing->status = DOPPEL_E_MEMORY;
    return !pairing->status;
}

/* @param out_read false: its fingerprint cannot be read */
static enum doppel_status look_up_one(struct image_pairing *pairing, uint64_t id, bool *out_read,
                                      struct doppel_error *error)
{
    struct lone_look_up look_up = {pairing, id};
    struct doppel_record record = {0};
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(pairing->library, PAIRED_FINGERPRINTS "item.id = ?1",
                                           VALUES(ID(id)), &row, error);
    if (status)
        return status;
    *out_read = row && read_paired(row, &record);
    if (row)
        sqlite3_reset(row);
    if (!*out_read)
        return record.error.status == DOPPEL_E_MEMORY ? DOPPEL_E_MEMORY : DOPPEL_OK;
    const struct doppel_match_item item = {&record.fingerprint, record.quality};
    status = doppel_library_find_images(pairing->library, &item, pairing->request->options,
                                        note_looked_up, &look_up, error);
    doppel_record_free(&record);
    return pairing->status ? pairing->status : status;
}

/* Whether those that are left would take longer than to join all. The first, which opens and checks
 * the tables, says nothing of the others. */
static bool is_joined_faster(const struct image_pairing *pairing, size_t done, int64_t elapsed_ns)
{
    const double left = (double)(pairing->fresh.count - done - 1);
    const double images = (double)(pairing->fresh.count + pairing->kept_count + JOIN_LEAST);
    return done && (double)elapsed_ns / (double)done * left > JOIN_NS * images;
}

/* Damaged ones are not compared; to visit them is to report it.
 * @return DOPPEL_E_LIMIT: it is taking too long */
static enum doppel_status look_up_fresh(struct image_pairing *pairing, struct doppel_error *error)
{
    int64_t begun_ns = 0;
    size_t left = 0;
    for (size_t i = 0; i < pairing->fresh.count; i++) {
        const uint64_t id = pairing->fresh.items[i].id;
        bool read = false;
        enum doppel_status status = pairing_is_cancelled(pairing)
                                        ? DOPPEL_E_CANCELLED
                                        : look_up_one(pairing, id, &read, error);
        if (status)
            return status;
        if (!read &&
            (!array_push(&pairing->damaged, id) || !array_push(&pairing->visits, (int64_t)id)))
            return DOPPEL_E_MEMORY;
        if (i == 0)
            begun_ns = monotonic_ns();
        if (is_joined_faster(pairing, i, monotonic_ns() - begun_ns))
            return DOPPEL_E_LIMIT;
    }
    for (size_t i = 0; i < pairing->fresh.count; i++)
        if (!pairing_is_damaged(pairing, pairing->fresh.items[i].id))
            pairing->fresh.items[left++] = pairing->fresh.items[i];
    pairing->fresh.count = left;
    return DOPPEL_OK;
}

/* Nobody waits for tables that are not there. */
static bool has_image_tables(const struct image_pairing *pairing)
{
    bool there = true;
    for (int i = 0; i < CODE_TABLES && there; i++)
        if (code_tables[i].scheme == pairing->key.scheme->id &&
            codes_are_there(pairing->library, (enum code_table)i, &there, NULL))
            there = false;
    return there;
}

/* ---- many: joined ---- */

static enum doppel_status load_paired_row(struct image_pairing *pairing, sqlite3_stmt *row,
                                          struct doppel_matcher *matcher)
{
    struct doppel_record record;
    const uint64_t id = (uint64_t)sqlite3_column_int64(row, PAIRED_ID);
    if (!pairing_is_fresh(pairing, id) && !pairing_keeps(pairing, id))
        return DOPPEL_OK;
    if (!read_paired(row, &record))
        return record.error.status == DOPPEL_E_MEMORY ? pairing_without_memory(pairing) : DOPPEL_OK;
    const struct doppel_match_item item = {&record.fingerprint, record.quality};
    enum doppel_status status = doppel_matcher_add(matcher, id, &item, pairing->error);
    doppel_record_free(&record);
    return status;
}

/* All that are compared now, or were. */
static enum doppel_status load_paired(struct image_pairing *pairing, struct doppel_matcher *matcher)
{
    struct doppel_library *library = pairing->library;
    sqlite3_stmt *row;
    bool any;
    enum doppel_status status =
        rows_prepare(library, PAIRED_FINGERPRINTS "item.scheme = ?1 ORDER BY item.id",
                     VALUES(ID(pairing->key.scheme->id)), &row, pairing->error);
    if (status)
        return status;
    while (!(status = doppel_store_step(library->store, row, &any, pairing->error)) && any) {
        status = load_paired_row(pairing, row, matcher);
        if (status)
            break;
    }
    if (status)
        sqlite3_reset(row);
    return status;
}

/* Of the fresh ones those stay that were loaded. */
static enum doppel_status leave_damaged(struct image_pairing *pairing,
                                        const struct doppel_matcher *matcher)
{
    struct doppel_match match;
    size_t left = 0;
    for (size_t i = 0; i < pairing->fresh.count; i++) {
        const struct met_image image = pairing->fresh.items[i];
        if (doppel_matcher_compare(matcher, image.id, image.id, &match))
            pairing->fresh.items[left++] = image;
        else if (!array_push(&pairing->damaged, image.id))
            return pairing_without_memory(pairing);
    }
    pairing->fresh.count = left;
    return DOPPEL_OK;
}

static enum doppel_status meet_fresh_ones(struct image_pairing *pairing,
                                          const struct doppel_matcher *matcher)
{
    const struct doppel_pairs_request *request = pairing->request;
    const size_t count = pairing->fresh.count;
    uint64_t *ids = malloc((count + 1) * sizeof *ids);
    if (!ids)
        return pairing_without_memory(pairing);
    for (size_t i = 0; i < count; i++)
        ids[i] = pairing->fresh.items[i].id;
    if (request->comparing)
        request->comparing(request->context, count);
    struct doppel_image_pair *found = NULL;
    size_t found_count = 0;
    enum doppel_status status = doppel_matcher_meet(matcher, pairing->kept_count ? ids : NULL,
                                                    count, &found, &found_count, pairing->error);
    if (request->comparing)
        request->comparing(request->context, 0);
    free(ids);
    array_free(&pairing->found);
    if (!status) {
        pairing->found.items = found;
        pairing->found.count = pairing->found.capacity = found_count;
    }
    return status;
}

/* ---- one commit ---- */

enum doppel_status pairing_begin_view(struct image_pairing *pairing)
{
    return pairing->library->writing
               ? DOPPEL_OK
               : doppel_store_execute(pairing->library->store, "BEGIN", pairing->error);
}

void pairing_end_view(struct image_pairing *pairing)
{
    if (!pairing->library->writing)
        doppel_store_rollback(pairing->library->store);
}

/* Others may write for as long as it takes. */
static enum doppel_status join_many(struct image_pairing *pairing)
{
    const struct doppel_pairs_request *request = pairing->request;
    struct doppel_matcher *matcher = NULL;
    enum doppel_status status;
    TRY(doppel_matcher_new(pairing->key.scheme->id, request->options, request->threads, &matcher,
                           pairing->error));
    doppel_matcher_set_cancel(matcher, request->cancelled, request->context);
    TRY(load_paired(pairing, matcher));
    TRY(leave_damaged(pairing, matcher));
    pairing_end_view(pairing);
    status = meet_fresh_ones(pairing, matcher);
    if (status)
        (void)pairing_begin_view(pairing);
    else
        status = pairing_begin_view(pairing);
done:
    doppel_matcher_free(matcher);
    return status;
}

/* ---- what is kept ---- */

static enum doppel_status renew_met(struct image_pairing *pairing)
{
    const struct met_content content = {&pairing->met, pairing->kept, &pairing->fresh,
                                        pairing->found.items, pairing->found.count};
    struct met_images made;
    enum doppel_status status = met_images_make(&pairing->key, &content, &made, pairing->error);
    if (status)
        return status;
    (void)met_images_write(pairing->library->directory, &pairing->key, &made, &pairing->not_kept);
    met_images_free(&pairing->met);
    pairing->met = made;
    pairing->found.count = 0;
    return DOPPEL_OK;
}

/* @param out_again the library may have changed meanwhile */
static enum doppel_status compare_fresh(struct image_pairing *pairing, bool *out_again)
{
    enum doppel_status status = DOPPEL_E_LIMIT;
    *out_again = false;
    if (pairing->kept_count && has_image_tables(pairing)) {
        status = look_up_fresh(pairing, NULL);
        if (status == DOPPEL_E_CANCELLED)
            return doppel_fail(pairing->error, status, "ended early");
    }
    if (!status)
        return DOPPEL_OK;
    pairing->found.count = 0;
    pairing->status = DOPPEL_OK;
    *out_again = true;
    return join_many(pairing);
}

enum doppel_status pairing_compare(struct image_pairing *pairing)
{
    bool again = true;
    enum doppel_status status = DOPPEL_OK;
    for (int round = 0; round < ROUNDS && again && !status; round++) {
        TRY(pairing_survey(pairing));
        again = false;
        if (round + 1 == ROUNDS)
            pairing->fresh.count = 0;
        if (pairing->fresh.count)
            TRY(compare_fresh(pairing, &again));
        if (pairing->fresh.count || pairing->kept_count < pairing->met.image_count)
            TRY(renew_met(pairing));
    }
done:
    return status;
}
