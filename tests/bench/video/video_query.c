/* video_query WORK VIDEO...: what a query of a minute costs against many hours of video, most of
 * them simulated. */
#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "shelf.h"
#include "simulate.h"
#include "truth.h"

static const char USAGE[] =
    "usage: video_query [OPTION...] WORK VIDEO...\n"
    "WORK holds the queries, made by video_edits.py --only minute. VIDEO... "
    "are in the library, and\n"
    "what simulated videos are made of.\n"
    "  --hours H,...     of the library (default 100,1000)\n"
    "  --queries N       at most (default 20)\n"
    "  --kept            ask an index in files, too\n";

enum { SIZES = 8 };

struct settings {
    const char *work;
    double hours[SIZES];
    size_t sizes, queries;
    bool kept;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {{"hours", required_argument, NULL, 'h'},
                                            {"queries", required_argument, NULL, 'q'},
                                            {"kept", no_argument, NULL, 'k'},
                                            {NULL, 0, NULL, 0}};
    *out = (struct settings){.hours = {100, 1000}, .sizes = 2, .queries = 20};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == 'h') {
            out->sizes = 0;
            for (char *at = strtok(optarg, ","); at && out->sizes < SIZES; at = strtok(NULL, ","))
                out->hours[out->sizes++] = strtod(at, NULL);
        } else if (option == 'q') {
            out->queries = strtoul(optarg, NULL, 10);
        } else if (option == 'k') {
            out->kept = true;
        } else {
            return false;
        }
    }
    out->work = argv[optind];
    return optind + 2 <= argc;
}

/* ---- the library ---- */

struct stock {
    const struct clips *clips;
    struct doppel_videos *set;
    struct shelf shelf;
    bool kept;
    double hours;
    uint64_t count; /* of videos in it */
};

static void stock_add(struct stock *stock, const struct doppel_video_track *track)
{
    struct doppel_error error = {0};
    bench_must(doppel_videos_add(stock->set, stock->count, track, &error), &error);
    if (stock->kept)
        shelf_add(&stock->shelf, track);
    stock->count++;
    stock->hours += (double)track->duration_ms / 3.6e6;
}

static void stock_fill(struct stock *stock, double hours, struct random *random)
{
    while (stock->hours < hours) {
        struct doppel_video_track track;
        double minutes = exp(random_between(random, log(5), log(100)));
        simulate(stock->clips, (uint64_t)(60000 * minutes), random, &track);
        stock_add(stock, &track);
        doppel_video_track_free(&track);
    }
}

/* ---- how far unrelated items are apart ---- */

struct distances {
    uint64_t of_64[65], pairs;
    double sum, squares; /* of 256 bits */
    uint32_t least;
};

static void add_pair(struct distances *distances, const struct doppel_code *a,
                     const struct doppel_code *b)
{
    uint32_t wide = doppel_code_distance(a, b, 256);
    distances->of_64[doppel_code_distance(a, b, 64)]++;
    distances->sum += wide;
    distances->squares += (double)wide * wide;
    distances->least = wide < distances->least ? wide : distances->least;
    distances->pairs++;
}

static void print_distances(const char *name, const struct distances *distances)
{
    static const int LIMITS[] = {10, 12, 14, 16, 20};
    double pairs = fmax(1, (double)distances->pairs), mean = distances->sum / pairs;
    uint64_t below = 0;
    int limit = 0;
    printf("| %-9s | %7.1f M |", name, pairs / 1e6);
    for (int i = 0; i <= 20; i++) {
        below += distances->of_64[i];
        if (i == LIMITS[limit] && ++limit)
            printf(" %8.1e |", (double)below / pairs);
    }
    printf(" %5.1f | %4.1f | %3u |\n", mean,
           sqrt(fmax(0, distances->squares / pairs - mean * mean)), distances->least);
}

/* Pairs of runs of different videos. */
static void compare_videos(const struct clips *clips, struct distances *distances)
{
    for (size_t i = 0; i < clips->count; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t a = 0; a < clips->list[i].track.count; a++)
                for (size_t b = 0; b < clips->list[j].track.count; b++)
                    add_pair(distances, &clips->list[i].track.frames[a].code,
                             &clips->list[j].track.frames[b].code);
}

static void report_strangers(const struct clips *clips)
{
    struct distances real = {.least = 256}, simulated = {.least = 256}, mixed = {.least = 256};
    struct random random = random_seeded(7, "strangers", "");
    struct clips made = {0};
    double runs = 0, real_runs = 0;
    for (size_t i = 0; i < clips->count; i++) {
        videos_add(&made, clips->list[i].name);
        simulate(clips, 20000, &random, &made.list[i].track);
        runs += (double)made.list[i].track.count;
        real_runs += (double)clips->list[i].track.count;
        for (size_t j = 0; j < clips->count; j++)
            for (size_t a = 0; a < made.list[i].track.count; a++)
                for (size_t b = 0; b < clips->list[j].track.count; b++)
                    add_pair(&mixed, &made.list[i].track.frames[a].code,
                             &clips->list[j].track.frames[b].code);
    }
    compare_videos(clips, &real);
    compare_videos(&made, &simulated);
    printf(
        "runs of different videos: share within so many of 64 bits; mean, deviation and least of "
        "256\n\n"
        "| videos     | pairs     |       10 |       12 |       14 |       16 |       20 |  mean | "
        "dev. | least |\n"
        "|-----------|-----------|----------|----------|----------|----------|----------|-------|"
        "------|-----|\n");
    print_distances("real", &real);
    print_distances("simulated", &simulated);
    print_distances("one each", &mixed);
    printf("\nruns an hour: real %.0f, simulated %.0f\n", real_runs / videos_hours(clips),
           runs / videos_hours(&made));
    videos_free(&made);
}

/* ---- queries ---- */

/* One way to ask. */
struct way {
    const char *name;
    bool plain, thorough, strangers;
};

struct seen {
    uint64_t id;
    size_t matches;
    bool right;
};

static bool see(void *context, const struct doppel_found *found)
{
    struct seen *seen = context;
    seen->matches++;
    seen->right = seen->right || found->id == seen->id;
    return true;
}

/* The tracks that are asked, and the numbers of their originals. */
struct queries {
    struct doppel_video_track *tracks, *strangers;
    uint64_t *ids;
    size_t count;
};

static void ask(const struct doppel_videos *set, const struct queries *queries,
                const struct way *way, double *out_ms, size_t *out_right, size_t *out_wrong)
{
    struct doppel_video_search search = doppel_video_search_default();
    struct doppel_error error = {0};
    search.plain = way->plain;
    search.thorough = way->thorough;
    for (size_t i = 0; i < queries->count; i++) {
        struct seen seen = {.id = queries->ids[i]};
        double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        bench_must(doppel_videos_find(set,
                                      way->strangers ? &queries->strangers[i] : &queries->tracks[i],
                                      &search, see, &seen, &error),
                   &error);
        out_ms[i] = 1000 * (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start);
        *out_right += seen.right;
        *out_wrong += seen.matches - seen.right;
    }
}

static void report_times(const char *where, const struct doppel_videos *set,
                         const struct queries *queries)
{
    static const struct way WAYS[] = {{"plain, known", true, false, false},
                                      {"plain, stranger", true, false, true},
                                      {"known", false, false, false},
                                      {"stranger", false, false, true},
                                      {"thorough, stranger", false, true, true}};
    double *ms = calloc(queries->count + 1, sizeof *ms);
    if (!ms)
        abort();
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        size_t right = 0, others = 0;
        double sum = 0, worst = 0;
        ask(set, queries, &WAYS[i], ms, &right, &others);
        for (size_t k = 0; k < queries->count; k++) {
            sum += ms[k];
            worst = fmax(worst, ms[k]);
        }
        printf("| %-9s | %-18s | %8.1f | %8.1f | %8.1f | %5zu | %5zu | %6zu |\n", where,
               WAYS[i].name, bench_median(ms, queries->count),
               sum / fmax(1, (double)queries->count), worst, queries->count, right, others);
        fflush(stdout);
    }
    free(ms);
}

static void report_stock(struct stock *stock, const struct queries *queries)
{
    uint64_t runs = doppel_videos_frames(stock->set);
    malloc_trim(0);
    printf("\n%.1f h, %llu videos, %.2f M runs (%.0f an hour); memory %.0f MB\n", stock->hours,
           (unsigned long long)stock->count, (double)runs / 1e6, (double)runs / stock->hours,
           bench_memory("status", "RssAnon:") / 0x1p20);
    if (stock->kept) {
        shelf_settle(&stock->shelf);
        printf("kept: index %.1f KB an hour, tracks %.1f KB an hour\n",
               (double)doppel_index_info(stock->shelf.index).bytes / 1e3 / stock->hours,
               (double)stock->shelf.ends[stock->shelf.count - 1] / 1e3 / stock->hours);
    }
    printf(
        "\n| index     | query              | median ms |  mean ms | worst ms | asked | right | "
        "others |\n|-----------|--------------------|----------|----------|----------|-------|---"
        "----|--------|\n");
    report_times("in memory", stock->set, queries);
    if (stock->kept)
        report_times("kept", stock->shelf.set, queries);
}

static void choose(struct queries *queries, const struct clips *copies, const struct truths *truths,
                   const struct clips *clips, const struct settings *settings)
{
    *queries = (struct queries){calloc(copies->count + 1, sizeof *queries->tracks),
                                calloc(copies->count + 1, sizeof *queries->strangers),
                                calloc(copies->count + 1, sizeof *queries->ids), 0};
    if (!queries->tracks || !queries->strangers || !queries->ids)
        abort();
    for (size_t i = 0; i < copies->count && queries->count < settings->queries; i++) {
        const struct clip *original = videos_named(clips, truths->list[i].clip);
        if (!original || !copies->list[i].track.count)
            continue;
        queries->ids[queries->count] = (uint64_t)(original - clips->list);
        queries->tracks[queries->count] = copies->list[i].track;
        tilt(&copies->list[i].track, &queries->strangers[queries->count++]);
    }
}

static void run(const struct settings *settings, const struct clips *clips,
                const struct clips *copies, const struct truths *truths)
{
    struct doppel_error error = {0};
    struct stock stock = {.clips = clips, .kept = settings->kept};
    struct queries queries;
    struct random random = random_seeded(1, "video_query", "");
    choose(&queries, copies, truths, clips, settings);
    bench_must(doppel_videos_new(&stock.set, &error), &error);
    if (stock.kept)
        shelf_open(&stock.shelf, settings->work);
    for (size_t i = 0; i < clips->count; i++)
        stock_add(&stock, &clips->list[i].track);
    for (size_t i = 0; i < settings->sizes; i++) {
        stock_fill(&stock, settings->hours[i], &random);
        report_stock(&stock, &queries);
    }
    for (size_t i = 0; i < queries.count; i++)
        doppel_video_track_free(&queries.strangers[i]);
    free(queries.tracks);
    free(queries.strangers);
    free(queries.ids);
    doppel_videos_free(stock.set);
    if (stock.kept)
        shelf_close(&stock.shelf);
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct clips clips = {0}, copies = {0};
    struct truths truths;
    char path[4096];
    if (!parse(argc, argv, &settings) || !truths_read(&truths, settings.work, NULL)) {
        fputs(USAGE, stderr);
        return 2;
    }
    truths_add_files(&truths, settings.work, &copies);
    for (int i = optind + 1; i < argc; i++)
        videos_add(&clips, argv[i]);
    snprintf(path, sizeof path, "%s/tracks", settings.work);
    struct reading reading = {.folder = path, .threads = 2};
    videos_read(&clips, &reading);
    videos_read(&copies, &reading);
    report_strangers(&clips);
    run(&settings, &clips, &copies, &truths);
    videos_free(&clips);
    videos_free(&copies);
    truths_free(&truths);
    return 0;
}
