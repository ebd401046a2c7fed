/* What is asked for each candidate, kept in memory: words, states of items, sources. */
#ifndef DOPPEL_LIBRARY_MEMORY_H
#define DOPPEL_LIBRARY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

/** A number for each of many keys of 128 bits that are not zero. Zero-initialised it is empty. */
struct key_map {
    struct key_slot *slots;
    size_t count, capacity; /* a power of two */
};

struct key_slot {
    uint64_t key[2];
    uint64_t value;
};

/** Put a value; false without memory. */
bool key_map_put(struct key_map *map, const uint64_t key[2], uint64_t value);
/** The value of a key; 0 where none was put. */
uint64_t key_map_get(const struct key_map *map, const uint64_t key[2]);

/** Something of the library that is kept in memory. */
enum memory_part { MEMORY_WORDS, MEMORY_STATES, MEMORY_SOURCES, MEMORY_PARTS };

struct source_row {
    char *pattern;
    int64_t authority;
    bool is_pattern;
};

/** All zero: nothing was asked for yet. */
struct memory {
    struct memory_slot {
        bool loaded, too_many; /* too many to be kept: the tables are asked each time */
        uint64_t damaged;      /* rows that could not be used */
        int64_t revision;      /* of the table, as it was read */
    } slots[MEMORY_PARTS];
    int64_t data_version; /* of the database, when the revisions were last looked at */
    struct key_map words, states;
    bool has_states; /* there are lists that are not active */
    struct source_row *sources;
    size_t source_count, source_capacity;
};

struct doppel_library;

/** Forget what others have changed since: within a new transaction. */
enum doppel_status memory_refresh(struct doppel_library *library, struct doppel_error *error);

/** Say that something was changed: others will see it. What is in memory is the caller's to keep
 * up, or to drop. */
enum doppel_status memory_changed(struct doppel_library *library, enum memory_part part,
                                  struct doppel_error *error);

/** Forget one; all. */
void memory_drop(struct memory *memory, enum memory_part part);
void memory_free(struct memory *memory);

/** To be called before a part is read: `load` fills it when it is not there. */
enum doppel_status memory_load(struct doppel_library *library, enum memory_part part,
                               enum doppel_status (*load)(struct doppel_library *library,
                                                          struct doppel_error *error),
                               struct doppel_error *error);

#endif
