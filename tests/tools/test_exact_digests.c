/* Files that a library knows by a digest of others' alone: the published digests of "abc". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/exact_digests.h"
#include "tools/intake.h"

/* RFC 1321, FIPS 180. */
static const struct {
    enum doppel_exact algorithm;
    const char *hex;
} known[] = {
    {DOPPEL_EXACT_MD5, "900150983cd24fb0d6963f7d28e17f72"},
    {DOPPEL_EXACT_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {DOPPEL_EXACT_SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
};

static char folder[32];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/doppel-exact-XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") || system(command);
}

static struct doppel_file_stamp write_file(const char *path, const char *text)
{
    struct stat status;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(stat(path, &status), 0);
    return stamp_of(&status);
}

static struct doppel_library *open_new(void)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library;
    assert_int_equal(doppel_library_open("library", &options, &library, NULL), DOPPEL_OK);
    return library;
}

static uint64_t add(struct doppel_library *library, size_t which)
{
    uint8_t digest[32];
    uint64_t id;
    bool added;
    size_t size = doppel_exact_bytes(known[which].algorithm);
    assert_int_equal(doppel_hex_decode(known[which].hex, digest, size), DOPPEL_OK);
    assert_int_equal(
        doppel_library_add_exact(library, known[which].algorithm, digest, &id, &added, NULL),
        DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    return id;
}

static uint64_t find(struct doppel_library *library, const char *path,
                     const struct doppel_file_stamp *stamp)
{
    uint64_t id = 77;
    assert_int_equal(exact_find(library, path, stamp, &id, NULL), DOPPEL_OK);
    return id;
}

/* Each algorithm on its own; of several the first that has the file tells. */
static void each_digest_finds_its_item(void **state)
{
    (void)state;
    struct doppel_file_stamp stamp = write_file("abc", "abc"), other = write_file("abd", "abd");
    struct doppel_library *library = open_new();
    assert_int_equal(find(library, "abc", &stamp), 0);
    for (size_t i = sizeof known / sizeof *known; i-- > 0;) {
        uint64_t id = add(library, i);
        assert_int_equal(find(library, "abc", &stamp), id);
        assert_int_equal(find(library, "abd", &other), 0);
    }
    doppel_library_close(library);
}

static void files_that_are_not_what_they_were_are_not_found(void **state)
{
    (void)state;
    struct doppel_file_stamp stamp = write_file("abc", "abc");
    struct doppel_library *library = open_new();
    add(library, 0);
    assert_int_equal(find(library, "absent", &stamp), 0);
    stamp.mtime_ns++;
    assert_int_equal(find(library, "abc", &stamp), 0);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_digest_finds_its_item, enter, leave),
        cmocka_unit_test_setup_teardown(files_that_are_not_what_they_were_are_not_found, enter,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
