/* image_find MILLIONS FOLDER [THREADS [VIEWS]]: what the index of a library of so many made
 * pictures, of three views each or so many, costs a question: opened, asked for one picture and
 * closed, mapped again each time, in the page cache. And what the machine sets as a bound: to read
 * and check once what is scanned. The index is made in FOLDER, where it is not there, and stays. */
#include <dirent.h>
#include <doppel/match.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "core/digest.h"

enum { ROUNDS = 9, FRAMES = 3, PHOTO_VIEWS = 10, TABLES = DOPPEL_IMAGE_TABLES };

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- pictures ---- */

struct picture {
    struct doppel_code codes[DOPPEL_VIEW_COUNT];
    uint32_t positions[DOPPEL_VIEW_COUNT];
    struct doppel_fingerprint fingerprint;
    struct doppel_match_item item;
};

static void make_picture(uint64_t id, uint32_t views, struct picture *out)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    for (uint32_t i = 0; i < views; i++) {
        for (unsigned word = 0; word < 4; word++)
            out->codes[i].word[word] = mix((id * DOPPEL_VIEW_COUNT + i) * 4 + word);
        /* of more than three: a full frame and crops, as photos have */
        out->positions[i] = views > FRAMES && i ? i + DOPPEL_VIEW_CENTRE - 1 : i;
    }
    out->fingerprint = (struct doppel_fingerprint){.scheme = scheme->id,
                                                   .version = scheme->version,
                                                   .code_bits = 256,
                                                   .count = views,
                                                   .codes = out->codes,
                                                   .positions = out->positions};
    out->item = (struct doppel_match_item){&out->fingerprint, 100};
}

/* ---- the index ---- */

struct picture_stream {
    enum doppel_image_table table;
    uint32_t views;
    uint64_t next, end;
};

static size_t read_pictures(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct picture_stream *stream = context;
    uint64_t words[DOPPEL_IMAGE_TABLE_WORDS];
    size_t done = 0;
    for (; stream->next < stream->end && done + stream->views <= max; stream->next++) {
        struct picture picture;
        make_picture(stream->next, stream->views, &picture);
        size_t count = doppel_image_table_codes(stream->table, &picture.item, words);
        memcpy(codes + 4 * done, words, count * 4 * sizeof *codes);
        for (size_t i = 0; i < count; i++)
            payloads[done++] = doppel_image_table_payload(&picture.fingerprint, stream->next, i);
    }
    return done;
}

static void rewind_pictures(void *context)
{
    ((struct picture_stream *)context)->next = 1;
}

struct table_files {
    char folder[600];
    struct doppel_index_options options;
    const char *const *names;
    size_t count;
};

static struct doppel_index *open_table(const struct table_files *table)
{
    const struct doppel_index_files files = {
        .folder = table->folder, .names = table->names, .count = table->count};
    struct doppel_index *index;
    struct doppel_error error;
    bench_must(doppel_index_open(&table->options, &files, &index, &error), &error);
    return index;
}

/* Of other pictures another folder. */
static void table_in(const char *folder, int which, uint64_t count, uint32_t views,
                     struct table_files *out)
{
    snprintf(out->folder, sizeof out->folder, "%s/table-%d-of-%zux%u", folder, which, (size_t)count,
             views);
    (void)doppel_image_table_options(DOPPEL_SCHEME_PHASH64, (enum doppel_image_table)which,
                                     &out->options);
}

/* The segments that lie in its folder. @return false: there are none */
static bool list_segments(struct table_files *table)
{
    const char **names = NULL;
    DIR *folder = opendir(table->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        names = realloc(names, (table->count + 1) * sizeof *names);
        names[table->count++] = strdup(entry->d_name);
    }
    if (folder)
        closedir(folder);
    table->names = names;
    return table->count != 0;
}

static void make_table(const char *folder, int which, uint64_t count, uint32_t views)
{
    struct table_files made = {0};
    struct picture_stream stream = {
        .table = (enum doppel_image_table)which, .views = views, .end = count + 1};
    const struct doppel_index_load load = {
        .count = which == DOPPEL_IMAGE_TABLE_CODES ? count * views : count,
        .read = read_pictures,
        .rewind = rewind_pictures,
        .context = &stream};
    struct doppel_error error;
    table_in(folder, which, count, views, &made);
    (void)mkdir(made.folder, 0777);
    struct doppel_index *index = open_table(&made);
    bench_must(doppel_index_bulk(index, &load, &error), &error);
    doppel_index_free(index);
}

/* ---- asking ---- */

static enum doppel_status give_none(void *context, uint64_t id, struct doppel_fingerprint *out,
                                    uint8_t *out_quality, struct doppel_error *error)
{
    (void)id, (void)out, (void)out_quality, (void)error;
    ++*(size_t *)context;
    return DOPPEL_E_NOT_FOUND;
}

static bool count_found(void *context, const struct doppel_found *found)
{
    (void)context, (void)found;
    return true;
}

static size_t ask_once(const struct table_files tables[TABLES], uint64_t query, uint32_t views,
                       uint32_t threads)
{
    struct doppel_match_options options = doppel_match_options_default();
    options.compared = query; /* there are about so many */
    struct doppel_index *open[TABLES];
    struct picture picture;
    size_t read = 0;
    struct doppel_error error;
    make_picture(query, views, &picture);
    struct doppel_image_request request = {.query = &picture.item,
                                           .options = &options,
                                           .source = give_none,
                                           .context = &read,
                                           .threads = threads};
    for (int i = 0; i < TABLES; i++)
        request.tables[i] = open[i] = open_table(&tables[i]);
    bench_must(doppel_images_find(&request, count_found, NULL, &error), &error);
    for (int i = 0; i < TABLES; i++)
        doppel_index_free(open[i]);
    return read;
}

static void measure_questions(const struct table_files tables[TABLES], uint64_t count,
                              uint32_t views, uint32_t threads)
{
    double wall[ROUNDS], cpu[ROUNDS];
    size_t read = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const struct bench_time begun = bench_now();
        read += ask_once(tables, count + 17 + (uint64_t)round, views, threads);
        const struct bench_time took = bench_each_ms(begun, 1);
        wall[round] = took.wall;
        cpu[round] = took.cpu;
    }
    /* which sorts them */
    const double wall_median = bench_median(wall, ROUNDS), cpu_median = bench_median(cpu, ROUNDS);
    printf("a picture of %2u views: %8.1f ms wall, least %.1f; %8.1f ms CPU, least %.1f; %zu "
           "fingerprints read in %d questions\n",
           views, wall_median, wall[0], cpu_median, cpu[0], read, ROUNDS);
}

/* Word 0 of all views, and all of the full frames, read and checked once: in one thread. */
static void measure_bound(uint64_t count, uint32_t views)
{
    const size_t bytes = (size_t)count * (views * 8 + 32) / 4096 * 4096;
    uint8_t *memory = malloc(bytes);
    uint64_t sum = 0;
    double cpu[ROUNDS];
    if (!memory)
        return;
    memset(memory, 1, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        const struct bench_time begun = bench_now();
        for (size_t at = 0; at < bytes; at += 4096)
            sum ^= checksum64(memory + at, 4096);
        cpu[round] = bench_each_ms(begun, 1).cpu;
    }
    printf("the machine: to check the %.0f MB that are scanned: %.1f ms CPU (%llx)\n",
           (double)bytes / 1e6, bench_median(cpu, ROUNDS), (unsigned long long)sum % 16);
    free(memory);
}

int main(int argc, char **argv)
{
    struct table_files tables[TABLES] = {0};
    double bytes = 0;
    if (argc < 3)
        return 2;
    const uint64_t count = (uint64_t)(1e6 * atof(argv[1]));
    const uint32_t threads = argc > 3 ? (uint32_t)atoi(argv[3]) : 2;
    const uint32_t views = argc > 4 ? (uint32_t)atoi(argv[4]) : FRAMES;
    (void)mkdir(argv[2], 0777);
    for (int i = 0; i < TABLES; i++) {
        table_in(argv[2], i, count, views, &tables[i]);
        if (!list_segments(&tables[i])) {
            make_table(argv[2], i, count, views);
            (void)list_segments(&tables[i]);
        }
        bytes += bench_folder_mb(tables[i].folder, &(size_t){0}) * 1e6;
    }
    printf("%.1f million pictures of %u views: %.0f bytes each on the disk, %u threads\n",
           (double)count / 1e6, views, bytes / (double)count, threads);
    measure_questions(tables, count, FRAMES, threads);
    measure_questions(tables, count, PHOTO_VIEWS, threads);
    printf("private memory: %.1f MB\n", bench_memory("smaps_rollup", "Private_Dirty:") / 1e6);
    measure_bound(count, views);
    return 0;
}
