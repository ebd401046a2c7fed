/* audio_calibrate DIR: the scores that clips of tracks which are not in the index get, by length of
 * the clip and size of the set, and the law of their tail. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "match/audio/audio_internal.h"

#include "ask.h"
#include "heard.h"

static const char USAGE[] =
    "usage: audio_calibrate [OPTION...] DIR\n"
    "  -n N             clips of each length (default 2000)\n"
    "  --scaled N       clips of each length under scaled hypotheses (default 500)\n"
    "  --part P         index one in P tracks (default 1)\n"
    "  --most SECONDS   of each track (default 600)\n"
    "  --seed N         of the clips (default 1)\n"
    "Tracks are held out in turn, as audio_recall does.\n";

struct settings {
    size_t plain, scaled, part;
    double most_seconds;
    uint64_t seed;
    const char *folder;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {{"scaled", required_argument, NULL, 'c'},
                                            {"part", required_argument, NULL, 'p'},
                                            {"most", required_argument, NULL, 'm'},
                                            {"seed", required_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    *out =
        (struct settings){.plain = 2000, .scaled = 500, .part = 1, .most_seconds = 600, .seed = 1};
    for (int option; (option = getopt_long(argc, argv, "n:", OPTIONS, NULL)) != -1;) {
        if (option == 'n')
            out->plain = strtoul(optarg, NULL, 10);
        else if (option == 'c')
            out->scaled = strtoul(optarg, NULL, 10);
        else if (option == 'p')
            out->part = strtoul(optarg, NULL, 10);
        else if (option == 'm')
            out->most_seconds = strtod(optarg, NULL);
        else if (option == 's')
            out->seed = strtoull(optarg, NULL, 10);
        else
            return false;
    }
    out->folder = argv[optind];
    return optind + 1 == argc && out->part > 0;
}

static const double LENGTHS[] = {1, 2, 3, 5, 10};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS };

/* The best score a clip; kinds of clips apart. */
enum kind { MUSIC, SPEECH, KINDS };
struct scores {
    double *list[KINDS];
    size_t count[KINDS];
    size_t shared; /* clips that are no unrelated items */
};

static void add(struct scores *scores, enum kind kind, double score, size_t most)
{
    if (!scores->list[kind])
        scores->list[kind] = calloc(most, sizeof(double));
    scores->list[kind][scores->count[kind]++] = score;
}

struct fold {
    const struct settings *settings;
    const struct tracks *tracks;
    const struct doppel_recordings *recordings;
    unsigned number;
};

/** Of scores under it nobody asks whether they come of one waveform. */
static const double LEAST_RELATED = 3;

/** Both hold one waveform there. */
static bool is_related(const struct recording *clip, const struct alignment *found,
                       const struct tracks *tracks)
{
    double seconds = (double)clip->count / AUDIO_RATE;
    double place = found->offset * DOPPEL_AUDIO_HOP / DOPPEL_AUDIO_TIME_STEPS / AUDIO_RATE;
    struct doppel_segment segment = {0, seconds, place, place + seconds, .speed = found->speed};
    return heard_alike(clip, &tracks->list[found->id].audio, &segment) >= HEARD_ALIKE;
}

/** The best score of alignments at speed 1, or of scaled ones, of what is not related. */
static double best_score(const struct fold *fold, const struct recording *clip, bool scaled)
{
    struct doppel_audio_track peaks = peaks_of(clip);
    struct doppel_audio_options options = doppel_audio_options_default();
    options.same_speed = !scaled;
    options.max_false_positives = 0;
    struct alignment found[ALIGNMENTS_MAX];
    size_t count = 0;
    double best = 0;
    if (window_find(fold->recordings, peaks.peaks, peaks.count, &options, NULL, found, &count,
                    NULL))
        abort();
    for (size_t i = 0; i < count; i++)
        if ((found[i].speed != 1 || found[i].pitch != 1) == scaled && found[i].score > best &&
            (found[i].score < LEAST_RELATED || !is_related(clip, &found[i], fold->tracks)))
            best = fmax(best, found[i].score);
    doppel_audio_track_free(&peaks);
    return best;
}

static void ask_length(const struct fold *fold, double seconds, bool scaled, struct scores *out)
{
    struct random random = random_seeded(fold->settings->seed + fold->number, "calibrate", "");
    size_t most = scaled ? fold->settings->scaled : fold->settings->plain;
    for (size_t i = fold->number; i < most; i += FOLDS) {
        double start = 0;
        const struct track *track =
            tracks_draw_clip(fold->tracks, fold->number, ROLE_NEGATIVE, seconds, &random, &start);
        if (!track)
            return;
        struct recording clip = audio_part(&track->audio, start, seconds);
        double score = best_score(fold, &clip, scaled);
        if (score < SHARED_SCORE)
            add(out, track->speech ? SPEECH : MUSIC, score, most);
        else
            out->shared++;
        audio_free(&clip);
    }
}

/* ---- the law ---- */

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/** Of P(score >= s) = 1 - exp(-exp((level - s) / scale)), by least squares over the best 10 % but
 * for the first four. */
static void fit(const double *sorted, size_t count, double *level, double *scale)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 4; i < count / 10; i++) {
        double y = log(-log1p(-((double)i + .5) / (double)count)), x = sorted[i];
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    *scale = -1 / slope;
    *level = (sx + sy * *scale) / n;
}

static void print_scores(const char *what, double seconds, double *list, size_t count)
{
    static const double SHARES[] = {.3, .1, .03, .01, .003, .001};
    if (count < 100)
        return;
    double level, scale;
    qsort(list, count, sizeof *list, descending);
    fit(list, count, &level, &scale);
    printf("| %-14s | %4.0f | %5zu |", what, seconds, count);
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        if (SHARES[i] * (double)count >= 2)
            printf(" %5.1f |", list[(size_t)(SHARES[i] * (double)count)]);
        else
            printf("     - |");
    printf(" %5.1f | %6.2f | %5.2f |\n", list[0], level, scale);
}

static void print_law(const char *what, double seconds, const struct scores *scores)
{
    size_t count = scores->count[MUSIC] + scores->count[SPEECH], at = 0;
    double *all = calloc(count + 1, sizeof *all);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < scores->count[kind]; i++)
            all[at++] = scores->list[kind][i];
    char name[64];
    print_scores(what, seconds, all, count);
    snprintf(name, sizeof name, "%s music", what);
    print_scores(name, seconds, scores->list[MUSIC], scores->count[MUSIC]);
    snprintf(name, sizeof name, "%s speech", what);
    print_scores(name, seconds, scores->list[SPEECH], scores->count[SPEECH]);
    if (scores->shared)
        printf("(%zu clips stand in several tracks after all)\n", scores->shared);
    free(all);
}

int main(int argc, char **argv)
{
    struct settings settings;
    if (!parse(argc, argv, &settings)) {
        fputs(USAGE, stderr);
        return 2;
    }
    struct tracks tracks = {0};
    if (!tracks_read(&tracks, settings.folder, settings.most_seconds)) {
        fprintf(stderr, "%s: no tracks of 12 s or more\n", settings.folder);
        tracks_free(&tracks);
        return 1;
    }
    struct scores plain[LENGTH_COUNT] = {0}, scaled[LENGTH_COUNT] = {0};
    size_t shared = mark_shared(&tracks);
    uint64_t hops = 0;
    for (unsigned number = 0; number < FOLDS; number++) {
        struct doppel_recordings *recordings = index_fold(&tracks, number, settings.part);
        struct fold fold = {&settings, &tracks, recordings, number};
        hops += audio_hops(recordings) / FOLDS;
        for (int i = 0; i < LENGTH_COUNT; i++) {
            ask_length(&fold, LENGTHS[i], false, &plain[i]);
            ask_length(&fold, LENGTHS[i], true, &scaled[i]);
        }
        doppel_recordings_free(recordings);
    }
    printf("%zu tracks, %.2f h, of which %zu s stand in several; sets of %.0f hops\n", tracks.count,
           tracks.seconds / 3600, shared, (double)hops);
    printf("score reached by a share of clips\n"
           "|   | s | n | .3 | .1 | .03 | .01 | .003 | .001 | best | level | scale |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < LENGTH_COUNT; i++)
        print_law("speed 1", LENGTHS[i], &plain[i]);
    for (int i = 0; i < LENGTH_COUNT; i++)
        print_law("scaled", LENGTHS[i], &scaled[i]);
    for (int i = 0; i < LENGTH_COUNT; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            free(plain[i].list[kind]);
            free(scaled[i].list[kind]);
        }
    tracks_free(&tracks);
    return 0;
}
