/* Whole libraries, exported, imported, merged and copied, as a user runs it. */
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "exchange.h"
#include "writer.h"

/* ---- exports, compared ---- */

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* What differs from library to library although nothing else does. */
static char *plain_line(const char *line)
{
    static const char *const own[] = {"item", "text", "leader", "canonical", "time_ns"};
    json_t *object = json_loads(line, 0, NULL);
    assert_non_null(object);
    bool left_out = json_object_get(object, "log") || json_object_get(object, "doppel_export");
    bool follows = json_object_get(object, "leader") != NULL;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!json_is_string(json_object_get(object, own[i])))
            json_object_del(object, own[i]);
    if (follows)
        json_object_set_new(object, "follows", json_true());
    char *plain = left_out ? NULL : json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    return plain;
}

/* An export without ids and times of words, its lines in order; free. */
static char *plain_export(const char *library, unsigned *out_lines)
{
    char *text = doppel_prints(0, "export", "-L", library), *rest = text, *lines[2000];
    size_t count = 0, size = 1;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *plain = *line ? plain_line(line) : NULL;
        if (!plain)
            continue;
        assert_true(count < sizeof lines / sizeof *lines);
        size += strlen(plain) + 1;
        lines[count++] = plain;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    char *all = malloc(size), *at = all;
    *all = '\0';
    for (size_t i = 0; i < count; i++) {
        at += sprintf(at, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(text);
    if (out_lines)
        *out_lines = (unsigned)count;
    return all;
}

static void assert_same_libraries(const char *a, const char *b)
{
    char *x = plain_export(a, NULL), *y = plain_export(b, NULL);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* Pictures, files of text, records, codes, digests, recordings by code; lists, labels, sources,
 * marks.
 */
static void make_library(const char *library)
{
    make_folder("pics");
    keep_drawing("pics/a.jpg", 1, 5);
    keep_drawing("pics/b\xff.jpg", 2, 6);
    keep_text("pics/c.txt", write_words(7, 300));
    put("pdq.csv", PDQ_LIST);
    put("imagehash", "d8f8f0cee0f4a84a  x y.png\n0123456789abcdef\n");
    put("fpcalc", "FILE=a.mp3\nDURATION=10\nFINGERPRINT=1,2,3,4,4294967295\n\n"
                  "DURATION=9\nFINGERPRINT=5,6,7\n");
    put("sums", "d41d8cd98f00b204e9800998ecf8427e  empty\n"
                "da39a3ee5e6b4b0d3255bfef95601890afd80709 *empty too\n"
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  third\n");
    put("records.jsonl", "{\"id\":\"r1\",\"text\":\"one two three four five six seven eight nine "
                         "ten eleven twelve\","
                         "\"source\":\"s\"}\n"
                         "{\"id\":\"r2\",\"text\":\"one two three four five six seven eight nine "
                         "ten eleven twelve\"}\n"
                         "{\"id\":\"r3\",\"text\":\"short\"}\n");
    well("add", "-L", library, "-q", "pics", "--list", "mine", "--meta", "{\"a\":[1,2.5,\"x\"]}");
    well("import", "-q", "-L", library, "pdq.csv", "--list", "bad", "--label", "b", "--label", "a",
         "--source", "example.org");
    well("import", "-q", "-L", library, "imagehash", "fpcalc", "sums");
    well("ingest", "-q", "-L", library, "--jsonl", "records.jsonl", "--keep-shingles");
    well("lists", "set", "-L", library, "mine", "--state", "benign");
    well("source", "set", "-L", library, "*.org", "7");
    well("mark", "-L", library, "1", "2", "--distinct");
}

/* ---- tests ---- */

static void an_export_makes_the_same_library_again(void **state)
{
    (void)state;
    unsigned lines = 0;
    make_library("one");
    free(plain_export("one", &lines));
    assert_true(lines >= 16);
    well("export", "-L", "one", "-o", "one.jsonl");
    well("import", "-L", "two", "one.jsonl");
    assert_same_libraries("one", "two");
    struct ran ran = doppel("import", "-L", "two", "one.jsonl"); /* again: nothing is new */
    assert_code(&ran, 0);
    assert_has(ran.err, "doppel: 0 imported, 0 updated, ");
    ran_free(&ran);
    assert_same_libraries("one", "two");
    well("verify", "-q", "-L", "two");
}

/* Whoever followed whom does so there, too, whatever the numbers are. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    make_library("full");
    const struct setting setting = {.program = "/bin/sh"};
    struct ran ran = doppel_with(&setting, "-c", DOPPEL_PROGRAM " export -L full > /dev/full");
    assert_code(&ran, 2);
    assert_has(ran.err, "No space left");
    ran_free(&ran);
}

static void groups_come_along(void **state)
{
    (void)state;
    put("first", "{\"scheme\":\"pdq\",\"code\":"
                 "\"00000000000000000000000000000000000000000000000000000000000000ff\"}\n");
    put("second",
        "{\"item\":90,\"scheme\":\"imagehash\",\"code\":\"00000000000000ff\",\"leader\":7,"
        "\"external_id\":\"follower\"}\n"
        "{\"item\":7,\"scheme\":\"imagehash\",\"code\":\"00000000000000fe\",\"canonical\":90,"
        "\"external_id\":\"leader\"}\n"
        "{\"item\":8,\"scheme\":\"imagehash\",\"code\":\"00000000000000fd\",\"leader\":12345}\n");
    well("import", "-q", "-L", "l", "first", "second");
    char *out = doppel_prints(0, "show", "-L", "l", "2", "3", "4", "--json");
    assert_has(out, "\"leader\":3");
    assert_has(out, "\"canonical\":2");
    assert_lacks(out, "\"leader\":4,");
    free(out);
}

/* Files of other tools come back as they went in. */
static void lists_come_back(void **state)
{
    (void)state;
    make_library("one");
    char *out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "pdq");
    assert_string_equal(out, strchr(PDQ_LIST, '\n') + 1);
    free(out);
    out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "imagehash");
    assert_string_equal(out, "d8f8f0cee0f4a84a  x y.png\n0123456789abcdef\n");
    free(out);
    out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "fpcalc");
    assert_string_equal(out, "FILE=a.mp3\nDURATION=10\nFINGERPRINT=1,2,3,4,4294967295\n\n"
                             "DURATION=9\nFINGERPRINT=5,6,7\n\n");
    free(out);
    out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "digests");
    assert_string_equal(
        out, "d41d8cd98f00b204e9800998ecf8427e  empty\n"
             "da39a3ee5e6b4b0d3255bfef95601890afd80709  empty too\n"
             "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  third\n");
    free(out);
    well("export", "-L", "one", "--format", "csv", "--list", "bad", "-o", "bad.csv");
    well("import", "-q", "-L", "two", "bad.csv");
    out = doppel_prints(0, "export", "-q", "-L", "two", "--format", "pdq");
    assert_string_equal(out, strchr(PDQ_LIST, '\n') + 1);
    free(out);
}

/* How long a recording is, is known wherever that of a file is; where it is not told, it is not. */
static void lengths_come_along(void **state)
{
    (void)state;
    put("fpcalc", "FILE=a.mp3\nDURATION=10.5\nFINGERPRINT=1,2,3,4\n\nFILE=b.mp3\n"
                  "FINGERPRINT=1,2,3,5\n\nFILE=c.mp3\nDURATION=-1\nFINGERPRINT=1,2,3,6\n");
    put("hash", "{\"path\":\"d\",\"scheme\":\"chromaprint\",\"bits\":64,\"duration\":2.25,"
                "\"sequence\":[[\"0000000000000001\",0]]}\n");
    well("import", "-q", "-L", "l", "fpcalc", "hash");
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, "\"duration\""), 2);
    assert_has(out, "\"duration\":10.5,");
    assert_has(out, "\"duration\":2.25,");
    free(out);
    out = doppel_prints(0, "show", "-L", "l", "1", "--json");
    assert_has(out, "\"duration\":10.5,");
    free(out);
    out = doppel_prints(0, "list", "-L", "l", "--json", "--where", "duration > 5");
    assert_int_equal(count_lines(out, "a.mp3"), 1);
    assert_int_equal(count_lines(out, ""), 1);
    free(out);
    well("verify", "-q", "-L", "l");
}

/* A time that cannot be is that of the import. */
static void times_are_kept(void **state)
{
    (void)state;
    put("list.csv", "scheme,code,added\nimagehash,0000000000000001,1000000000.5\n"
                    "imagehash,0000000000000002,99999999999\nimagehash,0000000000000003,May\n"
                    "imagehash,0000000000000004,-5\n");
    well("import", "-q", "-L", "l", "list.csv");
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, "\"added\":1000000000.5,"), 1);
    free(out);
    out = doppel_prints(0, "list", "-L", "l", "--where",
                        "abs(added_ns / 1e9 - strftime('%s')) < 1000", "--json");
    assert_int_equal(count_lines(out, ""), 3);
    free(out);
    out = doppel_prints(0, "export", "-L", "l", "--format", "csv");
    assert_has(out, ",1000000000.5,");
    free(out);
}

/* Codes of before are none of today's. */
static void a_version_in_csv_is_kept(void **state)
{
    (void)state;
    put("list.csv", "scheme,version,code\nphash64,1,00000000ffff0001\nphash64,,00000000ffff0002\n"
                    "phash64,70000,00000000ffff0003\n");
    free(doppel_prints(3, "import", "-q", "-L", "l", "list.csv"));
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, ""), 2);
    assert_int_equal(count_lines(out, "\"version\":1,"), 1);
    free(out);
}

/* What is chosen is all that goes out; what the library was told stays at home. */
static void a_part_is_exported(void **state)
{
    (void)state;
    make_library("one");
    char *out = doppel_prints(0, "export", "-L", "one", "--list", "bad");
    assert_int_equal(count_lines(out, "\"item\""), 3);
    assert_int_equal(count_lines(out, "\"state\""), 1);
    assert_lacks(out, "\"mark\"");
    assert_lacks(out, "source_pattern");
    assert_lacks(out, "\"log\"");
    free(out);
    out = doppel_prints(0, "export", "-L", "one", "--scheme", "imagehash");
    assert_int_equal(count_lines(out, "\"item\""), 2);
    free(out);
    out = doppel_prints(0, "export", "-L", "one", "--where", "external_id = 'copy.jpg'");
    assert_int_equal(count_lines(out, "\"item\""), 1);
    free(out);
    out = doppel_prints(0, "export", "-L", "one", "--kind", "text");
    assert_int_equal(count_lines(out, "\"text\":"), 3);
    free(out);
}

/* All of both is in it; what this one says stays. */
static void libraries_are_merged(void **state)
{
    (void)state;
    unsigned one = 0, both = 0;
    make_library("one");
    put("more", "1111111111111111  more\n");
    well("import", "-q", "-L", "two", "more");
    well("source", "set", "-L", "two", "*.org", "9");
    struct ran ran = doppel("merge", "one", "-L", "two");
    assert_code(&ran, 0);
    assert_has(ran.err, "stay so");
    ran_free(&ran);
    free(plain_export("one", &one));
    free(plain_export("two", &both));
    assert_int_equal(both, one + 1);
    char *out = doppel_prints(0, "source", "list", "-L", "two", "--json");
    assert_has(out, "9");
    free(out);
    ran = doppel("merge", "one", "-L", "two");
    assert_code(&ran, 0);
    assert_has(ran.err, "0 imported, 0 updated");
    ran_free(&ran);
    ran = doppel("merge", "two", "-L", "two");
    assert_code(&ran, 2);
    ran_free(&ran);
    ran = doppel("merge", "nonesuch", "-L", "two");
    assert_code(&ran, 2);
    ran_free(&ran);
}

/* Texts that were read in another way are refused; the rest comes. */
static void texts_of_another_way_are_refused(void **state)
{
    (void)state;
    make_library("one");
    put("other.jsonl",
        "{\"id\":\"x\",\"text\":\"one two three four five six seven eight nine\"}\n");
    well("ingest", "-q", "-L", "two", "--jsonl", "other.jsonl", "--shingle", "3");
    struct ran ran = doppel("merge", "one", "-L", "two");
    assert_code(&ran, 3);
    assert_has(ran.err, "its texts: ");
    ran_free(&ran);
    char *out = doppel_prints(0, "list", "-L", "two", "--json");
    assert_lacks(out, "\"record\":\"r1\"");
    assert_has(out, "copy.jpg");
    free(out);
}

static void a_backup_is_a_library(void **state)
{
    (void)state;
    make_library("one");
    well("backup", "-L", "one", "copy");
    assert_same_libraries("one", "copy");
    well("verify", "-q", "-L", "copy");
    struct ran ran = doppel("backup", "-L", "one", "copy");
    assert_code(&ran, 2);
    assert_has(ran.err, "copy: ");
    ran_free(&ran);
}

static unsigned count_entries(const char *path)
{
    unsigned entries = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        entries++;
    closedir(folder);
    return entries - 2; /* . and .. */
}

/* Whatever copies lose their processes, when the next one is made they are not there any more; one
 * that is being made is left alone, and so is what only looks like one. */
static void killed_backups_leave_nothing(void **state)
{
    (void)state;
    make_library("one");
    make_folder("copies"); /* in one is a file that somebody who makes it holds, or nobody */
    make_folder("copies/a.doppel-unfinished-123456");
    make_folder("copies/a.doppel-unfinished-123456/phash64-views");
    write_file("copies/a.doppel-unfinished-123456/catalogue.db", "x", 1);
    write_file("copies/a.doppel-unfinished-123456/.unfinished", "", 0);
    make_folder("copies/empty.doppel-unfinished-abcdef");
    make_folder("copies/b.doppel-unfinished-654321");
    write_file("copies/b.doppel-unfinished-654321/.unfinished", "", 0);
    make_folder("copies/b.unfinished");
    int held = open("copies/b.doppel-unfinished-654321/.unfinished", O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(held, LOCK_EX), 0);
    for (unsigned i = 0; i < 8; i++) {
        struct running running = command_start(
            NULL, (const char *const[]){"backup", "-L", "one", "copies/killed", NULL});
        pause_ms(3 * i);
        kill(running.pid, SIGKILL);
        struct ran ran = command_end(&running);
        ran_free(&ran);
    }
    free(doppel_prints(0, "backup", "-L", "one", "copies/whole"));
    bool done = access("copies/killed", F_OK) == 0; /* before it was killed */
    assert_int_equal(count_entries("copies"), 3 + done);
    assert_int_equal(access("copies/b.unfinished", F_OK), 0);
    assert_int_equal(access("copies/b.doppel-unfinished-654321", F_OK), 0);
    close(held);
    free(doppel_prints(0, "backup", "-L", "one", "copies/again"));
    assert_int_equal(count_entries("copies"), 3 + done);
    well("verify", "-q", "-L", "copies/whole");
}

/* A library that cannot be written is exported and copied all the same, and not imported into. */
static void a_read_only_library_is_read(void **state)
{
    (void)state;
    const struct setting powerless = {.powerless = true};
    put("more", "1111111111111111  more\n");
    well("import", "-q", "-L", "l", "more");
    assert_int_equal(chmod("l/catalogue.db", 0444) | chmod("l", 0555), 0);
    struct ran ran = doppel_with(&powerless, "export", "-L", "l");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"more\"");
    ran_free(&ran);
    ran = doppel_with(&powerless, "import", "-L", "l", "more");
    assert_code(&ran, 2);
    ran_free(&ran);
    assert_int_equal(chmod("l", 0755), 0);
}

static void a_closed_pipe_ends_an_export(void **state)
{
    (void)state;
    const struct setting closed = {.closed_pipe = true};
    put("more", "1111111111111111  more\n");
    well("import", "-q", "-L", "l", "more");
    struct ran ran = doppel_with(&closed, "export", "-L", "l");
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_export_makes_the_same_library_again),
        IN_SANDBOX(a_full_disk_is_said),
        IN_SANDBOX(groups_come_along),
        IN_SANDBOX(lists_come_back),
        IN_SANDBOX(lengths_come_along),
        IN_SANDBOX(times_are_kept),
        IN_SANDBOX(a_version_in_csv_is_kept),
        IN_SANDBOX(a_part_is_exported),
        IN_SANDBOX(libraries_are_merged),
        IN_SANDBOX(texts_of_another_way_are_refused),
        IN_SANDBOX(a_backup_is_a_library),
        IN_SANDBOX(killed_backups_leave_nothing),
        IN_SANDBOX(a_read_only_library_is_read),
        IN_SANDBOX(a_closed_pipe_ends_an_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
