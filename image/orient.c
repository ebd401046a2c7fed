/* What turning a picture does to its code: mirroring negates the odd coefficients, transposing
 * exchanges those that lie side by side. */
#include "image/orient.h"

#include <stdbool.h>

/* Bits with u < v: the next bit is the same with u and v exchanged. */
static const uint64_t first_of_pair[4] = {
    UINT64_C(0x2aaa95554aa95529), UINT64_C(0x55552aaaaaa55555), UINT64_C(0x555552aaaaaaa955),
    UINT64_C(0x55554aaaaaaaa555)};

/* Bits with u = v. */
static const uint64_t diagonal[4] = {UINT64_C(0x8000400020040084), UINT64_C(0x0000800000100000),
                                     UINT64_C(0x0000080000000400), UINT64_C(0x0000200000001000)};

/* Bits with odd u: mirroring left to right negates them. */
static const uint64_t odd_u[4] = {UINT64_C(0x123c7984d6c52e26), UINT64_C(0xe48f3742e21b6b8d),
                                  UINT64_C(0x69c2709b49dec494), UINT64_C(0xb23e8b92c09e9b8b)};

/* Bits with odd v: mirroring top to bottom negates them. */
static const uint64_t odd_v[4] = {UINT64_C(0x0c5a7648cf261d45), UINT64_C(0xd84f4ea56417974e),
                                  UINT64_C(0x96c1b11cb1bf2468), UINT64_C(0x713d558d211f1747)};

unsigned orient_absent(const struct doppel_code *code)
{
    uint64_t u = 0, v = 0, both = 0;
    for (unsigned i = 0; i < 4; i++) {
        u |= code->word[i] & odd_u[i] & ~odd_v[i];
        v |= code->word[i] & odd_v[i] & ~odd_u[i];
        both |= code->word[i] & odd_u[i] & odd_v[i];
    }
    return (u ? 0 : 1u << 1) | (v ? 0 : 1u << 2) | (both ? 0 : 1u << 3);
}

struct doppel_code doppel_image_orient(const struct doppel_code *code, unsigned orientation)
{
    struct doppel_code out = *code;
    for (unsigned i = 0; orientation & 4 && i < 4; i++) {
        uint64_t word = code->word[i];
        out.word[i] =
            (word & first_of_pair[i]) << 1 | (word >> 1 & first_of_pair[i]) | (word & diagonal[i]);
    }
    const unsigned absent = orient_absent(&out);
    const bool across = orientation & 1, down = orientation & 2;
    const uint64_t turn_u = across && !(absent & 1u << 1) ? UINT64_MAX : 0;
    const uint64_t turn_v = down && !(absent & 1u << 2) ? UINT64_MAX : 0;
    const uint64_t turn_both = across != down && !(absent & 1u << 3) ? UINT64_MAX : 0;
    for (unsigned i = 0; i < 4; i++)
        out.word[i] ^= (odd_u[i] & ~odd_v[i] & turn_u) | (odd_v[i] & ~odd_u[i] & turn_v) |
                       (odd_u[i] & odd_v[i] & turn_both);
    return out;
}
