/* The groups of records of corpora: those that ingest linked, whatever happened to them since. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "records.h"

enum { RECORDS = 350, MOST_ITEMS = RECORDS + 8 };

/* ---- what ingest said of each item ---- */

struct said {
    int leader; /* 0: it leads, or is not there */
    char reason[16];
    double similarity;
    int line;
    char content[512]; /* the text */
};

struct oracle {
    struct said items[MOST_ITEMS];
};

static long long number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* The next line as an object, or NULL at the end. */
static json_t *next_line(const char **at)
{
    size_t length = strcspn(*at, "\n");
    if (!length)
        return NULL;
    json_t *object = json_loadb(*at, length, 0, NULL);
    assert_non_null(object);
    *at += length + ((*at)[length] == '\n');
    return object;
}

static void hear(struct oracle *oracle, const char *decisions)
{
    json_t *line;
    for (const char *at = decisions; (line = next_line(&at)); json_decref(line)) {
        long long item = number(line, "item");
        assert_true(item < MOST_ITEMS);
        struct said *said = &oracle->items[item];
        said->line = (int)number(line, "line");
        if (!item || strcmp(text(line, "decision"), "duplicate") != 0)
            continue;
        said->leader = (int)number(line, "of_item");
        snprintf(said->reason, sizeof said->reason, "%s", text(line, "reason"));
        said->similarity = json_number_value(json_object_get(line, "similarity"));
    }
}

/* What has the content of another follower is to the leader what that one is. */
static void hear_contents(struct oracle *oracle, const char *records)
{
    json_t *line;
    int number = 1;
    for (const char *at = records; (line = next_line(&at)); json_decref(line), number++)
        for (int i = 1; i < MOST_ITEMS; i++)
            if (oracle->items[i].line == number)
                snprintf(oracle->items[i].content, sizeof oracle->items[i].content, "%s",
                         text(line, "text"));
    for (int i = 1; i < MOST_ITEMS; i++) {
        struct said *said = &oracle->items[i];
        for (int j = i - 1; j > 0 && said->leader; j--)
            if (oracle->items[j].leader == said->leader &&
                strcmp(oracle->items[j].content, said->content) == 0) {
                memcpy(said->reason, oracle->items[j].reason, sizeof said->reason);
                said->similarity = oracle->items[j].similarity;
                break;
            }
    }
}

static size_t followers_of(const struct oracle *oracle, int leader)
{
    size_t count = 0;
    for (size_t i = 0; i < MOST_ITEMS; i++)
        count += leader && oracle->items[i].leader == leader;
    return count;
}

/* ---- what groups says ---- */

static void check_member(const struct oracle *oracle, const json_t *member, int leader)
{
    const struct said *said = &oracle->items[number(member, "id")];
    char record[16];
    snprintf(record, sizeof record, "r%d", said->line - 1);
    assert_string_equal(text(member, "record"), record);
    assert_int_equal(number(member, "line"), said->line);
    assert_non_null(strstr(text(member, "path"), "/c.jsonl"));
    if (number(member, "id") == leader) {
        assert_string_equal(text(member, "reason"), "kept");
        return;
    }
    assert_int_equal(said->leader, leader);
    assert_string_equal(text(member, "reason"), said->reason);
    double similarity = json_number_value(json_object_get(member, "similarity"));
    assert_true(similarity > said->similarity - .00006 && similarity < said->similarity + .00006);
}

static void check_groups(const struct oracle *oracle, const char *groups)
{
    size_t told = 0, wanted = 0;
    int last = 0;
    json_t *line;
    for (const char *at = groups; (line = next_line(&at)); json_decref(line), told++) {
        const json_t *members = json_object_get(line, "members");
        int leader = (int)number(json_array_get(members, 0), "id");
        assert_int_equal(number(line, "group"), told + 1);
        assert_string_equal(text(line, "kind"), "text");
        assert_string_equal(text(line, "keep"), text(json_array_get(members, 0), "record"));
        assert_int_equal(number(line, "savable"), 0);
        assert_true(leader > last);
        assert_int_equal(json_array_size(members), 1 + followers_of(oracle, leader));
        for (size_t i = 0; i < json_array_size(members); i++)
            check_member(oracle, json_array_get(members, i), leader);
        last = leader;
    }
    for (int i = 1; i < MOST_ITEMS; i++)
        wanted += followers_of(oracle, i) > 0;
    assert_int_equal(told, wanted);
    assert_true(wanted > 0);
}

static char *ingest(const char *lines, const char *option)
{
    write_file("c.jsonl", lines, strlen(lines));
    return doppel_prints(0, "ingest", "-L", "lib", "--json", "--jsonl", "c.jsonl", option);
}

static char *groups(void)
{
    return doppel_prints(0, "groups", "-L", "lib", "--json");
}

static void remove_item(struct oracle *oracle, int item)
{
    char id[32];
    snprintf(id, sizeof id, "item:%d", item);
    free(doppel_prints(0, "remove", "-L", "lib", id));
    oracle->items[item].leader = 0;
}

static void are_those_that_ingest_linked(void **state)
{
    (void)state;
    struct oracle oracle = {0};
    char *lines = make_records(RECORDS, 7);
    char *decisions = ingest(lines, "--keep-shingles"), *told = groups();
    hear(&oracle, decisions);
    hear_contents(&oracle, lines);
    check_groups(&oracle, told);
    /* and stats counts the same */
    char *stats = doppel_prints(0, "stats", "-L", "lib", "--json");
    assert_number(stats, "groups", count_lines(told, ""), 0);
    assert_number(stats, "duplicates", count_lines(decisions, "\"duplicate\""), 0);
    free(stats);
    free(told);
    /* Some followers are gone, and the corpus. */
    remove("c.jsonl");
    uint32_t seed = 3;
    for (int i = 0; i < 12; i++) {
        int item = 1 + (int)(next_random(&seed) % RECORDS);
        if (oracle.items[item].leader)
            remove_item(&oracle, item);
    }
    told = groups();
    check_groups(&oracle, told);
    free(told);
    free(decisions);
    free(lines);
}

/* ---- three records, one of them a copy ---- */

static const char three[] =
    "{\"id\":\"one\",\"source\":\"blog\",\"text\":\"the quick brown fox jumps over the lazy dog "
    "and runs away into the deep dark wood where nobody goes at night\"}\n"
    "{\"id\":\"two\",\"source\":\"pib.gov.in\",\"text\":\"The quick brown fox jumps over the lazy "
    "dog, and runs away into the deep dark wood where nobody goes at night.\"}\n"
    "{\"id\":\"three\",\"source\":\"blog\",\"text\":\"the quick brown fox jumps over the lazy dog "
    "and runs away into the deep dark wood where nobody goes at noon\"}\n";

/* The members of all groups, "one kept, two near; …". */
static char *in_short(const char *json)
{
    char *out = calloc(1, strlen(json) + 1);
    json_t *line, *member;
    for (const char *at = json; (line = next_line(&at)); json_decref(line)) {
        size_t i;
        strcat(out, *out ? "; " : "");
        json_array_foreach(json_object_get(line, "members"), i, member)
        {
            const char *path = strrchr(text(member, "path"), '/');
            const char *name = *text(member, "record") ? text(member, "record") : path + 1;
            sprintf(out + strlen(out), "%s%s %s", i ? ", " : "", name, text(member, "reason"));
        }
    }
    return out;
}

#define ASSERT_GROUPS(wanted, ...)                                                                 \
    do {                                                                                           \
        char *json_ = doppel_prints(0, "groups", "-L", "lib", "--json", ##__VA_ARGS__);            \
        char *short_ = in_short(json_);                                                            \
        assert_string_equal(short_, wanted);                                                       \
        free(short_);                                                                              \
        free(json_);                                                                               \
    } while (0)

static void are_shown_as_they_are_called(void **state)
{
    (void)state;
    free(ingest(three, "--quiet"));
    char *out = doppel_prints(0, "groups", "-L", "lib");
    assert_has(out, "1  text, 3 texts\n");
    assert_has(out, "one  /");
    assert_has(out, "/c.jsonl:1\n");
    assert_has(out, "2 duplicates in 1 group\n");
    free(out);
    out = doppel_prints(0, "groups", "-L", "lib", "--format", "csv");
    assert_has(out, ",two,2,");
    free(out);
    out = doppel_prints(0, "groups", "-L", "lib", "-0");
    assert_string_equal(out, "");
    free(out);
    out = doppel_prints(0, "groups", "-L", "lib", "--action", "trash", "--yes", "--reason",
                        "identical,same-content,near");
    assert_lacks(out, "c.jsonl");
    free(out);
    ASSERT_GROUPS("one kept, two same-content, three near", "--kind", "text");
    ASSERT_GROUPS("", "--kind", "image");
    ASSERT_GROUPS("", "--scheme", "simhash64");
    ASSERT_GROUPS("one kept, two same-content, three near", "--scheme", "minhash128");
    /* Of a stream nothing is known but its lines. */
    const struct setting setting = {.input = three};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "other", "--jsonl", "-");
    assert_code(&ran, 0);
    ran_free(&ran);
    out = doppel_prints(0, "groups", "-L", "other", "--json");
    assert_has(out, "{\"id\":1,\"record\":\"one\",\"line\":1,\"words\":22,");
    free(out);
}

static void keep_by_source(void **state)
{
    (void)state;
    free(doppel_prints(0, "source", "set", "-L", "lib", "*.gov.in", "100"));
    free(ingest(three, "--source-field=source"));
    ASSERT_GROUPS("two kept, one same-content, three near");
    free(doppel_prints(0, "remove", "-L", "lib", "two"));
    ASSERT_GROUPS("one kept, three near");
}

static void are_chosen_by_lists(void **state)
{
    (void)state;
    free(ingest(three, "--quiet"));
    free(doppel_prints(0, "tag", "-L", "lib", "--list", "some", "--label", "odd", "one", "three"));
    ASSERT_GROUPS("one kept, three near", "--list", "some");
    ASSERT_GROUPS("one kept, three near", "--label", "odd");
    ASSERT_GROUPS("two kept, three near", "--where", "id > 1");
    ASSERT_GROUPS("", "--where", "id > 2");
    free(doppel_prints(0, "lists", "set", "-L", "lib", "some", "--state", "disabled"));
    ASSERT_GROUPS("");
    free(doppel_prints(0, "tag", "-L", "lib", "--list", "some", "--remove", "one"));
    ASSERT_GROUPS("one kept, two same-content");
    free(doppel_prints(0, "lists", "set", "-L", "lib", "some", "--state", "benign"));
    ASSERT_GROUPS("");
}

static void honour_words(void **state)
{
    (void)state;
    static const char more[] =
        "{\"id\":\"four\",\"text\":\"the quick brown fox jumps over the lazy dog and runs away "
        "into "
        "the deep dark wood where nobody goes at dawn\"}\n"
        "{\"id\":\"five\",\"text\":\"a wholly other text about sailing ships on the wide blue sea "
        "with wind and waves and gulls and whales\"}\n";
    char *lines = malloc(sizeof three + sizeof more);
    sprintf(lines, "%s%s", three, more);
    free(ingest(lines, "--quiet"));
    free(lines);
    ASSERT_GROUPS("one kept, two same-content, three near, four near");
    free(doppel_prints(0, "mark", "-L", "lib", "three", "four", "--distinct"));
    ASSERT_GROUPS("one kept, two same-content, three near");
    free(doppel_prints(0, "mark", "-L", "lib", "one", "five", "--same"));
    ASSERT_GROUPS("one kept, two same-content, three near, five marked");
    free(doppel_prints(0, "mark", "-L", "lib", "two", "three", "--distinct"));
    ASSERT_GROUPS("one kept, two same-content, five marked");
}

/* A word that came in without the items that it is about. */
static void honour_words_about_contents(void **state)
{
    (void)state;
    static const char format[] =
        "{\"mark\":\"distinct\",\"a_digest\":\"%s\",\"b_digest\":\"%s\"}\n";
    char line[256], digests[2][40];
    free(ingest(three, "--quiet"));
    for (int i = 0; i < 2; i++) {
        char *json = doppel_prints(0, "show", "-L", "lib", "--json", i ? "three" : "two");
        json_t *shown = json_loads(json, 0, NULL);
        snprintf(digests[i], sizeof digests[i], "%s", text(shown, "digest"));
        json_decref(shown);
        free(json);
    }
    snprintf(line, sizeof line, format, digests[0], digests[1]);
    write_file("marks", line, strlen(line));
    free(doppel_prints(0, "mark", "-L", "lib", "--from", "marks"));
    ASSERT_GROUPS("one kept, two same-content");
}

static void have_files_that_follow(void **state)
{
    (void)state;
    static const char same[] = "The quick brown fox jumps over the lazy dog and runs away into the "
                               "deep dark wood where nobody goes at night";
    static const char near[] = "The quick brown fox jumps over the lazy dog and runs away into the "
                               "deep dark wood where nobody goes at dawn";
    free(ingest(three, "--quiet"));
    write_file("same.txt", same, strlen(same));
    write_file("near.txt", near, strlen(near));
    free(doppel_prints(0, "ingest", "-L", "lib", "same.txt", "near.txt"));
    char *json = groups();
    char *line = strstr(json, "\"record\"");
    assert_non_null(line);
    while (line > json && line[-1] != '\n')
        line--;
    assert_has(line, "same.txt");
    assert_has(line, "near.txt");
    assert_int_equal(count_lines(json, "\"record\""), 1);
    free(json);
}

/* Those of another corpus, of a stream, and of one that is gone. */
static void are_on_the_page(void **state)
{
    (void)state;
    size_t size;
    const struct setting setting = {.input = three};
    free(ingest(three, "--quiet"));
    free(doppel_prints(0, "report", "-L", "lib", "-o", "page.html"));
    char *page = read_file("page.html", &size);
    assert_has(page, "[\"-\",\"night\"],[\"+\",\"noon\"]");
    assert_has(page, "[\"-\",\"the\"],[\"+\",\"The\"]");
    assert_lacks(page, "\"gone\"");
    free(page);
    assert_int_equal(remove("c.jsonl"), 0);
    struct ran ran = doppel("report", "-L", "lib", "-o", "page.html");
    assert_code(&ran, 3);
    assert_has(ran.err, "/c.jsonl: is not there any more\n");
    assert_int_equal(count_lines(ran.err, ".jsonl: "), 1);
    ran_free(&ran);
    free(doppel_prints(0, "report", "-L", "lib", "-o", "page.html", "--no-thumbnails"));
    ran = doppel_with(&setting, "ingest", "-L", "other", "--jsonl", "-");
    assert_code(&ran, 0);
    ran_free(&ran);
    free(doppel_prints(0, "report", "-L", "other", "-o", "page.html"));
    page = read_file("page.html", &size);
    assert_has(page, "{\"gone\":\"came by a stream: its text is not kept\"}");
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(are_those_that_ingest_linked),
        IN_SANDBOX(are_shown_as_they_are_called),
        IN_SANDBOX(keep_by_source),
        IN_SANDBOX(are_chosen_by_lists),
        IN_SANDBOX(honour_words),
        IN_SANDBOX(honour_words_about_contents),
        IN_SANDBOX(have_files_that_follow),
        IN_SANDBOX(are_on_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
