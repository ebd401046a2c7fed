/* What is kept in memory of a library: a map, and when it is out of date. */
#include "library/memory.h"

#include <stdlib.h>

#include "core/try.h"
#include "library/items/rows.h"

/* ---- map: open addressing, half full at most ---- */

enum { FIRST_SLOTS = 64 };

static size_t slot_of(const struct key_map *map, const uint64_t key[2])
{
    uint64_t mixed = (key[0] ^ key[1] >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(mixed >> 20) & (map->capacity - 1);
    while ((map->slots[at].key[0] | map->slots[at].key[1]) &&
           (map->slots[at].key[0] != key[0] || map->slots[at].key[1] != key[1]))
        at = (at + 1) & (map->capacity - 1);
    return at;
}

static bool grow_key_map(struct key_map *map)
{
    struct key_map larger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_SLOTS};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key[0] | map->slots[i].key[1])
            larger.slots[slot_of(&larger, map->slots[i].key)] = map->slots[i];
    larger.count = map->count;
    free(map->slots);
    *map = larger;
    return true;
}

bool key_map_put(struct key_map *map, const uint64_t key[2], uint64_t value)
{
    if (map->count * 2 >= map->capacity && !grow_key_map(map))
        return false;
    struct key_slot *slot = &map->slots[slot_of(map, key)];
    if (!(slot->key[0] | slot->key[1]))
        map->count++;
    *slot = (struct key_slot){{key[0], key[1]}, value};
    return true;
}

uint64_t key_map_get(const struct key_map *map, const uint64_t key[2])
{
    return map->count ? map->slots[slot_of(map, key)].value : 0;
}

static void key_map_free(struct key_map *map)
{
    free(map->slots);
    *map = (struct key_map){0};
}

/* ---- parts ---- */

void memory_drop(struct memory *memory, enum memory_part part)
{
    memory->slots[part] = (struct memory_slot){0};
    if (part == MEMORY_WORDS)
        key_map_free(&memory->words);
    if (part == MEMORY_STATES)
        key_map_free(&memory->states);
    if (part != MEMORY_SOURCES)
        return;
    for (size_t i = 0; i < memory->source_count; i++)
        free(memory->sources[i].pattern);
    free(memory->sources);
    memory->sources = NULL;
    memory->source_count = memory->source_capacity = 0;
}

void memory_free(struct memory *memory)
{
    for (int part = 0; part < MEMORY_PARTS; part++)
        memory_drop(memory, (enum memory_part)part);
}

static enum doppel_status read_revision(struct doppel_library *library, enum memory_part part,
                                        int64_t *out, struct doppel_error *error)
{
    *out = 0;
    return rows_number(library, "SELECT number FROM revision WHERE part = ?1", VALUES(ID(part)),
                       out, NULL, error);
}

enum doppel_status memory_refresh(struct doppel_library *library, struct doppel_error *error)
{
    struct memory *memory = &library->memory;
    bool any = false;
    for (int part = 0; part < MEMORY_PARTS; part++)
        any |= memory->slots[part].loaded;
    if (!any)
        return DOPPEL_OK;
    int64_t version = 0;
    enum doppel_status status;
    TRY(doppel_store_data_version(library->store, &version, error));
    if (version == memory->data_version)
        return DOPPEL_OK;
    for (int part = 0; part < MEMORY_PARTS; part++) {
        int64_t revision = 0;
        if (!memory->slots[part].loaded)
            continue;
        TRY(read_revision(library, (enum memory_part)part, &revision, error));
        if (revision != memory->slots[part].revision)
            memory_drop(memory, (enum memory_part)part);
    }
    memory->data_version = version;
done:
    return status;
}

enum doppel_status memory_changed(struct doppel_library *library, enum memory_part part,
                                  struct doppel_error *error)
{
    library->memory.slots[part].revision++;
    return rows_run(library,
                    "INSERT INTO revision(part, number) VALUES(?1, 1)"
                    " ON CONFLICT(part) DO UPDATE SET number = number + 1",
                    VALUES(ID(part)), error);
}

enum doppel_status memory_load(struct doppel_library *library, enum memory_part part,
                               enum doppel_status (*load)(struct doppel_library *library,
                                                          struct doppel_error *error),
                               struct doppel_error *error)
{
    struct memory_slot *slot = &library->memory.slots[part];
    if (slot->loaded)
        return DOPPEL_OK;
    int64_t revision = 0;
    enum doppel_status status = read_revision(library, part, &revision, error);
    if (!status)
        status = load(library, error);
    if (status) {
        memory_drop(&library->memory, part);
        return status;
    }
    slot->loaded = true;
    slot->revision = revision;
    return DOPPEL_OK;
}
