/* Decisions about records as JSON, fast: a corpus has millions of them. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H

#include <stddef.h>

#include <jansson.h>

#include <doppel/corpus.h>

/* Text that grows; zero-initialised it is empty. */
struct decision_text {
    char *bytes;
    size_t size, capacity;
};

void decision_text_free(struct decision_text *text);

/** Append a decision as a JSON object (docs/formats.md has its fields), without a newline. */
void decision_append(struct decision_text *text, const struct doppel_dedup_decision *decision);

/** Append the line of a decision as it is. */
void decision_append_line(struct decision_text *text, const struct doppel_dedup_decision *decision);

/** Append some JSON, or bytes. */
void decision_append_json(struct decision_text *text, const json_t *value);
void decision_append_bytes(struct decision_text *text, const char *bytes, size_t size);

/** Append a newline. */
void decision_end_line(struct decision_text *text);

/** Append the line of a decision with the decision added as "doppel". */
void decision_append_annotated(struct decision_text *text,
                               const struct doppel_dedup_decision *decision);

#endif
