/* A catalogue with damaged pages, read row by row: shared by the files of the salvage. */
#ifndef DOPPEL_LIBRARY_SALVAGE_SALVAGE_H
#define DOPPEL_LIBRARY_SALVAGE_SALVAGE_H

#include "core/array.h"
#include "library/salvage/pages.h"
#include "library/verify.h"

enum { MAX_SALVAGE_COLUMNS = 32 };

/** A table of the catalogue, as it is known. */
struct salvage_table {
    const char *name;
    const char *sum;  /* columns that its checksum covers; NULL: it has none */
    const char *into; /* NULL: the table of the same name */
    bool keyed;       /* without row ids */
};

/** A part of a table that cannot be reached: a page that is damaged, or what it led to. */
struct gap {
    int64_t after, last; /* ids, where there are any */
    uint64_t found;      /* rows of it, without what led to them */
};

/** A table on its way into the new catalogue. */
struct rescue {
    const struct salvage_table *table;
    size_t columns, least; /* how many values a record has; fewer where columns came later */
    int id;                /* the column that is the row id; -1: none */
    char types[MAX_SALVAGE_COLUMNS]; /* I, R, T, B */
    bool needed[MAX_SALVAGE_COLUMNS];
    sqlite3_stmt *look;   /* whether a row is as it was written, and the row */
    sqlite3_stmt *insert; /* one that is there stays */
    ARRAY(struct gap) gaps;
    ARRAY(uint32_t) again; /* pages with rows that are not as they were written */
    bool done;             /* its tree was gone through */
    uint64_t rows, strays, aside, lost;
};

/** What is known of a page: nothing; the file's list has it as free; a tree leads to it. */
enum page_use { PAGE_UNKNOWN, PAGE_FREE, PAGE_TAKEN };

/** Tables that are read before all others: where the tables begin, and the counter of ids. */
enum { RESCUE_SCHEMA, RESCUE_SEQUENCE, RESCUE_TABLES };

struct salvage {
    const char *directory;
    doppel_problem_visitor *visitor;
    void *context;
    struct pages pages;
    uint8_t *uses;      /* of each page: enum page_use */
    bool free_unknown;  /* which pages are free cannot be read */
    bool roots_unknown; /* pages of an index may be among the strays */
    struct salvaged_record record;
    struct doppel_store *fresh;
    struct rescue *rescues; /* of the tables, in order */
    size_t count;
    struct aside aside;
    uint64_t uncommitted;
};

extern const struct salvage_table salvage_tables[];
extern const size_t salvage_table_count;

/* ---- tables and their rows ---- */

/** What a table looks like in the new catalogue. To be closed also when it fails. */
enum doppel_status rescue_open(struct salvage *salvage, const struct salvage_table *table,
                               struct rescue *out, struct doppel_error *error);
void rescue_close(struct rescue *rescue);

/** Read the record of a cell into salvage->record, with its id in place.
 * @param out whether it could be one of the table */
enum doppel_status rescue_read(struct salvage *salvage, const struct rescue *rescue,
                               const struct cell *cell, bool *out, struct doppel_error *error);

/** Whether what was read is as it was written; what has no checksum is. */
bool rescue_is_whole(const struct rescue *rescue, const struct salvaged_record *record);

/** Put in what was read. @param out_put false: such a row is there, or the table does not take it
 */
enum doppel_status rescue_put(struct salvage *salvage, struct rescue *rescue, bool *out_put,
                              struct doppel_error *error);

/** Write what was read to damaged.jsonl. */
enum doppel_status rescue_set_aside(struct salvage *salvage, struct rescue *rescue,
                                    struct doppel_error *error);

/* ---- pages and their rows ---- */

/** The page in the form of a tree. @param out its bytes are given (free) @param out_is false: it is
 * none, or not there */
enum doppel_status salvage_page(const struct salvage *salvage, uint32_t number, struct page *out,
                                bool *out_is, struct doppel_error *error);

/** Go through the tree of a table from its root, 0: not known, and copy its rows. */
enum doppel_status salvage_tree(struct salvage *salvage, struct rescue *rescue, uint32_t root,
                                struct doppel_error *error);

/** Rows that were left because they are not as they were written: what is there comes first. */
enum doppel_status salvage_again(struct salvage *salvage, struct rescue *rescue,
                                 struct doppel_error *error);

/** Take the pages of a tree whose rows are not copied. */
enum doppel_status salvage_skip(struct salvage *salvage, uint32_t root, unsigned depth,
                                struct doppel_error *error);

/** Find out which pages are free: what is on them was removed. */
enum doppel_status salvage_free_pages(struct salvage *salvage, struct doppel_error *error);

/** Find where those trees begin of which it is not known, once all others were gone through. */
enum doppel_status salvage_find_roots(struct salvage *salvage, struct doppel_error *error);

/** Copy rows of pages that nothing leads to into tables with gaps. @param only NULL: any table */
enum doppel_status salvage_strays(struct salvage *salvage, struct rescue *only,
                                  struct doppel_error *error);

/** Say what was saved, and what was not. DOPPEL_E_CANCELLED */
enum doppel_status salvage_tell(struct salvage *salvage, struct doppel_error *error);

#endif
