/* What the members of groups look like: files previewed by the workers, and written as JSON. */
#ifndef DOPPEL_REPORT_PREVIEWS_H
#define DOPPEL_REPORT_PREVIEWS_H

#include <doppel/worker.h>

#include "core/array.h"
#include "report/report_internal.h"

enum {
    STILL_PIXELS = 240, /* at least */
    FRAME_PIXELS = 144,
    WAVE_BUCKETS = 480,
    TEXT_BYTES = 64 << 10,
    PAGES_TEXT_BYTES = 512 << 10,
    PAGE_PIXELS = 1000,
    PAGES_OF_A_MEMBER = 3, /* that are drawn, and as many of the first member */
};

/* Bytes of all pages that a report has: later groups have none. */
enum { PAGES_MOST_BYTES = 32 << 20 };

/* One preview of a file. */
struct preview {
    const struct report_group *group;
    const struct report_member *source; /* what is previewed */
    size_t member;                      /* for which it is shown */
    size_t same_as; /* the first member of the same bytes, which is previewed in its place */
    bool has_pages; /* it is a PDF, or a TIFF of pages */
    bool of_first;  /* of videos: the first member's moment beside this one's: not reported */
    uint32_t page;  /* of a document of pages, from 1 on, beside its text: not reported; 0: none */
    double seconds; /* of videos */
    struct doppel_order order;
    uint8_t *bytes; /* given; NULL: `reason` says why, but of what is the same as another */
    size_t size;
    char *reason; /* given */
};

struct previewed_group {
    const struct report_group *group;
    size_t first; /* of its previews */
};

struct previews {
    struct doppel_run *run;
    const struct doppel_report_options *options;
    uint32_t still_pixels;                  /* the longest side of images */
    const struct doppel_text_options *text; /* how records were read; borrowed */
    char *reported;                         /* the corpus that was reported last; given */
    struct doppel_pool *pool;               /* NULL: none was needed yet */
    uint64_t page_bytes;                    /* of the pages that were drawn */
    size_t taken;                           /* of `items`; what follows is to come */
    size_t first_page;                      /* of `items`: pages stand behind all others */
    ARRAY(struct preview) items;
    ARRAY(struct previewed_group) groups;
};

void previews_free(struct previews *previews);

/* Want the members of a group. @param group borrowed until previews_clear. @return false without
 * memory */
bool previews_want(struct previews *previews, const struct report_group *group);

/* Want a frame of a video, which is no group's: what cannot be had is not reported. Likewise. */
bool previews_want_frame(struct previews *previews, const struct report_member *source,
                         double seconds, uint32_t pixels);

/* Have all that is wanted; no worker is started before one is needed. DOPPEL_E_CANCELLED; others
 * when the run cannot go on. */
enum doppel_status previews_take(struct previews *previews, struct doppel_error *error);

/* The pages of two members of a group that are shown: of the first and of another one. They are
 * chosen when their texts are there (report/page_previews.c). */
bool previews_want_pages(struct previews *previews);

/* Append the pages of a member: `first` and `preview` are its texts. */
void page_previews_to_json(const struct previews *previews, const struct preview *first,
                           const struct preview *preview, struct doppel_json *json);

/* A text as it was previewed, with no zeros in it. @return given; NULL without memory */
char *text_of_preview(const struct preview *preview);

/* Report the files that could not be previewed to the run: each once, by the first of its previews
 * that failed. */
void previews_report_failures(struct previews *previews);

/* What was seen of the group that was wanted as number `index`; docs/formats.md says what it
 * holds. */
void previews_to_json(const struct previews *previews, size_t index, struct doppel_json *json);

void previews_clear(struct previews *previews);

#endif
