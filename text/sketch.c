/* A text's blocks through shingles into the sketches that are wanted. */
#include "text/sketch.h"

#include <stdlib.h>

#include "text/hash.h"

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
    if (sketcher->want && sketcher->options->unit == DOPPEL_TEXT_WORDS)
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
