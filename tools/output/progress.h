/* How far a verb is: one line on a terminal, or an object a second for programs:
 * `{"unit":"files","done":1234,"total":10000,"rate":310.2,"eta":28,"errors":3}`. The line: `1 234
 * of 10 000 files · 12 % · 310/s · 4:02 left · 3 errors`; of videos `12 of 40 videos · 3 h 12 min
 * of 9 h 40 min · 2:05 left`, of OCR `3 of 12 files · 37 of 300 pages · 8:12 left`. */
#ifndef DOPPEL_TOOLS_OUTPUT_PROGRESS_H
#define DOPPEL_TOOLS_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How fast something gets on. */
struct pace {
    uint64_t seen; /* at the last sample */
    int64_t sampled_ns;
    double rate; /* a second, smoothed */
};

/* Videos among the files: what counts is how long they are. */
struct video_progress {
    uint64_t done, total;       /* videos; total 0 = not known yet */
    uint64_t done_ms, total_ms; /* total an estimate */
    uint64_t spared_ms;         /* of done_ms: known before, which says nothing of the pace */
};

struct progress {
    FILE *stream; /* NULL: shows nothing */
    bool json;
    const char *unit;
    uint64_t done, total, errors; /* total 0 = not known yet */
    struct video_progress videos;
    uint64_t pages, pages_total; /* that are read by OCR; total 0: none is */
    struct pace pace, video_pace;
    double page_rate; /* a second, since it began: they are too few for a smoothed one */
    int64_t begun_ns, drawn_ns;
    bool visible, updated;
};

/* `enabled` as asked for; no line is shown unless `stream` is a terminal. */
void progress_init(struct progress *progress, FILE *stream, bool enabled, bool json);

/* A new phase of `total` (0 = not known) `unit`s ("files", "pairs"; a literal). */
void progress_begin(struct progress *progress, const char *unit, uint64_t total);
void progress_set_total(struct progress *progress, uint64_t total);

/* Redraws at most ten times a second, of objects once; call it as often as you like. */
void progress_update(struct progress *progress, uint64_t done, uint64_t errors);

/* Say how far the videos are, and the pages that are read by OCR, before an update. */
void progress_set_videos(struct progress *progress, const struct video_progress *videos);
void progress_set_pages(struct progress *progress, uint64_t done, uint64_t total);

/* Take the line away, before other output to the terminal and at the end; an update brings it back.
 */
void progress_clear(struct progress *progress);

/* The last phase has ended: the line is taken away, the last object printed. */
void progress_end(struct progress *progress);

/* The text of the line, bytes in MB; `out` always ends in NUL. */
void progress_format(const struct progress *progress, char *out, size_t size);

#endif
