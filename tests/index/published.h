/* The names that an index with files published last, as its owner would keep them. */
#ifndef TESTS_INDEX_PUBLISHED_H
#define TESTS_INDEX_PUBLISHED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/index.h>

enum { PUBLISHED_NAMES = 64 };

struct published {
    char *names[PUBLISHED_NAMES];
    size_t count;
    unsigned times;
    enum doppel_status refusal; /* what publishing ends with from now on */
};

static inline enum doppel_status publish(void *context, const char *const *names, size_t count,
                                         struct doppel_error *error)
{
    struct published *published = context;
    if (published->refusal)
        return doppel_fail(error, published->refusal, "refused");
    if (count > PUBLISHED_NAMES)
        abort();
    for (size_t i = 0; i < published->count; i++)
        free(published->names[i]);
    for (size_t i = 0; i < count; i++)
        published->names[i] = strdup(names[i]);
    published->count = count;
    published->times++;
    return DOPPEL_OK;
}

/* With the files of a folder, or in memory when it is NULL. */
static inline enum doppel_status open_published(struct published *published, const char *folder,
                                                const struct doppel_index_options *options,
                                                struct doppel_index **out)
{
    struct doppel_index_files files = {.folder = folder,
                                       .names = (const char *const *)published->names,
                                       .count = published->count,
                                       .publish = publish,
                                       .context = published};
    return folder ? doppel_index_open(options, &files, out, NULL)
                  : doppel_index_new(options, out, NULL);
}

/* Remove the files, and forget their names. */
static inline void remove_published(struct published *published, const char *folder)
{
    for (size_t i = 0; i < published->count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, published->names[i]);
        if (unlink(path))
            abort();
        free(published->names[i]);
    }
    published->count = 0;
}

#endif
