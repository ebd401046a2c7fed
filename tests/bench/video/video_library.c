/* video_library WORK VIDEO...: what videos cost in a library, most of them simulated: bytes on the
 * disk, seconds to add, and, by a process of its own, milliseconds to open, the first query and
 * those after it, and private memory. */
#include <doppel/library.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"
#include "simulate.h"
#include "truth.h"

static const char USAGE[] =
    "usage: video_library [OPTION...] WORK VIDEO...\n"
    "WORK holds the queries, made by video_edits.py --only minute. VIDEO... are in the library, "
    "and\n"
    "what simulated videos are made of.\n"
    "  --hours H         of the library (default 100)\n"
    "  --library DIR     where it is made, and left; one that is there is searched as it is. "
    "Default: "
    "a place\n"
    "                    in /tmp, and it is searched again with some hours in the log\n"
    "  --search          only search\n";

struct settings {
    const char *work, *library;
    double hours;
    bool search;
    char **clips;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {{"hours", required_argument, NULL, 'h'},
                                            {"library", required_argument, NULL, 'l'},
                                            {"search", no_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    *out = (struct settings){.hours = 100};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == 'h')
            out->hours = strtod(optarg, NULL);
        else if (option == 'l')
            out->library = optarg;
        else if (option == 's')
            out->search = true;
        else
            return false;
    }
    out->work = argv[optind];
    out->clips = argv + optind + 1;
    return optind + 2 <= argc;
}

/* ---- adding ---- */

/* Some 25 000 codes: soon a segment. */
enum { LOG_HOURS = 5 };

/* What was added, and at what cost. */
struct account {
    struct doppel_library *library;
    double hours, seconds, track_bytes;
    uint64_t clips, runs;
};

static struct doppel_record record_of(const struct doppel_video_track *track, const char *name)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES64);
    struct doppel_error error = {0};
    struct doppel_record record = {.digest = doppel_digest_bytes(name, strlen(name)),
                                   .kind = DOPPEL_KIND_VIDEO,
                                   .scheme = scheme->id,
                                   .version = scheme->version};
    bench_must(doppel_fingerprint_make(scheme, 64, 0, &record.fingerprint, &error), &error);
    bench_must(doppel_video_track_write(track, DOPPEL_VIDEO_CODES, &record.attachment,
                                        &record.attachment_size, &error),
               &error);
    return record;
}

/* Each in a transaction of its own. */
static void add(struct account *account, const struct doppel_video_track *track, const char *name)
{
    struct doppel_record record = record_of(track, name);
    const struct doppel_file_stamp stamp = {.inode = account->clips};
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id;
    char path[1024];
    snprintf(path, sizeof path, "/%s", name);
    struct bench_time begun = bench_now();
    bench_must(doppel_library_add(account->library, path, &stamp, &record, &added, &id, &error),
               &error);
    bench_must(doppel_library_commit(account->library, &error), &error);
    account->seconds += bench_now().wall - begun.wall;
    account->hours += (double)track->duration_ms / 3.6e6;
    account->track_bytes += (double)record.attachment_size;
    account->clips++;
    account->runs += track->count;
    doppel_record_free(&record);
}

static void simulate_all(struct account *account, const struct clips *clips, double hours,
                         const char *seed)
{
    struct random random = random_seeded(1, "video_library", seed);
    while (account->hours < hours) {
        struct doppel_video_track track;
        char name[32];
        double minutes = exp(random_between(&random, log(5), log(100)));
        snprintf(name, sizeof name, "simulated %s%llu", seed, (unsigned long long)account->clips);
        simulate(clips, (uint64_t)(60000 * minutes), &random, &track);
        add(account, &track, name);
        doppel_video_track_free(&track);
    }
}

static struct doppel_library *open_library(const struct settings *settings, bool read_only)
{
    const struct doppel_library_options options = {.create = !read_only, .read_only = read_only};
    struct doppel_error error = {0};
    struct doppel_library *library;
    bench_must(doppel_library_open(settings->library, &options, &library, &error), &error);
    return library;
}

static void report_disk(const struct settings *settings, const struct account *account)
{
    char path[4096];
    size_t files;
    snprintf(path, sizeof path, "%s/catalogue.db", settings->library);
    double catalogue = 1e3 * bench_file_mb(path);
    snprintf(path, sizeof path, "%s/videos", settings->library);
    double index = 1e3 * bench_folder_mb(path, &files);
    printf("KB an hour                tracks %.1f, catalogue %.1f (goal 150), index %.1f in %zu "
           "files\n",
           account->track_bytes / 1e3 / account->hours, catalogue / account->hours,
           index / account->hours, files);
}

static void make(const struct settings *settings, const struct clips *clips)
{
    struct account account = {.library = open_library(settings, false)};
    for (size_t i = 0; i < clips->count; i++)
        add(&account, &clips->list[i].track, clips->list[i].name);
    simulate_all(&account, clips, settings->hours, "");
    struct bench_time begun = bench_now();
    doppel_library_close(account.library);
    double closing = bench_now().wall - begun.wall;
    printf("library                   %.1f hours, %llu videos, %.2f million runs (%.0f an hour)\n",
           account.hours, (unsigned long long)account.clips, (double)account.runs / 1e6,
           (double)account.runs / account.hours);
    printf("seconds to add            %.2f and %.2f to close: %.0f hours a second\n",
           account.seconds, closing, account.hours / (account.seconds + closing));
    report_disk(settings, &account);
}

/* Hours in the log, and nobody who makes a segment of them. */
static void add_and_die(const struct settings *settings, const struct clips *clips)
{
    pid_t child = fork();
    if (child == 0) {
        struct account account = {.library = open_library(settings, false)};
        simulate_all(&account, clips, LOG_HOURS, "later ");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- searching ---- */

struct query {
    const struct doppel_video_track *track;
    uint64_t id; /* of its original */
    bool found;
};

static bool note(void *context, const struct doppel_found *found)
{
    struct query *query = context;
    query->found = query->found || found->id == query->id;
    return true;
}

/* @return milliseconds of CPU */
static double ask(const struct doppel_videos *set, struct query *query, bool plain)
{
    struct doppel_video_search search = doppel_video_search_default();
    struct doppel_error error = {0};
    search.plain = plain;
    struct bench_time begun = bench_now();
    bench_must(doppel_videos_find(set, query->track, &search, note, query, &error), &error);
    return bench_each_ms(begun, 1).cpu;
}

static void query_all(const struct doppel_videos *set, struct query *queries, size_t count,
                      const char *name, bool plain)
{
    double *ms = calloc(count + 1, sizeof *ms), worst = 0;
    size_t found = 0;
    if (!ms)
        abort();
    for (size_t i = 0; i < count; i++) {
        queries[i].found = false;
        ms[i] = ask(set, &queries[i], plain);
        found += queries[i].found;
        worst = fmax(worst, ms[i]);
    }
    printf("%-25s %zu of %zu found; ms of CPU: first %.1f, ", name, found, count, ms[0]);
    double median = bench_median(ms, count);
    printf("median %.1f, worst %.1f\n", median, worst);
    free(ms);
}

/* What is in no library is looked for in all views. */
static void ask_strangers(const struct doppel_videos *set, const struct query *queries,
                          size_t count)
{
    struct doppel_video_track *tracks = calloc(count + 1, sizeof *tracks);
    struct query *strangers = calloc(count + 1, sizeof *strangers);
    if (!tracks || !strangers)
        abort();
    for (size_t i = 0; i < count; i++) {
        tilt(queries[i].track, &tracks[i]);
        strangers[i].track = &tracks[i];
    }
    query_all(set, strangers, count, "strangers, plain", true);
    query_all(set, strangers, count, "strangers, all views", false);
    for (size_t i = 0; i < count; i++)
        doppel_video_track_free(&tracks[i]);
    free(tracks);
    free(strangers);
}

/* Queries of a minute whose originals are in the library. */
static size_t choose(struct doppel_library *library, const struct clips *copies,
                     const struct truths *truths, struct query *out)
{
    size_t count = 0;
    for (size_t i = 0; i < copies->count; i++) {
        struct doppel_item item;
        char path[4096];
        snprintf(path, sizeof path, "/%s", truths->list[i].clip);
        if (!copies->list[i].track.count || doppel_library_by_path(library, path, &item, NULL))
            continue;
        out[count++] = (struct query){&copies->list[i].track, item.id, false};
        doppel_item_free(&item);
    }
    return count;
}

static void search(const struct settings *settings, const struct clips *copies,
                   const struct truths *truths)
{
    const struct doppel_videos *set;
    struct doppel_error error = {0};
    struct query *queries = calloc(copies->count + 1, sizeof *queries);
    if (!queries)
        abort();
    double before = bench_memory("smaps_rollup", "Private_Dirty:") / 0x1p20;
    struct bench_time begun = bench_now();
    struct doppel_library *library = open_library(settings, true);
    bench_must(doppel_library_videos(library, &set, &error), &error);
    printf("ms to open                %.2f\n", bench_each_ms(begun, 1).wall);
    size_t count = choose(library, copies, truths, queries);
    query_all(set, queries, count, "plain", true);
    query_all(set, queries, count, "plain, again", true);
    query_all(set, queries, count, "all views", false);
    ask_strangers(set, queries, count);
    printf("private memory            %.1f MB, %.1f before; mapped files %.1f MB\n",
           bench_memory("smaps_rollup", "Private_Dirty:") / 0x1p20, before,
           bench_memory("smaps_rollup", "Private_Clean:") / 0x1p20);
    doppel_library_close(library);
    free(queries);
}

/* By a process of its own, whose memory is that of a search. */
static bool search_apart(const struct settings *settings, char **argv)
{
    int status = 1;
    char *const arguments[] = {argv[0],
                               "--search",
                               "--library",
                               (char *)settings->library,
                               (char *)settings->work,
                               settings->clips[0],
                               NULL};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

/* ---- running ---- */

static void read_videos(const struct settings *settings, struct clips *clips)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tracks", settings->work);
    videos_read(clips, &(struct reading){.folder = path, .threads = 2});
}

static bool make_and_search(struct settings *settings, char **argv)
{
    char made[] = "/tmp/video-library-XXXXXX";
    struct clips clips = {0};
    bool kept = settings->library;
    settings->library = kept ? settings->library : mkdtemp(made);
    for (char **clip = settings->clips; *clip; clip++)
        videos_add(&clips, *clip);
    if (!settings->library)
        return false;
    read_videos(settings, &clips);
    if (!kept || access(settings->library, F_OK) != 0)
        make(settings, &clips);
    bool done = search_apart(settings, argv);
    if (!kept) {
        printf("with %d hours in the log:\n", LOG_HOURS);
        add_and_die(settings, &clips);
        done = search_apart(settings, argv) && done;
    }
    videos_free(&clips);
    return (kept || bench_remove_folder(settings->library)) && done;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct truths truths;
    struct clips copies = {0};
    bool done = true;
    if (!parse(argc, argv, &settings) || !truths_read(&truths, settings.work, NULL)) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (settings.search) {
        truths_add_files(&truths, settings.work, &copies);
        read_videos(&settings, &copies);
        search(&settings, &copies, &truths);
    } else {
        done = make_and_search(&settings, argv);
    }
    videos_free(&copies);
    truths_free(&truths);
    return !done;
}
