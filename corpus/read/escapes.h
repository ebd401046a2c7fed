/* Which bytes of 64 begin an escape in a JSON string, for kernels. */
#ifndef DOPPEL_CORPUS_READ_ESCAPES_H
#define DOPPEL_CORPUS_READ_ESCAPES_H

#include <stddef.h>
#include <stdint.h>

enum { ESCAPES_CHUNK = 64 };

/* Which backslashes begin an escape: in each run of them the first, the third, and so on. Source:
 * Langdale and Lemire, "Parsing Gigabytes of JSON per Second" (2019). */
static inline uint64_t find_escapes(uint64_t backslashes)
{
    const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);
    uint64_t may_be_escaped = backslashes << 1;
    return (((may_be_escaped | odd) - backslashes) ^ odd) & backslashes;
}

static inline uint64_t first_bits(size_t count)
{
    return count < ESCAPES_CHUNK ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

#endif
