/* The journal gives back what was written, whatever a crash did to its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/journal.h"

static char path[64];

static int enter(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/doppel-journal-%ld.jsonl", (long)getpid());
    unlink(path);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

#define WITH_JOURNAL(test) cmocka_unit_test_setup_teardown(test, enter, leave)

static struct journal_entry step_of(uint64_t run, uint64_t number)
{
    return (struct journal_entry){.run = run,
                                  .number = number,
                                  .action = DOPPEL_ACTION_SYMLINK,
                                  .path = "/a/\xff\n\"b",
                                  .kept = "/k\xc3\xa9pt",
                                  .target = "../k\xc3",
                                  .temporary = ".doppel-1",
                                  .stamp = {UINT64_MAX, 1, INT64_MAX, -5},
                                  .kept_stamp = {2, UINT64_MAX - 1, 4, 5},
                                  .mode = 0644,
                                  .owner = UINT32_MAX - 1,
                                  .group = 7};
}

static void assert_same_step(const struct journal_entry *a, const struct journal_entry *b)
{
    assert_string_equal(a->path, b->path);
    assert_string_equal(a->kept, b->kept);
    assert_string_equal(a->target, b->target);
    assert_string_equal(a->temporary, b->temporary);
    assert_memory_equal(&a->stamp, &b->stamp, sizeof a->stamp);
    assert_memory_equal(&a->kept_stamp, &b->kept_stamp, sizeof a->stamp);
    assert_int_equal(a->run, b->run);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->action, b->action);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->owner, b->owner);
    assert_int_equal(a->group, b->group);
}

/* Two runs of three steps. */
static void write_runs(void)
{
    for (uint64_t run = 1; run <= 2; run++) {
        struct journal *journal;
        struct journal_content content;
        uint64_t number;
        assert_int_equal(journal_open(path, &journal, &content, NULL), DOPPEL_OK);
        journal_content_free(&content);
        assert_int_equal(journal_begin(journal, DOPPEL_ACTION_SYMLINK, &number, NULL), DOPPEL_OK);
        assert_int_equal(number, run);
        for (uint64_t i = 1; i <= 3; i++) {
            struct journal_entry step = step_of(run, i);
            assert_int_equal(journal_step(journal, &step, NULL), DOPPEL_OK);
            if (i < 3)
                assert_int_equal(
                    journal_end(journal, &step, i == 1 ? STEP_DONE : STEP_FAILED, NULL), DOPPEL_OK);
        }
        assert_int_equal(journal_close(journal, NULL), DOPPEL_OK);
    }
}

static void gives_back_what_was_written(void **state)
{
    (void)state;
    static const enum step_end ends[] = {STEP_DONE, STEP_FAILED, STEP_OPEN};
    struct journal_content content;
    write_runs();
    assert_int_equal(journal_read(path, &content, NULL), DOPPEL_OK);
    assert_int_equal(content.runs.count, 2);
    assert_int_equal(content.steps.count, 6);
    assert_int_equal(content.unreadable, 0);
    for (uint64_t i = 0; i < 6; i++) {
        struct journal_entry wanted = step_of(1 + i / 3, 1 + i % 3);
        assert_same_step(&content.steps.items[i], &wanted);
        assert_int_equal(content.steps.items[i].end, ends[i % 3]);
    }
    journal_content_free(&content);
}

/* The first bytes of what was written. */
static void write_part(const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

static size_t count_lines(size_t bytes)
{
    size_t lines = 0;
    FILE *stream = fopen(path, "rb");
    for (int c; bytes-- && (c = fgetc(stream)) != EOF;)
        lines += c == '\n';
    fclose(stream);
    return lines;
}

/* Cut wherever: the whole lines are read, and what is written then is read too. */
static void survives_being_cut(void **state)
{
    (void)state;
    static char bytes[16384];
    write_runs();
    FILE *stream = fopen(path, "rb");
    size_t whole = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    assert_in_range(whole, 1000, sizeof bytes - 1);
    for (size_t size = 0; size <= whole; size += 37) {
        struct journal *journal;
        struct journal_content content;
        uint64_t run;
        write_part(bytes, size);
        size_t lines = count_lines(size);
        assert_int_equal(journal_open(path, &journal, &content, NULL), DOPPEL_OK);
        size_t steps = content.steps.count;
        journal_content_free(&content);
        assert_int_equal(journal_begin(journal, DOPPEL_ACTION_TRASH, &run, NULL), DOPPEL_OK);
        struct journal_entry step = step_of(run, 1);
        assert_int_equal(journal_step(journal, &step, NULL), DOPPEL_OK);
        assert_int_equal(journal_close(journal, NULL), DOPPEL_OK);
        assert_int_equal(count_lines(SIZE_MAX), lines + 2);
        assert_int_equal(journal_read(path, &content, NULL), DOPPEL_OK);
        assert_int_equal(content.unreadable, 0);
        assert_in_range(content.steps.count, steps, steps + 1);
        assert_same_step(&content.steps.items[content.steps.count - 1], &step);
        journal_content_free(&content);
    }
}

static void is_written_by_one(void **state)
{
    (void)state;
    struct journal *journal, *other;
    struct journal_content content;
    struct doppel_error error;
    assert_int_equal(journal_open(path, &journal, &content, NULL), DOPPEL_OK);
    journal_content_free(&content);
    assert_int_not_equal(journal_open(path, &other, &content, &error), DOPPEL_OK);
    assert_non_null(strstr(error.message, "another doppel"));
    assert_int_equal(journal_close(journal, NULL), DOPPEL_OK);
    assert_int_equal(journal_open(path, &journal, &content, NULL), DOPPEL_OK);
    journal_content_free(&content);
    assert_int_equal(journal_close(journal, NULL), DOPPEL_OK);
}

/* Steps that no run writes are not read: undo would do who knows what. */
static void believes_no_other_steps(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"run\":1,\"step\":1,\"action\":\"trash\",\"path\":\"a\",\"kept\":\"/b\",\"target\":\"/"
        "c\"}",
        "{\"run\":1,\"step\":1,\"action\":\"trash\",\"path\":\"/a\",\"kept\":\"\",\"target\":\"/"
        "c\"}",
        "{\"run\":1,\"step\":1,\"action\":\"trash\",\"path\":\"/a\",\"kept\":\"/"
        "b\",\"target\":\"c\"}",
        "{\"run\":1,\"step\":1,\"action\":\"trash\",\"path\":\"/a\",\"kept\":\"/b\"}",
        "{\"run\":1,\"step\":1,\"action\":\"hardlink\",\"path\":\"/a\",\"kept\":\"/b\","
        "\"temporary\":\"notes.txt\"}",
        "{\"run\":1,\"step\":1,\"action\":\"hardlink\",\"path\":\"/a\",\"kept\":\"/b\","
        "\"temporary\":\".doppel-/../notes\"}",
        "{\"run\":1,\"step\":1,\"action\":\"shred\",\"path\":\"/a\",\"kept\":\"/b\"}",
        "{\"run\":1,\"step\":1,\"end\":\"done\"}",
        "{\"run\":1,\"step\":[],\"action\":7,\"path\":{}}",
        "[1]",
        "",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct journal_content content;
        FILE *stream = fopen(path, "wb");
        fprintf(stream, "{\"run\":1,\"action\":\"trash\",\"time\":1}\n%s\n", lines[i]);
        fclose(stream);
        assert_int_equal(journal_read(path, &content, NULL), DOPPEL_OK);
        assert_int_equal(content.runs.count, 1);
        assert_int_equal(content.steps.count, 0);
        assert_int_equal(content.unreadable, 1);
        journal_content_free(&content);
    }
}

static void leaves_other_files_alone(void **state)
{
    (void)state;
    static const char text[] = "dear diary\n{}\n";
    struct journal *journal;
    struct journal_content content;
    char now[64] = "";
    FILE *stream = fopen(path, "wb");
    fputs(text, stream);
    fclose(stream);
    assert_int_equal(journal_open(path, &journal, &content, NULL), DOPPEL_E_FORMAT);
    stream = fopen(path, "rb");
    assert_int_equal(fread(now, 1, sizeof now, stream), strlen(text));
    fclose(stream);
    assert_string_equal(now, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_JOURNAL(gives_back_what_was_written), WITH_JOURNAL(survives_being_cut),
        WITH_JOURNAL(is_written_by_one),           WITH_JOURNAL(believes_no_other_steps),
        WITH_JOURNAL(leaves_other_files_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
