/* Small recordings in many containers, and changes to them. */
#include "audio_mutants.h"

static const struct audio_how hows[] = {
    {.muxer = "flac", .codec = "flac"},
    {.muxer = "ogg", .codec = "libvorbis"},
    {.muxer = "ogg", .codec = "libopus"},
    {.muxer = "mp3", .codec = "libmp3lame"},
    {.muxer = "ipod", .codec = "aac"},
    {.muxer = "adts", .codec = "aac"},
    {.muxer = "matroska", .codec = "ac3"},
    {.muxer = "asf", .codec = "wmav2"},
    {.muxer = "mpegts", .codec = "mp2"},
    {.muxer = "wv", .codec = "wavpack"},
    {.muxer = "tta", .codec = "tta"},
    {.muxer = "caf", .codec = "alac"},
    {.muxer = "aiff", .codec = "pcm_s16be"},
    {.muxer = "avi", .codec = "mp2", .images = true},
    {.muxer = "flv", .codec = "libmp3lame", .images = false},
};

size_t audio_seeds(struct file seeds[AUDIO_SEEDS])
{
    size_t count = 0;
    struct tune tune = tune_make(1.5, 22050, 2), other = tune_make(1.5, 48000, 2);
    seeds[count++] = make_wav(&tune, WAV_S24);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        struct file file = make_audio(&tune, &hows[i]);
        if (!file.data) /* Opus has rates of its own */
            file = make_audio(&other, &hows[i]);
        if (file.data)
            seeds[count++] = file;
    }
    tune_free(&tune);
    tune_free(&other);
    return count;
}

static uint32_t next_random(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33);
}

struct file file_mutant(const struct file *seed, uint64_t *random)
{
    struct file mutant = file_of(seed->data, seed->size);
    unsigned changes = 1 + next_random(random) % 8;
    for (unsigned i = 0; i < changes; i++) {
        size_t reach = next_random(random) % 2 && mutant.size > 300 ? 300 : mutant.size;
        size_t at = next_random(random) % reach;
        if (next_random(random) % 2)
            mutant.data[at] ^= (uint8_t)(1 << next_random(random) % 8);
        else
            mutant.data[at] = (uint8_t)next_random(random);
    }
    if (next_random(random) % 4 == 0)
        mutant.size = 1 + next_random(random) % mutant.size;
    return mutant;
}
