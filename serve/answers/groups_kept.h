/* The groups of a library, cached as JSON in a file until something is written to the library: a
 * page costs what it shows. */
#ifndef DOPPEL_SERVE_ANSWERS_GROUPS_KEPT_H
#define DOPPEL_SERVE_ANSWERS_GROUPS_KEPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/json_writer.h>

/* As one reader found them; of a service one at a time has them. */
struct groups_kept {
    pthread_mutex_t lock;
    bool of_service; /* else nothing is kept */
    bool whole;      /* all are there, and can be used */
    uint64_t reader; /* who found them, and in which library (doppel_library_changed) */
    int64_t version;
    uint64_t count;
    int texts, ends; /* files, where `begun`: JSON, back to back; where each ends, 8 bytes */
    bool begun;
    struct groups_buffer *buffer; /* while they are found; NULL: no more */
    struct doppel_error damage;   /* met meanwhile: the others are there */
};

/* @return NULL without memory */
struct groups_kept *groups_kept_new(void);

/* Begin to keep, under the lock. A failure from here on only means that nothing is kept. */
void groups_kept_begin(struct groups_kept *kept, const char *folder);
void groups_kept_put(struct groups_kept *kept, const char *json, size_t size);

/* All have been found, or all but for damage. */
void groups_kept_end(struct groups_kept *kept, enum doppel_status status,
                     const struct doppel_error *damage);

/* Append `limit` of them, or those that there are, from the one with this number on to an array.
 * @return false: they cannot be read, nothing was appended, and they are not kept any more */
bool groups_kept_page(struct groups_kept *kept, uint64_t first, uint64_t limit,
                      struct doppel_json *json);

void groups_kept_drop(struct groups_kept *kept);
void groups_kept_free(struct groups_kept *kept);

#endif
