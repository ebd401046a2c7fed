/* A library of images for tests of which of them may match, and its groups as text: those that are
 * found, and those that the matcher alone finds in all items. */
#ifndef TESTS_GROUP_PAIRED_LIBRARY_H
#define TESTS_GROUP_PAIRED_LIBRARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/group.h>

enum { FILES = 90, MOST_TEXT = 1 << 16 };

struct world {
    const char *folder;
    char *directory;
    struct doppel_library *library;
    struct doppel_run *run;
    uint64_t ids[FILES]; /* 0: it is not there */
    uint64_t random, notices;
    bool damaged; /* some fingerprints */
    struct doppel_item_set wanted;
    struct doppel_group_options options;
};

/* Groups as text: of each the ids of its members, in order. */
struct told_groups {
    char text[MOST_TEXT];
    size_t used;
    struct doppel_group_counts counts;
};

unsigned draw(struct world *world, unsigned end);
void open_world(struct world *world);
void world_make(struct world *world, const char *folder, uint64_t seed);
void world_free(struct world *world);

/** In families; some have the bytes of another one. */
struct doppel_record make_record(struct world *world);
void put_file(struct world *world, unsigned file);
/** Some come, go, or change; some are on a disabled list. Committed. */
void change_items(struct world *world);

int compare_ids(const void *left, const void *right);
void find_groups(struct world *world, struct told_groups *out);
/** They are those of the matcher alone. */
void assert_groups(struct world *world, const char *when);

/** The file of its pairs. @return false: there is none */
bool find_pairs_file(const struct world *world, char *out, size_t size);
void copy_file(const char *from, const char *to);

#endif
