/* Broken files cost themselves and nothing else: each is reported or hashed, and the run goes on.
 */
#include "command.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broken.h"
#include "collection.h"

/* The line of an output that is about `path`; NULL: there is none. */
static const char *line_of(const char *json_lines, const char *path)
{
    char key[500];
    snprintf(key, sizeof key, "\"path\":\"%s\"", path);
    return strstr(json_lines, key);
}

static bool hashed(const char *json_lines, const char *path)
{
    return line_of(json_lines, path) != NULL;
}

/* Of what is cut short the row says so, too. */
static bool remarked(const char *json_lines, const char *path)
{
    const char *line = line_of(json_lines, path);
    const char *remark = line ? strstr(line, "\"remark\":\"the ") : NULL;
    return remark && remark < line + strcspn(line, "\n");
}

/* Each file of the folder is either hashed or reported; both where its row has a remark. @return
 * how many were refused */
static unsigned assert_each_answered(const struct ran *ran, const char *folder)
{
    unsigned count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        bool told = reported(ran->err, path), good = hashed(ran->out, path);
        if (good ? told != remarked(ran->out, path) : !told)
            fail_msg("%s was %s", path, told ? "hashed and reported" : "passed over in silence");
        count += !good;
    }
    closedir(entries);
    return count;
}

/* A recording picture among them is found as ever. */
static void assert_scan_goes_on(const char *folder)
{
    char path[300];
    make_folder("sound");
    keep_drawing("sound/first.jpg", 0, 1);
    snprintf(path, sizeof path, "%s/zz-last.jpg", folder);
    copy_file("sound/first.jpg", path);
    struct ran ran = doppel("scan", "--json", "sound", folder);
    assert_code(&ran, 3);
    assert_has(ran.out, "sound/first.jpg");
    assert_has(ran.out, path);
    ran_free(&ran);
}

static void truncated_files(void **state)
{
    (void)state;
    unsigned count = make_truncated("broken");
    struct ran ran = doppel("hash", "--json", "broken");
    assert_code(&ran, 3);
    unsigned refused = assert_each_answered(&ran, "broken");
    assert_true(refused >= 24 && refused < count); /* nothing to see in the first 600 bytes */
    ran_free(&ran);
    assert_scan_goes_on("broken");
}

static void liars(void **state)
{
    (void)state;
    unsigned count = make_liars("broken");
    struct ran ran = doppel("hash", "--json", "broken");
    assert_code(&ran, 3);
    assert_int_equal(assert_each_answered(&ran, "broken"), count - 3);
    assert_true(hashed(ran.out, "broken/ok-1x1.png"));
    assert_true(hashed(ran.out, "broken/ok-1x1.jpg"));
    assert_true(hashed(ran.out, "broken/ok-1x4000.png"));
    ran_free(&ran);
    assert_scan_goes_on("broken");
}

/* A text again and again, up to so many bytes. */
static void write_repeated(const char *path, const char *text, size_t size)
{
    size_t length = strlen(text);
    char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = text[i % length];
    write_file(path, bytes, size);
    free(bytes);
}

static void make_odd_texts(void)
{
    make_folder("texts");
    write_file("texts/empty.txt", "", 0);
    write_file("texts/nul.txt", "a\0text with a NUL", 17);
    write_file("texts/mark.txt", "\xff\xfe", 2);
    write_file("texts/wide-cut.txt", "\xff\xfeh\0a\0l\0f\0 \0o", 13);
    write_repeated("texts/bad.txt", "valid words and \xe2\x82 and more of them ", 5000);
    write_repeated("texts/late-nul.txt", "words ", 9000);
    int fd = open("texts/late-nul.txt", O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "\0\0\0", 3), 3);
    close(fd);
    write_repeated("texts/line.txt", "one long line of words ", 40 << 20);
    write_repeated("texts/word.txt", "w", 1 << 20);
    write_repeated("texts/marks.txt", "e\xcc\x81\xcc\x81\xcc\x81", 100000);
    write_repeated("texts/deep.html", "<html><div>", 1 << 20);
    write_repeated("texts/cut.html", "<!DOCTYPE html><p>some words <a href=\"", 38);
    write_repeated("texts/entities.html", "<html>&amp;&#0;&#xffffffff;&notone; ", 3600);
    write_repeated("texts/deep.md", "> ", 100000);
    write_repeated("texts/stars.md", "*a **b ", 100000);
    write_repeated("texts/document.txt", "%PDF-1.7 ", 5000);
}

static void odd_texts(void **state)
{
    (void)state;
    static const char *const read[] = {"bad.txt",  "late-nul.txt", "line.txt",     "word.txt",
                                       "cut.html", "marks.txt",    "wide-cut.txt", "entities.html"};
    make_odd_texts();
    struct ran ran = doppel("hash", "--json", "--max-memory", "128M", "texts/empty.txt",
                            "texts/nul.txt", "texts/mark.txt", "texts/document.txt", "texts");
    assert_code(&ran, 3);
    assert_each_answered(&ran, "texts");
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        char path[64];
        snprintf(path, sizeof path, "texts/%s", read[i]);
        if (!hashed(ran.out, path))
            fail_msg("%s was not read", path);
    }
    ran_free(&ran);
    ran = doppel("scan", "--json", "texts");
    assert_true(ran.code == 0 || ran.code == 3);
    ran_free(&ran);
}

/* The most that a process ever held, as the kernel counted it; 0 when it is gone. */
static unsigned long peak_bytes(pid_t pid)
{
    char path[64], line[256];
    unsigned long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %lu kB", &kilobytes);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* Run a verb and watch its workers. @return the most that any of them held */
static unsigned long watched_run(struct ran *out, const char *const *words)
{
    unsigned long most = 0;
    struct running running = command_start(NULL, words);
    while (!command_ended(&running, out)) {
        pid_t workers[16];
        size_t count = workers_of(running.pid, workers, 16);
        for (size_t i = 0; i < count; i++) {
            unsigned long peak = peak_bytes(workers[i]);
            most = peak > most ? peak : most;
        }
        assert_true(now_seconds() - running.began < RUN_SECONDS);
        pause_ms(3);
    }
    return most;
}

static void bombs(void **state)
{
    (void)state;
    make_bombs("broken");
    keep_drawing("broken/zz-sound.jpg", 0, 1);
    struct ran ran;
    unsigned long most =
        watched_run(&ran, (const char *const[]){"hash", "--json", "-j2", "broken", NULL});
    assert_code(&ran, 3);
    assert_each_answered(&ran, "broken");
    assert_true(reported(ran.err, "broken/grey-60000.png"));        /* 3.6 Gpx: over --max-pixels */
    assert_true(reported(ran.err, "broken/interlaced-16-bit.png")); /* 1.1 GB at once */
    assert_true(hashed(ran.out, "broken/zz-sound.jpg"));
    ran_free(&ran);
#ifndef UNLIMITED_WORKERS
    assert_in_range(most, 1, 512u << 20);
#else
    (void)most;
#endif
}

static void bombs_in_little_memory(void **state)
{
    (void)state;
    make_bombs("broken");
    struct ran ran;
    unsigned long most = watched_run(
        &ran, (const char *const[]){"hash", "--json", "--max-memory", "128M", "broken", NULL});
    assert_code(&ran, 3);
    assert_each_answered(&ran, "broken");
    ran_free(&ran);
#ifndef UNLIMITED_WORKERS
    assert_in_range(most, 1, 128u << 20);
#else
    (void)most;
#endif
}

/* ---- what a folder can hold beside pictures ---- */

static void loops_end(void **state)
{
    (void)state;
    make_folder("tree");
    make_folder("tree/a");
    keep_drawing("tree/a/one.jpg", 0, 1);
    assert_int_equal(symlink("..", "tree/a/up"), 0);
    assert_int_equal(symlink("../tree", "tree/self"), 0);
    assert_int_equal(symlink("again", "tree/again"), 0);
    assert_int_equal(symlink("nowhere", "tree/dangling.jpg"), 0);
    struct ran ran = doppel("hash", "--json", "tree");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
    ran = doppel("hash", "--json", "--follow", "tree");
    assert_true(ran.code == 0 || ran.code == 3); /* links that lead nowhere may be said */
    assert_int_equal(count_lines(ran.out, "one.jpg"), 1);
    ran_free(&ran);
}

static void unreadable_files_are_reported(void **state)
{
    (void)state;
    make_folder("pics");
    make_folder("pics/locked");
    keep_drawing("pics/secret.jpg", 0, 1);
    keep_drawing("pics/open.jpg", 5, 1);
    keep_drawing("pics/locked/inside.jpg", 7, 1);
    assert_int_equal(chmod("pics/secret.jpg", 0) | chmod("pics/locked", 0), 0);
    const struct setting powerless = {.powerless = true};
    struct ran ran = doppel_with(&powerless, "hash", "--json", "pics");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "pics/secret.jpg"));
    assert_true(reported(ran.err, "pics/locked"));
    assert_has(ran.err, "ermission denied");
    assert_int_equal(count_lines(ran.out, "pics/open.jpg"), 1);
    ran_free(&ran);
}

static void odd_names_are_shown_safely(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a\nb.jpg", 0, 1);
    copy_file("pics/a\nb.jpg", "pics/bad-\xff\xfe.jpg");
    copy_file("pics/a\nb.jpg", "pics/\033[31mred.jpg");
    copy_file("pics/a\nb.jpg", "pics/-q");
    struct ran ran = doppel("scan", "--json", "pics");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, ""), 1);
    assert_has(ran.out, "a\\nb.jpg");
    assert_has(ran.out, "bad-\xef\xbf\xbd");
    assert_has(ran.out, "\"path_base64\":\"cGljcy9iYWQt//4uanBn\"");
    assert_lacks(ran.out, "\033");
    ran_free(&ran);
    ran = doppel("scan", "pics");
    assert_code(&ran, 0);
    assert_lacks(ran.out, "\033");
    assert_lacks(ran.out, "a\nb");
    ran_free(&ran);
}

static void pipes_and_devices_are_not_read(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    assert_int_equal(mkfifo("pics/fifo.jpg", 0600), 0);
    struct ran ran = doppel("hash", "--json", "pics");
    assert_true(ran.code == 0 || ran.code == 3);
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
    ran = doppel("hash", "--json", "pics/fifo.jpg", "/dev/zero", "pics/a.jpg");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "pics/fifo.jpg"));
    assert_true(reported(ran.err, "/dev/zero"));
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
}

static void a_missing_path_is_reported(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    copy_file("pics/a.jpg", "pics/b.jpg");
    struct ran ran = doppel("scan", "--json", "nowhere", "pics");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "nowhere"));
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(truncated_files),
        IN_SANDBOX(liars),
        IN_SANDBOX(odd_texts),
        IN_SANDBOX(bombs),
        IN_SANDBOX(bombs_in_little_memory),
        IN_SANDBOX(loops_end),
        IN_SANDBOX(unreadable_files_are_reported),
        IN_SANDBOX(odd_names_are_shown_safely),
        IN_SANDBOX(pipes_and_devices_are_not_read),
        IN_SANDBOX(a_missing_path_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
