/* What a record says of itself beside its text: an id, labels, lists, any JSON. */
#ifndef DOPPEL_CORPUS_READ_RECORD_METADATA_H
#define DOPPEL_CORPUS_READ_RECORD_METADATA_H

#include <doppel/library.h>

#include "corpus/read/parse.h"

/* A value as it stands in its line. */
struct metadata_token {
    const char *name;  /* of its field */
    const char *bytes; /* NULL: absent */
    size_t size;       /* to the end of the line; readable PARSE_SLACK beyond */
};

struct metadata_tokens {
    struct metadata_token external_id, meta, labels, lists[2];
};

/** Whether any is there. */
bool record_metadata_is_any(const struct metadata_tokens *tokens);

/** Read them. @param out given (record_metadata_free); untouched on failure. DOPPEL_E_FORMAT (a
 * value of another type, with a sentence); DOPPEL_E_MEMORY */
enum doppel_status record_metadata_read(const struct metadata_tokens *tokens, struct json *json,
                                        struct doppel_metadata **out, struct doppel_error *error);
void record_metadata_free(struct doppel_metadata *about);

/** A copy without source and date: given (record_metadata_free); NULL: no memory. */
struct doppel_metadata *record_metadata_copy(const struct doppel_metadata *metadata);

#endif
