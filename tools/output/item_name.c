/* How an item is told to people. */
#include "tools/output/item_name.h"

#include "tools/memory.h"
#include "tools/output/output.h"

char *name_of_item(struct doppel_library *library, const struct doppel_item *item)
{
    return must_have(doppel_library_item_name(library, item));
}

void write_item_name(struct doppel_json *row, bool has_file, const char *name)
{
    if (has_file)
        doppel_json_path(row, "path", name);
    else
        doppel_json_text(row, "name", name);
}
