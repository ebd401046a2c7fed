/* Checking: each record is decided as if it were the next to be ingested, and nothing changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/decide/ingest_case.h"

enum { HELD = 120, CHECKED = 30 };

static void hold(struct ingest_case *made, struct story *story)
{
    case_write(made, 0, HELD);
    struct doppel_library *library = case_open(made);
    story_ingest(story, made, library);
    doppel_library_close(library);
}

static void copy_library(const char *from, const char *to)
{
    char command[1200];
    snprintf(command, sizeof command, "rm -rf '%s' && cp -r '%s' '%s'", to, from, to);
    assert_int_equal(system(command), 0);
}

/* What ingest says of a record, of a copy of the library. */
static void ingest_into_copy(struct ingest_case *made, size_t number, struct story *story)
{
    char *library = made->library;
    made->library = path_in(made->folder, "copy");
    copy_library(library, made->library);
    struct doppel_library *copy = case_open(made);
    case_write(made, number, 1);
    story_ingest(story, made, copy);
    doppel_library_close(copy);
    free(made->library);
    made->library = library;
}

static void check(const struct ingest_case *made, struct doppel_library *library,
                  const struct story *held, struct story *out)
{
    *out = *held;
    out->out = (struct bytes){0};
    out->check = out->alone = true;
    story_ingest(out, made, library);
    bytes_add(&out->out, "", 1);
}

static void each_as_if_it_were_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct ingest_case made;
        struct story held = {0}, got;
        case_begin(&(struct corpus_plan){.seed = seed * 15485863,
                                         .count = HELD + CHECKED,
                                         .templates = seed % 3,
                                         .same_ids = true,
                                         .short_texts = seed == 4},
                   &made);
        made.options.on_same_id = (enum doppel_same_id)(seed % 3);
        hold(&made, &held);
        bytes_free(&held.out);
        held.alone = true;
        for (size_t i = 0; i < CHECKED; i++)
            ingest_into_copy(&made, HELD + i, &held);
        bytes_add(&held.out, "", 1);
        for (int writes = 0; writes < 2; writes++) {
            struct doppel_library *library = writes ? case_open(&made) : case_open_read_only(&made);
            case_write(&made, HELD, CHECKED);
            check(&made, library, &held, &got);
            assert_same_lines(got.out.data, held.out.data);
            doppel_library_close(library);
            bytes_free(&got.out);
        }
        bytes_free(&held.out);
        case_end(&made);
    }
}

static struct bytes read_catalogue(const struct ingest_case *made)
{
    struct bytes bytes = {0};
    char *path = path_in(made->library, "catalogue.db"), buffer[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file));)
        bytes_add(&bytes, buffer, got);
    fclose(file);
    free(path);
    return bytes;
}

static void nothing_changes(void **state)
{
    (void)state;
    struct ingest_case made;
    struct story held = {0}, got;
    case_begin(&(struct corpus_plan){.seed = 5, .count = HELD + CHECKED, .same_ids = true}, &made);
    hold(&made, &held);
    struct bytes before = read_catalogue(&made);
    struct doppel_library *library = case_open(&made);
    case_write(&made, HELD, CHECKED);
    check(&made, library, &held, &got);
    doppel_library_close(library);
    struct bytes after = read_catalogue(&made);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    bytes_free(&before);
    bytes_free(&after);
    bytes_free(&held.out);
    bytes_free(&got.out);
    case_end(&made);
}

static const char wood[] =
    "{\"id\":\"%s\",\"text\":\"the old fox lives in the deep wood behind the long hill where the "
    "brown bear sleeps all winter and dreams of honey and of the warm days of the next summer\"}\n";

static void an_empty_library(void **state)
{
    (void)state;
    struct ingest_case made;
    struct story none = {0}, got;
    char line[512];
    case_begin(NULL, &made);
    struct doppel_library *library = case_open(&made);
    snprintf(line, sizeof line, wood, "a");
    case_write_text(&made, line);
    check(&made, library, &none, &got);
    assert_string_equal(got.out.data, "1 new\n");
    struct doppel_text_options options;
    assert_int_equal(doppel_library_text_options(library, &options, NULL, NULL),
                     DOPPEL_E_NOT_FOUND); /* nor how texts are read */
    doppel_library_close(library);
    bytes_free(&got.out);
    case_end(&made);
}

/* ---- others meanwhile ---- */

struct meanwhile {
    struct ingest_case *made;
    struct doppel_library *other;
    const char *line;
    unsigned seen;
    enum doppel_decision decisions[4];
};

/* After the first answer another handle ingests the text. */
static bool take_while_other_ingests(void *context, const struct doppel_dedup_decision *decision)
{
    struct meanwhile *meanwhile = context;
    struct story story = {0};
    meanwhile->decisions[meanwhile->seen++] = decision->decision;
    if (meanwhile->seen > 1)
        return true;
    case_write_text(meanwhile->made, meanwhile->line);
    story_ingest(&story, meanwhile->made, meanwhile->other);
    bytes_free(&story.out);
    return true;
}

static void others_are_seen(void **state)
{
    (void)state;
    struct ingest_case made;
    char line[512];
    case_begin(NULL, &made);
    snprintf(line, sizeof line, wood, "a");
    case_write_text(&made, line);
    char *first = path_in(made.folder, "first.jsonl"), *second = path_in(made.folder, "second");
    write_file(first, line, strlen(line));
    snprintf(line, sizeof line, wood, "b");
    write_file(second, line, strlen(line));
    struct meanwhile meanwhile = {.made = &made, .other = case_open(&made), .line = line};
    struct doppel_library *library = case_open_read_only(&made);
    struct doppel_ingest_options options = ingest_options(&made.options);
    const char *const paths[] = {first, second};
    options.files.paths = paths;
    options.files.count = 2;
    options.check = true;
    assert_int_equal(doppel_ingest(library, &options, take_while_other_ingests, &meanwhile, NULL),
                     DOPPEL_OK);
    assert_int_equal(meanwhile.seen, 2);
    assert_int_equal(meanwhile.decisions[0], DOPPEL_DECISION_NEW);
    assert_int_equal(meanwhile.decisions[1], DOPPEL_DECISION_DUPLICATE);
    doppel_library_close(library);
    doppel_library_close(meanwhile.other);
    free(first);
    free(second);
    case_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_as_if_it_were_alone),
        cmocka_unit_test(nothing_changes),
        cmocka_unit_test(an_empty_library),
        cmocka_unit_test(others_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
