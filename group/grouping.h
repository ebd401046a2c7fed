/* Items to groups of duplicates: same bytes by digest, near ones by the matcher, each group around
 * a representative; and which member is kept. Used by scan and groups. */
#ifndef DOPPEL_GROUP_GROUPING_H
#define DOPPEL_GROUP_GROUPING_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/group.h>
#include <doppel/library.h>
#include <doppel/match.h>

#include <doppel/run.h>

#include "compare/image.h"
#include "compare/text.h"
#include "group/file_names.h"
#include "group/item_store.h"
#include "group/manual_labels.h"

struct grouping;

/* The 64×64 planes and boxes of an item, for the pixel check and to choose which is kept;
 * DOPPEL_E_NOT_FOUND when none are kept of it, anything else when they cannot be had. */
typedef enum doppel_status grouping_features(void *context, const struct grouping_item *item,
                                             struct doppel_image_features *out);

/* A text as a view with its shingles, given (text_view_free); false when it cannot be had. */
typedef bool grouping_text(void *context, const struct grouping_item *item, struct text_view *out);

/* All that was computed of a video, given (doppel_video_track_free); false when it cannot be had.
 */
typedef bool grouping_video(void *context, const struct grouping_item *item,
                            struct doppel_video_track *out);

/* Which files are grouped, to the cache of pairs: the first `references` paths are of reference
 * folders. */
struct grouping_sources {
    const char *const *paths;
    size_t count, references;
    const char *files_from; /* NULL: there is no list */
};

struct grouping_options {
    const struct doppel_group_options *group;
    struct doppel_run *run;
    enum doppel_kind kind;       /* of all items */
    uint64_t compared;           /* pictures that each is compared with; 0: all that are added */
    grouping_features *features; /* of pictures, for --check pixels */
    grouping_text *text;         /* of texts */
    grouping_video *video;       /* of videos */
    void *context;
    const struct manual_labels *labels; /* NULL: there are none */
    struct doppel_keep_policy policy;   /* which member is kept */
    struct doppel_cache *cache;         /* of what was found; may be NULL */
    struct grouping_sources sources;    /* where there is a cache */
    struct file_names *names;           /* other names of files; of a library: of a group's, found
                                           when it is emitted */
};

/** @param options borrowed for the life of the grouping. @param out given (grouping_free) */
enum doppel_status grouping_new(const struct grouping_options *options, struct grouping **out,
                                struct doppel_error *error);
void grouping_free(struct grouping *grouping);

/* Add an item: it and the fingerprint are copied. Reference items come first. Of kind UNKNOWN only
 * the same bytes are found, and there is no fingerprint. */
enum doppel_status grouping_add(struct grouping *grouping, const struct grouping_item *item,
                                const struct doppel_fingerprint *fingerprint,
                                struct doppel_error *error);

/* The same for a text. */
enum doppel_status grouping_add_text(struct grouping *grouping, const struct grouping_item *item,
                                     const struct text_view *view, struct doppel_error *error);

/* The same for a recording. */
enum doppel_status grouping_add_audio(struct grouping *grouping, const struct grouping_item *item,
                                      const struct doppel_record *record,
                                      struct doppel_error *error);

/* The same for a video; also among images, where its parts are compared, too. */
enum doppel_status grouping_add_video(struct grouping *grouping, const struct grouping_item *item,
                                      const struct doppel_record *record,
                                      struct doppel_error *error);

/* Whether videos are compared by their keypoints, beside their frames or alone: then they are among
 * the images. */
bool groups_videos_by_parts(const struct doppel_group_options *options);

/* The keypoints of an item that was added, by its bytes, some of which are kept; and the pairs that
 * it makes with those whose keypoints were added, by all of its own. @param record of scheme local
 * or frames128 */
enum doppel_status grouping_add_parts(struct grouping *grouping, const struct doppel_record *record,
                                      struct doppel_error *error);
enum doppel_status grouping_find_parts(struct grouping *grouping,
                                       const struct doppel_record *record,
                                       struct doppel_error *error);

/* Which images may match, by their source_id: no other pair is looked for. @param pairs borrowed
 * for the life of the grouping */
void grouping_set_pairs(struct grouping *grouping, const struct doppel_library_pairs *pairs);

/* Whom groups are given to. */
struct group_receiver {
    doppel_group_visitor *visit;
    void *context;
};

/* Groups that need not be found: they are linked. @param number of the last group that was given */
struct linked_groups {
    enum doppel_status (*visit)(void *context, uint64_t *number,
                                const struct group_receiver *receiver, struct doppel_error *error);
    void *context;
};

/* What there is to be given: some of the groupings may be NULL. */
struct all_groups {
    struct grouping *const *groupings;
    size_t count;
    const struct linked_groups *linked; /* after what was found; NULL: there are none */
    struct doppel_run *run;
};

/* Find the groups and give them, numbered on. DOPPEL_E_CANCELLED when the run is to end. */
enum doppel_status groupings_visit(const struct all_groups *all,
                                   const struct group_receiver *receiver,
                                   struct doppel_error *error);

/* Among how many items groups are looked for. */
void groupings_count(const struct all_groups *all, struct doppel_group_counts *out);

#endif
