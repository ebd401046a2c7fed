/* Files that a library knows by a digest of others' alone: the published digests of "abc". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "intake/exact_digests.h"

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
    assert_int_equal(doppel_library_add_exact(
                         library, &(struct doppel_exact_digest){known[which].algorithm, digest, 0},
                         &id, &added, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    return id;
}

/* Digest a file of these bytes, in the ways that the library asks for. */
static void digest(struct doppel_library *library, const char *bytes, size_t size,
                   struct doppel_exact_digests *out)
{
    struct doppel_digest quick, wanted = doppel_digest_bytes(bytes, size);
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(doppel_library_exact_kinds(library, &out->kinds, NULL), DOPPEL_OK);
    assert_int_equal(exact_digest_fd(fileno(file), &quick, out, NULL), DOPPEL_OK);
    assert_memory_equal(&quick, &wanted, sizeof quick);
    fclose(file);
}

static uint64_t find(struct doppel_library *library, const char *text)
{
    struct doppel_exact_digests digests;
    uint64_t ids[DOPPEL_EXACT_KINDS] = {77, 77, 77};
    digest(library, text, strlen(text), &digests);
    assert_int_equal(doppel_library_by_any_exact(library, &digests, ids, NULL), DOPPEL_OK);
    return ids[0] ? ids[0] : ids[1] ? ids[1] : ids[2];
}

/* Each algorithm on its own; of several the first that has the file tells. */
static void each_digest_finds_its_item(void **state)
{
    (void)state;
    struct doppel_library *library = open_new();
    assert_int_equal(find(library, "abc"), 0);
    for (size_t i = sizeof known / sizeof *known; i-- > 0;) {
        uint64_t id = add(library, i);
        assert_int_equal(find(library, "abc"), id);
        assert_int_equal(find(library, "abd"), 0);
    }
    doppel_library_close(library);
}

/* FIPS 180: a million times "a", which takes more than one read. */
static void large_files_come_in_pieces(void **state)
{
    (void)state;
    static const char hex[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    enum { SIZE = 1000000 };
    struct doppel_exact_digests digests;
    uint8_t wanted[32];
    char *bytes = malloc(SIZE);
    struct doppel_library *library = open_new();
    assert_non_null(bytes);
    memset(bytes, 'a', SIZE);
    add(library, 2);
    digest(library, bytes, SIZE, &digests);
    assert_int_equal(digests.kinds, 1u << DOPPEL_EXACT_SHA256);
    assert_int_equal(doppel_hex_decode(hex, wanted, sizeof wanted), DOPPEL_OK);
    assert_memory_equal(digests.bytes[DOPPEL_EXACT_SHA256], wanted, sizeof wanted);
    free(bytes);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_digest_finds_its_item, enter, leave),
        cmocka_unit_test_setup_teardown(large_files_come_in_pieces, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
