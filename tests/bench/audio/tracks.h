/* The tracks of a folder, and which of them are indexed, held out, or noise. */
#ifndef BENCH_AUDIO_TRACKS_H
#define BENCH_AUDIO_TRACKS_H

#include <stdbool.h>

#include <doppel/audio.h>

#include "../random.h"
#include "audio.h"

/** Every track is held out in one fold and indexed in the others, but for those that are noise. */
enum role { ROLE_INDEXED, ROLE_NEGATIVE, ROLE_NOISE };

enum { FOLDS = 4 };

struct track {
    char *name; /**< of the file */
    struct recording audio;
    unsigned fold; /**< in which it is held out */
    bool speech;   /**< its file is called speech… */
    bool noise;    /**< babble is made of it */
    bool reported; /**< held out, it is one of the half that false positives are reported on;
                      else limits are set on it */
    bool *shared;  /**< by second: another track has it, too */
    struct doppel_audio_track peaks;
};

struct tracks {
    struct track *list;
    size_t count;
    double seconds; /**< of all */
};

/** Read all files of a folder and those below it that can be decoded, up to so many seconds of
 * each; *.f32 is raw mono at SOUND_RATE. Some of the speech becomes noise. */
bool tracks_read(struct tracks *tracks, const char *folder, double most_seconds);
void tracks_free(struct tracks *tracks);

enum role track_role(const struct track *track, unsigned fold);

/** A track by chance, longer ones more often; NULL when none has that role. Speech is drawn as
 * noise, or as any other track. */
const struct track *tracks_draw(const struct tracks *tracks, unsigned fold, enum role role,
                                struct random *random);

/** A clip by chance, not silent and not shared: longer tracks are drawn more often. @return NULL
 * when there is none */
const struct track *tracks_draw_clip(const struct tracks *tracks, unsigned fold, enum role role,
                                     double seconds, struct random *random, double *out_start);

size_t tracks_whole_seconds(const struct track *track);

/** Peaks of a recording, with faint ones if it is a clip; given (doppel_audio_track_free). */
struct doppel_audio_track peaks_of(const struct recording *recording);

#endif
