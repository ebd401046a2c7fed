/* Words with their places: the same steps, piece by piece. */
#include "text/normaliser.h"

/* A word in the making; its place in code points. */
struct maker {
    placed_word_visitor *visitor;
    void *context;
    bool cancelled;
    uint32_t start, end;
    size_t size;
    uint8_t word[BLOCK_SLACK + DOPPEL_TEXT_MAX_WORD_BYTES + BLOCK_SLACK];
};

static void end_word(struct maker *maker)
{
    if (maker->size && !maker->cancelled)
        maker->cancelled = !maker->visitor(maker->context, maker->word + BLOCK_SLACK, maker->size,
                                           maker->start, maker->end);
    maker->size = 0;
}

static void add_maker(struct maker *maker, const uint8_t *bytes, size_t size, uint32_t start,
                      uint32_t end)
{
    if (maker->size + size > DOPPEL_TEXT_MAX_WORD_BYTES)
        end_word(maker);
    if (!maker->size)
        maker->start = start;
    memcpy(maker->word + BLOCK_SLACK + maker->size, bytes, size);
    maker->size += size;
    maker->end = end;
}

/* Cleaned bytes, all of which stem from the code points `start` to `end`. */
static void add_cleaned(struct maker *maker, const uint8_t ascii[256], const uint8_t *bytes,
                        size_t size, uint32_t start, uint32_t end)
{
    for (size_t i = 0, length; i < size; i += length) {
        uint8_t first = ascii[bytes[i]];
        length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if (first == ' ')
            end_word(maker);
        else
            add_maker(maker, length == 1 ? &first : bytes + i, length, start, end);
    }
}

/* How many bytes of ASCII there are up to a block, less one that a mark behind them might change.
 */
static size_t sure_ascii(const uint8_t *bytes, size_t left)
{
    size_t count = 0, size = left < BLOCK_BYTES ? left : BLOCK_BYTES;
    uint64_t word;
    for (; count + sizeof word <= size; count += sizeof word) {
        memcpy(&word, bytes + count, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (count < size && bytes[count] < 0x80)
        count++;
    return count < left && count ? count - 1 : count;
}

/* ASCII, each byte a code point. */
static void add_ascii(struct maker *maker, const uint8_t ascii[256], const uint8_t *bytes,
                      size_t size, uint32_t point)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = ascii[bytes[i]];
        uint32_t place = point + (uint32_t)i;
        if (byte == ' ') {
            end_word(maker);
            continue;
        }
        if (maker->size == DOPPEL_TEXT_MAX_WORD_BYTES)
            end_word(maker);
        if (!maker->size)
            maker->start = place;
        maker->word[BLOCK_SLACK + maker->size++] = byte;
        maker->end = place + 1;
    }
}

/* The next code points, BLOCK_BYTES of them at most. @return how many */
static uint64_t add_next(struct normaliser *normaliser, struct maker *maker, uint32_t point)
{
    struct mapping *mapping = normaliser->mapping;
    struct text_source *source = &normaliser->source;
    const uint8_t *bytes = source->bytes + normaliser->at;
    size_t left = source->size - normaliser->at;
    size_t ascii = mapping->drop_punctuation ? sure_ascii(bytes, left) : 0;
    if (ascii) {
        add_ascii(maker, mapping->ascii, bytes, ascii, point);
        normaliser->at += ascii;
        return ascii;
    }
    uint8_t cleaned[PIECE_BYTES];
    size_t written;
    uint32_t points;
    normaliser->at = clean_piece(mapping, source, normaliser->at, cleaned, &written, &points);
    add_cleaned(maker, mapping->ascii, cleaned, written, point, point + points);
    return points;
}

enum doppel_status normaliser_places(struct normaliser *normaliser, const void *bytes, size_t size,
                                     placed_word_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct maker maker = {.visitor = visitor, .context = context};
    normaliser_begin(normaliser, bytes, size);
    uint64_t point = normaliser->at > 0; /* the byte order mark is one */
    while (normaliser->at < size && !maker.cancelled) {
        if (point > UINT32_MAX - BLOCK_BYTES)
            return doppel_fail(error, DOPPEL_E_LIMIT,
                               "a text of 2^32 code points or more has no places; split it");
        point += add_next(normaliser, &maker, (uint32_t)point);
    }
    end_word(&maker);
    return maker.cancelled ? doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled") : DOPPEL_OK;
}
