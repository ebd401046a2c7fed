/* How an item is told to people: by its path, or, where it has no file, by a name. */
#ifndef DOPPEL_TOOLS_OUTPUT_ITEM_NAME_H
#define DOPPEL_TOOLS_OUTPUT_ITEM_NAME_H

#include <stdbool.h>

#include <doppel/json_writer.h>
#include <doppel/library.h>

/* Its path; without a file what people call it, or the digest that it stands for, else "item 42".
 * Given (free). */
char *name_of_item(struct doppel_library *library, const struct doppel_item *item);

/* "path", or "name" of what has no file. */
void write_item_name(struct doppel_json *row, bool has_file, const char *name);
#endif
