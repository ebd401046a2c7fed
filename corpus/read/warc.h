/* WARC and WET files of web archives as lines of JSON: a line a page, with "id" (its address),
 * "record" (the record's own id), "source" (its host), "date", and "text", of HTML without its
 * markup. */
#ifndef DOPPEL_CORPUS_READ_WARC_H
#define DOPPEL_CORPUS_READ_WARC_H

#include <doppel/corpus.h>

#include "corpus/read/source.h"

struct warc;

/** Whether these are the first bytes of such a file. */
bool warc_begins(const char *bytes, size_t size);

/** @param source borrowed for its life. @param max_bytes of a page: longer ones have no text.
 * @param begun what was read of the source already. NULL: no memory */
struct warc *warc_new(struct corpus_source *source, uint64_t max_bytes, const char *begun,
                      size_t size);
void warc_free(struct warc *warc);

/** As source_read, of the lines. DOPPEL_E_CORRUPT: it is no WARC file from there on. */
enum doppel_status warc_read(struct warc *warc, char *buffer, size_t size, size_t *out_size,
                             struct doppel_error *error);

#endif
