/** doppel/report.h: groups of duplicates as one HTML file, with what each member looks like.
 *
 * A report is made once, is given groups, and is written when there are no more. It refers to
 * nothing outside its file; docs/formats.md says what data it holds. */
#ifndef DOPPEL_REPORT_H
#define DOPPEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_report;

/** What is written, and where; all is borrowed for the life of the report. */
struct doppel_report_options {
    const char *output; /**< the HTML file, which appears when it is whole; it takes the place of
                           another report, of nothing else */
    FILE *stream;       /**< written to instead, then `output` is but its name in messages; NULL: to
                           the file */
    const char *const *sources; /**< paths of what the groups were found in, as they are shown */
    size_t source_count;
    bool of_library;    /**< found in a library; else in files */
    bool no_thumbnails; /**< no file is read, nothing is shown of one */
    bool blur;          /**< images and frames are blurred until they are pointed at */
    const char *text_field, *path_field; /**< of records, as they were read; NULL: the defaults */
};

#ifdef __cplusplus
}
#endif
#endif
