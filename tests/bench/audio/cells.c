/* The rows of the table, and how a clip of one is cut. */
#include "edits.h"

const struct cell cells[] = {
    {"clean, .5 s", NULL, 0, .5, 0, false},
    {"clean, 1 s", NULL, 0, 1, 99, false},
    {"clean, 2 s", NULL, 0, 2, 99.5, false},
    {"clean, 3 s", NULL, 0, 3, 0, false},
    {"clean, 5 s", NULL, 0, 5, 99.5, false},
    {"babble +6 dB", edit_babble, 6, 5, 98, false},
    {"babble 0 dB", edit_babble, 0, 5, 94, false},
    {"babble -6 dB", edit_babble, -6, 5, 80, false},
    {"babble 0 dB, 2 s", edit_babble, 0, 2, 87, false},
    {"babble 0 dB, 10 s", edit_babble, 0, 10, 96, false},
    {"white noise 0 dB", edit_white, 0, 5, 95, false},
    {"pink noise 0 dB", edit_pink, 0, 5, 96, false},
    {"other music 0 dB", edit_music, 0, 5, 95, false},
    {"microphone", edit_microphone, 0, 5, 94, false},
    {"phone band + GSM", edit_phone, 0, 5, 99.5, false},
    {"reverb", edit_reverb, 0, 5, 99.5, false},
    {"mp3 32k", edit_mp3, 0, 5, 99.5, false},
    {"tempo +-5 %", edit_tempo, .05, 5, 99, true},
    {"pitch +-5 %", edit_pitch, .05, 5, 99, true},
    {"speed +-2 %", edit_speed, .02, 5, 99, true},
    {"speed within 3 %", edit_drift, .03, 5, 98, true},
};
const int cell_count = (int)(sizeof cells / sizeof *cells);

/* An edit gets some audio before the clip, so that rooms ring and coders run, and some after it,
 * for those that shorten it. */
static const double BEFORE = 1, AFTER = 1;

struct recording cell_clip(const struct cell *cell, const struct recording *track, double start,
                           struct scene *scene)
{
    if (!cell->apply)
        return audio_part(track, start, cell->seconds);
    double before = cell->changes_speed ? 0 : BEFORE;
    struct recording around = audio_part(track, start - before, before + cell->seconds + AFTER);
    struct recording edited = cell->apply(&around, cell->amount, scene);
    struct recording clip = {0};
    if (edited.data)
        clip = audio_part(&edited, before, cell->seconds);
    audio_free(&around);
    audio_free(&edited);
    return clip;
}
