/* Paths from a pipe: what is there is taken, and nothing is waited for unless asked to. */
#include "tools/clustered/path_feed.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/memory.h"

enum { FEED_BYTES = 1 << 16, WAIT_MS = 200 };

/* @return whether bytes came, or there are no more. @param wait_ms as poll has it */
static bool read_more(struct path_feed *feed, int wait_ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (feed->ended)
        return true;
    if (poll(&input, 1, wait_ms) <= 0)
        return false;
    if (feed->begin)
        memmove(feed->bytes, feed->bytes + feed->begin, feed->end - feed->begin);
    feed->end -= feed->begin;
    feed->begin = 0;
    if (feed->capacity - feed->end <= FEED_BYTES) {
        feed->capacity = feed->end + 2 * FEED_BYTES;
        feed->bytes = must_resize(feed->bytes, feed->capacity);
    }
    const ssize_t size = read(STDIN_FILENO, feed->bytes + feed->end, FEED_BYTES);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    feed->ended = size <= 0;
    feed->end += size > 0 ? (size_t)size : 0;
    return true;
}

/* Whether a path is there as a whole; the last one may lack what ends it, and of what is longer
 * than any path the beginning will do. */
static bool has_path(const struct path_feed *feed)
{
    const size_t size = feed->end - feed->begin;
    return size && (feed->ended || size > FEED_BYTES ||
                    memchr(feed->bytes + feed->begin, feed->separator, size));
}

static void note_fed_path(struct path_feed *feed, const char *path)
{
    const struct fed_path fed = {must_copy(path), feed->line};
    if (!array_push(&feed->paths, fed))
        no_memory();
}

uint64_t path_feed_line(struct path_feed *feed, const char *path)
{
    uint64_t line = 0;
    while (!line && feed->next < feed->paths.count) {
        struct fed_path *fed = &feed->paths.items[feed->next++];
        line = strcmp(fed->path, path) == 0 ? fed->line : 0;
        free(fed->path);
    }
    if (feed->next == feed->paths.count)
        feed->next = feed->paths.count = 0;
    return line;
}

const char *path_feed_next(void *context)
{
    struct path_feed *feed = context;
    for (;;) {
        if (!has_path(feed) && (!read_more(feed, 0) || !has_path(feed)))
            return NULL;
        char *path = feed->bytes + feed->begin;
        char *end = memchr(path, feed->separator, feed->end - feed->begin);
        feed->begin = end ? (size_t)(end - feed->bytes) + 1 : feed->end;
        *(end ? end : feed->bytes + feed->end) = '\0'; /* there is room for it */
        feed->line++;
        const size_t size = strlen(path);
        if (size && feed->separator == '\n' && path[size - 1] == '\r')
            path[size - 1] = '\0';
        if (!*path)
            continue;
        note_fed_path(feed, path);
        return path;
    }
}

bool path_feed_wait(struct path_feed *feed, const struct doppel_run *run)
{
    while (!has_path(feed)) {
        if (feed->ended || doppel_run_cancelled(run))
            return false;
        (void)read_more(feed, WAIT_MS);
    }
    return !doppel_run_cancelled(run);
}

void path_feed_free(struct path_feed *feed)
{
    while (feed->next < feed->paths.count)
        free(feed->paths.items[feed->next++].path);
    array_free(&feed->paths);
    free(feed->bytes);
    *feed = (struct path_feed){.separator = feed->separator};
}
