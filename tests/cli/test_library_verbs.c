/* add, find, groups, list, show, remove: a library from the outside. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collection.h"

/* A number in the first line of JSON that has `part`. */
static long long number_in(const char *json_lines, const char *part, const char *key)
{
    for (const char *line = json_lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (!memmem(line, (size_t)(end - line), part, strlen(part)))
            continue;
        json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);
        assert_non_null(object);
        long long number = json_integer_value(json_object_get(object, key));
        json_decref(object);
        return number;
    }
    fail_msg("no line has %s:\n%s", part, json_lines);
    return 0;
}

static void add_remembers(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES);
    assert_int_equal(count_lines(list, "\"path\":\"/"), COLLECTION_FILES); /* absolute */
    free(list);
    /* Again: nothing new, and no worker needed. */
    const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};
    struct ran again = doppel_with(&no_worker, "add", "-L", "library", "pics");
    assert_code(&again, 0);
    ran_free(&again);
    list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), COLLECTION_FILES);
    free(list);
}

static void find_finds_copies(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    keep_image("query.jpg", draw_image(9, 3, 300, 225), 50); /* the tree, smaller */
    char *json = doppel_prints(0, "find", "-L", "library", "--json", "query.jpg");
    assert_int_equal(count_lines(json, ""), 2); /* the tree and its mirror image */
    assert_int_equal(count_lines(json, "\"mirrored\":true"), 1);
    assert_has(json, "\"query\":\"query.jpg\"");
    assert_has(json, "\"relation\":\"same\"");
    const char *first = strstr(json, "pics/tree.jpg"), *second = strstr(json, "tree-mirrored");
    assert_true(first && second);
    free(json);
}

static void find_says_when_there_is_nothing(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    keep_drawing("query.jpg", 9, 77);
    char *json = doppel_prints(1, "find", "-L", "library", "--json", "query.jpg");
    assert_string_equal(json, "{\"query\":\"query.jpg\",\"match\":false}\n");
    free(json);
}

/* 3 outranks 0 and 1. */
static void find_reports_what_it_cannot_read(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    write_file("broken.jpg", "\xff\xd8\xff", 3);
    struct ran ran = doppel("find", "-L", "library", "--json", "broken.jpg", "pics/tree.jpg");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "broken.jpg"));
    assert_has(ran.out, "tree-mirrored");
    ran_free(&ran);
}

static void find_reads_standard_input(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    size_t size;
    char *bytes = read_file("pics/tree.jpg", &size);
    const struct setting input = {.input = bytes, .input_size = size};
    struct ran ran = doppel_with(&input, "find", "-L", "library", "--json", "-");
    assert_code(&ran, 0);
    assert_has(ran.out, "pics/tree.jpg");
    assert_has(ran.out, "\"verified\":\"exact\"");
    ran_free(&ran);
    free(bytes);
}

static void find_takes_a_code(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *json = doppel_prints(0, "hash", "--json", "pics/tree.jpg");
    const char *code = strstr(json, "\"code\":\"");
    assert_non_null(code);
    char hex[17] = {0};
    memcpy(hex, code + 8, 16);
    free(json);
    json =
        doppel_prints(0, "find", "-L", "library", "--json", "--code", hex, "--scheme", "phash64");
    assert_has(json, "pics/tree.jpg");
    free(json);
    struct ran ran = doppel("find", "-L", "library", "--code", "12xy", "--scheme", "phash64");
    assert_code(&ran, 2);
    ran_free(&ran);
}

static void groups_are_those_of_scan(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *json = doppel_prints(0, "groups", "-L", "library", "--json");
    char here[256];
    assert_non_null(getcwd(here, sizeof here - 1));
    char *text = groups_as_text(json, strcat(here, "/"));
    assert_string_equal(text, COLLECTION_GROUPS);
    free(text);
    free(json);
}

static void show_tells_all(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    char id[32];
    snprintf(id, sizeof id, "%lld", number_in(list, "pics/sea.jpg", "id"));
    char *json = doppel_prints(0, "show", "-L", "library", "--json", id);
    assert_has(json, "pics/sea.jpg");
    assert_int_equal(number_in(json, "sea.jpg", "width"), DRAWN_WIDTH);
    assert_int_equal(number_in(json, "sea.jpg", "height"), DRAWN_HEIGHT);
    free(json);
    free(list);
    struct ran ran = doppel("show", "-L", "library", "999999");
    assert_true(ran.code == 2 || ran.code == 3);
    assert_has(ran.err, "999999");
    ran_free(&ran);
}

static void removed_items_are_gone_and_ids_not_reused(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *before = doppel_prints(0, "list", "-L", "library", "--json");
    char id[32];
    snprintf(id, sizeof id, "%lld", number_in(before, "pics/tree.jpg", "id"));
    free(doppel_prints(0, "remove", "-L", "library", id));
    free(doppel_prints(0, "remove", "-L", "library", "pics/sea.jpg"));
    char *after = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(after, ""), COLLECTION_FILES - 2);
    assert_lacks(after, "pics/tree.jpg");
    assert_int_equal(access("pics/tree.jpg", R_OK), 0); /* the file itself is not touched */
    free(after);
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    after = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(after, ""), COLLECTION_FILES);
    assert_true(number_in(after, "pics/tree.jpg", "id") > COLLECTION_FILES);
    free(after);
    free(before);
}

static void a_moved_file_keeps_its_id(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *before = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(rename("pics/sea.jpg", "pics/ocean.jpg"), 0);
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    char *after = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(number_in(after, "ocean.jpg", "id"), number_in(before, "sea.jpg", "id"));
    assert_lacks(after, "pics/sea.jpg");
    free(before);
    free(after);
}

static void without_a_library_it_says_so(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    const char *const verbs[] = {"groups", "list"};
    for (size_t i = 0; i < 2; i++) {
        struct ran ran = doppel(verbs[i], "-L", "nowhere");
        assert_code(&ran, 2);
        assert_has(ran.err, "nowhere");
        ran_free(&ran);
    }
    struct ran ran = doppel("find", "-L", "nowhere", "pics/a.jpg");
    assert_code(&ran, 2);
    ran_free(&ran);
}

/* Nothing is made before something is to be kept. */
static void a_wrong_path_makes_no_library(void **state)
{
    (void)state;
    static const char *const verbs[] = {"add", "import", "ingest"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct ran ran = doppel(verbs[i], "-L", "none", "nosuch", "nor.this");
        assert_code(&ran, 3);
        assert_has(ran.err, "nosuch: No such file or directory");
        assert_has(ran.err, "nor.this: No such file or directory");
        assert_int_equal(access("none", F_OK), -1);
        ran_free(&ran);
    }
    struct ran ran = doppel("ingest", "-L", "none", "--json", "nosuch");
    assert_string_equal(ran.out, "{\"path\":\"nosuch\",\"decision\":\"unreadable\","
                                 "\"reason\":\"No such file or directory\"}\n");
    ran_free(&ran);
    ran = doppel("ingest", "-L", "none", "--jsonl", "nosuch.jsonl");
    assert_code(&ran, 3);
    assert_int_equal(access("none", F_OK), -1);
    ran_free(&ran);
}

static void what_holds_nothing_makes_no_library(void **state)
{
    static const struct {
        const char *words[4], *said;
    } cases[] = {
        {{"add", "empty"}, "0 new, 0 unchanged, 0 updated, 0 moved\n"},
        {{"ingest", "empty"}, "nothing to ingest: no pictures, texts, recordings or videos\n"},
        {{"add", "--files-from", "list"}, "0 new, 0 unchanged, 0 updated, 0 moved\n"},
        {{"import", "list"}, "0 imported, 0 updated, 0 there already\n"},
        {{"ingest", "--jsonl", "list"}, "0 records; 0 unique\n"},
    };
    (void)state;
    make_folder("empty");
    make_folder("empty/.hidden");
    write_file("empty/.hidden/a.txt", "words", 5);
    write_file("list", "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *words = cases[i].words;
        struct ran ran = doppel(words[0], "-L", "none", words[1], words[2]);
        assert_code(&ran, 0);
        assert_string_equal(ran.out, "");
        assert_has(ran.err, cases[i].said);
        assert_int_equal(access("none", F_OK), -1);
        ran_free(&ran);
    }
    write_file("words", "neither a list nor an export\n", 29);
    struct ran failed = doppel("import", "-L", "none", "words"); /* nothing was begun */
    assert_code(&failed, 2);
    assert_has(failed.err, "words: it begins like none of the formats");
    assert_lacks(failed.err, "0 imported");
    ran_free(&failed);
    free(doppel_prints(0, "mark", "-L", "none", "--from", "list"));
    assert_int_equal(access("none", F_OK), -1);
    make_folder("none"); /* a folder that was there stays */
    free(doppel_prints(0, "import", "-q", "-L", "none", "list"));
    assert_int_equal(access("none/catalogue.db", F_OK), -1);
    assert_int_equal(access("none", F_OK), 0);
    free(doppel_prints(0, "add", "-L", "none", "--hidden", "empty"));
    struct ran ran = doppel("add", "-L", "none", "empty"); /* it is there */
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "doppel: 0 new, 0 unchanged, 0 updated, 0 moved\n");
    assert_int_equal(access("none/catalogue.db", F_OK), 0);
    ran_free(&ran);
}

static void a_folder_without_files_is_said(void **state)
{
    static const char *const verbs[][2] = {
        {"check", "check"}, {"find", "look for"}, {"hash", "hash"}};
    (void)state;
    make_folder("empty");
    keep_drawing("a.jpg", 0, 1);
    free(doppel_prints(0, "add", "-L", "l", "a.jpg"));
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const struct setting named = {.environment = {"DOPPEL_LIBRARY=l"}};
        struct ran ran = doppel_with(&named, verbs[i][0], "empty");
        char said[96];
        snprintf(said, sizeof said,
                 "doppel: nothing to %s: no pictures, texts, recordings or videos\n", verbs[i][1]);
        assert_string_equal(ran.err, said);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
}

static void the_environment_names_the_library(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    const struct setting named = {.environment = {"DOPPEL_LIBRARY=by-name"}};
    struct ran ran = doppel_with(&named, "add", "pics");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(access("by-name/catalogue.db", R_OK), 0);
    free(doppel_prints(0, "add", "pics"));
    assert_int_equal(access("../home/.local/share/doppel/catalogue.db", R_OK), 0);
}

static void a_broken_catalogue_is_refused(void **state)
{
    (void)state;
    make_folder("library");
    write_file("library/catalogue.db", "This is not what it is called, but long enough.", 47);
    struct ran ran = doppel("list", "-L", "library");
    assert_code(&ran, 2);
    assert_has(ran.err, "library/catalogue.db");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(add_remembers),
        IN_SANDBOX(find_finds_copies),
        IN_SANDBOX(find_says_when_there_is_nothing),
        IN_SANDBOX(find_reports_what_it_cannot_read),
        IN_SANDBOX(find_reads_standard_input),
        IN_SANDBOX(find_takes_a_code),
        IN_SANDBOX(groups_are_those_of_scan),
        IN_SANDBOX(show_tells_all),
        IN_SANDBOX(removed_items_are_gone_and_ids_not_reused),
        IN_SANDBOX(a_moved_file_keeps_its_id),
        IN_SANDBOX(without_a_library_it_says_so),
        IN_SANDBOX(a_wrong_path_makes_no_library),
        IN_SANDBOX(what_holds_nothing_makes_no_library),
        IN_SANDBOX(a_folder_without_files_is_said),
        IN_SANDBOX(the_environment_names_the_library),
        IN_SANDBOX(a_broken_catalogue_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
