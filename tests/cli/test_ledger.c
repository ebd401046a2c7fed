/* source, mark, log, tag, lists, --where: what people say of a library, and what it tells of
 * itself.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"

static void add_collection(void)
{
    make_collection();
    free(doppel_prints(0, "add", "-q", "-L", "library", "pics"));
}

static void assert_wrong(const struct ran *ran, const char *sentence)
{
    assert_code(ran, 2);
    assert_has(ran->err, sentence);
}

#define assert_refused(sentence, ...)                                                              \
    do {                                                                                           \
        struct ran ran = doppel(__VA_ARGS__);                                                      \
        assert_wrong(&ran, sentence);                                                              \
        ran_free(&ran);                                                                            \
    } while (0)

#define assert_missing(sentence, ...)                                                              \
    do {                                                                                           \
        struct ran ran = doppel(__VA_ARGS__);                                                      \
        assert_code(&ran, 3);                                                                      \
        assert_has(ran.err, sentence);                                                             \
        ran_free(&ran);                                                                            \
    } while (0)

static void sources_are_worth_something(void **state)
{
    (void)state;
    free(doppel_prints(0, "source", "set", "-L", "library", "*.gov.in", "100"));
    free(doppel_prints(0, "source", "set", "-L", "library", "--", "blog", "-3"));
    char *json = doppel_prints(0, "source", "list", "-L", "library", "--json");
    assert_string_equal(json, "{\"pattern\":\"blog\",\"authority\":-3}\n"
                              "{\"pattern\":\"*.gov.in\",\"authority\":100}\n");
    free(json);
    free(doppel_prints(0, "source", "remove", "-L", "library", "blog"));
    json = doppel_prints(0, "source", "list", "-L", "library", "--json");
    assert_int_equal(count_lines(json, ""), 1);
    free(json);
    assert_refused("bracket", "source", "set", "-L", "library", "[ab", "1");
    assert_refused("whole number", "source", "set", "-L", "library", "a", "much");
    free(doppel_prints(3, "source", "remove", "-L", "library", "blog"));
    free(doppel_prints(0, "source", "policy", "-L", "library", "date,size"));
    json = doppel_prints(0, "source", "policy", "-L", "library", "--json");
    assert_string_equal(json, "{\"keep\":\"date,size\"}\n");
    free(json);
    assert_refused("nothing to keep by", "source", "policy", "-L", "library", "beauty");
}

static void a_word_is_kept_and_told(void **state)
{
    (void)state;
    add_collection();
    free(doppel_prints(0, "mark", "-L", "library", "1", "2", "--same", "--note", "why"));
    char *text = doppel_prints(0, "log", "-L", "library", "2");
    assert_has(text, "was added: /");
    assert_has(text, "a person said that it is the same as item 1; note: why");
    assert_has(text, "follows item 1");
    free(text);
    text = doppel_prints(0, "show", "-L", "library", "2", "--json");
    assert_has(text, "\"leader\":1");
    free(text);
    free(doppel_prints(0, "mark", "-L", "library", "2", "1", "--distinct"));
    text = doppel_prints(0, "mark", "-L", "library", "--list", "--json");
    assert_int_equal(count_lines(text, ""), 1);
    assert_has(text, "\"mark\":\"distinct\"");
    free(text);
    text = doppel_prints(0, "show", "-L", "library", "2", "--json");
    assert_lacks(text, "\"leader\"");
    free(text);
    free(doppel_prints(0, "mark", "-L", "library", "2", "1", "--forget"));
    text = doppel_prints(0, "mark", "-L", "library", "--list", "--json");
    assert_string_equal(text, "");
    free(text);
    assert_refused("say one of", "mark", "-L", "library", "1", "2");
    assert_refused("two items", "mark", "-L", "library", "1", "--same");
    assert_missing("neither an item", "mark", "-L", "library", "1", "nofile", "--same");
    assert_refused("same bytes", "mark", "-L", "library", "1", "1", "--same");
}

static void words_come_before_their_files_and_from_a_page(void **state)
{
    (void)state;
    write_file("one", "one", 3);
    write_file("two", "two", 3);
    static const char lines[] = "{\"mark\":\"distinct\",\"a\":\"one\",\"b\":\"two\"}\n"
                                "\n"
                                "{\"mark\":\"same\",\"a\":\"gone\",\"b\":\"gone too\","
                                "\"a_digest\":\"00112233445566778899aabbccddeeff\","
                                "\"b_digest\":\"ffeeddccbbaa99887766554433221100\"}\n"
                                "{\"mark\":\"keep\",\"a\":\"one\"}\n"
                                "{\"mark\":\"worse\",\"a\":\"one\"}\n"
                                "[1]\n";
    write_file("marks.jsonl", lines, sizeof lines - 1);
    struct ran ran = doppel("mark", "-L", "library", "--from", "marks.jsonl");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "marks.jsonl:4")); /* no item of the library */
    assert_true(reported(ran.err, "marks.jsonl:5"));
    assert_true(reported(ran.err, "marks.jsonl:6"));
    ran_free(&ran);
    char *text = doppel_prints(0, "mark", "-L", "library", "--list", "--json");
    assert_int_equal(count_lines(text, ""), 2);
    assert_has(text, "\"a_digest\":\"00112233445566778899aabbccddeeff\"");
    free(text);
}

static void a_page_chooses_what_is_kept(void **state)
{
    (void)state;
    add_collection();
    free(doppel_prints(0, "mark", "-L", "library", "1", "2", "--same"));
    char *json = doppel_prints(0, "show", "-L", "library", "2", "--json");
    const char *path = strstr(json, "\"path\":\"") + 8;
    char line[5000];
    snprintf(line, sizeof line, "{\"mark\":\"keep\",\"a\":\"%.*s\"}\n", (int)strcspn(path, "\""),
             path);
    free(json);
    const struct setting input = {.input = line};
    struct ran ran = doppel_with(&input, "mark", "-L", "library", "--from", "-");
    assert_code(&ran, 0);
    ran_free(&ran);
    json = doppel_prints(0, "show", "-L", "library", "1", "--json");
    assert_has(json, "\"canonical\":2");
    free(json);
    json = doppel_prints(0, "log", "-L", "library", "1");
    assert_has(json, "item 2 took its place as the one of the group to keep, as a person said");
    free(json);
}

static void say_kept(const char *kept, const char *over)
{
    char line[500];
    snprintf(line, sizeof line,
             "{\"mark\":\"keep\",\"a\":\"pics/%s\",\"over\":[{\"path\":\"pics/%s\"}]}\n", kept,
             over);
    const struct setting input = {.input = line};
    struct ran ran = doppel_with(&input, "mark", "-L", "library", "--from", "-");
    assert_code(&ran, 0);
    ran_free(&ran);
}

static void assert_kept(const char *library, const char *name)
{
    char kept[100];
    snprintf(kept, sizeof kept, "/pics/%s\",\"savable\"", name);
    char *json =
        doppel_prints(0, "groups", "-L", library, "--json", "--where", "path LIKE '%/tree%'");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, kept);
    free(json);
}

/* `add` links nothing: each of them leads a group of its own. */
static void a_page_chooses_among_files_that_follow_nobody(void **state)
{
    (void)state;
    add_collection();
    say_kept("tree.jpg", "tree-mirrored.jpg");
    assert_kept("library", "tree.jpg");
    say_kept("tree-mirrored.jpg", "tree.jpg");
    assert_kept("library", "tree-mirrored.jpg");
    say_kept("tree.jpg", "tree-mirrored.jpg");
    assert_kept("library", "tree.jpg");
    struct ran ran = doppel("export", "-L", "library", "-o", "all.jsonl");
    ran_free(&ran);
    free(doppel_prints(0, "import", "-q", "-L", "other", "all.jsonl"));
    assert_kept("other", "tree.jpg");
    free(doppel_prints(0, "verify", "-L", "library"));
    char *text = doppel_prints(0, "log", "-L", "library", "pics/tree.jpg");
    assert_has(text, "was chosen to be kept, as a person said");
    free(text);
    free(doppel_prints(0, "mark", "-L", "library", "pics/tree.jpg", "pics/tree-mirrored.jpg",
                       "--same"));
    text = doppel_prints(0, "show", "-L", "library", "pics/tree.jpg", "--json");
    assert_has(text, "\"leader\":");
    free(text);
    text = doppel_prints(0, "log", "-L", "library", "pics/tree.jpg");
    assert_has(text, "; of its group it is the one to keep");
    free(text);
}

static void the_log_outlives_items(void **state)
{
    (void)state;
    add_collection();
    free(doppel_prints(0, "remove", "-L", "library", "3"));
    char *text = doppel_prints(0, "log", "-L", "library", "3");
    assert_has(text, "was removed: /");
    assert_has(text, "is not in the library any more");
    free(text);
    text = doppel_prints(0, "log", "-L", "library", "--last", "2", "--json");
    assert_int_equal(count_lines(text, ""), 2);
    assert_true(strstr(text, "\"added\"") < strstr(text, "\"removed\""));
    free(text);
    text = doppel_prints(0, "log", "-L", "library", "--since", "1h", "--json");
    assert_int_equal(count_lines(text, ""), COLLECTION_FILES + 1);
    free(text);
    text = doppel_prints(0, "log", "-L", "library", "--since", "2999-01-01", "--json");
    assert_string_equal(text, "");
    free(text);
    assert_missing("never held", "log", "-L", "library", "999");
    assert_missing("never held", "log", "-L", "library", "nofile");
    assert_refused("'--since' takes", "log", "-L", "library", "--since", "soon");
}

/* Records: what was not added, what took whose place, and in a table which list. */
static void the_log_tells_of_records(void **state)
{
    (void)state;
    static const char words[] =
        "The ferry to the island runs again from Monday, after repairs that took three weeks and "
        "four million, said its director on Friday.";
    char records[2048];
    snprintf(records, sizeof records,
             "{\"id\":\"a\",\"text\":\"%s\",\"source\":\"s\",\"date\":\"2024-01-01\"}\n"
             "{\"id\":\"a\",\"text\":\"%s\",\"source\":\"s\",\"date\":\"2024-01-01\"}\n"
             "{\"id\":\"b\",\"text\":\"%s Boats\",\"source\":\"s\",\"date\":\"2024-02-01\","
             "\"list\":\"press\"}\n"
             "{\"id\":\"b\",\"text\":\"Quite another text, of a bridge that was opened in the "
             "year 1931 by a king\",\"source\":\"s\"}\n",
             words, words, words);
    write_file("records.jsonl", records, strlen(records));
    free(doppel_prints(0, "ingest", "-L", "library", "--jsonl", "records.jsonl"));
    char *text = doppel_prints(0, "log", "-L", "library", "a");
    assert_lacks(text, "which was not added"); /* the one that came again */
    assert_has(text, "item 2 took its place as the one of the group to keep, as the newer one\n");
    assert_has(text, "is followed by item 2; of its group item 2 is the one to keep\n");
    assert_lacks(text, "item 0");
    free(text);
    text = doppel_prints(0, "log", "-L", "library", "item:2");
    assert_true(strstr(text, "came in") < strstr(text, "was put on list 'press'"));
    assert_has(text, "same-id: ");
    assert_has(text, "; that one took its place\n");
    assert_has(text, "item 3 has its place; follows item 1\n");
    free(text);
    text = doppel_prints(0, "log", "-L", "library");
    assert_has(text, "put on press");
    free(text);
}

static void sources_are_in_the_log(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-q", "-L", "library", "pics/tree.jpg", "--source", "cam"));
    free(doppel_prints(0, "tag", "-L", "library", "1", "--source", "cam", "--label", "x"));
    free(doppel_prints(0, "tag", "-L", "library", "1", "--source", "phone"));
    char *text = doppel_prints(0, "log", "-L", "library", "1");
    assert_int_equal(count_lines(text, "was said to come from"), 2);
    assert_true(strstr(text, "come from cam\n") < strstr(text, "come from phone\n"));
    free(text);
    free(doppel_prints(0, "ingest", "-L", "library", "pics/sea.jpg", "--source", "cam"));
    text = doppel_prints(0, "log", "-L", "library", "2");
    assert_has(text, "sea.jpg, from cam\n");
    assert_lacks(text, "was said to come from");
    free(text);
}

static void items_are_tagged_and_asked_for(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-q", "-L", "library", "pics", "--list", "all", "--label", "x",
                       "--source", "cam", "--meta", "{\"city\":\"Pune\"}"));
    free(doppel_prints(0, "tag", "-L", "library", "1", "2", "--list", "few", "--external-id",
                       "e'1"));
    free(doppel_prints(0, "tag", "-L", "library", "--where", "id > 18", "--label", "late"));
    char *json = doppel_prints(0, "list", "-L", "library", "--list", "few", "--json");
    assert_int_equal(count_lines(json, ""), 2);
    assert_int_equal(count_lines(json, "\"external_id\":\"e'1\""), 2);
    assert_has(json, "\"labels\":[\"x\"],\"lists\":[\"all\",\"few\"]");
    assert_has(json, "\"meta\":{\"city\":\"Pune\"}");
    free(json);
    json = doppel_prints(0, "list", "-L", "library", "--label", "late", "--where", "id != 19",
                         "--json");
    assert_int_equal(count_lines(json, ""), COLLECTION_FILES - 19);
    free(json);
    json = doppel_prints(0, "lists", "-L", "library", "--json");
    assert_has(json, "{\"list\":\"all\",\"state\":\"active\",\"items\":20,\"matches\":0,");
    assert_has(json, "\n{\"list\":\"few\",\"state\":\"active\",\"items\":2,\"matches\":0,");
    free(json);
    free(doppel_prints(0, "tag", "-L", "library", "1", "--remove", "--list", "few"));
    free(doppel_prints(0, "lists", "set", "-L", "library", "few", "--state", "benign"));
    free(doppel_prints(0, "lists", "remove", "-L", "library", "all"));
    json = doppel_prints(0, "lists", "-L", "library", "--json");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "{\"list\":\"few\",\"state\":\"benign\",\"items\":1,");
    free(json);
    assert_refused("object in JSON", "tag", "-L", "library", "1", "--meta", "[1]");
    assert_refused("object in JSON", "add", "-L", "other", "pics", "--meta", "{");
    assert_refused("say something", "tag", "-L", "library", "1");
    assert_refused("of which items", "tag", "-L", "library", "--label", "x");
    assert_refused("'1; SELECT 2' is not one expression", "list", "-L", "library", "--where",
                   "1; SELECT 2");
    assert_refused("not authorized", "list", "-L", "library", "--where",
                   "EXISTS(SELECT 1 FROM failure)");
    assert_refused("is not one expression", "list", "-L", "library", "--where",
                   "1) UNION SELECT (1");
    struct ran ran = doppel("tag", "-L", "library", "999", "--label", "x");
    assert_code(&ran, 3);
    ran_free(&ran);
    /* What somebody else calls an item names it. */
    free(doppel_prints(0, "tag", "-L", "library", "2", "--external-id", "post-7"));
    json = doppel_prints(0, "show", "-L", "library", "--json", "post-7");
    assert_has(json, "\"id\":2,");
    free(json);
}

static void benign_items_explain_others(void **state)
{
    (void)state;
    add_collection();
    char *json = doppel_prints(0, "find", "-L", "library", "--json", "pics/tree.jpg");
    unsigned all = count_lines(json, "");
    assert_true(all >= 2);
    free(json);
    free(doppel_prints(0, "tag", "-L", "library", "--where", "path LIKE '%/tree.jpg'", "--list",
                       "stock"));
    free(doppel_prints(0, "lists", "set", "-L", "library", "stock", "--state", "benign"));
    json = doppel_prints(0, "find", "-L", "library", "--json", "pics/tree.jpg");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "\"lists\":[\"stock\"],\"list_state\":\"benign\"");
    free(json);
    json =
        doppel_prints(0, "find", "-L", "library", "--json", "--include-allowed", "pics/tree.jpg");
    assert_int_equal(count_lines(json, ""), all);
    assert_int_equal(count_lines(json, "\"suppressed_by\":"), all - 1);
    free(json);
    free(doppel_prints(0, "lists", "set", "-L", "library", "stock", "--state", "disabled"));
    json = doppel_prints(0, "find", "-L", "library", "--json", "pics/tree.jpg");
    assert_int_equal(count_lines(json, ""), all - 1);
    free(json);
    free(doppel_prints(0, "lists", "set", "-L", "library", "none"));
    json = doppel_prints(1, "find", "-L", "library", "--json", "--list", "none", "pics/tree.jpg");
    assert_has(json, "\"match\":false");
    free(json);
}

static void groups_and_removal_may_be_of_some(void **state)
{
    (void)state;
    add_collection();
    char *json = doppel_prints(0, "groups", "-L", "library", "--json");
    unsigned all = count_lines(json, "");
    assert_true(all > 1);
    free(json);
    json = doppel_prints(0, "groups", "-L", "library", "--json", "--where", "path LIKE '%/tree%'");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "tree-mirrored");
    free(json);
    free(doppel_prints(0, "tag", "-L", "library", "1", "2", "--label", "bad"));
    free(doppel_prints(0, "remove", "-L", "library", "--label", "bad"));
    json = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(json, ""), COLLECTION_FILES - 2);
    free(json);
    struct ran removed = doppel("remove", "-L", "library", "--where", "id < 5", "--dry-run");
    assert_code(&removed, 0);
    assert_string_equal(removed.err, "doppel: 2 items would be removed\n");
    ran_free(&removed);
    removed = doppel("remove", "-L", "library", "--where", "id < 5");
    assert_code(&removed, 0);
    assert_string_equal(removed.err, "doppel: 2 items removed\n");
    ran_free(&removed);
    json = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(json, ""), COLLECTION_FILES - 4);
    free(json);
    assert_refused("what is to be removed", "remove", "-L", "library");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(sources_are_worth_something),
        IN_SANDBOX(a_word_is_kept_and_told),
        IN_SANDBOX(words_come_before_their_files_and_from_a_page),
        IN_SANDBOX(a_page_chooses_what_is_kept),
        IN_SANDBOX(a_page_chooses_among_files_that_follow_nobody),
        IN_SANDBOX(the_log_outlives_items),
        IN_SANDBOX(the_log_tells_of_records),
        IN_SANDBOX(sources_are_in_the_log),
        IN_SANDBOX(items_are_tagged_and_asked_for),
        IN_SANDBOX(benign_items_explain_others),
        IN_SANDBOX(groups_and_removal_may_be_of_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
