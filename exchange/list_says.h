/* What lists say of an item: tags, and that it came with them; in memory, and in JSON. */
#ifndef DOPPEL_EXCHANGE_LIST_SAYS_H
#define DOPPEL_EXCHANGE_LIST_SAYS_H

#include <doppel/json_writer.h>
#include <doppel/library.h>

#include "compare/json_fields.h"

/* Pairs of a list and a tag, those of a list together; the tag "": it brought the item. */
struct list_says {
    struct tag_of_list {
        char *list, *tag;
    } * items;
    size_t count, capacity;
};

/* What a library has. @param out zeroed before; given (list_says_free), also on failure */
enum doppel_status list_says_load(struct doppel_library *library, uint64_t id,
                                  struct list_says *out, struct doppel_error *error);
void list_says_free(struct list_says *says);

/* As "brought_by":["a"] and "tags":{"a":["x","y"]}, where there is something. */
void list_says_write(struct doppel_json *json, const struct list_says *says);
void list_says_read(struct fields *fields, struct list_says *out);

/* The labels that no list gave. @param out room for all of them; what it has is borrowed
 * @return how many */
size_t list_says_other_labels(const struct list_says *says, const struct doppel_metadata *about,
                              char **out);

/* Say it of an item of a library, which is on these lists. @param fresh it came in just now */
enum doppel_status list_says_put(struct doppel_library *library, uint64_t id,
                                 const struct list_says *says, bool fresh,
                                 struct doppel_error *error);

#endif
