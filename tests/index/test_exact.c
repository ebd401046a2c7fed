/* Every width, radius, shape and kernel: the index answers as the linear scan of model.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "core/cpu.h"
#include "index/model.h"

enum { QUERIES = 4, MAX_WORDS = 4 };

static const uint32_t widths[] = {32, 64, 128, 256};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* An index and its model, filled alike. */
struct pair {
    struct model model;
    struct doppel_index *index;
    uint64_t state, queries[QUERIES * MAX_WORDS];
};

enum residence { IN_HEAD, IN_SEGMENT, IN_MANY };

/* Payloads: every code its own, but every fifth the one before it; some need 64 bits. */
static void fill(struct pair *pair, enum shape shape, size_t count, enum residence residence)
{
    size_t words = pair->model.words, piece = residence == IN_MANY ? count / 3 + 1 : count + 1;
    uint64_t *codes = malloc((count + 1) * words * sizeof *codes);
    uint64_t *payloads = malloc((count + 1) * sizeof *payloads);
    assert_true(codes && payloads);
    model_codes(&pair->model, shape, count, &pair->state, codes);
    for (size_t i = 0; i < count; i++)
        payloads[i] = (i - (i % 5 == 4)) * (i % 2 ? 1 : 0x100000001u);
    model_insert(&pair->model, codes, payloads, count);
    for (size_t from = 0; from < count; from += piece) {
        size_t some = count - from < piece ? count - from : piece;
        assert_int_equal(
            doppel_index_insert(pair->index, codes + from * words, payloads + from, some, NULL),
            DOPPEL_OK);
        if (residence != IN_HEAD)
            assert_int_equal(doppel_index_flush(pair->index, NULL), DOPPEL_OK);
    }
    free(codes);
    free(payloads);
    model_queries(&pair->model, shape, QUERIES, &pair->state, pair->queries);
}

static struct pair make(struct doppel_index_options options, enum shape shape, size_t count,
                        enum residence residence)
{
    struct pair pair = {.model = model_new(&options), .state = count * 31 + shape};
    assert_int_equal(doppel_index_new(&options, &pair.index, NULL), DOPPEL_OK);
    fill(&pair, shape, count, residence);
    assert_int_equal(doppel_index_count(pair.index), count);
    return pair;
}

static void drop(struct pair *pair)
{
    doppel_index_free(pair->index);
    model_free(&pair->model);
}

static void check(const struct pair *pair, uint32_t radius, size_t nearest)
{
    struct doppel_index_request request = {
        .queries = pair->queries, .count = QUERIES, .radius = radius, .nearest = nearest};
    check_request(pair->index, &pair->model, &request);
}

static struct doppel_index_options options_of(uint32_t bits)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = bits;
    return options;
}

/* ---- few codes, every radius ---- */

static void test_every_radius_of_few(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 65};
    for (size_t width = 0; width < WIDTHS; width++)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
                for (enum residence in = IN_HEAD; in <= IN_MANY; in++) {
                    struct pair pair = make(options_of(widths[width]), shape, sizes[size], in);
                    for (uint32_t r = 0; r <= widths[width]; r += r < 70 ? 1 + (uint32_t)in : 37)
                        check(&pair, r, 0);
                    for (size_t k = 1; k < 100; k = 2 * k + 1)
                        check(&pair, widths[width], k);
                    drop(&pair);
                }
}

/* ---- tables ---- */

static void check_table(const struct pair *pair, uint32_t step)
{
    uint32_t bits = pair->model.options.bits;
    for (uint32_t r = 0; r <= bits; r += r < 16 ? step : bits / 6)
        check(pair, r, 0);
    check(pair, bits, 0);
    for (size_t k = 1; k < 2 * pair->model.payloads.count; k = 9 * k + 1)
        check(pair, bits, k);
    check(pair, bits / 8, 7);
}

static void test_tables(void **state)
{
    (void)state;
    for (size_t width = 0; width < WIDTHS; width++)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (uint32_t way = 0; way < 4; way++) {
                struct doppel_index_options options = options_of(widths[width]);
                options.design_radius = way < 2 ? widths[width] / 8 : 2;
                options.compact = way % 2;
                struct pair pair =
                    make(options, shape, 2100 + 700 * shape, way ? IN_SEGMENT : IN_MANY);
                check_table(&pair, 3);
                drop(&pair);
            }
}

/* Where chunks and kernels differ: portable first, whose answers the others have to give too. */
static void test_every_kernel(void **state)
{
    (void)state;
    static const uint32_t masks[] = {0, CPU_AVX2, CPU_AVX512_POPCNT, CPU_AVX2 | CPU_AVX512_POPCNT};
    for (size_t mask = 0; mask < sizeof masks / sizeof *masks; mask++)
        for (size_t width = 0; width < WIDTHS; width++)
            for (enum residence in = IN_HEAD; in <= IN_SEGMENT; in++) {
                struct doppel_index_options options = options_of(widths[width]);
                options.compact = mask % 2;
                cpu_mask(masks[mask]);
                struct pair pair = make(options, mask % 2 ? SKEWED : UNIFORM, 2500, in);
                check_table(&pair, 4);
                drop(&pair);
            }
    cpu_mask(UINT32_MAX);
}

/* A table made with one kernel is read with another. */
static void test_kernels_meet(void **state)
{
    (void)state;
    for (size_t width = 0; width < WIDTHS; width++)
        for (int made_with = 0; made_with < 2; made_with++) {
            cpu_mask(made_with ? UINT32_MAX : 0);
            struct pair pair = make(options_of(widths[width]), SKEWED, 3000, IN_SEGMENT);
            cpu_mask(made_with ? 0 : UINT32_MAX);
            check_table(&pair, 5);
            drop(&pair);
        }
    cpu_mask(UINT32_MAX);
}

/* 20 000 codes: chunks of other sizes than those of 2 500. */
static void test_larger(void **state)
{
    (void)state;
    for (size_t width = 0; width < WIDTHS; width++)
        for (enum shape shape = UNIFORM; shape <= SKEWED; shape++) {
            struct pair pair = make(options_of(widths[width]), shape, 20000, IN_SEGMENT);
            for (uint32_t r = 0; r <= widths[width] / 4; r += widths[width] / 16)
                check(&pair, r, 0);
            check(&pair, widths[width], 12);
            drop(&pair);
        }
}

/* Write what lies in the folder to the disk, and take it out of memory. */
static void put_out_of_memory(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fdatasync(fd), 0);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* Buckets, and what passes, are read ahead where they are not in memory. */
static void test_from_the_disk(void **state)
{
    (void)state;
    for (size_t width = 0; width < WIDTHS; width++) {
        char folder[] = "/tmp/doppel-exact-XXXXXX", path[600];
        struct doppel_index_options options = options_of(widths[width]);
        options.compact = width % 2;
        struct pair pair = {.model = model_new(&options), .state = width};
        const char *const *names;
        size_t count;
        assert_non_null(mkdtemp(folder));
        struct doppel_index_files files = {.folder = folder};
        assert_int_equal(doppel_index_open(&options, &files, &pair.index, NULL), DOPPEL_OK);
        fill(&pair, UNIFORM, 20000, IN_SEGMENT);
        assert_int_equal(doppel_index_names(pair.index, &names, &count, NULL), DOPPEL_OK);
        files.names = names;
        files.count = count;
        doppel_index_free(pair.index);
        for (uint32_t r = widths[width] / 4; r; r /= 2) {
            for (size_t i = 0; i < count; i++)
                put_out_of_memory(folder, names[i]);
            assert_int_equal(doppel_index_open(&options, &files, &pair.index, NULL), DOPPEL_OK);
            check(&pair, r, 0);
            doppel_index_free(pair.index);
        }
        for (size_t i = 0; i < count; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            unlink(path);
        }
        rmdir(folder);
        free((void *)names);
        model_free(&pair.model);
    }
}

/* Of linear tables a single query has the codes in shares, one thread after the other. */
static void test_one_query_in_shares(void **state)
{
    (void)state;
    for (uint32_t bits = 64; bits <= 256; bits *= 4) {
        struct doppel_index_options options = options_of(bits);
        options.design_radius = bits / 2;
        struct pair pair = make(options, UNIFORM, 270000, IN_MANY);
        for (uint64_t i = 0; i < 8; i++) {
            const uint64_t payload = i * 20000 * 0x100000001u;
            assert_int_equal(doppel_index_remove(pair.index, &payload, 1, NULL), DOPPEL_OK);
            model_remove(&pair.model, payload);
        }
        const struct doppel_index_request request = {
            .queries = pair.queries, .count = 1, .radius = bits * 3 / 8, .threads = 3};
        check_request(pair.index, &pair.model, &request);
        drop(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_radius_of_few),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_every_kernel),
        cmocka_unit_test(test_kernels_meet),
        cmocka_unit_test(test_larger),
        cmocka_unit_test(test_from_the_disk),
        cmocka_unit_test(test_one_query_in_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
