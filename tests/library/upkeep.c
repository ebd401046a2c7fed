/* Verifying a library in a test. */
#include "tests/library/upkeep.h"

#include <inttypes.h>
#include <stdio.h>

bool take_problem(void *context, const struct doppel_problem *problem)
{
    struct told *told = context;
    assert_non_null(problem->problem);
    assert_non_null(problem->detail);
    if (told->count < MAX_TOLD)
        snprintf(told->lines[told->count], sizeof *told->lines, "%s %" PRIu64 ": %s",
                 problem->problem, problem->id, problem->detail);
    told->count++;
    told->repaired += problem->repaired;
    return true;
}

struct told verify(const char *folder, bool repair)
{
    const struct doppel_library_options options = {.read_only = !repair};
    struct doppel_library *library;
    struct doppel_error error;
    struct told told = {0};
    if (doppel_library_open(directory_of(folder), &options, &library, &error) ||
        doppel_library_verify(library, repair, take_problem, &told, &error))
        fail_msg("%s", error.message);
    doppel_library_close(library);
    return told;
}

void assert_clean(const char *folder)
{
    struct told told = verify(folder, false);
    if (told.count)
        fail_msg("%zu problems: %s", told.count, told.lines[0]);
}

bool is_told(const struct told *told, const char *beginning)
{
    for (size_t i = 0; i < told->count && i < MAX_TOLD; i++)
        if (strncmp(told->lines[i], beginning, strlen(beginning)) == 0)
            return true;
    return false;
}
