/* doppel scan PATH...: the groups of duplicates among the files under PATHs; needs no library. */
#include <stdlib.h>

#include "intake/walk.h"
#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/memory.h"
#include "tools/output/groups.h"

/* References come first: they lead the groups that they are in. */
static struct strings reference_then_operands(const struct settings *settings)
{
    size_t references = settings->reference.count;
    struct strings paths = {.count = references + settings->operands.count};
    paths.items = must_allocate((paths.count + 1) * sizeof *paths.items);
    for (size_t i = 0; i < paths.count; i++)
        paths.items[i] = i < references ? settings->reference.items[i]
                                        : settings->operands.items[i - references];
    return paths;
}

enum doppel_status scan_groups(const struct settings *settings, struct report *report,
                               doppel_group_visitor *visit, void *context,
                               struct doppel_group_counts *counts, struct doppel_error *error)
{
    struct doppel_walk_options walk = walk_options_from(settings);
    struct doppel_read_options read = read_options_from(settings);
    struct doppel_group_options options = group_options_from(settings);
    char *library = library_directory(settings);
    struct strings all = reference_then_operands(settings);
    const struct doppel_scan_paths paths = {all.items, all.count, settings->reference.count};
    options.walk = &walk;
    options.read = &read;
    options.library = library;
    enum doppel_status status = read_marks(settings, &options.marks, error);
    if (!status)
        status = doppel_scan(report->run, &paths, &options, visit, context, counts, error);
    doppel_marks_free(options.marks);
    free(library);
    free(all.items);
    return status;
}

int cmd_scan(const struct settings *settings, struct report *report)
{
    return print_groups_of(scan_groups, settings, report);
}
