/* What lies behind doppel_media_read_samples where FFmpeg is there. */
#ifndef DOPPEL_MEDIA_SAMPLES_H
#define DOPPEL_MEDIA_SAMPLES_H

#include <doppel/media.h>

enum doppel_status read_sound(int fd, const struct doppel_samples_options *options,
                              doppel_samples_visitor *visitor, void *context,
                              struct doppel_samples_info *out_info, struct doppel_error *error);

enum doppel_status read_chromaprint(int fd, const struct doppel_samples_options *options,
                                    struct doppel_chromaprint *out, struct doppel_error *error);

#endif
