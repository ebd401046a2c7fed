/* Libraries that are merged: of each kind that kept indexes find, all is found afterwards, and the
 * indexes hold what the catalogue tells. */
#include <stdio.h>

#include <doppel/exchange.h>

#include "tests/library/fixture.h"
#include "tests/library/kept_kinds.h"

enum { ITEMS = 40 };

static struct doppel_library *make_library(const struct kept_kind *kind, const char *folder,
                                           uint64_t first)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error = {0};
    size_t count;
    uint64_t id;
    kept_prepare(kind, library);
    for (uint64_t i = first; i < first + ITEMS; i++)
        if (kind->put(kind, library, i, &id, &error))
            fail_msg("%s: %s", kind->name, error.message);
    commit(library);
    if (kind->find(kind, library, first, &count, &id, &error)) /* indexes are made */
        fail_msg("%s: %s", kind->name, error.message);
    return library;
}

static bool no_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

static void assert_all_found(const struct kept_kind *kind, struct doppel_library *library)
{
    for (uint64_t i = 0; i < 2 * ITEMS; i++) {
        struct doppel_error error = {0};
        size_t count = 0;
        uint64_t id;
        if (kind->find(kind, library, i, &count, &id, &error))
            fail_msg("%s: %s", kind->name, error.message);
        if (count != 1)
            fail_msg("%s: number %d is found %zu times", kind->name, (int)i, count);
    }
}

static void test_merge(void **state)
{
    struct doppel_run *run = NULL;
    const struct doppel_run_options plain = {0};
    assert_int_equal(doppel_run_new(&plain, &run, NULL), DOPPEL_OK);
    for (size_t i = 0; i < kept_kind_count; i++) {
        const struct kept_kind *kind = &kept_kinds[i];
        char name[64];
        struct doppel_import_counts counts = {0};
        struct doppel_error error = {0};
        snprintf(name, sizeof name, "%s-from", kind->name);
        struct doppel_library *into = make_library(kind, folder_path(*state, kind->name), 0);
        struct doppel_library *from = make_library(kind, folder_path(*state, name), ITEMS);
        if (doppel_merge(run, into, from, NULL, &counts, &error))
            fail_msg("%s: %s", kind->name, error.message);
        assert_true(counts.added >= ITEMS);
        assert_all_found(kind, into);
        assert_int_equal(doppel_library_verify(into, false, no_problem, NULL, NULL), DOPPEL_OK);
        doppel_library_close(from);
        doppel_library_close(into);
    }
    doppel_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_merge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
