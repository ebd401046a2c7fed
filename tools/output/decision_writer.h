/* Decisions about records as JSON: a corpus has millions of them. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H

#include <doppel/corpus.h>
#include <doppel/json_writer.h>

/** A decision as an object (docs/formats.md has its fields), without a newline. */
void decision_write(struct doppel_json *json, const struct doppel_dedup_decision *decision);

/** The line of a decision with the decision added as "doppel". */
void decision_write_annotated(struct doppel_json *json,
                              const struct doppel_dedup_decision *decision);

#endif
