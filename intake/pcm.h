/* Raw audio as people name it: "s16le:44100:2". */
#ifndef DOPPEL_INTAKE_PCM_H
#define DOPPEL_INTAKE_PCM_H

#include <stdbool.h>

#include <doppel/intake.h>

/* FORMAT:RATE:CHANNELS, the whole text or nothing. */
bool parse_pcm(const char *text, struct doppel_pcm *out);

#endif
