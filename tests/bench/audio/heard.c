/*
 * Whether two recordings hold the same waveform. Of both a stretch under a Hann window is whitened,
 * each frequency by its own magnitude (the phase transform), and correlated: audio that is the same
 * to the sample agrees in phase at all frequencies for one delay, however it is mixed; music that
 * is alike agrees in its notes, and in phase by chance. Source: Knapp and Carter, "The Generalized
 * Correlation Method for Estimation of Time Delay" (1976).
 */
#include "heard.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <fftw3.h>

enum { SIZE = 32768, BINS = SIZE / 2 + 1 };
static const double STRETCH = 1.5, LATE = .1, MOST = 30; /* seconds */
static const double LOWEST = 100, HIGHEST = 5000;

struct heard_room {
    float *wave;
    fftwf_complex *spectrum[2];
    fftwf_plan forth, back;
};

/* Of the room's wave: a stretch under a window, silence behind it. */
static void transform_stretch(struct heard_room *room, const struct recording *audio, double start,
                              double seconds, int which)
{
    struct recording part = audio_part(audio, start, seconds);
    memset(room->wave, 0, SIZE * sizeof *room->wave);
    for (size_t i = 0; i < part.count && i < SIZE; i++)
        room->wave[i] =
            part.data[i] * (float)(.5 - .5 * cos(2 * M_PI * ((double)i + .5) / (double)part.count));
    audio_free(&part);
    fftwf_execute_dft_r2c(room->forth, room->wave, room->spectrum[which]);
}

/* Into the first spectrum: the phase by which they differ. @return the sum of squares */
static double whiten(struct heard_room *room)
{
    double bin = (double)AUDIO_RATE / SIZE, sum = 0;
    for (int i = 0; i < BINS; i++) {
        const float *a = room->spectrum[0][i], *b = room->spectrum[1][i];
        double re = (double)a[0] * b[0] + (double)a[1] * b[1];
        double im = (double)a[0] * b[1] - (double)a[1] * b[0], size = hypot(re, im);
        bool heard = i * bin >= LOWEST && i * bin <= HIGHEST && size > 1e-12;
        room->spectrum[0][i][0] = heard ? (float)(re / size) : 0;
        room->spectrum[0][i][1] = heard ? (float)(im / size) : 0;
        sum += heard;
    }
    return sum;
}

static double stretch_alike(struct heard_room *room, const struct recording *clip,
                            const struct recording *other, double start, double offset)
{
    double seconds = fmin(STRETCH, (double)clip->count / AUDIO_RATE);
    transform_stretch(room, clip, start, seconds, 0);
    transform_stretch(room, other, start + offset - LATE, seconds + 2 * LATE, 1);
    /* Padded: only as many frequencies are independent as the stretch has samples. */
    double count = whiten(room), least = sqrt(2 * count * SIZE / (seconds * AUDIO_RATE)), best = 0;
    fftwf_execute_dft_c2r(room->back, room->spectrum[0], room->wave);
    for (int i = 0; i < (int)(2 * LATE * AUDIO_RATE); i++)
        best = fmax(best, fabs((double)room->wave[i]));
    return count ? best / least : 0;
}

double heard_alike(const struct recording *clip, const struct recording *other,
                   const struct doppel_segment *segment)
{
    struct heard_room room = {
        fftwf_alloc_real(SIZE), {fftwf_alloc_complex(BINS), fftwf_alloc_complex(BINS)}, NULL, NULL};
    double seconds = fmin(segment->a_end - segment->a_start, MOST), best = 0;
    struct recording part = audio_part(clip, segment->a_start, seconds);
    struct recording scaled = audio_resample(&part, segment->speed);
    room.forth = fftwf_plan_dft_r2c_1d(SIZE, room.wave, room.spectrum[0], FFTW_ESTIMATE);
    room.back = fftwf_plan_dft_c2r_1d(SIZE, room.spectrum[0], room.wave, FFTW_ESTIMATE);
    for (double start = 0; start <= fmax(seconds * segment->speed - STRETCH, 0);
         start += STRETCH / 3)
        best = fmax(best, stretch_alike(&room, &scaled, other, start, segment->b_start));
    fftwf_destroy_plan(room.forth);
    fftwf_destroy_plan(room.back);
    fftwf_free(room.wave);
    fftwf_free(room.spectrum[0]);
    fftwf_free(room.spectrum[1]);
    audio_free(&scaled);
    audio_free(&part);
    return best;
}
