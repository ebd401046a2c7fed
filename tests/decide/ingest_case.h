/* A corpus and a library on the disk, for the tests of ingest. */
#ifndef TESTS_DECIDE_INGEST_CASE_H
#define TESTS_DECIDE_INGEST_CASE_H

#include "tests/corpus/dedup_oracle.h"

enum { STORY_ITEMS = 1000 };

struct ingest_case {
    struct corpus corpus;
    char *folder, *path, *library; /* the corpus, in the folder; the library's directory */
    const char *paths[1];
    unsigned written; /* corpora */
    struct doppel_dedup_options options;
};

/* @param plan NULL: no corpus yet */
void case_begin(const struct corpus_plan *plan, struct ingest_case *made);
void case_end(struct ingest_case *made);

/* Given (doppel_library_close); the test fails where it cannot be opened. */
struct doppel_library *case_open(const struct ingest_case *made);
struct doppel_library *case_open_read_only(const struct ingest_case *made);
void case_remove_library(const struct ingest_case *made);

/* Write these records, or lines, as the corpus: in a file of its own each time, so that what was
 * ingested can be read again. */
void case_write(struct ingest_case *made, size_t first, size_t count);
void case_write_text(struct ingest_case *made, const char *lines);

/* The file of a text as `add` remembers it, read with the options of the case. @return its id */
uint64_t case_add_file(const struct ingest_case *made, struct doppel_library *library,
                       const char *name, const char *text);

/* Decisions of one corpus that is ingested in pieces, in the form of the oracle. */
struct story {
    struct bytes out;
    bool check, alone; /* only asked; each is told as the next one, and not remembered here */
    size_t count;      /* records told, or files added */
    uint64_t items[STORY_ITEMS]; /* of the records, by number */
};

/* Ingest the corpus of the case as it lies there; what is said joins the story. */
void story_ingest(struct story *story, const struct ingest_case *made,
                  struct doppel_library *library);
/* A file came in as the next item; nothing is told. */
void story_add(struct story *story, uint64_t item);

/* Run SQL past the rooms. */
void case_run_sql(const struct ingest_case *made, const char *sql);

#endif
