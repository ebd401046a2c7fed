/* The audio of a file or stream through FFmpeg, from opening to closing. */
#include <stdlib.h>

#include "media/readers.h"
#include "media/audio/audio.h"

static enum doppel_status open_input(struct recording *recording, int fd,
                                     struct doppel_error *error)
{
    recording->container.holds = "audio";
    recording->container.source.fd = fd;
    if (recording->options.stream)
        return DOPPEL_OK;
    return container_begin(&recording->container, fd, &recording->options.limits, error);
}

static void close_all_recording(struct recording *recording)
{
    avcodec_free_context(&recording->codec);
    av_packet_free(&recording->packet);
    av_frame_free(&recording->frame);
    audio_out_free(&recording->out);
    audio_mix_free(&recording->mix);
    container_close(&recording->container);
}

enum doppel_status audio_decode_file(struct recording *recording, int fd,
                                     struct doppel_error *error)
{
    av_log_set_level(AV_LOG_QUIET);
    recording->mix.out = &recording->out;
    enum doppel_status status = open_input(recording, fd, error);
    if (status == DOPPEL_OK)
        status = audio_open(recording, error);
#ifdef HAVE_CHROMAPRINT
    if (status == DOPPEL_OK && recording->chromaprint)
        audio_chromaprint_begin(recording->chromaprint, recording->container.format,
                                recording->track);
#endif
    if (status == DOPPEL_OK)
        status = audio_decode(recording, error);
    if (status == DOPPEL_OK)
        status = container_check_source(&recording->container, error);
    close_all_recording(recording);
    return status;
}

enum doppel_status read_audio(int fd, const struct doppel_samples_options *options,
                              doppel_samples_visitor *visitor, void *context,
                              struct doppel_samples_info *out_info, struct doppel_error *error)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read audio");
    recording->options = *options;
    recording->out.visitor = visitor;
    recording->out.context = context;
    recording->out.max_seconds = options->stream ? 0 : options->max_seconds;
    enum doppel_status status = audio_decode_file(recording, fd, error);
    if (status == DOPPEL_OK && out_info)
        *out_info = recording->info;
    free(recording);
    return status;
}
