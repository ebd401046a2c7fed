/* `doppel ingest -` and `check -` as programs and people use them: what a record says of itself,
 * lines that are none, lines of other systems. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "command.h"
#include "coprocess.h"

static const char words[] = "one two three four five six seven eight nine ten eleven twelve";
static const char others[] = "red green blue black white pink brown grey teal gold cyan lime";

static struct ran stream(const char *verb, const char *option, const char *input)
{
    const struct setting setting = {.input = input};
    return option ? doppel_with(&setting, verb, "-L", "library", "--ignore-metadata", "-")
                  : doppel_with(&setting, verb, "-L", "library", "--meta", "{\"run\":1}", "--label",
                                "all", "-");
}

static void assert_shows(const char *id, const char *part)
{
    char *shown = doppel_prints(0, "show", "-L", "library", id, "--json");
    assert_has(shown, part);
    free(shown);
}

/* ---- what records say ---- */

static void records_say_things(void **state)
{
    (void)state;
    char input[2000];
    write_file("f.txt", others, strlen(others));
    snprintf(input, sizeof input,
             "{\"id\":\"a\",\"text\":\"%s\",\"meta\":{\"n\":[1,\"}\"]},\"labels\":[\"x\",\"y\"],"
             "\"list\":\"news\",\"external_id\":17,\"source\":\"web\"}\n"
             "{\"id\":\"f\",\"path\":\"f.txt\",\"meta\":{\"who\":\"me\"},\"list\":[\"stock\","
             "\"logos\"],\"labels\":\"z\",\"external_id\":\"F-1\"}\n"
             "{\"id\":\"b\",\"text\":\"%s\"}\n",
             words, words);
    struct ran ran = stream("ingest", NULL, input);
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_shows("1", "\"source\":\"web\"");
    assert_shows("1", "\"external_id\":\"17\",\"labels\":[\"all\",\"x\",\"y\"],"
                      "\"lists\":[\"news\"],\"meta\":{\"n\":[1,\"}\"]}");
    assert_shows("2", "\"external_id\":\"F-1\",\"labels\":[\"all\",\"z\"],"
                      "\"lists\":[\"logos\",\"stock\"],\"meta\":{\"who\":\"me\"}");
    assert_shows("F-1", "f.txt");
    assert_shows("3", "\"labels\":[\"all\"]");
    assert_shows("3", "\"meta\":{\"run\":1}");
}

/* The limit of texts is theirs alone: other files are judged as elsewhere. */
static void images_keep_their_limit(void **state)
{
    (void)state;
    keep_image("a.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 90);
    keep_image("b.jpg", draw_image(0, 3, DRAWN_WIDTH, DRAWN_HEIGHT), 60);
    struct ran ran = stream("ingest", NULL, "a.jpg\nb.jpg\n");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"near\"");
    ran_free(&ran);
    char *log = doppel_prints(0, "log", "-L", "library", "--json", "2");
    assert_has(log, "\"limit\":{\"max_false_positive_rate\":");
    free(log);
}

/* A record that comes again says more of what is there; with other words it is another item. */
static void records_say_more(void **state)
{
    (void)state;
    char input[2000];
    snprintf(input, sizeof input,
             "{\"id\":\"b\",\"text\":\"%s\"}\n"
             "{\"id\":\"a\",\"text\":\"%s\",\"labels\":\"one\",\"external_id\":\"A\"}\n"
             "{\"id\":\"a\",\"text\":\"%s\",\"labels\":\"two\",\"external_id\":\"A\"}\n"
             "{\"id\":\"a\",\"text\":\"%s\",\"labels\":\"three\"}\n",
             words, words, words, others);
    struct ran ran = stream("ingest", NULL, input);
    assert_code(&ran, 0);
    assert_lacks(ran.out, "same_id");
    ran_free(&ran);
    assert_shows("1", "\"labels\":[\"all\"]");
    assert_shows("A", "{\"id\":2,");
    assert_shows("2", "\"labels\":[\"all\",\"one\",\"two\"]");
    assert_shows("3", "\"labels\":[\"all\",\"three\"]");
}

static void wrong_types_cost_their_record(void **state)
{
    (void)state;
    char input[2000], long_name[1102];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    write_file("f.txt", others, strlen(others));
    snprintf(input, sizeof input,
             "{\"id\":\"a\",\"text\":\"%s\",\"labels\":[1,2]}\n"
             "{\"id\":\"b\",\"text\":\"%s\",\"list\":\"\"}\n"
             "{\"id\":\"%s\",\"path\":\"f.txt\"}\n"
             "{\"id\":\"d\",\"path\":\"f.txt\",\"meta\":3}\n"
             "{\"id\":\"e\",\"path\":\"f.txt\",\"meta\":{}}\n",
             words, words, long_name);
    for (int i = 0; i < 2; i++) {
        struct ran ran = stream(i ? "check" : "ingest", NULL, input);
        assert_code(&ran, 3);
        assert_int_equal(count_lines(ran.out, ""), 5);
        assert_int_equal(count_lines(ran.out, "\"unreadable\""), 4);
        assert_has(ran.out, "\\\"labels\\\" is no string or array of strings");
        assert_has(ran.out, "the name of a list must not be empty");
        assert_has(ran.out, "an external id must not be longer");
        assert_has(ran.out, "\\\"meta\\\" is no object");
        assert_true(reported(ran.err, "-:1"));
        ran_free(&ran);
    }
    struct ran plain = stream("ingest", "plain", input);
    assert_code(&plain, 3); /* an id of a file is told, whatever else is not read */
    assert_int_equal(count_lines(plain.out, "\"unreadable\""), 1);
    ran_free(&plain);
}

/* ---- lines that are none ---- */

static void every_line_is_answered(void **state)
{
    (void)state;
    static const char *const lines[] = {"",    "{\"id\":\"a\",\"text\":\"one two\"} and more",
                                        " \t", "{",
                                        "[1]", "{\"id\":\"b\",\"text\":\"one two\"}"};
    static const char *const answers[] = {
        "\"line\":1,\"decision\":\"unreadable\",\"reason\":\"an empty line\"",
        "the record is followed by 'and more' on its line",
        "\"line\":3,\"decision\":\"unreadable\",\"reason\":\"an empty line\"",
        "broken JSON: the line ends within the record",
        "\"path\":\"[1]\",\"line\":5,\"decision\":\"unreadable\"",
        "\"line\":6,\"decision\":\"too_short\""};
    char answer[4096];
    struct coprocess coprocess = coprocess_start(NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(write(coprocess.to, lines[i], strlen(lines[i])), strlen(lines[i]));
        assert_int_equal(write(coprocess.to, "\n", 1), 1);
        coprocess_read(&coprocess, answer, sizeof answer);
        assert_has(answer, answers[i]);
    }
    assert_int_equal(coprocess_end(&coprocess), 3);
}

/* Of a file blank lines are no records, of a pipe somebody waits for the answer. */
static void blank_lines_of_files_are_passed_over(void **state)
{
    (void)state;
    static const char text[] = "\n{\"id\":\"a\",\"text\":\"one two\"}\n\n";
    write_file("c.jsonl", text, strlen(text));
    char *out = doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl");
    assert_int_equal(count_lines(out, ""), 1);
    free(out);
    const struct setting setting = {.input = text};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "second", "--jsonl", "-");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, ""), 3);
    ran_free(&ran);
}

/* ---- lines of other systems ---- */

static void lines_of_other_systems(void **state)
{
    (void)state;
    static const char named[] = "PAR1.txt\n"; /* as files of another kind begin */
    static const char lines[] = "\xEF\xBB\xBF[a].txt\r\nb.txt\r\nc.txt\r\ngone.txt\r\n"
                                "{\"path\":\"b.txt\"}\r\n";
    write_file("[a].txt", words, strlen(words));
    write_file("b.txt", others, strlen(others));
    write_file("c.txt\r", words, strlen(words)); /* a name is a name */
    const struct setting setting = {.input = lines};
    struct ran ran = doppel_with(&setting, "ingest", "-L", "library", "-");
    assert_code(&ran, 3);
    assert_has(ran.out, "{\"path\":\"[a].txt\",\"line\":1,\"decision\":\"new\"");
    assert_has(ran.out, "{\"path\":\"b.txt\",\"line\":2,\"decision\":\"new\"");
    assert_has(ran.out, "{\"path\":\"c.txt\\r\",\"line\":3,\"decision\":\"duplicate\"");
    assert_has(ran.out, "{\"path\":\"gone.txt\",\"line\":4,\"decision\":\"unreadable\"");
    assert_has(ran.out, "{\"path\":\"b.txt\",\"line\":5,\"decision\":\"duplicate\"");
    ran_free(&ran);
    struct ran list = doppel_with(&setting, "ingest", "-L", "second", "--files-from", "-");
    assert_int_equal(count_lines(list.out, "\"new\""), 2);
    assert_has(list.out, "\"path\":\"c.txt\\r\"");
    assert_has(list.out, "\"path\":\"[a].txt\"");
    assert_true(reported(list.err, "gone.txt"));
    ran_free(&list);
    write_file("PAR1.txt", words, strlen(words));
    list = doppel_with(&(struct setting){.input = named}, "ingest", "-L", "library", "-");
    assert_code(&list, 0);
    ran_free(&list);
}

/* ---- which files records may name ---- */

/* Of the folder itself, below it, and above it by name and by link. */
static const char naming[] = "{\"id\":\"a\",\"path\":\"a.txt\"}\n"
                             "{\"id\":\"b\",\"path\":\"sub/b.txt\"}\n"
                             "{\"id\":\"c\",\"path\":\"../c.txt\"}\n"
                             "{\"id\":\"d\",\"path\":\"link.txt\"}\n";

static void make_named_files(void)
{
    make_folder("in");
    make_folder("in/sub");
    make_folder("other");
    write_file("in/a.txt", words, strlen(words));
    write_file("in/sub/b.txt", others, strlen(others));
    write_file("c.txt", words, strlen(words));
    write_file("in/records.jsonl", naming, strlen(naming));
    assert_int_equal(symlink("../c.txt", "in/link.txt"), 0);
}

static void assert_refused(struct ran ran, int refused)
{
    assert_code(&ran, refused ? 3 : 0);
    assert_int_equal(count_lines(ran.out, "\"unreadable\""), refused);
    assert_int_equal(count_lines(ran.err, "in no folder whose files records may name"), refused);
    ran_free(&ran);
}

static void a_corpus_names_files_of_its_folder(void **state)
{
    (void)state;
    make_named_files();
    assert_refused(doppel("dedup", "in/records.jsonl"), 2);
    assert_refused(doppel("dedup", "in/records.jsonl", "--allow-paths", "."), 0);
    assert_refused(
        doppel("dedup", "in/records.jsonl", "--allow-paths", "in/sub", "--allow-paths", "other"),
        3);
    assert_refused(doppel("ingest", "-L", "one", "--jsonl", "in/records.jsonl"), 2);
    assert_refused(
        doppel("ingest", "-L", "two", "--jsonl", "in/records.jsonl", "--allow-paths", "/"), 0);
    struct ran ran = doppel("dedup", "in/records.jsonl", "--allow-paths", "nosuch");
    assert_code(&ran, 2);
    assert_has(ran.err, "--allow-paths nosuch: No such file or directory");
    ran_free(&ran);
}

/* out/d…/d…/c.txt, by a path longer than the system takes, and links that lead there in steps. */
static void make_far_file(void)
{
    enum { NAME = 250, STEP = 12 };
    char name[NAME + 1] = "", way[sizeof "../out/" + (size_t)STEP * (NAME + 1)] = "../out";
    memset(name, 'd', NAME);
    make_folder("out");
    int folder = open("out", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 2 * STEP; i++) {
        if (i < STEP)
            strcat(strcat(way, "/"), name);
        if (i == STEP)
            assert_int_equal(symlinkat(way + sizeof "../out", folder, "on"), 0);
        assert_int_equal(mkdirat(folder, name, 0700), 0);
        int below = openat(folder, name, O_RDONLY | O_DIRECTORY);
        close(folder);
        folder = below;
    }
    int file = openat(folder, "c.txt", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(file, words, strlen(words)), strlen(words));
    close(file);
    close(folder);
    assert_int_equal(symlink(way, "in/far"), 0);
}

/* Where links lead deeper than a path can say, nothing says which folder that is below. */
static void what_lies_too_deep_is_not_named(void **state)
{
    (void)state;
    static const char record[] = "{\"id\":\"a\",\"path\":\"far/on/c.txt\"}\n";
    make_folder("in");
    make_far_file();
    assert_int_equal(access("in/far/on/c.txt", R_OK), 0);
    write_file("in/records.jsonl", record, strlen(record));
    struct ran ran = doppel("dedup", "in/records.jsonl");
    assert_code(&ran, 3);
    assert_has(ran.err, "far/on/c.txt cannot be opened: File name too long");
    ran_free(&ran);
    ran = doppel("ingest", "-L", "library", "--jsonl", "in/records.jsonl");
    assert_code(&ran, 3);
    ran_free(&ran);
}

/* Lines that are but a path are the caller's own. */
static void a_pipe_names_files_of_the_working_folder(void **state)
{
    (void)state;
    make_named_files();
    assert_int_equal(chdir("in"), 0);
    const struct setting records = {.input = naming}, paths = {.input = "a.txt\n../c.txt\n"};
    assert_refused(doppel_with(&records, "ingest", "-L", "one", "--jsonl", "-"), 2);
    assert_refused(doppel_with(&records, "ingest", "-L", "one", "-"), 2);
    assert_refused(doppel_with(&records, "dedup", "-", "--allow-paths", ".."), 0);
    assert_refused(doppel_with(&paths, "ingest", "-L", "two", "-"), 0);
    assert_int_equal(chdir(".."), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(records_say_things),
        IN_SANDBOX(images_keep_their_limit),
        IN_SANDBOX(records_say_more),
        IN_SANDBOX(wrong_types_cost_their_record),
        IN_SANDBOX(every_line_is_answered),
        IN_SANDBOX(blank_lines_of_files_are_passed_over),
        IN_SANDBOX(lines_of_other_systems),
        IN_SANDBOX(a_corpus_names_files_of_its_folder),
        IN_SANDBOX(what_lies_too_deep_is_not_named),
        IN_SANDBOX(a_pipe_names_files_of_the_working_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
