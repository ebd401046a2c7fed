/* Libraries exported, imported and merged by calls: counts, failed inputs, notices, filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/exchange.h>

#include "tests/store/folder.h"

static const char lines[] = "d41d8cd98f00b204e9800998ecf8427e  empty\n"
                            "no digest at all\n"
                            "da39a3ee5e6b4b0d3255bfef95601890afd80709  nothing\n";

struct messages {
    unsigned failed, notices;
    char last_failed[100], last_notice[200];
};

static void note_failed(void *context, const char *path, const struct doppel_error *reason)
{
    struct messages *messages = context;
    (void)reason;
    messages->failed++;
    snprintf(messages->last_failed, sizeof messages->last_failed, "%s", path);
}

static void note_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct messages *messages = context;
    (void)level;
    (void)path;
    messages->notices++;
    snprintf(messages->last_notice, sizeof messages->last_notice, "%s", text);
}

static struct doppel_run *make_run(struct messages *messages)
{
    const struct doppel_run_options options = {
        .on_failed = note_failed, .on_notice = note_notice, .context = messages};
    struct doppel_run *run = NULL;
    assert_int_equal(doppel_run_new(&options, &run, NULL), DOPPEL_OK);
    return run;
}

static struct doppel_library *make_library(const char *folder, const char *name)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    if (doppel_library_open(folder_path(folder, name), &options, &library, &error))
        fail_msg("%s", error.message);
    return library;
}

static int pipe_of(const char *text)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    return ends[0];
}

static enum doppel_status import_text(struct doppel_run *run, struct doppel_library *library,
                                      const char *text, const struct doppel_import_options *options,
                                      struct doppel_import_counts *out)
{
    struct doppel_error error = {0};
    int fd = pipe_of(text);
    enum doppel_status status = doppel_import(run, library, fd, options, out, &error);
    close(fd);
    return status;
}

/* Given (free). */
static char *export_text(struct doppel_run *run, struct doppel_library *library,
                         const struct doppel_export_options *options)
{
    char *text = NULL;
    size_t size;
    struct doppel_error error = {0};
    FILE *out = open_memstream(&text, &size);
    if (doppel_export(run, library, out, options, &error))
        fail_msg("%s", error.message);
    fclose(out);
    return text;
}

static void test_lines_are_counted(void **state)
{
    struct messages messages = {0};
    struct doppel_import_counts counts = {0};
    const struct doppel_import_options options = {.format = DOPPEL_EXCHANGE_AUTO, .name = "list"};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *library = make_library(*state, "one");
    assert_int_equal(import_text(run, library, lines, &options, &counts), DOPPEL_OK);
    assert_int_equal(counts.added, 2);
    assert_int_equal(messages.failed, 1);
    assert_string_equal(messages.last_failed, "list:2");
    assert_string_equal(messages.last_notice, "2 imported, 0 updated, 0 there already");
    assert_int_equal(import_text(run, library, lines, &options, &counts), DOPPEL_OK);
    assert_int_equal(counts.added, 0);
    assert_int_equal(counts.unchanged, 2);
    doppel_library_close(library);
    doppel_run_free(run);
}

static void test_what_is_no_format_is_refused(void **state)
{
    struct messages messages = {0};
    const struct doppel_import_options options = {.format = DOPPEL_EXCHANGE_AUTO};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *library = make_library(*state, "one");
    assert_int_equal(import_text(run, library, "what is this\n", &options, NULL),
                     DOPPEL_E_ARGUMENT);
    doppel_library_close(library);
    doppel_run_free(run);
}

static void test_an_export_goes_round(void **state)
{
    struct messages messages = {0};
    struct doppel_import_counts counts = {0};
    char *names[] = {"known"};
    const struct doppel_metadata metadata = {.lists = names, .list_count = 1, .source = "us"};
    const struct doppel_import_options first = {.format = DOPPEL_EXCHANGE_DIGESTS,
                                                .metadata = &metadata};
    const struct doppel_import_options again = {.format = DOPPEL_EXCHANGE_JSON};
    const struct doppel_export_options all = {.format = DOPPEL_EXCHANGE_DIGESTS};
    const struct doppel_export_options json = {.format = DOPPEL_EXCHANGE_JSON};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *one = make_library(*state, "one"), *other = make_library(*state, "two");
    assert_int_equal(import_text(run, one, lines, &first, NULL), DOPPEL_OK);
    char *text = export_text(run, one, &json);
    assert_non_null(strstr(text, "\"lists\":[\"known\"]"));
    assert_non_null(strstr(text, "\"source\":\"us\""));
    assert_int_equal(import_text(run, other, text, &again, &counts), DOPPEL_OK);
    assert_int_equal(counts.added, 2);
    char *here = export_text(run, one, &all), *there = export_text(run, other, &all);
    assert_string_equal(here, there);
    free(text);
    free(here);
    free(there);
    doppel_library_close(one);
    doppel_library_close(other);
    doppel_run_free(run);
}

/* Ids here, digit by digit, by ids there. */
static bool note_ids(void *context, uint64_t from, uint64_t to)
{
    uint64_t *ids = context;
    *ids = 100 * *ids + 10 * from + to;
    return *ids < 10000;
}

static void test_a_part_is_merged(void **state)
{
    struct messages messages = {0};
    struct doppel_import_counts counts = {0};
    const struct doppel_import_options digests = {.format = DOPPEL_EXCHANGE_DIGESTS};
    const struct doppel_import_options part = {.filter.items.where = "external_id = 'nothing'"};
    uint64_t ids = 0;
    const struct doppel_import_options everything = {.on_item = note_ids, .on_item_context = &ids};
    struct doppel_error error = {0};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *from = make_library(*state, "one"), *into = make_library(*state, "two");
    assert_int_equal(import_text(run, from, lines, &digests, NULL), DOPPEL_OK);
    assert_int_equal(doppel_merge(run, into, from, &part, &counts, &error), DOPPEL_OK);
    assert_int_equal(counts.added, 1);
    assert_int_equal(doppel_merge(run, into, from, &everything, &counts, &error), DOPPEL_OK);
    assert_int_equal(counts.added, 1);
    assert_int_equal(counts.unchanged, 1);
    assert_int_equal(counts.texts, 0);
    assert_int_equal(ids, 1221); /* the second came first */
    assert_int_equal(doppel_merge(run, into, from, &everything, &counts, &error), DOPPEL_E_MEMORY);
    doppel_library_close(from);
    doppel_library_close(into);
    doppel_run_free(run);
}

static void test_a_cancelled_run_ends(void **state)
{
    struct messages messages = {0};
    const struct doppel_import_options options = {.format = DOPPEL_EXCHANGE_DIGESTS};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *library = make_library(*state, "one");
    doppel_run_cancel(run);
    assert_int_equal(import_text(run, library, lines, &options, NULL), DOPPEL_E_CANCELLED);
    doppel_library_close(library);
    doppel_run_free(run);
}

static void test_careless_calls(void **state)
{
    struct messages messages = {0};
    const struct doppel_import_options list = {.format = DOPPEL_EXCHANGE_DIGESTS};
    const struct doppel_import_options no_import = {.format = DOPPEL_EXCHANGE_AUTO + 1};
    const struct doppel_export_options no_export = {.format = DOPPEL_EXCHANGE_AUTO};
    struct doppel_import_counts counts = {0};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *one = make_library(*state, "one"), *other = make_library(*state, "two");
    int fd = pipe_of(lines);
    assert_int_equal(doppel_import(run, one, fd, &no_import, NULL, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_import(run, one, fd, &list, NULL, NULL), DOPPEL_OK);
    assert_int_equal(messages.failed, 1);
    close(fd);
    char *text = export_text(run, one, NULL); /* all, as JSON Lines */
    assert_int_equal(doppel_export(run, one, stdout, &no_export, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(import_text(run, other, text, NULL, &counts), DOPPEL_OK);
    assert_int_equal(counts.added, 2);
    assert_int_equal(doppel_merge(run, other, one, NULL, &counts, NULL), DOPPEL_OK);
    assert_int_equal(counts.unchanged, 2);
    free(text);
    doppel_library_close(one);
    doppel_library_close(other);
    doppel_run_free(run);
}

static void test_a_full_disk_has_a_status(void **state)
{
    struct messages messages = {0};
    struct doppel_run *run = make_run(&messages);
    struct doppel_library *library = make_library(*state, "one");
    FILE *full = fopen("/dev/full", "w");
    assert_int_equal(import_text(run, library, lines, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_export(run, library, full, NULL, NULL), DOPPEL_E_NO_SPACE);
    (void)fclose(full);
    doppel_library_close(library);
    doppel_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_lines_are_counted),        IN_FOLDER(test_what_is_no_format_is_refused),
        IN_FOLDER(test_an_export_goes_round),     IN_FOLDER(test_a_part_is_merged),
        IN_FOLDER(test_a_cancelled_run_ends),     IN_FOLDER(test_careless_calls),
        IN_FOLDER(test_a_full_disk_has_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
