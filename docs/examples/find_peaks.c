/* Find the peaks of a recording that is in memory already, and the keys they make. Needs
 * doppel-audio alone, and with it FFTW:
 *
 *     cc find_peaks.c $(pkg-config --cflags --libs doppel-audio) -o find_peaks
 */
#include <stdio.h>
#include <stdlib.h>

#include <doppel/audio.h>

enum { SECONDS = 6, COUNT = SECONDS * DOPPEL_AUDIO_RATE, NOTE = DOPPEL_AUDIO_RATE / 5 };

static float samples[COUNT];

/* Five notes a second, triangles that fade. */
static void play(void)
{
    for (int i = 0; i < COUNT; i++) {
        int note = i / NOTE, at = i % NOTE;
        int period = 12 + note * 37 % 60, phase = at % period;
        float triangle = 2.0f * (float)abs(2 * phase - period) / (float)period - 1;
        samples[i] = triangle * (float)(NOTE - at) / (2.0f * NOTE);
    }
}

int main(void)
{
    struct doppel_audio *audio;
    struct doppel_error error;
    if (doppel_audio_new(&audio, &error) != DOPPEL_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    play();
    size_t count, made = 0;
    if (doppel_audio_push(audio, samples, COUNT, &error) != DOPPEL_OK ||
        doppel_audio_finish(audio, &error) != DOPPEL_OK) {
        fprintf(stderr, "%s\n", error.message);
        doppel_audio_free(audio);
        return 1;
    }
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    struct doppel_audio_zone zone = doppel_audio_item_zone();
    struct doppel_audio_key *keys = malloc((count * zone.fan_out + 1) * sizeof *keys);
    if (keys)
        made = doppel_audio_keys(peaks, count, &zone, keys, count * zone.fan_out);
    printf("%u peaks, %u keys in %d seconds\n", (unsigned)count, (unsigned)made, (int)SECONDS);
    for (size_t i = 0; i < count && i < 5; i++)
        printf("%.3f s %7.1f Hz%s\n", doppel_audio_seconds(peaks[i].time),
               peaks[i].frequency * 11025.0 / 1024 / DOPPEL_AUDIO_BIN_STEPS,
               peaks[i].strong ? ", strong" : "");
    free(keys);
    doppel_audio_free(audio);
    return made == 0;
}
