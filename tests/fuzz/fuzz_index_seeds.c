/* Good segment files of every kind, small. */
#include "fuzz_index.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CODES = 2600, ITEMS = 40, POSTINGS = 300 };

static uint64_t state = 1;

static uint64_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33 ^ state << 31;
}

void empty_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory)
        abort();
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}

/* Near-duplicates and repeats, and some payloads removed. */
static void fill_codes(struct doppel_index *index, struct seed *seed, size_t count, bool skewed)
{
    size_t words = seed->options.table == DOPPEL_INDEX_BANDS ? seed->options.lanes / 4
                                                             : (seed->options.bits + 63) / 64;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t code[SEED_WORDS];
        for (size_t w = 0; w < words; w++)
            code[w] = skewed && i % 4 ? 0x0f0f0f0f00ff00ffu : next_random();
        if (i % 3)
            code[i % words] ^= (uint64_t)1 << i % 64;
        if (doppel_index_insert(index, code, &i, 1, NULL))
            abort();
        if (i % (count / SEED_QUERIES + 1) == 0)
            memcpy(seed->queries + i / (count / SEED_QUERIES + 1) * words, code,
                   sizeof *code * words);
    }
}

static void fill_items(struct doppel_index *index)
{
    for (uint64_t i = 0; i < ITEMS; i++) {
        struct doppel_index_posting postings[POSTINGS];
        for (size_t p = 0; p < POSTINGS; p++)
            postings[p] = (struct doppel_index_posting){
                (uint32_t)(next_random() % (p % 2 ? 1 << 12 : 8)), (uint32_t)(7 * p)};
        struct doppel_index_item item = {i, 7 * POSTINGS, POSTINGS, postings};
        if (doppel_index_insert_item(index, &item, NULL))
            abort();
    }
}

static void read_file(const char *folder, const char *name, struct seed *seed)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        abort();
    seed->size = (size_t)ftell(file);
    rewind(file);
    seed->bytes = malloc(seed->size);
    if (!seed->bytes || fread(seed->bytes, 1, seed->size, file) != seed->size)
        abort();
    fclose(file);
}

static void make(const char *folder, struct seed *seed, size_t count, bool skewed)
{
    struct doppel_index_files files = {.folder = folder};
    struct doppel_index *index;
    const char *const *names;
    size_t name_count;
    if (doppel_index_open(&seed->options, &files, &index, NULL))
        abort();
    if (seed->options.table == DOPPEL_INDEX_POSTINGS)
        fill_items(index);
    else
        fill_codes(index, seed, count, skewed);
    uint64_t removed[] = {1, 5, 1000000};
    if (doppel_index_remove(index, removed, 3, NULL) || doppel_index_flush(index, NULL) ||
        doppel_index_names(index, &names, &name_count, NULL) || name_count != 1)
        abort();
    doppel_index_free(index);
    read_file(folder, names[0], seed);
    free((void *)names);
    empty_folder(folder);
}

size_t make_seeds(const char *folder, struct seed seeds[SEEDS_MAX])
{
    static const uint32_t widths[] = {32, 64, 128, 256};
    size_t count = 0;
    for (size_t width = 0; width < 4; width++)
        for (int way = 0; way < 4; way++) {
            struct seed *seed = &seeds[count++];
            seed->options = doppel_index_options_default();
            seed->options.bits = widths[width];
            seed->options.design_radius = widths[width] / 8;
            seed->options.compact = way == 1;
            make(folder, seed, way == 3 ? 40 : CODES, way == 2);
        }
    for (int skewed = 0; skewed < 2; skewed++) {
        struct seed *seed = &seeds[count++];
        seed->options = doppel_index_options_default();
        seed->options.table = DOPPEL_INDEX_BANDS;
        seed->options.lanes = 16;
        seed->options.bands = 8;
        seed->options.rows = 2;
        make(folder, seed, 300, skewed);
    }
    struct seed *seed = &seeds[count++];
    seed->options = doppel_index_options_default();
    seed->options.table = DOPPEL_INDEX_POSTINGS;
    seed->options.key_bits = 12;
    make(folder, seed, 0, false);
    return count;
}
