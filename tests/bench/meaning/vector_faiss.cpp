/* vector_faiss MODELS MODEL [VECTORS [SHARE]]: all pairs of vectors whose cosine is .9 or more, by
 * doppel_vectors_join and by FAISS (IndexIVFFlat, 1024 lists, inner product, range_search), which
 * visits as few lists as give it a recall of .99, which is what the join promises; and one
 * vector's. CPU seconds, one thread each, in one run. FAISS is asked for a share of the vectors,
 * one in SHARE (8), and its time multiplied. Run it with OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <faiss/IndexFlat.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <omp.h>

#include <doppel/vector.h>

#include "made_vectors.h"

namespace
{
constexpr float least = 0.9F;
constexpr double wanted_recall = 0.99;
constexpr size_t checked = 500; // vectors, compared with all

double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/* Of every so many-th vector: those near it. */
struct checked_pairs {
    const doppel_vectors *vectors;
    size_t step, true_pairs = 0;
    uint64_t joined = 0, found = 0;
};

bool count_joined(void *context, const doppel_vector_pair *pairs, size_t count)
{
    auto *check = static_cast<checked_pairs *>(context);
    check->joined += count;
    for (size_t i = 0; i < count; i++)
        check->found += (pairs[i].a % check->step == 0) + (pairs[i].b % check->step == 0);
    return true;
}

void count_true_pairs(checked_pairs &check)
{
    const doppel_vectors &all = *check.vectors;
    for (size_t i = 0; i < all.count; i += check.step)
        for (size_t j = 0; j < all.count; j++)
            check.true_pairs += j != i && doppel_vector_cosine(all.rows + i * all.dimension,
                                                               all.rows + j * all.dimension,
                                                               all.dimension) >= least;
}

void run_doppel(checked_pairs &check)
{
    doppel_vector_join_options options = doppel_vector_join_options_default();
    doppel_vector_join_stats stats;
    doppel_error error;
    options.min_cosine = least;
    options.threads = 1;
    const double begun = cpu_seconds();
    if (doppel_vectors_join(check.vectors, &options, count_joined, &check, &stats, &error)) {
        std::fprintf(stderr, "%s\n", error.message);
        std::exit(1);
    }
    std::printf("doppel_vectors_join: CPU %.1f s, %llu pairs, %u cells, %u visited; recall %.4f\n",
                cpu_seconds() - begun, static_cast<unsigned long long>(check.joined), stats.cells,
                stats.probes, double(check.found) / double(check.true_pairs));
    std::fflush(stdout);
}

/* Every so many-th vector's, itself not counted. */
uint64_t search_faiss(const faiss::IndexIVFFlat &index, const doppel_vectors &all, size_t step)
{
    std::vector<float> queries;
    for (size_t i = 0; i < all.count; i += step)
        queries.insert(queries.end(), all.rows + i * all.dimension,
                       all.rows + (i + 1) * all.dimension);
    const size_t count = queries.size() / all.dimension;
    faiss::RangeSearchResult result(count);
    index.range_search(faiss::Index::idx_t(count), queries.data(), least, &result);
    return result.lims[count] - count;
}

void run_faiss(const checked_pairs &check, size_t share)
{
    const doppel_vectors &all = *check.vectors;
    faiss::IndexFlatIP quantizer(all.dimension);
    faiss::IndexIVFFlat index(&quantizer, all.dimension, 1024, faiss::METRIC_INNER_PRODUCT);
    const double begun = cpu_seconds();
    index.train(std::min<faiss::Index::idx_t>(all.count, 50000), all.rows);
    index.add(faiss::Index::idx_t(all.count), all.rows);
    const double built = cpu_seconds() - begun;
    double got = 0;
    for (index.nprobe = 1; index.nprobe <= 1024; index.nprobe += 1 + index.nprobe / 8) {
        got = double(search_faiss(index, all, check.step)) / double(check.true_pairs);
        if (got >= wanted_recall)
            break;
    }
    faiss::indexIVF_stats.reset();
    const double before = cpu_seconds();
    search_faiss(index, all, share);
    const double searched = double(share) * (cpu_seconds() - before);
    std::printf("FAISS IVF1024: CPU %.1f s to build, %.1f s to search (of 1 in %zu, multiplied); "
                "%zu lists visited, %.0f vectors compared for each; recall %.4f\n",
                built, searched, share, index.nprobe,
                double(faiss::indexIVF_stats.ndis) / double(faiss::indexIVF_stats.nq), got);
    const double one = cpu_seconds();
    search_faiss(index, all, check.step);
    std::printf("FAISS, one vector: %.3f ms\n",
                1e3 * (cpu_seconds() - one) / (double(all.count) / double(check.step)));
}
} // namespace

int main(int count, char **arguments)
{
    if (count < 3) {
        std::fputs("vector_faiss MODELS MODEL [VECTORS [SHARE]]\n", stderr);
        return 2;
    }
    doppel_vectors vectors = {};
    vectors.count = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 1000000;
    float *rows = made_vectors(arguments[1], arguments[2], &vectors.count, &vectors.dimension);
    vectors.rows = rows;
    omp_set_num_threads(1);
    std::printf("%zu vectors of %u dimensions, cosine %.1f; Debian's FAISS is built without AVX2\n",
                vectors.count, vectors.dimension, double(least));
    std::fflush(stdout);
    checked_pairs check = {&vectors, std::max<size_t>(vectors.count / checked, 1)};
    count_true_pairs(check);
    run_doppel(check);
    run_faiss(check, count > 4 ? std::strtoul(arguments[4], nullptr, 10) : 8);
    std::free(rows);
    return 0;
}
