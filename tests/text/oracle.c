/* A text's sketches the slow and obvious way, from its normalised bytes. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t factor)
{
    uint64_t product = hash * factor;
    return product ^ product / 0x100000000;
}

/* Bytes from `from` on as a number, the first least; beyond the end they are zeros. */
static uint64_t number(const uint8_t *bytes, size_t size, size_t from)
{
    uint64_t value = 0;
    for (size_t i = 0; i < 8 && from + i < size; i++)
        value += (uint64_t)bytes[from + i] << 8 * i;
    return value;
}

uint64_t oracle_word_hash(const uint8_t *word, size_t size)
{
    uint64_t hash = 0x6a09e667f3bcc908;
    size_t from = 0;
    do {
        hash = mix(hash ^ number(word, size, from), 0xbb67ae8584caa73b);
        hash = mix(hash ^ number(word, size, from + 8), 0x3c6ef372fe94f82b);
        from += 16;
    } while (from < size);
    return hash;
}

/* That of the word whose four bytes are the code point, lowest first. */
static uint64_t character_hash(uint32_t code_point)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(code_point >> 8 * i);
    return oracle_word_hash(bytes, sizeof bytes);
}

static size_t words_of(const uint8_t *bytes, size_t size, uint64_t *out)
{
    size_t count = 0, start = 0;
    for (size_t i = 0; i <= size && size; i++)
        if (i == size || bytes[i] == ' ') {
            out[count++] = oracle_word_hash(bytes + start, i - start);
            start = i + 1;
        }
    return count;
}

static size_t characters_of(const uint8_t *bytes, size_t size, uint64_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < size;) {
        uint32_t first = bytes[i++], code_point = first;
        if (first >= 0xf0)
            code_point = first - 0xf0;
        else if (first >= 0xe0)
            code_point = first - 0xe0;
        else if (first >= 0xc0)
            code_point = first - 0xc0;
        for (; i < size && bytes[i] >= 0x80 && bytes[i] < 0xc0; i++)
            code_point = code_point * 64 + (bytes[i] - 0x80u);
        out[count++] = character_hash(code_point);
    }
    return count;
}

static uint64_t shingle_hash(const uint64_t *units, uint32_t shingle)
{
    uint64_t hash = 0;
    for (uint32_t place = 0; place < shingle; place++)
        for (unsigned bit = 0; bit < 64; bit++)
            hash ^= (units[place] >> bit & 1) << (bit + 11 * place) % 64;
    return mix(hash, 0xa54ff53a5f1d36f1);
}

/* Whether a word of these bytes is written in other letters than Latin ones. */
static bool is_of_other_script(const uint8_t *word)
{
    static const uint32_t ranges[][2] = {
        {0x370, 0xdff}, {0x10a0, 0x177f}, {0x1800, 0x19df}, {0x1a00, 0x1dff}, {0xac00, 0xd7ff}};
    if (word[0] < 0xc0)
        return false;
    size_t more = word[0] >= 0xf0 ? 3 : word[0] >= 0xe0 ? 2 : 1;
    uint32_t point = word[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++)
        point = point << 6 | (word[i] & 0x3fu);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1])
            return true;
    return false;
}

/* How many words the shingle has that would begin with these. */
static uint32_t shingle_at(const struct doppel_text_options *options, const uint8_t *words,
                           const uint8_t *end)
{
    uint32_t shingle = options->shingle;
    bool other = false;
    for (uint32_t i = 0; i < shingle && options->unit == DOPPEL_TEXT_BY_SCRIPT; i++) {
        other |= is_of_other_script(words);
        while (words < end && *words != ' ')
            words++;
        words++;
    }
    return !other ? shingle : shingle < 2 ? shingle : shingle < 5 ? 2 : (4 * shingle + 9) / 10;
}

static void make_lanes(struct oracle *out, uint32_t lanes)
{
    uint32_t least[DOPPEL_TEXT_MAX_LANES];
    memset(least, 0xff, sizeof least);
    uint32_t all = UINT32_MAX;
    for (size_t i = 0; i < out->count; i++) {
        uint32_t value = (uint32_t)out->hashes[i];
        uint32_t *bin = &least[out->hashes[i] / (UINT64_MAX / lanes + 1)];
        *bin = value < *bin ? value : *bin;
        all = value < all ? value : all;
    }
    for (uint32_t lane = 0; lane < lanes && all != UINT32_MAX; lane++) {
        uint32_t from = lane;
        for (uint32_t attempt = 0; least[from] == UINT32_MAX; attempt++) {
            uint64_t eight = character_hash(lane * 65536 + attempt / 8);
            from = (uint32_t)((eight >> 8 * (attempt % 8)) % 256 % lanes);
        }
        out->lanes[lane] = least[from] & 0xffff;
    }
}

static void make_simhash(struct oracle *out)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        int64_t sum = 0;
        for (size_t i = 0; i < out->count; i++)
            sum += out->hashes[i] >> bit & 1 ? 1 : -1;
        out->simhash |= (uint64_t)(sum > 0) << bit;
    }
}

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void make_set(struct oracle *out)
{
    out->set = malloc((out->count + 1) * sizeof *out->set);
    for (size_t i = 0; i < out->count; i++)
        out->set[i] = (uint32_t)out->hashes[i];
    qsort(out->set, out->count, sizeof *out->set, by_value);
    for (size_t i = 0; i < out->count; i++)
        if (i == 0 || out->set[i] != out->set[out->set_count - 1])
            out->set[out->set_count++] = out->set[i];
}

void oracle_make(struct oracle *out, const struct doppel_text_options *options,
                 const uint8_t *bytes, size_t size)
{
    uint64_t *units = malloc((size + 1) * sizeof *units);
    *out = (struct oracle){.hashes = malloc((size + 1) * sizeof *units)};
    out->words = words_of(bytes, size, units);
    size_t count = out->words;
    out->characters = characters_of(bytes, size, out->hashes);
    if (options->unit == DOPPEL_TEXT_CHARACTERS)
        count = characters_of(bytes, size, units);
    const uint8_t *word = bytes;
    for (size_t i = 0; i + options->shingle <= count; i++) {
        out->hashes[out->count++] =
            shingle_hash(units + i, shingle_at(options, word, bytes + size));
        while (word < bytes + size && *word != ' ')
            word++;
        word++;
    }
    free(units);
    make_lanes(out, options->lanes);
    make_simhash(out);
    make_set(out);
}

void oracle_free(struct oracle *oracle)
{
    free(oracle->hashes);
    free(oracle->set);
}
