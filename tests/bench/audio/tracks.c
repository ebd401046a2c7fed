/* Tracks from a folder: found, decoded, and given their parts. */
#include "tracks.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/media.h>

enum { MAX_TRACKS = 20000, MIN_SECONDS = 12 };

/* ---- decoding ---- */

struct reading {
    struct recording audio;
    size_t room, most;
};

static bool take(struct reading *reading, const float *data, size_t count)
{
    struct recording *recording = &reading->audio;
    if (recording->count + count > reading->room) {
        reading->room = 2 * (recording->count + count);
        recording->data = realloc(recording->data, reading->room * sizeof *recording->data);
        if (!recording->data)
            abort();
    }
    if (data)
        memcpy(recording->data + recording->count, data, count * sizeof *data);
    else
        memset(recording->data + recording->count, 0, count * sizeof *data);
    recording->count += count;
    return recording->count < reading->most;
}

static bool visit(void *context, const struct doppel_samples *samples)
{
    return take(context, samples->data, samples->count);
}

static void read_raw(int fd, struct reading *reading)
{
    float block[4096];
    for (ssize_t got; (got = read(fd, block, sizeof block)) > 0;)
        if (!take(reading, block, (size_t)got / sizeof *block))
            break;
}

/** No data: it cannot be decoded. */
static struct recording read_audio(const char *path, double most_seconds)
{
    struct reading reading = {.most = (size_t)(most_seconds * AUDIO_RATE)};
    struct doppel_samples_options options = doppel_samples_options_default();
    const char *end = strrchr(path, '.');
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return reading.audio;
    if (end && strcmp(end, ".f32") == 0)
        read_raw(fd, &reading);
    else
        doppel_media_read_samples(fd, &options, visit, &reading, NULL, NULL);
    close(fd);
    if (reading.audio.count > reading.most)
        reading.audio.count = reading.most;
    return reading.audio;
}

/* ---- finding ---- */

/* nftw has no context. */
static char *found[MAX_TRACKS];
static size_t found_count;

static int note(const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    (void)stat;
    (void)walk;
    if (kind == FTW_F && found_count < MAX_TRACKS)
        found[found_count++] = strdup(path);
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint64_t name_hash(const char *path)
{
    return random_seeded(0, base_name(path), "").state;
}

static int by_hash(const void *a, const void *b)
{
    const struct track *left = a, *right = b;
    uint64_t x = name_hash(left->name), y = name_hash(right->name);
    return x != y ? (x > y) - (x < y) : strcmp(left->name, right->name);
}

/** Half of the speech, three tracks at least, becomes noise; all others are held out in turn. */
static void give_roles(struct tracks *tracks)
{
    size_t speech = 0, noise = 0, others = 0;
    for (size_t i = 0; i < tracks->count; i++)
        speech += tracks->list[i].speech;
    size_t noises = speech / 2 > 3 ? speech / 2 : 3;
    for (size_t i = 0; i < tracks->count; i++) {
        struct track *track = &tracks->list[i];
        track->noise = track->speech && noise < noises;
        noise += track->noise;
        if (track->noise)
            continue;
        track->fold = (unsigned)(others % FOLDS);
        track->reported = others / FOLDS % 2;
        others++;
    }
}

bool tracks_read(struct tracks *tracks, const char *folder, double most_seconds)
{
    found_count = 0;
    nftw(folder, note, 16, 0);
    tracks->list = calloc(found_count ? found_count : 1, sizeof *tracks->list);
    for (size_t i = 0; i < found_count; i++) {
        struct track track = {.name = found[i], .audio = read_audio(found[i], most_seconds)};
        track.speech = strncmp(base_name(found[i]), "speech", 6) == 0;
        if (track.audio.count >= (size_t)MIN_SECONDS * AUDIO_RATE) {
            track.peaks = peaks_of(&track.audio);
            track.shared = calloc(tracks_whole_seconds(&track), sizeof *track.shared);
            tracks->seconds += (double)track.audio.count / AUDIO_RATE;
            tracks->list[tracks->count++] = track;
        } else {
            audio_free(&track.audio);
            free(track.name);
        }
    }
    qsort(tracks->list, tracks->count, sizeof *tracks->list, by_hash);
    give_roles(tracks);
    return tracks->count > 0;
}

void tracks_free(struct tracks *tracks)
{
    for (size_t i = 0; i < tracks->count; i++) {
        audio_free(&tracks->list[i].audio);
        doppel_audio_track_free(&tracks->list[i].peaks);
        free(tracks->list[i].shared);
        free(tracks->list[i].name);
    }
    free(tracks->list);
    *tracks = (struct tracks){0};
}

enum role track_role(const struct track *track, unsigned fold)
{
    if (track->noise)
        return ROLE_NOISE;
    return track->fold == fold ? ROLE_NEGATIVE : ROLE_INDEXED;
}

const struct track *tracks_draw(const struct tracks *tracks, unsigned fold, enum role role,
                                struct random *random)
{
    double total = 0;
    for (size_t i = 0; i < tracks->count; i++)
        if (track_role(&tracks->list[i], fold) == role)
            total += (double)tracks->list[i].audio.count;
    double left = random_between(random, 0, total);
    const struct track *last = NULL;
    for (size_t i = 0; i < tracks->count && (!last || left >= 0); i++)
        if (track_role(&tracks->list[i], fold) == role) {
            last = &tracks->list[i];
            left -= (double)last->audio.count;
        }
    return last;
}

size_t tracks_whole_seconds(const struct track *track)
{
    return track->audio.count / AUDIO_RATE + 1;
}

static bool is_fit(const struct track *track, double start, double seconds)
{
    for (size_t at = (size_t)start; at <= (size_t)(start + seconds); at++)
        if (at < tracks_whole_seconds(track) && track->shared[at])
            return false;
    struct recording part = audio_part(&track->audio, start, seconds);
    double power = audio_power(&part);
    audio_free(&part);
    return power > 1e-5;
}

const struct track *tracks_draw_clip(const struct tracks *tracks, unsigned fold, enum role role,
                                     double seconds, struct random *random, double *out_start)
{
    for (int tries = 0; tries < 1000; tries++) {
        const struct track *track = tracks_draw(tracks, fold, role, random);
        if (!track)
            break;
        double room = (double)track->audio.count / AUDIO_RATE - seconds;
        double start = random_between(random, 0, fmax(0, room));
        if (!is_fit(track, start, seconds))
            continue;
        *out_start = start;
        return track;
    }
    return NULL;
}

struct doppel_audio_track peaks_of(const struct recording *recording)
{
    struct doppel_audio_track track = {0};
    struct doppel_audio *audio = NULL;
    if (doppel_audio_new(&audio, NULL) != DOPPEL_OK ||
        doppel_audio_expect_clip(audio, NULL) != DOPPEL_OK ||
        doppel_audio_push(audio, recording->data, recording->count, NULL) != DOPPEL_OK ||
        doppel_audio_finish(audio, NULL) != DOPPEL_OK)
        abort();
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &track.count);
    track.peaks = malloc((track.count + 1) * sizeof *track.peaks);
    if (!track.peaks)
        abort();
    memcpy(track.peaks, peaks, track.count * sizeof *track.peaks);
    track.duration_ms = recording->count * 1000 / AUDIO_RATE;
    doppel_audio_free(audio);
    return track;
}
