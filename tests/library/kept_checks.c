/* Libraries of a kind, filled and checked. */
#include "tests/library/kept_checks.h"

#include "tests/library/fixture.h"

void kept_fill(const struct kept_kind *kind, const char *folder, uint64_t first)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error = {0};
    uint64_t id;
    kept_prepare(kind, library);
    for (uint64_t i = 0; i < KEPT_ITEMS; i++)
        if (kind->put(kind, library, first + i, &id, &error))
            fail_msg("%s: %s", kind->name, error.message);
    commit(library);
    for (size_t i = 0; i < kind->table_count; i++) /* into segments */
        if (codes_make_again(library, kind->tables[i], &error))
            fail_msg("%s: %s", kind->name, error.message);
    doppel_library_close(library);
}

size_t kept_count_found(const struct kept_kind *kind, struct doppel_library *library,
                        uint64_t number)
{
    struct doppel_error error = {0};
    size_t count = 0;
    uint64_t id;
    if (kind->find(kind, library, number, &count, &id, &error))
        fail_msg("%s: %s", kind->name, error.message);
    return count;
}

void kept_assert_all_found(const struct kept_kind *kind, struct doppel_library *library)
{
    for (uint64_t i = 0; i < KEPT_ITEMS; i++)
        assert_int_equal(kept_count_found(kind, library, i), 1);
    for (uint64_t i = 0; i < KEPT_ABSENT; i++)
        assert_int_equal(kept_count_found(kind, library, KEPT_OTHERS + i), 0);
}

static bool take_problem(void *context, const struct doppel_problem *problem)
{
    char(*text)[4096] = context;
    strncat(*text, problem->detail, sizeof *text - strlen(*text) - 1);
    strncat(*text, "\n", sizeof *text - strlen(*text) - 1);
    return true;
}

const char *kept_verify(const char *directory, bool repair)
{
    static char problems[4096];
    struct doppel_library *library;
    struct doppel_error error = {0};
    *problems = 0;
    assert_int_equal(doppel_library_open(directory, NULL, &library, NULL), DOPPEL_OK);
    if (doppel_library_verify(library, repair, take_problem, &problems, &error))
        fail_msg("%s", error.message);
    doppel_library_close(library);
    return problems;
}

void kept_assert_whole(const struct kept_kind *kind, const char *directory)
{
    const struct doppel_library_options reading = {.read_only = true, .no_rebuild = true};
    struct doppel_library *library;
    assert_string_equal(kept_verify(directory, false), "");
    assert_int_equal(doppel_library_open(directory, &reading, &library, NULL), DOPPEL_OK);
    kept_assert_all_found(kind, library);
    doppel_library_close(library);
}
