/* The indexes of recordings and videos: every byte of their segments, and item by item. */
#include "library/derived/derived.h"
#include "library/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/try.h"

/* While another process writes, an index and the items may be of two moments. */
enum { TRIES = 3 };

struct expected {
    uint64_t id, entries, held;
};

struct index_check {
    struct verification *verification;
    const struct derivation *derivation;
    struct doppel_store_index *index;
    ARRAY(struct expected) items; /* by id */
    ARRAY(uint64_t) strangers;
    bool out_of_memory;
    uint64_t problems;
};

static enum doppel_status report_index_problem(struct index_check *check, uint64_t id,
                                               const char *detail, struct doppel_error *error)
{
    char sentence[640];
    check->problems++;
    snprintf(sentence, sizeof sentence, "the index '%s': %s", check->derivation->name, detail);
    const struct doppel_problem problem = {
        .problem = "index", .id = id, .detail = sentence, .repaired = check->verification->repair};
    return verify_tell(check->verification, &problem, error);
}

/* ---- segments ---- */

static bool tell_segment(void *context, const struct doppel_store_segment *segment)
{
    struct index_check *check = context;
    return !segment->error || !report_index_problem(check, 0, segment->error->message, NULL);
}

static enum doppel_status check_segments(struct index_check *check, struct doppel_error *error)
{
    struct doppel_store_index_info info;
    doppel_store_index_info(check->index, &info);
    enum doppel_status status = doppel_store_index_verify(check->index, tell_segment, check, error);
    if (!status && info.damaged)
        status = report_index_problem(check, 0, "records of its log are damaged", error);
    return status;
}

/* ---- items ---- */

static int by_id(const void *a, const void *b)
{
    const struct expected *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static void note_held(void *context, uint64_t id, uint64_t entries)
{
    struct index_check *check = context;
    const struct expected wanted = {.id = id};
    struct expected *found = check->items.count ? bsearch(&wanted, check->items.items,
                                                          check->items.count, sizeof wanted, by_id)
                                                : NULL;
    if (found)
        found->held += entries;
    else if (!check->strangers.count || check->strangers.items[check->strangers.count - 1] != id)
        check->out_of_memory |= !array_push(&check->strangers, id);
}

/* Of an item that cannot be read the rows were reported. */
static enum doppel_status expect_item(struct index_check *check, uint64_t id,
                                      struct doppel_error *error)
{
    struct track_bytes track = {0};
    struct expected item = {.id = id};
    enum doppel_status status = track_fetch(check->verification->library->store, id, &track, error);
    if (!status)
        status = check->derivation->entries(id, &track, &item.entries, error);
    free(track.data);
    if (status && status != DOPPEL_E_CORRUPT && status != DOPPEL_E_NOT_FOUND)
        return status;
    return array_push(&check->items, item)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to check the items of an index");
}

static enum doppel_status expect_items(struct index_check *check, struct doppel_error *error)
{
    struct doppel_store *store = check->verification->library->store;
    int64_t id = 0;
    enum doppel_status status;
    while (!(status = derived_next_item(store, check->derivation->schemes, &id, error)) && id)
        if ((status = expect_item(check, (uint64_t)id, error)))
            break;
    return status;
}

/* How many items of it it lacks; UINT64_MAX: all of them. */
static uint64_t count_missing(const struct index_check *check)
{
    uint64_t missing = 0, wanted = 0;
    for (size_t i = 0; i < check->items.count; i++) {
        wanted += check->items.items[i].entries > 0;
        missing += check->items.items[i].entries > 0 && !check->items.items[i].held;
    }
    return missing && missing == wanted ? UINT64_MAX : missing;
}

static enum doppel_status tell_differences(struct index_check *check, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (count_missing(check) == UINT64_MAX && check->items.count > 1)
        return report_index_problem(
            check, 0, "it has none of the items: it is empty, damaged, or not there", error);
    for (size_t i = 0; i < check->items.count && !status; i++) {
        const struct expected *item = &check->items.items[i];
        if (item->entries && item->held != item->entries)
            status = report_index_problem(
                check, item->id,
                item->held ? "it has not all of this item" : "this item is not in it", error);
    }
    for (size_t i = 0; i < check->strangers.count && !status; i++)
        status = report_index_problem(check, check->strangers.items[i],
                                      "it has an item that is not there", error);
    return status;
}

static enum doppel_status compare_items(struct index_check *check, struct doppel_error *error)
{
    struct doppel_index *index = check->index ? doppel_store_index_get(check->index) : NULL;
    enum doppel_status status;
    TRY(expect_items(check, error));
    if (index)
        TRY(check->derivation->each_held(index, note_held, check, error));
    if (check->out_of_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to check the items of an index");
    TRY(tell_differences(check, error));
done:
    return status;
}

/* ---- one index ---- */

static void forget(struct index_check *check)
{
    array_free(&check->items);
    array_free(&check->strangers);
}

/* Open it as a reader, at the moment at which the transaction looks. DOPPEL_E_NOT_FOUND: there is
 * none. */
static enum doppel_status open_index_reader(struct index_check *check, struct doppel_error *error)
{
    struct doppel_library *library = check->verification->library;
    char *folder = derived_folder(library, check->derivation);
    if (!folder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    struct doppel_store_index_options options =
        derived_options(check->derivation, library->store, folder);
    options.salvage = true;
    options.merge = false;
    enum doppel_status status =
        doppel_store_index_open(library->store, &options, &check->index, error);
    sqlite3_free(folder);
    return status;
}

static enum doppel_status read_once(struct index_check *check, struct doppel_error *error)
{
    struct doppel_store *store = check->verification->library->store;
    enum doppel_status status = doppel_store_execute(store, "BEGIN", error);
    if (status)
        return status;
    status = open_index_reader(check, error);
    bool none = status == DOPPEL_E_NOT_FOUND;
    if (none)
        status = DOPPEL_OK;
    if (!status)
        status = compare_items(check, error);
    doppel_store_rollback(store);
    if (!status && !none)
        status = check_segments(check, error);
    doppel_store_index_close(check->index);
    check->index = NULL;
    return status;
}

/* Damage is reported, and no failure; of what a writer took away meanwhile another look is taken.
 */
static enum doppel_status read_index(struct index_check *check, struct doppel_error *error)
{
    struct doppel_error failure = {0};
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    for (int i = 0; i < TRIES && status == DOPPEL_E_NOT_FOUND; i++) {
        status = read_once(check, &failure);
        forget(check);
    }
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_VERSION)
        return report_index_problem(check, 0, failure.message, error);
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}

static enum doppel_status mend_index(struct index_check *check, int which,
                                     struct doppel_error *error)
{
    struct doppel_library *library = check->verification->library;
    struct derived *derived = &library->derived[which];
    struct doppel_error failure = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!derived->index)
        status = derived_open(library, which, true, &failure);
    if (status == DOPPEL_E_CORRUPT) {
        status = report_index_problem(check, 0, failure.message, error);
        return status ? status : derived_open(library, which, false, error);
    }
    if (status)
        return doppel_fail(error, status, "%s", failure.message);
    check->index = derived->index;
    TRY(check_segments(check, error));
    if (!check->problems)
        TRY(compare_items(check, error));
    if (check->problems)
        TRY(doppel_store_index_rebuild(derived->index, error));
done:
    forget(check);
    return status;
}

/* Whether the library has an index of that name, or items for one. */
static enum doppel_status is_wanted_entry(struct verification *verification,
                                          const struct derivation *derivation, bool *out,
                                          struct doppel_error *error)
{
    int64_t id = 0, one = 0;
    struct doppel_library *library = verification->library;
    enum doppel_status status = derived_next_item(library->store, derivation->schemes, &id, error);
    if (!status && !id)
        status = rows_number(library, "SELECT count(*) FROM doppel_index WHERE name = ?1",
                             VALUES(value_text(derivation->name)), &one, NULL, error);
    *out = id || one;
    return status;
}

enum doppel_status verify_indexes(struct verification *verification, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < DERIVATIONS && !status; i++) {
        struct index_check check = {.verification = verification, .derivation = derivations[i]};
        bool wanted = false;
        status = is_wanted_entry(verification, derivations[i], &wanted, error);
        if (!status && wanted)
            status =
                verification->repair ? mend_index(&check, i, error) : read_index(&check, error);
        if (!status && verification->repair && verification->library->derived[i].was_incomplete)
            status = report_index_problem(&check, 0, "files of it were missing", error);
    }
    return status;
}
