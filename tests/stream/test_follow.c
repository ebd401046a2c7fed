/* The log of a library, followed by a call: pages, callbacks that end it, a run that is cancelled.
 */
#include <doppel/stream.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ENTRIES = 2345, A_PAGE = 1000 };

static char folder[] = "/tmp/doppel-follow-XXXXXX";
static struct doppel_library *library;

struct seen {
    struct doppel_run *run;
    uint64_t entries, first, last, looks, in_look, most_in_look;
    uint64_t end_entry, end_looks; /* where a callback ends it; 0: never */
    uint64_t cancel_looks;
    enum doppel_status fail;
};

static bool see_entry(void *context, const struct doppel_log_entry *entry,
                      const struct doppel_error *error)
{
    struct seen *seen = context;
    assert_int_equal(error->status, DOPPEL_OK);
    assert_int_equal(entry->entry, seen->last ? seen->last + 1 : entry->entry);
    seen->first = seen->first ? seen->first : entry->entry;
    seen->last = entry->entry;
    seen->entries++;
    seen->in_look++;
    return entry->entry != seen->end_entry;
}

static bool see_look(void *context, struct doppel_error *error)
{
    struct seen *seen = context;
    seen->looks++;
    seen->most_in_look = seen->in_look > seen->most_in_look ? seen->in_look : seen->most_in_look;
    seen->in_look = 0;
    if (seen->looks == seen->cancel_looks)
        doppel_run_cancel(seen->run);
    if (seen->fail)
        doppel_fail(error, seen->fail, "as wanted");
    return !seen->fail && seen->looks != seen->end_looks;
}

static enum doppel_status follow(struct seen *seen, struct doppel_log_follow_options options)
{
    struct doppel_error error = {0};
    const struct doppel_log_follower follower = {see_entry, see_look, seen};
    assert_int_equal(doppel_run_new(NULL, &seen->run, NULL), DOPPEL_OK);
    options.poll_ms = 1;
    enum doppel_status status = doppel_log_follow(seen->run, library, &options, &follower, &error);
    if (status)
        assert_int_equal(error.status, status);
    doppel_run_free(seen->run);
    return status;
}

static void all_of_it_page_by_page(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_int_equal(follow(&seen, (struct doppel_log_follow_options){0}), DOPPEL_OK);
    assert_int_equal(seen.entries, ENTRIES);
    assert_int_equal(seen.most_in_look, A_PAGE);
    assert_int_equal(seen.looks, 3);
}

static void a_span_of_it(void **state)
{
    static const struct {
        uint64_t first, last, entries;
    } cases[] = {{1, 1, 1},          {1000, 1001, 2}, {1, 1000, 1000},
                 {1001, 2000, 1000}, {2345, 0, 1},    {2346, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen = {0};
        const struct doppel_log_follow_options options = {
            .query = {.first = cases[i].first, .last = cases[i].last, .limit = 7},
            .follow = cases[i].last != 0}; /* ends there */
        assert_int_equal(follow(&seen, options), DOPPEL_OK);
        assert_int_equal(seen.entries, cases[i].entries);
    }
}

static void callbacks_end_it(void **state)
{
    (void)state;
    const struct doppel_log_follow_options options = {.follow = true};
    struct seen by_entry = {.end_entry = 1234}, by_look = {.end_looks = 2};
    struct seen by_failure = {.fail = DOPPEL_E_IO}, by_run = {.cancel_looks = 9};
    assert_int_equal(follow(&by_entry, options), DOPPEL_OK);
    assert_int_equal(by_entry.entries, 1234);
    assert_int_equal(follow(&by_look, options), DOPPEL_OK);
    assert_int_equal(by_look.entries, 2 * A_PAGE);
    assert_int_equal(follow(&by_failure, options), DOPPEL_E_IO);
    assert_int_equal(by_failure.entries, A_PAGE);
    assert_int_equal(follow(&by_run, options), DOPPEL_OK);
    assert_int_equal(by_run.entries, ENTRIES);
    assert_int_equal(by_run.looks, 9);
}

static int open_log(void **state)
{
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_METADATA, .reason = "a test"};
    const struct doppel_library_options create = {.create = true};
    (void)state;
    if (!mkdtemp(folder) || doppel_library_open(folder, &create, &library, NULL))
        return 1;
    for (int i = 0; i < ENTRIES; i++)
        if (doppel_library_log(library, &entry, NULL))
            return 1;
    return doppel_library_commit(library, NULL);
}

static int remove_log(void **state)
{
    char remove[64];
    (void)state;
    doppel_library_close(library);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    return system(remove);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_page_by_page),
        cmocka_unit_test(a_span_of_it),
        cmocka_unit_test(callbacks_end_it),
    };
    return cmocka_run_group_tests(tests, open_log, remove_log);
}
