/* What recordings and videos share when they are grouped: they have a length. The longest are
 * placed first, so that a part finds what it is a part of, in whatever order the files came. */
#ifndef DOPPEL_GROUP_TIMED_H
#define DOPPEL_GROUP_TIMED_H

#include "group/grouping_internal.h"

/* One that waits for its turn. */
struct waiting {
    uint32_t number;      /* of the item */
    uint32_t duration_ms; /* the longest first */
    bool reference;
    uint8_t *packed; /* what is compared of it; given */
    size_t size;
};

/* By what an item joined its representative; `segments` of the match are given. */
struct group_lead {
    uint32_t item, leader;
    struct doppel_match match;
    bool turned; /* its `view` is of the representative, that looked for it */
};

/* Add an item, which waits unless it is an exact duplicate of another by `content`. @param waiting
 * but for `number` and `reference`; `packed` is taken */
enum doppel_status timed_add(struct grouping *grouping, const struct grouping_item *item,
                             const struct doppel_digest *content, struct waiting waiting,
                             struct doppel_error *error);

/* The same of a video among images. @param item its `pixels` are what `content` is */
enum doppel_status timed_add_among_images(struct grouping *grouping,
                                          const struct grouping_item *item, struct waiting waiting,
                                          struct doppel_error *error);

/* Find the representative of one, or let it lead. */
typedef enum doppel_status timed_place(void *context, const struct waiting *waiting,
                                       struct doppel_error *error);

/* In order: references lead; then the longest. DOPPEL_OK; DOPPEL_E_MEMORY. */
enum doppel_status timed_order(struct grouping *grouping, struct doppel_error *error);

/* Place all, ordered before. @param words for the progress line */
enum doppel_status timed_place_all(struct grouping *grouping, const char *words, timed_place *place,
                                   void *context, struct doppel_error *error);

/* Let the two trade places: the match is of the representative as the query, or back. */
void timed_turn(struct group_lead *lead);

/* When the last lead was added, for timed_lead. */
void timed_sort_leads(struct grouping *grouping);

/* What waits, or waited, of an item that is the first with its content; where in the order, too. */
const struct waiting *timed_waiting(const struct grouping *grouping, uint32_t number);

/* @param lead taken */
enum doppel_status timed_add_lead(struct grouping *grouping, const struct group_lead *lead,
                                  struct doppel_error *error);

/* By what an item joined its representative; NULL when it leads. After all are placed. */
const struct group_lead *timed_lead(const struct grouping *grouping, uint32_t item);

/* What the one is to the other, when one joined the other. @param out segments are given */
bool timed_joined(const struct grouping *grouping, uint32_t query, uint32_t item,
                  struct doppel_match *out);

#endif
