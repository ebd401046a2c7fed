/* Slides and sheets in their order: ids that the main part lists, and where relations say that they
 * lie. Source: ECMA-376, part 2, 9. */
#include "documents/office.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "documents/xml.h"

enum { ID_BYTES = 64, NAME_BYTES = 256 };

struct relation {
    char id[ID_BYTES], target[NAME_BYTES];
};

struct office_listing {
    const struct document_parts *parts;
    const char *folder, *element;
    ARRAY(struct relation) relations;
    struct office_parts *out;
    enum doppel_status status;
};

bool is_fallback(const char *name)
{
    return strcmp(name, "Fallback") == 0;
}

static void take_relation(void *context, const char *name, const struct xml_attributes *attributes)
{
    struct office_listing *listing = context;
    struct relation relation;
    if (strcmp(name, "Relationship") == 0 &&
        xml_attribute(attributes, "Id", relation.id, sizeof relation.id) &&
        xml_attribute(attributes, "Target", relation.target, sizeof relation.target))
        listing->status = listing->relations.count >= LISTED_MOST      ? DOPPEL_E_LIMIT
                          : !array_push(&listing->relations, relation) ? DOPPEL_E_MEMORY
                                                                       : listing->status;
}

/* A target is a path from the folder of the main part, or from the top. */
static const struct office_part *part_of_relation(const struct office_listing *listing,
                                                  const char *target)
{
    char name[2 * NAME_BYTES];
    if (target[0] == '/')
        return find_document_part(listing->parts, target + 1);
    snprintf(name, sizeof name, "%s/%s", listing->folder, target);
    return find_document_part(listing->parts, name);
}

static void take_listed_part(void *context, const char *name,
                             const struct xml_attributes *attributes)
{
    struct office_listing *listing = context;
    char id[ID_BYTES];
    if (strcmp(name, listing->element) != 0 || !xml_attribute(attributes, "r:id", id, sizeof id))
        return;
    for (size_t i = 0; i < listing->relations.count; i++) {
        if (strcmp(listing->relations.items[i].id, id) != 0)
            continue;
        const struct office_part *part =
            part_of_relation(listing, listing->relations.items[i].target);
        if (listing->out->items.count >= LISTED_MOST)
            listing->status = DOPPEL_E_LIMIT;
        else if (part && !array_push(&listing->out->items, part))
            listing->status = DOPPEL_E_MEMORY;
        return;
    }
}

static enum doppel_status read_part_list(
    const struct office_part *part, struct office_listing *listing,
    void (*begin)(void *, const char *, const struct xml_attributes *), struct doppel_error *error)
{
    const struct xml_handler handler = {.begin = begin};
    if (!part)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: the list of its parts is missing");
    enum doppel_status status = xml_read(part->bytes, part->size, &handler, listing, error);
    return status ? status : parts_check_list(listing->status, error);
}

enum doppel_status office_list(const struct document_parts *parts, const char *folder,
                               const char *main, const char *element, struct office_parts *out,
                               struct doppel_error *error)
{
    struct office_listing listing = {
        .parts = parts, .folder = folder, .element = element, .out = out};
    char list[NAME_BYTES], relations[NAME_BYTES];
    enum doppel_status status;
    snprintf(list, sizeof list, "%s/%s.xml", folder, main);
    snprintf(relations, sizeof relations, "%s/_rels/%s.xml.rels", folder, main);
    TRY(read_part_list(find_document_part(parts, relations), &listing, take_relation, error));
    TRY(read_part_list(find_document_part(parts, list), &listing, take_listed_part, error));
done:
    array_free(&listing.relations);
    return status;
}
