/* A text's blocks through shingles into the sketches that are wanted. */
#include "text/sketch.h"

#include <stdlib.h>

#include "text/hash.h"
#include "text/normaliser.h"

enum { FIRST_BYTE_OF_GREEK = 0xcd };

struct sketcher {
    const struct sketch_kernels *kernels;
    const struct doppel_text_options *options;
    unsigned want;
    size_t carried;                       /* units before the next: less than a shingle */
    uint64_t words, characters, shingles; /* so far; characters with the space after each word */
    struct minhash minhash;
    int64_t sums[64]; /* of bit i: shingles that have it */
    struct shingle_set set;
    alignas(64) uint64_t units[DOPPEL_TEXT_MAX_SHINGLE + CHUNK_UNITS + KERNEL_SLACK];
    alignas(64) uint64_t hashes[CHUNK_UNITS + KERNEL_SLACK];
    bool by_script, other_script;                         /* whether any of the units is marked */
    uint8_t marks[DOPPEL_TEXT_MAX_SHINGLE + CHUNK_UNITS]; /* of units that begin short shingles */
};

struct sketcher *sketcher_new(void)
{
    size_t size = (sizeof(struct sketcher) + 63) / 64 * 64;
    struct sketcher *sketcher = aligned_alloc(64, size);
    if (sketcher)
        memset(sketcher, 0, size);
    return sketcher;
}

void sketcher_free(struct sketcher *sketcher)
{
    if (sketcher)
        shingle_set_free(&sketcher->set);
    free(sketcher);
}

uint64_t word_hash(const uint8_t *word, size_t size)
{
    return hash_word(word, size);
}

void sketcher_begin(struct sketcher *sketcher, const struct doppel_text_options *options,
                    unsigned want)
{
    sketcher->kernels = sketch_kernels_choose();
    sketcher->options = options;
    sketcher->want = want & (DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_SHINGLES |
                             DOPPEL_TEXT_COUNT);
    sketcher->carried = 0;
    sketcher->by_script = options->unit == DOPPEL_TEXT_BY_SCRIPT;
    sketcher->other_script = false;
    sketcher->words = sketcher->characters = sketcher->shingles = 0;
    memset(sketcher->sums, 0, sizeof sketcher->sums);
    sketcher->set.count = 0;
    minhash_begin(&sketcher->minhash, options->lanes);
}

static enum doppel_status add_shingles(struct sketcher *sketcher, size_t count,
                                       struct doppel_error *error)
{
    const struct sketch_kernels *kernels = sketcher->kernels;
    sketcher->shingles += count;
    if (sketcher->want & DOPPEL_TEXT_MINHASH)
        kernels->bins(sketcher->minhash.bins, sketcher->options->lanes, sketcher->hashes, count);
    if (sketcher->want & DOPPEL_TEXT_SIMHASH)
        kernels->count_bits(sketcher->hashes, count, sketcher->sums);
    if (sketcher->want & (DOPPEL_TEXT_SHINGLES | DOPPEL_TEXT_COUNT))
        return shingle_set_add(&sketcher->set, sketcher->hashes, count, error);
    return DOPPEL_OK;
}

/* The highest of some bytes: of 64 columns each, so that they are compared many at a time. */
static uint8_t highest_byte(const uint8_t *bytes, size_t size)
{
    uint8_t columns[64] = {0}, highest = 0;
    size_t at = 0;
    for (; at + sizeof columns <= size; at += sizeof columns)
        for (size_t i = 0; i < sizeof columns; i++)
            columns[i] = bytes[at + i] > columns[i] ? bytes[at + i] : columns[i];
    for (size_t i = 0; i < sizeof columns; i++)
        highest = columns[i] > highest ? columns[i] : highest;
    for (; at < size; at++)
        highest = bytes[at] > highest ? bytes[at] : highest;
    return highest;
}

/* Whether a word is written in other letters than Latin ones, and with spaces: U+0370 to U+1DFF
 * (Greek to Ethiopic, Cherokee, Khmer), Hangul, but for scripts of which each code point is a word,
 * and Tibetan, whose syllables are words. */
static bool word_is_of_other_script(const uint8_t *word, size_t size)
{
    enum { GREEK = 0x370, TIBETAN = 0xf00, MYANMAR = 0x1000, PHONETIC = 0x1e00 };
    enum { HANGUL = 0xac00, SURROGATES = 0xd800 };
    uint32_t point;
    bool bad;
    (void)decode_any(word, size, &point, &bad);
    bool letters = point >= GREEK && point < PHONETIC && !(point >= TIBETAN && point < MYANMAR);
    return (letters || (point >= HANGUL && point < SURROGATES)) && !point_is_unspaced(point);
}

/* Mark, of `count` words that come behind the units carried over, those that begin short shingles.
 * Words as for hash_words. */
static void mark_words(struct sketcher *sketcher, const struct text_block *block, uint32_t start,
                       const uint32_t *ends, size_t count)
{
    uint8_t *marks = sketcher->marks + sketcher->carried;
    memset(marks, 0, count);
    if (highest_byte(block->bytes + start, ends[count - 1] - start) < FIRST_BYTE_OF_GREEK)
        return;
    for (size_t i = 0; i < count; i++) {
        marks[i] = block->bytes[start] >= FIRST_BYTE_OF_GREEK &&
                   word_is_of_other_script(block->bytes + start, ends[i] - start);
        sketcher->other_script |= marks[i];
        start = ends[i] + 1;
    }
}

/* Make those shingles short that have a marked unit; then the marks of the units that are carried
 * over come to the front. */
static void shorten_shingles(struct sketcher *sketcher, size_t shingles)
{
    uint32_t shingle = sketcher->options->shingle, few = doppel_text_shingle_of_script(shingle);
    size_t marked = shingles + shingle - 1; /* the next, from the last on; or their end */
    if (!sketcher->other_script)
        return;
    for (size_t i = marked; i-- > 0;) {
        uint64_t hash = 0;
        marked = sketcher->marks[i] ? i : marked;
        if (i >= shingles || marked >= i + shingle)
            continue;
        for (uint32_t place = 0; place < few; place++)
            hash ^= rotate_left(sketcher->units[i + place], shingle_turn(place));
        sketcher->hashes[i] = mix_shingle(hash);
    }
    memmove(sketcher->marks, sketcher->marks + shingles, shingle - 1);
    sketcher->other_script = highest_byte(sketcher->marks, shingle - 1) > 0;
}

/* `count` units have been put behind those carried over. */
static enum doppel_status add_units(struct sketcher *sketcher, size_t count,
                                    struct doppel_error *error)
{
    size_t units = sketcher->carried + count, shingle = sketcher->options->shingle;
    sketcher->carried = units;
    if (units < shingle)
        return DOPPEL_OK;
    size_t shingles = units - shingle + 1;
    sketcher->kernels->shingles(sketcher->units, shingles, (uint32_t)shingle, sketcher->hashes);
    if (sketcher->by_script)
        shorten_shingles(sketcher, shingles);
    sketcher->carried = shingle - 1;
    memmove(sketcher->units, sketcher->units + shingles, (shingle - 1) * sizeof *sketcher->units);
    return add_shingles(sketcher, shingles, error);
}

static enum doppel_status add_words(struct sketcher *sketcher, const struct text_block *block,
                                    struct doppel_error *error)
{
    uint32_t start = 0;
    for (size_t i = 0; i < block->words; i += CHUNK_UNITS) {
        size_t left = block->words - i, count = left < CHUNK_UNITS ? left : CHUNK_UNITS;
        sketcher->kernels->hash_words(block->bytes, start, block->ends + i, count,
                                      sketcher->units + sketcher->carried);
        if (sketcher->by_script)
            mark_words(sketcher, block, start, block->ends + i, count);
        start = block->ends[i + count - 1] + 1;
        enum doppel_status status = add_units(sketcher, count, error);
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

/* As many of the bytes as make a chunk of whole code points. */
static size_t sketch_chunk_bytes(const uint8_t *bytes, size_t size)
{
    if (size <= CHUNK_UNITS)
        return size;
    size_t chunk = CHUNK_UNITS;
    while (chunk > 1 && (bytes[chunk] & 0xc0) == 0x80)
        chunk--;
    return chunk;
}

static enum doppel_status add_characters(struct sketcher *sketcher, const uint8_t *bytes,
                                         size_t size, struct doppel_error *error)
{
    while (size) {
        size_t chunk = sketch_chunk_bytes(bytes, size);
        size_t count =
            sketcher->kernels->hash_characters(bytes, chunk, sketcher->units + sketcher->carried);
        enum doppel_status status = add_units(sketcher, count, error);
        if (status)
            return status;
        bytes += chunk;
        size -= chunk;
    }
    return DOPPEL_OK;
}

/* The space after the last word of all is none of the text's: each comes with the next word. */
static enum doppel_status add_block_characters(struct sketcher *sketcher,
                                               const struct text_block *block,
                                               struct doppel_error *error)
{
    enum doppel_status status =
        sketcher->words ? add_characters(sketcher, (const uint8_t *)" ", 1, error) : DOPPEL_OK;
    return status ? status : add_characters(sketcher, block->bytes, block->size - 1, error);
}

enum doppel_status sketcher_add(struct sketcher *sketcher, const struct text_block *block,
                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (sketcher->want && sketcher->options->unit != DOPPEL_TEXT_CHARACTERS)
        status = add_words(sketcher, block, error);
    else if (sketcher->want)
        status = add_block_characters(sketcher, block, error);
    sketcher->words += block->words;
    sketcher->characters += sketcher->kernels->count_characters(block->bytes, block->size);
    return status;
}

void sketcher_end(struct sketcher *sketcher, struct doppel_text_result *out)
{
    out->words = sketcher->words;
    out->characters = sketcher->characters - (sketcher->words > 0);
    if (sketcher->want & DOPPEL_TEXT_MINHASH)
        minhash_end(&sketcher->minhash, sketcher->kernels, out->lanes);
    if (sketcher->want & DOPPEL_TEXT_SIMHASH) {
        struct doppel_simhash simhash;
        for (unsigned i = 0; i < 64; i++)
            simhash.sums[i] = 2 * sketcher->sums[i] - (int64_t)sketcher->shingles;
        out->simhash = doppel_simhash_get(&simhash);
    }
    if (sketcher->want & DOPPEL_TEXT_SHINGLES) {
        shingle_set_end(&sketcher->set);
        out->shingles = sketcher->set.values;
        out->shingle_count = sketcher->set.count;
    } else if (sketcher->want & DOPPEL_TEXT_COUNT) {
        out->shingle_count = shingle_set_distinct(&sketcher->set);
    }
}
