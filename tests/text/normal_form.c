/* The normal form by its definition. Nothing here is the library's. */
#include "normal_form.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { MAX_POINT = 0x110000, IN_A_ROW = 31 };

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- UTF-8 ---- */

static bool is_good(const uint8_t *bytes, size_t size)
{
    int32_t point;
    return utf8proc_iterate(bytes, (utf8proc_ssize_t)size, &point) == (utf8proc_ssize_t)size;
}

/* Whether some bytes could follow that make it a code point. */
static bool could_be_good(const uint8_t *bytes, size_t size)
{
    static const uint8_t tails[] = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};
    uint8_t whole[4];
    memcpy(whole, bytes, size);
    if (is_good(whole, size))
        return true;
    for (size_t i = 0; size < 4 && i < sizeof tails; i++) {
        whole[size] = tails[i];
        if (could_be_good(whole, size + 1))
            return true;
    }
    return false;
}

static size_t next_point(const uint8_t *bytes, size_t size, int32_t *out)
{
    for (size_t n = size < 4 ? size : 4; n > 0; n--)
        if (is_good(bytes, n))
            return (size_t)utf8proc_iterate(bytes, (utf8proc_ssize_t)n, out);
    *out = -1;
    for (size_t n = size < 3 ? size : 3; n > 1; n--)
        if (could_be_good(bytes, n))
            return n;
    return 1;
}

size_t code_point_size(const void *bytes, size_t size)
{
    int32_t point;
    return next_point(bytes, size, &point);
}

/* ---- where long sequences that might compose are cut ---- */

static bool seconds[MAX_POINT]; /* code points that compose with one before them */
static bool seconds_known;

static void learn_seconds(void)
{
    for (int32_t point = 0; point < MAX_POINT; point++) {
        int32_t parts[64];
        uint8_t bytes[4];
        utf8proc_ssize_t size = utf8proc_encode_char(point, bytes);
        utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
        utf8proc_ssize_t count = utf8proc_decompose(bytes, size, parts, 64, how);
        int32_t last = count > 1 ? parts[count - 1] : 0;
        how = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
        if (last && utf8proc_normalize_utf32(parts, count, how) == 1)
            seconds[last] = true;
    }
    seconds_known = true;
}

static bool begins_afresh(int32_t point, unsigned how)
{
    uint8_t bytes[4];
    int32_t parts[64];
    how = (how & ~(unsigned)UTF8PROC_COMPOSE) | UTF8PROC_DECOMPOSE;
    utf8proc_ssize_t count = utf8proc_decompose(bytes, utf8proc_encode_char(point, bytes), parts,
                                                64, (utf8proc_option_t)how);
    return count > 0 && utf8proc_get_property(parts[0])->combining_class == 0 && !seconds[parts[0]];
}

/* ---- words ---- */

struct writer {
    struct normal_form *out;
    size_t word; /* bytes of the last one */
    bool open;
};

static bool is_unspaced(int32_t c)
{
    return (c >= 0xe00 && c < 0xf00) || (c >= 0x1000 && c < 0x10a0) ||
           (c >= 0x1780 && c < 0x1800) || (c >= 0x19e0 && c < 0x1a00) ||
           (c >= 0x2e80 && c < 0x2fe0) || (c >= 0x3005 && c < 0x3008) ||
           (c >= 0x3021 && c < 0x302a) || (c >= 0x3031 && c < 0x3036) ||
           (c >= 0x3038 && c < 0x303d) || (c >= 0x3040 && c < 0x3130) ||
           (c >= 0x31a0 && c < 0x31c0) || (c >= 0x31f0 && c < 0x3200) ||
           (c >= 0x3400 && c < 0x4dc0) || (c >= 0x4e00 && c < 0xa000) ||
           (c >= 0xa9e0 && c < 0xaa00) || (c >= 0xaa60 && c < 0xaa80) ||
           (c >= 0xf900 && c < 0xfb00) || (c >= 0x1aff0 && c < 0x1b170) ||
           (c >= 0x20000 && c < 0x3fffe);
}

static void write_point(struct writer *writer, int32_t point)
{
    uint8_t bytes[4];
    struct normal_form *out = writer->out;
    size_t size = (size_t)utf8proc_encode_char(point, bytes);
    if (writer->open && writer->word + size > DOPPEL_TEXT_MAX_WORD_BYTES)
        writer->open = false;
    if (!writer->open) {
        if (out->words++)
            out->bytes[out->size++] = ' ';
        writer->word = 0;
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
    writer->word += size;
    writer->open = true;
}

static void write_words(const struct doppel_text_options *options, const int32_t *points,
                        size_t count, struct writer *writer)
{
    for (size_t i = 0; i < count; i++) {
        const char *category = utf8proc_category_string(points[i]);
        bool text = strchr("LMN", category[0]), mark = strchr("PS", category[0]);
        bool keep = text || (mark && !options->drop_punctuation);
        bool alone = options->unit == DOPPEL_TEXT_WORDS && (!text || is_unspaced(points[i]));
        if (!keep || alone)
            writer->open = false;
        if (keep)
            write_point(writer, points[i]);
        if (alone)
            writer->open = false;
    }
}

/* ---- the whole ---- */

static void write_piece(const struct doppel_text_options *options, const uint8_t *text, size_t size,
                        unsigned how, struct writer *writer)
{
    int32_t *points = checked(malloc((size * 18 + 1) * sizeof *points));
    utf8proc_ssize_t count =
        utf8proc_decompose(text, (utf8proc_ssize_t)size, points, (utf8proc_ssize_t)size * 18 + 1,
                           (utf8proc_option_t)how);
    count = utf8proc_normalize_utf32(points, count, (utf8proc_option_t)how);
    if (count < 0)
        abort();
    size_t room = writer->out->size + (size_t)count * 6 + 1;
    writer->out->bytes = checked(realloc(writer->out->bytes, room));
    write_words(options, points, (size_t)count, writer);
    free(points);
}

static unsigned how_of(const struct doppel_text_options *options)
{
    unsigned how = UTF8PROC_STABLE | UTF8PROC_IGNORE;
    how |= options->nfkc ? UTF8PROC_COMPOSE | UTF8PROC_COMPAT : 0;
    return how | (options->fold_case ? UTF8PROC_CASEFOLD : 0);
}

struct normal_form normal_form(const struct doppel_text_options *options, const void *bytes,
                               size_t size)
{
    struct normal_form out = {.bytes = checked(calloc(1, 1))};
    struct writer writer = {.out = &out};
    uint8_t *good = checked(malloc(3 * size + 1));
    unsigned how = how_of(options);
    if (!seconds_known)
        learn_seconds();
    size_t from = 0, to = 0, in_a_row = 0;
    size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size) {
        int32_t point;
        at += next_point((const uint8_t *)bytes + at, size - at, &point);
        out.bad_bytes += point < 0;
        point = point < 0 ? 0xfffd : point;
        in_a_row = !options->nfkc || begins_afresh(point, how) ? 0 : in_a_row + 1;
        if (in_a_row == IN_A_ROW) {
            write_piece(options, good + from, to - from, how, &writer);
            from = to;
            in_a_row = 0;
        }
        to += (size_t)utf8proc_encode_char(point, good + to);
    }
    write_piece(options, good + from, to - from, how, &writer);
    free(good);
    return out;
}
