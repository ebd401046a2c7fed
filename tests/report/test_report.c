/* Reports of groups that are made here: what stands in them, what previews of records show, and
 * what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <doppel/report.h>

static const char first_line[] = "{\"id\":\"a\",\"text\":\"one two three <four> five\"}\n";
static const char second_line[] = "{\"id\":\"b\",\"text\":\"one two 3 <four> five\"}\n";

/* A folder, in which the test runs. */
static int enter_folder(void **state)
{
    char *folder = strdup("/tmp/doppel-report-XXXXXX");
    *state = folder;
    return !folder || !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave_folder(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", (char *)*state);
    free(*state);
    return chdir("/") != 0 || system(command) != 0;
}

static void keep_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static char *text_at(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_true(file && text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void assert_has_text(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("no %s", wanted);
}

/* Two files of which nothing is read. */
static struct doppel_group group_of_files(struct doppel_group_member members[2])
{
    members[0] = (struct doppel_group_member){
        .is_file = true, .path = "/pics/</script>.jpg", .size_bytes = 1000};
    members[1] = (struct doppel_group_member){.reason = DOPPEL_REASON_IDENTICAL,
                                              .is_file = true,
                                              .path = "/pics/b\xff.jpg",
                                              .size_bytes = 1000};
    return (struct doppel_group){.number = 7,
                                 .kind = DOPPEL_KIND_IMAGE,
                                 .keep = members[0].path,
                                 .members = members,
                                 .count = 2,
                                 .savable_bytes = 1000};
}

static struct doppel_run *new_run(const struct doppel_run_options *options)
{
    struct doppel_run *run;
    assert_int_equal(doppel_run_new(options, &run, NULL), DOPPEL_OK);
    return run;
}

/* A report of one group. */
static void write_report(struct doppel_run *run, const struct doppel_report_options *options,
                         const struct doppel_group *group)
{
    struct doppel_report *report;
    assert_int_equal(doppel_report_new(run, options, &report, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_take(report, group, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_count(report), 1);
    assert_int_equal(doppel_report_write(report, NULL), DOPPEL_OK);
    doppel_report_free(report);
}

static void the_data_has_the_groups(void **state)
{
    (void)state;
    const char *sources[] = {"/pics"};
    struct doppel_group_member members[2];
    struct doppel_group group = group_of_files(members);
    struct doppel_run *run = new_run(NULL);
    write_report(run,
                 &(struct doppel_report_options){.output = "out.html",
                                                 .sources = sources,
                                                 .source_count = 1,
                                                 .no_thumbnails = true,
                                                 .blur = true},
                 &group);
    char *page = text_at("out.html");
    assert_has_text(page, "\"from\":\"scan\",\"sources\":[{\"path\":\"/pics\"}],\"blur\":true");
    assert_has_text(page, "\"groups\":[{\"group\":7,\"kind\":\"image\"");
    assert_has_text(page, "/pics/\\u003c/script>.jpg");
    assert_has_text(page, "\"path_base64\":\"L3BpY3MvYv8uanBn\"");
    assert_null(strstr(page, "id=\"looks-7\""));
    assert_int_equal(doppel_run_failures(run), 0);
    free(page);
    doppel_run_free(run);
}

/* By themselves, without a group; of files one of which is not there. */
static void texts_that_mean_the_same_are_shown(void **state)
{
    (void)state;
    static const struct doppel_semantic_segment passages[] = {{4, 7, 0, 3, 0.9F}};
    keep_text("a.txt", "one two");
    struct doppel_group_link link = {
        .text = {.path = "a.txt", .group = 3, .size_bytes = 7, .inode = 1},
        .of = {.path = "b\xff.txt", .size_bytes = 7, .inode = 2},
        .link = {.of_path = "b\xff.txt",
                 .cosine = 0.9F,
                 .tier = DOPPEL_SEMANTIC_RELATED,
                 .extent = DOPPEL_RELATION_OVERLAPS,
                 .segments = passages,
                 .segment_count = 1}};
    struct doppel_run *run = new_run(NULL);
    struct doppel_report *report;
    const struct doppel_report_options options = {.output = "links.html"};
    assert_int_equal(doppel_report_new(run, &options, &report, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_take_link(report, &link, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_count(report), 0);
    assert_int_equal(doppel_report_write(report, NULL), DOPPEL_OK);
    doppel_report_free(report);
    char *page = text_at("links.html");
    assert_has_text(page, "\"groups\":[],\"links\":[{\"kind\":\"text\",\"path\":\"a.txt\","
                          "\"in_group\":3,\"semantic\":{\"of_path\":");
    assert_has_text(page, "\"segments\":[{\"a_start\":4,\"a_end\":7,");
    assert_has_text(page, "id=\"link-looks-1\">{\"members\":[{\"gone\":\"is not there any more\"},"
                          "{\"gone\":\"has changed since it was read\"}]}");
    assert_null(strstr(page, "\"inode\""));
    assert_int_equal(doppel_run_failures(run), 2);
    free(page);
    doppel_run_free(run);
}

/* Two lines of c.jsonl. */
static struct doppel_group group_of_records(struct doppel_group_member members[2],
                                            struct doppel_group_record records[2],
                                            const struct doppel_text_options *text)
{
    static const struct doppel_match match = {.kind = DOPPEL_KIND_TEXT};
    records[0] = (struct doppel_group_record){.line = 1, .size_bytes = strlen(first_line) - 1};
    records[1] = (struct doppel_group_record){
        .line = 2, .offset = strlen(first_line), .size_bytes = strlen(second_line) - 1};
    for (size_t i = 0; i < 2; i++)
        members[i] =
            (struct doppel_group_member){.reason = i ? DOPPEL_REASON_NEAR : DOPPEL_REASON_KEPT,
                                         .path = "c.jsonl",
                                         .match = i ? &match : NULL,
                                         .record = &records[i]};
    return (struct doppel_group){.number = 1,
                                 .kind = DOPPEL_KIND_TEXT,
                                 .keep = "a",
                                 .members = members,
                                 .count = 2,
                                 .text = text};
}

static void count_failed(void *context, const char *path, const struct doppel_error *reason)
{
    assert_string_equal(path, "c.jsonl");
    assert_true(*reason->message);
    ++*(int *)context;
}

/* What was seen of the records, from the page; given. @param out_failed inputs that failed */
static char *seen_of_records(int *out_failed)
{
    struct doppel_group_member members[2];
    struct doppel_group_record records[2];
    const struct doppel_text_options text = doppel_text_options_default();
    struct doppel_group group = group_of_records(members, records, &text);
    *out_failed = 0;
    struct doppel_run *run =
        new_run(&(struct doppel_run_options){.on_failed = count_failed, .context = out_failed});
    write_report(run, &(struct doppel_report_options){.output = "records.html"}, &group);
    doppel_run_free(run);
    char *page = text_at("records.html"), *seen = strstr(page, "id=\"looks-1\">");
    assert_non_null(seen);
    seen = strndup(seen, strcspn(seen, "\n"));
    free(page);
    return seen;
}

/* A corpus that is not there is told once, for all its records. */
static void records_that_are_gone_are_told(void **state)
{
    (void)state;
    int failed;
    unlink("c.jsonl");
    char *seen = seen_of_records(&failed);
    assert_has_text(seen, "{\"members\":[{\"gone\":\"");
    assert_int_equal(failed, 1);
    free(seen);
}

/* Their content is another one: no digest was given. */
static void records_that_changed_are_not_shown(void **state)
{
    (void)state;
    int failed;
    char both[200];
    snprintf(both, sizeof both, "%s%s", first_line, second_line);
    keep_text("c.jsonl", both);
    char *seen = seen_of_records(&failed);
    assert_has_text(seen, "\"gone\":\"");
    assert_null(strstr(seen, "four"));
    assert_int_equal(failed, 1);
    free(seen);
}

/* What is not there is no failed input of the run, which goes on for others. */
static void previews_are_had_without_a_report(void **state)
{
    (void)state;
    static const char expected[] =
        "{\"members\":[{\"gone\":\"is not there any more\"},{\"gone\":\"is not there any more\"}]}";
    struct doppel_group_member members[2];
    struct doppel_group group = group_of_files(members);
    struct doppel_run *run = new_run(NULL);
    struct doppel_json json = {0};
    members[1].digest.bytes[0] = 1;
    assert_int_equal(doppel_previews_to_json(run, &group, 480, &json, NULL), DOPPEL_OK);
    assert_int_equal(json.size, strlen(expected));
    assert_memory_equal(json.bytes, expected, json.size);
    assert_int_equal(doppel_run_failures(run), 0);
    doppel_json_free(&json);
    doppel_run_free(run);
}

static void work_of_others_is_left_alone(void **state)
{
    (void)state;
    struct doppel_error error;
    struct doppel_report *report = NULL;
    struct doppel_run *run = new_run(NULL);
    const struct doppel_report_options options = {.output = "thesis.html"};
    keep_text("thesis.html", "<p>Years of work</p>");
    assert_int_equal(doppel_report_new(run, &options, &report, &error), DOPPEL_E_ARGUMENT);
    assert_has_text(error.message, "thesis.html: is no page of doppel");
    const struct doppel_report_options nowhere = {.output = "nowhere/out.html"};
    assert_int_equal(doppel_report_new(run, &nowhere, &report, &error), DOPPEL_E_IO);
    assert_null(report);
    char *text = text_at("thesis.html");
    assert_string_equal(text, "<p>Years of work</p>");
    free(text);
    doppel_run_free(run);
}

static void a_stream_is_written_to(void **state)
{
    (void)state;
    char *page = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&page, &size);
    assert_non_null(stream);
    struct doppel_group_member members[2];
    struct doppel_group group = group_of_files(members);
    struct doppel_run *run = new_run(NULL);
    write_report(run,
                 &(struct doppel_report_options){
                     .output = "-", .stream = stream, .of_library = true, .no_thumbnails = true},
                 &group);
    assert_int_equal(fclose(stream), 0);
    assert_has_text(page, "\"from\":\"library\"");
    assert_has_text(page, "</html>");
    free(page);
    doppel_run_free(run);
}

static void a_cancelled_run_leaves_nothing(void **state)
{
    (void)state;
    struct doppel_group_member members[2];
    struct doppel_group_record records[2];
    const struct doppel_text_options text = doppel_text_options_default();
    struct doppel_group group = group_of_records(members, records, &text);
    struct doppel_report *report;
    struct doppel_run *run = new_run(NULL);
    const struct doppel_report_options options = {.output = "cancelled.html"};
    assert_int_equal(doppel_report_new(run, &options, &report, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_take(report, &group, NULL), DOPPEL_OK);
    doppel_run_cancel(run);
    assert_int_equal(doppel_report_write(report, NULL), DOPPEL_E_CANCELLED);
    assert_int_not_equal(access("cancelled.html", F_OK), 0);
    doppel_report_free(report);
    doppel_run_free(run);
}

static void careless_calls(void **state)
{
    const struct doppel_report_options nowhere = {0}, page = {.output = "page.html"};
    const struct doppel_report_options folder = {.output = "."};
    struct doppel_group_member members[2] = {{0}, {.reason = DOPPEL_REASON_NEAR}};
    const struct doppel_group nameless = {
        .number = 1, .kind = DOPPEL_KIND_IMAGE, .members = members, .count = 2};
    struct doppel_report *report;
    struct doppel_run *run = new_run(NULL);
    (void)state;
    assert_int_equal(doppel_report_new(run, NULL, &report, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_report_new(run, &nowhere, &report, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_report_new(run, &folder, &report, NULL), DOPPEL_E_IO);
    assert_int_equal(doppel_report_new(run, &page, &report, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_take(report, &nameless, NULL), DOPPEL_OK);
    assert_int_equal(doppel_report_write(report, NULL), DOPPEL_OK);
    doppel_report_free(report);
    doppel_report_free(NULL);
    doppel_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_has_the_groups),
        cmocka_unit_test(texts_that_mean_the_same_are_shown),
        cmocka_unit_test(records_that_are_gone_are_told),
        cmocka_unit_test(records_that_changed_are_not_shown),
        cmocka_unit_test(previews_are_had_without_a_report),
        cmocka_unit_test(work_of_others_is_left_alone),
        cmocka_unit_test(a_stream_is_written_to),
        cmocka_unit_test(a_cancelled_run_leaves_nothing),
        cmocka_unit_test(careless_calls),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
