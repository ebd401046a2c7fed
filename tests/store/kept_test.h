/* What the tests of an index that is kept share; they fail the test where something is wrong. */
#ifndef TESTS_STORE_KEPT_TEST_H
#define TESTS_STORE_KEPT_TEST_H

#include <stddef.h>

#include "tests/store/kept.h"

struct kept kept_must_open(const char *folder, const struct kept_options *options);

/** The transactions from `first` to end - 1. */
void kept_must_transact(struct kept *kept, uint64_t first, uint64_t end);

/** It holds the state after so many transactions. */
void kept_assert_state(struct kept *kept, uint64_t transactions);

size_t kept_segments(struct kept *kept);

/** Files among the segments whose names end so; the last one's name, where `out_last` is not NULL.
 */
size_t kept_files_ending(const char *folder, const char *ending, char *out_last);

#endif
