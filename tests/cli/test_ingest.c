/* doppel ingest as a user runs it: on files, as a coprocess, with other choices. */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coprocess.h"
#include "records.h"

enum { RECORDS = 700 };

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static char *ingest(int code, const char *corpus)
{
    return doppel_prints(code, "ingest", "-L", "library", "--jsonl", corpus);
}

/* Takes each `words` out of the text, in place. */
static void drop_words(char *text, const char *words)
{
    size_t size = strlen(words);
    for (char *at = text; (at = strstr(at, words));)
        memmove(at, at + size, strlen(at + size) + 1);
}

static void answers_as_dedup(void **state)
{
    (void)state;
    char *lines = make_records(RECORDS, 1);
    write_text("c.jsonl", lines);
    char *wanted = doppel_prints(0, "dedup", "c.jsonl"), *got = ingest(0, "c.jsonl");
    assert_int_equal(count_lines(got, "\"of_item\":"), count_lines(got, "\"of\":"));
    assert_true(count_lines(got, "\"near\"") > 50 && count_lines(got, "\"same-content\"") > 50);
    assert_int_equal(count_lines(got, "too_short"), RECORDS / 7);
    char *first = strdup(got);
    drop_numbers(got, "item");
    drop_numbers(got, "of_item");
    assert_string_equal(got, wanted);
    free(got);
    /* Whoever did not get the answers, since something died, gets them when asking again: nothing
     * is added. */
    got = ingest(0, "c.jsonl");
    assert_int_equal(count_lines(got, ",\"replayed\":true}"), RECORDS);
    drop_words(got, ",\"replayed\":true");
    assert_string_equal(got, first);
    free(got);
    free(first);
    /* To ask whether it is there is another question. */
    got = doppel_prints(0, "check", "-L", "library", "--jsonl", "c.jsonl");
    assert_int_equal(count_lines(got, "\"same-content\""), RECORDS);
    assert_int_equal(count_lines(got, "replayed"), 0);
    free(got);
    got = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(got, ""), RECORDS);
    free(got);
    free(wanted);
    free(lines);
}

static void what_a_known_one_repeated_is_gone(void **state)
{
    (void)state;
    static const char first[] = "one text of some words, of which the library has three copies";
    char lines[512];
    snprintf(lines, sizeof lines,
             "{\"id\":\"a\",\"text\":\"%s\"}\n{\"id\":\"b\",\"text\":\"%s.\"}\n"
             "{\"id\":\"c\",\"text\":\"%s!\"}\n",
             first, first, first);
    write_text("c.jsonl", lines);
    free(ingest(0, "c.jsonl"));
    free(doppel_prints(0, "remove", "-L", "library", "1"));
    char *got = ingest(0, "c.jsonl");
    assert_has(
        got,
        "\"id\":\"a\",\"path\":\"c.jsonl\",\"line\":1,\"decision\":\"duplicate\",\"of\":\"b\"");
    assert_has(got, "\"line\":2,\"decision\":\"new\",\"item\":2,\"replayed\":true}\n");
    assert_has(got, "\"line\":3,\"decision\":\"new\",\"item\":3,\"replayed\":true}\n");
    char *again = ingest(0, "c.jsonl");
    assert_has(again, "\"of\":\"b\"");
    assert_int_equal(count_lines(again, "\"decision\":\"new\""), 2);
    free(got);
    free(again);
}

/* The same in two halves, the second through a pipe, with shingles that were kept. */
static void goes_on_where_it_ended(void **state)
{
    (void)state;
    char *lines = make_records(RECORDS, 2), *middle = lines;
    for (int i = 0; i < RECORDS / 2; i++)
        middle = strchr(middle, '\n') + 1;
    write_text("c.jsonl", lines);
    char *whole = ingest(0, "c.jsonl");
    const struct setting rest = {.input = strdup(middle)};
    *middle = '\0';
    const struct setting first = {.input = lines};
    struct ran ran = doppel_with(&first, "ingest", "-L", "two", "--jsonl", "-", "--keep-shingles");
    struct ran more = doppel_with(&rest, "ingest", "-L", "two", "--jsonl", "-", "--keep-shingles");
    assert_code(&ran, 0);
    assert_code(&more, 0);
    static const char *const parts[] = {"\"decision\":\"new\"", "\"near\"", "\"same-content\"",
                                        "too_short"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(count_lines(ran.out, parts[i]) + count_lines(more.out, parts[i]),
                         count_lines(whole, parts[i]));
    assert_int_equal(count_lines(more.out, "\"verified\":\"codes\""),
                     count_lines(more.out, "\"near\""));
    char *list[2] = {doppel_prints(0, "list", "-L", "library", "--json"),
                     doppel_prints(0, "list", "-L", "two", "--json")};
    assert_int_equal(count_lines(list[0], ""), RECORDS);
    assert_int_equal(count_lines(list[1], ""), RECORDS);
    free(list[0]);
    free(list[1]);
    ran_free(&ran);
    ran_free(&more);
    free((char *)rest.input);
    free(whole);
    free(lines);
}

/* ---- without its indexes ---- */

static void an_index_that_is_gone_is_made_or_refused(void **state)
{
    (void)state;
    enum { MANY = 4000 }; /* more than are left in its log */
    char *lines = make_records(MANY, 3), *others = make_records(50, 4);
    write_text("c.jsonl", lines);
    write_text("others.jsonl", others);
    free(ingest(0, "c.jsonl"));
    char *before =
        doppel_prints(0, "check", "-L", "library", "--jsonl", "others.jsonl", "--no-rebuild");
    assert_int_equal(system("rm -r library/minhash128 library/text-contents"), 0);
    struct ran ran = doppel("check", "-L", "library", "--jsonl", "others.jsonl", "--no-rebuild");
    assert_code(&ran, 2);
    assert_non_null(strstr(ran.err, "library/"));
    assert_non_null(strstr(ran.err, "is not to be made of the items now"));
    ran_free(&ran);
    char *after = doppel_prints(0, "check", "-L", "library", "--jsonl", "others.jsonl");
    assert_string_equal(after, before);
    free(after);
    free(before);
    free(others);
    free(lines);
}

/* ---- as a coprocess ---- */

/* Each line is answered before the next is written, and what was answered is in the library. */
static void answers_at_once(void **state)
{
    (void)state;
    char *lines = make_records(30, 3), *at = lines, answer[4096], wanted[64];
    struct coprocess coprocess = coprocess_start("--jsonl");
    for (int i = 0; i < 30; i++) {
        size_t size = strcspn(at, "\n") + 1;
        assert_int_equal(write(coprocess.to, at, size), size);
        coprocess_read(&coprocess, answer, sizeof answer);
        snprintf(wanted, sizeof wanted, "{\"id\":\"r%d\",\"path\":\"-\",\"line\":%d,", i, i + 1);
        assert_memory_equal(answer, wanted, strlen(wanted));
        at += size;
    }
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 30);
    free(list);
    assert_int_equal(coprocess_end(&coprocess), 0);
    free(lines);
}

/* What could not be found again is not answered. */
static void a_library_that_goes_away_ends_it(void **state)
{
    (void)state;
    static const char *const ways[] = {"rm -r library", "mv library elsewhere",
                                       "mv library old && cp -r old library"};
    char answer[4096], line[96];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct coprocess coprocess = coprocess_start("--jsonl");
        for (int j = 0; j < 2; j++) {
            snprintf(line, sizeof line, "{\"id\":\"%zu.%d\",\"text\":\"one two three %zu %d\"}\n",
                     i, j, i, j);
            assert_int_equal(write(coprocess.to, line, strlen(line)), strlen(line));
            if (j == 0) {
                coprocess_read(&coprocess, answer, sizeof answer);
                assert_int_equal(system(ways[i]), 0);
            }
        }
        assert_int_equal(read(coprocess.from, answer, sizeof answer), 0);
        assert_int_equal(coprocess_end(&coprocess), 2);
    }
}

/* Ctrl-C while it waits, also within a line: what was answered is kept. */
static void an_interrupt_ends_it(void **state)
{
    (void)state;
    char answer[4096];
    static const char line[] = "{\"id\":\"a\",\"text\":\"one two three\"}\n{\"id\":\"b\",\"te";
    struct coprocess coprocess = coprocess_start("--jsonl");
    assert_int_equal(write(coprocess.to, line, strlen(line)), strlen(line));
    coprocess_read(&coprocess, answer, sizeof answer);
    pause_ms(50);
    kill(coprocess.pid, SIGINT);
    double began = now_seconds();
    int to = coprocess.to, status;
    assert_int_equal(waitpid(coprocess.pid, &status, 0), coprocess.pid);
    assert_true(now_seconds() - began < 5);
    assert_int_equal(WEXITSTATUS(status), 130);
    close(to);
    close(coprocess.from);
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 1);
    free(list);
}

/* ---- records of all kinds ---- */

static void broken_lines_are_answered(void **state)
{
    (void)state;
    write_text("c.jsonl", "{\"id\":\"a\",\"text\":\"one two three\"}\n{\"id\":\"b\",\"te\n\n"
                          "{\"id\":\"c\",\"text\":7}\n{\"id\":\"d\"}\n{\"text\":\"four five\"}\n"
                          "{\"id\":\"e\",\"path\":\"nowhere\"}\n");
    struct ran ran = doppel("ingest", "-L", "library", "--jsonl", "c.jsonl");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, ""), 6);
    assert_int_equal(count_lines(ran.out, "unreadable"), 4);
    assert_int_equal(count_lines(ran.out, "too_short"), 2);
    assert_true(reported(ran.err, "c.jsonl:2"));
    assert_true(reported(ran.err, "c.jsonl:4"));
    assert_true(reported(ran.err, "c.jsonl:5"));
    assert_true(reported(ran.err, "c.jsonl:7"));
    ran_free(&ran);
    ran = doppel("ingest", "-L", "library", "--jsonl", "absent.jsonl");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "absent.jsonl"));
    ran_free(&ran);
}

static void texts_of_files_are_read(void **state)
{
    (void)state;
    char *lines = make_records(3, 5);
    make_folder("texts");
    write_text("texts/a.txt", "one two three four five six seven eight nine ten eleven twelve");
    write_text("texts/c.jsonl", "{\"id\":\"a\",\"path\":\"a.txt\"}\n"
                                "{\"id\":\"b\",\"text\":\"One, two, three, four, five, six; seven "
                                "eight nine ten eleven twelve!\"}\n"
                                "{\"id\":\"c\",\"text\":\"one two three four five six seven eight "
                                "nine ten eleven twelve thirteen\"}\n");
    char *got = ingest(0, "texts/c.jsonl");
    assert_int_equal(count_lines(got, "\"same-content\""), 1);
    assert_int_equal(count_lines(got, "\"near\""), 1);
    assert_int_equal(count_lines(got, "\"verified\":\"exact\""), 2);
    free(got);
    free(lines);
}

static void a_file_that_is_not_a_text_is_no_record(void **state)
{
    (void)state;
    static const char image[] = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01";
    static const char recording[] = "ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00";
    static const char archive[] = "PK\x03\x04\x14\x00\x00\x00\x08\x00";
    write_file("a.jpg", image, sizeof image);
    write_file("b.mp3", recording, sizeof recording);
    write_file("c.zip", archive, sizeof archive);
    write_text("d.txt",
               "En \xe9t\xe9 il neige dans la ville de Gen\xe8ve et on danse"); /* Latin-1 */
    write_text("e.txt", "");
    write_text("c.jsonl", "{\"path\":\"a.jpg\"}\n{\"path\":\"b.mp3\"}\n{\"path\":\"c.zip\"}\n"
                          "{\"path\":\"d.txt\"}\n{\"path\":\"e.txt\"}\n");
    char *got = ingest(3, "c.jsonl");
    assert_int_equal(count_lines(got, "\"unreadable\""), 3);
    assert_has(got, "c.zip is not a text; 'doppel ingest -' and");
    assert_int_equal(count_lines(got, "\"new\""), 1);
    assert_int_equal(count_lines(got, "\"too_short\""), 1);
    free(got);
    got = doppel_prints(3, "dedup", "c.jsonl", "--json");
    assert_int_equal(count_lines(got, "\"unreadable\""), 3);
    free(got);
}

static void the_same_id_again(void **state)
{
    (void)state;
    char *lines = make_records(2, 6), *second = strchr(lines, '\n') + 1;
    write_text("c.jsonl", lines);
    free(ingest(0, "c.jsonl"));
    second[8] = '0'; /* r1's text as r0 */
    write_text("d.jsonl", second);
    static const struct {
        const char *choice, *part;
    } cases[] = {{"skip", "\"decision\":\"duplicate\",\"of\":\"r0\""},
                 {"error", "\"decision\":\"conflict\",\"of\":\"r0\""},
                 {"update", "\"decision\":\"revision\",\"of\":\"r0\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = doppel_prints(0, "ingest", "-L", "library", "--jsonl", "d.jsonl",
                                  "--on-same-id", cases[i].choice);
        assert_has(got, cases[i].part);
        assert_has(got, "\"reason\":\"same-id\"");
        free(got);
    }
    free(lines);
}

static void a_library_keeps_to_its_way(void **state)
{
    (void)state;
    write_text("c.jsonl", "{\"id\":\"a\",\"text\":\"one two three\"}\n");
    free(doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl", "--preset", "news"));
    struct ran ran = doppel("ingest", "-L", "library", "--jsonl", "c.jsonl", "--shingle", "7");
    assert_code(&ran, 2);
    assert_has(ran.err, "its texts were read with shingle");
    ran_free(&ran);
    ran = doppel("ingest", "-L", "library", "--jsonl", "c.jsonl", "--preset", "web");
    assert_code(&ran, 2);
    assert_has(ran.err, "its texts were read with");
    ran_free(&ran);
    free(ingest(0, "c.jsonl")); /* nothing said: as it was */
    ran = doppel("ingest", "-L", "library");
    assert_code(&ran, 2);
    assert_has(ran.err, "--jsonl");
    ran_free(&ran);
}

static void fields_have_other_names(void **state)
{
    (void)state;
    write_text("c.jsonl",
               "{\"url\":\"u1\",\"body\":\"one two three\",\"site\":\"s\",\"day\":\"2024\"}\n");
    free(doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl", "--id-field", "url",
                       "--text-field", "body", "--source-field", "site", "--date-field", "day"));
    char *shown = doppel_prints(0, "show", "-L", "library", "u1", "--json");
    assert_has(shown, "\"record\":\"u1\"");
    assert_has(shown, "\"source\":\"s\",\"date\":\"2024\"");
    free(shown);
}

static void what_is_said_of_all_records(void **state)
{
    (void)state;
    write_text("c.jsonl", "{\"id\":\"u1\",\"text\":\"one two three\"}\n");
    free(doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl", "--source", "web",
                       "--list", "crawl", "--label", "new", "--meta", "{\"run\":7}"));
    char *shown = doppel_prints(0, "show", "-L", "library", "u1", "--json");
    assert_has(shown, "\"source\":\"web\"");
    assert_has(shown, "\"crawl\"");
    assert_has(shown, "\"new\"");
    assert_has(shown, "{\"run\":7}");
    free(shown);
}

/* ---- records beside files ---- */

static void records_and_files_live_together(void **state)
{
    (void)state;
    char *lines = make_records(14, 8);
    write_text("c.jsonl", lines);
    free(ingest(0, "c.jsonl"));
    char *text = strstr(lines, "\"text\":\"") + 8;
    text[strcspn(text, "\"")] = '\0';
    write_text("q.txt", text);
    free(doppel_prints(0, "add", "-L", "library", "q.txt"));
    char *list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 15);
    assert_int_equal(count_lines(list, "\"record\":"), 14);
    assert_int_equal(count_lines(list, "\"id\":15,"), 1);
    free(list);
    char *found = doppel_prints(0, "find", "-L", "library", "--json", "q.txt");
    assert_has(found, "\"record\":\"r0\"");
    assert_has(found, "q.txt\",\"kind\"");
    free(found);
    free(doppel_prints(0, "remove", "-L", "library", "r0"));
    free(doppel_prints(0, "remove", "-L", "library", "2"));
    list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 13);
    free(list);
    free(doppel_prints(0, "remove", "-L", "library", "c.jsonl"));
    list = doppel_prints(0, "list", "-L", "library", "--json");
    assert_int_equal(count_lines(list, ""), 1);
    free(list);
    /* A file of text came first, now. */
    list = ingest(0, "c.jsonl");
    assert_int_equal(count_lines(list, "\"of_item\":15,\"of_path\":\""),
                     3); /* r0, r3; r5 is near */
    assert_int_equal(count_lines(list, "\"of_line\":0"), 0);
    free(list);
    /* What followed a removed text leads by itself. */
    free(doppel_prints(0, "remove", "-L", "library", "q.txt"));
    free(doppel_prints(0, "remove", "-L", "library", "r0"));
    list = ingest(0, "c.jsonl");
    assert_int_equal(count_lines(list, "\"of\":\"r3\""), 1); /* its copy r0 */
    assert_int_equal(count_lines(list, "\"id\":\"r3\",\"path\":\"c.jsonl\",\"line\":4,\"decision\":"
                                       "\"new\""),
                     1);
    free(list);
    free(lines);
}

/* Pages that a run touched, its own and mapped ones. */
static long pages_of(const char *verb, const char *library, const char *corpus)
{
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    struct ran ran = doppel(verb, "-L", library, "--jsonl", corpus);
    getrusage(RUSAGE_CHILDREN, &after);
    assert_true(ran.code < 2);
    ran_free(&ran);
    return after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
}

/* A table of the records, of 16 bytes each, would be some 160 pages more; it touches some more of a
 * larger index. */
static void it_holds_no_table_of_all_records(void **state)
{
    enum { FEW = 4000, MANY = 44000, PAGES = 120 };
    static const char *const verbs[] = {"check", "ingest"};
    (void)state;
    char *few = make_records(FEW, 3), *many = make_records(MANY, 3), *one = make_records(3, 4);
    write_text("few.jsonl", few);
    write_text("many.jsonl", many);
    write_text("one.jsonl", one);
    free(doppel_prints(0, "ingest", "-q", "-L", "few", "--jsonl", "few.jsonl"));
    free(doppel_prints(0, "ingest", "-q", "-L", "many", "--jsonl", "many.jsonl"));
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const long of_few = pages_of(verbs[i], "few", "one.jsonl");
        const long of_many = pages_of(verbs[i], "many", "one.jsonl");
        printf("%s: %ld and %ld pages\n", verbs[i], of_few, of_many);
        assert_true(of_many < of_few + PAGES);
    }
    free(few);
    free(many);
    free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(answers_as_dedup),
        IN_SANDBOX(what_a_known_one_repeated_is_gone),
        IN_SANDBOX(goes_on_where_it_ended),
        IN_SANDBOX(an_index_that_is_gone_is_made_or_refused),
        IN_SANDBOX(answers_at_once),
        IN_SANDBOX(a_library_that_goes_away_ends_it),
        IN_SANDBOX(an_interrupt_ends_it),
        IN_SANDBOX(broken_lines_are_answered),
        IN_SANDBOX(texts_of_files_are_read),
        IN_SANDBOX(a_file_that_is_not_a_text_is_no_record),
        IN_SANDBOX(the_same_id_again),
        IN_SANDBOX(a_library_keeps_to_its_way),
        IN_SANDBOX(fields_have_other_names),
        IN_SANDBOX(what_is_said_of_all_records),
        IN_SANDBOX(records_and_files_live_together),
        IN_SANDBOX(it_holds_no_table_of_all_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
