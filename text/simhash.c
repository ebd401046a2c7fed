/* SimHash: the signs of sums over weighted hashes, and what two of them say. Source: Charikar,
 * "Similarity Estimation Techniques from Rounding Algorithms" (2002). */
#include <doppel/text.h>

#include <math.h>

void doppel_simhash_add(struct doppel_simhash *simhash, const uint64_t *hashes,
                        const int32_t *weights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t weight = weights ? weights[i] : 1;
        for (unsigned bit = 0; bit < 64; bit++)
            simhash->sums[bit] += hashes[i] >> bit & 1 ? weight : -weight;
    }
}

uint64_t doppel_simhash_get(const struct doppel_simhash *simhash)
{
    uint64_t hash = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        hash |= (uint64_t)(simhash->sums[bit] > 0) << bit;
    return hash;
}

/* Two vectors differ in the sign of a random projection with probability angle / pi. The standard
 * error is that of a share a little off the ends, where none can be seen. */
struct doppel_estimate doppel_simhash_similarity(uint64_t a, uint64_t b)
{
    const double pi = 3.14159265358979323846;
    int differ = __builtin_popcountll(a ^ b);
    double inner = (differ + 0.5) / 65;
    return (struct doppel_estimate){cos(pi * differ / 64),
                                    pi * sin(pi * inner) * sqrt(inner * (1 - inner) / 65)};
}
