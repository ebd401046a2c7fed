/* doppel index with odd inputs, in odd places. */
#include "command.h"
#include "index_info.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/store.h>

#define write_text(path, text) write_file(path, text, strlen(text))

static void assert_says(const struct setting *setting, int code, const char *sentence,
                        const char *const *words)
{
    struct ran ran = command_run(setting, words);
    assert_code(&ran, code);
    assert_has(ran.err, sentence);
    assert_string_equal(ran.out, "");
    ran_free(&ran);
}

#define SAYS(code, sentence, ...)                                                                  \
    assert_says(NULL, code, sentence, (const char *const[]){"index", __VA_ARGS__, NULL})

static void wrong_codes_are_told_by_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"0123456789abcdef\n0123\n", "c.hex: line 2: 4 digits where a code of 64 bits has 16"},
        {"0123456789abcdef00\n", "c.hex: line 1: 18 digits where a code of 64 bits has 16"},
        {"0x23456789abcdef\n", "c.hex: line 1: 'x' is no hex digit"},
        {"0123456789abcdef\n\n0123456789abcdef\n", "c.hex: line 2: 0 digits"},
        {"0123456789abcdef\n0123456789abcdeg\n", "c.hex: line 2: 'g' is no hex digit"},
        {"0123456789abcdef\n0123456789\001bcdef\n", "c.hex: line 2: a byte that is no hex digit"},
        {"0123456789abcdef \n", "c.hex: line 1: 17 digits"},
        {"\xef\xbb\xbf"
         "0123456789abcdef\n",
         "c.hex: line 1: a byte that is no hex digit (0xef)"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_text("c.hex", wrong[i].text);
        SAYS(2, wrong[i].sentence, "build", "c.hex", "-o", "x.index");
        assert_int_equal(access("x.index", F_OK), -1);
    }
    char *ls = read_file("c.hex", &(size_t){0});
    free(ls);
    assert_int_equal(system("test \"$(ls)\" = c.hex"), 0); /* nothing unfinished is left */
    write_text("c.raw", "0123456789a");
    SAYS(2, "c.raw: not a whole number of codes of 8 bytes: 3 bytes are left over", "build",
         "--input", "raw", "c.raw", "-o", "x.index");
    write_text("c.hex", "0123456789abcdef\n");
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    SAYS(2, "c.raw: not a whole number of codes", "search", "x.index", "--radius", "3", "--input",
         "raw", "c.raw");
    write_text("c.hex", "0123456789abcdef\n01\n");
    SAYS(2, "c.hex: line 2: 2 digits", "add", "x.index", "c.hex");
    assert_int_equal(info_number("x.index", "codes"), 1); /* all or none */
}

static void a_line_of_megabytes_is_refused(void **state)
{
    (void)state;
    size_t size = 3 << 20;
    char *line = malloc(size);
    memset(line, 'a', size);
    write_file("c.hex", line, size);
    free(line);
    SAYS(2, "c.hex: line 1: 262144 or more digits", "build", "c.hex", "-o", "x.index");
}

static void lines_end_as_they_like(void **state)
{
    (void)state;
    write_text("c.hex", "0123456789abcdef\r\nFEDCBA9876543210");
    write_text("q.hex", "FEDCBA9876543210\n0123456789ABCDEF\r\n");
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index/"));
    char *hits = doppel_prints(0, "index", "search", "x.index", "--radius", "0", "q.hex");
    assert_string_equal(hits, "{\"query\":0,\"id\":1,\"distance\":0}\n"
                              "{\"query\":1,\"id\":0,\"distance\":0}\n");
    free(hits);
}

static void nothing_is_something(void **state)
{
    (void)state;
    write_text("none", "");
    write_text("q.hex", "0123456789abcdef\n");
    free(doppel_prints(0, "index", "build", "none", "-o", "x.index"));
    char *hits = doppel_prints(0, "index", "search", "x.index", "--radius", "64", "q.hex");
    assert_string_equal(hits, "");
    free(hits);
    hits = doppel_prints(0, "index", "search", "x.index", "--radius", "64", "none", "--count");
    assert_string_equal(hits, "");
    free(hits);
    hits = doppel_prints(0, "index", "knn", "x.index", "q.hex");
    assert_string_equal(hits, "");
    free(hits);
    free(doppel_prints(0, "index", "add", "x.index", "none"));
    free(doppel_prints(0, "index", "compact", "x.index"));
    free(doppel_prints(0, "index", "verify", "x.index"));
    assert_int_equal(info_number("x.index", "codes"), 0);
    free(doppel_prints(0, "index", "add", "x.index", "q.hex"));
    hits = doppel_prints(0, "index", "knn", "x.index", "q.hex");
    assert_string_equal(hits, "{\"query\":0,\"id\":0,\"distance\":0}\n");
    free(hits);
}

static void standard_input_is_a_file(void **state)
{
    (void)state;
    const struct setting hex = {.input = "0123456789abcdef\nfedcba9876543210\n"};
    const struct setting piped = {.program = "/bin/sh"};
    struct ran ran = doppel_with(&hex, "index", "build", "-", "-o", "x.index");
    assert_code(&ran, 0);
    ran_free(&ran);
    ran = doppel_with(&piped, "-c",
                      "printf '0123456789abcdee\\n' | " DOPPEL_PROGRAM
                      " index search x.index --radius 2 -");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, "{\"query\":0,\"id\":0,\"distance\":1}\n");
    ran_free(&ran);
    ran = doppel_with(&piped, "-c",
                      "printf 12345678 | " DOPPEL_PROGRAM " index add x.index --input raw -");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(info_number("x.index", "codes"), 3);
    ran = doppel_with(&piped, "-c",
                      "printf 123456789 | " DOPPEL_PROGRAM " index add x.index --input raw -");
    assert_code(&ran, 2);
    assert_has(ran.err, "doppel: standard input: not a whole number of codes");
    ran_free(&ran);
    assert_int_equal(info_number("x.index", "codes"), 3);
}

static void mistakes_are_answered(void **state)
{
    (void)state;
    write_text("c.hex", "0123456789abcdef\n");
    SAYS(2, "'index build' wants '-o INDEX'", "build", "c.hex");
    SAYS(2, "'index search' wants '--radius R'", "search", "x.index", "c.hex");
    SAYS(2, "'--radius' takes a whole number from 0 to 256, not '999'", "search", "x.index",
         "--radius", "999", "c.hex");
    SAYS(2, "'--bits' takes 32, 64, 128 or 256, not '48'", "build", "--bits", "48", "c.hex", "-o",
         "x.index");
    SAYS(2, "unknown verb 'index serach'; did you mean 'index search'?", "serach", "x");
    SAYS(3, "no.hex: No such file or directory", "build", "no.hex", "-o", "x.index");
    SAYS(2, "doppel: .: Is a directory", "build", ".", "-o", "x.index");
    SAYS(2, "x.index: no such index", "search", "x.index", "--radius", "1", "c.hex");
    SAYS(2, "x.index: no such index", "info", "x.index");
    SAYS(2, "c.hex: not an index", "info", "c.hex");
    SAYS(2, "/tmp: not an index", "add", "/tmp", "c.hex");
    SAYS(2, "no/x.index: cannot be made", "build", "c.hex", "-o", "no/x.index");
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    SAYS(2, "x.index: is there already", "build", "c.hex", "-o", "x.index");
    SAYS(3, "no.hex: No such file", "search", "x.index", "--radius", "1", "no.hex");
    SAYS(3, "7: the index never had such an id", "remove", "x.index", "7");
    SAYS(3, "a: not an id", "remove", "x.index", "a");
    write_text("wide", "0123456789abcdef0123456789abcdef\n");
    SAYS(2, "wide: line 1: 32 digits where a code of 64 bits has 16", "search", "x.index",
         "--radius", "1", "wide");
    struct ran ran = doppel("index");
    assert_code(&ran, 2);
    assert_has(ran.err, "index search INDEX QUERIES");
    ran_free(&ran);
    char *help = doppel_prints(0, "index", "--help"), *same = doppel_prints(0, "help", "index");
    assert_string_equal(help, same);
    assert_lacks(help, "scan");
    free(help);
    free(same);
}

static void other_databases_are_left_alone(void **state)
{
    (void)state;
    make_folder("x.index");
    write_text("x.index/index.db", "this is a text, not a database\n");
    write_text("c.hex", "0123456789abcdef\n");
    SAYS(2, "x.index/index.db: not a doppel database", "info", "x.index");
    SAYS(2, "x.index/index.db: not a doppel database", "add", "x.index", "c.hex");
    size_t size;
    char *text = read_file("x.index/index.db", &size);
    assert_string_equal(text, "this is a text, not a database\n");
    free(text);
}

static void read_only_folders(void **state)
{
    (void)state;
    const struct setting powerless = {.powerless = true};
    write_text("c.hex", "0123456789abcdef\n");
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    make_folder("closed");
    chmod("closed", 0555);
    assert_int_equal(system("chmod -R a-w x.index"), 0);
    struct ran ran =
        doppel_with(&powerless, "index", "search", "x.index", "--radius", "0", "c.hex");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, "{\"query\":0,\"id\":0,\"distance\":0}\n");
    ran_free(&ran);
    assert_says(&powerless, 2, "x.index",
                (const char *const[]){"index", "add", "x.index", "c.hex", NULL});
    assert_says(&powerless, 2, "closed/y.index: cannot be made: Permission denied",
                (const char *const[]){"index", "build", "c.hex", "-o", "closed/y.index", NULL});
    assert_int_equal(system("chmod -R u+w x.index closed"), 0);
}

static void a_second_writer_is_told(void **state)
{
    (void)state;
    write_text("c.hex", "0123456789abcdef\n");
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    int fd = open("x.index", O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX), 0); /* as a writer holds it */
    SAYS(2, "doppel: x.index: another process is writing to this index; try again when it is done",
         "add", "x.index", "c.hex");
    free(doppel_prints(0, "index", "search", "x.index", "--radius", "1", "c.hex"));
    close(fd);
    free(doppel_prints(0, "index", "add", "x.index", "c.hex"));
}

/* A build that is interrupted leaves nothing. */
static void interrupted(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int writer = open("pipe", O_RDWR);
    assert_int_equal(write(writer, "0123456789abcdef\n", 17), 17);
    const char *const words[] = {"index", "build", "pipe", "-o", "x.index", NULL};
    struct running running = command_start(NULL, words);
    struct ran ran;
    for (int i = 0; i < 200 && system("ls | grep -q x.index"); i++)
        pause_ms(10);
    pause_ms(50);
    assert_false(command_ended(&running, &ran));
    kill(running.pid, SIGINT);
    ran = command_end(&running);
    assert_code(&ran, 130);
    assert_has(ran.err, "doppel: interrupted");
    ran_free(&ran);
    close(writer);
    assert_int_equal(system("test \"$(ls)\" = pipe"), 0);
}

/* ---- output ---- */

static void write_many(const char *path, size_t count)
{
    FILE *file = fopen(path, "w");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%016zx\n", i);
    fclose(file);
}

static void closed_pipes_end_it_quietly(void **state)
{
    (void)state;
    const struct setting closed = {.closed_pipe = true};
    write_many("c.hex", 20000);
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    static const char *const formats[] = {"json", "csv", "table"};
    for (size_t i = 0; i < 3; i++) {
        struct ran ran = doppel_with(&closed, "index", "search", "x.index", "--radius", "1",
                                     "c.hex", "--format", formats[i]);
        assert_code(&ran, 141);
        assert_string_equal(ran.err, "");
        ran_free(&ran);
    }
    const struct setting shell = {.program = "/bin/sh"};
    struct ran ran = doppel_with(
        &shell, "-c", DOPPEL_PROGRAM " index search x.index --radius 64 c.hex > /dev/full");
    assert_code(&ran, 2);
    assert_has(ran.err, "doppel: standard output: No space left on device");
    ran_free(&ran);
}

static void other_formats(void **state)
{
    (void)state;
    write_text("c.hex", "0123456789abcdef\nfedcba9876543210\n");
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    char *csv =
        doppel_prints(0, "index", "search", "x.index", "--radius", "3", "c.hex", "--format", "csv");
    assert_string_equal(csv, "query,id,distance\r\n0,0,0\r\n1,1,0\r\n");
    free(csv);
    char *table = doppel_prints(0, "index", "knn", "x.index", "c.hex", "--format", "table");
    assert_has(table, "query  id  distance\n");
    free(table);
}

static void statistics_end_it(void **state)
{
    (void)state;
    static const char *const keys[] = {"queries", "median_us",  "p99_us",
                                       "mean_us", "candidates", "lookups"};
    write_many("c.hex", 2000);
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    for (int jobs = 0; jobs < 2; jobs++) {
        struct ran ran = doppel("index", "search", "x.index", "--radius", "1", "c.hex", "--stats",
                                "--count", "--jobs", jobs ? "2" : "1");
        assert_code(&ran, 0);
        json_t *stats = json_loads(ran.err, 0, NULL);
        assert_non_null(stats);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_true(json_is_number(json_object_get(stats, keys[i])));
        assert_int_equal(json_integer_value(json_object_get(stats, "queries")), 2000);
        assert_true(json_integer_value(json_object_get(stats, "candidates")) >= 2000);
        json_decref(stats);
        ran_free(&ran);
    }
}

/* Files may grow to 100 KiB here (dash counts in 512 bytes): a clear sentence, and all as it was.
 */
static void a_full_disk_changes_nothing(void **state)
{
    (void)state;
    const struct setting shell = {.program = "/bin/sh"};
    write_many("c.hex", 1000);
    write_many("more.hex", 100000);
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    static const char *const commands[] = {
        "ulimit -f 200; " DOPPEL_PROGRAM " index add x.index more.hex",
        "ulimit -f 200; " DOPPEL_PROGRAM " index build more.hex -o y.index",
        "ulimit -f 1; " DOPPEL_PROGRAM " index compact x.index; " DOPPEL_PROGRAM
        " index add x.index c.hex",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran ran = doppel_with(&shell, "-c", commands[i]);
        assert_code(&ran, 2);
        assert_true(strstr(ran.err, "File too large") || strstr(ran.err, "limit on the size"));
        ran_free(&ran);
    }
    assert_int_equal(access("y.index", F_OK), -1);
    free(doppel_prints(0, "index", "verify", "x.index"));
    assert_int_equal(info_number("x.index", "codes"), 1000);
    free(doppel_prints(0, "index", "add", "x.index", "more.hex"));
    assert_int_equal(info_number("x.index", "codes"), 101000);
}

/* What ended well was added, and what did not was not, also where codes were added and there was no
 * room to merge: who runs it again after an error adds nothing twice. */
static void a_full_disk_adds_all_or_nothing(void **state)
{
    (void)state;
    enum { BLOCKS = 5, MORE = 3000 };
    const struct setting shell = {.program = "/bin/sh"};
    int unmerged = 0, refused = 0;
    json_int_t codes = 30000;
    char command[256];
    write_many("c.hex", (size_t)codes);
    write_many("more.hex", MORE);
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    for (int i = 0; i < 4 * BLOCKS; i++) {
        snprintf(command, sizeof command,
                 "ulimit -f %d; exec " DOPPEL_PROGRAM " index add x.index more.hex",
                 16 << (2 * (i % BLOCKS)));
        struct ran ran = doppel_with(&shell, "-c", command);
        assert_true(ran.code == 0 || ran.code == 2);
        codes += ran.code ? 0 : MORE;
        refused += ran.code == 2;
        unmerged += ran.code == 0 && strstr(ran.err, "all codes were added");
        assert_int_equal(info_number("x.index", "codes"), codes);
        ran_free(&ran);
    }
    assert_true(unmerged > 0 && refused > 0);
    free(doppel_prints(0, "index", "verify", "x.index"));
}

/* ---- damage ---- */

static char *a_segment(void)
{
    FILE *list = popen("ls x.index/*.segment | head -n 1", "r");
    char *name = calloc(1, 512);
    assert_non_null(fgets(name, 512, list));
    name[strcspn(name, "\n")] = 0;
    pclose(list);
    return name;
}

static void flip(const char *path, size_t at)
{
    size_t size;
    char *bytes = read_file(path, &size);
    bytes[at < size ? at : size - 1] ^= 0x10;
    write_file(path, bytes, size);
    free(bytes);
}

static void damage_is_found_and_said(void **state)
{
    (void)state;
    write_many("c.hex", 5000);
    write_many("more.hex", 100);
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
    free(doppel_prints(0, "index", "verify", "x.index"));
    char *segment = a_segment();
    size_t size;
    free(read_file(segment, &size));
    for (size_t i = 0; i < 8; i++) {
        size_t at = i * size / 8;
        flip(segment, at);
        struct ran ran = doppel("index", "verify", "x.index", "--json");
        assert_code(&ran, 3);
        assert_has(ran.err, segment);
        assert_has(ran.err, "5000 codes with ids from 0 to 4999 cannot be relied on");
        assert_has(ran.out, "\"state\":\"damaged\"");
        ran_free(&ran);
        flip(segment, at);
    }
    free(doppel_prints(0, "index", "verify", "x.index"));
    assert_int_equal(truncate(segment, (off_t)size / 2), 0);
    SAYS(2, segment, "search", "x.index", "--radius", "1", "more.hex");
    struct ran ran = doppel("index", "verify", "x.index", "--repair");
    assert_code(&ran, 3);
    assert_has(ran.err, "5000 codes with ids from 0 to 4999 are lost");
    ran_free(&ran);
    free(doppel_prints(0, "index", "verify", "x.index"));
    assert_int_equal(info_number("x.index", "codes"), 0);
    free(doppel_prints(0, "index", "add", "x.index", "more.hex"));
    char *hits = doppel_prints(0, "index", "knn", "x.index", "-k", "1", "more.hex");
    assert_has(hits, "{\"query\":0,\"id\":5000,\"distance\":0}\n"); /* ids are not used again */
    free(hits);
    free(segment);
}

/* Put together by the engine's calls, as somebody's file may be. */
static void an_index_of_keys_has_no_codes(void **state)
{
    (void)state;
    const struct doppel_store_options options = {.application_id = 0x64706c49,
                                                 .schema_version = 2,
                                                 .schema = DOPPEL_STORE_INDEX_SCHEMA,
                                                 .create = true};
    const struct doppel_index_options make = {.table = DOPPEL_INDEX_POSTINGS, .key_bits = 25};
    const struct doppel_store_index_options index_options = {
        .name = "codes", .folder = "x.index", .make = &make};
    struct doppel_store *store;
    struct doppel_store_index *index;
    assert_int_equal(mkdir("x.index", 0700), 0);
    assert_int_equal(doppel_store_open("x.index/index.db", &options, &store, NULL), DOPPEL_OK);
    assert_int_equal(doppel_store_index_open(store, &index_options, &index, NULL), DOPPEL_OK);
    doppel_store_index_close(index);
    doppel_store_close(store);
    write_text("c.hex", "0123456789abcdef\n");
    SAYS(2, "x.index: not an index of codes", "search", "x.index", "--radius", "3", "c.hex");
    SAYS(2, "x.index: not an index of codes", "add", "x.index", "c.hex");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(wrong_codes_are_told_by_their_line),
        IN_SANDBOX(a_line_of_megabytes_is_refused),
        IN_SANDBOX(lines_end_as_they_like),
        IN_SANDBOX(nothing_is_something),
        IN_SANDBOX(standard_input_is_a_file),
        IN_SANDBOX(mistakes_are_answered),
        IN_SANDBOX(other_databases_are_left_alone),
        IN_SANDBOX(read_only_folders),
        IN_SANDBOX(a_second_writer_is_told),
        IN_SANDBOX(interrupted),
        IN_SANDBOX(closed_pipes_end_it_quietly),
        IN_SANDBOX(other_formats),
        IN_SANDBOX(statistics_end_it),
        IN_SANDBOX(a_full_disk_changes_nothing),
        IN_SANDBOX(a_full_disk_adds_all_or_nothing),
        IN_SANDBOX(damage_is_found_and_said),
        IN_SANDBOX(an_index_of_keys_has_no_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
