/* The first pass: what Unicode decides, code point by code point through the table. */
#include "core/cpu.h"
#include "text/normaliser.h"

void clean_portable(const struct mapping *mapping, const uint8_t *bytes, struct cursor *cursor)
{
    if (!mapping->drop_punctuation)
        return;
    while (cursor->at + sizeof(uint64_t) <= cursor->end) {
        uint64_t word, high;
        memcpy(&word, bytes + cursor->at, sizeof word);
        memcpy(cursor->out, &word, sizeof word);
        high = le64toh(word) & 0x8080808080808080u;
        cursor_copied(cursor, high ? (size_t)__builtin_ctzll(high) / 8 : sizeof word);
        if (high)
            return;
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
static void write_piece(struct mapping *mapping, struct text_source *source, struct cursor *cursor,
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

/* Code points beyond ASCII that the table knows, one after the other. */
static void write_known(const struct mapping *mapping, const struct text_source *source,
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

size_t clean_block(struct mapping *mapping, struct text_source *source, size_t at, uint8_t *out,
                   size_t *out_written)
{
    const uint8_t *bytes = source->bytes;
    size_t end = source->size - at < BLOCK_BYTES ? source->size : at + BLOCK_BYTES;
    struct cursor cursor = {at, end, at, out, out, out + CLEAN_BYTES};
    while (cursor.at < source->size) {
        mapping->clean(mapping, bytes, &cursor);
        write_known(mapping, source, &cursor);
        if (cursor.at == source->size)
            break;
        if (mapping->drop_punctuation && cursor.at < cursor.end && bytes[cursor.at] < 0x80)
            continue;
        uint32_t point;
        bool bad;
        size_t taken = decode_any(bytes + cursor.at, source->size - cursor.at, &point, &bad);
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
