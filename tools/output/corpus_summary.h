/* What came of a corpus: how many records, how fast, and from which sources. */
#ifndef DOPPEL_TOOLS_OUTPUT_CORPUS_SUMMARY_H
#define DOPPEL_TOOLS_OUTPUT_CORPUS_SUMMARY_H

#include <doppel/corpus.h>

#include "tools/output/decision_output.h"

struct source_share {
    char *name;
    uint64_t records, unique;
};

/* Zero-initialised it is empty. Records without a source count by their file. */
struct corpus_summary {
    void *by_name; /* struct source_share, of tsearch */
    struct source_share *last;
    size_t sources;
    uint64_t others, others_unique; /* of sources beyond those that are counted each */
    int64_t begun_ns;
    const struct doppel_dedup_semantic_summary *semantic; /* borrowed; NULL: there was no stage */
    uint64_t bytes; /* read, of the files as they lie on the disk */
};

void corpus_summary_begin(struct corpus_summary *summary);
void corpus_summary_take(struct corpus_summary *summary,
                         const struct doppel_dedup_decision *decision);
/** On standard error, not with -q: sentences and a table; with --progress json one object. */
void corpus_summary_print(const struct corpus_summary *summary,
                          const struct decision_output *output);
void corpus_summary_free(struct corpus_summary *summary);

#endif
