/* A set of files: open addressing, linear probing, at most three quarters full. */
#include "core/files/file_set.h"

#include <stdint.h>
#include <stdlib.h>

/* Both 0 is an empty slot: no file system has such a file. */
struct file_id {
    uint64_t device, inode;
};

/* The slot that holds `id`, or the empty one where it belongs. */
static struct file_id *find_slot(struct file_id *slots, size_t capacity, struct file_id id)
{
    uint64_t hash = (id.inode ^ id.device << 40) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = (hash >> 20) & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        struct file_id *slot = &slots[i];
        bool same = slot->device == id.device && slot->inode == id.inode;
        if (same || (slot->device == 0 && slot->inode == 0))
            return slot;
    }
}

bool file_set_reserve(struct file_set *set)
{
    if (set->count < set->capacity / 4 * 3)
        return true;
    size_t capacity = set->capacity ? set->capacity * 2 : 64;
    struct file_id *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].device || set->slots[i].inode)
            *find_slot(slots, capacity, set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->capacity = capacity;
    return true;
}

bool file_set_add(struct file_set *set, const struct stat *stat)
{
    struct file_id id = {stat->st_dev, stat->st_ino};
    if (!file_set_reserve(set))
        return !file_set_has(set, stat);
    struct file_id *slot = find_slot(set->slots, set->capacity, id);
    if (slot->device || slot->inode)
        return false;
    *slot = id;
    set->count++;
    return true;
}

bool file_set_has(const struct file_set *set, const struct stat *stat)
{
    struct file_id id = {stat->st_dev, stat->st_ino};
    if (!set->capacity)
        return false;
    const struct file_id *slot = find_slot(set->slots, set->capacity, id);
    return slot->device || slot->inode;
}

void file_set_free(struct file_set *set)
{
    free(set->slots);
    *set = (struct file_set){0};
}
