/* local_scale THOUSANDS [FOLDER]: a set of pictures with points of made codes, over an index in
 * memory, or mapped, of a file of an empty folder: bytes a picture, and the CPU time of a query of
 * 640 points that shows one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <doppel/local.h>

#include "../random.h"

enum { QUERIES = 10 };

struct made_library {
    uint64_t items, next;
    struct doppel_index_posting postings[DOPPEL_LOCAL_KEPT];
};

static struct doppel_fingerprint made_item(uint64_t id, uint32_t count)
{
    struct doppel_fingerprint out;
    struct random random = random_seeded(id, "", "");
    if (doppel_fingerprint_make(doppel_scheme_by_name("local"), DOPPEL_LOCAL_BITS, count, &out,
                                NULL))
        abort();
    for (uint32_t i = 0; i < count; i++) {
        out.codes[i].word[0] = (random_next(&random) & UINT32_MAX) | UINT64_C(0xc10003f) << 32;
        out.codes[i].word[1] = random_next(&random);
        out.positions[i] = (uint32_t)random_next(&random) >> 7 | i / DOPPEL_LOCAL_KEPT << 25;
    }
    return out;
}

static bool give_item(void *context, uint64_t id, uint32_t frame, struct doppel_local_frame *out)
{
    (void)context;
    (void)frame;
    *out = (struct doppel_local_frame){.points = made_item(id, DOPPEL_LOCAL_KEPT)};
    return true;
}

static bool read_item(void *context, struct doppel_index_item *out)
{
    struct made_library *library = context;
    if (library->next == library->items)
        return false;
    struct doppel_fingerprint item = made_item(library->next, DOPPEL_LOCAL_KEPT);
    *out = (struct doppel_index_item){.payload = library->next++,
                                      .length = DOPPEL_LOCAL_ITEM_LENGTH,
                                      .count =
                                          (uint32_t)doppel_local_postings(&item, library->postings),
                                      .postings = library->postings};
    doppel_fingerprint_free(&item);
    return true;
}

static void rewind_items(void *context)
{
    ((struct made_library *)context)->next = 0;
}

static bool note_first(void *context, uint64_t id, bool is_match,
                       const struct doppel_local_verdict *verdict)
{
    (void)verdict;
    *(uint64_t *)context = is_match ? id : UINT64_MAX;
    return false;
}

static double cpu_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static enum doppel_status new_index(const char *folder, struct doppel_index **out)
{
    const struct doppel_index_options options = doppel_local_index_options();
    const struct doppel_index_files files = {.folder = folder};
    return folder ? doppel_index_open(&options, &files, out, NULL)
                  : doppel_index_new(&options, out, NULL);
}

int main(int argc, char **argv)
{
    struct made_library library = {.items = 1000 * (argc > 1 ? strtoull(argv[1], NULL, 10) : 100)};
    struct doppel_local_options options = doppel_local_options_default();
    struct doppel_index_load load = {.count = library.items,
                                     .rewind = rewind_items,
                                     .context = &library,
                                     .read_item = read_item};
    struct doppel_index *index;
    struct doppel_local_set *set;
    size_t found = 0;
    if (new_index(argc > 2 ? argv[2] : NULL, &index) || doppel_index_bulk(index, &load, NULL) ||
        doppel_local_set_over(index, give_item, NULL, &set, NULL))
        return 1;
    double begin = cpu_now();
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint64_t first = UINT64_MAX, id = i * library.items / QUERIES;
        struct doppel_fingerprint query = made_item(id, DOPPEL_LOCAL_POINTS);
        doppel_local_find(set, &query, &options, note_first, &first, NULL);
        found += first == id;
        doppel_fingerprint_free(&query);
    }
    printf("%llu pictures: %.0f bytes each of the index and %d of points, %.1f ms a query, %zu of "
           "%d found\n",
           (unsigned long long)library.items,
           (double)doppel_index_info(index).bytes / (double)library.items, 16 * DOPPEL_LOCAL_KEPT,
           1e3 * (cpu_now() - begin) / QUERIES, found, QUERIES);
    doppel_local_set_free(set);
    doppel_index_free(index);
    return 0;
}
