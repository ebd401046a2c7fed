/* One-permutation MinHash: the end of a text, where empty bins are filled; and what two lists of
 * lanes say about two sets. Sources: Li, Owen and Zhang, "One Permutation Hashing" (2012);
 * Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing" (2017). */
#include "text/hash.h"
#include "text/sketch.h"

#include <math.h>

void minhash_begin(struct minhash *minhash, uint32_t lanes)
{
    minhash->lanes = lanes;
    memset(minhash->bins, 0xff, (size_t)MINHASH_COPIES * lanes * sizeof *minhash->bins);
}

void minhash_end(struct minhash *minhash, const struct sketch_kernels *kernels, uint16_t *out)
{
    uint32_t *bins = minhash->bins, lanes = minhash->lanes, empty = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t other = bins[lanes + i];
        bins[i] = other < bins[i] ? other : bins[i];
        empty += bins[i] == EMPTY_BIN;
        out[i] = (uint16_t)bins[i];
    }
    if (empty == lanes)
        memset(out, 0, lanes * sizeof *out);
    else if (empty)
        kernels->fill(bins, lanes, out);
}

/* The standard error is that of a share a little off the ends, where none can be seen. */
struct doppel_estimate doppel_minhash_similarity(const uint16_t *a, const uint16_t *b,
                                                 uint32_t lanes)
{
    const double chance = 1 / 65536.;
    uint32_t equal = 0;
    for (uint32_t i = 0; i < lanes; i++)
        equal += a[i] == b[i];
    double share = lanes ? equal / (double)lanes : 0, inner = (equal + 0.5) / (lanes + 1.);
    double value = (share - chance) / (1 - chance);
    return (struct doppel_estimate){value > 0 ? value : 0,
                                    sqrt(inner * (1 - inner) / (lanes + 1.)) / (1 - chance)};
}
