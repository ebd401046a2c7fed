/* doppel report [PATH...] -o PAGE: the groups of duplicates as a page to look at. */
#include "tools/args/commands.h"
#include "group/group_sources.h"
#include "report/report.h"
#include "report/html_file.h"
#include "tools/signals.h"

int cmd_report(const struct settings *settings, struct report *report)
{
    struct doppel_error error = {0};
    struct page page = {.settings = settings, .report = report};
    struct group_sink sink = {page_take_group, &page};
    bool scanned = settings->operands.count || settings->files_from;
    /* Better now than after hours of reading. */
    enum doppel_status status = page_file_try(settings->output, &error);
    if (!status)
        status = scanned ? scan_groups(settings, report, &sink, &error)
                         : library_groups(settings, report, &sink, &error);
    /* A page of a part would be taken for the whole. */
    if (!status && signals_stopped())
        status = DOPPEL_E_CANCELLED;
    if (!status)
        status = page_write(&page, &error);
    if (!status && report->terminal)
        report_notice(report, "%s: %zu group%s", settings->output, page.groups.count,
                      page.groups.count == 1 ? "" : "s");
    page_groups_free(&page);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
