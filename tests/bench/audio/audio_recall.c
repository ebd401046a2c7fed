/* audio_recall DIR: how many edited clips of a folder's tracks doppel finds again, where in them,
 * and how many clips of other tracks it finds wrongly. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chroma.h"
#include "heard.h"
#include "pairs.h"
#include "results.h"

static const char USAGE[] =
    "usage: audio_recall [OPTION...] DIR\n"
    "  -n N                clips of each edit (default 200)\n"
    "  --strangers N       clips of tracks that are not in the index, of each length (default "
    "1000)\n"
    "  --pairs N           pairs of clips that are compared, of each length (default 0)\n"
    "  --rate R            stated false-positive rate (default .01)\n"
    "  --most SECONDS      of each track (default 600)\n"
    "  --seed N            of clips and edits (default 1)\n"
    "  --only TEXT,...     edits whose names contain one of these\n"
    "  --same-speed        look for no other speeds\n"
    "Each track is held out of one of four indexes and stands in the others; limits are set on "
    "one\n"
    "half of those held out, false positives reported on the other. Babble is made of half of the\n"
    "tracks called speech..., three at least, which stand in no index. *.f32 is raw, mono, 11025 "
    "Hz.\n";

struct settings {
    size_t clips, strangers, pairs;
    double most_seconds;
    uint64_t seed;
    const char *only, *folder;
    struct asking asking;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {
        {"strangers", required_argument, NULL, 't'}, {"pairs", required_argument, NULL, 'c'},
        {"rate", required_argument, NULL, 'r'},      {"most", required_argument, NULL, 'm'},
        {"seed", required_argument, NULL, 's'},      {"only", required_argument, NULL, 'o'},
        {"same-speed", no_argument, NULL, 'p'},      {NULL, 0, NULL, 0}};
    *out = (struct settings){
        .clips = 200, .strangers = 1000, .most_seconds = 600, .seed = 1, .asking = {.01, false}};
    for (int option; (option = getopt_long(argc, argv, "n:", OPTIONS, NULL)) != -1;) {
        if (option == 'n')
            out->clips = strtoul(optarg, NULL, 10);
        else if (option == 't')
            out->strangers = strtoul(optarg, NULL, 10);
        else if (option == 'c')
            out->pairs = strtoul(optarg, NULL, 10);
        else if (option == 'r')
            out->asking.max_false_positives = strtod(optarg, NULL);
        else if (option == 'm')
            out->most_seconds = strtod(optarg, NULL);
        else if (option == 's')
            out->seed = strtoull(optarg, NULL, 10);
        else if (option == 'o')
            out->only = optarg;
        else if (option == 'p')
            out->asking.same_speed = true;
        else
            return false;
    }
    out->folder = argv[optind];
    return optind + 1 == argc;
}

/** A fold's index, and what is asked of it. */
struct fold {
    const struct settings *settings;
    const struct tracks *tracks;
    const struct doppel_recordings *recordings;
    const struct chroma *peer;
    unsigned number;
};

static void ask_cell(const struct fold *fold, int number, struct results *results)
{
    const struct cell *cell = &cells[number];
    struct scene scene = {fold->tracks, fold->number,
                          random_seeded(fold->settings->seed + fold->number, cell->name, "")};
    for (size_t i = fold->number; i < fold->settings->clips; i += FOLDS) {
        double start = 0;
        const struct track *track = tracks_draw_clip(fold->tracks, fold->number, ROLE_INDEXED,
                                                     cell->seconds, &scene.random, &start);
        if (!track)
            return;
        struct recording clip = cell_clip(cell, &track->audio, start, &scene);
        if (!clip.data)
            continue;
        struct outcome outcome = {.answer =
                                      ask(fold->recordings, &clip, start, &fold->settings->asking)};
        outcome.right = outcome.answer.any && &fold->tracks->list[outcome.answer.id] == track;
        outcome.offset_error = fabs(outcome.answer.offset - start);
        outcome.peer_right = fold->peer && chroma_best(fold->peer, &clip) == track;
        results_add(results, number, &outcome);
        audio_free(&clip);
    }
}

/** Strangers with less are not tried for one waveform. */
static const double LEAST_STRENGTH = 1;

/** Of a path below the folder of all tracks, the length of the first name: that of a package. */
static size_t package_length(const struct fold *fold, const struct track *track)
{
    size_t length = strlen(fold->settings->folder);
    while (track->name[length] == '/')
        length++;
    return length + strcspn(track->name + length, "/") + 1;
}

/** A place of a track of another package: what is alike there is by chance. */
static double alike_by_chance(const struct fold *fold, const struct track *track,
                              const struct recording *clip, struct random *random)
{
    const struct track *other = tracks_draw(fold->tracks, fold->number, ROLE_INDEXED, random);
    if (!other || strncmp(track->name, other->name, package_length(fold, track)) == 0)
        return 0;
    double place = random_between(random, 0, (double)other->audio.count / AUDIO_RATE);
    double seconds = (double)clip->count / AUDIO_RATE;
    struct doppel_segment segment = {0, seconds, place, place + seconds, .speed = 1};
    return heard_alike(clip, &other->audio, &segment);
}

static void ask_stranger(const struct fold *fold, const struct recording *clip,
                         struct stranger *stranger, struct random *random)
{
    struct answer *answer = &stranger->answer;
    *answer = ask(fold->recordings, clip, stranger->start, &fold->settings->asking);
    if (answer->any && answer->strength > LEAST_STRENGTH)
        stranger->alike =
            heard_alike(clip, &fold->tracks->list[answer->id].audio, &answer->longest);
    stranger->chance = alike_by_chance(fold, stranger->track, clip, random);
}

static void ask_strangers(const struct fold *fold, int kind, struct results *results)
{
    const struct stranger_kind *what = &stranger_kinds[kind];
    struct cell cell = {what->name, what->apply, what->amount, what->seconds, 0, false};
    struct scene scene = {
        fold->tracks, fold->number,
        random_seeded(fold->settings->seed + fold->number, "stranger", what->name)};
    for (size_t i = fold->number; i < fold->settings->strangers; i += FOLDS) {
        struct stranger stranger = {0};
        stranger.track = tracks_draw_clip(fold->tracks, fold->number, ROLE_NEGATIVE, what->seconds,
                                          &scene.random, &stranger.start);
        if (!stranger.track)
            return;
        struct recording clip = cell_clip(&cell, &stranger.track->audio, stranger.start, &scene);
        ask_stranger(fold, &clip, &stranger, &scene.random);
        results_add_stranger(results, kind, &stranger);
        audio_free(&clip);
    }
}

/** Each track that is held out, as a whole. */
static void ask_whole_tracks(const struct fold *fold, int kind, struct results *results)
{
    struct random random = random_seeded(fold->settings->seed, "whole", "");
    for (size_t i = 0; i < fold->tracks->count; i++) {
        struct stranger stranger = {.track = &fold->tracks->list[i]};
        if (track_role(stranger.track, fold->number) != ROLE_NEGATIVE)
            continue;
        ask_stranger(fold, &stranger.track->audio, &stranger, &random);
        results_add_stranger(results, kind, &stranger);
    }
}

/** One of the texts, split at commas, is in its name. */
static bool is_wanted(const struct settings *settings, const struct cell *cell)
{
    if (!settings->only)
        return true;
    char texts[256], *rest = texts;
    snprintf(texts, sizeof texts, "%s", settings->only);
    for (char *text; (text = strsep(&rest, ","));)
        if (strstr(cell->name, text))
            return true;
    return false;
}

static void run_fold(const struct settings *settings, const struct tracks *tracks, unsigned number,
                     struct results *results)
{
    struct doppel_recordings *recordings = index_fold(tracks, number, 1);
    struct chroma *peer = chroma_new(tracks, number);
    struct fold fold = {settings, tracks, recordings, peer, number};
    results->has_peer = peer != NULL;
    bool wanted[STRANGER_KINDS] = {false};
    for (int cell = 0; cell < cell_count; cell++)
        if (is_wanted(settings, &cells[cell])) {
            ask_cell(&fold, cell, results);
            wanted[kind_of_length(cells[cell].seconds)] = true;
        }
    for (int kind = 0; kind < STRANGER_KINDS; kind++)
        if ((wanted[kind] || !settings->only) && stranger_kinds[kind].seconds > 0)
            ask_strangers(&fold, kind, results);
        else if (!settings->only)
            ask_whole_tracks(&fold, kind, results);
    doppel_recordings_free(recordings);
    chroma_free(peer);
}

int main(int argc, char **argv)
{
    struct settings settings;
    if (!parse(argc, argv, &settings)) {
        fputs(USAGE, stderr);
        return 2;
    }
    time_t begin = time(NULL);
    struct tracks tracks = {0};
    if (!tracks_read(&tracks, settings.folder, settings.most_seconds)) {
        fprintf(stderr, "%s: no tracks of 12 s or more\n", settings.folder);
        tracks_free(&tracks);
        return 1;
    }
    size_t shared = mark_shared(&tracks);
    printf("%zu tracks, %.2f h, of which %zu s stand in several\n", tracks.count,
           tracks.seconds / 3600, shared);
    struct results results = {0};
    for (unsigned fold = 0; fold < FOLDS; fold++)
        run_fold(&settings, &tracks, fold, &results);
    report(&tracks, &results, settings.asking.max_false_positives);
    if (settings.pairs)
        compare_pairs(&tracks, settings.pairs, settings.seed);
    printf("\n%.0f s\n", difftime(time(NULL), begin));
    results_free(&results);
    tracks_free(&tracks);
    return 0;
}
