/* The parts of probing: the first bytes of a file, and a look at each family of formats. */
#ifndef DOPPEL_MEDIA_PROBE_H
#define DOPPEL_MEDIA_PROBE_H

#include <doppel/media.h>

struct file_head {
    const uint8_t *data;
    size_t size;
};

/** Are these bytes at `offset`? */
bool head_has(const struct file_head *head, size_t offset, const char *bytes, size_t size);

/* Each returns DOPPEL_KIND_UNKNOWN for what is not of its family, and writes `format` of pictures
 * and documents only. */
enum doppel_kind probe_raw(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_bmff(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_ogg(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_matroska(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_asf(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_transport_stream(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_audio(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_zip(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_mail(const struct file_head *head, enum doppel_format *format);
enum doppel_kind probe_text(const struct file_head *head, enum doppel_format *format);

#endif
