/* An index of vectors against a scan in doubles: inserted, flushed, removed, merged, damaged. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <doppel/index.h>
#include <doppel/vector.h>

#include "../vector/vectors.h"

enum { QUERIES = 25 };

struct vector_case {
    enum vector_shape shape;
    uint32_t dimension;
    size_t count;
};

static const struct vector_case cases[] = {
    {SHAPE_EVEN, 32, 3000},     {SHAPE_FAMILIES, 100, 12000}, {SHAPE_FAMILIES, 7, 5000},
    {SHAPE_LOPSIDED, 33, 9000}, {SHAPE_AXES, 16, 2000},       {SHAPE_SAME, 20, 500},
    {SHAPE_ODD, 50, 6000},      {SHAPE_FAMILIES, 1, 100},     {SHAPE_EVEN, 1500, 300},
};

static size_t words_of(uint32_t dimension)
{
    return (dimension + 1) / 2;
}

/* As codes: given (free). */
static uint64_t *codes_of(const float *rows, size_t count, uint32_t dimension)
{
    const size_t words = words_of(dimension);
    uint64_t *codes = calloc(count * words + 1, sizeof *codes);
    assert_non_null(codes);
    for (size_t i = 0; i < count; i++)
        memcpy(codes + i * words, rows + i * dimension, dimension * sizeof(float));
    return codes;
}

static double exact_cosine(const float *a, const float *b, uint32_t dimension)
{
    double dot = 0, aa = 0, bb = 0;
    for (uint32_t j = 0; j < dimension; j++) {
        dot += (double)a[j] * b[j];
        aa += (double)a[j] * a[j];
        bb += (double)b[j] * b[j];
    }
    return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : -2;
}

static struct doppel_index *new_index(uint32_t dimension)
{
    struct doppel_index_options options = doppel_index_options_default();
    struct doppel_index *index;
    options.table = DOPPEL_INDEX_VECTORS;
    options.bits = 32 * dimension;
    options.head_codes = 1000;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    return index;
}

/* Vectors and an index of them, some of which were removed: every seventh payload. */
struct vector_set {
    const struct vector_case *kind;
    float *rows;
    uint64_t *codes;
    struct doppel_index *index;
};

static bool is_there(size_t i)
{
    return i % 7 != 2;
}

static struct vector_set make_set(const struct vector_case *kind)
{
    struct vector_set set = {.kind = kind};
    set.rows = random_vectors(kind->shape, kind->count, kind->dimension, 4711);
    set.codes = codes_of(set.rows, kind->count, kind->dimension);
    set.index = new_index(kind->dimension);
    return set;
}

static void free_set(struct vector_set *set)
{
    free(set->rows);
    free(set->codes);
    doppel_index_free(set->index);
}

static void insert_rows(struct vector_set *set, size_t from, size_t to)
{
    const size_t words = words_of(set->kind->dimension);
    for (size_t i = from; i < to; i++) {
        const uint64_t payload = 10 * i;
        assert_int_equal(doppel_index_insert(set->index, set->codes + i * words, &payload, 1, NULL),
                         DOPPEL_OK);
    }
}

static void remove_some(struct vector_set *set)
{
    for (size_t i = 0; i < set->kind->count; i++)
        if (!is_there(i))
            assert_int_equal(doppel_index_remove(set->index, &(uint64_t){10 * i}, 1, NULL),
                             DOPPEL_OK);
}

/* Whether what was found is what is near, but for what rounding of the last bits decides. */
static void check_hits(const struct vector_set *set, size_t query,
                       const struct doppel_index_hit *hits, size_t count, double least)
{
    const uint32_t dimension = set->kind->dimension;
    const float *asked = set->rows + query * dimension;
    size_t at = 0, near = 0;
    bool *found = calloc(set->kind->count, 1);
    for (; at < count; at++) {
        const size_t row = hits[at].payload / 10;
        const double cosine = exact_cosine(asked, set->rows + row * dimension, dimension);
        assert_true(is_there(row) && !found[row]);
        assert_true(fabs(cosine - doppel_index_cosine_of_distance(hits[at].distance)) < 3e-6);
        assert_true(!at || hits[at - 1].distance < hits[at].distance ||
                    (hits[at - 1].distance == hits[at].distance &&
                     hits[at - 1].payload < hits[at].payload));
        found[row] = true;
    }
    for (size_t row = 0; row < set->kind->count; row++)
        if (is_there(row) && exact_cosine(asked, set->rows + row * dimension, dimension) >= least) {
            near++;
            assert_true(found[row]);
        }
    assert_true(near <= count);
    free(found);
}

static void check_set(const struct vector_set *set, float recall)
{
    static const float least[] = {.95F, .8F, .5F, 0, -1};
    const size_t words = words_of(set->kind->dimension);
    for (size_t q = 0; q < QUERIES; q++) {
        const size_t query = q * set->kind->count / QUERIES;
        struct doppel_index_hit *hits;
        size_t count;
        struct doppel_index_request request = {.queries = set->codes + query * words,
                                               .count = 1,
                                               .radius =
                                                   doppel_index_distance_of_cosine(least[q % 5]),
                                               .recall = recall};
        assert_int_equal(doppel_index_search_array(set->index, &request, &hits, &count, NULL),
                         DOPPEL_OK);
        check_hits(set, query, hits, count, least[q % 5] + 3e-6);
        size_t k = count / 2 + 1, nearest;
        struct doppel_index_hit *best;
        request.nearest = k;
        assert_int_equal(doppel_index_search_array(set->index, &request, &best, &nearest, NULL),
                         DOPPEL_OK);
        assert_int_equal(nearest, count < k ? count : k);
        for (size_t i = 0; i < nearest; i++) {
            assert_int_equal(best[i].payload, hits[i].payload);
            assert_int_equal(best[i].distance, hits[i].distance);
        }
        free(best);
        free(hits);
    }
}

static void all_that_is_near_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vector_set set = make_set(&cases[i]);
        insert_rows(&set, 0, cases[i].count);
        remove_some(&set);
        check_set(&set, 0);
        assert_int_equal(doppel_index_flush(set.index, NULL), DOPPEL_OK);
        check_set(&set, 0);
        assert_int_equal(doppel_index_compact(set.index, true, NULL), DOPPEL_OK);
        assert_int_equal(doppel_index_info(set.index).segments, 1);
        check_set(&set, 0);
        free_set(&set);
    }
}

static void cells_find_the_share_that_is_asked_for(void **state)
{
    static const struct vector_case kind = {SHAPE_FAMILIES, 40, 30000};
    (void)state;
    struct vector_set set = make_set(&kind);
    insert_rows(&set, 0, kind.count);
    assert_int_equal(doppel_index_flush(set.index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_compact(set.index, true, NULL), DOPPEL_OK);
    size_t all = 0, found = 0;
    uint64_t looked_at[2];
    for (int turn = 0; turn < 2; turn++) {
        struct doppel_index_counts counts = {0};
        struct doppel_index_hit *hits;
        size_t count;
        const struct doppel_index_request request = {.queries = set.codes,
                                                     .count = 500,
                                                     .radius = doppel_index_distance_of_cosine(.9F),
                                                     .recall = turn ? .95F : 0,
                                                     .counts = &counts};
        assert_int_equal(doppel_index_search_array(set.index, &request, &hits, &count, NULL),
                         DOPPEL_OK);
        *(turn ? &found : &all) = count;
        looked_at[turn] = counts.lookups;
        free(hits);
    }
    assert_true(all > 1000);
    assert_true((double)found >= .93 * (double)all && found <= all);
    assert_true(looked_at[1] * 2 < looked_at[0]);
    free_set(&set);
}

/* Codes of a sample are those of their payloads, each once, and of all parts of the index. */
/* More are near than the sample knows of: then all are looked at. */
static void what_has_many_near_is_found_whole(void **state)
{
    static const struct vector_case kind = {SHAPE_EVEN, 3, 20000};
    (void)state;
    struct vector_set set = make_set(&kind);
    insert_rows(&set, 0, kind.count);
    assert_int_equal(doppel_index_flush(set.index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_compact(set.index, true, NULL), DOPPEL_OK);
    size_t counts[2];
    for (int turn = 0; turn < 2; turn++) {
        struct doppel_index_hit *hits;
        const struct doppel_index_request request = {.queries = set.codes,
                                                     .count = 20,
                                                     .radius = doppel_index_distance_of_cosine(.9F),
                                                     .recall = turn ? .9F : 0};
        assert_int_equal(doppel_index_search_array(set.index, &request, &hits, &counts[turn], NULL),
                         DOPPEL_OK);
        free(hits);
    }
    assert_true(counts[0] > 20 * 300);
    assert_true((double)counts[1] >= .9 * (double)counts[0]);
    free_set(&set);
}

static void a_sample_is_of_what_is_there(void **state)
{
    static const struct vector_case kind = {SHAPE_EVEN, 5, 3500};
    enum { MOST = 700 };
    (void)state;
    struct vector_set set = make_set(&kind);
    insert_rows(&set, 0, kind.count);
    remove_some(&set);
    const size_t words = words_of(kind.dimension);
    uint64_t *codes = calloc(kind.count * words, sizeof *codes), payloads[3500];
    const size_t mosts[] = {MOST, (size_t)doppel_index_count(set.index), 3500};
    for (size_t turn = 0; turn < 3; turn++) {
        size_t count, most = mosts[turn];
        bool seen[3500] = {false};
        uint64_t alone[3500];
        assert_int_equal(doppel_index_sample(set.index, most, NULL, alone, &count, NULL),
                         DOPPEL_OK);
        assert_int_equal(doppel_index_sample(set.index, most, codes, payloads, &count, NULL),
                         DOPPEL_OK);
        assert_memory_equal(alone, payloads, count * sizeof *alone);
        assert_true(most == MOST ? count > MOST * 8 / 10 && count < MOST : count == 3000);
        for (size_t i = 0; i < count; i++) {
            const size_t row = payloads[i] / 10;
            assert_true(is_there(row) && !seen[row]);
            seen[row] = true;
            assert_memory_equal(codes + i * words, set.codes + row * words, 8 * words);
        }
    }
    free(codes);
    free_set(&set);
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    struct doppel_index *index = new_index(3);
    struct doppel_error error;
    struct doppel_index_hit *hits;
    size_t count;
    float bad[4] = {1, NAN, 2, 0}, huge[4] = {1e30F, 1, 1, 0}, zero[4] = {0}, one[4] = {0, 1, 0, 0};
    uint64_t code[2];
    const struct doppel_index_request request = {
        .queries = code, .count = 1, .radius = DOPPEL_INDEX_DISTANCE_MOST};
    memcpy(code, bad, sizeof code);
    assert_int_equal(doppel_index_insert(index, code, &(uint64_t){1}, 1, &error), DOPPEL_E_FORMAT);
    assert_int_equal(doppel_index_search_array(index, &request, &hits, &count, &error),
                     DOPPEL_E_FORMAT);
    memcpy(code, huge, sizeof code);
    assert_int_equal(doppel_index_insert(index, code, &(uint64_t){1}, 1, &error), DOPPEL_E_FORMAT);
    memcpy(code, zero, sizeof code);
    assert_int_equal(doppel_index_insert(index, code, &(uint64_t){2}, 1, NULL), DOPPEL_OK);
    memcpy(code, one, sizeof code);
    assert_int_equal(doppel_index_insert(index, code, &(uint64_t){3}, 1, NULL), DOPPEL_OK);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(doppel_index_search_array(index, &request, &hits, &count, NULL),
                         DOPPEL_OK);
        assert_int_equal(count, 1); /* what has no direction is near nothing */
        assert_int_equal(hits[0].payload, 3);
        assert_int_equal(hits[0].distance, 0);
        free(hits);
        assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
    }
    doppel_index_free(index);
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_VECTORS;
    options.bits = 31;
    assert_int_equal(doppel_index_new(&options, &index, &error), DOPPEL_E_ARGUMENT);
    options.bits = 32 * (DOPPEL_VECTOR_DIMENSION_MAX + 1);
    assert_int_equal(doppel_index_new(&options, &index, &error), DOPPEL_E_ARGUMENT);
}

/* ---- files ---- */

struct one_segment {
    char folder[64], name[64];
};

static enum doppel_status keep_name(void *context, const char *const *names, size_t count,
                                    struct doppel_error *error)
{
    struct one_segment *segment = context;
    (void)error;
    snprintf(segment->name, sizeof segment->name, "%s", count ? names[count - 1] : "");
    return DOPPEL_OK;
}

static enum doppel_status open_files(struct one_segment *segment, bool there,
                                     struct doppel_index **out)
{
    const char *name = segment->name;
    struct doppel_index_options options = doppel_index_options_default();
    const struct doppel_index_files files = {.folder = segment->folder,
                                             .names = &name,
                                             .count = there,
                                             .publish = keep_name,
                                             .context = segment};
    options.table = DOPPEL_INDEX_VECTORS;
    options.bits = 32 * 20;
    return doppel_index_open(&options, &files, out, NULL);
}

static void path_of_segment(const struct one_segment *segment, char out[160])
{
    snprintf(out, 160, "%s/%s", segment->folder, segment->name);
}

/* Damage never crashes a search, and never passes unnoticed: either what is found is right, or the
 * status says that it may not be. */
static void damage_is_noticed(void **state)
{
    static const struct vector_case kind = {SHAPE_FAMILIES, 20, 6000};
    (void)state;
    struct one_segment segment = {.folder = "/tmp/doppel-vectors-XXXXXX"};
    struct vector_set set = make_set(&kind);
    char path[160];
    assert_non_null(mkdtemp(segment.folder));
    doppel_index_free(set.index);
    assert_int_equal(open_files(&segment, false, &set.index), DOPPEL_OK);
    insert_rows(&set, 0, kind.count);
    remove_some(&set);
    assert_int_equal(doppel_index_flush(set.index, NULL), DOPPEL_OK);
    doppel_index_free(set.index);
    path_of_segment(&segment, path);
    const int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    const off_t size = lseek(fd, 0, SEEK_END);
    uint64_t seed = 1;
    unsigned noticed = 0;
    for (int turn = 0; turn < 300; turn++) {
        const off_t at = (off_t)(random_bits(&seed) % (uint64_t)size);
        uint8_t bytes[64], other[64];
        const ssize_t got = pread(fd, bytes, sizeof bytes, at);
        for (size_t i = 0; i < sizeof other; i++)
            other[i] = (uint8_t)random_bits(&seed);
        assert_int_equal(pwrite(fd, other, (size_t)got, at), got);
        struct doppel_index *index = NULL;
        enum doppel_status status = open_files(&segment, true, &index);
        struct doppel_index_hit *hits = NULL;
        size_t count = 0;
        const struct doppel_index_request request = {.queries = set.codes,
                                                     .count = 40,
                                                     .radius = DOPPEL_INDEX_DISTANCE_MOST / 4,
                                                     .recall = turn % 2 ? .9F : 0};
        if (!status)
            status = doppel_index_search_array(index, &request, &hits, &count, NULL);
        noticed += status != DOPPEL_OK;
        free(hits);
        doppel_index_free(index);
        assert_int_equal(pwrite(fd, bytes, (size_t)got, at), got);
    }
    assert_true(noticed > 100);
    assert_int_equal(open_files(&segment, true, &set.index), DOPPEL_OK);
    check_set(&set, 0);
    close(fd);
    unlink(path);
    rmdir(segment.folder);
    free_set(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_near_is_found),
        cmocka_unit_test(cells_find_the_share_that_is_asked_for),
        cmocka_unit_test(what_has_many_near_is_found_whole),
        cmocka_unit_test(a_sample_is_of_what_is_there),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
