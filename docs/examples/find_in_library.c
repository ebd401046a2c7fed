/* Find a file in a library, whatever its kind: what matches it, the best first. Needs doppel:
 *
 *     cc find_in_library.c $(pkg-config --cflags --libs doppel) -o find_in_library
 *     DOPPEL_WORKER=/usr/bin/doppel-worker ./find_in_library LIBRARY FILE
 */
#include <stdio.h>

#include <doppel/intake.h>
#include <doppel/search.h>

static enum doppel_status find(struct doppel_run *run, struct doppel_library *library,
                               const char *path, struct doppel_error *error)
{
    struct doppel_search_results results = {0};
    struct doppel_search *search = NULL;
    struct doppel_record record = {0};
    struct doppel_input input = {0};
    input.path = path;
    enum doppel_status status = doppel_fingerprint(run, &input, NULL, &record, error);
    if (status == DOPPEL_OK)
        status = doppel_search_new(run, library, NULL, &search, error);
    if (status == DOPPEL_OK)
        status = doppel_search_refresh(search, error);
    if (status == DOPPEL_OK)
        status = doppel_search_record(search, &record, path, &results, error);
    for (size_t i = 0; i < results.count && status == DOPPEL_OK; i++)
        printf("item %llu, similarity %.2f\n", (unsigned long long)results.items[i].id,
               results.items[i].comparison.match.similarity);
    if (status == DOPPEL_OK && results.count == 0)
        puts("nothing like it");
    doppel_search_results_free(&results);
    doppel_search_free(search);
    doppel_record_free(&record);
    return status;
}

int main(int argc, char **argv)
{
    struct doppel_library *library = NULL;
    struct doppel_run *run = NULL;
    struct doppel_error error = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: find_in_library LIBRARY FILE\n");
        return 2;
    }
    enum doppel_status status = doppel_run_new(NULL, &run, &error);
    if (status == DOPPEL_OK)
        status = doppel_library_open(argv[1], NULL, &library, &error);
    if (status == DOPPEL_OK)
        status = find(run, library, argv[2], &error);
    if (status != DOPPEL_OK)
        fprintf(stderr, "%s: %s\n", argv[2], error.message);
    doppel_library_close(library);
    doppel_run_free(run);
    return status == DOPPEL_OK ? 0 : 2;
}
