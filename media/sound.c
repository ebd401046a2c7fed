/* The sound of a file or stream through FFmpeg, from opening to closing. */
#include <stdlib.h>
#include <string.h>

#include "media/samples.h"
#include "media/sound.h"

enum doppel_status sound_fail(const struct sound *sound, int code, struct doppel_error *error)
{
    char cause[AV_ERROR_MAX_STRING_SIZE];
    const struct sound_input *input = &sound->input;
    int read_error = input->file ? input->file->error : input->error;
    if (sound->refusal.status != DOPPEL_OK)
        return doppel_fail(error, sound->refusal.status, "%s", sound->refusal.message);
    if (read_error)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(read_error));
    if (code == AVERROR(ENOMEM))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decode the sound");
    if (code == AVERROR_PATCHWELCOME)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "holds sound of a variant not known here");
    if (code == AVERROR_EOF)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is cut short in its header");
    if (code == AVERROR_INVALIDDATA || code == AVERROR(EINVAL) || code == AVERROR(EPERM))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged in its header");
    return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged (%s)",
                       av_make_error_string(cause, sizeof cause, code));
}

static enum doppel_status open_input(struct sound *sound, int fd, struct doppel_error *error)
{
    sound->input.fd = fd;
    if (sound->options.stream)
        return DOPPEL_OK;
    sound->input.file = malloc(sizeof *sound->input.file);
    if (!sound->input.file)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a file");
    memset(sound->input.file, 0, sizeof *sound->input.file);
    return input_open(sound->input.file, fd, &sound->options.limits, error);
}

static void close_all(struct sound *sound)
{
    avcodec_free_context(&sound->codec);
    avformat_close_input(&sound->container);
    av_packet_free(&sound->packet);
    av_frame_free(&sound->frame);
    sound_input_close(sound->io);
    swr_free(&sound->out.resampler);
    sound_mix_free(&sound->mix);
    free(sound->input.head);
    free(sound->input.file);
}

enum doppel_status sound_read(struct sound *sound, int fd, struct doppel_error *error)
{
    av_log_set_level(AV_LOG_QUIET);
    sound->mix.out = &sound->out;
    enum doppel_status status = open_input(sound, fd, error);
    if (status == DOPPEL_OK)
        status = sound_open(sound, error);
    if (status == DOPPEL_OK && sound->chromaprint)
        sound_chromaprint_begin(sound->chromaprint, sound->container, sound->track);
    if (status == DOPPEL_OK)
        status = sound_decode(sound, error);
    int read_error = sound->input.file ? sound->input.file->error : sound->input.error;
    if (status == DOPPEL_OK && read_error)
        status = doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(read_error));
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
