/* Is it text? Valid UTF-8 without control bytes. */
#include "media/probe.h"

static bool is_text_control(uint8_t byte)
{
    return byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
}

/* Bytes of the well-formed sequence at `p` (Unicode 15, table 3-7); 0 = ill-formed; more than
 * `size` = well-formed so far, and cut. */
static size_t sequence_bytes(const uint8_t *p, size_t size)
{
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f ? 1 : is_text_control(p[0]);
    size_t bytes = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    uint8_t low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < bytes && i < size; i++) {
        if (p[i] < (i == 1 ? low : 0x80) || p[i] > (i == 1 ? high : 0xbf))
            return 0;
    }
    return bytes;
}

enum doppel_kind probe_text(const struct head *head, enum doppel_format *format)
{
    (void)format;
    size_t at = 0;
    while (at < head->size) {
        size_t bytes = sequence_bytes(head->data + at, head->size - at);
        if (!bytes)
            return DOPPEL_KIND_UNKNOWN;
        at += bytes;
    }
    return head->size ? DOPPEL_KIND_TEXT : DOPPEL_KIND_UNKNOWN;
}
