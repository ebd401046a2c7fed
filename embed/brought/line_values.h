/* The vector and the id of a line of JSON: what simdjson is used for. */
#ifndef DOPPEL_EMBED_LINE_VALUES_H
#define DOPPEL_EMBED_LINE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum line_id { LINE_ID_NONE, LINE_ID_TEXT, LINE_ID_NUMBER, LINE_ID_OTHER };

struct line_values {
    size_t dimension;
    float *vector;  /* of the parser, as the id's text */
    double largest; /* of its numbers without their signs, before they are floats */
    enum line_id id;
    const char *text;
    size_t text_size; /* it may hold NULs */
    int64_t number;
};

struct line_parser;                        /* of one thread */
struct line_parser *line_parser_new(void); /* NULL without memory */
void line_parser_free(struct line_parser *parser);

/* Parse a line, whole. @param out valid until the next; the first of equal names counts
 * @return what is wrong with it, static storage; NULL: nothing; "" without memory */
const char *line_parser_parse(struct line_parser *parser, const char *line, size_t size,
                              struct line_values *out);

#ifdef __cplusplus
}
#endif

#endif
