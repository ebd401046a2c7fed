/*
 * The join of codes: seconds and bytes a code, beside the time of comparing all with all as far as
 * the kernel goes.
 *
 *     index_join [CODES [THREADS]]
 *
 * Uniform codes; skewed ones: correlated bits, a fifth in clusters of near-duplicates, .5 % equal
 * to another; two sides at a wide radius, as pictures are matched.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "index/code_list.h"
#include "index/codes.h"

/* Bits in pairs agree three times of four; a fifth of the codes are near another, some equal. */
static void skew(struct list *list, uint64_t *state)
{
    for (size_t i = 0; i < list->count * list->words; i++) {
        uint64_t word = list->codes[i], even = word & 0x5555555555555555u;
        uint64_t same = random_word(state) | random_word(state);
        list->codes[i] = even | (((even << 1) ^ ~same) & 0xaaaaaaaaaaaaaaaau);
    }
    for (size_t i = 1; i < list->count; i++) {
        uint64_t fate = random_word(state) % 1000, *code = list->codes + i * list->words;
        if (fate >= 205)
            continue;
        size_t model = fate < 5 ? i / 1000 * 1000 : i - i % 20;
        memmove(code, list->codes + model * list->words, list->words * sizeof *code);
        for (uint64_t flips = fate < 5 ? 0 : random_word(state) % 9; flips > 0; flips--) {
            uint64_t bit = random_word(state) % (64 * list->words);
            code[bit / 64] ^= UINT64_C(1) << bit % 64;
        }
    }
}

static struct list *make_list(size_t count, size_t words, bool skewed, uint64_t state)
{
    struct list *list = list_new(count, words);
    if (!list)
        exit(2);
    for (size_t i = 0; i < count * words; i++)
        list->codes[i] = random_word(&state);
    if (skewed)
        skew(list, &state);
    return list;
}

static bool count_pairs(void *context, const struct doppel_index_pair *pairs, size_t count)
{
    (void)pairs;
    *(uint64_t *)context += count;
    return true;
}

static void measure(const char *name, const struct doppel_index_pairing *pairing)
{
    uint64_t pairs = 0;
    struct doppel_error error;
    double before = bench_memory("status", "VmHWM:"), wall = bench_seconds(CLOCK_MONOTONIC);
    double cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (doppel_index_pair_up(pairing, count_pairs, &pairs, &error)) {
        fprintf(stderr, "index_join: %s\n", error.message);
        exit(2);
    }
    wall = bench_seconds(CLOCK_MONOTONIC) - wall;
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double codes = (double)pairing->left->count;
    codes += pairing->right ? (double)pairing->right->count : 0;
    printf("%-28s r=%-3u %8.3f s, CPU %8.3f s, %12" PRIu64 " pairs, peak +%.1f bytes a code\n",
           name, pairing->radius, wall, cpu, pairs,
           (bench_memory("status", "VmHWM:") - before) / codes);
}

static void measure_self(const char *name, size_t count, uint32_t bits, uint32_t radius,
                         bool skewed, uint32_t threads)
{
    struct list *list = make_list(count, bits / 64, skewed, 7);
    struct doppel_index_pairing pairing = {bits, radius, &list->face, .threads = threads};
    measure(name, &pairing);
    list_free(list);
}

int main(int argument_count, char **arguments)
{
    size_t count = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 1000000;
    uint32_t threads = argument_count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%zu codes, %u threads\n", count, threads);
    measure_self("64 bits, uniform", count, 64, 8, false, threads);
    measure_self("64 bits, skewed", count, 64, 8, true, threads);
    measure_self("64 bits, uniform", count, 64, 3, false, threads);
    measure_self("64 bits, uniform", count, 64, 12, false, threads);
    if (count <= 2000000) {
        measure_self("256 bits, uniform", count, 256, 31, false, threads);
        struct list *left = make_list(count * 38 / 100, 1, true, 1);
        struct list *right = make_list(count, 1, true, 2);
        struct doppel_index_pairing pairing = {64, 16, &left->face, &right->face,
                                               .threads = threads};
        measure("64 bits, skewed, two sides", &pairing);
        list_free(left);
        list_free(right);
    }
    return 0;
}
