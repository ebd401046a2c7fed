// Peers: Debian's FAISS: IndexBinaryFlat, and IndexBinaryMultiHash with a hash for every 16 bits.
#include <memory>

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <omp.h>

#include "index/index_bench.h"

struct peer {
    const struct codes *codes;
    std::unique_ptr<faiss::IndexBinary> index;
    faiss::IndexBinaryMultiHash *multi; // the same, or nothing
};

static void search(void *self, const uint64_t *query, uint32_t radius, hit_array *out)
{
    auto *peer = static_cast<struct peer *>(self);
    faiss::RangeSearchResult result(1);
    if (peer->multi)
        peer->multi->nflip = static_cast<int>(radius) / peer->multi->nhash;
    // It finds what is nearer than the radius.
    peer->index->range_search(1, reinterpret_cast<const uint8_t *>(query),
                              static_cast<int>(radius) + 1, &result);
    for (size_t i = 0; i < result.lims[1]; i++) {
        doppel_index_hit hit = {peer->codes->payloads[result.labels[i]],
                                static_cast<uint32_t>(result.distances[i]), 0};
        if (array_grow(reinterpret_cast<void **>(&out->items), out->count, &out->capacity,
                       sizeof *out->items))
            out->items[out->count++] = hit;
    }
}

static void release(void *self)
{
    delete static_cast<struct peer *>(self);
}

static finder start(const char *name, const struct codes *codes, faiss::IndexBinary *index,
                    faiss::IndexBinaryMultiHash *multi)
{
    omp_set_num_threads(1);
    auto *made = new peer{codes, std::unique_ptr<faiss::IndexBinary>(index), multi};
    double begun = thread_seconds();
    index->add(static_cast<faiss::IndexBinary::idx_t>(codes->count),
               reinterpret_cast<const uint8_t *>(codes->codes));
    finder result = {};
    result.name = name;
    result.self = made;
    result.search = search;
    result.free = release;
    result.build_seconds = thread_seconds() - begun;
    return result;
}

finder finder_faiss_flat(const struct codes *codes)
{
    auto *index = new faiss::IndexBinaryFlat(static_cast<faiss::IndexBinary::idx_t>(codes->bits));
    return start("FAISS Flat", codes, index, nullptr);
}

finder finder_faiss_multi(const struct codes *codes)
{
    int bits = static_cast<int>(codes->bits);
    auto *index = new faiss::IndexBinaryMultiHash(bits, bits / 16, 16);
    return start("FAISS MultiHash", codes, index, index);
}
