/* Compressed corpora: members, frames, wrong names, damage at every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <pthread.h>

#include "files.h"

typedef void packer(struct bytes *out, const void *data, size_t size);
static packer *const packers[] = {bytes_add_gzip, bytes_add_zstd};
enum { PACKERS = 2, LINES = 400 };

static void add_line(struct bytes *plain, size_t number, uint64_t *seed)
{
    char line[256];
    snprintf(line, sizeof line, "{\"id\":%zu,\"text\":\"%llx %llx\"}\n", number,
             (unsigned long long)random_next(seed), (unsigned long long)random_next(seed));
    bytes_add_text(plain, line);
}

static struct bytes make_lines(size_t count)
{
    struct bytes plain = {0};
    uint64_t seed = 9;
    for (size_t i = 0; i < count; i++)
        add_line(&plain, i, &seed);
    return plain;
}

/* Records 0 to count - 1, where they are in the plain text. */
static void check_lines(const struct bytes *plain, const struct seen_list *list, size_t count)
{
    assert_true(list->count >= count);
    for (size_t i = 0; i < count; i++) {
        const struct seen *seen = &list->items[i];
        assert_int_equal(seen->status, DOPPEL_OK);
        assert_int_equal(seen->line, i + 1);
        assert_int_equal(strtoul(seen->id, NULL, 10), i);
        char head[64];
        int size = snprintf(head, sizeof head, "{\"id\":%zu,", i);
        assert_memory_equal(plain->data + seen->offset, head, (size_t)size);
        assert_int_equal(plain->data[seen->offset + seen->size], '\n');
    }
}

static struct seen_list read_bytes(const char *folder, const char *name, const struct bytes *packed)
{
    char *path = path_in(folder, name);
    write_file(path, packed->data, packed->size);
    struct seen_list list = read_path(path);
    free(path);
    return list;
}

static void test_members_and_wrong_names(void **state)
{
    (void)state;
    static const char *const names[] = {"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"};
    char *folder = folder_make();
    struct bytes plain = make_lines(LINES);
    for (size_t p = 0; p < PACKERS; p++)
        for (size_t parts = 1; parts <= 5; parts += 2) {
            /* Cut anywhere: a line may lie in two members. */
            struct bytes packed = {0};
            for (size_t i = 0; i < parts; i++) {
                size_t begin = plain.size * i / parts, end = plain.size * (i + 1) / parts;
                packers[p](&packed, plain.data + begin, end - begin);
            }
            struct seen_list list = read_bytes(folder, names[parts / 2], &packed);
            assert_int_equal(list.count, LINES);
            check_lines(&plain, &list, LINES);
            seen_free(&list);
            bytes_free(&packed);
        }
    struct seen_list list = read_bytes(folder, "plain.jsonl.gz", &plain);
    assert_int_equal(list.count, LINES);
    seen_free(&list);
    bytes_free(&plain);
    folder_remove(folder);
}

static void test_empty_members_and_padding(void **state)
{
    (void)state;
    char *folder = folder_make();
    struct bytes plain = make_lines(3);
    for (size_t p = 0; p < PACKERS; p++) {
        struct bytes packed = {0};
        packers[p](&packed, "", 0);
        packers[p](&packed, plain.data, plain.size);
        packers[p](&packed, "", 0);
        if (p == 0)
            bytes_add(&packed, "\0\0\0\0\0", 5);
        struct seen_list list = read_bytes(folder, "a", &packed);
        assert_int_equal(list.count, 3);
        check_lines(&plain, &list, 3);
        seen_free(&list);
        bytes_free(&packed);
    }
    bytes_free(&plain);
    folder_remove(folder);
}

/* Whole lines first, then one record that says what is wrong. */
static void check_damaged(const struct bytes *plain, const struct seen_list *list)
{
    assert_true(list->count >= 1);
    const struct seen *last = &list->items[list->count - 1];
    assert_int_not_equal(last->status, DOPPEL_OK);
    assert_true(last->message[0] != '\0');
    check_lines(plain, list, list->count - 1);
    assert_int_equal(last->line, list->count);
}

static void test_files_cut_short(void **state)
{
    (void)state;
    char *folder = folder_make();
    struct bytes plain = make_lines(LINES);
    for (size_t p = 0; p < PACKERS; p++) {
        struct bytes packed = {0};
        packers[p](&packed, plain.data, plain.size);
        size_t whole = packed.size, most = 0;
        for (packed.size = 8; packed.size < whole; packed.size += 1 + whole / 200) {
            struct seen_list list = read_bytes(folder, "a.jsonl.gz", &packed);
            check_damaged(&plain, &list);
            assert_non_null(strstr(list.items[list.count - 1].message, "cut short"));
            most = list.count > most ? list.count : most;
            seen_free(&list);
        }
        if (p == 0) /* zstd's block is larger than this */
            assert_true(most > LINES / 2);
        bytes_free(&packed);
    }
    bytes_free(&plain);
    folder_remove(folder);
}

/* A byte changed: what is read is right as far as it goes, or the checksum at the end tells. */
static void test_damaged_files(void **state)
{
    (void)state;
    char *folder = folder_make();
    struct bytes plain = make_lines(LINES);
    for (size_t p = 0; p < PACKERS; p++) {
        struct bytes packed = {0};
        packers[p](&packed, plain.data, plain.size);
        for (size_t at = 4; at < packed.size; at += 1 + packed.size / 150) {
            packed.data[at] ^= 0x55;
            struct seen_list list = read_bytes(folder, "a.jsonl", &packed);
            bool told = false;
            for (size_t i = 0; i < list.count; i++)
                told = told || list.items[i].status;
            bool in_header = at < 10; /* of gzip: name, time and system do not matter */
            assert_true(told || in_header);
            seen_free(&list);
            packed.data[at] ^= 0x55;
        }
        bytes_free(&packed);
    }
    bytes_free(&plain);
    folder_remove(folder);
}

static void test_something_else_behind(void **state)
{
    (void)state;
    char *folder = folder_make();
    struct bytes plain = make_lines(3);
    for (size_t p = 0; p < PACKERS; p++) {
        struct bytes packed = {0};
        packers[p](&packed, plain.data, plain.size);
        bytes_add_text(&packed, "garbage");
        struct seen_list list = read_bytes(folder, "a", &packed);
        assert_int_equal(list.count, 4);
        check_damaged(&plain, &list);
        seen_free(&list);
        bytes_free(&packed);
    }
    bytes_free(&plain);
    folder_remove(folder);
}

static void test_other_packings_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *says;
    } cases[] = {{"\xFD"
                  "7zXZ.....",
                  "xz -dc"},
                 {"BZh91AY", "bzip2 -dc"},
                 {"PK\x03\x04....", "unzip -p"}};
    char *folder = folder_make();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes = {0};
        bytes_add_text(&bytes, cases[i].bytes);
        struct seen_list list = read_bytes(folder, "a.jsonl", &bytes);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.items[0].status, DOPPEL_E_UNSUPPORTED);
        assert_non_null(strstr(list.items[0].message, cases[i].says));
        seen_free(&list);
        bytes_free(&bytes);
    }
    folder_remove(folder);
}

struct writing {
    const char *path;
    const struct bytes *bytes;
};

static void *write_slowly(void *argument)
{
    const struct writing *writing = argument;
    FILE *file = fopen(writing->path, "wb");
    for (size_t at = 0; file && at < writing->bytes->size; at += 777) {
        size_t left = writing->bytes->size - at;
        fwrite(writing->bytes->data + at, 1, left < 777 ? left : 777, file);
        fflush(file);
    }
    if (file)
        fclose(file);
    return NULL;
}

static void test_pipes(void **state)
{
    (void)state;
    char *folder = folder_make(), *path = path_in(folder, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    struct bytes plain = make_lines(LINES);
    for (size_t p = 0; p <= PACKERS; p++) {
        struct bytes packed = {0};
        (p < PACKERS ? packers[p] : bytes_add)(&packed, plain.data, plain.size);
        struct writing writing = {path, &packed};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_slowly, &writing), 0);
        struct seen_list list = read_path(path);
        pthread_join(thread, NULL);
        assert_int_equal(list.count, LINES);
        check_lines(&plain, &list, LINES);
        seen_free(&list);
        bytes_free(&packed);
    }
    bytes_free(&plain);
    free(path);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_and_wrong_names),
        cmocka_unit_test(test_empty_members_and_padding),
        cmocka_unit_test(test_files_cut_short),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_something_else_behind),
        cmocka_unit_test(test_other_packings_are_told),
        cmocka_unit_test(test_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
