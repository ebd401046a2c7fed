/* The first pass: what Unicode decides, code point by code point through the table. */
#include "text/normaliser.h"

/* Where the pass stands. The last code point is kept in mind: a mark behind it takes it back. At
 * the end of a piece there is none to take back, and last_at is at. */
struct cursor {
    size_t at, end; /* in the source; the block ends at the first boundary from `end` on */
    size_t last_at;
    uint8_t *out, *last_out, *out_end;
};

/* Copy ASCII that split can take as it is. */
static void copy_ascii(struct cursor *cursor, const uint8_t *bytes)
{
    size_t begin = cursor->at;
    uint64_t word;
    while (cursor->at + sizeof word <= cursor->end) {
        memcpy(&word, bytes + cursor->at, sizeof word);
        if (word & 0x8080808080808080u)
            break;
        memcpy(cursor->out, &word, sizeof word);
        cursor->at += sizeof word;
        cursor->out += sizeof word;
    }
    while (cursor->at < cursor->end && bytes[cursor->at] < 0x80)
        *cursor->out++ = bytes[cursor->at++];
    if (cursor->at > begin) {
        cursor->last_at = cursor->at - 1;
        cursor->last_out = cursor->out - 1;
    }
}

static void write_mapped(struct cursor *cursor, uint32_t mapped, size_t taken)
{
    cursor->last_at = cursor->at;
    cursor->last_out = cursor->out;
    cursor->at += taken;
    cursor->out += mapped_write(mapped, cursor->out);
}

/* A code point that is not the table's alone; with the one before it unless it is a boundary. */
static void write_piece(struct mapping *mapping, struct source *source, struct cursor *cursor,
                        bool boundary)
{
    size_t written;
    uint32_t points;
    size_t from = boundary ? cursor->at : cursor->last_at;
    cursor->out = boundary ? cursor->out : cursor->last_out;
    cursor->at = clean_piece(mapping, source, from, cursor->out, &written, &points);
    cursor->out += written;
    cursor->last_at = cursor->at;
    cursor->last_out = cursor->out;
    /* From here on a source byte makes three at most, but for pieces. */
    size_t room = (size_t)(cursor->out_end - cursor->out);
    size_t budget = room > PIECE_BYTES ? (room - PIECE_BYTES) / 3 : 0;
    if (cursor->end > cursor->at + budget)
        cursor->end = cursor->at + budget;
}

size_t clean_block(struct mapping *mapping, struct source *source, size_t at, uint8_t *out,
                   size_t *out_written)
{
    const uint8_t *bytes = source->bytes;
    size_t end = source->size - at < BLOCK_BYTES ? source->size : at + BLOCK_BYTES;
    struct cursor cursor = {at, end, at, out, out, out + CLEAN_BYTES};
    while (cursor.at < source->size) {
        if (mapping->drop_punctuation)
            copy_ascii(&cursor, bytes);
        if (cursor.at == source->size)
            break;
        uint32_t point;
        bool bad;
        size_t taken = decode(bytes + cursor.at, source->size - cursor.at, &point, &bad);
        uint32_t mapped = mapping_of(mapping, point);
        bool boundary = mapped & MAPPED_BOUNDARY;
        if (cursor.at >= cursor.end && (boundary || cursor.last_at == cursor.at))
            break;
        if (mapped & MAPPED_WHOLE && !bad)
            write_mapped(&cursor, mapped, taken);
        else
            write_piece(mapping, source, &cursor, boundary);
    }
    *out_written = (size_t)(cursor.out - out);
    return cursor.at;
}
