/* What `doppel scan` and `hash` know by their cache, and when they read again. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"

/* A file named as the cache by mistake is not set aside as a damaged one. */
static void an_image_is_no_cache(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    struct ran ran = doppel("scan", "--cache", "pics/a.jpg", "pics");
    assert_code(&ran, 0);
    assert_string_equal(ran.err, "doppel: going on without the cache: pics/a.jpg: not a cache of "
                                 "doppel, left alone\n"
                                 "doppel: no duplicates among 1 picture\n");
    ran_free(&ran);
    ran = doppel("hash", "pics/a.jpg");
    assert_code(&ran, 0);
    ran_free(&ran);
}

/* With a worker that cannot be started, only what is cached can be known. */
static void second_scan_needs_no_worker(void **state)
{
    (void)state;
    make_collection();
    char *first = doppel_prints(0, "scan", "--json", "pics");
    const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};
    struct ran second = doppel_with(&no_worker, "scan", "--json", "pics");
    assert_code(&second, 0);
    assert_string_equal(second.out, first);
    ran_free(&second);
    struct ran fresh = doppel_with(&no_worker, "scan", "--json", "--no-cache", "pics");
    assert_code(&fresh, 2);
    ran_free(&fresh);
    free(first);
}

static void a_renamed_file_is_known(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "scan", "--json", "pics"));
    assert_int_equal(rename("pics/tree.jpg", "pics/the tree.jpg"), 0);
    const struct setting no_worker = {.environment = {"DOPPEL_WORKER=/nonexistent"}};
    struct ran again = doppel_with(&no_worker, "scan", "--json", "pics");
    assert_code(&again, 0);
    assert_has(again.out, "pics/the tree.jpg");
    ran_free(&again);
}

static void a_changed_file_is_read_again(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "scan", "--json", "pics"));
    copy_file("pics/sea.jpg", "pics/tree.jpg");
    char *json = doppel_prints(0, "scan", "--json", "pics");
    assert_has(json, "pics/sea.jpg");
    assert_lacks(json, "tree-mirrored");
    free(json);
}

static void a_damaged_cache_is_begun_anew(void **state)
{
    (void)state;
    make_collection();
    char *first = doppel_prints(0, "scan", "--json", "--cache", "cache.db", "pics");
    size_t size;
    char *bytes = read_file("cache.db", &size);
    memset(bytes + size / 3, 0xa5, size / 3);
    write_file("cache.db", bytes, size);
    free(bytes);
    char *second = doppel_prints(0, "scan", "--json", "--cache", "cache.db", "pics");
    assert_string_equal(second, first);
    write_file("cache.db", "not a database at all, but long enough to be looked at", 54);
    char *third = doppel_prints(0, "scan", "--json", "--cache", "cache.db", "pics");
    assert_string_equal(third, first);
    free(first);
    free(second);
    free(third);
}

/* A cache that was filled with wider limits gives nothing that these refuse. */
static void limits_hold_for_the_cache_too(void **state)
{
    (void)state;
    make_folder("pics");
    keep_drawing("pics/a.jpg", 0, 1);
    free(doppel_prints(0, "hash", "pics"));
    free(doppel_prints(3, "hash", "--max-pixels", "1000", "pics"));
    free(doppel_prints(3, "hash", "--max-bytes", "1000", "pics"));
    free(doppel_prints(0, "hash", "pics"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_image_is_no_cache),          IN_SANDBOX(second_scan_needs_no_worker),
        IN_SANDBOX(a_renamed_file_is_known),       IN_SANDBOX(a_changed_file_is_read_again),
        IN_SANDBOX(a_damaged_cache_is_begun_anew), IN_SANDBOX(limits_hold_for_the_cache_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
