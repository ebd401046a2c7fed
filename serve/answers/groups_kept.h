/* The groups of a library, cached as JSON in a file until something is written to the library: a
 * page costs what it shows. */
#ifndef DOPPEL_SERVE_ANSWERS_GROUPS_KEPT_H
#define DOPPEL_SERVE_ANSWERS_GROUPS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/json_writer.h>

/* Of one opening of a library; zero-initialised there are none. */
struct groups_kept {
    bool whole;      /* all are there, and can be used */
    int64_t version; /* of the library then */
    uint64_t count;
    int texts, ends; /* files, where `begun`: JSON, back to back; where each ends, 8 bytes */
    bool begun;
    struct groups_buffer *buffer; /* while they are found; NULL: no more */
    struct doppel_error damage;   /* met meanwhile: the others are there */
};

/* Begin to keep. A failure from here on only means that nothing is kept. */
void groups_kept_begin(struct groups_kept *kept, const char *folder, int64_t version);
void groups_kept_put(struct groups_kept *kept, const char *json, size_t size);

/* All have been found, or all but for damage. */
void groups_kept_end(struct groups_kept *kept, enum doppel_status status,
                     const struct doppel_error *damage);

/* Append `limit` of them, or those that there are, from the one with this number on to an array.
 * @return false: they cannot be read, nothing was appended, and they are not kept any more */
bool groups_kept_page(struct groups_kept *kept, uint64_t first, uint64_t limit,
                      struct doppel_json *json);

void groups_kept_free(struct groups_kept *kept);

#endif
