/* The machine's limits, measured: what no index can be faster than. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"
#include "index/scan.h"

enum { LINES_LOG2 = 24, LINE_WORDS = 8, AHEAD = 20, TOUCHES = 1 << 23 };

static volatile uint64_t sink;

static double line_ns(const uint64_t *memory)
{
    const uint64_t mask = ((uint64_t)1 << LINES_LOG2) - 1;
    uint64_t state = 5, sum = 0, ring[32];
    for (size_t i = 0; i < 32; i++)
        ring[i] = random_word(&state) & mask;
    double start = thread_seconds();
    for (size_t i = 0; i < TOUCHES; i++) {
        uint64_t next = random_word(&state) & mask;
        __builtin_prefetch(memory + next * LINE_WORDS);
        sum += memory[ring[i % 32] * LINE_WORDS];
        ring[(i + AHEAD) % 32] = next;
    }
    double spent = thread_seconds() - start;
    sink += sum;
    return spent * 1e9 / TOUCHES;
}

static double stream_gb_s(const uint64_t *memory)
{
    const size_t words = (size_t)LINE_WORDS << LINES_LOG2;
    uint64_t sum[32] = {0};
    double start = thread_seconds();
    for (size_t i = 0; i < words; i += 32)
        for (size_t lane = 0; lane < 32; lane++)
            sum[lane] += memory[i + lane];
    double spent = thread_seconds() - start;
    for (size_t lane = 0; lane < 32; lane++)
        sink += sum[lane];
    return (double)words * sizeof *memory / spent * 1e-9;
}

/* Nanoseconds a 64-bit code, `groups` at a time, through all the memory or always the same. */
static double scan_ns(const uint64_t *memory, bool cached)
{
    enum { GROUPS = 256, ROUNDS = 1 << 14 };
    static struct scan_hit hits[GROUPS * SCAN_GROUP];
    scan_kernel *kernel = scan_choose(64);
    uint64_t query = 0x5555555555555555u;
    double start = thread_seconds();
    for (size_t round = 0; round < ROUNDS; round++)
        sink +=
            kernel(memory + (cached ? 0 : round * GROUPS * SCAN_GROUP), GROUPS, &query, 8, hits);
    return (thread_seconds() - start) * 1e9 / ((double)ROUNDS * GROUPS * SCAN_GROUP);
}

struct machine machine_measure(void)
{
    struct machine machine;
    size_t words = (size_t)LINE_WORDS << LINES_LOG2;
    uint64_t state = 3, *memory = need(aligned_alloc(64, words * sizeof *memory));
    for (size_t i = 0; i < words; i++)
        memory[i] = random_word(&state);
    machine.line_ns = line_ns(memory);
    machine.stream_gb_s = stream_gb_s(memory);
    machine.scan_ns = scan_ns(memory, false);
    machine.scan_cached_ns = scan_ns(memory, true);
    free(memory);
    return machine;
}

void machine_print(const struct machine *machine)
{
    printf(
        "machine, one thread: a random cache line of 1 GiB, prefetched, %.1f ns; reading in order "
        "%.1f GB/s;\nlinear scan of 64-bit codes %.3f ns a code from memory, %.3f from L1; "
        "reading the clock %.0f ns (taken off)\n",
        machine->line_ns, machine->stream_gb_s, machine->scan_ns, machine->scan_cached_ns,
        clock_cost() * 1e9);
}

static double ball(uint32_t bits, uint32_t radius)
{
    double sum = 0, ways = 1;
    for (uint32_t i = 0; i <= radius && i <= bits; i++) {
        sum += ways;
        ways = ways * (bits - i) / (i + 1);
    }
    return sum;
}

/* With `chunks` chunks of which `prefix` bits choose the bucket. */
static double lines_with(size_t count, uint32_t radius, uint32_t chunks, uint32_t prefix)
{
    double codes_a_bucket = (double)count / (double)((uint64_t)1 << prefix);
    double lines_a_bucket = codes_a_bucket / 15 > 1 ? codes_a_bucket / 15 : 1;
    double lookups = 0;
    int shares = (int)radius - (int)chunks + 1;
    for (uint32_t i = 0; i < chunks; i++) {
        int share = (shares + (int)i) / (int)chunks; /* spread evenly */
        if (shares + (int)i >= 0)
            lookups += ball(prefix, (uint32_t)share);
    }
    return lookups * lines_a_bucket;
}

double machine_lines(size_t count, uint32_t radius)
{
    double least = (double)count / 8; /* all of them, in order */
    for (uint32_t chunks = 1; chunks <= 8; chunks++)
        for (uint32_t prefix = 8; prefix <= 28 && prefix * chunks <= 64; prefix++) {
            double lines = lines_with(count, radius, chunks, prefix);
            least = lines < least ? lines : least;
        }
    return least;
}
