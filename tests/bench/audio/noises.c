/* Edits that add noise. */
#include "edits.h"

#include <math.h>

enum { VOICES = 6 };

/** A passage that is not silent, of a track drawn by chance; no data when there is none. */
static struct sound passage(const struct tracks *tracks, unsigned fold, enum role role,
                            size_t count, struct random *random)
{
    double seconds = (double)count / SOUND_RATE;
    struct sound part = {0};
    for (int tries = 0; tries < 100; tries++) {
        const struct track *track = tracks_draw(tracks, fold, role, random);
        if (!track)
            break;
        double room = (double)track->sound.count / SOUND_RATE - seconds;
        sound_free(&part);
        part = sound_part(&track->sound, random_between(random, 0, fmax(0, room)), seconds);
        part.count = count < part.count ? count : part.count;
        if (sound_power(&part) > 1e-5)
            break;
    }
    return part;
}

static struct sound copy(const struct sound *in)
{
    return sound_part(in, 0, (double)in->count / SOUND_RATE);
}

/** Voices are as loud as each other. */
struct sound edit_babble(const struct sound *in, double amount, struct scene *scene)
{
    struct sound out = copy(in), sum = sound_new(in->count);
    for (int i = 0; i < VOICES; i++) {
        struct sound voice =
            passage(scene->tracks, scene->fold, ROLE_NOISE, in->count, &scene->random);
        float gain = (float)(1 / sqrt(sound_power(&voice) + 1e-12));
        for (size_t k = 0; k < voice.count; k++)
            sum.data[k] += gain * voice.data[k];
        sound_free(&voice);
    }
    sound_add(&out, &sum, amount);
    sound_free(&sum);
    return out;
}

struct sound edit_music(const struct sound *in, double amount, struct scene *scene)
{
    struct sound out = copy(in);
    struct sound music =
        passage(scene->tracks, scene->fold, ROLE_NEGATIVE, in->count, &scene->random);
    sound_add(&out, &music, amount);
    sound_free(&music);
    return out;
}

struct sound edit_white(const struct sound *in, double amount, struct scene *scene)
{
    struct sound out = copy(in), noise = sound_new(in->count);
    for (size_t i = 0; i < noise.count; i++)
        noise.data[i] = (float)random_normal(&scene->random);
    sound_add(&out, &noise, amount);
    sound_free(&noise);
    return out;
}

/** Sums of first-order filters of white noise, an octave apart: -3 dB an octave within 1 dB. */
struct sound pink_noise(size_t count, struct random *random)
{
    enum { POLES = 9 };
    struct sound noise = sound_new(count);
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

struct sound edit_pink(const struct sound *in, double amount, struct scene *scene)
{
    struct sound out = copy(in), noise = pink_noise(in->count, &scene->random);
    sound_add(&out, &noise, amount);
    sound_free(&noise);
    return out;
}
