/* Where the paragraphs of a text begin and end. */
#include "corpus/paragraphs/paragraph.h"

#include <stdint.h>
#include <string.h>

static bool is_letter_or_digit(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
}

/* Bytes of a character beyond ASCII that is a space, a mark or a symbol, from blocks that hold
 * hardly anything else: U+0080 to 00BF, 2000 to 2BFF, 3000 to 303F, FEFF. 0: it may be a letter. */
static size_t symbol_length(const uint8_t *in, size_t size)
{
    if (in[0] == 0xC2 && size >= 2)
        return 2;
    bool symbol =
        size >= 3 && ((in[0] == 0xE2 && in[1] < 0xB0) || (in[0] == 0xE3 && in[1] == 0x80) ||
                      (in[0] == 0xEF && in[1] == 0xBB));
    return symbol ? 3 : 0;
}

static bool is_empty(const char *line, size_t size)
{
    const uint8_t *in = (const uint8_t *)line, *end = in + size;
    while (in < end) {
        size_t length =
            *in < 0x80 ? !is_letter_or_digit(*in) : symbol_length(in, (size_t)(end - in));
        if (!length)
            return false;
        in += length;
    }
    return true;
}

static const char *paragraph_line_end(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    return newline ? newline : end;
}

/* Whether an empty line stands between others. */
static bool has_empty_line(const char *text, const char *end)
{
    bool before = false, empty = false;
    while (text < end) {
        const char *stop = paragraph_line_end(text, end);
        if (is_empty(text, (size_t)(stop - text)))
            empty = before;
        else if (empty)
            return true;
        else
            before = true;
        text = stop == end ? end : stop + 1;
    }
    return false;
}

void paragraphs_begin(struct paragraph_cutter *cutter, const char *text, size_t size)
{
    *cutter = (struct paragraph_cutter){.at = text, .end = text + size};
    cutter->by_lines = !has_empty_line(text, text + size);
}

bool paragraphs_next(struct paragraph_cutter *cutter, struct paragraph *out)
{
    const char *line = cutter->at, *begin = NULL, *last = NULL;
    while (line < cutter->end) {
        const char *stop = paragraph_line_end(line, cutter->end);
        bool empty = is_empty(line, (size_t)(stop - line));
        if (begin && (empty || cutter->by_lines))
            break;
        if (!empty) {
            begin = begin ? begin : line;
            last = stop;
        }
        line = stop == cutter->end ? stop : stop + 1;
    }
    if (!begin)
        return false;
    if (last > begin && last[-1] == '\r')
        last--;
    *out = (struct paragraph){begin, (size_t)(last - begin), (size_t)(begin - cutter->at)};
    cutter->at = last;
    return true;
}
