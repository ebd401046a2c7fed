/* doppel index, against a slow oracle. */
#include "command.h"
#include "index_info.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32, QUERIES = 40 };

/* Codes as bytes, the most significant first, as their hex is. */
struct codes {
    uint32_t bits;
    size_t count;
    uint8_t (*items)[MOST_BYTES];
};

static struct codes codes_make(uint32_t bits, size_t count, uint32_t *random)
{
    struct codes codes = {bits, count, calloc(count + 1, MOST_BYTES)};
    assert_non_null(codes.items);
    for (size_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < bits / 8; j++)
            codes.items[i][j] = (uint8_t)(next_random(random) >> 11);
    return codes;
}

/* Queries: each near some code, or that code itself. */
static struct codes queries_make(const struct codes *codes, size_t count, uint32_t *random)
{
    struct codes queries = codes_make(codes->bits, count, random);
    for (size_t i = 0; codes->count && i < count; i++) {
        if (i % 4 == 3) /* a stranger */
            continue;
        memcpy(queries.items[i], codes->items[next_random(random) % codes->count], MOST_BYTES);
        for (uint32_t flips = next_random(random) % 6; flips; flips--) {
            uint32_t bit = next_random(random) % codes->bits;
            queries.items[i][bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    return queries;
}

static void codes_free(struct codes *codes)
{
    free(codes->items);
}

static void write_hex(const struct codes *codes, const char *path, const char *format,
                      const char *end)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < codes->count; i++) {
        for (uint32_t j = 0; j < codes->bits / 8; j++)
            fprintf(file, format, codes->items[i][j]);
        fputs(end, file);
    }
    fclose(file);
}

static void write_raw(const struct codes *codes, const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < codes->count; i++)
        for (uint32_t j = codes->bits / 8; j--;)
            fputc(codes->items[i][j], file);
    fclose(file);
}

static uint32_t distance(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
    uint32_t differing = 0;
    for (uint32_t i = 0; i < bits; i++)
        differing += (a[i / 8] ^ b[i / 8]) >> i % 8 & 1;
    return differing;
}

/* ---- the oracle ---- */

struct found {
    uint32_t distance;
    size_t id;
};

static int nearer(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

struct wanted {
    const struct codes *codes, *queries;
    uint32_t radius;
    size_t nearest; /* 0: all */
    bool count;
    const bool *removed; /* or NULL */
};

/* What search or knn should print. */
static char *expect(const struct wanted *wanted)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct found *found = calloc(wanted->codes->count + 1, sizeof *found);
    for (size_t query = 0; query < wanted->queries->count; query++) {
        size_t count = 0;
        for (size_t id = 0; id < wanted->codes->count; id++) {
            uint32_t apart = distance(wanted->queries->items[query], wanted->codes->items[id],
                                      wanted->codes->bits);
            if (apart <= wanted->radius && !(wanted->removed && wanted->removed[id]))
                found[count++] = (struct found){apart, id};
        }
        qsort(found, count, sizeof *found, nearer);
        if (wanted->nearest && count > wanted->nearest)
            count = wanted->nearest;
        if (wanted->count)
            fprintf(out, "{\"query\":%zu,\"hits\":%zu}\n", query, count);
        for (size_t i = 0; i < count && !wanted->count; i++)
            fprintf(out, "{\"query\":%zu,\"id\":%zu,\"distance\":%u}\n", query, found[i].id,
                    found[i].distance);
    }
    fclose(out);
    free(found);
    return text;
}

#define assert_prints(wanted, ...)                                                                 \
    assert_output(wanted, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)

static void assert_output(const struct wanted *wanted, const char *const *words, const char *file,
                          int line)
{
    char *expected = expect(wanted), *printed = command_output(0, words, file, line);
    if (strcmp(printed, expected) != 0) {
        print_error("printed\n%.1000s\nwanted\n%.1000s\n", printed, expected);
        _fail(file, line);
    }
    free(expected);
    free(printed);
}

/* ---- against it ---- */

static const char *number(char *out, size_t value)
{
    sprintf(out, "%zu", value);
    return out;
}

static void all_radii_and_neighbours(const struct codes *codes, const struct codes *queries)
{
    char text[32];
    const uint32_t radii[] = {0, 1, 3, 8, codes->bits / 4, codes->bits / 2, codes->bits};
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++) {
        struct wanted wanted = {.codes = codes, .queries = queries, .radius = radii[i]};
        assert_prints(&wanted, "index", "search", "x.index", "--radius", number(text, radii[i]),
                      "q.hex");
        assert_prints(&wanted, "index", "search", "x.index", "--radius", text, "q.raw", "--input",
                      "raw", "--json", "-j", "2");
        wanted.count = true;
        assert_prints(&wanted, "index", "search", "x.index", "--radius", text, "q.hex", "--count");
    }
    for (size_t k = 1; k < 300; k *= 6) {
        struct wanted wanted = {
            .codes = codes, .queries = queries, .radius = codes->bits, .nearest = k};
        assert_prints(&wanted, "index", "knn", "x.index", "-k", number(text, k), "q.hex");
        wanted.radius = 9;
        assert_prints(&wanted, "index", "knn", "x.index", "-k", text, "q.hex", "--radius", "9");
    }
}

static void finds_what_a_scan_finds(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (uint32_t bits = 32; bits <= 256; bits *= 2) {
        char text[32];
        struct codes codes = codes_make(bits, 500, &random);
        memcpy(codes.items[400], codes.items[3], MOST_BYTES); /* twice the same */
        struct codes queries = queries_make(&codes, QUERIES, &random);
        write_hex(&codes, "c.hex", "%02x", "\n");
        write_raw(&codes, "c.raw");
        write_hex(&queries, "q.hex", "%02X", "\r\n");
        write_raw(&queries, "q.raw");
        number(text, bits);
        free(doppel_prints(0, "index", "build", "--bits", text, "c.hex", "-o", "x.index"));
        all_radii_and_neighbours(&codes, &queries);
        free(doppel_prints(0, "index", "build", "--bits", text, "--input", "raw", "--radius", "12",
                           "--compact", "c.raw", "-o", "y.index"));
        struct wanted wanted = {.codes = &codes, .queries = &queries, .radius = 12};
        assert_prints(&wanted, "index", "search", "y.index", "--radius", "12", "q.hex");
        codes_free(&codes);
        codes_free(&queries);
        assert_int_equal(system("rm -rf x.index y.index"), 0);
    }
}

static void grows_and_shrinks(void **state)
{
    (void)state;
    uint32_t random = 9;
    bool removed[1000] = {false};
    struct codes codes = codes_make(64, 900, &random), part = codes;
    struct codes queries = queries_make(&codes, QUERIES, &random);
    struct wanted wanted = {.codes = &codes, .queries = &queries, .radius = 10, .removed = removed};
    write_hex(&queries, "q.hex", "%02x", "\n");
    for (int i = 0; i < 9; i++) {
        part.count = 100;
        part.items = codes.items + 100 * i;
        codes.count = 100 * (size_t)(i + 1);
        write_hex(&part, "part.hex", "%02x", "\n");
        if (i == 0)
            free(doppel_prints(0, "index", "build", "part.hex", "-o", "x.index", "--durable"));
        else
            free(doppel_prints(0, "index", "add", "x.index", "part.hex"));
        assert_prints(&wanted, "index", "search", "x.index", "--radius", "10", "q.hex");
        char id[32], other[32];
        removed[100 * i + 5] = removed[50 * i] = true;
        free(doppel_prints(0, "index", "remove", "x.index", number(id, (size_t)(100 * i + 5)),
                           number(other, (size_t)(50 * i))));
        assert_prints(&wanted, "index", "search", "x.index", "--radius", "10", "q.hex");
    }
    free(doppel_prints(0, "index", "compact", "x.index"));
    assert_prints(&wanted, "index", "search", "x.index", "--radius", "10", "q.hex");
    assert_int_equal(info_number("x.index", "segments"), 1);
    assert_int_equal(info_number("x.index", "codes"), 900 - 18);
    assert_int_equal(info_number("x.index", "bits"), 64);
    assert_int_equal(info_number("x.index", "next_id"), 900);
    assert_true(info_number("x.index", "bytes") > 8 * 900);
    info_number("x.index", "build_seconds");
    free(doppel_prints(0, "index", "verify", "x.index"));
    codes_free(&codes);
    codes_free(&queries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(finds_what_a_scan_finds),
        IN_SANDBOX(grows_and_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
