/* What becomes of a code point: asked of utf8proc once, then remembered. */
#include "text/normaliser.h"

enum rule { RULE_WORD, RULE_SEPARATOR, RULE_ALONE };

/* Scripts written without spaces between words, as ranges of code points. */
static const struct {
    uint32_t first, last;
} unspaced[] = {
    {0x0e00, 0x0eff},   /* Thai, Lao */
    {0x1000, 0x109f},   /* Myanmar */
    {0x1780, 0x17ff},   /* Khmer */
    {0x19e0, 0x19ff},   /* Khmer symbols */
    {0x2e80, 0x2fdf},   /* radicals */
    {0x3005, 0x3007},   /* iteration marks, zero */
    {0x3021, 0x3029},   /* Hangzhou numerals */
    {0x3031, 0x3035},   /* kana repeat marks */
    {0x3038, 0x303c},   /* numerals, masu */
    {0x3040, 0x312f},   /* Hiragana, Katakana, Bopomofo */
    {0x31a0, 0x31bf},   /* Bopomofo */
    {0x31f0, 0x31ff},   /* Katakana */
    {0x3400, 0x4dbf},   /* Han */
    {0x4e00, 0x9fff},   /* Han */
    {0xa9e0, 0xa9ff},   /* Myanmar */
    {0xaa60, 0xaa7f},   /* Myanmar */
    {0xf900, 0xfaff},   /* Han */
    {0x1aff0, 0x1b16f}, /* kana */
    {0x20000, 0x3fffd}, /* Han */
};

bool point_is_unspaced(uint32_t point)
{
    for (size_t i = 0; i < sizeof unspaced / sizeof *unspaced && unspaced[i].first <= point; i++)
        if (point <= unspaced[i].last)
            return true;
    return false;
}

static enum rule rule_of(const struct mapping *mapping, int32_t point)
{
    int category = (int)utf8proc_category(point);
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO)
        return mapping->unspaced_alone && point_is_unspaced((uint32_t)point) ? RULE_ALONE
                                                                             : RULE_WORD;
    if (mapping->drop_punctuation || category < UTF8PROC_CATEGORY_PC ||
        category > UTF8PROC_CATEGORY_SO)
        return RULE_SEPARATOR;
    return mapping->unspaced_alone ? RULE_ALONE : RULE_WORD;
}

/* Whether what stands before a code point is normalised as if it were not there: it goes not away,
 * is no mark that moves, and composes with nothing before it. */
static bool is_boundary(const struct mapping *mapping, uint32_t point)
{
    if (!(mapping->how & UTF8PROC_COMPOSE))
        return true;
    int32_t mapped[POINT_EXPANSION];
    int last_class = UTF8PROC_BOUNDCLASS_START;
    if (utf8proc_decompose_char((int32_t)point, mapped, POINT_EXPANSION, mapping->how,
                                &last_class) <= 0)
        return false;
    int32_t first = mapped[0];
    bool hangul_vowel = first >= 0x1161 && first <= 0x1175;
    bool hangul_final = first >= 0x11a8 && first <= 0x11c2;
    const utf8proc_property_t *property = utf8proc_get_property(first);
    bool second = property->comb_index >= 0x8000 && property->comb_index != UINT16_MAX;
    return property->combining_class == 0 && !hangul_vowel && !hangul_final && !second;
}

/* Write code points as the word rule has them. */
static size_t emit_mapped(const struct mapping *mapping, const int32_t *points, size_t count,
                          uint8_t *out)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        enum rule rule = rule_of(mapping, points[i]);
        if (rule != RULE_WORD)
            out[size++] = ' ';
        if (rule != RULE_SEPARATOR)
            size += (size_t)utf8proc_encode_char(points[i], out + size);
        if (rule == RULE_ALONE)
            out[size++] = ' ';
    }
    return size;
}

/* Normalise a few bytes of good UTF-8 by utf8proc alone. */
static size_t normalise(const struct mapping *mapping, const uint8_t *bytes, size_t size,
                        uint8_t *out)
{
    int32_t points[PIECE_EXPANDED];
    utf8proc_ssize_t count =
        utf8proc_decompose(bytes, (utf8proc_ssize_t)size, points, PIECE_EXPANDED, mapping->how);
    if (count > 0)
        count = utf8proc_normalize_utf32(points, count, mapping->how);
    return count > 0 ? emit_mapped(mapping, points, (size_t)count, out) : 0;
}

static struct known_piece *piece_at(struct mapping *mapping, const uint8_t *bytes, size_t size)
{
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &mapping->pieces[hash >> 32 & (PIECE_CACHE - 1)];
}

/* As normalise; short pieces are remembered, for a script's letters and marks are few. */
static size_t normalise_piece(struct mapping *mapping, const uint8_t *bytes, size_t size,
                              uint8_t *out)
{
    if (size > PIECE_KEY_BYTES)
        return normalise(mapping, bytes, size, out);
    struct known_piece *piece = piece_at(mapping, bytes, size);
    if (piece->size == size && memcmp(piece->bytes, bytes, size) == 0) {
        memcpy(out, piece->out, PIECE_OUT_BYTES);
        return piece->out_size;
    }
    size_t out_size = normalise(mapping, bytes, size, out);
    if (out_size <= PIECE_OUT_BYTES) {
        piece->size = (uint8_t)size;
        piece->out_size = (uint8_t)out_size;
        memcpy(piece->bytes, bytes, size);
        memcpy(piece->out, out, out_size);
    }
    return out_size;
}

/* As mapping_of, not remembered. */
static uint32_t map_point(const struct mapping *mapping, uint32_t point)
{
    uint8_t bytes[4], out[PIECE_BYTES];
    size_t length = (size_t)utf8proc_encode_char((int32_t)point, bytes);
    uint32_t mapped = MAPPED_KNOWN;
    if (!is_boundary(mapping, point))
        return mapped;
    mapped |= MAPPED_BOUNDARY;
    uint8_t *word = out;
    size_t size = normalise(mapping, bytes, length, out);
    bool alone =
        size > 2 && out[0] == ' ' && out[size - 1] == ' ' && !memchr(out + 1, ' ', size - 2);
    if (alone) {
        word++;
        size -= 2;
        mapped |= MAPPED_ALONE;
    }
    if (size > 3)
        return mapped;
    for (size_t i = 0; i < 3; i++)
        mapped |= (uint32_t)(i < size ? word[i] : ' ') << 8 * i;
    return mapped | MAPPED_WHOLE | (uint32_t)size << MAPPED_LENGTH_SHIFT;
}

uint32_t mapping_of(struct mapping *mapping, uint32_t point)
{
    if (point >= TABLE_POINTS)
        return map_point(mapping, point);
    if (!mapping->points[point])
        mapping->points[point] = map_point(mapping, point);
    return mapping->points[point];
}

/* What kernels look up of the above. */
static void make_kernel_tables(struct mapping *mapping)
{
    for (unsigned byte = 0; byte < 128; byte++)
        if (mapping->ascii[byte] == ' ')
            mapping->space_rows[byte % 16] |= (uint8_t)(1 << byte / 16);
    for (unsigned bits = 0; bits < 256; bits++) {
        unsigned count = 0;
        for (unsigned place = 0; place < 8; place++)
            if (bits >> place & 1)
                mapping->squeeze[bits][count++] = (uint8_t)place;
    }
}

void mapping_begin(struct mapping *mapping, const struct doppel_text_options *options)
{
    unsigned how = UTF8PROC_STABLE | UTF8PROC_IGNORE;
    if (options->nfkc)
        how |= UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    if (options->fold_case)
        how |= UTF8PROC_CASEFOLD;
    mapping->clean = clean_choose();
    mapping->how = (utf8proc_option_t)how;
    mapping->drop_punctuation = options->drop_punctuation;
    mapping->unspaced_alone = options->unit != DOPPEL_TEXT_CHARACTERS;
    for (int i = 0; i < 256; i++) {
        bool upper = i >= 'A' && i <= 'Z' && options->fold_case;
        bool keep = i >= 128 || rule_of(mapping, i) != RULE_SEPARATOR;
        mapping->ascii[i] = (uint8_t)(!keep ? ' ' : upper ? i + 'a' - 'A' : i);
    }
    make_kernel_tables(mapping);
    /* Kernels look ASCII up amid what is not, and do not ask. */
    for (uint32_t point = 0; point < 128; point++)
        mapping_of(mapping, point);
}

size_t clean_piece(struct mapping *mapping, struct text_source *source, size_t at, uint8_t *out,
                   size_t *out_written, uint32_t *out_points)
{
    uint8_t good[4 * PIECE_POINTS];
    size_t size = 0;
    uint32_t count = 0, first_mapped = 0;
    while (at < source->size && count < PIECE_POINTS) {
        uint32_t point;
        bool bad;
        size_t taken = decode_any(source->bytes + at, source->size - at, &point, &bad);
        uint32_t mapped = mapping_of(mapping, point);
        if (count && (mapped & MAPPED_BOUNDARY))
            break;
        first_mapped = count ? first_mapped : mapped;
        source->bad_bytes += bad;
        size += (size_t)utf8proc_encode_char((int32_t)point, good + size);
        at += taken;
        count++;
    }
    bool whole = count == 1 && first_mapped & MAPPED_WHOLE;
    *out_written =
        whole ? mapped_write(first_mapped, out) : normalise_piece(mapping, good, size, out);
    *out_points = count;
    return at;
}
