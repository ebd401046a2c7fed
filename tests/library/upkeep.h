/* Problems as they are told, for the tests of upkeep. */
#ifndef TESTS_LIBRARY_UPKEEP_H
#define TESTS_LIBRARY_UPKEEP_H

#include "tests/library/tracks.h"

enum { MAX_TOLD = 64 };

struct told {
    size_t count, repaired;
    char lines[MAX_TOLD][256]; /* "link 7: …" */
};

/** doppel_problem_visitor; the context is a struct told. */
bool take_problem(void *context, const struct doppel_problem *problem);

/** Verify FOLDER/a/library; fails the test when that fails. */
struct told verify(const char *folder, bool repair);

/** Fails the test unless it tells nothing. */
void assert_clean(const char *folder);

/** Whether a line begins so. */
bool is_told(const struct told *told, const char *beginning);

#endif
