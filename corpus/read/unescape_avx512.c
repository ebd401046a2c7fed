/* Escapes of one letter in JSON strings, 64 bytes at a time: the bytes that are escaped are looked
 * up, the backslashes before them compressed away. */
#include <immintrin.h>
#include <stdint.h>

#include "corpus/read/escapes.h"
#include "corpus/read/unescape.h"

void unescape_simple_avx512(const char letters[128], const char **in, const char *end, char **out)
{
    const __m512i low = _mm512_loadu_si512(letters),
                  high = _mm512_loadu_si512(letters + ESCAPES_CHUNK);
    while (*in < end) {
        size_t size = end - *in < ESCAPES_CHUNK ? (size_t)(end - *in) : ESCAPES_CHUNK;
        __m512i bytes = _mm512_maskz_loadu_epi8(first_bits(size), *in);
        uint64_t escapes = find_escapes(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')));
        uint64_t escaped = escapes << 1, ascii = ~_mm512_movepi8_mask(bytes);
        __m512i plain = _mm512_maskz_permutex2var_epi8(ascii, low, bytes, high);
        uint64_t others = (escaped & _mm512_testn_epi8_mask(plain, plain)) >> 1;
        others |= escapes & UINT64_C(1) << (ESCAPES_CHUNK - 1); /* what it begins is not here */
        if (others)
            size = (size_t)__builtin_ctzll(others);
        uint64_t keep = first_bits(size) & ~escapes;
        bytes = _mm512_maskz_compress_epi8(keep, _mm512_mask_mov_epi8(bytes, escaped, plain));
        size_t kept = (size_t)__builtin_popcountll(keep);
        _mm512_mask_storeu_epi8(*out, first_bits(kept), bytes);
        *out += kept;
        *in += size;
        if (!size)
            return;
    }
}
