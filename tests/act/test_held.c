/* What is done to a duplicate when the files are not what they were, any more. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "act/held.h"
#include "intake/reader.h"
#include "../tools/tree.h"

static void put(const char *path, const void *data, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void put_text(const char *path, const char *text)
{
    put(path, text, strlen(text));
}

static void assert_text(const char *path, const char *wanted)
{
    char text[256] = "";
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    assert_string_equal(text, wanted);
}

static struct doppel_file_stamp stamp_at(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return doppel_file_stamp_of(&status);
}

static unsigned count_names(void)
{
    unsigned count = 0;
    FILE *stream = popen("ls -A | wc -l", "r");
    assert_non_null(stream);
    assert_int_equal(fscanf(stream, "%u", &count), 1);
    pclose(stream);
    return count;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

/* ---- opening ---- */

static void opens_what_it_was(void **state)
{
    (void)state;
    struct held_file held;
    put_text("a", "text");
    struct doppel_file_stamp stamp = stamp_at("a");
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_OK);
    assert_true(held_unchanged(&held));
    held_close(&held);
    struct timespec times[2] = {{0, UTIME_OMIT}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_E_CHANGED);
    put_text("b", "text");
    assert_int_equal(rename("b", "a"), 0); /* another file of the same bytes */
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_E_CHANGED);
    assert_int_equal(unlink("a"), 0);
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(symlink("c", "a"), 0);
    put_text("c", "text");
    stamp = stamp_at("c");
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_E_CHANGED);
    assert_int_equal(unlink("a"), 0);
    assert_int_equal(mkfifo("a", 0600), 0); /* does not wait for a writer */
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_E_CHANGED);
}

/* Against memcmp, around the size of a block. */
static void compares_every_byte(void **state)
{
    (void)state;
    enum { BLOCK = 256 * 1024 };
    static const size_t sizes[] = {0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 7};
    static char data[2 * BLOCK + 7];
    struct held_file a, b;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 2654435761u >> 11);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        const size_t places[] = {0, size / 2, size - 1};
        put("a", data, size);
        put("b", data, size);
        assert_int_equal(held_open(NULL, "a", NULL, &a, NULL), DOPPEL_OK);
        assert_int_equal(held_open(NULL, "b", NULL, &b, NULL), DOPPEL_OK);
        assert_int_equal(held_same_bytes(&a, &b, NULL), DOPPEL_OK);
        held_close(&b);
        for (size_t j = 0; size && j < 3; j++) {
            data[places[j]] ^= 1;
            put("b", data, size);
            data[places[j]] ^= 1;
            assert_int_equal(held_open(NULL, "b", NULL, &b, NULL), DOPPEL_OK);
            assert_int_equal(held_same_bytes(&a, &b, NULL), DOPPEL_E_CHANGED);
            held_close(&b);
        }
        held_close(&a);
    }
}

/* ---- links ---- */

enum link { HARD, SYMBOLIC };

static enum doppel_status do_link(enum link link, const struct held_file *twin,
                                  const struct held_file *kept)
{
    return link == HARD ? act_hardlink(twin, kept, ".t", NULL)
                        : act_symlink(twin, kept, ".t", "kept", NULL);
}

/* Both files are open when this happens to them. */
static void replace_twin(void)
{
    put_text("new", "newer");
    assert_int_equal(rename("new", "twin"), 0);
}
static void write_to_twin(void)
{
    put_text("twin", "other");
}
static void replace_kept(void)
{
    put_text("new", "newer");
    assert_int_equal(rename("new", "kept"), 0);
}
static void remove_kept(void)
{
    assert_int_equal(unlink("kept"), 0);
}
static void remove_twin(void)
{
    assert_int_equal(unlink("twin"), 0);
}
static void link_twin_elsewhere(void)
{
    assert_int_equal(unlink("twin"), 0);
    assert_int_equal(symlink("/etc/passwd", "twin"), 0);
}
static void take_temporary_name(void)
{
    put_text(".t", "mine");
}

static void leaves_what_changes_meanwhile(void **state)
{
    (void)state;
    static const struct {
        void (*happens)(void);
        const char *twin, *kept; /* what is there then; NULL: nothing that is looked at */
        unsigned names;
    } cases[] = {
        {replace_twin, "newer", "text", 2},       {write_to_twin, "other", "text", 2},
        {replace_kept, "text", "newer", 2},       {remove_kept, "text", NULL, 1},
        {remove_twin, NULL, "text", 1},           {link_twin_elsewhere, NULL, "text", 2},
        {take_temporary_name, "text", "text", 3},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct held_file twin, kept;
        put_text("kept", "text");
        put_text("twin", "text");
        assert_int_equal(held_open(NULL, "twin", NULL, &twin, NULL), DOPPEL_OK);
        assert_int_equal(held_open(NULL, "kept", NULL, &kept, NULL), DOPPEL_OK);
        cases[i / 2].happens();
        assert_int_not_equal(do_link((enum link)(i % 2), &twin, &kept), DOPPEL_OK);
        held_close(&twin);
        held_close(&kept);
        if (cases[i / 2].twin)
            assert_text("twin", cases[i / 2].twin);
        if (cases[i / 2].kept)
            assert_text("kept", cases[i / 2].kept);
        assert_int_equal(count_names(), cases[i / 2].names);
        assert_int_equal(system("rm -f kept twin new .t"), 0);
    }
}

/* The way that a symlink tells leads there: the file system is the oracle. */
static void tells_the_way(void **state)
{
    (void)state;
    static const char *const paths[] = {"x", "a/x", "a/b/x", "a/b/y", "a/bc/x", "c/x", "c/l/x"};
    enum { PATHS = sizeof paths / sizeof *paths };
    assert_int_equal(system("mkdir -p a/b a/bc c && ln -s ../a/b c/l"), 0);
    for (size_t i = 0; i < PATHS; i++)
        for (size_t j = 0; j < PATHS; j++) {
            char *text = link_text(paths[i], paths[j]);
            struct stat of_link, of_file;
            if (strcmp(paths[i], paths[j]) == 0) {
                free(text);
                continue;
            }
            put_text(paths[j], "text");
            unlink("link");
            char at[64];
            snprintf(at, sizeof at, "%.*slink",
                     (int)(strrchr(paths[i], '/') ? strrchr(paths[i], '/') - paths[i] + 1 : 0),
                     paths[i]);
            unlink(at);
            assert_non_null(text);
            assert_int_not_equal(text[0], '/');
            assert_int_equal(symlink(text, at), 0);
            assert_int_equal(stat(at, &of_link), 0);
            assert_int_equal(stat(paths[j], &of_file), 0);
            assert_int_equal(of_link.st_ino, of_file.st_ino);
            unlink(at);
            free(text);
        }
    assert_null(link_text("gone/x", "x"));
}

/* ---- moving ---- */

static void moves_to_where_nothing_is(void **state)
{
    (void)state;
    struct held_file held;
    put_text("a", "text");
    put_text("b", "mine");
    assert_int_equal(held_open(NULL, "a", NULL, &held, NULL), DOPPEL_OK);
    assert_int_not_equal(act_move(&held, "b", ".t", NULL), DOPPEL_OK);
    assert_text("b", "mine");
    assert_text("a", "text");
    put_text("new", "newer");
    assert_int_equal(rename("new", "a"), 0);
    assert_int_equal(act_move(&held, "c", ".t", NULL), DOPPEL_E_CHANGED);
    assert_text("a", "newer");
    held_close(&held);
    assert_int_equal(held_open(NULL, "a", NULL, &held, NULL), DOPPEL_OK);
    assert_int_equal(act_move(&held, "c", ".t", NULL), DOPPEL_OK);
    held_close(&held);
    assert_text("c", "newer");
    assert_int_equal(count_names(), 2);
}

/* Onto another file system it takes all it has along. */
static void moves_far(void **state)
{
    (void)state;
    char folder[] = "/dev/shm/doppel-act-XXXXXX", target[64], value[8] = "";
    struct stat here, there, was;
    struct held_file held;
    if (!mkdtemp(folder))
        skip();
    assert_int_equal(stat(".", &here), 0);
    assert_int_equal(stat(folder, &there), 0);
    snprintf(target, sizeof target, "%s/b", folder);
    put_text("a", "text");
    bool tagged = setxattr("a", "user.tag", "red", 3, 0) == 0;
    struct timespec times[2] = {{900, 5}, {1000, 7}};
    assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
    assert_int_equal(chmod("a", 0604), 0);
    assert_int_equal(stat("a", &was), 0);
    assert_int_equal(held_open(NULL, "a", NULL, &held, NULL), DOPPEL_OK);
    if (here.st_dev != there.st_dev)
        assert_int_not_equal(act_move(&held, target, NULL, NULL), DOPPEL_OK);
    put_text(target, "mine");
    assert_int_not_equal(act_move(&held, target, ".t", NULL), DOPPEL_OK);
    assert_text(target, "mine");
    assert_int_equal(unlink(target), 0);
    assert_int_equal(act_move(&held, target, ".t", NULL), DOPPEL_OK);
    held_close(&held);
    assert_text(target, "text");
    assert_int_equal(stat(target, &there), 0);
    assert_int_equal(there.st_mode, was.st_mode);
    assert_int_equal(there.st_mtim.tv_sec, 1000);
    assert_int_equal(there.st_mtim.tv_nsec, 7);
    if (tagged && getxattr(target, "user.tag", value, sizeof value - 1) > 0)
        assert_string_equal(value, "red");
    assert_int_equal(count_names(), 0);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
}

static void finds_free_names(void **state)
{
    (void)state;
    struct free_name wanted = {".", "a.tar.gz", "info", ".trashinfo"};
    assert_int_equal(mkdir("info", 0700), 0);
    put_text("a.tar.gz", "");
    put_text("info/a.tar.2.gz.trashinfo", "");
    char *path = find_free_path(&wanted);
    assert_string_equal(path, "./a.tar.3.gz");
    free(path);
    wanted.name = ".hidden";
    put_text(".hidden", "");
    path = find_free_path(&wanted);
    assert_string_equal(path, "./.hidden.2");
    free(path);
    char name[256] = "";
    for (size_t i = 0; i < 251; i += 3)
        memcpy(name + i, "\u65e5", 4);
    strcpy(name + 249, ".jpeg");
    wanted.name = name;
    path = find_free_path(&wanted);
    assert_in_range(strlen(path + 2) + strlen(".trashinfo"), 200, 255);
    assert_string_equal(path + strlen(path) - 5, ".jpeg");
    assert_int_equal(strlen(path + 2) % 3, 5 % 3); /* no character is cut */
    free(path);
}

/* ---- trash ---- */

static bool fdopen_fails;

/* In place of the one of libc, in this program. */
FILE *fdopen(int fd, const char *mode)
{
    char name[64];
    if (fdopen_fails) {
        errno = ENOMEM;
        return NULL;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return fopen(name, mode);
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void leaves_no_note_of_what_was_not_moved(void **state)
{
    (void)state;
    struct trash_can trash = {.folder = "can"};
    assert_int_equal(mkdir("can", 0700), 0);
    assert_int_equal(mkdir("can/files", 0700), 0);
    assert_int_equal(mkdir("can/info", 0700), 0);
    put_text("a", "text");
    const struct doppel_file_stamp stamp = stamp_at("a");
    struct held_file held;
    assert_int_equal(held_open(NULL, "a", &stamp, &held, NULL), DOPPEL_OK);
    char *target = trash_target(&trash, "/a");
    unsigned before = count_descriptors();
    fdopen_fails = true;
    assert_int_equal(act_trash(&held, &trash, "/a", target, NULL), DOPPEL_E_IO);
    fdopen_fails = false;
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(access("can/info/a.trashinfo", F_OK), -1);
    assert_text("a", "text");
    held_close(&held);
    free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(opens_what_it_was),
        IN_FOLDER(compares_every_byte),
        IN_FOLDER(leaves_what_changes_meanwhile),
        IN_FOLDER(tells_the_way),
        IN_FOLDER(moves_to_where_nothing_is),
        IN_FOLDER(moves_far),
        IN_FOLDER(finds_free_names),
        IN_FOLDER(leaves_no_note_of_what_was_not_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
