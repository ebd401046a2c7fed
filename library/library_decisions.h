/**
 * doppel/library_decisions.h: who follows whom in a library, who is canonical, and the log of why.
 * Included by doppel/library.h.
 *
 * Ids are of items and of texts alike: both count in one row. What changes the library does so as
 * doppel_library_add does: it begins by itself, is kept by the next doppel_library_commit, and on
 * failure takes back all since the last one; what is refused (DOPPEL_E_ARGUMENT,
 * DOPPEL_E_NOT_FOUND) changes nothing and takes nothing back.
 */
#ifndef DOPPEL_LIBRARY_DECISIONS_H
#define DOPPEL_LIBRARY_DECISIONS_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/match.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_json;
struct doppel_library;

/* ---- which member of a group is kept ---- */

/** What speaks for a candidate; numbers are written to disk: new ones go to the end. */
enum doppel_keep {
    DOPPEL_KEEP_AUTHORITY,  /**< of its source, the higher */
    DOPPEL_KEEP_RESOLUTION, /**< more pixels of what they have in common; then what is no copy as
                               far as can be seen: struct doppel_candidate */
    DOPPEL_KEEP_DURATION,   /**< longer */
    DOPPEL_KEEP_SIZE,       /**< more bytes */
    DOPPEL_KEEP_DATE,       /**< older, by the date taken where it is known */
    DOPPEL_KEEP_DEPTH,      /**< fewer folders above it */
    DOPPEL_KEEP_NAME,       /**< the shorter file name */
    DOPPEL_KEEP_CRITERIA
};

/** "authority", …; static storage. Thread-safe. */
DOPPEL_API const char *doppel_keep_name(enum doppel_keep criterion);

/** Criteria, the first that tells two candidates apart decides. */
struct doppel_keep_policy {
    uint8_t count;
    uint8_t criteria[DOPPEL_KEEP_CRITERIA]; /**< enum doppel_keep, each at most once */
};

/** All of them, in the order of the enum. */
DOPPEL_API struct doppel_keep_policy doppel_keep_policy_default(void);

/** "date,size"; biggest is size, oldest date, longest duration. DOPPEL_E_ARGUMENT with a sentence
 * that names what is there. */
DOPPEL_API enum doppel_status doppel_keep_policy_parse(const char *text,
                                                       struct doppel_keep_policy *out,
                                                       struct doppel_error *error);

/** Zero: not known, and no better than any other's zero. */
struct doppel_candidate {
    int64_t authority;
    uint32_t width, height;
    uint64_t duration_ms;
    int64_t size;
    int64_t taken_s;  /**< EXIF's date taken: counts before mtime_ns */
    int64_t mtime_ns; /**< since 1970; of a record its date. Not known: INT64_MAX, the last */
    const char *path; /**< or the id of a record */
    /* Of an image or video beside the others of its group, by doppel_candidates_compare_images: */
    bool cropped;            /**< of a video: another one shows more of the picture */
    double share;            /**< of it within its frame */
    uint64_t content_pixels; /**< that it shows, without a frame; of an upscaled one, those of what
                                it was made from; 0: all that it has */
    bool upscaled;           /**< it shows no more than a smaller one */
    bool framed;             /**< with a frame around it that others do not have */
    bool turned;     /**< turned or mirrored beside most of its group, or beside the oldest */
    bool overlaid;   /**< with a logo or words on it that others do not have */
    bool blurred;    /**< as large as another one, and less sharp */
    uint8_t quality; /**< 1 to 100: of the worst compression that it went through */
    uint8_t wasted_quality; /**< of those as good as the best: by how much its last compression is
                               better, for nothing */
};

/** An image beside the first of its group: doppel_image_look_make. */
struct doppel_image_look {
    bool known;          /**< the codes of the two say how they meet */
    bool part;           /**< one shows a part of the other, or both do */
    double share;        /**< of the image, that shows what both have */
    double trimmed;      /**< of the image, within its own frame, if it has one */
    double first_share;  /**< of the first, that shows what both have */
    uint8_t orientation; /**< that makes it look like the first */
    double scene; /**< of a video: how much it shows, of what another one does; 0: not known */
    /** > 0: something is laid over it, < 0: over the first; -1 or 1: over one of them, which is not
     * clear */
    int overlay;
    struct doppel_image_origin origin;
};

/** @param image,first with fingerprint, boxes, thumb and origin; may be the same
 *  @param candidate,first_candidate of these, with width and height. Thread-safe. */
DOPPEL_API struct doppel_image_look doppel_image_look_make(
    const struct doppel_image_features *image, const struct doppel_candidate *candidate,
    const struct doppel_image_features *first, const struct doppel_candidate *first_candidate);

/**
 * Say of images, or videos, that show the same which of them are copies, by what is seen of that:
 * the fields of struct doppel_candidate for them. The method: docs/methods.md.
 * @param candidates `count`, with the other fields
 * @param looks      of each; zero: nothing is known
 */
DOPPEL_API void doppel_candidates_compare_images(struct doppel_candidate *candidates,
                                                 const struct doppel_image_look *looks,
                                                 size_t count);

/**
 * < 0 when `a` is to be kept rather than `b`. Never 0 for different paths: at last the order of
 * bytes decides.
 * @param out_by the criterion that decided; DOPPEL_KEEP_CRITERIA: the order of bytes; may be NULL
 * Thread-safe.
 */
DOPPEL_API int doppel_keep_compare(const struct doppel_keep_policy *policy,
                                   const struct doppel_candidate *a,
                                   const struct doppel_candidate *b, enum doppel_keep *out_by);

/** Why `a` is kept rather than `b`, which it is: the criterion's name, of videos "crop", of them
 * and images "resolution", "upscaled", "frame", "orientation", "overlay", "blur" or "compression";
 * static storage. Thread-safe. */
DOPPEL_API const char *doppel_keep_reason(const struct doppel_keep_policy *policy,
                                          const struct doppel_candidate *a,
                                          const struct doppel_candidate *b);

/** The library's own policy; the default where it has none. */
DOPPEL_API enum doppel_status doppel_library_policy(struct doppel_library *library,
                                                    struct doppel_keep_policy *out,
                                                    struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_library_set_policy(struct doppel_library *library,
                                                        const struct doppel_keep_policy *policy,
                                                        struct doppel_error *error);

/* ---- sources and their authority ---- */

/**
 * Say how much a source is worth.
 * @param pattern a name, or a pattern with `*`, `?` and `[…]` as the shell has them ("*.gov.in").
 * An exact name is asked before patterns, a longer pattern before a shorter one, then the order of
 * bytes. DOPPEL_E_ARGUMENT with a sentence for one that is empty, not UTF-8, longer than 1000
 * bytes, or has a bracket that does not close.
 */
DOPPEL_API enum doppel_status doppel_library_set_source(struct doppel_library *library,
                                                        const char *pattern, int64_t authority,
                                                        struct doppel_error *error);
/** DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_remove_source(struct doppel_library *library,
                                                           const char *pattern,
                                                           struct doppel_error *error);

/** What a source is worth; 0 where nothing was said, and of NULL. Looked up in memory: fit to be
 * asked for each record. What other processes change is seen after the next begin. */
DOPPEL_API enum doppel_status doppel_library_authority(struct doppel_library *library,
                                                       const char *source, int64_t *out,
                                                       struct doppel_error *error);

typedef bool doppel_source_visitor(void *context, const char *pattern, int64_t authority);
/** In the order in which they are asked. DOPPEL_E_CORRUPT, after the others were visited: some are
 * damaged, and nobody looks at them. */
DOPPEL_API enum doppel_status doppel_library_each_source(struct doppel_library *library,
                                                         doppel_source_visitor *visitor,
                                                         void *context, struct doppel_error *error);

/* ---- groups: who follows whom ---- */

/**
 * Say that an item follows a representative. Of texts (doppel_library_add_text) it is said already.
 * Those who follow the item follow that representative, too. When a representative is removed, the
 * first of those who follow it leads the others.
 * @param leader an item or text that follows none. DOPPEL_E_ARGUMENT: it follows one, or is the
 * item itself; DOPPEL_E_NOT_FOUND
 */
DOPPEL_API enum doppel_status doppel_library_link(struct doppel_library *library, uint64_t item,
                                                  uint64_t leader, struct doppel_error *error);

/** Say that an item follows nobody. */
DOPPEL_API enum doppel_status doppel_library_unlink(struct doppel_library *library, uint64_t item,
                                                    struct doppel_error *error);

/** The representative that an item or text follows; its own id when it follows none.
 * DOPPEL_E_CORRUPT. */
DOPPEL_API enum doppel_status doppel_library_leader(struct doppel_library *library, uint64_t id,
                                                    uint64_t *out, struct doppel_error *error);

typedef bool doppel_id_visitor(void *context, uint64_t id);
/** The representative first, then those who follow it, by id. @param limit 0: all.
 * DOPPEL_E_CORRUPT, after the others were visited: some are damaged */
DOPPEL_API enum doppel_status doppel_library_each_follower(struct doppel_library *library,
                                                           uint64_t leader, uint64_t limit,
                                                           doppel_id_visitor *visitor,
                                                           void *context,
                                                           struct doppel_error *error);

/** @param ids of a group: its representative, then those who follow it, by id; borrowed. @return
 * false to end the visit */
typedef bool doppel_group_ids_visitor(void *context, const uint64_t *ids, size_t count);
/** The groups that records of corpora are in, by the representative's id, of which no more than one
 * is in memory. Within a visit no other begins; other calls are fine. DOPPEL_E_CORRUPT, after the
 * others were visited: whom some follow is damaged. */
DOPPEL_API enum doppel_status doppel_library_each_text_group(struct doppel_library *library,
                                                             doppel_group_ids_visitor *visitor,
                                                             void *context,
                                                             struct doppel_error *error);

/** The member of a representative's group that was chosen, by hand or by policy; it may be the
 * representative, who may be alone. @param out 0: nobody was. DOPPEL_E_CORRUPT. */
DOPPEL_API enum doppel_status doppel_library_get_canonical(struct doppel_library *library,
                                                           uint64_t leader, uint64_t *out,
                                                           struct doppel_error *error);
/** The canonical member of a representative's group: the one that was chosen, else the
 * representative. DOPPEL_E_CORRUPT. */
DOPPEL_API enum doppel_status doppel_library_canonical(struct doppel_library *library,
                                                       uint64_t leader, uint64_t *out,
                                                       struct doppel_error *error);
/** Choose a member by hand; the log tells. DOPPEL_E_ARGUMENT: it is of another group.
 * @param item 0: nobody is chosen any more, of which the log does not tell */
DOPPEL_API enum doppel_status doppel_library_set_canonical(struct doppel_library *library,
                                                           uint64_t leader, uint64_t item,
                                                           struct doppel_error *error);

/** A newer state of a thing takes the place of its older one: the former becomes the canonical
 * member of a representative's group; the log tells. DOPPEL_E_ARGUMENT: it is of another group.
 * @param reason of the log */
DOPPEL_API enum doppel_status doppel_library_supersede(struct doppel_library *library,
                                                       uint64_t leader, uint64_t newcomer,
                                                       const char *reason,
                                                       struct doppel_error *error);

/**
 * Choose between the canonical member of a group and a newcomer, by the library's policy; when the
 * newcomer takes the place, the log tells by which criterion. By the order of bytes alone nobody
 * does.
 * @param newcomer its id, and what is known of it: what the library holds of the other one is
 * looked up
 * @param out_replaced the id of the former canonical member, when the newcomer took its place; else
 * 0
 * @param out_by the criterion that decided
 */
DOPPEL_API enum doppel_status doppel_library_choose_canonical(
    struct doppel_library *library, uint64_t leader, uint64_t newcomer,
    const struct doppel_candidate *candidate, uint64_t *out_replaced, enum doppel_keep *out_by,
    struct doppel_error *error);

/** What is known of an item or text as a candidate. @param out_name its path or record id, which
 * `out` borrows; given (free). DOPPEL_E_NOT_FOUND */
DOPPEL_API enum doppel_status doppel_library_candidate(struct doppel_library *library, uint64_t id,
                                                       struct doppel_candidate *out,
                                                       char **out_name, struct doppel_error *error);

/* ---- the log ---- */

/** Their names are written to disk. */
enum doppel_log_action {
    DOPPEL_LOG_ADDED,     /**< an item came in, by `add` */
    DOPPEL_LOG_UPDATED,   /**< other bytes at the same path: took the place of `former` */
    DOPPEL_LOG_MOVED,     /**< its file is at another path than `former_name` */
    DOPPEL_LOG_REMOVED,   /**< taken out */
    DOPPEL_LOG_DECIDED,   /**< `ingest` decided of it: it came in, unless item is 0 */
    DOPPEL_LOG_CANONICAL, /**< it took the place of `former` as the one of its group `of` to keep */
    DOPPEL_LOG_MARKED,    /**< a person said that it is the same as `of`, or is not (`reason`) */
    DOPPEL_LOG_LISTED,    /**< it was put on a list or taken off (`reason`; list in `detail`) */
    DOPPEL_LOG_IMPORTED,  /**< came in from another library or a list of fingerprints */
    DOPPEL_LOG_REFRESHED, /**< recomputed from the same bytes: by another version of its scheme,
                             read in another way, or damaged before */
    DOPPEL_LOG_METADATA   /**< what was set in the library: a source's authority, a policy (item 0);
                           where an item comes from */
};

/** "added", "updated", …; static storage. Thread-safe. */
DOPPEL_API const char *doppel_log_action_name(enum doppel_log_action action);

/** What a limit of a match is of. Numbers are written to disk. */
enum doppel_limit_kind {
    DOPPEL_LIMIT_NONE,
    DOPPEL_LIMIT_DISTANCE,
    DOPPEL_LIMIT_SIMILARITY,
    DOPPEL_LIMIT_RATE
};

/** A line of the log. Strings are borrowed; NULL, 0 or < 0 as said: not known. */
struct doppel_log_entry {
    uint64_t entry;  /**< counts from 1; not looked at by doppel_library_log */
    int64_t time_ns; /**< likewise */
    enum doppel_log_action action;
    uint64_t item;           /**< 0: of none */
    const char *name;        /**< its path or record id then; "" without */
    const char *source;      /**< or NULL */
    bool decided;            /**< `decision` says something */
    int decision;            /**< enum doppel_decision */
    uint64_t of;             /**< what it is linked to; 0: nothing */
    uint64_t former;         /**< what it took the place of; 0: nothing */
    const char *former_name; /**< the path it had before; or NULL */
    const char *reason;      /**< "identical", "same-content", "near", … or a sentence; or NULL */
    bool has_match;          /**< the next ones are known */
    enum doppel_scheme_id scheme;
    uint16_t version;        /**< of the scheme, as the item's codes were made */
    uint32_t distance, bits; /**< bits 0: no distance */
    double similarity;       /**< < 0: not known */
    double limit;            /**< that the match kept to; < 0: none */
    enum doppel_limit_kind limit_kind;
    double false_positive_rate; /**< < 0: not known */
    const char *detail; /**< an object in JSON: relation, verified, transform, segments, coverages;
                           or NULL */
};

/**
 * Whose wish the changes are from now on: what is logged has it in `detail`, as "client".
 *
 * @param client UTF-8, borrowed until the next call; NULL: nobody who has a name
 */
DOPPEL_API void doppel_library_set_client(struct doppel_library *library, const char *client);

/** Add to the log: nothing is ever taken from it or changed in it. */
DOPPEL_API enum doppel_status doppel_library_log(struct doppel_library *library,
                                                 const struct doppel_log_entry *entry,
                                                 struct doppel_error *error);

/** Which entries are wanted. Zero-initialised: all, the oldest first. */
struct doppel_log_query {
    uint64_t item;              /**< those of it, and those that link to it; 0: of any */
    uint64_t first, last;       /**< entries; last 0: to the end */
    int64_t since_ns, until_ns; /**< until_ns 0: to the end */
    uint64_t limit;             /**< 0: none */
    bool newest_first;
};

/** `error`: status != OK: the entry is damaged, only its number is known. */
typedef bool doppel_log_visitor(void *context, const struct doppel_log_entry *entry,
                                const struct doppel_error *error);
/** The entry is borrowed; false ends the visit (DOPPEL_E_CANCELLED). Of an item, of a span of time,
 * or with a limit, it costs no more than what is visited, however long the log is. Within a visit
 * no other begins; other calls are fine. */
DOPPEL_API enum doppel_status doppel_library_each_log(struct doppel_library *library,
                                                      const struct doppel_log_query *query,
                                                      doppel_log_visitor *visitor, void *context,
                                                      struct doppel_error *error);

/* ---- a manual label ---- */

enum doppel_manual_label { DOPPEL_LABEL_NONE, DOPPEL_LABEL_SAME, DOPPEL_LABEL_DISTINCT };

/** Two contents, in either order; the last word counts. Digests are of a file's bytes, of a text's
 * normalised content. DOPPEL_LABEL_NONE takes the word back. DOPPEL_E_ARGUMENT: both are one
 * content, or the note is not UTF-8 or longer than 1000 bytes.
 * @param items whom the log tells it of, `a` and `b`; 0, or NULL: the first that has these bytes */
DOPPEL_API enum doppel_status doppel_library_mark(struct doppel_library *library,
                                                  const struct doppel_digest *a,
                                                  const struct doppel_digest *b,
                                                  const uint64_t items[2],
                                                  enum doppel_manual_label word, const char *note,
                                                  struct doppel_error *error);

/** What was said of two contents. Looked up in memory when there are at most a million words: fit
 * to be asked for each candidate; other processes' are seen after the next begin. */
DOPPEL_API enum doppel_status doppel_library_get_label(struct doppel_library *library,
                                                       const struct doppel_digest *a,
                                                       const struct doppel_digest *b,
                                                       enum doppel_manual_label *out,
                                                       struct doppel_error *error);

/** Whether anything was said at all. */
DOPPEL_API bool doppel_library_has_labels(struct doppel_library *library);

/** A number that changes with each word: those of other processes are seen after the next begin. */
DOPPEL_API int64_t doppel_library_labels_revision(struct doppel_library *library);

struct doppel_mark {
    struct doppel_digest a, b;
    enum doppel_manual_label word;
    int64_t time_ns;
    const char *note; /**< borrowed; or NULL */
};
typedef bool doppel_mark_visitor(void *context, const struct doppel_mark *mark);
/** @param of words of this content alone; NULL: all. DOPPEL_E_CORRUPT, after the others were
 * visited: some are damaged, and nobody looks at them. Within a visit no other begins. */
DOPPEL_API enum doppel_status doppel_library_each_mark(struct doppel_library *library,
                                                       const struct doppel_digest *of,
                                                       doppel_mark_visitor *visitor, void *context,
                                                       struct doppel_error *error);

/** Append a mark, and the paths of items that it is about, to the object that was begun last. */
DOPPEL_API void doppel_mark_to_json(struct doppel_json *json, struct doppel_library *library,
                                    const struct doppel_mark *mark);

/** A person's choice of the member of a group that is to be kept. */
struct doppel_kept_mark {
    uint64_t item, leader; /**< the representative of its group, which may be itself */
    int64_t time_ns;
};
typedef bool doppel_kept_mark_visitor(void *context, const struct doppel_kept_mark *mark);
/** Those that hold, the oldest first: not those of a policy, nor those that another one has
 * replaced since. DOPPEL_E_CORRUPT, after the others were visited: some are damaged. Within a visit
 * no other begins. */
DOPPEL_API enum doppel_status doppel_library_each_kept_mark(struct doppel_library *library,
                                                            doppel_kept_mark_visitor *visitor,
                                                            void *context,
                                                            struct doppel_error *error);

/** Likewise, with the digest and path of the item, where it has them. */
DOPPEL_API void doppel_kept_mark_to_json(struct doppel_json *json, struct doppel_library *library,
                                         const struct doppel_kept_mark *mark);

#ifdef __cplusplus
}
#endif
#endif
