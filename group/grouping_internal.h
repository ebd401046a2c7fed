/* What the files of the grouping share. */
#ifndef DOPPEL_GROUP_GROUPING_INTERNAL_H
#define DOPPEL_GROUP_GROUPING_INTERNAL_H

#include "core/array.h"
#include "core/digest_map.h"
#include "group/grouping.h"
#include <doppel/local.h>
#include "compare/text_set.h"

/* An item, and the first one with the same content: the same bytes, or pixels; of texts the same
 * words, of recordings the same peaks, of videos the same frames. */
struct exact_duplicate {
    uint32_t item, first;
    uint32_t same_bytes; /* of pictures, the first one with the same bytes */
};

/* A lossless image, the first with its bytes. */
struct lossless {
    struct doppel_digest pixels;
    uint32_t item;
};

/* An image that is compared, and what the comparison depends on. */
struct compared {
    struct doppel_digest key;
    uint32_t item;
};

/* An image of a library that is compared, and the item whose fingerprint it has. */
struct sourced_image {
    uint64_t source_id;
    uint32_t item;
};

/* What the file of a recording says of itself. */
struct tagged_item {
    uint32_t item;
    struct doppel_audio_tags tags;
};

/* A text that another one holds, though it came later. */
struct held_text {
    uint32_t part, holder;
};

/* What a kind of content does in its own way; a function that is NULL does nothing. */
struct grouping_kind {
    enum doppel_status (*begin)(struct grouping *grouping, struct doppel_error *error);
    /* Find who leads whom, when all items are there. */
    enum doppel_status (*find_leaders)(struct grouping *grouping, struct doppel_error *error);
    /* Change who leads whom, as edges say it. @param leaders of each item */
    enum doppel_status (*change_leaders)(struct grouping *grouping, uint32_t *leaders,
                                         struct doppel_error *error);
    /* What one is to another, both the first with their content. @param out segments are given
     * (free). False when they cannot be compared. */
    bool (*compare)(const struct grouping *grouping, uint32_t query, uint32_t item,
                    struct doppel_match *out);
    /* Which of two is rather kept, whatever the policy: > 0 `a`, < 0 `b`, 0 neither. */
    int (*prefer)(const struct grouping *grouping, uint32_t a, uint32_t b);
    bool is_timed; /* it has a duration, and leads */
};

/* Of an image, or of a video that is compared by its keypoints. */
struct parts_item {
    uint64_t duration_ms; /* of a video */
    uint8_t taken;        /* what was done with its keypoints */
};

/* An item of a group. */
struct led_item {
    uint32_t leader, item;
};

/* Two items that nearly match; the lower number first. */
struct near_pair {
    uint32_t first, second;
    struct doppel_match match; /* of the first as the query; its segments are given */
};

/* What is known of how an image came about. */
struct known_origin {
    uint32_t item; /* 1 + its number; 0: none */
    bool known;
    struct doppel_image_origin origin;
};

struct grouping {
    const struct grouping_options *options;
    const struct grouping_kind *kind;
    struct digest_map first;     /* of a digest: of `contents`, where there are such */
    struct digest_map by_pixels; /* first of lossless pictures, by their place */
    ARRAY(struct lossless) lossless;
    struct item_store items;
    ARRAY(struct exact_duplicate) exact_duplicates; /* by item */
    ARRAY(struct doppel_edge) edges;                /* `match`: 0, or 1 + number in `checked` */
    uint32_t *joined_by;          /* of each item, as doppel_group_by_leader says */
    bool *by_label;               /* of each item: a manual label put it into its group */
    ARRAY(struct near_pair) near; /* where they are wanted */

    /* Of pictures: */
    uint32_t *shots;              /* of each first item, which shot it is of; NULL: no matter */
    struct known_origin asked[2]; /* what was asked of last */
    struct doppel_match_options match;
    struct doppel_matcher *matcher; /* of the first item of each digest, by item number */
    struct looked_at *looked_at;    /* NULL: no pixels were looked at yet */
    uint32_t looked_at_places;
    ARRAY(struct doppel_match) checked;       /* by the pixels or by parts, of an edge's pair */
    struct doppel_local_set *parts;           /* NULL: they are not compared by parts */
    ARRAY(struct parts_item) parts_items;     /* by item */
    ARRAY(struct doppel_edge) part_edges;     /* of pairs that share a part */
    struct digest_stream *stream;             /* NULL: what is found is not kept for another run */
    ARRAY(struct compared) compared;          /* by item */
    bool uncertain;                           /* pixels that were wanted could not be had */
    const struct doppel_library_pairs *pairs; /* of a library, where they are known */
    ARRAY(struct sourced_image) sourced;      /* where these are wanted, by item */

    /* Of texts: */
    struct text_set *texts;               /* the representatives, by item number */
    struct text_set *weakly_led;          /* those that follow by a weak link */
    struct doppel_compare_options strong; /* when a link is strong */
    ARRAY(struct held_text) held_texts;   /* representatives that later texts hold, by holder */
    ARRAY(struct doppel_digest) contents; /* of the words, peaks, frames of each item */

    /* Of recordings and videos, also of those among the images: */
    ARRAY(struct waiting) waiting;
    ARRAY(struct group_lead) leads;   /* by item */
    uint32_t *waiting_at;             /* of each item, in `waiting`; UINT32_MAX: nowhere */
    ARRAY(struct tagged_item) tagged; /* by item */
};

/* Recordings and videos: all at once, when all items are there. The milliseconds of an item that is
 * the first with its content. */
uint32_t timed_duration(const struct grouping *grouping, uint32_t item);
void timed_free(struct grouping *grouping);

enum doppel_status audio_find_leaders(struct grouping *grouping, struct doppel_error *error);
/* NULL: there are none. */
const struct doppel_audio_tags *audio_tags_of(const struct grouping *grouping, uint32_t number);
/* @param out segments are given (free). False when they cannot be compared. */
bool audio_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                   struct doppel_match *out);

enum doppel_status videos_find_leaders(struct grouping *grouping, struct doppel_error *error);
bool videos_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                    struct doppel_match *out);
/* The frames of a video that is the first with its content. @param out given
 * (doppel_video_track_free). @return false when they cannot be had */
bool videos_load_frames(const struct grouping *grouping, uint32_t number,
                        struct doppel_video_track *out);
/* What members of a group show of one picture, as its representative met them. @param out `count`,
 * zero */
void videos_look(const struct grouping *grouping, const struct led_item *members, size_t count,
                 struct doppel_image_look *out);
/* The longer one. */
int audio_prefer(const struct grouping *grouping, uint32_t a, uint32_t b);
/* One that is all of what its representative is: a part is never kept in its place. */
int videos_prefer(const struct grouping *grouping, uint32_t a, uint32_t b);

/* Pictures: all edges at once, when all items are there. */
enum doppel_status images_find_leaders(struct grouping *grouping, struct doppel_error *error);
/* The same in another run, from the cache: an image was added to the items and is to be compared;
 * and the edges, looked up again only of what was not there. */
bool cached_pairs_add(struct grouping *grouping, const struct grouping_item *item,
                      const struct doppel_fingerprint *fingerprint);
enum doppel_status cached_pairs_find(struct grouping *grouping, doppel_leader_visitor *visitor,
                                     struct doppel_error *error);
/* The edges of pairs that a library knows. */
enum doppel_status paired_images_find(struct grouping *grouping, doppel_leader_visitor *visitor,
                                      struct doppel_error *error);
enum doppel_status images_begin(struct grouping *grouping, struct doppel_error *error);
bool images_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                    struct doppel_match *out);

/* Give those that lead, but that later texts hold, to these. @param leaders of each item */
enum doppel_status texts_join_parts(struct grouping *grouping, uint32_t *leaders,
                                    struct doppel_error *error);
/* Whether a picture is in its group by a part. */
bool parts_lead(const struct grouping *grouping, uint32_t number);
/* The milliseconds of a video among the images; 0: it is none. */
uint32_t parts_duration(const struct grouping *grouping, uint32_t number);
enum doppel_status parts_set_duration(struct grouping *grouping, uint32_t number,
                                      uint64_t duration_ms, struct doppel_error *error);
/* How many there are, copies among them. */
uint32_t parts_count_videos(const struct grouping *grouping);
/* Of matches by parts. */
void parts_free_matches(struct grouping *grouping);
/* Let representatives follow each other by parts. @param leaders in: who leads each item as a whole
 */
enum doppel_status images_join_parts(struct grouping *grouping, uint32_t *leaders,
                                     struct doppel_error *error);
/* One that is not there by a part alone; of videos as videos_prefer. */
int images_prefer(const struct grouping *grouping, uint32_t a, uint32_t b);

/* Pairs that nearly match. A kind of content adds what it meets: `match` is of the query. @return
 * false without memory */
bool near_pairs_wanted(const struct grouping *grouping);
bool near_pairs_add(struct grouping *grouping, uint32_t query, uint32_t item,
                    const struct doppel_match *match);
/* Keep the best that are not in one group. @param leaders of each item */
void near_pairs_settle(struct grouping *grouping, const uint32_t *leaders);
enum doppel_status near_pairs_visit(const struct grouping *grouping, struct doppel_error *error);
void near_pairs_free(struct grouping *grouping);

/* Whether two images are two shots of a burst, by what EXIF says; of one size they may be copies
 * where it tells no parts of seconds. */
bool are_other_shots(const struct doppel_image_origin *a, const struct doppel_image_origin *b,
                     bool same_size);
/* Whether the two of a pair are that for sure, and no copies. */
bool bursts_separate(struct grouping *grouping, uint32_t a, uint32_t b);
/* Let groups of one burst be one group. @param leaders of each item */
enum doppel_status bursts_join(struct grouping *grouping, uint32_t *leaders,
                               struct doppel_error *error);
/* Whether two items of a group are of two shots, as bursts_join found. */
bool bursts_joined(const struct grouping *grouping, uint32_t a, uint32_t b);
/* Those of the sharpest shot go to the front. @return how many are left to choose from */
size_t bursts_prefer_sharpest(const struct grouping *grouping, struct led_item *members,
                              size_t count);

enum doppel_status texts_begin(struct grouping *grouping, struct doppel_error *error);
enum doppel_status texts_order_pairs(struct grouping *grouping, struct doppel_error *error);
/* False when a file cannot be read again: then nothing is known. */
bool texts_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                   struct doppel_match *out);

/* For maps of digests: of the bytes of an item; of `contents`. */
const struct doppel_digest *digest_at(const void *context, uint32_t number);
const struct doppel_digest *content_at(const void *context, uint32_t number);

bool grouping_is_reference(const struct grouping *grouping, uint32_t number);

/* The first item with the content of `number`, which may be itself. */
uint32_t grouping_first_of(const struct grouping *grouping, uint32_t number);

/* Whether a manual label keeps two items separate. */
bool grouping_are_distinct(const struct grouping *grouping, uint32_t a, uint32_t b);

/* Who leads each item: the representative of the first with its content; but those are together
 * that are labelled the same, and no two that are labelled distinct.
 * @param representatives in: of the items that are the first with their content
 * @return DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status grouping_lead_all(struct grouping *grouping, uint32_t *leaders,
                                     struct doppel_error *error);

/* The member of a group that stays. */
struct kept_choice {
    uint32_t item;
    const char *reason; /* why it does rather than the second best; NULL: it is alone */
    bool asked_for;     /* by a mark, a folder, a reference, or what was chosen before */
};

/* @return false without memory */
bool grouping_choose_kept(const struct grouping *grouping, const struct led_item *members,
                          size_t count, struct kept_choice *out);

/* What is known of an image. @param out fingerprint given (doppel_fingerprint_free) */
enum doppel_status grouping_find_features(const struct grouping *grouping, uint32_t number,
                                          struct doppel_image_features *out);

/* What the file of an image says of how it came about. @return false: nothing is known */
bool grouping_load_origin(const struct grouping *grouping, uint32_t number,
                          struct doppel_image_origin *out);

#endif
