/* doppel index among writers and readers at once, and where files cannot be read. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CODES = 70000 };

static void write_codes(const char *path, size_t begin, size_t end)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = begin; i < end; i++)
        fprintf(file, "%016zx\n", i);
    fclose(file);
}

static void make_index(size_t count)
{
    write_codes("c.hex", 0, count);
    write_codes("q.hex", 0, 1);
    free(doppel_prints(0, "index", "build", "c.hex", "-o", "x.index"));
}

/* The only one. */
static char *segment_path(void)
{
    char *name = calloc(1, 512);
    FILE *list = popen("ls x.index/*.segment", "r");
    assert_non_null(fgets(name, 512, list));
    name[strcspn(name, "\n")] = 0;
    pclose(list);
    return name;
}

/* What this process may not read, or has no descriptor for, is not damaged. */
static void a_segment_that_cannot_be_read_is_kept(void **state)
{
    (void)state;
    const struct setting powerless = {.powerless = true};
    make_index(1000);
    char *segment = segment_path();
    assert_int_equal(chmod(segment, 0), 0);
    for (int repair = 0; repair < 2; repair++) {
        struct ran ran =
            doppel_with(&powerless, "index", "verify", "x.index", repair ? "--repair" : NULL);
        assert_code(&ran, 2);
        assert_has(ran.err, "Permission denied");
        assert_string_equal(ran.out, "");
        ran_free(&ran);
    }
    assert_int_equal(chmod(segment, 0644), 0);
    const struct setting shell = {.program = "/bin/sh"};
    struct ran ran = doppel_with(&shell, "-c",
                                 "for n in 4 5 6 7 8; do (ulimit -n $n; " DOPPEL_PROGRAM
                                 " index verify x.index --repair); done; true");
    assert_has(ran.err, "Too many open files");
    ran_free(&ran);
    assert_int_equal(access(segment, F_OK), 0);
    free(doppel_prints(0, "index", "verify", "x.index"));
    free(segment);
}

/* Segments that a writer merges away while they are checked are no damage. */
static void verify_goes_on_beside_a_writer(void **state)
{
    (void)state;
    const struct setting shell = {.program = "/bin/sh"};
    make_index(1000);
    struct ran ran = doppel_with(
        &shell, "-c",
        "check() { while [ -e x.index ] && ! [ -e done ]; do " DOPPEL_PROGRAM
        " index verify x.index > rows.$1"
        " || cat rows.$1; done; }\n"
        "check 1 & check 2 &\n"
        "for i in $(seq 60); do " DOPPEL_PROGRAM " index add x.index q.hex && " DOPPEL_PROGRAM
        " index compact x.index || echo failed; done\n"
        "touch done; wait");
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "");
    assert_string_equal(ran.out, "");
    ran_free(&ran);
    char *info = doppel_prints(0, "index", "info", "x.index", "--json");
    assert_has(info, "{\"codes\":1060,");
    free(info);
}

static void flip(const char *path, size_t at)
{
    size_t size;
    char *bytes = read_file(path, &size);
    assert_true(at < size);
    bytes[at] ^= 1;
    write_file(path, bytes, size);
    free(bytes);
}

/* Where the id 0x010203 stands in the log. */
static size_t place_of_id(const char *path)
{
    static const uint8_t id[] = {3, 2, 1, 0, 0, 0, 0, 0};
    size_t size;
    char *bytes = read_file(path, &size);
    const char *found = memmem(bytes, size, id, sizeof id);
    assert_non_null(found);
    size_t at = (size_t)(found - bytes);
    free(bytes);
    return at;
}

/* Each damage is said, whatever else there is. */
static void two_damages_are_both_said(void **state)
{
    (void)state;
    make_index(CODES);
    free(doppel_prints(0, "index", "remove", "x.index", "66051"));
    char *segment = segment_path();
    flip(segment, 100000);
    flip("x.index/index.db", place_of_id("x.index/index.db"));
    for (int repair = 0; repair < 2; repair++) {
        struct ran ran = doppel("index", "verify", "x.index", repair ? "--repair" : NULL);
        assert_code(&ran, 3);
        assert_has(ran.err, segment);
        assert_has(ran.err, repair ? "damaged records of the log were dropped"
                                   : "records of the log are damaged");
        ran_free(&ran);
    }
    free(doppel_prints(0, "index", "verify", "x.index"));
    free(segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_segment_that_cannot_be_read_is_kept),
        IN_SANDBOX(verify_goes_on_beside_a_writer),
        IN_SANDBOX(two_damages_are_both_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
