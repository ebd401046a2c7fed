/* verify --files: whether the files of a library's items are as they were. */
#ifndef DOPPEL_TOOLS_VERBS_VERIFY_FILES_H
#define DOPPEL_TOOLS_VERBS_VERIFY_FILES_H

#include <doppel/library.h>

#include "tools/args/options.h"
#include "tools/output/messages.h"

/* Visit what is wrong with them: "file" problems. DOPPEL_E_CANCELLED, and failures of the library
 */
enum doppel_status verify_files(const struct settings *settings, struct report *report,
                                struct doppel_library *library, doppel_problem_visitor *visitor,
                                void *context, struct doppel_error *error);

#endif
