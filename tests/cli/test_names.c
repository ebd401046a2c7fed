/* What people call items, on the command line and in records; and what they mistype. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "command.h"

static const char words[] = "one two three four five six seven eight nine ten eleven twelve";
static const char others[] = "red green blue black white pink brown grey teal gold cyan lime";
static const char third[] = "owl cat dog hen cow pig fox bat ant bee elk eel";

static char *ingest(const char *option, const char *input)
{
    const struct setting setting = {.input = input};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "library", "--on-same-id", option, "-");
    assert_code(&ran, 0);
    free(ran.err);
    return ran.out;
}

/* Item 1 is a record of id 3; item 3 a file that is called x-3, as is the id of item 2. */
static void make_library(void)
{
    char input[1000];
    write_file("f.txt", third, strlen(third));
    snprintf(input, sizeof input,
             "{\"id\":\"3\",\"text\":\"%s\"}\n{\"id\":\"x-3\",\"text\":\"%s\"}\n"
             "{\"path\":\"f.txt\",\"external_id\":\"x-3\"}\n",
             words, others);
    free(ingest("update", input));
}

static void assert_shown(const char *name, const char *id, const char *notice)
{
    char part[32];
    struct ran ran = doppel("show", "-L", "library", name, "--json");
    assert_code(&ran, 0);
    snprintf(part, sizeof part, "{\"id\":%s,", id);
    assert_has(ran.out, part);
    if (notice)
        assert_has(ran.err, notice);
    else
        assert_string_equal(ran.err, "");
    ran_free(&ran);
}

static void names_are_told_apart(void **state)
{
    (void)state;
    make_library();
    assert_shown("3", "3", "'3' is taken for item 3; item 1 is called so, too: 'item:1'");
    assert_shown("item:3", "3", NULL);
    assert_shown("id:3", "1", NULL);
    assert_shown("1", "1", NULL);
    assert_shown("x-3", "3", "item 2 is called so, too");
    assert_shown("f.txt", "3", NULL);
    static const char *const wrong[] = {"item:x-3", "id:f.txt", "id:1", "item:9", "9", "id:"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran ran = doppel("show", "-L", "library", wrong[i]);
        assert_code(&ran, 3);
        assert_has(ran.err, "the library holds no such item");
        ran_free(&ran);
    }
    char *story = doppel_prints(0, "log", "-L", "library", "id:3");
    assert_has(story, "decided to be new: 3");
    free(story);
    free(doppel_prints(0, "remove", "-L", "library", "id:3"));
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 2);
    assert_lacks(list, "\"id\":1,");
    free(list);
    story = doppel_prints(0, "log", "-L", "library", "id:3"); /* it is gone, its story is not */
    assert_has(story, "was removed");
    free(story);
}

/* A number that no item has may be what others call one. */
static void numbers_of_others_are_found(void **state)
{
    (void)state;
    char input[500];
    snprintf(input, sizeof input, "{\"id\":77,\"text\":\"%s\",\"external_id\":1077}\n", words);
    free(ingest("update", input));
    assert_shown("77", "1", NULL);
    assert_shown("1077", "1", NULL);
    static const char *const changes[][3] = {{"remove", "77"}, {"tag", "1077", "--label=x"}};
    for (size_t i = 0; i < 2; i++) { /* lest something else goes where a script says it twice */
        struct ran ran = doppel(changes[i][0], "-L", "library", changes[i][1], changes[i][2]);
        assert_code(&ran, 3);
        assert_has(ran.err, "no such item; item 1 is called so: 'id:");
        ran_free(&ran);
    }
    struct ran ran = doppel("mark", "-L", "library", "77", "1", "--same");
    assert_code(&ran, 2);
    assert_has(ran.err, "'id:77' is that one");
    ran_free(&ran);
    free(doppel_prints(0, "remove", "-L", "library", "id:1077"));
    free(doppel_prints(3, "show", "-L", "library", "77"));
}

/* ---- the same id ---- */

static void same_ids_are_told(void **state)
{
    (void)state;
    static const char input[] =
        "{\"id\":\"7\",\"path\":\"f.txt\"}\n{\"id\":\"7\",\"path\":\"f.txt\"}\n"
        "{\"id\":\"7\",\"path\":\"g.txt\"}\n"
        "{\"id\":\"7\",\"text\":\"some other words than those\"}\n";
    make_library();
    write_file("f.txt", words, strlen(words)); /* other bytes at the same path */
    write_file("g.txt", "quite something else, that is", 29);
    char *out = ingest("update", input);
    assert_int_equal(count_lines(out, "\"same_id\""), 2);
    assert_has(strstr(out, "g.txt"), "\"same_id\":4");
    assert_has(strstr(out, "\"line\":4"), "\"same_id\":5");
    free(out);
    free(doppel_prints(0, "remove", "-L", "library", "g.txt"));
    out = ingest("skip", input);
    assert_has(strstr(out, "g.txt"), "\"decision\":\"duplicate\",\"of\":4");
    assert_has(strstr(out, "g.txt"), "\"reason\":\"same-id\"");
    free(out);
    out = ingest("error", input);
    assert_has(strstr(out, "g.txt"), "\"decision\":\"conflict\",\"of\":4");
    assert_int_equal(count_lines(out, "\"conflict\""), 2);
    free(out);
    struct ran ran = doppel("show", "-L", "library", "g.txt");
    assert_code(&ran, 3); /* it did not come in */
    ran_free(&ran);
}

/* A file may move, and keeps its id. */
static void a_moved_file_keeps_its_id(void **state)
{
    (void)state;
    write_file("f.txt", words, strlen(words));
    free(ingest("error", "{\"id\":\"7\",\"path\":\"f.txt\"}\n"));
    assert_int_equal(rename("f.txt", "g.txt"), 0);
    char *out = ingest("error", "{\"id\":\"7\",\"path\":\"g.txt\"}\n");
    assert_has(out, "\"reason\":\"moved\"");
    assert_lacks(out, "same_id");
    free(out);
}

/* ---- the story ---- */

static void causes_come_before_what_they_cause(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("small.jpg", draw_image(0, 3, DRAWN_WIDTH / 2, DRAWN_HEIGHT / 2), 90);
    free(doppel_prints(0, "ingest", "-L", "library", "small.jpg", "a.jpg"));
    for (int item = 1; item <= 2; item++) {
        char *story = doppel_prints(0, "log", "-L", "library", item == 1 ? "1" : "2");
        const char *decided = strstr(story, "decided to be a duplicate");
        const char *chosen = strstr(story, "the one");
        assert_true(decided && chosen && decided < chosen);
        free(story);
    }
}

/* ---- slips of the pen ---- */

static void assert_said(int code, const char *sentence, const char *const *arguments)
{
    struct ran ran = command_run(NULL, arguments);
    assert_code(&ran, code);
    assert_has(ran.err, sentence);
    ran_free(&ran);
}
#define assert_says(code, sentence, ...)                                                           \
    assert_said(code, sentence, (const char *const[]){__VA_ARGS__, NULL})

static void slips_are_answered(void **state)
{
    (void)state;
    static const char marks[] = "{\"mark\":\"same\",\"a\":\"f.txt\",\"b\":\"a.jpg\"}\n";
    make_library();
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    write_file("marks.jsonl", marks, strlen(marks));
    free(doppel_prints(0, "add", "-L", "library", "a.jpg"));
    assert_says(2, "no such column: nope; there are id, kind, path, ", "list", "-L", "library",
                "--where", "nope = 1");
    assert_says(2, "there is no list 'nope'", "list", "-L", "library", "--list", "nope");
    assert_says(2, "there is no list 'nope'", "export", "-L", "library", "--list", "nope");
    assert_says(2, "'--list' takes a name, which is not empty", "tag", "-L", "library", "1",
                "--list", "");
    assert_says(3, "doppel: gone.jsonl: No such file", "mark", "-L", "library", "--from",
                "gone.jsonl");
    assert_says(2, "text and image are never compared", "mark", "-L", "library", "f.txt", "a.jpg",
                "--same");
    assert_says(3, "marks.jsonl:1: text and image are never compared", "mark", "-L", "library",
                "--from", "marks.jsonl");
    free(doppel_prints(0, "mark", "-L", "library", "f.txt", "a.jpg", "--distinct"));
    free(doppel_prints(0, "lists", "set", "-L", "library", "empty"));
    free(doppel_prints(0, "list", "-L", "library", "--list", "empty"));
}

static void authorities_may_be_negative(void **state)
{
    (void)state;
    free(doppel_prints(0, "source", "set", "-L", "library", "shop", "-3"));
    free(doppel_prints(0, "source", "set", "blog", "-12", "-L", "library"));
    free(doppel_prints(0, "source", "set", "-L", "library", "--", "spam", "-7"));
    char *list = doppel_prints(0, "source", "list", "-L", "library", "--json");
    assert_has(list, "\"pattern\":\"shop\",\"authority\":-3");
    assert_has(list, "\"pattern\":\"blog\",\"authority\":-12");
    assert_has(list, "\"pattern\":\"spam\",\"authority\":-7");
    free(list);
    assert_says(2, "unknown option '-3'", "source", "set", "-L", "library", "shop", "-3x");
}

static void a_sheet_is_narrow(void **state)
{
    (void)state;
    make_library();
    char *sheet = doppel_prints(0, "show", "-L", "library", "1", "2");
    for (const char *line = sheet; line; line = strchr(line + 1, '\n'))
        assert_true(strcspn(line + 1, "\n") < 80);
    assert_has(sheet, "\n\nid ");
    assert_has(sheet, "…\n");
    free(sheet);
    char *json = doppel_prints(0, "show", "-L", "library", "1", "--json");
    assert_int_equal(strspn(strstr(json, "\"code\":\"") + 8, "0123456789abcdef"), 512);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(names_are_told_apart),
        IN_SANDBOX(numbers_of_others_are_found),
        IN_SANDBOX(same_ids_are_told),
        IN_SANDBOX(a_moved_file_keeps_its_id),
        IN_SANDBOX(causes_come_before_what_they_cause),
        IN_SANDBOX(slips_are_answered),
        IN_SANDBOX(authorities_may_be_negative),
        IN_SANDBOX(a_sheet_is_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
