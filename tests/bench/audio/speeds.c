/* Edits that change tempo, pitch, or both. */
#include "edits.h"

#include <math.h>

/* WSOLA (Verhelst and Roelands, 1993): windows of 93 ms, half overlapping, each taken within 12 ms
 * of where it belongs, where it continues the one before best. */
enum { GRAIN = 1024, STEP = GRAIN / 2, REACH = 128 };

static double likeness(const struct recording *in, long a, long b)
{
    float sum = 0, energy = 1e-6f;
    for (long i = 0; i < STEP; i++) {
        float x = in->data[a + i], y = in->data[b + i];
        sum += x * y;
        energy += y * y;
    }
    return (double)(sum / sqrtf(energy));
}

static long best_grain(const struct recording *in, long wanted, long follows)
{
    long best = wanted;
    double most = -INFINITY;
    for (long at = wanted - REACH; at <= wanted + REACH; at++) {
        if (at < 0 || at + GRAIN > (long)in->count)
            continue;
        double value = likeness(in, follows, at);
        if (value > most) {
            most = value;
            best = at;
        }
    }
    return best;
}

/** Played `tempo` times as fast at the same pitch. */
static struct recording stretch(const struct recording *in, double tempo)
{
    struct recording out = audio_new((size_t)((double)in->count / tempo));
    long before = 0;
    for (long to = 0; to + GRAIN <= (long)out.count; to += STEP) {
        long wanted = lround((double)to * tempo);
        if (wanted + GRAIN > (long)in->count || before + STEP + STEP > (long)in->count)
            break;
        long from = to ? best_grain(in, wanted, before + STEP) : 0;
        for (long i = 0; i < GRAIN; i++) {
            double window = .5 - .5 * cos(2 * M_PI * ((double)i + .5) / GRAIN);
            out.data[to + i] += (float)(window * (double)in->data[from + i]);
        }
        before = from;
    }
    return out;
}

static double either(double amount, struct random *random)
{
    return random_below(random, 2) ? 1 + amount : 1 - amount;
}

struct recording edit_tempo(const struct recording *in, double amount, struct scene *scene)
{
    return stretch(in, either(amount, &scene->random));
}

struct recording edit_pitch(const struct recording *in, double amount, struct scene *scene)
{
    double pitch = either(amount, &scene->random);
    struct recording slow = stretch(in, 1 / pitch), out = audio_resample(&slow, 1 / pitch);
    audio_free(&slow);
    return out;
}

struct recording edit_speed(const struct recording *in, double amount, struct scene *scene)
{
    return audio_resample(in, 1 / either(amount, &scene->random));
}

struct recording edit_drift(const struct recording *in, double amount, struct scene *scene)
{
    return audio_resample(in, 1 / (1 + random_between(&scene->random, -amount, amount)));
}
