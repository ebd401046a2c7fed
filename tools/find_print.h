/* What was found, as rows: of pictures and texts one each, of sounds in tables one each place. */
#ifndef DOPPEL_TOOLS_FIND_PRINT_H
#define DOPPEL_TOOLS_FIND_PRINT_H

#include <doppel/library.h>
#include <doppel/match.h>

#include "tools/options.h"
#include "tools/output.h"
#include "tools/report.h"

struct find_print {
    const struct settings *settings;
    struct doppel_library *library;
    struct output *output;
    bool matched; /* anything was printed that is a match */
};

struct output *find_print_output(const struct settings *settings, struct report *report);

/* Print what was found for a query, in this order; `borderline` ones are near misses. Without any
 * match that is said, too. */
enum doppel_status find_print(struct find_print *print, const char *query,
                              const struct doppel_found *found, size_t count,
                              struct doppel_error *error);

#endif
