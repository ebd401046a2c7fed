/* Single records in JSON, pushed to a decider as `ingest -` reads them. */
#ifndef DOPPEL_DECIDE_RECORD_LINE_H
#define DOPPEL_DECIDE_RECORD_LINE_H

#include <doppel/decide.h>

struct record_lines; /* of one thread */

/* @param options as of the decider: fields, and whether metadata is ignored; borrowed for its life
 * @param out given (record_lines_free). DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status record_lines_new(const struct doppel_decide_options *options,
                                    struct record_lines **out, struct doppel_error *error);
void record_lines_free(struct record_lines *lines);

/* Push one: a JSON object with a text, the path of a file in a folder that the fields allow, or a
 * "code" in hexadecimal with its "scheme" (default: phash64). Its id is a number or a string.
 *
 * @param line any bytes
 * @param id   of a text or code that has none, or an empty one
 * @return as doppel_decider_push; DOPPEL_E_FORMAT: it is not a record, with the reason; nothing is
 * pushed */
enum doppel_status record_lines_push(struct record_lines *lines, struct doppel_decider *decider,
                                     const char *line, size_t size, const char *id,
                                     struct doppel_error *error);

#endif
