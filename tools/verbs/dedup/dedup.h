/* What 'doppel dedup' and its stages have in common. */
#ifndef DOPPEL_TOOLS_VERBS_DEDUP_DEDUP_H
#define DOPPEL_TOOLS_VERBS_DEDUP_DEDUP_H

#include "tools/output/clusters.h"
#include "tools/output/corpus_summary.h"
#include "tools/output/decision_output.h"
#include "tools/verbs/semantic/semantic.h"

struct dedup_command {
    const struct settings *settings;
    struct report *report;
    struct decision_output output;
    struct clusters clusters;
    struct corpus_summary summary;
    struct doppel_text_looks looks; /* of the texts */
    struct doppel_dedup_options options;
    struct semantic_stage semantic;
};

/** A doppel_dedup_visitor: count, and print. @param context a struct dedup_command */
bool take_corpus_decision(void *context, const struct doppel_dedup_decision *decision);

/** What --stage asks for. @return the exit code */
int run_dedup_stage(struct dedup_command *command);

#endif
