/* Containers that hold pictures, audio or video: which of them, as far as the first bytes tell. */
#include <string.h>

#include "media/probe.h"

#define BYTES(text) text, sizeof(text) - 1

static bool head_contains(const struct file_head *head, const char *bytes, size_t size)
{
    return memmem(head->data, head->size, bytes, size) != NULL;
}

/* ---- ISO base media: MP4, QuickTime, HEIF ---- */

static uint32_t box_u32(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/* Is a brand among those of the file type box? The major one is at 8, compatible ones from 16 on.
 */
static bool has_brand(const struct file_head *head, const char *brand)
{
    size_t end = box_u32(head->data);
    if (end > head->size)
        end = head->size;
    if (head_has(head, 8, brand, 4))
        return true;
    for (size_t at = 16; at + 4 <= end; at += 4)
        if (head_has(head, at, brand, 4))
            return true;
    return false;
}

static bool has_brand_of(const struct file_head *head, const char brands[][5], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_brand(head, brands[i]))
            return true;
    return false;
}

enum doppel_kind probe_bmff(const struct file_head *head, enum doppel_format *format)
{
    static const char avif[][5] = {"avif", "avis"};
    static const char heic[][5] = {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"};
    static const char audio[][5] = {"M4A ", "M4B ", "M4P ", "F4A ", "F4B "};
    if (head->size < 12 || !head_has(head, 4, BYTES("ftyp")))
        return DOPPEL_KIND_UNKNOWN;
    for (size_t i = 0; i < sizeof audio / sizeof *audio; i++)
        if (head_has(head, 8, audio[i], 4))
            return DOPPEL_KIND_AUDIO;
    if (has_brand_of(head, avif, sizeof avif / sizeof *avif))
        *format = DOPPEL_FORMAT_AVIF;
    else if (has_brand_of(head, heic, sizeof heic / sizeof *heic))
        *format = DOPPEL_FORMAT_HEIC;
    else
        return DOPPEL_KIND_VIDEO;
    return DOPPEL_KIND_IMAGE;
}

/* ---- Ogg: the first packet of each stream names its codec ---- */

enum doppel_kind probe_ogg(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    if (!head_has(head, 0, BYTES("OggS\0")))
        return DOPPEL_KIND_UNKNOWN;
    bool video = head_contains(head, BYTES("\x80theora")) ||
                 head_contains(head, BYTES("\x01video\0")) || head_contains(head, BYTES("BBCD\0"));
    return video ? DOPPEL_KIND_VIDEO : DOPPEL_KIND_AUDIO;
}

/* ---- Matroska and WebM: a codec's name begins with V_ or A_ ---- */

/* Element CodecID (0x86), a length of one byte, then the name. */
static bool has_track(const struct file_head *head, char type)
{
    for (size_t at = 0; at + 4 <= head->size; at++)
        if (head->data[at] == 0x86 && head->data[at + 1] > 0x80 &&
            head->data[at + 2] == (uint8_t)type && head->data[at + 3] == '_')
            return true;
    return false;
}

enum doppel_kind probe_matroska(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    if (!head_has(head, 0, BYTES("\x1a\x45\xdf\xa3")))
        return DOPPEL_KIND_UNKNOWN;
    return has_track(head, 'A') && !has_track(head, 'V') ? DOPPEL_KIND_AUDIO : DOPPEL_KIND_VIDEO;
}

/* ---- ASF: WMA and WMV ---- */

enum doppel_kind probe_asf(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    if (!head_has(head, 0, BYTES("\x30\x26\xb2\x75\x8e\x66\xcf\x11")))
        return DOPPEL_KIND_UNKNOWN;
    /* The type of a video stream: GUID BC19EFC0-5B4D-11CF-A8FD-00805F5C442B. */
    bool video = head_contains(head, BYTES("\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd"));
    return video ? DOPPEL_KIND_VIDEO : DOPPEL_KIND_AUDIO;
}

/* ---- MPEG transport streams: a byte at the begin of every packet ---- */

static bool is_transport_stream(const struct file_head *head, size_t first, size_t packet)
{
    for (size_t i = 0; i < 4; i++)
        if (!head_has(head, first + i * packet, BYTES("\x47")))
            return false;
    return true;
}

enum doppel_kind probe_transport_stream(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    bool found = is_transport_stream(head, 0, 188) || is_transport_stream(head, 4, 192);
    return found ? DOPPEL_KIND_VIDEO : DOPPEL_KIND_UNKNOWN;
}
