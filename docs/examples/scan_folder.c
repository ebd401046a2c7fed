/* Find the duplicates in a folder: each group with the copy to keep, and why the others are in it.
 * Needs doppel:
 *
 *     cc scan_folder.c $(pkg-config --cflags --libs doppel) -o scan_folder
 *     DOPPEL_WORKER=/usr/bin/doppel-worker ./scan_folder FOLDER
 */
#include <stdio.h>

#include <doppel/group.h>

static enum doppel_status print_group(void *context, const struct doppel_group *group,
                                      struct doppel_error *error)
{
    unsigned long long *savable = context;
    (void)error;
    printf("keep %s\n", group->keep);
    for (size_t i = 1; i < group->count; i++) {
        const struct doppel_group_member *member = &group->members[i];
        printf("  %s: %s", member->path, doppel_reason_name(member->reason));
        if (member->match)
            printf(", similarity %.2f", member->match->similarity);
        putchar('\n');
    }
    *savable += group->savable_bytes;
    return DOPPEL_OK;
}

static void print_failure(void *context, const char *path, const struct doppel_error *reason)
{
    (void)context;
    fprintf(stderr, "%s: %s\n", path, reason->message);
}

int main(int argc, char **argv)
{
    struct doppel_run_options run_options = doppel_run_options_default();
    struct doppel_scan_paths paths = {0};
    struct doppel_run *run = NULL;
    struct doppel_error error = {0};
    unsigned long long savable = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: scan_folder FOLDER\n");
        return 2;
    }
    const char *const folders[] = {argv[1]};
    paths.paths = folders;
    paths.count = 1;
    run_options.on_failed = print_failure;
    enum doppel_status status = doppel_run_new(&run_options, &run, &error);
    if (status == DOPPEL_OK)
        status = doppel_scan(run, &paths, NULL, print_group, &savable, NULL, &error);
    if (status == DOPPEL_OK)
        printf("%llu bytes could be saved\n", savable);
    else
        fprintf(stderr, "%s\n", error.message);
    doppel_run_free(run);
    return status == DOPPEL_OK ? 0 : 2;
}
