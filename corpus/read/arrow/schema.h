/* The columns of an Arrow stream, by its schema. */
#ifndef DOPPEL_CORPUS_READ_ARROW_SCHEMA_H
#define DOPPEL_CORPUS_READ_ARROW_SCHEMA_H

#include "corpus/read/archive_columns.h"
#include "corpus/read/arrow/flatbuffer.h"
#include "corpus/read/row_value.h"

enum arrow_kind {
    ARROW_UNREAD,
    ARROW_NULLS, /* nothing but nulls */
    ARROW_WHOLE,
    ARROW_BINARY, /* numbers of 4 or 8 bytes */
    ARROW_TRUTH,
    ARROW_TEXT,  /* with offsets of 4 bytes, or of 8 */
    ARROW_VIEWED /* texts with views of 16 bytes */
};

struct arrow_type {
    enum arrow_kind kind;
    unsigned width; /* bytes of a number, or of an offset */
    bool is_signed;
    enum row_meaning meaning;
};

/* What a column, with all that is inside, has of the lists of a batch. */
struct arrow_share {
    size_t nodes, buffers, views; /* of columns whose buffers are counted apart */
};

struct arrow_field {
    struct arrow_type type;
    bool by_dictionary; /* the batches have numbers of its values */
    int64_t dictionary;
    struct arrow_type number;
    struct arrow_share share;
};

struct arrow_schema {
    struct archive_columns names;
    struct arrow_field *columns; /* as many */
};

/** @param out given (arrow_schema_free), also on failure. DOPPEL_E_CORRUPT; DOPPEL_E_UNSUPPORTED;
 * DOPPEL_E_MEMORY */
enum doppel_status arrow_schema_read(struct flatbuffer *flat, flat_place table,
                                     struct arrow_schema *out, struct doppel_error *error);
void arrow_schema_free(struct arrow_schema *schema);

#endif
