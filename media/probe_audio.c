/* Audio without a container: frames with sync words, and files whose few letters of magic a text
 * may begin with as well. */
#include "core/bytes.h"
#include "media/probe.h"

#define BYTES(text) text, sizeof(text) - 1

/* Bytes of the frame at `at`, or 0. */
typedef size_t frame_bytes(const struct file_head *head, size_t at);

/* Layers II and III of MPEG 1, 2 and 2.5. Source: ISO 11172-3, 2.4.2.3; ISO 13818-3. */
static size_t mpeg_frame_bytes(const struct file_head *head, size_t at)
{
    static const uint16_t kbit_v1_layer2[] = {0,   32,  48,  56,  64,  80,  96,  112,
                                              128, 160, 192, 224, 256, 320, 384, 0};
    static const uint16_t kbit_v1_layer3[] = {0,   32,  40,  48,  56,  64,  80,  96,
                                              112, 128, 160, 192, 224, 256, 320, 0};
    static const uint16_t kbit_v2[] = {0,  8,  16, 24,  32,  40,  48,  56,
                                       64, 80, 96, 112, 128, 144, 160, 0};
    static const uint16_t hertz[] = {44100, 48000, 32000, 0};
    if (head->size < 4 || at > head->size - 4)
        return 0;
    const uint8_t *h = head->data + at;
    unsigned version = h[1] >> 3 & 3, layer = h[1] >> 1 & 3; /* 3 = 1, 2 = 2, 0 = 2.5; 1 = III */
    if (h[0] != 0xff || (h[1] & 0xe0) != 0xe0 || version == 1 || (layer != 1 && layer != 2))
        return 0;
    bool first = version == 3, third = layer == 1;
    unsigned kbit = (!first ? kbit_v2 : third ? kbit_v1_layer3 : kbit_v1_layer2)[h[2] >> 4];
    unsigned rate = hertz[h[2] >> 2 & 3] >> (first ? 0 : version == 2 ? 1 : 2);
    if (!kbit || !rate)
        return 0;
    return (third && !first ? 72000u : 144000u) * kbit / rate + (h[2] >> 1 & 1);
}

/* AAC in ADTS. Source: ISO 13818-7, 6.2. */
static size_t adts_frame_bytes(const struct file_head *head, size_t at)
{
    if (head->size < 7 || at > head->size - 7)
        return 0;
    const uint8_t *h = head->data + at;
    if (h[0] != 0xff || (h[1] & 0xf6) != 0xf0 || (h[2] >> 2 & 15) > 12)
        return 0;
    size_t bytes = (size_t)(h[3] & 3) << 11 | (size_t)h[4] << 3 | h[5] >> 5;
    return bytes > 7 ? bytes : 0;
}

/* AC-3 and E-AC-3. Source: ATSC A/52, 5.3 and E.2.2. */
static size_t ac3_frame_bytes(const struct file_head *head, size_t at)
{
    static const uint16_t kbit[] = {32,  40,  48,  56,  64,  80,  96,  112, 128, 160,
                                    192, 224, 256, 320, 384, 448, 512, 576, 640};
    if (head->size < 6 || at > head->size - 6)
        return 0;
    const uint8_t *h = head->data + at;
    unsigned rate = h[4] >> 6, size = h[4] & 63, stream = h[5] >> 3;
    if (h[0] != 0x0b || h[1] != 0x77 || stream > 16)
        return 0;
    if (stream > 10)
        return 2 * (((size_t)(h[2] & 7) << 8 | h[3]) + 1);
    if (rate == 3 || size / 2 >= sizeof kbit / sizeof *kbit)
        return 0;
    size_t kilobits = kbit[size / 2];
    size_t words = rate == 2   ? 3 * kilobits
                   : rate == 0 ? 2 * kilobits
                               : kilobits * 96000 / 44100 + (size & 1);
    return 2 * words;
}

/* One sync word is chance; a second where the first says is not. */
static bool has_two_frames(const struct file_head *head, frame_bytes *bytes)
{
    size_t first = bytes(head, 0);
    return first && bytes(head, first);
}

/* Source: ID3v2.4, 3.1: version, flags, a size of seven bits a byte. */
static bool is_id3(const struct file_head *head)
{
    const uint8_t *h = head->data;
    return head->size >= 10 && head_has(head, 0, BYTES("ID3")) && h[3] >= 2 && h[3] <= 4 &&
           !(h[5] & 15) && !((h[6] | h[7] | h[8] | h[9]) & 0x80);
}

/* Monkey's Audio: the letters, then the version, 3.80 to 4.20. */
static bool is_ape(const struct file_head *head)
{
    if (head->size < 6 || !head_has(head, 0, BYTES("MAC ")))
        return false;
    unsigned version = get_u16(head->data + 4);
    return version >= 3800 && version <= 4200;
}

/* Musepack before its version 8. */
static bool is_musepack(const struct file_head *head)
{
    return head->size >= 4 && head_has(head, 0, BYTES("MP+")) && (head->data[3] & 15) == 7;
}

enum doppel_kind probe_audio(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    bool found = is_id3(head) || is_ape(head) || is_musepack(head) ||
                 has_two_frames(head, mpeg_frame_bytes) || has_two_frames(head, adts_frame_bytes) ||
                 has_two_frames(head, ac3_frame_bytes);
    return found ? DOPPEL_KIND_AUDIO : DOPPEL_KIND_UNKNOWN;
}
