/* doppel compact: give back the space of what was removed. */
#include <stdlib.h>

#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "tools/output/output.h"
#include "tools/args/paths.h"

static const struct column columns[] = {
    {"before", "before", CELL_SIZE},
    {"after", "after", CELL_SIZE},
    {"saved", "saved", CELL_SIZE},
};
static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* The copy that is made meanwhile is as private as the library, and needs the same room. */
static void copy_in_library(const struct settings *settings)
{
    char *directory = library_directory(settings);
    if (directory)
        setenv("SQLITE_TMPDIR", directory, 0);
    free(directory);
}

int cmd_compact(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    struct doppel_library *library;
    uint64_t before = 0, after = 0;
    copy_in_library(settings);
    if (open_library(settings, false, false, &library, &error))
        return report_fatal(report, "%s", error.message);
    enum doppel_status status = doppel_library_compact(library, &before, &after, &error);
    doppel_library_close(library);
    if (status)
        return report_fatal(report, "%s", error.message);
    struct output *output = output_new(settings, &layout, report);
    struct doppel_json *row = output_begin(output);
    doppel_json_integer(row, "before", before);
    doppel_json_integer(row, "after", after);
    doppel_json_integer(row, "saved", before > after ? before - after : 0);
    output_end(output);
    bool written = output_finish(output);
    if (after > before)
        report_notice(report,
                      "%llu bytes more than before: what waited in the log of an index is in "
                      "a segment now, as something was removed",
                      (unsigned long long)(after - before));
    return written ? EXIT_DONE : EXIT_WRONG_USE;
}
