/* What audio_recall does to a clip. */
#ifndef BENCH_AUDIO_EDITS_H
#define BENCH_AUDIO_EDITS_H

#include <stdbool.h>

#include "../random.h"
#include "audio.h"
#include "tracks.h"

/** Where an edit takes its noise and its chances from. */
struct scene {
    const struct tracks *tracks;
    unsigned fold; /**< other music is of tracks that are held out of this fold's index */
    struct random random;
};

/**
 * Make the edited audio, from the same beginning.
 * @param amount decibels, or a factor: as the edit says
 */
typedef struct recording edit_function(const struct recording *in, double amount,
                                       struct scene *scene);

/** noises.c: `amount` is the ratio of audio to noise in decibels. */
edit_function edit_babble, edit_white, edit_pink, edit_music;
/** rooms.c: no amount. */
edit_function edit_reverb, edit_microphone;
/** coders.c: no amount; what could not be made is no audio. */
edit_function edit_phone, edit_mp3;
/** speeds.c: `amount` is the change, of either sign by chance; of edit_drift, the largest. */
edit_function edit_tempo, edit_pitch, edit_speed, edit_drift;

/** Used across the files: pink noise, power 1. */
struct recording pink_noise(size_t count, struct random *random);

/** A row of the table. */
struct cell {
    const char *name;
    edit_function *apply; /**< NULL: clean */
    double amount;
    double seconds;     /**< of the clip */
    double goal;        /**< %; 0: none */
    bool changes_speed; /**< the offset says little */
};

extern const struct cell cells[];
extern const int cell_count;

/** The clip of a track that begins `start` seconds into it, edited; no data when it could not be
 * made. */
struct recording cell_clip(const struct cell *cell, const struct recording *track, double start,
                           struct scene *scene);

#endif
