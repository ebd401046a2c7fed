/* Writers of a kind of items, killed. */
#ifndef TESTS_LIBRARY_KEPT_KILLED_H
#define TESTS_LIBRARY_KEPT_KILLED_H

#include "tests/library/kept_kinds.h"

/** Kill so many writers of a library in this folder, one after the other, while two readers ask.
 * Fails the test when an answer is wrong. */
void kept_kill_writers(const struct kept_kind *kind, const char *folder, int kills);

#endif
