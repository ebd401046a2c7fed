/* Edits that let the sound ring in a room, and record it there. */
#include "edits.h"

#include <math.h>

/** An impulse response: the direct sound, then noise that decays by 60 dB in `decay` seconds, and
 * is so many decibels weaker in all. */
static struct sound room_response(double decay, double decibels, struct random *random)
{
    struct sound response = sound_new((size_t)(decay * SOUND_RATE));
    double delay = .003 * SOUND_RATE;
    for (size_t i = (size_t)delay; i < response.count; i++)
        response.data[i] =
            (float)(random_normal(random) * pow(10, -3 * (double)i / (decay * SOUND_RATE)));
    double power = sound_power(&response) * (double)response.count;
    for (size_t i = 0; i < response.count; i++)
        response.data[i] *= (float)(pow(10, -decibels / 20) / sqrt(power));
    response.data[0] = 1;
    return response;
}

static struct sound in_room(const struct sound *in, double decay, double decibels,
                            struct random *random)
{
    struct sound out = sound_part(in, 0, (double)in->count / SOUND_RATE);
    struct sound response = room_response(decay, decibels, random);
    sound_convolve(&out, &response);
    sound_free(&response);
    return out;
}

/** A hall: 1.2 s, reverberation as loud as the direct sound. */
struct sound edit_reverb(const struct sound *in, double amount, struct scene *scene)
{
    (void)amount;
    return in_room(in, 1.2, 0, &scene->random);
}

/** A telephone held up in a room: .3 s of reverberation at -3 dB, 200 to 5000 Hz, pink noise at
 * -10 dB, and clipped at 1.5 times the root mean square. */
struct sound edit_microphone(const struct sound *in, double amount, struct scene *scene)
{
    (void)amount;
    struct sound out = in_room(in, .3, 3, &scene->random);
    struct sound noise = pink_noise(out.count, &scene->random);
    sound_add(&out, &noise, 10);
    sound_band(&out, SOUND_RATE, 200, 5000);
    float limit = (float)(1.5 * sqrt(sound_power(&out)));
    for (size_t i = 0; i < out.count; i++)
        out.data[i] = fmaxf(-limit, fminf(limit, out.data[i]));
    sound_free(&noise);
    return out;
}
