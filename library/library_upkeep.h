/**
 * doppel/library_upkeep.h: a library checked, mended, packed and counted.
 * Included by doppel/library.h.
 */
#ifndef DOPPEL_LIBRARY_UPKEEP_H
#define DOPPEL_LIBRARY_UPKEEP_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_json;
struct doppel_library;

/**
 * Read the indexes of codes into memory, as far as half of it, and in large pages: for who will ask
 * them many questions. It is done when it returns; doppel_library_set_cancel ends it.
 *
 * @return DOPPEL_OK; else as a question to an index that cannot be opened
 */
DOPPEL_API enum doppel_status doppel_library_read_in(struct doppel_library *library,
                                                     struct doppel_error *error);

/* ---- checking and mending ---- */

/** Something that is wrong. Strings are borrowed. */
struct doppel_problem {
    const char *problem; /**< where: "catalogue", "item", "attachment", "index", or the table of the
                            row: "link", "log", … */
    uint64_t id;         /**< of the item, the text, or the entry of the log; 0: of none */
    const char *path;    /**< the item's, or the name it has; NULL: not known, or none */
    const char *detail;  /**< a sentence */
    bool repaired;
    bool is_news; /**< no problem: what doppel_library_salvage could read, or a sum of problems */
};

/** False ends the check (DOPPEL_E_CANCELLED). */
typedef bool doppel_problem_visitor(void *context, const struct doppel_problem *problem);

/**
 * Check a library: the pages of its catalogue, the checksum of each row, what rows say of each
 * other, and the indexes of recordings and videos, every byte and item by item.
 *
 * @param repair make again what is derived; set damaged rows, and those that speak of nothing,
 * aside: they are appended to `damaged.jsonl` beside the catalogue, and leave it. Items that are
 * damaged are reported, and stay ("item", "attachment"): doppel_library_add of their files mends
 * them, doppel_library_set_aside gives them up. What was mended is committed.
 * @return DOPPEL_OK, whatever was found; DOPPEL_E_CORRUPT: pages are damaged, and only
 * doppel_library_salvage can go on; _BUSY, _IO, _MEMORY
 */
DOPPEL_API enum doppel_status doppel_library_verify(struct doppel_library *library, bool repair,
                                                    doppel_problem_visitor *visitor, void *context,
                                                    struct doppel_error *error);

/** End a check that another thread makes, soon, with DOPPEL_E_CANCELLED: its pages alone may take
 * minutes. From any thread, while the library is open. */
DOPPEL_API void doppel_library_interrupt(struct doppel_library *library);

/** Write what can be read of an item into `damaged.jsonl`, and remove it; of a picture whose
 * attachment alone is damaged, only that. As doppel_library_remove. */
DOPPEL_API enum doppel_status doppel_library_set_aside(struct doppel_library *library, uint64_t id,
                                                       struct doppel_error *error);

/**
 * Make a new catalogue of what can be read of one with damaged pages, row by row; its first page
 * may be gone. The former one is kept as `catalogue.db.damaged`. Nobody may have the library open.
 * To be followed by doppel_library_verify with `repair`.
 * @param visitor hears, by table, how many rows were saved, and what was lost
 * @return DOPPEL_OK; DOPPEL_E_FORMAT (it is no catalogue of ours); _VERSION; _BUSY; _IO; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_library_salvage(const char *directory,
                                                     doppel_problem_visitor *visitor, void *context,
                                                     struct doppel_error *error);

/* ---- texts that have vectors ----
 *
 * The vectors lie beside the library (doppel/search_semantic.h). Here is which texts have some, so
 * that nothing of them is lost unnoticed. */

/** What is known of the vectors of a text. */
struct doppel_library_vectors {
    uint64_t number;   /**< by which they lie there: the id of the item that they were made for */
    uint64_t item;     /**< whose they are: when an item is removed, another one that is the same,
                          byte by byte or, of records, by its content, has them; 0: none has */
    uint64_t chunks;   /**< how many, at least 1 */
    const char *model; /**< what they were made by, its name; borrowed */
};

/** Note them, in place of what was known of this number. To be committed; likewise the next.
 * @return DOPPEL_OK; _BUSY; _IO; _NO_SPACE; _MEMORY */
DOPPEL_API enum doppel_status doppel_library_note_vectors(
    struct doppel_library *library, const struct doppel_library_vectors *vectors,
    struct doppel_error *error);

/** Forget those of a number; 0: all. */
DOPPEL_API enum doppel_status doppel_library_forget_vectors(struct doppel_library *library,
                                                            uint64_t number,
                                                            struct doppel_error *error);

/** Whose the vectors of a number are; of one that is not known, the item with this id. 0: none's.
 */
DOPPEL_API enum doppel_status doppel_library_vectors_of(struct doppel_library *library,
                                                        uint64_t number, uint64_t *out_item,
                                                        struct doppel_error *error);

/** Whether an item is a text that has at least so many words, and neither it nor its representative
 * has vectors. Of records the library knows which are too short. */
DOPPEL_API enum doppel_status doppel_library_lacks_vectors(struct doppel_library *library,
                                                           uint64_t item, uint32_t min_words,
                                                           bool *out, struct doppel_error *error);

/** A number whose vectors are none's. @return DOPPEL_E_NOT_FOUND: there are none such */
DOPPEL_API enum doppel_status doppel_library_next_lost_vectors(struct doppel_library *library,
                                                               uint64_t *out_number,
                                                               struct doppel_error *error);

/** How much there is that is somebody's. */
struct doppel_library_vectors_count {
    uint64_t texts, chunks;
    char model[256]; /**< "": there are none; cut off if it is longer */
};

/** Counts row by row: a fifth of a second for a million texts. */
DOPPEL_API enum doppel_status doppel_library_count_vectors(struct doppel_library *library,
                                                           struct doppel_library_vectors_count *out,
                                                           struct doppel_error *error);

/** False ends the visit (DOPPEL_E_CANCELLED). */
typedef bool doppel_library_vectors_visitor(void *context,
                                            const struct doppel_library_vectors *vectors);
/** By number. Within a visit no other begins. */
DOPPEL_API enum doppel_status doppel_library_each_vectors(struct doppel_library *library,
                                                          doppel_library_vectors_visitor *visitor,
                                                          void *context,
                                                          struct doppel_error *error);

/* ---- packing ---- */

/**
 * Give back the space of what was removed: the catalogue is written again, and of an index that has
 * several segments, or lost entries, one segment is made.
 * Others may read meanwhile. `SQLITE_TMPDIR` says where it lies for that time.
 * @param out_before,out_after bytes of the library on the disk; NULL: not asked for
 * @return DOPPEL_E_BUSY: another process writes; DOPPEL_E_NO_SPACE, with how much it needs;
 * then all is as it was before
 */
DOPPEL_API enum doppel_status doppel_library_compact(struct doppel_library *library,
                                                     uint64_t *out_before, uint64_t *out_after,
                                                     struct doppel_error *error);

/* ---- counting ---- */

/** Items of one kind, scheme and version. */
struct doppel_library_share {
    enum doppel_kind kind; /**< UNKNOWN: known by digests alone */
    enum doppel_scheme_id scheme;
    uint16_t version;
    bool old; /**< not of the version that this doppel computes by default */
    uint64_t items;
};

enum { DOPPEL_LIBRARY_SHARES = 64, DOPPEL_LIBRARY_DECISIONS = 7, DOPPEL_LIBRARY_STATES = 3 };

struct doppel_library_stats {
    uint64_t items, texts;
    size_t share_count; /**< the last ones are left out beyond DOPPEL_LIBRARY_SHARES */
    struct doppel_library_share shares[DOPPEL_LIBRARY_SHARES];
    uint64_t old_items;
    uint64_t decisions[DOPPEL_LIBRARY_DECISIONS]; /**< of texts, by enum doppel_decision */
    uint64_t groups;                              /**< representatives that somebody follows */
    uint64_t followers;
    uint64_t lists[DOPPEL_LIBRARY_STATES]; /**< by enum doppel_list_state */
    uint64_t listed;                       /**< items on lists, once for each list */
    uint64_t labels, sources, marks, digests, failures;
    uint64_t log_entries;
    int64_t oldest_ns, newest_ns; /**< when those of the first and of the last id came in; 0 */
    uint64_t catalogue_bytes, audio_bytes, videos_bytes, parts_bytes;
    uint64_t codes_bytes; /**< indexes of images and texts */
};

/** Count what a library holds. Rows are not read for it, only their indexes: a second or two for
 * ten million. */
DOPPEL_API enum doppel_status doppel_library_stats(struct doppel_library *library,
                                                   struct doppel_library_stats *out,
                                                   struct doppel_error *error);

/** What happened in a library, by its log. */
struct doppel_library_changes {
    uint64_t added, removed, marked;              /**< items and texts; manual labels */
    uint64_t decisions[DOPPEL_LIBRARY_DECISIONS]; /**< by enum doppel_decision */
};

/** Count what happened in the last seconds. As many entries of the log are read as it has since. */
DOPPEL_API enum doppel_status doppel_library_count_changes(struct doppel_library *library,
                                                           uint32_t seconds,
                                                           struct doppel_library_changes *out,
                                                           struct doppel_error *error);

/** Append the numbers to the object that was begun last. */
DOPPEL_API void doppel_library_changes_to_json(struct doppel_json *json,
                                               const struct doppel_library_changes *changes);

/** The name of its scheme; "none" of what is known by digests alone. Static storage. Thread-safe.
 */
DOPPEL_API const char *doppel_library_share_scheme(const struct doppel_library_share *share);

/** Append the numbers to the object that was begun last. */
DOPPEL_API void doppel_library_stats_to_json(struct doppel_json *json,
                                             const struct doppel_library_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
