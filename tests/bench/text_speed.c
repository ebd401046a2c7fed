/* How fast texts are read into each sketch, one core, CPU time, against what the machine can do and
 * against the formulas of others: text_speed [HALF [DIR...]]. Documents of one half of the packages
 * are reported, the other half (1) is for tuning. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/text.h>

#include "bench.h"
#include "core/cpu.h"
#include "debian_text.h"

enum { LIMIT_BYTES = 64 << 20, ROUNDS = 5, PEER_BYTES = 1 << 20, PERMUTATIONS = 128 };

typedef uint64_t read_one(void *context, const char *bytes, size_t size);

/* MB/s: the best of some rounds over all texts. */
static double measure(const struct debian_text *texts, read_one *read, void *context, int rounds)
{
    static volatile uint64_t sink;
    double best = 1e9;
    for (int round = 0; round < rounds; round++) {
        double begin = bench_now().cpu;
        for (size_t i = 0; i < texts->count; i++)
            sink += read(context, texts->bytes + texts->starts[i],
                         texts->starts[i + 1] - texts->starts[i]);
        double seconds = bench_now().cpu - begin;
        best = seconds < best ? seconds : best;
    }
    return (double)texts->size / best / 1e6;
}

/* ---- limits and peers ---- */

static uint64_t copy(void *context, const char *bytes, size_t size)
{
    memcpy(context, bytes, size);
    return *(unsigned char *)context;
}

static uint64_t count_words(void *context, const char *bytes, size_t size)
{
    uint64_t words = 0;
    bool inside = false;
    (void)context;
    for (size_t i = 0; i < size; i++) {
        bool letter = !isspace((unsigned char)bytes[i]);
        words += letter && !inside;
        inside = letter;
    }
    return words;
}

/* The core of a k-permutation MinHash as rensa's is: each hash, 128 times multiply, add, shift. */
static uint64_t permute(void *context, const char *bytes, size_t size)
{
    struct doppel_text_result result;
    doppel_text_read(context, bytes, size, DOPPEL_TEXT_SHINGLES, &result, NULL);
    uint32_t least[PERMUTATIONS];
    memset(least, 0xff, sizeof least);
    for (size_t i = 0; i < result.shingle_count; i++)
        for (uint32_t k = 0; k < PERMUTATIONS; k++) {
            uint64_t factor = 0x9e3779b97f4a7c15 * (2 * k + 1);
            uint32_t value = (uint32_t)((factor * result.shingles[i] + k) >> 32);
            least[k] = value < least[k] ? value : least[k];
        }
    return least[0] ^ least[PERMUTATIONS - 1];
}

/* Write the documents of about PEER_BYTES, a NUL after each; how many bytes they have. */
static size_t write_documents(const struct debian_text *texts, FILE *out)
{
    size_t size = 0, step = texts->size / PEER_BYTES + 1;
    for (size_t i = 0; i < texts->count; i += step) {
        size_t bytes = texts->starts[i + 1] - texts->starts[i];
        fwrite(texts->bytes + texts->starts[i], 1, bytes, out);
        fputc(0, out);
        size += bytes;
    }
    return size;
}

/* MB/s of datasketch's formula in numpy; 0 when there is none. */
static double datasketch_speed(const struct debian_text *texts)
{
    char path[] = "/tmp/text_speed.XXXXXX", command[512];
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file)
        return 0;
    size_t size = write_documents(texts, file);
    fclose(file);
    snprintf(command, sizeof command, "/usr/bin/python3 %s < %s 2>/dev/null", DATASKETCH_FORMULA,
             path);
    FILE *peer = popen(command, "r");
    double seconds = 0;
    bool told = peer && fscanf(peer, "%lf", &seconds) == 1;
    if (peer)
        pclose(peer);
    unlink(path);
    return told ? (double)size / seconds / 1e6 : 0;
}

/* ---- what is measured ---- */

struct sketch {
    const char *name;
    unsigned want;
    enum doppel_text_unit unit;
    uint32_t lanes;
    double goal, aim; /* GB/s */
};

static const struct sketch sketches[] = {
    {"normalise alone", 0, DOPPEL_TEXT_WORDS, 128, 0, 0},
    {"5 words, OPH-128", DOPPEL_TEXT_MINHASH, DOPPEL_TEXT_WORDS, 128, 1.5, 2},
    {"5 words, OPH-256", DOPPEL_TEXT_MINHASH, DOPPEL_TEXT_WORDS, 256, 1.2, 0},
    {"5 words, SimHash-64", DOPPEL_TEXT_SIMHASH, DOPPEL_TEXT_WORDS, 128, 2.1, 2.6},
    {"5 characters, OPH-128", DOPPEL_TEXT_MINHASH, DOPPEL_TEXT_CHARACTERS, 128, 1.1, 1.5},
    {"5 words, sorted set", DOPPEL_TEXT_SHINGLES, DOPPEL_TEXT_WORDS, 128, 0, 0},
    {"digest alone", DOPPEL_TEXT_DIGEST, DOPPEL_TEXT_WORDS, 128, 0, 0},
    {"5 words, OPH-128, digest", DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_DIGEST, DOPPEL_TEXT_WORDS, 128,
     0, 0},
};

struct reader {
    struct doppel_text *text;
    unsigned want;
};

static uint64_t read_text(void *context, const char *bytes, size_t size)
{
    struct reader *reader = context;
    struct doppel_text_result result;
    doppel_text_read(reader->text, bytes, size, reader->want, &result, NULL);
    return result.lanes[0] + result.simhash + result.shingle_count + result.digest.bytes[0];
}

static struct doppel_text *open_text(enum doppel_text_unit unit, uint32_t lanes)
{
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_text *text;
    options.unit = unit;
    options.lanes = lanes;
    if (doppel_text_new(&options, &text, NULL))
        abort();
    return text;
}

static double sketch_speed(const struct debian_text *texts, const struct sketch *sketch, int rounds)
{
    struct reader reader = {open_text(sketch->unit, sketch->lanes), sketch->want};
    double speed = measure(texts, read_text, &reader, rounds);
    doppel_text_free(reader.text);
    return speed;
}

static void print_sketches(const struct debian_text *texts, double copied, double counted,
                           double peer, double permuted)
{
    printf("%-26s %7s %7s %9s %8s %9s %9s %9s %7s %7s\n", "MB/s", "here", "AVX2", "portable",
           "of copy", "x wc loop", "x numpy", "x k-perm", "goal", "aim");
    for (size_t i = 0; i < sizeof sketches / sizeof *sketches; i++) {
        const struct sketch *sketch = &sketches[i];
        double speed = sketch_speed(texts, sketch, ROUNDS);
        cpu_mask(CPU_AVX2);
        double avx2 = sketch_speed(texts, sketch, 1);
        cpu_mask(0);
        double portable = sketch_speed(texts, sketch, 1);
        cpu_mask(UINT32_MAX);
        printf("%-26s %7.0f %7.0f %9.0f %8.2f %9.1f %9.0f %9.1f %7.0f %7.0f\n", sketch->name, speed,
               avx2, portable, speed / copied, speed / counted, peer > 0 ? speed / peer : 0,
               speed / permuted, sketch->goal * 1e3, sketch->aim * 1e3);
    }
}

/* Nanoseconds for a text of so many bytes: the beginnings of documents. */
static double short_text_ns(const struct debian_text *texts, size_t bytes, unsigned want)
{
    struct reader reader = {open_text(DOPPEL_TEXT_WORDS, 128), want};
    static volatile uint64_t sink;
    double begin = bench_now().cpu;
    for (size_t i = 0; i < texts->count; i++)
        sink += read_text(&reader, texts->bytes + texts->starts[i], bytes);
    double seconds = bench_now().cpu - begin;
    doppel_text_free(reader.text);
    return seconds * 1e9 / (double)texts->count;
}

static void print_short_texts(const struct debian_text *texts)
{
    printf("\n%-26s %9s %9s %9s\n", "ns a text", "normalise", "OPH-128", "SimHash");
    for (size_t bytes = 64; bytes <= 1024; bytes *= 4)
        printf("%zu bytes %*s %9.0f %9.0f %9.0f\n", bytes, bytes < 1000 ? 17 : 15, "",
               short_text_ns(texts, bytes, 0), short_text_ns(texts, bytes, DOPPEL_TEXT_MINHASH),
               short_text_ns(texts, bytes, DOPPEL_TEXT_SIMHASH));
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"/usr/share/doc", "/usr/share/man/man1",
                                        "/usr/share/man/man3", "/usr/share/man/man8"};
    unsigned half = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    struct debian_text texts = {0};
    for (int i = 2; i < argc; i++)
        debian_text_find(&texts, argv[i], LIMIT_BYTES, half);
    for (size_t i = 0; argc < 3 && i < sizeof usual / sizeof *usual; i++)
        debian_text_find(&texts, usual[i], LIMIT_BYTES, half);
    if (!texts.count) {
        printf("no text was found: skipped\n");
        return 77;
    }
    printf("%zu English documents of Debian packages, %.1f MB, %.1f KB on average\n", texts.count,
           (double)texts.size / 1e6, (double)texts.size / (double)texts.count / 1e3);
    char *room = malloc(texts.size);
    struct doppel_text *reader = open_text(DOPPEL_TEXT_WORDS, 128);
    double copied = measure(&texts, copy, room, ROUNDS);
    double counted = measure(&texts, count_words, NULL, 1);
    double permuted = measure(&texts, permute, reader, 1), peer = datasketch_speed(&texts);
    printf("copy %.0f MB/s, wc -w loop %.0f, 128 permutations in plain C %.0f, datasketch's batch "
           "formula in numpy %.2f\n",
           copied, counted, permuted, peer);
    print_sketches(&texts, copied, counted, peer, permuted);
    print_short_texts(&texts);
    doppel_text_free(reader);
    free(room);
    debian_text_free(&texts);
    return 0;
}
