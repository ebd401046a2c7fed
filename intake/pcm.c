/* Raw audio as people name it: "s16le:44100:2". */
#include "intake/pcm.h"

#include <string.h>

#include <doppel/media.h>

#include "core/text/values.h"

enum { MAX_RATE = 768000, MAX_CHANNELS = 64 };

static uint8_t format_of(const char *name)
{
    static const struct {
        const char *name;
        enum doppel_pcm_format format;
    } formats[] = {{"u8", DOPPEL_PCM_U8},
                   {"s16le", DOPPEL_PCM_S16LE},
                   {"s24le", DOPPEL_PCM_S24LE},
                   {"s32le", DOPPEL_PCM_S32LE},
                   {"f32le", DOPPEL_PCM_F32LE}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0)
            return (uint8_t)formats[i].format;
    return DOPPEL_PCM_NONE;
}

bool parse_pcm(const char *text, struct doppel_pcm *out)
{
    char copy[64], *rest = copy;
    uint64_t rate, channels;
    size_t size = strlen(text) + 1;
    if (size > sizeof copy)
        return false;
    memcpy(copy, text, size);
    uint8_t format = format_of(strsep(&rest, ":"));
    const char *rate_text = rest ? strsep(&rest, ":") : "";
    if (!format || !rest || !parse_whole(rate_text, 1, MAX_RATE, &rate) ||
        !parse_whole(rest, 1, MAX_CHANNELS, &channels))
        return false;
    *out = (struct doppel_pcm){format, (uint32_t)rate, (uint32_t)channels};
    return true;
}
