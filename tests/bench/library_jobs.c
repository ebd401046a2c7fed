/* What many jobs cost: bytes, and the time of each thing that is done with them.
 *
 * library_jobs COUNT FOLDER: COUNT jobs of one text each are accepted, a transaction each; all are
 * decided, and a thousand at a time are done; then one more is accepted, looked at and decided. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <doppel/library.h>

#include "tests/bench/bench.h"

enum { BLOCK = 1000, PAGE = 100 };

static const char *const input[] = {
    "{\"text\":\"the quick brown fox jumps over the lazy dog\",\"id\":\"fox\"}"};
static const char decision[] = "{\"id\":\"fox\",\"decision\":\"duplicate\",\"of\":1,\"of_item\":1,"
                               "\"reason\":\"same-content\",\"kind\":\"text\",\"item\":2}";

static struct doppel_library *library;

static void must(enum doppel_status status)
{
    if (status == DOPPEL_OK || status == DOPPEL_E_CANCELLED)
        return;
    fprintf(stderr, "library_jobs: %s\n", doppel_status_name(status));
    exit(1);
}

static void accept_one(void)
{
    const struct doppel_job job = {.client = "bench", .bytes = 64};
    uint64_t id;
    must(doppel_library_add_job(library, &job, input, 1, &id, NULL));
    must(doppel_library_commit(library, NULL));
}

static void decide_one(uint64_t id)
{
    must(doppel_library_begin_job(library, id, NULL));
    must(doppel_library_put_job_decision(library, id, 0, decision, false, NULL));
    must(doppel_library_complete_job(library, id, NULL));
}

static bool count_page(void *context, const struct doppel_job *job)
{
    (void)job;
    return ++*(int *)context < PAGE;
}

static void look_at_page(void)
{
    int seen = 0;
    must(doppel_library_each_job(library, 0, count_page, &seen, NULL));
}

static void find_open(void)
{
    int seen = PAGE - 16;
    must(doppel_library_each_open_job(library, 1, count_page, &seen, NULL));
}

static void count_all(void)
{
    struct doppel_job_counts counts;
    must(doppel_library_count_jobs(library, &counts, NULL));
}

static void forget_block(void)
{
    const struct doppel_job_age age = {.ended_before_ns = INT64_MAX, .most = BLOCK};
    uint64_t forgotten;
    must(doppel_library_forget_jobs(library, &age, &forgotten, NULL));
    must(doppel_library_commit(library, NULL));
}

static void print_time(const char *what, void work(void), unsigned times)
{
    const double begun = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < times; i++)
        work();
    printf("%-28s %10.1f us\n", what,
           (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begun) / times * 1e6);
}

int main(int argc, char **argv)
{
    const struct doppel_library_options options = {.create = true};
    const uint64_t count = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    char path[4096];
    struct stat file;
    if (!count) {
        fputs("library_jobs COUNT FOLDER\n", stderr);
        return 2;
    }
    must(doppel_library_open(argv[2], &options, &library, NULL));
    print_time("accept one", accept_one, (unsigned)count);
    print_time("count them, all waiting", count_all, 1);
    print_time("find what is open", find_open, 100);
    const double begun = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t id = 1; id <= count; id++) {
        decide_one(id);
        if (id % BLOCK == 0 || id == count)
            must(doppel_library_commit(library, NULL));
    }
    printf("%-28s %10.1f us\n", "decide one",
           (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begun) / (double)count * 1e6);
    accept_one();
    print_time("count them, all ended", count_all, 100);
    print_time("find what is open", find_open, 100);
    print_time("a page of 100", look_at_page, 100);
    doppel_library_close(library);
    snprintf(path, sizeof path, "%s/catalogue.db", argv[2]);
    if (!stat(path, &file))
        printf("%-28s %10.0f bytes\n", "an ended job", (double)file.st_size / (double)count);
    must(doppel_library_open(argv[2], &options, &library, NULL));
    print_time("forget 1000", forget_block, 1);
    doppel_library_close(library);
    return 0;
}
