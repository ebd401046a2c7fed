/* Scanning the slots of a group in portable C, and the choice among scanners. */
#include "core/cpu.h"
#include "index/postings/postings_internal.h"

uint32_t postings_scan_portable(const struct slot_scan *scan, uint32_t *out, bool *out_beyond)
{
    uint64_t mask = (1ull << scan->position_bits) - 1;
    uint32_t count = 0;
    bool beyond = false;
    for (uint32_t i = 0; i < scan->count; i++) {
        uint64_t slot = slot_read(scan->slots, scan->first + i, scan->slot_bits);
        bool found = slot >> scan->position_bits == scan->remainder;
        out[count] = (uint32_t)(slot & mask);
        beyond |= found & ((slot & mask) >= scan->axis);
        count += found;
    }
    *out_beyond = beyond;
    return count;
}

postings_scanner *postings_scan_choose(void)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_POPCNT)
        return postings_scan_avx512;
#endif
    return postings_scan_portable;
}
