/* Inputs with what was decided about them. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_WRITER_H

#include <doppel/decide.h>

/** The line of a record, or the record of a file, with the decision added as "doppel". */
void decision_write_annotated(struct doppel_json *json, const struct doppel_decided *decided);

/** The row of a record of CSV, or TSV, with cells for what decision_write_row_names writes; one
 * that could not be read, as it is. */
void decision_write_annotated_row(struct doppel_json *json, const struct doppel_decided *decided,
                                  char separator);

/** The first row of such a file, with the names of more columns. */
void decision_write_row_names(struct doppel_json *json, const struct doppel_corpus_input *input);

/** The input as it came: the line of a record; of a file without an id its path, else its record.
 */
void decision_write_input(struct doppel_json *json, const struct doppel_decided *decided);

#endif
