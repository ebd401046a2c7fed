/* The values of a column of Parquet, page by page. */
#ifndef DOPPEL_CORPUS_READ_PARQUET_PAGES_H
#define DOPPEL_CORPUS_READ_PARQUET_PAGES_H

#include "corpus/read/parquet/footer.h"
#include "corpus/read/parquet/levels.h"

/* Of all columns of a file together. */
struct parquet_memory {
    uint64_t held;   /* bytes of their buffers, at most PARQUET_MOST_BYTES */
    uint8_t *packed; /* a page, or its header, as it is in the file */
    size_t packed_capacity;
};

enum { PARQUET_MOST_BYTES = 1 << 29 };

/* Of one group of rows. Zero-initialised it holds nothing. */
struct parquet_pages {
    struct parquet_memory *memory;
    int fd;
    const char *name; /* of the column */
    const struct parquet_column *column;
    int codec;
    uint64_t at, end; /* of the chunk, in the file */
    uint8_t *page;    /* unpacked */
    size_t page_capacity;
    uint64_t left;                 /* values of the page */
    struct parquet_levels present; /* of an optional column */
    bool by_numbers;               /* values are numbers of the dictionary's, or bits */
    struct parquet_levels numbers;
    const uint8_t *value, *values_end; /* plain ones */
    unsigned bit;                      /* of plain truths */
    uint8_t *dictionary;
    size_t dictionary_capacity, dictionary_count;
    uint32_t *places;      /* of its values, and its end */
    size_t place_capacity; /* bytes */
};

/* NULL: there is none. */
struct parquet_value {
    const uint8_t *bytes;
    size_t size;
    uint8_t truth; /* what bytes of a truth are */
};

/** Begin with a chunk. DOPPEL_E_UNSUPPORTED */
enum doppel_status parquet_pages_begin(struct parquet_pages *pages,
                                       const struct parquet_chunk *chunk,
                                       struct doppel_error *error);
/** @param out borrowed until the next call. DOPPEL_E_CORRUPT; DOPPEL_E_UNSUPPORTED;
 * DOPPEL_E_LIMIT; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status parquet_pages_next(struct parquet_pages *pages, struct parquet_value *out,
                                      struct doppel_error *error);
void parquet_pages_free(struct parquet_pages *pages);

#endif
