/*
 * audio_query [OPTION...] DIR: what a query costs, and whether it is found, in a set of the tracks
 * of DIR and, beyond their length, of copies made to have the postings' skew of music: the peaks of
 * the same tracks, transposed by up to seven semitones, stretched by -20 to +25 %, thinned by 15 %
 * and jittered. Postings and peaks lie in files, as a library keeps them.
 */
#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/array.h"
#include "match/audio/audio_internal.h"

#include "../bench.h"
#include "edits.h"

enum { FLUSH_SECONDS = 20 * 3600, HOURS_MOST = 8 };

static const char USAGE[] =
    "usage: audio_query [OPTION...] DIR\n"
    "  -n N             queries of a kind (default 200)\n"
    "  --hours A,B,...  of the set (default 10,100)\n"
    "  --seconds S      of a query (default 5)\n"
    "  --scaled N       queries of tracks that are not in it, and queries of "
    "which all\n"
    "                   scaled hypotheses are tried (default 100 each)\n";

struct settings {
    size_t queries, scaled;
    double seconds, hours[HOURS_MOST];
    size_t hours_count;
    const char *folder;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {{"hours", required_argument, NULL, 'h'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {"scaled", required_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    *out = (struct settings){
        .queries = 200, .scaled = 100, .seconds = 5, .hours = {10, 100}, .hours_count = 2};
    for (int option; (option = getopt_long(argc, argv, "n:", OPTIONS, NULL)) != -1;) {
        if (option == 'n')
            out->queries = strtoul(optarg, NULL, 10);
        else if (option == 's')
            out->seconds = strtod(optarg, NULL);
        else if (option == 'c')
            out->scaled = strtoul(optarg, NULL, 10);
        else if (option != 'h')
            return false;
        if (option != 'h')
            continue;
        out->hours_count = 0;
        for (char *at = strtok(optarg, ","); at && out->hours_count < HOURS_MOST;
             at = strtok(NULL, ","))
            out->hours[out->hours_count++] = strtod(at, NULL);
    }
    out->folder = argv[optind];
    return optind + 1 == argc && out->seconds > 0;
}

/* ---- the set ---- */

struct shelf {
    char folder[32];
    struct doppel_index *index;
    struct doppel_recordings *recordings;
    FILE *file; /* peaks in their portable form, one item after the other */
    ARRAY(uint64_t) ends;
    const uint8_t *peaks; /* the file, mapped */
    size_t mapped;
    double seconds, unflushed;
};

static bool give(void *context, uint64_t id, uint32_t from, uint32_t to,
                 struct doppel_audio_track *out)
{
    const struct shelf *shelf = context;
    uint64_t start = id ? shelf->ends.items[id - 1] : 0;
    return doppel_audio_track_read_range(shelf->peaks + start, shelf->ends.items[id] - start, from,
                                         to, out, NULL) == DOPPEL_OK;
}

static void shelf_open(struct shelf *shelf)
{
    struct doppel_index_options options = doppel_recordings_index_options();
    struct doppel_error error = {0};
    char path[64];
    *shelf = (struct shelf){.folder = "/tmp/audio_query.XXXXXX"};
    if (!mkdtemp(shelf->folder))
        abort();
    struct doppel_index_files files = {.folder = shelf->folder};
    bench_must(doppel_index_open(&options, &files, &shelf->index, &error), &error);
    bench_must(doppel_recordings_over(shelf->index, give, shelf, &shelf->recordings, &error),
               &error);
    snprintf(path, sizeof path, "%s/peaks", shelf->folder);
    shelf->file = fopen(path, "w+b");
    if (!shelf->file || unlink(path))
        abort();
}

static void shelf_close(struct shelf *shelf)
{
    doppel_recordings_free(shelf->recordings);
    doppel_index_free(shelf->index);
    if (shelf->mapped)
        munmap((void *)shelf->peaks, shelf->mapped);
    fclose(shelf->file);
    array_free(&shelf->ends);
    bench_remove_folder(shelf->folder);
}

static void shelf_flush(struct shelf *shelf)
{
    struct doppel_error error = {0};
    bench_must(doppel_index_flush(shelf->index, &error), &error);
    shelf->unflushed = 0;
}

static void shelf_add(struct shelf *shelf, const struct doppel_audio_track *track)
{
    struct doppel_error error = {0};
    struct doppel_recording recording = {track->peaks, track->count,
                                         (double)track->duration_ms / 1000};
    struct doppel_index_posting *postings;
    size_t count, size = doppel_audio_track_size(track, true);
    bench_must(doppel_recording_postings(&recording, &postings, &count, &error), &error);
    struct doppel_index_item item = {.payload = shelf->ends.count,
                                     .length = doppel_recording_hops(&recording),
                                     .count = (uint32_t)count,
                                     .postings = postings};
    bench_must(doppel_index_insert_item(shelf->index, &item, &error), &error);
    free(postings);
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        abort();
    doppel_audio_track_write(track, true, bytes);
    uint64_t start = shelf->ends.count ? shelf->ends.items[shelf->ends.count - 1] : 0;
    if (fwrite(bytes, 1, size, shelf->file) != size || !array_push(&shelf->ends, start + size))
        abort();
    free(bytes);
    shelf->seconds += recording.duration;
    shelf->unflushed += recording.duration;
    if (shelf->unflushed >= FLUSH_SECONDS)
        shelf_flush(shelf);
}

/* All postings in one segment, and the peaks mapped. */
static void shelf_settle(struct shelf *shelf)
{
    struct doppel_error error = {0};
    shelf_flush(shelf);
    bench_must(doppel_index_compact(shelf->index, true, &error), &error);
    if (shelf->mapped)
        munmap((void *)shelf->peaks, shelf->mapped);
    fflush(shelf->file);
    shelf->mapped = shelf->ends.items[shelf->ends.count - 1];
    shelf->peaks = mmap(NULL, shelf->mapped, PROT_READ, MAP_SHARED, fileno(shelf->file), 0);
    if (shelf->peaks == MAP_FAILED)
        abort();
}

/* ---- synthetic tracks ---- */

static int by_time(const void *left, const void *right)
{
    const struct doppel_audio_peak *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->frequency < b->frequency ? -1 : a->frequency > b->frequency;
}

static struct doppel_audio_track vary(const struct doppel_audio_track *track, struct random *random)
{
    static const double LOWEST = 8 * 64, HIGHEST = 470 * 64;
    int semitones = 1 + random_below(random, 7);
    double pitch = exp2((random_below(random, 2) ? semitones : -semitones) / 12.0);
    double stretch = random_between(random, 0.8, 1.25);
    struct doppel_audio_track out = {.duration_ms =
                                         (uint64_t)((double)track->duration_ms * stretch)};
    out.peaks = malloc((track->count + 1) * sizeof *out.peaks);
    if (!out.peaks)
        abort();
    for (size_t i = 0; i < track->count; i++) {
        if (!track->peaks[i].strong || random_between(random, 0, 1) < 0.15)
            continue;
        double frequency = track->peaks[i].frequency * pitch + random_between(random, -10, 10);
        if (frequency < LOWEST || frequency >= HIGHEST)
            frequency = LOWEST + fmod(fabs(frequency), HIGHEST - LOWEST);
        double time = track->peaks[i].time * stretch + random_between(random, -5, 5);
        out.peaks[out.count++] =
            (struct doppel_audio_peak){(uint32_t)fmax(0, time), (uint16_t)frequency, true, false};
    }
    qsort(out.peaks, out.count, sizeof *out.peaks, by_time);
    return out;
}

static void fill(struct shelf *shelf, const struct tracks *tracks, double hours,
                 struct random *random)
{
    for (size_t i = 0; shelf->seconds < hours * 3600; i = (i + 1) % tracks->count) {
        if (track_role(&tracks->list[i], 0) != ROLE_INDEXED)
            continue;
        struct doppel_audio_track copy = vary(&tracks->list[i].peaks, random);
        shelf_add(shelf, &copy);
        doppel_audio_track_free(&copy);
    }
    shelf_settle(shelf);
}

/* ---- queries ---- */

/* Of this process, in MB: of the sets' files nothing, of the bench the peaks of tracks and queries.
 */
static double private_memory(void)
{
    return bench_memory("status", "RssAnon:") / 0x1p20;
}

/* A kind of queries: clips of the tracks of the set, or of others, by their peaks. */
struct kind {
    const char *name;
    edit_function *apply;
    bool unknown; /* of tracks that are not in the set */
    bool scaled;  /* all scaled hypotheses are tried, whatever is found */
    struct doppel_audio_track *peaks;
    uint64_t *ids;
    size_t count;
    double seconds; /* of CPU, to make the peaks */
};

static void make_queries(struct kind *kind, const struct settings *settings,
                         const struct tracks *tracks, const uint64_t *ids)
{
    struct cell cell = {kind->name, kind->apply, 0, settings->seconds, 0, false};
    struct scene scene = {tracks, 0, random_seeded(1, kind->name, "")};
    size_t most = kind->scaled || kind->unknown ? settings->scaled : settings->queries;
    enum role role = kind->unknown ? ROLE_NEGATIVE : ROLE_INDEXED;
    kind->peaks = calloc(most + 1, sizeof *kind->peaks);
    kind->ids = calloc(most + 1, sizeof *kind->ids);
    if (!kind->peaks || !kind->ids)
        abort();
    for (size_t i = 0; i < most; i++) {
        double from = 0;
        const struct track *track =
            tracks_draw_clip(tracks, 0, role, cell.seconds, &scene.random, &from);
        if (!track)
            break;
        struct recording clip = cell_clip(&cell, &track->audio, from, &scene);
        double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        kind->ids[kind->count] = kind->unknown ? UINT64_MAX : ids[track - tracks->list];
        kind->peaks[kind->count++] = peaks_of(&clip);
        kind->seconds += bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        audio_free(&clip);
    }
}

static void free_queries(struct kind *kind)
{
    for (size_t i = 0; i < kind->count; i++)
        doppel_audio_track_free(&kind->peaks[i]);
    free(kind->peaks);
    free(kind->ids);
}

static void ask(const struct shelf *shelf, const struct kind *kind)
{
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_error error = {0};
    struct alignment found[ALIGNMENTS_MAX];
    size_t first = 0, right = 0;
    double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    options.max_false_positives = kind->scaled ? 0 : 0.01;
    options.same_speed = !kind->scaled && !kind->unknown;
    for (size_t i = 0; i < kind->count; i++) {
        size_t count = 0;
        bench_must(window_find(shelf->recordings, kind->peaks[i].peaks, kind->peaks[i].count,
                               &options, NULL, found, &count, &error),
                   &error);
        bool is_first = count && found[0].id == kind->ids[i];
        first += is_first;
        right += is_first && found[0].rate <= 0.01;
    }
    double each = 1 / fmax(1, (double)kind->count);
    printf("| %8.1f | %-16s | %7.2f | %7.2f | %6.1f | %6.1f | %7.1f |\n", shelf->seconds / 3600,
           kind->name, 1000 * each * kind->seconds,
           1000 * each * (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start),
           100 * each * (double)first, 100 * each * (double)right, private_memory());
    fflush(stdout);
}

static void print_head(const struct shelf *shelf)
{
    struct doppel_index_info info = doppel_index_info(shelf->index);
    double hours = shelf->seconds / 3600;
    printf("\n%.1f h: %.1f M postings in %zu segments, %.2f MB an hour; peaks %.2f MB an hour\n\n",
           hours, (double)info.codes / 1e6, info.segments, (double)info.bytes / 1e6 / hours,
           (double)shelf->mapped / 1e6 / hours);
    printf("|    hours | query            | peaks   | find    |  first |  found | private |\n"
           "|          |                  | ms      | ms      |      %% |      %% | MB      |\n"
           "|----------|------------------|---------|---------|--------|--------|---------|\n");
}

static void add_tracks(struct shelf *shelf, const struct tracks *tracks, uint64_t *ids)
{
    for (size_t i = 0; i < tracks->count; i++)
        if (track_role(&tracks->list[i], 0) == ROLE_INDEXED) {
            ids[i] = shelf->ends.count;
            shelf_add(shelf, &tracks->list[i].peaks);
        }
}

int main(int argc, char **argv)
{
    struct kind kinds[] = {{.name = "clean"},
                           {.name = "babble 0 dB", .apply = edit_babble},
                           {.name = "white noise 0 dB", .apply = edit_white},
                           {.name = "other music 0 dB", .apply = edit_music},
                           {.name = "unknown", .unknown = true},
                           {.name = "scaled", .scaled = true}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct settings settings;
    struct tracks tracks = {0};
    struct shelf shelf;
    if (!parse(argc, argv, &settings) || !tracks_read(&tracks, settings.folder, 600)) {
        fputs(USAGE, stderr);
        return 2;
    }
    struct random random = random_seeded(1, "query", "");
    uint64_t *ids = calloc(tracks.count, sizeof *ids);
    if (!ids)
        abort();
    shelf_open(&shelf);
    add_tracks(&shelf, &tracks, ids);
    for (size_t i = 0; i < KINDS; i++)
        make_queries(&kinds[i], &settings, &tracks, ids);
    for (size_t i = 0; i < tracks.count; i++)
        audio_free(&tracks.list[i].audio); /* of no use any more: what is asked are peaks */
    for (size_t i = 0; i < settings.hours_count; i++) {
        fill(&shelf, &tracks, settings.hours[i], &random);
        malloc_trim(0);
        print_head(&shelf);
        for (size_t kind = 0; kind < KINDS; kind++)
            ask(&shelf, &kinds[kind]);
    }
    for (size_t i = 0; i < KINDS; i++)
        free_queries(&kinds[i]);
    shelf_close(&shelf);
    free(ids);
    tracks_free(&tracks);
    return 0;
}
