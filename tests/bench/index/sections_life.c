/* What surrounds the table: the head, opening files, inserting for good, the self-join. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/store.h>

#include "index/index_bench.h"

enum { HEAD_CODES = 65535, BATCH = 1000 };

static void folder_new(char *out)
{
    strcpy(out, "/var/tmp/doppel-bench-XXXXXX");
    need(mkdtemp(out));
}

static void folder_remove(const char *folder)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(folder);
}

/* ---- the head ---- */

void section_head(const struct plan *plan)
{
    static const uint32_t radii[] = {3, 8, 12};
    struct codes codes = codes_make(CODES_UNIFORM, 64, HEAD_CODES);
    struct doppel_index_options options = doppel_index_options_default();
    struct doppel_index *index;
    struct doppel_error error;
    need_ok(doppel_index_new(&options, &index, &error), &error);
    double start = thread_seconds();
    for (size_t i = 0; i < codes.count; i += BATCH)
        need_ok(doppel_index_insert(index, codes.codes + i, codes.payloads + i,
                                    codes.count - i < BATCH ? codes.count - i : BATCH, &error),
                &error);
    double spent = thread_seconds() - start;
    struct finder finder = finder_of_index(index, 64);
    printf("\nhead of %d codes, nothing else; CPU µs of one thread\n", HEAD_CODES);
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++) {
        char what[64];
        uint64_t *queries = queries_make(&codes, plan->queries, radii[r]);
        struct answers answers = answers_new(plan->queries);
        struct times times = time_search(&finder, queries, 1, radii[r], &answers);
        snprintf(what, sizeof what, "a query at r = %u: median (p99 %.2f)", radii[r], times.p99);
        print_goal(what, times.median, "≤", radii[r] == 8 ? 1 : NAN, "µs");
        answers_free(&answers);
        free(queries);
    }
    print_goal("an insert, in calls of 1000", spent * 1e9 / (double)codes.count, "≤", NAN, "ns");
    finder_free(&finder);
    codes_free(&codes);
}

/* ---- opening ---- */

static const char *const *write_segments(const struct doppel_index_options *options,
                                         const char *folder, size_t count, size_t *out_names)
{
    struct codes codes = codes_make(CODES_UNIFORM, 64, count);
    struct source source = {&codes, 0};
    struct doppel_index_load load = {
        .count = count, .read = source_read, .rewind = source_rewind, .context = &source};
    struct doppel_index_files files = {.folder = folder};
    struct doppel_index *index;
    const char *const *names;
    struct doppel_error error;
    need_ok(doppel_index_open(options, &files, &index, &error), &error);
    need_ok(doppel_index_bulk(index, &load, &error), &error);
    need_ok(doppel_index_names(index, &names, out_names, &error), &error);
    doppel_index_free(index);
    codes_free(&codes);
    return names;
}

/* Out of the page cache, as far as the system does it. */
static void forget_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static double open_and_ask(const struct doppel_index_options *options,
                           const struct doppel_index_files *files, double *out_first)
{
    struct doppel_index *index;
    struct doppel_error error;
    uint64_t query = 1;
    size_t found;
    struct doppel_index_hit *hits = NULL;
    struct doppel_index_request request = {.queries = &query, .count = 1, .radius = 3};
    double start = wall_seconds();
    need_ok(doppel_index_open(options, files, &index, &error), &error);
    double spent = wall_seconds() - start;
    need_ok(doppel_index_search_array(index, &request, &hits, &found, &error), &error);
    *out_first = (wall_seconds() - start - spent) * 1e3;
    free(hits);
    doppel_index_free(index);
    return spent * 1e3;
}

void section_open(const struct plan *plan)
{
    for (size_t i = 0; i < plan->size_count; i++) {
        char folder[40], size[32];
        double first;
        struct doppel_index_options options = doppel_index_options_default();
        struct doppel_index_files files = {.folder = folder, .read_only = true};
        folder_new(folder);
        files.names = write_segments(&options, folder, plan->sizes[i], &files.count);
        print_count(size, sizeof size, plan->sizes[i]);
        printf("\nopening a file of %s codes; wall ms\n", size);
        forget_file(folder, files.names[0]);
        double cold = open_and_ask(&options, &files, &first);
        print_goal("open, file not in memory", cold, "≤", plan->sizes[i] >= 100000000 ? 50 : NAN,
                   "ms");
        print_goal("and the first query at r = 3", first, "≤", NAN, "ms");
        print_goal("open, file in memory", open_and_ask(&options, &files, &first), "≤", NAN, "ms");
        free((void *)files.names);
        folder_remove(folder);
    }
}

/* ---- inserting for good ---- */

static struct doppel_store *store_new(const char *folder, bool durable)
{
    char path[4096];
    struct doppel_store *store;
    struct doppel_error error;
    struct doppel_store_options options = {
        .application_id = 0x62656e63,
        .schema = DOPPEL_STORE_INDEX_SCHEMA,
        .schema_version = 1,
        .create = true,
        .durable = durable,
    };
    snprintf(path, sizeof path, "%s/bench.db", folder);
    need_ok(doppel_store_open(path, &options, &store, &error), &error);
    return store;
}

static struct doppel_store_index *index_of(struct doppel_store *store, const char *folder)
{
    struct doppel_store_index *index;
    struct doppel_error error;
    struct doppel_index_options make = doppel_index_options_default();
    char path[4096];
    make.head_codes = 1 << 30; /* all stays in the log */
    struct doppel_store_index_options options = {.name = "bench", .folder = path, .make = &make};
    snprintf(path, sizeof path, "%s/segments", folder);
    need_ok(doppel_store_index_open(store, &options, &index, &error), &error);
    return index;
}

static void insert_and_replay(size_t count, bool durable)
{
    char folder[40], segments[64];
    struct codes codes = codes_make(CODES_UNIFORM, 64, count);
    struct doppel_error error;
    folder_new(folder);
    struct doppel_store *store = store_new(folder, durable);
    struct doppel_store_index *index = index_of(store, folder);
    double start = wall_seconds();
    for (size_t i = 0; i < count; i += BATCH)
        need_ok(doppel_store_index_insert(index, codes.codes + i, codes.payloads + i,
                                          count - i < BATCH ? count - i : BATCH, &error),
                &error);
    print_goal(durable ? "inserts, transactions of 1000, durable" : "inserts, transactions of 1000",
               (double)count / (wall_seconds() - start) * 1e-6, "≥", 1, "M/s");
    doppel_store_index_close(index);
    doppel_store_close(store);
    store = store_new(folder, durable);
    start = wall_seconds();
    index = index_of(store, folder);
    print_goal("replay at open", wall_seconds() - start, "≤", count >= 10000000 ? .5 : NAN, "s");
    doppel_store_index_close(index);
    doppel_store_close(store);
    snprintf(segments, sizeof segments, "%s/segments", folder);
    folder_remove(segments);
    folder_remove(folder);
    codes_free(&codes);
}

void section_insert(const struct plan *plan)
{
    for (size_t i = 0; i < plan->size_count && plan->sizes[i] <= 10000000; i++) {
        char size[32];
        print_count(size, sizeof size, plan->sizes[i]);
        printf("\n%s codes into a store (SQLite log), all kept in the log; wall\n", size);
        insert_and_replay(plan->sizes[i], false);
        insert_and_replay(plan->sizes[i], true);
    }
}

/* ---- the self-join ---- */

static size_t read_numbered(void *context, uint64_t *out_codes, uint32_t *out_numbers, size_t max)
{
    struct source *source = context;
    const struct codes *codes = source->codes;
    size_t left = codes->count - source->at, count = left < max ? left : max;
    memcpy(out_codes, codes->codes + source->at * codes->words,
           count * codes->words * sizeof *out_codes);
    for (size_t i = 0; i < count; i++)
        out_numbers[i] = (uint32_t)(source->at + i);
    source->at += count;
    return count;
}

static bool count_pairs(void *context, const struct doppel_index_pair *pairs, size_t count)
{
    (void)pairs;
    *(uint64_t *)context += count;
    return true;
}

static void join(enum codes_shape shape, size_t count, double goal)
{
    char what[96], size[32];
    uint64_t pairs = 0;
    struct doppel_error error;
    struct codes codes = codes_make(shape, 64, count);
    struct source source = {&codes, 0};
    struct doppel_index_codes left = {count, read_numbered, source_rewind, &source};
    struct doppel_index_pairing pairing = {.bits = 64, .radius = 8, .left = &left};
    double start = thread_seconds();
    need_ok(doppel_index_pair_up(&pairing, count_pairs, &pairs, &error), &error);
    double spent = thread_seconds() - start;
    print_count(size, sizeof size, count);
    snprintf(what, sizeof what, "%s %s, r = 8: %llu pairs", size,
             shape == CODES_SKEWED ? "skewed" : "uniform", (unsigned long long)pairs);
    print_goal(what, spent, "≤", goal, "s");
    fflush(stdout);
    codes_free(&codes);
}

void section_join(const struct plan *plan)
{
    printf("\nself-join; CPU s of one thread\n");
    for (size_t i = 0; i < plan->size_count && plan->sizes[i] <= 10000000; i++) {
        size_t count = plan->sizes[i];
        join(CODES_UNIFORM, count, count == 1000000 ? .6 : count == 10000000 ? 10 : NAN);
        join(CODES_SKEWED, count, count == 1000000 ? 2 : NAN);
    }
}
