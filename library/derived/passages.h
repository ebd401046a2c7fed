/* What the files of the passages of a library's texts share: keys as they are read from rows, and
 * how much is in an index. */
#ifndef DOPPEL_LIBRARY_DERIVED_PASSAGES_H
#define DOPPEL_LIBRARY_DERIVED_PASSAGES_H

#include "core/array.h"
#include "library/derived/codes.h"

/* What is in an index of texts of one version. */
struct passage_totals {
    int64_t texts, words;
};

/* What is indexed of a text; one without postings is not. */
struct passage_keys {
    uint64_t id;
    uint16_t version;
    bool leads;
    uint32_t words;
    ARRAY(struct doppel_index_posting) postings;
};

/** Texts of several versions lie in one index: the keys of each are combined with a number of its
 * own, so that they meet no others. */
uint32_t passage_salt(uint16_t version);

enum code_table passage_table(bool leads);

/** As a text is read when it is compared (compare/text.c). @param keys its version, words and
 * postings are set: none of what comes from no text. @return false without memory */
bool passage_keys_take(const struct doppel_record *record, struct passage_keys *keys);

/** The same of a row of SELECT_TEXT_FILE. A damaged one has none. */
bool passage_keys_read(sqlite3_stmt *statement, struct passage_keys *out);

struct doppel_index_item passage_item(const struct passage_keys *keys);
enum doppel_status no_memory_for_keys(struct doppel_error *error);

/** The texts of a table, one after the other, and how much was read of each version. */
struct passage_rows {
    struct doppel_store *store;
    enum code_table which;
    sqlite3_stmt *statement;
    struct passage_keys keys; /* of the text that was read last */
    ARRAY(struct version_totals {
        uint16_t version;
        struct passage_totals totals;
    })
    versions;
    const struct doppel_library_watch *watch; /* NULL: nobody */
    uint64_t read, total;
    enum doppel_status status; /* why they ended early */
    struct doppel_error *error;
};

enum doppel_status passage_rows_begin(struct passage_rows *rows);
void passage_rows_end(struct passage_rows *rows);

/** The next that has keys and belongs there. @return false at the end, and when it failed */
bool passage_rows_next(struct passage_rows *rows);

/** Put into, or take out of, what the catalogue tells of an index. */
enum doppel_status passage_totals_add(struct doppel_store *store, enum code_table which,
                                      uint16_t version, struct passage_totals more,
                                      struct doppel_error *error);
enum doppel_status passage_totals_read(struct doppel_store *store, enum code_table which,
                                       uint16_t version, struct passage_totals *out,
                                       struct doppel_error *error);

#endif
