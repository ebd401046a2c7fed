/* vector_join FILE.f32 DIMENSION COSINE [exact|cells [THREADS [VECTORS]]]: all pairs of a file of
 * floats; what it took, beside how long its floats take to be summed once. */
#include <doppel/vector.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static bool count_pairs(void *context, const struct doppel_vector_pair *pairs, size_t count)
{
    (void)pairs;
    *(uint64_t *)context += count;
    return true;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* MB of memory that no file is behind. */
static double private_memory(void)
{
    char line[256];
    double most = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %lf", &most) == 1)
            break;
    if (file)
        fclose(file);
    return most / 1024;
}

static double memory;

static void note_memory(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    const double now = done * 2 > total ? private_memory() : 0;
    memory = now > memory ? now : memory;
}

int main(int argc, char **argv)
{
    struct stat file;
    uint64_t count = 0;
    int fd = argc > 3 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &file) || atoi(argv[2]) < 1) {
        fputs("vector_join FILE.f32 DIMENSION COSINE [exact|cells [THREADS [VECTORS]]]\n", stderr);
        return 2;
    }
    struct doppel_vectors vectors = {.dimension = (uint32_t)atoi(argv[2])};
    vectors.count = (size_t)file.st_size / sizeof(float) / vectors.dimension;
    if (argc > 6 && vectors.count > strtoul(argv[6], NULL, 10))
        vectors.count = strtoul(argv[6], NULL, 10);
    vectors.rows = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (vectors.rows == MAP_FAILED)
        return 2;
    struct doppel_vector_join_options options = doppel_vector_join_options_default();
    options.min_cosine = (float)atof(argv[3]);
    options.exact = argc > 4 && strcmp(argv[4], "exact") == 0;
    options.threads = argc > 5 ? (uint32_t)atoi(argv[5]) : 1;
    options.progress = note_memory;
    volatile float sum = 0;
    const double begun = cpu_seconds();
    for (size_t i = 0; i + 1 < vectors.count; i++)
        sum += doppel_vector_cosine(vectors.rows + i * vectors.dimension,
                                    vectors.rows + (i + 1) * vectors.dimension, vectors.dimension);
    const double summed = cpu_seconds();
    struct doppel_vector_join_stats stats;
    struct doppel_error error;
    if (doppel_vectors_join(&vectors, &options, count_pairs, &count, &stats, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const double joined = cpu_seconds() - summed, each = (double)vectors.count;
    printf("%zu vectors of %u, cosine %s, %s: CPU %.2f s, %.0f x the cosines of neighbours; "
           "%" PRIu64 " pairs; %u cells, %u visited; %.3g compared and %.3g candidates a vector; "
           "private memory %.0f bytes a vector\n",
           vectors.count, vectors.dimension, argv[3], options.exact ? "exact" : "by cells", joined,
           joined / (summed - begun), count, stats.cells, stats.probes,
           (double)stats.compared / each, (double)stats.candidates / each, memory * 1048576 / each);
    return 0;
}
