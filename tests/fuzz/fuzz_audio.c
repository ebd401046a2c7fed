/* Fuzz target: from the bytes of a container, or of raw PCM, to samples, to peaks. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doppel/audio.h>
#include <doppel/media.h>

#include "fuzz_container.h"

static bool push(void *context, const struct doppel_samples *samples)
{
    static const float silence[4096];
    for (size_t i = 0; samples->data && i < samples->count; i++)
        if (!isfinite(samples->data[i]))
            abort();
    for (size_t at = 0; at < samples->count;) {
        size_t part = samples->count - at;
        if (!samples->data && part > sizeof silence / sizeof *silence)
            part = sizeof silence / sizeof *silence;
        if (doppel_audio_push(context, samples->data ? samples->data + at : silence, part, NULL))
            return false;
        at += part;
    }
    return true;
}

/* How it is read depends on the input, too. */
static struct doppel_samples_options options_for(const uint8_t *data, size_t size)
{
    struct doppel_samples_options options = doppel_samples_options_default();
    options.limits.max_memory = 64 << 20;
    options.max_seconds = 60;
    options.stream = data[size / 2] % 4 == 0;
    if (size % 16 == 0) {
        options.pcm = (enum doppel_pcm_format)(DOPPEL_PCM_U8 + data[size / 3] % 5);
        options.pcm_rate = 4000u + 100u * data[size - 1];
        options.pcm_channels = 1 + data[size / 4] % 9;
    }
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct doppel_audio *audio = NULL;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (!size || fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0 ||
        doppel_audio_new(&audio, NULL) != DOPPEL_OK) {
        close(fd);
        return 0;
    }
    struct doppel_samples_options options = options_for(data, size);
    doppel_media_read_samples(fd, &options, push, audio, NULL, NULL);
    doppel_audio_finish(audio, NULL);
    size_t count = 0;
    const struct doppel_audio_peak *peaks = doppel_audio_peaks(audio, &count);
    if (count && !peaks)
        abort();
    doppel_audio_free(audio);
    close(fd);
    return 0;
}
