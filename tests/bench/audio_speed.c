/* How fast recordings become peaks, against their transforms alone. audio_speed [DIR of tracks] */
#include <doppel/audio.h>
#include <doppel/media.h>

#include <dirent.h>
#include <fcntl.h>
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio/audio_internal.h"
#include "audio/synth.h"
#include "bench.h"
#include "core/cpu.h"

enum { ROUNDS = 7, SYNTHETIC_SECONDS = 600 };

static ARRAY(float) recording;

static bool keep(void *context, const struct doppel_samples *samples)
{
    (void)context;
    for (size_t i = 0; i < samples->count; i++)
        if (!array_push(&recording, samples->data ? samples->data[i] : 0))
            return false;
    return true;
}

static void decode_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
        struct doppel_samples_options options = doppel_samples_options_default();
        if (fd >= 0 && entry->d_name[0] != '.')
            doppel_media_read_samples(fd, &options, keep, NULL, NULL, NULL);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

static double audio_seconds(void)
{
    return (double)recording.count / DOPPEL_AUDIO_RATE;
}

/* The least CPU seconds of each piece of work in some rounds, in turns, since others work, too. */
static void least_cpu(double (*const work[])(void), int count, double *out)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        out[i] = INFINITY;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) {
            struct bench_time start = bench_now();
            sum += work[i]();
            out[i] = fmin(out[i], bench_now().cpu - start.cpu);
        }
    if (!isfinite(sum)) /* so that nothing is left out */
        puts("not finite");
}

/* The window and FFTW, no more. */
static double transforms_alone(void)
{
    float window[DOPPEL_AUDIO_WINDOW];
    float *in = fftwf_alloc_real(DOPPEL_AUDIO_WINDOW);
    fftwf_complex *out = fftwf_alloc_complex(DOPPEL_AUDIO_WINDOW / 2 + 1);
    fftwf_plan plan = transform_plan();
    const struct row_kernels *kernels = row_kernels_choose();
    double sum = 0;
    transform_window(window);
    for (size_t at = 0; at + DOPPEL_AUDIO_WINDOW <= recording.count; at += DOPPEL_AUDIO_HOP) {
        kernels->window(recording.items + at, window, in);
        fftwf_execute_dft_r2c(plan, in, out);
        sum += out[9][0] * out[9][0];
    }
    fftwf_free(in);
    fftwf_free(out);
    return sum;
}

static struct doppel_audio_track track;

static double whole_analysis(void)
{
    struct doppel_audio *audio;
    if (doppel_audio_new(&audio, NULL))
        return 0;
    doppel_audio_push(audio, recording.items, recording.count, NULL);
    doppel_audio_finish(audio, NULL);
    size_t count;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    free(track.peaks);
    track = (struct doppel_audio_track){.peaks = malloc(count * sizeof *peaks), .count = count};
    if (track.peaks)
        memcpy(track.peaks, peaks, count * sizeof *peaks);
    doppel_audio_free(audio);
    return (double)count;
}

/* Levels, facts and spread of the same spectrum again and again: their share does not depend on
 * what is heard. */
static double rows_alone(void)
{
    static float spectrum[2 * (DOPPEL_AUDIO_WINDOW / 2 + 1)];
    static int16_t rows[7][ROW], spread[7][ROW];
    const struct row_kernels *kernels = row_kernels_choose();
    uint64_t seed = 1, bits[ROW / 64];
    struct row_facts facts;
    double sum = 1;
    for (size_t i = 0; i < sizeof spectrum / sizeof *spectrum; i++)
        spectrum[i] = (float)uniform(&seed) - .5f;
    for (size_t hop = 0; hop < recording.count / DOPPEL_AUDIO_HOP; hop++) {
        kernels->levels(spectrum, rows[hop % 7]);
        kernels->facts(rows[hop % 7], &facts);
        kernels->spread(rows[hop % 7], spread[hop % 7]);
        kernels->maxima(rows[3], spread[0], facts.floor, bits);
        sum += (double)(bits[2] & 1);
    }
    return sum;
}

static double all_keys(void)
{
    struct doppel_audio_zone zone = doppel_audio_query_zone();
    struct doppel_audio_key *keys = malloc((track.count * zone.fan_out + 1) * sizeof *keys);
    double made = 0;
    if (keys)
        made = (double)doppel_audio_keys(track.peaks, track.count, &zone, keys,
                                         track.count * zone.fan_out);
    free(keys);
    return made;
}

static void print_sizes(void)
{
    size_t strong = 0;
    for (size_t i = 0; i < track.count; i++)
        strong += track.peaks[i].strong;
    struct doppel_audio_zone zone = doppel_audio_item_zone();
    struct doppel_audio_key *keys = malloc((track.count * zone.fan_out + 1) * sizeof *keys);
    size_t made = !keys ? 0
                        : doppel_audio_keys(track.peaks, track.count, &zone, keys,
                                            track.count * zone.fan_out);
    free(keys);
    double hours = audio_seconds() / 3600;
    printf("%.2f h: %.1f peaks a second, %.1f strong; %.1f keys of strong ones a second\n", hours,
           (double)track.count / audio_seconds(), (double)strong / audio_seconds(),
           (double)made / audio_seconds());
    printf("strong peaks in portable form: %.0f KB an hour\n\n",
           (double)doppel_audio_track_size(&track, true) / 1e3 / hours);
}

static void print_row(const char *name, uint32_t mask)
{
    cpu_mask(mask);
    double (*const work[])(void) = {whole_analysis, transforms_alone, rows_alone}, least[3];
    least_cpu(work, 3, least);
    double seconds = audio_seconds(), whole = least[0], alone = least[1], rows = least[2];
    printf("%-9s %9.0f %9.0f %6.2f   %5.0f %5.0f %5.0f\n", name, seconds / whole, seconds / alone,
           alone / whole, 100 * alone / whole, 100 * rows / whole,
           100 * (whole - alone - rows) / whole);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        decode_folder(argv[1]);
    if (!recording.count) {
        recording.count = recording.capacity = (size_t)SYNTHETIC_SECONDS * DOPPEL_AUDIO_RATE;
        recording.items = make_music(recording.count, 1, .01);
    }
    if (whole_analysis() <= 0)
        return 1;
    print_sizes();
    printf("            x real time        of the STFT    %% of the time\n");
    printf("           analysis STFT alone         transform  rows picking\n");
    print_row("portable", 0);
    print_row("AVX2", CPU_AVX2);
    print_row("best", UINT32_MAX);
    double (*const work[])(void) = {all_keys}, least[1];
    least_cpu(work, 1, least);
    double hypothesis = least[0] * 5 / audio_seconds();
    printf("\nkeys of a query of 5 s: %.3f ms; of 37 hypotheses %.2f ms\n", 1e3 * hypothesis,
           37e3 * hypothesis);
    free(track.peaks);
    array_free(&recording);
    return 0;
}
