/* Which member of a group is kept. */
#include <doppel/library.h>

#include <string.h>

static int more_first(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static size_t count_slashes(const char *path)
{
    size_t count = 0;
    for (; *path; path++)
        count += *path == '/';
    return count;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int doppel_canonical_compare(const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    int order = more_first((uint64_t)a->width * a->height, (uint64_t)b->width * b->height);
    if (!order)
        order = a->size > b->size ? -1 : a->size < b->size;
    if (!order)
        order = a->mtime_ns < b->mtime_ns ? -1 : a->mtime_ns > b->mtime_ns;
    if (!order)
        order = more_first(count_slashes(b->path), count_slashes(a->path));
    /* "photo.jpg" rather than "photo (1).jpg" or "photo copy.jpg". */
    if (!order)
        order = more_first(strlen(base_name(b->path)), strlen(base_name(a->path)));
    return order ? order : strcmp(a->path, b->path);
}
