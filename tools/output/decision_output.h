/* What the verbs of corpora print: a decision a line, or the lines themselves. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_OUTPUT_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_OUTPUT_H

#include "tools/output/decision_writer.h"
#include "tools/args/options.h"

struct report;

enum { DECISIONS = DOPPEL_DECISION_IGNORED + 1 };

struct decision_output {
    const struct settings *settings;
    struct report *report;
    struct output *output;                 /* of tables and CSV; else NULL */
    struct doppel_json text;               /* held back */
    struct doppel_corpus_outputs *outputs; /* where lines go; NULL: to standard output */
    struct doppel_stage_output *part;      /* or there */
    enum doppel_corpus_format format;      /* of the lines */
    struct doppel_json head;               /* of the first input that goes to standard output */
    char *first;                           /* its path; NULL: none has begun */
    uint64_t counts[DECISIONS], unique;    /* of records, or files that are decided about */
    uint64_t unread_inputs;                /* files of records */
    uint64_t same_ids;                     /* whose id is that of something else, too */
    uint64_t matched;                      /* that have something to do with what came before */
    bool failed;                           /* to write */
};

/** Of files that a service decides about: rows as --format says, else JSON Lines. */
struct output *decision_rows(const struct settings *settings, struct report *report);

/** @return false, with a sentence, when what is asked for does not go together */
bool decision_output_begin(struct decision_output *output, const struct settings *settings,
                           struct report *report);

/** The lines that follow are of this input. @return false when what is held back, or its head,
 * could not be written */
bool decision_output_begin_input(struct decision_output *output,
                                 const struct doppel_corpus_input *input);

/** Count a decision, whose line is written already. What cannot be read is reported. */
void decision_output_count(struct decision_output *output, const struct doppel_decided *decided);

/** Count a decision, and write its line. @return false when it could not be written */
bool decision_output_put(struct decision_output *output, const struct doppel_decided *decided);

/** Write what is held back. @return false when it could not be */
bool decision_output_flush(struct decision_output *output);

/** How many records or files were decided about. */
uint64_t decision_output_total(const struct decision_output *output);

/** "10 records, 7 new, 3 duplicate; 7 unique". */
void decision_output_describe(const struct decision_output *output, char *out, size_t size);

/** Write the rest, sum up with -v and on terminals, and free. @param ended the run came to its end,
 * or was stopped. @return false when something could not be written */
bool decision_output_finish(struct decision_output *output, bool ended);

#endif
