/* Corpora made for the tests, and what is to be decided of them, the slow and obvious way. */
#ifndef TESTS_CORPUS_DEDUP_ORACLE_H
#define TESTS_CORPUS_DEDUP_ORACLE_H

#include <doppel/corpus.h>

#include "tests/corpus/files.h"

/* A record as it was made; strings are owned, NULL: it has none. */
struct made {
    char *id, *text, *source, *date;
    bool broken; /* its line is no JSON */
};

struct corpus {
    struct made *records;
    size_t count;
};

struct corpus_plan {
    uint64_t seed;
    size_t count;
    size_t templates; /* long passages that many texts share */
    bool same_ids;    /* some ids come again */
    bool short_texts; /* most texts are near min_words */
};

struct corpus corpus_make(const struct corpus_plan *plan);
void corpus_free(struct corpus *corpus);
/* As JSON Lines. */
void corpus_write(const struct corpus *corpus, struct bytes *out);

/* Decisions as lines of text, to be compared; free. */
char *oracle_decide(const struct corpus *corpus, const struct doppel_dedup_options *options);
/* The same of an ingestion, which answers what comes again as it did before. */
char *oracle_ingest(const struct corpus *corpus, const struct doppel_dedup_options *options);
/* What doppel_dedup says, in the same form. */
char *dedup_decide(const struct doppel_dedup_options *options);
/* The same of a corpus that goes on after `before` records. */
char *dedup_decide_after(const struct doppel_dedup_options *options, size_t before);
/* A decision in that form, with numbers of its own for the record (from 0) and for the one that it
 * is linked to (from 1; 0: none). */
void decision_line(struct bytes *out, const struct doppel_dedup_decision *decision, size_t number,
                   size_t of);
/* The same choices for doppel_ingest. */
struct doppel_ingest_options ingest_options(const struct doppel_dedup_options *options);
/* What doppel_ingest says. */
char *ingest_decide(struct doppel_library *library, const struct doppel_dedup_options *options);

/* The first lines that differ are shown. */
void assert_same_lines(const char *got, const char *wanted);

/* Options for these files, with bands as they will be chosen. */
struct doppel_dedup_options dedup_options(const char *const *paths, size_t count);

#endif
