/* Which source package a file of Debian's comes from: its binary packages share their texts. */
#ifndef TESTS_BENCH_TEXT_FAMILIES_H
#define TESTS_BENCH_TEXT_FAMILIES_H

#include <stdint.h>

struct families;

/* From what dpkg knows; ends the program where that cannot be read. */
struct families *families_load(void);
void families_free(struct families *families);

/* A hash of the source package's name; of the path itself where dpkg does not know it. */
uint64_t family_of(const struct families *families, const char *path);

#endif
