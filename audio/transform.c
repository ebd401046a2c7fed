/* The transform: a Hann window, and FFTW's plan, which is made once for the whole program. */
#include "audio/audio_internal.h"

#include <math.h>
#include <pthread.h>

void transform_window(float out[DOPPEL_AUDIO_WINDOW])
{
    for (int i = 0; i < DOPPEL_AUDIO_WINDOW; i++)
        out[i] = (float)(.5 - .5 * cos(2 * M_PI * (i + .5) / DOPPEL_AUDIO_WINDOW));
}

/* FFTW's planner may run in one thread at a time; its plans, in any number of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fftwf_plan shared_plan;

static fftwf_plan make_plan(void)
{
    float *in = fftwf_alloc_real(DOPPEL_AUDIO_WINDOW);
    fftwf_complex *out = fftwf_alloc_complex(DOPPEL_AUDIO_WINDOW / 2 + 1);
    fftwf_plan plan = NULL;
    if (in && out)
        plan = fftwf_plan_dft_r2c_1d(DOPPEL_AUDIO_WINDOW, in, out, FFTW_ESTIMATE);
    fftwf_free(in);
    fftwf_free(out);
    return plan;
}

fftwf_plan transform_plan(void)
{
    pthread_mutex_lock(&lock);
    if (!shared_plan)
        shared_plan = make_plan();
    fftwf_plan plan = shared_plan;
    pthread_mutex_unlock(&lock);
    return plan;
}
