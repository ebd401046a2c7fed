/* An index: made, opened, freed; codes inserted and removed; what it tells of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_internal.h"
#include "index/vectors.h"

struct doppel_index_options doppel_index_options_default(void)
{
    return (struct doppel_index_options){.table = DOPPEL_INDEX_HAMMING,
                                         .bits = 64,
                                         .design_radius = 8,
                                         .lanes = 128,
                                         .bands = 25,
                                         .rows = 5,
                                         .key_bits = 25,
                                         .head_codes = 65536};
}

/* ---- making ---- */

static enum doppel_status check_options_index_options(const struct doppel_index_options *options,
                                                      struct doppel_error *error)
{
    enum { MAX_LANES = 1024 };
    uint32_t bits = options->bits;
    switch (options->table) {
    case DOPPEL_INDEX_HAMMING:
        if (bits == 32 || bits == 64 || bits == 128 || bits == 256)
            return DOPPEL_OK;
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an index of %u-bit codes is not known: 32, 64, 128 or 256", bits);
    case DOPPEL_INDEX_VECTORS:
        if (bits && bits % 32 == 0 && bits / 32 <= DOPPEL_VECTOR_DIMENSION_MAX)
            return DOPPEL_OK;
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "vectors of %u bits are not known: 32 a dimension, of up to %d", bits,
                           (int)DOPPEL_VECTOR_DIMENSION_MAX);
    case DOPPEL_INDEX_BANDS:
        if (options->lanes && options->lanes % 4 == 0 && options->lanes <= MAX_LANES &&
            options->bands && options->rows && options->bands <= options->lanes / options->rows)
            return DOPPEL_OK;
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%u bands of %u lanes do not fit a signature of %u lanes",
                           options->bands, options->rows, options->lanes);
    case DOPPEL_INDEX_POSTINGS:
        if (options->key_bits && options->key_bits <= 32)
            return DOPPEL_OK;
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "keys of %u bits are not known: 1 to 32",
                           options->key_bits);
    }
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "table number %d is not known",
                       (int)options->table);
}

static struct index_shared *make_shared(void)
{
    struct index_shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    pthread_rwlockattr_t writer_first;
    pthread_rwlockattr_init(&writer_first);
    pthread_rwlockattr_setkind_np(&writer_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&shared->lock, &writer_first);
    pthread_rwlockattr_destroy(&writer_first);
    pthread_mutex_init(&shared->changing, NULL);
    pthread_mutex_init(&shared->compacting, NULL);
    pthread_mutex_init(&shared->pool_lock, NULL);
    return shared;
}

static void free_shared(struct index_shared *shared)
{
    if (!shared)
        return;
    searchers_free(shared->pool);
    pthread_rwlock_destroy(&shared->lock);
    pthread_mutex_destroy(&shared->changing);
    pthread_mutex_destroy(&shared->compacting);
    pthread_mutex_destroy(&shared->pool_lock);
    free(shared);
}

enum doppel_status doppel_index_new(const struct doppel_index_options *options,
                                    struct doppel_index **out, struct doppel_error *error)
{
    enum doppel_status status = check_options_index_options(options, error);
    if (status)
        return status;
    struct doppel_index *index = calloc(1, sizeof *index);
    struct head *head = head_new(options);
    if (index && head) {
        index->options = *options;
        index->words = table_words(options);
        index->shared = make_shared();
        index->state = state_new(head, NULL, 0);
    }
    head_release(head);
    if (!index || !index->shared || !index->state) {
        doppel_index_free(index);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an index");
    }
    *out = index;
    return DOPPEL_OK;
}

static enum doppel_status open_part(const struct doppel_index *index, const char *name,
                                    struct part **out, struct doppel_error *error)
{
    struct segment *segment;
    struct table *table;
    char *path, *copy = strdup(name);
    if (!copy || asprintf(&path, "%s/%s", index->folder, name) < 0) {
        free(copy);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an index");
    }
    enum doppel_status status = segment_open(path, &segment, error);
    if (!status)
        status = table_open(&index->options, segment, &table, error);
    free(path);
    if (status) {
        free(copy);
        return status;
    }
    *out = part_new(table, copy);
    return *out ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an index");
}

static enum doppel_status open_parts(struct doppel_index *index,
                                     const struct doppel_index_files *files,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    struct part **parts = calloc(files->count + 1, sizeof(struct part *));
    struct state *state = NULL;
    for (size_t i = 0; parts && i < files->count && !status; i++)
        status = open_part(index, files->names[i], &parts[i], error);
    if (parts && !status)
        state = state_new(index->state->head, parts, files->count);
    for (size_t i = 0; parts && i < files->count; i++)
        part_release(parts[i]);
    free(parts);
    if (status)
        return status;
    if (!state)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an index");
    state_release(index->state);
    index->state = state;
    return DOPPEL_OK;
}

enum doppel_status doppel_index_open(const struct doppel_index_options *options,
                                     const struct doppel_index_files *files,
                                     struct doppel_index **out, struct doppel_error *error)
{
    struct doppel_index *index = NULL;
    enum doppel_status status = doppel_index_new(options, &index, error);
    if (status)
        return status;
    index->folder = strdup(files->folder);
    index->durable = files->durable;
    index->read_only = files->read_only;
    index->publish = files->publish;
    index->publish_context = files->context;
    index->state->head->unsearched = files->unsearched;
    status = index->folder ? open_parts(index, files, error)
                           : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an index");
    if (status)
        doppel_index_free(index);
    else
        *out = index;
    return status;
}

void doppel_index_free(struct doppel_index *index)
{
    if (!index)
        return;
    state_release(index->state);
    free_shared(index->shared);
    free(index->folder);
    free(index);
}

/* ---- inserting and removing ---- */

/* An index in memory keeps its head small by itself. */
static enum doppel_status flush_when_full_index(struct doppel_index *index,
                                                struct doppel_error *error)
{
    pthread_rwlock_rdlock(&index->shared->lock);
    const struct head *head = index->state->head;
    bool full = head_size(head) >= index->options.head_codes ||
                head->removed.count >= index->options.head_codes;
    pthread_rwlock_unlock(&index->shared->lock);
    if (index->folder || !full)
        return DOPPEL_OK;
    enum doppel_status status = doppel_index_flush(index, error);
    return status ? status : doppel_index_compact(index, false, error);
}

enum doppel_status doppel_index_insert(struct doppel_index *index, const uint64_t *codes,
                                       const uint64_t *payloads, size_t count,
                                       struct doppel_error *error)
{
    if (!index->words)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index of postings takes items, not codes");
    if (index->options.table == DOPPEL_INDEX_VECTORS &&
        vectors_check(index->options.bits / 32, codes, count, error))
        return DOPPEL_E_FORMAT;
    pthread_rwlock_wrlock(&index->shared->lock);
    bool inserted = head_insert(index->state->head, codes, payloads, count);
    pthread_rwlock_unlock(&index->shared->lock);
    if (!inserted)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu more codes in the index",
                           count);
    (void)flush_when_full_index(index, NULL); /* without memory for it the head grows */
    return DOPPEL_OK;
}

enum doppel_status doppel_index_insert_item(struct doppel_index *index,
                                            const struct doppel_index_item *item,
                                            struct doppel_error *error)
{
    if (index->words)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index of codes takes no items");
    for (uint32_t i = 0; i < item->count; i++)
        if (item->postings[i].position >= item->length ||
            (uint64_t)item->postings[i].key >> index->options.key_bits)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "a posting lies beyond its item, or its key beyond %u bits",
                               index->options.key_bits);
    pthread_rwlock_wrlock(&index->shared->lock);
    enum doppel_status status = head_insert_item(index->state->head, item);
    pthread_rwlock_unlock(&index->shared->lock);
    if (status)
        return doppel_fail(error, status, "no room for one more item in the head of the index");
    (void)flush_when_full_index(index, NULL);
    return DOPPEL_OK;
}

enum doppel_status doppel_index_remove(struct doppel_index *index, const uint64_t *payloads,
                                       size_t count, struct doppel_error *error)
{
    pthread_rwlock_wrlock(&index->shared->lock);
    bool removed = head_remove(index->state->head, payloads, count, index->state->count > 0);
    pthread_rwlock_unlock(&index->shared->lock);
    if (!removed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to remove %zu payloads", count);
    (void)flush_when_full_index(index, NULL);
    return DOPPEL_OK;
}

/* ---- what it tells of itself ---- */

struct doppel_index_info doppel_index_info(const struct doppel_index *index)
{
    pthread_rwlock_rdlock(&index->shared->lock);
    const struct state *state = index->state;
    struct doppel_index_info info = {.codes = head_alive(state->head),
                                     .distinct = head_alive(state->head),
                                     .head_codes = head_alive(state->head),
                                     .removed = state->head->removed.count,
                                     .bytes = head_bytes(state->head),
                                     .segments = state->count};
    for (size_t i = 0; i < state->count; i++) {
        const struct part *part = state->parts[i];
        uint64_t distinct;
        size_t removed;
        info.codes += table_count(part->table, &distinct);
        info.distinct += distinct;
        (void)part_removed(part, &removed);
        info.removed += removed;
        info.bytes += segment_bytes(table_segment(part->table));
        info.damaged += segment_damage(table_segment(part->table), NULL) != DOPPEL_OK;
    }
    pthread_rwlock_unlock(&index->shared->lock);
    return info;
}

void doppel_index_read_in(const struct doppel_index *index, bool (*cancelled)(void *context),
                          void *context)
{
    struct snapshot snapshot = snapshot_take(index);
    for (size_t i = 0; i < snapshot.state->count; i++)
        segment_read_in(table_segment(snapshot.state->parts[i]->table), cancelled, context);
    snapshot_release(&snapshot);
}

uint64_t doppel_index_count(const struct doppel_index *index)
{
    return doppel_index_info(index).codes;
}

enum doppel_status doppel_index_names(const struct doppel_index *index, const char *const **out,
                                      size_t *out_count, struct doppel_error *error)
{
    struct snapshot snapshot = snapshot_take(index);
    const struct state *state = snapshot.state;
    size_t bytes = 0, count = index->folder ? state->count : 0;
    for (size_t i = 0; i < count; i++)
        bytes += sizeof(char *) + strlen(state->parts[i]->name) + 1;
    const char **names = malloc(bytes + 1);
    char *text = names ? (char *)(names + count) : NULL;
    for (size_t i = 0; names && i < count; i++) {
        size_t length = strlen(state->parts[i]->name) + 1;
        names[i] = memcpy(text, state->parts[i]->name, length);
        text += length;
    }
    snapshot_release(&snapshot);
    if (!names)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the names of segments");
    *out = names;
    *out_count = count;
    return DOPPEL_OK;
}

enum doppel_status doppel_index_verify(const struct doppel_index *index, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    struct snapshot snapshot = snapshot_take(index);
    for (size_t i = 0; i < snapshot.state->count && !status; i++)
        status = segment_verify(table_segment(snapshot.state->parts[i]->table), error);
    snapshot_release(&snapshot);
    return status;
}
