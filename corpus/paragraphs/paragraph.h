/* Where the paragraphs of a text begin and end. */
#ifndef DOPPEL_CORPUS_PARAGRAPHS_PARAGRAPH_H
#define DOPPEL_CORPUS_PARAGRAPHS_PARAGRAPH_H

#include <stdbool.h>
#include <stddef.h>

struct paragraph {
    const char *bytes; /* without the newline at its end */
    size_t size;
    size_t gap; /* bytes between the paragraph before, or the beginning of the text, and this one */
};

struct paragraph_cutter {
    const char *at, *end;
    bool by_lines;
};

/** Begin: paragraphs stand between empty lines, which are those without a letter or digit (rules of
 * dashes too). In a text without empty lines each line is a paragraph. @param text borrowed */
void paragraphs_begin(struct paragraph_cutter *cutter, const char *text, size_t size);

/** The next paragraph; false at the end. */
bool paragraphs_next(struct paragraph_cutter *cutter, struct paragraph *out);

#endif
