/* vector_search FILE.f32 DIMENSION COSINE [QUERIES [SEGMENT]]: an index of vectors in a folder, and
 * how long one query takes, warm: by all, by cells, and of the nearest ten. The last vectors of the
 * file are the queries, and not in the index. Beside it the time that summing one row takes, for
 * all rows: what a scan of the floats would take at least. FILE "made": a million in 10 000
 * families. */
#include <doppel/index.h>
#include <doppel/vector.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MADE = 1000000, FAMILIES = 10000, DIRECTIONS = 64 };

struct rows_read {
    const struct doppel_vectors *vectors;
    size_t at;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t read_rows(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct rows_read *rows = context;
    const struct doppel_vectors *vectors = rows->vectors;
    const size_t words = (vectors->dimension + (size_t)1) / 2;
    size_t n = 0;
    for (; n < max && rows->at < vectors->count; n++, rows->at++) {
        codes[(n + 1) * words - 1] = 0;
        memcpy(codes + n * words, vectors->rows + rows->at * vectors->dimension,
               vectors->dimension * sizeof(float));
        payloads[n] = rows->at;
    }
    return n;
}

static void rewind_rows(void *context)
{
    ((struct rows_read *)context)->at = 0;
}

/* ---- made vectors: families whose members differ, in directions of falling importance ---- */

static float next_normal(uint64_t *seed)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (float)(*seed >> 40) / (float)(1 << 24) - .5F;
    }
    return sum * 1.732F;
}

static float *make_rows(size_t count, uint32_t dimension)
{
    uint64_t seed = 1;
    float *mix = malloc((size_t)DIRECTIONS * dimension * sizeof *mix);
    float *centres = malloc((size_t)FAMILIES * dimension * sizeof *centres);
    float *rows = malloc(count * dimension * sizeof *rows);
    for (size_t i = 0; i < (size_t)DIRECTIONS * dimension; i++)
        mix[i] = next_normal(&seed);
    for (size_t i = 0; i < FAMILIES; i++) {
        memset(centres + i * dimension, 0, dimension * sizeof *centres);
        for (size_t d = 0; d < DIRECTIONS; d++) {
            const float along = next_normal(&seed) / sqrtf((float)d + 1);
            for (uint32_t j = 0; j < dimension; j++)
                centres[i * dimension + j] += along * mix[d * dimension + j];
        }
    }
    for (size_t i = 0; i < count; i++) {
        const float *centre = centres + (size_t)((i * 7919) % FAMILIES) * dimension;
        const float off = .3F + (float)(i % 13) / 13;
        for (uint32_t j = 0; j < dimension; j++)
            rows[i * dimension + j] = centre[j] + off * 2 * next_normal(&seed);
    }
    free(mix);
    free(centres);
    return rows;
}

/* ---- searches ---- */

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static size_t time_queries(const struct doppel_index *index, const uint64_t *codes, size_t queries,
                           size_t words, struct doppel_index_request request, const char *name,
                           size_t all)
{
    double *took = calloc(queries, sizeof *took);
    struct doppel_index_counts counts = {0};
    size_t found = 0;
    request.count = 1;
    request.counts = &counts;
    for (int warm = 0; warm < 2; warm++) {
        found = 0;
        counts = (struct doppel_index_counts){0};
        for (size_t i = 0; i < queries; i++) {
            struct doppel_index_hit *hits;
            size_t count;
            request.queries = codes + i * words;
            const double begun = now_seconds();
            if (doppel_index_search_array(index, &request, &hits, &count, NULL))
                exit(2);
            took[i] = now_seconds() - begun;
            found += count;
            free(hits);
        }
    }
    qsort(took, queries, sizeof *took, compare_seconds);
    printf("%-22s median %.3f ms, 99 %% %.3f ms; %.1f found, of all %.4f; %.0f cells, %.0f "
           "candidates\n",
           name, 1e3 * took[queries / 2], 1e3 * took[queries * 99 / 100],
           (double)found / (double)queries, all ? (double)found / (double)all : 1,
           (double)counts.lookups / (double)queries, (double)counts.candidates / (double)queries);
    free(took);
    return found;
}

static enum doppel_status keep_segments(void *context, const char *const *names, size_t count,
                                        struct doppel_error *error)
{
    (void)context;
    (void)error;
    (void)names;
    (void)count;
    return DOPPEL_OK;
}

int main(int argc, char **argv)
{
    struct doppel_error error;
    if (argc < 4 || atoi(argv[2]) < 1)
        return fputs("vector_search FILE.f32|made DIMENSION COSINE [QUERIES]\n", stderr), 2;
    struct doppel_vectors vectors = {.dimension = (uint32_t)atoi(argv[2])};
    const size_t queries = argc > 4 ? strtoul(argv[4], NULL, 10) : 1000;
    if (strcmp(argv[1], "made") == 0) {
        vectors.count = MADE + queries;
        vectors.rows = make_rows(vectors.count, vectors.dimension);
    } else {
        struct stat file;
        int fd = open(argv[1], O_RDONLY);
        if (fd < 0 || fstat(fd, &file))
            return 2;
        vectors.count = (size_t)file.st_size / sizeof(float) / vectors.dimension;
        vectors.rows = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
    }
    vectors.count -= queries;
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_VECTORS;
    options.bits = 32 * vectors.dimension;
    char folder[] = "/var/tmp/doppel-vectors-XXXXXX";
    const struct doppel_index_files files = {.folder = mkdtemp(folder), .publish = keep_segments};
    struct rows_read rows = {&vectors, 0};
    const struct doppel_index_load load = {
        .count = vectors.count, .read = read_rows, .rewind = rewind_rows, .context = &rows};
    struct doppel_index *index;
    double begun = now_seconds();
    if (doppel_index_open(&options, &files, &index, &error) ||
        doppel_index_bulk(index, &load, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%zu vectors of %u dimensions: built in %.1f s, %.0f bytes a vector\n", vectors.count,
           vectors.dimension, now_seconds() - begun,
           (double)doppel_index_info(index).bytes / (double)vectors.count);
    volatile float sum = 0;
    begun = now_seconds();
    for (size_t i = 0; i + 1 < vectors.count; i++)
        sum += doppel_vector_cosine(vectors.rows, vectors.rows + i * vectors.dimension,
                                    vectors.dimension);
    printf("the floats, one after the other: %.1f ms\n", 1e3 * (now_seconds() - begun));
    const size_t words = (vectors.dimension + (size_t)1) / 2;
    uint64_t *codes = calloc(queries * words, sizeof *codes), *payloads = calloc(queries, 8);
    struct doppel_vectors asked = {vectors.rows + vectors.count * vectors.dimension, queries,
                                   vectors.dimension};
    rows = (struct rows_read){&asked, 0};
    read_rows(&rows, codes, payloads, queries);
    struct doppel_index_request request = {
        .radius = doppel_index_distance_of_cosine((float)atof(argv[3]))};
    const size_t all = time_queries(index, codes, queries, words, request, "all", 0);
    request.recall = .99F;
    time_queries(index, codes, queries, words, request, "by cells, .99", all);
    request.radius = DOPPEL_INDEX_DISTANCE_MOST;
    request.nearest = 10;
    request.recall = 0;
    time_queries(index, codes, queries, words, request, "nearest 10 of all", 0);
    request.recall = .99F;
    time_queries(index, codes, queries, words, request, "nearest 10 by cells", 0);
    doppel_index_free(index);
    free(codes);
    free(payloads);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0;
}
