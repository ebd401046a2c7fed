/* Counts keys: shared out by their upper byte, each share is sorted by itself. */
#include "corpus/dedup/key_counter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "corpus/read/temporary.h"

enum { SHARES = 256, UPPER_BITS = 16, SMALLEST = 64 };

/* A run of keys in the file. */
struct extent {
    uint64_t at;
    size_t count;
};

struct key_share {
    uint64_t *keys;
    size_t count, capacity;
    ARRAY(struct extent) extents;
    size_t count_in_file;
};

struct key_counter {
    uint64_t limit, used; /* bytes of keys in memory */
    uint64_t table_limit; /* bytes of the table */
    const char *folder;
    int file; /* -1: not needed yet */
    uint64_t file_bytes;
    struct key_share shares[SHARES];
};

/* ---- life ---- */

enum doppel_status key_counter_new(uint64_t memory_bytes, const char *folder,
                                   struct key_counter **out, struct doppel_error *error)
{
    struct key_counter *counter = calloc(1, sizeof *counter);
    if (!counter)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to count paragraphs");
    /* As much again is needed for the table and a share that is sorted. */
    counter->limit = counter->table_limit = memory_bytes ? memory_bytes / 2 : UINT64_MAX;
    counter->folder = folder;
    counter->file = -1;
    *out = counter;
    return DOPPEL_OK;
}

void key_counter_limit(struct key_counter *counter, uint64_t bytes)
{
    counter->limit = bytes;
}

static void share_free(struct key_share *share)
{
    free(share->keys);
    array_free(&share->extents);
    *share = (struct key_share){0};
}

void key_counter_free(struct key_counter *counter)
{
    if (!counter)
        return;
    for (int i = 0; i < SHARES; i++)
        share_free(&counter->shares[i]);
    if (counter->file >= 0)
        close(counter->file);
    free(counter);
}

/* ---- adding ---- */

static enum doppel_status no_room_for_keys(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY,
                       "no memory to count paragraphs; limit it by --memory");
}

static enum doppel_status spill_share(struct key_counter *counter, struct key_share *share,
                                      struct doppel_error *error)
{
    size_t bytes = share->count * sizeof *share->keys;
    if (!bytes)
        return DOPPEL_OK;
    struct extent extent = {counter->file_bytes, share->count};
    if (!array_push(&share->extents, extent))
        return no_room_for_keys(error);
    enum doppel_status status = temporary_write(counter->folder, counter->file, share->keys, bytes,
                                                counter->file_bytes, error);
    counter->file_bytes += bytes;
    share->count_in_file += share->count;
    share->count = 0;
    return status;
}

/* Write all keys to the file; the room stays. */
static enum doppel_status spill_keys(struct key_counter *counter, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (counter->file < 0)
        status = temporary_file(counter->folder, &counter->file, error);
    for (int i = 0; i < SHARES && !status; i++)
        status = spill_share(counter, &counter->shares[i], error);
    return status;
}

/* Grow by a quarter: the room in all is what counts. */
static enum doppel_status make_room_for_keys(struct key_counter *counter, struct key_share *share,
                                             struct doppel_error *error)
{
    size_t capacity = share->capacity + share->capacity / 4 + SMALLEST;
    uint64_t more = (capacity - share->capacity) * sizeof *share->keys;
    if (counter->used + more > counter->limit && share->capacity)
        return spill_keys(counter, error);
    uint64_t *grown = realloc(share->keys, capacity * sizeof *grown);
    if (!grown)
        return no_room_for_keys(error);
    share->keys = grown;
    share->capacity = capacity;
    counter->used += more;
    return DOPPEL_OK;
}

enum doppel_status key_counter_add(struct key_counter *counter, const uint64_t *keys, size_t count,
                                   struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct key_share *share = &counter->shares[keys[i] >> 56];
        if (share->count == share->capacity) {
            enum doppel_status status = make_room_for_keys(counter, share, error);
            if (status)
                return status;
        }
        share->keys[share->count++] = keys[i];
    }
    return DOPPEL_OK;
}

/* ---- counting ---- */

/* Sort by the lower seven bytes, byte by byte. @return the sorted one of the two arrays */
static uint64_t *sort_counted_keys(uint64_t *keys, uint64_t *other, size_t count)
{
    for (int shift = 0; shift < 56; shift += 8) {
        size_t starts[256] = {0};
        /* All of them were gathered. */
        for (size_t i = 0; i < count; i++)
            starts[keys[i] >> shift & 255]++; // NOLINT(clang-analyzer-core.*)
        size_t sum = 0;
        for (int i = 0; i < 256; i++) {
            size_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            other[starts[keys[i] >> shift & 255]++] = keys[i];
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

/* All keys of a share, in `keys`. */
static enum doppel_status gather_spilled_keys(const struct key_counter *counter,
                                              const struct key_share *share, uint64_t *keys,
                                              struct doppel_error *error)
{
    for (size_t i = 0; i < share->extents.count; i++) {
        struct extent extent = share->extents.items[i];
        enum doppel_status status = temporary_read(counter->folder, counter->file, keys,
                                                   extent.count * sizeof *keys, extent.at, error);
        if (status)
            return status;
        keys += extent.count;
    }
    if (share->count)
        memcpy(keys, share->keys, share->count * sizeof *keys);
    return DOPPEL_OK;
}

struct making {
    struct key_table table;
    size_t capacity;
    uint64_t limit, memory_bytes;
};

static enum doppel_status keep_making(struct making *making, uint64_t key, size_t count,
                                      struct doppel_error *error)
{
    struct key_table *table = &making->table;
    if (table->count == making->capacity) {
        size_t capacity = making->capacity + making->capacity / 4 + 1024;
        size_t bytes = capacity * (sizeof *table->keys + sizeof *table->counts);
        if (bytes > making->memory_bytes)
            return doppel_fail(error, DOPPEL_E_LIMIT,
                               "more than %zu paragraphs recur, too many for the memory allowed; "
                               "raise --memory or --max-documents",
                               table->count);
        uint64_t *keys = realloc(table->keys, capacity * sizeof *keys);
        table->keys = keys ? keys : table->keys;
        uint32_t *counts = realloc(table->counts, capacity * sizeof *counts);
        table->counts = counts ? counts : table->counts;
        if (!keys || !counts)
            return no_room_for_keys(error);
        making->capacity = capacity;
    }
    table->keys[table->count] = key;
    table->counts[table->count++] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    return DOPPEL_OK;
}

static enum doppel_status count_share(const uint64_t *keys, size_t count, struct making *making,
                                      struct doppel_error *error)
{
    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && keys[next] == keys[i])
            next++;
        making->table.distinct++;
        making->table.repeated += next - i > 1;
        if (next - i <= making->limit)
            continue;
        enum doppel_status status = keep_making(making, keys[i], next - i, error);
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

static enum doppel_status finish_share(const struct key_counter *counter, struct key_share *share,
                                       struct making *making, struct doppel_error *error)
{
    size_t count = share->count_in_file + share->count;
    if (!count)
        return DOPPEL_OK;
    uint64_t *keys = malloc(2 * count * sizeof *keys);
    if (!keys)
        return no_room_for_keys(error);
    enum doppel_status status = gather_spilled_keys(counter, share, keys, error);
    share_free(share);
    if (!status)
        status = count_share(sort_counted_keys(keys, keys + count, count), count, making, error);
    free(keys);
    return status;
}

static enum doppel_status index_table(struct key_table *table, struct doppel_error *error)
{
    table->first = malloc(((1 << UPPER_BITS) + 1) * sizeof *table->first);
    if (!table->first)
        return no_room_for_keys(error);
    size_t at = 0;
    for (uint64_t upper = 0; upper <= 1 << UPPER_BITS; upper++) {
        while (at < table->count && table->keys[at] >> (64 - UPPER_BITS) < upper)
            at++;
        table->first[upper] = at;
    }
    return DOPPEL_OK;
}

enum doppel_status key_counter_finish(struct key_counter *counter, uint64_t limit,
                                      struct key_table *out, struct doppel_error *error)
{
    struct making making = {.limit = limit, .memory_bytes = counter->table_limit};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < SHARES && !status; i++)
        status = finish_share(counter, &counter->shares[i], &making, error);
    counter->used = 0;
    if (!status)
        status = index_table(&making.table, error);
    if (status)
        key_table_free(&making.table);
    else
        *out = making.table;
    return status;
}

void key_table_free(struct key_table *table)
{
    free(table->keys);
    free(table->counts);
    free(table->first);
    *table = (struct key_table){0};
}

size_t key_table_find(const struct key_table *table, uint64_t key)
{
    uint64_t upper = key >> (64 - UPPER_BITS);
    size_t low = table->first[upper], high = table->first[upper + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->keys[low] == key ? low : SIZE_MAX;
}
