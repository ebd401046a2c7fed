/* The header of a WAV that comes out of a pipe: libavformat would first wait for 64 KiB of it, to
 * see whether it hides something else. */
#include "core/bytes.h"
#include "media/audio/audio.h"

#include <string.h>

enum { TAG_PCM = 1, TAG_FLOAT = 3, TAG_EXTENSIBLE = 0xfffe };

static enum doppel_pcm_format coding_of(unsigned tag, unsigned bits)
{
    static const enum doppel_pcm_format of_bytes[] = {
        DOPPEL_PCM_NONE, DOPPEL_PCM_U8, DOPPEL_PCM_S16LE, DOPPEL_PCM_S24LE, DOPPEL_PCM_S32LE};
    if (tag == TAG_FLOAT)
        return bits == 32 ? DOPPEL_PCM_F32LE : DOPPEL_PCM_NONE;
    return tag == TAG_PCM && bits % 8 == 0 && bits <= 32 ? of_bytes[bits / 8] : DOPPEL_PCM_NONE;
}

/* Source: Microsoft's WAVEFORMATEX and WAVEFORMATEXTENSIBLE. */
static void read_format(const uint8_t *chunk, uint32_t size, struct audio_wav *wav)
{
    unsigned tag = get_u16(chunk), bits = get_u16(chunk + 14);
    if (tag == TAG_EXTENSIBLE && size >= 40)
        tag = get_u16(chunk + 24);
    wav->pcm = coding_of(tag, bits);
    wav->channels = get_u16(chunk + 2);
    wav->rate = get_u32(chunk + 4);
    if (get_u16(chunk + 12) != wav->channels * bits / 8)
        wav->pcm = DOPPEL_PCM_NONE;
}

bool audio_wav_read(const uint8_t *head, size_t size, struct audio_wav *out)
{
    struct audio_wav wav = {0};
    if (size < 12 || memcmp(head, "RIFF", 4) != 0 || memcmp(head + 8, "WAVE", 4) != 0)
        return false;
    for (size_t at = 12; at + 8 <= size;) {
        uint32_t bytes = get_u32(head + at + 4);
        const uint8_t *chunk = head + at + 8;
        if (!memcmp(head + at, "data", 4)) {
            bool known = bytes && bytes < INT32_MAX; /* else whoever wrote it could not say */
            wav.first_byte = at + 8;
            wav.bytes = known ? bytes : UINT64_MAX;
            *out = wav;
            return wav.pcm && wav.rate && wav.rate <= INT32_MAX && wav.channels;
        }
        if (bytes > size - at - 8)
            return false;
        if (!memcmp(head + at, "fmt ", 4) && bytes >= 16)
            read_format(chunk, bytes, &wav);
        at += 8 + (size_t)bytes + (bytes & 1);
    }
    return false;
}
