/* From samples to rows of levels, a second at a time. */
#include "audio/audio_internal.h"

#include <stdlib.h>
#include <string.h>

enum doppel_status doppel_audio_new(struct doppel_audio **out, struct doppel_error *error)
{
    struct doppel_audio *audio = calloc(1, sizeof *audio);
    if (!audio)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to analyse a recording");
    audio->plan = transform_plan();
    audio->kernels = row_kernels_choose();
    audio->samples = malloc(SECOND_SAMPLES * sizeof *audio->samples);
    audio->window = malloc(DOPPEL_AUDIO_WINDOW * sizeof *audio->window);
    audio->windowed = fftwf_alloc_real(DOPPEL_AUDIO_WINDOW);
    audio->spectrum = fftwf_alloc_complex(DOPPEL_AUDIO_WINDOW / 2 + 1);
    audio->levels = malloc(ROWS * sizeof *audio->levels);
    audio->spread = malloc(ROWS * sizeof *audio->spread);
    if (!audio->plan || !audio->samples || !audio->window || !audio->windowed || !audio->spectrum ||
        !audio->levels || !audio->spread) {
        doppel_audio_free(audio);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to analyse a recording");
    }
    transform_window(audio->window);
    doppel_audio_reset(audio);
    *out = audio;
    return DOPPEL_OK;
}

void doppel_audio_free(struct doppel_audio *audio)
{
    if (!audio)
        return;
    free(audio->samples);
    free(audio->window);
    fftwf_free(audio->windowed);
    fftwf_free(audio->spectrum);
    free(audio->levels);
    free(audio->spread);
    free(audio->near);
    array_free(&audio->candidates);
    array_free(&audio->peaks);
    free(audio);
}

void doppel_audio_reset(struct doppel_audio *audio)
{
    audio->sample_count = 0;
    audio->hops = 0;
    audio->chosen = 0;
    audio->candidates.count = 0;
    audio->peaks.count = 0;
    audio->clip = false;
    memset(audio->levels, 0, CARRIED_HOPS * sizeof *audio->levels);
    memset(audio->spread, 0, CARRIED_HOPS * sizeof *audio->spread);
}

enum doppel_status doppel_audio_expect_clip(struct doppel_audio *audio, struct doppel_error *error)
{
    if (!audio->near)
        audio->near = malloc(ROWS * sizeof *audio->near);
    if (!audio->near)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to analyse a recording");
    memset(audio->near, 0, CARRIED_HOPS * sizeof *audio->near);
    audio->clip = true;
    return DOPPEL_OK;
}

void doppel_audio_drain(struct doppel_audio *audio)
{
    audio->peaks.count = 0;
}

const struct doppel_audio_peak *doppel_audio_peaks(const struct doppel_audio *audio,
                                                   size_t *out_count)
{
    *out_count = audio->peaks.count;
    return audio->peaks.items;
}

/* Keep what the next second needs of this one. */
static void carry_rows(struct doppel_audio *audio, int added)
{
    memmove(audio->levels, audio->levels + added, CARRIED_HOPS * sizeof *audio->levels);
    memmove(audio->spread, audio->spread + added, CARRIED_HOPS * sizeof *audio->spread);
    if (audio->clip)
        memmove(audio->near, audio->near + added, CARRIED_HOPS * sizeof *audio->near);
}

static void analyse_row(struct doppel_audio *audio, const float *samples, int row)
{
    const struct row_kernels *kernels = audio->kernels;
    kernels->window(samples, audio->window, audio->windowed);
    fftwf_execute_dft_r2c(audio->plan, audio->windowed, audio->spectrum);
    kernels->levels((const float *)audio->spectrum, audio->levels[row]);
    kernels->facts(audio->levels[row], &audio->facts[audio->hops % FACTS]);
    kernels->spread(audio->levels[row], audio->spread[row]);
    if (audio->clip)
        kernels->spread_near(audio->levels[row], audio->near[row]);
    audio->hops++;
}

static void silent_row(struct doppel_audio *audio, int row)
{
    memset(audio->levels[row], 0, sizeof *audio->levels);
    memset(audio->spread[row], 0, sizeof *audio->spread);
    if (audio->clip)
        memset(audio->near[row], 0, sizeof *audio->near);
    audio->facts[audio->hops % FACTS].floor = SILENT;
    audio->hops++;
}

/* Analyse `hops` hops of the samples that wait. */
static bool analyse(struct doppel_audio *audio, int hops)
{
    if (audio->clip && audio->hops + (uint32_t)hops > CLIP_HOPS)
        forget_faint(audio);
    for (int i = 0; i < hops; i++)
        analyse_row(audio, audio->samples + i * DOPPEL_AUDIO_HOP, CARRIED_HOPS + i);
    if (!pick_candidates(audio, hops))
        return false;
    carry_rows(audio, hops);
    while (audio->hops - audio->chosen >= SECOND_HOPS + BACKGROUND_HOPS)
        if (!pick_peaks(audio, SECOND_HOPS))
            return false;
    return true;
}

enum doppel_status doppel_audio_push(struct doppel_audio *audio, const float *samples, size_t count,
                                     struct doppel_error *error)
{
    while (count) {
        size_t room = SECOND_SAMPLES - audio->sample_count, taken = count < room ? count : room;
        audio->kernels->take(samples, taken, audio->samples + audio->sample_count);
        samples += taken;
        count -= taken;
        audio->sample_count += taken;
        if (taken < room)
            break;
        if (audio->hops > MAX_HOPS - ROWS)
            return doppel_fail(error, DOPPEL_E_LIMIT, "a recording cannot be longer than 72 days");
        if (!analyse(audio, SECOND_HOPS))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the peaks of a recording");
        audio->sample_count -= SECOND_HOPS * DOPPEL_AUDIO_HOP;
        memmove(audio->samples, audio->samples + SECOND_HOPS * DOPPEL_AUDIO_HOP,
                audio->sample_count * sizeof *samples);
    }
    return DOPPEL_OK;
}

/* Silence follows the audio, so that its last rows can be searched. */
static bool analyse_end(struct doppel_audio *audio)
{
    if (audio->sample_count >= DOPPEL_AUDIO_WINDOW &&
        !analyse(audio, (int)(audio->sample_count - DOPPEL_AUDIO_WINDOW) / DOPPEL_AUDIO_HOP + 1))
        return false;
    uint32_t hops = audio->hops;
    for (int i = 0; i < REACH_HOPS; i++)
        silent_row(audio, CARRIED_HOPS + i);
    if (!pick_candidates(audio, REACH_HOPS))
        return false;
    while (audio->chosen < hops) {
        uint32_t left = hops - audio->chosen;
        if (!pick_peaks(audio, left < SECOND_HOPS ? left : SECOND_HOPS))
            return false;
    }
    return true;
}

enum doppel_status doppel_audio_finish(struct doppel_audio *audio, struct doppel_error *error)
{
    if (!analyse_end(audio))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the peaks of a recording");
    audio->sample_count = 0;
    return DOPPEL_OK;
}
