/* Files and records together: files among records are handed out in their place, and files of text
 * that a library holds lead as records do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decide/records/ingest.h"
#include "tests/decide/ingest_case.h"
#include "tests/decide/sentences.h"

/* ---- files that are handed out ---- */

struct told {
    struct bytes out; /* a line for each record and each file, in the order in which they came */
    unsigned runs;
    bool fails; /* the caller, after the first run */
};

static void take_decision(struct told *told, const struct doppel_dedup_decision *decision)
{
    char line[256];
    snprintf(line, sizeof line, "%llu:%llu %s %s\n", (unsigned long long)decision->number,
             (unsigned long long)decision->line, decision->id ? decision->id : "-",
             doppel_decision_name(decision->decision));
    bytes_add_text(&told->out, line);
}

static void take_files(struct told *told, const struct ingest_found *found,
                       struct doppel_library *library)
{
    told->runs++;
    for (size_t i = 0; i < found->file_count; i++) {
        char line[1024];
        const struct record_file *file = &found->files[i];
        snprintf(line, sizeof line, ":%llu %s %s %s %s\n", (unsigned long long)file->line,
                 file->path, file->id ? file->id : "-", file->source ? file->source : "-",
                 file->date ? file->date : "-");
        bytes_add_text(&told->out, line);
    }
    /* others can change the library now */
    assert_int_equal(doppel_library_begin(library, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
}

static enum doppel_status run_with_files(struct ingest_case *made, struct told *told)
{
    struct ingest *ingest;
    struct ingest_found found;
    struct doppel_error error;
    struct doppel_ingest_options options = ingest_options(&made->options);
    struct doppel_library *library = case_open(made), *other = case_open(made);
    enum doppel_status status = ingest_new(library, &options, true, NULL, &ingest, &error);
    assert_int_equal(status, DOPPEL_OK);
    while (!(told->fails && told->runs) && !(status = ingest_next(ingest, &found, &error)))
        if (found.files)
            take_files(told, &found, other);
        else
            take_decision(told, &found.decision);
    ingest_free(ingest);
    doppel_library_close(library);
    doppel_library_close(other);
    bytes_add(&told->out, "", 1);
    return status;
}

static void files_keep_their_place(void **state)
{
    (void)state;
    struct ingest_case made;
    struct told told = {0};
    char wanted[4096];
    case_begin(NULL, &made);
    case_write_text(&made, "/bare/path\n"
                           "{\"id\":\"a\",\"text\":\"" FOX "1"
                           "\"}\n"
                           "\n"
                           "  \t\r\n"
                           "{\"id\":\"p\",\"path\":\"in a/folder.jpg\",\"source\":\"s\",\"date\":"
                           "\"2024-05-31\"}\n"
                           "bare relative.txt\n"
                           "{\"path\":\"/whole\",\"text\":\"" KETTLE "\"}\n"
                           "{\"id\":\"b\",\"text\":\"" FOX "1"
                           "\",\"path\":\"x\"}\n"
                           "{\"broken\n"
                           "  {\"id\":\"q\",\"path\":\"/q\"}\n"
                           "[1]\n"
                           "{\"id\":\"c\",\"text\":\"" FOX "1"
                           "\"}\n"
                           "\xff\xfe bytes");
    assert_int_equal(run_with_files(&made, &told), DOPPEL_E_NOT_FOUND);
    snprintf(wanted, sizeof wanted,
             ":1 /bare/path - - -\n"
             "1:2 a new\n"
             ":5 %s/in a/folder.jpg p s 2024-05-31\n"
             ":6 %s/bare relative.txt - - -\n"
             "4:7 - new\n"
             "5:8 b duplicate\n"
             "6:9 - unreadable\n"
             ":10 /q q - -\n"
             ":11 %s/[1] - - -\n"
             "9:12 c duplicate\n"
             ":13 %s/\xff\xfe bytes - - -\n",
             made.folder, made.folder, made.folder, made.folder);
    assert_same_lines(told.out.data, wanted);
    assert_int_equal(told.runs, 4); /* those in a row together */
    bytes_free(&told.out);
    case_end(&made);
}

static void a_path_with_a_nul_is_unreadable(void **state)
{
    (void)state;
    struct ingest_case made;
    struct told told = {0};
    case_begin(NULL, &made);
    static const char lines[] = "a\0b\n{\"path\":\"a\\u0000b\"}\n/fine\n";
    write_file(made.path, lines, sizeof lines - 1);
    assert_int_equal(run_with_files(&made, &told), DOPPEL_E_NOT_FOUND);
    assert_string_equal(told.out.data, "0:1 - unreadable\n1:2 - unreadable\n:3 /fine - - -\n");
    bytes_free(&told.out);
    case_end(&made);
}

static void long_names_are_unreadable(void **state)
{
    (void)state;
    enum { LIMIT = 65536 };
    static const char *const frames[] = {
        "%s\n", "{\"path\":\"%s\"}\n", "{\"id\":\"%s\",\"text\":\"" KETTLE "\"}\n",
        "{\"id\":\"a\",\"text\":\"" KETTLE "\",\"source\":\"%s\"}\n"};
    struct ingest_case made;
    struct told told = {0};
    size_t size = 0;
    char *name = calloc(1, LIMIT + 2), *lines = malloc(8 * LIMIT);
    memset(name, 'n', LIMIT + 1);
    for (size_t i = 0; i < 4; i++)
        size += (size_t)sprintf(lines + size, frames[i], name);
    case_begin(NULL, &made);
    write_file(made.path, lines, size);
    assert_int_equal(run_with_files(&made, &told), DOPPEL_E_NOT_FOUND);
    assert_string_equal(told.out.data, "0:1 - unreadable\n1:2 - unreadable\n2:3 - unreadable\n"
                                       "3:4 a unreadable\n");
    bytes_free(&told.out);
    case_end(&made);
    free(lines);
    free(name);
}

static void what_came_before_a_failure_is_kept(void **state)
{
    (void)state;
    struct ingest_case made;
    struct told told = {.fails = true}, again = {0};
    case_begin(NULL, &made);
    case_write_text(&made, "{\"id\":\"a\",\"text\":\"" FOX "1"
                           "\"}\n/file\n"
                           "{\"id\":\"b\",\"text\":\"" KETTLE "\"}\n");
    assert_int_equal(run_with_files(&made, &told), DOPPEL_OK);
    assert_string_equal(told.out.data, "0:1 a new\n:2 /file - - -\n");
    assert_int_equal(run_with_files(&made, &again), DOPPEL_E_NOT_FOUND);
    assert_string_equal(again.out.data, "0:1 a new\n:2 /file - - -\n2:3 b new\n");
    bytes_free(&told.out);
    bytes_free(&again.out);
    case_end(&made);
}

/* ---- files that lead ---- */

static void as_file(struct made *record)
{
    free(record->id);
    free(record->source);
    free(record->date);
    record->id = record->source = record->date = NULL;
    record->broken = false;
}

/* Whom the oracle says that a record follows: its number from 1; 0: none. */
static size_t followed(const char *lines, size_t number)
{
    size_t of = 0;
    char decision[32], reason[32];
    for (size_t i = 0; i < number; i++)
        lines = strchr(lines, '\n') + 1;
    if (sscanf(lines, "%*u %31s %31s of %zu", decision, reason, &of) < 3 ||
        strcmp(decision, "duplicate") != 0)
        return 0;
    return of;
}

/* Of files the shingles are kept, and are not read from a file again. */
static void call_codes_exact(char *lines)
{
    for (char *at = lines; (at = strstr(at, " codes "));)
        memcpy(at, " exact ", 7);
}

static void add_file(const struct ingest_case *made, struct doppel_library *library,
                     struct story *story, const char *oracle)
{
    char name[32];
    size_t number = story->count, of = followed(oracle, number);
    snprintf(name, sizeof name, "%zu.txt", number);
    uint64_t id = case_add_file(made, library, name, made->corpus.records[number].text);
    if (of) {
        assert_int_equal(doppel_library_link(library, id, story->items[of - 1], NULL), DOPPEL_OK);
        assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    }
    story_add(story, id);
}

static char *without_lines_of_files(const char *lines, const bool *is_file)
{
    struct bytes out = {0};
    for (size_t i = 0; *lines; i++) {
        size_t size = strcspn(lines, "\n") + 1;
        if (!is_file[i])
            bytes_add(&out, lines, size);
        lines += size;
    }
    bytes_add(&out, "", 1);
    return out.data;
}

/* A file is a record without id, source and date, in the order of items. */
static void files_lead_as_the_oracle_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        enum { COUNT = 200 };
        struct ingest_case made;
        struct story story = {0};
        bool is_file[COUNT];
        uint64_t random = seed * 31;
        case_begin(&(struct corpus_plan){.seed = seed * 6700417,
                                         .count = COUNT,
                                         .templates = seed % 3,
                                         .same_ids = seed % 2,
                                         .short_texts = seed % 4 == 3},
                   &made);
        for (size_t i = 0; i < COUNT; i++)
            if ((is_file[i] = i && random_next(&random) % 3 == 0))
                as_file(&made.corpus.records[i]);
        char *oracle = oracle_ingest(&made.corpus, &made.options);
        struct doppel_library *library = case_open(&made);
        while (story.count < COUNT) {
            size_t end = story.count;
            while (end < COUNT && !is_file[end])
                end++;
            case_write(&made, story.count, end - story.count);
            story_ingest(&story, &made, library);
            if (story.count < COUNT)
                add_file(&made, library, &story, oracle);
        }
        char *wanted = without_lines_of_files(oracle, is_file);
        bytes_add(&story.out, "", 1);
        call_codes_exact(story.out.data);
        assert_same_lines(story.out.data, wanted);
        doppel_library_close(library);
        bytes_free(&story.out);
        free(wanted);
        free(oracle);
        case_end(&made);
    }
}

/* ---- files that change ---- */

static void assert_says(struct ingest_case *made, const char *text, const char *wanted)
{
    struct story story = {.check = true, .alone = true};
    char line[512];
    struct doppel_library *library = case_open(made);
    snprintf(line, sizeof line, "{\"id\":\"asked\",\"text\":\"%s\"}\n", text);
    case_write_text(made, line);
    story_ingest(&story, made, library);
    bytes_add(&story.out, "", 1);
    if (strncmp(story.out.data, wanted, strlen(wanted)) != 0)
        fail_msg("got    %swanted %s", story.out.data, wanted);
    doppel_library_close(library);
    bytes_free(&story.out);
}

static uint64_t add_text_file(const struct ingest_case *made, const char *name, const char *text)
{
    struct doppel_library *library = case_open(made);
    uint64_t id = case_add_file(made, library, name, text);
    doppel_library_close(library);
    return id;
}

/* A record, so that the library knows how its texts are read. */
static void begin_with_a_record(struct ingest_case *made)
{
    struct story story = {0};
    case_begin(NULL, made);
    case_write_text(made, "{\"id\":\"first\",\"text\":\"unlike all others\"}\n");
    struct doppel_library *library = case_open(made);
    story_ingest(&story, made, library);
    doppel_library_close(library);
    bytes_free(&story.out);
}

static void files_that_change(void **state)
{
    (void)state;
    struct ingest_case made;
    begin_with_a_record(&made);
    uint64_t first = add_text_file(&made, "a.txt", FOX "1");
    assert_says(&made, FOX "1", "1 duplicate same-content");
    assert_says(&made, FOX "2", "1 duplicate near");
    assert_true(add_text_file(&made, "a.txt", KETTLE) > first); /* other bytes: a new item */
    assert_says(&made, FOX "1", "1 new");
    assert_says(&made, KETTLE, "1 duplicate same-content");
    case_end(&made);
}

/* Who followed a file that is gone leads. */
static void a_follower_comes_after_a_leader_that_is_gone(void **state)
{
    (void)state;
    struct ingest_case made;
    struct story story = {0};
    begin_with_a_record(&made);
    uint64_t leader = add_text_file(&made, "a.txt", FOX "1");
    uint64_t follower = add_text_file(&made, "b.txt", FOX "2");
    struct doppel_library *library = case_open(&made);
    assert_int_equal(doppel_library_link(library, follower, leader, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    case_write_text(&made, "{\"id\":\"near\",\"text\":\"" FOX "3"
                           "\"}\n");
    story_ingest(&story, &made, library);
    assert_non_null(strstr(story.out.data, "duplicate near"));
    assert_int_equal(doppel_library_remove(library, leader, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_says(&made, FOX "2", "1 duplicate same-content");
    assert_says(&made, FOX "4", "1 duplicate near");
    bytes_free(&story.out);
    case_end(&made);
}

static void damaged_files_are_passed_over(void **state)
{
    (void)state;
    static const char *const damages[] = {
        "UPDATE item SET path = x'' WHERE id = 2",
        "UPDATE fingerprint SET data = zeroblob(7) WHERE item = 2",
        "UPDATE attachment SET data = zeroblob(length(data)) WHERE item = 2",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct ingest_case made;
        begin_with_a_record(&made);
        assert_int_equal(add_text_file(&made, "a.txt", FOX "1"), 2);
        add_text_file(&made, "b.txt", KETTLE);
        case_run_sql(&made, damages[i]);
        assert_says(&made, FOX "1", "1 new");
        assert_says(&made, FOX "2", "1 new");
        assert_says(&made, KETTLE, "1 duplicate same-content");
        case_end(&made);
    }
}

/* A link that is damaged: its item leads. */
static void damaged_links_are_passed_over(void **state)
{
    (void)state;
    struct ingest_case made;
    begin_with_a_record(&made);
    uint64_t leader = add_text_file(&made, "a.txt", FOX "1");
    uint64_t follower = add_text_file(&made, "b.txt", FOX "2");
    struct doppel_library *library = case_open(&made);
    assert_int_equal(doppel_library_link(library, follower, leader, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    case_run_sql(&made, "UPDATE link SET leader = 77");
    assert_says(&made, FOX "2", "1 duplicate same-content");
    case_run_sql(&made, "UPDATE link SET leader = -1");
    assert_says(&made, FOX "2", "1 duplicate same-content");
    case_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_keep_their_place),
        cmocka_unit_test(a_path_with_a_nul_is_unreadable),
        cmocka_unit_test(long_names_are_unreadable),
        cmocka_unit_test(what_came_before_a_failure_is_kept),
        cmocka_unit_test(files_lead_as_the_oracle_says),
        cmocka_unit_test(files_that_change),
        cmocka_unit_test(a_follower_comes_after_a_leader_that_is_gone),
        cmocka_unit_test(damaged_files_are_passed_over),
        cmocka_unit_test(damaged_links_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
