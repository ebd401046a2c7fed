/* What the files of the monitor share: lines, along which items lie in a stream (line.c), the items
 * that are heard (heard.c), and what of them is told (events.c). */
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
    double rate;        /* of the alignment that it began with */
    double share;       /* of the stream's peaks that are the item's, while it is heard */
    double recent;      /* the same, of the last seconds, whatever they hold */
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

/* Up to where it is certain that it was heard: no peaks to come can say otherwise. */
uint64_t line_certain(const struct monitor_line *line);

/* An item that is heard. */
struct monitor_heard {
    uint64_t id;
    uint64_t start;                   /* step of the stream */
    double rate;                      /* the lowest so far */
    bool is_told;                     /* its start was reported: */
    uint64_t from;                    /* as this step */
    struct doppel_monitor_event told; /* and so */
    uint64_t certain;                 /* it was heard up to here, at least */
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

/* What was told lately: what is heard of it again was told. */
struct monitor_ended {
    uint64_t id, until;
};

struct doppel_monitor {
    const struct doppel_recordings *recordings;
    struct doppel_audio_options options;
    uint64_t min_event; /* steps */
    bool overlaps;
    struct monitor_tail tail;
    uint64_t next_look, number; /* step of the stream; looks so far */
    uint64_t known;             /* up to here */
    struct monitor_heard heard[MONITOR_HEARD];
    size_t count;
    struct monitor_ended ended[MONITOR_HEARD]; /* the last ones, in a ring */
    size_t ended_next;
    uint64_t told_until;             /* the end of the last that was told */
    doppel_monitor_visitor *visitor; /* during a call */
    void *context;
};

enum doppel_status emit_monitor_event(struct doppel_monitor *monitor,
                                      enum doppel_monitor_event_type type,
                                      struct doppel_monitor_event event,
                                      struct doppel_error *error);

/* It is heard no more: its end is told, if its start was. */
enum doppel_status end_heard_item(struct doppel_monitor *monitor, size_t at,
                                  struct doppel_error *error);

/* It goes on from another place: the end of the one, and the start of the other once it has
 * lasted. */
enum doppel_status jump_heard_item(struct doppel_monitor *monitor, struct monitor_heard *heard,
                                   struct doppel_error *error);

/* Tell the starts of what has been heard long enough; with `is_last` no peaks come any more. */
enum doppel_status tell_heard_items(struct doppel_monitor *monitor, bool is_last,
                                    struct doppel_error *error);

#endif
