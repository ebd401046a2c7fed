/* XML as it is met: elements by their local names, and text. Entities of the document itself are
 * not replaced, nothing else is loaded, and depth is bounded. */
#ifndef DOPPEL_DOCUMENTS_XML_H
#define DOPPEL_DOCUMENTS_XML_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/core.h>

/* The attributes of an element, while it begins. */
struct xml_attributes {
    const unsigned char **items;
    int count;
};

/* The value of an attribute: of one with any prefix where `name` has one ("r:id"), of one without
 * where it has none. @return false without one, and where it is longer than `size` allows */
bool xml_attribute(const struct xml_attributes *attributes, const char *name, char *out,
                   size_t size);

struct xml_handler {
    void (*begin)(void *context, const char *name, const struct xml_attributes *attributes);
    void (*end)(void *context, const char *name);                /* may be NULL */
    void (*text)(void *context, const char *bytes, size_t size); /* may be NULL */
};

/* @return DOPPEL_OK; DOPPEL_E_CORRUPT: it is no well-formed XML, or nested too deeply; _MEMORY */
enum doppel_status xml_read(const char *bytes, size_t size, const struct xml_handler *handler,
                            void *context, struct doppel_error *error);

#endif
