/* What lies behind doppel_media_read_samples, _chromaprint, _frames and _thumbnail where FFmpeg is
 * there. */
#ifndef DOPPEL_MEDIA_READERS_H
#define DOPPEL_MEDIA_READERS_H

#include <doppel/media.h>

enum doppel_status read_audio(int fd, const struct doppel_samples_options *options,
                              doppel_samples_visitor *visitor, void *context,
                              struct doppel_samples_info *out_info, struct doppel_error *error);

enum doppel_status read_chromaprint(int fd, const struct doppel_samples_options *options,
                                    struct doppel_chromaprint *out, struct doppel_error *error);

enum doppel_status read_video(int fd, const struct doppel_frames_options *options,
                              doppel_frames_visitor *visitor, void *context,
                              struct doppel_frames_info *out_info, struct doppel_error *error);

enum doppel_status read_thumbnail(int fd, uint32_t time_ms, uint32_t longest, uint8_t **out,
                                  size_t *out_size, struct doppel_error *error);

#endif
