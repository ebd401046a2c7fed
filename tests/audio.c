/* Made recordings for tests. */
#include "audio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Source of the constants: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators"
 * (2014). */
static uint64_t draw(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (double)(draw(seed) >> 11) * 0x1p-53;
}

static struct recording blank(size_t count)
{
    struct recording recording = {calloc(count ? count : 1, sizeof(float)), count};
    if (!recording.samples)
        abort();
    return recording;
}

size_t audio_samples(double seconds)
{
    return (size_t)lround(seconds * AUDIO_RATE);
}

struct recording audio_silence(double seconds)
{
    return blank(audio_samples(seconds));
}

static double power(const struct recording *recording)
{
    double sum = 0;
    for (size_t i = 0; i < recording->count; i++)
        sum += (double)recording->samples[i] * recording->samples[i];
    return recording->count ? sum / (double)recording->count : 0;
}

struct partial {
    double hertz, level, decay; /* decay a second */
};

/* A sine that sets in over 5 ms and dies away. */
static void add_partial(struct recording *recording, size_t start, size_t length,
                        const struct partial *partial)
{
    double step = 2 * PI * partial->hertz / AUDIO_RATE, now = 0, then = sin(-step);
    double turn = 2 * cos(step), fade = exp(-partial->decay / AUDIO_RATE), level = partial->level;
    for (size_t i = 0; i < length && start + i < recording->count; i++) {
        double onset = i < 55 ? (double)i / 55 : 1, end = (double)(length - i) / 110;
        recording->samples[start + i] += (float)(level * now * onset * (end < 1 ? end : 1));
        double next = turn * now - then;
        then = now;
        now = next;
        level *= fade;
    }
}

static void add_note(struct recording *recording, size_t start, size_t length, double tonic,
                     uint64_t *seed)
{
    static const int scale[] = {0, 2, 4, 5, 7, 9, 11};
    int octave = (int)(draw(seed) % 4), degree = scale[draw(seed) % 7];
    double hertz = tonic * pow(2, octave + degree / 12.0), level = between(seed, 0.05, 0.15);
    double decay = between(seed, 1, 6), bright = between(seed, 0.4, 0.9);
    for (int i = 1; i <= 8 && i * hertz < 5200; i++, level *= bright)
        add_partial(recording, start, length, &(struct partial){i * hertz, level, decay * sqrt(i)});
}

static void add_hit(struct recording *recording, size_t start, uint64_t *seed)
{
    double level = between(seed, 0.05, 0.3), decay = between(seed, 20, 80), smooth = 0;
    double keep = between(seed, 0, 0.8), fade = exp(-decay / AUDIO_RATE);
    for (size_t i = 0; i < AUDIO_RATE / 4; i++, level *= fade) {
        smooth = keep * smooth + (1 - keep) * between(seed, -1, 1);
        if (start + i < recording->count)
            recording->samples[start + i] += (float)(level * smooth);
    }
}

struct recording audio_music(double seconds, uint64_t seed)
{
    struct recording recording = blank(audio_samples(seconds));
    double beat = between(&seed, 0.35, 0.8) * AUDIO_RATE, tonic = between(&seed, 70, 140);
    for (int voice = 0; voice < 4; voice++) {
        uint64_t own = draw(&seed);
        static const double lengths[] = {0.25, 0.5, 0.5, 1, 1, 2};
        for (double at = 0; at < (double)recording.count;) {
            double length = beat * lengths[draw(&own) % 6];
            size_t start = (size_t)(at + between(&own, 0, 200));
            if (voice == 3)
                add_hit(&recording, start, &own);
            else
                add_note(&recording, start, (size_t)(length * between(&own, 0.7, 1.3)), tonic,
                         &own);
            at += length;
        }
    }
    return recording;
}

/* A resonance; source: any two-pole filter. */
struct formant {
    double hertz, width, now, then;
};

static double reaudio(struct formant *formant, double in)
{
    double radius = exp(-PI * formant->width / AUDIO_RATE);
    double turn = 2 * radius * cos(2 * PI * formant->hertz / AUDIO_RATE);
    double out = (1 - radius) * in + turn * formant->now - radius * radius * formant->then;
    formant->then = formant->now;
    formant->now = out;
    return out;
}

/* What the mouth does for the next while. */
struct phone {
    double pitch, voiced, noisy;
    size_t length;
};

/* Who speaks: how his formants, his pitch and his haste differ. */
struct voice {
    double formants[3], pitch, length;
};

static struct phone next_phone(struct formant formants[3], const struct voice *voice,
                               uint64_t *seed)
{
    static const double lows[] = {250, 800, 1900}, highs[] = {850, 2200, 3200};
    for (int i = 0; i < 3; i++) {
        formants[i].hertz = between(seed, lows[i], highs[i]) * voice->formants[i];
        formants[i].width = between(seed, 60, 160);
    }
    uint64_t sort = draw(seed) % 10;
    struct phone phone = {.pitch = between(seed, 90, 240) * voice->pitch,
                          .length =
                              (size_t)(between(seed, 0.05, 0.18) * voice->length * AUDIO_RATE)};
    phone.voiced = sort < 6 ? 3 : 0;
    phone.noisy = sort < 6 ? 0.02 : sort < 9 ? 0.4 : 0;
    return phone;
}

static struct recording speak(double seconds, uint64_t seed, const struct voice *voice)
{
    struct recording recording = blank(audio_samples(seconds));
    struct formant formants[3] = {{0}};
    struct phone phone = {0};
    double phase = 0;
    size_t left = 0;
    for (size_t i = 0; i < recording.count; i++, left--) {
        if (!left) {
            phone = next_phone(formants, voice, &seed);
            left = phone.length;
        }
        phase += phone.pitch / AUDIO_RATE;
        double source = phone.noisy * between(&seed, -1, 1);
        if (phase >= 1) {
            phase -= 1;
            source += phone.voiced;
        }
        double out = 0;
        for (int k = 0; k < 3; k++)
            out += reaudio(&formants[k], source) / (k + 1);
        recording.samples[i] = (float)out;
    }
    return recording;
}

struct recording audio_speech(double seconds, uint64_t seed)
{
    return speak(seconds, seed, &(struct voice){{1, 1, 1}, 1, 1});
}

struct recording audio_voice(double seconds, uint64_t words, uint64_t voice)
{
    struct voice who = {.pitch = between(&voice, 1.2, 1.6), .length = between(&voice, 1.03, 1.15)};
    for (int i = 0; i < 3; i++)
        who.formants[i] = between(&voice, 1.05, 1.25);
    return speak(seconds, words, &who);
}

struct recording audio_noise(double seconds, uint64_t seed)
{
    struct recording recording = blank(audio_samples(seconds));
    for (size_t i = 0; i < recording.count; i++)
        recording.samples[i] = (float)between(&seed, -0.17, 0.17);
    return recording;
}

struct recording audio_tone(double seconds, double hertz)
{
    struct recording recording = blank(audio_samples(seconds));
    for (size_t i = 0; i < recording.count; i++)
        recording.samples[i] = (float)(0.14 * sin(2 * PI * hertz * (double)i / AUDIO_RATE));
    return recording;
}

struct recording audio_cut(const struct recording *recording, double start, double seconds)
{
    struct recording piece = blank(audio_samples(seconds));
    size_t from = audio_samples(start);
    size_t left = from < recording->count ? recording->count - from : 0;
    size_t count = left < piece.count ? left : piece.count;
    memcpy(piece.samples, recording->samples + (count ? from : 0), count * sizeof(float));
    return piece;
}

enum { REACH = 32 };

/* Sines and cosines of whole steps, from which follow those at any place. */
struct turns {
    double sine[2 * REACH], cosine[2 * REACH];
};

static struct turns turns_of(double step)
{
    struct turns turns;
    for (int i = 0; i < 2 * REACH; i++) {
        turns.sine[i] = sin(step * (i + 1 - REACH));
        turns.cosine[i] = cos(step * (i + 1 - REACH));
    }
    return turns;
}

/* Windowed sinc of 32 samples; what would fold back is cut away first. */
static double sample_at(const struct recording *recording, double at, double cutoff,
                        const struct turns *wave, const struct turns *bell)
{
    double middle = floor(at), past = at - middle, sum = 0;
    double wave_sine = sin(PI * cutoff * past), wave_cosine = cos(PI * cutoff * past);
    double bell_sine = sin(PI * past / 33), bell_cosine = cos(PI * past / 33);
    for (int k = 0; k < 2 * REACH; k++) {
        long i = lround(middle) + k + 1 - REACH;
        if (i < 0 || i >= (long)recording->count)
            continue;
        double x = at - (double)i;
        double window = 0.5 + 0.5 * (bell_cosine * bell->cosine[k] + bell_sine * bell->sine[k]);
        double sine = wave_sine * wave->cosine[k] - wave_cosine * wave->sine[k];
        sum += recording->samples[i] * (fabs(x) < 1e-9 ? cutoff : sine / (PI * x)) * window;
    }
    return sum;
}

struct recording audio_speed(const struct recording *recording, double factor)
{
    struct recording out = blank((size_t)((double)recording->count / factor));
    double cutoff = factor > 1 ? 1 / factor : 1;
    const struct turns wave = turns_of(PI * cutoff), bell = turns_of(PI / 33);
    for (size_t i = 0; i < out.count; i++)
        out.samples[i] = (float)sample_at(recording, (double)i * factor, cutoff, &wave, &bell);
    return out;
}

void audio_paste(struct recording *recording, double start, const struct recording *other)
{
    size_t from = audio_samples(start);
    size_t left = from < recording->count ? recording->count - from : 0;
    size_t count = left < other->count ? left : other->count;
    memcpy(recording->samples + (count ? from : 0), other->samples, count * sizeof(float));
}

void audio_mix(struct recording *recording, const struct recording *other, double snr_db)
{
    double loud = power(other);
    if (!other->count || loud <= 0)
        return;
    float scale = (float)sqrt(power(recording) / loud * pow(10, -snr_db / 10));
    for (size_t i = 0; i < recording->count; i++)
        recording->samples[i] += scale * other->samples[i % other->count];
}

void audio_add_noise(struct recording *recording, double snr_db, uint64_t seed)
{
    struct recording noise = audio_noise((double)recording->count / AUDIO_RATE, seed);
    audio_mix(recording, &noise, snr_db);
    free(noise.samples);
}

void audio_gain(struct recording *recording, double factor)
{
    for (size_t i = 0; i < recording->count; i++)
        recording->samples[i] *= (float)factor;
}
