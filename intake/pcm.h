/* Raw audio as people name it: "s16le:44100:2". */
#ifndef DOPPEL_INTAKE_PCM_H
#define DOPPEL_INTAKE_PCM_H

#include <stdbool.h>
#include <stdint.h>

/* `format` is enum doppel_pcm_format (doppel/media.h); 0: none was given. */
struct pcm {
    uint8_t format;
    uint32_t rate, channels;
};

/* FORMAT:RATE:CHANNELS, the whole text or nothing. */
bool parse_pcm(const char *text, struct pcm *out);

#endif
