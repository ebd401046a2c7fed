/* Libraries of a kind, filled and checked; each fails the test. */
#ifndef TESTS_LIBRARY_KEPT_CHECKS_H
#define TESTS_LIBRARY_KEPT_CHECKS_H

#include "tests/library/kept_kinds.h"

enum { KEPT_ITEMS = 48, KEPT_OTHERS = 5000, KEPT_ABSENT = 6 };

/** A library of KEPT_ITEMS numbers from `first` on, each index one segment. */
void kept_fill(const struct kept_kind *kind, const char *folder, uint64_t first);

size_t kept_count_found(const struct kept_kind *kind, struct doppel_library *library,
                        uint64_t number);

/** Each number from 0 is found once, and some that are not there, from KEPT_OTHERS, are not. */
void kept_assert_all_found(const struct kept_kind *kind, struct doppel_library *library);

/** @return what is wrong, in a buffer that is used again */
const char *kept_verify(const char *directory, bool repair);

/** There is nothing to tell, and all is found though nothing may be made. */
void kept_assert_whole(const struct kept_kind *kind, const char *directory);

#endif
