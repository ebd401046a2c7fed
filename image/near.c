/* One code against many: those that are near in some mirror image, and how near they are whole. */
#include "image/near.h"

#include "core/cpu.h"
#include "core/scratch.h"
#include "image/judge.h"

/* Bits of word 0, as they follow each other in a sorted word: two lots of even u and v around those
 * with odd u, odd v, and both. */
static const uint64_t sorted_parts[] = {UINT64_C(0x018180332018c098), UINT64_C(0x1224098410c12222),
                                        UINT64_C(0x0c42064809221141), UINT64_C(0x00187000c6040c04),
                                        UINT64_C(0xe000000000000000)};
enum { SORTED_PARTS = sizeof sorted_parts / sizeof *sorted_parts };

uint64_t doppel_image_sort_bits(uint64_t word)
{
    uint64_t out = 0;
    unsigned to = 0;
    for (int part = 0; part < SORTED_PARTS; part++)
        for (uint64_t left = sorted_parts[part]; left; left &= left - 1, to++)
            out |= (word >> __builtin_ctzll(left) & 1) << to;
    return out;
}

uint64_t doppel_image_unsort_bits(uint64_t word)
{
    uint64_t out = 0;
    unsigned from = 0;
    for (int part = 0; part < SORTED_PARTS; part++)
        for (uint64_t left = sorted_parts[part]; left; left &= left - 1, from++)
            out |= (word >> from & 1) << __builtin_ctzll(left);
    return out;
}

/* ---- scanning ---- */

size_t near_portable(const struct doppel_image_probe *probe, const struct doppel_image_words *words,
                     uint32_t radius, uint32_t *out)
{
    size_t found = 0;
    for (uint32_t i = 0; i < words->count; i++)
        if (near_in_some_way(probe, near_word(words, i), radius))
            out[found++] = i;
    return found;
}

size_t doppel_image_probes_scan(const struct doppel_image_probe *probes, size_t probe_count,
                                const struct doppel_image_words *words, uint32_t radius,
                                struct doppel_image_near *out)
{
    near_kernel *kernel = near_portable;
    SCRATCH uint32_t near[DOPPEL_IMAGE_NEAR_WORDS];
    size_t found = 0;
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_BITALG)
        kernel = near_avx512;
    else if (cpu_flags() & CPU_AVX2)
        return near_avx2(probes, probe_count, words, radius, out);
#endif
    for (size_t probe = 0; probe < probe_count; probe++) {
        const size_t count = kernel(&probes[probe], words, radius, near);
        found += near_emit(near, count, probe, out + found);
    }
    return found;
}

bool doppel_image_probe_is_near(const struct doppel_image_probe *probe, uint64_t word,
                                uint32_t radius)
{
    return near_in_some_way(probe, word, radius);
}

/* ---- one code ---- */

void doppel_image_probe_make(const struct doppel_code *code, bool transposed,
                             struct doppel_image_probe *out)
{
    const struct doppel_code all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    const struct doppel_code across = doppel_image_orient(&all, 1);
    const struct doppel_code down = doppel_image_orient(&all, 2);
    uint64_t present[3] = {0};
    *out = (struct doppel_image_probe){.code = doppel_image_orient(code, transposed ? 4 : 0),
                                       .transposed = transposed};
    for (unsigned i = 0; i < 4; i++) {
        out->turned[0][i] = ~across.word[i] & down.word[i];
        out->turned[1][i] = across.word[i] & ~down.word[i];
        out->turned[2][i] = ~across.word[i] & ~down.word[i];
        for (unsigned parity = 0; parity < 3; parity++)
            present[parity] |= out->code.word[i] & out->turned[parity][i];
    }
    out->whole = present[0] && present[1] && present[2];
    out->code.word[0] = doppel_image_sort_bits(out->code.word[0]);
}

static int32_t high_distance(const struct doppel_image_probe *probe, const uint64_t code[4],
                             unsigned way)
{
    int32_t distance = 0;
    for (unsigned i = 1; i < 4; i++) {
        uint64_t differ = probe->code.word[i] ^ code[i];
        for (unsigned parity = 0; parity < 3; parity++)
            differ ^= way >> parity & 1 ? probe->turned[parity][i] : 0;
        distance += __builtin_popcountll(differ);
    }
    return distance;
}

bool doppel_image_probe_reaches(const struct doppel_image_probe *probe, const uint64_t code[4],
                                const struct doppel_image_gate *gate, bool full)
{
    int32_t most = -1;
    for (int class = JUDGE_TRIMMED; class <= JUDGE_CROP_TURNED; class ++)
        most = gate->most[class] > most ? gate->most[class] : most;
    for (unsigned way = 0; way < NEAR_WAYS; way++) {
        const uint64_t differ = probe->code.word[0] ^ code[0] ^ near_turned(way);
        const int32_t low = __builtin_popcountll(differ);
        if (low > DOPPEL_IMAGE_CANDIDATE_RADIUS || !near_is_mirroring(probe->whole, code[0], way))
            continue;
        const int32_t high = high_distance(probe, code, way);
        if (judge_far_score(high + (1 + JUDGE_WEIGHT) * low, low) <= most ||
            (full && high + (1 + JUDGE_FULL_WEIGHT) * low <= gate->most[JUDGE_FULL]))
            return true;
    }
    return false;
}
