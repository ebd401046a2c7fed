/* Is it text? UTF-8 as a rule; also bytes that mostly are, as of old encodings, and UTF-16. */
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

/* Of the bytes, so few may be no UTF-8, and so few control bytes: letters with accents in an old
 * encoding, or escapes of a terminal, make no binary file; a NUL does. */
enum { BAD_SHARE = 8, CONTROL_SHARE = 16 };

static bool is_mostly_text(const struct file_head *head)
{
    size_t bad = 0, controls = 0, at = 0;
    while (at < head->size) {
        size_t bytes = sequence_bytes(head->data + at, head->size - at);
        if (head->data[at] == 0)
            return false;
        bad += !bytes && head->data[at] >= 0x80;
        controls += !bytes && head->data[at] < 0x80;
        at += bytes ? bytes : 1;
    }
    return bad <= head->size / BAD_SHARE && controls <= head->size / CONTROL_SHARE;
}

/* UTF-16 with a byte order mark, and neither NULs nor control characters. */
static bool is_utf16_head(const struct file_head *head)
{
    bool little = head_has(head, 0, "\xff\xfe", 2), big = head_has(head, 0, "\xfe\xff", 2);
    if ((!little && !big) || head->size < 4)
        return false;
    for (size_t i = 2; i + 1 < head->size; i += 2) {
        uint8_t high = head->data[i + little], low = head->data[i + big];
        if (high == 0 && (low < 0x20 || low == 0x7f) && !is_text_control(low))
            return false;
    }
    return true;
}

enum doppel_kind probe_text(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    bool text = head->size && (is_utf16_head(head) || is_mostly_text(head));
    return text ? DOPPEL_KIND_TEXT : DOPPEL_KIND_UNKNOWN;
}
