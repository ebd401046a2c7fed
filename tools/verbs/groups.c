/* doppel groups: the duplicate groups in the library. */
#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/output/groups.h"
#include "tools/remote/remote.h"

enum doppel_status library_groups(const struct settings *settings, struct report *report,
                                  doppel_group_visitor *visit, void *context,
                                  struct doppel_group_counts *counts, struct doppel_error *error)
{
    struct doppel_item_set wanted = {0};
    struct doppel_library *library;
    struct settings adopted = *settings;
    enum doppel_status status = open_library(settings, false, true, &library, error);
    if (status)
        return status;
    adopt_schemes(&adopted, library, report);
    struct doppel_group_options options = group_options_from(&adopted);
    options.wanted = &wanted;
    status = filter_library(settings, library, &wanted, error);
    if (!status)
        status = read_marks(settings, &options.marks, error);
    if (!status)
        status =
            doppel_library_groups(report->run, library, &options, visit, context, counts, error);
    doppel_marks_free(options.marks);
    doppel_item_set_free(&wanted);
    doppel_library_close(library);
    return status;
}

int cmd_groups(const struct settings *settings, struct report *report)
{
    if (settings->server)
        return remote_list(settings, report, "/v1/groups?limit=1000", "groups",
                           groups_output(settings, report));
    return print_groups_of(library_groups, settings, report);
}
