/* Indexes that are derived from the attachments of items: of the postings of recordings and of
 * keypoints, and of the codes of videos. Each is kept beside the catalogue, in a folder of its own,
 * changes with the items in the same transactions, and can be rebuilt from them. */
#ifndef DOPPEL_LIBRARY_DERIVED_DERIVED_H
#define DOPPEL_LIBRARY_DERIVED_DERIVED_H

#include <assert.h>

#include "library/catalogue.h"

/** Whether items are such as these have a part of: SQL for a column `scheme`. */
#define IS_TRACK "scheme IN (10, 12, 14, 15)"

/** SQL for whether a row of `attachment` is as it was written, and whether the one of an item is,
 * if it is a track. */
#define ATTACHMENT_IS_WHOLE "attachment." IS_WHOLE(COMPUTED_COLUMNS("attachment"))
#define TRACK_IS_WHOLE                                                                             \
    "(NOT item." IS_TRACK " OR EXISTS(SELECT 1 FROM attachment"                                    \
    " WHERE attachment.item = item.id AND " ATTACHMENT_IS_WHOLE "))"

/** SQL for whether what is kept of an item beside its fingerprint is as it was written. */
#define KEPT_IS_WHOLE                                                                              \
    TRACK_IS_WHOLE " AND NOT EXISTS(SELECT 1 FROM attachment WHERE attachment.item = item.id AND " \
                   "NOT coalesce(" ATTACHMENT_IS_WHOLE ", 0))"

/** SQL for whether an item has this attachment. */
#define HAS_TRACK(data)                                                                            \
    "EXISTS(SELECT 1 FROM attachment WHERE attachment.item = item.id AND attachment.data = " data  \
    ")"

/** An attachment, and the scheme of its item. */
struct track_bytes {
    enum doppel_scheme_id scheme;
    uint8_t *data;
    size_t size;
};

struct derived_reader;

/** A set over such an index. */
union derived_set {
    struct doppel_recordings *recordings;
    struct doppel_videos *videos;
    struct doppel_local_set *parts;
};

/** Some entries of an item, in an index. */
typedef void held_visitor(void *context, uint64_t id, uint64_t entries);

/** What is to be known of such an index. */
struct derivation {
    const char *name;     /**< of the index, and of its folder */
    unsigned schemes;     /**< of the items that it is made from: bits 1 << scheme */
    uint32_t head, leave; /**< codes or postings: so many wait in the log before they become a
                            segment, and when nobody writes */
    struct doppel_index_options (*options)(void);
    doppel_store_index_source *source; /**< as the store's, of which it gets the store */
    /** Put in what an item has. */
    enum doppel_status (*put)(struct doppel_store_index *index, uint64_t id,
                              const struct track_bytes *track, struct doppel_error *error);
    /** Take it out, while the item is in the database. */
    enum doppel_status (*remove)(struct doppel_store_index *index, uint64_t id,
                                 struct doppel_store *store, struct doppel_error *error);
    /** Make of an attachment, in place, what searches want to have at hand of an item. */
    enum doppel_status (*load)(struct track_bytes *track, struct doppel_error *error);
    /** A set over the index that asks the reader for items. @param out given (set_free) */
    enum doppel_status (*set_over)(const struct doppel_index *index, struct derived_reader *reader,
                                   union derived_set *out, struct doppel_error *error);
    void (*set_free)(union derived_set *set);
    /** How many entries an item is to have, as far as `each_held` can tell; 0: any number. */
    enum doppel_status (*entries)(uint64_t id, const struct track_bytes *track, uint64_t *out,
                                  struct doppel_error *error);
    /** Visit what the index holds, in no order: some entries of an item at a time. */
    enum doppel_status (*each_held)(const struct doppel_index *index, held_visitor *visitor,
                                    void *context, struct doppel_error *error);
};

extern const struct derivation *const derivations[DERIVATIONS];
extern const struct derivation audio_derivation, videos_derivation, parts_derivation;

/* ---- tracks ---- */

/** Whether records are kept as attachments alone. */
bool is_track(const struct doppel_record *record);

/** Whether its attachment says how long it is: also that of a Chromaprint, a track without peaks.
 */
bool has_length(const struct doppel_record *record);

/** So many bytes of an attachment say it. */
enum { TRACK_HEAD_BYTES = DOPPEL_AUDIO_HEAD_BYTES };
static_assert((int)TRACK_HEAD_BYTES >= (int)DOPPEL_VIDEO_HEAD_BYTES, "of both kinds");

/** How long it is, where it was damaged, and its tags, by the head of its attachment.
 * @return false, and zero: it does not say */
bool track_head(const struct doppel_record *record, const uint8_t *head, size_t size,
                struct doppel_audio_track *out);

/** The record as the library keeps it. @param out shares all but its attachment with `record`; that
 * is given (free). DOPPEL_E_ARGUMENT when the attachment is none. */
enum doppel_status track_strip(const struct doppel_record *record, struct doppel_record *out,
                               struct doppel_error *error);

/** The same of attachments. @param out given. DOPPEL_E_CORRUPT, _MEMORY */
enum doppel_status audio_strip(const struct track_bytes *track, struct track_bytes *out,
                               struct doppel_error *error);
enum doppel_status videos_strip(const struct track_bytes *track, struct track_bytes *out,
                                struct doppel_error *error);
enum doppel_status parts_strip(const struct track_bytes *track, struct track_bytes *out,
                               struct doppel_error *error);

/** Of an index of postings, where an item is one entry: as `remove` and `each_held`. */
enum doppel_status take_out_postings(struct doppel_store_index *index, uint64_t id,
                                     struct doppel_store *store, struct doppel_error *error);
enum doppel_status each_held_postings(const struct doppel_index *index, held_visitor *visitor,
                                      void *context, struct doppel_error *error);

/** The strong peaks of peaks. @param out given (free). DOPPEL_E_CORRUPT, _MEMORY */
enum doppel_status peaks_strip(const uint8_t *data, size_t size, uint8_t **out, size_t *out_size,
                               struct doppel_error *error);

/** The attachment of an item as it is in the database. @param out given (free its data).
 * DOPPEL_E_NOT_FOUND, _CORRUPT, … */
enum doppel_status track_fetch(struct doppel_store *store, uint64_t id, struct track_bytes *out,
                               struct doppel_error *error);

/* ---- writing ---- */

/** Open the indexes to write that are concerned by a record at a path, the item that is there, and
 * those with the same bytes, or by item `id`; or see that what waits in their logs does not grow
 * too long: before a change, outside of a transaction, which is committed for it. @param
 * record,path both may be NULL */
enum doppel_status derived_prepare(struct doppel_library *library,
                                   const struct doppel_record *record, const char *path,
                                   uint64_t id, struct doppel_error *error);

/** Put what an item has in, or take it out, within the transaction; the latter while the item is
 * there. */
enum doppel_status derived_put(struct doppel_library *library, uint64_t id,
                               const struct doppel_record *record, struct doppel_error *error);
enum doppel_status derived_forget(struct doppel_library *library, uint64_t id,
                                  struct doppel_error *error);

/** Whether an item has this record's track, undamaged. */
enum doppel_status derived_holds(struct doppel_library *library, uint64_t id,
                                 const struct doppel_record *record, bool *out,
                                 struct doppel_error *error);

/** Open an index to write, rebuilt where damage shows at once. @param salvage open what can be
 * opened of it, and make nothing again */
enum doppel_status derived_open(struct doppel_library *library, int which, bool salvage,
                                struct doppel_error *error);

/** The next item after `*id` with one of the schemes; 0: there is none. */
enum doppel_status derived_next_item(struct doppel_store *store, unsigned schemes, int64_t *id,
                                     struct doppel_error *error);

/** Make an index again when files of it are gone; a failure will show when it is needed. */
void derived_mend(struct doppel_library *library);

/** What waits in the logs becomes segments, if it is much. Outside of a transaction. */
void derived_close(struct doppel_library *library);

/** What it takes on the disk; and the catalogue with its log. */
uint64_t derived_bytes(const struct doppel_library *library, int which);
uint64_t catalogue_bytes(const struct doppel_library *library);

/* ---- reading ---- */

/** How the index of a library is opened. @param folder of its segments: derived_folder's */
struct doppel_store_index_options derived_options(const struct derivation *derivation,
                                                  struct doppel_store *store, const char *folder);

/** The folder; given (sqlite3_free), NULL without memory. */
char *derived_folder(const struct doppel_library *library, const struct derivation *derivation);

/** The set as of the last commit of anybody; borrowed until the next call, or derived_readers_free.
 */
enum doppel_status derived_set(struct doppel_library *library, enum derived_index which,
                               union derived_set *out, struct doppel_error *error);
void derived_readers_free(struct doppel_library *library);

/** What `load` made of an item, for a set that asks for it, from any thread; NULL when it cannot be
 * had. Borrowed until derived_return, which is called in any case, before another is taken. */
const struct track_bytes *derived_take(struct derived_reader *reader, uint64_t id);
void derived_return(struct derived_reader *reader);

/** What was taken is not what it should be. Before derived_return. */
void derived_note_unreadable(struct derived_reader *reader, uint64_t id);

#endif
