/* Records that come one by one, as JSON: pushed to a decider as `ingest -` would read them. */
#ifndef DOPPEL_DECIDE_RECORD_LINE_H
#define DOPPEL_DECIDE_RECORD_LINE_H

#include <doppel/decide.h>

struct record_lines; /* of one thread */

/* @param options as of the decider: fields, and whether metadata is ignored; borrowed for its life
 * @param out given (record_lines_free). DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status record_lines_new(const struct doppel_decide_options *options,
                                    struct record_lines **out, struct doppel_error *error);
void record_lines_free(struct record_lines *lines);

/* Push one: an object with a text, the path of a file, which lies where the fields allow, or a code
 * in hexadecimal and its "scheme" (phash64 unless it says another). A number or string is its id.
 *
 * @param line any bytes
 * @param id   of what has none, and is no file
 * @return as doppel_decider_push; DOPPEL_E_FORMAT: it is no record, and why; nothing is pushed */
enum doppel_status record_lines_push(struct record_lines *lines, struct doppel_decider *decider,
                                     const char *line, size_t size, const char *id,
                                     struct doppel_error *error);

#endif
