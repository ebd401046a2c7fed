/* An HTML file of ours: blocks of data in it, and what it may take the place of. */
#ifndef DOPPEL_REPORT_HTML_FILE_H
#define DOPPEL_REPORT_HTML_FILE_H

#include "core/json_writer.h"
#include "core/files/output_file.h"

/** Whether it could be written, before there is anything to write. DOPPEL_E_ARGUMENT: somebody
 * else's file is there; DOPPEL_E_IO, DOPPEL_E_MEMORY. */
enum doppel_status html_file_try(const char *path, struct doppel_error *error);

/** A block of data that no browser takes for anything else, whatever its strings hold. */
void html_file_put_json(FILE *stream, const char *id, const struct doppel_json *json);

#endif
