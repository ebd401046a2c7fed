/* doppel ingest killed, out of room, and beside another: what was answered is there, nothing is
 * there twice. */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"

enum { KILLS = 20, RECORDS = 6000, WRITERS = 3, PATIENCE_S = 60 };

/* Answers that were printed whole, of which `count` were in the first `size` bytes. */
struct answered {
    off_t size;
    size_t count;
};

static size_t count_answers(const struct running *running, struct answered *known)
{
    struct stat stat;
    static char buffer[1 << 16];
    assert_int_equal(fstat(running->out, &stat), 0);
    while (known->size < stat.st_size) {
        ssize_t got = pread(running->out, buffer, sizeof buffer, known->size);
        assert_true(got > 0);
        for (ssize_t i = 0; i < got; i++)
            known->count += buffer[i] == '\n';
        known->size += got;
    }
    return known->count;
}

static char *list_of(const char *library)
{
    return doppel_prints(0, "list", "-L", library, "--json");
}

/* What follows `part` in a line; NULL: it is not there. Not strstr, which under a sanitizer
 * measures all that follows each time. */
static const char *after(const char *line, const char *end, const char *part)
{
    const char *at = memmem(line, (size_t)(end - line), part, strlen(part));
    return at ? at + strlen(part) : NULL;
}

/* The lines of a list as "record decision" where a record is the number `i` on line i; each number
 * once at most. @return how many there are */
static size_t index_list(const char *list, const char *lines[RECORDS])
{
    size_t count = 0;
    memset(lines, 0, RECORDS * sizeof *lines);
    for (const char *end; (end = strchr(list, '\n')); list = end + 1) {
        const char *record = after(list, end, "\"record\":\"r");
        assert_non_null(record);
        size_t number = strtoul(record, NULL, 10);
        assert_in_range(number, 0, RECORDS - 1);
        assert_null(lines[number]); /* nothing is there twice */
        lines[number] = list;
        count++;
    }
    return count;
}

/* What was answered is in the library, with the id that was told. */
static void assert_kept(const char *answers, const char *list)
{
    static const char *lines[RECORDS];
    index_list(list, lines);
    for (const char *end; (end = strchr(answers, '\n')); answers = end + 1) {
        unsigned long item;
        size_t number = strtoul(answers + strlen("{\"id\":\"r"), NULL, 10);
        const char *told = after(answers, end, "\"item\":");
        assert_non_null(lines[number]);
        if (!told)
            continue; /* it was there before */
        item = strtoul(told, NULL, 10);
        assert_int_equal(strtoul(lines[number] + strlen("{\"id\":"), NULL, 10), item);
    }
}

/* The decision of each record. */
static char *decisions_of(const char *list)
{
    static const char *lines[RECORDS];
    index_list(list, lines);
    char *out = calloc(RECORDS + 1, 1);
    assert_non_null(out);
    for (size_t i = 0; i < RECORDS; i++)
        out[i] = lines[i] ? *after(lines[i], strchr(lines[i], '\n'), "\"decision\":\"") : '-';
    return out;
}

static void killed_at_any_moment(void **state)
{
    (void)state;
    uint32_t seed = 9;
    char *records = make_records(RECORDS, 11);
    write_file("c.jsonl", records, strlen(records));
    char *undisturbed = doppel_prints(0, "ingest", "-L", "whole", "--jsonl", "c.jsonl");
    const struct setting piped = {.input = records};
    const char *const from_file[] = {"ingest", "-L", "library", "--jsonl", "c.jsonl", NULL};
    const char *const from_pipe[] = {"ingest", "-L", "library", "--jsonl", "-", NULL};
    size_t cut_short = 0;
    for (int round = 0; round < KILLS; round++) {
        struct running running =
            round % 2 ? command_start(&piped, from_pipe) : command_start(NULL, from_file);
        size_t wanted = next_random(&seed) % (RECORDS / 4) * (size_t)(1 + round / 5);
        double began = now_seconds();
        struct answered answered = {0};
        while (count_answers(&running, &answered) < wanted && now_seconds() - began < PATIENCE_S &&
               kill(running.pid, 0) == 0 && answered.count < RECORDS)
            usleep(100);
        kill(running.pid, SIGKILL);
        struct ran ran = command_end(&running);
        cut_short += count_lines(ran.out, "") < RECORDS;
        char *list = list_of("library");
        assert_kept(ran.out, list);
        free(list);
        ran_free(&ran);
    }
    assert_true(cut_short >= KILLS / 2);
    char *answers = doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl");
    assert_true(count_lines(answers, "\"replayed\":true") > 0);
    assert_int_equal(count_lines(answers, "\"new\""), count_lines(undisturbed, "\"new\""));
    free(answers);
    free(undisturbed);
    char *list = list_of("library"), *whole = list_of("whole");
    char *got = decisions_of(list), *expected = decisions_of(whole);
    assert_string_equal(got, expected); /* as if it had never been killed */
    free(got);
    free(expected);
    free(list);
    free(whole);
    free(records);
}

/* Files may grow to so many KiB: a clear sentence, what was answered is there, and it goes on with
 * room. */
static void a_full_disk_loses_no_answer(void **state)
{
    (void)state;
    const struct setting shell = {.program = "/bin/sh"};
    char *records = make_records(RECORDS, 12), command[512];
    write_file("c.jsonl", records, strlen(records));
    for (int kilobytes = 260; kilobytes <= 2080; kilobytes *= 2) { /* an empty library: 204 */
        snprintf(command, sizeof command,
                 "ulimit -f %d; exec " DOPPEL_PROGRAM
                 " ingest -L library --jsonl - < c.jsonl | cat",
                 kilobytes * 2);
        struct ran ran = doppel_with(&shell, "-c", command);
        assert_true(strstr(ran.err, "File too large") || strstr(ran.err, "limit on the size") ||
                    strstr(ran.err, "full"));
        if (ran.out[0]) { /* else the library that nothing came into may be gone again */
            char *list = list_of("library");
            assert_kept(ran.out, list);
            free(list);
        }
        ran_free(&ran);
    }
    char *answers = doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl");
    assert_int_equal(count_lines(answers, ""), RECORDS);
    free(answers);
    char *list = list_of("library");
    assert_int_equal(count_lines(list, ""), RECORDS);
    free(list);
    free(records);
}

/* Several at once take turns: each is answered all, and the library has each record once. */
static void several_at_once(void **state)
{
    (void)state;
    char *records = make_records(RECORDS, 13);
    write_file("c.jsonl", records, strlen(records));
    const struct setting piped = {.input = records};
    struct running running[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        running[i] = command_start(
            i ? &piped : NULL,
            (const char *const[]){"ingest", "-L", "library", "--jsonl", i ? "-" : "c.jsonl", NULL});
    size_t added = 0;
    char *answers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        struct ran ran = command_end(&running[i]);
        assert_code(&ran, 0);
        assert_int_equal(count_lines(ran.out, ""), RECORDS);
        added += count_lines(ran.out, "\"item\":") - count_lines(ran.out, "\"replayed\":");
        answers[i] = ran.out;
        free(ran.err);
    }
    assert_int_equal(added, RECORDS);
    char *list = list_of("library");
    assert_int_equal(count_lines(list, ""), RECORDS);
    for (int i = 0; i < WRITERS; i++) {
        assert_kept(answers[i], list);
        free(answers[i]);
    }
    /* Each is answered as it was the first time. */
    char *again = doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl");
    assert_int_equal(count_lines(again, "\"replayed\":true"), RECORDS);
    free(again);
    free(list);
    free(records);
}

/* Another program that holds the lock for longer than the patience. */
static void a_held_lock_is_said(void **state)
{
    (void)state;
    const struct setting shell = {.program = "/bin/sh"};
    char *records = make_records(20, 14);
    write_file("c.jsonl", records, strlen(records));
    free(doppel_prints(0, "ingest", "-L", "library", "--jsonl", "c.jsonl"));
    struct ran ran = doppel_with(
        &shell, "-c",
        "python3 -c 'import sqlite3, time; d = sqlite3.connect(\"library/catalogue.db\");"
        " d.isolation_level = None; d.execute(\"BEGIN IMMEDIATE\"); print(1, flush=True);"
        " time.sleep(600)' > held & until [ -s held ]; do sleep .05; done; " DOPPEL_PROGRAM
        " ingest -L library --jsonl c.jsonl; code=$?; kill $!; wait; exit $code");
    assert_code(&ran, 2);
    assert_has(ran.err, "another process");
    assert_string_equal(ran.out, "");
    ran_free(&ran);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(killed_at_any_moment),
        IN_SANDBOX(a_full_disk_loses_no_answer),
        IN_SANDBOX(several_at_once),
        IN_SANDBOX(a_held_lock_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
