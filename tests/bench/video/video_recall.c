/* video_recall WORK VIDEO...: how many edited copies of videos doppel finds again among them,
 * where, and which it takes for others. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "asked.h"
#include "report.h"

static const char USAGE[] =
    "usage: video_recall [OPTION...] WORK VIDEO...\n"
    "WORK holds copies and their truth, as video_edits.py makes them, and keeps tracks; VIDEO... "
    "is\n"
    "the library, what the copies were made from and others.\n"
    "  --only EDIT,...    these edits\n"
    "  --limit E          of a match (default 1e-3)\n"
    "  --plain            as the frame is and mirrored, nothing else\n"
    "  --thorough         a finer grid of views\n"
    "  --same-speed       no other speeds\n"
    "  --keyframes        videos are read at their keyframes\n"
    "  --refine           ends of segments are looked at closely, too\n"
    "  --compare          what is not found is compared with its original, too\n"
    "  --failures         tell what was not found, or wrongly\n"
    "  --fresh            read tracks again that are kept\n"
    "  --threads N        (default 2)\n";

struct settings {
    const char *work, *only;
    struct reading clips, queries;
    struct asking asking;
    unsigned threads;
    bool failures;
};

enum {
    ONLY = 256,
    LIMIT,
    PLAIN,
    THOROUGH,
    SPEED,
    KEYFRAMES,
    REFINE,
    COMPARE,
    FAILURES,
    FRESH,
    THREADS
};

static const struct option OPTIONS[] = {
    {"only", required_argument, NULL, ONLY},       {"limit", required_argument, NULL, LIMIT},
    {"plain", no_argument, NULL, PLAIN},           {"thorough", no_argument, NULL, THOROUGH},
    {"same-speed", no_argument, NULL, SPEED},      {"keyframes", no_argument, NULL, KEYFRAMES},
    {"refine", no_argument, NULL, REFINE},         {"compare", no_argument, NULL, COMPARE},
    {"failures", no_argument, NULL, FAILURES},     {"fresh", no_argument, NULL, FRESH},
    {"threads", required_argument, NULL, THREADS}, {NULL, 0, NULL, 0}};

static bool set_option(struct settings *settings, int option)
{
    if (option == ONLY)
        settings->only = optarg;
    else if (option == LIMIT)
        settings->asking.search.max_expected = strtod(optarg, NULL);
    else if (option == PLAIN)
        settings->asking.search.plain = true;
    else if (option == THOROUGH)
        settings->asking.search.thorough = true;
    else if (option == SPEED)
        settings->asking.search.same_speed = true;
    else if (option == KEYFRAMES)
        settings->clips.keyframes = true;
    else if (option == REFINE)
        settings->asking.refine = true;
    else if (option == COMPARE)
        settings->asking.compare = true;
    else if (option == FAILURES)
        settings->failures = true;
    else if (option == FRESH)
        settings->clips.fresh = settings->queries.fresh = true;
    else if (option == THREADS)
        settings->threads = (unsigned)strtoul(optarg, NULL, 10);
    else
        return false;
    return true;
}

static bool parse(int argc, char **argv, struct settings *out)
{
    *out = (struct settings){.threads = 2, .asking = {.search = doppel_video_search_default()}};
    out->asking.search.near_misses = 16;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;)
        if (!set_option(out, option))
            return false;
    out->clips.threads = out->queries.threads = out->threads;
    out->work = argv[optind];
    return optind + 2 <= argc;
}

/* ---- the set ---- */

static struct doppel_videos *shelve(const struct clips *clips)
{
    struct doppel_videos *set;
    struct doppel_error error = {0};
    bench_must(doppel_videos_new(&set, &error), &error);
    for (size_t i = 0; i < clips->count; i++)
        if (clips->list[i].read)
            bench_must(doppel_videos_add(set, i, &clips->list[i].track, &error), &error);
    return set;
}

/* A video whose code never moves is one picture, too. */
static void mark_still(struct truths *truths, const struct clips *clips)
{
    for (size_t i = 0; i < truths->count; i++) {
        const struct clip *clip = videos_named(clips, truths->list[i].clip);
        truths->list[i].is_static = truths->list[i].is_static || (clip && clip->track.count <= 1);
    }
}

/* ---- the queries ---- */

struct round {
    const struct asking *asking;
    const struct truths *truths;
    const struct clips *queries;
    struct asked *asked;
};

static void ask_one(void *context, size_t number)
{
    const struct round *round = context;
    round->asked[number] =
        ask(round->asking, &round->queries->list[number], &round->truths->list[number]);
}

static void run(const struct settings *settings, const struct clips *clips,
                const struct truths *truths)
{
    struct clips queries = {0};
    struct asking asking = settings->asking;
    truths_add_files(truths, settings->work, &queries);
    videos_read(&queries, &settings->queries);
    asking.clips = clips;
    struct doppel_videos *set = shelve(clips);
    asking.set = set;
    struct round round = {&asking, truths, &queries,
                          calloc(truths->count + 1, sizeof *round.asked)};
    if (!round.asked)
        abort();
    in_parallel(truths->count, settings->threads, ask_one, &round);
    struct report report = {truths, clips, round.asked, asking.refine};
    printf("%zu queries, %zu videos, %.2f h, %llu runs of frames\n\n", truths->count, clips->count,
           videos_hours(clips), (unsigned long long)doppel_videos_frames(set));
    if (settings->failures)
        report_failures(&report);
    report_recall(&report);
    report_ends(&report);
    free(round.asked);
    videos_free(&queries);
    doppel_videos_free(set);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct clips clips = {0};
    struct truths truths;
    char folder[4096];
    if (!parse(argc, argv, &settings)) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (!truths_read(&truths, settings.work, settings.only)) {
        fprintf(stderr, "video_recall: %s/queries.tsv cannot be read\n", settings.work);
        return 1;
    }
    snprintf(folder, sizeof folder, "%s/tracks", settings.work);
    settings.clips.folder = settings.queries.folder = folder;
    for (int i = optind + 1; i < argc; i++)
        videos_add(&clips, argv[i]);
    videos_read(&clips, &settings.clips);
    mark_still(&truths, &clips);
    run(&settings, &clips, &truths);
    videos_free(&clips);
    truths_free(&truths);
    return 0;
}
