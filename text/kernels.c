/* The portable kernels, which are the definition, and the choice among all. */
#include "core/cpu.h"
#include "text/hash.h"
#include "text/kernels.h"

static void hash_words(const uint8_t *bytes, uint32_t start, const uint32_t *ends, size_t count,
                       uint64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = hash_word(bytes + start, ends[i] - start);
        start = ends[i] + 1;
    }
}

static size_t hash_characters(const uint8_t *bytes, size_t size, uint64_t *out)
{
    size_t count = 0;
    for (size_t at = 0; at < size;)
        out[count++] = hash_code_point(next_code_point(bytes, &at));
    return count;
}

/* The first one from its units, each of the others from the one before: its first unit is taken
 * out, all are turned back by a place, and the last one is put in. Source: Cohen, "Recursive
 * Hashing Functions for n-Grams" (1997). */
static void shingles(const uint64_t *units, size_t count, uint32_t shingle, uint64_t *out)
{
    const unsigned back = 64 - shingle_turn(1), last = shingle_turn(shingle - 1);
    uint64_t hash = 0;
    for (uint32_t place = 0; place < shingle && count; place++)
        hash ^= rotate_left(units[place], shingle_turn(place));
    for (size_t i = 0; i < count; i++) {
        out[i] = mix_shingle(hash);
        if (i + 1 < count)
            hash = rotate_left(hash ^ units[i], back) ^ rotate_left(units[i + shingle], last);
    }
}

static void bins(uint32_t *bins, uint32_t lanes, const uint64_t *hashes, size_t count)
{
    lower_bins(bins, lanes, hashes, count);
}

static void fill_empty_bins(const uint32_t *bins, uint32_t lanes, uint16_t *out)
{
    for (uint32_t bin = 0; bin < lanes; bin++) {
        uint32_t from = bin;
        uint64_t others = 0;
        for (uint32_t attempt = 0; bins[from] == EMPTY_BIN; attempt++, others >>= 8) {
            if (attempt % 8 == 0)
                others = other_bins(bin, attempt / 8);
            from = (uint32_t)others & (lanes - 1);
        }
        out[bin] = (uint16_t)bins[from];
    }
}

/* Counts of all 64 bits go up together: plane p holds bit p of each of them. */
enum { PLANES = 12, BLOCK = 16, BLOCK_PLANES = 4, MOST = (1 << PLANES) - BLOCK };

/* A full adder in each bit: `*sum` + a + b, the carry returned. */
static uint64_t add_bits_fully(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t odd = *sum ^ a, carry = (*sum & a) | (odd & b);
    *sum = odd ^ b;
    return carry;
}

/* BLOCK hashes into the lowest planes; the carry returned. Source: as in kernels_avx512.c. */
static uint64_t add_block(uint64_t planes[BLOCK_PLANES], const uint64_t *hashes)
{
    uint64_t carries[8];
    for (int i = 0; i < 8; i++)
        carries[i] = add_bits_fully(&planes[0], hashes[2 * i], hashes[2 * i + 1]);
    for (int i = 0; i < 4; i++)
        carries[i] = add_bits_fully(&planes[1], carries[2 * i], carries[2 * i + 1]);
    for (int i = 0; i < 2; i++)
        carries[i] = add_bits_fully(&planes[2], carries[2 * i], carries[2 * i + 1]);
    return add_bits_fully(&planes[3], carries[0], carries[1]);
}

static void add_carry(uint64_t planes[PLANES], unsigned plane, uint64_t carry)
{
    for (; plane < PLANES; plane++) {
        uint64_t both = planes[plane] & carry;
        planes[plane] ^= carry;
        carry = both;
    }
}

static void count_bits(const uint64_t *hashes, size_t count, int64_t sums[64])
{
    for (size_t i = 0; i < count;) {
        uint64_t planes[PLANES] = {0};
        size_t end = count - i < MOST ? count : i + MOST;
        for (; i + BLOCK <= end; i += BLOCK)
            add_carry(planes, BLOCK_PLANES, add_block(planes, hashes + i));
        for (; i < end; i++)
            add_carry(planes, 0, hashes[i]);
        for (unsigned bit = 0; bit < 64; bit++)
            for (unsigned p = 0; p < PLANES; p++)
                sums[bit] += (int64_t)((planes[p] >> bit & 1) << p);
    }
}

/* Bytes that continue a code point, eight at a time, counted in bytes while these hold it. */
static size_t count_continuing(const uint8_t *bytes, size_t words)
{
    enum { ROUNDS = 255 };
    const uint64_t ones = UINT64_C(0x0101010101010101), evens = UINT64_C(0x00ff00ff00ff00ff);
    size_t count = 0;
    for (size_t i = 0; i < words;) {
        uint64_t sums = 0, word;
        for (size_t end = words - i < ROUNDS ? words : i + ROUNDS; i < end; i++) {
            memcpy(&word, bytes + 8 * i, sizeof word);
            sums += word >> 7 & ~word >> 6 & ones;
        }
        sums = (sums & evens) + (sums >> 8 & evens);
        count += sums * UINT64_C(0x0001000100010001) >> 48;
    }
    return count;
}

static size_t count_characters(const uint8_t *bytes, size_t size)
{
    size_t count = size - count_continuing(bytes, size / 8);
    for (size_t i = size / 8 * 8; i < size; i++)
        count -= (bytes[i] & 0xc0) == 0x80;
    return count;
}

const struct sketch_kernels sketch_kernels_portable = {
    hash_words, hash_characters, shingles, bins, fill_empty_bins, count_bits, count_characters,
};

const struct sketch_kernels *sketch_kernels_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_VBMI2)
        return &sketch_kernels_avx512;
#endif
    return &sketch_kernels_portable;
}
