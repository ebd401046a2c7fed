/* What turning a picture does to its code: mirroring negates the odd coefficients, transposing
 * exchanges those that lie side by side. */
#include <doppel/image.h>

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

struct doppel_code doppel_image_orient(const struct doppel_code *code, unsigned orientation)
{
    struct doppel_code out = *code;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t word = code->word[i];
        if (orientation & 4)
            word = (word & first_of_pair[i]) << 1 | (word >> 1 & first_of_pair[i]) |
                   (word & diagonal[i]);
        if (orientation & 1)
            word ^= odd_u[i];
        if (orientation & 2)
            word ^= odd_v[i];
        out.word[i] = word;
    }
    return out;
}
