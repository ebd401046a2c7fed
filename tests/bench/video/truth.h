/* Queries, and what is true of them: queries.tsv as video_edits.py writes it. */
#ifndef BENCH_VIDEO_TRUTH_H
#define BENCH_VIDEO_TRUTH_H

#include "videos.h"

struct truth {
    char *file, *edit, *clip; /**< the query's file; how it was edited; the name of its original */
    bool is_static;           /**< the original is a still picture */
    int scenes;               /**< of the original */
    double a_start, a_end;    /**< the stretch in the query, seconds */
    double b_start, b_end;    /**< in the original */
    double speed;
    bool mirrored;
    char *also;    /**< names of other videos that it shows, too, with commas; "-": none */
    char *amounts; /**< of the edit, to be read by people */
};

struct truths {
    struct truth *list;
    size_t count;
    char *text;
};

/** Read FOLDER/queries.tsv. @param only parts of names of edits, with commas; NULL: all. @return
 * false when it cannot be read, or a line of it */
bool truths_read(struct truths *truths, const char *folder, const char *only);

/** Add the files of the queries, FOLDER/file, in their order. */
void truths_add_files(const struct truths *truths, const char *folder, struct clips *out);

void truths_free(struct truths *truths);

/** Whether a list of names with commas holds one. */
bool named_in(const char *list, const char *name);

#endif
