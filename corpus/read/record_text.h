/* The text of a record, wherever it is. */
#ifndef DOPPEL_CORPUS_READ_RECORD_TEXT_H
#define DOPPEL_CORPUS_READ_RECORD_TEXT_H

#include <doppel/corpus.h>
#include <doppel/text.h>

/* Holds the file of one record; zero-initialised it is empty. */
struct file_text {
    char *bytes;
    size_t capacity;
};

void file_text_free(struct file_text *file);

/** What to want of a record beside the rest: the first ones, and one of many others, are looked at,
 * which costs next to nothing. @return DOPPEL_TEXT_LOOKS, or 0 */
unsigned record_looks(const struct doppel_corpus_record *record);

/** Count one that was. @param want with which it was read */
void count_looks(struct doppel_text_looks *looks, unsigned want,
                 const struct doppel_text_result *result);

/** The text of a record that could be read: its own, or the content of the regular file that its
 * path names (record_path.h).
 * @param out borrowed from the record or from `file`, until its next use
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (it may not be opened); DOPPEL_E_NOT_FOUND; DOPPEL_E_IO;
 * DOPPEL_E_FORMAT (no regular file, or not a text); DOPPEL_E_LIMIT (more than `max_bytes`);
 * DOPPEL_E_MEMORY */
enum doppel_status record_text(const struct doppel_corpus_record *record,
                               const struct doppel_corpus_fields *fields, const char *corpus_path,
                               uint64_t max_bytes, struct file_text *file, const char **out,
                               size_t *out_size, struct doppel_error *error);

#endif
