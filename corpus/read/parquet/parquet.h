/* Parquet from the inside: the footer, which says where pages are (footer.c); pages, unpacked and
 * cut into values (pages.c); what these are packed by, and runs of small numbers (unpack.c). */
#ifndef DOPPEL_CORPUS_READ_PARQUET_PARQUET_H
#define DOPPEL_CORPUS_READ_PARQUET_PARQUET_H

#include "corpus/read/archive_columns.h"
#include "corpus/read/parquet/thrift.h"
#include "corpus/read/row_value.h"

/* ---- footer ---- */

enum parquet_type {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6
};

struct parquet_column {
    size_t leaf; /* its number among all columns, also those inside others */
    enum parquet_type type;
    enum row_meaning meaning;
    bool optional;
};

/* The part of a column in a group of rows. */
struct parquet_chunk {
    uint64_t at, size; /* within the file */
    uint64_t values;
    int type, codec;
    bool elsewhere; /* encrypted, or in another file */
};

struct parquet_footer {
    struct archive_columns names; /* on the outermost level */
    struct parquet_column *columns;
    size_t leaf_count;
    uint64_t *group_rows;
    size_t group_count;
    struct parquet_chunk *chunks; /* leaf_count for each group */
};

/** Whether a file begins as one. */
bool parquet_begins(const char *bytes, size_t size);

/** @param out given (parquet_footer_free), also on failure. DOPPEL_E_CORRUPT; DOPPEL_E_UNSUPPORTED;
 * DOPPEL_E_LIMIT; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status parquet_footer_read(int fd, struct parquet_footer *out,
                                       struct doppel_error *error);
void parquet_footer_free(struct parquet_footer *footer);

/** Exactly these bytes of a file. DOPPEL_E_CORRUPT: it has not so many; DOPPEL_E_IO */
enum doppel_status parquet_pread(int fd, void *bytes, size_t size, uint64_t at,
                                 struct doppel_error *error);

/* ---- runs ---- */

struct parquet_levels {
    struct thrift bytes;
    unsigned width; /* bits of a number, at most 32 */
    uint64_t left;  /* of the run */
    bool packed;    /* else all are `repeated` */
    uint32_t repeated;
    const uint8_t *numbers; /* of a packed run */
    uint64_t bit;           /* within them, of the next */
};

/* The next number; bytes.broken where there is none. */
uint32_t parquet_levels_next(struct parquet_levels *levels);

/* ---- pages ---- */

/** Whether it is none, snappy, gzip or zstd. */
bool parquet_codec_is_known(int codec);

/** @return false: they are not exactly `to_size` bytes of this codec */
bool parquet_unpack(int codec, const uint8_t *from, size_t size, uint8_t *to, size_t to_size);

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
