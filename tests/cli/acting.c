/* Duplicates to act on, and how a folder looks before and after. */
#include "acting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include "command.h"

void write_words(const char *path, unsigned seed)
{
    char text[2048] = "";
    size_t used = 0;
    uint32_t random = seed * 7919 + 1;
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "word%u ",
                                 (unsigned)(next_random(&random) % 100000));
    write_file(path, text, used);
}

void write_pairs(const char *one, const char *other, unsigned count)
{
    char path[64];
    make_folder(one);
    make_folder(other);
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%03u.txt", one, i);
        write_words(path, i);
        snprintf(path, sizeof path, "%s/%03u.txt", other, i);
        write_words(path, i);
    }
}

/* A time of its own, so that what comes back can be told from what is new. */
static void age(const char *path, time_t seconds)
{
    struct timespec times[2] = {{seconds, 123456789}, {seconds, 123456789}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

void make_doubles(void)
{
    static const struct {
        const char *path;
        unsigned seed;
    } files[] = {{"docs/a.txt", 1}, {"docs/b.txt", 1}, {"docs/d.txt", 2},
                 {"docs/e.txt", 2}, {"docs/f.txt", 3}, {"docs/sub/c.txt", 1}};
    make_folder("docs");
    make_folder("docs/sub");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_words(files[i].path, files[i].seed);
        age(files[i].path, 1000000000 + (time_t)i);
    }
    assert_int_equal(chmod("docs/b.txt", 0640), 0);
}

char *listing_of(const char *folder)
{
    char command[512], *text = NULL;
    size_t size, got;
    char block[4096];
    snprintf(
        command, sizeof command,
        "cd '%s' && find . -mindepth 1 -printf '%%P %%y %%s %%m %%l' \\( -type d -printf '\\n' "
        "-o -printf ' %%T@\\n' \\) | LC_ALL=C sort && find . -type f -exec cksum {} + | "
        "LC_ALL=C sort",
        folder);
    FILE *out = open_memstream(&text, &size), *in = popen(command, "r");
    assert_non_null(in);
    while ((got = fread(block, 1, sizeof block, in)))
        fwrite(block, 1, got, out);
    assert_int_equal(pclose(in), 0);
    fclose(out);
    return text;
}

void assert_listing(const char *folder, const char *wanted)
{
    char *now = listing_of(folder);
    assert_string_equal(now, wanted);
    free(now);
}

void act_on_docs(const char *action)
{
    bool moves = strcmp(action, "move-to") == 0;
    struct ran ran = doppel("scan", "docs", "--yes", "--action", action, moves ? "../away" : NULL);
    assert_code(&ran, 0);
    ran_free(&ran);
}

bool same_inode(const char *a, const char *b)
{
    struct stat of_a, of_b;
    assert_int_equal(stat(a, &of_a), 0);
    assert_int_equal(stat(b, &of_b), 0);
    return of_a.st_ino == of_b.st_ino;
}
