/* Text, mostly English, that Debian packages ship, in memory. */
#include "debian_text.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    MIN_BYTES = 1 << 10,
    MAX_BYTES = 1 << 20,
    MIN_LETTERS_PERCENT = 80,
    MAX_FOREIGN_PERCENT = 1
};

/* Mostly letters and spaces, hardly a byte beyond ASCII. */
static bool is_prose(const char *bytes, size_t size)
{
    size_t letters = 0, foreign = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i], lower = byte | 0x20;
        letters += (lower >= 'a' && lower <= 'z') || byte == ' ' || byte == '\n';
        foreign += byte >= 0x80 || byte == 0;
    }
    return letters * 100 >= size * MIN_LETTERS_PERCENT &&
           foreign * 100 <= size * MAX_FOREIGN_PERCENT;
}

/* FNV-1a of a package's name, its lowest bit. */
static unsigned half_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash >> 16 & 1;
}

static void add_file(struct debian_text *text, const char *path, size_t limit, bool any)
{
    static char buffer[MAX_BYTES + 1];
    gzFile file = gzopen(path, "rb"); /* reads what is not packed, too */
    int got = file ? gzread(file, buffer, sizeof buffer) : 0;
    if (file)
        gzclose(file);
    size_t size = got > 0 ? (size_t)got : 0;
    if (size < MIN_BYTES || size > MAX_BYTES || text->size + size > limit ||
        !(any || is_prose(buffer, size)))
        return;
    text->bytes = realloc(text->bytes, text->size + size);
    text->starts = realloc(text->starts, (text->count + 2) * sizeof *text->starts);
    if (!text->bytes || !text->starts)
        abort();
    memcpy(text->bytes + text->size, buffer, size);
    text->starts[text->count++] = text->size;
    text->starts[text->count] = text->size += size;
}

static void find(struct debian_text *text, const char *folder, size_t limit, unsigned keep)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        bool kept = keep > 1 || half_of(name) == keep;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (kept && entries[i]->d_type == DT_DIR && name[0] != '.')
            find(text, path, limit, 2);
        else if (kept && entries[i]->d_type == DT_REG)
            add_file(text, path, limit, false);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void debian_text_find(struct debian_text *text, const char *folder, size_t limit, unsigned keep)
{
    find(text, folder, limit, keep);
}

void debian_text_find_any(struct debian_text *text, const char *folder, size_t limit, unsigned keep)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (half_of(entries[i]->d_name) == keep && entries[i]->d_type == DT_REG)
            add_file(text, path, limit, true);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void debian_text_free(struct debian_text *text)
{
    free(text->bytes);
    free(text->starts);
    *text = (struct debian_text){0};
}
