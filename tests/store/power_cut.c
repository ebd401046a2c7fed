/* What a power cut leaves of a folder in which a process with power.c worked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/store/power_cut.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAMES = 1024 };

struct name {
    unsigned long long lasting, present; /* inodes; 0: not there */
    char text[256];
};

struct names {
    size_t count;
    struct name items[MOST_NAMES];
};

static struct name *name_at(struct names *names, const char *text)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i].text, text) == 0)
            return &names->items[i];
    assert_true(names->count < MOST_NAMES);
    struct name *name = &names->items[names->count++];
    *name = (struct name){0};
    snprintf(name->text, sizeof name->text, "%s", text);
    return name;
}

static void read_lasting(const char *folder, const char *shadow, struct names *names)
{
    struct stat status;
    char path[512], text[256];
    unsigned long long inode;
    assert_int_equal(stat(folder, &status), 0);
    snprintf(path, sizeof path, "%s/d.%llu", shadow, (unsigned long long)status.st_ino);
    FILE *list = fopen(path, "r");
    if (!list) /* it was never synced */
        return;
    while (fscanf(list, "%llu %255s", &inode, text) == 2)
        name_at(names, text)->lasting = inode;
    fclose(list);
}

static void read_present(const char *folder, struct names *names)
{
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] != '.')
            name_at(names, entry->d_name)->present = entry->d_ino;
    closedir(list);
}

/* The bytes of a file, as far as there are any. */
static uint8_t *read_bytes(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    *out_size = 0;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    *out_size = fread(bytes, 1, size, file);
    fclose(file);
    return bytes;
}

static bool drawn(void)
{
    return rand() % 2;
}

/* Blocks of the one or the other; those that only `present` has may be zeros. */
static uint8_t *mixed(const uint8_t *lasting, size_t lasting_size, const uint8_t *present,
                      size_t present_size, size_t *out_size)
{
    size_t block = drawn() ? 4096 : 512; /* what a disk writes whole: a page, or a sector */
    size_t size = drawn() ? lasting_size : present_size;
    uint8_t *bytes = calloc(size + 1, 1);
    assert_non_null(bytes);
    for (size_t at = 0; at < size; at += block) {
        const uint8_t *from = drawn() ? present : lasting;
        size_t from_size = from == present ? present_size : lasting_size;
        size_t end = at + block < size ? at + block : size;
        if (end > from_size)
            end = from_size;
        if (at < end)
            memcpy(bytes + at, from + at, end - at);
    }
    *out_size = size;
    return bytes;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void restore(const char *folder, const char *shadow, const struct name *name,
                    unsigned long long inode, bool lucky, const char *out)
{
    char path[512], made[512];
    size_t lasting_size, present_size = 0, size;
    snprintf(path, sizeof path, "%s/%s", folder, name->text);
    if (is_folder(path)) {
        snprintf(made, sizeof made, "%s/%s", out, name->text);
        power_cut(path, shadow, lucky, made);
        return;
    }
    snprintf(path, sizeof path, "%s/f.%llu", shadow, inode);
    uint8_t *lasting = read_bytes(path, &lasting_size), *present = NULL, *bytes = NULL;
    if (lucky && inode == name->present) {
        snprintf(path, sizeof path, "%s/%s", folder, name->text);
        present = read_bytes(path, &present_size);
        bytes = mixed(lasting, lasting_size, present, present_size, &size);
    } else {
        size = lasting_size;
    }
    snprintf(path, sizeof path, "%s/%s", out, name->text);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const uint8_t *from = bytes ? bytes : lasting;
    assert_int_equal(size ? fwrite(from, 1, size, file) : 0, size);
    fclose(file);
    free(lasting);
    free(present);
    free(bytes);
}

void power_cut(const char *folder, const char *shadow, bool lucky, const char *out)
{
    struct names *names = calloc(1, sizeof *names);
    assert_non_null(names);
    read_lasting(folder, shadow, names);
    read_present(folder, names);
    assert_int_equal(mkdir(out, 0700), 0);
    for (size_t i = 0; i < names->count; i++) {
        const struct name *name = &names->items[i];
        unsigned long long inode = lucky && drawn() ? name->present : name->lasting;
        if (inode)
            restore(folder, shadow, name, inode, lucky, out);
    }
    free(names);
}
