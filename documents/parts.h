/* The parts of a document that is a zip: those that are wanted, unpacked. */
#ifndef DOPPEL_DOCUMENTS_PARTS_H
#define DOPPEL_DOCUMENTS_PARTS_H

#include "core/array.h"
#include "documents/formats.h"

struct office_part {
    char *name, *bytes;
    size_t size;
};

struct document_parts {
    ARRAY(struct office_part) items;
};

typedef bool part_wanted(const char *name);

/* @param out given (parts_free), also on failure. DOPPEL_E_UNSUPPORTED: it is encrypted */
enum doppel_status parts_unpack(const struct document_input *input, part_wanted *wanted,
                                struct document_parts *out, struct doppel_error *error);
void parts_free(struct document_parts *parts);

/* So many parts can be listed: slides, sheets, chapters. */
enum { LISTED_MOST = 10000 };

/* The sentence of a list that is too long (DOPPEL_E_LIMIT), or for which there is no memory. */
enum doppel_status parts_check_list(enum doppel_status status, struct doppel_error *error);

/* NULL without one. */
const struct office_part *find_document_part(const struct document_parts *parts, const char *name);

#endif
