/* A report that acts: its page, served to the browser of this machine, has what was marked done,
 * and undone. */
#ifndef DOPPEL_TOOLS_SERVE_REPORT_SERVER_H
#define DOPPEL_TOOLS_SERVE_REPORT_SERVER_H

#include "tools/output/groups/groups.h"

/* What is served. */
struct served_report {
    const struct settings *settings; /* how it is acted */
    struct report *report;
    group_source *source;
    char *page; /* HTML; borrowed */
    size_t page_size;
};

/* Print the address, and serve until a signal ends it. */
enum doppel_status serve_report(const struct served_report *served, struct doppel_error *error);

#endif
