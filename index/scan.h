/*
 * The linear scan: all codes within a radius of a query. Codes lie in groups of 8, word by word:
 * word w of code i is at groups[(i / 8 * words + w) * 8 + i % 8], so that one vector holds the same
 * word of 8 codes. The portable kernel is the definition; the others give the same answers.
 */
#ifndef DOPPEL_INDEX_SCAN_H
#define DOPPEL_INDEX_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum { SCAN_GROUP = 8 };

struct scan_hit {
    uint32_t position; /* of the code within the scan */
    uint32_t distance;
};

/**
 * Find the codes within `radius` of `query` among `group_count` groups.
 * @param out room for 8 × group_count hits; written in order of position
 * @return how many were written
 */
typedef size_t scan_kernel(const uint64_t *groups, size_t group_count, const uint64_t *query,
                           uint32_t radius, struct scan_hit *out);

scan_kernel scan64_portable, scan128_portable, scan256_portable;
scan_kernel scan64_avx2, scan128_avx2, scan256_avx2;
scan_kernel scan64_avx512, scan128_avx512, scan256_avx512;

/** The fastest kernel of this processor for codes of `bits` (up to 64, 128 or 256), by core/cpu.h.
 */
scan_kernel *scan_choose(uint32_t bits);

#endif
