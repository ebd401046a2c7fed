/* An index of vectors from the inside. */
#ifndef DOPPEL_EMBED_INDEX_VECTOR_INDEX_H
#define DOPPEL_EMBED_INDEX_VECTOR_INDEX_H

#include <doppel/embed_index.h>
#include <sqlite3.h>

struct doppel_vector_index {
    struct doppel_store *store;
    struct doppel_store_index *codes;
    struct doppel_embedder_identity identity;
    bool named, shared;
    char *folder;
    char *id; /* that was found last */
    size_t id_room;
};

enum doppel_status vector_index_check_dimension(const struct doppel_vector_index *index,
                                                uint32_t dimension, struct doppel_error *error);

/* Rows as codes; given (free). NULL without memory. */
uint64_t *vector_codes(const struct doppel_vectors *vectors, size_t first, size_t count);

/* The number from which on vectors have no ids, as they are being added, or were when a process was
 * killed; UINT64_MAX: all have. */
enum doppel_status vector_index_unnamed(struct doppel_vector_index *index, uint64_t *out,
                                        struct doppel_error *error);

/* From this number on they have none yet; and then all have. */
enum doppel_status vector_set_unnamed(struct doppel_vector_index *index, uint64_t number,
                                      struct doppel_error *error);
enum doppel_status vector_all_named(struct doppel_vector_index *index, struct doppel_error *error);

/* @param out what is there under an id; UINT64_MAX: nothing */
enum doppel_status vector_number_of_id(struct doppel_vector_index *index, const char *id,
                                       uint64_t *out, struct doppel_error *error);
/* Of an id that begins with some letters. */
enum doppel_status vector_number_of_prefix(struct doppel_vector_index *index, const char *prefix,
                                           uint64_t *out, struct doppel_error *error);
enum doppel_status vector_put_id(struct doppel_vector_index *index, uint64_t number, const char *id,
                                 struct doppel_error *error);
enum doppel_status vector_drop_id(struct doppel_vector_index *index, uint64_t number,
                                  struct doppel_error *error);

/* @param out borrowed until the next call; NULL: it has none */
enum doppel_status vector_id_of(struct doppel_vector_index *index, uint64_t number,
                                const char **out, struct doppel_error *error);

#endif
