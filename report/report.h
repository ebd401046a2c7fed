/** doppel/report.h: groups of duplicates as one HTML file, with what each member looks like; and
 * two files that match as a chart.
 *
 * A report is made once, is given groups, and is written when there are no more. It refers to
 * nothing outside its file; docs/formats.md says what data it holds. */
#ifndef DOPPEL_REPORT_H
#define DOPPEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <doppel/core.h>
#include <doppel/corpus.h>
#include <doppel/group.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/run.h>

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
    const char *folder; /**< to which relative paths of members belong, absolute; NULL: not known */
    const char *action; /**< the page is served, and what is marked there can be done by it:
                           "trash", "move-to"; NULL: it is a file, which does nothing */
    bool of_library;    /**< found in a library; else in files */
    bool no_thumbnails; /**< no file is read, nothing is shown of one */
    bool blur;          /**< images and frames are blurred until they are pointed at */
    struct doppel_corpus_fields fields; /**< of records, as they were read; zeros: the defaults */
};

/**
 * Begin a report. Whether its file can be written is looked at now: better than after hours of
 * reading.
 *
 * @param run     borrowed for the life of the report
 * @param out     given (doppel_report_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT when another program's file is in its place, or there is
 * none to write; DOPPEL_E_IO; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_report_new(struct doppel_run *run,
                                                const struct doppel_report_options *options,
                                                struct doppel_report **out,
                                                struct doppel_error *error);
DOPPEL_API void doppel_report_free(struct doppel_report *report);

/** Add a group: a doppel_group_visitor.
 * @param report the struct doppel_report. @param group copied. DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_report_take(void *report, const struct doppel_group *group,
                                                 struct doppel_error *error);

/** Add texts that mean the same: a doppel_group_link_visitor. They stand below the groups, and
 * cannot be marked.
 * @param report the struct doppel_report. @param link copied. DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_report_take_link(void *report,
                                                      const struct doppel_group_link *link,
                                                      struct doppel_error *error);

/** How many groups were added. */
DOPPEL_API size_t doppel_report_count(const struct doppel_report *report);

/**
 * Preview the files of all groups, and write the HTML file. A file that cannot be previewed is
 * reported to the run as an input that failed; the report says why in its place. On failure nothing
 * is left behind.
 *
 * @return DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED
 */
DOPPEL_API enum doppel_status doppel_report_write(const struct doppel_report *report,
                                                  struct doppel_error *error);

/* ---- previews ---- */

/**
 * What the members of a group look like, each as a report shows it beside the first: an object is
 * appended, as `looks-N` of docs/formats.md. Of a file that is not there any more, or has changed,
 * it has a sentence; nothing is reported to the run.
 *
 * @param run    whose workers read the files
 * @param group  of its members count path, size, mtime, digest, duration, reading, record and the
 *               segments of the match; borrowed
 * @param pixels longest side of an image, at most
 * @return DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED; what starting a worker returns
 *
 * Thread-safe for different `json`.
 */
DOPPEL_API enum doppel_status doppel_previews_to_json(struct doppel_run *run,
                                                      const struct doppel_group *group,
                                                      uint32_t pixels, struct doppel_json *json,
                                                      struct doppel_error *error);

/* ---- charts ---- */

/** A file that was compared; all is borrowed for the call. */
struct doppel_chart_side {
    const char *path; /**< any bytes; its end is shown */
    const struct doppel_record *record;
    const struct doppel_file_stamp *stamp; /**< frames are shown while the file has it */
};

struct doppel_chart_options {
    const char *output; /**< the SVG file */
    bool thumbnails;    /**< frames of videos are shown beside the lines; default false */
};

/**
 * Draw what two recordings, or two videos, share: peaks one above the other, or time against time.
 *
 * @param sides   the query, the item
 * @param match   of the two; without segments it is drawn that nothing is shared
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT for other kinds; DOPPEL_E_IO; DOPPEL_E_MEMORY;
 * DOPPEL_E_CORRUPT when a record is damaged; DOPPEL_E_CANCELLED
 */
DOPPEL_API enum doppel_status doppel_chart_match(struct doppel_run *run,
                                                 const struct doppel_chart_side sides[2],
                                                 const struct doppel_match *match,
                                                 const struct doppel_chart_options *options,
                                                 struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
