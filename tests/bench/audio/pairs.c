/* Pairs of clips that have nothing to do with each other, compared: how many are within a rate. */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>

#include <doppel/match.h>

#include "heard.h"

static const double LENGTHS[][2] = {{1, 1}, {2, 2}, {5, 5}, {10, 10}, {1, 5}, {5, 30}, {30, 30}};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS };
static const double RATES[] = {.1, .03, .01, .003, .001};
enum { RATE_COUNT = sizeof RATES / sizeof *RATES };

struct drawn_clip {
    const struct track *track;
    struct recording audio;
    struct doppel_audio_track peaks;
    struct doppel_recording recording;
};

/** Of any track, held out or not; no audio when none is long enough. */
static struct drawn_clip draw(const struct tracks *tracks, double seconds, struct random *random)
{
    struct drawn_clip clip = {0};
    for (int tries = 0; tries < 1000; tries++) {
        double number = random_between(random, 0, (double)tracks->count);
        clip.track = &tracks->list[(size_t)number % tracks->count];
        double room = (double)clip.track->audio.count / AUDIO_RATE - seconds;
        if (room < 0)
            continue;
        clip.audio = audio_part(&clip.track->audio, random_between(random, 0, room), seconds);
        if (audio_power(&clip.audio) > 1e-5)
            break;
        audio_free(&clip.audio);
    }
    if (clip.audio.data)
        clip.peaks = peaks_of(&clip.audio);
    clip.recording = (struct doppel_recording){clip.peaks.peaks, clip.peaks.count, seconds};
    return clip;
}

static void drop(struct drawn_clip *clip)
{
    doppel_audio_track_free(&clip->peaks);
    audio_free(&clip->audio);
}

/** The rate of the pair; 1: nothing in common; 2: they are no unrelated pair. */
static double compare_drawn(const struct drawn_clip *one, const struct drawn_clip *other)
{
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_match match;
    if (!one->audio.data || !other->audio.data || one->track == other->track)
        return 2;
    options.max_false_positives = RATES[0];
    if (doppel_match_recordings(&one->recording, &other->recording, &options, &match, NULL))
        abort();
    double rate = match.false_positive_rate < 0 ? 1 : match.false_positive_rate;
    for (size_t i = 0; i < match.segment_count && rate < 1.5; i++)
        if (heard_alike(&one->audio, &other->audio, &match.segments[i]) >= HEARD_ALIKE)
            rate = 2;
    free((void *)match.segments);
    return rate;
}

static void compare_length(const struct tracks *tracks, const double lengths[2], size_t most,
                           struct random *random)
{
    size_t compared = 0, related = 0, within[RATE_COUNT] = {0};
    for (size_t i = 0; i < most; i++) {
        struct drawn_clip one = draw(tracks, lengths[0], random);
        struct drawn_clip other = draw(tracks, lengths[1], random);
        double rate = compare_drawn(&one, &other);
        related += rate > 1 && one.track != other.track;
        compared += rate <= 1;
        for (int k = 0; k < RATE_COUNT; k++)
            within[k] += rate <= RATES[k];
        drop(&one);
        drop(&other);
    }
    printf("| %2.0f | %2.0f | %6zu | %4zu |", lengths[0], lengths[1], compared, related);
    for (int k = 0; k < RATE_COUNT; k++)
        printf(" %.4f |", compared ? (double)within[k] / (double)compared : 0);
    printf("\n");
    fflush(stdout);
}

void compare_pairs(const struct tracks *tracks, size_t most, uint64_t seed)
{
    struct random random = random_seeded(seed, "pairs", "");
    printf("\npairs of clips of two tracks, compared: the share within a rate\n| s | s | pairs | "
           "of one waveform |");
    for (int k = 0; k < RATE_COUNT; k++)
        printf(" %g |", RATES[k]);
    printf("\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < LENGTH_COUNT; i++)
        compare_length(tracks, LENGTHS[i], most, &random);
}
