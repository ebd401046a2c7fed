/* What parts of Office Open XML have in common: which are the slides or sheets, in which order. */
#ifndef DOPPEL_DOCUMENTS_OFFICE_H
#define DOPPEL_DOCUMENTS_OFFICE_H

#include "documents/parts.h"

struct office_parts {
    ARRAY(const struct office_part *) items;
};

/* The parts that the main part of a document lists, in its order; those that are not there are left
 * out.
 * @param folder  "ppt", in which `main` lies, "presentation"
 * @param element that names one by the id of a relation
 * @param out     given (array_free of its items), also on failure */
enum doppel_status office_list(const struct document_parts *parts, const char *folder,
                               const char *main, const char *element, struct office_parts *out,
                               struct doppel_error *error);

/* Whether an element stands in for what other programs cannot show: what it stands for is there. */
bool is_fallback(const char *name);

#endif
