/* A line of JSON: an object with strings, of any bytes, and numbers. */
#ifndef DOPPEL_CORPUS_READ_JSON_LINE_H
#define DOPPEL_CORPUS_READ_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "corpus/read/warc_header.h"

/* Zero-initialised it is empty. */
struct json_line {
    char *bytes;
    size_t size, capacity;
    bool failed; /* for want of memory */
};

void json_line_begin(struct json_line *line);
/* What is NULL is left out. What is no UTF-8 becomes U+FFFD. */
void json_line_field(struct json_line *line, const char *name, struct byte_span value);
/* @param value a number, true or false, as JSON writes it */
void json_line_literal(struct json_line *line, const char *name, struct byte_span value);
/* With a newline, behind which PARSE_SLACK bytes are readable. */
void json_line_end(struct json_line *line);
void json_line_clear(struct json_line *line);
void json_line_free(struct json_line *line);

#endif
