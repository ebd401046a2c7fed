/* Scans: every code that lives comes once, with its payload, and those of one call side by side;
 * from the head, from segments, in memory and in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include <doppel/index.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "index/segment/segment_internal.h"

enum { ITEMS = 9000, CODES_MOST = 5, STEPS = 120 };

/* What is to be found: item i has so many codes, of words that follow from its number. */
struct expected_items {
    uint8_t codes[ITEMS];
    uint8_t seen[ITEMS][CODES_MOST];
    uint64_t revision[ITEMS];
    pthread_mutex_t lock;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t word_of(const struct expected_items *items, uint64_t payload, unsigned word)
{
    return mix(mix(payload + 1) ^ mix(items->revision[payload / 8] * 4 + word + 77));
}

static void check_code(struct expected_items *items, const struct doppel_index_scanned *run,
                       uint64_t number)
{
    uint64_t code[4], payload, beside;
    assert_true(doppel_index_scanned_get(run, number, code, &payload));
    if (doppel_index_scanned_removed(run, number, payload))
        return;
    const uint64_t item = payload / 8, place = payload % 8;
    assert_true(item < ITEMS && place < items->codes[item]);
    for (unsigned word = 0; word < 4; word++)
        assert_int_equal(code[word], word_of(items, payload, word));
    pthread_mutex_lock(&items->lock);
    assert_int_equal(items->seen[item][place]++, 0);
    pthread_mutex_unlock(&items->lock);
    if (place) {
        assert_true(doppel_index_scanned_get(run, number - 1, code, &beside));
        assert_int_equal(beside, payload - 1);
    }
}

static void visit_run(void *context, const struct doppel_index_scanned *run)
{
    struct expected_items *items = context;
    assert_true(run->first % 64 == 0 && run->count <= DOPPEL_INDEX_SCANNED_CODES);
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t code[4], payload;
        assert_true(doppel_index_scanned_get(run, run->first + i, code, &payload));
        assert_int_equal(code[0], run->low[i / 8 * run->step + i % 8]);
        if (run->marks)
            assert_int_equal(run->marks[i / 64] >> i % 64 & 1,
                             payload % 16 < DOPPEL_INDEX_SCANNED_MARKED);
        check_code(items, run, run->first + i);
    }
}

static void check_all(const struct doppel_index *index, struct expected_items *items)
{
    memset(items->seen, 0, sizeof items->seen);
    assert_int_equal(doppel_index_scan(index, 3, visit_run, items, NULL), DOPPEL_OK);
    for (size_t item = 0; item < ITEMS; item++)
        for (unsigned place = 0; place < items->codes[item]; place++)
            assert_int_equal(items->seen[item][place], 1);
}

static void remove_item(struct doppel_index *index, struct expected_items *items, uint64_t item)
{
    uint64_t payloads[CODES_MOST];
    for (unsigned place = 0; place < items->codes[item]; place++)
        payloads[place] = item * 8 + place;
    assert_int_equal(doppel_index_remove(index, payloads, items->codes[item], NULL), DOPPEL_OK);
    items->codes[item] = 0;
}

static void put_item(struct doppel_index *index, struct expected_items *items, uint64_t item,
                     uint8_t count)
{
    uint64_t codes[4 * CODES_MOST], payloads[CODES_MOST];
    remove_item(index, items, item);
    items->revision[item]++;
    items->codes[item] = count;
    for (unsigned place = 0; place < count; place++) {
        payloads[place] = item * 8 + place;
        for (unsigned word = 0; word < 4; word++)
            codes[4 * place + word] = word_of(items, payloads[place], word);
    }
    assert_int_equal(doppel_index_insert(index, codes, payloads, count, NULL), DOPPEL_OK);
}

static void take_steps(struct doppel_index *index, struct expected_items *items, bool flush)
{
    uint64_t random = 3;
    for (int step = 0; step < STEPS; step++) {
        const uint64_t many = mix(random += 11) % 400;
        for (uint64_t i = 0; i < many; i++) {
            const uint64_t item = mix(random++) % ITEMS;
            if (mix(random) % 5)
                put_item(index, items, item, (uint8_t)(1 + mix(random) % CODES_MOST));
            else
                remove_item(index, items, item);
        }
        if (flush && step % 7 == 3)
            assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
        if (flush && step % 23 == 5)
            assert_int_equal(doppel_index_compact(index, step % 2, NULL), DOPPEL_OK);
        if (step % 10 == 9)
            check_all(index, items);
    }
}

static struct doppel_index_options scanned_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = options.design_radius = 256;
    options.head_codes = 20000;
    return options;
}

static void test_in_memory(void **state)
{
    static struct expected_items items = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct doppel_index_options options = scanned_options();
    struct doppel_index *index;
    (void)state;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    check_all(index, &items);
    take_steps(index, &items, true);
    doppel_index_free(index);
}

static void test_in_files(void **state)
{
    static struct expected_items items = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct doppel_index_options options = scanned_options();
    char folder[] = "/tmp/doppel-scanned-XXXXXX", path[600];
    struct doppel_index *index;
    const char *const *names;
    size_t count;
    (void)state;
    assert_non_null(mkdtemp(folder));
    const struct doppel_index_files files = {.folder = folder};
    assert_int_equal(doppel_index_open(&options, &files, &index, NULL), DOPPEL_OK);
    take_steps(index, &items, true);
    assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_names(index, &names, &count, NULL), DOPPEL_OK);
    doppel_index_free(index);
    const struct doppel_index_files again = {.folder = folder, .names = names, .count = count};
    assert_int_equal(doppel_index_open(&options, &again, &index, NULL), DOPPEL_OK);
    check_all(index, &items);
    assert_int_equal(doppel_index_verify(index, NULL), DOPPEL_OK);
    doppel_index_free(index);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    free((void *)names);
}

/* ---- damage ---- */

enum { DAMAGED_CODES = 3000 };

struct seen_codes {
    pthread_mutex_t lock;
    size_t right, wrong;
};

static void compare_run(void *context, const struct doppel_index_scanned *run)
{
    struct seen_codes *seen = context;
    pthread_mutex_lock(&seen->lock);
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t code[4], payload;
        bool right = doppel_index_scanned_get(run, run->first + i, code, &payload) &&
                     code[0] == run->low[i / 8 * run->step + i % 8] && payload < DAMAGED_CODES;
        for (unsigned word = 0; word < 4 && right; word++)
            right = code[word] == mix(payload * 4 + word);
        seen->right += right;
        seen->wrong += !right;
    }
    pthread_mutex_unlock(&seen->lock);
}

static struct seen_codes scan_file(const struct doppel_index_files *files,
                                   enum doppel_status *out_status)
{
    const struct doppel_index_options options = scanned_options();
    struct seen_codes seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct doppel_index *index = NULL;
    *out_status = doppel_index_open(&options, files, &index, NULL);
    if (!*out_status)
        *out_status = doppel_index_scan(index, 2, compare_run, &seen, NULL);
    doppel_index_free(index);
    return seen;
}

struct file_of_codes {
    char folder[32], path[100];
    const char *const *names;
    struct doppel_index_files files;
};

static void make_file_of_codes(struct file_of_codes *out)
{
    static uint64_t codes[4 * DAMAGED_CODES], payloads[DAMAGED_CODES];
    const struct doppel_index_options options = scanned_options();
    struct doppel_index *index;
    *out = (struct file_of_codes){.folder = "/tmp/doppel-scanned-XXXXXX"};
    assert_non_null(mkdtemp(out->folder));
    out->files.folder = out->folder;
    for (uint64_t i = 0; i < DAMAGED_CODES; i++) {
        payloads[i] = i;
        for (unsigned word = 0; word < 4; word++)
            codes[4 * i + word] = mix(i * 4 + word);
    }
    assert_int_equal(doppel_index_open(&options, &out->files, &index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_insert(index, codes, payloads, DAMAGED_CODES, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_flush(index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_names(index, &out->names, &out->files.count, NULL), DOPPEL_OK);
    assert_int_equal(out->files.count, 1);
    out->files.names = out->names;
    snprintf(out->path, sizeof out->path, "%s/%s", out->folder, out->names[0]);
    doppel_index_free(index);
}

static void drop_file_of_codes(struct file_of_codes *file)
{
    unlink(file->path);
    rmdir(file->folder);
    free((void *)file->names);
}

static void flip_byte(const char *path, long at, uint8_t bits)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ bits, file), byte ^ bits);
    assert_int_equal(fclose(file), 0);
}

/* Whatever byte changes: no code is read otherwise than it was written and nothing said. */
static void test_damage_is_told(void **state)
{
    struct file_of_codes file;
    uint64_t random = 5;
    size_t told = 0;
    enum doppel_status status;
    (void)state;
    make_file_of_codes(&file);
    assert_int_equal(scan_file(&file.files, &status).right, DAMAGED_CODES);
    assert_int_equal(status, DOPPEL_OK);
    for (int round = 0; round < 300; round++) {
        const long at = (long)(mix(random++) % (4096 + DAMAGED_CODES * 42));
        const uint8_t bits = (uint8_t)(1 + mix(random++) % 255);
        flip_byte(file.path, at, bits);
        const struct seen_codes seen = scan_file(&file.files, &status);
        assert_true(status || (seen.right == DAMAGED_CODES && !seen.wrong));
        told += status != DOPPEL_OK;
        flip_byte(file.path, at, bits);
    }
    assert_in_range(told, 250, 300);
    drop_file_of_codes(&file);
}

/* The fourth parameter of the header is 1, as where the codes are not in blocks, or 2, as where
 * none is marked. */
static void test_former_tables_are_refused(void **state)
{
    struct file_of_codes file;
    uint8_t header[SEGMENT_HEADER];
    enum doppel_status status;
    (void)state;
    make_file_of_codes(&file);
    FILE *opened = fopen(file.path, "r+b");
    assert_non_null(opened);
    assert_int_equal(fread(header, 1, sizeof header, opened), sizeof header);
    assert_int_equal(get_u64(header + AT_PARAMETERS + 24), 3);
    for (uint64_t former = 1; former < 3; former++) {
        put_u64(header + AT_PARAMETERS + 24, former);
        put_u64(header + AT_HEADER_SUM, checksum64(header, AT_HEADER_SUM));
        rewind(opened);
        assert_int_equal(fwrite(header, 1, sizeof header, opened), sizeof header);
        assert_int_equal(fflush(opened), 0);
        (void)scan_file(&file.files, &status);
        assert_int_equal(status, DOPPEL_E_VERSION);
    }
    assert_int_equal(fclose(opened), 0);
    drop_file_of_codes(&file);
}

static void never_visited(void *context, const struct doppel_index_scanned *run)
{
    (void)context, (void)run;
    fail();
}

static void test_others_are_refused(void **state)
{
    struct doppel_index_options options = scanned_options();
    struct doppel_index *index;
    (void)state;
    options.design_radius = 31;
    assert_int_equal(doppel_index_new(&options, &index, NULL), DOPPEL_OK);
    assert_int_equal(doppel_index_scan(index, 1, never_visited, NULL, NULL), DOPPEL_E_ARGUMENT);
    doppel_index_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory), cmocka_unit_test(test_in_files),
        cmocka_unit_test(test_damage_is_told), cmocka_unit_test(test_former_tables_are_refused),
        cmocka_unit_test(test_others_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
