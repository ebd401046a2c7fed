/* What the files of the monitor share: lines, along which items lie in a stream (monitor_line.c),
 * and the items that are heard (monitor_heard.c). */
#ifndef DOPPEL_MATCH_MONITOR_MONITOR_INTERNAL_H
#define DOPPEL_MATCH_MONITOR_MONITOR_INTERNAL_H

#include "match/audio/audio_internal.h"
#include "match/audio/view.h"

enum {
    MONITOR_STEPS_SECOND =
        DOPPEL_AUDIO_RATE * DOPPEL_AUDIO_TIME_STEPS / DOPPEL_AUDIO_HOP, /* 689.06, rounded down */
    MONITOR_LINES = 6,  /* of one item: loops lie along several */
    MONITOR_HEARD = 32, /* items at once */
};

/* The last seconds of the stream: times of peaks count from `base`. Steps of the stream are 64
 * bits. */
struct monitor_tail {
    uint64_t base;
    struct doppel_audio_peak *peaks;
    size_t count, capacity;
};

/* Where an item lies in the stream, and whether it is heard there: the better of two stories of the
 * peaks so far, one that ends with the item heard, one that ends without. */
struct monitor_line {
    uint64_t anchor; /* step of the stream */
    double at;       /* the item's time there, in steps */
    double speed, pitch;
    double share;       /* of the stream's peaks that are the item's, while it is heard */
    uint64_t begun;     /* followed from here */
    uint64_t seen;      /* followed up to here */
    uint64_t last_peak; /* of the stream, before `seen` */
    double on, off;     /* ln of the odds of the two stories */
    uint64_t on_since;  /* in the one: where it began to be heard */
    struct {
        double peaks, met, chance; /* of the stream's peaks; met; that chance would meet */
    } run;                         /* since on_since */
    uint64_t off_since;            /* in the other: where it was heard last */
    bool member;                   /* heard as long as the item is */
    double item_start;             /* the time of the item where it was heard first, in steps */
    struct item_view view;
};

void line_begin(struct monitor_line *line, const struct alignment *alignment,
                const struct monitor_tail *tail, struct item_view view);
void line_end(struct monitor_line *line);
bool line_is_on(const struct monitor_line *line);

/* Follow it again from where it began, with the share of the peaks that its run had: tells better
 * where that began. */
void line_resume(struct monitor_line *line);

/* It is on, and has been long enough since `from` that it is more than a few notes. */
bool line_is_sure(const struct monitor_line *line, uint64_t from);

/* Go on where an alignment of the tail says. */
void line_move(struct monitor_line *line, const struct alignment *alignment,
               const struct monitor_tail *tail);
double line_item_time(const struct monitor_line *line, uint64_t step);

/* Go on with the peaks of the tail up to `until`. False when the item's peaks cannot be had any
 * more; `*out_status` as view_cover. */
bool line_follow(struct monitor_line *line, uint64_t id, const struct monitor_tail *tail,
                 uint64_t until, enum doppel_status *out_status);

/* An item that is heard. */
struct monitor_heard {
    uint64_t id;
    uint64_t start;                   /* step of the stream */
    double rate;                      /* the lowest so far */
    struct doppel_monitor_event told; /* how its start was reported */
    struct monitor_line lines[MONITOR_LINES];
    size_t count;
};

/* What became of an item. */
enum heard_state {
    HEARD_STILL,
    HEARD_ENDED,  /* for some time now */
    HEARD_JUMPED, /* it goes on from another place */
    HEARD_LOST    /* its peaks cannot be had any more */
};

/* Begin with one line, which is sure. @param line taken */
void heard_begin(struct monitor_heard *heard, uint64_t id, const struct monitor_line *line,
                 double rate);
void heard_end(struct monitor_heard *heard);

/* Whether an alignment lies on a line of it; a line that was lost goes on from there if it is near.
 */
bool heard_has(struct monitor_heard *heard, const struct alignment *alignment,
               const struct monitor_tail *tail, uint64_t now);

/* Another line of it. @param line taken */
void heard_add(struct monitor_heard *heard, const struct monitor_line *line);

enum heard_state heard_follow(struct monitor_heard *heard, const struct monitor_tail *tail,
                              uint64_t until, enum doppel_status *out_status);

/* The line that it was heard on last, or is. */
const struct monitor_line *heard_last(const struct monitor_heard *heard);

/* Where it ends: step of the stream. */
uint64_t heard_until(const struct monitor_heard *heard);

/* Of HEARD_JUMPED: go on from the other place. */
void heard_jump(struct monitor_heard *heard);

#endif
