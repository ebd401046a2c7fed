/* Which pictures of a library may match; and those of its items visited that may be in a group. */
#include "library/derived/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "library/items/rows.h"

/* ---- visiting ---- */

/* Of each value that several rows have, the ids. @param sql in order of that value */
static enum doppel_status take_repeated(struct image_pairing *pairing, const char *sql)
{
    struct doppel_library *library = pairing->library;
    struct doppel_digest last = {0}, digest;
    int64_t last_id = 0;
    sqlite3_stmt *row;
    bool any, room = true, taken = true;
    enum doppel_status status = rows_prepare(library, sql, NO_VALUES, &row, pairing->error);
    while (!status && room &&
           !(status = doppel_store_step(library->store, row, &any, pairing->error)) && any) {
        const int64_t id = sqlite3_column_int64(row, 1);
        const bool same =
            digest_read(row, 0, &digest) && last_id && memcmp(&digest, &last, sizeof digest) == 0;
        if (same && !taken)
            room = array_push(&pairing->visits, last_id);
        if (same && room)
            room = array_push(&pairing->visits, id);
        taken = same;
        last = digest;
        last_id = id;
    }
    if (!room) {
        sqlite3_reset(row);
        status = pairing_without_memory(pairing);
    }
    return status;
}

static int compare_visits(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The ids that are to be visited, each once, in order. */
static enum doppel_status list_visits(struct image_pairing *pairing)
{
    enum doppel_status status;
    bool room = true;
    size_t left = 0;
    for (uint64_t i = 0; i < pairing->met.pair_count && room; i++) {
        const struct doppel_image_pair pair = met_pair_at(&pairing->met, i);
        room = array_push(&pairing->visits, (int64_t)pair.a) &&
               array_push(&pairing->visits, (int64_t)pair.b);
    }
    if (!room)
        return pairing_without_memory(pairing);
    TRY(take_repeated(pairing, "SELECT digest, id FROM item ORDER BY digest"));
    TRY(take_repeated(pairing,
                      "SELECT pixels, id FROM item WHERE pixels IS NOT NULL ORDER BY pixels"));
    int64_t *ids = pairing->visits.items;
    if (pairing->visits.count)
        qsort(ids, pairing->visits.count, sizeof *ids, compare_visits);
    for (size_t i = 0; i < pairing->visits.count; i++)
        if (!i || ids[i] != ids[left - 1])
            ids[left++] = ids[i];
    pairing->visits.count = left;
done:
    return status;
}

struct paired_visit {
    struct image_pairing *pairing;
    doppel_item_visitor *visitor;
    void *context;
    size_t at; /* of the visits */
    enum doppel_status status;
};

static bool visit_listed(void *context, const struct doppel_item *item)
{
    struct paired_visit *visit = context;
    struct image_pairing *pairing = visit->pairing;
    const struct doppel_record *record = &item->record;
    pairing->compared -= !record->error.status && record->scheme == pairing->key.scheme->id &&
                         record->version == pairing->key.scheme->version &&
                         pairing_wants(pairing, item->id) &&
                         (!pairing->request->with_file || doppel_item_has_file(item));
    pairing->versions -= !record->error.status && record->scheme == pairing->key.scheme->id &&
                         record->version != pairing->key.scheme->version;
    return visit->visitor(visit->context, item);
}

/* @param end 0: all that are left */
static bool visit_listed_before(struct paired_visit *visit, uint64_t end)
{
    struct image_pairing *pairing = visit->pairing;
    while (visit->at < pairing->visits.count && !visit->status &&
           (!end || pairing->visits.items[visit->at] < (int64_t)end))
        visit->status =
            items_visit_one(pairing->library, pairing->visits.items[visit->at++],
                            pairing->key.scheme->id, visit_listed, visit, pairing->error);
    return !visit->status;
}

static bool visit_other_item(void *context, const struct doppel_item *item)
{
    struct paired_visit *visit = context;
    return visit_listed_before(visit, item->id) && visit->visitor(visit->context, item);
}

static enum doppel_status visit_paired(struct image_pairing *pairing, doppel_item_visitor *visitor,
                                       void *context)
{
    struct paired_visit visit = {.pairing = pairing, .visitor = visitor, .context = context};
    enum doppel_status status = list_visits(pairing);
    if (!status)
        status = items_each_but(pairing->library, pairing->key.scheme->id, visit_other_item, &visit,
                                pairing->error);
    if (!status)
        visit_listed_before(&visit, 0);
    return visit.status ? visit.status : status;
}

/* ---- the whole ---- */

static enum doppel_status give_pairs(const struct image_pairing *pairing,
                                     struct doppel_library_pairs *out)
{
    const uint64_t count = pairing->met.pair_count;
    struct doppel_image_pair *items = calloc(count + 1, sizeof *items);
    if (!items)
        return pairing_without_memory(pairing);
    for (uint64_t i = 0; i < count; i++)
        items[i] = met_pair_at(&pairing->met, i);
    *out = (struct doppel_library_pairs){
        .known = true, .items = items, .count = count, .not_kept = pairing->not_kept};
    return DOPPEL_OK;
}

static void pairing_free(struct image_pairing *pairing)
{
    met_images_free(&pairing->met);
    free(pairing->kept);
    array_free(&pairing->fresh);
    array_free(&pairing->damaged);
    array_free(&pairing->sources);
    array_free(&pairing->visits);
    array_free(&pairing->found);
}

void doppel_library_pairs_free(struct doppel_library_pairs *pairs)
{
    free(pairs->items);
    *pairs = (struct doppel_library_pairs){0};
}

enum doppel_status doppel_library_each_paired(struct doppel_library *library,
                                              const struct doppel_pairs_request *request,
                                              doppel_item_visitor *visitor, void *context,
                                              struct doppel_library_pairs *out,
                                              struct doppel_error *error)
{
    struct image_pairing pairing = {.library = library,
                                    .request = request,
                                    .key = met_key_of(request->scheme, request->options),
                                    .error = error};
    struct doppel_library_pairs pairs = {0};
    met_images_open(library->directory, &pairing.key, &pairing.met);
    enum doppel_status status = pairing_begin_view(&pairing);
    if (status)
        goto done;
    status = pairing_compare(&pairing);
    const bool known = !status;
    if (known)
        status = give_pairs(&pairing, &pairs);
    if (known && !status && !request->every) {
        status = visit_paired(&pairing, visitor, context);
        pairs.passed_over = pairing.compared;
        pairs.versions = pairing.versions;
    } else if (!status || status == DOPPEL_E_LIMIT) {
        status = doppel_library_each(library, visitor, context, error);
    }
    pairing_end_view(&pairing);
    if (status)
        doppel_library_pairs_free(&pairs);
    else
        *out = pairs;
done:
    pairing_free(&pairing);
    return status;
}
