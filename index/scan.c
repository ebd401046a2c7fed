/* The linear scan in portable C, the definition of the others, and the choice among them. */
#include "index/scan.h"

#include "core/cpu.h"

static inline size_t scan_all_codes(const uint64_t *groups, size_t group_count,
                                    const uint64_t *query, uint32_t radius, struct scan_hit *out,
                                    size_t words)
{
    size_t found = 0;
    for (size_t i = 0; i < group_count * SCAN_GROUP; i++) {
        const uint64_t *code = groups + i / SCAN_GROUP * SCAN_GROUP * words + i % SCAN_GROUP;
        uint32_t distance = 0;
        for (size_t word = 0; word < words; word++)
            distance += (uint32_t)__builtin_popcountll(code[word * SCAN_GROUP] ^ query[word]);
        out[found] = (struct scan_hit){(uint32_t)i, distance};
        found += distance <= radius;
    }
    return found;
}

size_t scan64_portable(const uint64_t *groups, size_t group_count, const uint64_t *query,
                       uint32_t radius, struct scan_hit *out)
{
    return scan_all_codes(groups, group_count, query, radius, out, 1);
}

size_t scan128_portable(const uint64_t *groups, size_t group_count, const uint64_t *query,
                        uint32_t radius, struct scan_hit *out)
{
    return scan_all_codes(groups, group_count, query, radius, out, 2);
}

size_t scan256_portable(const uint64_t *groups, size_t group_count, const uint64_t *query,
                        uint32_t radius, struct scan_hit *out)
{
    return scan_all_codes(groups, group_count, query, radius, out, 4);
}

scan_kernel *scan_choose(uint32_t bits)
{
    static scan_kernel *const portable[] = {scan64_portable, scan128_portable, scan256_portable};
    unsigned width = bits <= 64 ? 0 : bits == 128 ? 1 : 2;
#if defined(__x86_64__)
    static scan_kernel *const avx2[] = {scan64_avx2, scan128_avx2, scan256_avx2};
    static scan_kernel *const avx512[] = {scan64_avx512, scan128_avx512, scan256_avx512};
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return avx512[width];
    if (cpu_flags() & CPU_AVX2)
        return avx2[width];
#endif
    return portable[width];
}
