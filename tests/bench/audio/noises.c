/* Edits that add noise. */
#include "edits.h"

#include <math.h>

enum { VOICES = 6 };

/** A passage that is not silent, of a track drawn by chance; no data when there is none. */
static struct recording passage(const struct tracks *tracks, unsigned fold, enum role role,
                                size_t count, struct random *random)
{
    double seconds = (double)count / AUDIO_RATE;
    struct recording part = {0};
    for (int tries = 0; tries < 100; tries++) {
        const struct track *track = tracks_draw(tracks, fold, role, random);
        if (!track)
            break;
        double room = (double)track->audio.count / AUDIO_RATE - seconds;
        audio_free(&part);
        part = audio_part(&track->audio, random_between(random, 0, fmax(0, room)), seconds);
        part.count = count < part.count ? count : part.count;
        if (audio_power(&part) > 1e-5)
            break;
    }
    return part;
}

static struct recording copy(const struct recording *in)
{
    return audio_part(in, 0, (double)in->count / AUDIO_RATE);
}

/** Voices are as loud as each other. */
struct recording edit_babble(const struct recording *in, double amount, struct scene *scene)
{
    struct recording out = copy(in), sum = audio_new(in->count);
    for (int i = 0; i < VOICES; i++) {
        struct recording voice =
            passage(scene->tracks, scene->fold, ROLE_NOISE, in->count, &scene->random);
        float gain = (float)(1 / sqrt(audio_power(&voice) + 1e-12));
        for (size_t k = 0; k < voice.count; k++)
            sum.data[k] += gain * voice.data[k];
        audio_free(&voice);
    }
    audio_add(&out, &sum, amount);
    audio_free(&sum);
    return out;
}

struct recording edit_music(const struct recording *in, double amount, struct scene *scene)
{
    struct recording out = copy(in);
    struct recording music =
        passage(scene->tracks, scene->fold, ROLE_NEGATIVE, in->count, &scene->random);
    audio_add(&out, &music, amount);
    audio_free(&music);
    return out;
}

struct recording edit_white(const struct recording *in, double amount, struct scene *scene)
{
    struct recording out = copy(in), noise = audio_new(in->count);
    for (size_t i = 0; i < noise.count; i++)
        noise.data[i] = (float)random_normal(&scene->random);
    audio_add(&out, &noise, amount);
    audio_free(&noise);
    return out;
}

/** Sums of first-order filters of white noise, an octave apart: -3 dB an octave within 1 dB. */
struct recording pink_noise(size_t count, struct random *random)
{
    enum { POLES = 9 };
    struct recording noise = audio_new(count);
    double state[POLES] = {0};
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < POLES; k++) {
            double keep = exp(-M_PI * pow(2, -k));
            state[k] = keep * state[k] + sqrt(1 - keep * keep) * random_normal(random);
            sum += state[k];
        }
        noise.data[i] = (float)(sum / sqrt(POLES));
    }
    return noise;
}

struct recording edit_pink(const struct recording *in, double amount, struct scene *scene)
{
    struct recording out = copy(in), noise = pink_noise(in->count, &scene->random);
    audio_add(&out, &noise, amount);
    audio_free(&noise);
    return out;
}
