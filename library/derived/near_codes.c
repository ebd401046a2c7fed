/* The items whose code lies near another one, by plain Hamming distance: read off the indexes of
 * codes. */
#include "library/derived/codes.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/try.h"

struct near_codes {
    const struct doppel_code_lookup *lookup;
    uint64_t sorted; /* of phash64: the code, as it lies in the index */
    pthread_mutex_t lock;
    ARRAY(struct doppel_index_hit) hits;
    bool no_memory;
};

static bool add_near_code(struct near_codes *near, uint64_t id, uint32_t distance)
{
    pthread_mutex_lock(&near->lock);
    near->no_memory |=
        !array_push(&near->hits, ((struct doppel_index_hit){.payload = id, .distance = distance}));
    pthread_mutex_unlock(&near->lock);
    return !near->no_memory;
}

static bool take_near_code(void *context, const struct doppel_index_hit *hit)
{
    return add_near_code(context, hit->payload, hit->distance);
}

/* Of phash64 the index has all views: the full frames are asked for. */
static void scan_near_codes(void *context, const struct doppel_index_scanned *run)
{
    struct near_codes *near = context;
    for (uint64_t i = 0; i < run->count; i++) {
        const uint64_t low = run->low[i / 8 * run->step + i % 8];
        const uint32_t distance = (uint32_t)__builtin_popcountll(low ^ near->sorted);
        uint64_t code[4], payload;
        if (distance <= near->lookup->radius &&
            doppel_index_scanned_get(run, run->first + i, code, &payload) &&
            payload % 16 == DOPPEL_VIEW_FULL &&
            !doppel_index_scanned_removed(run, run->first + i, payload))
            (void)add_near_code(near, doppel_image_table_id(DOPPEL_SCHEME_PHASH64, payload),
                                distance);
    }
}

static bool is_near_table(enum code_table which, const void *scheme)
{
    return code_tables[which].scheme == *(const enum doppel_scheme_id *)scheme &&
           (code_tables[which].part == CODES_OF_TEXT ||
            (code_tables[which].part == CODES_OF_IMAGE &&
             code_tables[which].table == DOPPEL_IMAGE_TABLE_CODES));
}

static enum doppel_status find_near_codes(struct doppel_library *library, enum code_table which,
                                          struct near_codes *near, struct doppel_error *error)
{
    const struct doppel_code_lookup *lookup = near->lookup;
    const struct doppel_index *index;
    enum doppel_status status;
    near->hits.count = 0;
    TRY(codes_index(library, which, &index, error));
    if (lookup->scheme == DOPPEL_SCHEME_PHASH64) {
        near->sorted = doppel_image_sort_bits(lookup->code.word[0]);
        status = doppel_index_scan(index, library->processors, scan_near_codes, near, error);
    } else {
        const struct doppel_index_request request = {.queries = lookup->code.word,
                                                     .count = 1,
                                                     .radius = lookup->radius,
                                                     .threads = library->processors};
        status = doppel_index_search(index, &request, take_near_code, near, error);
    }
done:
    return near->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what is near")
                           : status;
}

static int compare_near_codes(const void *a, const void *b)
{
    const struct doppel_index_hit *left = a, *right = b;
    const int order = (left->distance > right->distance) - (left->distance < right->distance);
    return order ? order : (left->payload > right->payload) - (left->payload < right->payload);
}

enum doppel_status doppel_library_find_codes(struct doppel_library *library,
                                             const struct doppel_code_lookup *lookup,
                                             struct doppel_index_hit **out, size_t *out_count,
                                             struct doppel_error *error)
{
    struct near_codes near = {.lookup = lookup, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct doppel_error failure = {0};
    int which = 0;
    while (which < CODE_TABLES && !is_near_table((enum code_table)which, &lookup->scheme))
        which++;
    if (which == CODE_TABLES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "items of this scheme are not found by one code: phash64, phash256, "
                           "imagehash, pdq and simhash64 are");
    enum doppel_status status = find_near_codes(library, (enum code_table)which, &near, &failure);
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        status = codes_mend(library, is_near_table, &lookup->scheme, &failure);
        if (!status)
            status = find_near_codes(library, (enum code_table)which, &near, &failure);
    }
    if (status) {
        array_free(&near.hits);
        return doppel_fail(error, status, "%s", failure.message);
    }
    if (near.hits.count)
        qsort(near.hits.items, near.hits.count, sizeof *near.hits.items, compare_near_codes);
    *out = near.hits.items;
    *out_count = near.hits.count;
    return DOPPEL_OK;
}
