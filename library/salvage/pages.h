/* A database file as pages, cells and records, whatever has become of it: SQLite's file format
 * (https://sqlite.org/fileformat2.html) read without SQLite, each number checked. */
#ifndef DOPPEL_LIBRARY_SALVAGE_PAGES_H
#define DOPPEL_LIBRARY_SALVAGE_PAGES_H

#include "core/bytes.h"
#include "library/items/rows.h"

static inline uint32_t big_u16(const uint8_t *in)
{
    return (uint32_t)in[0] << 8 | in[1];
}

static inline uint32_t big_u32(const uint8_t *in)
{
    return big_u16(in) << 16 | big_u16(in + 2);
}

static inline uint64_t big_u64(const uint8_t *in)
{
    return (uint64_t)big_u32(in) << 32 | big_u32(in + 4);
}

/** The file and what its log (…-wal) has that is newer. */
struct pages {
    int file, log;    /* descriptors; -1: not open, or there is none */
    uint32_t size;    /* bytes a page */
    uint32_t count;   /* pages are numbered from 1 */
    uint32_t *frames; /* of each page: 1 + the newest frame that has it; NULL: no log */
};

/** Open it, and keep all others from it until it is closed. DOPPEL_E_BUSY: another process has it
 * open; _NOT_FOUND, _IO, _MEMORY. To be closed also when it fails. */
enum doppel_status pages_open(const char *path, struct pages *out, struct doppel_error *error);
void pages_close(struct pages *pages);

/** @param out of pages->size bytes. @return false when there is no such page */
bool pages_read(const struct pages *pages, uint32_t number, uint8_t *out);

/** Find out which pages the log has. Without one that can be used nothing changes. False: no
 * memory. */
bool pages_read_log(struct pages *pages);

/* ---- pages of trees ---- */

enum page_kind {
    PAGE_KEYS_INNER = 2,
    PAGE_ROWS_INNER = 5,
    PAGE_KEYS_LEAF = 10,
    PAGE_ROWS_LEAF = 13
};

/** Of a table with row ids the rows lie in leaves; of one without, and of an index, in all. */
struct page {
    uint8_t *bytes; /* all of it */
    uint32_t size;
    uint32_t number;
    enum page_kind kind;
    uint32_t cells, first; /* how many; where the array of their places begins */
    uint32_t right;        /* of an inner page: its last child */
};

struct cell {
    uint32_t child; /* of an inner page */
    int64_t id;     /* where there are row ids; of an inner page, the largest below the child */
    uint64_t size;  /* of the record; 0: none */
    const uint8_t *local;          /* its beginning */
    uint32_t local_size, overflow; /* the page with the rest */
};

static inline bool is_inner(enum page_kind kind)
{
    return kind == PAGE_KEYS_INNER || kind == PAGE_ROWS_INNER;
}

static inline bool has_ids(enum page_kind kind)
{
    return kind == PAGE_ROWS_INNER || kind == PAGE_ROWS_LEAF;
}

/** Whether bytes look like a page of a tree. @param out its bytes are borrowed */
bool tree_page_parse(uint8_t *bytes, uint32_t size, uint32_t number, struct page *out);

/** @return false when the cell is none */
bool cell_read(const struct page *page, uint32_t index, struct cell *out);

/* ---- records ---- */

enum { MAX_RECORD_BYTES = MAX_ATTACHMENT_BYTES + 4096, MAX_RECORD_VALUES = 40 };

/** The values of a record; bytes are borrowed from `bytes`. Zero-initialised it is empty. */
struct salvaged_record {
    uint8_t *bytes;
    size_t capacity;
    size_t count;
    struct bound_value values[MAX_RECORD_VALUES];
};

enum record_outcome { RECORD_READ, RECORD_DAMAGED, RECORD_NO_MEMORY };

/** Read the record of a cell, pages of overflow among it. */
enum record_outcome record_of_cell(const struct pages *pages, const struct cell *cell,
                                   struct salvaged_record *record);
void record_free(struct salvaged_record *record);

#endif
