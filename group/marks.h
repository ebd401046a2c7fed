/* Marks: what a person decided in a report. The one reader of their lines; and all marks of a file,
 * looked up by the bytes of files, their paths as hints. */
#ifndef DOPPEL_GROUP_MARKS_H
#define DOPPEL_GROUP_MARKS_H

#include <doppel/group.h>

#include "group/manual_labels.h"

/* What a line says: of a file, or of two. */
enum mark_word { MARK_KEEP, MARK_REMOVE, MARK_LEAVE, MARK_SAME, MARK_DISTINCT };

/* A file that a line names. */
struct named_file {
    char *path; /* any bytes; NULL: not given */
    bool has_digest;
    struct doppel_digest digest;
};

/* A line; docs/formats.md says what it looks like. */
struct mark_line {
    enum mark_word word;
    char *note;             /* NULL: none */
    struct named_file a, b; /* `b` of two */
    ARRAY(struct named_file) over;
};

/* Read a line of JSON. @param out given (mark_line_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT with a sentence, for what is no mark; DOPPEL_E_MEMORY */
enum doppel_status mark_line_read(const char *line, size_t size, struct mark_line *out,
                                  struct doppel_error *error);
void mark_line_free(struct mark_line *line);

/* The manual labels among the marks: borrowed. */
const struct manual_labels *marks_labels(const struct doppel_marks *marks);

/* A file is there: what is said of its bytes has found its file. All files are noted before the
 * first is looked up. */
void marks_note_file(struct doppel_marks *marks, const struct doppel_digest *digest,
                     const char *path);

/* What is decided about a file: by the mark with its bytes and path; else by those with its bytes
 * whose own paths are not there, rather to keep it. */
enum doppel_file_mark marks_find(const struct doppel_marks *marks,
                                 const struct doppel_digest *digest, const char *path);

/* Report to the run, as a failed input, the marks whose files are not there.
 * @param pairs also of marks of two, which may be of records */
void marks_report_missing(const struct doppel_marks *marks, bool pairs, struct doppel_run *run);

#endif
