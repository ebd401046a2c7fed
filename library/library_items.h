/**
 * doppel/library_items.h: items and texts of a library by what people call them, by a filter, and
 * all of them in order. Included by doppel/library.h.
 */
#ifndef DOPPEL_LIBRARY_ITEMS_H
#define DOPPEL_LIBRARY_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

struct doppel_text_options; /* doppel/text.h */

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_library;
struct doppel_library_text;
struct doppel_image_features;
struct doppel_item;
struct doppel_record;
struct doppel_scheme;

/* ---- references ---- */

/** How a reference names an item or a text, in the order in which they are tried. */
enum doppel_reference_kind {
    DOPPEL_REFERENCE_NUMBER,      /**< "42", where there is such an item, or "item:42" */
    DOPPEL_REFERENCE_PATH,        /**< relative to the working directory, or absolute */
    DOPPEL_REFERENCE_EXTERNAL_ID, /**< its external id, or that with "id:" before it */
    DOPPEL_REFERENCE_RECORD_ID    /**< likewise; the last record of it */
};

/** What a reference stands for. */
struct doppel_reference {
    uint64_t id;
    enum doppel_reference_kind kind;
    uint64_t other; /**< what it names, too, in a way that comes later; 0: nothing */
};

/** The number in a reference, be there such an item or not. Thread-safe. */
DOPPEL_API bool doppel_reference_number(const char *reference, uint64_t *out);

/** The id in "id:ID"; NULL: it is none. Borrowed from `reference`. Thread-safe. */
DOPPEL_API const char *doppel_reference_external_id(const char *reference);

/** Find what a reference names. @return DOPPEL_E_NOT_FOUND; a number may be that of an item that
 * is gone */
DOPPEL_API enum doppel_status doppel_library_resolve(struct doppel_library *library,
                                                     const char *reference,
                                                     struct doppel_reference *out,
                                                     struct doppel_error *error);

/** The same for those who change or remove it: a number is that of an item alone, lest it name
 * something else when the item is gone. @return DOPPEL_E_ARGUMENT: it is another's id */
DOPPEL_API enum doppel_status doppel_library_resolve_to_change(struct doppel_library *library,
                                                               const char *reference,
                                                               struct doppel_reference *out,
                                                               struct doppel_error *error);

/** The item that a reference names. @param with_attachment as doppel_library_get has it.
 * @param out given (doppel_item_free). @return DOPPEL_E_NOT_FOUND: it may be a text */
DOPPEL_API enum doppel_status doppel_library_find_item(struct doppel_library *library,
                                                       const char *reference, bool with_attachment,
                                                       struct doppel_item *out,
                                                       struct doppel_error *error);

/** The text that a reference names, with its shingles. @param visitor is given it; borrowed.
 * @return DOPPEL_E_NOT_FOUND; what is wrong with a damaged one; DOPPEL_E_CANCELLED when the visitor
 * returned false */
DOPPEL_API enum doppel_status doppel_library_find_text(
    struct doppel_library *library, const char *reference,
    bool (*visitor)(void *context, const struct doppel_library_text *text), void *context,
    struct doppel_error *error);

/** Whether something of the library could not be read since the last call, for lack of memory or by
 * a fault of the disk: who leaves out what cannot be had asks at the end, so that a fault is not
 * taken for an absence. @return DOPPEL_OK; DOPPEL_E_MEMORY or DOPPEL_E_IO */
DOPPEL_API enum doppel_status doppel_library_read_failure(struct doppel_library *library,
                                                          struct doppel_error *error);

/** Whether it has a file: items known by their codes or a digest alone have none, nor have damaged
 * ones. Thread-safe. */
DOPPEL_API bool doppel_item_has_file(const struct doppel_item *item);

/** How people know an item: its path; without a file its external id, or the digest that it stands
 * for, or the `filename` of its meta, else "item 42". Given (free); NULL without memory. */
DOPPEL_API char *doppel_library_item_name(struct doppel_library *library,
                                          const struct doppel_item *item);

/* ---- filters ---- */

/** Which items are wanted: those on one of the lists, with one of the labels, and for which the
 * expression holds. What is not given holds for all. */
struct doppel_item_filter {
    const char *const *lists;
    size_t list_count;
    const char *const *labels;
    size_t label_count;
    const char *where; /**< as doppel_library_where has it; NULL: not given */
};

/** Whether it leaves anything out. Thread-safe. */
DOPPEL_API bool doppel_item_filter_is_set(const struct doppel_item_filter *filter);

/** Ids of items and texts. Zero-initialised it is all of them. */
struct doppel_item_set {
    bool some;     /**< only these */
    uint64_t *ids; /**< ascending */
    size_t count, capacity;
};

/** Find the items that a filter leaves. @param filter NULL: all
 * @param out given (doppel_item_set_free)
 * @return DOPPEL_E_ARGUMENT: there is no such list; else as doppel_library_where */
DOPPEL_API enum doppel_status doppel_library_filter(struct doppel_library *library,
                                                    const struct doppel_item_filter *filter,
                                                    struct doppel_item_set *out,
                                                    struct doppel_error *error);

/** Thread-safe. */
DOPPEL_API bool doppel_item_set_has(const struct doppel_item_set *set, uint64_t id);
DOPPEL_API void doppel_item_set_free(struct doppel_item_set *set);

/* ---- all of them ---- */

/** Items and texts in order of id; either function ends the visit with false. */
struct doppel_everything_visitor {
    uint64_t first;                                              /**< id to begin with */
    bool (*item)(void *context, const struct doppel_item *item); /**< NULL: texts alone */
    bool (*text)(void *context, const struct doppel_library_text *text);
    void *context;
};

/** Visit items and texts. @return DOPPEL_E_CANCELLED when a function returned false */
DOPPEL_API enum doppel_status doppel_library_each_of_all(
    struct doppel_library *library, const struct doppel_everything_visitor *visitor,
    struct doppel_error *error);

/* ---- pictures that may match ----
 *
 * Which pictures may match is kept beside the catalogue, once it was asked for: of those that are
 * as they were then it need not be found again. */

struct doppel_match_options;
struct doppel_image_pair;

struct doppel_pairs_request {
    const struct doppel_scheme *scheme; /**< of images */
    const struct doppel_match_options *options;
    const struct doppel_item_set *wanted; /**< of images these alone are compared; NULL: all. Those
                                             on disabled lists never are */
    bool with_file;                       /**< images without a file need not be counted */
    bool every;                           /**< items that can be in no group are visited, too */
    const struct doppel_digest *named;    /**< whoever has one of these may be in a group */
    size_t named_count;
    uint32_t threads;
    bool (*cancelled)(void *context); /**< NULL: never; from any thread */
    void (*comparing)(void *context,
                      uint64_t images); /**< they are compared now, which may take
                                           long; 0: they were. NULL: nobody is told */
    void *context;                      /**< of both */
};

struct doppel_library_pairs {
    bool known; /**< else they are too many, and doppel_matcher_lead is to find them */
    struct doppel_image_pair *items; /**< by ids of items that have a fingerprint of their own */
    size_t count;
    uint64_t passed_over;         /**< images that are wanted and were not visited */
    uint64_t versions;            /**< images of another version, which were not visited either */
    struct doppel_error not_kept; /**< why it could not be; of status DOPPEL_OK: it was */
};

/**
 * Find which images may match, all that doppel_matcher_meet finds among them, and visit the items
 * as doppel_library_each does, but for whole images that no other one may match, whose bytes or
 * pixels no other item has, and that are not named. All is as of one commit, but for what others
 * change while many images are compared.
 * @param out given (doppel_library_pairs_free); untouched on failure
 * @return as doppel_library_each
 */
DOPPEL_API enum doppel_status doppel_library_each_paired(
    struct doppel_library *library, const struct doppel_pairs_request *request,
    bool (*visitor)(void *context, const struct doppel_item *item), void *context,
    struct doppel_library_pairs *out, struct doppel_error *error);
DOPPEL_API void doppel_library_pairs_free(struct doppel_library_pairs *pairs);

/* ---- records ---- */

/** Whether the library has an item of a scheme. */
DOPPEL_API bool doppel_library_has_scheme(struct doppel_library *library,
                                          enum doppel_scheme_id scheme);

/** Nobody waits for more to be counted: one more says that there are more. */
enum { DOPPEL_SCHEME_COUNT_MAX = 1000000 };

struct doppel_scheme_count {
    uint64_t all;
    uint64_t without_file; /**< of these */
};

/** How many items have a scheme; and how many of them are of another version than it is. */
DOPPEL_API enum doppel_status doppel_library_count_scheme(struct doppel_library *library,
                                                          const struct doppel_scheme *scheme,
                                                          struct doppel_scheme_count *out,
                                                          struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_library_count_versions(struct doppel_library *library,
                                                            const struct doppel_scheme *scheme,
                                                            uint64_t *out,
                                                            struct doppel_error *error);

/** Read texts as those of the library were, where these have shingles of words that are as long in
 * every script, and nothing else was asked for: `unit` becomes DOPPEL_TEXT_WORDS if it is by
 * script.
 * @param scheme of texts; its id alone counts
 * @return whether it did; false also where the library has texts of both kinds */
DOPPEL_API bool doppel_library_fit_unit(struct doppel_library *library,
                                        const struct doppel_scheme *scheme,
                                        struct doppel_text_options *text);

/** Whether a record is of a scheme and of its version: others never meet.
 * @param scheme       NULL: no record is
 * @param out_versions counts those of the scheme and of another version */
DOPPEL_API bool doppel_record_has_scheme(const struct doppel_record *record,
                                         const struct doppel_scheme *scheme,
                                         uint64_t *out_versions);

/** Whether it is of another version of its scheme than this doppel computes. Texts have versions by
 * the options that they were read with: none of them is old. */
DOPPEL_API bool doppel_record_is_old(const struct doppel_record *record);

/** Whether the fingerprint is such as its scheme, version and kind make, and the attachment, if
 * there is one, whole and of the scheme; recordings and videos must have one. False without memory,
 * too. Thread-safe. */
DOPPEL_API bool doppel_record_is_readable(const struct doppel_record *record);

/** What a check of pixels needs of an image's record, with its attachment.
 * @param out its fingerprint is borrowed from the record. @return false: it has no attachment */
DOPPEL_API bool doppel_record_image_features(const struct doppel_record *record,
                                             struct doppel_image_features *out);

#ifdef __cplusplus
}
#endif
#endif
