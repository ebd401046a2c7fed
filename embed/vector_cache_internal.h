/* The cache of vectors from the inside: shared by its files. */
#ifndef DOPPEL_EMBED_VECTOR_CACHE_INTERNAL_H
#define DOPPEL_EMBED_VECTOR_CACHE_INTERNAL_H

#include <doppel/store.h>
#include <sqlite3.h>

#include "core/bytes.h"
#include "core/try.h"
#include "embed/vector_cache.h"

/* Of a text that the service refused: by an index, so that none has to be read. */
#define VECTOR_IS_ZERO "vector = zeroblob(length(vector))"

struct vector_cache {
    struct doppel_store *store;
    uint64_t most_bytes;
    int64_t model;      /* its row; 0: none is chosen */
    uint32_t dimension; /* of its vectors */
    uint8_t *row;       /* digest and vector, as they are summed */
    bool damaged;       /* it is of no use any more */
};

/* Note what makes it useless. @return the status */
enum doppel_status vectors_note_damage(struct vector_cache *cache, enum doppel_status status);

/* DOPPEL_E_CORRUPT: it is of no use any more. */
enum doppel_status vectors_check_usable(const struct vector_cache *cache,
                                        struct doppel_error *error);

/* Run a statement that gives no row, or one number. @param out NULL: none is wanted */
enum doppel_status vectors_run(struct vector_cache *cache, sqlite3_stmt *statement, int64_t *out,
                               struct doppel_error *error);

static inline void vectors_write_floats(uint8_t *out, const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_f32(out + 4 * (size_t)i, values[i]);
}

static inline void vectors_read_floats(const uint8_t *bytes, float *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = get_f32(bytes + 4 * (size_t)i);
}

#endif
