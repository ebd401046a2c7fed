/* Groups that are cached for the next page. */
#include "serve/answers/group_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/nameless_file.h"
#include "core/files/read_at.h"
#include "core/files/write_all.h"

enum { TEXT_BYTES = 1 << 16, ENDS = 1 << 10 };

struct groups_buffer {
    uint64_t ends[ENDS], end;
    size_t ends_count, size;
    char bytes[TEXT_BYTES];
};

struct group_cache *group_cache_new(void)
{
    struct group_cache *cache = calloc(1, sizeof *cache);
    if (cache) {
        pthread_mutex_init(&cache->lock, NULL);
        cache->of_service = true;
    }
    return cache;
}

/* Empty it, under the lock. */
static void group_cache_drop(struct group_cache *cache)
{
    free(cache->buffer);
    if (cache->begun) {
        close(cache->texts);
        close(cache->ends);
    }
    cache->buffer = NULL;
    cache->whole = cache->begun = false;
    cache->count = 0;
    cache->damage = (struct doppel_error){0};
}

void group_cache_free(struct group_cache *cache)
{
    if (!cache)
        return;
    group_cache_drop(cache);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

void group_cache_begin(struct group_cache *cache, const char *folder)
{
    group_cache_drop(cache);
    cache->texts = nameless_file(folder);
    cache->ends = cache->texts < 0 ? -1 : nameless_file(folder);
    cache->begun = cache->ends >= 0;
    if (!cache->begun && cache->texts >= 0)
        close(cache->texts);
    cache->buffer = cache->begun ? calloc(1, sizeof *cache->buffer) : NULL;
}

/* ---- writing ---- */

static bool flush_texts(const struct group_cache *cache)
{
    struct groups_buffer *buffer = cache->buffer;
    const size_t size = buffer->size;
    buffer->size = 0;
    return write_all(cache->texts, buffer->bytes, size);
}

static bool flush_ends(const struct group_cache *cache)
{
    struct groups_buffer *buffer = cache->buffer;
    const size_t count = buffer->ends_count;
    buffer->ends_count = 0;
    return write_all(cache->ends, buffer->ends, count * sizeof *buffer->ends);
}

static bool put_group_text(const struct group_cache *cache, const char *json, size_t size)
{
    struct groups_buffer *buffer = cache->buffer;
    if (buffer->size + size > sizeof buffer->bytes && !flush_texts(cache))
        return false;
    if (size > sizeof buffer->bytes)
        return write_all(cache->texts, json, size);
    memcpy(buffer->bytes + buffer->size, json, size);
    buffer->size += size;
    return true;
}

void group_cache_put(struct group_cache *cache, const char *json, size_t size)
{
    struct groups_buffer *buffer = cache->buffer;
    if (!buffer)
        return;
    bool room = buffer->ends_count < ENDS || flush_ends(cache);
    if (!room ||
        !put_group_text(cache, json, size)) { /* a full disk, say: each page finds them again */
        group_cache_drop(cache);
        return;
    }
    buffer->end += size;
    buffer->ends[buffer->ends_count++] = buffer->end;
    cache->count++;
}

void group_cache_end(struct group_cache *cache, enum doppel_status status,
                     const struct doppel_error *damage)
{
    const bool all = !status || status == DOPPEL_E_CORRUPT;
    cache->whole = cache->buffer && all && flush_texts(cache) && flush_ends(cache);
    if (!cache->whole) {
        group_cache_drop(cache);
        return;
    }
    free(cache->buffer);
    cache->buffer = NULL;
    if (status)
        cache->damage = *damage;
}

/* ---- reading ---- */

static bool read_whole(int file, void *out, size_t size, uint64_t at)
{
    return read_at(file, out, size, at) == (ssize_t)size;
}

/* @param out_ends where each of them ends, after where the first begins; given (free) */
static char *read_cached_groups(const struct group_cache *cache, uint64_t first, size_t count,
                                uint64_t **out_ends)
{
    uint64_t *ends = calloc(count + 1, sizeof *ends);
    const size_t before = first ? 1 : 0;
    char *texts = NULL;
    if (ends && read_whole(cache->ends, ends + 1 - before, (count + before) * sizeof *ends,
                           (first - before) * sizeof *ends))
        texts = malloc(ends[count] - ends[0] + 1);
    if (texts && !read_whole(cache->texts, texts, ends[count] - ends[0], ends[0])) {
        free(texts);
        texts = NULL;
    }
    *out_ends = ends;
    return texts;
}

bool group_cache_page(struct group_cache *cache, uint64_t first, uint64_t limit,
                      struct doppel_json *json)
{
    if (first >= cache->count)
        return true;
    const size_t count = (size_t)(cache->count - first < limit ? cache->count - first : limit);
    uint64_t *ends;
    char *texts = read_cached_groups(cache, first, count, &ends);
    for (size_t i = 0; texts && i < count; i++)
        doppel_json_raw(json, NULL, texts + (ends[i] - ends[0]), ends[i + 1] - ends[i]);
    const bool read = texts != NULL;
    free(texts);
    free(ends);
    if (!read)
        group_cache_drop(cache);
    return read;
}
