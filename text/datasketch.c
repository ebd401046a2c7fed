/* k-permutation MinHash, equal to datasketch's, for those who have its signatures. Source:
 * datasketch's MinHash, whose numbers have been the same since 2017. */
#include <doppel/text.h>

#include <stdlib.h>

#include <nettle/sha1.h>

#include "core/bytes.h"
#include "text/twister.h"

enum { MAX_PERMUTATIONS = 4096 };

static const uint64_t PRIME = (UINT64_C(1) << 61) - 1;

struct permutation {
    uint64_t factor, summand;
};

struct doppel_datasketch {
    uint32_t count;
    struct permutation permutations[];
};

enum doppel_status doppel_datasketch_new(uint32_t permutations, uint32_t seed,
                                         struct doppel_datasketch **out, struct doppel_error *error)
{
    if (permutations < 1 || permutations > MAX_PERMUTATIONS)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%u permutations, but 1 to %d can be",
                           permutations, MAX_PERMUTATIONS);
    struct doppel_datasketch *sketch =
        malloc(sizeof *sketch + permutations * sizeof *sketch->permutations);
    if (!sketch)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %u permutations", permutations);
    struct twister twister;
    twister_seed(&twister, seed);
    sketch->count = permutations;
    for (uint32_t i = 0; i < permutations; i++) {
        sketch->permutations[i].factor = twister_between(&twister, 1, PRIME);
        sketch->permutations[i].summand = twister_between(&twister, 0, PRIME);
    }
    *out = sketch;
    return DOPPEL_OK;
}

void doppel_datasketch_free(struct doppel_datasketch *sketch)
{
    free(sketch);
}

void doppel_datasketch_clear(const struct doppel_datasketch *sketch, uint64_t *values)
{
    for (uint32_t i = 0; i < sketch->count; i++)
        values[i] = UINT32_MAX;
}

/* The product wraps at 2^64 there, before the prime is taken; so it must here. */
void doppel_datasketch_update(const struct doppel_datasketch *sketch, const void *token,
                              size_t size, uint64_t *values)
{
    struct sha1_ctx context;
    uint8_t digest[SHA1_DIGEST_SIZE];
    sha1_init(&context);
    sha1_update(&context, size, token);
    sha1_digest(&context, sizeof digest, digest);
    uint64_t hash = get_u32(digest);
    for (uint32_t i = 0; i < sketch->count; i++) {
        struct permutation permutation = sketch->permutations[i];
        uint64_t value = (permutation.factor * hash + permutation.summand) % PRIME & UINT32_MAX;
        values[i] = value < values[i] ? value : values[i];
    }
}
