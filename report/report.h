/* The page of duplicates: groups in, one HTML file out, with what each member looks like. */
#ifndef DOPPEL_REPORT_REPORT_H
#define DOPPEL_REPORT_REPORT_H

#include "core/array.h"
#include "group/grouping.h"

/* A member as it is looked at. */
struct page_item {
    char *path; /* given */
    struct doppel_digest digest;
    int64_t size, mtime_ns;
    uint8_t reading;           /* of a text */
    bool no_file;              /* the path is a name */
    struct told_record record; /* its path is that of the corpus, "" of a stream */
};

struct page_group {
    json_t *row; /* of 'scan --json', with a digest for each member; given */
    enum doppel_kind kind;
    struct page_item *items; /* in the order of the row's members; given */
    size_t count;
};

/* Zero-initialised, but for settings and report, it is empty. */
struct page {
    const struct settings *settings;
    struct report *report;
    ARRAY(struct page_group) groups;
    struct doppel_text_options text; /* how records were read, where there are some */
};

void page_groups_free(struct page *page);

/* Take a group: a group_sink's. @param context the page */
enum doppel_status page_take_group(void *context, const struct told_group *group,
                                   struct doppel_error *error);

/* Look at the files, and write the page to where the settings say. Files that cannot be looked at
 * are reported. Nothing is left behind on failure. DOPPEL_E_CANCELLED after a signal. */
enum doppel_status page_write(const struct page *page, struct doppel_error *error);

#endif
