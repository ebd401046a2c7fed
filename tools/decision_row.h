/* What was decided of a file, as it is printed. */
#ifndef DOPPEL_TOOLS_DECISION_ROW_H
#define DOPPEL_TOOLS_DECISION_ROW_H

#include <doppel/corpus.h>

#include "tools/decision_output.h"
#include "tools/file_decider.h"

/* @param record that names the file; NULL: none does. @return false: nobody reads on */
bool decision_row_tell(struct decision_output *output, const struct intake_file *file,
                       const struct doppel_ingest_file *record,
                       const struct file_decision *decision);

#endif
