/* Whether a picture moves: GIF, PNG, WebP. */
#include <string.h>

#include "media/probe.h"

#define BYTES(text) text, sizeof(text) - 1

/* ---- GIF: blocks, of which one says how often it is repeated, before the first frame ---- */

enum { GIF_HEAD = 13, GIF_EXTENSION = 0x21, GIF_APPLICATION = 0xff };

static bool gif_repeats(const struct file_head *head)
{
    size_t at = GIF_HEAD;
    if (head->size < GIF_HEAD || !head_has(head, 0, BYTES("GIF8")))
        return false;
    if (head->data[10] & 0x80)
        at += (size_t)3 << ((head->data[10] & 7) + 1);
    while (at + 2 < head->size && head->data[at] == GIF_EXTENSION) {
        if (head->data[at + 1] == GIF_APPLICATION &&
            (head_has(head, at + 3, BYTES("NETSCAPE2.0")) ||
             head_has(head, at + 3, BYTES("ANIMEXTS1.0"))))
            return true;
        for (at += 2; at < head->size && head->data[at];)
            at += 1 + (size_t)head->data[at];
        at++;
    }
    return false;
}

/* ---- PNG: a chunk before the pixels counts the frames ---- */

static bool png_has_frames(const struct file_head *head)
{
    size_t at = 8;
    if (!head_has(head, 0, BYTES("\x89PNG\r\n\x1a\n")))
        return false;
    while (at + 12 <= head->size && !head_has(head, at + 4, BYTES("IDAT"))) {
        const uint8_t *chunk = head->data + at;
        if (head_has(head, at + 4, BYTES("acTL")))
            return chunk[8] || chunk[9] || chunk[10] || chunk[11] > 1;
        uint64_t length = (uint64_t)chunk[0] << 24 | (uint64_t)chunk[1] << 16 |
                          (uint64_t)chunk[2] << 8 | chunk[3];
        if (length > head->size)
            return false;
        at += (size_t)length + 12;
    }
    return false;
}

/* ---- WebP: a flag ---- */

enum { WEBP_FLAGS = 20, WEBP_ANIMATION = 2 };

static bool webp_moves(const struct file_head *head)
{
    return head->size > WEBP_FLAGS && head_has(head, 8, BYTES("WEBPVP8X")) &&
           head->data[WEBP_FLAGS] & WEBP_ANIMATION;
}

bool doppel_media_is_animated(const uint8_t *data, size_t size)
{
    const struct file_head head = {data, size};
    return gif_repeats(&head) || png_has_frames(&head) || webp_moves(&head);
}
