/* faiss_ask make flat|ivf HEX_LIST INDEX: make an index of 256-bit codes in a file.
 * faiss_ask ask RADIUS CODE INDEX: what a process pays that asks it once: load, and one search. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <faiss/Index.h>
#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryIVF.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/index_io.h>

enum { BITS = 256, BYTES = BITS / 8, LISTS = 1024, TRAINING = 32 * LISTS };

static void decode(const char *hex, uint8_t *out)
{
    for (int i = 0; i < BYTES; i++) {
        const std::string byte(hex + 2 * i, 2);
        out[i] = (uint8_t)std::strtoul(byte.c_str(), nullptr, 16);
    }
}

static int make(const char *kind, const char *list, const char *path)
{
    std::vector<uint8_t> codes;
    char line[128];
    FILE *file = std::fopen(list, "r");
    if (!file)
        return 2;
    while (std::fgets(line, sizeof line, file)) {
        codes.resize(codes.size() + BYTES);
        decode(line, codes.data() + codes.size() - BYTES);
    }
    std::fclose(file);
    const auto count = (faiss::Index::idx_t)(codes.size() / BYTES);
    faiss::IndexBinaryFlat flat(BITS);
    faiss::IndexBinaryIVF ivf(&flat, BITS, LISTS);
    if (std::strcmp(kind, "flat") == 0) {
        flat.add(count, codes.data());
        faiss::write_index_binary(&flat, path);
        return 0;
    }
    ivf.train(count < TRAINING ? count : TRAINING, codes.data());
    ivf.add(count, codes.data());
    faiss::write_index_binary(&ivf, path);
    return 0;
}

static int ask(int radius, const char *code, const char *path)
{
    uint8_t query[BYTES];
    decode(code, query);
    std::unique_ptr<faiss::IndexBinary> index(faiss::read_index_binary(path));
    if (auto *ivf = dynamic_cast<faiss::IndexBinaryIVF *>(index.get())) {
        /* No search by radius without looking at all lists: the nearest of 16 lists. */
        int32_t distance;
        faiss::Index::idx_t label;
        ivf->nprobe = 16;
        ivf->search(1, query, 1, &distance, &label);
        std::printf("%d\n", label >= 0 && distance <= radius);
        return 0;
    }
    faiss::RangeSearchResult result(1);
    index->range_search(1, query, radius + 1, &result);
    std::printf("%zu\n", (size_t)result.lims[1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    return std::strcmp(argv[1], "make") == 0 ? make(argv[2], argv[3], argv[4])
                                             : ask(std::atoi(argv[2]), argv[3], argv[4]);
}
