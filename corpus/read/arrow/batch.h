/* Batches of Arrow: what comes in, and the buffers of the columns that are read. */
#ifndef DOPPEL_CORPUS_READ_ARROW_BATCH_H
#define DOPPEL_CORPUS_READ_ARROW_BATCH_H

#include "corpus/read/arrow/schema.h"

/* What is read, once, from its beginning to its end. */
struct arrow_input {
    struct corpus_source *source;
    char *begun; /* read already, and from `at` on not yet used */
    size_t at, end;
    uint8_t *packed; /* a buffer as it came */
    size_t packed_capacity;
    uint64_t held; /* bytes of memory that buffers have */
};

/** Exactly so many bytes. @param out_ended may be NULL; true: there was none. DOPPEL_E_CORRUPT: it
 * ends before; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status arrow_input_read(struct arrow_input *input, void *bytes, size_t size,
                                    bool *out_ended, struct doppel_error *error);
enum doppel_status arrow_input_pass_over(struct arrow_input *input, uint64_t size,
                                         struct doppel_error *error);
void arrow_input_free(struct arrow_input *input);

struct arrow_buffer {
    uint8_t *bytes;
    size_t size, capacity;
};

/* The values of a column in a batch. Zero-initialised there are none. */
struct batch_values {
    uint64_t count, nulls;
    struct arrow_buffer present; /* a bit a value; empty: all are */
    struct arrow_buffer values;  /* numbers, offsets, or views */
    struct arrow_buffer *texts;  /* that these lead to */
    size_t text_count, text_capacity;
};
void arrow_values_free(struct batch_values *values);

/* A batch whose body comes next. */
struct arrow_batch {
    struct flatbuffer *flat;
    flat_place table;
    uint64_t body_bytes;
};

/* Whose values are wanted. */
struct batch_wanted {
    const struct arrow_type *type; /* as the batch has them; NULL: they are passed over */
    struct arrow_share share;
    struct batch_values *to;
};

/** Read the body of a batch. DOPPEL_E_CORRUPT; DOPPEL_E_UNSUPPORTED; DOPPEL_E_LIMIT: it wants more
 * than ARROW_MOST_BYTES; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status arrow_batch_read(struct arrow_input *input, const struct arrow_batch *batch,
                                    const struct batch_wanted *wanted, size_t count,
                                    uint64_t *out_rows, struct doppel_error *error);

enum { ARROW_MOST_BYTES = 1 << 30 };

/** The sentence of damage. */
enum doppel_status arrow_is_damaged(struct doppel_error *error);

#endif
