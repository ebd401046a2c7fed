/* audio_library [HOURS [TRACK_SECONDS [FOLDER]]]: what recordings cost in a library, made-up ones
 * whose keys collide as often as those of music: bytes on the disk, seconds to add, and, by a
 * process of its own, milliseconds to open and private memory after searches. */
#include <doppel/library.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "random.h"

enum { STRONG_A_SECOND = 40, STEPS_A_SECOND = 689, COMMIT_ITEMS = 100, QUERIES = 100, NOTES = 7 };

static const double BIN_HZ = (double)DOPPEL_AUDIO_RATE / DOPPEL_AUDIO_WINDOW;

/* ---- made-up recordings ---- */

static int compare_peaks(const void *a, const void *b)
{
    const struct doppel_audio_peak *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->frequency < y->frequency ? -1 : x->frequency > y->frequency;
}

/* Thirteen of 32 peaks are partials of seven notes of two octaves that the track keeps to, the
 * others anywhere, more of them low. */
static uint16_t draw_frequency(struct random *random, const double notes[NOTES])
{
    double bin = 8 + 462 * pow(random_between(random, 0, 1), 2);
    if (random_next(random) % 32 < 13)
        bin = notes[random_next(random) % NOTES] * (double)(1 + random_next(random) % 8);
    if (bin > 470)
        bin = 8 + fmod(bin, 462);
    return (uint16_t)(bin * DOPPEL_AUDIO_BIN_STEPS);
}

static struct doppel_audio_track make_track(uint64_t seed, uint32_t seconds)
{
    struct doppel_audio_track track = {.count = seconds * (size_t)STRONG_A_SECOND,
                                       .duration_ms = seconds * 1000ull};
    double notes[NOTES];
    struct random random = {seed * 0x100000001};
    track.peaks = calloc(track.count, sizeof *track.peaks);
    if (!track.peaks)
        exit(1);
    for (size_t i = 0; i < NOTES; i++)
        notes[i] = 110 * exp2((double)(random_next(&random) % 24) / 12) / BIN_HZ;
    for (size_t i = 0; i < track.count; i++)
        track.peaks[i] =
            (struct doppel_audio_peak){.time = (uint32_t)(i / STRONG_A_SECOND * STEPS_A_SECOND +
                                                          random_next(&random) % STEPS_A_SECOND),
                                       .frequency = draw_frequency(&random, notes),
                                       .strong = true};
    qsort(track.peaks, track.count, sizeof *track.peaks, compare_peaks);
    return track;
}

static struct doppel_record make_record(uint64_t seed, uint32_t seconds)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PEAKS32);
    struct doppel_audio_track track = make_track(seed, seconds);
    struct doppel_record record = {.digest = doppel_digest_bytes(&seed, sizeof seed),
                                   .kind = DOPPEL_KIND_AUDIO,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .attachment_size = doppel_audio_track_size(&track, false)};
    record.attachment = malloc(record.attachment_size);
    if (!record.attachment || doppel_fingerprint_make(scheme, 64, 0, &record.fingerprint, NULL))
        exit(1);
    doppel_audio_track_write(&track, false, record.attachment);
    doppel_audio_track_free(&track);
    return record;
}

/* ---- adding ---- */

struct work {
    const char *folder;
    uint64_t tracks;
    uint32_t seconds; /* of each */
};

/* Making the recordings is not counted. @return seconds */
static double add(struct doppel_library *library, const struct work *work, uint64_t first,
                  uint64_t count)
{
    struct doppel_error error;
    double seconds = 0;
    for (uint64_t i = first; i < first + count; i++) {
        char path[64];
        struct doppel_record record = make_record(i, work->seconds);
        const struct doppel_file_stamp stamp = {.inode = i};
        enum doppel_added added;
        uint64_t id;
        snprintf(path, sizeof path, "/sounds/%llu", (unsigned long long)i);
        struct bench_time begun = bench_now();
        bench_must(doppel_library_add(library, path, &stamp, &record, &added, &id, &error), &error);
        if (i % COMMIT_ITEMS == COMMIT_ITEMS - 1 || i == first + count - 1)
            bench_must(doppel_library_commit(library, &error), &error);
        seconds += bench_now().wall - begun.wall;
        doppel_record_free(&record);
    }
    return seconds;
}

static struct doppel_library *open_library(const struct work *work)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library;
    struct doppel_error error;
    bench_must(doppel_library_open(work->folder, &options, &library, &error), &error);
    return library;
}

static void add_all(const struct work *work)
{
    struct doppel_library *library = open_library(work);
    double hours = (double)work->tracks * work->seconds / 3600;
    double adding = add(library, work, 0, work->tracks);
    struct bench_time begun = bench_now();
    doppel_library_close(library);
    double closing = bench_now().wall - begun.wall;
    printf("recordings                    %.0f hours in %llu tracks\n", hours,
           (unsigned long long)work->tracks);
    printf("seconds to add            %.2f and %.2f to close: %.1f hours a second\n", adding,
           closing, hours / (adding + closing));
}

/* Half an hour in the log, and nobody who makes a segment of it. */
static void add_and_die(const struct work *work)
{
    pid_t child = fork();
    if (child == 0) {
        add(open_library(work), work, work->tracks, 1800 / work->seconds);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- the disk ---- */

/* Postings of all tracks, and how much more often two of some keys are equal than uniform ones. */
static double count_postings(const struct work *work, double *out_collisions)
{
    enum { SAMPLED = 50, KEYS = 1 << DOPPEL_AUDIO_KEY_BITS };
    uint32_t *counts = calloc(KEYS, sizeof *counts);
    double sampled = 0, pairs = 0;
    uint64_t tracks = work->tracks < SAMPLED ? work->tracks : SAMPLED;
    for (uint64_t i = 0; counts && i < tracks; i++) {
        struct doppel_audio_track track = make_track(i, work->seconds);
        const struct doppel_recording recording = {track.peaks, track.count, work->seconds};
        struct doppel_index_posting *postings;
        struct doppel_error error;
        size_t count;
        bench_must(doppel_recording_postings(&recording, &postings, &count, &error), &error);
        for (size_t k = 0; k < count; k++)
            pairs += counts[postings[k].key]++;
        sampled += (double)count;
        free(postings);
        doppel_audio_track_free(&track);
    }
    free(counts);
    *out_collisions = pairs / (sampled * sampled / 2 / KEYS);
    return sampled / (double)tracks * (double)work->tracks;
}

static double peaks_mb(const struct work *work)
{
    struct doppel_record record = make_record(0, work->seconds);
    double mb = (double)record.attachment_size * (double)work->tracks / 1e6;
    doppel_record_free(&record);
    return mb;
}

static void print_disk(const struct work *work)
{
    char path[1024];
    size_t files;
    double hours = (double)work->tracks * work->seconds / 3600, collisions;
    double postings = count_postings(work, &collisions);
    snprintf(path, sizeof path, "%s/catalogue.db", work->folder);
    double catalogue = bench_file_mb(path);
    snprintf(path, sizeof path, "%s/sounds", work->folder);
    double segments = bench_folder_mb(path, &files);
    printf("postings                  %.1f million; equal keys %.0f x those of uniform ones\n",
           postings / 1e6, collisions);
    printf("bytes a posting           %.2f in %zu segments (goal 4)\n", segments * 1e6 / postings,
           files);
    printf("MB an hour, peaks alone   %.2f (goal .6)\n", peaks_mb(work) / hours);
    printf("MB an hour, catalogue     %.2f\n", catalogue / hours);
    printf("MB an hour, all           %.2f (goal 4)\n", (catalogue + segments) / hours);
}

/* ---- searching ---- */

static bool note_first(void *context, const struct doppel_found *found)
{
    uint64_t *id = context;
    *id = *id ? *id : found->id;
    return true;
}

/* Five seconds out of the middle of a track, as the library has them, every third peak left out. */
static bool search(const struct doppel_recordings *recordings, uint64_t number, uint32_t seconds,
                   double *out_ms)
{
    struct doppel_audio_track track = make_track(number, seconds);
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_error error;
    uint32_t from = seconds / 2 * STEPS_A_SECOND, to = from + 5 * STEPS_A_SECOND;
    uint64_t id = 0;
    size_t kept = 0;
    for (size_t i = 0; i < track.count; i++)
        if (track.peaks[i].time >= from && track.peaks[i].time < to && i % 3) {
            track.peaks[kept] = track.peaks[i];
            track.peaks[kept++].time -= from;
        }
    const struct doppel_recording query = {track.peaks, kept, 5};
    struct bench_time begun = bench_now();
    bench_must(doppel_recordings_find(recordings, &query, &options, note_first, &id, &error),
               &error);
    *out_ms = bench_each_ms(begun, 1).wall;
    doppel_audio_track_free(&track);
    return id == number + 1;
}

static int search_all(const struct work *work)
{
    const struct doppel_library_options options = {.read_only = true};
    const struct doppel_recordings *recordings;
    struct doppel_library *library;
    struct doppel_error error;
    double before = bench_memory("smaps_rollup", "Private_Dirty:") / 0x1p20, times[QUERIES];
    struct bench_time begun = bench_now();
    bench_must(doppel_library_open(work->folder, &options, &library, &error), &error);
    bench_must(doppel_library_recordings(library, &recordings, &error), &error);
    double open_ms = bench_each_ms(begun, 1).wall;
    size_t found = 0;
    for (size_t i = 0; i < QUERIES; i++)
        found += search(recordings, i * 7919 % work->tracks, work->seconds, &times[i]);
    printf("ms to open                %.2f\n", open_ms);
    printf("5-s queries               %zu of %d found, median %.1f ms\n", found, QUERIES,
           bench_median(times, QUERIES));
    printf("private memory            %.1f MB, %.1f before (goal 50); mapped files %.1f MB\n",
           bench_memory("smaps_rollup", "Private_Dirty:") / 0x1p20, before,
           bench_memory("smaps_rollup", "Private_Clean:") / 0x1p20);
    doppel_library_close(library);
    return 0;
}

/* By a process of its own, whose memory is that of a search. */
static bool search_apart(const struct work *work, char *program)
{
    char tracks[32], seconds[32];
    int status = 1;
    snprintf(tracks, sizeof tracks, "%.17g", (double)work->tracks * work->seconds / 3600);
    snprintf(seconds, sizeof seconds, "%u", work->seconds);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", program, tracks, seconds, work->folder, "search", NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

int main(int argc, char **argv)
{
    double hours = argc > 1 ? strtod(argv[1], NULL) : 10;
    char made[] = "/tmp/audio-library-XXXXXX";
    struct work work = {.seconds = argc > 2 ? (uint32_t)atoi(argv[2]) : 240};
    work.folder = argc > 3 ? argv[3] : mkdtemp(made);
    if (!work.folder || work.seconds < 10)
        return 2;
    work.tracks = (uint64_t)(hours * 3600 / work.seconds + .5);
    if (argc > 4)
        return search_all(&work);
    if (!work.tracks)
        return 2;
    add_all(&work);
    print_disk(&work);
    bool done = search_apart(&work, argv[0]);
    printf("with half an hour in the log:\n");
    add_and_die(&work);
    done = search_apart(&work, argv[0]) && done;
    if (argc <= 3)
        done = bench_remove_folder(work.folder) && done;
    return !done;
}
