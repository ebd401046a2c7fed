/* How plain text is written of HTML and Markdown: white space collapsed, blocks apart. */
#ifndef DOPPEL_TEXT_PLAIN_H
#define DOPPEL_TEXT_PLAIN_H

#include "text/text_internal.h"

/* What stands between the last text and the next: the widest that was asked for. */
enum gap { GAP_NONE, GAP_SPACE, GAP_LINE, GAP_PARAGRAPH };

struct plain_writer {
    struct plain_text *out;
    enum gap gap;
    bool failed; /* no memory: nothing is written any more */
};

void plain_gap(struct plain_writer *writer, enum gap gap);

/** Text whose white space means no more than a gap. */
void plain_flow(struct plain_writer *writer, const char *bytes, size_t size);

/** Text as it stands: preformatted. */
void plain_verbatim(struct plain_writer *writer, const char *bytes, size_t size);

/** DOPPEL_OK, or DOPPEL_E_MEMORY with its sentence. */
enum doppel_status plain_end(const struct plain_writer *writer, struct doppel_error *error);

#endif
