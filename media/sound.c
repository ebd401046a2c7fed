/* The sound of a file or stream through FFmpeg, from opening to closing. */
#include <stdlib.h>

#include "media/readers.h"
#include "media/sound.h"

static enum doppel_status open_input(struct sound *sound, int fd, struct doppel_error *error)
{
    sound->container.holds = "sound";
    sound->container.source.fd = fd;
    if (sound->options.stream)
        return DOPPEL_OK;
    return container_begin(&sound->container, fd, &sound->options.limits, error);
}

static void close_all(struct sound *sound)
{
    avcodec_free_context(&sound->codec);
    av_packet_free(&sound->packet);
    av_frame_free(&sound->frame);
    swr_free(&sound->out.resampler);
    sound_mix_free(&sound->mix);
    container_close(&sound->container);
}

enum doppel_status sound_read(struct sound *sound, int fd, struct doppel_error *error)
{
    av_log_set_level(AV_LOG_QUIET);
    sound->mix.out = &sound->out;
    enum doppel_status status = open_input(sound, fd, error);
    if (status == DOPPEL_OK)
        status = sound_open(sound, error);
    if (status == DOPPEL_OK && sound->chromaprint)
        sound_chromaprint_begin(sound->chromaprint, sound->container.format, sound->track);
    if (status == DOPPEL_OK)
        status = sound_decode(sound, error);
    if (status == DOPPEL_OK)
        status = container_check_source(&sound->container, error);
    close_all(sound);
    return status;
}

enum doppel_status read_sound(int fd, const struct doppel_samples_options *options,
                              doppel_samples_visitor *visitor, void *context,
                              struct doppel_samples_info *out_info, struct doppel_error *error)
{
    struct sound *sound = calloc(1, sizeof *sound);
    if (!sound)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read sound");
    sound->options = *options;
    sound->out.visitor = visitor;
    sound->out.context = context;
    sound->out.max_seconds = options->stream ? 0 : options->max_seconds;
    enum doppel_status status = sound_read(sound, fd, error);
    if (status == DOPPEL_OK && out_info)
        *out_info = sound->info;
    free(sound);
    return status;
}
