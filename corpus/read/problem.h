/* What is wrong with a line, in a sentence. */
#ifndef DOPPEL_CORPUS_READ_PROBLEM_H
#define DOPPEL_CORPUS_READ_PROBLEM_H

#include <doppel/core.h>

#include "corpus/read/parse.h"

/** DOPPEL_OK for JSON_FINE, and for JSON_BAD_UTF8, which texts are cleaned of. */
enum doppel_status problem_explain(enum json_problem problem, const char *line, size_t size,
                                   struct doppel_error *error);

#endif
