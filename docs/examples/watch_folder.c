/* Watch a folder: of each file that is written or moved there, print what it is to the library, and
 * remember it. Needs doppel:
 *
 *     cc watch_folder.c $(pkg-config --cflags --libs doppel) -o watch_folder
 *     DOPPEL_WORKER=/usr/bin/doppel-worker ./watch_folder LIBRARY FOLDER
 */
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <doppel/decide.h>

static enum doppel_status decide_file(struct doppel_decider *decider, const char *path,
                                      struct doppel_error *error)
{
    struct doppel_decide_input input = {path};
    struct doppel_decided decided;
    enum doppel_status status = doppel_decider_push(decider, &input, error);
    if (!status)
        status = doppel_decider_pull(decider, &decided, error);
    if (status)
        return status;
    printf("%s: %s", path, doppel_decision_name(decided.decision));
    if (decided.why)
        printf(" (%s)", decided.why);
    printf("%s%s\n", decided.of_path ? " of " : "", decided.of_path ? decided.of_path : "");
    fflush(stdout);
    return DOPPEL_OK;
}

int main(int argc, char **argv)
{
    _Alignas(struct inotify_event) char events[65536];
    char path[8192];
    struct doppel_error error = {0};
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_decider *decider;
    const struct doppel_library_options made = {.create = true};
    enum doppel_status status = DOPPEL_OK;
    int watch = inotify_init();
    if (argc != 3 || inotify_add_watch(watch, argv[2], IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
        return fprintf(stderr, "usage: watch_folder LIBRARY FOLDER\n"), 2;
    if (!doppel_run_new(NULL, &run, &error) &&
        !doppel_library_open(argv[1], &made, &library, &error) &&
        !doppel_decider_new(run, library, NULL, &decider, &error))
        for (ssize_t size; !status && (size = read(watch, events, sizeof events)) > 0;)
            for (const char *at = events; !status && at < events + size;) {
                const struct inotify_event *event = (const struct inotify_event *)at;
                snprintf(path, sizeof path, "%s/%s", argv[2], event->name);
                status = decide_file(decider, path, &error);
                at += sizeof *event + event->len;
            }
    fprintf(stderr, "%s\n", error.message);
    return 2;
}
