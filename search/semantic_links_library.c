/* The texts of a library, linked by the vectors that it has; and a link as JSON. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "search/semantic_links.h"

/* ---- rows ---- */

static bool take_kept_row(void *context, const char *id, const float *row)
{
    struct semantic_linking *linking = context;
    struct semantic_chunk chunk;
    uint64_t item;
    if (!id || !semantic_parse_id(id, &item, &chunk))
        return true;
    /* whose they are by now; of what cannot be read, whose they were */
    (void)doppel_library_vectors_of(linking->semantic->library, item, &item, NULL);
    return !item || semantic_linking_add(linking, item, &chunk, row);
}

static enum doppel_status load_kept_rows(struct semantic_linking *linking,
                                         struct doppel_error *error)
{
    struct doppel_vector_index *index = linking->semantic->index;
    const uint64_t count = semantic_count(index);
    linking->dimension = doppel_vector_index_identity(index)->dimension;
    enum doppel_status status =
        doppel_vector_index_sample(index, (size_t)count, take_kept_row, linking, error);
    return status == DOPPEL_E_CANCELLED ? semantic_linking_no_memory(error) : status;
}

/* ---- links ---- */

/* DOPPEL_E_NOT_FOUND: it was removed meanwhile. */
static enum doppel_status visit_link(const struct semantic_linking *linking,
                                     const struct chosen_link *chosen,
                                     doppel_semantic_pair_visitor *visit, void *context,
                                     struct doppel_error *error)
{
    struct doppel_library *library = linking->semantic->library;
    const struct linkable_text *text = &linking->texts.items[chosen->text],
                               *of = &linking->texts.items[chosen->of];
    struct doppel_name name = {0}, of_name = {0};
    struct doppel_semantic_pair pair = {.item = text->item,
                                        .name = &name,
                                        .group = text->group,
                                        .of_group = of->group,
                                        .link = chosen->link};
    enum doppel_status status;
    TRY(doppel_library_name(library, text->item, &name, error));
    TRY(doppel_library_name(library, of->item, &of_name, error));
    pair.link.of = of_name.record_id;
    pair.link.of_path = of_name.path;
    pair.link.of_line = of_name.line;
    TRY(visit(context, &pair, error));
done:
    doppel_name_free(&name);
    doppel_name_free(&of_name);
    return status;
}

enum doppel_status doppel_semantic_links(struct doppel_semantic *semantic,
                                         const struct doppel_semantic_links_options *options,
                                         doppel_semantic_pair_visitor *visit, void *context,
                                         struct doppel_error *error)
{
    struct semantic_linking linking = {.semantic = semantic, .options = options};
    enum doppel_status status;
    TRY(semantic_weigh(semantic, error)); /* and see what is there by now */
    TRY(load_kept_rows(&linking, error));
    TRY(semantic_linking_sort(&linking, error));
    if (semantic_is_scored(semantic))
        TRY(semantic_linking_weigh(&linking, error));
    TRY(semantic_linking_find(&linking, error));
    semantic_linking_sum_up(&linking, options->summary);
    for (size_t i = 0; i < linking.links.count; i++) {
        status = visit_link(&linking, &linking.links.items[i], visit, context, error);
        if (status != DOPPEL_E_NOT_FOUND)
            TRY(status);
    }
    status = DOPPEL_OK;
done:
    if (linking.levels)
        semantic_weigh_no_more(semantic); /* which is of these rows, with their levels */
    semantic_linking_free(&linking);
    return status;
}

/* ---- JSON ---- */

static void write_linked_to(struct doppel_json *json, const struct doppel_semantic_pair *pair)
{
    const struct doppel_semantic_link *link = &pair->link;
    const char *path = pair->name->path;
    doppel_json_object_begin(json, "semantic");
    if (link->of_item)
        doppel_json_integer(json, "item", link->of_item);
    if (link->of)
        doppel_json_text(json, "of", link->of);
    if (link->of_path && (!link->of_line || !path || strcmp(link->of_path, path) != 0))
        doppel_json_path(json, "of_path", link->of_path);
    if (link->of_line)
        doppel_json_integer(json, "of_line", link->of_line);
    if (pair->of_group)
        doppel_json_integer(json, "of_group", pair->of_group);
    doppel_semantic_link_to_json(json, link);
    doppel_json_object_end(json);
}

void doppel_semantic_pair_to_json(struct doppel_json *json, const struct doppel_semantic_pair *pair)
{
    const struct doppel_name *name = pair->name;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    if (pair->item)
        doppel_json_integer(json, "id", pair->item);
    if (name->path)
        doppel_json_path(json, "path", name->path);
    if (name->record_id)
        doppel_json_text(json, "record", name->record_id);
    if (name->line)
        doppel_json_integer(json, "line", name->line);
    if (pair->group)
        doppel_json_integer(json, "in_group", pair->group);
    write_linked_to(json, pair);
    doppel_json_object_end(json);
}
