/* What the exit code is where something is not there: one table, kept by every verb. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collection.h"
#include "tools/args/options.h"

enum missing { A_FILE = 3, AN_ITEM = 3, A_LIBRARY = 2, A_FOLDER = 2, AN_INDEX = 2, NOTHING = 0 };

/* Words with blanks between. */
struct missing_case {
    const char *words;
    enum missing code;
};

static const struct missing_case cases[] = {
    {"scan nosuch", A_FILE},
    {"scan a.jpg nosuch", A_FILE},
    {"scan --reference nosuch a.jpg", A_FILE},
    {"scan --files-from nosuch", A_LIBRARY},
    {"scan a.jpg --marks nosuch", A_LIBRARY},
    {"scan a.jpg --keep-from nosuch", A_LIBRARY},
    {"scan empty", NOTHING},
    {"compare nosuch a.jpg", A_FILE},
    {"compare a.jpg nosuch", A_FILE},
    {"hash nosuch", A_FILE},
    {"schemes", NOTHING},
    {"config", NOTHING},
    {"doctor", NOTHING},
    {"report nosuch -o page.html", A_FILE},
    {"report -L none -o page.html", A_LIBRARY},
    {"tune nosuch", A_FILE},
    {"add -L lib nosuch", A_FILE},
    {"add -L none nosuch", A_FILE},
    {"add -L none --refresh", A_LIBRARY},
    {"add -L lib --refresh 99", AN_ITEM},
    {"find -L lib nosuch", A_FILE},
    {"find -L none a.jpg", A_LIBRARY},
    {"find -L lib a.jpg --list nosuch", A_LIBRARY},
    {"find -L lib --files-from nosuch", A_LIBRARY},
    {"find -L redis://127.0.0.1:1 a.jpg", A_LIBRARY},
    {"groups -L none", A_LIBRARY},
    {"groups -L redis://127.0.0.1:1", A_LIBRARY},
    {"groups -L lib --keep-from nosuch", A_LIBRARY},
    {"list -L none", A_LIBRARY},
    {"list -L lib --list nosuch", A_LIBRARY},
    {"show -L lib 99", AN_ITEM},
    {"show -L none 1", A_LIBRARY},
    {"remove -L lib 99", AN_ITEM},
    {"remove -L none 1", A_LIBRARY},
    {"mark -L lib 99 1 --same", AN_ITEM},
    {"mark -L lib 99 1 --forget", AN_ITEM},
    {"mark -L lib --from nosuch", A_FILE},
    {"mark -L none a.jpg nosuch --same", A_FILE},
    {"mark -L none --from nosuch", A_FILE},
    {"mark -L none --list", A_LIBRARY},
    {"log -L lib 99", AN_ITEM},
    {"log -L none", A_LIBRARY},
    {"source set -L none x 1", NOTHING},
    {"source remove -L lib nosuch", AN_ITEM},
    {"source remove -L none nosuch", A_LIBRARY},
    {"source list -L none", A_LIBRARY},
    {"source policy -L none", A_LIBRARY},
    {"tag -L lib 99 --label x", AN_ITEM},
    {"tag -L none 1 --label x", A_LIBRARY},
    {"lists -L none", A_LIBRARY},
    {"lists set -L none x", NOTHING},
    {"lists release -L none ALL", A_LIBRARY},
    {"lists remove -L lib nosuch", AN_ITEM},
    {"lists remove -L none x", A_LIBRARY},
    {"model add nosuch", A_FILE},
    {"model list", NOTHING},
    {"model remove nosuch", AN_ITEM},
    {"model whiten nosuch --as new a.jpg", AN_ITEM},
    {"dedup nosuch", A_FILE},
    {"dedup --against nosuch r.jsonl", A_LIBRARY},
    {"ingest -L lib nosuch", A_FILE},
    {"ingest -L lib --jsonl nosuch", A_FILE},
    {"ingest -L none nosuch", A_FILE},
    {"ingest -L none --jsonl nosuch", A_FILE},
    {"watch -L lib nosuch", A_FOLDER},
    {"watch -L none nosuch", A_FOLDER},
    {"check -L lib nosuch", A_FILE},
    {"check -L lib --jsonl nosuch", A_FILE},
    {"check -L none a.jpg", A_LIBRARY},
    {"monitor -L lib nosuch", A_FILE},
    {"monitor -L none a.jpg", A_LIBRARY},
    {"undo", NOTHING},
    {"undo --list", NOTHING},
    {"undo 77", AN_ITEM},
    {"undo --journal no.journal", A_LIBRARY},
    {"undo 77 --journal no.journal", A_LIBRARY},
    {"undo --list --journal no.journal", A_LIBRARY},
    {"export -L none", A_LIBRARY},
    {"import -L lib nosuch", A_FILE},
    {"import -L none nosuch", A_FILE},
    {"import -L none bad.csv", A_FILE},
    {"import -L none --sync --list x bad.csv", A_LIBRARY},
    {"merge -L lib nosuch", A_LIBRARY},
    {"merge -L none nosuch", A_LIBRARY},
    {"backup -L none copy", A_LIBRARY},
    {"verify -L none", A_LIBRARY},
    {"compact -L none", A_LIBRARY},
    {"stats -L none", A_LIBRARY},
    {"serve -L none --keys nosuch", A_LIBRARY},
    {"index build nosuch -o other", A_FILE},
    {"index add codes.index nosuch", A_FILE},
    {"index add none c.hex", AN_INDEX},
    {"index remove codes.index 99", AN_ITEM},
    {"index remove none 1", AN_INDEX},
    {"index search codes.index --radius 1 nosuch", A_FILE},
    {"index search none --radius 1 c.hex", AN_INDEX},
    {"index knn codes.index nosuch", A_FILE},
    {"index knn none c.hex", AN_INDEX},
    {"index join nosuch", A_FILE},
    {"index join v.jsonl --ids nosuch", A_FILE},
    {"index info none", AN_INDEX},
    {"index verify none", AN_INDEX},
    {"index compact none", AN_INDEX},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What a verb was to make of nothing is away again. */
static struct ran run_words(const char *words)
{
    const char *list[MAX_ARGUMENTS + 1] = {0};
    char *copy = strdup(words), *rest = copy;
    for (size_t i = 0; (list[i] = strsep(&rest, " ")); i++)
        assert_true(i < MAX_ARGUMENTS);
    assert_int_equal(system("rm -rf none copy other page.html"), 0);
    struct ran ran = command_run(NULL, list);
    free(copy);
    return ran;
}

static void what_is_missing_has_one_code_in_every_verb(void **state)
{
    static const char record[] = "{\"id\":\"1\",\"text\":\"a few words here\"}\n";
    static const char list[] = "hash,hash_type\nabc,md5\n";
    unsigned wrong = 0;
    (void)state;
    make_folder("empty");
    keep_drawing("a.jpg", 0, 1);
    write_file("r.jsonl", record, strlen(record));
    write_file("bad.csv", list, strlen(list));
    write_file("c.hex", "0123456789abcdef\n", 17);
    write_file("v.jsonl", "{\"vector\":[1]}\n", 15);
    free(doppel_prints(0, "add", "-L", "lib", "a.jpg"));
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "codes.index"));
    for (size_t i = 0; i < CASES; i++) {
        struct ran ran = run_words(cases[i].words);
        if (ran.code != (int)cases[i].code || (ran.code && !*ran.err)) {
            fprintf(stderr, "doppel %s: %d, not %d: %s", cases[i].words, ran.code,
                    (int)cases[i].code, ran.err);
            wrong++;
        }
        if (ran.code && !access("none", F_OK)) { /* only what is to be kept makes one */
            fprintf(stderr, "doppel %s: makes a library\n", cases[i].words);
            wrong++;
        }
        ran_free(&ran);
    }
    assert_int_equal(wrong, 0);
}

static void every_verb_is_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < verb_count; i++) {
        size_t length = strlen(verb_table[i].name), found = 0;
        for (size_t j = 0; j < CASES; j++)
            found += strncmp(cases[j].words, verb_table[i].name, length) == 0 &&
                     strchr(" ", cases[j].words[length]);
        if (!found)
            fail_msg("no case of '%s'", verb_table[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_is_in_the_table),
        IN_SANDBOX(what_is_missing_has_one_code_in_every_verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
