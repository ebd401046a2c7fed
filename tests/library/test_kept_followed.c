/* A reader that stays follows what others write: it neither reads the library again nor holds a
 * table of it, so that the same changes cost it as much beside ten times as many items. */
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/library/fixture.h"
#include "tests/library/kept_checks.h"
#include "tests/library/kept_kinds.h"

/* The slack is what a search of a larger table keeps for the next one: 23 bytes an item. */
enum { FEW = 800, MANY = 12000, ROUNDS = 30, A_ROUND = 4, SLACK_BYTES = 256 << 10 };

static void make_library(const struct kept_kind *kind, const char *folder, uint64_t items)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error = {0};
    uint64_t id;
    kept_prepare(kind, library);
    for (uint64_t i = 0; i < items; i++)
        if (kind->put(kind, library, i, &id, &error))
            fail_msg("%s: %s", kind->name, error.message);
    commit(library);
    for (size_t i = 0; i < kind->table_count; i++)
        assert_int_equal(codes_make_again(library, kind->tables[i], NULL), DOPPEL_OK);
    doppel_library_close(library);
}

/* Some come, the first of them goes again; now and then all that waits becomes a segment. */
static void write_round(const struct kept_kind *kind, const char *directory, uint64_t first,
                        bool flush)
{
    struct doppel_library *library;
    uint64_t ids[A_ROUND];
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        bool done = !doppel_library_open(directory, NULL, &library, NULL);
        for (uint64_t i = 0; done && i < A_ROUND; i++)
            done = !kind->put(kind, library, first + i, &ids[i], NULL);
        done = done && !doppel_library_remove(library, ids[0], NULL) &&
               !doppel_library_commit(library, NULL);
        for (size_t i = 0; done && flush && i < kind->table_count; i++)
            done = !library->codes[kind->tables[i]].kept ||
                   !doppel_store_index_flush(library->codes[kind->tables[i]].kept, NULL);
        _exit(!done);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* What this thread has read, by calls; what the kernel counts of a process has its children's. */
static uint64_t bytes_read(void)
{
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/thread-self/io", "r");
    if (!file || fscanf(file, "rchar: %llu", &bytes) != 1)
        bytes = 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Without the pages that SQLite keeps, of which there are at most 2 MB. */
static int64_t heap_bytes(void)
{
    return (int64_t)mallinfo2().uordblks - sqlite3_memory_used();
}

struct cost {
    uint64_t read;
    int64_t heap; /* at the end */
};

static struct cost follow(const struct kept_kind *kind, const char *folder, uint64_t items)
{
    const struct doppel_library_options reading = {.read_only = true, .no_rebuild = true};
    struct doppel_library *library;
    struct cost cost;
    make_library(kind, folder, items);
    const char *directory = strdup(directory_of(folder));
    const int64_t heap = heap_bytes();
    assert_int_equal(doppel_library_open(directory, &reading, &library, NULL), DOPPEL_OK);
    assert_int_equal(kept_count_found(kind, library, 0), 1);
    const uint64_t before = bytes_read();
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t first = MANY + round * A_ROUND;
        write_round(kind, directory, first, round % 10 == 9);
        assert_int_equal(kept_count_found(kind, library, first), 0);
        for (uint64_t i = 1; i < A_ROUND; i++)
            assert_int_equal(kept_count_found(kind, library, first + i), 1);
        assert_int_equal(kept_count_found(kind, library, round * 7 % items), 1);
    }
    cost = (struct cost){bytes_read() - before, heap_bytes() - heap};
    doppel_library_close(library);
    free((char *)directory);
    return cost;
}

static void test_reader(void **state)
{
    for (size_t i = 0; i < kept_kind_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-many", kept_kinds[i].name);
        struct cost few = follow(&kept_kinds[i], folder_path(*state, kept_kinds[i].name), FEW);
        struct cost many = follow(&kept_kinds[i], folder_path(*state, name), MANY);
        printf("%s: read %llu and %llu bytes, heap %lld and %lld\n", kept_kinds[i].name,
               (unsigned long long)few.read, (unsigned long long)many.read, (long long)few.heap,
               (long long)many.heap);
        assert_true(few.read > 0);
        assert_true(many.read < 3 * few.read);
        assert_true(many.heap < few.heap + SLACK_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_reader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
