/* An item of the library as a row of output. */
#ifndef DOPPEL_TOOLS_OUTPUT_ITEM_ROW_H
#define DOPPEL_TOOLS_OUTPUT_ITEM_ROW_H

#include <jansson.h>

#include <doppel/library.h>

/* id, path, kind, scheme, version, codes, width, height, quality, size, mtime, added, digest. */
json_t *item_row(struct doppel_library *library, const struct doppel_item *item);

/* id, record, path, line, kind, scheme, decision, leader, words, source, date, size, added, digest.
 */
json_t *text_row(const struct doppel_library_text *text);

/* The code of its signature; given (free). */
char *text_code(const struct doppel_library_text *text);

#endif
