/* Indexes of codes: of each scheme whose items are found by whole codes, those tables in which they
 * are found. The payload is the id of the item, or of the record. Unlike the indexes of tracks
 * (derived.h) they are shared: whoever writes items appends to their logs. */
#ifndef DOPPEL_LIBRARY_DERIVED_CODES_H
#define DOPPEL_LIBRARY_DERIVED_CODES_H

#include "library/catalogue.h"

/** What is in an index: codes of images; all codes of recordings, each with its place; or of texts
 * the signatures of those who lead, of those who follow another, of all, or the first bits of their
 * contents' digests, or the lowest shingles of files, each of them. */
enum code_part {
    CODES_OF_IMAGE,
    CODES_OF_RECORDING,
    CODES_OF_LEADER,
    CODES_OF_FOLLOWER,
    CODES_OF_TEXT,
    CODES_OF_CONTENT,
    CODES_OF_SHINGLES
};

/** What an index of codes is of, and the folder in which it lies. */
struct code_table_row {
    const char *folder;
    enum doppel_scheme_id scheme; /* none: texts of all schemes */
    enum code_part part;
    enum doppel_image_table table; /* of images */
};
enum { CODE_MAX_WORDS = DOPPEL_TEXT_MAX_LANES / 4 }; /* of one code */
extern const struct code_table_row code_tables[CODE_TABLES];

/** Put the codes of an item in, or take them out, within the transaction; the latter while the item
 * is there. */
enum doppel_status codes_put(struct doppel_library *library, uint64_t id,
                             const struct doppel_record *record, struct doppel_error *error);
enum doppel_status codes_forget(struct doppel_library *library, uint64_t id, unsigned schemes,
                                struct doppel_error *error);

/** Whether the library has had an index made. */
enum doppel_status codes_are_there(struct doppel_library *library, enum code_table which, bool *out,
                                   struct doppel_error *error);

/** Many items come in. Until the end of the transaction nothing is put into indexes that are not
 * there: these are made when all have come in, at codes_make_put_off, unless somebody needs them
 * before; of what came in, where the library had nothing before, else of the items. */
enum doppel_status codes_put_off(struct doppel_library *library, struct doppel_error *error);
void codes_put_off_end(struct doppel_library *library);
void codes_make_put_off(struct doppel_library *library);

/** The codes of an item in an index, and what stands for each there: the item, or record; of a
 * recording the place, too, and of phash64 the view. */
struct item_codes {
    uint64_t *codes, *payloads;
    size_t count;
};

/** Of an item that is no text. @param out given (item_codes_free), also on failure */
enum doppel_status codes_of_record(enum code_table which, uint64_t id,
                                   const struct doppel_record *record, struct item_codes *out,
                                   struct doppel_error *error);
void item_codes_free(struct item_codes *codes);

/** Keep codes that come in while their index is put off; or no longer, since they are not all that
 * there is. */
void codes_put_aside(struct code_index *index, const struct item_codes *codes);
void codes_forget_spool(struct code_index *codes);

/** Whether each code of an item has a payload of its own; else it is the id. */
bool has_own_payloads(enum code_table which);

/** Take the codes of such an item out, which is there still. */
enum doppel_status item_codes_forget(struct doppel_library *library,
                                     struct doppel_store_index *kept, enum code_table which,
                                     uint64_t id, struct doppel_error *error);

/** The index of a table, as of now, made of the items where there is none. @param out borrowed
 * until the next call that changes or asks for it */
enum doppel_status codes_index(struct doppel_library *library, enum code_table which,
                               const struct doppel_index **out, struct doppel_error *error);

/** An index that was made within the transaction is gone: they are opened again when needed. */
void codes_rolled_back(struct doppel_library *library);

/** Long logs become segments; all are closed. Outside of a transaction. */
void codes_close(struct doppel_library *library);

/** Make an index again of the items; segments merged into one, and what was removed left out.
 * Outside of a transaction. */
enum doppel_status codes_make_again(struct doppel_library *library, enum code_table which,
                                    struct doppel_error *error);
enum doppel_status codes_merge(struct doppel_library *library, enum code_table which,
                               struct doppel_error *error);

/** Make again those whose files are not there. */
enum doppel_status codes_complete(struct doppel_library *library, struct doppel_error *error);

/** Open an index to put codes in, for which it is made, or to take some out.
 * @param out_made of all items that are there, just now. @param out_there else it need not forget
 */
enum doppel_status codes_open_to_put(struct doppel_library *library, enum code_table which,
                                     bool *out_made, struct doppel_error *error);
enum doppel_status codes_open_to_forget(struct doppel_library *library, enum code_table which,
                                        bool *out_there, struct doppel_error *error);

/** Put codes into one index, or take out those of an item. */
enum doppel_status codes_put_in(struct doppel_library *library, enum code_table which,
                                const struct item_codes *codes, struct doppel_error *error);
enum doppel_status codes_forget_in(struct doppel_library *library, enum code_table which,
                                   uint64_t id, struct doppel_error *error);

/** Make those again in which damage was met, unless nothing is to be made: then that is what is
 * returned. @param wanted of the tables that were searched
 * @param error going in, the damage */
enum doppel_status codes_mend(struct doppel_library *library,
                              bool (*wanted)(enum code_table which, const void *context),
                              const void *context, struct doppel_error *error);

/** Visit the codes that an index is to have, item by item, in no order. DOPPEL_E_CANCELLED when the
 * visitor returned false. */
typedef bool codes_visitor(void *context, const struct item_codes *codes);
enum doppel_status codes_of_items(struct doppel_store *store, enum code_table which,
                                  codes_visitor *visitor, void *context,
                                  struct doppel_error *error);

/** Whether there is an item that has codes there. */
enum doppel_status codes_any_items(struct doppel_store *store, enum code_table which, bool *out,
                                   struct doppel_error *error);

/** How many items, and records, are visited for it, of which some may have no code there. */
enum doppel_status codes_count_items(struct doppel_store *store, enum code_table which,
                                     uint64_t *out, struct doppel_error *error);

/** Have the codes of all items put somewhere, by way of a temporary file.
 * @param library who watches it is told how far it is
 * @param store   of the library, or another that has it open */
typedef enum doppel_status spool_user(void *context, const struct doppel_index_load *load,
                                      struct doppel_error *error);
enum doppel_status codes_load(const struct doppel_library *library, struct doppel_store *store,
                              enum code_table which, const struct doppel_index_options *make,
                              spool_user *use, void *context, struct doppel_error *error);

/** Whether some of the items are damaged, so that nobody knows what codes they had. */
enum doppel_status codes_are_uncertain(struct doppel_library *library, enum code_table which,
                                       bool *out, struct doppel_error *error);

/* ---- of texts ---- */

bool is_text_table(enum code_table which);
/** Whether those of records are in it, too, not of files alone. */
bool has_records(enum code_table which);
void text_table_options(enum code_table which, struct doppel_index_options *out);

/** codes_of_items and codes_are_uncertain of tables of texts. */
enum doppel_status codes_of_texts(struct doppel_store *store, enum code_table which,
                                  codes_visitor *visitor, void *context,
                                  struct doppel_error *error);
enum doppel_status texts_are_uncertain(struct doppel_library *library, bool *out,
                                       struct doppel_error *error);

/** What is indexed of a file of text, without those that are damaged. */
#define SELECT_TEXT_FILE                                                                           \
    "SELECT item.id, " RECORD_COLUMNS ", fingerprint.data, attachment.data,"                       \
    " NOT EXISTS(SELECT 1 FROM link WHERE link.item = item.id) FROM item"                          \
    " JOIN fingerprint ON fingerprint.item = item.id"                                              \
    " LEFT JOIN attachment ON attachment.item = item.id WHERE " ITEM_IS_WHOLE                      \
    " AND coalesce(attachment." IS_WHOLE(COMPUTED_COLUMNS("attachment")) ", 1)"
struct text_file {
    uint64_t id;
    struct doppel_record record; /* the attachment is borrowed from the row */
    bool leads;
};

/** @param out given (text_file_free). @return DOPPEL_E_CORRUPT: the row is damaged;
 * DOPPEL_E_MEMORY; then nothing is given */
enum doppel_status text_file_read(sqlite3_stmt *statement, struct text_file *out);
void text_file_free(struct text_file *file);

/** Put the codes of a file of text, or of a record, in; or take out those of a record, which is
 * there still. */
enum doppel_status text_codes_put_item(struct doppel_library *library, uint64_t id,
                                       const struct doppel_record *record,
                                       struct doppel_error *error);
enum doppel_status text_codes_put_record(struct doppel_library *library, uint64_t id,
                                         const struct doppel_library_text *record,
                                         struct doppel_error *error);
enum doppel_status text_codes_forget_record(struct doppel_library *library, uint64_t id,
                                            struct doppel_error *error);

/** A text may have begun to follow another one, or ceased to. What is no text is left alone.
 * @param led of a file, whether it followed none before */
enum doppel_status text_codes_move(struct doppel_library *library, uint64_t id, bool led,
                                   struct doppel_error *error);

/** Whether a file follows none. */
enum doppel_status text_file_leads(struct doppel_library *library, uint64_t id, bool *out,
                                   struct doppel_error *error);

/** Records that followed an item which is gone lead. */
enum doppel_status text_codes_free_followers(struct doppel_library *library, uint64_t id,
                                             struct doppel_error *error);

/* ---- the lowest shingles of files ---- */

bool is_shingle_table(enum code_table which);

/** Put the shingles of a file in; or codes_of_items. */
enum doppel_status shingles_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, struct doppel_error *error);
enum doppel_status codes_of_shingles(struct doppel_store *store, enum code_table which,
                                     codes_visitor *visitor, void *context,
                                     struct doppel_error *error);

/* ---- passages: keys of texts, at their words ----
 *
 * Beside each index the catalogue keeps how many texts are in it and how many words these have, in
 * rows of `revision`: how common a key is, and how probable a passage by chance, hangs on them. */

bool is_passage_table(enum code_table which);

/** Put the keys of a text in; take those of an item out, which is there still; or move them, when
 * whether it leads has changed just now. */
enum doppel_status passages_put(struct doppel_library *library, uint64_t id,
                                const struct doppel_record *record, bool leads,
                                struct doppel_error *error);
enum doppel_status passages_forget(struct doppel_library *library, enum code_table which,
                                   uint64_t id, struct doppel_error *error);
enum doppel_status passages_move(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error);

/** codes_of_items: each text is visited with one code, the version of how it was read above how
 * many words it has. */
enum doppel_status codes_of_passages(struct doppel_store *store, enum code_table which,
                                     codes_visitor *visitor, void *context,
                                     struct doppel_error *error);

/** codes_load, straight from the rows; and after that the rows of what was loaded. */
enum doppel_status passages_load(const struct doppel_library *library, struct doppel_store *store,
                                 enum code_table which, spool_user *use, void *context,
                                 struct doppel_error *error);
enum doppel_status passages_put_totals(struct doppel_store *store,
                                       const struct doppel_index_load *load,
                                       struct doppel_error *error);

/** Whether the rows are those of the texts that are there. */
enum doppel_status passages_are_counted(struct doppel_store *store, enum code_table which,
                                        bool *out, struct doppel_error *error);

/** How the index of a table is opened. Of another version of the scheme it is another index, in the
 * same place. @param out given (code_names_free), also on failure. @return false without memory */
struct code_names {
    char *name, *folder;
    struct doppel_index_options make;
    struct doppel_store_index_options options;
};
bool code_names_make(const char *directory, enum code_table which, struct code_names *out);
void code_names_free(struct code_names *names);

/** What it takes on the disk. */
uint64_t codes_bytes(const struct doppel_library *library);

#endif
