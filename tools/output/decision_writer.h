/* Inputs with what was decided about them. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H

#include <doppel/decide.h>

/** The line of a record, or the record of a file, with the decision added as "doppel". */
void decision_write_annotated(struct doppel_json *json, const struct doppel_decided *decided);

/** The input as it came: the line of a record; of a file without an id its path, else its record.
 */
void decision_write_input(struct doppel_json *json, const struct doppel_decided *decided);

#endif
