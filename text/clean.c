/* The first pass: what Unicode decides, code point by code point through the table. */
#include "core/cpu.h"
#include "text/normaliser.h"

void clean_portable(const struct mapping *mapping, const uint8_t *bytes, struct cursor *cursor)
{
    uint64_t word;
    if (!mapping->drop_punctuation)
        return;
    while (cursor->at + sizeof word <= cursor->end) {
        memcpy(&word, bytes + cursor->at, sizeof word);
        if (word & 0x8080808080808080u)
            break;
        memcpy(cursor->out, &word, sizeof word);
        cursor_copied(cursor, sizeof word);
    }
    while (cursor->at < cursor->end && bytes[cursor->at] < 0x80) {
        *cursor->out = bytes[cursor->at];
        cursor_copied(cursor, 1);
    }
}

clean_kernel *clean_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_VBMI2)
        return clean_avx512;
#endif
    return clean_portable;
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

/* Two and three bytes, as most of the world's letters have; 0 for all else. */
static size_t decode_common(const uint8_t *bytes, size_t size, uint32_t *out)
{
    if (size < 3 || (bytes[1] & 0xc0) != 0x80)
        return 0;
    if (bytes[0] >= 0xc2 && bytes[0] < 0xe0) {
        *out = (uint32_t)(bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f);
        return 2;
    }
    *out = (uint32_t)(bytes[0] & 0xf) << 12 | (uint32_t)(bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
    return bytes[0] >= 0xe0 && bytes[0] < 0xf0 && (bytes[2] & 0xc0) == 0x80 && *out >= 0x800 ? 3
                                                                                             : 0;
}

/* Code points beyond ASCII that the table knows, one after the other. */
static void write_known(const struct mapping *mapping, const struct source *source,
                        struct cursor *cursor)
{
    while (cursor->at < cursor->end) {
        uint32_t point;
        size_t taken = decode_common(source->bytes + cursor->at, source->size - cursor->at, &point);
        if (!taken || !(mapping->points[point] & MAPPED_WHOLE))
            return;
        write_mapped(cursor, mapping->points[point], taken);
    }
}

size_t clean_block(struct mapping *mapping, struct source *source, size_t at, uint8_t *out,
                   size_t *out_written)
{
    const uint8_t *bytes = source->bytes;
    size_t end = source->size - at < BLOCK_BYTES ? source->size : at + BLOCK_BYTES;
    struct cursor cursor = {at, end, at, out, out, out + CLEAN_BYTES};
    while (cursor.at < source->size) {
        size_t before = cursor.at;
        mapping->clean(mapping, bytes, &cursor);
        write_known(mapping, source, &cursor);
        if (cursor.at > before && cursor.at < cursor.end)
            continue;
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
