/* The gate with AVX-512 VPOPCNTDQ: all eight orientations in a vector. */
#include <immintrin.h>

#include "image/gate_loop.h"

GATE_INLINE void vector_turn(const struct doppel_image_gate *gate, uint64_t low,
                             struct turned_word *out)
{
    __m512i plain = _mm512_set1_epi64((long long)low);
    __m512i codes = _mm512_mask_set1_epi64(plain, 0xf0, (long long)transpose(gate, low));
    _mm512_store_si512(out->low, _mm512_xor_si512(codes, _mm512_loadu_si512(gate->turns)));
}

GATE_INLINE uint32_t vector_turns(const struct turned_word *turned, uint64_t other)
{
    __m512i differ =
        _mm512_xor_si512(_mm512_load_si512(turned->low), _mm512_set1_epi64((long long)other));
    return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(differ),
                                   _mm512_set1_epi64(DOPPEL_IMAGE_CANDIDATE_RADIUS));
}

bool gate_avx512(const struct doppel_image_gate *gate, const struct doppel_image_codes *a,
                 const struct doppel_image_codes *b)
{
    return gate_loop(gate, a, b, vector_turn, vector_turns);
}
