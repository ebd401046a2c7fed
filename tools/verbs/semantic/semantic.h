/* The stage of vectors, as the command gives it to the engine. */
#ifndef DOPPEL_TOOLS_VERBS_SEMANTIC_SEMANTIC_H
#define DOPPEL_TOOLS_VERBS_SEMANTIC_SEMANTIC_H

#include <doppel/corpus.h>

#include "tools/args/options.h"
#include "tools/verbs/semantic/embedder.h"

struct semantic_stage {
    struct embedder_of_run source; /* nothing is open: there is no such stage */
    struct doppel_dedup_semantic options;
    struct doppel_dedup_hand_off hand_off;
    struct doppel_dedup_semantic_summary summary;
};

/* Open what embeds, where --semantic is given. @param stage stays where it is until it is closed */
enum doppel_status semantic_stage_open(const struct settings *settings, struct report *report,
                                       struct semantic_stage *stage, struct doppel_error *error);
void semantic_stage_close(struct semantic_stage *stage);

/* NULL: there is no such stage. */
const struct doppel_dedup_semantic *semantic_stage_options(const struct semantic_stage *stage);

/* What came of it; and what to do where nothing could. Before it is closed. */
void semantic_stage_print(const struct semantic_stage *stage, struct report *report);

#endif
