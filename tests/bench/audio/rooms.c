/* Edits that let the audio ring in a room, and record it there. */
#include "edits.h"

#include <math.h>

/** An impulse response: the direct audio, then noise that decays by 60 dB in `decay` seconds, and
 * is so many decibels weaker in all. */
static struct recording room_response(double decay, double decibels, struct random *random)
{
    struct recording response = audio_new((size_t)(decay * AUDIO_RATE));
    double delay = .003 * AUDIO_RATE;
    for (size_t i = (size_t)delay; i < response.count; i++)
        response.data[i] =
            (float)(random_normal(random) * pow(10, -3 * (double)i / (decay * AUDIO_RATE)));
    double power = audio_power(&response) * (double)response.count;
    for (size_t i = 0; i < response.count; i++)
        response.data[i] *= (float)(pow(10, -decibels / 20) / sqrt(power));
    response.data[0] = 1;
    return response;
}

static struct recording in_room(const struct recording *in, double decay, double decibels,
                                struct random *random)
{
    struct recording out = audio_part(in, 0, (double)in->count / AUDIO_RATE);
    struct recording response = room_response(decay, decibels, random);
    audio_convolve(&out, &response);
    audio_free(&response);
    return out;
}

/** A hall: 1.2 s, reverberation as loud as the direct audio. */
struct recording edit_reverb(const struct recording *in, double amount, struct scene *scene)
{
    (void)amount;
    return in_room(in, 1.2, 0, &scene->random);
}

/** A telephone held up in a room: .3 s of reverberation at -3 dB, 200 to 5000 Hz, pink noise at
 * -10 dB, and clipped at 1.5 times the root mean square. */
struct recording edit_microphone(const struct recording *in, double amount, struct scene *scene)
{
    (void)amount;
    struct recording out = in_room(in, .3, 3, &scene->random);
    struct recording noise = pink_noise(out.count, &scene->random);
    audio_add(&out, &noise, 10);
    audio_band(&out, AUDIO_RATE, 200, 5000);
    float limit = (float)(1.5 * sqrt(audio_power(&out)));
    for (size_t i = 0; i < out.count; i++)
        out.data[i] = fmaxf(-limit, fminf(limit, out.data[i]));
    audio_free(&noise);
    return out;
}
