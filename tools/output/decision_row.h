/* What was decided of a file, as it is printed. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_ROW_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_ROW_H

#include <doppel/corpus.h>

#include "tools/output/decision_output.h"
#include "decide/file_decider.h"

/* @param record that names the file; NULL: none does. @return false: nobody reads on */
bool decision_row_tell(struct decision_output *output, const struct intake_file *file,
                       const struct doppel_ingest_file *record,
                       const struct file_decision *decision);

#endif
