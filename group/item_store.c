/* Packed items; files of one folder, which come one after the other, share its path. */
#include "group/item_store.h"

#include <stdlib.h>
#include <string.h>

/* Of `source`, beside the number. */
static const uint32_t REFERENCE = UINT32_C(1) << 31, NO_FILE = UINT32_C(1) << 27;
enum { READING_SHIFT = 28, READING_MASK = 7 };
static const uint32_t CHOSEN = UINT32_C(1) << 26, BENIGN = UINT32_C(1) << 25;
static const uint32_t CUT = UINT32_C(1) << 24, SOURCE_MASK = (UINT32_C(1) << 24) - 1;

struct packed_item {
    int64_t size, mtime_ns;
    uint32_t width, height;
    uint32_t source;
    uint32_t name; /* in names */
};

/* Bytes at the end of the names; NULL without memory, or beyond 32 bits. */
static char *grow_names(struct item_store *store, size_t size)
{
    while (store->names.count + size > store->names.capacity) {
        size_t count = store->names.count;
        store->names.count = store->names.capacity;
        bool grown = array_reserve(&store->names);
        store->names.count = count;
        if (!grown)
            return NULL;
    }
    if (store->names.count + size > UINT32_MAX)
        return NULL;
    char *at = store->names.items + store->names.count;
    store->names.count += size;
    return at;
}

/* Bytes of the path up to and with the last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_last_folder(const struct item_store *store, const char *path, size_t length)
{
    if (!store->names.count)
        return false;
    const char *folder = store->names.items + store->last_folder;
    return strncmp(folder, path, length) == 0 && !folder[length];
}

static bool add_name(struct item_store *store, const char *path, uint32_t *out_name)
{
    size_t length = folder_length(path), name_size = strlen(path + length) + 1;
    if (!is_last_folder(store, path, length)) {
        uint32_t folder = (uint32_t)store->names.count;
        char *at = grow_names(store, length + 1);
        if (!at)
            return false;
        memcpy(at, path, length);
        at[length] = '\0';
        store->last_folder = folder;
    }
    *out_name = (uint32_t)store->names.count;
    char *at = grow_names(store, sizeof store->last_folder + name_size);
    if (!at)
        return false;
    memcpy(at, &store->last_folder, sizeof store->last_folder);
    memcpy(at + sizeof store->last_folder, path + length, name_size);
    return true;
}

enum doppel_status item_store_add(struct item_store *store, const struct grouping_item *item,
                                  struct doppel_error *error)
{
    uint32_t number = item_store_count(store);
    struct packed_item packed = {.size = item->size,
                                 .mtime_ns = item->mtime_ns,
                                 .width = item->width,
                                 .height = item->height,
                                 .source =
                                     (item->source & SOURCE_MASK) |
                                     (uint32_t)(item->reading & READING_MASK) << READING_SHIFT |
                                     (item->reference ? REFERENCE : 0) |
                                     (item->no_file ? NO_FILE : 0) | (item->chosen ? CHOSEN : 0) |
                                     (item->benign ? BENIGN : 0) | (item->cut ? CUT : 0)};
    bool room = number < UINT32_MAX - 1 && array_reserve(&store->items) &&
                array_reserve(&store->digests) && (!item->id || array_reserve(&store->ids)) &&
                (!item->inode || array_reserve(&store->places)) &&
                (!item->has_authority || array_reserve(&store->authorities));
    if (!room || !add_name(store, item->path, &packed.name))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", number);
    (void)array_push(&store->items, packed);
    (void)array_push(&store->digests, item->digest);
    if (item->id)
        (void)array_push(&store->ids, item->id);
    if (item->has_authority)
        (void)array_push(&store->authorities, item->authority);
    if (item->inode)
        (void)array_push(&store->places, ((struct item_place){item->device, item->inode}));
    return DOPPEL_OK;
}

void item_store_free(struct item_store *store)
{
    array_free(&store->items);
    array_free(&store->digests);
    array_free(&store->ids);
    array_free(&store->places);
    array_free(&store->authorities);
    array_free(&store->names);
}

uint32_t item_store_count(const struct item_store *store)
{
    return (uint32_t)store->items.count;
}

struct grouping_item item_store_get(const struct item_store *store, uint32_t number)
{
    const struct packed_item *packed = &store->items.items[number];
    struct grouping_item item = {.size = packed->size,
                                 .mtime_ns = packed->mtime_ns,
                                 .width = packed->width,
                                 .height = packed->height,
                                 .source = packed->source & SOURCE_MASK,
                                 .reading = packed->source >> READING_SHIFT & READING_MASK,
                                 .reference = packed->source & REFERENCE,
                                 .no_file = packed->source & NO_FILE,
                                 .cut = packed->source & CUT,
                                 .chosen = packed->source & CHOSEN,
                                 .benign = packed->source & BENIGN};
    if (number < store->digests.count)
        item.digest = store->digests.items[number];
    if (number < store->ids.count)
        item.id = store->ids.items[number];
    if (number < store->authorities.count)
        item.authority = store->authorities.items[number];
    if (number < store->places.count) {
        item.device = store->places.items[number].device;
        item.inode = store->places.items[number].inode;
    }
    return item;
}

char *item_store_path(const struct item_store *store, uint32_t number)
{
    const char *name = store->names.items + store->items.items[number].name;
    uint32_t folder_at;
    memcpy(&folder_at, name, sizeof folder_at);
    name += sizeof folder_at;
    const char *folder = store->names.items + folder_at;
    char *path = malloc(strlen(folder) + strlen(name) + 1);
    if (path)
        stpcpy(stpcpy(path, folder), name);
    return path;
}

const struct doppel_digest *item_store_digest(const struct item_store *store, uint32_t number)
{
    return &store->digests.items[number];
}

void item_store_forget_digests(struct item_store *store)
{
    array_free(&store->digests);
}
