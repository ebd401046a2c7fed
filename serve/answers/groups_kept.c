/* Groups that are cached for the next page. */
#include "serve/answers/groups_kept.h"

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

struct groups_kept *groups_kept_new(void)
{
    struct groups_kept *kept = calloc(1, sizeof *kept);
    if (kept) {
        pthread_mutex_init(&kept->lock, NULL);
        kept->of_service = true;
    }
    return kept;
}

void groups_kept_drop(struct groups_kept *kept)
{
    free(kept->buffer);
    if (kept->begun) {
        close(kept->texts);
        close(kept->ends);
    }
    kept->buffer = NULL;
    kept->whole = kept->begun = false;
    kept->count = 0;
    kept->damage = (struct doppel_error){0};
}

void groups_kept_free(struct groups_kept *kept)
{
    if (!kept)
        return;
    groups_kept_drop(kept);
    pthread_mutex_destroy(&kept->lock);
    free(kept);
}

void groups_kept_begin(struct groups_kept *kept, const char *folder)
{
    groups_kept_drop(kept);
    kept->texts = nameless_file(folder);
    kept->ends = kept->texts < 0 ? -1 : nameless_file(folder);
    kept->begun = kept->ends >= 0;
    if (!kept->begun && kept->texts >= 0)
        close(kept->texts);
    kept->buffer = kept->begun ? calloc(1, sizeof *kept->buffer) : NULL;
}

/* ---- writing ---- */

static bool flush_texts(const struct groups_kept *kept)
{
    struct groups_buffer *buffer = kept->buffer;
    const size_t size = buffer->size;
    buffer->size = 0;
    return write_all(kept->texts, buffer->bytes, size);
}

static bool flush_ends(const struct groups_kept *kept)
{
    struct groups_buffer *buffer = kept->buffer;
    const size_t count = buffer->ends_count;
    buffer->ends_count = 0;
    return write_all(kept->ends, buffer->ends, count * sizeof *buffer->ends);
}

static bool put_group_text(const struct groups_kept *kept, const char *json, size_t size)
{
    struct groups_buffer *buffer = kept->buffer;
    if (buffer->size + size > sizeof buffer->bytes && !flush_texts(kept))
        return false;
    if (size > sizeof buffer->bytes)
        return write_all(kept->texts, json, size);
    memcpy(buffer->bytes + buffer->size, json, size);
    buffer->size += size;
    return true;
}

void groups_kept_put(struct groups_kept *kept, const char *json, size_t size)
{
    struct groups_buffer *buffer = kept->buffer;
    if (!buffer)
        return;
    bool room = buffer->ends_count < ENDS || flush_ends(kept);
    if (!room ||
        !put_group_text(kept, json, size)) { /* a full disk, say: each page finds them again */
        groups_kept_drop(kept);
        return;
    }
    buffer->end += size;
    buffer->ends[buffer->ends_count++] = buffer->end;
    kept->count++;
}

void groups_kept_end(struct groups_kept *kept, enum doppel_status status,
                     const struct doppel_error *damage)
{
    const bool all = !status || status == DOPPEL_E_CORRUPT;
    kept->whole = kept->buffer && all && flush_texts(kept) && flush_ends(kept);
    if (!kept->whole) {
        groups_kept_drop(kept);
        return;
    }
    free(kept->buffer);
    kept->buffer = NULL;
    if (status)
        kept->damage = *damage;
}

/* ---- reading ---- */

static bool read_whole(int file, void *out, size_t size, uint64_t at)
{
    return read_at(file, out, size, at) == (ssize_t)size;
}

/* @param out_ends where each of them ends, after where the first begins; given (free) */
static char *read_kept_groups(const struct groups_kept *kept, uint64_t first, size_t count,
                              uint64_t **out_ends)
{
    uint64_t *ends = calloc(count + 1, sizeof *ends);
    const size_t before = first ? 1 : 0;
    char *texts = NULL;
    if (ends && read_whole(kept->ends, ends + 1 - before, (count + before) * sizeof *ends,
                           (first - before) * sizeof *ends))
        texts = malloc(ends[count] - ends[0] + 1);
    if (texts && !read_whole(kept->texts, texts, ends[count] - ends[0], ends[0])) {
        free(texts);
        texts = NULL;
    }
    *out_ends = ends;
    return texts;
}

bool groups_kept_page(struct groups_kept *kept, uint64_t first, uint64_t limit,
                      struct doppel_json *json)
{
    if (first >= kept->count)
        return true;
    const size_t count = (size_t)(kept->count - first < limit ? kept->count - first : limit);
    uint64_t *ends;
    char *texts = read_kept_groups(kept, first, count, &ends);
    for (size_t i = 0; texts && i < count; i++)
        doppel_json_raw(json, NULL, texts + (ends[i] - ends[0]), ends[i + 1] - ends[i]);
    const bool read = texts != NULL;
    free(texts);
    free(ends);
    if (!read)
        groups_kept_drop(kept);
    return read;
}
