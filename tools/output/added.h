/* What was added to a library, as rows. */
#ifndef DOPPEL_TOOLS_OUTPUT_ADDED_H
#define DOPPEL_TOOLS_OUTPUT_ADDED_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/library.h>

#include "tools/args/options.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"

struct output *added_output(const struct settings *settings, struct report *report);

/* In a table only with -v: adding is quiet when all went well. */
bool added_is_printed(const struct settings *settings);

/* A row, as an object. */
void added_to_json(struct doppel_json *row, uint64_t id, const char *path, enum doppel_added added);

/* Sum up on a terminal, or where nothing was added. @param counts by enum doppel_added */
void added_report(const struct settings *settings, struct report *report,
                  const uint64_t counts[DOPPEL_ADDED_ELSEWHERE]);

#endif
