/* A catalogue that is damaged and salvaged, for tests. */
#ifndef TESTS_LIBRARY_SALVAGED_H
#define TESTS_LIBRARY_SALVAGED_H

#include <sqlite3.h>

#include "tests/library/upkeep.h"

enum { ORIGINAL_TABLES = 28, ORIGINAL_BYTES = 1 << 20, ORIGINAL_PAGES = 1024 };

/** The tables that are salvaged, with what the checksum of a row covers; NULL: there is none. */
struct original_table {
    const char *name, *columns;
};
extern const struct original_table original_tables[ORIGINAL_TABLES];

/** Make FOLDER/a/library with rows in all of them, and free pages that hold removed rows.
 * @param page_size of 4096 as doppel makes it; else packed, too */
void original_make(const char *folder, int page_size);

struct owner {
    char name[32]; /* the tree; "": a free page */
    char type;     /* l: leaf, i: inner, o: overflow */
    int cells;
};

struct original {
    char *path, *copy;
    size_t size, page_size, pages;
    uint8_t bytes[ORIGINAL_BYTES], damaged[ORIGINAL_BYTES];
    const uint8_t *log; /* beside the damaged one; NULL: none */
    size_t log_size;
    struct owner owners[ORIGINAL_PAGES + 1];
};

/** A catalogue that was made; skips the test where SQLite lacks dbstat. Given (original_close) */
struct original *original_open(const char *folder, int page_size);
void original_close(struct original *original);

/** A page of `damaged`, from 1. */
uint8_t *original_page(struct original *original, size_t number);

/** By table, rows that are lost, and rows that were not there although they fit their checksum. */
struct outcome {
    struct told told;
    int lost[ORIGINAL_TABLES], wrong[ORIGINAL_TABLES];
    int aside; /* rows in damaged.jsonl */
};

/** Salvage `damaged`, of `size` bytes, and compare. */
struct outcome original_salvage(const char *folder, struct original *original, size_t size);

/** Fails the test unless only rows of `count` pages from `first` on are lost, and none is new but,
 * where a few bytes were changed, such as no checksum guards, or where free pages are not known. */
void assert_saved(const struct original *original, const struct outcome *outcome, size_t first,
                  size_t count, bool bytes, const char *damage);

void write_bytes(const char *path, const uint8_t *bytes, size_t size);
sqlite3 *open_raw(const char *path);

#endif
