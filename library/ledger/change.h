/* Rows of items as they are put in and changed; shared by what adds and what imports. */
#ifndef DOPPEL_LIBRARY_LEDGER_CHANGE_H
#define DOPPEL_LIBRARY_LEDGER_CHANGE_H

#include "library/catalogue.h"

/** What is to be known of an item that is there. */
struct present {
    uint64_t id; /**< 0 = there is none */
    struct doppel_file_stamp stamp;
    bool settled, same_bytes; /* of a damaged row nobody knows: its item is mended */
    bool same_scheme; /**< and the same codes, or track: a text or a video may have been read in
                         another way; and not damaged: then it is recomputed, too */
};

enum doppel_status present_by_path(struct doppel_library *library, const char *path,
                                   const struct doppel_record *record, struct present *out,
                                   struct doppel_error *error);

/** An item on its way into the library, and what came of it. */
struct addition {
    const char *path; /**< "": it has no file */
    const struct doppel_file_stamp *stamp;
    const struct doppel_record *record;
    bool decided;     /**< another entry of the log tells that it came in */
    bool unproven;    /**< nobody here has seen the file: the stamp proves nothing */
    int64_t added_ns; /**< of a new item: when it came in elsewhere; 0: now */
    enum doppel_added outcome;
    uint64_t id;
};

/** Of bytes that nothing was made of: no scheme, and so no codes. */
bool is_bytes_alone(const struct doppel_record *record);

/** The path of an item that has none tells it apart from others all the same. */
void item_no_path(uint64_t id, uint8_t out[NO_FILE_BYTES]);

/** Within a change that has begun. */
enum doppel_status item_insert(struct doppel_library *library, struct addition *addition,
                               struct doppel_error *error);
enum doppel_status item_update(struct doppel_library *library, uint64_t id,
                               const struct addition *addition, struct doppel_error *error);
enum doppel_status item_put_computed(struct doppel_library *library, uint64_t id,
                                     const struct doppel_record *record, bool fresh,
                                     struct doppel_error *error);
/** Remove an item or record, of which the log says why; derived_prepare came before. */
enum doppel_status item_remove(struct doppel_library *library, uint64_t id, const char *reason,
                               struct doppel_error *error);

#endif
