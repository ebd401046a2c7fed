/* What the files of the page's looks share. */
#ifndef DOPPEL_REPORT_PREVIEW_H
#define DOPPEL_REPORT_PREVIEW_H

#include <doppel/worker.h>

#include "report/video_chart.h"
#include "report/previews.h"

enum {
    STILL_PIXELS = 240,
    FRAME_PIXELS = 144,
    WAVE_BUCKETS = 480,
    TEXT_BYTES = 64 << 10,
};

/* One look at a file. */
struct page_look {
    const struct page_group *group;
    const struct page_item *item; /* looked at */
    size_t member;                /* for which it is shown */
    size_t as;                    /* another member of the same bytes, which has been looked at */
    bool of_kept;                 /* of videos: the moment of the kept one beside the member's */
    double seconds;               /* of videos */
    struct doppel_order order;
    uint8_t *bytes; /* given; NULL: `reason` says why, but of what is `as` another */
    size_t size;
    char *reason; /* given */
};

struct wanted_group {
    const struct page_group *group;
    size_t first; /* of its looks */
};

struct page_looks {
    const struct settings *settings;
    struct report *report;
    const struct doppel_text_options *text; /* of records */
    char *reported;                         /* the corpus that was reported last; given */
    struct doppel_pool *pool;               /* NULL: none was needed yet */
    ARRAY(struct page_look) items;
    ARRAY(struct wanted_group) groups;
};

/* The moments that a member of the JSON of a group shares with the kept one. @return how many */
size_t page_shots_choose(const json_t *member, struct video_shot out[VIDEO_SHOTS]);

#endif
