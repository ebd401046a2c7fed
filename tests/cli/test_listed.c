/* Files whose MD5, SHA-1 or SHA-256 a library has from others: they are known by their bytes,
 * before anything is decoded. The digests are the coreutils'. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "command.h"
#include "coprocess.h"

/* Where it is set, whatever wants to decode anything ends the run. */
static const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent/worker"}};

static void put(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* Two pictures, one that is damaged, one that is none, and what is of no kind at all. */
static void make_files(void)
{
    make_folder("p");
    keep_drawing("p/a.jpg", 1, 1);
    keep_drawing("p/b.png", 2, 1);
    write_file("p/bad.jpg", "\xff\xd8\xff\xe0 no picture", 15);
    put("p/named.png", "words");
    write_file("p/odd.bin", "\0\1\2\3", 4);
}

static void run_shell(const char *format, const char *word)
{
    char command[256];
    snprintf(command, sizeof command, format, word);
    assert_int_equal(system(command), 0);
}

static char *told(int code, const struct setting *setting, const char *const *words)
{
    struct ran ran = command_run(setting, words);
    assert_code(&ran, code);
    char *out = ran.out;
    ran.out = NULL;
    ran_free(&ran);
    return out;
}
#define tell(code, setting, ...) told(code, setting, (const char *const[]){__VA_ARGS__, NULL})

static void import_digests(const char *tool)
{
    run_shell("%s p/a.jpg p/bad.jpg p/named.png p/odd.bin > sums", tool);
    free(tell(0, NULL, "import", "-q", "-L", "library", "sums", "--list", "known"));
}

/* So that a stamp proves that a file is unchanged. */
static void age(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void nothing_is_decoded(void **state)
{
    (void)state;
    static const char *const tools[] = {"md5sum", "sha1sum", "sha256sum"};
    make_files();
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        import_digests(tools[i]);
        char *out = tell(0, &no_worker, "check", "--json", "-L", "library", "p/a.jpg", "p/bad.jpg",
                         "p/named.png", "p/odd.bin");
        assert_int_equal(count_lines(out, "\"decision\":\"duplicate\""), 4);
        assert_int_equal(count_lines(out, "\"reason\":\"identical\""), 4);
        assert_int_equal(count_lines(out, "\"verified\":\"exact\""), 4);
        free(out);
        free(tell(2, &no_worker, "check", "-L", "library", "p/b.png"));
        run_shell("rm -r %s", "library");
    }
}

/* All algorithms at once, each of other files; what is not listed is decided as ever. */
static void algorithms_go_together(void **state)
{
    (void)state;
    make_files();
    run_shell("%s p/a.jpg > sums", "md5sum");
    run_shell("%s p/bad.jpg > sums1", "sha1sum");
    run_shell("%s p/odd.bin > sums256", "sha256sum");
    free(tell(0, NULL, "import", "-q", "-L", "library", "sums", "sums1", "sums256"));
    char *out = tell(3, NULL, "check", "--json", "-L", "library", "p/a.jpg", "p/b.png", "p/bad.jpg",
                     "p/named.png", "p/odd.bin");
    assert_int_equal(count_lines(out, "\"decision\":\"duplicate\""), 3);
    assert_int_equal(count_lines(out, "\"of_path\":\"md5:"), 1);
    assert_int_equal(count_lines(out, "\"of_path\":\"sha1:"), 1);
    assert_int_equal(count_lines(out, "\"of_path\":\"sha256:"), 1);
    assert_int_equal(count_lines(out, "\"decision\":\"new\""), 1);
    assert_int_equal(count_lines(out, "\"decision\":\"unreadable\""), 1);
    free(out);
}

/* What comes in by its bytes alone is an item: known by its path, moved, verified, exported. */
static void they_come_in_as_items(void **state)
{
    (void)state;
    make_files();
    import_digests("sha256sum");
    age("p/a.jpg");
    char *out = tell(0, &no_worker, "ingest", "--json", "-L", "library", "p/a.jpg", "p/bad.jpg");
    assert_int_equal(count_lines(out, "\"decision\":\"duplicate\""), 2);
    assert_int_equal(count_lines(out, "\"item\":"), 2);
    free(out);
    out = tell(0, &no_worker, "ingest", "--json", "-L", "library", "p/a.jpg");
    assert_has(out, "\"reason\":\"known\"");
    free(out);
    assert_int_equal(rename("p/a.jpg", "p/moved.jpg"), 0);
    out = tell(0, &no_worker, "ingest", "--json", "-L", "library", "p/moved.jpg");
    assert_has(out, "\"reason\":\"moved\"");
    free(out);
    out = tell(0, NULL, "list", "--json", "-L", "library");
    assert_int_equal(count_lines(out, "\"path\":"), 2);
    assert_lacks(out, "work/p/a.jpg");
    free(out);
    free(tell(0, NULL, "verify", "-q", "-L", "library"));
    free(tell(0, NULL, "verify", "-q", "--files", "--digest", "-L", "library"));
    free(tell(0, NULL, "export", "-L", "library", "-o", "out"));
    free(tell(0, NULL, "import", "-q", "-L", "other", "out"));
    char *again = tell(0, NULL, "export", "-L", "other");
    out = tell(0, NULL, "export", "-L", "library");
    assert_int_equal(count_lines(out, "\"item\":"), count_lines(again, "\"item\":"));
    assert_int_equal(count_lines(again, "\"path\":"), 2);
    assert_int_equal(count_lines(again, "\"leader\":"), 2);
    free(again);
    free(out);
    out = tell(0, NULL, "export", "-L", "library", "--format", "digests");
    assert_int_equal(count_lines(out, ""), 4);
    free(out);
}

/* Of the same bytes, by bytes alone; what is of another kind of knowledge stays apart. */
static void groups_tell_the_same_bytes(void **state)
{
    (void)state;
    make_files();
    import_digests("sha256sum");
    copy_file("p/bad.jpg", "p/copy.jpg");
    free(tell(0, &no_worker, "ingest", "-L", "library", "p/a.jpg", "p/bad.jpg", "p/copy.jpg",
              "p/odd.bin"));
    char *out = tell(0, NULL, "groups", "--json", "-L", "library");
    assert_int_equal(count_lines(out, "\"group\":1,\"kind\":\"unknown\""), 1);
    assert_int_equal(count_lines(out, ""), 1);
    assert_has(out, "p/bad.jpg");
    assert_has(out, "p/copy.jpg");
    assert_has(out, "\"reason\":\"identical\"");
    free(out);
    out = tell(0, NULL, "groups", "--json", "-L", "library", "--kind", "image");
    assert_string_equal(out, "");
    free(out);
    age("p/bad.jpg");
    age("p/copy.jpg");
    free(tell(0, &no_worker, "ingest", "-L", "library", "p/bad.jpg", "p/copy.jpg"));
    free(tell(0, NULL, "report", "-L", "library", "-o", "page.html"));
    size_t size;
    char *page = read_file("page.html", &size);
    assert_has(page, "\"kind\":\"unknown\"");
    free(page);
    free(tell(0, NULL, "groups", "-L", "library", "--action", "hardlink", "--yes"));
    struct stat one, other;
    assert_int_equal(stat("p/bad.jpg", &one) + stat("p/copy.jpg", &other), 0);
    assert_int_equal(one.st_ino, other.st_ino);
    assert_int_equal(unlink("p/copy.jpg"), 0);
    free(tell(3, NULL, "report", "-L", "library", "-o", "page.html"));
    page = read_file("page.html", &size);
    assert_has(page, "is not there any more");
    free(page);
}

/* What is known of bytes by one item is known of all that have them. */
static void bytes_alone_join_others(void **state)
{
    (void)state;
    make_files();
    put("p/words.txt", "listed words, and enough of them to be told from others by their shingles: "
                       "one two three four five six seven eight nine ten eleven");
    run_shell("%s p/a.jpg p/words.txt > sums", "sha256sum");
    free(tell(0, NULL, "import", "-q", "-L", "library", "sums"));
    free(tell(0, &no_worker, "ingest", "-L", "library", "p/a.jpg", "p/words.txt"));
    copy_file("p/a.jpg", "p/x.jpg");
    copy_file("p/words.txt", "p/x.txt");
    free(tell(0, NULL, "add", "-q", "-L", "library", "p/x.jpg", "p/x.txt"));
    char *out = tell(0, NULL, "groups", "--json", "-L", "library");
    assert_int_equal(count_lines(out, ""), 2);
    assert_int_equal(count_lines(out, "\"kind\":\"image\""), 1);
    assert_int_equal(count_lines(out, "\"kind\":\"text\""), 1);
    assert_int_equal(count_lines(out, "\"identical\""), 2);
    free(out);
    out = tell(0, NULL, "groups", "--json", "-L", "library", "--kind", "image");
    assert_int_equal(count_lines(out, ""), 1);
    free(out);
    out = tell(0, NULL, "groups", "--json", "-L", "library", "--scheme", "pdq");
    assert_string_equal(out, "");
    free(out);
    free(tell(0, NULL, "report", "-L", "library", "-o", "page.html"));
}

/* A fingerprint is made when it is asked for, or when nobody lists the bytes any more; and never
 * given up for a list. */
static void fingerprints_come_later(void **state)
{
    (void)state;
    make_files();
    import_digests("sha1sum");
    free(tell(0, &no_worker, "ingest", "-L", "library", "p/a.jpg", "p/bad.jpg"));
    free(tell(0, NULL, "add", "-q", "-L", "library", "p/a.jpg"));
    char *out = tell(0, NULL, "list", "--json", "-L", "library", "--kind", "image");
    assert_int_equal(count_lines(out, "a.jpg"), 1);
    free(out);
    age("p/a.jpg");
    out = tell(0, &no_worker, "ingest", "--json", "-L", "library", "p/a.jpg");
    assert_has(out, "\"scheme\":\"phash64\"");
    free(out);
    free(tell(0, NULL, "remove", "-q", "-L", "library", "2")); /* that lists bad.jpg */
    struct ran ran = doppel("check", "-L", "library", "p/bad.jpg");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "p/bad.jpg"));
    ran_free(&ran);
}

/* What a list says is regarded: only a match that decides ends the work. */
static void states_of_lists_count(void **state)
{
    (void)state;
    make_files();
    import_digests("sha256sum");
    free(tell(0, NULL, "lists", "set", "-L", "library", "known", "--state", "disabled"));
    char *out = tell(1, NULL, "check", "--json", "-L", "library", "p/a.jpg");
    assert_has(out, "\"decision\":\"new\"");
    assert_lacks(out, "benign");
    free(out);
    free(tell(0, NULL, "lists", "set", "-L", "library", "known", "--state", "benign"));
    out = tell(0, NULL, "ingest", "--json", "-L", "library", "p/a.jpg");
    assert_has(out, "\"reason\":\"benign\"");
    free(out);
    out = tell(0, NULL, "list", "--json", "-L", "library", "--kind", "image");
    assert_int_equal(count_lines(out, "a.jpg"), 1); /* it came in as a picture */
    free(out);
    copy_file("p/a.jpg", "copy.jpg"); /* nor is it anybody's double when it comes again */
    out = tell(0, NULL, "ingest", "--json", "-L", "library", "copy.jpg");
    assert_has(out, "\"reason\":\"benign\"");
    free(out);
}

/* A failure that is remembered does not stand against a list that comes later. */
static void lists_outrank_failures(void **state)
{
    (void)state;
    make_files();
    age("p/bad.jpg");
    for (int i = 0; i < 2; i++)
        free(tell(3, NULL, "ingest", "-L", "library", "p/bad.jpg"));
    import_digests("sha256sum");
    char *out = tell(0, &no_worker, "check", "--json", "-L", "library", "p/bad.jpg");
    assert_has(out, "\"reason\":\"identical\"");
    free(out);
    out = tell(0, &no_worker, "ingest", "--json", "-L", "library", "p/bad.jpg");
    assert_has(out, "\"item\":");
    free(out);
}

/* A folder's files are known by their bytes whatever they are; what is not listed is passed over.
 */
static void folders_are_looked_through(void **state)
{
    (void)state;
    make_files();
    age("p/odd.bin");
    put("p/other.bin", "\1\2\3");
    char *out = tell(3, NULL, "ingest", "--json", "-L", "none", "p");
    assert_lacks(out, "odd.bin");
    free(out);
    import_digests("sha1sum");
    struct ran ran = doppel("ingest", "--json", "-L", "library", "p");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"reason\":\"identical\""), 4);
    assert_int_equal(count_lines(ran.out, "p/odd.bin"), 1);
    assert_lacks(ran.out, "other.bin");
    assert_has(ran.err, "1 file that is no ");
    ran_free(&ran);
    out = tell(0, NULL, "ingest", "--json", "-L", "library", "--kind", "image", "p");
    assert_lacks(out, "odd.bin");
    free(out);
}

/* A list that another process brings counts for the next file of a stream. */
static void a_stream_sees_new_lists(void **state)
{
    (void)state;
    char line[4096];
    make_files();
    struct coprocess stream = coprocess_start(NULL);
    assert_int_equal(write(stream.to, "p/bad.jpg\n", 10), 10);
    coprocess_read(&stream, line, sizeof line);
    assert_has(line, "\"decision\":\"unreadable\"");
    import_digests("sha256sum");
    assert_int_equal(write(stream.to, "p/odd.bin\n", 10), 10);
    coprocess_read(&stream, line, sizeof line);
    assert_has(line, "\"reason\":\"identical\"");
    assert_int_equal(coprocess_end(&stream), 3);
}

/* find tells the list, and what else is like the file; also of what cannot be read. */
static void find_tells_lists(void **state)
{
    (void)state;
    make_files();
    import_digests("sha256sum");
    copy_file("p/a.jpg", "p/copy.jpg");
    free(tell(0, NULL, "add", "-q", "-L", "library", "p/copy.jpg"));
    struct ran ran = doppel("find", "--json", "-L", "library", "p/a.jpg", "p/bad.jpg", "p/b.png");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, "\"query\":\"p/a.jpg\""), 2);
    assert_int_equal(count_lines(ran.out, "\"lists\":[\"known\"]"), 2);
    assert_int_equal(count_lines(ran.out, "\"query\":\"p/bad.jpg\""), 1);
    assert_int_equal(count_lines(ran.out, "\"match\":false"), 1);
    assert_has(ran.err, "p/bad.jpg: the JPEG is damaged");
    assert_has(ran.err, "found by its digest alone");
    ran_free(&ran);
    put("p/bad.jpg", "\xff\xd8\xff\xe0 another");
    ran = doppel("find", "-L", "library", "p/bad.jpg");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "p/bad.jpg"));
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(nothing_is_decoded),         IN_SANDBOX(algorithms_go_together),
        IN_SANDBOX(they_come_in_as_items),      IN_SANDBOX(fingerprints_come_later),
        IN_SANDBOX(states_of_lists_count),      IN_SANDBOX(lists_outrank_failures),
        IN_SANDBOX(a_stream_sees_new_lists),    IN_SANDBOX(find_tells_lists),
        IN_SANDBOX(groups_tell_the_same_bytes), IN_SANDBOX(folders_are_looked_through),
        IN_SANDBOX(bytes_alone_join_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
