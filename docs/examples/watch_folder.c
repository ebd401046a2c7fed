/* Watch a folder: of each file that is written or moved there, print what it is to the library, and
 * remember it. Needs doppel:
 *
 *     cc watch_folder.c $(pkg-config --cflags --libs doppel) -o watch_folder
 *     DOPPEL_WORKER=/usr/bin/doppel-worker ./watch_folder LIBRARY FOLDER
 */
#include <stdio.h>

#include <doppel/decide.h>

static void print_decision(const struct doppel_decided *decided)
{
    printf("%s: %s", decided->path, doppel_decision_name(decided->decision));
    if (decided->why)
        printf(" (%s)", decided->why);
    printf("%s%s\n", decided->of_path ? " of " : "", decided->of_path ? decided->of_path : "");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct doppel_error error = {0};
    struct doppel_run *run = NULL;
    struct doppel_library *library = NULL;
    struct doppel_decider *decider = NULL;
    struct doppel_decided decided;
    const struct doppel_library_options made = {.create = true};
    struct doppel_decide_options options = doppel_decide_options_default();
    struct doppel_watch_options watched = {{{0}}, 0, NULL};
    if (argc != 3)
        return fprintf(stderr, "usage: watch_folder LIBRARY FOLDER\n"), 2;
    watched.walk.paths.items = (const char *const *)&argv[2];
    watched.walk.paths.count = 1;
    watched.pass_over = argv[1];
    if (!doppel_run_new(NULL, &run, &error) &&
        !doppel_library_open(argv[1], &made, &library, &error) &&
        !doppel_watch_new(run, &watched, &options.watch, &error) &&
        !doppel_decider_new(run, library, &options, &decider, &error))
        while (!doppel_decider_pull(decider, &decided, &error))
            print_decision(&decided);
    fprintf(stderr, "%s\n", error.message);
    doppel_decider_free(decider);
    doppel_watch_free(options.watch);
    doppel_library_close(library);
    doppel_run_free(run);
    return 2;
}
