/* A drawn collection with known groups, and what `scan` and `groups` say of it in few words. */
#ifndef DOPPEL_TESTS_COLLECTION_H
#define DOPPEL_TESTS_COLLECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "draw.h"

enum { DRAWN_WIDTH = 480, DRAWN_HEIGHT = 360 };

/* Write a picture; a name that ends in .png is one, others are JPEGs. Frees it. */
void keep_image(const char *path, struct image image, int quality);

/* Write subject `subject` of `seed` at the usual size, quality 90. */
void keep_drawing(const char *path, unsigned subject, uint32_t seed);

/* Into folder pics/: six pictures that have copies, four that have none; COLLECTION_GROUPS is what
 * is to be found. */
void make_collection(void);
extern const char COLLECTION_GROUPS[];
enum { COLLECTION_FILES = 20 };

/**
 * The groups of a JSON Lines output as text: a line a group, the members' paths in byte order, each
 * followed by its reason, "pics/a.jpg kept, pics/b.jpg near"; the lines in byte order. Given
 * (free). Fails the test when a line is not a group as `scan --json` prints it.
 */
char *groups_as_text(const char *json_lines, const char *base);

#endif
