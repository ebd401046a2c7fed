/* The life of an index against a plain array: random inserts, removals, flushes, loads, merges and
 * reopenings, compared at every step; and failures on the way, after which it is as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/index.h>

#include "index/codes.h"
#include "index/published.h"

enum { MAX_WORDS = 32, MOST = 20000 };

static char folder[] = "/tmp/test-life-XXXXXX";

/* The index, and what it is to hold. */
struct life {
    struct doppel_index_options options;
    size_t words, count;
    uint64_t *codes, *payloads;
    struct doppel_index *index;
    bool in_files;
    struct published published;
    uint64_t seed;
};

static uint64_t pick(struct life *life, uint64_t below)
{
    return random_word(&life->seed) % below;
}

/* ---- the oracle ---- */

static uint32_t distance(const struct life *life, const uint64_t *a, const uint64_t *b)
{
    uint32_t sum = 0;
    if (life->options.table == DOPPEL_INDEX_BANDS) {
        for (size_t lane = 0; lane < life->options.lanes; lane++)
            sum += ((const uint16_t *)(const void *)a)[lane] !=
                   ((const uint16_t *)(const void *)b)[lane];
        return sum;
    }
    for (uint32_t bit = 0; bit < life->options.bits; bit++)
        sum += (a[bit / 64] >> bit % 64 & 1) != (b[bit / 64] >> bit % 64 & 1);
    return sum;
}

static bool is_candidate(const struct life *life, const uint64_t *a, const uint64_t *b)
{
    const struct doppel_index_options *options = &life->options;
    if (options->table != DOPPEL_INDEX_BANDS)
        return true;
    const uint16_t *x = (const void *)a, *y = (const void *)b;
    for (uint32_t band = 0; band < options->bands; band++)
        if (memcmp(x + band * options->rows, y + band * options->rows, options->rows * sizeof *x) ==
            0)
            return true;
    return false;
}

static bool is_odd(void *context, uint64_t payload)
{
    (void)context;
    return payload % 2 != 0;
}

static int by_distance(const void *a, const void *b)
{
    const struct doppel_index_hit *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* What one query of a request should find; `out` has room for all codes. */
static size_t oracle(const struct life *life, const struct doppel_index_request *request,
                     size_t query, struct doppel_index_hit *out)
{
    const uint64_t *code = request->queries + query * life->words;
    size_t n = 0;
    for (size_t i = 0; i < life->count; i++) {
        uint32_t d = distance(life, life->codes + i * life->words, code);
        if (d > request->radius || !is_candidate(life, life->codes + i * life->words, code) ||
            (request->filter && !request->filter(NULL, life->payloads[i])))
            continue;
        out[n++] = (struct doppel_index_hit){life->payloads[i], d, (uint32_t)query};
    }
    if (n > 1)
        qsort(out, n, sizeof *out, by_distance);
    if (request->nearest && n > request->nearest)
        n = request->nearest;
    return request->cap && n > request->cap ? request->cap : n;
}

/* ---- codes: random ones, repeats, neighbours ---- */

static void make_code(struct life *life, uint64_t *out)
{
    unsigned kind = (unsigned)pick(life, 4);
    if (kind && life->count) {
        memcpy(out, life->codes + pick(life, life->count) * life->words, life->words * 8);
        for (uint64_t flips = kind == 1 ? 0 : pick(life, 12); flips > 0; flips--)
            out[pick(life, life->words)] ^= UINT64_C(1) << pick(life, 64);
    } else {
        for (size_t word = 0; word < life->words; word++)
            out[word] = random_word(&life->seed);
    }
}

static void check_within(struct life *life, uint32_t radius)
{
    enum { QUERIES = 3 };
    uint64_t queries[QUERIES * MAX_WORDS];
    for (size_t i = 0; i < QUERIES; i++)
        make_code(life, queries + i * life->words);
    struct doppel_index_request request = {.queries = queries, .count = QUERIES};
    request.radius = (uint32_t)pick(life, radius + 1);
    request.nearest = pick(life, 2) ? 0 : 1 + pick(life, 20);
    request.cap = pick(life, 4) ? 0 : 1 + pick(life, 20);
    request.filter = pick(life, 4) ? NULL : is_odd;
    request.threads = (uint32_t)pick(life, 3);
    struct doppel_index_hit *hits, *wanted = malloc((life->count + 1) * sizeof *wanted);
    size_t count, at = 0;
    assert_non_null(wanted);
    assert_int_equal(doppel_index_search_array(life->index, &request, &hits, &count, NULL),
                     DOPPEL_OK);
    for (size_t query = 0; query < QUERIES; query++) {
        size_t n = oracle(life, &request, query, wanted);
        assert_true(at + n <= count);
        for (size_t i = 0; i < n; i++, at++) {
            assert_int_equal(hits[at].distance, wanted[i].distance);
            assert_int_equal(hits[at].payload, wanted[i].payload);
            assert_int_equal(hits[at].query, query);
        }
    }
    assert_int_equal(at, count);
    free(hits);
    free(wanted);
}

static void check(struct life *life)
{
    uint32_t most =
        life->options.table == DOPPEL_INDEX_BANDS ? life->options.lanes : life->options.bits;
    check_within(life, pick(life, 8) ? most / 4 : most);
}

/* ---- what happens ---- */

static void open_index(struct life *life)
{
    assert_int_equal(open_published(&life->published, life->in_files ? folder : NULL,
                                    &life->options, &life->index),
                     DOPPEL_OK);
}

struct load {
    const uint64_t *codes, *payloads;
    size_t words, count, at;
};

static size_t read_load(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct load *load = context;
    size_t left = load->count - load->at, n = left < max ? left : max;
    n = n > 700 ? 700 : n; /* readers may give less than they are asked for */
    memcpy(codes, load->codes + load->at * load->words, n * load->words * sizeof *codes);
    memcpy(payloads, load->payloads + load->at, n * sizeof *payloads);
    load->at += n;
    return n;
}

static void begin_again(void *context)
{
    ((struct load *)context)->at = 0;
}

static void insert(struct life *life, size_t count, bool in_bulk)
{
    size_t first = life->count;
    if (first + count > MOST)
        return;
    for (size_t i = first; i < first + count; i++) {
        uint64_t code[MAX_WORDS];
        make_code(life, code); /* from those before it */
        memcpy(life->codes + i * life->words, code, life->words * sizeof *code);
        life->payloads[i] = pick(life, 16) ? pick(life, 3000) : UINT64_MAX - pick(life, 5);
        life->count++;
    }
    const uint64_t *codes = life->codes + first * life->words, *payloads = life->payloads + first;
    struct load all = {codes, payloads, life->words, count, 0};
    struct doppel_index_load load = {
        .count = count, .read = read_load, .rewind = begin_again, .context = &all};
    assert_int_equal(in_bulk ? doppel_index_bulk(life->index, &load, NULL)
                             : doppel_index_insert(life->index, codes, payloads, count, NULL),
                     DOPPEL_OK);
}

static void forget(struct life *life, uint64_t payload)
{
    size_t kept = 0;
    for (size_t i = 0; i < life->count; i++) {
        if (life->payloads[i] == payload)
            continue;
        memmove(life->codes + kept * life->words, life->codes + i * life->words,
                life->words * sizeof *life->codes);
        life->payloads[kept++] = life->payloads[i];
    }
    life->count = kept;
}

static void remove_some(struct life *life)
{
    enum { SOME = 5 };
    uint64_t payloads[SOME];
    size_t count = pick(life, SOME + 1);
    for (size_t i = 0; i < count; i++) {
        payloads[i] = pick(life, 3) && life->count ? life->payloads[pick(life, life->count)]
                                                   : pick(life, 4000);
        forget(life, payloads[i]);
    }
    assert_int_equal(doppel_index_remove(life->index, payloads, count, NULL), DOPPEL_OK);
}

static void reopen(struct life *life)
{
    if (!life->in_files)
        return;
    assert_int_equal(doppel_index_flush(life->index, NULL), DOPPEL_OK);
    doppel_index_free(life->index);
    open_index(life);
    assert_int_equal(doppel_index_verify(life->index, NULL), DOPPEL_OK);
}

static void step(struct life *life)
{
    switch (pick(life, 16)) {
    case 0:
        assert_int_equal(doppel_index_flush(life->index, NULL), DOPPEL_OK);
        break;
    case 1:
        assert_int_equal(doppel_index_compact(life->index, false, NULL), DOPPEL_OK);
        break;
    case 2:
        if (pick(life, 3) == 0)
            assert_int_equal(doppel_index_compact(life->index, true, NULL), DOPPEL_OK);
        break;
    case 3:
        insert(life, pick(life, 900), true);
        break;
    case 4:
        reopen(life);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        remove_some(life);
        break;
    default:
        insert(life, 1 + pick(life, pick(life, 2) ? 3 : 150), false);
    }
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static struct life begin(const struct doppel_index_options *options, bool in_files, uint64_t seed)
{
    struct life life = {.options = *options, .in_files = in_files, .seed = seed};
    life.words =
        options->table == DOPPEL_INDEX_BANDS ? options->lanes / 4 : (options->bits + 63) / 64;
    assert_true(life.words <= MAX_WORDS);
    life.codes = malloc(MOST * life.words * sizeof *life.codes);
    life.payloads = malloc(MOST * sizeof *life.payloads);
    assert_true(life.codes && life.payloads);
    return life;
}

static void end(struct life *life)
{
    remove_published(&life->published, folder);
    doppel_index_free(life->index);
    free(life->codes);
    free(life->payloads);
}

static void live(const struct doppel_index_options *options, bool in_files, unsigned steps)
{
    struct life life = begin(options, in_files, 77 + options->bits + in_files);
    open_index(&life);
    for (unsigned i = 0; i < steps; i++) {
        step(&life);
        check(&life);
        if (in_files)
            assert_int_equal(files_in_folder(), life.published.count);
    }
    /* Once all is in one segment, nothing removed is left. */
    assert_int_equal(doppel_index_flush(life.index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_compact(life.index, true, NULL), DOPPEL_OK);
    struct doppel_index_info info = doppel_index_info(life.index);
    assert_int_equal(info.codes, life.count);
    assert_true(info.segments <= 1 && info.head_codes == 0 && info.damaged == 0);
    check(&life);
    end(&life);
}

static void live_both_ways(const struct doppel_index_options *options, unsigned steps)
{
    live(options, false, steps);
    live(options, true, steps);
}

static struct doppel_index_options hamming_options(uint32_t bits)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = bits;
    options.design_radius = bits / 16;
    options.head_codes = 500;
    return options;
}

static void test_hamming(void **state)
{
    (void)state;
    for (uint32_t bits = 32; bits <= 256; bits *= 2) {
        struct doppel_index_options options = hamming_options(bits);
        live_both_ways(&options, 150);
    }
}

/* Heads of many codes, of which some are equal: at all sizes around those at which they grow. */
static void test_big_heads(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 511, 512, 513, 2000, 8192, 8193, 12000};
    for (uint32_t bits = 32; bits <= 256; bits *= 2) {
        struct doppel_index_options options = hamming_options(bits);
        options.head_codes = UINT32_MAX;
        struct life life = begin(&options, false, bits);
        open_index(&life);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            insert(&life, sizes[i] - life.count, false);
            for (unsigned round = 0; round < 10; round++)
                check_within(&life, bits / 4);
        }
        for (unsigned round = 0; round < 5; round++) {
            remove_some(&life);
            check_within(&life, bits / 8);
        }
        assert_int_equal(doppel_index_info(life.index).head_codes, life.count);
        end(&life);
    }
}

static void test_linear(void **state)
{
    (void)state;
    struct doppel_index_options options = hamming_options(64);
    options.design_radius = 32;
    live_both_ways(&options, 150);
}

static void test_bands(void **state)
{
    (void)state;
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_BANDS;
    options.head_codes = 500;
    options.lanes = 32;
    options.bands = 10;
    options.rows = 3;
    live_both_ways(&options, 150);
}

/* ---- failures ---- */

static void some_life(struct life *life)
{
    struct doppel_index_options options = hamming_options(64);
    *life = begin(&options, true, 5);
    open_index(life);
    for (unsigned i = 0; i < 3; i++) {
        insert(life, 900, false);
        assert_int_equal(doppel_index_flush(life->index, NULL), DOPPEL_OK);
    }
    insert(life, 200, false);
    remove_some(life);
}

/* Every way to change segments fails, and nothing has changed. */
static void all_fail(struct life *life, enum doppel_status status)
{
    struct doppel_error error = {0};
    size_t files = files_in_folder();
    uint64_t code = 1, payload = 2;
    struct load one = {&code, &payload, 1, 1, 0};
    struct doppel_index_load load = {
        .count = 1, .read = read_load, .rewind = begin_again, .context = &one};
    assert_int_equal(doppel_index_flush(life->index, &error), status);
    assert_int_equal(error.status, status);
    assert_int_equal(doppel_index_bulk(life->index, &load, NULL), status);
    assert_int_equal(doppel_index_compact(life->index, true, NULL), status);
    assert_int_equal(files_in_folder(), files);
    for (unsigned i = 0; i < 10; i++)
        check(life);
}

static void test_publishing_is_refused(void **state)
{
    (void)state;
    struct life life;
    some_life(&life);
    life.published.refusal = DOPPEL_E_BUSY;
    all_fail(&life, DOPPEL_E_BUSY);
    life.published.refusal = DOPPEL_OK;
    reopen(&life);
    check(&life);
    end(&life);
}

static void test_the_disk_is_full(void **state)
{
    (void)state;
    struct life life;
    some_life(&life);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){5000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    all_fail(&life, DOPPEL_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    reopen(&life);
    check(&life);
    end(&life);
}

static void test_the_folder_is_read_only(void **state)
{
    (void)state;
    struct life life;
    some_life(&life);
    reopen(&life);
    struct doppel_index *reader;
    struct doppel_index_files files = {.folder = folder,
                                       .names = (const char *const *)life.published.names,
                                       .count = life.published.count,
                                       .read_only = true};
    assert_int_equal(doppel_index_open(&life.options, &files, &reader, NULL), DOPPEL_OK);
    struct doppel_index *writer = life.index;
    life.index = reader;
    all_fail(&life, DOPPEL_E_ARGUMENT);
    doppel_index_free(reader);
    life.index = writer;
    end(&life);
}

static void test_damage(void **state)
{
    (void)state;
    struct life life;
    some_life(&life);
    reopen(&life);
    doppel_index_free(life.index);
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, life.published.names[1]);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "damage", 6, 4096), 6); /* the first bytes after the header */
    close(fd);
    open_index(&life);
    struct doppel_error error = {0};
    uint64_t query = 0;
    struct doppel_index_request request = {.queries = &query, .count = 1, .radius = 64};
    struct doppel_index_hit *hits;
    size_t count;
    assert_int_equal(doppel_index_search_array(life.index, &request, &hits, &count, &error),
                     DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, life.published.names[1]));
    assert_int_equal(doppel_index_info(life.index).damaged, 1);
    assert_int_equal(doppel_index_verify(life.index, NULL), DOPPEL_E_CORRUPT);
    assert_int_equal(doppel_index_compact(life.index, true, &error), DOPPEL_E_CORRUPT);
    assert_int_equal(files_in_folder(), life.published.count);
    end(&life);
}

static void test_wrong_files(void **state)
{
    (void)state;
    struct life life;
    some_life(&life);
    reopen(&life);
    struct doppel_index *index = NULL;
    struct doppel_index_files files = {.folder = folder,
                                       .names = (const char *const *)life.published.names,
                                       .count = life.published.count};
    struct doppel_index_options other = hamming_options(128);
    assert_int_equal(doppel_index_open(&other, &files, &index, NULL), DOPPEL_E_FORMAT);
    other = doppel_index_options_default();
    other.table = DOPPEL_INDEX_BANDS;
    assert_int_equal(doppel_index_open(&other, &files, &index, NULL), DOPPEL_E_FORMAT);
    const char *missing = "missing";
    files.names = &missing;
    files.count = 1;
    assert_int_equal(doppel_index_open(&life.options, &files, &index, NULL), DOPPEL_E_NOT_FOUND);
    assert_null(index);
    end(&life);
}

static void test_names(void **state)
{
    (void)state;
    struct life life;
    some_life(&life);
    const char *const *names;
    size_t count;
    assert_int_equal(doppel_index_names(life.index, &names, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, life.published.count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(names[i], life.published.names[i]);
    free((void *)names);
    unsigned published = life.published.times;
    assert_int_equal(doppel_index_flush(life.index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_flush(life.index, NULL), DOPPEL_OK); /* nothing to do */
    assert_int_equal(life.published.times, published + 1);
    end(&life);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hamming),
        cmocka_unit_test(test_big_heads),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_publishing_is_refused),
        cmocka_unit_test(test_the_disk_is_full),
        cmocka_unit_test(test_the_folder_is_read_only),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
