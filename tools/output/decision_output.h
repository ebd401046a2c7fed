/* What the verbs of corpora print: a decision a line, or the lines themselves. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_OUTPUT_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_OUTPUT_H

#include "tools/output/decision_writer.h"
#include "tools/args/options.h"

struct report;

enum { DECISIONS = DOPPEL_DECISION_CONFLICT + 1 };

struct decision_output {
    const struct settings *settings;
    struct report *report;
    struct output *output;   /* of tables and CSV; else NULL */
    struct doppel_json text; /* held back */
    uint64_t counts[DECISIONS], unique;
    uint64_t same_ids; /* whose id is that of something else, too */
    uint64_t matched;  /* that have something to do with what came before */
    bool failed;       /* to write */
};

/** @return false, with a sentence, when what is asked for does not go together */
bool decision_output_begin(struct decision_output *output, const struct settings *settings,
                           struct report *report);

/** A doppel_dedup_visitor; `context` is the output. What cannot be read is reported. */
bool decision_output_take(void *context, const struct doppel_dedup_decision *decision);

/** What was decided of a file. */
struct decided_row {
    enum doppel_decision decision;
    bool unique, matched, same_id, is_path; /* is_path: it was named by its path alone */
    const char *path, *reason;
    struct doppel_json row;   /* taken: the decision */
    struct doppel_json input; /* taken: the record without it; with the decision, where
                                 lines are annotated. Empty when only decisions are printed */
};

/** The same of a file. @return false when it could not be written */
bool decision_output_row(struct decision_output *output, struct decided_row *decided);

/** Write what is held back. @return false when it could not be */
bool decision_output_flush(struct decision_output *output);

/** Write the rest, sum up with -v and on terminals, and free. @param ended the run came to its end,
 * or was stopped. @return false when something could not be written */
bool decision_output_finish(struct decision_output *output, bool ended);

/** The names of the fields of records. */
struct doppel_corpus_fields corpus_fields_from(const struct settings *settings);

/** How the texts of records are read. */
struct doppel_text_options corpus_text_from(const struct settings *settings);

/** Whether something was said about that, or about the limits. */
bool corpus_text_is_given(const struct settings *settings);

/** The limits of a match of texts. */
struct doppel_text_limits corpus_limits_from(const struct settings *settings);

/** Bands and their rows; 0: by the limit. The preset's are for its own limit and lanes. */
void corpus_bands_from(const struct settings *settings, uint32_t *out_bands, uint32_t *out_rows);

#endif
