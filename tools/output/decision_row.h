/* What was decided of a file, as it is printed. */
#ifndef DOPPEL_TOOLS_OUTPUT_DECISION_ROW_H
#define DOPPEL_TOOLS_OUTPUT_DECISION_ROW_H

#include "tools/output/decision_output.h"
#include "decide/file_stream.h"

/* @return false: nobody reads on */
bool decision_row_tell(struct decision_output *output, const struct decided_file *decided_file);

#endif
