/* Sounds of a library: items of scheme peaks32. Their strong peaks are the attachment, and the
 * postings of these are in an index that is kept beside the catalogue and can be made anew from
 * it. */
#ifndef DOPPEL_LIBRARY_SOUNDS_H
#define DOPPEL_LIBRARY_SOUNDS_H

#include "library/catalogue.h"

/** Whether records are sounds: SQL for a column `scheme`, and the same of a record. */
#define IS_SOUND "scheme = 10"
bool is_sound(const struct doppel_record *record);

/** SQL for whether a row of `attachment` is as it was written, and whether the one of an item is,
 * if it is a sound. */
#define PEAKS_ARE_WHOLE "attachment." IS_WHOLE(COMPUTED_COLUMNS("attachment"))
#define SOUND_IS_WHOLE                                                                             \
    "(NOT item." IS_SOUND " OR EXISTS(SELECT 1 FROM attachment"                                    \
    " WHERE attachment.item = item.id AND " PEAKS_ARE_WHOLE "))"

/** The record as the library keeps it: with the strong peaks alone. @param out shares all but its
 * attachment with `record`; that is given (free). DOPPEL_E_ARGUMENT without peaks. */
enum doppel_status sounds_strip(const struct doppel_record *record, struct doppel_record *out,
                                struct doppel_error *error);

/** The peaks of a sound as they are in the database. @param out given (free). DOPPEL_E_NOT_FOUND,
 * _CORRUPT, … */
enum doppel_status sounds_read_peaks(struct doppel_store *store, uint64_t id, uint8_t **out,
                                     size_t *out_size, struct doppel_error *error);

/** How the index of a library is opened. @param folder of its segments: sounds_folder's */
struct doppel_store_index_options sounds_index_options(struct doppel_store *store,
                                                       const char *folder);

/** The folder; given (sqlite3_free), NULL without memory. */
char *sounds_folder(const struct doppel_library *library);

/** Open the index to write, or see that what waits in its log does not grow too long: before a
 * change, outside of a transaction, which is committed for it. */
enum doppel_status sounds_prepare(struct doppel_library *library, struct doppel_error *error);

/** Whether item `id`, or the one of a path (may be NULL), is a sound. */
enum doppel_status sounds_concern(struct doppel_library *library, const char *path, uint64_t id,
                                  bool *out, struct doppel_error *error);

/** Put the postings of an item in, or take them out, within the transaction. */
enum doppel_status sounds_put(struct doppel_library *library, uint64_t id,
                              const struct doppel_record *record, struct doppel_error *error);
enum doppel_status sounds_forget(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error);

/** Whether an item has the peaks of this record's scheme and version, undamaged. */
enum doppel_status sounds_holds(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, bool *out,
                                struct doppel_error *error);

/** Make the index anew when files of it are gone; a failure will show when it is needed. */
void sounds_mend(struct doppel_library *library);

/** What waits in the log becomes a segment, if it is much. Outside of a transaction. */
void sounds_close(struct doppel_library *library);

/** What doppel_library_sounds gave, and what stands behind it. */
struct sounds_reader;
void sounds_reader_free(struct sounds_reader *reader);

#endif
