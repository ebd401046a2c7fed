/* The groups of a library, cached as JSON in a file until something is written to the library: a
 * page costs what it shows. */
#ifndef DOPPEL_SERVE_ANSWERS_GROUP_CACHE_H
#define DOPPEL_SERVE_ANSWERS_GROUP_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/json_writer.h>

/* As one reader found them; a service has one. */
struct group_cache {
    pthread_mutex_t lock;
    bool of_service; /* else nothing is cached */
    bool whole;      /* all are there, and can be used */
    uint64_t reader; /* that found them, by its number */
    int64_t version; /* of its library then (doppel_library_changed) */
    uint64_t count;
    int texts, ends; /* files, where `begun`: JSON, back to back; where each ends, 8 bytes */
    bool begun;
    struct groups_buffer *buffer; /* while they are found; NULL: no more */
    struct doppel_error damage;   /* met meanwhile: the others are there */
};

/* @return NULL without memory */
struct group_cache *group_cache_new(void);

/* Begin to cache, under the lock. A failure from here on only means that nothing is cached. */
void group_cache_begin(struct group_cache *cache, const char *folder);
void group_cache_put(struct group_cache *cache, const char *json, size_t size);

/* All have been found, or all but for damage. */
void group_cache_end(struct group_cache *cache, enum doppel_status status,
                     const struct doppel_error *damage);

/* Append `limit` of them, or those that there are, from the one with this number on to an array.
 * @return false: they cannot be read, nothing was appended, and they are not cached any more */
bool group_cache_page(struct group_cache *cache, uint64_t first, uint64_t limit,
                      struct doppel_json *json);

void group_cache_free(struct group_cache *cache);

#endif
