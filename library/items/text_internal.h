/* What the files of texts share. */
#ifndef DOPPEL_LIBRARY_ITEMS_TEXT_INTERNAL_H
#define DOPPEL_LIBRARY_ITEMS_TEXT_INTERNAL_H

#include "library/catalogue.h"

#define TEXT_COLUMNS                                                                               \
    "id, record_id, source, date, corpus, line, place, size, added_ns, content, words, shingles, " \
    "too_short, decision, leader, leads, lanes"
#define TEXT_VALUES "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17"
/** TEXT_COLUMNS with others in place of four. */
#define TEXT_BUT(corpus, decision, leader, leads)                                                  \
    "id, record_id, source, date, " corpus ", line, place, size, added_ns, content, words,"        \
    " shingles, too_short, " decision ", " leader ", " leads ", lanes"
#define CORPUS_COLUMNS "corpus.id, corpus.path"
#define SHINGLE_COLUMNS "text_shingles.text, text_shingles.data"

enum { LANE_BYTES = 2, SHINGLE_BYTES = 4 };

/** NULL is bound as NULL. */
static inline void text_bind_string(sqlite3_stmt *statement, int parameter, const char *string)
{
    if (string)
        path_bind(statement, parameter, string);
}

/** Files of text among the items: those read as the texts of the library are. */
struct text_files {
    sqlite3_stmt *statement; /* NULL: there are none to be visited */
    uint64_t next;           /* id of the file that is at hand; UINT64_MAX: none */
    struct doppel_text_options options;
};

/** Begin with the first file of the query. */
enum doppel_status text_files_begin(struct doppel_library *library,
                                    const struct doppel_text_query *query, struct text_files *out,
                                    struct doppel_error *error);

/** Visit the file at hand, and go to the next one. DOPPEL_E_CANCELLED. */
enum doppel_status text_files_visit(struct doppel_library *library, struct text_files *files,
                                    doppel_library_text_visitor *visitor, void *context,
                                    struct doppel_error *error);
void text_files_end(struct text_files *files);

#endif
